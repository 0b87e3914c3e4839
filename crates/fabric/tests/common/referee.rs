//! The control plane, decided a second time. Both movers share it, so that comparing the movers
//! does not test it.
//!
//! A *referee* receives a run's events: offers, motion moments, deliveries and acknowledgements.
//! From these and the rules (the essays of `control` and `control::arbitration`; petrini2003 s2.2)
//! it decides, cycle by cycle, which packet is injected, which header gets which channel, and when
//! channels are free. The run must have done exactly that: injections, deliveries and
//! acknowledgements in the same cycles, first flits only on the channels that the referee has
//! granted, and the same counters. The referee shares only the wiring and the routes with the
//! control plane; `wiring.rs` tests these.

mod alternatives;
mod flits;
mod ways;

use super::random::Case;
use fabric::motion::{Lanes, MotionReport};
use fabric::topology::{End, Tag};
use fabric::{
    Ack, Arbitration, Ascent, ChannelId, Circuit, Cycle, Destination, FatTree, LinkCounters,
    LinkId, PacketSpec, Place, Priority, SwitchId, Topology, Wiring,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
pub use ways::class_of;

/// A cycle's events.
#[derive(Default)]
pub struct Happened {
    pub offered: Vec<PacketSpec>,
    pub moved: Vec<MotionReport>,
    pub injected: Vec<PacketSpec>,
    pub delivered: Vec<(Place, PacketSpec)>,
    pub acknowledged: Vec<(Ack, PacketSpec)>,
    /// The node, and whether the EOP was good.
    pub ended: Vec<(Place, bool, PacketSpec)>,
}

/// A packet under way.
struct Flight {
    spec: PacketSpec,
    sequence: u32,
    injected: Cycle,
    taken: BTreeMap<ChannelId, Taken>,
    /// Destinations that have not been reached.
    undelivered: u32,
    /// When the last known answer will be back, and the worst known answer.
    back: Cycle,
    answer: Ack,
    /// In a dragonfly or HyperX network: the group or switch through which the packet still goes or
    /// went, if it does not go minimally, and its choice among the links between two groups.
    via: Option<u32>,
    link: usize,
}

/// A channel that a packet under way holds.
#[derive(Clone, Copy)]
struct Taken {
    /// Since when the header waited for the link.
    ready: Cycle,
    upstream: Option<ChannelId>,
    /// Sum of the header delays between the source and the channel's own link.
    before: Cycle,
}

/// A header at a switch.
#[derive(Clone)]
struct Header {
    packet: u64,
    /// The channel by which the header came, and this channel's number among the switch's inputs.
    from: ChannelId,
    input: u32,
    ready: Cycle,
    /// The channels on a link that the header may take.
    lanes: Range<u32>,
    /// The only link that the header may take, if the packet is a broadcast.
    only: Option<LinkId>,
    /// Whether the channel is opened only once the header has all its channels.
    claims: bool,
}

/// A switch where broadcasts descend.
#[derive(Default)]
struct Crossing {
    waiting: Vec<Header>,
    /// For the broadcast that is being set up: links without a channel yet, and the channels of the
    /// other links.
    missing: BTreeSet<LinkId>,
    claimed: Vec<ChannelId>,
    /// The cycle after the last set-up.
    next: Cycle,
}

/// The answers from good to bad.
const ANSWERS: [Ack; 4] = [Ack::Accepted, Ack::Discarded, Ack::TestFailed, Ack::Error];

fn worse(a: Ack, b: Ack) -> Ack {
    let bad = |answer: &&Ack| **answer == a || **answer == b;
    *ANSWERS.iter().rev().find(bad).expect("all are listed")
}

/// Headers that want the same outputs.
#[derive(Default)]
struct Group {
    switch: SwitchId,
    outputs: Vec<LinkId>,
    waiting: Vec<Header>,
    /// The input behind the last winner.
    next: u32,
}

/// Waiting packets, and when they were offered.
type Queue = VecDeque<(Cycle, PacketSpec)>;

/// The part of the network's state that the control plane decides.
pub struct Referee<'a> {
    case: &'a Case,
    lanes: Lanes,
    /// Waiting packets by node and traffic class, high priority before low, and when they were
    /// offered.
    queues: BTreeMap<(Place, u8), [Queue; 2]>,
    /// Packets under way by node and traffic class.
    outstanding: BTreeMap<(Place, u8), u32>,
    sequences: Vec<u32>,
    /// Packets under way by name.
    flights: BTreeMap<u64, Flight>,
    /// Packets by the channels they hold.
    holders: BTreeMap<ChannelId, u64>,
    /// Channels by the cycle from which they are free.
    freed: BTreeMap<Cycle, Vec<ChannelId>>,
    /// Groups by their first output.
    groups: BTreeMap<LinkId, Group>,
    /// Grant cycles of channels with an unsent first flit.
    unstarted: BTreeMap<ChannelId, Cycle>,
    /// Channels with an unsent last flit.
    unfinished: BTreeSet<ChannelId>,
    /// When the first flit was sent over a channel.
    begun: BTreeMap<ChannelId, Cycle>,
    /// When a worm's last flit was sent over a link.
    left: BTreeMap<LinkId, Cycle>,
    /// By channel: the count of channels downstream that have not sent the last flit.
    branches: BTreeMap<ChannelId, usize>,
    crossings: BTreeMap<SwitchId, Crossing>,
    /// By link: broadcasts that have been opened on the link and not at its end, the first one in
    /// front.
    sent_on: BTreeMap<LinkId, VecDeque<u64>>,
    /// Cycles in which a switch may begin to set up another broadcast.
    set_ups: BTreeSet<Cycle>,
    /// Packet names by the cycle of their deliveries, their acknowledgement and their EOP notices.
    deliveries: BTreeMap<Cycle, BTreeSet<(u64, Place)>>,
    acknowledgements: BTreeMap<Cycle, BTreeSet<u64>>,
    ends: BTreeMap<Cycle, BTreeSet<(u64, Place, bool)>>,
    counters: Vec<LinkCounters>,
}

