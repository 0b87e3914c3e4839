//! Random machines and random traffic, small enough that every mechanism meets every other.

mod networks;

use super::{ASCENTS, CIRCUITS, Cycle, named, variable};
use fabric::config::{MAX_CHANNELS, MAX_CREDIT_DELAY, MAX_HOP_DELAY};
use fabric::motion::HORIZON;
use fabric::{
    Ack, Arbitration, Broadcast, Circuit, Config, Destination, Engine, FaultConfig, LinkId,
    LinkOverride, Multiplexing, Pace, PacketSpec, Place, Priority, Topology,
};
use networks::{
    dragonfly, graph, hyperx, large_tree, mesh, rail_optimised, small_tree, torus, tree,
};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display, Formatter};

/// Many cases, since few combine all difficulties: 1,024, or eight times `PROPTEST_CASES`.
pub fn many() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig {
        cases: variable("PROPTEST_CASES").map_or(1024, |cases: u32| 8 * cases),
        max_shrink_iters: 2000,
        ..usual
    }
}

/// A machine and its traffic.
#[derive(Clone, Debug)]
pub struct Case {
    pub config: Config,
    /// Cycles from a delivery to its acknowledgement's departure.
    pub turnaround: Cycle,
    /// The packets sorted by cycle; a packet's name is its place.
    pub traffic: Vec<(Cycle, PacketSpec)>,
    /// Failures, repairs and learning, sorted by cycle.
    pub acts: Vec<(Cycle, Act)>,
}

/// Something that happens to the network itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    Cut(LinkId),
    Repair(LinkId),
    Learn,
}

/// Something that comes from outside.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    Act(Act),
    Offer(PacketSpec),
}

/// Failures and offers, sorted by cycle; in a cycle the failures come first.
pub fn inputs(acts: &[(Cycle, Act)], traffic: &[(Cycle, PacketSpec)]) -> Vec<(Cycle, Input)> {
    let acts = acts.iter().map(|&(at, act)| (at, Input::Act(act)));
    let offers = traffic.iter().map(|&(at, spec)| (at, Input::Offer(spec)));
    let mut inputs: Vec<_> = acts.chain(offers).collect();
    inputs.sort_by_key(|&(at, _)| at);
    inputs
}

impl Case {
    /// Answers and turnarounds that differ from packet to packet and from node to node:
    /// acknowledgements overtake each other and meet.
    pub fn answer(&self) -> impl Fn(&PacketSpec, Place) -> (Cycle, Ack) + 'static {
        let turnaround = self.turnaround;
        move |spec, node| {
            let ack = match (spec.flits + 5 * node.get()) % 23 {
                0 => Ack::Error,
                1 => Ack::TestFailed,
                2 => Ack::Discarded,
                _ => Ack::Accepted,
            };
            (turnaround + u64::from(spec.flits + 3 * node.get()) % 7, ack)
        }
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "  {:?}", self.config)?;
        writeln!(f, "  turnaround {} + flits mod 7", self.turnaround)?;
        for (at, spec) in &self.traffic {
            let (source, destination, flits) = (spec.source, spec.destination, spec.flits);
            let (priority, class) = (spec.priority, spec.traffic_class);
            writeln!(
                f,
                "  cycle {at}: node {source} -> {destination}, {flits} flits, {priority:?}, class \
                {class}"
            )?;
        }
        for (at, act) in &self.acts {
            writeln!(f, "  cycle {at}: {act:?}")?;
        }
        Ok(())
    }
}

/// A network without hardware broadcasts: one that is not a tree, or has consecutive nodes at
/// scattered positions.
fn treeless() -> impl Strategy<Value = Topology> {
    prop_oneof![
        3 => torus().prop_map(Topology::from),
        1 => mesh().prop_map(Topology::from),
        3 => dragonfly().prop_map(Topology::from),
        2 => hyperx().prop_map(Topology::from),
        3 => graph().prop_map(Topology::from),
        1 => rail_optimised().prop_map(Topology::from),
    ]
}

