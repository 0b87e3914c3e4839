//! # Rules from outside: traffic in bursts, and rails by flow hash
//!
//! Two rules that Elanite does not have, in one file:
//!
//! * `bursts`, a traffic source. Messages arrive in bursts of [`BURST`], one immediately behind the
//!   other; the gaps between bursts keep the job's mean load.
//! * `hash`, a rail policy. Each node pair has one rail, as each flow has one path under ECMP (RFC
//!   2992): the working rail with the highest hash for the pair, so that a failure moves only the
//!   failed rail's flows.
//!
//! ```text
//! cargo build --release -p flows
//! export ELANITE_SIMULATOR=target/release/flows
//! elanite run examples/flows/flows.toml                            # points, store, figures
//! elanite sweep examples/flows/flows.toml --vary rails.count=2,4
//! cargo test -p flows
//! ```

use elan::{NodeId, Rail};
use experiment::program;
use kernel::random::Stream;
use rails::{
    Candidates, Host, Kind, Knowledge, PickFuture, Policy, RailMessage, RailPick, RailPolicy,
};
use std::future::ready;
use std::process::ExitCode;
use units::{Bytes, Time};
use workload::source::{JobOffer, Message, TrafficSource};

fn main() -> ExitCode {
    register();
    program::main()
}

fn register() {
    workload::source::register("bursts", |offered| Box::new(Bursts::new(offered)));
    rails::register(Policy {
        kind: HASH,
        make: |_| Box::new(Hash),
    });
}

/// Messages per burst.
const BURST: u64 = 8;

/// Message bursts with the job's mean size.
struct Bursts {
    size: Bytes,
    /// From one burst to the next, on average.
    gap: Time,
    /// When the burst begins.
    begin: Time,
    /// The burst's messages that have arrived.
    arrived: u64,
    draws: Stream,
}

impl Bursts {
    fn new(offered: &JobOffer<'_>) -> Self {
        let mut bursts = Bursts {
            size: offered.message,
            gap: offered.load.time(offered.message * BURST),
            begin: Time::ZERO,
            arrived: 0,
            draws: Stream::new(offered.seed, &format!("{}/bursts", offered.path)),
        };
        // Each process begins at its own moment.
        bursts.wait();
        bursts
    }

    /// The start of the next burst, after half to one and a half mean gaps.
    fn wait(&mut self) {
        let part = 0.5 + self.draws.uniform_f64();
        self.begin += Time::from_ps((self.gap.as_ps() as f64 * part) as u64);
        self.arrived = 0;
    }
}

impl TrafficSource for Bursts {
    fn next(&mut self) -> Message {
        if self.arrived == BURST {
            self.wait();
        }
        let arrival = self.begin + Time::from_ps(self.arrived);
        self.arrived += 1;
        let size = self.size;
        Message { arrival, size }
    }
}

/// Rails by a hash over source and destination. It does not use the rail status.
const HASH: Kind = Kind {
    name: "hash",
    about: "Each pair of nodes has one rail.",
    knows: Knowledge::Links,
    short: Candidates::All,
    long: Candidates::All,
};

struct Hash;

impl RailPolicy for Hash {
    fn pick<'a>(&'a mut self, message: RailMessage, host: &'a Host) -> PickFuture<'a> {
        let rail = rail_of(host.node(), message.to, host.up());
        let pick = rail.map(|rail| vec![RailPick::shared(rail)]);
        Box::pin(ready(pick.ok_or_else(|| host.no_rail(message))))
    }
}

/// A pair's rail among the working rails.
fn rail_of(from: NodeId, to: NodeId, up: Vec<Rail>) -> Option<Rail> {
    up.into_iter()
        .max_by_key(|rail| hash([from.get(), to.get(), rail.get()]))
}

