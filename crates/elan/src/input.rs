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
//! *discarded* while the node does not accept ([`crate::Node::accept`]), or a queue is full; *error* if the destination's
//! MMU refuses the bytes or, with the last packet of a DMA, the event. Requests of gets and messages of transactions are
//! other matters: see [`crate::get`] and [`crate::message`].
//!
//! What is accepted and not yet written is not seen by the host, but by whatever the adapter itself reads from main memory
//! later, as reads follow earlier writes on a PCI bus: a get sees all puts that were over when it was posted.
//!
//! A process that unmaps a range while a packet for it waits for the bus loses the packet's bytes, and gets a trap.

use crate::NodeId;
use crate::bus::Direction;
use crate::cluster::{Happening, World};
use crate::context::Capability;
use crate::dma::{DmaId, Kind, Notify, Token};
use crate::event::{EVENT_BLOCK, EventId, News};
use crate::get::Get;
use crate::memory::{Address, Placement};
use crate::message::MESSAGE;
use crate::mmu::{Access, Fault, Reason};
use fabric::{Ack, PacketId};
use std::collections::VecDeque;
use units::Bytes;

/// The inputter of one adapter.
#[derive(Default)]
pub(crate) struct Inputter {
    /// Packets that wait for the bus in the input buffers.
    pub storing: u32,
    /// These packets, in order.
    pub writing: VecDeque<Token>,
    /// Packets that wait for an input buffer; at most one for each ejection channel, whose circuit they hold.
    pub stalled: VecDeque<(PacketId, Token)>,
    pub refusing: bool,
    /// DMAs of which something has arrived and something is missing.
    pub receiving: u32,
    /// Payload stored so far.
    pub stored: Bytes,
}

impl World {
    /// The last flit of a packet has arrived.
    pub(crate) fn arrived(&mut self, node: NodeId, packet: PacketId, token: Token) {
        if self.adapters[node as usize].down.is_set() {
            return self.lost(packet, token);
        }
        if token & MESSAGE != 0 {
            return self.message_arrived(node, packet, token);
        }
        match self.packets[token as usize].kind {
            Kind::Request => self.requested(node, packet, token),
            Kind::Trap => self.trapped(packet, token),
            Kind::Data => self.data_arrived(node, packet, token),
            Kind::Broadcast => self.broadcast_arrived(node, packet, token),
        }
    }

    /// Payload has arrived.
    fn data_arrived(&mut self, node: NodeId, packet: PacketId, token: Token) {
        let arrival = &self.packets[token as usize];
        let (length, id) = (arrival.length, arrival.dma);
        let progress = &mut self.dmas[id as usize];
        if !std::mem::replace(&mut progress.landing, true) {
            self.adapters[node as usize].inputter.receiving += 1;
        }
        match self.admit(token) {
            Err(fault) => self.refuse(packet, token, *fault),
            Ok(_) if self.adapters[node as usize].inputter.refusing => {
                self.answer(packet, Ack::Discarded);
            }
            Ok(Room::Full) => self.answer(packet, Ack::Discarded),
            Ok(Room::Slot(queue)) => {
                self.answer(packet, Ack::Accepted);
                let arrival = &mut self.packets[token as usize];
                let zeros = || vec![0; length.as_u64() as usize].into_boxed_slice();
                let message = arrival.payload.take().unwrap_or_else(zeros);
                self.queued(node, queue, message);
                self.stored(node, token);
            }
            Ok(Room::Place(Placement::Adapter)) => {
                self.answer(packet, Ack::Accepted);
                self.stored(node, token);
            }
            Ok(Room::Place(Placement::Main)) => {
                self.store_soon(node, packet, token);
            }
        }
    }

    /// Nothing of a DMA will arrive any more.
    pub(crate) fn landed_all(&mut self, id: DmaId) {
        let progress = &mut self.dmas[id as usize];
        if std::mem::replace(&mut progress.landing, false) {
            let node = progress.dma.to.node;
            self.adapters[node as usize].inputter.receiving -= 1;
        }
    }

    /// A packet has arrived on a rail that is down: its sender learns so, and nothing else happens.
    fn lost(&mut self, packet: PacketId, token: Token) {
        let fault = |to, length| Fault::new(to, length, Access::RemoteWrite, Reason::Down);
        if token & MESSAGE != 0 {
            let message = self.message(token);
            message.result = Some(Err(fault(message.to, Bytes::ZERO).into()));
            return self.answer(packet, Ack::Error);
        }
        let lost = &mut self.packets[token as usize];
        let to = self.dmas[lost.dma as usize].dma.to.offset(lost.offset);
        let fault = fault(to, lost.length);
        if lost.kind == Kind::Broadcast {
            lost.fault.get_or_insert_with(|| Box::new(fault));
            self.answer(packet, Ack::Error);
        } else {
            self.refuse(packet, token, fault);
        }
    }

    /// Takes a packet for main memory into an input buffer, when there is one free.
    pub(crate) fn store_soon(&mut self, node: NodeId, packet: PacketId, token: Token) {
        let inputter = &mut self.adapters[node as usize].inputter;
        if inputter.storing < self.config.adapter.input_buffers {
            self.store(node, packet, token);
        } else {
            inputter.stalled.push_back((packet, token));
        }
    }

