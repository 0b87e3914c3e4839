//! # Gets: DMAs that another adapter executes
//!
//! A process that wants bytes of another node posts a DMA whose source lies there. Its own adapter cannot read them:
//! it sends the descriptor in one packet, as a remote-DMA transaction, and the other adapter executes it as a DMA back
//! to the asker (public Elan3 headers; petrini2003 s4.6 calls these reads). No process of the other node has a part in it.
//!
//! | step | where | cost |
//! |---|---|---|
//! | the descriptor is posted, waits and is taken up as any other | asker | as a put |
//! | the engine sends it in a packet of 32 bytes; that is all that this engine has to do | fabric | cycles |
//! | the inputter puts it into the DMA queue of its adapter | owner of the bytes | `input` |
//! | the engine works on it, among its other DMAs | owner of the bytes | `dma_start`, time slices |
//! | packets of payload travel to the asker, are stored and acknowledged | fabric | as those of a put |
//! | with the last byte stored, the asker's event is set | asker | `input`, `event` |
//!
//! A request is answered at once, so the inputter never waits for the engine: *accepted*; *discarded* while the queue is
//! full or the node does not accept, and then sent again as any packet; *error* if the owner's MMU refuses the bytes to the
//! asker. If the owner unmaps or protects them while the get is under way, its adapter sends a packet that says so; if the
//! asker does that to its own room, its inputter knows: either way the get ends with the fault.

use super::event_unit::Occurrence;
use super::mmu::Fault;
use super::{Due, Wires};
use crate::in_flight::{DmaId, Get, PacketNumber, Stage};
use fabric::{Ack, PacketId};
use units::{Bytes, Time};

/// A DMA descriptor (public Elan3 headers: 32 bytes).
pub const DESCRIPTOR: Bytes = Bytes::new(32);

impl Wires<'_> {
    /// All bytes of a get are stored; its process is told at a given time, unless its request is still unacknowledged.
    pub fn got(&mut self, get: DmaId, at: Time) {
        let progress = self.flight.dma_mut(get);
        progress.get = Some(Get::Asking { stored: true });
        if progress.complete() && progress.stage < Stage::Completed {
            progress.stage = Stage::Completed;
            let completed = Due::Occurred(Occurrence::Completed(self.node, get));
            self.schedule(at, completed);
        }
    }

    /// The owner of the bytes says that it cannot read them.
    pub fn trapped(&mut self, packet: PacketId, token: PacketNumber) {
        self.answer(packet, Ack::Accepted);
        let packet = self.flight.packet_mut(token);
        packet.pending -= 1;
        let (id, fault) = (packet.dma, packet.fault.take());
        self.flight.drop_packet_if_done(token);
        let progress = self.flight.dma_mut(id);
        progress.unstored -= 1;
        if let (Some(Get::Serving(get)), Some(fault)) = (progress.get, fault) {
            self.fail_get(get, *fault);
        }
        self.flight.drop_dma_if_over(id);
    }

    /// A get ends with a fault at one of its ends.
    pub fn fail_get(&mut self, get: DmaId, fault: Fault) {
        self.flight.dma_mut(get).fail(fault.into());
        self.complete(get);
    }
}
