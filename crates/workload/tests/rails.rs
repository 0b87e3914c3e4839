//! Jobs over several rails, in several processes per node.
#![allow(clippy::float_cmp)] // equal results are equal to the last bit

use crate::common;

use common::cluster;
use common::multirail::{multirail, policies};
use elan::{Config, NodeId, Placement};
use fabric::Engine;
use kernel::statistics::Interval;
use rails::policies::{BASIC, DYNAMIC, HYBRID, LOCAL_DYNAMIC, STATIC};
use rails::{Choice, Kind};
use units::{Bytes, Rate, Time};
use workload::{Distribution, Job, Pattern, RailFailure, Records, Traffic, Window};

const NODES: u32 = 6;

/// Six nodes on four rails: as many as static allocation connects.
fn machine(policy: Kind) -> Config {
    multirail(NODES, 4, policy)
}

/// The machine with local-dynamic allocation that picks rails when messages are generated.
fn generated() -> Config {
    let mut config = machine(LOCAL_DYNAMIC);
    config.rails.as_mut().expect("it has rails").choice = Choice::Generated;
    config
}

fn uniform(load: u64, processes: u32) -> Job {
    Job {
        name: "uniform".into(),
        nodes: NodeId::all(NODES).collect(),
        pattern: Pattern::Uniform,
        servers: Vec::new(),
        message: Bytes::from_kb(4),
        sizes: Distribution::Exponential,
        arrivals: Distribution::Exponential,
        source: None,
        load: Rate::from_mb_per_second(load),
        writes: 1.0,
        memory: Placement::Adapter,
        processes,
        traffic_class: 0,
    }
}

const WINDOW: Window = Window {
    warm_up: Time::from_us(100),
    length: Time::from_ms(1),
    batches: 5,
    slices: 0,
    watch: Time::ZERO,
    precision: None,
};

fn run(config: &Config, job: &Job, window: Window, seed: u64) -> Records {
    run_with(config, job, None, window, seed)
}

/// Runs a job while a rail fails.
fn run_with(
    config: &Config,
    job: &Job,
    failure: Option<RailFailure>,
    window: Window,
    seed: u64,
) -> Records {
    let jobs = vec![job.clone()];
    let traffic = Traffic { jobs, failure };
    traffic.run(cluster(config), window, seed).expect("it ends")
}

/// A node's load is the job's, however many processes share it, and all of it is accepted.
#[test]
fn processes_share_the_load() {
    for policy in [None, Some(BASIC), Some(HYBRID)] {
        let mut config = machine(policy.unwrap_or(BASIC));
        if policy.is_none() {
            config = multirail(NODES, 1, BASIC);
            config.rails = None;
        }
        // The warm-up is longer than any process's mean gap: before that, more than the load
        // arrives, as the first messages come at evenly spread moments.
        let window = Window {
            warm_up: Time::from_ms(30),
            length: Time::from_ms(20),
            ..WINDOW
        };
        for processes in [1, 3, 16, 256] {
            let records = run(&config, &uniform(40, processes), window, 1);
            let offered = records.mean("offered");
            // About 1,170 messages: four standard errors are 17%.
            assert!((offered / 40.0 - 1.0).abs() < 0.17, "{offered}");
            let accepted = Interval::of(&records.values("accepted"));
            assert!(
                accepted.low <= offered && offered <= accepted.high,
                "{policy:?}, {processes} processes: {accepted:?} of {offered}"
            );
            assert_eq!(records.values("saturated"), [0.0]);
            assert_eq!(
                records.tables.nodes.len(),
                NODES as usize,
                "a row for a node"
            );
        }
    }
}

/// Each process draws its own numbers: if two send equal messages in step, one may have sent one
/// message more.
#[test]
fn processes_draw_apart() {
    let job = Job {
        sizes: Distribution::Fixed,
        ..uniform(100, 2)
    };
    let records = run(&machine(BASIC), &job, WINDOW, 1);
    let message = 4096.0 / WINDOW.length.as_us_f64();
    let counts = records
        .tables
        .nodes
        .iter()
        .map(|node| node.offered / message);
    let counts: Vec<f64> = counts.collect();
    let whole = |count: &f64| (count - count.round()).abs() < 1e-6;
    assert!(counts.iter().all(whole), "{counts:?}");
    let odd = |count: &&f64| count.round() as u64 % 2 == 1;
    assert!(counts.iter().filter(odd).count() > 0, "{counts:?}");
}

/// Message arrivals depend on the seed only, not on the policy that carries them: all policies get
/// the same load.
#[test]
fn all_policies_are_offered_the_same() {
    let offered = |policy, processes| {
        let records = run(&machine(policy), &uniform(200, processes), WINDOW, 3);
        records.values("offered")
    };
    for processes in [1, 4] {
        let first = offered(STATIC, processes);
        for policy in policies() {
            assert_eq!(offered(policy, processes), first, "{policy:?}");
        }
        let records = run(&generated(), &uniform(200, processes), WINDOW, 3);
        assert_eq!(records.values("offered"), first, "generated");
    }
}

