//! How packets end where something has failed: garbage, damage, answers that are lost.

use super::{Control, Draw};
use crate::control::packet::Fate;
use crate::control::{Ack, Event, Notice, PacketId};
use crate::motion::Motion;
use crate::topology::CompiledRouting;
use crate::{ChannelId, Circuit, Cycle};

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// A packet's last flit, or garbage in its place, is at its destination. Returns the
    /// destination's notice.
    #[cold]
    pub(in crate::control) fn arrive_at_last(
        &mut self,
        motion: &mut M,
        packet: PacketId,
    ) -> Option<Notice> {
        let is_broadcast = self.flights.get(packet).spec.destination.is_broadcast();
        if self.is_garbage(packet) {
            if is_broadcast {
                self.flights.get_mut(packet).fate = Fate::Lost;
                self.garbage_arrives(packet);
            } else {
                self.free_after_the_delivery(packet);
                self.lose(motion, packet);
            }
            return None;
        }
        let damaged = self.is_damaged(packet);
        match self.deliver(packet) {
            Notice::Delivered(packet, node, spec) if damaged => {
                Some(Notice::Damaged(packet, node, spec))
            }
            notice => Some(notice),
        }
    }

    /// Whether a packet's body is wrong at its destination.
    fn is_damaged(&mut self, packet: PacketId) -> bool {
        let flight = self.flights.get(packet);
        let (spec, sequence) = (flight.spec, flight.sequence);
        let mut damaged = false;
        for channel in self.channels_to(packet) {
            let link = self.channels.link(channel);
            let ejects = self.channels.hop(link).ejects();
            let faults = self.failing();
            let checked = if ejects { 0 } else { faults.config.header_bits };
            let bits = u64::from(spec.flits) * u64::from(faults.config.flit_bits);
            let body = Draw::Body(bits.saturating_sub(checked.into()));
            if faults.draws(link, spec.source, sequence, body) {
                damaged = true;
                if !spec.destination.is_broadcast() || self.is_new_damage(packet, link) {
                    self.failing().count_error(link);
                }
            }
        }
        damaged
    }

    /// A packet to one node has ended without an answer: the source gives up at its timeout.
    pub(super) fn lose(&mut self, motion: &mut M, packet: PacketId) {
        let broken = self.flights.get(packet).broken;
        self.break_off(motion, packet, broken.into());
        self.flights.get_mut(packet).ack = Some(Ack::TimedOut);
        self.clock
            .schedule(self.clock.now(), Event::Acknowledged(packet));
    }

    /// An ended packet's circuit is broken at a channel: the channels beyond fall free, and the
    /// destination receives a bad EOP if it has been notified of the packet and waits.
    fn break_off(&mut self, motion: &mut M, packet: PacketId, place: usize) {
        let flight = self.flights.get_mut(packet);
        flight.fate = Fate::Lost;
        let beyond: Vec<ChannelId> = flight.path().iter().skip(place + 1).copied().collect();
        if flight.spec.awaits_end && flight.delivered > 0 {
            let arrives = self.clock.now() + 1 + self.channels.delay(&beyond);
            let told = self.flights.insert_like(packet);
            self.flights.get_mut(told).ack = Some(Ack::TimedOut);
            self.clock.schedule(arrives, Event::Ended(told));
        }
        if self.config.circuit == Circuit::UntilAcknowledged && !beyond.is_empty() {
            let flight = self.flights.get_mut(packet);
            let channel = flight.path()[place];
            flight.shorten(place + 1);
            motion.detach(channel, self);
            for channel in beyond {
                self.clock
                    .schedule(self.clock.now() + 1, Event::Free(channel));
            }
        }
    }

    /// An answer would reach the source now. Returns whether it does, or the source gives up in
    /// this cycle.
    #[cold]
    pub(in crate::control) fn hears(&mut self, motion: &mut M, packet: PacketId) -> bool {
        if self.flights.get(packet).ack != Some(Ack::TimedOut) && self.answer_fails(motion, packet)
        {
            self.flights.get_mut(packet).ack = Some(Ack::TimedOut);
        }
        let flight = self.flights.get(packet);
        let gives_up = flight.injected + self.failing_timeout();
        if flight.ack != Some(Ack::TimedOut) || gives_up <= self.clock.now() {
            return true;
        }
        self.clock.schedule(gives_up, Event::Acknowledged(packet));
        false
    }

    fn failing_timeout(&self) -> Cycle {
        let faults = self.faults.as_ref();
        faults.expect("something may fail").config.timeout
    }

    /// Whether an answer that would be back now is lost on its way.
    fn answer_fails(&mut self, motion: &mut M, packet: PacketId) -> bool {
        let flight = self.flights.get(packet);
        if flight.path().is_empty() {
            // The adapter itself has answered.
            return false;
        }
        if flight.spec.destination.is_broadcast() {
            return self.combined_answer_fails(packet);
        }
        let faults = self.faults.as_ref().expect("something may fail");
        let left = self.clock.now() - self.channels.delay(flight.path());
        let (source, sequence) = (flight.spec.source, flight.sequence);
        // When the answer has passed the link, or would have; the first link is the last that it
        // passes.
        let mut passed = self.clock.now();
        let (mut broken, mut wrong) = (None, None);
        for (place, &channel) in flight.path().iter().enumerate() {
            let link = self.channels.link(channel);
            let back = self.channels.hop(link).reverse;
            if broken.is_none() && faults.was_dead(link, left, passed) {
                broken = Some(place);
            }
            if faults.draws(back, source, sequence, Draw::Token) {
                wrong = Some(back);
            }
            passed -= self.channels.delay(&[channel]);
        }
        if let Some(link) = wrong {
            self.failing().count_error(link);
        }
        if let Some(place) = broken {
            self.break_off(motion, packet, place);
        }
        broken.is_some() || wrong.is_some()
    }
}
