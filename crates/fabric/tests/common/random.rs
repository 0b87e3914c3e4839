//! Random machines and random traffic, small enough that every mechanism meets every other.

use super::graphs::shortest;
use super::{ASCENTS, CIRCUITS, Cycle, named, variable};
use fabric::config::{MAX_CHANNELS, MAX_CREDIT_DELAY, MAX_HOP_DELAY};
use fabric::motion::HORIZON;
use fabric::topology::Arities;
use fabric::topology::graph::Plan;
use fabric::{
    Ack, Arbitration, Broadcast, Circuit, Config, Destination, Dragonfly, Engine, FatTree, Faults,
    Graph, HyperX, LinkId, Mesh, Misrouting, Multiplexing, PacketSpec, Place, Priority, Topology,
    Torus, Wiring,
};
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt::{self, Debug, Display, Formatter};
use std::ops::RangeInclusive;

/// Many cases, since few of them combine all difficulties: 1,024, or eight times `PROPTEST_CASES`.
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
    /// Cycles from a delivery to the departure of its acknowledgement.
    pub turnaround: Cycle,
    /// The packets sorted by cycle; the name of a packet is its place.
    pub traffic: Vec<(Cycle, PacketSpec)>,
    /// What fails, is repaired and is learnt, sorted by cycle.
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

/// What fails and what is offered, sorted by cycle; in a cycle the failures come first.
pub fn inputs(acts: &[(Cycle, Act)], traffic: &[(Cycle, PacketSpec)]) -> Vec<(Cycle, Input)> {
    let acts = acts.iter().map(|&(at, act)| (at, Input::Act(act)));
    let offers = traffic.iter().map(|&(at, spec)| (at, Input::Offer(spec)));
    let mut inputs: Vec<_> = acts.chain(offers).collect();
    inputs.sort_by_key(|&(at, _)| at);
    inputs
}

impl Case {
    /// Answers and turnarounds that differ from packet to packet and from node to node: acknowledgements overtake each other
    /// and meet.
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
                "  cycle {at}: node {source} -> {destination}, {flits} flits, {priority:?}, class {class}"
            )?;
        }
        for (at, act) in &self.acts {
            writeln!(f, "  cycle {at}: {act:?}")?;
        }
        Ok(())
    }
}

/// Arities of `1..=4` on 1 to 3 levels, more or fewer links up than down, some of them parallel, some positions empty.
fn small_tree() -> impl Strategy<Value = FatTree> {
    tree(1..=3, 1..=4)
}

/// Up to some hundred nodes: 2 to 4 levels, arities of `1..=6`, but no more links than a case has time for.
fn large_tree() -> impl Strategy<Value = FatTree> {
    tree(2..=4, 1..=6).prop_filter("too many links", |tree| tree.links() <= 2000)
}

fn tree(
    levels: RangeInclusive<usize>,
    arities: RangeInclusive<u32>,
) -> impl Strategy<Value = FatTree> {
    levels
        .prop_flat_map(move |levels| {
            (
                prop::collection::vec(arities.clone(), levels),
                prop::collection::vec((arities.clone(), 1_u32..=2), levels - 1),
                0.3_f64..=1.0,
            )
        })
        .prop_map(|(down, up, populated)| {
            let positions: u32 = down.iter().product();
            let nodes = (f64::from(positions) * populated).ceil() as u32;
            let parallel: Vec<u32> = up
                .iter()
                .map(|&(up, wish)| if up % wish == 0 { wish } else { 1 })
                .collect();
            let up: Vec<u32> = up.into_iter().map(|(up, _)| up).collect();
            FatTree::with_parallel_links(&down, &up, &parallel, nodes).expect("within all bounds")
        })
}

/// Rings of 2 to 6 switches in 1 to 3 dimensions, with datelines, some positions empty.
fn torus() -> impl Strategy<Value = Torus> {
    let sizes = prop::collection::vec(2_u32..=6, 1..=3)
        .prop_filter("too many", |sizes| sizes.iter().product::<u32>() <= 64);
    (sizes, 0.3_f64..=1.0).prop_map(|(sizes, populated)| {
        let positions: u32 = sizes.iter().product();
        let nodes = (f64::from(positions) * populated).ceil() as u32;
        Torus::new(&sizes, nodes, true).expect("within all bounds")
    })
}

