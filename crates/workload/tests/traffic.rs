//! Steady traffic: offered load is accepted until the network is saturated, and the records agree
//! with each other.
#![allow(clippy::float_cmp)] // equal results are equal to the last bit

use crate::common;

use common::{cluster, sixteen_nodes};
use elan::{NodeId, Placement};
use kernel::statistics::Interval;
use std::collections::BTreeSet;
use units::{Bytes, Rate, Time};
use workload::{
    Distribution, Job, LinkRow, MetricRow, Pattern, Precision, Records, SliceRow, SwitchRow,
    Traffic, Window,
};

fn uniform(load: u64) -> Job {
    Job {
        name: "uniform".into(),
        nodes: (0..16).map(NodeId::new).collect(),
        pattern: Pattern::Uniform,
        servers: Vec::new(),
        message: Bytes::from_kb(4),
        sizes: Distribution::Exponential,
        arrivals: Distribution::Exponential,
        source: None,
        load: Rate::from_mb_per_second(load),
        writes: 1.0,
        memory: Placement::Adapter,
        processes: 1,
        traffic_class: 0,
    }
}

const WINDOW: Window = Window {
    warm_up: Time::from_us(200),
    length: Time::from_ms(2),
    batches: 10,
    slices: 0,
    watch: Time::ZERO,
    precision: None,
};

fn run(job: Job, window: Window, seed: u64) -> Records {
    run_all(&[job], window, seed)
}

fn run_all(jobs: &[Job], window: Window, seed: u64) -> Records {
    let traffic = Traffic {
        jobs: jobs.to_vec(),
        failure: None,
    };
    traffic
        .run(cluster(&sixteen_nodes()), window, seed)
        .expect("it ends")
}

/// All arrivals are delivered, in every mixture of distributions.
#[test]
fn a_light_load_is_accepted() {
    use Distribution::{Exponential, Fixed, Uniform as Even};
    for (sizes, arrivals) in [
        (Fixed, Fixed),
        (Even, Even),
        (Even, Exponential),
        (Exponential, Exponential),
    ] {
        let window = Window {
            length: Time::from_ms(4),
            ..WINDOW
        };
        let job = Job {
            sizes,
            arrivals,
            ..uniform(40)
        };
        let records = run(job, window, 1);
        assert_eq!(records.value("saturated"), 0.0);
        assert_eq!(records.values("server_accepted"), [0.0; 0], "no servers");
        let accepted = Interval::of(&records.values("accepted"));
        let offered = Interval::of(&records.values("offered"));
        let both = format!("{accepted:?}, {offered:?}");
        assert!(
            (accepted.low..=accepted.high).contains(&offered.mean),
            "{both}"
        );
        assert!((accepted.mean / offered.mean - 1.0).abs() < 0.02, "{both}");
        // About 600 messages a node; four standard errors in the offered load are 16% at worst.
        assert!((offered.mean / 40.0 - 1.0).abs() < 0.16, "{offered:?}");
        let messages = records.value("messages");
        let expected = offered.mean * 4000.0 * 16.0 / 4096.0;
        let text = format!("{messages} messages, {expected} expected");
        assert!((messages / expected - 1.0).abs() < 0.1, "{text}");
    }
}

/// Latencies count messages that end in the window: as many as arrive in it, without a long
/// warm-up's.
#[test]
fn messages_of_the_warm_up_have_no_latency() {
    let window = Window {
        warm_up: Time::from_ms(4),
        ..WINDOW
    };
    let records = run(uniform(40), window, 1);
    let (messages, offered) = (records.value("messages"), records.mean("offered"));
    let expected = offered * window.length.as_us_f64() * 16.0 / 4096.0;
    let text = format!("{messages} messages, {expected} expected");
    assert!((messages / expected - 1.0).abs() < 0.15, "{text}");
}

