//! # Recovery: packets that the network damages or loses
//!
//! The fabric reports a packet's fate where cables fail or bits flip. An adapter makes sure that a
//! packet takes effect exactly once, or that its process gets an error.
//!
//! **The source** keeps a packet until its answer has come. Besides the destination's answers there
//! are three from the network:
//!
//! | answer | knowledge | the packet goes again after |
//! |---|---|---|
//! | *corrupted* | a CRC was wrong: the packet has not been stored | `retry_delay` |
//! | *unreachable* | no living link leads on: the packet has not been stored | as a discarded packet |
//! | *timed out* | unknown: no answer came | `faults.backoff`, a broadcast `faults.broadcast-backoff` |
//!
//! The packet goes again with the same number. If it has not got through `faults.give-up` after the
//! first of these answers, the source gives up, and the DMA or message ends with
//! [`DmaError::Network`]. An answer from the destination, even *discarded*, restarts this time. A
//! broadcast that its sender can replace by another way ([`Dma::once`](crate::Dma::once)) ends at
//! the first answer that it is lost.
//!
//! **The destination** remembers the packets that it has given a final answer until their sources
//! have it. It recognises a repetition by the packet's number, gives the same answer, and does not
//! execute it again: it stores no payload and no message, adds to no word (the word that was found
//! the first time is returned), serves no get twice. A packet that waits for an input buffer counts
//! as taken. A packet that arrives damaged is answered *corrupted* after `turnaround`.
//!
//! **Broadcasts.** A packet's end commits its effects only if all destinations have accepted it, so
//! a transaction message takes effect at all destinations or nowhere. Each destination keeps the
//! bytes of a DMA that it has stored; its event occurs once the *whole* DMA has succeeded at the
//! source. So either all destinations are notified, and the source succeeds, or no destination is,
//! and the source fails. That the last packet's end waits for the answers to the packets before it
//! is assumed; nothing is published.
//!
//! **Errors** are reported late: when the DMA has no packet under way any more, and all accepted
//! bytes are stored. The process can rely on an error: no delivery follows it. An error reports
//! whether the message may have been delivered, which is unknown if an answer got lost. A get has
//! two ends. If its request is finally lost, it fails, unless the owner serves it, then the end of
//! this service decides. If the owner cannot send the bytes, the asker fails at the same moment,
//! although its adapter cannot be notified: it would notice by its own timeout. This is a
//! simplification.
//!
//! **Dead adapters.** When an adapter dies, its DMAs end with [`Reason::Down`], and new ones are
//! refused so until it is repaired. A DMA succeeds at both ends if all its packets have been
//! accepted, although answers cannot come back: its process is assumed to know this, so that it
//! does not send the same over another rail. The adapter's cable is dead, so no packets come in or
//! go out; its threads' packets come back unreachable. Processes and threads continue to use the
//! adapter's memory. Both are simplifications.

use super::{AdapterEvent, Wires};
use crate::Place;
use crate::dma::DmaError;
use crate::faults::{CableName, FaultyPart, Loss, Obstacle};
use crate::in_flight::{
    DmaId, Get, Kind, PacketFaults, PacketNumber, Recoveries, Stage, ThreadPacketNumber, Token,
};
use crate::memory::{Access, AccessFault, Address, Reason};
use fabric::{Ack, Destination, PacketId};
use units::Time;

/// The further way of a DMA's packet that the network has refused.
pub(crate) enum RecoveryStep {
    /// It goes again.
    Again,
    /// It never goes again, and its DMA was over before.
    Over,
    /// It never goes again, and its DMA has failed by this.
    Lost(DmaId),
}

/// A packet that the network has refused, as the rules see it.
struct RefusedPacket {
    ack: Ack,
    destination: Destination,
    once: bool,
    refusals: u32,
    trouble: PacketFaults,
}

