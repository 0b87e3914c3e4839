//! The probe, by which `MPI_Probe` waits.
//!
//! The MPI library looks for a message again and again. Only the first of these looks is an order that the simulator answers at
//! once. If it finds nothing, a probe for the same message is ordered, which lies here until the message comes. Meanwhile this
//! module answers looks for the same message without an order: with nothing, or with what the probe has found. There is one
//! probe at most. It is given up when the rank orders something after which its answer might be wrong.

use link::{Order, OrderKind, Report, ReportKind, Status};

/// A probe that was ordered.
#[derive(Debug)]
struct Ordered {
    order: Order,
    found: Option<Report>,
}

/// The probe, if there is one.
#[derive(Debug, Default)]
pub struct Probe(Option<Ordered>);

impl Probe {
    /// Whether there is a probe.
    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// The probe is ordered.
    pub fn begin(&mut self, order: Order) {
        self.0 = Some(Ordered { order, found: None });
    }

    /// Takes in what was found; returns whether the report meant the probe.
    pub fn ended(&mut self, report: &Report) -> bool {
        let probe = self.0.as_mut().filter(|probe| probe.order.id == report.id);
        let Some(probe) = probe else {
            return false;
        };
        if report.status() == Status::Done {
            probe.found = Some(*report);
        } else {
            // Whoever looks next is told why.
            self.0 = None;
        }
        true
    }

    /// The end of a look that needs no order: nothing, or what the probe has found, unless the look is to claim the message. A
    /// probe that has found something is over then.
    pub fn answer(&mut self, look: &Order, claims: bool) -> Option<Report> {
        let what = |order: &Order| (order.peer, order.tag, order.mask);
        let probe = self.0.as_ref();
        let probe = probe.filter(|probe| what(&probe.order) == what(look))?;
        let Some(found) = probe.found else {
            return Some(Report::new(ReportKind::Found, Status::Nothing, 0, look.id));
        };
        self.0 = None;
        (!claims).then_some(Report {
            id: look.id,
            ..found
        })
    }

    /// Gives the probe up if another order must not find it. Returns its number if the simulator has to be told. Orders that
    /// take messages or look for them end the probe; all orders do when the call that waits for the probe is over.
    pub fn give_up(&mut self, order: &Order, waits: bool) -> Option<u64> {
        let stays = match order.kind() {
            Some(OrderKind::Called | OrderKind::Reply) => true,
            Some(OrderKind::Receive | OrderKind::Peek | OrderKind::Claim) => false,
            _ => waits,
        };
        let probe = self.0.take_if(|_| !stays)?;
        probe.found.is_none().then_some(probe.order.id)
    }
}
