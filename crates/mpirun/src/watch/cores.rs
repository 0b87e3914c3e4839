//! The host processors on which simulator and ranks run.
//!
//! The simulator and a rank mostly alternate: one waits while the other runs. The kernel wakes a
//! process on an idle processor, which may take far longer than the turn itself, above all in a
//! virtual machine. On one processor it only switches. Ranks that compute need all processors. So
//! both ways are measured, by turns in a while of host time, and the faster one is taken for a
//! longer while. A turn that lasts ends the common way immediately. Simulated time and results do
//! not depend on any of this.

#![expect(clippy::disallowed_methods, reason = "processes live in real time")]

use link::Simulator;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a way is measured at least, and at most if few turns end; then how long the faster one
/// is taken.
const MEASURED: Duration = Duration::from_millis(10);
const MOST: Duration = Duration::from_millis(50);
const TAKEN: Duration = Duration::from_millis(400);

/// The turns that a measurement needs.
const TURNS: u32 = 128;

/// How long a turn may last on the common processor.
const SHORT: Duration = Duration::from_millis(2);

/// With more ranks, several run at a time as a rule.
const RANKS: u32 = 64;

/// Where simulator and ranks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Wherever the kernel likes.
    Apart,
    /// On one processor.
    Together,
}

/// The purpose of the present way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Measure,
    Run,
}

/// The choice between the ways, by counted turns.
struct Choice {
    way: Way,
    purpose: Purpose,
    /// When this began, and how many turns have ended since.
    since: Duration,
    turns: u32,
    /// Turns per second apart.
    apart: f64,
}

impl Choice {
    fn new() -> Choice {
        Choice {
            way: Way::Apart,
            purpose: Purpose::Run,
            since: Duration::ZERO,
            turns: 0,
            apart: 0.0,
        }
    }

    fn take(&mut self, way: Way, purpose: Purpose, now: Duration) {
        (self.way, self.purpose) = (way, purpose);
        (self.since, self.turns) = (now, 0);
    }

    /// A turn has ended.
    fn turn(&mut self, now: Duration) {
        self.turns += 1;
        let time = now.saturating_sub(self.since);
        let rate = f64::from(self.turns) / time.as_secs_f64().max(1e-9);
        let enough = self.turns >= TURNS && time >= MEASURED;
        match (self.purpose, self.way) {
            (Purpose::Run, _) if time >= TAKEN => self.take(Way::Apart, Purpose::Measure, now),
            (Purpose::Measure, Way::Apart) if enough => {
                self.apart = rate;
                self.take(Way::Together, Purpose::Measure, now);
            }
            (Purpose::Measure, Way::Together) if enough && rate > self.apart => {
                self.take(Way::Together, Purpose::Run, now);
            }
            (Purpose::Measure, _) if enough || time >= MOST => {
                self.take(Way::Apart, Purpose::Run, now);
            }
            _ => {}
        }
    }
}

/// The host processors of a run's simulator and ranks.
pub(crate) struct Cores {
    /// The processors that all may use; `None` if the ways do not differ.
    usual: Option<CpuSet>,
    choice: Choice,
    begin: Instant,
    /// The program that has started the ranks.
    launcher: u32,
    /// The common processor's set, and the ranks' processes, while they run together.
    together: Option<(CpuSet, Vec<u32>)>,
}

impl Cores {
    pub fn new(launcher: u32) -> Cores {
        let usual = sched_getaffinity(None).ok().filter(|all| all.count() > 1);
        Cores {
            usual,
            choice: Choice::new(),
            begin: Instant::now(),
            launcher,
            together: None,
        }
    }

    /// How long a turn may last before [`Cores::late`].
    pub fn patience(&self) -> Option<Duration> {
        self.together.is_some().then_some(SHORT)
    }

    /// A rank has given its turn away.
    pub fn turn(&mut self, link: &Simulator) {
        if self.usual.is_some() && link.ranks() <= RANKS {
            self.choice.turn(self.begin.elapsed());
            self.follow(|| {
                (0..link.ranks())
                    .filter_map(|rank| link.pid(rank))
                    .collect()
            });
        }
    }

    /// A turn lasts: the rank computes, and others may, too.
    pub fn late(&mut self) {
        self.choice
            .take(Way::Apart, Purpose::Run, self.begin.elapsed());
        self.follow(Vec::new);
    }

    /// Moves simulator and ranks where they are to run.
    fn follow(&mut self, ranks: impl FnOnce() -> Vec<u32>) {
        let Some(usual) = &self.usual else {
            return;
        };
        match (self.choice.way, &self.together) {
            (Way::Together, None) => {
                let mut one = CpuSet::new();
                one.set(sched_getcpu());
                // A rank's number is its own word: it may name any process.
                let mut ranks = ranks();
                ranks.retain(|&rank| parent(rank) == Some(self.launcher));
                ranks.retain(|&rank| {
                    let mut moved = false;
                    threads(rank, |thread, _| moved |= change(thread, usual, &one));
                    moved
                });
                let _ = sched_setaffinity(None, &one);
                self.together = Some((one, ranks));
            }
            (Way::Apart, Some((one, ranks))) => {
                let _ = sched_setaffinity(None, usual);
                for &rank in ranks
                    .iter()
                    .filter(|&&rank| parent(rank) == Some(self.launcher))
                {
                    free(rank, one, usual);
                }
                self.together = None;
            }
            _ => {}
        }
    }
}

impl Drop for Cores {
    fn drop(&mut self) {
        self.late();
    }
}

/// Gives a thread other processors, if it has those that are expected. Returns whether it had.
fn change(thread: u32, expected: &CpuSet, new: &CpuSet) -> bool {
    Pid::from_raw(thread.cast_signed()).is_some_and(|thread| {
        sched_getaffinity(Some(thread)).is_ok_and(|set| set == *expected)
            && sched_setaffinity(Some(thread), new).is_ok()
    })
}

/// Visits a process's threads, each with the folder that shows it.
fn threads(process: u32, mut visit: impl FnMut(u32, &Path)) {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        if let Some(thread) = task.file_name().to_str().and_then(|name| name.parse().ok()) {
            visit(thread, &task.path());
        }
    }
}

/// Gives a process's threads, and its children, all processors again: those that were made
/// meanwhile have inherited the common one.
fn free(process: u32, one: &CpuSet, usual: &CpuSet) {
    threads(process, |thread, folder| {
        change(thread, one, usual);
        let children = fs::read_to_string(folder.join("children")).unwrap_or_default();
        let children = children
            .split_whitespace()
            .filter_map(|word| word.parse().ok());
        children.for_each(|child| free(child, one, usual));
    });
}

/// A process's parent.
fn parent(process: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests;
