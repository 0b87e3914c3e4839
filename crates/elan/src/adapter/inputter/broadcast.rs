//! # Broadcasts: packets to all nodes in a range
//!
//! One packet reaches the contexts with one number on a contiguous node range, with the same
//! addresses in each (petrini2001; public Elan3 headers). The range may contain the sender's own
//! node. The fabric copies the packet and combines the answers ([`fabric`]); this module is the
//! adapters' part. There are two kinds.
//!
//! **Messages** ([`crate::Thread::broadcast`]): the *network conditional*. Each destination
//! examines the transactions as it does with any message ([`crate::adapter::thread_packets`]),
//! answers, and does not execute them yet. If all have answered *accepted*, the sender's
//! end-of-packet token commits: each destination executes the transactions as the token reaches it.
//! Any other answer aborts: no destination changes. A node that has accepted executes the
//! transactions even if the condition no longer holds by then; if the memory is gone, the node's
//! process gets a trap.
//!
//! **DMAs** ([`crate::Dma::broadcast`]): each destination stores the payload as it arrives, and
//! answers as always. If one destination has discarded the packet, all get it again; a destination
//! that has stored the payload stores it once more, without a change. The notification must not
//! happen twice. So it waits for the end of the packet that carries it: each destination's event
//! occurs once that packet has ended well and all payload is stored there.
//!
//! The time is that of other packets: `turnaround` to the answer, and `input` and `event` from the
//! later of payload and token to the event.

use super::Inputter;
use crate::Place;
use crate::adapter::event_unit::Occurrence;
use crate::adapter::{AdapterEvent, Wires};
use crate::dma::Notify;
use crate::in_flight::{DmaId, LandingState, PacketNumber, ThreadPacketNumber, Token};
use crate::memory::{Access, AccessFault, Address, Placement};
use crate::transaction::Answer;
use fabric::{Ack, PacketId};

impl Inputter {
    /// A broadcast DMA's packet has arrived at a destination.
    pub(super) fn broadcast_arrived(
        &mut self,
        wires: &mut Wires,
        packet: PacketId,
        token: PacketNumber,
    ) {
        let place = wires.flight.dma_of(token).dma.index(wires.node);
        let sent = wires.flight.packet(token);
        if sent.trouble.is_some() && sent.landed[place] != LandingState::No {
            wires.recoveries().repeated += 1;
            return wires.answer(packet, Ack::Accepted);
        }
        match admit(wires, token) {
            Err(fault) => {
                let first = &mut wires.flight.packet_mut(token).fault;
                first.get_or_insert_with(|| Box::new(fault));
                wires.answer(packet, Ack::Error);
            }
            Ok(_) if self.refusing => wires.answer(packet, Ack::Discarded),
            Ok(placement) => {
                let taken = wires.flight.packet_mut(token);
                taken.pending += 1;
                if taken.landed[place] == LandingState::No {
                    taken.landed[place] = LandingState::Taken;
                }
                if placement == Placement::Main {
                    self.write_soon(wires, packet, token);
                } else {
                    wires.answer(packet, Ack::Accepted);
                    self.store_broadcast(wires, token);
                }
            }
        }
    }

    /// One destination has stored a packet's payload.
    pub(super) fn store_broadcast(&mut self, wires: &mut Wires, token: PacketNumber) {
        let node = wires.node;
        let packet = wires.flight.packet_mut(token);
        packet.pending -= 1;
        let (id, length, offset) = (packet.dma, packet.length, packet.offset);
        let payload = packet.payload.take();
        let progress = wires.flight.dma_mut(id);
        let (dma, capability) = (progress.dma, progress.capability);
        let to = Address { node, ..dma.to }.offset(offset);
        let place = dma.index(node);
        let landed = &mut wires.flight.packet_mut(token).landed[place];
        let again = std::mem::replace(landed, LandingState::Stored) == LandingState::Stored;
        wires.flight.dma_mut(id).landings[place].packets += u64::from(!again);
        if let Some(bytes) = payload {
            let access = Access::RemoteWrite;
            let stored = wires.memory.write(to, &bytes, access, capability);
            wires.flight.packet_mut(token).payload = Some(bytes);
            if let Err(fault) = stored {
                wires.trap(to, fault);
            }
        }
        if !again {
            self.bytes += length;
            wires.flight.count(&dma, length);
        }
        land(wires, id, node);
        wires.drop_packet(token);
    }

