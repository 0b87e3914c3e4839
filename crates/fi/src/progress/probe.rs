//! The probe, by which `MPI_Probe` waits.
//!
//! The MPI library looks for a message again and again. Only the first look is an order that the
//! simulator answers immediately. If it is unsuccessful, a probe for the same message is ordered,
//! which lies here until the message comes. Meanwhile this module answers looks for the same
//! message without an order: with no message, or with the one that the probe has found. There is
//! one probe at most. It is given up when the rank orders something after which its answer might be
//! wrong.

use link::{EndKind, EndStatus, Envelope, MessageFilter, OperationEnd, Order};

/// A probe that was ordered.
#[derive(Debug)]
struct OrderedProbe {
    id: u64,
    wanted: MessageFilter,
    found: Option<OperationEnd>,
}

/// The probe, if there is one.
#[derive(Debug, Default)]
pub struct Probe(Option<OrderedProbe>);

impl Probe {
    /// Whether there is a probe.
    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// The probe is ordered.
    pub fn begin(&mut self, id: u64, wanted: MessageFilter) {
        let found = None;
        self.0 = Some(OrderedProbe { id, wanted, found });
    }

    /// Takes in the found message; returns whether the report meant the probe.
    pub fn ended(&mut self, ended: OperationEnd) -> bool {
        let probe = self.0.as_mut().filter(|probe| probe.id == ended.id);
        let Some(probe) = probe else {
            return false;
        };
        if ended.status == EndStatus::Done {
            probe.found = Some(ended);
        } else {
            // The next look gets the reason.
            self.0 = None;
        }
        true
    }

    /// The end of a look that needs no order: no message, or the one that the probe has found,
    /// unless the look is to claim it. A probe that has found a message is over then.
    pub fn answer(&mut self, id: u64, wanted: MessageFilter, claims: bool) -> Option<OperationEnd> {
        let probe = self.0.as_ref();
        let probe = probe.filter(|probe| probe.wanted == wanted)?;
        let Some(found) = probe.found else {
            return Some(OperationEnd {
                id,
                status: EndStatus::Nothing,
                end: EndKind::Found(Envelope::default()),
            });
        };
        self.0 = None;
        (!claims).then_some(OperationEnd { id, ..found })
    }

    /// Gives the probe up if another order must not find it. Returns its number if the simulator
    /// has to be notified. Orders that take messages or look for them end the probe; all orders do
    /// when the call that waits for the probe is over.
    pub fn give_up(&mut self, order: &Order, waits: bool) -> Option<u64> {
        let stays = order.is_record() || waits && !order.seeks();
        let probe = self.0.take_if(|_| !stays)?;
        probe.found.is_none().then_some(probe.id)
    }
}
