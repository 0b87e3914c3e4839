//! The two timers of this thread, and how often they ring.

use super::{FIRST, KNOWN, LATEST, RAREST, SOON};
use libc::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// The timer of processor time, and that of real time.
static SLOW: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static FAST: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static READY: AtomicBool = AtomicBool::new(false);

/// After how much real time the fast timer rings, in nanoseconds.
static DELAY: AtomicU64 = AtomicU64::new(SOON);

/// The period of the slow timer, in nanoseconds.
static PERIOD: AtomicU64 = AtomicU64::new(0);

/// The signal of both timers. Programs of the time know nothing of real-time signals, and MPI libraries use none.
pub fn signal() -> c_int {
    libc::SIGRTMAX() - 2
}

/// Whether a signal is that of the fast timer, by its value.
pub fn is_fast(value: *mut c_void) -> bool {
    value == ptr::from_ref(&FAST).cast_mut().cast()
}

/// Makes both timers for this thread, and starts that of processor time. Without timers, loops are not found, and the program
/// hangs there.
pub fn begin() {
    let clocks = [
        (&SLOW, libc::CLOCK_THREAD_CPUTIME_ID),
        (&FAST, libc::CLOCK_MONOTONIC),
    ];
    for (place, clock) in clocks {
        let mut timer = ptr::null_mut();
        // SAFETY: zeros are a valid event; the kernel fills the timer in.
        let made = unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal();
            event.sigev_notify_thread_id = libc::gettid();
            event.sigev_value = libc::sigval {
                sival_ptr: ptr::from_ref(place).cast_mut().cast(),
            };
            libc::timer_create(clock, &raw mut event, &raw mut timer) == 0
        };
        if !made {
            return;
        }
        place.store(timer, Ordering::Relaxed);
    }
    READY.store(true, Ordering::Relaxed);
    every(FIRST);
}

/// The slow timer rings after so much processor time, again and again.
fn every(period: u64) {
    PERIOD.store(period, Ordering::Relaxed);
    arm(&SLOW, period, period);
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
    if READY.load(Ordering::Relaxed) {
        DELAY.store(SOON, Ordering::Relaxed);
        arm(&FAST, SOON, 0);
    }
}

/// The fast timer rings once more, after twice the time.
pub fn later() {
    let delay = (2 * DELAY.load(Ordering::Relaxed)).min(LATEST);
    DELAY.store(delay, Ordering::Relaxed);
    arm(&FAST, delay, 0);
}

fn arm(timer: &AtomicPtr<c_void>, first: u64, period: u64) {
    let span = |time: u64| libc::timespec {
        tv_sec: (time / 1_000_000_000).cast_signed(),
        tv_nsec: (time % 1_000_000_000).cast_signed(),
    };
    let times = libc::itimerspec {
        it_interval: span(period),
        it_value: span(first),
    };
    // SAFETY: the timer was made, and is never deleted.
    unsafe {
        libc::timer_settime(
            timer.load(Ordering::Relaxed),
            0,
            &raw const times,
            ptr::null_mut(),
        )
    };
}
