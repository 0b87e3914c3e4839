//! Deliberate mistakes: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff:
//! folder `traffic` in jobs, sources and patterns, folder `measures` in a run's figures and the
//! searches for them, folder `programs` in flows and programs side by side. The slow test makes
//! each mistake in a workspace copy below the target directory, runs the tests there, and demands
//! that they fail.
//!
//! `ELANITE_MISTAKE=twice` tries only mistakes with `twice` in their name.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{assert_all_fit, assert_all_found};

/// Mistake folders, the least number of mistakes in each, and the `cargo test` arguments that
/// select the tests.
const KINDS: [(&str, usize, &[&str]); 3] = [
    (
        "traffic",
        13,
        &[
            "--test",
            "all",
            "--",
            "traffic::",
            "source::",
            "pattern::",
            "rails::processes",
        ],
    ),
    (
        "measures",
        10,
        &[
            "--lib",
            "--test",
            "all",
            "--",
            "tests::",
            "traffic::",
            "collective::steps",
            "qsnet2::phases",
            "ping::",
            "trace::",
        ],
    ),
    ("programs", 8, &["--test", "all", "--", "mix::"]),
];

#[test]
fn every_mistake_fits_the_sources() {
    assert_all_fit(&KINDS);
}

#[test]
#[ignore = "builds the crate once for each mistake: minutes"]
fn every_mistake_is_found() {
    assert_all_found(&KINDS);
}
