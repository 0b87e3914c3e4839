//! Collective calls: times against the simulator's own programs, bytes against the expected ones,
//! and mistakes by ranks.

use super::process::{FOR_REPORTS, TestRank, machine, options, play};
use super::{WHOLE, finish};
use crate::groups::CarrierCounts;
use crate::{Memory, NetworkMode, RunEnd};
use elan::{Cluster, NodeId, Placement, Watch};
use link::collective::{ALL_RANKS, CollectiveKind, Element, ReductionOperator, VectorReduction};
use link::{CollectiveCall, Combiner, EndKind as Ends, EndStatus, Order};
use std::sync::{Arc, Mutex};
use units::{Bytes, Time};
use workload::Window;
use workload::collective::{Collective, CollectiveMessage, CollectiveOperation as Own};

/// A group call.
#[derive(Clone, Copy)]
struct Call {
    key: u64,
    kind: CollectiveKind,
    hardware: bool,
    root: u32,
    reduction: Option<VectorReduction>,
    size: u64,
}

const BARRIER: Call = Call {
    key: ALL_RANKS,
    kind: CollectiveKind::Barrier,
    hardware: true,
    root: 0,
    reduction: None,
    size: 0,
};

impl TestRank {
    fn call(&mut self, call: Call, bytes: &[u8]) -> (EndStatus, Vec<u8>) {
        let id = self.start(call, false, bytes);
        self.result_of(id)
    }

    /// Begins a nonblocking call.
    fn post(&mut self, call: Call, bytes: &[u8]) -> u64 {
        self.start(call, true, bytes)
    }

    fn start(&mut self, call: Call, posted: bool, bytes: &[u8]) -> u64 {
        let order = Order::Collective(CollectiveCall {
            group: call.key,
            kind: call.kind,
            root: call.root,
            size: call.size,
            combiner: call.reduction.map(Combiner::Known),
            hardware: call.hardware,
            posted,
        });
        self.order(order, bytes)
    }

    /// A call's status and the bytes that it has brought.
    fn result_of(&mut self, id: u64) -> (EndStatus, Vec<u8>) {
        let (status, end, bytes) = self.end_of(id);
        let size = bytes.len() as u64;
        assert_eq!(end, Ends::Collected { size });
        (status, bytes)
    }

    /// Names a group, and asks whether there is room for it.
    fn group(&mut self, key: u64, ranks: &[u32]) -> EndStatus {
        let members = ranks.to_vec();
        let id = self.order(
            Order::Group {
                key,
                ranks: members,
            },
            &[],
        );
        if ranks.is_empty() {
            EndStatus::Done
        } else {
            self.end_of(id).0
        }
    }
}

/// The latencies of all ranks in the last of some equal calls, in microseconds; the first call
/// starts threads.
fn times(name: &str, ranks: u32, memory: Memory, call: Call) -> Vec<f64> {
    let all = Arc::new(Mutex::new(Vec::new()));
    let times = Arc::clone(&all);
    let options = crate::Options {
        memory,
        ..options(ranks)
    };
    finish(name, options, move |process| {
        let bytes = vec![process.rank() as u8; call.size as usize];
        let given = if call.root == process.rank() || call.reduction.is_some() {
            &bytes[..]
        } else {
            &[]
        };
        process.call(call, given);
        for _ in 0..20 {
            let begin = process.now;
            assert_eq!(process.call(call, given).0, EndStatus::Done);
            let time = (process.now - begin) as f64 / 1e6;
            times.lock().unwrap().push(time);
        }
    });
    let all = all.lock().unwrap();
    all.clone()
}

