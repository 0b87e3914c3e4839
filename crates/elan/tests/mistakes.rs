//! Deliberate mistakes: do the tests find them?
//!
//! Each file in `tests/mistakes` describes a small, plausible mistake and holds it as a diff:
//! folder `recovery` in the recovery from faults, folder `retries` in the times at which packets go
//! again. The slow test makes each mistake in a copy of the workspace below the target directory,
//! runs the tests of its folder there, and demands that they fail.
//!
//! `ELANITE_MISTAKE=twice` tries only mistakes with `twice` in their name.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{assert_all_fit, assert_all_found};

/// Mistake folders, the least number of mistakes in each, and the `cargo test` words that name the
/// tests.
const KINDS: [(&str, usize, &[&str]); 2] = [
    ("recovery", 10, &["--test", "all", "--", "faults::"]),
    ("retries", 3, &["--test", "all", "--", "retries::"]),
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
