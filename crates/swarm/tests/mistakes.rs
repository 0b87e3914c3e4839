//! Deliberate mistakes in the recovery from faults: does the swarm find them?
//!
//! The mistakes are those of `tests/mistakes/recovery` here, whose sources are in any crate, and those by which the adapter and
//! the libraries test their own tests. The slow test makes each mistake in a copy of the workspace below the target directory, lets
//! the swarm search there for some minutes, and demands that a case fails. Without a mistake none may fail.
//! `ELANITE_MISTAKE=twice` tries only mistakes whose name contains `twice`.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{Copy, Mistake, mistakes_of, package};

/// Where mistakes lie: the crate, from here.
const HOMES: [&str; 3] = ["", "../elan", "../libelan"];

const FOLDER: &str = "recovery";

/// The least number of mistakes, and the tests that must find them.
const LEAST: usize = 25;
const TESTS: [&str; 1] = ["swarm"];

fn all() -> Vec<Mistake> {
    let each = HOMES.iter().flat_map(|home| mistakes_of(home, FOLDER));
    each.collect()
}

#[test]
fn every_mistake_fits_the_sources() {
    let mistakes = all();
    assert!(mistakes.len() >= LEAST, "only {} mistakes", mistakes.len());
    let misfits = mistakes.iter();
    let misfits = misfits.filter_map(|mistake| mistake.changed(package()).err());
    let misfits: Vec<String> = misfits.collect();
    assert!(misfits.is_empty(), "{}", misfits.join("\n"));
}

#[test]
#[ignore = "builds half of the workspace once for each mistake: an hour"]
fn every_mistake_is_found() {
    let wanted = std::env::var("ELANITE_MISTAKE").unwrap_or_default();
    let copy = Copy::new(false);
    let (pass, said) = copy.run(&TESTS, 20);
    assert!(pass, "without a mistake:\n{said}");
    let mut missed = Vec::new();
    for mistake in all() {
        if !mistake.file.contains(&wanted) {
            continue;
        }
        println!("{}", mistake.file);
        let (pass, said) = copy.run_with(&mistake, &TESTS);
        for line in said.lines().filter(|line| line.starts_with("seed ")) {
            println!("  {line}");
        }
        if pass {
            println!("  not found");
            missed.push(mistake.file);
        }
    }
    assert!(missed.is_empty(), "the swarm does not find {missed:?}");
}
