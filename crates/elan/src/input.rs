//! # The receiving side: the inputter
//!
//! It stores the payload of each packet and answers it. A packet for adapter memory is stored at once. One for main
//! memory needs one of `input_buffers` while it waits for the bus; when all are taken, its acknowledgement waits for a
//! place, and with it the circuit: that is how a slow bus slows down its senders. The inputter never waits for the
//! sending side of its own adapter, so no cycle of waiting can close through it.
//!
//! The packets of one DMA are complete when its event is set. Separate DMAs are not ordered: a short one can be stored
//! before a longer one that was posted earlier, and one without payload does not wait for the bus.
//!
//! Its answers: *accepted*, which for main memory means that the packet has its buffer, not yet that it is written;
//! *discarded* while the node does not accept ([`crate::Node::accept`]); *error* if the bytes do not lie within the
//! destination's regions. Requests of gets are another matter: see [`crate::get`].

use crate::bus::Direction;
use crate::cluster::{Happening, World};
use crate::dma::Token;
use crate::event::News;
use crate::get::Get;
use crate::memory::Placement;
use fabric::{Ack, NodeId, PacketId};
use std::collections::VecDeque;
use units::Bytes;

/// The inputter of one adapter.
#[derive(Default)]
pub(crate) struct Inputter {
    /// Packets that wait for the bus in the input buffers.
    pub storing: u32,
    /// Packets that wait for an input buffer; at most one for each ejection channel, whose circuit they hold.
    pub stalled: VecDeque<(PacketId, Token)>,
    pub refusing: bool,
    /// Payload stored so far.
    pub stored: Bytes,
}

impl World {
    /// The last flit of a packet has arrived.
    pub(crate) fn arrived(&mut self, node: NodeId, packet: PacketId, token: Token) {
        let arrival = &self.packets[token as usize];
        if arrival.request {
            return self.requested(node, packet, token);
        }
        let dma = self.dmas[arrival.dma as usize].dma;
        let length = arrival.length;
        let inputter = &mut self.adapters[node as usize].inputter;
        if !dma.reaches(node) {
            self.answer(packet, Ack::Error);
        } else if inputter.refusing {
            self.answer(packet, Ack::Discarded);
        } else if dma.to.placement() == Placement::Adapter || length.is_zero() {
            self.answer(packet, Ack::Accepted);
            self.stored(node, token);
        } else if inputter.storing < self.config.adapter.input_buffers {
            self.store(node, packet, token);
        } else {
            inputter.stalled.push_back((packet, token));
        }
    }

    /// Takes a packet into an input buffer and asks for the bus.
    fn store(&mut self, node: NodeId, packet: PacketId, token: Token) {
        self.answer(packet, Ack::Accepted);
        let length = self.packets[token as usize].length;
        self.adapters[node as usize].inputter.storing += 1;
        self.transfer(
            node,
            Direction::ToMain,
            length,
            Happening::Written(node, token),
        );
    }

    /// The bus has taken a packet's payload to main memory.
    pub(crate) fn written(&mut self, node: NodeId, token: Token) {
        let inputter = &mut self.adapters[node as usize].inputter;
        inputter.storing -= 1;
        if let Some((packet, next)) = inputter.stalled.pop_front() {
            self.store(node, packet, next);
        }
        self.stored(node, token);
    }

    /// A packet's payload is in its place; with the last one of a DMA, the destination's event occurs.
    fn stored(&mut self, node: NodeId, token: Token) {
        let packet = &mut self.packets[token as usize];
        packet.stored = true;
        let (id, offset, length, payload) = (
            packet.dma,
            packet.offset,
            packet.length,
            packet.payload.take(),
        );
        self.drop_packet_if_done(token);
        let adapter = &mut self.adapters[node as usize];
        adapter.inputter.stored += length;
        let progress = &mut self.dmas[id as usize];
        if let Some(bytes) = payload {
            adapter
                .memory
                .store(progress.dma.to.advanced(offset), &bytes);
        }
        progress.unstored -= 1;
        if let Some(meter) = progress.dma.meter {
            self.meters[meter.index()] += length;
        }
        if progress.cut_all && progress.unstored == 0 && progress.failed.get().is_none() {
            let (event, get) = (progress.dma.notify, progress.get);
            let at = self.now() + self.config.adapter.input + self.config.adapter.event;
            if let Some(event) = event {
                self.schedule(at, node, Happening::Occurred(News::Event(event)));
            }
            if let Some(Get::Serving(get)) = get {
                self.got(node, get, at);
            }
        }
        self.drop_dma_if_over(id);
    }

    /// Sends an acknowledgement, a turnaround from now.
    pub(crate) fn answer(&mut self, packet: PacketId, ack: Ack) {
        let cycle = self.cycle_from(self.now() + self.config.adapter.turnaround);
        self.fabric.acknowledge(cycle, packet, ack);
    }
}
