//! This thread's two timers, and how often they ring.

use super::{FIRST, KNOWN, LATEST, RAREST, SOON};
use libc::{c_int, c_void};
use rank::host_timer::HostTimer;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The processor time timer, and the real time timer.
static SLOW: HostTimer = HostTimer::new();
static FAST: HostTimer = HostTimer::new();

/// After how much real time the fast timer rings, in nanoseconds.
static DELAY: AtomicU64 = AtomicU64::new(SOON);

/// The slow timer's period, in nanoseconds.
static PERIOD: AtomicU64 = AtomicU64::new(0);

/// The signal of both timers. Quadrics programs do not know real-time signals, and MPI libraries do
/// not use them.
pub fn signal() -> c_int {
    libc::SIGRTMAX() - 2
}

/// Whether a signal is the fast timer's, by its value.
pub fn is_fast(value: *mut c_void) -> bool {
    value == ptr::from_ref(&FAST).cast_mut().cast()
}

/// Makes both timers for this thread, and starts the one for processor time. Without timers, loops
/// are not found, and the program hangs there.
pub fn begin() {
    let clocks = [
        (&SLOW, libc::CLOCK_THREAD_CPUTIME_ID),
        (&FAST, libc::CLOCK_MONOTONIC),
    ];
    let make = |(timer, clock): (&'static HostTimer, _)| {
        timer.make(clock, signal(), ptr::from_ref(timer).cast_mut().cast())
    };
    if clocks.into_iter().all(make) {
        every(FIRST);
    }
}

/// The slow timer rings after this much processor time, repeatedly.
fn every(period: u64) {
    PERIOD.store(period, Ordering::Relaxed);
    SLOW.arm(period, period);
}

/// The program does not wait, though it might have: the timers ring more rarely.
pub fn not_waiting() {
    every((2 * PERIOD.load(Ordering::Relaxed)).min(RAREST));
    if KNOWN.load(Ordering::Relaxed) {
        later();
    }
}

/// The program waits in a loop.
pub fn waits() {
    if PERIOD.load(Ordering::Relaxed) > FIRST {
        every(FIRST);
    }
    soon();
}

/// The fast timer rings soon, once.
pub fn soon() {
    DELAY.store(SOON, Ordering::Relaxed);
    FAST.arm(SOON, 0);
}

/// The fast timer rings once more, after twice the time.
pub fn later() {
    let delay = (2 * DELAY.load(Ordering::Relaxed)).min(LATEST);
    DELAY.store(delay, Ordering::Relaxed);
    FAST.arm(delay, 0);
}
