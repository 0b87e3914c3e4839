//! Deliberate mistakes: do the tests find them?
//!
//! Each file in `tests/mistakes` describes a small, plausible mistake and holds it as a diff:
//! folder `recordings` in recordings and their processors, folder `files` in the machine's file
//! system. The slow test makes each mistake in a workspace copy below the target directory, runs
//! its folder's tests there, and demands that they fail.
//!
//! `ELANITE_MISTAKE=stripes` tries only mistakes with `stripes` in their names.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{assert_all_fit, assert_all_found};

/// Mistake folders, the least mistake count in each, and the `cargo test` words that name the
/// tests.
const KINDS: [(&str, usize, &[&str]); 2] = [
    ("files", 3, &["--lib", "--", "run::tests::files::"]),
    (
        "recordings",
        2,
        &["--lib", "--", "record::tests::", "processors::tests::"],
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
