//! Files that a person, a program or a disk has spoilt: any input is refused with a place, or has
//! the meaning that it states.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ELANITE_FUZZ_SEED` | seed for the first case; the following cases have the following numbers | 0 |
//! | `ELANITE_FUZZ_CASES` | how many cases | 400 |
//! | `ELANITE_FUZZ_SECONDS` | for how long instead: no case begins after this many seconds | |
//!
//! A case takes a machine file, an experiment file, overrides, a command-line fault and a pair
//! file, from those that are shipped and those in the tests, and changes some of them: bytes,
//! lines, values, numbers, units, brackets, other files' parts. Then:
//!
//! - no call panics, takes long, or takes much memory, however large the numbers are;
//! - every problem has a message and a place that exists in the file, the override or the pairs;
//! - accepted input is restored from its JSON unchanged, with the same key; and a planned point can
//!   be simulated.
//!
//! `make fuzz-inputs` runs more.

#![expect(clippy::disallowed_methods, reason = "the search ends after a time")]

use config::{Override, Problems};
use experiment::{Experiment, MachineFile, Point, plan, simulate};
use kernel::memory::{CountingAllocator, measure};
use kernel::random::Stream;
use machine::{FaultSection, Machine};
use std::cell::RefCell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use units::Bytes;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// The case count in every test run: a few seconds on two slow cores.
const CASES: u64 = 400;

/// A case that takes longer than this hangs, also on a busy host.
const LONGEST: Duration = Duration::from_secs(300);

/// Memory for reading and planning: an experiment may have a hundred thousand points, each with its
/// machine.
const READING: Bytes = Bytes::new(1 << 30);

/// Memory for setting a machine up, beyond the run's bound.
const RUNNING: Bytes = Bytes::new(5 << 30);

/// When a simulation is cancelled.
const SOON: Duration = Duration::from_millis(40);

/// Files to begin with.
struct Corpus {
    machines: Vec<String>,
    /// The first machines' names, in quotes.
    names: Vec<String>,
    experiments: Vec<String>,
    /// Experiments that are refused.
    wrong: Vec<String>,
    pairs: Vec<Vec<u8>>,
    overrides: Vec<String>,
    /// Faults as written on a command line.
    faults: Vec<String>,
    /// Values and keys in all of them.
    words: Vec<String>,
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

impl Corpus {
    fn read() -> Corpus {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = |path: &PathBuf| fs::read_to_string(path).expect("it is text");
        let texts = |folder: &str| files(&root.join(folder), "toml").iter().map(text).collect();
        let mut machines: Vec<String> = texts("machines");
        let names = files(&root.join("machines"), "toml");
        let names = names.iter().filter_map(|path| path.file_stem()?.to_str());
        let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        let good = |name: &str| text(&root.join("crates/machine/tests").join(name));
        machines.push(good("good.toml"));
        machines.push([good("good.toml"), good("rails.toml")].concat());
        let failing = [
            good("good.toml"),
            "\n[[fault]]\nlink = \"node 3\"\nat = \"1 ms\"\nfor = \"2 ms\"\n\n[[fault]]\n\
             links = \"level 1\"\ncount = 2\npick = \"worst\"\nmtbf = \"5 ms\"\nmttr = \"1 ms\"\n"
                .into(),
        ];
        machines.insert(names.len(), failing.concat());
        let of_tests = root.join("crates/experiment/tests");
        let mut experiments: Vec<String> = texts("experiments");
        let of_folder = |folder: PathBuf| {
            let bad = files(&of_tests.join("bad"), "toml");
            let mut found = files(&folder, "toml");
            found.retain(|path| folder != of_tests || !bad.contains(path));
            found.iter().map(text).collect::<Vec<_>>()
        };
        experiments.extend(of_folder(of_tests.clone()));
        let wrong = of_folder(of_tests.join("bad"));
        let pairs = files(&root.join("crates/experiment/tests"), "csv");
        let pairs = pairs
            .iter()
            .map(|path| fs::read(path).expect("it is there"));
        let mut words: Vec<String> = Vec::new();
        for text in machines.iter().chain(&experiments).chain(&wrong) {
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                words.extend(line.split('=').map(|word| word.trim().to_string()));
            }
        }
        words.retain(|word| !word.is_empty() && word.len() < 80);
        words.sort();
        words.dedup();
        Corpus {
            machines,
            names,
            experiments,
            wrong,
            pairs: pairs.collect(),
            overrides: [
                "link.hop_delay=60 ns",
                "switch.circuit=wormhole",
                "topology.nodes=16",
                "run.window=30 us",
                "run.seeds=2",
                "series.ping.message=[\"0 B\", \"1 KB\"]",
                "fabric.engine=flit",
            ]
            .map(String::from)
            .to_vec(),
            faults: [
                "link = 'node 3', at = '1 ms'",
                "link = 'switch 1.0, port 5', at = '1 ms', for = '2 us', rail = 0",
                "links = 'all', bit_error_rate = 1e-5",
                "links = 'level 1', count = 2, pick = 'worst', mtbf = '5 ms', mttr = '1 ms'",
                "switch = '1.0', at = '1 ms'",
                "adapter = 3, at = '0 us', for = '1 ms'",
                "node = 3, at = '1 ms'",
                "rail = 0, at = '1 ms'",
            ]
            .map(String::from)
            .to_vec(),
            words,
        }
    }
}