/// Beyond the network's capacity messages pile up.
#[test]
fn a_heavy_load_saturates() {
    let records = run(uniform(350), WINDOW, 1);
    assert_eq!(records.value("saturated"), 1.0);
    let [accepted, offered] =
        ["accepted", "offered"].map(|metric| Interval::of(&records.values(metric)));
    assert!(accepted.high < offered.low, "{accepted:?}, {offered:?}");
    // At most the link's payload capacity.
    assert!(accepted.high < 400.0 * 320.0 / 378.0);
}

/// A single small message per node is not saturation, although it has not been taken up when a
/// short window ends.
#[test]
fn a_short_window_is_not_saturated_by_chance() {
    for seed in 0..20 {
        let window = Window {
            warm_up: Time::from_us(50),
            length: Time::from_us(200),
            batches: 2,
            slices: 0,
            watch: Time::ZERO,
            precision: None,
        };
        let job = Job {
            message: Bytes::new(320),
            ..uniform(20)
        };
        let records = run(job, window, seed);
        assert_eq!(records.value("saturated"), 0.0, "seed {seed}");
    }
}

/// Messages pile up for a while under a load that is accepted as a whole: more than half a message
/// for each process, and far less than 5% of all.
#[test]
fn a_queue_that_comes_and_goes_is_no_saturation() {
    let window = Window {
        length: Time::from_ms(4),
        ..WINDOW
    };
    let mut piled = 0;
    for seed in 1..=8 {
        let records = run(uniform(110), window, seed);
        assert_eq!(records.value("saturated"), 0.0, "seed {seed}");
        let apart = records.mean("offered") - records.mean("accepted");
        let growth = apart * window.length.as_us_f64() * 16.0;
        piled += u32::from(growth > 2.0 * 16.0 * 4096.0 / 2.0);
    }
    assert!(piled > 1, "{piled} of 8 windows end with longer queues");
}

/// Latencies are in order and no shorter than the quickest message.
#[test]
fn latencies_are_in_order() {
    let records = run(uniform(80), WINDOW, 1);
    let [p50, p99, most, mean] = ["latency_p50", "latency_p99", "latency_max", "latency_mean"]
        .map(|metric| records.value(metric));
    assert!(2.0 < p50 && p50 <= p99 && p99 <= most && mean <= most);
}

/// The network's activity.
fn of_network(records: &Records) -> (&[LinkRow], &[SwitchRow], u64, u64, Time) {
    let (links, switches) = (&records.tables.links, &records.tables.switches);
    let (packets, events) = (records.packets, records.events);
    (links, switches, packets, events, records.simulated)
}

/// Batches only cut the window: their mean is the window's value, and the network does the same as
/// without.
#[test]
fn batches_add_up() {
    let in_batches = |batches| run(uniform(100), Window { batches, ..WINDOW }, 1);
    let whole = in_batches(1);
    for batches in [3, 10] {
        let parts = in_batches(batches);
        for metric in ["accepted", "offered"] {
            let values = parts.values(metric);
            assert_eq!(values.len(), batches as usize);
            let mean = values.iter().sum::<f64>() / f64::from(batches);
            assert!((mean / whole.value(metric) - 1.0).abs() < 1e-6, "{metric}");
        }
        assert_eq!(of_network(&parts), of_network(&whole));
        for metric in ["messages", "latency_mean", "latency_max", "saturated"] {
            assert_eq!(parts.value(metric), whole.value(metric));
        }
    }
}