/// Rows of 2 to 5 switches in 1 to 3 dimensions, some positions empty.
fn mesh() -> impl Strategy<Value = Mesh> {
    let sizes = prop::collection::vec(2_u32..=5, 1..=3)
        .prop_filter("too many", |sizes| sizes.iter().product::<u32>() <= 64);
    (sizes, 0.3_f64..=1.0).prop_map(|(sizes, populated)| {
        let positions: u32 = sizes.iter().product();
        let nodes = (f64::from(positions) * populated).ceil() as u32;
        Mesh::new(&sizes, nodes).expect("within all bounds")
    })
}

fn rule() -> impl Strategy<Value = Misrouting> {
    select(&[
        Misrouting::Minimal,
        Misrouting::Valiant,
        Misrouting::UgalLocal,
        Misrouting::UgalLocal,
    ])
}

/// Groups of 1 to 4 switches, 2 to 9 groups, one link or more between two groups, some positions empty.
fn dragonfly() -> impl Strategy<Value = Dragonfly> {
    let arities = (1_u32..=3, 1_u32..=4, 1_u32..=4, 2_u32..=9)
        .prop_map(|(terminals, group, global, most)| {
            // The links must be shared out evenly.
            let even = |groups: &u32| (group * global).is_multiple_of(groups - 1);
            let groups = (2..=most).rev().find(even);
            Arities {
                terminals,
                group,
                global,
                groups: groups.expect("two groups always serve"),
            }
        })
        .prop_filter("too many", |a| a.terminals * a.group * a.groups <= 64);
    (arities, 0.3_f64..=1.0, rule()).prop_map(|(arities, populated, rule)| {
        let positions = arities.terminals * arities.group * arities.groups;
        let nodes = (f64::from(positions) * populated).ceil() as u32;
        Dragonfly::new(arities, nodes, rule).expect("within all bounds")
    })
}

/// Rows of 2 to 5 switches in 1 to 3 dimensions, 1 to 4 nodes at each switch, some positions empty.
fn hyperx() -> impl Strategy<Value = HyperX> {
    let positions = |sizes: &[u32], terminals: u32| terminals * sizes.iter().product::<u32>();
    let shape = (prop::collection::vec(2_u32..=5, 1..=3), 1_u32..=4)
        .prop_filter("too many", move |(sizes, terminals)| {
            positions(sizes, *terminals) <= 64
        });
    (shape, 0.3_f64..=1.0, rule()).prop_map(move |((sizes, terminals), populated, rule)| {
        let nodes = (f64::from(positions(&sizes, terminals)) * populated).ceil() as u32;
        HyperX::new(&sizes, terminals, nodes, rule).expect("within all bounds")
    })
}

/// Trees whose leaves and nodes make whole pods of hosts with 2 or 3 adapters.
fn rail_optimised() -> impl Strategy<Value = FatTree> {
    let shape = (1_u32..=4, 1_u32..=3, 2_u32..=3, 1_u32..=4, 0.3_f64..=1.0);
    shape.prop_map(|(hosts, pods, adapters, up, populated)| {
        let attached = (f64::from(pods) * populated).ceil() as u32;
        let nodes = attached * adapters * hosts;
        let tree = FatTree::new(&[hosts, adapters, pods], &[up, 2], nodes);
        let tree = tree.and_then(|tree| tree.rail_optimised(adapters));
        tree.expect("within all bounds")
    })
}

/// Up to 9 switches in a random tree with chords, some of them beside another cable, and up to 16 nodes anywhere, some of which
/// are attached; one root or several, or tables of some shortest ways by switch or by node.
fn graph() -> impl Strategy<Value = Graph> {
    let ends = || (any::<u32>(), any::<u32>());
    let shape = (
        prop::collection::vec(any::<u32>(), 0..=8),
        prop::collection::vec(ends(), 0..=8),
        prop::collection::vec(any::<u32>(), 1..=16),
        prop_oneof![3 => Just(0_usize), 1 => 1..=3_usize],
        0.3_f64..=1.0,
        prop::option::of((any::<bool>(), any::<u64>())),
    );
    shape.prop_map(|(parents, chords, seats, roots, populated, tables)| {
        let switches = parents.len() as u32 + 1;
        let tree = (1..)
            .zip(parents)
            .map(|(child, parent)| (child, parent % child));
        let chords = chords
            .into_iter()
            .map(|(a, b)| (a % switches, b % switches));
        let nodes = (f64::from(seats.len() as u32) * populated).ceil() as u32;
        let mut plan = Plan {
            switches: (0..switches).map(|number| format!("s{number}")).collect(),
            seats: seats.into_iter().map(|seat| seat % switches).collect(),
            cables: tree.chain(chords).filter(|(a, b)| a != b).collect(),
            roots: (0..switches).take(roots).collect(),
            routes: None,
        };
        if let Some((by_node, draw)) = tables {
            let takes = |at, home, next| draw >> ((5 * at + 3 * home + next) % 64) & 1 == 1;
            let routes = shortest(&plan, by_node, takes);
            if routes.classes <= 8 {
                plan.routes = Some(routes);
                return Graph::new(&plan, nodes).expect("the tables are complete");
            }
        }
        // With several roots there may be no legal way.
        Graph::new(&plan, nodes).unwrap_or_else(|_| {
            plan.roots.clear();
            Graph::new(&plan, nodes).expect("within all bounds")
        })
    })
}

