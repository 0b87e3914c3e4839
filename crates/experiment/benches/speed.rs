//! # How fast the simulator is
//!
//! Runs one case on one core and prints its figures as a line of JSON; `benches/bench.py` makes the table.
//!
//! ```text
//! cargo bench -p elanite-experiment --bench speed -- level=fabric levels=5 load=0.3 fabric.engine=flit
//! ```
//!
//! | key | usually | |
//! |---|---|---|
//! | `level` | `fabric` | `fabric`: switches and links, packets handed to adapters by a generator, as other network simulators do. `machine`: the shipped experiment `speed/uniform-64`, programs, adapters and buses included |
//! | `levels` | 3 | levels of switches of the quaternary tree: 4, 16, 64, ... 65,536 nodes |
//! | `topology` | `fat-tree` | `other`: the first `4^levels` nodes of the network that the keys `topology.kind` and so on describe, at the level of the fabric |
//! | `graph` | | a file with the cables of the network of kind `graph` |
//! | `load` | 0.3 | flits that each node offers in a cycle, on average; with `saturated`, each adapter always has a packet waiting |
//! | `pattern` | `uniform` | where packets go: `uniform`, `hot-spot` (all to node 0), `transpose` (the halves of the node's number exchanged) |
//! | `warm_up` | 2000 | cycles before those that count |
//! | `cycles` | 200000 | cycles that count |
//! | `faults` | `none` | what is listed, and does not occur: `later`, a level of cables that fail after the run, or `rare`, bit errors of one bit in 10^15 besides |
//!
//! Every other `KEY=VALUE` is a parameter of the machine `es40-qsnet` or, at the level of the machine, of the experiment.
//! Packets are as long as the machine's format makes full ones, 189 flits. At the level of the fabric they are drawn ahead,
//! some thousand cycles at a time, while the clock stands: what the generator needs is not the engine's.

use config::{Override, Problems};
use cpu_time::ProcessTime;
use experiment::{Experiment, MachineFile, Point, plan, simulate};
use fabric::{Ack, Cycle, Fabric, Faults, LinkId, Notice, PacketSpec, Priority};
use kernel::random::Stream;
use machine::Machine;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::process::ExitCode;
use std::str::FromStr;
use units::{Bytes, Rate};

const MACHINE_FILE: &str = "es40-qsnet.toml";
const MACHINE: &str = include_str!("../../../machines/es40-qsnet.toml");
const EXPERIMENT: &str = include_str!("../../../experiments/speed/uniform-64.toml");

/// Faults that do not occur.
const LATER: &str = "[[fault]]\nlinks = \"level 1\"\nat = \"900 s\"\n";
const RARE: &str = "[[fault]]\nlinks = \"level 1\"\nat = \"900 s\"\n[[fault]]\nlinks = \"all\"\nbit_error_rate = 1e-15\n";

/// The keys of this program, and what they usually are.
const KEYS: [(&str, &str); 9] = [
    ("level", "fabric"),
    ("levels", "3"),
    ("topology", "fat-tree"),
    ("graph", ""),
    ("load", "0.3"),
    ("pattern", "uniform"),
    ("warm_up", "2000"),
    ("cycles", "200000"),
    ("faults", "none"),
];