/// Slices only observe: the run is the same with any number of slices, and their rows add up to the
/// link counters.
#[test]
fn slices_add_up() {
    let whole = run(uniform(350), WINDOW, 1);
    assert!(whole.tables.slices.is_empty());
    // The warm-up takes 1/11 of the run.
    for slices in [11, 22] {
        let parts = run(uniform(350), Window { slices, ..WINDOW }, 1);
        assert_eq!(parts.tables.rows, whole.tables.rows);
        assert_eq!(of_network(&parts), of_network(&whole));
        let measured = |row: &&SliceRow| row.slice >= slices / 11;
        for link in &whole.tables.links {
            let rows = parts.tables.slices.iter();
            let rows = rows.filter(|row| row.link == link.link).filter(measured);
            let waiting: Time = rows.clone().map(|row| row.waiting).sum();
            let delay: Time = rows.map(|row| row.delay).sum();
            assert_eq!((waiting, delay), (link.waiting, link.delay), "{link:?}");
        }
        let order = parts.tables.slices.iter().map(|row| (row.slice, row.link));
        assert!(order.is_sorted());
        let last = parts.tables.slices.last();
        assert_eq!(last.map(|row| row.slice), Some(slices - 1));
        let any = |row: &SliceRow| !row.waiting.is_zero() || !row.delay.is_zero();
        assert!(parts.tables.slices.iter().all(any));
        assert_ne!(parts.digest, whole.digest);
    }
}

/// Slices and batches need not have ends in common, and the last slice ends with the run.
#[test]
fn slices_cut_the_whole_run() {
    let window = Window {
        slices: 7,
        ..WINDOW
    };
    let ends = (0..7).map(|slice| window.slice_end(slice));
    assert!(ends.is_sorted());
    assert_eq!(window.slice_end(6), WINDOW.warm_up + WINDOW.length);
    let parts = run(uniform(350), window, 1);
    let whole = run(uniform(350), WINDOW, 1);
    assert_eq!(of_network(&parts), of_network(&whole));
    let measured: Time = parts.tables.links.iter().map(|row| row.waiting).sum();
    let all: Time = parts.tables.slices.iter().map(|row| row.waiting).sum();
    assert!(all > measured, "the warm-up counts: {all}, {measured}");
}

/// The records stop at the window's end; batch numbers index the rows.
#[test]
fn rows_are_numbered() {
    let window = Window {
        batches: 7,
        ..WINDOW
    };
    let records = run(uniform(40), window, 1);
    assert_eq!(records.simulated, WINDOW.warm_up + WINDOW.length);
    for metric in ["accepted", "offered"] {
        let rows = records
            .tables
            .rows
            .iter()
            .filter(|row| row.metric == metric);
        assert!(rows.map(|row| row.batch).eq((0..7).map(Some)));
    }
    let ends = [0, 9].map(|batch| WINDOW.batch_end(batch));
    assert_eq!(ends, [400, 2200].map(Time::from_us));
}

/// In the window the packets that enter the network leave it, except those under way at the
/// window's ends; and a link is never busy for longer than the window.
#[test]
fn links_add_up() {
    let records = run(uniform(350), WINDOW, 1);
    let sum = |level: u32, up: bool, what: fn(&LinkRow) -> u64| -> u64 {
        let rows = records.tables.links.iter();
        let rows = rows.filter(|row| (row.level, row.up) == (level, up));
        rows.map(what).sum()
    };
    let mut ejected = 0;
    for level in [1, 0] {
        let [up, down] = [true, false].map(|up| sum(level, up, |row| row.flits));
        // Two packets per node may be under way at either end.
        assert!(up.abs_diff(down) <= 2 * 16 * 189, "{up} up, {down} down");
        ejected = down;
    }
    // Four fifths of the messages leave the first-level switch: 12 of the 15 other nodes are
    // elsewhere.
    let share = sum(1, true, |row| row.packets) as f64 / sum(0, true, |row| row.packets) as f64;
    assert!((share - 0.8).abs() < 0.03, "{share}");
    let mut links = records.tables.links.iter();
    assert!(links.all(|row| row.busy <= WINDOW.length));
    // Payload accepted against flits ejected: all packets but a message's last are full.
    let accepted = Interval::of(&records.values("accepted")).mean * 2000.0 * 16.0;
    let wire = 2.0 * ejected as f64;
    let share = accepted / wire;
    assert!(0.8 < share && share < 320.0 / 378.0, "{accepted} of {wire}");
}

