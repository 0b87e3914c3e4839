//! # Broadcasts: packets to all nodes of a range
//!
//! One packet reaches the contexts of one number on a contiguous range of nodes, the sender's own among them if it lies in
//! the range, with the same addresses in each (002; public Elan3 headers). The fabric copies it and combines the answers
//! ([`fabric`]); this module is what adapters do with it. There are two kinds.
//!
//! **Messages** ([`crate::Thread::broadcast`]): the *network conditional*. Each destination examines the transactions as
//! those of any message ([`crate::message`]), answers, and executes nothing yet. If all have answered *accepted*, the
//! sender's end-of-packet token commits: each destination executes the transactions as the token reaches it. Any other
//! answer aborts: nothing changes anywhere. A node that has said yes executes the rest whatever has become of the condition
//! meanwhile; if the memory is gone, its process gets a trap.
//!
//! **DMAs** ([`crate::Dma::broadcast`]): each destination stores the payload as it arrives, and answers as always. If one
//! has discarded the packet, all get it again; those who have stored it store it once more, which changes nothing. The
//! notification must not happen twice, so it waits for the end of the packet that carries it, and occurs, at each
//! destination for itself, once that has ended well and all of the payload is stored there.
//!
//! The time is that of other packets: `turnaround` to the answer, `input` and `event` from the last of payload and token to
//! the event.

use crate::NodeId;
use crate::cluster::Happening;
use crate::cluster::World;
use crate::dma::{DmaError, DmaId, Notify, Token};
use crate::event::News;
use crate::memory::{Address, Placement};
use crate::message::{Answer, MESSAGE};
use crate::mmu::{Access, Fault};
use fabric::{Ack, Destination, PacketId};

/// How far one destination of a broadcast DMA is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Landing {
    /// Packets stored there.
    packets: u64,
    /// Whether the last has ended well.
    ended: bool,
}

impl World {
    /// Whether a destination is one node, or a range of those that there are.
    pub(crate) fn check_range(&self, destination: Destination) -> Result<(), DmaError> {
        let topology = self.fabric.topology();
        let (first, last) = (destination.first(), destination.last());
        if destination.is_broadcast() && topology.as_tree().is_none() {
            return Err(DmaError::NoTree);
        }
        if destination.is_broadcast() && !topology.are_attached(first, last) {
            let (first, last, nodes) = (first.get(), last.get(), topology.nodes());
            return Err(DmaError::NoRange { first, last, nodes });
        }
        Ok(())
    }

    /// For each destination of a DMA that is a broadcast, that it has stored nothing of a packet.
    pub(crate) fn landed(&self, id: DmaId) -> Box<[bool]> {
        vec![false; self.dmas[id as usize].landings.len()].into()
    }

    /// Whether a packet of a broadcast DMA carries its notification.
    pub(crate) fn notifies_at_end(&self, token: Token) -> bool {
        let packet = &self.packets[token as usize];
        let dma = self.dmas[packet.dma as usize].dma;
        dma.notify.is_some() && packet.offset + packet.length == dma.length
    }

    /// A packet of a broadcast DMA has arrived at one of its destinations.
    pub(crate) fn broadcast_arrived(&mut self, node: NodeId, packet: PacketId, token: Token) {
        match self.admit_broadcast(node, token) {
            Err(fault) => {
                let first = &mut self.packets[token as usize].fault;
                first.get_or_insert_with(|| Box::new(fault));
                self.answer(packet, Ack::Error);
            }
            Ok(_) if self.adapters[node as usize].inputter.refusing => {
                self.answer(packet, Ack::Discarded);
            }
            Ok(place) => {
                self.packets[token as usize].pending += 1;
                if place == Placement::Main {
                    self.store_soon(node, packet, token);
                } else {
                    self.answer(packet, Ack::Accepted);
                    self.broadcast_stored(node, token);
                }
            }
        }
    }

    /// Where the payload of a packet belongs, and whether there is the event that it may carry.
    fn admit_broadcast(&self, node: NodeId, token: Token) -> Result<Placement, Fault> {
        let packet = &self.packets[token as usize];
        let progress = &self.dmas[packet.dma as usize];
        let (dma, capability) = (progress.dma, progress.capability);
        if self.notifies_at_end(token)
            && let Some(Notify::At(at)) = dma.notify
        {
            self.event_at(Address { node, ..at }, Access::RemoteEvent, capability)?;
        }
        let to = Address { node, ..dma.to }.offset(packet.offset);
        self.translate(to, packet.length, Access::RemoteWrite, capability)
    }

