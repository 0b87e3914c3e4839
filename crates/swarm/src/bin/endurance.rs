//! Sends millions of messages through a network that fails, and checks each; see
//! [`swarm::endurance`].

use cpu_time::ThreadTime;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use swarm::endurance::{Cables, Course, NODES, Tally};
use units::Time;

const HELP: &str = "\
endurance: many messages through a network with bit errors and failing cables, each checked

  endurance                10,000,000 messages, a twelfth for each rate of bit errors and each \
  kind of failing cables
  endurance 100000         as many messages, or a few more

  --threads N    runs at a time (default: as many as the computer has processors)";

/// Bit error rates, each with a cable's mean time between failures and mean repair time, in us: the
/// more bits flip, the longer the run.
const RATES: [(f64, u64, u64); 6] = [
    (1e-9, 50_000, 200),
    (1e-8, 50_000, 200),
    (1e-7, 50_000, 200),
    (1e-6, 100_000, 200),
    (1e-5, 200_000, 500),
    (1e-4, 500_000, 1000),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((messages, threads)) = task(&words) else {
        println!("{HELP}");
        return ExitCode::from(2);
    };
    let courses = courses(messages);
    println!(
        "| bit error rate | failing cables | messages | packets | failures | damaged | sent again \
        | refused: damaged | refused: no way | \
         timed out | known repetitions | simulated s | CPU s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Done::default());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(course) = courses.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begin = ThreadTime::now();
                    let line = course
                        .run()
                        .map(|tally| (line(course, &tally, begin), tally));
                    let mut done = done.lock().expect("nobody panics with the lock");
                    done.tell(course, line);
                }
            });
        }
    });
    let done = done.into_inner().expect("nobody panics with the lock");
    if done.failed {
        return ExitCode::FAILURE;
    }
    println!(
        "{} messages: none was lost, doubled or altered, and no process was told of an error.",
        grouped(done.sum.messages)
    );
    ExitCode::SUCCESS
}

/// How many messages, and on how many threads.
fn task(words: &[String]) -> Option<(u64, usize)> {
    let (mut messages, mut threads) = (
        10_000_000,
        thread::available_parallelism().map_or(1, Into::into),
    );
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--threads" {
            threads = words.next()?.parse().ok()?;
        } else {
            messages = word.parse().ok()?;
        }
    }
    (messages > 0 && threads > 0).then_some((messages, threads))
}

/// A task's runs, each with another seed.
fn courses(messages: u64) -> Vec<Course> {
    let kinds = [Cables::BetweenSwitches, Cables::All];
    let each = messages.div_ceil((RATES.len() * kinds.len()) as u64 * u64::from(NODES));
    let courses = (1..)
        .zip(RATES)
        .flat_map(|(seed, (bit_error_rate, mtbf, mttr))| {
            kinds.map(|cables| Course {
                rounds: each as u32,
                bit_error_rate,
                cables,
                mtbf: Time::from_us(mtbf),
                mttr: Time::from_us(mttr),
                seed,
            })
        });
    courses.collect()
}

/// The runs' outcomes so far.
#[derive(Default)]
struct Done {
    sum: Tally,
    failed: bool,
}

impl Done {
    fn tell(&mut self, course: &Course, line: Result<(String, Tally), String>) {
        match line {
            Ok((line, tally)) => {
                println!("{line}");
                self.sum += tally;
            }
            Err(why) => {
                println!("{course:?}: {why}");
                self.failed = true;
            }
        }
    }
}

/// A table line.
fn line(course: &Course, tally: &Tally, begin: ThreadTime) -> String {
    let cables = match course.cables {
        Cables::BetweenSwitches => "between switches",
        Cables::All => "all",
    };
    let recovered = tally.recovered;
    let counts = [
        tally.messages,
        tally.packets,
        tally.failures,
        tally.damaged,
        recovered.resent,
        recovered.corrupted,
        recovered.unreachable,
        recovered.timed_out,
        recovered.repeated,
    ];
    let counts: Vec<String> = counts.into_iter().map(grouped).collect();
    format!(
        "| {:e} | {cables} | {} | {:.2} | {:.0} |",
        course.bit_error_rate,
        counts.join(" | "),
        tally.simulated.as_us_f64() / 1e6,
        begin.elapsed().as_secs_f64()
    )
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