/// Nodes beyond those that take part are left alone.
#[test]
fn some_nodes_take_part() {
    let four = Job {
        nodes: NodeId::all(4).collect(),
        ..uniform(100)
    };
    let records = run(four, WINDOW, 1);
    // The first four share a switch.
    assert!(records.tables.links.iter().all(|row| row.level == 0));
    assert_eq!(records.tables.links.len(), 8);
    assert_eq!(records.tables.switches.len(), 1);
    let accepted = Interval::of(&records.values("accepted"));
    assert!(accepted.mean > 80.0, "{accepted:?}");
}

/// Nodes that are their own partner stay silent, and do not count in averages.
#[test]
fn silent_nodes_are_left_out() {
    // Among 16 nodes 4 are palindromes: 0000, 0110, 1001 and 1111.
    let reversal = Job {
        pattern: Pattern::BitReversal,
        ..uniform(40)
    };
    let window = Window {
        length: Time::from_ms(10),
        ..WINDOW
    };
    let records = run(reversal, window, 1);
    let nodes = records.tables.nodes.iter().map(|row| row.node);
    let silent = [0, 6, 9, 15];
    assert!(nodes.eq((0..16).filter(|node| !silent.contains(node))));
    let offered = Interval::of(&records.values("offered")).mean;
    assert!((offered / 40.0 - 1.0).abs() < 0.1, "{offered}");
    for silent in silent {
        let link = |row: &&LinkRow| row.from == format!("node {silent}");
        let link = records.tables.links.iter().find(link);
        assert!(link.is_none_or(|row| row.packets == 0));
    }
}

/// The node rows add up to the job's.
#[test]
fn nodes_add_up() {
    let records = run(uniform(100), WINDOW, 1);
    let sums = records.tables.nodes.iter().fold((0.0, 0.0), |sums, row| {
        (sums.0 + row.accepted, sums.1 + row.offered)
    });
    for (metric, sum) in [("accepted", sums.0), ("offered", sums.1)] {
        let (mean, expected) = (sum / 16.0, records.mean(metric));
        assert!(
            (mean / expected - 1.0).abs() < 1e-6,
            "{metric}: {mean}, {expected}"
        );
    }
}

/// A hot-spot: the server's link is full, and its load is the sum over all nodes.
#[test]
fn a_hot_spot_fills_its_link() {
    let hot = Job {
        servers: [0].map(NodeId::new).into(),
        ..uniform(100)
    };
    let records = run(hot, WINDOW, 1);
    assert_eq!(records.value("saturated"), 1.0);
    let [of_node, of_server] = ["accepted", "server_accepted"].map(|metric| records.values(metric));
    for (of_node, of_server) in of_node.iter().zip(&of_server) {
        assert!((of_node * 15.0 / of_server - 1.0).abs() < 1e-9);
        assert!(*of_server > 280.0 && *of_server < 340.0, "{of_server}");
    }
    assert_eq!(records.tables.nodes.len(), 15);
}

/// Reads are moved by the servers' adapters; a light load is accepted in any mixture of reads and
/// writes, and the servers' links carry reads and writes.
#[test]
fn reads_and_writes() {
    for writes in [0.0, 0.25, 1.0] {
        let io = Job {
            name: "io".into(),
            nodes: (4..16).map(NodeId::new).collect(),
            servers: [0, 1].map(NodeId::new).into(),
            writes,
            ..uniform(20)
        };
        let window = Window {
            length: Time::from_ms(10),
            ..WINDOW
        };
        let records = run(io, window, 1);
        assert_eq!(records.value("saturated"), 0.0);
        let accepted = Interval::of(&records.values("accepted")).mean;
        assert!((accepted / 20.0 - 1.0).abs() < 0.15, "{accepted}");
        let flits = |up: bool| -> u64 {
            let servers = records.tables.links.iter().filter(|row| {
                let end = if up { &row.from } else { &row.to };
                row.up == up && (end == "node 0" || end == "node 1")
            });
            servers.map(|row| row.flits).sum()
        };
        let (read, written) = (flits(true) as f64, flits(false) as f64);
        // A read request is 25 flits; a 4 KB message is about 2,500.
        let share = written / (read + written);
        assert!((share - writes).abs() < 0.05, "{writes}: {read}, {written}");
    }
}

