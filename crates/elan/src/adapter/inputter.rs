//! # The receiving side: the inputter
//!
//! The inputter stores each packet's payload and answers the packet. Payload for adapter memory is
//! stored immediately. A packet for main memory needs one of `input_buffers` while it waits for the
//! bus. When all buffers are taken, the packet's acknowledgement waits for a buffer, and with it
//! the circuit: so a slow bus slows down its senders. The inputter never waits for its own
//! adapter's sending side, so no wait cycle can close through the inputter.
//!
//! A DMA's packets are complete when its event is set. Separate DMAs are not ordered: a short DMA
//! can be stored before a longer DMA that was posted earlier, and a DMA without payload does not
//! wait for the bus.
//!
//! The inputter's answers: *accepted*, which for main memory means that the packet has its buffer,
//! not yet that it is written; *discarded* while the node does not accept
//! ([`crate::Node::accept`]), or a queue is full; *error* if the destination's MMU refuses the
//! bytes or, with a DMA's last packet, the event. For get requests and transaction messages see
//! [`super::gets`] and [`super::thread_packets`].
//!
//! A descriptor may ask for later answers ([`crate::Dma::stored`]): its packets for main memory are
//! answered when they are written.
//!
//! The host does not see payload that is accepted and not yet written. The adapter's later reads
//! from main memory see such payload, as reads follow earlier writes on a PCI bus: a get sees all
//! puts that were over when it was posted.
//!
//! A process that unmaps a range while a packet for it waits for the bus loses the packet's bytes,
//! and gets a trap.

pub mod broadcast;
mod transactions;

use super::event_unit::Occurrence;
use super::queue::Queue;
use super::{AdapterEvent, Wires};
use crate::dma::Notify;
use crate::in_flight::{Get, Kind, PacketNumber, Token};
use crate::memory::{
    Access, AccessFault, Address, Capability, EVENT_BLOCK, EventId, Placement, QueueNumber, Reason,
};
use fabric::{Ack, PacketId};
use std::collections::VecDeque;
use typed_index_collections::TiVec;
use units::Bytes;

/// One adapter's inputter.
#[derive(Default)]
pub(crate) struct Inputter {
    /// Packets that wait for an input buffer; at most one for each ejection channel, with the
    /// circuit that they hold.
    stalled: VecDeque<(PacketId, PacketNumber)>,
    /// Packets in the input buffers that are answered when they are written
    /// ([`crate::Dma::stored`]).
    unanswered: Vec<(PacketId, PacketNumber)>,
    /// Whether the node accepts no packets.
    refusing: bool,
    /// Payload stored so far.
    bytes: Bytes,
    /// All contexts' queues, by number.
    queues: TiVec<QueueNumber, Queue>,
}

/// Where a packet's payload belongs.
#[derive(Clone, Copy)]
enum Room {
    /// In memory.
    Place(Placement),
    /// In a queue slot.
    Slot(QueueNumber),
}

impl Inputter {
    /// Whether the node accepts no packets.
    pub fn is_refusing(&self) -> bool {
        self.refusing
    }

    /// The node accepts, or no longer does.
    pub fn refuse_all(&mut self, refusing: bool) {
        self.refusing = refusing;
    }

    /// Payload stored so far.
    pub fn stored(&self) -> Bytes {
        self.bytes
    }

    /// Adds a queue and returns its number.
    pub fn add_queue(&mut self, queue: Queue) -> QueueNumber {
        self.queues.push_and_get_key(queue)
    }

    pub fn queue(&mut self, index: QueueNumber) -> &mut Queue {
        &mut self.queues[index]
    }

    /// A DMA packet's last flit has arrived. Returns whether it is a get request, which the DMA
    /// engine takes.
    pub fn arrived(&mut self, wires: &mut Wires, packet: PacketId, token: PacketNumber) -> bool {
        match wires.flight.packet(token).kind {
            Kind::Request => return true,
            Kind::Trap => wires.trapped(packet, token),
            Kind::Data => self.data_arrived(wires, packet, token),
            Kind::Broadcast => self.broadcast_arrived(wires, packet, token),
        }
        false
    }

