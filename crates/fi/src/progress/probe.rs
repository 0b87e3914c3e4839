//! The probe: what `MPI_Probe` waits with.
//!
//! The MPI library looks for a message again and again. Only the first of these looks is an order that the simulator answers
//! at once; if it finds nothing, a probe for the same message is ordered, which lies here until the message comes. Meanwhile
//! looks for the same are answered from here, without an order: with nothing, or with what the probe has found. There is one
//! probe at most, and it is given up when the rank orders something after which it might be wrong.

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
    /// Whether there is one.
    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// It is ordered.
    pub fn begin(&mut self, order: Order) {
        self.0 = Some(Ordered { order, found: None });
    }

    /// Takes in that something was found; whether the probe was meant.
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

    /// The end of a look that needs no order: nothing, or, unless the message is to be claimed, what the probe has found; with
    /// that the probe is over.
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

    /// Gives the probe up if it must not stay when something else is ordered; its number, if the simulator has to be told.
    /// What takes messages or looks for them goes first, and when the call is over that waits for the probe, so does all else.
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