/// A network without hardware broadcasts under traffic with fewer than `packets` packets, without
/// broadcasts.
fn treeless_case(packets: usize) -> impl Strategy<Value = Case> {
    case_of(treeless(), packets).prop_map(|mut case| {
        let least = case.config.traffic_classes * case.config.topology.classes();
        case.config.channels = case.config.channels.max(least);
        for (_, spec) in &mut case.traffic {
            spec.destination = spec.destination.first().into();
        }
        case
    })
}

/// A small machine with any network kind.
pub fn any_case() -> impl Strategy<Value = Case> {
    prop_oneof![2 => case(), 1 => treeless_case(60)]
}

/// Small buffers and long wires are the difficult ones; large buffers must make no difference.
fn buffer() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 1_u32..=16, 2 => 17_u32..=64, 1 => Just(128_u32)]
}

/// Cycles from end to end on a link: a machine's levels differ, mostly a little.
fn hop_delay() -> impl Strategy<Value = u32> {
    prop_oneof![16 => 1_u32..=12, 3 => 1_u32..=63, 1 => 64..=MAX_HOP_DELAY, 4 => Just(1_u32)]
}

/// Cycles after which a credit is back, by level: one on all levels of most machines; else mostly
/// as long as the way out, and longer on some levels than on others.
fn credit_delay(levels: usize) -> impl Strategy<Value = Vec<u32>> {
    let delay = prop_oneof![
        3 => Just(1_u32),
        9 => 1_u32..=12,
        6 => 1_u32..=40,
        1 => 64..=MAX_CREDIT_DELAY,
    ];
    let same = delay.clone().prop_map(move |delay| vec![delay; levels]);
    prop_oneof![
        4 => Just(Vec::new()),
        3 => same,
        3 => prop::collection::vec(delay, levels),
    ]
}

/// Paces: full, whole numbers of cycles for a flit, and fractions near and far from the full pace.
fn pace() -> impl Strategy<Value = Pace> {
    let of = |(flits, cycles)| Pace::nearest(flits, cycles).expect("within bounds");
    prop_oneof![
        4 => Just(Pace::FULL),
        6 => (1_u64..=7).prop_map(move |cycles| of((1, cycles))),
        4 => (1_u64..=9, 1_u64..=9).prop_map(move |(a, b)| of((a.min(b), a.max(b)))),
        1 => (1_u64..=40).prop_map(move |cycles| of((1, cycles))),
    ]
}

/// A link that differs from those on its level.
fn differing(links: u32) -> impl Strategy<Value = (LinkId, LinkOverride)> {
    let credit_delay = prop_oneof![1 => Just(1_u32), 3 => 1_u32..40];
    (0..links, hop_delay(), credit_delay, pace()).prop_map(
        |(link, hop_delay, credit_delay, pace)| {
            let differing = LinkOverride {
                hop_delay,
                credit_delay,
                pace,
            };
            (LinkId::new(link), differing)
        },
    )
}

/// The paces of all levels, or an empty list; and links that differ.
type Unequal = (Vec<Pace>, Vec<(LinkId, LinkOverride)>);

/// Slow links: absent in most machines; else whole levels, and some links that differ from those on
/// their level.
fn unequal(levels: usize, links: u32) -> impl Strategy<Value = Unequal> {
    let some = || prop::collection::vec(differing(links), 1..6);
    prop_oneof![
        6 => Just((Vec::new(), Vec::new())),
        2 => prop::collection::vec(pace(), levels).prop_map(|paces| (paces, Vec::new())),
        2 => some().prop_map(|some| (Vec::new(), some)),
        1 => (prop::collection::vec(pace(), levels), some()),
    ]
}

