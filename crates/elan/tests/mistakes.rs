//! Deliberate mistakes in the recovery from faults: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff. The slow test makes each mistake in
//! a copy of the workspace below the target directory, runs the tests of faults there, and demands that they fail.
//! `ELANITE_MISTAKE=twice` tries only mistakes whose name contains `twice`.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{Copy, Search, assert_fit, assert_found, mistakes};

/// The folder of the mistakes.
const FOLDER: &str = "recovery";

#[test]
fn every_mistake_fits_the_sources() {
    assert_fit(&mistakes(FOLDER), 10);
}

#[test]
#[ignore = "builds the crate once for each mistake: minutes"]
fn every_mistake_is_found() {
    let failed = |line: &str| line.ends_with(" ... FAILED");
    assert_found(
        &Copy::new(false),
        mistakes(FOLDER),
        &["--test", "all", "--", "faults::"],
        Search::fuzzing(5),
        failed,
    );
}
