//! Collective operations: the libraries' figures, agreement within the records, background traffic,
//! deadlocks.
#![allow(clippy::float_cmp)] // equal results are equal to the last bit

use elan::{Cluster, Config, NodeId, Placement, Stop, Watch};
use fabric::Broadcast;
use libelan::Pe;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Rate, Time};
use workload::collective::{CollectiveMessage, CollectiveOperation};
use workload::{Collective, Distribution, Failure, Job, Pattern, Records, Window};

/// The shipped machine, for which the paper gives figures.
fn config() -> Config {
    let file = include_str!("../../../machines/es40-qsnet.toml");
    let machine = machine::Machine::parse("es40-qsnet.toml", file, &[]).expect("it is shipped");
    machine.cluster_config()
}

fn collective(operation: CollectiveOperation, nodes: u32) -> Collective {
    Collective {
        operation,
        message: None,
        nodes: NodeId::all(nodes).collect(),
        repeats: 20,
        processes: 1,
        groups: 1,
        may_deadlock: false,
        compute: None,
        traffic_class: 0,
    }
}

const WINDOW: Window = Window {
    warm_up: Time::from_us(200),
    length: Time::ZERO,
    batches: 4,
    slices: 0,
    watch: Time::ZERO,
    precision: None,
};

fn run(collective: &Collective, jobs: &[Job]) -> Records {
    let cluster = Cluster::new(config(), Watch::default());
    let records = collective.run(jobs, cluster, WINDOW, 1);
    records.unwrap_or_else(|failure| panic!("{failure}"))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// An operation's mean latency with 64 nodes and no other traffic, in us.
fn idle(collective: &Collective) -> f64 {
    run(collective, &[]).mean("latency")
}

fn broadcast(operation: CollectiveOperation, message: CollectiveMessage, nodes: u32) -> Collective {
    Collective {
        message: Some(message),
        ..collective(operation, nodes)
    }
}

fn message(memory: Placement, bytes: u64) -> CollectiveMessage {
    CollectiveMessage {
        memory,
        size: Bytes::new(bytes),
    }
}

/// Backlogged traffic from all nodes.
fn background(pattern: Pattern) -> Job {
    Job {
        name: "background".into(),
        nodes: NodeId::all(64).collect(),
        pattern,
        servers: Vec::new(),
        message: Bytes::from_kb(256),
        sizes: Distribution::Exponential,
        arrivals: Distribution::Exponential,
        source: None,
        load: Rate::from_mb_per_second(350),
        writes: 1.0,
        memory: Placement::Adapter,
        processes: 1,
        traffic_class: 0,
    }
}

/// Time per call in a row of calls, in us: a benchmark's loop that is written with the library
/// alone.
fn benchmark(call: impl AsyncFn(Pe) + 'static) -> f64 {
    let mut cluster = Cluster::new(config(), Watch::default());
    let job = libelan::ProcessJob::new("test", NodeId::all(64), 1).expect("64 processes");
    let start = Rc::new(RefCell::new(Time::ZERO));
    let told = Rc::clone(&start);
    let launched = job.launch(&mut cluster, async move |pe| {
        call(pe.clone()).await;
        let last = pe.now().max(*told.borrow());
        *told.borrow_mut() = last;
        for _ in 0..20 {
            call(pe.clone()).await;
        }
    });
    launched.expect("the nodes are there");
    cluster.run().expect("they all call");
    let start = *start.borrow();
    (cluster.now() - start).as_us_f64() / 20.0
}

fn assert_near(found: f64, expected: f64, share: f64) {
    let off = (found - expected).abs();
    assert!(off <= share * expected, "{found} instead of {expected}");
}

/// petrini2001: 6 us by hardware, 15 us by software, with 64 nodes; to block takes an interrupt
/// longer than to poll.
#[test]
fn barriers_take_what_a_benchmark_of_the_library_tells() {
    let software = idle(&collective(CollectiveOperation::Gsync, 64));
    assert_near(software, 15.0, 0.05);
    let loop_of_software = benchmark(async |pe| pe.elan().all_group().gsync().await.unwrap());
    assert_near(software, loop_of_software, 1e-6);

    let hardware = idle(&collective(CollectiveOperation::Hgsync, 64));
    assert_near(hardware, 6.0, 0.05);
    let hgsync = async |pe: Pe| pe.elan().all_group().hgsync().await.expect("all come");
    assert_near(hardware, benchmark(hgsync), 1e-6);

    let blocking = idle(&collective(CollectiveOperation::Hgsyncevent, 64));
    let longer = config().adapter.interrupt - config().adapter.poll;
    assert_near(blocking, hardware + longer.as_us_f64(), 1e-3);
}

/// petrini2001: 288 MB/s by hardware between adapter memories, 200 MB/s between main memories; the
/// first call is no longer.
#[test]
fn broadcasts_take_what_a_benchmark_of_the_library_tells() {
    for (memory, published) in [(Placement::Adapter, 288.0), (Placement::Main, 200.0)] {
        let broadcast = Collective {
            repeats: 4,
            ..broadcast(CollectiveOperation::Hbcast, message(memory, 1 << 19), 64)
        };
        let records = run(&broadcast, &[]);
        let latency = records.values("latency");
        for (bandwidth, latency) in records.values("bandwidth").iter().zip(latency) {
            assert_near(*bandwidth, f64::from(1 << 19) / latency, 1e-9);
            assert_near(*bandwidth, published, 0.01);
        }
    }
    let short = message(Placement::Adapter, 256);
    let call = async |pe: Pe| {
        let (group, size) = (pe.elan().all_group(), Bytes::new(256));
        // The address is the same each time: the heap is otherwise empty.
        let buffer = pe.elan().galloc_elan(64, size).expect("there is room");
        group.hbcast(buffer, size, 0).await.expect("all have it");
        pe.elan().galloc_free(buffer).expect("it was allocated");
    };
    assert_near(
        idle(&broadcast(CollectiveOperation::Hbcast, short, 64)),
        benchmark(call),
        1e-3,
    );
    // A broadcast through an adapter tree takes longer.
    assert!(
        idle(&broadcast(CollectiveOperation::Bcast, short, 64))
            > idle(&broadcast(CollectiveOperation::Hbcast, short, 64))
    );
}

/// Each process's every call is in one bin, and in one batch.
#[test]
fn all_calls_count() {
    for operation in [CollectiveOperation::Gsync, CollectiveOperation::Hgsync] {
        let records = run(&collective(operation, 16), &[background(Pattern::Uniform)]);
        let bins = &records.tables.distribution;
        assert!(bins.is_sorted_by(|one, other| one.lower < other.lower));
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 16 * 20);
        assert_eq!(records.values("latency").len(), 4);
        // Every quantile lies in the first bin with enough observations up to it.
        for (metric, share) in [
            ("latency_p50", 0.5),
            ("latency_p93", 0.93),
            ("latency_p99", 0.99),
        ] {
            let rows = records.tables.rows.iter().filter(|row| row.job.is_none());
            let row = rows.into_iter().find(|row| row.metric == metric);
            let quantile = row.expect("it is there").value;
            let mut below = 0;
            let bin = bins.iter().find(|bin| {
                below += bin.count;
                below as f64 >= share * 320.0
            });
            let lower = bin.expect("there are so many").lower.as_us_f64();
            assert!((lower..lower * 1.002).contains(&quantile), "{metric}");
        }
    }
}