/// The same machine with such links, as far as the delays leave room for them.
fn with_unequal_links(config: Config) -> impl Strategy<Value = Config> {
    let (levels, links) = (config.topology.levels(), config.topology.links());
    unequal(levels, links).prop_map(move |(paces, differing)| {
        let mut config = config.clone();
        config.pace = paces;
        config.differing = differing.into_iter().collect();
        let longest = |pace: Pace| MAX_HOP_DELAY - pace.serialisation();
        for (level, delay) in config.hop_delay.iter_mut().enumerate() {
            let pace = config.pace.get(level).copied().unwrap_or(Pace::FULL);
            *delay = (*delay).min(longest(pace));
        }
        for link in config.differing.values_mut() {
            link.hop_delay = link.hop_delay.min(longest(link.pace));
        }
        config
    })
}

/// The engine, and how links serve their channels.
fn service() -> impl Strategy<Value = (Multiplexing, Engine)> {
    select(&[
        (Multiplexing::OldestFirst, Engine::Worm),
        (Multiplexing::OldestFirst, Engine::Worm),
        (Multiplexing::OldestFirst, Engine::Flit),
        (Multiplexing::RoundRobin, Engine::Flit),
    ])
}

/// The memory port's period and burst: short and odd ones, `QsNET`'s, and longer ones than any
/// prediction reaches.
fn sharing() -> impl Strategy<Value = (u64, u64)> {
    let period = prop_oneof![6 => 1_u64..60, 3 => 60_u64..400, 1 => 400_u64..3000];
    let any = period.prop_flat_map(|period| (Just(period), 0..=period / 2));
    prop_oneof![9 => any, 1 => Just((185, 32))]
}

fn config<T: Into<Topology> + Debug + 'static>(
    kind: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Config> {
    let channels = prop_oneof![15 => 1_u32..=4, 1 => 5..=MAX_CHANNELS];
    let traffic_classes = prop_oneof![3 => Just(1_u32), 1 => 2_u32..=4];
    let channels = (channels, traffic_classes);
    let sizes = (
        channels,
        buffer(),
        1_u32..=4,
        0_u64..40,
        1_u32..=9,
        0_u64..20,
    );
    let modes = (
        prop_oneof![4 => select(&CIRCUITS), 1 => Just(Circuit::CutThrough)],
        select(&ASCENTS),
        select(&[Arbitration::Age, Arbitration::RoundRobin]),
        service(),
    );
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    (kind.prop_map(Into::into), sizes, modes, switches, sharing())
        .prop_flat_map(
            |(topology, sizes, modes, switches, sharing): (Topology, _, _, _, _)| {
                let levels = topology.levels();
                let hops = prop::collection::vec(hop_delay(), levels);
                let delays = (hops, credit_delay(levels));
                (Just((topology, sizes, modes, switches, sharing)), delays)
            },
        )
        .prop_map(
            |((topology, sizes, modes, switches, sharing), (hop_delay, credit_delay))| Config {
                topology,
                hop_delay,
                credit_delay,
                pace: Vec::new(),
                differing: BTreeMap::new(),
                channels: sizes.0.0.max(sizes.0.1),
                traffic_classes: sizes.0.1,
                buffer: sizes.1,
                packets_in_flight: sizes.2,
                age_bits: sizes.4,
                age_cap: sizes.3 * 10,
                circuit: modes.0,
                ascent: modes.1,
                broadcast: Broadcast::Serialised,
                combine: sizes.5,
                arbitration: modes.2,
                multiplexing: modes.3.0,
                priorities: switches.0,
                tokens: switches.1,
                share_period: sharing.0,
                share_burst: if switches.2 { sharing.1 } else { 0 },
                engine: modes.3.1,
                regions: 1,
                threads: 1,
                faults: None,
            },
        )
        .prop_flat_map(with_unequal_links)
        .boxed() // nested generators of this size fill a test's stack
}

