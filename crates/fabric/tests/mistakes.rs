//! Deliberate mistakes: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff.
//! Folder `motion` has the mistakes of the worm mover and its helpers, and folder `regions` those
//! at the border of regions, which the differential test must find; folder `control` those of the
//! control plane, which both movers share, for tests that know the right result; folder `faults`
//! those where parts fail; folder `graphs` those of the tables of a graph, its own and given ones;
//! folder `limits` those of the closed forms of credits and of uniform traffic. The slow test makes
//! each mistake in a copy of the workspace below the target directory, runs these tests there, and
//! demands that they fail. Without a mistake they must pass.
//!
//! `ELANITE_MISTAKE=rotation` tries only mistakes whose name contains `rotation`.

#[path = "common/mistake.rs"]
mod mistake;

use mistake::{Copy, Search, assert_all_fit, assert_found, mistakes};

/// Folders of mistakes, the least number of mistakes in each, and the words of `cargo test` that name the tests which must find them.
const KINDS: [(&str, usize, &[&str]); 6] = [
    ("motion", 10, &["--test", "differential"]),
    ("regions", 4, &["--test", "differential"]),
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
