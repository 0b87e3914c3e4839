//! Deliberate mistakes in the recovery from faults: does the swarm find them?
//!
//! The mistakes are those in `tests/mistakes/recovery` here, in any crate's sources, and those by
//! which the adapter and the libraries test their own tests. The slow test makes each mistake in a
//! workspace copy below the target directory, lets the swarm check some hundreds of seeds there,
//! and demands that a case fails. Without a mistake all must pass. `ELANITE_MISTAKE=twice` tries
//! only mistakes with `twice` in their name.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{Copy, Mistake, Search, assert_fit, assert_found, mistakes_of};

/// Where mistakes lie: the crate, from here.
const HOMES: [&str; 3] = ["", "../elan", "../libelan"];

/// Mistakes that the swarm has not found; see the page `docs/swarm.md`.
const UNSEEN: [&str; 13] = [
    "atomic-executed-twice",
    "bytes-without-event",
    "dead-adapter-works-on",
    "dead-rail-tried-for-ever",
    "death-forgets-nothing",
    "error-told-at-once",
    "found-word-forgotten",
    "lost-answer-is-a-no",
    "lost-notice-is-silent",
    "notified-twice",
    "resent-message-is-late",
    "withdrawn-get-goes-on",
    "withdrawn-message-is-served",
];

/// Seeds from 0 on.
const SEEDS: Search = Search {
    variable: "ELANITE_SWARM_CASES",
    without: 300,
    // As many as each mistake has been tried with.
    with: 417,
};

fn all() -> Vec<Mistake> {
    let each = HOMES.iter().flat_map(|home| mistakes_of(home, "recovery"));
    each.collect()
}

#[test]
fn every_mistake_fits_the_sources() {
    assert_fit(&all(), 25 + UNSEEN.len());
}

#[test]
#[ignore = "builds half of the workspace once for each mistake: an hour"]
fn every_mistake_is_found() {
    let mut seen = all();
    let is_seen = |file: &str| {
        !UNSEEN
            .iter()
            .any(|name| file.ends_with(&format!("/{name}.diff")))
    };
    seen.retain(|mistake| is_seen(&mistake.file));
    assert!(seen.len() >= 25, "{} mistakes are too few", seen.len());
    let seed = |line: &str| line.starts_with("seed ");
    assert_found(
        &Copy::new(false),
        seen,
        &["--test", "all", "--", "swarm::"],
        SEEDS,
        seed,
    );
}
