//! Shared by the fabric's tests: machines, packets, and a bench that plays the adapters.
#![allow(dead_code)] // each test file uses a part

pub mod graphs;
pub mod guard;
pub mod kinds;
pub mod lockstep;
pub mod paper;
pub mod random;
pub mod referee;
pub mod search;

use fabric::control::PacketCensus;
use fabric::{
    Ack, Ascent, Circuit, Config, Cycle, Destination, Fabric, FatTree, LinkCounters, LinkId,
    Notice, PacketRecord, PacketSpec, Place, Priority, Topology,
};
use kernel::random::Stream;
use random::{Act, Input};
use std::str::FromStr;

/// A number that an environment variable may give.
pub fn variable<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    let value = text.parse().ok();
    assert!(value.is_some(), "{name}={text} is not a number");
    value
}

/// All ascent rules.
pub const ASCENTS: [Ascent; 5] = [
    Ascent::Adaptive,
    Ascent::Deterministic,
    Ascent::SourceFixed,
    Ascent::DestinationModulo,
    Ascent::FlowHash,
];

/// All circuits. [`Circuit::CutThrough`] is wormhole routing with buffers for whole packets: see
/// `cut_through.rs`, and the random machines.
pub const CIRCUITS: [Circuit; 3] = [
    Circuit::UntilAcknowledged,
    Circuit::UntilDelivered,
    Circuit::Wormhole,
];

/// A machine with the network's mechanisms but round parameters; see [`Config::new`].
pub fn machine(topology: impl Into<Topology>, hop_delay: u32) -> Config {
    let mut config = Config::new(topology);
    config.hop_delay.fill(hop_delay);
    config
}

/// One switch with four nodes and the given hop delay.
pub fn one_switch(hop_delay: u32) -> Config {
    machine(FatTree::quaternary(1).expect("4 nodes"), hop_delay)
}

/// 64 nodes in three levels.
pub fn three_levels(hop_delay: u32) -> Config {
    machine(FatTree::quaternary(3).expect("64 nodes"), hop_delay)
}

/// A low-priority packet without a name.
pub fn packet(source: u32, destination: u32, flits: u32) -> PacketSpec {
    PacketSpec {
        source: source.into(),
        destination: destination.into(),
        flits,
        priority: Priority::Low,
        traffic_class: 0,
        awaits_end: false,
        token: 0,
    }
}

/// A low-priority broadcast without a name, which notifies its destinations about its end.
pub fn broadcast(source: u32, first: u32, last: u32, flits: u32) -> PacketSpec {
    PacketSpec {
        destination: Destination::Range {
            first: first.into(),
            last: last.into(),
        },
        awaits_end: true,
        ..packet(source, first, flits)
    }
}

/// The same packet in a traffic class.
pub fn in_class(traffic_class: u8, spec: PacketSpec) -> PacketSpec {
    PacketSpec {
        traffic_class,
        ..spec
    }
}

/// The same packet with high priority.
pub fn high(spec: PacketSpec) -> PacketSpec {
    PacketSpec {
        priority: Priority::High,
        ..spec
    }
}

/// Links to the farthest destination in a tree; a broadcast crosses as many links to each of its
/// other destinations.
pub fn farthest(config: &Config, spec: &PacketSpec) -> u32 {
    let tree = config.topology.as_tree().expect("a tree");
    let places = spec.destination.places();
    let distances = places.map(|node| tree.distance(spec.source, node));
    distances.max().expect("somewhere it goes")
}

/// Sum of the hop delays on a shortest path there, where no link differs from its level.
pub fn travel(config: &Config, spec: &PacketSpec) -> Cycle {
    let levels = farthest(config, spec) as usize / 2;
    let delays =
        (0..levels).map(|level| config.hop_delay[level] + config.pace(level).serialisation());
    2 * delays.map(Cycle::from).sum::<Cycle>()
}

/// The notices to the adapters, with their times. A packet's number is left out: it is a handle,
/// not a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    Injected(Cycle, PacketSpec),
    Delivered(Cycle, Place, PacketSpec),
    Damaged(Cycle, Place, PacketSpec),
    Acknowledged(PacketRecord, PacketSpec),
    Ended(Cycle, Place, bool, u32, PacketSpec),
}

/// A node adapter's answer to a packet, and the cycles until the answer leaves.
type Answer = dyn Fn(&PacketSpec, Place) -> (Cycle, Ack);

/// A fabric and adapters that answer every delivery after a turnaround.
pub struct Bench {
    pub fabric: Fabric,
    /// Cycles from the delivery at a node to the acknowledgement's departure, and the answer.
    answer: Box<Answer>,
    /// Whether the adapters act on notices in the opposite order; no result may depend on the
    /// order.
    pub reversed: bool,
    pub heard: Vec<Heard>,
    notices: Vec<Notice>,
}

impl Bench {
    pub fn new(config: Config, turnaround: Cycle) -> Self {
        Bench::with_answers(config, move |_, _| (turnaround, Ack::Accepted))
    }