/// Hardware serves nodes next to each other; others are served by software, as the library has it.
#[test]
fn nodes_with_gaps_are_served_by_software() {
    let gaps = |operation| {
        let collective = Collective {
            nodes: NodeId::all(64).step_by(2).collect(),
            ..collective(operation, 0)
        };
        run(&collective, &[]).mean("latency")
    };
    assert_eq!(
        gaps(CollectiveOperation::Hgsync),
        gaps(CollectiveOperation::Gsync)
    );
}

/// petrini2001: background traffic slows the software barrier down far more than the hardware
/// barrier. The traffic continues until the last call has ended, and its load is recorded.
#[test]
fn background_traffic_slows_software_down() {
    let slowdown = |operation| {
        let records = run(
            &collective(operation, 64),
            &[background(Pattern::Complement)],
        );
        let (traffic, calls): (Vec<_>, Vec<_>) = records
            .tables
            .rows
            .iter()
            .partition(|row| row.job.is_some());
        assert!(traffic.iter().any(|row| row.metric == "saturated"));
        let accepted = traffic.iter().find(|row| row.metric == "accepted");
        let accepted = accepted.expect("it is told").value;
        assert!(accepted > 20.0 && accepted < 281.0, "{accepted} MB/s");
        assert_eq!(records.tables.nodes.len(), 64);
        let of_nodes: Vec<f64> = records
            .tables
            .nodes
            .iter()
            .map(|node| node.accepted)
            .collect();
        assert_near(mean(&of_nodes), accepted, 1e-9);
        let latency = calls.iter().filter(|row| row.metric == "latency");
        let latency: Vec<f64> = latency.map(|row| row.value).collect();
        mean(&latency) / idle(&collective(operation, 64))
    };
    let (software, hardware) = (
        slowdown(CollectiveOperation::Gsync),
        slowdown(CollectiveOperation::Hgsync),
    );
    assert!(hardware > 1.2, "{hardware}");
    assert!(software > 3.0 * hardware, "{software}, {hardware}");
}

/// A node's processes meet in shared memory, and one of them takes part for all.
#[test]
fn processes_of_a_node_meet_before_and_after() {
    for operation in [
        CollectiveOperation::Hgsync,
        CollectiveOperation::Gsync,
        CollectiveOperation::Reduce,
    ] {
        let one = collective(operation, 16);
        let four = Collective {
            processes: 4,
            ..one.clone()
        };
        let (one, four) = (idle(&one), idle(&four));
        assert!(four > one, "{operation:?}: {four} after {one} us");
        assert!(four < one + 4.0, "{operation:?}: {four} after {one} us");
    }
}

