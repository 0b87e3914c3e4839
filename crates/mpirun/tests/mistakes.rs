//! Deliberate mistakes: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff: folder
//! `files` in the file system of the machine. The slow test makes each mistake in a copy of the
//! workspace below the target directory, runs the tests of its folder there, and demands that they
//! fail.
//!
//! `ELANITE_MISTAKE=stripes` tries only mistakes whose name contains `stripes`.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{assert_all_fit, assert_all_found};

/// Folders of mistakes, the least number of mistakes in each, and the words of `cargo test` that
/// name the tests.
const KINDS: [(&str, usize, &[&str]); 1] = [("files", 3, &["--lib", "--", "run::tests::files::"])];

#[test]
fn every_mistake_fits_the_sources() {
    assert_all_fit(&KINDS);
}

#[test]
#[ignore = "builds the crate once for each mistake: minutes"]
fn every_mistake_is_found() {
    assert_all_found(&KINDS);
}