    /// Payload has arrived.
    fn data_arrived(&mut self, wires: &mut Wires, packet: PacketId, token: PacketNumber) {
        if wires.repeats(packet, token) {
            return;
        }
        match self.admit(wires, token) {
            Err(fault) => refuse(wires, packet, token, *fault),
            // No payload lands by this: a message that waits for room must not keep its reader's
            // node from sending.
            Ok(None) => wires.answer(packet, Ack::Discarded),
            Ok(Some(_)) if self.refusing => wires.answer(packet, Ack::Discarded),
            Ok(Some(room)) => self.receive(wires, packet, token, room),
        }
    }

    /// Takes payload that has room.
    fn receive(&mut self, wires: &mut Wires, packet: PacketId, token: PacketNumber, room: Room) {
        let id = wires.flight.packet(token).dma;
        wires.flight.landing(wires.now, id);
        match room {
            Room::Slot(queue) => {
                wires.answer_for_good(packet, token, Ack::Accepted);
                let arrival = wires.flight.packet_mut(token);
                let length = arrival.length.as_u64() as usize;
                let zeros = || vec![0; length].into_boxed_slice();
                let message = arrival.payload.take().unwrap_or_else(zeros);
                self.enqueue(wires, queue, message);
                self.store(wires, token);
            }
            Room::Place(Placement::Adapter) => {
                wires.answer_for_good(packet, token, Ack::Accepted);
                self.store(wires, token);
            }
            Room::Place(Placement::Main) => {
                wires.flight.packet_mut(token).answered = Some(Ack::Accepted);
                self.write_soon(wires, packet, token);
            }
        }
    }

    /// A packet has arrived on a rail that is down, or was down meanwhile: only its sender is
    /// notified.
    pub fn lost(wires: &mut Wires, packet: PacketId, token: Token) {
        let fault = |to, length| AccessFault::new(to, length, Access::RemoteWrite, Reason::Down);
        let token = match token {
            Token::Dma(token) => token,
            Token::Thread(token) => {
                let lost = wires.flight.thread_packet(token);
                if let Some(ack) = lost.answered {
                    return wires.answer(packet, ack);
                }
                lost.result = Some(Err(fault(lost.to, Bytes::ZERO).into()));
                return wires.answer(packet, Ack::Error);
            }
        };
        if wires.repeats(packet, token) {
            return;
        }
        let to = wires.flight.dma_of(token).dma.to;
        let lost = wires.flight.packet_mut(token);
        let fault = fault(to.offset(lost.offset), lost.length);
        if lost.kind == Kind::Broadcast {
            lost.fault.get_or_insert_with(|| Box::new(fault));
            wires.answer(packet, Ack::Error);
        } else {
            refuse(wires, packet, token, fault);
        }
    }

    /// Where a packet's payload belongs, unless its queue is full; a fault if its event does not
    /// exist.
    fn admit(&self, wires: &Wires, token: PacketNumber) -> Result<Option<Room>, Box<AccessFault>> {
        let packet = wires.flight.packet(token);
        let progress = wires.flight.dma(packet.dma);
        let (dma, capability, length) = (&progress.dma, progress.capability, packet.length);
        let to = dma.to.offset(packet.offset);
        let last = packet.offset + length == dma.length;
        if last && let Some(notify) = dma.notify {
            notifies(wires, dma.to, notify, capability)?;
        }
        if dma.queue {
            let queue = self.queue_at(wires, to, length, capability)?;
            let has_room = self.queues[queue].has_room();
            return Ok(has_room.then_some(Room::Slot(queue)));
        }
        let place = wires
            .memory
            .translate(to, length, Access::RemoteWrite, capability)?;
        Ok(Some(Room::Place(place)))
    }

    /// The number of the queue at an address; a fault if a message may not enter this queue even
    /// when there is room.
    fn queue_at(
        &self,
        wires: &Wires,
        at: Address,
        length: Bytes,
        capability: Capability,
    ) -> Result<QueueNumber, AccessFault> {
        let index = wires.memory.queue_at(at, length, capability)?;
        if length > self.queues[index].slot() {
            let (access, reason) = (Access::RemoteWrite, Reason::SlotTooShort);
            return Err(AccessFault::new(at, length, access, reason));
        }
        Ok(index)
    }