fn main() -> ExitCode {
    // Cargo adds a `--bench` of its own.
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

/// The figures of the case that the words describe.
fn row(words: impl Iterator<Item = String>) -> Result<Value, String> {
    let mut keys: BTreeMap<&str, String> = KEYS.map(|(key, value)| (key, value.into())).into();
    let mut overrides = Vec::new();
    for word in words {
        let change = Override::parse(&word).map_err(told)?;
        match keys.get_mut(change.key.as_str()) {
            Some(value) => *value = change.value,
            None => overrides.push(word),
        }
    }
    let mut cables = Vec::new();
    if !keys["graph"].is_empty() {
        let file = &keys["graph"];
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        cables.push(format!("topology.cables={}", Value::from(text)));
    }
    let levels = number(&keys, "levels")?;
    let load = match keys["load"].as_str() {
        "saturated" => None,
        _ => Some(number(&keys, "load")?),
    };
    let (warm_up, cycles) = (number(&keys, "warm_up")?, number(&keys, "cycles")?);
    let is_tree = match keys["topology"].as_str() {
        "fat-tree" => true,
        "other" => false,
        word => {
            return Err(format!(
                "there is no topology `{word}`; there are: fat-tree, other"
            ));
        }
    };
    let case = Case {
        levels,
        is_tree,
        load,
        overrides,
        cables,
        faults: listed(&keys["faults"])?,
    };
    let measured = match keys["level"].as_str() {
        "fabric" => case.fabric(keys["pattern"].parse()?, warm_up, cycles)?,
        "machine" if !is_tree => return Err("the machine runs on a fat tree only".into()),
        "machine" if keys["pattern"] == "uniform" => case.machine(warm_up, cycles)?,
        "machine" => return Err("the machine runs the pattern `uniform` only".into()),
        other => {
            return Err(format!(
                "there is no level `{other}`; there are: fabric, machine"
            ));
        }
    };
    Ok(json!({
        "level": keys["level"],
        "pattern": keys["pattern"],
        "nodes": case.nodes(),
        "load": load,
        "set": case.overrides,
        "faults": keys["faults"],
        "cycles": cycles,
        "packets": measured.packets,
        "links": measured.links,
        "events": measured.events,
        "set_up_seconds": measured.set_up_seconds,
        "cpu_seconds": measured.cpu_seconds,
        "peak_memory_bytes": peak_memory_bytes(),
    }))
}

/// The faults that a word lists, as an experiment file has them.
fn listed(word: &str) -> Result<&'static str, String> {
    match word {
        "none" => Ok(""),
        "later" => Ok(LATER),
        "rare" => Ok(RARE),
        _ => Err(format!(
            "there are no faults `{word}`; there are: none, later, rare"
        )),
    }
}

/// A number above 0.
fn number<T: FromStr + Default + PartialOrd>(
    keys: &BTreeMap<&str, String>,
    key: &str,
) -> Result<T, String> {
    let value = keys[key].parse().ok().filter(|value| *value > T::default());
    value.ok_or_else(|| format!("{key}={} is not a number above 0, or too large", keys[key]))
}

#[allow(clippy::needless_pass_by_value)] // for `map_err`
fn told(problems: Problems) -> String {
    let text = problems.render(false);
    text.trim_start_matches("error: ").to_string()
}

/// Processor seconds of this process so far.
fn processor_seconds() -> f64 {
    ProcessTime::now().as_duration().as_secs_f64()
}

/// The most main memory that this process has used, where the system tells.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

/// What the cycles that count took and moved.
struct Measured {
    packets: u64,
    /// Links that the packets crossed; none of the whole machine.
    links: Option<u64>,
    events: u64,
    set_up_seconds: f64,
    cpu_seconds: f64,
}

/// A machine and the load on it.
struct Case {
    levels: u32,
    /// Whether the network is the quaternary tree.
    is_tree: bool,
    load: Option<f64>,
    overrides: Vec<String>,
    /// The cables of a graph, as a parameter.
    cables: Vec<String>,
    /// The faults of the experiment.
    faults: &'static str,
}

impl Case {
    fn nodes(&self) -> u64 {
        4_u64.saturating_pow(self.levels)
    }

    /// The parameters of the machine and of the experiment, the latter with some of ours.
    fn overrides(&self, ours: &[String]) -> Result<[Vec<Override>; 2], Problems> {
        let arities = |levels: u32| format!("[{}]", vec!["4"; levels as usize].join(", "));
        let mut network = vec![format!("topology.nodes={}", self.nodes())];
        if self.is_tree {
            network.push(format!("topology.down={}", arities(self.levels)));
            network.push(format!("topology.up={}", arities(self.levels - 1)));
        }
        let all = network.iter().chain(ours).chain(&self.cables);
        let all = all.chain(&self.overrides);
        let all: Result<Vec<_>, _> = all.map(|text| Override::parse(text)).collect();
        let (experiment, machine): (Vec<_>, Vec<_>) = all?
            .into_iter()
            .partition(|change| Experiment::owns(&change.key));
        Ok([machine, experiment])
    }

    fn machine_as_changed(&self) -> Result<Machine, Problems> {
        let [overrides, _] = self.overrides(&[])?;
        let of_tree = |line: &&str| line.starts_with("down = ") || line.starts_with("up = ");
        let lines = MACHINE
            .lines()
            .filter(|line| self.is_tree || !of_tree(line));
        let text: Vec<&str> = lines.collect();
        Machine::parse(MACHINE_FILE, &text.join("\n"), &overrides)
    }