fn pick<'a, T>(stream: &mut Stream, of: &'a [T]) -> &'a T {
    &of[stream.uniform_u64(0..of.len() as u64) as usize]
}

fn below(stream: &mut Stream, end: usize) -> usize {
    stream.uniform_u64(0..end.max(1) as u64) as usize
}

/// Numbers, quantities and brackets at which readers fail.
const AWKWARD: [&str; 44] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "1e308",
    "1e-300",
    "nan",
    "inf",
    "-inf",
    "0.5",
    "1.0000000001",
    "\"0 ns\"",
    "\"1 ps\"",
    "\"213 d\"",
    "\"18446744073709551615 ps\"",
    "\"1000 s\"",
    "\"0 B\"",
    "\"1 B\"",
    "\"4294967295 B\"",
    "\"16777216 GB\"",
    "\"0 MB/s\"",
    "\"0.001 MB/s\"",
    "\"1000000 GB/s\"",
    "\"all\"",
    "\"half\"",
    "\"0-4294967295\"",
    "\"0-99999999999999999999\"",
    "\"63-0:1\"",
    "[]",
    "[[]]",
    "{}",
    "true",
    "\"\"",
    "\"\\u0000\"",
    "'''",
    "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]",
];

/// Changes a text in one place.
fn change(text: &mut Vec<u8>, corpus: &Corpus, others: &[String], stream: &mut Stream) {
    let at = below(stream, text.len());
    match below(stream, 20) {
        0 if !text.is_empty() => text[at] ^= 1 << below(stream, 8),
        1 => text.truncate(at),
        2 => {
            let end = (at + below(stream, 40)).min(text.len());
            text.drain(at..end);
        }
        3 => {
            let end = (at + below(stream, 60)).min(text.len());
            let part = text[at..end].to_vec();
            text.splice(at..at, part);
        }
        4 => {
            // Another file's part.
            let other = pick(stream, others).as_bytes();
            let from = below(stream, other.len());
            let end = (from + below(stream, 400)).min(other.len());
            text.splice(at..at, other[from..end].iter().copied());
        }
        5 => {
            let deep = 1 + below(stream, 3000);
            let bracket = *pick(stream, b"[{\"'(");
            text.splice(at..at, std::iter::repeat_n(bracket, deep));
        }
        6 => lines(text, stream),
        _ => value(text, corpus, stream),
    }
}

/// Swaps, removes or repeats lines.
fn lines(text: &mut Vec<u8>, stream: &mut Stream) {
    let mut all: Vec<Vec<u8>> = text
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let (one, other) = (below(stream, all.len()), below(stream, all.len()));
    match below(stream, 3) {
        0 => all.swap(one, other),
        1 => drop(all.remove(one)),
        _ => {
            let line = all[one].clone();
            all.insert(other, line);
        }
    }
    *text = all.join(&b'\n');
}

/// Replaces a value, or an element of a list, by another one.
fn value(text: &mut Vec<u8>, corpus: &Corpus, stream: &mut Stream) {
    let starts: Vec<usize> = (0..text.len())
        .filter(|&at| b"=[,".contains(&text[at]))
        .collect();
    if starts.is_empty() {
        return;
    }
    let start = *pick(stream, &starts) + 1;
    let end = text[start..]
        .iter()
        .position(|byte| b",]\n}".contains(byte));
    let end = end.map_or(text.len(), |length| start + length);
    let new = if below(stream, 3) == 0 {
        pick(stream, &corpus.words).clone()
    } else {
        (*pick(stream, &AWKWARD)).to_string()
    };
    text.splice(start..end, format!(" {new}").into_bytes());
}

