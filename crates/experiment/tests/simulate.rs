//! Running points: the same bits everywhere, and the bounds.

mod common;

use common::{plan_file, points};
use experiment::{Point, RunError, simulate};
use kernel::memory::{CountingAllocator, measure};
use kernel::{Bound, LimitError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use units::Bytes;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// The series with two jobs.
const TWO_JOBS: &str = include_str!("two_jobs.toml");

/// Collective operations.
const COLLECTIVES: &str = include_str!("collectives.toml");

/// Second-generation adapters.
const OVERLAP: &str = include_str!("overlap.toml");

/// A series' last point, after overrides.
fn point(series: &str, overrides: &[&str]) -> Point {
    points(overrides)
        .into_iter()
        .rfind(|point| point.series == series)
        .unwrap()
}

/// A point that exceeds its bounds soon, and would run for minutes without bounds.
fn endless(overrides: &[&str]) -> Point {
    point("load", &[&["run.window=1000 s"], overrides].concat())
}

fn exceeded(point: &Point) -> (LimitError, String) {
    match simulate(point, None) {
        Err(error @ RunError::Exceeded(exceeded)) => (exceeded, error.to_string()),
        other => panic!("{other:?}"),
    }
}

/// A ping in both directions, uniform traffic from 16 nodes in a 200 us window, two jobs on 64, one
/// of which reads from servers and writes to them, two groups that broadcast among background
/// traffic, and two processes with Elan4 adapters that communicate while they compute: the digests
/// over all packets and records, on any host, on 1, 2 and 4 threads at the same time, and with the
/// network in 2 and 7 regions. Only a model change changes them. The released build is compared by
/// `tests/test_release_build.py`.
#[test]
fn the_same_bits_everywhere() {
    let jobs = plan_file("jobs.toml", TWO_JOBS, &[]).unwrap().remove(0);
    let collectives = plan_file("collectives.toml", COLLECTIVES, &[]).unwrap();
    let mut broadcasts = collectives.into_iter();
    let broadcast = broadcasts.rfind(|point| point.series == "broadcast");
    let overlaps = plan_file("overlap.toml", OVERLAP, &[]).unwrap();
    let points = vec![
        ("digest_of_overlap", overlaps.last().unwrap().clone()),
        (
            "digest_of_ping",
            point("ping", &["series.ping.source=main"]),
        ),
        ("digest_of_uniform", point("load", &[])),
        ("digest_of_jobs", jobs),
        ("digest_of_collective", broadcast.unwrap()),
    ];
    for (name, point) in points {
        let digest = |point: &Point| {
            let records = simulate(point, None).unwrap();
            format!(
                "{} {} packets, {} events, {}",
                records.digest, records.packets, records.events, records.simulated
            )
        };
        let expected = digest(&point);
        insta::assert_snapshot!(name, expected);
        for regions in [2, 7] {
            let divided = Point {
                regions,
                ..point.clone()
            };
            assert_eq!(digest(&divided), expected, "{regions} regions");
        }
        for threads in [1, 2, 4] {
            thread::scope(|scope| {
                let runs: Vec<_> = (0..threads)
                    .map(|_| scope.spawn(|| digest(&point)))
                    .collect();
                for run in runs {
                    assert_eq!(run.join().unwrap(), expected, "{threads} threads");
                }
            });
        }
    }
}

#[test]
fn another_seed_is_another_run() {
    let point = point("load", &[]);
    let other = Point {
        seed: point.seed + 1,
        ..point.clone()
    };
    let digest = |point: &Point| simulate(point, None).unwrap().digest;
    assert_ne!(digest(&point), digest(&other));
}

fn says(message: &str, words: [&str; 2]) {
    let [bound, remedy] = words.map(|words| message.contains(words));
    assert!(
        bound && remedy && message.contains("raise the bound"),
        "{message}"
    );
}

#[test]
fn too_many_events() {
    let (exceeded, message) = exceeded(&endless(&["run.max_events=1000"]));
    assert_eq!(exceeded.bound, Bound::Events(1000));
    assert!(exceeded.at.events < 100_000, "{exceeded:?}");
    says(&message, ["1000 events", "--set run.max_events=2000"]);
}

#[test]
fn too_much_memory() {
    let point = endless(&["run.max_memory=100 KB"]);
    let ((exceeded, message), peak) = measure(|| exceeded(&point));
    assert_eq!(exceeded.bound, Bound::Memory(Bytes::from_kb(100)));
    let passed = exceeded.at.memory > Bytes::from_kb(100) && peak >= Bytes::from_kb(100);
    assert!(passed, "{exceeded:?}, {peak}");
    says(
        &message,
        ["100 KB of memory", "--set run.max_memory=\"200 KB\""],
    );
}

#[test]
fn cancelled_before_and_while_it_runs() {
    let point = endless(&[]);
    let set = Arc::new(AtomicBool::new(true));
    assert!(matches!(
        simulate(&point, Some(set)),
        Err(RunError::Cancelled)
    ));

    let later = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&later);
    let run = thread::spawn(move || simulate(&point, Some(flag)));
    thread::sleep(Duration::from_millis(50));
    assert!(!run.is_finished());
    later.store(true, Ordering::Relaxed);
    let outcome = run.join().unwrap();
    assert_eq!(outcome.unwrap_err().to_string(), "the run was cancelled");
}
