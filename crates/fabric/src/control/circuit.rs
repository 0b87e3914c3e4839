//! What follows from the motion: deliveries, acknowledgements, releases.

use super::arbitration::NO_GROUP;
use super::{Control, Event, Notice, PacketId, PacketRecord};
use crate::motion::{ChannelId, Motion};
use crate::{Circuit, Cycle};

impl Control {
    /// The last flit of a packet is at its destination.
    pub(super) fn deliver(&mut self, packet: PacketId) -> Notice {
        let now = self.now;
        let flight = self.flights.get_mut(packet);
        flight.delivered = now;
        let notice = Notice::Delivered(packet, flight.spec);
        if self.config.circuit == Circuit::UntilDelivered {
            for &channel in self.flights.get(packet).path() {
                self.calendar.schedule(now + 1, Event::Free(channel), now);
            }
        }
        notice
    }

    /// The acknowledgement is back: the packet is done, and with circuits the EOP starts.
    pub(super) fn complete(&mut self, packet: PacketId) -> Notice {
        let flight = self.flights.remove(packet);
        self.acknowledged += 1;
        let source = flight.spec.source;
        self.ports[source as usize].outstanding -= 1;
        self.flag_port(source);
        if self.config.circuit == Circuit::UntilAcknowledged {
            let mut passes = self.now + 1;
            for &channel in flight.path() {
                self.schedule(passes, Event::Free(channel));
                passes += self.delay(&[channel]);
            }
        }
        let record = PacketRecord {
            sequence: flight.sequence,
            links: flight.path().len() as u32,
            offered: flight.offered,
            injected: flight.injected,
            delivered: flight.delivered,
            acknowledged: self.now,
            ack: flight.ack.expect("an acknowledgement says something"),
        };
        Notice::Acknowledged(record, flight.spec)
    }

    /// A channel is free: whoever waits for it hears of it, and the tokens that closed it are charged.
    pub(super) fn release(&mut self, motion: &mut impl Motion, channel: ChannelId) {
        let number = self.lanes.link(channel);
        self.calendar.let_go();
        self.free[number as usize] |= 1 << self.lanes.lane(channel);
        let hop = self.links[number as usize].hop;
        motion.close(channel, self.now, self);
        if self.config.tokens {
            motion.charge(number, self.now, self);
            motion.charge(hop.reverse, self.now, self);
        }
        match hop.group {
            NO_GROUP => self.flag_port(number),
            group => self.flag_group(group),
        }
    }

    /// The first flit of a packet is sent over a channel: its wait for the link is over.
    pub(super) fn head_sent(&mut self, channel: ChannelId) {
        let ready = self.flights.get(self.holders[channel as usize]).ready;
        let link = &mut self.links[self.lanes.link(channel) as usize];
        link.packets += 1;
        link.waited += self.now - ready;
    }

    /// The last flit of a packet was sent over a channel in cycle `sent`, this one or the one before.
    pub(super) fn tail_sent(&mut self, channel: ChannelId, sent: Cycle) {
        let hop = &self.links[self.lanes.link(channel) as usize].hop;
        let (last, arrival) = (hop.ejects, sent + hop.delay());
        if last {
            let packet = self.holders[channel as usize];
            self.schedule(arrival, Event::Delivered(packet));
        }
        if self.config.circuit == Circuit::Wormhole {
            let path = self.flights.get(self.holders[channel as usize]).path();
            let place = path
                .iter()
                .position(|&taken| taken == channel)
                .expect("the channel is on the packet's path");
            if let Some(before) = place.checked_sub(1) {
                self.schedule(sent + 2, Event::Free(path[before]));
            }
            if last {
                self.schedule(arrival + 2, Event::Free(channel));
            }
        }
    }

    /// Header delay of the links of some channels, in cycles.
    pub(super) fn delay(&self, channels: &[ChannelId]) -> u64 {
        let link = |&channel: &ChannelId| &self.links[self.lanes.link(channel) as usize];
        channels
            .iter()
            .map(|channel| link(channel).hop.delay())
            .sum()
    }
}