    /// Answers a packet that is refused for good.
    fn refuse(&mut self, packet: PacketId, token: Token, fault: Fault) {
        let refused = &mut self.packets[token as usize];
        refused.fault = Some(Box::new(fault));
        let id = refused.dma;
        self.answer(packet, Ack::Error);
        if let Some(Get::Serving(get)) = self.dmas[id as usize].get {
            self.get_failed(get, fault);
        }
    }

    /// Where the payload of a packet belongs, and whether its event is one.
    fn admit(&self, token: Token) -> Result<Room, Box<Fault>> {
        let packet = &self.packets[token as usize];
        let progress = &self.dmas[packet.dma as usize];
        let (dma, capability, length) = (progress.dma, progress.capability, packet.length);
        let to = dma.to.offset(packet.offset);
        let last = packet.offset + length == dma.length;
        if last && let Some(notify) = dma.notify {
            self.notifies(dma.to, notify, capability)?;
        }
        if dma.queue {
            let (queue, room) = self.queue_at(to, length, capability)?;
            return Ok(if room { Room::Slot(queue) } else { Room::Full });
        }
        let place = self.translate(to, length, Access::RemoteWrite, capability)?;
        Ok(Room::Place(place))
    }

    /// The event that a descriptor names.
    fn notifies(
        &self,
        to: Address,
        notify: Notify,
        capability: Capability,
    ) -> Result<EventId, Fault> {
        let access = Access::RemoteEvent;
        let gone = || Fault::new(to, EVENT_BLOCK, access, Reason::Nothing);
        let at = self.notified(notify).ok_or_else(gone)?;
        self.event_at(at, access, capability)
    }

    /// Takes a packet into an input buffer and asks for the bus.
    fn store(&mut self, node: NodeId, packet: PacketId, token: Token) {
        self.answer(packet, Ack::Accepted);
        let length = self.packets[token as usize].length;
        let inputter = &mut self.adapters[node as usize].inputter;
        inputter.storing += 1;
        inputter.writing.push_back(token);
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
        let first = inputter.writing.pop_front();
        assert_eq!(first, Some(token), "the bus works in order");
        if let Some((packet, next)) = inputter.stalled.pop_front() {
            self.store(node, packet, next);
        }
        match self.packets[token as usize].kind {
            Kind::Broadcast => self.broadcast_stored(node, token),
            _ => self.stored(node, token),
        }
    }

    /// A packet's payload is in its place; with the last one of a DMA, the destination's event occurs.
    fn stored(&mut self, node: NodeId, token: Token) {
        let packet = &mut self.packets[token as usize];
        packet.pending -= 1;
        let (id, offset, length, payload) = (
            packet.dma,
            packet.offset,
            packet.length,
            packet.payload.take(),
        );
        self.drop_packet_if_done(token);
        self.adapters[node as usize].inputter.stored += length;
        let progress = &mut self.dmas[id as usize];
        progress.unstored -= 1;
        let (dma, capability) = (progress.dma, progress.capability);
        let over = progress.cut_all && progress.unstored == 0 && progress.failed.get().is_none();
        let get = progress.get;
        if let Some(bytes) = payload
            && let Err(fault) = self.deposit(dma.to.offset(offset), &bytes, capability)
        {
            self.trap(node, dma.to.context, fault.into());
        }
        if let Some(meter) = dma.meter {
            self.meters[meter.index()] += length;
        }
        if over {
            self.landed_all(id);
            let at = self.now() + self.config.adapter.input + self.config.adapter.event;
            match dma
                .notify
                .map(|notify| self.notifies(dma.to, notify, capability))
            {
                Some(Ok(event)) => {
                    self.schedule(at, node, Happening::Occurred(News::Event(event)));
                }
                Some(Err(fault)) => self.trap(node, dma.to.context, fault.into()),
                None => {}
            }
            if let Some(Get::Serving(get)) = get {
                self.got(node, get, at);
            }
        }
        self.drop_dma_if_over(id);
    }

    /// The adapter reads main memory behind what it has accepted for it: where that is still in the input buffers, the
    /// bytes come from there.
    pub(crate) fn read_behind(&self, at: Address, bytes: &mut [u8]) {
        let start = u64::from(at.elan.as_u32());
        let end = start + bytes.len() as u64;
        for &token in &self.adapters[at.node as usize].inputter.writing {
            let packet = &self.packets[token as usize];
            let to = self.dmas[packet.dma as usize].dma.to.offset(packet.offset);
            let Some(payload) = packet.payload.as_ref() else {
                continue;
            };
            let from = u64::from(to.elan.as_u32());
            let (first, last) = (start.max(from), end.min(from + payload.len() as u64));
            if to.context == at.context && first < last {
                let new = &payload[(first - from) as usize..(last - from) as usize];
                bytes[(first - start) as usize..(last - start) as usize].copy_from_slice(new);
            }
        }
    }

    /// Sends an acknowledgement, a turnaround from now.
    pub(crate) fn answer(&mut self, packet: PacketId, ack: Ack) {
        let cycle = self.cycle_from(self.now() + self.config.adapter.turnaround);
        self.fabric.acknowledge(cycle, packet, ack);
    }
}

/// Where the payload of a packet belongs.
enum Room {
    /// In memory.
    Place(Placement),
    /// In a slot of a queue, by its number.
    Slot(u32),
    /// In a queue without a free slot.
    Full,
}