    /// A message comes into a queue.
    pub fn enqueue(&mut self, wires: &mut Wires, index: QueueNumber, message: Box<[u8]>) {
        self.queue(index).push(message);
        let adapter = &wires.config.adapter;
        let at = wires.now + adapter.input + adapter.event;
        wires.schedule(at, AdapterEvent::Queued(wires.node, index));
    }

    /// Takes a packet for main memory into an input buffer, as soon as one is free.
    fn write_soon(&mut self, wires: &mut Wires, packet: PacketId, token: PacketNumber) {
        if wires.interface.writing() < wires.config.adapter.input_buffers {
            self.write(wires, packet, token);
        } else {
            self.stalled.push_back((packet, token));
        }
    }

    /// Takes a packet into an input buffer and asks for the bus.
    fn write(&mut self, wires: &mut Wires, packet: PacketId, token: PacketNumber) {
        if wires.flight.dma_of(token).dma.stored {
            self.unanswered.push((packet, token));
        } else {
            wires.answer(packet, Ack::Accepted);
        }
        wires.write_main(token);
    }

    /// The bus has taken a packet's payload to main memory.
    pub fn written(&mut self, wires: &mut Wires, token: PacketNumber) {
        wires.end_write(token);
        if wires.flight.dma_of(token).dma.stored {
            let waits = self.unanswered.iter().position(|one| one.1 == token);
            let (packet, _) = self.unanswered.remove(waits.expect("it is answered now"));
            wires.answer(packet, Ack::Accepted);
        }
        if let Some((packet, next)) = self.stalled.pop_front() {
            self.write(wires, packet, next);
        }
        match wires.flight.packet(token).kind {
            Kind::Broadcast => self.store_broadcast(wires, token),
            _ => self.store(wires, token),
        }
    }

    /// A packet's payload is in its place. With a DMA's last payload, the destination's event
    /// occurs.
    fn store(&mut self, wires: &mut Wires, token: PacketNumber) {
        let packet = wires.flight.packet_mut(token);
        packet.pending -= 1;
        let (id, offset, length) = (packet.dma, packet.offset, packet.length);
        let payload = packet.payload.take();
        wires.flight.drop_packet_if_done(wires.now, token);
        self.bytes += length;
        let progress = wires.flight.dma_mut(id);
        progress.unstored -= 1;
        let (dma, capability) = (progress.dma, progress.capability);
        let over = progress.has_landed();
        let get = progress.get;
        let (at, access) = (dma.to.offset(offset), Access::RemoteWrite);
        if let Some(bytes) = payload
            && let Err(fault) = wires.memory.write(at, &bytes, access, capability)
        {
            wires.trap(dma.to, fault);
        }
        wires.flight.count(&dma, length);
        if over {
            wires.flight.landed_all(wires.now, id);
            let adapter = &wires.config.adapter;
            let at = wires.now + adapter.input + adapter.event;
            let notify = dma.notify;
            match notify.map(|notify| notifies(wires, dma.to, notify, capability)) {
                Some(Ok(event)) => {
                    wires.schedule(at, AdapterEvent::Occurred(Occurrence::Event(event)));
                }
                Some(Err(fault)) => wires.trap(dma.to, fault),
                None => {}
            }
            if let Some(Get::Serving(get)) = get {
                wires.got(get, at);
            }
        }
        wires.drop_dma(id);
    }
}

/// Answers a packet that is refused finally.
fn refuse(wires: &mut Wires, packet: PacketId, token: PacketNumber, fault: AccessFault) {
    wires.flight.packet_mut(token).fault = Some(Box::new(fault));
    wires.answer_for_good(packet, token, Ack::Error);
    // After its rail's failure, a get waits until no more of its bytes can be stored.
    if fault.reason != Reason::Down
        && let Some(Get::Serving(get)) = wires.flight.dma_of(token).get
    {
        wires.fail_get(get, fault);
    }
}

/// The event that a descriptor names.
fn notifies(
    wires: &Wires,
    to: Address,
    notify: Notify,
    capability: Capability,
) -> Result<EventId, AccessFault> {
    let access = Access::RemoteEvent;
    let gone = || AccessFault::new(to, EVENT_BLOCK, access, Reason::Nothing);
    let at = wires.memory.notified(notify).ok_or_else(gone)?;
    wires.memory.event_at(at, access, capability)
}
