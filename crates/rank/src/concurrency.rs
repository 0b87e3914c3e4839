//! Threads that compute while simulated time passes beside them.
//!
//! Computation takes no simulated time, except the measured time of the thread that calls MPI. So
//! the host decides how far such a thread has come when a sleep, or a wait in vain, ends beside it,
//! and how often a loop polls until it has done its work. Such a run is a guess. A loop of polls
//! that a message ends is none: the message comes at its time.

use crate::{pending, sleepers, system, thread};
use std::sync::atomic::{AtomicU64, Ordering};

/// How often the process's other threads are looked at, at most; how long one computes that does
/// not only prepare its next wait; and how long a busy host may take for that; in nanoseconds.
const STEP: u64 = 1_000_000;
const COMPUTES: u64 = 200_000;
const LONGEST: u64 = 20_000_000;

/// When the process's other threads were looked at, in real time.
static LOOKED: AtomicU64 = AtomicU64::new(0);

/// Simulated time has passed by this thread's sleep, or by its wait in vain.
pub fn time_passes() {
    if any_computes() {
        thread::guesses();
    }
}

/// Simulated time passes by a poll in vain.
pub fn polls() {
    if any_computes() {
        thread::polls_beside(true);
    }
}

/// Whether another thread computes, and it is time to look, and not yet known. A rank that the
/// simulator observes does not look: reading the kernel's files would be taken for work.
fn any_computes() -> bool {
    if thread::one_thread() || thread::were_at_once() || pending::is_observed() {
        return false;
    }
    let now = system::real_time();
    if now.saturating_sub(LOOKED.load(Ordering::Relaxed)) < STEP {
        return false;
    }
    let own = system::thread();
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let mut numbers = threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let found = numbers.any(|number: u32| number != own && computes(number));
    LOOKED.store(system::real_time(), Ordering::Relaxed);
    found
}

/// Whether a thread computes.
fn computes(number: u32) -> bool {
    let (begun, before) = (system::real_time(), system::processor_time_of(number));
    while system::is_runnable(number) == Some(true) {
        if system::processor_time_of(number).saturating_sub(before) > COMPUTES {
            return true;
        }
        if system::real_time().saturating_sub(begun) > LONGEST {
            return false;
        }
        system::nap(sleepers::SLICE);
    }
    false
}
