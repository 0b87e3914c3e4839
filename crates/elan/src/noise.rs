//! # Noise: what the operating system takes of a processor
//!
//! A process that computes is stopped now and then: by the timer's tick, by a daemon, by work of the kernel that is bound to
//! one processor (garcia2005 s3.3). Each such cause is a [`Source`] of *detours*, which take the processor for a duration; the
//! durations and the intervals between detours may vary. A [`HostCpu`] tells a simulated process when its work will be done.
//!
//! The rules:
//!
//! * Detours come before the process. While one is under way another waits for its end, so that what is taken of a
//!   processor is the sum of their durations, whichever cause they have.
//! * Intervals are counted from start to start, whatever happens to the detours: a tick does not wait for the last one.
//! * A detour that is due when the work ends comes after it; one under way when work begins comes before it.
//! * Every source of every processor has its own random stream, named by node, processor and source, and began long before
//!   the run: where time 0 falls in an interval is drawn, too. Nothing that a process does changes what is drawn; it only
//!   decides which detours it meets.
//!
//! Nothing happens in the run loop when a detour does: the answer is arithmetic, a draw or two for each detour since the last
//! question. What processes take of each other is not modelled: each has a processor, or acts as if it had.

use crate::{Distribution, NodeId};
use kernel::random::Stream;
use std::sync::Arc;
use units::Time;

/// How a time varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Around a mean.
    Mean(Time, Distribution),
    /// As it was counted: times, each with how often it was seen. Some are above 0, no count is 0, and the sum of all is a
    /// [`Time`].
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
                    // To the picosecond, however long it is.
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

    /// The rest of the interval that a random moment falls into. Long intervals are more likely than short ones, since more
    /// moments fall into them.
    fn residual(&self, stream: &mut Stream) -> Time {
        match self {
            Spread::Mean(time, Distribution::Fixed) => {
                Time::from_ps(stream.uniform_u64(0..time.as_ps().max(1)))
            }
            Spread::Mean(mean, Distribution::Uniform) => {
                let interval = 2.0 * mean.as_ps() as f64 * stream.uniform_f64().sqrt();
                Time::from_ps((interval * stream.uniform_f64()) as u64)
            }
            // It has no memory.
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

/// Their sum, in picoseconds.
fn total(times: &[(Time, u64)]) -> u128 {
    let each = times.iter();
    each.map(|&(time, count)| u128::from(time.as_ps()) * u128::from(count))
        .sum()
}

/// One cause of noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What it is called; its random streams are named by it.
    pub name: String,
    /// The processor that it stops, of every node; none for all processors.
    pub cpu: Option<u32>,
    /// From the start of a detour to that of the next; its mean is at least 1 ps.
    pub interval: Spread,
    /// What a detour takes.
    pub duration: Spread,
}

impl Source {
    /// The part of a processor that it takes.
    pub fn share(&self) -> f64 {
        self.duration.mean_ps() / self.interval.mean_ps()
    }
}

/// The detours of one source on one processor, without end: when each is due, and what it takes.
#[derive(Debug)]
pub struct Detours {
    source: Source,
    stream: Stream,
    next: Time,
}

impl Detours {
    /// From time 0 on.
    pub fn new(source: &Source, seed: u64, node: NodeId, cpu: u32) -> Self {
        let path = format!("node {node}/cpu {cpu}/noise {}", source.name);
        let mut stream = Stream::new(seed, &path);
        let next = source.interval.residual(&mut stream);
        Detours {
            source: source.clone(),
            stream,
            next,
        }
    }

    /// When the next one is due.
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

/// A processor of a node, as one process sees it: whoever asks about the same processor meets the same detours. That of the
/// default is never taken away.
#[derive(Debug, Default)]
pub struct HostCpu {
    sources: Vec<Detours>,
    /// The end of all detours so far.
    taken_until: Time,
    /// The end of the last work.
    asked_until: Time,
}

impl HostCpu {
    /// A processor with those of some sources that concern it.
    pub fn new(sources: &[Source], seed: u64, node: NodeId, cpu: u32) -> Self {
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
    /// If it begins before the end of the last work that was asked about.
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
        // A detour in the middle of the work moves its end by what it takes, and so does one that waits for another.
        while let Some(detours) = self.first().filter(|detours| detours.due() < end) {
            let detour = detours.next();
            end += detour.map_or(Time::ZERO, |(_, duration)| duration);
            self.take(detour);
        }
        self.asked_until = end;
        end
    }

    /// The source whose detour is due first; of several the first of the machine.
    fn first(&mut self) -> Option<&mut Detours> {
        self.sources.iter_mut().min_by_key(|detours| detours.due())
    }

    fn take(&mut self, detour: Option<(Time, Time)>) {
        if let Some((due, duration)) = detour {
            self.taken_until = self.taken_until.max(due) + duration;
        }
    }
}