impl<'a> Referee<'a> {
    pub fn new(case: &'a Case) -> Self {
        let nodes = case.config.topology.nodes() as usize;
        Referee {
            case,
            lanes: Lanes::new(case.config.channels),
            queues: BTreeMap::new(),
            outstanding: BTreeMap::new(),
            sequences: vec![0; nodes],
            flights: BTreeMap::new(),
            holders: BTreeMap::new(),
            freed: BTreeMap::new(),
            groups: BTreeMap::new(),
            unstarted: BTreeMap::new(),
            unfinished: BTreeSet::new(),
            begun: BTreeMap::new(),
            left: BTreeMap::new(),
            branches: BTreeMap::new(),
            crossings: BTreeMap::new(),
            sent_on: BTreeMap::new(),
            set_ups: BTreeSet::new(),
            ends: BTreeMap::new(),
            deliveries: BTreeMap::new(),
            acknowledgements: BTreeMap::new(),
            counters: vec![LinkCounters::default(); case.config.topology.links() as usize],
        }
    }

    /// The next cycle in which something is due.
    pub fn next(&self) -> Option<Cycle> {
        let due = [
            self.freed.keys().next(),
            self.deliveries.keys().next(),
            self.acknowledgements.keys().next(),
            self.ends.keys().next(),
            self.set_ups.first(),
        ];
        due.into_iter().flatten().min().copied()
    }

    /// Decides a cycle and compares it with the run.
    pub fn cycle(&mut self, now: Cycle, happened: &Happened) {
        for channel in self.freed.remove(&now).unwrap_or_default() {
            self.free(channel);
        }
        self.set_ups.remove(&now);
        let delivered = self.deliveries.remove(&now).unwrap_or_default();
        let happens = happened.delivered.iter();
        let happens: BTreeSet<_> = happens.map(|&(node, spec)| (spec.token, node)).collect();
        assert_eq!(delivered, happens, "delivered at {now}");
        for (packet, node) in delivered {
            self.deliver(now, packet, node);
        }
        let ended = self.ends.remove(&now).unwrap_or_default();
        let happens = happened.ended.iter();
        let happens = happens.map(|&(node, good, spec)| (spec.token, node, good));
        assert_eq!(ended, happens.collect(), "ended at {now}");
        let acknowledged = self.acknowledgements.remove(&now).unwrap_or_default();
        let happens = happened.acknowledged.iter().map(|(_, spec)| spec.token);
        assert_eq!(acknowledged, happens.collect(), "acknowledged at {now}");
        for (ack, spec) in &happened.acknowledged {
            assert_eq!(self.flights[&spec.token].answer, *ack, "answered at {now}");
        }
        for packet in acknowledged {
            self.acknowledge(now, packet);
        }
        for &spec in &happened.offered {
            let urgent = self.case.config.priorities && spec.priority == Priority::High;
            let queues = self.queues.entry((spec.source, spec.traffic_class));
            queues.or_default()[usize::from(!urgent)].push_back((now, spec));
        }
        for &moved in &happened.moved {
            if let MotionReport::Header(channel) = moved {
                self.arrive(now, channel);
            }
        }
        self.begin_set_ups(now);
        self.arbitrate(now);
        let mut injected = self.inject(now);
        injected.sort_by_key(|spec| spec.source);
        assert_eq!(happened.injected, injected, "injected at {now}");
        for &moved in &happened.moved {
            match moved {
                MotionReport::Header(_) => (),
                MotionReport::Head(channel) => self.start(now, channel),
                MotionReport::Tail(channel, _) => self.finish(now, channel),
            }
        }
    }