/// Two jobs are measured separately, and each draws the same numbers as alone.
#[test]
fn jobs_are_measured_apart() {
    let light = Job {
        name: "light".into(),
        nodes: (0..4).map(NodeId::new).collect(),
        ..uniform(20)
    };
    let heavy = Job {
        name: "heavy".into(),
        nodes: (4..16).map(NodeId::new).collect(),
        ..uniform(350)
    };
    let both = run_all(&[light.clone(), heavy.clone()], WINDOW, 1);
    let of = |records: &Records, job: &str, metric: &str| -> Vec<f64> {
        let rows = records.tables.rows.iter();
        let rows = rows.filter(|row| row.job.as_deref() == Some(job) && row.metric == metric);
        rows.map(|row| row.value).collect()
    };
    assert_eq!(of(&both, "light", "saturated"), [0.0]);
    assert_eq!(of(&both, "heavy", "saturated"), [1.0]);
    for job in [&light, &heavy] {
        let alone = run(job.clone(), WINDOW, 1);
        let [both, alone] = [&both, &alone].map(|records| of(records, &job.name, "offered"));
        assert_eq!(both, alone);
    }
    // The light job has its own switch: the heavy job's packets never pass there.
    let alone = run(light, WINDOW, 1);
    let accepted = [&both, &alone].map(|records| of(records, "light", "accepted"));
    assert_eq!(accepted[0], accepted[1]);
    let nodes = both
        .tables
        .nodes
        .iter()
        .map(|row| (row.job.as_str(), row.node));
    let expected = (0..16).map(|node| (if node < 4 { "light" } else { "heavy" }, node));
    assert!(nodes.eq(expected));
}

/// A window that doubles: as long as needed, and the same run as with this window from the start.
#[test]
fn a_window_that_doubles_is_the_window_from_the_start() {
    let mut lengths = BTreeSet::new();
    for (load, batches, enough) in [
        (40, 10, 0.01),
        (350, 10, 0.2),
        (350, 10, 0.1),
        (350, 10, 0.05),
        (350, 10, 0.03),
        (350, 10, 0.02),
        (350, 7, 0.01),
        (350, 4, 0.0001),
    ] {
        let doubling = Window {
            length: Time::from_us(250),
            batches,
            precision: Some(Precision {
                enough,
                doublings: 3,
            }),
            ..WINDOW
        };
        let records = run(uniform(load), doubling, 1);
        let length = records.simulated - WINDOW.warm_up;
        let fixed = Window {
            length,
            precision: None,
            ..doubling
        };
        assert_eq!(records, run(uniform(load), fixed, 1));
        let accepted = Interval::of(&records.values("accepted"));
        let known = accepted.relative() <= enough || records.value("saturated") == 0.0;
        assert!(known || length == Time::from_ms(2), "{accepted:?}");
        lengths.insert(length);
    }
    let lengths: Vec<_> = lengths.into_iter().collect();
    assert!(lengths.len() >= 3, "{lengths:?}");
    assert_eq!(lengths.first(), Some(&Time::from_us(250)));
    assert_eq!(lengths.last(), Some(&Time::from_ms(2)));
}

