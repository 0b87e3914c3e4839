//! # Noise: the processor time that the operating system takes
//!
//! A process that computes is stopped now and then: by the timer's tick, by a daemon, by kernel
//! work that is bound to one processor (garcia2005 s3.3). Each such cause is a [`NoiseSource`] of
//! *detours*, which take the processor for a duration. The durations and the intervals between
//! detours may vary. A [`HostCpu`] computes when a simulated process's work will be done.
//!
//! The rules:
//!
//! * Detours come before the process. A detour that is due while another is under way waits for the
//!   other's end. So the time taken from a processor is the sum over all detours' durations,
//!   independent of their causes.
//! * Intervals are counted from start to start, independent of the detours' course: a tick does not
//!   wait for the tick before it.
//! * A detour that is due when the work ends comes after the work; a detour under way when work
//!   begins comes before it.
//! * Every source on every processor has its own random stream, named by node, processor and
//!   source. The source began long before the run: where time 0 falls in an interval is drawn, too.
//!   A process never changes the draws; it only decides which detours it meets.
//!
//! A detour is no event in the run loop: the answer is arithmetic, a draw or two for each detour
//! since the last question. Competition between processes is not modelled: each process has a
//! processor, or acts as if it had one.

use crate::{Distribution, NodeId};
use kernel::random::Stream;
use std::sync::Arc;
use units::Time;

/// How a time varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Around a mean.
    Mean(Time, Distribution),
    /// A time as it was counted: times, each with how often it was seen. Some times are above 0, no
    /// count is 0, and their sum is a [`Time`].
    Counted(Arc<[(Time, u64)]>),
}

impl Spread {
    /// The mean, in picoseconds.
    pub fn mean_ps(&self) -> f64 {
        match self {
            Spread::Mean(mean, _) => mean.as_ps() as f64,
            Spread::Counted(times) => total(times) as f64 / seen(times) as f64,
        }
    }

    /// Draws a time. Every kind takes one draw.
    fn draw(&self, stream: &mut Stream) -> Time {
        match self {
            Spread::Mean(mean, distribution) => {
                let drawn = distribution.draw(mean.as_ps() as f64, stream);
                match distribution {
                    // A fixed time is exact to the picosecond, however long it is.
                    Distribution::Fixed => *mean,
                    _ => Time::from_ps(drawn.round() as u64),
                }
            }
            Spread::Counted(times) => {
                let mut left = stream.uniform_u64(0..seen(times));
                let found = times.iter().find(|&&(_, count)| {
                    let here = left < count;
                    left = left.saturating_sub(count);
                    here
                });
                found.expect("the draw is below the sum of the counts").0
            }
        }
    }

    /// The rest of the interval around a random moment. Long intervals are more likely than short
    /// ones, since more moments fall into them.
    fn residual(&self, stream: &mut Stream) -> Time {
        match self {
            Spread::Mean(time, Distribution::Fixed) => {
                Time::from_ps(stream.uniform_u64(0..time.as_ps().max(1)))
            }
            Spread::Mean(mean, Distribution::Uniform) => {
                let interval = 2.0 * mean.as_ps() as f64 * stream.uniform_f64().sqrt();
                Time::from_ps((interval * stream.uniform_f64()) as u64)
            }
            // The exponential distribution has no memory.
            Spread::Mean(_, Distribution::Exponential) => self.draw(stream),
            Spread::Counted(times) => {
                let mut left = (u128::from(stream.next_u64()) * total(times)) >> 64;
                for &(time, count) in times.iter() {
                    let here = u128::from(time.as_ps()) * u128::from(count);
                    if left < here {
                        return Time::from_ps((left % u128::from(time.as_ps())) as u64);
                    }
                    left -= here;
                }
                unreachable!("the draw is below the sum of the times")
            }
        }
    }
}

/// How many times were counted.
fn seen(times: &[(Time, u64)]) -> u64 {
    times.iter().map(|&(_, count)| count).sum()
}

