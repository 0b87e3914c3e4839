//! The orders of Elanite's own libraries: words that others write, atomics, queues. Times equal
//! those in the simulator's own programs.

use super::process::{FOR_REPORTS, FOR_WRITES};
use super::*;
use elan::{Comparison, NodeId, ProcessId};
use libelan::{Pe, ProcessJob};
use link::{ADDRESS_SPACE, Atomic, EndKind as Ends, RemoteMemory, Width};
use std::cell::Cell;
use std::rc::Rc;

/// A rank's memory of this length that others reach.
fn opens(process: &mut TestRank, length: usize) {
    process.memory.insert(ADDRESS_SPACE, vec![0; length]);
}

fn word(process: &TestRank, at: usize) -> u64 {
    let bytes = &process.memory[&ADDRESS_SPACE][at..at + 8];
    u64::from_le_bytes(bytes.try_into().expect("8 bytes"))
}

fn put(process: &mut TestRank, to: u32, at: u64, bytes: &[u8]) -> u64 {
    process.put(to, (ADDRESS_SPACE, at), bytes)
}

/// Waits until this rank's word has a value.
fn wait_for(process: &mut TestRank, at: usize, value: u64) {
    while word(process, at) != value {
        process.wait(FOR_WRITES);
    }
}

fn atomic(process: &mut TestRank, on: u32, what: Atomic, operand: u64, compare: u64) -> u64 {
    let id = begin_atomic(process, (on, 0), what, operand, compare);
    match process.end_of(id) {
        (EndStatus::Done, Ends::Fetched { word }, _) => word,
        other => panic!("{other:?}"),
    }
}

fn begin_atomic(
    process: &mut TestRank,
    (rank, offset): (u32, u64),
    atomic: Atomic,
    operand: u64,
    compare: u64,
) -> u64 {
    let key = ADDRESS_SPACE;
    let order = Order::Atomic {
        on: RemoteMemory { rank, key, offset },
        atomic,
        width: if offset > 0 {
            Width::Four
        } else {
            Width::Eight
        },
        operand,
        compare,
    };
    process.order(order, &[])
}

/// Runs the simulator's own program on two nodes; returns process 0's measurement in picoseconds.
fn own(name: &str, program: impl AsyncFn(Pe) -> u64 + 'static) -> u64 {
    let mut cluster = Cluster::new(machine(name).cluster_config(), Bounds::default());
    let job = ProcessJob::new("own", (0..2).map(NodeId::new), 1).expect("processes");
    let (found, program) = (Rc::new(Cell::new(0)), Rc::new(program));
    let finds = Rc::clone(&found);
    let launched = job.launch(&mut cluster, async move |pe: Pe| {
        let (first, time) = (pe.vp() == ProcessId::new(0), program(pe).await);
        if first {
            finds.set(time);
        }
    });
    launched.expect("there is room");
    cluster.run().expect("it ends");
    found.get()
}

const ROUNDS: u64 = 10;

#[test]
fn a_word_that_another_rank_puts_is_seen_as_soon_as_by_the_simulators_own() {
    for name in ["es40-qsnet", "opteron-qsnet2"] {
        let own = own(name, async |pe: Pe| {
            let shmem = pe.shmem();
            let at = shmem.malloc(Bytes::new(8)).expect("room");
            let other = 1 - pe.vp().get();
            let begin = pe.now();
            for round in 1..=ROUNDS {
                if other == 1 {
                    shmem.p(at, round, other);
                }
                let seen = shmem.wait_until(at, Comparison::Equal, round).await;
                assert_eq!(seen.expect("it is mapped"), round);
                if other == 0 {
                    shmem.p(at, round, other);
                }
            }
            (pe.now() - begin).as_ps()
        });
        let measured = Arc::new(Mutex::new(0));
        let result = Arc::clone(&measured);
        finish(name, options(2), move |process| {
            opens(process, 8);
            let other = 1 - process.rank();
            let begin = process.now;
            for round in 1..=ROUNDS {
                if other == 1 {
                    put(process, other, 0, &round.to_le_bytes());
                }
                wait_for(process, 0, round);
                if other == 0 {
                    put(process, other, 0, &round.to_le_bytes());
                }
            }
            if other == 1 {
                *result.lock().unwrap() = process.now - begin;
            }
        });
        let measured = *measured.lock().unwrap();
        let difference = (measured as f64 - own as f64).abs() / own as f64;
        assert!(
            difference < 1e-3,
            "{name}: {measured} ps by orders, {own} ps"
        );
    }
}

#[test]
fn atomics_take_as_long_as_the_simulators_own() {
    for name in ["es40-qsnet", "opteron-qsnet2"] {
        let own = own(name, async |pe: Pe| {
            let shmem = pe.shmem();
            let at = shmem.malloc_elan(Bytes::new(8)).expect("room");
            if pe.vp() == ProcessId::new(0) {
                for _ in 0..ROUNDS {
                    shmem.fadd(at, 3, 1).await.expect("it is mapped");
                    shmem.cswap(at, 999, 3, 1).await.expect("it is mapped");
                }
            }
            pe.now().as_ps()
        });
        let measured = Arc::new(Mutex::new(0));
        let result = Arc::clone(&measured);
        finish(name, options(2), move |process| {
            opens(process, 8);
            if process.rank() == 0 {
                for round in 0..ROUNDS {
                    assert_eq!(atomic(process, 1, Atomic::Add, 3, 0), 3 * round);
                    let found = atomic(process, 1, Atomic::CompareSwap, 7, 999);
                    assert_eq!(found, 3 * round + 3);
                }
                *result.lock().unwrap() = process.now;
                process.send_and_wait(1, 0, &[]);
            } else {
                process.receive_and_wait(0, 0, 0);
                assert_eq!(word(process, 0), 3 * ROUNDS);
            }
        });
        let measured = *measured.lock().unwrap();
        let difference = (measured as f64 - own as f64).abs() / own as f64;
        assert!(
            difference < 1e-3,
            "{name}: {measured} ps by orders, {own} ps"
        );
    }
}

