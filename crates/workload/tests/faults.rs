//! What failed, and what the adapters did about it since a run's baseline.
#![allow(clippy::float_cmp)] // equal results are equal to the last bit

use crate::common;

use common::{bit_errors, cable_of, cluster, down, failing, node_of, run_process, sixteen_nodes};
use elan::faults::FaultyPart;
use elan::{Dma, NodeId, Place, Placement, Rail};
use units::{Bytes, Rate, Time};
use workload::faults::recoveries;
use workload::ping::{Directions, Library, Ping};
use workload::{Distribution, Job, Pattern, Traffic, Window};

/// An adapter dies in the middle of a message, and comes back, before a ping between two others:
/// the fault is listed, and the ping's rows count nothing of it.
#[test]
fn recovery_counts_from_the_baseline_on() {
    let (begin, lasts) = (Time::from_us(5), Time::from_us(600));
    let part = FaultyPart::Adapter(Place::new(7));
    let faults = vec![down(part, begin, Some(lasts))];
    let mut cluster = cluster(&failing(sixteen_nodes(), faults));
    let size = Bytes::from_kb(4);
    let [from, to] = [6, 7].map(|number| node_of(&cluster, number));
    let [source, target] = [&from, &to].map(|node| node.reserve(Placement::Adapter, size).start());
    let sent = run_process(&mut cluster, from.dma(Dma::new(source, target, size)));
    sent.expect("the adapter is repaired before the source gives up");
    let before = recoveries(&cluster);
    assert!(before.timed_out > 0 && before.unreachable > 0 && before.resent > 0);

    let ping = Ping {
        from: 0,
        to: 15,
        directions: Directions::One,
        source: Placement::Adapter,
        destination: Placement::Adapter,
        message: size,
        repeats: 3,
        library: None,
    };
    let records = ping.run(cluster).expect("it ends");
    let [fault] = &records.tables.faults[..] else {
        panic!("{} faults", records.tables.faults.len())
    };
    let times = (fault.down, fault.up);
    assert_eq!(fault.part, "adapter");
    assert_eq!(times, (Some(begin), Some(begin + lasts)));
    let topology = sixteen_nodes().fabric.topology;
    let (node, switch) = topology.ends(topology.injection(Place::new(7)));
    let ends = [node, switch].map(|end| Some(topology.end_name(end)));
    assert_eq!([fault.from.clone(), fault.to.clone()], ends);
    for metric in [
        "packets_corrupted",
        "packets_unreachable",
        "packets_timed_out",
    ] {
        assert_eq!(records.values(metric), [0.0], "{metric}");
    }
    for metric in ["packets_resent", "packets_repeated", "given_up"] {
        assert_eq!(records.values(metric), [0.0], "{metric}");
    }
    assert!(records.tables.links.iter().all(|row| row.down.is_zero()));
}

