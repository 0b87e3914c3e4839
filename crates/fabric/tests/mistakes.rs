//! Deliberate mistakes: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff. Folder `motion` has the mistakes
//! of the worm mover and its helpers, which the differential test must find; folder `control` those of the control plane, which
//! both movers share, for tests that know the right result; folder `faults` those where parts fail. The slow test makes each
//! mistake in a copy of the workspace below the target directory, runs these tests there, and demands that they fail. Without a
//! mistake they must pass.
//!
//! `ELANITE_MISTAKE=rotation` tries only mistakes whose name contains `rotation`.

#[path = "common/mistake.rs"]
mod mistake;

use mistake::{Copy, Mistake, mistakes, package};

/// Folders of mistakes, the least number of mistakes in each, and the tests that must find them.
const KINDS: [(&str, usize, &[&str]); 3] = [
    ("motion", 10, &["differential"]),
    (
        "control",
        5,
        &["control_plane", "one_packet", "two_packets"],
    ),
    ("faults", 10, &["faults", "conservation"]),
];

#[test]
fn every_mistake_fits_the_sources() {
    let mut misfits = Vec::new();
    for (folder, least, _) in KINDS {
        let mistakes = mistakes(folder);
        assert!(
            mistakes.len() >= least,
            "{folder} has only {} mistakes",
            mistakes.len()
        );
        let fits = |mistake: &Mistake| mistake.changed(package()).err();
        misfits.extend(mistakes.iter().filter_map(fits));
    }
    assert!(misfits.is_empty(), "{}", misfits.join("\n"));
}

#[test]
#[ignore = "builds the fabric once for each mistake: minutes"]
fn every_mistake_is_found() {
    let wanted = std::env::var("ELANITE_MISTAKE").unwrap_or_default();
    let copy = Copy::new(true);
    let mut missed = Vec::new();
    for (folder, _, tests) in KINDS {
        let (pass, said) = copy.run(tests, 5);
        assert!(pass, "without a mistake:\n{said}");
        let mut mistakes = mistakes(folder);
        mistakes.retain(|mistake| mistake.file.contains(&wanted));
        for mistake in mistakes {
            println!("{}", mistake.file);
            let (pass, said) = copy.run_with(&mistake, tests);
            // After how many cases, the earliest divergent record, and which tests failed.
            let telling = |line: &&str| {
                [
                    "the movers differ",
                    "a mover hangs",
                    "earliest",
                    "  flit mover",
                    "  worm mover",
                ]
                .iter()
                .any(|start| line.starts_with(start))
                    || line.ends_with(" ... FAILED")
            };
            for line in said.lines().filter(telling) {
                println!("  {}", line.trim());
            }
            if pass {
                println!("  not found");
                missed.push(mistake.file);
            }
        }
    }
    assert!(missed.is_empty(), "nobody finds {missed:?}");
}
