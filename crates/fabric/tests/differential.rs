//! The worm mover against the flit mover: the same motion in every cycle, on random machines under
//! random traffic.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ELANITE_FUZZ_SEED` | seed of the first case; the following cases have the following numbers | 0 |
//! | `ELANITE_FUZZ_CASES` | how many cases | 600 |
//! | `ELANITE_FUZZ_SECONDS` | for how long instead: no case begins after this many seconds | |
//! | `ELANITE_FUZZ_SHRINK` | seconds in which a smaller case is sought | 20 |
//!
//! The cases are shared out among all cores. A difference is shrunk, and reported with the earliest
//! divergent record and the seed that reproduces it. `make fuzz` runs this for longer.

#![expect(clippy::disallowed_methods, reason = "the search ends after a time")]

mod common;

use common::lockstep::{Manner, compare, compare_closely};
use common::random::{Case, large_case};
use common::search::{Tally, search};
use common::{high, machine, named, packet, variable};
use fabric::{Circuit, Config, FatTree, Multiplexing};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::time::{Duration, Instant};

/// The cases in every test run: a few seconds on two slow cores.
const CASES: u64 = 600;

/// Cases that the worm mover serves, compared after every cycle or less often.
fn cases() -> impl Strategy<Value = (Case, Manner)> {
    let stride = prop_oneof![2 => Just(1_u64), 2 => 2_u64..300, 1 => 1000_u64..5000];
    let regions = select(&[1_u32, 1, 2, 3, 7, 16]);
    let threads = prop_oneof![15 => Just(1_u32), 1 => 2_u32..=3];
    let cases = (large_case(), stride, any::<bool>(), regions, threads);
    cases.prop_map(|(mut case, stride, reversed, regions, threads)| {
        case.config.multiplexing = Multiplexing::OldestFirst;
        (case.config.regions, case.config.threads) = (regions, threads);
        let patience = 1 << 24;
        // Comparing a large machine takes long, and so does every run over long wires with short
        // buffers.
        let large = case.config.topology.links() > 300;
        let stride = if large { stride.max(100) } else { stride };
        (
            case,
            Manner {
                stride,
                reversed,
                patience,
            },
        )
    })
}

/// A runner with every draw determined by a seed.
fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(ProptestConfig::default(), rng)
}

fn shrink_time() -> Duration {
    Duration::from_secs(variable("ELANITE_FUZZ_SHRINK").unwrap_or(20))
}

/// Runs one seed. A difference is reported for the smallest case that was found to differ.
fn run(seed: u64) -> Result<Tally, String> {
    let mut tree = cases()
        .new_tree(&mut runner(seed))
        .expect("no case is rejected");
    let (mut case, mut manner) = tree.current();
    let mut difference = match compare(&case, &manner) {
        Ok(tally) => {
            let packets = case.traffic.len() as u64;
            assert_eq!(tally.packets, packets, "seed {seed} does not come to rest");
            return Ok(tally);
        }
        Err(difference) => difference,
    };
    let patience = shrink_time();
    let begin = Instant::now();
    let mut more = tree.simplify();
    while more && begin.elapsed() < patience {
        let smaller = tree.current();
        more = match compare(&smaller.0, &smaller.1) {
            Ok(_) => tree.complicate(),
            Err(found) => {
                difference = found;
                (case, manner) = smaller;
                tree.simplify()
            }
        };
    }
    difference = compare_closely(&case, &manner).err().unwrap_or(difference);
    Err(format!(
        "{difference}\nthe smallest case found, {manner}:\n{case}\n\
        to see it again: ELANITE_FUZZ_SEED={seed} ELANITE_FUZZ_CASES=1 cargo test -p \
        elanite-fabric --test differential"
    ))
}

/// Node 0's packet waits for node 1's packet on the one link up, whole in a deep buffer. When it
/// has its turn at last, a high-priority packet stops it in the adapter: more flits are in the
/// buffer than a prediction reaches ahead. The packet does not end there, since the flits go on to
/// arrive soon after.
#[test]
fn a_buffer_holds_more_flits_than_a_prediction_reaches() {
    let tree = FatTree::new(&[2, 2], &[1], 4).expect("within all bounds");
    let config = Config {
        channels: 2,
        buffer: 4000,
        circuit: Circuit::UntilAcknowledged,
        priorities: true,
        ..machine(tree, 1)
    };
    for pause in [50, 2000] {
        let traffic = [
            (0, packet(1, 2, 1500)),
            (1, packet(0, 3, 3000)),
            (1600, high(packet(0, 1, pause))),
        ];
        let case = Case {
            config: config.clone(),
            turnaround: 3,
            traffic: named(&traffic),
            acts: Vec::new(),
        };
        for reversed in [false, true] {
            let manner = Manner {
                stride: 1,
                reversed,
                patience: 10_000,
            };
            let compared = compare(&case, &manner).unwrap_or_else(|found| panic!("{found}"));
            assert_eq!(compared.packets, 3);
        }
    }
}

#[test]
fn both_movers_make_the_same_motion() {
    let first = variable("ELANITE_FUZZ_SEED").unwrap_or(0);
    let seconds = variable("ELANITE_FUZZ_SECONDS").map(Duration::from_secs);
    let usual = if seconds.is_some() { u64::MAX } else { CASES };
    let limit = variable("ELANITE_FUZZ_CASES").unwrap_or(usual);
    // A case takes a second at most. A host that runs much else beside the tests is slow, and its
    // cases do not hang.
    let longest = Duration::from_secs(900) + shrink_time();
    search(first, limit, seconds.unwrap_or(Duration::MAX), longest, run);
}