/// The recovery of all adapters is the sum of each one's, and a run's rows are what was added to it
/// since. A machine without faults has no such rows.
#[test]
fn recovery_is_summed_over_adapters() {
    let faults = vec![bit_errors(2e-5)];
    let mut cluster = cluster(&failing(sixteen_nodes(), faults));
    let size = Bytes::from_kb(64);
    for (from, to) in [(0, 9), (3, 12), (14, 1)] {
        let [from, to] = [from, to].map(|number| node_of(&cluster, number));
        let [source, target] =
            [&from, &to].map(|node| node.reserve(Placement::Adapter, size).start());
        let sent = run_process(&mut cluster, from.dma(Dma::new(source, target, size)));
        sent.expect("it gets through");
    }
    let before = recoveries(&cluster);
    let each: Vec<_> = NodeId::all(cluster.nodes())
        .map(|node| cluster.adapter(Rail::new(0), node).recoveries())
        .collect();
    let counts = |one: &elan::Recoveries| {
        [
            one.corrupted,
            one.unreachable,
            one.timed_out,
            one.resent,
            one.given_up,
            one.damaged,
            one.repeated,
        ]
    };
    let mut sums = [0; 7];
    for one in &each {
        for (sum, count) in sums.iter_mut().zip(counts(one)) {
            *sum += count;
        }
    }
    assert_eq!(counts(&before), sums);
    let [corrupted, _, timed_out, resent, _, damaged, repeated] = sums;
    assert!(
        corrupted > 0 && timed_out > 0 && damaged > 0 && repeated > 0,
        "{sums:?}"
    );
    assert_eq!(resent, corrupted + timed_out, "nothing was given up");

    let ping = Ping {
        from: 2,
        to: 13,
        directions: Directions::One,
        source: Placement::Adapter,
        destination: Placement::Adapter,
        message: size,
        repeats: 3,
        library: None,
    };
    let whole = ping
        .run(common::cluster(&sixteen_nodes()))
        .expect("it ends");
    let earlier = cluster.packets();
    let records = ping.run(cluster).expect("it ends");
    let value = |metric: &str| records.value(metric);
    let (corrupted, late) = (value("packets_corrupted"), value("packets_timed_out"));
    assert!(corrupted > 0.0 && value("packets_resent") == corrupted + late);
    assert_eq!(
        (value("packets_unreachable"), value("given_up")),
        (0.0, 0.0)
    );
    // All packets of the messages without errors, and the ones that were sent again.
    let packets = whole.packets as f64 + value("packets_resent");
    assert_eq!((records.packets - earlier) as f64, packets);
    assert_eq!(whole.values("packets_resent"), [0.0; 0]);
    assert!(whole.tables.faults.is_empty() && records.tables.faults.len() == 1);
}

/// Messages to a node without its cable fail, one after the other, each after the time in which its
/// sender gives up; those to others do not, and a message of the warm-up does not count.
#[test]
fn messages_that_faults_end_are_counted() {
    let run = |cut: u32, warm_up: u64| {
        let config = sixteen_nodes();
        let fault = down(cable_of(&config, cut), Time::from_us(1), None);
        let node = NodeId::new;
        let job = Job {
            name: "pair".into(),
            nodes: [2, 9].map(node).to_vec(),
            pattern: Pattern::Pairs(vec![(node(2), node(9))]),
            servers: Vec::new(),
            message: Bytes::new(640),
            sizes: Distribution::Fixed,
            arrivals: Distribution::Fixed,
            source: None,
            load: Rate::from_mb_per_second(10),
            writes: 1.0,
            memory: Placement::Adapter,
            processes: 1,
            traffic_class: 0,
        };
        let traffic = Traffic {
            jobs: vec![job],
            failure: None,
        };
        let window = Window {
            warm_up: Time::from_ms(warm_up),
            length: Time::from_ms(6),
            batches: 1,
            slices: 0,
            watch: Time::ZERO,
            precision: None,
        };
        let cluster = cluster(&failing(config, vec![fault]));
        traffic.run(cluster, window, 1).expect("it ends")
    };
    for warm_up in [0, 3] {
        let cut = run(9, warm_up);
        // A sender gives up after a millisecond.
        let failed = cut.value("failed");
        assert!((4.0..7.0).contains(&failed), "{failed}");
        assert_eq!(cut.value("messages"), 0.0);
        let whole = run(5, warm_up);
        assert_eq!(whole.value("failed"), 0.0);
        // Every 64 us a message.
        let messages = whole.value("messages");
        assert!((92.0..96.0).contains(&messages), "{messages}");
    }
}

/// A ping to a node that has lost its cable ends with the error, by either library, and reports no
/// latency.
#[test]
fn a_ping_that_a_fault_ends_is_an_error() {
    for library in [None, Some(Library::Elan3), Some(Library::Mpi)] {
        let config = sixteen_nodes();
        let fault = down(cable_of(&config, 9), Time::from_us(30), None);
        let ping = Ping {
            from: 2,
            to: 9,
            directions: Directions::One,
            source: Placement::Adapter,
            destination: Placement::Adapter,
            message: Bytes::from_kb(4),
            repeats: 100,
            library,
        };
        let ended = ping.run(cluster(&failing(config, vec![fault])));
        let error = ended.expect_err("no way to node 9");
        assert!(error.to_string().contains("node 9"), "{library:?}: {error}");
    }
}
