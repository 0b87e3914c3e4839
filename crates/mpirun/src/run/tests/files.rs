//! The times for operations on files, against closed forms.

use super::process::{TestRank, machine, options, play};
use super::{NetworkMode, Options, Results, WHOLE, on};
use crate::ideal;
use crate::outcome::RunEnd;
use config::Override;
use link::{FileAccess, RankWait};
use machine::Machine;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use units::Time;

const MB: u64 = 1 << 20;
const LATENCY: Time = Time::from_us(100);

/// A machine's rate in bytes a second.
const RATE: u64 = 100_000_000;
const TOTAL: u64 = 250_000_000;

/// es40-qsnet with a file system.
fn with_files(more: &[&str]) -> Machine {
    let keys = ["files.latency=100 us", "files.rate=100 MB/s"];
    let keys = keys.iter().chain(more);
    let keys: Vec<Override> = keys.map(|key| Override::parse(key).unwrap()).collect();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines");
    let text = std::fs::read_to_string(format!("{root}/es40-qsnet.toml")).expect("it is shipped");
    Machine::parse("es40-qsnet", &text, &keys).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The time for bytes at a rate.
fn takes(bytes: u64, rate: u64) -> Time {
    Time::from_ps((u128::from(bytes) * 1_000_000_000_000).div_ceil(rate.into()) as u64)
}

impl TestRank {
    fn access(&mut self, (offset, read, written): (u64, u64, u64)) -> Time {
        let begin = self.now;
        self.wait(RankWait::File(FileAccess {
            offset,
            read,
            written,
        }));
        Time::from_ps(self.now - begin)
    }
}

/// Runs a program; returns its output for each rank, and the results.
fn told(
    machine: Machine,
    options: Options,
    longest: Time,
    program: fn(&mut TestRank) -> Vec<Time>,
) -> (BTreeMap<u32, Vec<Time>>, Results) {
    let times = Arc::new(Mutex::new(BTreeMap::new()));
    let tells = Arc::clone(&times);
    let (outcome, results) = play(machine, options, longest, move |process| {
        let own = program(process);
        tells.lock().unwrap().insert(process.rank(), own);
    });
    assert_eq!(outcome.end, RunEnd::Finished, "{}", outcome.message);
    let times = times.lock().unwrap().clone();
    (times, results)
}

#[test]
fn one_rank_takes_the_latency_and_its_bytes() {
    for network in [NetworkMode::Machine, NetworkMode::Ideal] {
        let (times, results) = told(with_files(&[]), on(network, 1), WHOLE, |process| {
            [(0, 0, 0), (0, 0, MB), (5, MB, 0), (0, 1, 0)]
                .map(|access| process.access(access))
                .to_vec()
        });
        let bytes = [0, MB, MB, 1].map(|bytes| LATENCY + takes(bytes, RATE));
        assert_eq!(times[&0], bytes);
        let files = results.ranks[0].files;
        let sums = (files.operations, files.read, files.written);
        assert_eq!(sums, (4, MB + 1, MB));
        assert_eq!(
            files.time,
            bytes.into_iter().fold(Time::ZERO, |sum, time| sum + time)
        );
    }
}

#[test]
fn ranks_of_a_node_follow_one_another() {
    let options = Options {
        ranks_per_node: 4,
        ..options(8)
    };
    let (times, _) = told(with_files(&[]), options, WHOLE, |process| {
        vec![process.access((0, 0, MB))]
    });
    for (rank, time) in times {
        let before = u64::from(rank % 4 + 1);
        assert_eq!(time, [LATENCY + takes(MB, RATE) * before], "rank {rank}");
    }
}

#[test]
fn nodes_share_the_rate_of_all() {
    let machine = || with_files(&["files.total=250 MB/s"]);
    let (times, _) = told(machine(), options(8), WHOLE, |process| {
        vec![process.access((0, MB, 0)), process.access((0, 0, 0))]
    });
    for (rank, time) in times {
        let all = takes(MB, TOTAL) * u64::from(rank + 1);
        let last = LATENCY + takes(MB, RATE).max(all);
        assert_eq!(time, [last, LATENCY], "rank {rank}");
    }
}

/// Computations and accesses with many lengths, which meet at many moments.
fn various(process: &mut TestRank) -> Vec<Time> {
    let mut seed = u64::from(process.rank()) + 7;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    (0..20)
        .map(|_| {
            process.now += 1000 * next(4);
            let bytes = [0, 1, 100, 1000, 5000][next(5) as usize];
            let (read, written) = if next(2) == 0 { (bytes, 0) } else { (0, bytes) };
            let time = process.access((next(1 << 30), read, written));
            if next(3) == 0 {
                process.sleep(Time::from_ns(10 * next(40)));
            }
            time
        })
        .collect()
}

#[test]
fn a_lookahead_changes_no_access() {
    let servers = [
        "files.latency=1 us",
        "files.total=250 MB/s",
        "files.servers=2",
    ];
    for keys in [&servers[..1], &servers[..2], &servers[..]] {
        for network in [NetworkMode::Machine, NetworkMode::Ideal] {
            let run = |longest| told(with_files(keys), on(network, 8), longest, various);
            let (one, first) = run(Time::ZERO);
            let (ahead, second) = run(WHOLE);
            assert_eq!(one, ahead, "{network:?}, {keys:?}");
            assert_eq!(first.digest, second.digest, "{network:?}, {keys:?}");
        }
    }
}

/// A megabyte from each of eight ranks, in a file: written, and read back.
fn shared_file(process: &mut TestRank) -> Vec<Time> {
    let place = u64::from(process.rank()) * MB;
    vec![
        process.access((place, 0, MB)),
        process.access((place, MB, 0)),
    ]
}

#[test]
fn bytes_cross_the_network_to_io_nodes() {
    let files = |servers: &str| {
        let keys = ["files.rate=1 GB/s", "files.total=4 GB/s", servers];
        told(with_files(&keys), options(8), WHOLE, shared_file)
    };
    let (eight, results) = files("files.servers=8");
    assert_eq!(files("files.servers=8").1.digest, results.digest);
    let payload = 320;
    assert!(
        results.packets > 2 * 8 * MB / payload,
        "{}",
        results.packets
    );
    let links = &results.links;
    let flits = |node: &str| {
        let of_node = links.iter().filter(|row| row.to == node);
        of_node.map(|row| row.flits).sum::<u64>()
    };
    for node in 56..64 {
        // Two bytes in each flit, for a megabyte and its overhead.
        assert!(flits(&format!("node {node}")) > MB / 2, "node {node}");
    }
    assert!(flits("node 55") < 10, "no I/O node");
    // All bytes pass a single I/O node's bus, at most at its rate.
    let (one, _) = files("files.servers=1");
    let longest = |times: &BTreeMap<u32, Vec<Time>>| times.values().map(|times| times[0]).max();
    assert!(longest(&one) > longest(&eight), "{one:?} {eight:?}");
    assert!(longest(&one) > Some(takes(8 * MB, 264_000_000)), "{one:?}");
}

/// The length of a default stripe in bytes.
const STRIPE: u64 = 64 << 10;

/// A file system on two I/O nodes, each with half the total rate, that the ranks' nodes do not slow
/// down.
fn on_two_servers() -> Machine {
    with_files(&[
        "files.rate=1 GB/s",
        "files.total=250 MB/s",
        "files.servers=2",
    ])
}

#[test]
fn stripes_of_one_rank_move_in_rounds() {
    let (times, _) = told(
        on_two_servers(),
        on(NetworkMode::Ideal, 1),
        WHOLE,
        |process| {
            vec![
                process.access((0, 0, 6 * STRIPE)),
                process.access((0, 6 * STRIPE, 0)),
                process.access((STRIPE / 2, 0, STRIPE)),
            ]
        },
    );
    // In each round, both I/O nodes have a stripe; the second library call begins after the first.
    let round = |bytes| ideal::CALL + ideal::LATENCY + takes(bytes, TOTAL / 2);
    let whole = LATENCY + round(STRIPE) * 3;
    assert_eq!(times[&0], [whole, whole, LATENCY + round(STRIPE / 2)]);
}

#[test]
fn io_nodes_serve_stripes_of_many_ranks_one_after_the_other() {
    let last = |program: fn(&mut TestRank) -> Vec<Time>| {
        let (times, _) = told(on_two_servers(), on(NetworkMode::Ideal, 8), WHOLE, program);
        times.into_values().flatten().max()
    };
    let after = |stripes| LATENCY + ideal::LATENCY + takes(STRIPE, TOTAL / 2) * stripes;
    let spread = last(|process| {
        let place = u64::from(process.rank()) * STRIPE;
        vec![process.access((place, 0, STRIPE))]
    });
    assert_eq!(spread, Some(after(4)));
    let heaped = last(|process| vec![process.access((0, 0, STRIPE))]);
    assert_eq!(heaped, Some(after(8)));
}

#[test]
fn a_machine_without_a_file_system_takes_no_time() {
    let (times, results) = told(machine("es40-qsnet"), options(1), WHOLE, |process| {
        vec![process.access((0, 0, MB))]
    });
    assert_eq!(
        (&times[&0][..], results.ranks[0].files.operations),
        (&[Time::ZERO][..], 0)
    );
}
