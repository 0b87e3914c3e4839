//! # A network as other network simulators have it
//!
//! The fabric alone, without Quadrics features: wormhole routing, equally long packets, unbounded
//! queues at the sources, answers without cost. Prints a JSON line. `benches/booksim.py` compares
//! these figures with `BookSim2`'s; docs/speed-simulators.md has the results.
//!
//! ```text
//! cargo bench -p elanite-fabric --bench network -- topology=torus shape=8,8 load=0.4
//! cargo bench -p elanite-fabric --bench network -- topology=dragonfly shape=2,4,2,9 measure=alone
//! ```
//!
//! | key | usually | |
//! |---|---|---|
//! | `measure` | `load` | `load`: accepted load, and latencies, at a load. `alone`: a packet's latency alone in the network, a row for each source and a column for each destination. `cables`: a graph's cables and its nodes' switches |
//! | `topology` | `torus` | `torus`, `fat-tree`, `dragonfly`, or a graph: `slim-fly`, `polarfly`, `jellyfish`, `rows` |
//! | `shape` | `8,8` | a torus's sizes; a tree's arities, downwards and upwards, from the nodes; for a dragonfly: nodes per switch, switches per group, links per switch to other groups, groups; for a graph: nodes per switch, and then the order, or switches, degree and seed, or the sizes of a mesh |
//! | `ways` | `source-fixed` | how packets climb a tree, or choose among a graph's shortest ways: `adaptive`, `deterministic`, `source-fixed`; `one`: in a graph one shortest way by tables, by the first listed switches, as in `BookSim2` |
//! | `turns` | `false` | whether channels are granted, and links shared, in turns; by the time since the injection otherwise |
//! | `pattern` | `uniform` | where packets go: `uniform`, to any node, the own one included; `transpose`, the halves of the node's number exchanged; `next-group`, in a dragonfly, to any node in the next group; `tornado`, in a torus, almost half round each ring |
//! | `channels` | 2 | virtual channels per link |
//! | `buffer` | 16 | each channel's buffer, in flits |
//! | `flits` | 16 | flits per packet |
//! | `delays` | `3,4` | cycles that a flit takes from a link to the next one, for each link level from the nodes on; the last counts for all levels that follow |
//! | `load` | 0.1 | flits that a node offers in a cycle: in each cycle a packet, with this chance over its flits |
//! | `seed` | 1 | for the traffic |
//! | `warm_up`, `cycles` | 10000, 50000 | cycles before those that count, and those |
//! | `engine` | `worm` | the mover: `worm`, or `flit`, the only one that serves in turns |

use fabric::topology::Family;
use fabric::topology::graph::{Entry, Plan, Routes, Target};
use fabric::{
    Ack, Arbitration, Ascent, Circuit, Config, Cycle, Dragonfly, Engine, Fabric, FatTree, Graph,
    Misrouting, Multiplexing, Notice, PacketSpec, Place, Priority, Topology, Torus, Ways,
};
use kernel::random::Stream;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::process::ExitCode;
use std::str::FromStr;

/// This program's keys, with their defaults.
const KEYS: [(&str, &str); 15] = [
    ("measure", "load"),
    ("topology", "torus"),
    ("shape", "8,8"),
    ("ways", "source-fixed"),
    ("turns", "false"),
    ("pattern", "uniform"),
    ("channels", "2"),
    ("buffer", "16"),
    ("flits", "16"),
    ("delays", "3,4"),
    ("load", "0.1"),
    ("seed", "1"),
    ("warm_up", "10000"),
    ("cycles", "50000"),
    ("engine", "worm"),
];

const ASCENTS: [(&str, Ascent); 4] = [
    ("adaptive", Ascent::Adaptive),
    ("one", Ascent::Deterministic),
    ("deterministic", Ascent::Deterministic),
    ("source-fixed", Ascent::SourceFixed),
];

const ENGINES: [(&str, Engine); 2] = [("worm", Engine::Worm), ("flit", Engine::Flit)];

