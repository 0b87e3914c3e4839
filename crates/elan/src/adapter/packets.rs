//! # DMA packets at their source, from cutting to acknowledgement
//!
//! The sending units, [`super::dma_engine`] and [`super::sten`], decide which DMA has its turn.
//! This module makes that DMA's next packet. There are four packet kinds: *data*, *data* of a
//! *broadcast*, the *request* of a get, and the *trap* that notifies an asker that its get's bytes
//! are gone.

use super::gets::DESCRIPTOR;
use super::{AdapterEvent, Wires, event_unit::Occurrence};
use crate::Place;
use crate::dma::DmaError;
use crate::in_flight::{DmaId, Get, Kind, LandingState, Packet, PacketNumber, Stage, Token};
use crate::memory::{Access, AccessFault, Address, Placement};
use fabric::{Destination, Fabric, PacketSpec};
use units::Bytes;

/// Whether two adapters are on one rail.
pub(crate) fn check_rail(fabric: &Fabric, from: Place, to: Place) -> Result<(), DmaError> {
    let topology = fabric.topology();
    let rail = |place: Place| topology.rail_and_node(place).0;
    if topology.rails() == 1 || rail(from) == rail(to) {
        Ok(())
    } else {
        Err(DmaError::Apart { from, to })
    }
}

/// Whether a destination is one node, or a range of existing nodes.
pub(crate) fn check_range(fabric: &Fabric, destination: Destination) -> Result<(), DmaError> {
    if !destination.is_broadcast() {
        return Ok(());
    }
    let topology = fabric.topology();
    let (first, last) = (destination.first(), destination.last());
    if topology.as_tree().is_none() {
        return Err(DmaError::NoTree);
    }
    if !topology.are_attached(first, last) {
        let nodes = topology.nodes();
        return Err(DmaError::NoRange { first, last, nodes });
    }
    Ok(())
}

/// The contents of a packet.
struct Piece {
    kind: Kind,
    length: Bytes,
    /// Where the payload lies.
    placement: Placement,
    payload: Option<Box<[u8]>>,
    fault: Option<Box<AccessFault>>,
}

impl Piece {
    /// A packet that is not payload.
    fn control(kind: Kind, fault: Option<AccessFault>) -> Self {
        Piece {
            kind,
            length: Bytes::ZERO,
            placement: Placement::Adapter,
            payload: None,
            fault: fault.map(Box::new),
        }
    }
}

