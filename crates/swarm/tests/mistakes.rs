//! Deliberate mistakes in the recovery from faults: does the swarm find them?
//!
//! The mistakes are those of `tests/mistakes/recovery` here, whose sources are in any crate, and those by which the adapter and
//! the libraries test their own tests. The slow test makes each mistake in a copy of the workspace below the target directory, lets
//! the swarm search there for some minutes, and demands that a case fails. Without a mistake none may fail.
//! `ELANITE_MISTAKE=twice` tries only mistakes whose name contains `twice`.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{Copy, Mistake, assert_fit, assert_found, mistakes_of};

/// Where mistakes lie: the crate, from here.
const HOMES: [&str; 3] = ["", "../elan", "../libelan"];

fn all() -> Vec<Mistake> {
    let each = HOMES.iter().flat_map(|home| mistakes_of(home, "recovery"));
    each.collect()
}

#[test]
fn every_mistake_fits_the_sources() {
    assert_fit(&all(), 25);
}

#[test]
#[ignore = "builds half of the workspace once for each mistake: an hour"]
fn every_mistake_is_found() {
    let seed = |line: &str| line.starts_with("seed ");
    assert_found(&Copy::new(false), all(), &["swarm"], 20, seed);
}
