//! # How fast the simulator is
//!
//! Runs one case and prints its figures as a JSON line; `benches/bench.py` makes the table, on one
//! core.
//!
//! ```text
//! cargo bench -p elanite-experiment --bench speed -- \
//!     level=fabric levels=5 load=0.3 fabric.engine=flit
//! ```
//!
//! | key | usually | |
//! |---|---|---|
//! | `level` | `fabric` | `fabric`: switches and links, packets handed to adapters by a generator, as other network simulators do. `machine`: the shipped experiment `speed/uniform-64`, programs, adapters and buses included |
//! | `levels` | 3 | switch levels in the quaternary tree: 4, 16, 64, ... 65,536 nodes |
//! | `topology` | `fat-tree` | `other`: the first `4^levels` nodes in the network that the keys `topology.kind` and so on describe, at level `fabric` |
//! | `graph` | | a file with the cables for a network of kind `graph` |
//! | `load` | 0.3 | flits that each node offers in a cycle, on average; with `saturated`, each adapter always has a packet waiting |
//! | `pattern` | `uniform` | packet destinations: `uniform`, `hot-spot` (all to node 0), `transpose` (the halves of the node number exchanged) |
//! | `warm_up` | 2000 | cycles before those that count |
//! | `cycles` | 200000 | cycles that count |
//! | `faults` | `none` | faults that are listed and do not occur: `later`, a cable level that fails after the run, or `rare`, also bit errors in one bit in 10^15 |
//! | `regions` | 1 | regions into which the network is cut |
//! | `threads` | 1 | threads that work on the regions; see `wall_seconds` |
//!
//! Every other `KEY=VALUE` is a parameter of the machine `es40-qsnet` or, at level `machine`, of
//! the experiment. Packets are as long as full ones in the machine's format, 189 flits. At level
//! `fabric` they are drawn ahead, some thousand cycles at a time, while the clock stands: the
//! generator's time is not the engine's.

#![expect(clippy::disallowed_methods, reason = "threads save time of the clock")]

#[path = "speed/traffic.rs"]
mod traffic;

use config::{Override, Problems};
use cpu_time::ProcessTime;
use experiment::{Experiment, MachineFile, Point, plan, simulate};
use fabric::{Cycle, FaultConfig, LinkId};
use machine::Machine;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;
use toml_edit::DocumentMut;
use traffic::{Pattern, Traffic};
use units::{Bytes, Rate};

const MACHINE_FILE: &str = "es40-qsnet.toml";
const MACHINE: &str = include_str!("../../../machines/es40-qsnet.toml");
const EXPERIMENT: &str = include_str!("../../../experiments/speed/uniform-64.toml");

/// Faults that do not occur.
const LATER: &str = "[[fault]]\nlinks = \"level 1\"\nat = \"900 s\"\n";
const RARE: &str = "[[fault]]\nlinks = \"level 1\"\nat = \"900 s\"\n[[fault]]\nlinks = \"all\"\n\
    bit_error_rate = 1e-15\n";

/// This program's keys, and their defaults.
const KEYS: [(&str, &str); 11] = [
    ("level", "fabric"),
    ("levels", "3"),
    ("topology", "fat-tree"),
    ("graph", ""),
    ("load", "0.3"),
    ("pattern", "uniform"),
    ("warm_up", "2000"),
    ("cycles", "200000"),
    ("faults", "none"),
    ("regions", "1"),
    ("threads", "1"),
];

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

/// The figures for the case that the arguments describe.
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
        regions: number(&keys, "regions")?,
        threads: number(&keys, "threads")?,
    };
    if load.is_none() && case.regions > 1 {
        return Err("a saturated network has one region: packets are drawn when others go".into());
    }
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
        "digest": measured.digest,
        "set_up_seconds": measured.set_up_seconds,
        "cpu_seconds": measured.cpu_seconds,
        "regions": case.regions,
        "threads": case.threads,
        "wall_seconds": measured.wall_seconds,
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

/// This process's processor seconds so far.
fn processor_seconds() -> f64 {
    ProcessTime::now().as_duration().as_secs_f64()
}

/// This process's peak main memory, where the system reports it.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