/// The window doubles for the least precise job.
#[test]
fn every_job_has_to_be_known() {
    let half = |name: &str, nodes: std::ops::Range<u32>, load| Job {
        name: name.into(),
        nodes: nodes.map(NodeId::new).collect(),
        ..uniform(load)
    };
    let window = Window {
        length: Time::from_us(250),
        precision: Some(Precision {
            enough: 0.0001,
            doublings: 2,
        }),
        ..WINDOW
    };
    let length = |loads: [u64; 2]| {
        let jobs = [half("one", 0..8, loads[0]), half("other", 8..16, loads[1])];
        run_all(&jobs, window, 1).simulated - WINDOW.warm_up
    };
    assert_eq!(length([20, 20]), Time::from_us(250));
    assert_eq!(length([20, 350]), Time::from_ms(1));
    assert_eq!(length([350, 20]), Time::from_ms(1));
}

/// Jobs that also run alone have the results of a run together, and each its latency alone, the
/// ratio, and its share of each link.
#[test]
fn each_of_several_jobs_runs_alone_too() {
    let part = |name: &str, nodes: &[u32], pattern| Job {
        name: name.into(),
        nodes: nodes.iter().copied().map(NodeId::new).collect(),
        pattern,
        ..uniform(120)
    };
    let even: Vec<u32> = (0..16).step_by(2).collect();
    let odd: Vec<u32> = (1..16).step_by(2).collect();
    for (both, apart) in [
        ([&even[..], &odd], false),
        ([&[0, 1, 2, 3], &[4, 5, 6, 7]], true),
    ] {
        let jobs = [
            part("first", both[0], Pattern::Uniform),
            part("second", both[1], Pattern::Complement),
        ];
        let traffic = Traffic {
            jobs: jobs.to_vec(),
            failure: None,
        };
        let config = sixteen_nodes();
        let records = traffic
            .run_together_and_alone(&|| cluster(&config), WINDOW, 3)
            .expect("it ends");
        let together = run_all(&jobs, WINDOW, 3);
        let counts = |records: &Records| (records.packets, records.events, records.simulated);
        assert_eq!(counts(&records), counts(&together));
        let (rows, added) = records.tables.rows.split_at(together.tables.rows.len());
        assert_eq!(rows, together.tables.rows);
        assert_eq!(added.len(), 4);
        for (job, added) in jobs.iter().zip(added.chunks(2)) {
            let alone = run(job.clone(), WINDOW, 3).value("latency_mean");
            let name = Some(job.name.as_str());
            let of_job = |row: &&MetricRow| row.job.as_deref() == name;
            let with = rows.iter().filter(of_job);
            let with = with.clone().find(|row| row.metric == "latency_mean");
            let with = with.expect("messages ended").value;
            assert!(added.iter().all(|row| of_job(&row)));
            let [time, ratio] = [0, 1].map(|index| (added[index].metric, added[index].value));
            assert_eq!(time, ("latency_alone", alone));
            assert_eq!(ratio, ("slowdown", with / alone));
            assert!(
                if apart {
                    ratio.1 == 1.0
                } else {
                    ratio.1 > 1.01
                },
                "{ratio:?}"
            );
        }
        shares_add_up(&records);
        for share in &records.tables.shares {
            // Nodes send packets of their own job only.
            let Some(Ok(node)) = share.from.strip_prefix("node ").map(str::parse::<u32>) else {
                continue;
            };
            let own = usize::from(both[1].contains(&node));
            assert_eq!(share.job.as_ref(), Some(&jobs[own].name), "{share:?}");
        }
    }
}

/// The jobs' shares of each link are what the link carried, but for packets that have a channel
/// when the window begins or ends.
fn shares_add_up(records: &Records) {
    let longest = u64::from(sixteen_nodes().packet.flits(Bytes::new(320)));
    for link in &records.tables.links {
        let own = records.tables.shares.iter();
        let own = own.filter(|share| share.link == link.link);
        let flits: u64 = own.map(|share| share.flits).sum();
        assert!(
            flits.abs_diff(link.flits) <= 4 * longest,
            "{link:?}: {flits}"
        );
    }
    assert!(
        records
            .tables
            .shares
            .iter()
            .all(|share| share.job.is_some())
    );
}
