//! MPI on the shipped `QsNetII` machine: overlap with computation, its absence where the host does
//! the work, and messages within a node.
#![allow(clippy::float_cmp)] // equal results are equal to the last bit

use elan::{Cluster, Config, Matching, Placement, Watch};
use machine::Machine;
use units::{Bytes, Time};
use workload::ping::{Directions, Library, Ping};
use workload::{Overlap, Records};

/// The machine without its noise, which has separate tests: times are sums then.
fn opteron() -> Config {
    let file = include_str!("../../../machines/opteron-qsnet2.toml");
    let machine = Machine::parse("opteron-qsnet2.toml", file, &[]).expect("it is shipped");
    Config {
        noise: Vec::new(),
        ..machine.cluster_config()
    }
}

fn run(config: &Config, kilobytes: u64, compute: u64) -> Records {
    let overlap = Overlap {
        from: 0,
        to: 5,
        message: Bytes::from_kb(kilobytes),
        compute: Time::from_us(compute),
        repeats: 3,
    };
    let cluster = Cluster::new(config.clone(), Watch::default());
    overlap.run(cluster).expect("it ends")
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs()
}

/// The phases make up the round; availability and bandwidth follow from them.
#[test]
fn phases_add_up() {
    for compute in [0, 50, 500] {
        let records = run(&opteron(), 32, compute);
        let of = |metric| records.value(metric);
        let round = of("call") + of("compute_phase") + of("wait");
        assert!(near(of("round"), round));
        assert!(near(of("compute_phase"), compute as f64));
        assert!(near(of("availability"), compute as f64 / round));
        assert!(near(of("bandwidth"), 2.0 * 32.0 * 1024.0 / round));
    }
}

/// The progress rule (garcia2005 s3.2): both transfers end while the process computes and makes no
/// calls. Short messages and long ones; only the calls themselves remain, for any computation
/// length.
#[test]
fn transfers_end_during_the_computation() {
    for kilobytes in [0, 1, 32, 256] {
        let alone = run(&opteron(), kilobytes, 0).value("round");
        let compute = (1.2 * alone) as u64 + 20;
        let records = [compute, 2 * compute].map(|compute| run(&opteron(), kilobytes, compute));
        for records in &records {
            assert_eq!(records.value("over"), 1.0, "{kilobytes} KB");
            assert!(records.value("wait") < 1.0, "{kilobytes} KB");
        }
        let [one, other] = records.map(|records| records.value("call") + records.value("wait"));
        assert!(near(one, other), "{kilobytes} KB: {one} and {other} us");
    }
}

/// A computation that is shorter than the transfers adds no time.
#[test]
fn short_computations_are_free() {
    let alone = run(&opteron(), 256, 0);
    for compute in [10, 100, 500] {
        let busy = run(&opteron(), 256, compute);
        let kept = busy.value("bandwidth") / alone.value("bandwidth");
        assert!(kept > 0.95, "{kept} with {compute} us");
    }
}

/// Without offload there is no progress during the computation: the transfer time is added to it.
#[test]
fn without_offload_nothing_overlaps() {
    let mut config = opteron();
    config.tport.matching = Matching::Host;
    let alone = run(&config, 32, 0).value("round");
    for compute in [200, 1000] {
        let records = run(&config, 32, compute);
        assert_eq!(records.value("over"), 0.0);
        let added = records.value("round") - compute as f64;
        assert!(
            added > 0.7 * alone,
            "{added} us beside the computation; {alone} us alone"
        );
    }
}

fn latency(to: u32, bytes: u64) -> (f64, u64) {
    let ping = Ping {
        from: 0,
        to,
        directions: Directions::One,
        source: Placement::Main,
        destination: Placement::Main,
        message: Bytes::new(bytes),
        repeats: 3,
        library: Some(Library::Mpi),
    };
    let cluster = Cluster::new(opteron(), Watch::default());
    let records = ping.run(cluster).expect("it ends");
    (records.value("latency"), records.packets)
}

/// A dual-processor node's two processes exchange messages through shared memory, without the
/// network: short ones faster, long ones at a processor's copy rate.
#[test]
fn messages_within_a_node() {
    for bytes in [0, 64, 4096, 1 << 20] {
        let ((inside, packets), (outside, _)) = (latency(0, bytes), latency(1, bytes));
        assert_eq!(packets, 0);
        assert!(inside < outside, "{bytes} bytes: {inside} and {outside} us");
    }
    let copy = opteron().host.copy.time(Bytes::from_mb(1)).as_us_f64();
    let (inside, _) = latency(0, 1 << 20);
    assert!(
        (copy..1.05 * copy).contains(&inside),
        "{inside} and {copy} us"
    );
}