/// The counted times' sum, in picoseconds.
fn total(times: &[(Time, u64)]) -> u128 {
    let each = times.iter();
    each.map(|&(time, count)| u128::from(time.as_ps()) * u128::from(count))
        .sum()
}

/// One noise cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoiseSource {
    /// The source's name, which also names its random streams.
    pub name: String,
    /// The processor that the source stops, on every node; `None` for all processors.
    pub cpu: Option<u32>,
    /// From one detour's start to the next one's; the mean is at least 1 ps.
    pub interval: Spread,
    /// The time that a detour takes.
    pub duration: Spread,
}

impl NoiseSource {
    /// The share of a processor's time that the source takes.
    pub fn share(&self) -> f64 {
        self.duration.mean_ps() / self.interval.mean_ps()
    }
}

/// One source's detours on one processor, without end: each one's due time and duration.
#[derive(Debug)]
pub struct Detours {
    source: NoiseSource,
    stream: Stream,
    next: Time,
}

impl Detours {
    /// The detours from time 0 on.
    pub fn new(source: &NoiseSource, seed: u64, node: NodeId, cpu: u32) -> Self {
        let path = format!("node {node}/cpu {cpu}/noise {}", source.name);
        let mut stream = Stream::new(seed, &path);
        let next = source.interval.residual(&mut stream);
        Detours {
            source: source.clone(),
            stream,
            next,
        }
    }

    /// When the next detour is due.
    fn due(&self) -> Time {
        self.next
    }
}

impl Iterator for Detours {
    type Item = (Time, Time);

    fn next(&mut self) -> Option<(Time, Time)> {
        let due = self.next;
        let duration = self.source.duration.draw(&mut self.stream);
        let interval = self.source.interval.draw(&mut self.stream);
        self.next = due + interval.max(Time::from_ps(1));
        Some((due, duration))
    }
}

/// A node's processor, as one process sees it: all processes on the same processor meet the same
/// detours. The default processor has no noise.
#[derive(Debug, Default)]
pub struct HostCpu {
    sources: Vec<Detours>,
    /// End of all detours so far.
    taken_until: Time,
    /// End of the last work.
    asked_until: Time,
}

impl HostCpu {
    /// A processor with the sources that concern it.
    pub fn new(sources: &[NoiseSource], seed: u64, node: NodeId, cpu: u32) -> Self {
        let here = sources
            .iter()
            .filter(|source| source.cpu.is_none_or(|own| own == cpu));
        HostCpu {
            sources: here
                .map(|source| Detours::new(source, seed, node, cpu))
                .collect(),
            taken_until: Time::ZERO,
            asked_until: Time::ZERO,
        }
    }

    /// When work that begins at a moment is done: no sooner than `begin + work`.
    ///
    /// # Panics
    /// If the work begins before the end of the last requested work.
    pub fn work(&mut self, begin: Time, work: Time) -> Time {
        let last = self.asked_until;
        assert!(
            begin >= last,
            "work that begins at {begin} overlaps with work until {last}"
        );
        while let Some(detours) = self.first().filter(|detours| detours.due() < begin) {
            let detour = detours.next();
            self.take(detour);
        }
        let mut end = begin.max(self.taken_until) + work;
        // A detour during the work moves the work's end by its duration, and so does a detour that
        // waits for another.
        while let Some(detours) = self.first().filter(|detours| detours.due() < end) {
            let detour = detours.next();
            end += detour.map_or(Time::ZERO, |(_, duration)| duration);
            self.take(detour);
        }
        self.asked_until = end;
        end
    }

    /// The source with the first due detour; among several, the first in the machine file.
    fn first(&mut self) -> Option<&mut Detours> {
        self.sources.iter_mut().min_by_key(|detours| detours.due())
    }

    fn take(&mut self, detour: Option<(Time, Time)>) {
        if let Some((due, duration)) = detour {
            self.taken_until = self.taken_until.max(due) + duration;
        }
    }
}
