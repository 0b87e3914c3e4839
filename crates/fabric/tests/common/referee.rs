//! The control plane, decided a second time. Both movers share it, so that comparing them proves nothing about it.
//!
//! A *referee* is told what has happened in a run: offers, the moments of the motion, deliveries and acknowledgements. From
//! these and the rules (the essays of `control` and `control::arbitration`; 000 s2.2) it decides on its own, cycle by
//! cycle, which packet is injected, which header gets which channel, and when channels are free. The run must have done
//! exactly that: injections, deliveries and acknowledgements in the same cycles, first flits on the channels that the referee
//! has granted and on no others, and the counters must tell the same. It shares no code with the control plane but the wiring and the routes, which `wiring.rs` tests.

use super::random::Case;
use fabric::motion::{ChannelId, Lanes, Moved};
use fabric::topology::{End, Tag};
use fabric::{
    Arbitration, Circuit, Cycle, LinkCounters, LinkId, NodeId, PacketSpec, Priority, SwitchId,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What has happened in a cycle.
#[derive(Default)]
pub struct Happened {
    pub offered: Vec<PacketSpec>,
    pub moved: Vec<Moved>,
    pub injected: Vec<PacketSpec>,
    pub delivered: Vec<PacketSpec>,
    pub acknowledged: Vec<PacketSpec>,
}

/// A packet under way.
struct Flight {
    spec: PacketSpec,
    sequence: u32,
    injected: Cycle,
    /// Since when it waits for its next link.
    ready: Cycle,
    path: Vec<ChannelId>,
}

/// A header at a switch.
#[derive(Clone, Copy)]
struct Header {
    packet: u64,
    /// Number of the channel that it came by, over the switch.
    input: u32,
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

/// The state of the network as far as the control plane decides it.
pub struct Referee<'a> {
    case: &'a Case,
    lanes: Lanes,
    /// Waiting packets by node, high priority before low, and when they were offered.
    queues: Vec<[VecDeque<(Cycle, PacketSpec)>; 2]>,
    outstanding: Vec<u32>,
    sequences: Vec<u32>,
    /// Packets under way by name.
    flights: BTreeMap<u64, Flight>,
    /// Packets by the channels they hold.
    holders: BTreeMap<ChannelId, u64>,
    /// Channels by the cycle from which they are free.
    freed: BTreeMap<Cycle, Vec<ChannelId>>,
    /// By the first of their outputs.
    groups: BTreeMap<LinkId, Group>,
    /// When channels were granted whose first flit has not been sent.
    unstarted: BTreeMap<ChannelId, Cycle>,
    /// Channels whose last flit has not been sent.
    unfinished: BTreeSet<ChannelId>,
    /// When the last flit of a worm was sent over a link.
    left: BTreeMap<LinkId, Cycle>,
    /// Names of packets by the cycle of their delivery, and of their acknowledgement.
    deliveries: BTreeMap<Cycle, BTreeSet<u64>>,
    acknowledgements: BTreeMap<Cycle, BTreeSet<u64>>,
    counters: Vec<LinkCounters>,
}

impl<'a> Referee<'a> {
    pub fn new(case: &'a Case) -> Self {
        let nodes = case.config.tree.nodes() as usize;
        Referee {
            case,
            lanes: Lanes::new(case.config.channels),
            queues: vec![Default::default(); nodes],
            outstanding: vec![0; nodes],
            sequences: vec![0; nodes],
            flights: BTreeMap::new(),
            holders: BTreeMap::new(),
            freed: BTreeMap::new(),
            groups: BTreeMap::new(),
            unstarted: BTreeMap::new(),
            unfinished: BTreeSet::new(),
            left: BTreeMap::new(),
            deliveries: BTreeMap::new(),
            acknowledgements: BTreeMap::new(),
            counters: vec![LinkCounters::default(); case.config.tree.links() as usize],
        }
    }

    /// The next cycle in which something is due.
    pub fn next(&self) -> Option<Cycle> {
        let due = [
            self.freed.keys().next(),
            self.deliveries.keys().next(),
            self.acknowledgements.keys().next(),
        ];
        due.into_iter().flatten().min().copied()
    }

    /// Decides a cycle and compares.
    pub fn cycle(&mut self, now: Cycle, happened: &Happened) {
        for channel in self.freed.remove(&now).unwrap_or_default() {
            self.free(channel);
        }
        let names = |specs: &[PacketSpec]| specs.iter().map(|spec| spec.token).collect();
        let delivered = self.deliveries.remove(&now).unwrap_or_default();
        assert_eq!(delivered, names(&happened.delivered), "delivered at {now}");
        for packet in delivered {
            self.deliver(now, packet);
        }
        let acknowledged = self.acknowledgements.remove(&now).unwrap_or_default();
        assert_eq!(
            acknowledged,
            names(&happened.acknowledged),
            "acknowledged at {now}"
        );
        for packet in acknowledged {
            self.acknowledge(now, packet);
        }
        for &spec in &happened.offered {
            let urgent = self.case.config.priorities && spec.priority == Priority::High;
            self.queues[spec.source as usize][usize::from(!urgent)].push_back((now, spec));
        }
        for &moved in &happened.moved {
            if let Moved::Header(channel) = moved {
                self.arrive(now, channel);
            }
        }
        self.arbitrate(now);
        let mut injected = self.inject(now);
        injected.sort_by_key(|spec| spec.source);
        assert_eq!(happened.injected, injected, "injected at {now}");
        for &moved in &happened.moved {
            match moved {
                Moved::Header(_) => (),
                Moved::Head(channel) => self.start(now, channel),
                Moved::Tail(channel, _) => self.finish(now, channel),
            }
        }
    }

    fn delay(&self, channel: ChannelId) -> Cycle {
        let level = self.case.config.tree.link_level(self.lanes.link(channel));
        self.case.config.hop_delay[level].into()
    }

    /// The EOP passes, and an acknowledgement has passed the other way.
    fn free(&mut self, channel: ChannelId) {
        self.holders.remove(&channel).expect("it was taken");
        let link = self.lanes.link(channel);
        for link in [link, self.case.config.tree.reverse(link)] {
            self.counters[link as usize].tokens += u64::from(self.case.config.tokens);
        }
    }

    /// The last flit is in the node, which answers.
    fn deliver(&mut self, now: Cycle, packet: u64) {
        let Flight { spec, path, .. } = &self.flights[&packet];
        let travel: Cycle = path.iter().map(|&channel| self.delay(channel)).sum();
        let back = now + self.case.answer()(spec) + travel;
        self.acknowledgements
            .entry(back)
            .or_default()
            .insert(packet);
        if self.case.config.circuit == Circuit::UntilDelivered {
            self.freed.entry(now + 1).or_default().extend(path);
        }
    }

    /// The acknowledgement is back. The EOP starts in the next cycle and frees each channel as it passes.
    fn acknowledge(&mut self, now: Cycle, packet: u64) {
        let flight = self.flights.remove(&packet).expect("it was under way");
        self.outstanding[flight.spec.source as usize] -= 1;
        let mut passes = now + 1;
        for channel in flight.path {
            if self.case.config.circuit == Circuit::UntilAcknowledged {
                self.freed.entry(passes).or_default().push(channel);
            }
            passes += self.delay(channel);
        }
    }

    /// A header reaches a switch and waits for the outputs that its tag names.
    fn arrive(&mut self, now: Cycle, channel: ChannelId) {
        let tree = &self.case.config.tree;
        let packet = self.holders[&channel];
        let flight = self.flights.get_mut(&packet).expect("it is under way");
        flight.ready = now;
        let Flight { spec, path, .. } = flight;
        assert_eq!(path.last(), Some(&channel));
        let route = tree.route(spec.source, spec.destination, self.case.config.ascent);
        let End::Switch { switch, port } = tree.ends(self.lanes.link(channel)).1 else {
            panic!("a header waits at a node");
        };
        let level = tree.switch_level(switch);
        let (down, up) = (tree.down_links(level), tree.up_links(level));
        let ports = match route.tags()[path.len() - 1] {
            Tag::Down(child) => {
                let parallel = tree.parallel_links(level - 1);
                u32::from(child) * parallel..(u32::from(child) + 1) * parallel
            }
            Tag::Up(port) => down + u32::from(port)..down + u32::from(port) + 1,
            Tag::Adaptive => down..down + up,
        };
        let outputs: Vec<_> = ports.map(|port| tree.output(switch, port)).collect();
        let group = self.groups.entry(outputs[0]).or_default();
        (group.switch, group.outputs) = (switch, outputs);
        let input = port * self.lanes.count + self.lanes.lane(channel);
        group.waiting.push(Header { packet, input });
    }

    /// While a header waits and a channel is free: the rule.
    fn arbitrate(&mut self, now: Cycle) {
        let mut groups = std::mem::take(&mut self.groups);
        for group in groups.values_mut() {
            let level = self.case.config.tree.switch_level(group.switch);
            let tree = &self.case.config.tree;
            let inputs = (tree.down_links(level) + tree.up_links(level)) * self.lanes.count;
            while let Some((place, link)) = self.winner(group, inputs, now) {
                let header = group.waiting.remove(place);
                group.next = (header.input + 1) % inputs;
                self.grant(header.packet, link, now);
            }
        }
        self.groups = groups;
    }

    /// The highest priority, then the greatest age, saturated and in steps, then the first from the input behind the last
    /// winner; it gets the link with the most free channels, the first of these from a start that a hash names.
    fn winner(&self, group: &Group, inputs: u32, now: Cycle) -> Option<(usize, LinkId)> {
        let config = &self.case.config;
        let rank = |header: &Header| {
            let flight = &self.flights[&header.packet];
            let urgent = config.priorities && flight.spec.priority == Priority::High;
            let age = match config.arbitration {
                Arbitration::Age => (now - flight.injected).min(config.age_cap) / config.age_step,
                Arbitration::RoundRobin => 0,
            };
            (
                urgent,
                age,
                Reverse((header.input + inputs - group.next) % inputs),
            )
        };
        let place = (0..group.waiting.len()).max_by_key(|&place| rank(&group.waiting[place]))?;
        let flight = &self.flights[&group.waiting[place].packet];
        let start =
            hash(flight.spec.source, flight.sequence, group.switch) % group.outputs.len() as u64;
        let mut around = group.outputs.clone();
        around.rotate_left(start as usize);
        let most = around.iter().map(|&link| self.spare(link)).max()?;
        let link = around.into_iter().find(|&link| self.spare(link) == most)?;
        (most > 0).then_some((place, link))
    }

    fn is_free(&self, channel: ChannelId) -> bool {
        !self.holders.contains_key(&channel)
    }

    /// Free channels of a link.
    fn spare(&self, link: LinkId) -> usize {
        self.lanes
            .of(link)
            .filter(|&channel| self.is_free(channel))
            .count()
    }

    /// The lowest free channel of a link.
    fn grant(&mut self, packet: u64, link: LinkId, now: Cycle) {
        let mut channels = self.lanes.of(link);
        let channel = channels
            .find(|&channel| self.is_free(channel))
            .expect("one is free");
        self.holders.insert(channel, packet);
        self.unstarted.insert(channel, now);
        self.unfinished.insert(channel);
        self.flights
            .get_mut(&packet)
            .expect("it is under way")
            .path
            .push(channel);
    }

    /// While an adapter has few enough packets under way and its link a free channel: the first that waits.
    fn inject(&mut self, now: Cycle) -> Vec<PacketSpec> {
        let mut injected = Vec::new();
        for node in 0..self.queues.len() {
            while self.outstanding[node] < self.case.config.packets_in_flight
                && self.spare(node as LinkId) > 0
            {
                let queues = &mut self.queues[node];
                let Some((offered, spec)) = queues.iter_mut().find_map(VecDeque::pop_front) else {
                    break;
                };
                let flight = Flight {
                    spec,
                    sequence: self.sequences[node],
                    injected: now,
                    ready: offered,
                    path: Vec::new(),
                };
                self.flights.insert(spec.token, flight);
                self.sequences[node] += 1;
                self.outstanding[node] += 1;
                self.grant(
                    spec.token,
                    self.case.config.tree.injection(node as NodeId),
                    now,
                );
                injected.push(spec);
            }
        }
        injected
    }

    /// A first flit is sent: at once, or when the last other worm has left the link, if not in a gap of it.
    fn start(&mut self, now: Cycle, channel: ChannelId) {
        let granted = self.unstarted.remove(&channel).expect("it was granted");
        let config = &self.case.config;
        let link = self.lanes.link(channel);
        let flight = &self.flights[&self.holders[&channel]];
        let counters = &mut self.counters[link as usize];
        counters.packets += 1;
        counters.flits += u64::from(flight.spec.flits);
        counters.waiting += now - flight.ready;
        let mut others = self.lanes.of(link).filter(|&other| other != channel);
        let alone = others.all(|other| !self.unfinished.contains(&other));
        if alone && !config.tokens && config.share_burst == 0 {
            let left = self.left.get(&link).map_or(0, |last| last + 1);
            let times = granted..=granted.max(left);
            assert!(
                times.contains(&now),
                "channel {channel} starts at {now}, not {times:?}"
            );
        }
    }

    /// A last flit is sent. In plain wormhole routing it frees the channel before.
    fn finish(&mut self, now: Cycle, channel: ChannelId) {
        self.unfinished.remove(&channel);
        let link = self.lanes.link(channel);
        self.left.insert(link, now);
        let packet = self.holders[&channel];
        let wormhole = self.case.config.circuit == Circuit::Wormhole;
        if let End::Node(_) = self.case.config.tree.ends(link).1 {
            let arrives = now + self.delay(channel);
            self.deliveries.entry(arrives).or_default().insert(packet);
            if wormhole {
                self.freed.entry(arrives + 2).or_default().push(channel);
            }
        }
        let path = &self.flights[&packet].path;
        let place = path.iter().position(|&taken| taken == channel);
        if let (true, Some(before)) = (wormhole, place.expect("it is on the path").checked_sub(1)) {
            self.freed.entry(now + 2).or_default().push(path[before]);
        }
    }

    /// Nothing is left over. What each link has done.
    pub fn close(self) -> Vec<LinkCounters> {
        assert!(self.flights.is_empty() && self.holders.is_empty() && self.unstarted.is_empty());
        self.counters
    }
}

/// The finaliser of `SplitMix64` over source, sequence and switch.
fn hash(source: u32, sequence: u32, switch: u32) -> u64 {
    let mut z = (u64::from(source) << 32) + u64::from(sequence);
    z ^= u64::from(switch).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}