    /// The fabric alone.
    fn fabric(&self, pattern: Pattern, warm_up: Cycle, cycles: Cycle) -> Result<Measured, String> {
        let machine = self.machine_as_changed().map_err(told)?;
        let mut config = machine.cluster_config();
        if !self.faults.is_empty() {
            let links = LinkId::all(config.fabric.topology.links());
            let rates = links.map(|link| (link, 1e-15));
            config.fabric.faults = Some(Faults {
                timeout: 1_000_000,
                header_bits: 64,
                flit_bits: 16,
                token_bits: 16,
                bit_error_rates: rates.filter(|_| self.faults == RARE).collect(),
                seed: 1,
            });
        }
        let begin = processor_seconds();
        let mut traffic = Traffic::new(&config, pattern, self.load);
        let set_up_seconds = processor_seconds() - begin;
        traffic.run_until(warm_up);
        let (packets, links, events) = (traffic.acknowledged, traffic.links, traffic.events());
        let cpu_seconds = traffic.run_until(warm_up + cycles);
        Ok(Measured {
            packets: traffic.acknowledged - packets,
            links: Some(traffic.links - links),
            events: traffic.events() - events,
            set_up_seconds,
            cpu_seconds,
        })
    }

    /// The whole machine. A run is a function of its point, so that set-up and warm-up are runs of their own, which are
    /// subtracted.
    fn machine(&self, warm_up: Cycle, cycles: Cycle) -> Result<Measured, String> {
        let run = |cycles| {
            let point = self.point(cycles).map_err(told)?;
            let begin = processor_seconds();
            let records = simulate(&point, None).map_err(|error| error.to_string())?;
            Ok::<_, String>((records, processor_seconds() - begin))
        };
        let (_, set_up_seconds) = run(1)?;
        let (before, first) = run(warm_up)?;
        let (after, whole) = run(warm_up + cycles)?;
        Ok(Measured {
            packets: after.packets - before.packets,
            links: None,
            events: after.events - before.events,
            set_up_seconds,
            cpu_seconds: whole - first,
        })
    }

    /// The point that runs so many cycles from the start.
    fn point(&self, cycles: Cycle) -> Result<Point, Problems> {
        let machine = self.machine_as_changed()?;
        let config = machine.cluster_config();
        let format = config.packet;
        // The load is of the wire; the experiment's is of payload.
        let [payload, wire] = [format.payload, format.wire(format.payload)].map(Bytes::as_u64);
        let share = self.load.unwrap_or(1.0) * payload as f64 / wire as f64;
        let load = machine.link.rate.value.as_bytes_per_second() as f64 * share;
        let ours = [
            format!("series.load.nodes={}", self.nodes()),
            format!(
                "series.load.load={}",
                Rate::from_bytes_per_second(load as u64)
            ),
            "run.warm_up=0 s".to_string(),
            format!("run.window={}", config.cycle * cycles),
            "run.batches=1".to_string(),
        ];
        let [machine, overrides] = self.overrides(&ours)?;
        let machine = MachineFile {
            file: MACHINE_FILE,
            text: MACHINE,
            overrides: &machine,
        };
        let text = format!("{EXPERIMENT}\n{}", self.faults);
        let (experiment, document) = Experiment::parse("speed/uniform-64.toml", &text, &overrides)?;
        let points = plan("speed/uniform-64", (&experiment, &document), &machine, 1)?;
        Ok(points.into_iter().next().expect("a series has a point"))
    }
}

/// Cycles for which packets are drawn at a time.
const AHEAD: Cycle = 8192;

/// Where the packets of a node go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Uniform,
    HotSpot,
    Transpose,
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "uniform" => Ok(Pattern::Uniform),
            "hot-spot" => Ok(Pattern::HotSpot),
            "transpose" => Ok(Pattern::Transpose),
            _ => Err(format!(
                "there is no pattern `{text}`; there are: uniform, hot-spot, transpose"
            )),
        }
    }
}

impl Pattern {
    /// Where the next packet of a node goes, among `nodes`; a node that is its own destination is silent.
    fn destination(self, node: u32, nodes: u32, random: &mut Stream) -> u32 {
        match self {
            Pattern::Uniform => {
                let draw = random.uniform_u64(0..u64::from(nodes) - 1) as u32;
                if draw < node { draw } else { draw + 1 }
            }
            Pattern::HotSpot => 0,
            Pattern::Transpose => {
                let half = nodes.trailing_zeros() / 2;
                node >> half | (node << half & (nodes - 1))
            }
        }
    }
}