/// Packets at random moments, some for one destination, some broadcasts, mostly to a few nodes or
/// to all.
fn traffic(
    nodes: u32,
    classes: u32,
    packets: usize,
) -> impl Strategy<Value = Vec<(Cycle, PacketSpec)>> {
    let packet = (
        0..nodes,
        0..nodes,
        any::<bool>(),
        prop_oneof![300 => 1_u32..=60, 15 => Just(189_u32), 1 => 1000_u32..3000],
        any::<bool>(),
        prop_oneof![3 => Just(0_u64), 2 => 0_u64..30, 1 => 0_u64..1500],
        prop_oneof![7 => Just(0), 1 => 1..=nodes, 1 => 1_u32..=4, 1 => Just(nodes)],
        any::<bool>(),
        0..classes as u8,
    );
    (0..nodes, prop::collection::vec(packet, 1..packets)).prop_map(move |(hot, packets)| {
        let mut at = 0;
        let mut traffic = Vec::new();
        for packet in packets {
            let (source, destination, to_hot, flits, high, pause, range, awaits_end, class) =
                packet;
            at += pause;
            let node = if to_hot { hot } else { destination };
            let first = if range == nodes { 0 } else { node };
            let spec = PacketSpec {
                source: source.into(),
                destination: match range {
                    0 => node.into(),
                    _ => Destination::Range {
                        first: first.into(),
                        last: (first + range - 1).min(nodes - 1).into(),
                    },
                },
                flits,
                priority: if high { Priority::High } else { Priority::Low },
                traffic_class: class,
                awaits_end,
                token: 0,
            };
            traffic.push((at, spec));
        }
        named(&traffic)
    })
}

/// Any machine with such a tree under any traffic with fewer than `packets` packets.
fn case_of<T: Into<Topology> + Debug + 'static>(
    kind: impl Strategy<Value = T> + 'static,
    packets: usize,
) -> impl Strategy<Value = Case> {
    let turnaround = prop_oneof![19 => 0_u64..30, 1 => 30_u64..3000];
    (config(kind), turnaround)
        .prop_flat_map(move |(config, turnaround)| {
            let nodes = config.topology.nodes();
            let traffic = traffic(nodes, config.traffic_classes, packets);
            (Just(config), Just(turnaround), traffic)
        })
        .prop_map(|(mut config, turnaround, traffic)| {
            if config.circuit == Circuit::CutThrough {
                let longest = traffic.iter().map(|(_, spec)| spec.flits).max();
                config.buffer = config.buffer.max(longest.unwrap_or(1));
            }
            Case {
                config,
                turnaround,
                traffic,
                acts: Vec::new(),
            }
        })
}

/// Bit error rates: on no link, on all links, on some.
fn rates(links: u32) -> impl Strategy<Value = Vec<(LinkId, f64)>> {
    let rate = || select(&[1e-3, 2e-4, 2e-5]);
    let some = prop::collection::vec((0..links, rate()), 1..4);
    prop_oneof![
        3 => Just(Vec::new()),
        2 => rate().prop_map(move |rate| LinkId::all(links).map(|link| (link, rate)).collect()),
        2 => some.prop_map(|some| {
            some.into_iter().map(|(link, rate)| (LinkId::new(link), rate)).collect()
        }),
    ]
}

/// The same case where parts fail: cables die, mostly while packets are under way, some are
/// repaired, and now and then the sources learn.
pub fn failing(case: Case) -> impl Strategy<Value = Case> {
    let links = case.config.topology.links();
    let last = case.traffic.last().map_or(0, |offer| offer.0);
    let first = case.traffic.first().map_or(0, |offer| offer.0);
    let lasts = prop_oneof![
        2 => Just(None),
        3 => (0_u64..200).prop_map(Some),
        1 => (0_u64..4000).prop_map(Some),
    ];
    let learns = prop_oneof![1 => Just(None), 2 => (0_u64..500).prop_map(Some)];
    let cut = (0..links, first..last + 300, lasts, learns);
    let cuts = prop::collection::vec(cut, 0..9);
    let sizes = (1_u64..3000, 0_u32..100, 0_u32..40, any::<u64>());
    (cuts, sizes, rates(links)).prop_map(move |(cuts, sizes, bit_error_rates)| {
        let mut case = case.clone();
        case.config.faults = Some(FaultConfig {
            timeout: sizes.0,
            header_bits: sizes.1,
            flit_bits: 16,
            token_bits: sizes.2,
            bit_error_rates,
            seed: sizes.3,
        });
        for (link, at, lasts, learns) in cuts {
            let link = LinkId::new(link);
            case.acts.push((at, Act::Cut(link)));
            if let Some(lasts) = lasts {
                case.acts.push((at + lasts, Act::Repair(link)));
            }
            if let Some(learns) = learns {
                case.acts.push((at + learns, Act::Learn));
            }
        }
        case.acts.sort_by_key(|&(at, _)| at);
        case
    })
}