    pub fn with_answers(
        config: Config,
        answer: impl Fn(&PacketSpec, Place) -> (Cycle, Ack) + 'static,
    ) -> Self {
        Bench {
            fabric: Fabric::new(config),
            answer: Box::new(answer),
            reversed: false,
            heard: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Executes all cycles up to and including `until` in which anything happens.
    pub fn run_until(&mut self, until: Cycle) {
        while let Some(now) = self.fabric.advance(until, &mut self.notices) {
            let mut deliveries = Vec::new();
            for notice in self.notices.drain(..) {
                self.heard.push(match notice {
                    Notice::Injected(spec) => Heard::Injected(now, spec),
                    Notice::Acknowledged(record, spec) => Heard::Acknowledged(record, spec),
                    Notice::Delivered(packet, node, spec) => {
                        deliveries.push((packet, node, spec, false));
                        Heard::Delivered(now, node, spec)
                    }
                    Notice::Damaged(packet, node, spec) => {
                        deliveries.push((packet, node, spec, true));
                        Heard::Damaged(now, node, spec)
                    }
                    Notice::Ended {
                        node,
                        good,
                        sequence,
                        spec,
                    } => Heard::Ended(now, node, good, sequence, spec),
                });
            }
            if self.reversed {
                deliveries.reverse();
            }
            for (packet, node, spec, damaged) in deliveries {
                let (turnaround, answer) = (self.answer)(&spec, node);
                let ack = if damaged { Ack::Corrupted } else { answer };
                self.fabric.acknowledge(now + turnaround, packet, ack);
            }
        }
    }

    /// Offers packets, sorted by cycle.
    pub fn offer(&mut self, traffic: &[(Cycle, PacketSpec)]) {
        for &(at, spec) in traffic {
            self.input(at, Input::Offer(spec));
        }
    }

    /// Hands something in, in a cycle; executes all cycles before.
    pub fn input(&mut self, at: Cycle, input: Input) {
        if let Some(before) = at.checked_sub(1) {
            self.run_until(before);
        }
        match input {
            Input::Offer(spec) => self.fabric.offer(at, spec),
            Input::Act(Act::Cut(link)) => self.fabric.cut(at, link),
            Input::Act(Act::Repair(link)) => self.fabric.repair(at, link),
            Input::Act(Act::Learn) => self.fabric.learn(at),
        }
    }

    /// Runs until all motion has stopped.
    pub fn finish(&mut self) {
        self.run_until(Cycle::MAX);
    }

    /// Offers packets, sorted by cycle, and runs until all motion has stopped.
    pub fn through(mut self, traffic: &[(Cycle, PacketSpec)]) -> Self {
        self.offer(traffic);
        self.finish();
        self
    }

    /// The packets that are done, in acknowledgement order.
    pub fn done(&self) -> impl Iterator<Item = (PacketRecord, PacketSpec)> {
        self.heard.iter().filter_map(|heard| match *heard {
            Heard::Acknowledged(record, spec) => Some((record, spec)),
            _ => None,
        })
    }

    /// The record of a named packet.
    pub fn record(&self, token: u64) -> PacketRecord {
        self.done()
            .find(|(_, spec)| spec.token == token)
            .expect("the packet is done")
            .0
    }

    /// The counters of all links.
    pub fn counters(&self) -> Vec<LinkCounters> {
        LinkId::all(self.fabric.topology().links())
            .map(|link| self.fabric.counters(link))
            .collect()
    }
}

/// The records for some packets, named 0, 1, 2... in the order given. All must be done in the end.
pub fn records(
    config: &Config,
    turnaround: Cycle,
    traffic: &[(Cycle, PacketSpec)],
) -> Vec<PacketRecord> {
    let bench = Bench::new(config.clone(), turnaround).through(&named(traffic));
    assert_all_done(&bench.fabric.packet_census(), traffic.len());
    (0..traffic.len() as u64)
        .map(|token| bench.record(token))
        .collect()
}

/// The traffic with each packet named by its place.
pub fn named(traffic: &[(Cycle, PacketSpec)]) -> Vec<(Cycle, PacketSpec)> {
    let number = |(token, &(at, spec))| {
        (
            at,
            PacketSpec {
                token: token as u64,
                ..spec
            },
        )
    };
    traffic.iter().enumerate().map(number).collect()
}

/// The census for a fabric that has done its work.
pub fn assert_all_done(census: &PacketCensus, packets: usize) {
    let expected = PacketCensus {
        offered: packets as u64,
        acknowledged: packets as u64,
        ..PacketCensus::default()
    };
    assert_eq!(
        *census, expected,
        "packets are left over: a deadlock or a loss"
    );
}

/// The share of a link's rate at which a node sends while all do: `packets` from each node to
/// others at random, as long as a channel's buffer and all offered at the start. Measured between
/// two tenths of the arrivals, when no node has run out of packets.
pub fn uniform_share(config: Config, packets: u32, [from, to]: [usize; 2]) -> f64 {
    let (nodes, flits) = (config.topology.nodes(), config.buffer);
    let mut stream = Stream::new(1, "uniform");
    let mut traffic = Vec::new();
    for _ in 0..packets {
        for source in 0..nodes {
            let other = stream.uniform_u64(0..u64::from(nodes) - 1) as u32;
            let to = if other < source { other } else { other + 1 };
            traffic.push((0, packet(source, to, flits)));
        }
    }
    let mut bench = Bench::new(config, 1);
    bench.offer(&traffic);
    bench.finish();
    let mut delivered: Vec<u64> = bench.done().map(|(record, _)| record.delivered).collect();
    assert_eq!(delivered.len(), traffic.len());
    delivered.sort_unstable();
    let [from, to] = [from, to].map(|tenths| delivered.len() * tenths / 10);
    let took = delivered[to] - delivered[from];
    f64::from((to - from) as u32 * flits) / (took as f64 * f64::from(nodes))
}
