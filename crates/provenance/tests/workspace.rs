//! This workspace's fingerprints cover all that cargo compiles.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, iter};

use provenance::{ENGINE, Fingerprint, PROGRAM};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The crates that cargo compiles for a package, as "name version".
fn compiled(package: &str) -> BTreeSet<String> {
    let words = "tree --locked --offline --edges normal,build --target all --prefix none --package";
    let output = Command::new(env!("CARGO"))
        .args(words.split(' ').chain(iter::once(package)))
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let text = String::from_utf8(output.stdout).expect("names are ASCII");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let word = |line: &str| {
        line.split(' ')
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
            .replace(" v", " ")
    };
    text.lines()
        .filter(|line| !line.is_empty())
        .map(word)
        .collect()
}

#[test]
fn every_crate_that_is_linked_is_covered() {
    for (crates, packages) in [
        (ENGINE, ["elanite-experiment"].as_slice()),
        (PROGRAM, &["elanite-py", "elanite-preload"]),
    ] {
        let found = Fingerprint::of(&root(), crates).expect("the workspace has all files");
        let known: BTreeSet<String> = found
            .locked
            .iter()
            .map(|one| one.rsplit_once(' ').expect("a checksum").0.to_owned())
            .chain(found.crates.iter().map(|folder| {
                let name = folder.strip_prefix("crates/").expect("a folder of crates");
                format!("elanite-{name} {}", env!("CARGO_PKG_VERSION"))
            }))
            .collect();
        let compiled = packages
            .iter()
            .flat_map(|package| compiled(package))
            .collect::<BTreeSet<_>>();
        assert!(compiled.len() > 20);
        let lacking: Vec<_> = compiled.difference(&known).collect();
        assert!(lacking.is_empty(), "{crates:?}: {lacking:?}");
        let mut more = known.difference(&compiled);
        assert_eq!(more.find(|name| name.starts_with("elanite-")), None);
    }
}

#[test]
fn the_engine_has_none_of_the_crates_that_leave_results_alone() {
    let found = Fingerprint::of(&root(), ENGINE).expect("the workspace has all files");
    for absent in ["py", "mpirun", "link", "fi", "swarm", "noise", "provenance"] {
        assert!(!found.crates.contains(&format!("crates/{absent}")));
    }
    for present in ["experiment", "workload", "fabric", "kernel", "units"] {
        assert!(found.crates.contains(&format!("crates/{present}")));
    }
}

/// All Rust texts below a folder.
fn rust(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                rust(&path)
            } else {
                vec![path]
            }
        })
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

/// The fingerprint leaves out files by their names. A module with such a name must be one that only
/// tests compile.
#[test]
fn modules_named_tests_are_compiled_for_tests_only() {
    let found = Fingerprint::of(&root(), PROGRAM).expect("the workspace has all files");
    let mut seen = 0;
    for folder in &found.crates {
        for path in rust(&root().join(folder).join("src")) {
            let text = fs::read_to_string(&path).expect("a text");
            let mut before = "";
            for line in text.lines().map(str::trim) {
                if line.ends_with("mod tests;") {
                    assert!(
                        before.contains("cfg(test)") || before.contains("cfg(all(test"),
                        "{}",
                        path.display()
                    );
                    seen += 1;
                }
                assert!(
                    !line.contains("#[path"),
                    "{}: a module of another file",
                    path.display()
                );
                before = line;
            }
        }
    }
    assert!(seen > 10);
}

/// A source's included files must lie below `src`, where they are covered. Documentation may lie
/// elsewhere.
#[test]
fn no_source_includes_a_file_from_elsewhere() {
    let found = Fingerprint::of(&root(), PROGRAM).expect("the workspace has all files");
    assert!(found.files.len() > 300);
    for file in found
        .files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "rs"))
    {
        let text = fs::read_to_string(root().join(file)).expect("a text");
        for line in text
            .lines()
            .filter(|line| !line.starts_with("#[doc = include_str!("))
        {
            for include in ["include!(", "include_str!(", "include_bytes!("] {
                assert!(!line.contains(include), "{}: {line}", file.display());
            }
        }
    }
}
