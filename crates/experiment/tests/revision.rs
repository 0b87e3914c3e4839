//! Results change only with [`MODEL_REVISION`]: the table `revision.txt`.
//!
//! If a row differs, either a change that was meant to keep results does not keep them, or results
//! were meant to change. Then raise `MODEL_REVISION` in `src/revision.rs`, and renew the table. A
//! new benchmark kind adds rows and keeps all results; then renew the table at the same revision:
//!
//!     ELANITE_RENEW=1 cargo test -p elanite-experiment --test all revision::

use crate::common;

use common::{EXPERIMENT, GOOD_MACHINE, RAILS, plan_on};
use experiment::{MODEL_REVISION, MachineFile, Point, simulate};
use std::fmt::Write;
use std::path::Path;

/// Experiments with series of every benchmark kind, and the machines on which they run.
const EXPERIMENTS: [(&str, &str, &str); 12] = [
    ("good", EXPERIMENT, "one rail"),
    ("jobs", include_str!("jobs.toml"), "one rail"),
    ("two_jobs", include_str!("two_jobs.toml"), "one rail"),
    ("collectives", include_str!("collectives.toml"), "one rail"),
    ("overlap", include_str!("overlap.toml"), "one rail"),
    ("allocation", include_str!("allocation.toml"), "one rail"),
    ("noise", include_str!("noise.toml"), "one rail"),
    ("saturation", include_str!("saturation.toml"), "one rail"),
    ("precision", include_str!("precision.toml"), "one rail"),
    ("rails", include_str!("rails.toml"), "four rails"),
    ("goodput", include_str!("goodput.toml"), "one rail"),
    ("trace", include_str!("trace.toml"), "one rail"),
];

/// Crates that enter results: random streams, elementary functions, quantiles and digests.
const CRATES: [&str; 5] = [
    "chacha20",
    "hdrhistogram",
    "libm",
    "rand_core",
    "xxhash-rust",
];

/// Each series' last point, by both movers.
fn points(name: &str, text: &str, machine: &str) -> Vec<(String, Point)> {
    let machine = match machine {
        "four rails" => MachineFile {
            text: RAILS,
            ..GOOD_MACHINE
        },
        _ => GOOD_MACHINE,
    };
    let mut found: Vec<(String, Point)> = Vec::new();
    for engine in ["worm", "flit"] {
        let change = format!("fabric.engine={engine}");
        let planned = plan_on(machine, (&format!("tests/{name}.toml"), text), &[&change]);
        let planned = planned.unwrap_or_else(|problems| panic!("{problems}"));
        for point in planned {
            let row = format!("{name} {} {engine}", point.series);
            match found.last_mut() {
                Some((before, last)) if *before == row => *last = point,
                _ => found.push((row, point)),
            }
        }
    }
    found
}

/// A crate's version in the lock file; all versions if there are several.
fn versions(lock: &str, name: &str) -> String {
    let mut words = lock
        .split("[[package]]")
        .filter(|package| package.contains(&format!("\nname = \"{name}\"\n")))
        .filter_map(|package| package.split("version = \"").nth(1)?.split('"').next());
    let first = words.next().expect("the crate is locked");
    words.fold(first.to_owned(), |all, next| format!("{all}, {next}"))
}

/// A table row, without its end.
fn row_of(row: &str, point: &Point) -> String {
    let records = simulate(point, None).unwrap_or_else(|error| panic!("{row}: {error}"));
    let (packets, time) = (records.packets, records.simulated);
    format!("{row}: {} {packets} packets, {time}", records.digest)
}

fn table() -> String {
    let mut table = format!("revision {MODEL_REVISION}\n\n");
    for (name, text, machine) in EXPERIMENTS {
        for (row, point) in points(name, text, machine) {
            writeln!(table, "{}", row_of(&row, &point)).expect("room");
        }
    }
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = std::fs::read_to_string(lock).expect("the lock file of the workspace");
    table.push('\n');
    for name in CRATES {
        writeln!(table, "{name} {}", versions(&lock, name)).expect("room");
    }
    table
}

/// The worm mover's rows, with a network in two or three regions. One thread works on them: on a
/// busy host, several would wait long for each other, and `elanite-fabric` has tests for these.
#[test]
fn no_result_depends_on_the_regions() {
    let kept = include_str!("revision.txt");
    for (name, text, machine) in EXPERIMENTS {
        for (row, mut point) in points(name, text, machine) {
            if row.ends_with("worm") {
                point.regions = 2 + row.len() as u32 % 2;
                let now = row_of(&row, &point);
                assert!(kept.lines().any(|line| line == now), "{now}");
            }
        }
    }
}

#[test]
fn results_change_with_the_revision_only() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/revision.txt");
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let now = table();
    let same_revision = kept.lines().next() == now.lines().next();
    let mut rows = now.lines();
    let only_added = kept.lines().all(|row| rows.any(|other| other == row));
    if std::env::var_os("ELANITE_RENEW").is_some() {
        assert!(
            only_added || !same_revision,
            "results changed: raise MODEL_REVISION in crates/experiment/src/revision.rs before you \
            renew the table"
        );
        std::fs::write(&file, &now).expect("the table can be written");
    }
    let different: Vec<_> = now
        .lines()
        .filter(|row| !kept.lines().any(|other| other == *row))
        .collect();
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == now,
        "the table does not have these rows:\n{}\n\
        If an experiment is new, run the command below. If results, or the crates \
        that enter them, were meant to change, raise MODEL_REVISION in \
        crates/experiment/src/revision.rs before.\n\
         ELANITE_RENEW=1 cargo test -p elanite-experiment --test all revision::",
        different.join("\n")
    );
}