/// Under the basic policy a single rail makes a machine without a choice: every packet is the same.
/// Only the rows that a machine with `[rails]` adds differ.
#[test]
fn one_rail_is_no_choice() {
    let with = multirail(NODES, 1, BASIC);
    let without = Config {
        rails: None,
        ..with.clone()
    };
    for (load, processes) in [(60, 1), (60, 4), (350, 4)] {
        let job = uniform(load, processes);
        let [with, without] = [&with, &without].map(|config| run(config, &job, WINDOW, 1));
        assert_eq!(with.tables.nodes, without.tables.nodes);
        assert_eq!(with.tables.links, without.tables.links);
        assert_eq!(with.tables.switches, without.tables.switches);
        assert_eq!(
            (with.packets, with.events, with.simulated),
            (without.packets, without.events, without.simulated)
        );
        let own = ["accepted_part", "offered_part", "latency_cycles"];
        let (own, common): (Vec<_>, Vec<_>) = with
            .tables
            .rows
            .into_iter()
            .partition(|row| own.contains(&row.metric));
        assert_eq!(common, without.tables.rows);
        assert_eq!(own.len(), 2 * WINDOW.batches as usize + 1);
    }
}

/// Loads as fractions of the capacity of a node's links, all rails together, and latencies in 5 ns
/// cycles (coll2003 s5.3).
#[test]
fn the_measures_of_the_paper() {
    let records = run(&machine(DYNAMIC), &uniform(200, 4), WINDOW, 1);
    for metric in ["accepted", "offered"] {
        let loads = records.values(metric);
        let parts = records.values(&format!("{metric}_part"));
        assert_eq!(loads.len(), parts.len());
        for (load, part) in loads.iter().zip(&parts) {
            assert!((load / 1600.0 - part).abs() < 1e-12, "{load} is {part}");
        }
    }
    let cycles = records.mean("latency_cycles");
    assert!((records.mean("latency_mean") * 200.0 - cycles).abs() < 1e-6);
}

/// Equal seeds make equal runs, others do not, and the flit engine agrees with the worm engine: by
/// every policy, from either memory, also where a rail fails, where rails are picked when messages
/// are generated, and with messages that are not cut.
#[test]
fn equal_runs_are_equal() {
    let mut whole = machine(DYNAMIC);
    whole.packet.payload = Bytes::from_mb(512);
    whole.packet.transaction = whole.packet.payload;
    let machines = policies()
        .into_iter()
        .map(|policy| (policy, machine(policy)));
    let others = [(LOCAL_DYNAMIC, generated()), (DYNAMIC, whole)];
    for (policy, config) in machines.chain(others) {
        for memory in [Placement::Adapter, Placement::Main] {
            let job = Job {
                memory,
                ..uniform(400, 3)
            };
            let (rail, at) = (1, Time::from_us(150));
            let failure = (policy != STATIC).then_some(RailFailure { rail, at });
            let window = Window {
                length: Time::from_us(200),
                batches: 2,
                ..WINDOW
            };
            let run = |config, seed| run_with(config, &job, failure, window, seed);
            let records = run(&config, 1);
            assert_eq!(records, run(&config, 1), "{policy:?}");
            assert_ne!(records.digest, run(&config, 2).digest);
            let mut flits = config.clone();
            flits.fabric.engine = Engine::Flit;
            assert_eq!(records, run(&flits, 1), "{policy:?}");
        }
    }
}

/// At light loads no message waits in a process, and a message takes the same rails whenever they
/// are picked. At heavy loads the status is as old as the wait, and less is accepted.
#[test]
fn what_is_generated_waits_with_its_rails() {
    let sent = machine(LOCAL_DYNAMIC);
    let one = Job {
        load: Rate::from_mb_per_second(1),
        ..uniform(1, 1)
    };
    let window = Window {
        length: Time::from_ms(4),
        ..WINDOW
    };
    let light = [&sent, &generated()].map(|config| run(config, &one, window, 1));
    assert!(light[0].values("messages")[0] > 0.0);
    assert_eq!(light[0].tables.rows, light[1].tables.rows);
    let heavy = [sent, generated()].map(|mut config| {
        config.rails.as_mut().expect("it has rails").striping = 0.0;
        run(&config, &uniform(1000, 4), window, 1).mean("accepted")
    });
    let [sent, generated] = heavy;
    assert!(generated < 0.95 * sent, "{generated} of {sent}");
}

/// A load that three rails carry continues when the fourth fails in the middle of the window. A
/// stripe's bytes that a failed rail has already brought count again when other rails bring them: a
/// message for each process, at most.
#[test]
fn a_failure_does_not_stop_a_job() {
    for policy in [BASIC, LOCAL_DYNAMIC, DYNAMIC, HYBRID] {
        let window = Window {
            length: Time::from_ms(4),
            ..WINDOW
        };
        let (rail, at) = (2, Time::from_ms(2));
        let failure = Some(RailFailure { rail, at });
        let records = run_with(&machine(policy), &uniform(150, 4), failure, window, 1);
        assert_eq!(records.values("saturated"), [0.0], "{policy:?}");
        let (accepted, offered) = (records.mean("accepted"), records.mean("offered"));
        assert!(
            (accepted / offered - 1.0).abs() < 0.04,
            "{policy:?}: {accepted} of {offered}"
        );
        // The dead rail's links carried at most half as much as the others': no flits after the
        // failure.
        let flits = |rail: u32| -> u64 {
            let ejects = records
                .tables
                .links
                .iter()
                .filter(|row| row.level == 0 && !row.up);
            let suffix = format!("of rail {rail}");
            let ejects = ejects.filter(|row| row.to.ends_with(&suffix));
            ejects.map(|row| row.flits).sum()
        };
        assert!(flits(0) > 0 && flits(2) > 0);
        assert!(
            flits(2) * 10 < flits(0) * 7,
            "{policy:?}: {} of {}",
            flits(2),
            flits(0)
        );
    }
}
