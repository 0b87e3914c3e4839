//! The present machine's processor: a loop step's time, and its memory rate.

#![expect(
    clippy::disallowed_methods,
    reason = "the processor of this computer is what is measured"
)]

use crate::probe::{WARM_UP, spin};
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};
use units::{Rate, Time};

/// Loop rounds in a trial: about a millisecond.
const ROUNDS: u64 = 500_000;

/// Loop trials; the shortest one counts, which was not interrupted.
const TRIALS: u32 = 100;

/// Bytes that a thread copies from and to: more than caches hold.
const BLOCK: usize = 64 << 20;

/// Block copies per thread; the fastest copy by one thread, and all copies by all threads, count.
const COPIES: u32 = 6;

/// A computer's processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// A loop round's time: six operations on one register, each waiting for the previous one.
    pub step: Time,
    /// Bytes that one processor reads and writes in main memory.
    pub core_memory: Rate,
    /// Bytes that all processors read and write together.
    pub memory: Rate,
    /// Processors that this process may use.
    pub cores: u32,
}

impl Processor {
    /// Measures the computer at hand: a second or two on an idle one.
    pub fn measure() -> Processor {
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let begin = Instant::now();
        while begin.elapsed() < WARM_UP {
            black_box(spin(ROUNDS));
        }
        let trial = |_| {
            let begin = Instant::now();
            black_box(spin(ROUNDS));
            begin.elapsed()
        };
        let shortest = (0..TRIALS).map(trial).min().unwrap_or_default();
        let step = shortest.as_nanos() * 1000 / u128::from(ROUNDS);
        Processor {
            step: Time::from_ps(step.max(1) as u64),
            core_memory: rate(1),
            memory: rate(cores),
            cores,
        }
    }
}

/// The rate at which this many threads together read and write main memory.
fn rate(threads: u32) -> Rate {
    let together = Barrier::new(threads as usize);
    let copies = || {
        let (from, mut to) = (vec![1_u8; BLOCK], vec![2_u8; BLOCK]);
        together.wait();
        let begin = Instant::now();
        let copy = |_| {
            let begin = Instant::now();
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
            begin.elapsed()
        };
        let fastest = (0..COPIES).map(copy).min().unwrap_or_default();
        (fastest, begin.elapsed())
    };
    let times: Vec<(Duration, Duration)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(copies)).collect();
        let times = threads.into_iter().map(thread::ScopedJoinHandle::join);
        times
            .map(|times| times.expect("a copy does not panic"))
            .collect()
    });
    let moved = 2 * BLOCK as u128;
    let rate = if let [(fastest, _)] = times[..] {
        moved * 1_000_000_000 / fastest.as_nanos().max(1)
    } else {
        let slowest = times.iter().map(|(_, all)| all.as_nanos()).max();
        let all = moved * u128::from(COPIES) * u128::from(threads);
        all * 1_000_000_000 / slowest.unwrap_or(1).max(1)
    };
    Rate::from_mb_per_second((rate as u64 / 1_000_000).max(1))
}
