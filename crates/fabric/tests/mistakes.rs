//! Deliberate mistakes: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff.
//! Folder `motion` has mistakes in the worm mover and its helpers, and folder `regions` those at
//! region borders, which the differential test must find; folder `control` those in the control
//! plane, which both movers share, for tests with known results; folder `faults` those under
//! faults; folder `graphs` those in a graph's tables, its own and given ones; folder `limits` those
//! in the closed forms for credits and uniform traffic. The slow test makes each mistake in a
//! workspace copy below the target directory, runs these tests there, and demands that they fail.
//! Without a mistake they must pass.
//!
//! `ELANITE_MISTAKE=rotation` tries only mistakes with `rotation` in their names.

#[path = "common/mistake.rs"]
mod mistake;

use mistake::{Copy, Search, assert_all_fit, assert_found, mistakes};

/// Mistake folders, the least mistake count in each, and the `cargo test` words for the tests which
/// must find them.
const KINDS: [(&str, usize, &[&str]); 6] = [
    ("motion", 10, &["--test", "differential"]),
    ("regions", 11, &["--test", "differential"]),
    (
        "control",
        5,
        &[
            "--test",
            "all",
            "--",
            "control_plane::",
            "one_packet::",
            "two_packets::",
            "traffic_classes::",
            "paces::",
        ],
    ),
    (
        "faults",
        10,
        &["--test", "all", "--", "faults::", "conservation::"],
    ),
    (
        "graphs",
        9,
        &["--test", "all", "--", "graphs::", "routes::", "shortest::"],
    ),
    (
        "limits",
        5,
        &["--test", "all", "--", "credits::", "uniform::"],
    ),
];

#[test]
fn every_mistake_fits_the_sources() {
    assert_all_fit(&KINDS);
}

#[test]
#[ignore = "builds the fabric once for each mistake: minutes"]
fn every_mistake_is_found() {
    // After how many cases, the earliest divergent record, and which tests failed.
    let starts = [
        "the movers differ",
        "a mover hangs",
        "earliest",
        "  flit mover",
        "  worm mover",
    ];
    let telling = |line: &str| {
        starts.iter().any(|start| line.starts_with(start)) || line.ends_with(" ... FAILED")
    };
    let copy = Copy::new(true);
    for (folder, _, tests) in KINDS {
        assert_found(&copy, mistakes(folder), tests, Search::fuzzing(5), telling);
    }
}
