//! # The shipped policies (coll2003)
//!
//! Each is a [`Kind`], with its name and its needs, and a type that is a [`RailPolicy`]. A new one
//! is both, and an entry in [`SHIPPED`].

use crate::allocation::Allocation;
use crate::host::Host;
use crate::pick::{RailMessage, RailPick};
use crate::policy::{PickFuture, Policy, RailPolicy, Seat, stripes};
use crate::reservation::Reservations;
use crate::turn::{SharedTurn, Turn};
use elan::Rail;
use elan::config::rails::{Candidates, Kind, Knowledge};
use std::rc::Rc;

/// All shipped policies.
pub static SHIPPED: &[Policy] = &[
    Policy {
        kind: STATIC,
        make: |seat| Box::new(Static::new(seat)),
    },
    Policy {
        kind: BASIC,
        make: |seat| Box::new(Basic { turn: seat.turn() }),
    },
    Policy {
        kind: LOCAL_DYNAMIC,
        make: |seat| Box::new(LocalDynamic::new(seat)),
    },
    Policy {
        kind: DYNAMIC,
        make: |seat| Box::new(Dynamic::new(seat)),
    },
    Policy {
        kind: HYBRID,
        make: |seat| Box::new(Hybrid::new(seat)),
    },
];

/// In turn, a rail on which the node transmits and the destination receives (coll2003 s2).
pub const STATIC: Kind = Kind {
    name: "static",
    about: "Each adapter only transmits or only receives, always.",
    knows: Knowledge::Allocation,
    short: Candidates::All,
    long: Candidates::All,
};

struct Static {
    allocation: Rc<Allocation>,
    turn: Turn,
}

impl Static {
    fn new(seat: &Seat<'_>) -> Self {
        Static {
            allocation: seat.allocation(),
            turn: seat.turn(),
        }
    }
}

impl RailPolicy for Static {
    fn pick<'a>(&'a mut self, message: RailMessage, host: &'a Host) -> PickFuture<'a> {
        let between = self.allocation.rails_between(host.node(), message.to);
        let up: Vec<Rail> = between.filter(|&rail| host.is_up(rail)).collect();
        next_of(&mut self.turn, &up, host, message)
    }
}

/// The baseline: each process takes the rails in turn, independent of their adapters' activity
/// (coll2003 s5.2).
pub const BASIC: Kind = Kind {
    name: "basic",
    about: "The rails take turns.",
    knows: Knowledge::Links,
    short: Candidates::All,
    long: Candidates::All,
};

struct Basic {
    turn: Turn,
}

impl RailPolicy for Basic {
    fn pick<'a>(&'a mut self, message: RailMessage, host: &'a Host) -> PickFuture<'a> {
        next_of(&mut self.turn, &host.up(), host, message)
    }
}

/// Rails that neither send nor receive at the sender (coll2003 s3, algorithm 3).
///
/// The algorithm makes no reservations: it reads the rails' status and sends. The adapters update
/// the status, so that a process sees a message some time after it has begun
/// ([`Config::status_lag`](crate::Config::status_lag)). Processes that look within this time may
/// send on the same rail. A message's rails may have been picked when the message was generated
/// ([`crate::Generator`]).
pub const LOCAL_DYNAMIC: Kind = Kind {
    name: "local-dynamic",
    about: "Rails that are free at the sender.",
    knows: Knowledge::Status,
    short: Candidates::FreeHere,
    long: Candidates::FreeHere,
};

struct LocalDynamic {
    turn: SharedTurn,
}

impl LocalDynamic {
    fn new(seat: &Seat<'_>) -> Self {
        let turn = seat.shared_turn();
        LocalDynamic { turn }
    }
}

impl RailPolicy for LocalDynamic {
    fn pick<'a>(&'a mut self, message: RailMessage, host: &'a Host) -> PickFuture<'a> {
        Box::pin(async move {
            let free = host.wait_for_free(message).await?;
            let count = stripes(host.config(), free.len(), message.size);
            let taken = self.turn.borrow_mut().take(&free, count);
            Ok(taken.into_iter().map(|rail| host.mark(rail)).collect())
        })
    }

    fn accept(&mut self, generated: Vec<Rail>, host: &Host) -> Vec<RailPick> {
        let up = generated.into_iter().filter(|&rail| host.is_up(rail));
        up.map(|rail| host.mark(rail)).collect()
    }
}

/// Rails that both ends have reserved (coll2003 s4.1, algorithm 4).
///
/// The process asks for a way on every rail that is free at its node, and waits until all adapters
/// have answered. It takes as many granted rails as the striping ratio allows, and gives the others
/// back. If no rail is granted, the process begins again immediately.
pub const DYNAMIC: Kind = Kind {
    name: "dynamic",
    about: "Rails that are reserved at both ends.",
    knows: Knowledge::Reservations,
    short: Candidates::FreeAtBothEnds,
    long: Candidates::FreeAtBothEnds,
};

struct Dynamic {
    turn: Turn,
    reservations: Reservations,
}

impl Dynamic {
    fn new(seat: &Seat<'_>) -> Self {
        Dynamic {
            turn: seat.turn(),
            reservations: seat.reservations(),
        }
    }
}

impl RailPolicy for Dynamic {
    fn pick<'a>(&'a mut self, message: RailMessage, host: &'a Host) -> PickFuture<'a> {
        Box::pin(async move {
            loop {
                let free = host.wait_for_free(message).await?;
                let granted = self.reservations.ask(&free, message, host).await;
                let rails = granted.rails();
                let count = stripes(host.config(), rails.len(), message.size);
                let taken = self.turn.take(&rails, count);
                let picks = self.reservations.keep(&taken, granted, host);
                if !picks.is_empty() {
                    return Ok(picks);
                }
            }
        })
    }
}

/// Short messages take a free rail, long ones follow dynamic allocation (coll2003 s4.3, algorithm
/// 7).
///
/// A short message takes one rail, the next in turn among the free rails, without a reservation.
/// The algorithm leaves open the case that no rail is free. Since the process "uses the basic
/// algorithm" for short messages (s6.6), it then takes the next in turn among all rails.
pub const HYBRID: Kind = Kind {
    name: "hybrid",
    about: "Short messages take rails that are free at the sender, long messages rails that are \
        reserved at both ends.",
    knows: Knowledge::Reservations,
    short: Candidates::FreeFirst,
    long: Candidates::FreeAtBothEnds,
};

struct Hybrid {
    turn: Turn,
    long: Dynamic,
}

impl Hybrid {
    fn new(seat: &Seat<'_>) -> Self {
        Hybrid {
            turn: seat.turn(),
            long: Dynamic::new(seat),
        }
    }
}

impl RailPolicy for Hybrid {
    fn pick<'a>(&'a mut self, message: RailMessage, host: &'a Host) -> PickFuture<'a> {
        if message.size > host.config().threshold {
            return self.long.pick(message, host);
        }
        let mut rails = host.free();
        if rails.is_empty() {
            rails = host.up();
        }
        next_of(&mut self.turn, &rails, host, message)
    }
}

/// The next in turn among some rails; no message holds it.
fn next_of<'a>(
    turn: &mut Turn,
    rails: &[Rail],
    host: &Host,
    message: RailMessage,
) -> PickFuture<'a> {
    let pick = match turn.take(rails, 1)[..] {
        [rail] => Ok(vec![RailPick::shared(rail)]),
        _ => Err(host.no_rail(message)),
    };
    Box::pin(std::future::ready(pick))
}