/// Several ranks change one word; the word's owner waits for it, and changes it by itself, too.
#[test]
fn atomics_of_many_ranks_on_one_word_lose_nothing() {
    const RANKS: u32 = 4;
    for network in [NetworkMode::Machine, NetworkMode::Ideal] {
        let run = || {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let sees = Arc::clone(&seen);
            let results = finish("es40-qsnet", on(network, RANKS), move |process| {
                opens(process, 8);
                let mut found = Vec::new();
                for _ in 0..5 {
                    found.push(atomic(process, 0, Atomic::Add, 1, 0));
                }
                loop {
                    let old = atomic(process, 0, Atomic::Fetch, 0, 0);
                    if atomic(process, 0, Atomic::CompareSwap, old + 100, old) == old {
                        break;
                    }
                }
                if process.rank() == 0 {
                    let all = 5 * u64::from(RANKS) + 100 * u64::from(RANKS);
                    wait_for(process, 0, all);
                }
                sees.lock().unwrap().push((process.rank(), found));
            });
            let mut seen = seen.lock().unwrap().clone();
            seen.sort();
            (seen, results.digest)
        };
        let (first, digest) = run();
        let mut low: Vec<u64> = first.iter().flat_map(|(_, found)| found).copied().collect();
        low.sort_unstable();
        low.dedup();
        assert_eq!(low.len(), 5 * RANKS as usize, "{network:?}: {first:?}");
        assert_eq!(run(), (first, digest), "{network:?}: runs are equal");
    }
}

#[test]
fn queues_bring_messages_in_order_and_wait_for_slots() {
    for network in [NetworkMode::Machine, NetworkMode::Ideal] {
        finish("es40-qsnet", on(network, 3), move |process| {
            let insert = |process: &mut TestRank, bytes: &[u8]| {
                let id = process.order(Order::Enqueue { to: 0, name: 5 }, bytes);
                process.end_of(id).0
            };
            if process.rank() > 0 {
                let from = process.rank() as u8;
                process.sleep(Time::from_us(50));
                for number in 0..6 {
                    assert_eq!(insert(process, &[from, number, 0]), EndStatus::Done);
                }
                // The last two of them could not be in the queue before the first was taken out.
                let all = process.now;
                assert!(network == NetworkMode::Ideal || all > 500_000_000, "{all}");
                assert_eq!(insert(process, &[0; 65]), EndStatus::Refused);
                return;
            }
            let (name, slots, slot) = (5, 4, 64);
            process.order(Order::Queue { name, slots, slot }, &[]);
            process.sleep(Time::from_us(500));
            let mut next = [0, 0];
            for _ in 0..12 {
                let message = loop {
                    let queue = process.queues.entry(5).or_default();
                    if let Some(message) = queue.pop_front() {
                        break message;
                    }
                    process.wait(FOR_REPORTS);
                };
                let from = usize::from(message[0]) - 1;
                assert_eq!((message[1], message.len()), (next[from], 3));
                next[from] += 1;
                process.order(Order::Dequeued { name: 5 }, &[]);
            }
        });
    }
}

#[test]
fn what_has_been_written_before_a_wait_ends_it() {
    finish("es40-qsnet", options(2), |process| {
        opens(process, 16);
        if process.rank() == 0 {
            let first = put(process, 1, 0, &[1; 8]);
            process.end_of(first);
            // Another put comes while the other rank's memory is read by a get.
            let second = put(process, 1, 8, &[2; 8]);
            let get = process.get(1, (ADDRESS_SPACE, 0), 16);
            process.end_of(second);
            assert_eq!(process.end_of(get).0, EndStatus::Done);
        } else {
            process.sleep(Time::from_us(100));
            let before = process.now;
            // The writes came in the sleep, and were reported at its end.
            assert_eq!(word(process, 8), 0x0202_0202_0202_0202);
            let patience = Patience {
                writes: true,
                ..Patience::until(before + 1_000_000)
            };
            process.wait(RankWait::Report(patience));
            assert_eq!(process.now, before + 1_000_000);
        }
    });
}

#[test]
fn who_reaches_where_no_memory_is_hears_of_it() {
    finish("es40-qsnet", options(2), |process| {
        opens(process, 8);
        if process.rank() == 0 {
            let get = process.get(1, (ADDRESS_SPACE, 4), 8);
            assert_eq!(process.end_of(get).0, EndStatus::Refused);
            let atomic = begin_atomic(process, (1, 100), Atomic::Fetch, 0, 0);
            assert_eq!(process.end_of(atomic).0, EndStatus::Refused);
        }
    });
    let (outcome, _) = play(machine("es40-qsnet"), options(2), WHOLE, |process| {
        opens(process, 8);
        if process.rank() == 0 {
            put(process, 1, 0x1000, &[1; 8]);
        }
        process.wait(FOR_WRITES);
    });
    assert_eq!((outcome.end, outcome.rank), (RunEnd::Foul, Some(0)));
    let says =
        "rank 0 puts 8 B at address 0x1000 of rank 1, which lets others reach no memory there";
    assert_eq!(outcome.message, says);
}
