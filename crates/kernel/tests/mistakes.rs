//! Deliberate mistakes: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff:
//! folder `time` in the event queue, the executor, signals and bounds, folder `numbers` in random
//! streams, statistics and digests. The slow test makes each mistake in a workspace copy below the
//! target directory, runs the tests there, and demands that they fail. Tests that pin values are
//! left out: a planted mistake counts when a test fails that states the right behaviour.
//!
//! `ELANITE_MISTAKE=twice` tries only mistakes with `twice` in their names.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{assert_all_fit, assert_all_found};

/// Mistake folders, the least mistake count in each, and the `cargo test` words for the tests.
const KINDS: [(&str, usize, &[&str]); 2] = [
    (
        "time",
        10,
        &[
            "--test",
            "all",
            "--",
            "queue::",
            "executor::",
            "label::",
            "signal::",
            "limits::",
        ],
    ),
    (
        "numbers",
        8,
        &[
            "--lib",
            "--test",
            "all",
            "--",
            "random::",
            "statistics::",
            "digest::",
            "--skip",
            "_fixed",
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
