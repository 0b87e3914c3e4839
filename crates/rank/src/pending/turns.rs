//! Threads that wait for each other's looks.
//!
//! A thread that has looked in vain, and keeps looking for its step, has MPI's lock nearly always;
//! the C library's locks are not fair. So it waits where it has released the lock, until another
//! thread has looked or has come to another stage.

use crate::system;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The longest wait in real time, and how often it is repeated: the change may be another one than
/// the awaited.
const LONGEST: Duration = Duration::from_micros(200);
const TIMES: u32 = 8;

/// Counts changes of threads' states, as a word on which threads wait; how many wait.
static CHANGES: AtomicU32 = AtomicU32::new(0);
static WAITING: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Set while this thread's step is held up: the count of changes when that was noted.
    static HELD_UP: Cell<Option<u32>> = const { Cell::new(None) };
}

/// A thread has looked, or has come to another stage.
pub fn changes() {
    CHANGES.fetch_add(1, Ordering::AcqRel);
    if WAITING.load(Ordering::Acquire) > 0 {
        system::wake_all(&CHANGES);
    }
}

/// This thread's step is held up.
pub fn note() {
    HELD_UP.set(Some(CHANGES.load(Ordering::Acquire)));
}

/// Waits while others are about to act, if this thread's step was held up.
pub fn release(others: impl Fn() -> bool) {
    let Some(mut seen) = HELD_UP.take() else {
        return;
    };
    for _ in 0..TIMES {
        wait_from(seen);
        seen = CHANGES.load(Ordering::Acquire);
        if !others() {
            break;
        }
    }
}

/// Waits a little for another thread's look or stage.
pub fn wait() {
    wait_from(CHANGES.load(Ordering::Acquire));
}

fn wait_from(seen: u32) {
    WAITING.fetch_add(1, Ordering::AcqRel);
    system::wait_for_change(&CHANGES, seen, LONGEST);
    WAITING.fetch_sub(1, Ordering::AcqRel);
}
