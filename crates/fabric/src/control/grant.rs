//! How a packet gets channels: headers, arbitration, injection.

use super::arbitration::{self, Waiting};
use super::packet::Flight;
use super::{Control, Notice, PacketId, Priority, Seat};
use crate::motion::{ChannelId, Key, Motion, Worm};
use crate::topology::{LinkId, NodeId, Tag};
use std::collections::VecDeque;

impl Control {
    /// A header reaches a switch and joins the group of its next tag.
    pub(super) fn header(&mut self, channel: ChannelId) {
        let packet = self.seats[channel as usize].packet;
        let hop = self.crossbar.hop(self.lanes.link(channel));
        self.events += 1;
        let flight = self.flights.get(packet);
        let tag = flight.next_tag(&self.config.tree, self.config.ascent);
        let waiting = Waiting {
            packet,
            input: hop.input(self.lanes.lane(channel)),
            injected: flight.injected,
            high: self.config.priorities && flight.spec.priority == Priority::High,
            spread: match tag {
                Tag::Adaptive => {
                    arbitration::spread(flight.spec.source, flight.sequence, hop.switch)
                }
                _ => 0,
            },
            since: self.now,
        };
        let number = hop.next_group(tag);
        let group = &mut self.groups[number as usize];
        group.waiting.push(waiting);
        if !std::mem::replace(&mut group.flagged, true) {
            self.flagged_groups.push(number);
        }
    }

    /// Grants free channels of a group to waiting headers.
    pub(super) fn arbitrate(&mut self, motion: &mut impl Motion, number: u32) {
        self.groups[number as usize].flagged = false;
        loop {
            let group = &mut self.groups[number as usize];
            let (outputs, inputs) = self.crossbar.outputs(number);
            let rotation = group.rotation;
            let Some(index) =
                arbitration::winner(&group.waiting, rotation, inputs, self.age, self.now)
            else {
                return;
            };
            let spread = group.waiting[index].spread;
            let free = |link: LinkId| self.free[link as usize];
            let Some(link) = arbitration::least_loaded(outputs, spread, free) else {
                return;
            };
            let header = group.waiting.swap_remove(index);
            group.rotation = if header.input + 1 == inputs {
                0
            } else {
                header.input + 1
            };
            let last = group.waiting.is_empty();
            let seat = Seat {
                packet: header.packet,
                ready: header.since,
            };
            self.grant(motion, seat, link);
            if last {
                return;
            }
        }
    }

    /// Gives the lowest free channel of a link to a packet.
    fn grant(&mut self, motion: &mut impl Motion, seat: Seat, link: LinkId) {
        let number = self.free[link as usize].trailing_zeros();
        self.free[link as usize] &= !(1 << number);
        let channel = self.lanes.channel(link, number);
        self.seats[channel as usize] = seat;
        let flight = self.flights.get_mut(seat.packet);
        let upstream = flight.path().last().copied();
        flight.extend(channel);
        let high = self.config.priorities && flight.spec.priority == Priority::High;
        let worm = Worm {
            flits: flight.spec.flits,
            key: Key::new(high, flight.injected, flight.spec.source, flight.sequence),
            upstream,
        };
        self.calendar.hold(self.now);
        motion.open(channel, worm, self.now, self);
    }

    /// Injects what an adapter may inject.
    pub(super) fn inject(
        &mut self,
        motion: &mut impl Motion,
        node: NodeId,
        notices: &mut Vec<Notice>,
    ) {
        let link = self.tree().injection(node);
        self.ports[node as usize].flagged = false;
        while self.ports[node as usize].outstanding < self.config.packets_in_flight
            && self.free[link as usize] != 0
        {
            let port = &mut self.ports[node as usize];
            let Some((spec, offered)) = port.waiting.iter_mut().find_map(VecDeque::pop_front)
            else {
                return;
            };
            port.outstanding += 1;
            let sequence = port.sequence;
            port.sequence = sequence.wrapping_add(1);
            let turn = self
                .config
                .tree
                .common_level(spec.source, spec.destination);
            let flight = Flight::new(spec, turn as u8, sequence, offered, self.now);
            let packet = self.flights.insert(flight);
            let seat = Seat {
                packet,
                ready: offered,
            };
            self.grant(motion, seat, link);
            notices.push(Notice::Injected(spec));
        }
    }

    /// The number of the packet that holds a channel.
    pub(super) fn holder(&self, channel: ChannelId) -> PacketId {
        self.seats[channel as usize].packet
    }
}