/// The counted cycles' cost and traffic.
struct Measured {
    packets: u64,
    /// Links that the packets crossed; `None` at level `machine`.
    links: Option<u64>,
    events: u64,
    /// Over all packets, including those before the counted cycles.
    digest: String,
    set_up_seconds: f64,
    cpu_seconds: f64,
    wall_seconds: f64,
}

/// A machine and the load on it.
struct Case {
    levels: u32,
    /// Whether the network is the quaternary tree.
    is_tree: bool,
    load: Option<f64>,
    overrides: Vec<String>,
    /// A graph's cables, as a parameter.
    cables: Vec<String>,
    /// Network regions, and threads that work on them.
    regions: u32,
    threads: u32,
    /// The experiment's faults.
    faults: &'static str,
}

impl Case {
    fn nodes(&self) -> u64 {
        4_u64.saturating_pow(self.levels)
    }

    /// The parameters for the machine and for the experiment, the latter with some of ours.
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
        let mut text: DocumentMut = MACHINE.parse().expect("a shipped file is TOML");
        if !self.is_tree {
            let topology = text["topology"].as_table_mut().expect("a machine has it");
            topology.retain(|key, _| !["down", "up"].contains(&key));
        }
        Machine::parse(MACHINE_FILE, &text.to_string(), &overrides)
    }

    /// The fabric alone.
    fn fabric(&self, pattern: Pattern, warm_up: Cycle, cycles: Cycle) -> Result<Measured, String> {
        let machine = self.machine_as_changed().map_err(told)?;
        let mut config = machine.cluster_config();
        if !self.faults.is_empty() {
            let links = LinkId::all(config.fabric.topology.links());
            let rates = links.map(|link| (link, 1e-15));
            config.fabric.faults = Some(FaultConfig {
                timeout: 1_000_000,
                header_bits: 64,
                flit_bits: 16,
                token_bits: 16,
                bit_error_rates: rates.filter(|_| self.faults == RARE).collect(),
                seed: 1,
            });
        }
        (config.fabric.regions, config.fabric.threads) = (self.regions, self.threads);
        let begin = processor_seconds();
        let mut traffic = Traffic::new(&config, pattern, self.load);
        let set_up_seconds = processor_seconds() - begin;
        traffic.run_until(warm_up);
        let (before, events) = (traffic.sum(), traffic.events());
        let wall_seconds = traffic.wall_seconds;
        let cpu_seconds = traffic.run_until(warm_up + cycles);
        let after = traffic.sum();
        Ok(Measured {
            packets: after.acknowledged - before.acknowledged,
            links: Some(after.links - before.links),
            events: traffic.events() - events,
            digest: format!("{:016x}", after.digest),
            set_up_seconds,
            cpu_seconds,
            wall_seconds: traffic.wall_seconds - wall_seconds,
        })
    }

    /// The whole machine. A run is a function of its point, so that set-up and warm-up are separate
    /// runs, which are subtracted.
    fn machine(&self, warm_up: Cycle, cycles: Cycle) -> Result<Measured, String> {
        let run = |cycles| {
            let mut point = self.point(cycles).map_err(told)?;
            (point.regions, point.threads) = (self.regions, self.threads);
            let (begin, start) = (processor_seconds(), Instant::now());
            let records = simulate(&point, None).map_err(|error| error.to_string())?;
            let seconds = [processor_seconds() - begin, start.elapsed().as_secs_f64()];
            Ok::<_, String>((records, seconds))
        };
        let (_, [set_up_seconds, _]) = run(1)?;
        let (before, first) = run(warm_up)?;
        let (after, whole) = run(warm_up + cycles)?;
        Ok(Measured {
            packets: after.packets - before.packets,
            links: None,
            events: after.events - before.events,
            digest: after.digest,
            set_up_seconds,
            cpu_seconds: whole[0] - first[0],
            wall_seconds: whole[1] - first[1],
        })
    }

    /// The point that runs a number of cycles from the start.
    fn point(&self, cycles: Cycle) -> Result<Point, Problems> {
        let machine = self.machine_as_changed()?;
        let config = machine.cluster_config();
        let format = config.packet;
        // The load counts wire bytes; the experiment's counts payload.
        let [payload, wire] = [format.payload, format.wire(format.payload)].map(Bytes::as_u64);
        let share = self.load.unwrap_or(1.0) * payload as f64 / wire as f64;
        let load = machine.link.rate.value.fastest().as_bytes_per_second() as f64 * share;
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
