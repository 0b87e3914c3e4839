//! Runs the swarm for a time, or a single case; see the page `docs/swarm.md`.

#![expect(clippy::disallowed_methods, reason = "the search ends after a time")]

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use swarm::{Case, RunFailure, check, shrink};

const HELP: &str = "\
swarm: random machines, programs and faults, checked

  swarm --seconds 60 --seed 0          cases of seeds 0, 1, 2, ... for a minute
  swarm --seed 17 --count 1            the case of seed 17
  swarm --case '{\"machine\":...}'       a case that was printed
  swarm --seed 17 --print              prints the case of seed 17

  --threads N    cases at a time (default 1)
  --all          goes on after a failure, and tells a line of each
  --shrink N     most runs to make a failing case smaller (default 2000; 0 leaves the case as it \
  is)";

/// The command.
struct Task {
    seed: u64,
    count: u64,
    seconds: Option<u64>,
    threads: u64,
    shrink: u32,
    case: Option<String>,
    print: bool,
    all: bool,
}

impl Task {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Task, String> {
        let mut task = Task {
            seed: 0,
            count: u64::MAX,
            seconds: None,
            threads: 1,
            shrink: 2000,
            case: None,
            print: false,
            all: false,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--print" => task.print = true,
                "--all" => task.all = true,
                _ => {
                    let value = words.next();
                    task.set(
                        &word,
                        value.ok_or_else(|| wrong(&word, "needs a value, or is unknown"))?,
                    )?;
                }
            }
        }
        Ok(task)
    }

    fn set(&mut self, word: &str, value: String) -> Result<(), String> {
        if word == "--case" {
            self.case = Some(value);
            return Ok(());
        }
        let number = value.parse::<u64>();
        let number = number.map_err(|_| wrong(word, "needs a number"))?;
        match word {
            "--seed" => self.seed = number,
            "--count" => self.count = number,
            "--seconds" => self.seconds = Some(number),
            "--threads" => self.threads = number.max(1),
            "--shrink" => self.shrink = number as u32,
            _ => return Err(wrong(word, "is unknown")),
        }
        Ok(())
    }
}

fn wrong(word: &str, what: &str) -> String {
    format!("{word} {what}\n\n{HELP}")
}

/// All threads' results.
#[derive(Default)]
struct Sum {
    cases: u64,
    packets: u64,
    done: u64,
    errors: u64,
    waits: u64,
    failed: u64,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let task = match Task::read(words.into_iter()) {
        Ok(task) => task,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let case = match &task.case {
        Some(text) => Case::parse(text),
        None => Ok(Case::of(task.seed)),
    };
    let case = match case {
        Ok(case) => case,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    if task.print {
        println!("{case}");
        return ExitCode::SUCCESS;
    }
    if task.case.is_some() {
        return match check(&case) {
            Ok(report) => {
                println!("{}: nothing is wrong: {report:?}", case.summary());
                ExitCode::SUCCESS
            }
            Err(failure) => tell(None, case, failure, task.shrink),
        };
    }
    search(&task)
}

/// Checks one seed after the other.
fn search(task: &Task) -> ExitCode {
    let begin = Instant::now();
    let end = task
        .seconds
        .map(|seconds| begin + Duration::from_secs(seconds));
    let next = AtomicU64::new(task.seed);
    let over = AtomicBool::new(false);
    let failed: Mutex<Option<(u64, RunFailure)>> = Mutex::new(None);
    let sum = Mutex::new(Sum::default());
    let last = task.seed.saturating_add(task.count);
    thread::scope(|scope| {
        for _ in 0..task.threads {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= last {
                        break;
                    }
                    match check(&Case::of(seed)) {
                        Ok(report) => {
                            let mut sum = sum.lock().expect("nobody panics with the lock");
                            sum.cases += 1;
                            sum.packets += report.packets;
                            sum.done += report.done;
                            sum.errors += report.errors;
                            sum.waits += u64::from(report.waits);
                        }
                        Err(failure) if task.all => {
                            let mut sum = sum.lock().expect("nobody panics with the lock");
                            sum.failed += 1;
                            println!("seed {seed}: {failure}");
                        }
                        Err(failure) => {
                            over.store(true, Ordering::Relaxed);
                            let mut failed = failed.lock().expect("nobody panics with the lock");
                            // The least seed is reported, whichever thread is first.
                            if failed.as_ref().is_none_or(|(other, _)| seed < *other) {
                                *failed = Some((seed, failure));
                            }
                        }
                    }
                }
            });
        }
    });
    let sum = sum.into_inner().expect("nobody panics with the lock");
    println!(
        "{} cases from seed {} on in {:.0} s: {} packets, {} steps that ended well, {} errors \
        told, {} runs that lost partners",
        sum.cases,
        task.seed,
        begin.elapsed().as_secs_f64(),
        sum.packets,
        sum.done,
        sum.errors,
        sum.waits
    );
    match failed.into_inner().expect("nobody panics with the lock") {
        Some((seed, failure)) => tell(Some(seed), Case::of(seed), failure, task.shrink),
        None if sum.failed > 0 => {
            println!("{} cases fail", sum.failed);
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}

/// Shrinks a failing case, and prints it.
fn tell(seed: Option<u64>, case: Case, failure: RunFailure, most: u32) -> ExitCode {
    if let Some(seed) = seed {
        println!("seed {seed} fails ({}): {failure}", case.summary());
        println!("to see it again: make swarm SEED={seed} COUNT=1");
    } else {
        println!("the case fails ({}): {failure}", case.summary());
    }
    if most > 0 {
        let shrunk = shrink(case, failure, most);
        println!(
            "after {} runs ({}): {}",
            shrunk.runs,
            shrunk.case.summary(),
            shrunk.failure
        );
        println!("to see it again: make swarm CASE='{}'", shrunk.case);
    }
    ExitCode::FAILURE
}