/// The same case, with parts that fail as often as not.
fn perhaps_failing(case: Case) -> impl Strategy<Value = Case> {
    any::<bool>().prop_flat_map(move |fails| {
        if fails {
            failing(case.clone()).boxed()
        } else {
            Just(case.clone()).boxed()
        }
    })
}

/// A small machine with any network kind, in which parts fail in half the cases.
pub fn perhaps_failing_case() -> impl Strategy<Value = Case> {
    any_case().prop_flat_map(perhaps_failing)
}

/// A small machine under any traffic.
pub fn case() -> impl Strategy<Value = Case> {
    case_of(small_tree(), 60)
}

/// A small machine with a tree for each source under many broadcasts, half of them to all nodes:
/// some cases deadlock.
pub fn rivals() -> impl Strategy<Value = Case> {
    case_of(tree(2..=3, 2..=3), 60).prop_map(|mut case| {
        case.config.broadcast = Broadcast::BySource;
        case.config.multiplexing = Multiplexing::OldestFirst;
        let all = Destination::Range {
            first: Place::new(0),
            last: (case.config.topology.nodes() - 1).into(),
        };
        for (at, spec) in &mut case.traffic {
            *at /= 8;
            if spec.flits % 2 == 0 {
                spec.destination = all;
            }
        }
        case
    })
}

/// A small machine with any network kind and buffers for more flits than any prediction reaches
/// ahead, mostly for whole packets, under packets that are partly as long. Mostly circuits are
/// held, so that most worm ends have no waiters.
fn deep_case() -> impl Strategy<Value = Case> {
    let cases = prop_oneof![2 => case_of(small_tree(), 60), 1 => treeless_case(60)];
    (cases, HORIZON as u32..4000).prop_map(|(mut case, buffer)| {
        case.config.buffer = buffer;
        if case.config.circuit == Circuit::CutThrough {
            case.config.circuit = Circuit::UntilAcknowledged;
        }
        for (_, spec) in &mut case.traffic {
            if spec.flits <= 60 && spec.flits % 3 == 0 {
                spec.flits *= 50;
            }
        }
        case
    })
}

/// The cycle in which the lower 32 bits of the cycle count come round, and the first one that is as
/// far in the future of a cycle, in 32 bits, as in its past.
const AROUND: [Cycle; 2] = [1 << 32, 1 << 31];

/// A machine under twice the traffic, and now and then a large one under more. Some have run for
/// very long, some hold their circuits for as long, or half as long: a 32-bit cycle count must do
/// no harm.
pub fn large_case() -> impl Strategy<Value = Case> {
    let cases = prop_oneof![
        14 => case_of(small_tree(), 120),
        5 => treeless_case(120),
        1 => case_of(large_tree(), 600),
        2 => deep_case(),
    ];
    let start = prop_oneof![
        18 => Just(0),
        1 => AROUND[0] - 2000..AROUND[0],
        1 => AROUND[1] - 2000..AROUND[1],
    ];
    let held = prop_oneof![
        38 => Just(None),
        1 => (AROUND[0] - 3000..AROUND[0] + 3000).prop_map(Some),
        1 => (AROUND[1] - 3000..AROUND[1] + 3000).prop_map(Some),
    ];
    let cases = (cases, start, held).prop_map(|(mut case, start, held)| {
        for (at, _) in &mut case.traffic {
            *at += start;
        }
        case.turnaround = held.unwrap_or(case.turnaround);
        case
    });
    cases.prop_flat_map(perhaps_failing)
}
