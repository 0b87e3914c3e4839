//! The worm mover against the flit mover: the same motion in every cycle, on random machines under random traffic.
//!
//! Both run in lockstep and are compared at checkpoints, in a part of the cases after every cycle: what the adapters
//! heard, what each link has carried, where the flits are; and in the end every header, head and tail on every channel.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ELANITE_FUZZ_SEED` | seed of the first case; the next have the next numbers | 0 |
//! | `ELANITE_FUZZ_SECONDS` | no case begins later | 10 |
//! | `ELANITE_FUZZ_CASES` | at most so many cases | no limit |
//!
//! A difference is shrunk, and reported with the seed that reproduces it.

mod common;

use common::random::{Case, case_of};
use common::{Bench, packet};
use fabric::motion::{FlitCensus, Moved};
use fabric::{Config, Cycle, Engine, LinkCounters, Multiplexing, PacketSpec};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How a case is looked at.
#[derive(Clone, Debug)]
struct Manner {
    /// Cycles between checkpoints.
    stride: Cycle,
    /// Whether the worm mover works off each cycle in the opposite order.
    reversed: bool,
}

fn manner() -> impl Strategy<Value = Manner> {
    let stride = prop_oneof![1 => Just(1_u64), 3 => 1_u64..300, 1 => 1000_u64..5000];
    (stride, any::<bool>()).prop_map(|(stride, reversed)| Manner { stride, reversed })
}

/// A machine with one of the engines, and what has been compared of it.
struct Side {
    bench: Bench,
    heard: usize,
}

impl Side {
    fn new(case: &Case, engine: Engine) -> Self {
        let config = Config {
            engine,
            ..case.config.clone()
        };
        // Acknowledgements overtake each other and meet.
        let turnaround = case.turnaround;
        let answer = move |spec: &PacketSpec| turnaround + u64::from(spec.flits) % 7;
        let mut bench = Bench::with_turnaround(config, answer);
        bench.fabric.watch();
        Side { bench, heard: 0 }
    }

    fn state(&self) -> (FlitCensus, Vec<LinkCounters>) {
        (self.bench.fabric.flit_census(), self.bench.counters())
    }
}

fn same<T: PartialEq + Debug>(what: &str, flit: &T, worm: &T) -> Result<(), String> {
    if flit == worm {
        return Ok(());
    }
    Err(format!(
        "{what}:\n  flit mover {flit:?}\n  worm mover {worm:?}"
    ))
}

/// Compares what has happened up to and including cycle `at`.
fn check(flit: &mut Side, worm: &mut Side, at: Cycle) -> Result<(), String> {
    let news = |side: &mut Side| {
        let from = std::mem::replace(&mut side.heard, side.bench.heard.len());
        side.bench.heard[from..].to_vec()
    };
    let (a, b) = (news(flit), news(worm));
    for place in 0..a.len().max(b.len()) {
        same("the adapters hear", &a.get(place), &b.get(place))?;
    }
    let (a, b) = (flit.state(), worm.state());
    same(&format!("flits after cycle {at}"), &a.0, &b.0)?;
    for (link, (a, b)) in a.1.into_iter().zip(b.1).enumerate() {
        same(&format!("link {link} after cycle {at}"), &a, &b)?;
    }
    Ok(())
}

/// The next checkpoint: in cycles in which the flit mover has nothing to do, nothing changes.
fn forward(flit: &Side, at: Cycle, stride: Cycle) -> Cycle {
    let quiet = flit.bench.fabric.next_cycle().unwrap_or(0);
    (at + stride).max(quiet)
}

