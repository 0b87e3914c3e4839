//! The calibrated loop.

#![expect(
    clippy::disallowed_methods,
    reason = "the noise of this computer is what is measured"
)]

use crate::Measurement;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;
use units::Time;

/// Bounds for the length of a measurement, the length of one computation, and the computation
/// count.
const LENGTHS: (Time, Time) = (Time::from_ms(10), Time::from_secs(3600));
const COMPUTES: (Time, Time) = (Time::from_us(10), Time::from_secs(1));
const ITERATIONS: (u64, u64) = (10, 10_000_000);

/// The time in which processors raise their frequency.
pub(crate) const WARM_UP: Duration = Duration::from_millis(50);

/// Trials in each calibration step; the shortest counts.
const TRIALS: u32 = 10;

/// Calibration steps; the last ones make hardly any change.
const STEPS: u32 = 5;

/// The measurement's parameters.
#[derive(Clone, Copy, Debug)]
pub struct ProbeRequest {
    /// The measurement's length without calibration: 10 ms to an hour.
    pub length: Time,
    /// One iteration's time without noise: 10 us to 1 s.
    pub compute: Time,
    /// The processor; if this is `None`, the operating system chooses where the measurement runs.
    pub cpu: Option<u32>,
}

/// Why there is no measurement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A number out of range.
    #[error("{what}: {value} is out of range; allowed: {least} to {most}")]
    Range {
        /// The number's name.
        what: &'static str,
        /// The number.
        value: String,
        /// The least allowed number.
        least: String,
        /// The largest allowed number.
        most: String,
    },
    /// There is no such processor, or this process may not use it.
    #[error("there is no processor {cpu} for this process; allowed: {allowed}")]
    NoCpu {
        /// The processor.
        cpu: u32,
        /// The processors that this process may use.
        allowed: String,
    },
    /// The operating system does not bind threads to processors.
    #[error("this operating system binds no thread to a processor; leave out the processor")]
    Unbound,
    /// The caller requested the end.
    #[error("the measurement was cancelled")]
    Cancelled,
}

impl ProbeRequest {
    /// The iteration count without noise.
    fn iterations(self) -> u64 {
        self.length / self.compute
    }

    fn check(self) -> Result<(), Error> {
        let range = |what, value: Time, (least, most): (Time, Time)| {
            let inside = (least..=most).contains(&value);
            inside.then_some(()).ok_or_else(|| Error::Range {
                what,
                value: value.to_string(),
                least: least.to_string(),
                most: most.to_string(),
            })
        };
        range("the length of the measurement", self.length, LENGTHS)?;
        range("the computation", self.compute, COMPUTES)?;
        let (least, most) = ITERATIONS;
        let iterations = self.iterations();
        let inside = (least..=most).contains(&iterations);
        inside.then_some(()).ok_or_else(|| Error::Range {
            what: "the number of iterations, length over computation",
            value: iterations.to_string(),
            least: least.to_string(),
            most: most.to_string(),
        })
    }
}

/// Measures on the calling thread, which stays on the processor afterwards. To set `cancel` ends
/// the measurement soon.
///
/// # Errors
/// See [`enum@Error`].
pub fn measure(request: ProbeRequest, cancel: &AtomicBool) -> Result<Measurement, Error> {
    request.check()?;
    if let Some(cpu) = request.cpu {
        bind(cpu)?;
    }
    let rounds = calibrate(request.compute);
    let length = Duration::from_nanos(request.length.as_ps() / 1000);
    // The list has its pages before the loop begins: no page fault interrupts the loop.
    let mut elapsed = vec![u64::MAX; request.iterations() as usize + 1];
    let mut count = 0;
    let start = Instant::now();
    let mut last = start;
    while count < elapsed.len() && last - start < length {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        spin(rounds);
        let now = Instant::now();
        elapsed[count] = (now - last).as_nanos() as u64;
        count += 1;
        last = now;
    }
    elapsed.truncate(count);
    let elapsed = elapsed.into_iter().map(Time::from_ns);
    Ok(Measurement::new(request.compute, elapsed.collect()))
}

/// The computation: register shifts, each waiting for the previous one.
pub(crate) fn spin(rounds: u64) -> u64 {
    let mut word = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..rounds {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
    }
    black_box(word)
}

/// The round count that takes this long without noise.
fn calibrate(compute: Time) -> u64 {
    let start = Instant::now();
    while start.elapsed() < WARM_UP {
        spin(1000);
    }
    let wanted = compute.as_ps() as f64 / 1e3;
    let mut rounds: u64 = 10_000;
    for _ in 0..STEPS {
        let trial = |_| {
            let start = Instant::now();
            spin(rounds);
            start.elapsed().as_nanos().max(1) as f64
        };
        let least = (0..TRIALS).map(trial).fold(f64::INFINITY, f64::min);
        rounds = ((rounds as f64 * wanted / least) as u64).max(1);
    }
    rounds
}

/// Keeps the thread on a processor.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn bind(cpu: u32) -> Result<(), Error> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let may = sched_getaffinity(None).map_err(|_| Error::Unbound)?;
    let all: Vec<u32> = (0..CpuSet::MAX_CPU as u32)
        .filter(|&one| may.is_set(one as usize))
        .collect();
    if !all.contains(&cpu) {
        return Err(Error::NoCpu {
            cpu,
            allowed: runs(&all),
        });
    }
    let mut one = CpuSet::new();
    one.set(cpu as usize);
    sched_setaffinity(None, &one).map_err(|_| Error::Unbound)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn bind(_: u32) -> Result<(), Error> {
    Err(Error::Unbound)
}

/// Ascending numbers for people: `0 to 3, 8`.
#[cfg(any(target_os = "linux", target_os = "android", test))]
fn runs(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let words = runs.map(|run| match run {
        [first, .., last] => format!("{first} to {last}"),
        one => one.iter().map(u32::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
