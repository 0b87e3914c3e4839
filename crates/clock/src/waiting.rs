//! Threads that sleep in simulated time, and threads that wait for others.

use rank::session::{self, Session};
use rank::{compute, pending, thread};
use std::sync::atomic::{AtomicU32, Ordering};

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
