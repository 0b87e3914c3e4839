//! Deliberate mistakes: do the tests find them?
//!
//! Each file of `tests/mistakes` describes a small, plausible mistake and holds it as a diff. Folder `motion` has the mistakes
//! of the worm mover and its helpers, which the differential test must find; folder `control` those of the control plane, which
//! both movers share, for tests that know the right result; folder `faults` those where parts fail. The slow test makes each
//! mistake in a copy of the workspace below the target directory, runs these tests there, and demands that they fail. Without a
//! mistake they must pass.
//!
//! The diffs have no line numbers. The lines of a hunk that are kept or removed must stand in the source exactly once; where
//! they do not, because the source has changed, the diff must be made anew. `ELANITE_MISTAKE=rotation` tries only mistakes whose
//! name contains `rotation`.

#![expect(clippy::disallowed_methods, reason = "the search ends after a time")]

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

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

/// Time for the differential test to find a mistake, in seconds; the best hidden mistake takes thousands of cases.
const PATIENCE: u32 = 300;

/// A test that takes longer than this hangs.
const LONGEST: Duration = Duration::from_secs(900);

/// Lines of a source that are replaced.
struct Hunk {
    /// Relative to the crate.
    source: String,
    old: String,
    new: String,
}

/// The lines of a hunk that are kept, and the lines that have this sign.
fn side(hunk: &str, sign: char) -> String {
    let lines = hunk.lines().filter_map(|line| {
        let kept = line.strip_prefix([' ', sign]);
        kept.or(line.is_empty().then_some(""))
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// See the essay of the module.
struct Mistake {
    /// Relative to the crate.
    file: String,
    hunks: Vec<Hunk>,
}

impl Mistake {
    fn read(path: &Path) -> Self {
        let file = path.strip_prefix(package()).expect("it is ours");
        let file = file.display().to_string();
        let text = fs::read_to_string(path).expect("it can be read");
        let (essay, diff) = text.split_once("\n--- ").unwrap_or_default();
        assert!(
            !essay.trim().is_empty(),
            "{file} does not say what is wrong and why somebody might write it, and then --- the source"
        );
        let mut hunks = Vec::new();
        for part in format!("\n{diff}").split("\n--- ") {
            let mut parts = part.trim_start().split("\n@@\n");
            let source = parts.next().expect("a split has a part").to_string();
            hunks.extend(parts.map(|lines| Hunk {
                source: source.clone(),
                old: side(lines, '-'),
                new: side(lines, '+'),
            }));
        }
        Mistake { file, hunks }
    }

    /// The sources that the mistake changes in the crate at a path, each with its new text; or why the mistake cannot be made.
    fn changed(&self, package: &Path) -> Result<Vec<(PathBuf, String)>, String> {
        let mut changed: Vec<(PathBuf, String)> = Vec::new();
        for Hunk { source, old, new } in &self.hunks {
            let path = package.join(source);
            let before = match changed.iter().position(|(other, _)| *other == path) {
                Some(place) => changed.swap_remove(place).1,
                None => fs::read_to_string(&path).unwrap_or_default(),
            };
            let found = before.matches(old.as_str()).count();
            if found != 1 || old == new {
                return Err(format!(
                    "{} no longer fits; make the mistake anew. In {source} these lines occur {found} times, not once:\n{old}",
                    self.file
                ));
            }
            changed.push((path, before.replacen(old, new, 1)));
        }
        Ok(changed)
    }
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn mistakes(folder: &str) -> Vec<Mistake> {
    let folder = package().join("tests/mistakes").join(folder);
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| Mistake::read(path)).collect()
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).expect("a file is copied");
        return;
    }
    fs::create_dir_all(to).expect("a folder is made");
    for entry in fs::read_dir(from).expect("a folder is read") {
        let entry = entry.expect("a folder is read");
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

/// A copy of the workspace.
struct Copy {
    root: PathBuf,
}

impl Copy {
    fn new() -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistakes");
        let workspace = package().join("../..");
        // An earlier build there is used again.
        let _ = fs::remove_dir_all(root.join("crates"));
        fs::create_dir_all(&root).expect("the target directory can be written");
        for part in ["Cargo.toml", "Cargo.lock", "crates"] {
            copy(&workspace.join(part), &root.join(part));
        }
        Copy { root }
    }

    fn package(&self) -> PathBuf {
        self.root.join("crates/fabric")
    }

    /// Whether the command succeeds, and its output. After [`LONGEST`] it has failed: a mistake may loop for ever.
    fn cargo(&self, tests: &[&str], seconds: u32, more: &[&str]) -> (bool, String) {
        let path = self.root.join("said");
        let said = fs::File::create(&path).expect("a file is made");
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(
                "test --release --offline --locked --no-fail-fast --package elanite-fabric"
                    .split(' '),
            )
            .args(tests.iter().flat_map(|test| ["--test", test]))
            .args(more)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env("ELANITE_FUZZ_SECONDS", seconds.to_string())
            .env("ELANITE_FUZZ_SHRINK", "2")
            .env_remove("ELANITE_FUZZ_SEED")
            .env_remove("ELANITE_FUZZ_CASES")
            .stderr(said.try_clone().expect("a file has two handles"))
            .stdout(said)
            .process_group(0);
        let mut child = cargo.spawn().expect("cargo can be run");
        let begin = Instant::now();
        let success = loop {
            if let Some(status) = child.try_wait().expect("it is ours") {
                break status.success();
            }
            if begin.elapsed() > LONGEST {
                // This ends the tests that the command has started, too.
                let group = format!("-{}", child.id());
                let _ = Command::new("kill").args(["-KILL", &group]).status();
                let _ = child.wait();
                break false;
            }
            sleep(Duration::from_millis(50));
        };
        let said = fs::read(&path).expect("it was written");
        (success, String::from_utf8_lossy(&said).into_owned())
    }

    /// Runs some tests. Returns whether they pass, and what they print.
    fn run(&self, tests: &[&str], seconds: u32) -> (bool, String) {
        let (built, said) = self.cargo(tests, seconds, &["--no-run"]);
        assert!(built, "the copy does not compile:\n{said}");
        self.cargo(tests, seconds, &[])
    }

    /// Runs the tests with a mistake.
    fn run_with(&self, mistake: &Mistake, tests: &[&str]) -> (bool, String) {
        let changed = mistake
            .changed(&self.package())
            .unwrap_or_else(|misfit| panic!("{misfit}"));
        for (path, wrong) in &changed {
            fs::write(path, wrong).expect("the copy can be written");
        }
        let result = self.run(tests, PATIENCE);
        for (path, _) in &changed {
            let source = path.strip_prefix(self.package()).expect("it is there");
            copy(&package().join(source), path);
        }
        result
    }
}

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
    let copy = Copy::new();
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
