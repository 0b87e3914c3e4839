//! The search for a start without progress. See the crate's essay.

#![expect(clippy::disallowed_methods, reason = "processes live in real time")]

use crate::wire::RankNumber;
use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

/// How long a start may make no progress.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The most rank ranges in a message.
const MOST: usize = 8;

/// Watches a start.
pub struct Stall {
    patience: Duration,
    since: Instant,
    /// The ranks' processor time at the last look, in ticks.
    ticks: u64,
}

impl Stall {
    /// A start that may make no progress for so long.
    pub fn new(patience: Duration) -> Self {
        Stall {
            patience,
            since: Instant::now(),
            ticks: 0,
        }
    }

    /// How long the start may make no progress.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Something has happened.
    pub fn progress(&mut self) {
        self.since = Instant::now();
    }

    /// Looks at the ranks that have not entered the barrier for which others wait, by their process
    /// numbers. Returns whether the start has made no progress for too long.
    pub fn look(&mut self, late: &[(RankNumber, u32)]) -> bool {
        let ticks = late.iter().map(|&(_, pid)| ticks(pid)).sum();
        let computes = std::mem::replace(&mut self.ticks, ticks) != ticks;
        if computes || late.iter().any(|&(_, pid)| reads_input(pid)) {
            self.progress();
        }
        self.since.elapsed() >= self.patience
    }
}

/// A process's processor time in ticks: user and system.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in parentheses, may hold anything. User and system time are the fields 14 and 15.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let fields = rest.split_ascii_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// Whether a process waits for standard input: it is in the system call `read` on descriptor 0.
fn reads_input(pid: u32) -> bool {
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    call.starts_with(&format!("{} 0x0 ", libc::SYS_read))
}

/// Whether a process is stopped.
pub fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or_default();
    rest.trim_start().starts_with(['T', 't'])
}

/// Ranks with their noun: `rank 7`, `ranks 0-3, 7`.
pub fn named(ranks: &[RankNumber]) -> String {
    let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{noun} {}", listed(ranks.iter().copied()))
}

/// Ranks for people: `0-3, 7`.
pub fn listed(ranks: impl IntoIterator<Item = RankNumber>) -> String {
    let mut sorted: Vec<RankNumber> = ranks.into_iter().collect();
    sorted.sort_unstable();
    let mut ranges: Vec<(RankNumber, RankNumber)> = Vec::new();
    for rank in sorted {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 >= rank => *last = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    let hidden = ranges.len().saturating_sub(MOST);
    ranges.truncate(MOST);
    let mut words = String::new();
    for (first, last) in ranges {
        let comma = if words.is_empty() { "" } else { ", " };
        let _ = match last - first {
            0 => write!(words, "{comma}{first}"),
            _ => write!(words, "{comma}{first}-{last}"),
        };
    }
    if hidden > 0 {
        words.push_str(", ...");
    }
    words
}
