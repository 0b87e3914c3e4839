//! Deliberate mistakes in the recovery from faults: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff. The slow test makes each mistake in
//! a copy of the workspace below the target directory, runs the tests of faults there, and demands that they fail.
//! `ELANITE_MISTAKE=twice` tries only mistakes whose name contains `twice`.

#[path = "../../fabric/tests/common/mistake.rs"]
mod mistake;

use mistake::{Copy, mistakes, package};

/// The folder of the mistakes, the least number of them, and the tests that must find them.
const FOLDER: &str = "recovery";
const LEAST: usize = 5;
const TESTS: [&str; 1] = ["faults"];

#[test]
fn every_mistake_fits_the_sources() {
    let mistakes = mistakes(FOLDER);
    assert!(mistakes.len() >= LEAST, "only {} mistakes", mistakes.len());
    let misfits = mistakes.iter();
    let misfits = misfits.filter_map(|mistake| mistake.changed(package()).err());
    let misfits: Vec<String> = misfits.collect();
    assert!(misfits.is_empty(), "{}", misfits.join("\n"));
}

#[test]
#[ignore = "builds the crate once for each mistake: minutes"]
fn every_mistake_is_found() {
    let wanted = std::env::var("ELANITE_MISTAKE").unwrap_or_default();
    let copy = Copy::new(false);
    let (pass, said) = copy.run(&TESTS, 5);
    assert!(pass, "without a mistake:\n{said}");
    let mut missed = Vec::new();
    for mistake in mistakes(FOLDER) {
        if !mistake.file.contains(&wanted) {
            continue;
        }
        println!("{}", mistake.file);
        let (pass, said) = copy.run_with(&mistake, &TESTS);
        for line in said.lines().filter(|line| line.ends_with(" ... FAILED")) {
            println!("  {line}");
        }
        if pass {
            println!("  not found");
            missed.push(mistake.file);
        }
    }
    assert!(missed.is_empty(), "nobody finds {missed:?}");
}