/// A network without hardware broadcasts: one that is no tree, or whose nodes in a row are no positions in a row.
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

/// A network without hardware broadcasts under traffic of fewer than `packets` packets, none of which is a broadcast.
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

/// A small machine of any kind.
pub fn any_case() -> impl Strategy<Value = Case> {
    prop_oneof![2 => case(), 1 => treeless_case(60)]
}

/// Small buffers and long wires are the difficult ones; large buffers must change nothing.
fn buffer() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 1_u32..=16, 2 => 17_u32..=64, 1 => Just(128_u32)]
}

/// Cycles from end to end of a link: the levels of a machine differ, mostly a little.
fn hop_delay() -> impl Strategy<Value = u32> {
    prop_oneof![16 => 1_u32..=12, 3 => 1_u32..=63, 1 => 64..=MAX_HOP_DELAY, 4 => Just(1_u32)]
}

/// Cycles after which a credit is back, by level: one on all levels of most machines; else mostly as long as the way out, and
/// longer on some levels than on others.
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

/// The engine, and how links serve their channels.
fn service() -> impl Strategy<Value = (Multiplexing, Engine)> {
    select(&[
        (Multiplexing::OldestFirst, Engine::Worm),
        (Multiplexing::OldestFirst, Engine::Worm),
        (Multiplexing::OldestFirst, Engine::Flit),
        (Multiplexing::RoundRobin, Engine::Flit),
    ])
}

/// Period and burst of the memory port: short and odd ones, that of `QsNET`, and longer ones than any prediction reaches.
fn sharing() -> impl Strategy<Value = (u64, u64)> {
    let period = prop_oneof![6 => 1_u64..60, 3 => 60_u64..400, 1 => 400_u64..3000];
    let any = period.prop_flat_map(|period| (Just(period), 0..=period / 2));
    prop_oneof![9 => any, 1 => Just((185, 32))]
}

fn config<T: Into<Topology> + Debug>(
    kind: impl Strategy<Value = T>,
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
                faults: None,
            },
        )
}

/// Packets at random moments, a part of them for one destination, a part of them broadcasts, mostly to a few nodes or to all.
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
            let (source, destination, to_hot, flits, high, pause, range, awaits_end, traffic_class) =
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
                traffic_class,
                awaits_end,
                token: 0,
            };
            traffic.push((at, spec));
        }
        named(&traffic)
    })
}

/// Any machine with such a tree under any traffic of fewer than `packets` packets.
fn case_of<T: Into<Topology> + Debug>(
    kind: impl Strategy<Value = T>,
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

/// Bit error rates: of no link, of all links, of some.
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

/// The same case where parts fail: cables die, mostly while packets are under way, some are repaired, and now and then the
/// sources learn.
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
        case.config.faults = Some(Faults {
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

/// A small machine of any kind, whose parts fail as often as not.
pub fn perhaps_failing_case() -> impl Strategy<Value = Case> {
    any_case().prop_flat_map(perhaps_failing)
}

/// A small machine under any traffic.
pub fn case() -> impl Strategy<Value = Case> {
    case_of(small_tree(), 60)
}

/// A small machine with a tree for each source under many broadcasts, half of them to all nodes: a part of the cases deadlocks.
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

/// A small machine of any kind with buffers of more flits than any prediction reaches ahead, most of them for whole packets,
/// under packets of which some are as long. Mostly circuits are held, so that the ends of most worms concern nobody.
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

/// The cycle in which the lower 32 bits of the count of cycles come round, and the first one that is as far in the future of a
/// cycle, in 32 bits, as in its past.
const AROUND: [Cycle; 2] = [1 << 32, 1 << 31];

/// A machine under twice the traffic, and now and then a large one under more. Some have run for very long, some hold their
/// circuits for as long, or half as long: a count of cycles in 32 bits must do no harm.
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
