//! A host timer that sends this thread a signal: for the simulator's own looks, in real time or
//! processor time.
//!
//! The C library's timer functions are defined in this library, too, for the program's timers in
//! simulated time. They bring local time up to date, which may give the turn away; a look in a
//! signal handler must not. So these timers are set by the kernel's own calls.

#![allow(unsafe_code)] // kernel calls

use libc::{c_int, c_void, clockid_t, itimerspec, sigevent, timespec};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// A timer for the thread that makes it.
#[derive(Default)]
pub struct HostTimer {
    /// One more than the kernel's number, which begins at 0.
    number: AtomicI32,
}

impl HostTimer {
    /// A timer that has not been made.
    pub const fn new() -> Self {
        HostTimer {
            number: AtomicI32::new(0),
        }
    }

    /// Makes the timer: it will send this thread a signal with a value. Returns whether the host
    /// has made it.
    pub fn make(&self, clock: clockid_t, signal: c_int, value: *mut c_void) -> bool {
        let mut number: c_int = 0;
        // SAFETY: zeros are a valid event; the kernel reads it, and fills the number in.
        let made = unsafe {
            let mut event: sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_notify_thread_id = libc::gettid();
            event.sigev_value = libc::sigval { sival_ptr: value };
            let event = &raw const event;
            libc::syscall(libc::SYS_timer_create, clock, event, &raw mut number) == 0
        };
        if made {
            self.number.store(number + 1, Ordering::Relaxed);
        }
        made
    }

    /// Whether the timer has been made.
    pub fn is_made(&self) -> bool {
        self.number.load(Ordering::Relaxed) > 0
    }

    /// Rings after this many nanoseconds, 0 for never, and then again after each period, 0 for
    /// once. Has no effect before the timer is made.
    pub fn arm(&self, first: u64, period: u64) {
        let number = self.number.load(Ordering::Relaxed) - 1;
        if number < 0 {
            return;
        }
        let span = |time: u64| timespec {
            tv_sec: (time / 1_000_000_000).cast_signed(),
            tv_nsec: (time % 1_000_000_000).cast_signed(),
        };
        let times = itimerspec {
            it_interval: span(period),
            it_value: span(first),
        };
        let (times, old) = (&raw const times, ptr::null_mut::<itimerspec>());
        // SAFETY: the timer was made, and is never deleted; the kernel reads the times.
        unsafe { libc::syscall(libc::SYS_timer_settime, number, 0, times, old) };
    }
}