    fn tree(&self) -> &'a FatTree {
        match &self.case.config.topology {
            Topology::FatTree(tree) => tree,
            _ => panic!("there is no tree"),
        }
    }

    fn delay(&self, channel: ChannelId) -> Cycle {
        self.case.config.delay_of(self.lanes.link(channel)).into()
    }

    /// Cycles from the tail's departure from the buffer behind a channel, or its arrival in a node,
    /// until the channel is free without circuits.
    fn release(&self, channel: ChannelId) -> Cycle {
        let link = self.lanes.link(channel);
        Cycle::from(self.case.config.credit_delay_of(link)) + 1
    }

    /// The EOP passes, and an acknowledgement has passed the other way.
    fn free(&mut self, channel: ChannelId) {
        self.holders.remove(&channel).expect("it was taken");
        let link = self.lanes.link(channel);
        for link in [link, self.case.config.topology.reverse(link)] {
            self.counters[usize::from(link)].tokens += u64::from(self.case.config.tokens);
        }
    }

    /// The last flit is in a node, which answers.
    fn deliver(&mut self, now: Cycle, packet: u64, node: Place) {
        let link = self.case.config.topology.ejection(node);
        let flight = &self.flights[&packet];
        let mut taken = flight.taken.iter();
        let last = taken.find(|&(&channel, _)| self.lanes.link(channel) == link);
        let (&channel, taken) = last.expect("it came there");
        let travel = taken.before + self.delay(channel);
        let (turnaround, ack) = self.case.answer()(&flight.spec, node);
        let flight = self.flights.get_mut(&packet).expect("it is under way");
        let spec = &flight.spec;
        let combined = if spec.destination.is_broadcast() {
            let tree = self.case.config.topology.as_tree().expect("a tree");
            self.case.config.combine * tree.turn_level(spec.source, spec.destination) as Cycle
        } else {
            0
        };
        flight.back = flight.back.max(now + turnaround + travel + combined);
        flight.answer = worse(flight.answer, ack);
        flight.undelivered -= 1;
        if flight.undelivered > 0 {
            return;
        }
        let back = self.acknowledgements.entry(flight.back).or_default();
        back.insert(packet);
        if self.case.config.circuit == Circuit::UntilDelivered {
            let freed = self.freed.entry(now + 1).or_default();
            freed.extend(flight.taken.keys());
        }
    }

    /// The acknowledgement is back. The EOP starts in the next cycle and frees each channel as it
    /// passes.
    fn acknowledge(&mut self, now: Cycle, packet: u64) {
        let flight = self.flights.remove(&packet).expect("it was under way");
        let (source, class) = (flight.spec.source, flight.spec.traffic_class);
        *self.outstanding.entry((source, class)).or_default() -= 1;
        for (channel, taken) in flight.taken {
            let passes = now + 1 + taken.before;
            if self.case.config.circuit == Circuit::UntilAcknowledged {
                self.freed.entry(passes).or_default().push(channel);
            }
            let end = self.case.config.topology.ends(self.lanes.link(channel)).1;
            if let (true, End::Node(node)) = (flight.spec.awaits_end, end) {
                let ends = self.ends.entry(passes + self.delay(channel)).or_default();
                ends.insert((packet, node, flight.answer == Ack::Accepted));
            }
        }
    }

    /// A header reaches a switch and waits for the outputs that its tag names.
    fn arrive(&mut self, now: Cycle, channel: ChannelId) {
        let topology = &self.case.config.topology;
        let packet = self.holders[&channel];
        let flight = &self.flights[&packet];
        let spec = flight.spec;
        let End::Switch { switch, port } = topology.ends(self.lanes.link(channel)).1 else {
            panic!("a header waits at a node");
        };
        let mut header = Header {
            packet,
            from: channel,
            input: port * self.lanes.count + self.lanes.lane(channel),
            ready: now,
            lanes: self.lanes_of(&spec),
            only: None,
            claims: false,
        };
        if !matches!(topology, Topology::FatTree(_)) {
            let (port, lanes) = self.step(now, &header, switch);
            header.lanes = lanes;
            self.wait(switch, port..port + 1, header);
            return;
        }
        let tree = self.tree();
        let level = tree.switch_level(switch);
        let (down, up) = (tree.down_links(level), tree.up_links(level));
        let ascent = self.case.config.ascent;
        let ports = match spec.destination {
            Destination::Node(destination) => {
                let route = tree.route(spec.source, destination, ascent);
                match route.tags()[flight.taken.len() - 1] {
                    Tag::Down(child) => {
                        let parallel = tree.parallel_links(level - 1);
                        u32::from(child) * parallel..(u32::from(child) + 1) * parallel
                    }
                    Tag::Up(port) => down + u32::from(port)..down + u32::from(port) + 1,
                    Tag::Adaptive => down..down + up,
                }
            }
            // Up by the broadcast's link until all destinations are below.
            Destination::Range { first, last } => {
                let below = tree.positions_of(switch);
                let covers = below.contains(&first) && below.contains(&last);
                let up_link = tree.is_up(self.lanes.link(channel));
                if !up_link || covers {
                    let crossing = self.crossings.entry(switch).or_default();
                    crossing.waiting.push(header);
                    return;
                }
                header.only = Some(tree.output(switch, down));
                match ascent {
                    Ascent::Adaptive => down..down + up,
                    _ => down..down + 1,
                }
            }
        };
        self.wait(switch, ports, header);
    }

    fn wait(&mut self, switch: SwitchId, ports: Range<u32>, header: Header) {
        let tree = &self.case.config.topology;
        let outputs: Vec<_> = ports.map(|port| tree.output(switch, port)).collect();
        let group = self.groups.entry(outputs[0]).or_default();
        (group.switch, group.outputs) = (switch, outputs);
        group.waiting.push(header);
    }

    /// At each switch that sets up no broadcast the best waiting broadcast asks for all its links
    /// down; but not one that came over a link after another broadcast that still waits.
    fn begin_set_ups(&mut self, now: Cycle) {
        let mut crossings = std::mem::take(&mut self.crossings);
        for (&switch, crossing) in &mut crossings {
            if now < crossing.next || !crossing.missing.is_empty() {
                continue;
            }
            let rank = |header: &Header| {
                let flight = &self.flights[&header.packet];
                let spec = flight.spec;
                let urgent = self.case.config.priorities && spec.priority == Priority::High;
                (!urgent, flight.injected, spec.source, flight.sequence)
            };
            let may = |header: &Header| {
                let sent = self.sent_on.get(&self.lanes.link(header.from));
                sent.is_none_or(|sent| sent.front() == Some(&header.packet))
            };
            let waiting = 0..crossing.waiting.len();
            let best = waiting
                .filter(|&place| may(&crossing.waiting[place]))
                .min_by_key(|&place| rank(&crossing.waiting[place]));
            let Some(best) = best else {
                continue;
            };
            let header = crossing.waiting.remove(best);
            let tree = self.tree();
            let below = self.flights[&header.packet].spec.destination;
            let level = tree.switch_level(switch);
            let parallel = tree.parallel_links(level - 1);
            for child in 0..tree.children(level) {
                let first = child * parallel;
                let link = tree.output(switch, first);
                let nodes = match tree.ends(link).1 {
                    End::Node(node) => node..=node,
                    End::Switch { switch, .. } => tree.positions_of(switch),
                };
                if *nodes.start() <= below.last() && below.first() <= *nodes.end() {
                    crossing.missing.insert(link);
                    let claim = Header {
                        only: Some(link),
                        claims: true,
                        ..header.clone()
                    };
                    self.wait(switch, first..first + parallel, claim);
                }
            }
        }
        self.crossings = crossings;
    }

    /// Applies the arbitration rule while a header waits and a channel is free.
    fn arbitrate(&mut self, now: Cycle) {
        let mut groups = std::mem::take(&mut self.groups);
        for group in groups.values_mut() {
            let inputs = self.case.config.topology.ports(group.switch) * self.lanes.count;
            while let Some((place, link)) = self.winner(group, inputs, now) {
                let header = group.waiting.remove(place);
                group.next = (header.input + 1) % inputs;
                let channel = self.grant(&header, link);
                if header.claims {
                    self.claimed(group.switch, &header, channel, now);
                } else {
                    self.open(&[channel], Some(header.from), now);
                }
            }
        }
        self.groups = groups;
    }

    /// The highest priority, then the greatest age, then the header that has had this age here for
    /// the longest time, then the first from the input behind the last winner; the winner gets the
    /// link with the most free channels; among equal links the first from a start that a hash
    /// names.
    fn winner(&self, group: &Group, inputs: u32, now: Cycle) -> Option<(usize, LinkId)> {
        let config = &self.case.config;
        let rank = |header: &Header| {
            let flight = &self.flights[&header.packet];
            let urgent = config.priorities && flight.spec.priority == Priority::High;
            let greatest = 2_u64.pow(config.age_bits) - 1;
            let step = (config.age_cap / greatest).max(1);
            let alive = now - flight.injected;
            let age = (alive.min(config.age_cap) / step).min(greatest);
            let held = (alive - age * step).min(now - header.ready);
            let (age, held) = match config.arbitration {
                Arbitration::Age => (age, held),
                Arbitration::RoundRobin => (0, 0),
            };
            (
                urgent,
                age,
                held,
                Reverse((header.input + inputs - group.next) % inputs),
            )
        };
        let free = |header: &Header, link| {
            self.lanes
                .of(link)
                .any(|channel| self.serves(header, channel))
        };
        let can = |header: &Header| match header.only {
            Some(link) => free(header, link),
            None => group.outputs.iter().any(|&link| free(header, link)),
        };
        let place = (0..group.waiting.len())
            .filter(|&place| can(&group.waiting[place]))
            .max_by_key(|&place| rank(&group.waiting[place]))?;
        if let Some(link) = group.waiting[place].only {
            return Some((place, link));
        }
        let flight = &self.flights[&group.waiting[place].packet];
        let start = hash(
            flight.spec.source.get(),
            flight.sequence,
            group.switch.get(),
        ) % group.outputs.len() as u64;
        let mut around = group.outputs.clone();
        around.rotate_left(start as usize);
        let lanes = &group.waiting[place].lanes;
        let spare = |link: LinkId| self.spare_of(link, lanes);
        let most = around.iter().map(|&link| spare(link)).max()?;
        let link = around.into_iter().find(|&link| spare(link) == most)?;
        (most > 0).then_some((place, link))
    }

    /// Whether a channel is free and a header may take it.
    fn serves(&self, header: &Header, channel: ChannelId) -> bool {
        header.lanes.contains(&self.lanes.lane(channel)) && self.is_free(channel)
    }

    fn is_free(&self, channel: ChannelId) -> bool {
        !self.holders.contains_key(&channel)
    }

    /// Free channels on a link.
    fn spare(&self, link: LinkId) -> usize {
        self.spare_of(link, &(0..self.lanes.count))
    }

    /// Free channels on a link at some places.
    fn spare_of(&self, link: LinkId, lanes: &Range<u32>) -> usize {
        let channels = lanes.clone().map(|lane| self.lanes.channel(link, lane));
        channels.filter(|&channel| self.is_free(channel)).count()
    }

    /// The channels in a packet's traffic class.
    fn lanes_of(&self, spec: &PacketSpec) -> Range<u32> {
        let classes = self.case.config.traffic_classes;
        class_of(&(0..self.lanes.count), spec.traffic_class.into(), classes)
    }

    /// A link's lowest free channel.
    fn grant(&mut self, header: &Header, link: LinkId) -> ChannelId {
        let flight = &self.flights[&header.packet];
        let taken = Taken {
            ready: header.ready,
            upstream: Some(header.from),
            before: flight.taken[&header.from].before + self.delay(header.from),
        };
        self.take(header.packet, link, header.lanes.clone(), taken)
    }

    fn take(&mut self, packet: u64, link: LinkId, lanes: Range<u32>, taken: Taken) -> ChannelId {
        let mut channels = self.lanes.of(link);
        let channel = channels
            .find(|&channel| lanes.contains(&self.lanes.lane(channel)) && self.is_free(channel))
            .expect("one is free");
        self.holders.insert(channel, packet);
        let flight = self.flights.get_mut(&packet).expect("it is under way");
        flight.taken.insert(channel, taken);
        channel
    }

    fn open(&mut self, channels: &[ChannelId], upstream: Option<ChannelId>, now: Cycle) {
        for &channel in channels {
            self.unstarted.insert(channel, now);
            self.unfinished.insert(channel);
        }
        if let Some(upstream) = upstream {
            self.branches.insert(upstream, channels.len());
        }
    }
}

/// `SplitMix64`'s finaliser over source, sequence and switch.
fn hash(source: u32, sequence: u32, switch: u32) -> u64 {
    let mut z = (u64::from(source) << 32) + u64::from(sequence);
    z ^= u64::from(switch).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}