impl Wires<'_> {
    /// This adapter's measures against faults so far.
    pub fn recoveries(&mut self) -> &mut Recoveries {
        self.flight.recoveries(self.node)
    }

    /// When a packet goes again that the network has refused; a loss if its source gives up.
    fn try_again(&mut self, refused: &mut RefusedPacket) -> Result<Time, Loss> {
        let (now, ack) = (self.now, refused.ack);
        let recoveries = self.recoveries();
        *match ack {
            Ack::Corrupted => &mut recoveries.corrupted,
            Ack::Unreachable => &mut recoveries.unreachable,
            _ => &mut recoveries.timed_out,
        } += 1;
        let faults = self.config.faults.as_ref();
        let faults = faults.expect("the network fails only where faults are listed");
        let broadcast = refused.destination.is_broadcast();
        let trouble = &mut refused.trouble;
        trouble.unsure |= ack == Ack::TimedOut;
        let since = *trouble.since.get_or_insert(now);
        let other_way = refused.once && ack != Ack::Corrupted;
        if other_way || now - since >= faults.give_up {
            self.recoveries().given_up += 1;
            return Err(self.loss(ack, refused.destination, refused.trouble.unsure));
        }
        let delay = match ack {
            Ack::TimedOut if broadcast => faults.broadcast_backoff,
            Ack::TimedOut => faults.backoff,
            Ack::Unreachable => self.config.adapter.retry_after(refused.refusals),
            _ => self.config.adapter.retry_delay,
        };
        self.recoveries().resent += 1;
        Ok(now + delay)
    }

    /// The loss of a packet to a destination, after an answer from the network.
    fn loss(&self, ack: Ack, destination: Destination, unsure: bool) -> Loss {
        let mut to = destination.first();
        let reason = match ack {
            Ack::Corrupted => Obstacle::Damage,
            Ack::TimedOut => Obstacle::Silence,
            _ => {
                let mut places = destination.places();
                let no_way = places.find_map(|to| Some((to, cut(self.fabric, self.node, to)?)));
                to = no_way.map_or(to, |(to, _)| to);
                Obstacle::NoWay(no_way.map(|(_, cut)| cut))
            }
        };
        Loss {
            from: self.node,
            to,
            process: None,
            reason,
            // All or nothing: a broadcast that some destination did not accept was executed
            // nowhere.
            unsure: unsure && !destination.is_broadcast(),
        }
    }

    /// The network has refused a DMA's packet.
    pub fn refused(&mut self, token: PacketNumber, ack: Ack) -> RecoveryStep {
        let packet = self.flight.packet(token);
        let id = packet.dma;
        let progress = self.flight.dma(id);
        let mut refused = RefusedPacket {
            ack,
            destination: progress.destination_of(packet.kind),
            once: progress.dma.once,
            refusals: packet.refusals,
            trouble: packet.trouble.as_deref().copied().unwrap_or_default(),
        };
        let outcome = if progress.lost {
            None
        } else {
            Some(self.try_again(&mut refused))
        };
        let packet = self.flight.packet_mut(token);
        packet.trouble = Some(Box::new(refused.trouble));
        packet.refusals = packet.refusals.saturating_add(1);
        match outcome {
            Some(Ok(at)) => {
                self.flight.dma_mut(id).refused += 1;
                self.schedule(at, AdapterEvent::Retried(self.node, Token::Dma(token)));
                RecoveryStep::Again
            }
            // The bytes themselves, or the end of their sending, notify a get's asker.
            Some(Err(_)) if packet.kind == Kind::Request && packet.is_accepted() => {
                RecoveryStep::Over
            }
            Some(Err(loss)) => {
                self.flight.dma_mut(id).lose(loss.into());
                RecoveryStep::Lost(id)
            }
            None => RecoveryStep::Over,
        }
    }

    /// The source never sends a DMA's packet again; returns as [`Wires::complete`] does.
    pub fn abandon(&mut self, token: PacketNumber) -> Option<Address> {
        let packet = self.flight.packet_mut(token);
        if packet.kind != Kind::Broadcast && !packet.is_accepted() {
            packet.pending -= 1;
            let id = packet.dma;
            let progress = self.flight.dma_mut(id);
            progress.unstored -= 1;
            progress.missed = true;
        }
        self.settle(token)
    }

    /// The network has refused a thread's packet. Returns whether its source gives up, and the
    /// packet has its result.
    pub fn refused_by_thread(&mut self, token: ThreadPacketNumber, ack: Ack) -> bool {
        let packet = self.flight.thread_packet(token);
        let mut refused = RefusedPacket {
            ack,
            destination: packet.destination(),
            once: packet.once,
            refusals: packet.refusals,
            trouble: packet.trouble.as_deref().copied().unwrap_or_default(),
        };
        let outcome = self.try_again(&mut refused);
        let packet = self.flight.thread_packet(token);
        packet.trouble = Some(Box::new(refused.trouble));
        packet.refusals = packet.refusals.saturating_add(1);
        match outcome {
            Ok(at) => self.schedule(at, AdapterEvent::Retried(self.node, Token::Thread(token))),
            Err(loss) => packet.result = Some(Err(loss.into())),
        }
        outcome.is_err()
    }

    /// Gives a DMA's packet its final answer: if the packet comes again, it gets this answer and
    /// has no other effect.
    pub fn answer_for_good(&mut self, packet: PacketId, token: PacketNumber, ack: Ack) {
        self.flight.packet_mut(token).answered = Some(ack);
        self.answer(packet, ack);
    }

    /// Whether a DMA's packet has come before and has its final answer; if so, it gets the same
    /// answer.
    pub fn repeats(&mut self, packet: PacketId, token: PacketNumber) -> bool {
        let Some(ack) = self.flight.packet(token).answered else {
            return false;
        };
        self.recoveries().repeated += 1;
        self.answer(packet, ack);
        true
    }

    /// A packet has come in damaged: it is not stored.
    pub fn damaged(&mut self, packet: PacketId) {
        self.recoveries().damaged += 1;
        self.answer(packet, Ack::Corrupted);
    }

    /// Forgets a DMA's packet that both ends are done with. A lost DMA may be over by this.
    pub fn drop_packet(&mut self, token: PacketNumber) {
        let id = self.flight.packet(token).dma;
        let waits = self.flight.dma(id).waits_for_its_end();
        self.flight.drop_packet_if_done(self.now, token);
        if waits {
            self.complete(id);
        }
    }

    /// Bytes of a DMA have been stored: the DMA may be over at both ends. A loss may be reported
    /// then.
    pub fn drop_dma(&mut self, id: DmaId) {
        let progress = self.flight.dma(id);
        if progress.waits_for_its_end() {
            self.complete(id);
            return;
        }
        let get = match progress.get {
            Some(Get::Serving(get)) if self.flight.dma(get).waits_for_its_end() => Some(get),
            _ => None,
        };
        self.flight.drop_dma_if_over(self.now, id);
        if let Some(get) = get {
            self.complete(get);
        }
    }

    /// The owner has given up sending a get's bytes: the get fails, unless all bytes are there.
    pub fn lose_get(&mut self, get: DmaId, error: DmaError) {
        let progress = self.flight.dma_mut(get);
        if progress.get == (Some(Get::Asking { stored: false }))
            && progress.stage < Stage::Completed
        {
            progress.lose(error);
        }
    }

    /// The adapter has died: its engines' DMA ends; returns as [`Wires::complete`] does.
    pub fn end_by_death(&mut self, id: DmaId) -> Option<Address> {
        let progress = self.flight.dma_mut(id);
        let dma = &progress.dma;
        let error = match progress.get {
            // The asker may know already that its bytes are there; only the answer to the request
            // is missing.
            Some(Get::Asking { stored: true }) => return None,
            Some(Get::Serving(_)) => Loss {
                from: dma.to.node,
                to: dma.from.node,
                process: None,
                reason: Obstacle::Dead,
                unsure: false,
            }
            .into(),
            _ => AccessFault::new(dma.to, dma.length, Access::RemoteWrite, Reason::Down).into(),
        };
        progress.missed |= !progress.cut_all;
        progress.lose(error);
        self.complete(id)
    }
}

/// A dead cable that leaves no way between two adapters, as far as the routing tables know.
pub(crate) fn cut(fabric: &fabric::Fabric, from: Place, to: Place) -> Option<CableName> {
    let cut = fabric.way(from, to).err()?.cut;
    let first = FaultyPart::Link(*cut.first()?).name(&**fabric.topology());
    Some(CableName::from(first))
}