/// Runs a case with both movers. Returns the cycles it took, or the first difference.
fn compare(case: &Case, manner: &Manner) -> Result<Cycle, String> {
    let mut sides = [Side::new(case, Engine::Flit), Side::new(case, Engine::Worm)];
    if manner.reversed {
        sides[1].bench.fabric.reverse_order_in_cycles();
    }
    let mut at = 0;
    let [flit, worm] = &mut sides;
    let go_to = |flit: &mut Side, worm: &mut Side, at: Cycle| {
        flit.bench.run_until(at);
        worm.bench.run_until(at);
        check(flit, worm, at)
    };
    for &(offered, spec) in &case.traffic {
        while at + manner.stride <= offered {
            at = forward(flit, at, manner.stride).min(offered);
            go_to(flit, worm, at - 1)?;
        }
        flit.bench.offer(&[(offered, spec)]);
        worm.bench.offer(&[(offered, spec)]);
    }
    let stuck = at + 10_000_000;
    while flit.bench.fabric.next_cycle().is_some() && at < stuck {
        at = forward(flit, at, manner.stride);
        go_to(flit, worm, at - 1)?;
    }
    let next = [&flit.bench, &worm.bench].map(|bench| bench.fabric.next_cycle());
    same("rest", &next[0], &next[1])?;
    // Both have come to rest in the same cycle: it is the earliest for whatever comes.
    let late = packet(0, 0, 5);
    for bench in [&mut flit.bench, &mut worm.bench] {
        bench.fabric.offer(0, late);
        bench.run_until(at + 1_000_000);
    }
    check(flit, worm, at + 1_000_000)?;
    let watched = [flit, worm].map(|side| {
        let mut watched: Vec<(Cycle, Moved)> = side.bench.fabric.watch();
        watched.sort_unstable();
        watched
    });
    for place in 0..watched[0].len().max(watched[1].len()) {
        same("motion", &watched[0].get(place), &watched[1].get(place))?;
    }
    Ok(at)
}

/// The same, with broken invariants as differences.
fn try_compare(case: &Case, manner: &Manner) -> Result<Cycle, String> {
    catch_unwind(AssertUnwindSafe(|| compare(case, manner))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// A runner whose every draw follows from a seed.
fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(ProptestConfig::default(), rng)
}

fn variable<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    let value = text.parse().ok();
    assert!(value.is_some(), "{name}={text} is not a number");
    value
}

/// Runs one seed; reports a difference, shrunk.
fn run(seed: u64, strategy: &impl Strategy<Value = (Case, Manner)>) -> Cycle {
    let mut tree = strategy
        .new_tree(&mut runner(seed))
        .expect("no case is rejected");
    let (case, manner) = tree.current();
    let mut difference = match try_compare(&case, &manner) {
        Ok(cycles) => return cycles,
        Err(difference) => difference,
    };
    let mut worst = (case, manner);
    let patience = Instant::now() + Duration::from_secs(20);
    let mut more = tree.simplify();
    while more && Instant::now() < patience {
        let smaller = tree.current();
        more = match try_compare(&smaller.0, &smaller.1) {
            Ok(_) => tree.complicate(),
            Err(found) => {
                (difference, worst) = (found, smaller);
                tree.simplify()
            }
        };
    }
    panic!(
        "the movers differ: {difference}\n{worst:#?}\nto see it again: ELANITE_FUZZ_SEED={seed} ELANITE_FUZZ_CASES=1 \
         cargo test -p elanite-fabric --test differential"
    );
}

#[test]
fn both_movers_make_the_same_motion() {
    let first: u64 = variable("ELANITE_FUZZ_SEED").unwrap_or(0);
    let seconds = variable("ELANITE_FUZZ_SECONDS").unwrap_or(10);
    let cases = variable("ELANITE_FUZZ_CASES").unwrap_or(u64::MAX);
    let strategy = (case_of(120), manner()).prop_map(|(mut case, manner)| {
        case.config.multiplexing = Multiplexing::OldestFirst;
        (case, manner)
    });
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut done, mut cycles) = (0, 0);
    while done < cases && Instant::now() < end {
        cycles += run(first.wrapping_add(done), &strategy);
        done += 1;
    }
    println!("{done} cases from seed {first}, {cycles} cycles: no difference");
}
