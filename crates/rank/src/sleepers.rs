//! Threads that sleep while another thread of the rank is in an MPI call.
//!
//! Where several threads may call MPI, a thread that has not called it yet may be about to; or it
//! is a runtime's watcher, whose sleep must not carry the rank away. So such a thread sleeps until
//! the rank's time has come to the sleep's end, and does not advance that time. The thread that
//! looks for a message advances it: its step ends at the sleep's end, where it waits in real time
//! until the sleeper has noticed it, and then until it has acted ([`pending`]). A thread that calls
//! MPI beside others sleeps like this, too.

use crate::{pending, system};
use link::NEVER;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long, in real time, time stands still for a sleeper to notice: its thread may run late on a
/// busy host.
const NOTICES: Duration = Duration::from_millis(200);

/// How often the sleeper and the one that waits for it look, in real time.
pub const SLICE: Duration = Duration::from_millis(1);

/// The part of the time since the looks began that a step takes at least.
const SHARE: u64 = 16;

/// The moments at which sleeps end, in local time.
static ENDS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The first of them.
static FIRST: AtomicU64 = AtomicU64::new(NEVER);

/// A sleep, until it is dropped.
pub struct Sleeper(u64);

impl Sleeper {
    /// A thread begins to sleep until a moment.
    pub fn until(moment: u64) -> Sleeper {
        let mut ends = ends();
        ends.push(moment);
        note_first(&ends);
        drop(ends);
        pending::sleeps();
        Sleeper(moment)
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        pending::wakes();
        let mut ends = ends();
        if let Some(place) = ends.iter().position(|&end| end == self.0) {
            ends.swap_remove(place);
        }
        note_first(&ends);
    }
}

fn ends() -> MutexGuard<'static, Vec<u64>> {
    ENDS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note_first(ends: &[u64]) {
    let first = ends.iter().copied().min().unwrap_or(NEVER);
    FIRST.store(first, Ordering::Release);
}

/// The end of a step from a moment: the given one, or the first sleep's end in the step. While a
/// thread sleeps, steps are at least a part ([`SHARE`]) of the time since the looks began, so that a long
/// sleep takes few looks.
pub fn cut(begun: u64, from: u64, end: u64) -> u64 {
    let first = FIRST.load(Ordering::Acquire);
    if first == NEVER || first <= from {
        return end;
    }
    let longer = from + from.saturating_sub(begun) / SHARE;
    end.max(longer).min(first)
}

/// Time has come to a moment. Gives sleepers that this ends the time to notice; returns whether
/// there were any.
pub fn wake(now: u64) -> bool {
    let asleep = || FIRST.load(Ordering::Acquire) <= now;
    if !asleep() {
        return false;
    }
    let mut left = NOTICES;
    while asleep() && !left.is_zero() {
        system::nap(SLICE / 10);
        left = left.saturating_sub(SLICE / 10);
    }
    true
}

#[cfg(test)]
mod tests;