impl Wires<'_> {
    /// Cuts a DMA's next packet (a get has only one) and sends it once its payload is read. Returns
    /// false if the source is no longer mapped: the DMA has failed.
    pub fn cut(&mut self, id: DmaId) -> bool {
        let piece = match self.flight.dma(id).get {
            Some(Get::Asking { .. }) => Piece::control(Kind::Request, None),
            Some(Get::Serving(_)) => match self.payload(id, Access::RemoteRead) {
                Ok(piece) => piece,
                Err(fault) => {
                    // Packets with earlier bytes may still go again, and be stored after the asker
                    // has noticed the fault.
                    self.flight.dma_mut(id).end(fault.into());
                    Piece::control(Kind::Trap, Some(fault))
                }
            },
            None => match self.payload(id, Access::LocalRead) {
                Ok(piece) => piece,
                Err(fault) => {
                    self.flight.dma_mut(id).end(fault.into());
                    return false;
                }
            },
        };
        self.launch(id, piece);
        true
    }

    /// A DMA's next payload.
    fn payload(&self, id: DmaId, access: Access) -> Result<Piece, AccessFault> {
        let progress = self.flight.dma(id);
        let dma = &progress.dma;
        let length = (dma.length - progress.cut).min(self.config.packet.payload);
        let kind = match dma.last {
            Some(_) => Kind::Broadcast,
            None => Kind::Data,
        };
        let mut piece = Piece {
            length,
            ..Piece::control(kind, None)
        };
        let at = dma.from.offset(progress.cut);
        let memory = &self.memory;
        memory.check_offer(at, length, dma.withdrawn, progress.capability)?;
        if !length.is_zero() {
            let found = self.memory.fetch(at, length, access, progress.capability);
            (piece.placement, piece.payload) = found?;
            if piece.placement == Placement::Main
                && let Some(payload) = &mut piece.payload
            {
                self.interface.read_behind(self.flight, at, payload);
            }
        }
        Ok(piece)
    }

    /// Makes a packet, and sends it or has its payload read.
    #[inline]
    fn launch(&mut self, id: DmaId, piece: Piece) {
        let progress = self.flight.dma_mut(id);
        let offset = progress.cut;
        progress.cut += piece.length;
        let sends = matches!(piece.kind, Kind::Data | Kind::Broadcast);
        progress.cut_all = !sends || progress.cut == progress.dma.length;
        progress.open += 1;
        progress.unstored += 1;
        let packet = Packet {
            dma: id,
            kind: piece.kind,
            offset,
            length: piece.length,
            payload: piece.payload,
            fault: piece.fault,
            refusals: 0,
            pending: u32::from(piece.kind != Kind::Broadcast),
            acknowledged: false,
            lost: false,
            answered: None,
            trouble: None,
            landed: match progress.landings.len() {
                0 => Box::default(),
                destinations => vec![LandingState::No; destinations].into(),
            },
        };
        let token = self.flight.add_packet(packet);
        if piece.placement == Placement::Main {
            self.read_main(token);
        } else {
            self.send(token);
        }
    }

    /// Hands a packet to the network.
    pub fn send(&mut self, token: PacketNumber) {
        self.flight.packet_mut(token).lost = false;
        let packet = self.flight.packet(token);
        let progress = self.flight.dma(packet.dma);
        let (dma, format) = (&progress.dma, &self.config.packet);
        let flits = match packet.kind {
            Kind::Request => format.flits(DESCRIPTOR),
            Kind::Data if dma.queue => format.queue_flits(packet.length),
            _ => format.flits(packet.length),
        };
        let spec = PacketSpec {
            source: progress.node,
            destination: progress.destination_of(packet.kind),
            flits,
            priority: dma.priority,
            traffic_class: progress.capability.traffic_class,
            awaits_end: packet.kind == Kind::Broadcast && self.flight.notifies(token),
            token: Token::Dma(token).of_share(progress.capability.share),
        };
        self.offer(spec);
    }

    /// A packet's payload has been read: the packet goes out, unless its DMA is lost; returns as
    /// [`Wires::complete`] does.
    pub fn send_read(&mut self, token: PacketNumber) -> Option<Address> {
        if self.flight.dma_of(token).lost {
            return self.abandon(token);
        }
        self.send(token);
        None
    }

    /// A refused packet goes out again; see [`send_read`](Self::send_read).
    pub fn send_again(&mut self, token: PacketNumber) -> Option<Address> {
        let id = self.flight.packet(token).dma;
        self.flight.dma_mut(id).refused -= 1;
        self.send_read(token)
    }

    /// The source is done with a DMA's packet; returns as [`Wires::complete`] does.
    #[inline]
    pub fn settle(&mut self, token: PacketNumber) -> Option<Address> {
        let packet = self.flight.packet_mut(token);
        packet.acknowledged = true;
        let id = packet.dma;
        self.flight.dma_mut(id).open -= 1;
        self.flight.drop_packet_if_done(self.now, token);
        self.complete(id)
    }

    /// Sets a DMA's source event once its last packet is settled. A DMA that serves a get has no
    /// waiter. If the DMA was a message to a queue, returns the queue: the next message to this
    /// queue may go now.
    #[inline]
    pub fn complete(&mut self, id: DmaId) -> Option<Address> {
        let progress = self.flight.dma_mut(id);
        if !progress.complete() || progress.stage >= Stage::Completed {
            return None;
        }
        if let Some(Get::Serving(get)) = progress.get {
            progress.stage = Stage::Reported;
            if let Some(error) = progress.failed.filter(|_| progress.lost) {
                self.lose_get(get, error);
            }
            self.drop_dma(id);
            return None;
        }
        let (node, to) = (progress.node, progress.dma.to);
        let died = progress.died();
        if died && progress.has_been_delivered() {
            progress.failed = None;
        }
        let ordered = progress.dma.queue && progress.stage == Stage::Queued && !died;
        progress.stage = Stage::Completed;
        let completed = AdapterEvent::Occurred(Occurrence::Completed(node, id));
        let at = self.now + self.config.adapter.event;
        self.agenda.schedule(at, node.get().into(), completed);
        if self.config.faults.is_some() && !self.flight.dma(id).landings.is_empty() {
            self.land_all(id);
        }
        ordered.then_some(to)
    }
}
