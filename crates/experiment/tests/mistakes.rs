//! Deliberate mistakes: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff:
//! folder `points` in planning points and in their keys, folder `kinds` in single benchmark kinds.
//! The slow test makes each mistake in a workspace copy below the target directory, runs the tests
//! there, and demands that they fail. Tests that pin values are left out: a planted mistake counts
//! when a test fails that states the right behaviour.
//!
//! `ELANITE_MISTAKE=twice` tries only mistakes with `twice` in their name.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{assert_all_fit, assert_all_found};

/// Mistake folders, the least number of mistakes in each, and the `cargo test` arguments that
/// select the tests.
const KINDS: [(&str, usize, &[&str]); 2] = [
    (
        "points",
        7,
        &[
            "--test", "all", "--", "plan::", "keys::", "faults::", "jobs::", "runs::",
        ],
    ),
    (
        "kinds",
        5,
        &[
            "--test",
            "all",
            "--",
            "jobs::",
            "saturation::",
            "noise::",
            "trace::",
        ],
    ),
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
