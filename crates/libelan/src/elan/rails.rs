//! The rails that carry the bytes of longer messages (coll2003), on a machine with several rails.
//!
//! A process is attached at the adapters of all rails. Its main memory has the same addresses at all of them; its adapter
//! memory is that of rail 0. Envelopes, small messages and the messages between threads take rail 0, whose thread matches
//! them, so messages are received in the order in which they were sent. The bytes of a longer message take the rails that
//! the machine's policy picks. In coll2003 the sender picks them; here the receiver does, since it starts the get:
//!
//! | policy | a message takes | the message waits |
//! |---|---|---|
//! | static | the next in turn of the rails on which the sender's node only transmits and the receiver's node only receives | for nothing |
//! | basic | the next rail in turn | for nothing |
//! | local-dynamic | rails whose adapters at the receiver neither send nor receive | until there is one |
//! | dynamic | of these, rails that were also free at the sender when it sent the envelope, which says so; if none was, as local-dynamic | until there is one |
//! | hybrid | up to `rails.threshold`, the next in turn of the rails that are free at the receiver, or of all; else as dynamic | if it is long, as dynamic |
//!
//! Dynamic allocation reserves both ends by control messages. Here the envelope carries what its sender knew instead: no
//! more packets travel, and nothing is reserved at the sender, so two receivers may get from one adapter. Local-dynamic and
//! dynamic allocation stripe a message over the part of these rails that `rails.striping` says. A rail that either policy
//! has picked is taken, for all processes of the job on the node, until the get ends.
//!
//! *Costs.* The thread hands a descriptor to another adapter by a command, across its own bus and the other adapter's bus.
//! The thread learns of the end through main memory (an event of that adapter, its block, a poll) and a word across its own
//! bus. If the host matches, it posts each part by a call. Nothing is published about these costs; they are assumed.
//!
//! *Failures.* What a failed rail has not carried goes again, over other rails. Rail 0 carries the envelopes and the
//! packets that tell the sender of the end: when rail 0 fails, sends fail
//! ([`RailDown`](super::tport::TportError::RailDown)), and receives from other nodes wait for ever.

use elan::rails::{Allocation, Candidates, Config, Turn, stripes};
use elan::{DmaError, NoContext, Node, NodeId, Rail};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use typed_index_collections::{TiVec, ti_vec};
use units::Bytes;

/// The number of rails that an envelope can describe; further rails count as taken.
pub(super) const MOST_TOLD: u32 = 24;

/// What a process knows of the rails of its node.
pub(crate) struct Rails {
    config: Config,
    /// The allocation, under the policy static.
    allocation: Option<Rc<Allocation>>,
    /// The process at the adapter of each rail, its own first.
    places: TiVec<Rail, Node>,
    /// The rails that processes of the job on this node have taken.
    taken: Rc<TiVec<Rail, Cell<bool>>>,
    turn: RefCell<Turn>,
}

/// A message that is to be got.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The sender's node.
    pub from: NodeId,
    pub size: Bytes,
    /// Rails that were free at the sender, as bits.
    pub free: u32,
}

/// The rails of a message, and whether they are taken for it.
pub(super) struct Picked {
    pub rails: Vec<Rail>,
    pub taken: bool,
}

impl Rails {
    /// Attaches the processes of a job to all rails. The result is empty on a machine without a policy for rails.
    ///
    /// # Errors
    /// If an adapter has no context left.
    pub fn attach(processes: &[Node]) -> Result<Vec<Option<Rails>>, NoContext> {
        let Some(config) = processes.first().and_then(|node| node.config().rails) else {
            return Ok(processes.iter().map(|_| None).collect());
        };
        let (nodes, rails) = processes[0].nodes_and_rails();
        let allocation = config.policy.allocates().then(|| {
            let allocation = Allocation::with_rails(nodes, rails);
            Rc::new(allocation.expect("the machine has been checked"))
        });
        let mut locals = BTreeMap::new();
        let attach = |process: &Node| {
            let none = || Rc::new(ti_vec![Cell::new(false); rails as usize]);
            let local = locals.entry(process.place());
            let (before, taken) = local.or_insert_with(|| (0, none()));
            let first = Rail::new(*before % rails);
            *before += 1;
            let others = Rail::all(rails).skip(1).map(|rail| process.beside(rail));
            let places = std::iter::once(Ok(process.clone())).chain(others);
            let places: Result<TiVec<Rail, Node>, NoContext> = places.collect();
            Ok(Some(Rails {
                config,
                allocation: allocation.clone(),
                places: places?,
                taken: Rc::clone(taken),
                turn: RefCell::new(Turn::starting_at(first)),
            }))
        };
        processes.iter().map(attach).collect()
    }

    /// The process at the adapter of a rail.
    pub(super) fn place(&self, rail: Rail) -> &Node {
        &self.places[rail]
    }

    /// From one look at the rails to the next, if none is free.
    pub(super) fn poll(&self) -> units::Time {
        self.config.poll
    }

    /// The rails for which a condition holds, in ascending order.
    fn those(&self, holds: impl Fn(Rail) -> bool) -> Vec<Rail> {
        self.places.keys().filter(|&rail| holds(rail)).collect()
    }

    fn is_up(&self, rail: Rail) -> bool {
        !self.place(rail).is_down()
    }

    /// Whether the adapter neither sends nor receives, as far as the processes of its node know.
    fn is_free(&self, rail: Rail) -> bool {
        let adapter = self.place(rail);
        let busy = self.taken[rail].get() || adapter.is_receiving();
        self.is_up(rail) && !busy && !adapter.is_sending()
    }

    /// The rails that are free now, as bits.
    pub(super) fn free(&self) -> u32 {
        let told = self.those(|rail| rail.get() < MOST_TOLD && self.is_free(rail));
        told.iter().fold(0, |bits, rail| bits | 1 << rail.get())
    }

    /// Picks the rails of a message by the machine's policy; none if the message has to wait for a rail.
    ///
    /// # Errors
    /// If no rail between the two nodes works.
    pub(super) fn pick(&self, wanted: Wanted) -> Result<Option<Picked>, DmaError> {
        let Wanted { from, size, .. } = wanted;
        let (_, to) = self.place(Rail::new(0)).rail_and_node();
        let mut up = self.those(|rail| self.is_up(rail));
        if let Some(allocation) = &self.allocation {
            let between: Vec<Rail> = allocation.rails_between(from, to).collect();
            up.retain(|rail| between.contains(rail));
        }
        if up.is_empty() {
            return Err(DmaError::NoRail { from, to });
        }
        let free = || self.those(|rail| self.is_free(rail));
        let (rails, taken) = match self.config.candidates(size) {
            Candidates::All => (up, false),
            Candidates::FreeFirst => (
                Some(free()).filter(|free| !free.is_empty()).unwrap_or(up),
                false,
            ),
            Candidates::FreeHere => (free(), true),
            Candidates::FreeAtBothEnds => {
                let (mut both, here) = (free(), free());
                let told = |rail: u32| rail < MOST_TOLD && wanted.free >> rail & 1 == 1;
                both.retain(|rail| told(rail.get()));
                (if both.is_empty() { here } else { both }, true)
            }
        };
        let count = if taken {
            stripes(&self.config, rails.len(), size)
        } else {
            1
        };
        let rails = self.turn.borrow_mut().take(&rails, count);
        if taken {
            for &rail in &rails {
                self.taken[rail].set(true);
            }
        }
        Ok((!rails.is_empty()).then_some(Picked { rails, taken }))
    }

    /// A rail that was taken is free again.
    pub(super) fn release(&self, rail: Rail) {
        self.taken[rail].set(false);
    }
}
