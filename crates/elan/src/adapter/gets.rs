//! # Gets: DMAs that another adapter executes
//!
//! A process that wants another node's bytes posts a DMA with its source there. The process's own
//! adapter cannot read the bytes: it sends the descriptor in one packet, as a remote-DMA
//! transaction, and the other adapter executes the descriptor as a DMA back to the asker (public
//! Elan3 headers; petrini2003 s4.6 calls these reads). No process on the other node takes part.
//!
//! | step | where | cost |
//! |---|---|---|
//! | the descriptor is posted, waits and is taken up as any other descriptor | asker | as a put |
//! | the engine sends the descriptor in a 32-byte packet, and is then free for other DMAs | fabric | cycles |
//! | the inputter puts the descriptor into its adapter's DMA queue | owner of the bytes | `input` |
//! | the engine works on the descriptor, among its other DMAs | owner of the bytes | `dma_start`, time slices |
//! | payload packets travel to the asker, are stored and acknowledged | fabric | as for a put |
//! | with the last byte stored, the asker's event is set | asker | `input`, `event` |
//!
//! A request is answered immediately, so the inputter never waits for the engine: *accepted*;
//! *discarded* while the queue is full or the node does not accept, and then sent again as any
//! packet; *error* if the owner's MMU refuses the bytes to the asker. If the owner unmaps, protects
//! or withdraws ([`Dma::unless_withdrawn`](crate::Dma::unless_withdrawn)) the bytes while the get
//! is under way, the owner's adapter sends a packet with this notice. If the asker unmaps or
//! protects the destination, its inputter notices. Either way the get ends with the fault.

use super::event_unit::Occurrence;
use super::{AdapterEvent, Wires};
use crate::in_flight::{DmaId, Get, PacketNumber, Stage};
use crate::memory::AccessFault;
use fabric::{Ack, PacketId};
use units::{Bytes, Time};

/// A DMA descriptor (public Elan3 headers: 32 bytes).
pub const DESCRIPTOR: Bytes = Bytes::new(32);

impl Wires<'_> {
    /// All of a get's bytes are stored. Its process is notified at a given time, or later if the
    /// request is still unacknowledged.
    pub fn got(&mut self, get: DmaId, at: Time) {
        let progress = self.flight.dma_mut(get);
        progress.get = Some(Get::Asking { stored: true });
        if progress.waits_for_its_end() {
            // It was assumed lost, but its owner has served it: its event has been set.
            progress.find();
        }
        if progress.complete() && progress.stage < Stage::Completed {
            progress.stage = Stage::Completed;
            let completed = AdapterEvent::Occurred(Occurrence::Completed(self.node, get));
            self.schedule(at, completed);
        }
    }

    /// The owner reports that its adapter cannot read the bytes.
    pub fn trapped(&mut self, packet: PacketId, token: PacketNumber) {
        if self.repeats(packet, token) {
            return;
        }
        self.answer_for_good(packet, token, Ack::Accepted);
        let packet = self.flight.packet_mut(token);
        packet.pending -= 1;
        let (id, fault) = (packet.dma, packet.fault.take());
        self.flight.drop_packet_if_done(self.now, token);
        let progress = self.flight.dma_mut(id);
        progress.unstored -= 1;
        if let (Some(Get::Serving(get)), Some(fault)) = (progress.get, fault) {
            self.fail_get(get, *fault);
        }
        self.drop_dma(id);
    }

    /// A get ends with a fault at one of its ends.
    pub fn fail_get(&mut self, get: DmaId, fault: AccessFault) {
        self.flight.dma_mut(get).fail(fault.into());
        self.complete(get);
    }
}