/// Packets that are offered to a fabric and answered.
struct Traffic {
    fabric: Fabric,
    pattern: Pattern,
    flits: u32,
    /// Cycles from a delivery to its acknowledgement.
    turnaround: Cycle,
    random: Stream,
    /// Mean cycles between two packets of a node; none if each adapter always has one waiting.
    gap: Option<f64>,
    /// When each node offers its next packet.
    next: BinaryHeap<Reverse<(Cycle, u32)>>,
    /// Packets drawn ahead, the latest first.
    drawn: Vec<(Cycle, PacketSpec)>,
    drawn_until: Cycle,
    notices: Vec<Notice>,
    acknowledged: u64,
    /// Links that the acknowledged packets crossed.
    links: u64,
}

impl Traffic {
    /// Events of the control plane and of the mover.
    fn events(&self) -> u64 {
        self.fabric.events() + self.fabric.motion_events()
    }

    fn new(config: &elan::Config, pattern: Pattern, load: Option<f64>) -> Self {
        let format = config.packet;
        let flits = format.flits(format.payload);
        let gap = load.map(|load| f64::from(flits) / load);
        let mut random = Stream::new(1, "bench");
        let fabric = Fabric::new(config.fabric.clone());
        let nodes = fabric.topology().nodes();
        let mut next = BinaryHeap::new();
        for node in 0..nodes {
            let first = random.uniform_f64() * gap.unwrap_or(flits.into());
            if pattern.destination(node, nodes, &mut random) != node {
                next.push(Reverse((1 + first as Cycle, node)));
            }
        }
        Traffic {
            fabric,
            pattern,
            flits,
            turnaround: config.adapter.turnaround.div_ceil(config.cycle),
            random,
            gap,
            next,
            drawn: Vec::new(),
            drawn_until: 0,
            notices: Vec::new(),
            acknowledged: 0,
            links: 0,
        }
    }

    /// Runs to a cycle, that cycle included. Returns the processor seconds without those of drawing packets.
    fn run_until(&mut self, end: Cycle) -> f64 {
        let mut seconds = 0.0;
        while self.drawn_until < end {
            self.drawn_until = end.min(self.drawn_until + AHEAD);
            self.draw(self.drawn_until);
            let begin = processor_seconds();
            self.run_drawn(self.drawn_until);
            seconds += processor_seconds() - begin;
        }
        seconds
    }

    /// Draws the packets that are offered by a cycle.
    fn draw(&mut self, end: Cycle) {
        while let Some(&Reverse((at, node))) = self.next.peek()
            && at <= end
        {
            self.next.pop();
            let packet = self.packet(node);
            self.drawn.push((at, packet));
            if let Some(gap) = self.gap {
                let gap = self.random.exponential(gap).round().max(1.0) as Cycle;
                self.next.push(Reverse((at + gap, node)));
            }
        }
        self.drawn.reverse();
    }

    fn run_drawn(&mut self, end: Cycle) {
        loop {
            let next = self.drawn.last().map_or(Cycle::MAX, |&(at, _)| at);
            if let Some(now) = self.fabric.advance(end.min(next - 1), &mut self.notices) {
                self.hear(now);
            } else if let Some((now, packet)) = self.drawn.pop() {
                self.fabric.offer(now, packet);
            } else {
                return;
            }
        }
    }

    fn packet(&mut self, source: u32) -> PacketSpec {
        let nodes = self.fabric.topology().nodes();
        PacketSpec {
            source: source.into(),
            destination: self
                .pattern
                .destination(source, nodes, &mut self.random)
                .into(),
            flits: self.flits,
            priority: Priority::Low,
            traffic_class: 0,
            awaits_end: false,
            token: 0,
        }
    }

    fn hear(&mut self, now: Cycle) {
        let mut notices = std::mem::take(&mut self.notices);
        for notice in notices.drain(..) {
            match notice {
                Notice::Injected(packet) => {
                    if self.gap.is_none() {
                        let packet = self.packet(packet.source.get());
                        self.fabric.offer(now + 1, packet);
                    }
                }
                Notice::Delivered(packet, ..) => {
                    let at = now + self.turnaround;
                    self.fabric.acknowledge(at, packet, Ack::Accepted);
                }
                Notice::Acknowledged(record, _) => {
                    self.acknowledged += 1;
                    self.links += u64::from(record.links);
                }
                Notice::Ended { .. } => unreachable!("no packet asks for it"),
                Notice::Damaged(..) => unreachable!("no part of this machine fails"),
            }
        }
        self.notices = notices;
    }
}
