//! A share of the swarm, small enough for every day, and the swarm's own guarantees.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ELANITE_SWARM_SEED` | the first seed | 0 |
//! | `ELANITE_SWARM_CASES` | how many | 200; 10,000 in the long test |
//! | `ELANITE_FUZZ_SECONDS` | for how long instead | |
//! | `ELANITE_FUZZ_SHRINK` | most runs to make a failing case smaller | 300 |

#![expect(clippy::disallowed_methods, reason = "the search may end after a time")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use swarm::program::ProcessOperation;
use swarm::{Case, RunReport, check, shrink};

fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    let number = value.parse();
    Some(number.unwrap_or_else(|_| panic!("{name}={value} is no number")))
}

/// A seed's report.
fn right(seed: u64) -> RunReport {
    sound(seed, Case::of(seed))
}

/// A case's report.
fn sound(seed: u64, case: Case) -> RunReport {
    check(&case).unwrap_or_else(|failure| {
        println!("seed {seed}: {failure}");
        let most = variable("ELANITE_FUZZ_SHRINK").unwrap_or(300);
        let shrunk = shrink(case, failure, most as u32);
        panic!(
            "seed {seed}: {}\nto see it again: make swarm CASE='{}'",
            shrunk.failure, shrunk.case
        )
    })
}

fn many(count: u64) {
    let first = variable("ELANITE_SWARM_SEED").unwrap_or(0);
    let count = variable("ELANITE_SWARM_CASES").unwrap_or(count);
    let (seconds, begin) = (variable("ELANITE_FUZZ_SECONDS"), Instant::now());
    let seconds = seconds.map(Duration::from_secs);
    let goes_on = |seed| match seconds {
        Some(seconds) => begin.elapsed() < seconds,
        None => seed < first + count,
    };
    for seed in (first..).take_while(|&seed| goes_on(seed)) {
        right(seed);
    }
}

#[test]
fn a_share_of_the_swarm_is_right() {
    many(200);
}

/// Cases that have failed once, with one-cycle credits.
#[test]
fn no_mistake_comes_back() {
    let seeds = [
        4526, 4984, 8227, 16_101, 1_005_796, 5_001_450, 5_011_058, 5_021_387, 6_011_598, 6_029_118,
        6_049_002, 6_049_692, 6_050_629, 6_085_179, 6_092_255,
    ];
    for seed in seeds {
        let mut case = Case::of(seed);
        if let Some(network) = &mut case.machine.network {
            network.credit_delay.clear();
        }
        sound(seed, case);
    }
}

#[test]
#[ignore = "minutes"]
fn ten_thousand_cases_are_right() {
    many(10_000);
}

/// The same seed gives the same digest, on any thread, in any order.
#[test]
fn threads_make_no_difference() {
    let seeds = 12;
    let reports = |threads: u64| {
        let (next, mut all) = (AtomicU64::new(0), Vec::new());
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        let mut own = Vec::new();
                        loop {
                            let seed = next.fetch_add(1, Ordering::Relaxed);
                            if seed >= seeds {
                                return own;
                            }
                            // Backwards with several threads.
                            let seed = if threads > 1 { seeds - 1 - seed } else { seed };
                            own.push((seed, right(seed)));
                        }
                    })
                })
                .collect();
            for worker in workers {
                all.extend(worker.join().expect("all cases are right"));
            }
        });
        all.sort_by_key(|(seed, _)| *seed);
        all
    };
    let one = reports(1);
    assert_eq!(one, reports(2));
    assert_eq!(one, reports(4));
}

/// A case that was printed is the same case.
#[test]
fn cases_can_be_read_again() {
    for seed in 0..200 {
        let case = Case::of(seed);
        let text = case.to_string();
        assert!(!text.contains('\''), "a shell would end the text there");
        assert_eq!(Case::parse(&text), Ok(case));
    }
}

/// All kinds of operations are drawn.
#[test]
fn every_library_is_called() {
    let mut kinds = std::collections::BTreeMap::new();
    for seed in 0..300 {
        for (_, step) in Case::of(seed).program.steps() {
            let kind = match &step.act {
                ProcessOperation::Send { mpi: true, .. } => "an MPI send",
                ProcessOperation::Receive { mpi: true, .. } => "an MPI receive",
                ProcessOperation::Send { .. } => "a Tport send",
                ProcessOperation::Receive { .. } => "a Tport receive",
                ProcessOperation::Put { .. } => "a put",
                ProcessOperation::Get { .. } => "a get",
                ProcessOperation::Notify { .. } | ProcessOperation::Notified { .. } => "an event",
                ProcessOperation::Enqueue { .. } | ProcessOperation::Dequeue => "a queue",
                ProcessOperation::Add { .. } => "an atomic",
                ProcessOperation::Collective(_) => "a collective call",
                ProcessOperation::Spread { .. } => "a broadcast with events",
                ProcessOperation::Compute(_) => "a computation",
            };
            *kinds.entry(kind).or_insert(0) += 1;
        }
    }
    assert_eq!(kinds.len(), 12, "{kinds:?}");
    assert!(kinds.values().all(|&many| many > 50), "{kinds:?}");
}