/// FNV-1a over the bytes of some numbers, with the finish of `MurmurHash3` (`fmix64`).
fn hash(numbers: [u32; 3]) -> u64 {
    let bytes = numbers.into_iter().flat_map(u32::to_le_bytes);
    let fnv = bytes.fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::calls::CallFailure;
    use experiment::program::answer;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;
    use units::Rate;
    use workload::Distribution::Fixed;

    const MACHINE: &str = include_str!("../../machines/smart-multirail.toml");
    const EXPERIMENT: &str = include_str!("flows.toml");

    fn bursts(load: Rate) -> Bursts {
        Bursts::new(&JobOffer {
            seed: 1,
            path: "node 0",
            message: Bytes::from_kb(4),
            sizes: Fixed,
            load,
            arrivals: Fixed,
        })
    }

    /// A thousand bursts have the job's load; the standard error of the mean gap is 0.9%.
    #[test]
    fn bursts_have_the_load_of_the_job() {
        let load = Rate::from_mb_per_second(100);
        let mut source = bursts(load);
        let messages: Vec<Message> = (0..1000 * BURST).map(|_| source.next()).collect();
        let sent: Bytes = messages.iter().map(|message| message.size).sum();
        let last = messages[messages.len() - 1].arrival;
        let part = Rate::of(sent, last) / load.as_mb_per_second_f64();
        assert!((0.97..1.03).contains(&part), "{part}");
        let close = messages
            .windows(2)
            .filter(|pair| pair[1].arrival - pair[0].arrival == Time::from_ps(1));
        assert_eq!(close.count() as u64, 1000 * (BURST - 1));
    }

    /// All rails have their part of 128 × 127 flows, and a failure moves only its rail's flows.
    #[test]
    fn a_failure_moves_only_the_flows_of_its_rail() {
        let all: Vec<Rail> = Rail::all(4).collect();
        let up: Vec<Rail> = all.iter().copied().filter(|rail| rail.get() != 2).collect();
        let mut flows = BTreeMap::new();
        let nodes = || NodeId::all(128);
        for (from, to) in nodes().flat_map(|from| nodes().map(move |to| (from, to))) {
            let before = rail_of(from, to, all.clone()).expect("four rails");
            let after = rail_of(from, to, up.clone()).expect("three rails");
            assert!(before == after || before == Rail::new(2));
            *flows.entry(before).or_insert(0) += 1;
        }
        let even = 128 * 128 / 4;
        assert!(
            flows
                .values()
                .all(|&count: &u32| count.abs_diff(even) < even / 20),
            "{flows:?}"
        );
        assert_eq!(rail_of(NodeId::new(0), NodeId::new(1), Vec::new()), None);
    }

    /// The experiment's points, with changes.
    fn plan(experiment: &str, changes: &[&str]) -> Result<Value, CallFailure> {
        register();
        let files = json!([
            MACHINE,
            "machine",
            "smart-multirail",
            experiment,
            "flows.toml",
            changes,
            1
        ]);
        answer("plan", &files.to_string())
    }

    /// A metric's values in a point's results.
    fn values(point: &Value, wanted: &str) -> Vec<f64> {
        let records = answer("simulate", &json!([point[0]]).to_string()).expect("it runs");
        let rows = &records["tables"]["rows"];
        let column = |name: &str| rows[name][1].as_array().expect("a column").clone();
        let rows = column("metric").into_iter().zip(column("value"));
        rows.filter(|(metric, _)| metric == wanted)
            .map(|(_, value)| value.as_f64().expect("a number"))
            .collect()
    }

    /// A burst's messages wait for each other, since a process sends one at a time. Where a node's
    /// load is half a rail, a flow waits longer for its one rail than for rails in turn.
    #[test]
    fn the_experiment_runs() {
        let short = ["run.warm_up=500 us", "run.window=500 us"];
        let planned = plan(EXPERIMENT, &short).expect("both files are right");
        let points = planned.as_array().expect("a list");
        let latencies = points.iter().map(|point| values(point, "latency_mean")[0]);
        let latencies: Vec<f64> = latencies.map(f64::round).collect();
        // By series, policy and load, in microseconds.
        let [_, turn, _, hash, _, turn_of_bursts, _, hash_of_bursts] = latencies[..] else {
            panic!("eight points");
        };
        assert!(turn < hash && turn_of_bursts < hash_of_bursts && 2.0 * hash < turn_of_bursts);
        assert_eq!(latencies, [13.0, 16.0, 14.0, 25.0, 51.0, 60.0, 46.0, 69.0]);
    }

    /// A source's name is part of a point's identity.
    #[test]
    fn a_source_makes_other_points() {
        let keys = |source: &str| {
            let changed = EXPERIMENT.replace("source = \"bursts\"", source);
            let planned = plan(&changed, &[]).expect("both files are right");
            let points = planned.as_array().expect("a list").clone();
            points.into_iter().map(|point| point[1].to_string())
        };
        let (with, without) = (keys("source = \"bursts\""), keys(""));
        assert!(
            with.zip(without)
                .skip(4)
                .all(|(with, without)| with != without)
        );
    }

    /// An error names the rules that the program has.
    #[test]
    fn an_unknown_name_is_an_error() {
        let source = EXPERIMENT.replace("\"bursts\"", "\"trains\"");
        let policy = EXPERIMENT.replace("\"hash\"", "\"hashed\"");
        for (experiment, message, allowed) in [
            (&source, "no traffic source `trains`", "allowed: bursts"),
            (
                &policy,
                "rails.policy",
                "static, basic, local-dynamic, dynamic, hybrid, hash",
            ),
        ] {
            let Err(CallFailure::Config(text, _)) = plan(experiment, &[]) else {
                panic!("{experiment} is wrong");
            };
            assert!(text.contains(message) && text.contains(allowed), "{text}");
        }
    }
}
