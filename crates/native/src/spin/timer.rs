//! The two timers, and what their signal does.

#[cfg(target_arch = "x86_64")]
use super::trace;
use super::{CALLS, FIRST, KNOWN, LATEST, RAREST, SOON, may_watch};
use libc::{c_int, c_void, siginfo_t};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// The timer of processor time, and that of real time.
static SLOW: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static FAST: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static READY: AtomicBool = AtomicBool::new(false);

/// After how much real time the fast timer rings, in nanoseconds.
static DELAY: AtomicU64 = AtomicU64::new(SOON);

/// The period of the slow timer, in nanoseconds, and how often the program had called when it was looked at last.
static PERIOD: AtomicU64 = AtomicU64::new(0);
static SEEN: AtomicU64 = AtomicU64::new(u64::MAX);

/// The signal of both timers. Programs of the time know nothing of real-time signals, and MPI libraries use none.
fn signal() -> c_int {
    libc::SIGRTMAX() - 2
}

/// Starts the timer of processor time for this thread. Without timers, loops are not found, and the program hangs there.
pub fn begin() {
    // SAFETY: zeros are a valid action, and the handler is of this form.
    let set = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = rings as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(signal(), &raw const action, ptr::null_mut()) == 0
    };
    if !set {
        return;
    }
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
fn later() {
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

/// A timer has rung.
extern "C" fn rings(_signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the place of this thread's error number, which the program must find as it was.
    let error = unsafe { *libc::__errno_location() };
    // SAFETY: the kernel gives both; the value is that of `begin`, or anything if the program sends the signal.
    let fast = unsafe { (*info).si_value().sival_ptr } == ptr::from_ref(&FAST).cast_mut().cast();
    if may_watch() {
        look(fast, context);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
}

#[cfg(target_arch = "x86_64")]
fn look(fast: bool, context: *mut c_void) {
    if fast {
        if KNOWN.load(Ordering::Relaxed) && !trace::again(context) {
            // It is on its way into the loop, or out of it.
            later();
        }
        return;
    }
    let calls = CALLS.load(Ordering::Relaxed);
    if SEEN.swap(calls, Ordering::Relaxed) == calls {
        trace::begin(context);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn look(fast: bool, _context: *mut c_void) {
    static PERIODS: AtomicU64 = AtomicU64::new(0);
    let calls = CALLS.load(Ordering::Relaxed);
    if !KNOWN.load(Ordering::Relaxed) && fast {
        return;
    }
    if SEEN.swap(calls, Ordering::Relaxed) != calls {
        PERIODS.store(0, Ordering::Relaxed);
    } else if PERIODS.fetch_add(1, Ordering::Relaxed) + 1 >= super::PATIENCE {
        super::wait(super::Loop::Likely);
    }
}
