//! Headers that go nowhere: refused, wrong or lost. Their worms are sunk where they are.

use super::{Control, Draw, NEVER};
use crate::control::packet::{ANY_LINK, Fate};
use crate::control::{Ack, Event, PacketId};
use crate::id::GroupId;
use crate::motion::Motion;
use crate::topology::CompiledRouting;
use crate::{ChannelId, Cycle};

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// A header comes to a link's end. Returns whether it is to be routed in the usual way.
    #[cold]
    pub(in crate::control) fn header_passes(
        &mut self,
        channel: ChannelId,
        packet: PacketId,
    ) -> bool {
        let link = self.channels.link(channel);
        let flight = self.flights.get(packet);
        let (source, sequence) = (flight.spec.source, flight.sequence);
        let faults = self.failing();
        let gone = faults.seen[channel].gone;
        if gone || faults.draws(link, source, sequence, Draw::Header) {
            faults.sinking.push(channel);
            if !gone {
                faults.count_error(link);
                self.doom(packet, Ack::Corrupted);
            }
            return false;
        }
        // The choice fixed for the previous switch is over.
        self.flights.get_mut(packet).only = ANY_LINK;
        self.failing().known.is_empty() || self.takes_no_detour(channel, packet)
    }

    /// A packet is refused, unless it is lost anyway.
    pub(in crate::control) fn doom(&mut self, packet: PacketId, ack: Ack) {
        let flight = self.flights.get_mut(packet);
        if flight.fate == Fate::Well {
            flight.fate = Fate::Refused(ack);
        }
    }

    /// Sinks the worms after their headers have come in this cycle without a way on.
    #[cold]
    pub(in crate::control) fn sink_headers(&mut self, motion: &mut M) {
        let mut sinking = std::mem::take(&mut self.failing().sinking);
        for channel in sinking.drain(..) {
            self.sink(motion, channel);
        }
        self.failing().sinking = sinking;
    }

    /// Refuses a group's headers that have only dead links to go on by.
    #[cold]
    pub(in crate::control) fn refuse_headers(&mut self, motion: &mut M, number: GroupId) {
        let (outputs, ..) = self.crossbar.outputs(number);
        if self.failing_is_dead() && outputs.iter().any(|&link| self.is_cut(link)) {
            self.refuse_headers_of(motion, number);
        }
    }

    fn failing_is_dead(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.dead > 0)
    }

    #[cold]
    fn refuse_headers_of(&mut self, motion: &mut M, number: GroupId) {
        let (outputs, ..) = self.crossbar.outputs(number);
        let none_lives = outputs.iter().all(|&link| self.is_cut(link));
        let mut refused = Vec::new();
        let mut next = self.crossbar.groups[number].waiting;
        while let Some(packet) = next {
            let flight = self.flights.get(packet);
            next = flight.next;
            if none_lives || (flight.only != ANY_LINK && self.is_cut(flight.only)) {
                refused.push(packet);
            }
        }
        for packet in refused {
            self.leave(number, packet);
            match self.flights.get(packet).path().last() {
                None => self.refuse_branch(motion, packet),
                Some(&channel) => {
                    self.doom(packet, Ack::Unreachable);
                    self.sink(motion, channel);
                }
            }
        }
    }

    /// Sinks a worm, behind the cycle's events.
    pub(in crate::control) fn sink(&mut self, motion: &mut M, channel: ChannelId) {
        let now = self.clock.now();
        let packet = self.channels.holder(channel);
        if self.flights.get(packet).spec.destination.is_broadcast() {
            self.sink_part(packet);
        }
        let tail = self.failing().seen[channel].tail;
        self.failing().seen[channel].sunk = now;
        motion.sink(channel, now, self);
        if tail != NEVER {
            self.sunk_whole(channel, tail);
        }
    }

    /// The mover reports a tail.
    #[inline]
    pub(in crate::control) fn tail_passes(&mut self, channel: ChannelId, sent: Cycle) {
        let seen = &mut self.failing().seen[channel];
        seen.tail = sent;
        if seen.sunk != NEVER {
            self.sunk_whole(channel, sent);
        }
    }

    /// A sunk worm's tail was sent in a cycle: the worm is drained when the tail is in, and after
    /// the cycle in which it was sunk. Both movers report a tail in time for that, but not in the
    /// same cycle.
    #[cold]
    fn sunk_whole(&mut self, channel: ChannelId, sent: Cycle) {
        let packet = self.channels.holder(channel);
        let drained =
            (sent + self.channels.delay(&[channel])).max(self.failing().seen[channel].sunk + 1);
        self.clock.schedule(drained, Event::Sunk(packet));
        self.free_behind_the_tail(channel, drained);
    }

    /// A sunk packet's tail is in.
    #[cold]
    pub(in crate::control) fn drained(&mut self, motion: &mut M, packet: PacketId) {
        let flight = self.flights.get(packet);
        if flight.spec.destination.is_broadcast() {
            return self.part_drained(packet);
        }
        self.free_after_the_delivery(packet);
        match self.flights.get(packet).fate {
            Fate::Refused(ack) => {
                let flight = self.flights.get_mut(packet);
                flight.ack = Some(ack);
                let back = self.clock.now() + self.channels.delay(self.flights.get(packet).path());
                self.clock.schedule(back, Event::Acknowledged(packet));
            }
            Fate::Lost => self.lose(motion, packet),
            Fate::Well => unreachable!("only what has failed is sunk"),
        }
    }
}
