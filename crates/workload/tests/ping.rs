//! Ping: agreement within its records.
#![allow(clippy::float_cmp)] // equal results are equal to the last bit

use crate::common;

use common::{cluster, machine};
use elan::{Cluster, Config, Placement, Watch};
use fabric::FatTree;
use units::{Bytes, Time};
use workload::Records;
use workload::ping::{Directions, Library, Ping};

fn config() -> Config {
    machine(FatTree::quaternary(3).expect("64 nodes"))
}

fn ping(message: u64) -> Ping {
    Ping {
        from: 0,
        to: 63,
        directions: Directions::One,
        source: Placement::Adapter,
        destination: Placement::Adapter,
        message: Bytes::new(message),
        repeats: 3,
        library: None,
    }
}

fn run(ping: Ping) -> Records {
    ping.run(cluster(&config())).expect("it ends")
}

/// Bandwidth is size over latency, on the wire with all overhead.
#[test]
fn bandwidth_is_size_over_latency() {
    for (message, wire) in [
        (0, 18),
        (1, 19),
        (64, 82),
        (320, 378),
        (321, 378 + 19),
        (6400, 20 * 378),
    ] {
        let records = run(ping(message));
        let latency = records.value("latency");
        for (metric, bytes) in [("bandwidth", message), ("wire_bandwidth", wire)] {
            let expected = bytes as f64 / latency;
            assert!(
                (records.value(metric) - expected).abs() <= 1e-9 * expected,
                "{metric} of {message} bytes"
            );
        }
    }
}

/// Either node may begin.
#[test]
fn both_ends_are_alike() {
    for directions in [Directions::One, Directions::Both] {
        for source in [Placement::Adapter, Placement::Main] {
            for destination in [Placement::Adapter, Placement::Main] {
                for message in [0, 64, 5000] {
                    let there = Ping {
                        directions,
                        source,
                        destination,
                        ..ping(message)
                    };
                    let back = Ping {
                        from: there.to,
                        to: there.from,
                        ..there
                    };
                    let (there, back) = (run(there), run(back));
                    let latencies = [&there, &back].map(|records| records.value("latency"));
                    assert_eq!(
                        latencies[0], latencies[1],
                        "{directions:?} {source:?} {destination:?} {message}"
                    );
                    assert_eq!(there.packets, back.packets);
                }
            }
        }
    }
}

/// The other direction costs something where bus or memory port are shared, and never helps.
#[test]
fn two_directions_share() {
    for place in [Placement::Adapter, Placement::Main] {
        let one = Ping {
            source: place,
            destination: place,
            ..ping(20_000)
        };
        let both = Ping {
            directions: Directions::Both,
            ..one
        };
        let [one, both] = [one, both].map(|ping| run(ping).value("bandwidth"));
        assert!(both < one, "{place:?}: {both} of both, {one} alone");
    }
}

/// Farther is later, larger is later.
#[test]
fn latency_grows() {
    let mut before = 0.0;
    for to in [1, 4, 16] {
        let latency = run(Ping { to, ..ping(64) }).value("latency");
        assert!(latency > before);
        before = latency;
    }
    let mut before = 0.0;
    for message in [0, 64, 320, 321, 5000] {
        let latency = run(ping(message)).value("latency");
        assert!(latency > before);
        before = latency;
    }
}

/// Six links each way carry all packets, the others are idle; each packet leaves an acknowledgement
/// and an EOP on them, and a switch's counters are its links' sums.
#[test]
fn links_and_switches_add_up() {
    let records = run(ping(3000));
    let (packets, flits) = (10 * 3, (9 * 189 + (8 + 20 + 120) / 2) * 3);
    assert_eq!(records.packets, packets);
    // Which way up is the adaptive routing's choice: sums are over each level and direction.
    for level in 0..3 {
        for up in [true, false] {
            let rows = records
                .tables
                .links
                .iter()
                .filter(|row| row.level == level && row.up == up);
            let sum = |what: fn(&workload::LinkRow) -> u64| rows.clone().map(what).sum::<u64>();
            assert_eq!(sum(|row| row.packets), packets, "level {level}, up {up}");
            assert_eq!(sum(|row| row.flits), flits, "level {level}, up {up}");
            let busy: Time = rows.clone().map(|row| row.busy).sum();
            // On each link along the way the packets and their EOPs; against it on the reverse
            // link, the acknowledgements.
            let acknowledgements = packets;
            let least = flits + packets + acknowledgements;
            let slots = busy / config().cycle;
            assert!(
                least - 4 <= slots && slots <= least,
                "level {level}, up {up}: {slots} of {least} slots"
            );
        }
    }
    for switch in &records.tables.switches {
        let of_switch = || {
            records
                .tables
                .links
                .iter()
                .filter(|row| row.from == switch.name)
        };
        assert_eq!(
            switch.packets,
            of_switch().map(|row| row.packets).sum::<u64>()
        );
        assert_eq!(switch.flits, of_switch().map(|row| row.flits).sum::<u64>());
        assert_eq!(switch.busy, of_switch().map(|row| row.busy).sum::<Time>());
        assert_eq!(
            switch.waiting,
            of_switch().map(|row| row.waiting).sum::<Time>()
        );
    }
    let names: std::collections::BTreeSet<_> = records
        .tables
        .switches
        .iter()
        .map(|row| &row.name)
        .collect();
    let from_switches = records
        .tables
        .links
        .iter()
        .filter(|row| !row.from.starts_with("node"))
        .map(|row| &row.from);
    assert_eq!(names, from_switches.collect());
}

#[test]
fn equal_runs_are_equal() {
    let records = run(ping(5000));
    assert_eq!(records, run(ping(5000)));
    assert_ne!(records.digest, run(ping(5001)).digest);
}

/// petrini2003 s5.1, s5.2: MPI, from main memory to main memory. An empty message's half round trip
/// takes 5.5 us, to the nanosecond as in the library's tests; long messages come at 200 MB/s, and
/// both ways at 80 MB/s each.
#[test]
fn mpi_is_that_of_the_library() {
    let file = include_str!("../../../machines/es40-qsnet.toml");
    let machine = machine::Machine::parse("es40-qsnet.toml", file, &[]).expect("it is shipped");
    let run = |message: Bytes, directions| {
        let cluster = Cluster::new(machine.cluster_config(), Watch::default());
        let ping = Ping {
            source: Placement::Main,
            destination: Placement::Main,
            message,
            directions,
            library: Some(Library::Mpi),
            ..ping(0)
        };
        ping.run(cluster).expect("it ends")
    };
    let short = run(Bytes::ZERO, Directions::One);
    assert_eq!(short.value("latency"), 5.5);
    for (directions, published) in [(Directions::One, 200.0), (Directions::Both, 80.0)] {
        let records = run(Bytes::from_mb(1), directions);
        let bandwidth = records.value("bandwidth");
        assert!((bandwidth - published).abs() < 2.0, "{bandwidth} MB/s");
    }
}