fn main() -> ExitCode {
    // Cargo adds its own `--bench`.
    let words = std::env::args().skip(1);
    match row(words.filter(|word| word != "--bench")) {
        Ok(row) => println!("{row}"),
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// The result for the words.
fn row(words: impl Iterator<Item = String>) -> Result<Value, String> {
    let keys = Keys::read(words)?;
    if keys.word("measure") == "cables" {
        let plan = keys.plan()?.ok_or("this topology is no graph")?;
        return Ok(json!({ "cables": plan.cables, "seats": plan.seats }));
    }
    let traffic = Traffic::new(&keys)?;
    match keys.word("measure") {
        "load" => traffic.under_load(keys.number("warm_up")?, keys.number("cycles")?),
        "alone" => Ok(traffic.alone()),
        word => Err(format!("measure={word} is none of load, alone and cables")),
    }
}

/// The command's words.
struct Keys(BTreeMap<&'static str, String>);

impl Keys {
    fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut keys: BTreeMap<&str, String> = KEYS.map(|(key, value)| (key, value.into())).into();
        for word in words {
            let (key, value) = word
                .split_once('=')
                .ok_or(format!("{word} is not KEY=VALUE"))?;
            let Some(old) = keys.get_mut(key) else {
                let known = KEYS.map(|(key, _)| key).join(", ");
                return Err(format!("there is no key {key}; there are: {known}"));
            };
            *old = value.into();
        }
        Ok(Keys(keys))
    }

    fn word(&self, key: &str) -> &str {
        &self.0[key]
    }

    fn number<T: FromStr>(&self, key: &str) -> Result<T, String> {
        let wrong = |_| format!("{key}={} is no such number", self.0[key]);
        self.0[key].parse().map_err(wrong)
    }

    fn numbers(&self, key: &str) -> Result<Vec<u32>, String> {
        let numbers: Result<_, _> = self.0[key].split(',').map(str::parse).collect();
        numbers.map_err(|_| format!("{key}={} is no list of numbers", self.0[key]))
    }

    /// The mechanism with this name.
    fn one_of<T: Copy>(&self, key: &str, named: &[(&str, T)]) -> Result<T, String> {
        let word = self.word(key);
        let found = named.iter().find(|(name, _)| *name == word);
        found
            .map(|&(_, mechanism)| mechanism)
            .ok_or(format!("there is no {key}={word}"))
    }

    /// A graph's parts; none if the topology is no graph.
    fn plan(&self) -> Result<Option<Plan>, String> {
        let shape = self.numbers("shape")?;
        let (terminals, plan) = match (self.word("topology"), &shape[..]) {
            ("slim-fly", &[terminals, order]) => (terminals, Family::SlimFly { order }),
            ("polarfly", &[terminals, order]) => (terminals, Family::PolarFly { order }),
            ("jellyfish", &[terminals, switches, degree, seed]) => {
                let seed = seed.into();
                let family = Family::Jellyfish {
                    switches,
                    degree,
                    seed,
                };
                (terminals, family)
            }
            ("rows", &[terminals, wide, high]) => return Ok(Some(mesh(terminals, wide, high))),
            _ => return Ok(None),
        };
        plan.plan(terminals)
            .map(Some)
            .map_err(|error| error.to_string())
    }

    fn topology(&self) -> Result<Topology, String> {
        let shape = self.numbers("shape")?;
        if let Some(mut plan) = self.plan()? {
            if self.word("ways") == "one" {
                plan.routes = Some(one_way(&plan));
            } else {
                plan.ways = Ways::Minimal;
            }
            let graph = Graph::new(&plan, plan.seats.len() as u32);
            return graph.map(Into::into).map_err(|error| error.to_string());
        }
        let topology = match (self.word("topology"), &shape[..]) {
            ("torus", sizes) => Torus::new(sizes, sizes.iter().product(), true).map(Into::into),
            ("fat-tree", arities) => {
                let (down, up) = arities.split_at(arities.len().div_ceil(2));
                FatTree::new(down, up, down.iter().product()).map(Into::into)
            }
            ("dragonfly", &[terminals, group, global, groups]) => {
                let nodes = terminals * group * groups;
                let arities = fabric::topology::Arities {
                    terminals,
                    group,
                    global,
                    groups,
                };
                Dragonfly::new(arities, nodes, Misrouting::Minimal).map(Into::into)
            }
            (word, _) => return Err(format!("there is no topology {word} of such a shape")),
        };
        topology.map_err(|error| error.to_string())
    }

    fn config(&self) -> Result<Config, String> {
        let topology = self.topology()?;
        let levels = topology.levels();
        let delays = self.numbers("delays")?;
        let last = delays[delays.len() - 1];
        let turns: bool = self.number("turns")?;
        let delays = delays.into_iter().chain(std::iter::repeat(last));
        Ok(Config {
            hop_delay: delays.take(levels).collect(),
            channels: self.number("channels")?,
            buffer: self.number("buffer")?,
            packets_in_flight: u32::MAX,
            circuit: Circuit::Wormhole,
            ascent: self.one_of("ways", &ASCENTS)?,
            arbitration: if turns {
                Arbitration::RoundRobin
            } else {
                Arbitration::Age
            },
            multiplexing: if turns {
                Multiplexing::RoundRobin
            } else {
                Multiplexing::OldestFirst
            },
            // Ages count every cycle.
            age_bits: 32,
            age_cap: u32::MAX.into(),
            engine: self.one_of("engine", &ENGINES)?,
            ..Config::new(topology)
        })
    }
}

/// A mesh as a graph: switches row by row.
fn mesh(terminals: u32, wide: u32, high: u32) -> Plan {
    let at = |x: u32, y: u32| y * wide + x;
    let mut cables = Vec::new();
    for (x, y) in (0..high).flat_map(|y| (0..wide).map(move |x| (x, y))) {
        cables.extend((x + 1 < wide).then(|| (at(x, y), at(x + 1, y))));
        cables.extend((y + 1 < high).then(|| (at(x, y), at(x, y + 1))));
    }
    let switches = 0..wide * high;
    Plan {
        switches: switches.clone().map(|switch| switch.to_string()).collect(),
        seats: switches
            .flat_map(|switch| (0..terminals).map(move |_| switch))
            .collect(),
        cables,
        ..Plan::default()
    }
}

/// Tables with one shortest way for each pair, and as many hop classes as the longest has links: a
/// search from each switch, in which each other switch is met first from the lowest switch that is
/// nearer. `BookSim2`'s `anynet` has the same ways.
fn one_way(plan: &Plan) -> Routes {
    let mut joined = vec![BTreeSet::new(); plan.switches.len()];
    for &(a, b) in &plan.cables {
        joined[a as usize].insert(b);
        joined[b as usize].insert(a);
    }
    let homes: BTreeSet<u32> = plan.seats.iter().copied().collect();
    let mut routes = Routes {
        classes: 1,
        ..Routes::default()
    };
    for at in 0..joined.len() as u32 {
        // By switch: the links to it, and the first switch of the way.
        let mut met = BTreeMap::from([(at, (0, at))]);
        let mut level = BTreeSet::from([at]);
        while !level.is_empty() {
            let mut further = BTreeSet::new();
            for switch in level {
                let (links, first) = met[&switch];
                for &next in &joined[switch as usize] {
                    met.entry(next).or_insert_with(|| {
                        further.insert(next);
                        (links + 1, if links == 0 { next } else { first })
                    });
                }
            }
            level = further;
        }
        for (to, (links, next)) in met {
            if to != at && homes.contains(&to) {
                routes.classes = routes.classes.max(links);
                routes.entries.push(Entry {
                    at,
                    to: Target::Switch(to),
                    next: vec![next],
                });
            }
        }
    }
    routes
}

/// Where packets go.
enum Pattern {
    Uniform,
    Transpose,
    /// To the next group, with this many nodes.
    NextGroup(u32),
    /// In a torus with these sizes.
    Tornado(Vec<u32>),
}

impl Pattern {
    fn read(keys: &Keys) -> Result<Self, String> {
        let (topology, shape) = (keys.word("topology"), keys.numbers("shape")?);
        match (keys.word("pattern"), topology) {
            ("uniform", _) => Ok(Pattern::Uniform),
            ("transpose", _) => Ok(Pattern::Transpose),
            ("next-group", "dragonfly") => Ok(Pattern::NextGroup(shape[0] * shape[1])),
            ("tornado", "torus") => Ok(Pattern::Tornado(shape)),
            (word, _) => Err(format!("there is no pattern {word} for a {topology}")),
        }
    }

    fn destination(&self, node: u32, nodes: u32, random: &mut Stream) -> u32 {
        let mut any = |range| random.uniform_u64(0..u64::from(range)) as u32;
        match self {
            Pattern::Uniform => any(nodes),
            Pattern::Transpose => {
                let half = nodes.trailing_zeros() / 2;
                node >> half | (node << half & (nodes - 1))
            }
            Pattern::NextGroup(size) => ((node / size + 1) * size + any(*size)) % nodes,
            Pattern::Tornado(sizes) => {
                let (mut stride, mut to) = (1, 0);
                for size in sizes {
                    to += stride * ((node / stride % size + size.div_ceil(2) - 1) % size);
                    stride *= size;
                }
                to
            }
        }
    }
}

/// A packet's latencies.
struct Record {
    offered: Cycle,
    injected: Cycle,
    delivered: Cycle,
}

/// Packets that are offered to a fabric.
struct Traffic {
    fabric: Fabric,
    pattern: Pattern,
    flits: u32,
    /// The chance that a node offers a packet in a cycle.
    chance: f64,
    random: Stream,
    notices: Vec<Notice>,
}

impl Traffic {
    fn new(keys: &Keys) -> Result<Self, String> {
        let flits = keys.number("flits")?;
        let load: f64 = keys.number("load")?;
        Ok(Traffic {
            fabric: Fabric::new(keys.config()?),
            pattern: Pattern::read(keys)?,
            flits,
            chance: load / f64::from(flits),
            random: Stream::new(keys.number("seed")?, "network"),
            notices: Vec::new(),
        })
    }

    fn nodes(&self) -> u32 {
        self.fabric.topology().nodes()
    }

    fn packet(&self, source: u32, destination: u32) -> PacketSpec {
        PacketSpec {
            source: source.into(),
            destination: Place::new(destination).into(),
            flits: self.flits,
            priority: Priority::Low,
            traffic_class: 0,
            awaits_end: false,
            token: 0,
        }
    }

    /// Executes cycles up to `end`, and reports the packets that have ended.
    fn run_until(&mut self, end: Cycle, mut ended: impl FnMut(Record)) {
        while let Some(now) = self.fabric.advance(end, &mut self.notices) {
            for notice in self.notices.drain(..) {
                match notice {
                    Notice::Delivered(packet, ..) => {
                        self.fabric.acknowledge(now, packet, Ack::Accepted);
                    }
                    Notice::Acknowledged(record, _) => ended(Record {
                        offered: record.offered,
                        injected: record.injected,
                        delivered: record.delivered,
                    }),
                    Notice::Injected(_) => {}
                    Notice::Ended { .. } | Notice::Damaged(..) => {
                        unreachable!("no packet asks for its end, and nothing fails")
                    }
                }
            }
        }
    }

    /// Every node sends one packet to every node, one after the other.
    fn alone(mut self) -> Value {
        let nodes = self.nodes();
        let mut now = 0;
        let mut took = |source, destination| {
            let packet = self.packet(source, destination);
            self.fabric.offer(now + 1, packet);
            let mut found = None;
            now += 1 << 20;
            self.run_until(now, |record| {
                found = Some(record.delivered - record.injected);
            });
            found.expect("a packet alone is delivered")
        };
        let rows =
            (0..nodes).map(|source| (0..nodes).map(|to| took(source, to)).collect::<Vec<_>>());
        rows.collect::<Vec<_>>().into()
    }

    /// The cycles until a node's next packet: a draw in each cycle.
    fn gap(&mut self) -> Cycle {
        let chance = self.random.uniform_f64();
        1 + ((1.0 - chance).ln() / (1.0 - self.chance).ln()) as Cycle
    }

    fn under_load(mut self, warm_up: Cycle, cycles: Cycle) -> Result<Value, String> {
        if !(self.chance > 0.0 && self.chance < 1.0) {
            return Err("a node offers more than nothing, and less than a packet a cycle".into());
        }
        let nodes = self.nodes();
        let mut next: BinaryHeap<_> = (0..nodes).map(|node| Reverse((self.gap(), node))).collect();
        let (begin, end) = (warm_up, warm_up + cycles);
        let (mut delivered, mut done, mut waited, mut took) = (0_u64, 0_u64, 0, 0);
        let mut count = |record: Record| {
            done += 1;
            if (begin..end).contains(&record.delivered) {
                delivered += 1;
                took += record.delivered - record.injected;
                waited += record.injected - record.offered;
            }
        };
        while let Some(&Reverse((at, node))) = next.peek()
            && at < end
        {
            next.pop();
            self.run_until(at - 1, &mut count);
            let to = self.pattern.destination(node, nodes, &mut self.random);
            let packet = self.packet(node, to);
            self.fabric.offer(at, packet);
            let gap = self.gap();
            next.push(Reverse((at + gap, node)));
        }
        self.run_until(end, &mut count);
        let flits = f64::from(self.flits);
        let mean = |sum: Cycle| sum as f64 / delivered as f64;
        Ok(json!({
            "nodes": nodes,
            "offered": self.chance * flits,
            "accepted": delivered as f64 * flits / (cycles * u64::from(nodes)) as f64,
            "latency": mean(took),
            "latency_with_queue": mean(took + waited),
            "packets": done,
        }))
    }
}