    /// A packet's end has reached a destination.
    pub fn ended(&mut self, wires: &mut Wires, token: Token, good: bool) {
        let token = match token {
            Token::Dma(token) => token,
            Token::Thread(token) => return self.thread_packet_ended(wires, token, good),
        };
        let packet = wires.flight.packet_mut(token);
        packet.pending -= 1;
        let id = packet.dma;
        if good {
            let progress = wires.flight.dma_mut(id);
            let place = progress.dma.index(wires.node);
            progress.landings[place].ended = true;
            land(wires, id, wires.node);
        }
        wires.drop_packet(token);
    }

    /// A thread's packet to a range has arrived at one node.
    pub(super) fn examine_broadcast(
        &mut self,
        wires: &mut Wires,
        packet: PacketId,
        token: ThreadPacketNumber,
    ) {
        let sent = wires.flight.thread_packet(token);
        let (to, capability) = (sent.to, sent.capability);
        let to = Address {
            node: wires.node,
            ..to
        };
        let transactions = std::mem::take(&mut sent.transactions);
        let examined = self.examine(wires, to, capability, &transactions);
        let sent = wires.flight.thread_packet(token);
        sent.transactions = transactions;
        let no = Ok(Answer {
            passed: false,
            found: None,
        });
        let ack = match examined {
            Ok(true) => Ack::Accepted,
            Ok(false) => {
                sent.result.get_or_insert(no);
                Ack::TestFailed
            }
            Err(fault) => {
                // The first of several faults is reported; a fault counts more than a test that
                // failed.
                if !matches!(sent.result, Some(Err(_))) {
                    sent.result = Some(Err(fault.into()));
                }
                Ack::Error
            }
        };
        wires.answer(packet, ack);
    }

    /// The end of a thread's packet has reached one of its nodes.
    fn thread_packet_ended(&mut self, wires: &mut Wires, token: ThreadPacketNumber, good: bool) {
        let node = wires.node;
        let sent = wires.flight.thread_packet(token);
        sent.ends -= 1;
        let (to, capability) = (Address { node, ..sent.to }, sent.capability);
        if good {
            let transactions = std::mem::take(&mut sent.transactions);
            match self.examine(wires, to, capability, &transactions) {
                Ok(_) => {
                    self.execute(wires, to, &transactions);
                }
                Err(fault) => wires.trap(to, fault),
            }
            wires.flight.thread_packet(token).transactions = transactions;
        }
        wires.flight.drop_thread_packet_if_done(token);
    }
}

/// Where a packet's payload belongs; a fault if the packet's event does not exist.
fn admit(wires: &Wires, token: PacketNumber) -> Result<Placement, AccessFault> {
    let node = wires.node;
    let packet = wires.flight.packet(token);
    let progress = wires.flight.dma(packet.dma);
    let (dma, capability) = (&progress.dma, progress.capability);
    if wires.flight.notifies(token)
        && let Some(Notify::At(at)) = dma.notify
    {
        let (at, access) = (Address { node, ..at }, Access::RemoteEvent);
        wires.memory.event_at(at, access, capability)?;
    }
    let to = Address { node, ..dma.to }.offset(packet.offset);
    wires
        .memory
        .translate(to, packet.length, Access::RemoteWrite, capability)
}

impl Wires<'_> {
    /// A broadcast DMA has succeeded at its source: the waiting events of all destinations occur.
    pub fn land_all(&mut self, id: DmaId) {
        let destination = self.flight.dma(id).dma.destination();
        for node in destination.places() {
            land(self, id, node);
        }
    }
}

/// Lets a broadcast DMA's event occur at one destination, if the packet has ended well and all
/// payload is stored there. Where network parts fail, all packets must have succeeded: see
/// [`crate::adapter::recovery`].
fn land(wires: &mut Wires, id: DmaId, node: Place) {
    let progress = wires.flight.dma_mut(id);
    let (dma, capability) = (progress.dma, progress.capability);
    let succeeded = wires.config.faults.is_none() || progress.acknowledged_all();
    let landing = &mut progress.landings[dma.index(node)];
    let all = wires.config.packet.packets(dma.length);
    let here = landing.ended && landing.packets >= all && !landing.notified;
    if !here || !succeeded || progress.failed.is_some() {
        return;
    }
    let Some(Notify::At(at)) = dma.notify else {
        return;
    };
    landing.notified = true;
    let (at, access) = (Address { node, ..at }, Access::RemoteEvent);
    match wires.memory.event_at(at, access, capability) {
        Ok(event) => {
            let adapter = &wires.config.adapter;
            let time = wires.now + adapter.input + adapter.event;
            let occurred = AdapterEvent::Occurred(Occurrence::Event(event));
            wires.agenda.schedule(time, node.get().into(), occurred);
        }
        Err(fault) => wires.memory.trap(node, at.context, fault.into()),
    }
}
