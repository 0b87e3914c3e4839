//! The program's next timer, for waits within MPI calls.
//!
//! The crate `clock` keeps the timers. A rank that waits in a call that blocks waits until the next
//! ring at most. Then the signal's handler runs, which may end the program or the wait, and the
//! rank waits on. Without that, time would not come to the timer while all ranks wait, and the run
//! would look like a deadlock.

use link::NEVER;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How often timers ring at most while a rank only waits: a timer that rings again and again, as a
/// profiler's, does not keep a run alive for ever.
const MOST: u32 = 50_000;

/// The next ring's moment; [`NEVER`] without one.
static NEXT: AtomicU64 = AtomicU64::new(NEVER);

/// Rings since the rank's last order.
static IDLE: AtomicU32 = AtomicU32::new(0);

/// The next ring's moment, or [`NEVER`].
pub fn next() -> u64 {
    NEXT.load(Ordering::Relaxed)
}

/// Sets the next ring's moment.
pub fn set_next(moment: u64) {
    NEXT.store(moment, Ordering::Relaxed);
}

/// The moment until which a wait without an end lasts at most.
pub fn until(now: u64) -> u64 {
    let next = next();
    if next > now && IDLE.load(Ordering::Relaxed) < MOST {
        next
    } else {
        NEVER
    }
}

/// Counts a ring while the rank waits.
pub(crate) fn count() {
    IDLE.fetch_add(1, Ordering::Relaxed);
}

/// The rank gives an order: its rings count from here on.
pub(crate) fn acted() {
    IDLE.store(0, Ordering::Relaxed);
}
