//! The timers' signal: it looks whether the program waits.

#[cfg(target_arch = "x86_64")]
use super::trace;
use super::{CALLS, KNOWN, may_watch, timer};
use libc::{c_int, c_void, siginfo_t};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often the program had called when it was looked at last.
static SEEN: AtomicU64 = AtomicU64::new(u64::MAX);

/// Watches over this thread.
pub fn begin() {
    // SAFETY: zeros are a valid action, and the handler is of this form.
    let set = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = rings as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(timer::signal(), &raw const action, ptr::null_mut()) == 0
    };
    if set {
        timer::begin();
    }
}

/// A timer has rung.
extern "C" fn rings(_signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the place of this thread's error number, which the program must find as it was.
    let error = unsafe { *libc::__errno_location() };
    // SAFETY: the kernel gives both; the value is that of `begin`, or anything if the program sends
    // the signal.
    let fast = timer::is_fast(unsafe { (*info).si_value().sival_ptr });
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
            // It is on its way into the loop, or out again.
            timer::later();
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