    /// One destination has the payload of a packet in its place.
    pub(crate) fn broadcast_stored(&mut self, node: NodeId, token: Token) {
        let packet = &mut self.packets[token as usize];
        packet.pending -= 1;
        let (id, length, payload) = (packet.dma, packet.length, packet.payload.take());
        let progress = &mut self.dmas[id as usize];
        let (dma, capability) = (progress.dma, progress.capability);
        let to = Address { node, ..dma.to }.offset(packet.offset);
        let place = (node - dma.to.node) as usize;
        let again = std::mem::replace(&mut packet.landed[place], true);
        progress.landings[place].packets += u64::from(!again);
        if let Some(bytes) = payload {
            let stored = self.deposit(to, &bytes, capability);
            self.packets[token as usize].payload = Some(bytes);
            if let Err(fault) = stored {
                self.trap(node, to.context, fault.into());
            }
        }
        if !again {
            self.adapters[node as usize].inputter.stored += length;
            if let Some(meter) = dma.meter {
                self.meters[meter.index()] += length;
            }
        }
        self.land(node, id);
        self.drop_packet_if_done(token);
    }

    /// The end of a packet has reached one of its destinations.
    pub(crate) fn ended(&mut self, node: NodeId, token: Token, good: bool) {
        if token & MESSAGE != 0 {
            return self.message_ended(node, token, good);
        }
        let packet = &mut self.packets[token as usize];
        packet.pending -= 1;
        let id = packet.dma;
        if good {
            let progress = &mut self.dmas[id as usize];
            let place = (node - progress.dma.to.node) as usize;
            progress.landings[place].ended = true;
            self.land(node, id);
        }
        self.drop_packet_if_done(token);
    }

    /// Lets the event of a broadcast DMA occur at one of its destinations, if both of what it waits for are there.
    fn land(&mut self, node: NodeId, id: DmaId) {
        let progress = &self.dmas[id as usize];
        let (dma, capability) = (progress.dma, progress.capability);
        let landing = progress.landings[(node - dma.to.node) as usize];
        let all = self.config.packet.packets(dma.length);
        if !landing.ended || landing.packets < all || progress.failed.get().is_some() {
            return;
        }
        let Some(Notify::At(at)) = dma.notify else {
            return;
        };
        let at = Address { node, ..at };
        match self.event_at(at, Access::RemoteEvent, capability) {
            Ok(event) => {
                let time = self.now() + self.config.adapter.input + self.config.adapter.event;
                self.schedule(time, node, Happening::Occurred(News::Event(event)));
            }
            Err(fault) => self.trap(node, at.context, fault.into()),
        }
    }

    /// A message to a range has arrived at one of its nodes.
    pub(crate) fn examine_broadcast(&mut self, node: NodeId, packet: PacketId, token: Token) {
        let message = self.message(token);
        let (to, capability) = (Address { node, ..message.to }, message.capability);
        let transactions = std::mem::take(&mut message.transactions);
        let examined = self.examine(to, capability, &transactions);
        let message = self.message(token);
        message.transactions = transactions;
        let no = Ok(Answer {
            passed: false,
            found: None,
        });
        let ack = match examined {
            Ok(true) => Ack::Accepted,
            Ok(false) => {
                message.result.get_or_insert(no);
                Ack::TestFailed
            }
            Err(fault) => {
                // Of several faults the first is told; a fault counts more than a test that failed.
                if !matches!(message.result, Some(Err(_))) {
                    message.result = Some(Err(fault.into()));
                }
                Ack::Error
            }
        };
        self.answer(packet, ack);
    }

    /// The end of a message has reached one of its nodes.
    fn message_ended(&mut self, node: NodeId, token: Token, good: bool) {
        let message = self.message(token);
        message.ends -= 1;
        let (to, capability) = (Address { node, ..message.to }, message.capability);
        if good {
            let transactions = std::mem::take(&mut message.transactions);
            match self.examine(to, capability, &transactions) {
                Ok(_) => {
                    self.execute(to, &transactions);
                }
                Err(fault) => self.trap(node, to.context, fault.into()),
            }
            self.message(token).transactions = transactions;
        }
        self.drop_message_if_done(token);
    }
}
