//! The messages between a group's members: DMAs to other members' adapter memory, which take a
//! detour if their rail has failed ([`super::detour`]). Collective calls are patient: if no rail
//! works, they wait for one.

use super::detour::Detours;
use crate::elan3::Context;
use elan::{Dma, DmaError, ElanAddr, Node, ProcessId};
use units::Bytes;

/// Bytes for a process, and the process's event that then occurs.
#[derive(Clone, Copy)]
pub(super) struct Delivery {
    pub vp: ProcessId,
    pub from: ElanAddr,
    pub to: ElanAddr,
    pub length: Bytes,
    pub event: ElanAddr,
    /// Whether the short transaction engine sends it, where there is one.
    pub short: bool,
}

impl Delivery {
    /// Only the event.
    pub fn signal(vp: ProcessId, event: ElanAddr) -> Self {
        Delivery {
            vp,
            from: ElanAddr::NOWHERE,
            to: ElanAddr::NOWHERE,
            length: Bytes::ZERO,
            event,
            short: true,
        }
    }
}

/// Sends one member's messages.
#[derive(Clone)]
pub(super) struct Courier {
    pub context: Context,
    pub detours: Option<Detours>,
}

impl Courier {
    fn node(&self) -> &Node {
        self.context.node()
    }

    /// A delivery's descriptor.
    pub fn dma(&self, one: Delivery) -> Dma {
        let there = |at| self.context.address(one.vp, at);
        let (to, event) = (there(one.to), there(one.event));
        let known = "members are processes of the job";
        let dma = Dma::new(self.node().at(one.from), to.expect(known), one.length);
        let dma = dma.notify_at(event.expect(known));
        match one.short {
            true => dma.short(),
            // A detour comes after all the DMA's bytes.
            false if self.detours.is_some() => dma.stored(),
            false => dma,
        }
    }

    /// The end of a delivery that is under way.
    pub async fn end(
        &self,
        sent: impl IntoFuture<Output = Result<(), DmaError>>,
        one: Delivery,
    ) -> Result<(), DmaError> {
        match (sent.await, &self.detours) {
            (Err(error), Some(detours)) if error.is_rail_down() => self.detour(detours, one).await,
            (result, _) => result,
        }
    }

    /// Brings a delivery over another rail.
    pub async fn detour(&self, detours: &Detours, one: Delivery) -> Result<(), DmaError> {
        let load = || match one.length {
            Bytes::ZERO => Ok(Box::default()),
            length => self.context.load(one.from, length),
        };
        let attempt = async || {
            let bytes = load()?;
            detours
                .deliver(one.vp, one.to, bytes, Some(one.event))
                .await
        };
        detours.patiently(attempt).await
    }
}