fn spoil(bytes: &[u8], corpus: &Corpus, others: &[String], stream: &mut Stream) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..[0, 1, 1, 1, 1, 3][below(stream, 6)] {
        change(&mut bytes, corpus, others, stream);
    }
    bytes
}

/// A case's inputs.
struct Case {
    machine: String,
    experiment: String,
    overrides: Vec<String>,
    fault: String,
    pairs: Vec<u8>,
}

fn draw(corpus: &Corpus, stream: &mut Stream) -> Case {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let texts = |of: &[String], stream: &mut Stream| {
        let bytes = pick(stream, of).as_bytes().to_vec();
        text(spoil(&bytes, corpus, of, stream))
    };
    let experiments = if below(stream, 5) == 0 {
        &corpus.wrong
    } else {
        &corpus.experiments
    };
    let experiment = texts(experiments, stream);
    // Most experiments shall be planned: on the machine that they name, or on one with several
    // rails.
    let named = corpus.machines.iter().zip(&corpus.names);
    let named = named
        .filter(|(_, name)| experiment.contains(*name))
        .map(|(text, _)| text)
        .next();
    let machine = match below(stream, 3) {
        0 => texts(&corpus.machines, stream),
        _ => named
            .or(corpus.machines.last())
            .cloned()
            .unwrap_or_default(),
    };
    let mut overrides = Vec::new();
    for _ in 0..[0, 0, 0, 1][below(stream, 4)] {
        overrides.push(texts(&corpus.overrides, stream));
    }
    let pairs = pick(stream, &corpus.pairs);
    let pairs = spoil(pairs, corpus, &corpus.overrides, stream);
    let fault = texts(&corpus.faults, stream);
    Case {
        machine,
        experiment,
        overrides,
        fault,
        pairs,
    }
}

/// Every problem has a message and a place.
fn check_problems(problems: &Problems) {
    assert!(!problems.0.is_empty(), "a refusal without a problem");
    let rendered = problems.render(false);
    for problem in &problems.0 {
        let lines = problem.text.lines().count().max(1);
        assert!(!problem.message.is_empty(), "{problem:?}");
        assert!(
            (1..=lines + 1).contains(&problem.line),
            "line {} of {lines}",
            problem.line
        );
        assert!(problem.column >= 1 && problem.span.end <= problem.text.len());
        let place = format!("{}:{}:{}", problem.file, problem.line, problem.column);
        // The excerpt shows a file's end behind its last line.
        let at_the_end = problem.span.start == problem.text.len();
        assert!(
            at_the_end || rendered.contains(&place),
            "no {place} in\n{rendered}"
        );
    }
}

/// The cases' outcomes.
#[derive(Debug, Default)]
struct Tally {
    cases: u64,
    machines: u64,
    planned: u64,
    simulated: u64,
    failed: u64,
    /// The most memory that reading and planning took.
    most: Bytes,
}

fn read(case: &Case) -> (bool, Option<Result<Vec<Point>, Problems>>) {
    let changes: Result<Vec<Override>, Problems> = case
        .overrides
        .iter()
        .map(|text| Override::parse(text))
        .collect();
    let changes = match changes {
        Ok(changes) => changes,
        Err(problems) => return (false, Some(Err(problems))),
    };
    let (ours, machines): (Vec<_>, Vec<_>) = changes
        .into_iter()
        .partition(|change| Experiment::owns(&change.key));
    let machine = Machine::parse("machine.toml", &case.machine, &machines);
    match &machine {
        Err(problems) => check_problems(problems),
        Ok(machine) => {
            let json = serde_json::to_string(machine).expect("a machine is plain data");
            let again: Machine = serde_json::from_str(&json).expect("it is a machine");
            assert_eq!((&again, again.values()), (machine, machine.values()));
            match machine.read_fault(&case.fault) {
                Err(problems) => check_problems(&problems),
                Ok(fault) => {
                    let json = serde_json::to_string(&fault).expect("a fault is plain data");
                    let again: FaultSection = serde_json::from_str(&json).expect("it is a fault");
                    assert_eq!(again, fault);
                }
            }
        }
    }
    let parsed = Experiment::parse("experiment.toml", &case.experiment, &ours);
    let (experiment, document) = match parsed {
        Ok(parsed) => parsed,
        Err(problems) => return (machine.is_ok(), Some(Err(problems))),
    };
    let file = MachineFile {
        file: "machine.toml",
        text: &case.machine,
        overrides: &machines,
    };
    (
        machine.is_ok(),
        Some(plan("inputs", (&experiment, &document), &file, 1)),
    )
}