/// Groups of 16 nodes, three at a time, with traffic that delays the trees here and there.
fn rivals(mode: Broadcast, may_deadlock: bool) -> Result<Records, Failure> {
    let mut config = config();
    config.fabric.broadcast = mode;
    let collective = Collective {
        groups: 3,
        may_deadlock,
        ..broadcast(
            CollectiveOperation::Hbcast,
            message(Placement::Adapter, 1 << 14),
            16,
        )
    };
    collective.run(
        &[background(Pattern::Uniform)],
        Cluster::new(config, Watch::default()),
        WINDOW,
        1,
    )
}

/// petrini2001: broadcasts that climb to different root switches deadlock; serialised through one,
/// they complete.
#[test]
fn rivals_deadlock_unless_they_are_serialised() {
    let records = rivals(Broadcast::Serialised, true).expect("it ends");
    assert_eq!(records.value("deadlock"), 0.0);
    assert_eq!(records.values("bandwidth").len(), 4);
    assert!(records.tables.deadlock.is_empty());

    let records = rivals(Broadcast::BySource, true).expect("it is a result");
    assert_eq!(records.value("deadlock"), 1.0);
    assert!(records.value("stuck_packets") >= 2.0);
    assert!(records.tables.distribution.is_empty() && records.values("bandwidth").is_empty());
    let (cycle, held): (Vec<_>, Vec<_>) = records
        .tables
        .deadlock
        .iter()
        .partition(|row| row.step.is_some());
    assert!(cycle.len() >= 2);
    for (wait, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        // The packet that is waited for is the next to wait, and holds the channel.
        assert_eq!(wait.holder_source, Some(next.source));
        assert_eq!(wait.holder_sequence, Some(next.sequence));
        assert!(wait.switch.is_some());
        let channel =
            |row: &workload::DeadlockRow| (row.source, row.sequence, row.link, row.channel);
        let wanted = (next.source, next.sequence, wait.link, wait.channel);
        assert!(wait.link.is_none() || held.iter().any(|row| channel(row) == wanted));
    }
}

/// Where no run expects it, a deadlock is an error that names the packets that wait for each other.
#[test]
fn an_ordinary_deadlock_is_an_error() {
    let failure = rivals(Broadcast::BySource, false).expect_err("it deadlocks");
    let text = failure.to_string();
    assert!(matches!(
        failure,
        Failure::Stop(Stop::Deadlock {
            packets: Some(_),
            ..
        })
    ));
    for words in [
        "collective 0 0",
        "hbcast of 16 processes",
        "wait for each other",
        "waits at switch",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

/// A reduction passes each process on its way up the tree, and comes back by a broadcast: it takes
/// longer than the barrier that does the same without a number, and less than twice as long.
#[test]
fn a_reduction_takes_longer_than_a_barrier() {
    let (barrier, reduction) = (
        idle(&collective(CollectiveOperation::Gsync, 64)),
        idle(&collective(CollectiveOperation::Reduce, 64)),
    );
    assert!(
        barrier < reduction && reduction < 2.0 * barrier,
        "{barrier} {reduction}"
    );
}

/// Processes that compute before each call: the steps are recorded, and the calls take as long as
/// without computation.
#[test]
fn steps_are_computation_and_call() {
    let alone = collective(CollectiveOperation::Hgsync, 16);
    let stepping = Collective {
        compute: Some(Time::from_us(100)),
        ..alone.clone()
    };
    let (alone, stepping) = (run(&alone, &[]), run(&stepping, &[]));
    assert!(alone.values("step").is_empty());
    let (steps, calls) = (stepping.values("step"), stepping.values("latency"));
    for (step, call) in steps.iter().zip(&calls) {
        assert!((step - 100.0 - call).abs() < 1e-9, "{step} {call}");
    }
    let apart = mean(&calls) / mean(&alone.values("latency"));
    assert!((apart - 1.0).abs() < 0.05, "{apart}");
}

/// The load of other jobs is measured over the time of the calls, without the warm-up.
#[test]
fn the_load_beside_collective_calls() {
    let job = Job {
        message: Bytes::new(64),
        sizes: Distribution::Fixed,
        arrivals: Distribution::Fixed,
        load: Rate::from_mb_per_second(10),
        ..background(Pattern::Complement)
    };
    let records = run(&collective(CollectiveOperation::Hgsync, 64), &[job]);
    for metric in ["offered", "accepted"] {
        let load = records.value(metric);
        assert!((load / 10.0 - 1.0).abs() < 0.1, "{metric}: {load} MB/s");
    }
    let nodes = &records.tables.nodes;
    assert!(nodes.iter().map(|row| row.node).eq(0..64));
    assert!(
        nodes
            .iter()
            .all(|row| (row.offered / 10.0 - 1.0).abs() < 0.2)
    );
}