/// The mean latency in the simulator's own program.
fn own(name: &str, ranks: u32, operation: Own, message: Option<CollectiveMessage>) -> f64 {
    let program = Collective {
        operation,
        message,
        nodes: NodeId::all(ranks).collect(),
        processes: 1,
        repeats: 20,
        groups: 1,
        may_deadlock: false,
        compute: None,
        traffic_class: 0,
    };
    let cluster = Cluster::new(machine(name).cluster_config(), Watch::default());
    let window = Window {
        warm_up: units::Time::ZERO,
        length: units::Time::ZERO,
        batches: 1,
        slices: 0,
        watch: Time::ZERO,
        precision: None,
    };
    let records = program.run(&[], cluster, window, 1).expect("there is room");
    let mut rows = records.tables.rows.iter();
    let row = rows.find(|row| row.metric == "latency" && row.batch == Some(0));
    row.expect("it is measured").value
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

#[test]
fn calls_take_as_long_as_the_simulators_own() {
    let name = "es40-qsnet";
    for (hardware, operation, published) in [(true, Own::Hgsync, 6.0), (false, Own::Gsync, 14.8)] {
        let call = Call {
            hardware,
            ..BARRIER
        };
        let measured = mean(&times(name, 64, Memory::Main, call));
        let own = own(name, 64, operation, None);
        assert!((measured - own).abs() < 0.01 * own, "{measured} and {own}");
        assert!(
            (measured - published).abs() < 0.01 * published,
            "{measured}"
        );
    }
    for (memory, placement) in [
        (Memory::Main, Placement::Main),
        (Memory::Elan, Placement::Adapter),
    ] {
        for (hardware, operation) in [(true, Own::Hbcast), (false, Own::Bcast)] {
            let size = 256 << 10;
            let kind = CollectiveKind::Broadcast;
            let call = Call {
                kind,
                hardware,
                size,
                ..BARRIER
            };
            let measured = mean(&times(name, 16, memory, call));
            let message = CollectiveMessage {
                memory: placement,
                size: Bytes::new(size),
            };
            let own = own(name, 16, operation, Some(message));
            assert!(
                (measured - own).abs() < 0.01 * own,
                "{memory:?} {hardware}: {measured} and {own}"
            );
        }
    }
}

/// Every rank's vector, and their sum.
fn vector(rank: u32, words: u64) -> Vec<u8> {
    (0..words)
        .flat_map(|word| (word * 3 + u64::from(rank)).to_ne_bytes())
        .collect()
}

fn sum(ranks: &[u32], words: u64) -> Vec<u8> {
    let ranks: Vec<u64> = ranks.iter().map(|&rank| rank.into()).collect();
    let word = |word| ranks.iter().map(|rank| word * 3 + rank).sum::<u64>();
    (0..words)
        .flat_map(|index| word(index).to_ne_bytes())
        .collect()
}

/// All calls in a group, by hardware and by software, with checked bytes.
fn all_calls(process: &mut TestRank, key: u64, ranks: &[u32]) {
    let place = ranks
        .iter()
        .position(|&rank| rank == process.rank())
        .unwrap() as u32;
    let reduction = VectorReduction::new(ReductionOperator::Sum, Element::U64);
    for hardware in [true, false] {
        let barrier = Call {
            key,
            hardware,
            ..BARRIER
        };
        assert_eq!(process.call(barrier, &[]), (EndStatus::Done, vec![]));
        for (step, words) in [(0, 1), (1, 1000), (2, 300_000)] {
            let (root, size) = ((step + 1) % ranks.len() as u32, 8 * words);
            let broadcast = Call {
                kind: CollectiveKind::Broadcast,
                root,
                size,
                ..barrier
            };
            let theirs = vector(ranks[root as usize], words);
            let (mine, due) = if place == root {
                (&theirs[..], &[][..])
            } else {
                (&[][..], &theirs[..])
            };
            assert_eq!(
                process.call(broadcast, mine),
                (EndStatus::Done, due.to_vec()),
                "{ranks:?}"
            );
            if words > 1000 {
                continue; // combining takes a while
            }
            let mine = vector(process.rank(), words);
            let reduce = Call {
                kind: CollectiveKind::Reduce,
                reduction,
                ..broadcast
            };
            let due = if place == root {
                sum(ranks, words)
            } else {
                vec![]
            };
            assert_eq!(process.call(reduce, &mine), (EndStatus::Done, due));
            let for_all = Call {
                kind: CollectiveKind::AllReduce,
                ..reduce
            };
            assert_eq!(
                process.call(for_all, &mine),
                (EndStatus::Done, sum(ranks, words))
            );
        }
    }
}

#[test]
fn bytes_come_right_in_groups_of_all_kinds() {
    for (network, memory, ranks_per_node) in [
        (NetworkMode::Machine, Memory::Main, 1),
        (NetworkMode::Machine, Memory::Elan, 3),
        (NetworkMode::Ideal, Memory::Main, 1),
    ] {
        let options = crate::Options {
            ranks_per_node,
            network,
            memory,
            ..options(6)
        };
        let results = finish("es40-qsnet", options, move |process| {
            all_calls(process, ALL_RANKS, &[0, 1, 2, 3, 4, 5]);
            let half: &[u32] = if process.rank() % 2 == 0 {
                &[4, 0, 2]
            } else {
                &[1, 3, 5]
            };
            // Abandoned groups are used again, and there are more groups than would fit.
            let key = 7 + u64::from(process.rank() % 2);
            for _ in 0..2 {
                assert_eq!(process.group(key, half), EndStatus::Done);
                all_calls(process, key, half);
                process.group(key, &[]);
                process.call(BARRIER, &[]);
            }
        });
        // Barriers and broadcasts by all ranks. The halves are not on adjacent nodes, or not in
        // contexts with one number.
        let hardware = network == NetworkMode::Ideal;
        let broadcasts = 4 * 6 * if hardware { 3 } else { 1 } + 2 * 6;
        assert_eq!(results.ways.hardware, broadcasts, "{network:?}");
        assert_eq!(results.ways.mpi, 0);
    }
}

/// Nonblocking calls, several at a time and among others, in all ways; computation continues
/// meanwhile.
#[test]
fn calls_that_do_not_block_end_while_the_rank_computes() {
    for (network, memory) in [
        (NetworkMode::Machine, Memory::Main),
        (NetworkMode::Machine, Memory::Elan),
        (NetworkMode::Ideal, Memory::Main),
    ] {
        let options = crate::Options {
            network,
            memory,
            ..options(5)
        };
        finish("es40-qsnet", options, move |process| {
            let ranks: Vec<u32> = (0..5).collect();
            for hardware in [true, false] {
                let barrier = Call {
                    hardware,
                    ..BARRIER
                };
                let mut begun = Vec::new();
                for (root, words) in [(3, 1), (0, 1000), (4, 300_000), (2, 20)] {
                    let theirs = vector(root, words);
                    let call = Call {
                        kind: CollectiveKind::Broadcast,
                        root,
                        size: 8 * words,
                        ..barrier
                    };
                    let (mine, due) = if process.rank() == root {
                        (&theirs[..], vec![])
                    } else {
                        (&[][..], theirs.clone())
                    };
                    begun.push((process.post(call, mine), due));
                    begun.push((process.post(barrier, &[]), vec![]));
                }
                assert_eq!(process.call(barrier, &[]), (EndStatus::Done, vec![]));
                // The blocking call comes after all others.
                let over = process.now;
                for (id, due) in begun.into_iter().rev() {
                    assert_eq!(process.result_of(id), (EndStatus::Done, due));
                }
                assert_eq!(process.now, over, "{network:?}, {hardware}");
                // All have come, and compute longer than the calls take.
                let begin = process.now;
                let posted = process.post(barrier, &[]);
                process.sleep(Time::from_ms(1));
                assert_eq!(process.result_of(posted).0, EndStatus::Done);
                let took = process.now - begin;
                assert!(took < Time::from_us(1010).as_ps(), "{took}");
                all_calls(process, ALL_RANKS, &ranks);
            }
        });
    }
}

/// Nonblocking barriers are as fast as blocking ones, but for the request's cost.
#[test]
fn a_barrier_that_does_not_block_takes_as_long() {
    let request = machine("es40-qsnet").cluster_config().host.request;
    let request = request.as_ps() as f64 / 1e6;
    for hardware in [true, false] {
        let call = Call {
            hardware,
            ..BARRIER
        };
        let blocks = mean(&times("es40-qsnet", 64, Memory::Main, call));
        let all = Arc::new(Mutex::new(Vec::new()));
        let times = Arc::clone(&all);
        finish("es40-qsnet", options(64), move |process| {
            process.call(call, &[]);
            for _ in 0..20 {
                let begin = process.now;
                let posted = process.post(call, &[]);
                assert_eq!(process.result_of(posted).0, EndStatus::Done);
                let time = (process.now - begin) as f64 / 1e6;
                times.lock().unwrap().push(time);
            }
        });
        let posted = mean(&all.lock().unwrap()) - request;
        assert!(
            (posted - blocks).abs() < 0.01 * blocks,
            "{posted}, {blocks}"
        );
    }
}

#[test]
fn there_is_room_for_groups_that_are_left_and_not_for_others_without_end() {
    let results = finish("es40-qsnet", options(2), |process| {
        for key in 1..=400 {
            assert_eq!(process.group(key, &[1, 0]), EndStatus::Done);
            process.call(Call { key, ..BARRIER }, &[]);
            process.group(key, &[]);
            process.call(BARRIER, &[]);
        }
        let many = (1001..1500).find(|&key| process.group(key, &[1, 0]) == EndStatus::Nothing);
        assert!(many.is_some_and(|key| key > 1100), "{many:?}");
    });
    assert_eq!(
        results.ways,
        CarrierCounts {
            hardware: 1600,
            elan: 0,
            mpi: 0
        }
    );
}

#[test]
fn a_member_that_calls_something_else_is_told_so() {
    let (outcome, _) = play(machine("es40-qsnet"), options(2), WHOLE, |process| {
        if process.rank() == 1 {
            process.sleep(units::Time::from_us(100));
            let other = Call {
                kind: CollectiveKind::Broadcast,
                size: 8,
                root: 0,
                ..BARRIER
            };
            assert_eq!(process.call(other, &[]).0, EndStatus::Truncated);
        } else {
            process.call(BARRIER, &[]);
        }
    });
    assert_eq!(outcome.end, RunEnd::Deadlock);
    let waiting: Vec<_> = outcome
        .waiting
        .iter()
        .map(|one| (one.rank, one.what.join(", ")))
        .collect();
    assert_eq!(
        waiting,
        [(0, "calls a barrier among 2 ranks by hardware".to_string())]
    );
}

/// The report names a rank that waits for such a call, and one with a call that differs from the
/// others.
#[test]
fn a_deadlock_names_calls_that_do_not_block() {
    let (outcome, _) = play(machine("es40-qsnet"), options(2), WHOLE, |process| {
        if process.rank() == 1 {
            process.sleep(units::Time::from_us(100));
            assert_eq!(process.call(BARRIER, &[]).0, EndStatus::Truncated);
        } else {
            let posted = process.post(BARRIER, &[]);
            process.result_of(posted);
        }
    });
    assert_eq!(outcome.end, RunEnd::Deadlock);
    let waiting: Vec<_> = outcome
        .waiting
        .iter()
        .map(|one| (one.rank, one.what.join(", ")))
        .collect();
    assert_eq!(
        waiting,
        [(
            0,
            "has begun a barrier among 2 ranks by hardware".to_string()
        )]
    );
}

#[test]
fn calls_that_hosts_must_carry_out_cannot_be_posted() {
    let reduction = VectorReduction::new(ReductionOperator::Sum, Element::U64);
    let reduce = Call {
        kind: CollectiveKind::Reduce,
        reduction,
        size: 8,
        ..BARRIER
    };
    for (call, given, ranks_per_node) in [(reduce, 8, 1), (BARRIER, 0, 2)] {
        let options = crate::Options {
            ranks_per_node,
            ..options(2)
        };
        let (outcome, _) = play(machine("es40-qsnet"), options, WHOLE, move |process| {
            if process.rank() > 0 {
                process.wait(FOR_REPORTS);
            } else {
                let posted = process.post(call, &vec![0; given]);
                process.result_of(posted);
            }
        });
        assert_eq!((outcome.end, outcome.rank), (RunEnd::Foul, Some(0)));
    }
}

#[test]
fn calls_that_make_no_sense_end_the_run() {
    let reduction = VectorReduction::new(ReductionOperator::Sum, Element::U64);
    let of = |kind, size| Call {
        kind,
        size,
        ..BARRIER
    };
    let calls = [
        (Call { key: 5, ..BARRIER }, 0),
        (Call { root: 2, ..BARRIER }, 0),
        (BARRIER, 1),
        (of(CollectiveKind::Broadcast, 9), 8),
        (of(CollectiveKind::Reduce, 8), 8),
        (
            Call {
                reduction,
                ..of(CollectiveKind::Reduce, 12)
            },
            12,
        ),
    ];
    let groups: [&'static [u32]; 3] = [&[0, 2], &[1], &[0, 0]];
    let calls = calls.map(|(call, given)| (Some((call, given)), &[][..]));
    let groups = groups.map(|ranks| (None, ranks));
    for (call, ranks) in calls.into_iter().chain(groups) {
        let (outcome, _) = play(machine("es40-qsnet"), options(2), WHOLE, move |process| {
            if process.rank() > 0 {
                process.wait(FOR_REPORTS);
            } else if let Some((call, given)) = call {
                process.call(call, &vec![0; given]);
            } else {
                process.group(5, ranks);
            }
        });
        let ended = (outcome.end, outcome.rank);
        assert_eq!(ended, (RunEnd::Foul, Some(0)), "{}", outcome.message);
    }
}
