//! How a packet gets channels: headers, arbitration, injection.

use super::arbitration::{self, PendingHeader};
use super::packet::{ANY_LINK, Flight, State};
use super::queue::Offer;
use super::{Control, Notice};
use crate::PacketId;
use crate::id::GroupId;
use crate::motion::{Motion, Worm};
use crate::records::Hop;
use crate::topology::{CompiledRouting, Destination, Header};
use crate::{ChannelId, LinkId, Place, SwitchId};

/// Headers that have come to switches in this cycle and have not joined their groups.
#[derive(Default)]
pub(super) struct Arrivals {
    /// Headers, and the groups that they will join, if the groups must be fetched first.
    arrived: Vec<(GroupId, PacketId)>,
    /// Channels with headers at their first switch, where the routing chooses their ways there.
    unsettled: Vec<ChannelId>,
    /// The groups among which they choose, if these must be fetched first.
    pub choices: Vec<GroupId>,
}

impl Arrivals {
    /// Whether no header waits for its group to be fetched.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.arrived.is_empty()
    }

    /// A header joins its group once the group has been fetched.
    #[inline]
    pub fn push(&mut self, group: GroupId, packet: PacketId) {
        self.arrived.push((group, packet));
    }
}

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// A header reaches a switch and joins its next step's group.
    pub(super) fn header(&mut self, channel: ChannelId) {
        self.clock.count();
        let packet = self.channels.holder(channel);
        if let Some(faults) = &mut self.faults {
            faults.note_header(channel);
            if faults.is_troubled() && !self.header_passes(channel, packet) {
                return;
            }
        }
        let link = self.channels.link(channel);
        let hop = self.channels.hop(link);
        let flight = self.flights.get_mut(packet);
        let input = hop.input(self.channels.lane(channel));
        flight.come_to(self.clock.now(), hop.delay(), input);
        let Destination::Node(destination) = flight.spec.destination else {
            return self.broadcast_header(channel, packet);
        };
        if R::CHOOSES && flight.path().len() == 1 && self.routing.settles() {
            // The loads count once all events in the cycle have happened; the groups are fetched
            // meanwhile.
            if self.is_far {
                self.look_at_choices(channel);
            }
            return self.arrivals.unsettled.push(channel);
        }
        self.route(packet, destination, link);
    }

    /// A header that has come over a link joins its next step's group.
    #[inline]
    fn route(&mut self, packet: PacketId, destination: Place, link: LinkId) {
        let hop = self.channels.hop(link);
        let flight = self.flights.get_mut(packet);
        let step = self
            .routing
            .step(&flight.header(destination, link, self.channels.switch(link)));
        if R::CLASSED {
            flight.lanes = self
                .channels
                .of_class(flight.spec.traffic_class, step.class);
        }
        let number = hop.next_group(step.group);
        if self.is_far {
            // The group is fetched meanwhile.
            self.crossbar.fetch(number);
            self.arrivals.push(number, packet);
        } else {
            self.join(number, packet);
        }
    }

    /// Settles the ways for headers that have come to their first switch in this cycle. They join
    /// their groups.
    pub(super) fn settle_all(&mut self) {
        if self.is_far {
            self.look_at_loads();
        }
        let mut unsettled = std::mem::take(&mut self.arrivals.unsettled);
        for channel in unsettled.drain(..) {
            let packet = self.channels.holder(channel);
            let (mut header, hop) = self.unsettled_header(channel);
            let settled = self
                .routing
                .settle(&header, &mut |group| self.load(hop.next_group(group)));
            if self.may_settle(&header, settled) {
                header.plan = settled;
            }
            let step = self.routing.step(&header);
            let flight = self.flights.get_mut(packet);
            flight.plan = header.plan;
            flight.lanes = self
                .channels
                .of_class(flight.spec.traffic_class, step.class);
            self.join(hop.next_group(step.group), packet);
        }
        self.arrivals.unsettled = unsettled;
    }

    /// Headers with fetched groups join them.
    pub(super) fn join_all(&mut self) {
        for place in 0..self.arrivals.arrived.len() {
            let (group, packet) = self.arrivals.arrived[place];
            self.join(group, packet);
        }
        self.arrivals.arrived.clear();
    }

    /// A header that has come to its first switch over a channel, and the way that it has come.
    #[inline]
    pub(super) fn unsettled_header(&self, channel: ChannelId) -> (Header, Hop) {
        let link = self.channels.link(channel);
        let hop = *self.channels.hop(link);
        let flight = self.flights.get(self.channels.holder(channel));
        let Destination::Node(destination) = flight.spec.destination else {
            unreachable!("broadcasts need a tree");
        };
        let switch = self.channels.switch(link);
        (flight.header(destination, link, switch), hop)
    }

    /// Packets that hold a channel in a group, or have waited for one since before this cycle:
    /// events within the cycle, in any order, make no difference.
    fn load(&self, number: GroupId) -> u32 {
        let (outputs, ..) = self.crossbar.outputs(number);
        let busy = |&link: &LinkId| self.config.channels - self.channels.free(link).count_ones();
        let mut load = outputs.iter().map(busy).sum();
        let mut next = self.crossbar.groups[number].waiting;
        while let Some(packet) = next {
            let flight = self.flights.get(packet);
            load += u32::from(flight.ready < self.clock.now());
            next = flight.next;
        }
        load
    }

    /// Has a header wait in a group.
    #[inline]
    pub(super) fn join(&mut self, number: GroupId, packet: PacketId) {
        let group = &mut self.crossbar.groups[number];
        self.flights.get_mut(packet).next = group.waiting.replace(packet);
        self.crossbar.flag(number);
    }

    /// The winner among the headers that wait in a group, but for those that must take a link
    /// without a free channel.
    fn winner(&self, number: GroupId) -> Option<PendingHeader> {
        let group = &self.crossbar.groups[number];
        let first = self.header_of(number, group.waiting?);
        // Mostly one header waits.
        let Some(second) = first.1 else {
            return first.0;
        };
        let others = std::iter::successors(Some(self.header_of(number, second)), |&(_, next)| {
            next.map(|packet| self.header_of(number, packet))
        });
        let (_, _, inputs) = self.crossbar.outputs(number);
        let waiting = first
            .0
            .into_iter()
            .chain(others.filter_map(|(header, _)| header));
        let rotation = group.rotation.into();
        arbitration::winner(
            waiting,
            rotation,
            inputs,
            self.crossbar.ages(),
            self.clock.now(),
        )
    }

    /// A waiting header, unless no channel in its class, or on the link that it must take, is free;
    /// and the group's next header.
    #[inline]
    fn header_of(
        &self,
        number: GroupId,
        packet: PacketId,
    ) -> (Option<PendingHeader>, Option<PacketId>) {
        let flight = self.flights.get(packet);
        let free = |link: LinkId| self.channels.free(link) & flight.lanes != 0;
        let able = if flight.only == ANY_LINK {
            let any = |links: &[LinkId]| links.iter().any(|&link| free(link));
            // A header that may take any channel finds out when it has won.
            !R::CLASSED
                || flight.lanes == self.channels.all()
                || any(self.crossbar.outputs(number).0)
        } else {
            free(flight.only)
        };
        let header = PendingHeader {
            packet,
            input: flight.input.into(),
            injected: flight.injected,
            ready: flight.ready,
            high: self.is_high(&flight.spec),
        };
        (able.then_some(header), flight.next)
    }

    /// Grants a group's free channels to waiting headers.
    pub(super) fn arbitrate(&mut self, motion: &mut M, number: GroupId) {
        self.crossbar.groups[number].flagged = false;
        if self.is_cut_somewhere() {
            self.refuse_headers(motion, number);
        }
        loop {
            let Some(header) = self.winner(number) else {
                return;
            };
            let flight = self.flights.get(header.packet);
            let link = self.choice(number, flight);
            let Some(link) = link else {
                return;
            };
            let claims = flight.path().is_empty();
            let (_, _, inputs) = self.crossbar.outputs(number);
            let behind = header.input + 1;
            self.crossbar.groups[number].rotation =
                if behind == inputs { 0 } else { behind as u16 };
            self.leave(number, header.packet);
            if claims {
                self.claim(motion, header.packet, link);
            } else {
                self.grant(motion, header.packet, link);
            }
        }
    }

    /// The link that a header takes if it may go now: the least loaded permitted one in its group.
    #[inline]
    pub(super) fn choice(&self, number: GroupId, flight: &Flight<R::Path>) -> Option<LinkId> {
        if flight.only != ANY_LINK {
            return Some(flight.only);
        }
        let (outputs, switch, _) = self.crossbar.outputs(number);
        let spread = || arbitration::spread(flight.spec.source, flight.sequence, switch);
        let lanes = if R::CLASSED { flight.lanes } else { u32::MAX };
        let free = |link: LinkId| self.channels.free(link) & lanes;
        arbitration::least_loaded(outputs, spread, free)
    }

    /// Removes a header from its group's list.
    pub(super) fn leave(&mut self, number: GroupId, packet: PacketId) {
        let next = self.flights.get(packet).next;
        let group = &mut self.crossbar.groups[number];
        if group.waiting == Some(packet) {
            group.waiting = next;
            return;
        }
        let mut before = group.waiting;
        while let Some(other) = before {
            let flight = self.flights.get_mut(other);
            if flight.next == Some(packet) {
                flight.next = next;
                return;
            }
            before = flight.next;
        }
        unreachable!("the header waits in the group");
    }

    /// Gives a link's lowest free channel to a packet.
    fn grant(&mut self, motion: &mut M, packet: PacketId, link: LinkId) {
        let flight = self.flights.get(packet);
        let worm = Worm {
            flits: flight.spec.flits,
            upstream: flight.path().last().copied(),
        };
        let channel = self.take(packet, link);
        motion.open(channel, worm, self.clock.now(), self);
    }

    /// Takes a link's lowest free channel for a packet.
    #[expect(
        clippy::inline_always,
        reason = "a call otherwise, for each link of a packet"
    )]
    #[inline(always)]
    pub(super) fn take(&mut self, packet: PacketId, link: LinkId) -> ChannelId {
        let flight = self.flights.get_mut(packet);
        let lanes = if R::CLASSED { flight.lanes } else { u32::MAX };
        let channel = self.channels.take(packet, link, lanes);
        flight.extend(channel);
        self.clock.hold();
        if self.border.is_some() {
            let ejects = self.channels.hop(link).ejects();
            self.visit_goes_on(packet, ejects);
        }
        if self.recording.is_some() {
            self.note_opened(packet, channel);
        }
        if self.tally.is_some() {
            self.note_taken(packet, link);
        }
        channel
    }

    /// The hash that decides a packet's plan, where the routing chooses.
    #[inline]
    pub(super) fn draw(source: Place, sequence: u32) -> u64 {
        if !R::CHOOSES {
            return 0;
        }
        // Not a switch number: the ties at switches are resolved by other numbers.
        arbitration::spread(source, sequence, SwitchId::new(u32::MAX))
    }

    /// Injects the packets that an adapter may inject now.
    pub(super) fn inject(&mut self, motion: &mut M, node: Place, notices: &mut Vec<Notice>) {
        self.queues.unflag(node);
        for class in self.traffic_classes() {
            self.inject_of(motion, node, class, notices);
        }
    }

    /// Injects a traffic class's packets that an adapter may inject now.
    #[inline]
    fn inject_of(&mut self, motion: &mut M, node: Place, class: u8, notices: &mut Vec<Notice>) {
        let link = self.wiring().injection(node);
        let queue = self.queue(node, class);
        let lanes = if R::CLASSED {
            self.channels.of_class(class, None)
        } else {
            u32::MAX
        };
        while self.queues.outstanding(queue) < self.config.packets_in_flight {
            if self.is_cut_somewhere() && self.refuses_next(queue, notices) {
                continue;
            }
            if self.channels.free(link) & lanes == 0 {
                return;
            }
            let Some((offer, sequence)) = self.queues.begin(queue, node) else {
                return;
            };
            let Offer { spec, at: offered } = offer;
            let plan = if self.is_cut_somewhere() {
                self.known_plan(&spec, sequence)
                    .expect("a packet without a way is refused")
            } else {
                let draw = Self::draw(spec.source, sequence);
                self.routing.plan(spec.source, spec.destination, draw)
            };
            let state = State::new(spec, plan, sequence, lanes, offered, self.clock.now());
            let packet = self.flights.insert(state);
            if spec.destination.is_broadcast() {
                self.broadcasts.insert(packet, &spec, plan);
            }
            self.grant(motion, packet, link);
            notices.push(Notice::Injected(spec));
        }
    }
}
