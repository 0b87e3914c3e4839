//! The machinery for tests of deliberate mistakes, for several crates: diffs are applied in a
//! workspace copy, and tests there must fail.
//!
//! The diffs have no line numbers. A hunk's kept and removed lines must occur in the source exactly
//! once; if they do not, because the source has changed, the diff must be renewed.

#![expect(clippy::disallowed_methods, reason = "the search ends after a time")]

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The search length for tests that look at random cases: its variable, and its value without a
/// mistake and with one.
#[derive(Clone, Copy)]
pub struct Search {
    pub variable: &'static str,
    pub without: u32,
    pub with: u32,
}

impl Search {
    /// Fuzzing tests search for this many seconds without a mistake; the best hidden mistake takes
    /// thousands of cases.
    #[allow(dead_code, reason = "each test file uses a part")]
    pub const fn fuzzing(without: u32) -> Self {
        Search {
            variable: "ELANITE_FUZZ_SECONDS",
            without,
            with: 300,
        }
    }
}

/// A test that takes longer than this hangs.
const LONGEST: Duration = Duration::from_secs(900);

/// Source lines that are replaced.
struct Hunk {
    /// Relative to the crate.
    source: String,
    old: String,
    new: String,
}

/// A hunk's kept lines, and the lines with this sign.
fn side(hunk: &str, sign: char) -> String {
    let lines = hunk.lines().filter_map(|line| {
        let kept = line.strip_prefix([' ', sign]);
        kept.or(line.is_empty().then_some(""))
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// A small, plausible mistake: words, and a diff.
pub struct Mistake {
    /// Relative to the crate.
    pub file: String,
    /// The crate with the sources that the mistake changes, relative to the crate.
    home: String,
    hunks: Vec<Hunk>,
}

impl Mistake {
    fn read(path: &Path, home: &str) -> Self {
        let file = path.strip_prefix(package()).expect("it is ours");
        let file = file.display().to_string();
        let text = fs::read_to_string(path).expect("it can be read");
        let (essay, diff) = text.split_once("\n--- ").unwrap_or_default();
        assert!(
            !essay.trim().is_empty(),
            "{file} does not say what is wrong and why somebody might write it, and then --- the \
            source"
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
        let home = home.to_string();
        Mistake { file, home, hunks }
    }

    /// The sources that the mistake changes in the crate at a path, each with its new text; or why
    /// the mistake cannot be made.
    pub fn changed(&self, package: &Path) -> Result<Vec<(PathBuf, String)>, String> {
        let mut changed: Vec<(PathBuf, String)> = Vec::new();
        for Hunk { source, old, new } in &self.hunks {
            let path = package.join(&self.home).join(source);
            let before = match changed.iter().position(|(other, _)| *other == path) {
                Some(place) => changed.swap_remove(place).1,
                None => fs::read_to_string(&path).unwrap_or_default(),
            };
            let found = before.matches(old.as_str()).count();
            if found != 1 || old == new {
                return Err(format!(
                    "{} no longer fits; make the mistake anew. In {source} these lines \
                    occur {found} times, not once:\n{old}",
                    self.file
                ));
            }
            changed.push((path, before.replacen(old, new, 1)));
        }
        Ok(changed)
    }
}

/// The crate under test.
pub fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The mistakes in a folder.
#[allow(dead_code, reason = "each test file uses a part")]
pub fn mistakes(folder: &str) -> Vec<Mistake> {
    mistakes_of("", folder)
}

/// The mistakes in a crate's folder; the crate is named by its path from here.
pub fn mistakes_of(home: &str, folder: &str) -> Vec<Mistake> {
    let folder = package().join(home).join("tests/mistakes").join(folder);
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    paths.sort();
    let mistakes = paths.iter().map(|path| Mistake::read(path, home));
    mistakes.collect()
}

/// Demands that there are this many mistakes, and that each fits the sources.
pub fn assert_fit(mistakes: &[Mistake], least: usize) {
    assert!(mistakes.len() >= least, "only {} mistakes", mistakes.len());
    let misfits = mistakes.iter();
    let misfits = misfits.filter_map(|mistake| mistake.changed(package()).err());
    let misfits: Vec<String> = misfits.collect();
    assert!(misfits.is_empty(), "{}", misfits.join("\n"));
}

/// Mistake folders, the least mistake count in each, and the `cargo test` words for the tests that
/// must find them.
pub type Kinds<'a> = [(&'a str, usize, &'a [&'a str])];

/// Demands that each folder has its mistakes, and that each one fits the sources.
#[allow(dead_code, reason = "each test file uses a part")]
pub fn assert_all_fit(kinds: &Kinds<'_>) {
    assert_all_copied();
    for &(folder, least, _) in kinds {
        assert_fit(&mistakes(folder), least);
    }
}

/// Demands that each folder's tests find its mistakes, and prints the tests that fail.
#[allow(dead_code, reason = "each test file uses a part")]
pub fn assert_all_found(kinds: &Kinds<'_>) {
    let copy = Copy::new(false);
    let failed = |line: &str| line.ends_with(" ... FAILED");
    for &(folder, _, tests) in kinds {
        assert_found(&copy, mistakes(folder), tests, Search::fuzzing(5), failed);
    }
}

/// Makes each mistake with `ELANITE_MISTAKE` in its name in the copy, and demands that some tests
/// fail there, which pass without it. `tests` are the `cargo test` words for the tests. Prints the
/// lines that report the failures.
pub fn assert_found(
    copy: &Copy,
    mistakes: Vec<Mistake>,
    tests: &[&str],
    search: Search,
    says: impl Fn(&str) -> bool,
) {
    let wanted = std::env::var("ELANITE_MISTAKE").unwrap_or_default();
    let (pass, said) = copy.run(tests, search.variable, search.without);
    assert!(pass, "without a mistake:\n{said}");
    let mut missed = Vec::new();
    for mistake in mistakes {
        if !mistake.file.contains(&wanted) {
            continue;
        }
        println!("{}", mistake.file);
        let (pass, said) = copy.run_with(&mistake, tests, search);
        for line in said.lines().filter(|line| says(line)) {
            println!("  {}", line.trim());
        }
        if pass {
            println!("  not found");
            missed.push(mistake.file);
        }
    }
    assert!(missed.is_empty(), "nobody finds {missed:?}");
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

/// The parts of the workspace that tests need.
const PARTS: [&str; 7] = [
    "Cargo.toml",
    "Cargo.lock",
    "crates",
    "examples",
    "experiments",
    "machines",
    "packaging/bindgen",
];

/// Demands that a copy has all crates of the workspace: without one, nothing compiles there.
fn assert_all_copied() {
    let text = fs::read_to_string(package().join("../../Cargo.toml")).expect("a workspace");
    let (_, members) = text.split_once("members = [").expect("members");
    let (members, _) = members.split_once(']').expect("a list");
    for member in members.split('"').skip(1).step_by(2) {
        let is_copied = PARTS.iter().any(|part| Path::new(member).starts_with(part));
        assert!(is_copied, "{member} is not copied");
    }
}

/// A workspace copy.
pub struct Copy {
    root: PathBuf,
    /// Whether the tests run as in a release.
    optimized: bool,
}

impl Copy {
    pub fn new(optimized: bool) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistakes");
        let workspace = package().join("../..");
        // An earlier build there is used again.
        let _ = fs::remove_dir_all(root.join("crates"));
        fs::create_dir_all(&root).expect("the target directory can be written");
        for part in PARTS {
            copy(&workspace.join(part), &root.join(part));
        }
        Copy { root, optimized }
    }

    fn package(&self) -> PathBuf {
        let name = package().file_name().expect("a crate has a folder");
        self.root.join("crates").join(name)
    }

    /// Whether the command succeeds, and its output. After [`LONGEST`] it has failed: a mistake may
    /// loop for ever.
    fn cargo(
        &self,
        tests: &[&str],
        (variable, much): (&str, u32),
        more: &[&str],
    ) -> (bool, String) {
        let path = self.root.join("said");
        let said = fs::File::create(&path).expect("a file is made");
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args("test --offline --locked --no-fail-fast --package".split(' '))
            .arg(env!("CARGO_PKG_NAME"))
            .args(self.optimized.then_some("--release"))
            .args(more)
            .args(tests)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env("ELANITE_FUZZ_SHRINK", "2")
            .env_remove("ELANITE_FUZZ_SECONDS")
            .env_remove("ELANITE_FUZZ_SEED")
            .env_remove("ELANITE_FUZZ_CASES")
            .env_remove("ELANITE_SWARM_SEED")
            .env_remove("ELANITE_SWARM_CASES")
            .env(variable, much.to_string())
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

    /// Runs the tests that these `cargo test` words name, with this search length. Returns whether
    /// they pass, and their output.
    pub fn run(&self, tests: &[&str], variable: &str, much: u32) -> (bool, String) {
        let (built, said) = self.cargo(tests, (variable, much), &["--no-run"]);
        assert!(built, "the copy does not compile:\n{said}");
        self.cargo(tests, (variable, much), &[])
    }

    /// Runs the tests with a mistake.
    pub fn run_with(&self, mistake: &Mistake, tests: &[&str], search: Search) -> (bool, String) {
        let changed = mistake
            .changed(&self.package())
            .unwrap_or_else(|misfit| panic!("{misfit}"));
        for (path, wrong) in &changed {
            fs::write(path, wrong).expect("the copy can be written");
        }
        let result = self.run(tests, search.variable, search.with);
        for (path, _) in &changed {
            let source = path.strip_prefix(self.package()).expect("it is there");
            copy(&package().join(source), path);
        }
        result
    }
}
