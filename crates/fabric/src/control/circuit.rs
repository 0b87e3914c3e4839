//! Consequences of motion: deliveries, acknowledgements, releases.

use super::packet::Fate;
use super::{Control, Event, Notice, PacketRecord};
use crate::PacketId;
use crate::motion::Motion;
use crate::records::Sender;
use crate::topology::{CompiledRouting, Destination};
use crate::{ChannelId, Circuit, Cycle};

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// A packet's last flit is at its destination.
    pub(super) fn deliver(&mut self, packet: PacketId) -> Notice {
        let now = self.clock.now();
        let flight = self.flights.get_mut(packet);
        flight.delivered = now;
        let spec = flight.spec;
        let Destination::Node(node) = spec.destination else {
            self.broadcast_delivered(packet);
            return Notice::Delivered(packet, self.destination(packet), spec);
        };
        self.free_after_the_delivery(packet);
        Notice::Delivered(packet, node, spec)
    }

    /// A packet is at its end: its channels fall free where circuits last until the delivery.
    pub(super) fn free_after_the_delivery(&mut self, packet: PacketId) {
        if self.config.circuit == Circuit::UntilDelivered {
            let freed = self.clock.now() + 1;
            if self.border.is_some() {
                for channel in self.flights.get(packet).path().to_vec() {
                    self.free_anywhere(freed, channel);
                }
                return;
            }
            for &channel in self.flights.get(packet).path() {
                self.clock.schedule(freed, Event::Free(channel));
            }
        }
    }

    /// A tail has left a channel's buffer, or is in at the end of the link, in cycle `left`: the
    /// channel falls free one cycle after the sender has the last credit, where there are no
    /// circuits.
    pub(super) fn free_behind_the_tail(&mut self, channel: ChannelId, left: Cycle) {
        if self.config.circuit.ends_with_the_tail() {
            let link = self.channels.link(channel);
            let credit = self.channels.records.credit_delay(link);
            self.free_at(left + credit + 1, channel);
        }
    }

    /// The acknowledgement is back: the packet is done, and with circuits the EOP starts.
    pub(super) fn complete(&mut self, packet: PacketId) -> Notice {
        let flight = self.flights.get(packet);
        if let Some(recording) = &mut self.recording {
            recording.completed(flight, self.clock.now());
        }
        let (spec, taken) = (flight.spec, flight.taken());
        let ack = flight.ack.expect("an acknowledgement says something");
        let mut record = PacketRecord {
            sequence: flight.sequence,
            links: taken as u32,
            offered: flight.offered,
            injected: flight.injected,
            delivered: flight.delivered,
            acknowledged: self.clock.now(),
            ack,
        };
        let told = spec.awaits_end && flight.delivered > 0 && flight.fate == Fate::Well;
        let queue = self.queue_of(&spec);
        self.queues.end(queue);
        self.flag_port(spec.source);
        if spec.destination.is_broadcast() && taken > 0 {
            // As many down as up.
            record.links = 2 * if self.border.is_some() {
                self.flights.get(packet).plan
            } else {
                record.links
            };
            self.broadcast_ended(packet);
            return Notice::Acknowledged(record, spec);
        }
        if self.config.circuit == Circuit::UntilAcknowledged {
            self.end_from(packet, self.clock.now() + 1);
        }
        if told {
            self.tell_of_the_end(packet);
        } else {
            self.flights.remove(packet);
        }
        Notice::Acknowledged(record, spec)
    }

    /// The EOP passes a packet's channels, the first in some cycle.
    #[inline]
    pub(super) fn end_from(&mut self, packet: PacketId, mut passes: Cycle) {
        if self.border.is_some() {
            return self.end_in_region(packet, 0, passes);
        }
        for &channel in self.flights.get(packet).path() {
            self.clock.schedule(passes, Event::Free(channel));
            passes += self.channels.delay(&[channel]);
        }
    }

    /// A channel falls free in a cycle after this one.
    #[inline]
    pub(super) fn free_at(&mut self, at: Cycle, channel: ChannelId) {
        if self.border.is_some() && self.is_on_border(channel) {
            return self.free_anywhere(at, channel);
        }
        self.clock.schedule(at, Event::Free(channel));
    }

    /// Schedules the EOP notice for the destination, if the packet asks for it.
    #[cold]
    fn tell_of_the_end(&mut self, packet: PacketId) {
        let passes = self.clock.now() + 1;
        if self.border.is_some() {
            // All headers on the way have arrived, except for the one at the node.
            let flight = self.flights.get(packet);
            let last = self.wiring().ejection(flight.spec.destination.first());
            let last = Cycle::from(self.config.delay_of(last));
            let arrives = passes + (flight.undelayed - flight.injected) + last;
            if !self.tell_elsewhere(packet, arrives) {
                self.clock.schedule(arrives, Event::Ended(packet));
            }
            return;
        }
        let arrives = passes + self.channels.delay(self.flights.get(packet).path());
        self.clock.schedule(arrives, Event::Ended(packet));
    }

    /// A channel is free: the adapter or group that sends over its link has news, and the tokens
    /// that closed it are charged.
    pub(super) fn release(&mut self, motion: &mut M, channel: ChannelId) {
        let number = self.channels.link(channel);
        self.clock.let_go();
        self.channels.release(channel);
        if let Some(recording) = &mut self.recording {
            recording.closed(channel, self.clock.now());
        }
        let hop = *self.channels.hop(number);
        motion.close(channel, self.clock.now(), self);
        if let Some(faults) = &mut self.faults {
            faults.forget(channel);
            if faults.cuts() {
                self.keep(channel);
            }
        }
        if self.config.tokens {
            motion.charge(number, self.clock.now(), self);
            if !hop.is_outbound() {
                motion.charge(hop.reverse, self.clock.now(), self);
            }
        }
        if self.border.is_some() {
            self.visit_ends_at(channel);
        }
        self.tell(hop.sender());
    }

    /// The adapter or group that sends over a link has news.
    #[inline]
    pub(super) fn tell(&mut self, sender: Sender) {
        match sender {
            Sender::Adapter(place) => self.flag_port(place),
            Sender::Group(group) => self.flag_group(group),
        }
    }

    /// A packet's first flit is sent over a channel: the packet's wait for the link is over.
    pub(super) fn head_sent(&mut self, channel: ChannelId) {
        let packet = self.channels.holder(channel);
        let flight = self.flights.get(packet);
        let now = self.clock.now();
        let (waited, delay) = (now - flight.ready, now - flight.undelayed);
        self.channels.count(channel, waited, delay);
        if self.border.is_some() {
            self.send_header(channel, packet);
        }
    }

    /// A packet's last flit was sent over a channel in cycle `sent`: the present cycle or the one
    /// before. The packet has come over a channel upstream, if it has not come from an adapter; if
    /// the link ends in a node, the flit arrives there in cycle `arrival`.
    pub(super) fn tail_sent(
        &mut self,
        channel: ChannelId,
        sent: Cycle,
        upstream: Option<ChannelId>,
        arrival: Option<Cycle>,
    ) {
        if let Some(arrival) = arrival {
            let packet = self.channels.holder(channel);
            self.clock.schedule(arrival, Event::Delivered(packet));
        }
        if self.config.circuit.ends_with_the_tail() {
            if self.broadcasts.are_under_way() && self.begins_a_part(channel) {
                self.branch_tail_sent(self.channels.holder(channel), sent);
            } else if let Some(before) = upstream {
                self.free_behind_the_tail(before, sent);
            }
            if let Some(arrival) = arrival {
                self.free_behind_the_tail(channel, arrival);
            }
        }
    }

    /// Sum of the header delays along an arrived packet's path to one node, in cycles: those for
    /// all links but the last are known already.
    pub(super) fn travel_back(&self, packet: PacketId) -> u64 {
        let flight = self.flights.get(packet);
        let last = flight.path().last().copied();
        let delay = flight.undelayed - flight.injected + self.channels.delay(last.as_slice());
        debug_assert!(
            self.border.is_some() || delay == self.channels.delay(flight.path()),
            "the whole path counts"
        );
        delay
    }
}