fn run(case: &Case, stream: &mut Stream, tally: &mut Tally) {
    fs::write("pairs.csv", &case.pairs).expect("there is room");
    fs::write("ring.csv", &case.pairs).expect("there is room");
    let began = Instant::now();
    let ((machine, planned), most) = measure(|| read(case));
    tally.most = tally.most.max(most);
    tally.machines += u64::from(machine);
    assert!(most < READING, "reading takes {most}");
    assert!(
        began.elapsed() < LONGEST,
        "reading takes {:?}",
        began.elapsed()
    );
    match planned {
        None => {}
        Some(Err(problems)) => check_problems(&problems),
        Some(Ok(points)) => {
            tally.planned += 1;
            for point in [points.first(), points.last()].into_iter().flatten() {
                let json = serde_json::to_string(point).expect("a point is plain data");
                let again: Point = serde_json::from_str(&json).expect("it is a point");
                assert_eq!((&again, again.key()), (point, point.key()));
            }
            if !points.is_empty() {
                simulated(pick(stream, &points), tally);
            }
        }
    }
}

fn simulated(point: &Point, tally: &mut Tally) {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    std::thread::spawn(move || {
        std::thread::sleep(SOON);
        flag.store(true, Ordering::Relaxed);
    });
    let began = Instant::now();
    let (outcome, most) = measure(|| simulate(point, Some(cancel)));
    tally.simulated += 1;
    tally.failed += u64::from(outcome.is_err());
    assert!(most < RUNNING, "the simulation takes {most}");
    assert!(
        began.elapsed() < LONGEST,
        "the simulation takes {:?}",
        began.elapsed()
    );
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

/// The folder for this process's pair files; removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn whatever_is_read_is_refused_with_a_place_or_is_what_it_says() {
    let first = variable("ELANITE_FUZZ_SEED").unwrap_or(0);
    let seconds = variable("ELANITE_FUZZ_SECONDS").map(Duration::from_secs);
    let usual = if seconds.is_some() { u64::MAX } else { CASES };
    let most = variable("ELANITE_FUZZ_CASES").unwrap_or(usual);
    let patience = seconds.unwrap_or(Duration::MAX);
    let corpus = Corpus::read();
    let scratch =
        Scratch(std::env::temp_dir().join(format!("elanite-inputs-{}", std::process::id())));
    fs::create_dir_all(&scratch.0).expect("there is room");
    std::env::set_current_dir(&scratch.0).expect("it has been made");
    let (start, tally) = (Instant::now(), RefCell::new(Tally::default()));
    while start.elapsed() < patience && tally.borrow().cases < most {
        let seed = first + tally.borrow().cases;
        let mut stream = Stream::new(seed, "inputs");
        let case = draw(&corpus, &mut stream);
        let work = || run(&case, &mut stream, &mut tally.borrow_mut());
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/inputs"));
            fs::create_dir_all(&folder).expect("there is room");
            let kept = [
                ("machine.toml", case.machine.as_bytes()),
                ("experiment.toml", case.experiment.as_bytes()),
                ("overrides.txt", case.overrides.join("\n").as_bytes()),
                ("fault.txt", case.fault.as_bytes()),
                ("pairs.csv", &case.pairs),
            ]
            .map(|(name, bytes)| fs::write(folder.join(format!("{seed}-{name}")), bytes));
            assert!(kept.iter().all(Result::is_ok), "there is room");
            panic!(
                "the files are in target/inputs/{seed}-*; to see it again: \
                ELANITE_FUZZ_SEED={seed} \
                 ELANITE_FUZZ_CASES=1 cargo test -p elanite-experiment --test inputs"
            );
        }
        tally.borrow_mut().cases += 1;
    }
    let tally = tally.into_inner();
    println!("spoilt files: {tally:?}");
    assert!(
        most < 100 || tally.planned * 20 > tally.cases,
        "most files must not be nonsense"
    );
}
