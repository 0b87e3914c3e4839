//! Threads that sleep in simulated time, and threads that wait for others.

use rank::session::{self, Session};
use rank::{compute, pending, sleepers, system, thread};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many threads that sleep in simulated time wait for others.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// The session with the time in which this thread sleeps. `None` within an MPI call, where the
/// library only gives way to other threads.
pub fn sleeper() -> Option<&'static Session> {
    let session = session::shown()?;
    if !thread::drives_time() || !thread::outside() {
        return None;
    }
    compute::settle(session);
    thread::acted();
    Some(session)
}

/// Whether this thread has not called MPI and may do so later.
pub fn may_call() -> bool {
    thread::several_threads() && thread::outside() && !thread::drives_time()
}

/// The session, if the rank waits for its other threads.
pub fn awaited() -> Option<&'static Session> {
    (WAITING.load(Ordering::Relaxed) > 0)
        .then(session::get)
        .flatten()
}

/// Waits for other threads, without an end or up to a moment. A thread that is cancelled in this
/// wait never comes back, and is counted for ever. This matters only to a program that cancels
/// threads that call MPI.
///
/// The wait reads no clock: the host decides how far another thread's call has come when it begins.
pub fn waits<R>(wait: impl FnOnce() -> R) -> R {
    thread::acted();
    let is_outside = thread::outside();
    let rest = pending::rests(!is_outside);
    let is_awaited = is_outside && session::get().is_some() && thread::drives_time();
    WAITING.fetch_add(u32::from(is_awaited), Ordering::Relaxed);
    let result = wait();
    WAITING.fetch_sub(u32::from(is_awaited), Ordering::Relaxed);
    rest.ends();
    result
}

/// How often the process's other threads are looked at, at most; how long one computes that does
/// not only prepare its next wait; and how long a busy host may take for that; in nanoseconds.
const STEP: u64 = 1_000_000;
const COMPUTES: u64 = 200_000;
const LONGEST: u64 = 20_000_000;

/// When the process's other threads were looked at, in real time.
static LOOKED: AtomicU64 = AtomicU64::new(0);

/// Simulated time has passed by this thread's sleep, or by its wait in vain. Beside it others may
/// compute, which takes no simulated time: the host decides how far they have come.
pub fn has_passed() {
    if thread::one_thread() || thread::were_at_once() {
        return;
    }
    let now = system::real_time();
    if now.saturating_sub(LOOKED.load(Ordering::Relaxed)) < STEP {
        return;
    }
    let own = system::thread();
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let numbers = threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    if numbers.filter(|&number: &u32| number != own).any(computes) {
        thread::guesses();
    }
    LOOKED.store(system::real_time(), Ordering::Relaxed);
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
