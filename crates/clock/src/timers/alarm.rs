//! The real timer that finds programs which wait for a timer in a loop without a call.

use super::{STRETCH, first_signal, kernel, next, ring};
use crate::system;
use libc::{c_int, c_void, siginfo_t};
use rank::host_timer::HostTimer;
use rank::session::{self, Session};
use rank::thread;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How soon it rings again when the program is somewhere where time cannot go on, in nanoseconds.
const AGAIN: u64 = 1_000_000;

/// The host's timer, which is made for the program's first timer.
static TIMER: HostTimer = HostTimer::new();

/// The signal has come since the program last called this often.
static SEEN: AtomicU32 = AtomicU32::new(0);

/// Since when, in real time, the program has made no call, in nanoseconds.
static SINCE: AtomicU64 = AtomicU64::new(0);

/// The signal: a late real-time signal, which no program and no MPI library uses.
fn signal() -> c_int {
    libc::SIGRTMAX() - 3
}

/// A timer has been set, or no timer is left.
pub fn watch(session: &Session) {
    if next() == link::NEVER || !thread::drives_time() {
        return;
    }
    if !TIMER.is_made() && !make() {
        return;
    }
    seen(session);
    TIMER.arm(due_in(session), 0);
}

/// Notes that the program has made a call by now.
fn seen(session: &Session) {
    SEEN.store(session.calls(), Ordering::Relaxed);
    SINCE.store(real(), Ordering::Relaxed);
}

/// How long the program must have made no call, in nanoseconds.
fn due_in(session: &Session) -> u64 {
    let left = next().saturating_sub(session.now()) / 1000;
    left.max(STRETCH.as_nanos() as u64)
}

fn make() -> bool {
    // SAFETY: zeros are a valid action, and the handler is of this form.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = rings as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(signal(), &raw const action, ptr::null_mut());
    }
    TIMER.make(libc::CLOCK_MONOTONIC, signal(), ptr::null_mut())
}

/// Runs without the signal.
pub fn hold<R>(run: impl FnOnce() -> R) -> R {
    if !TIMER.is_made() {
        return run();
    }
    TIMER.arm(0, 0);
    let result = run();
    if let Some(session) = session::get() {
        watch(session);
    }
    result
}

/// Real time in nanoseconds.
fn real() -> u64 {
    let mut now = crate::nanoseconds(0);
    // SAFETY: a place for it.
    unsafe { system::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// The real timer has rung.
extern "C" fn rings(_signal: c_int, _info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the place of this thread's error number, which the program must find as it was.
    let error = unsafe { *libc::__errno_location() };
    if next() != link::NEVER
        && let Some(session) = session::get()
    {
        look(session, context);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
}

fn look(session: &Session, context: *mut c_void) {
    let due = due_in(session);
    if SEEN.load(Ordering::Relaxed) != session.calls() || !thread::outside() || session::is_held() {
        seen(session);
        return TIMER.arm(due, 0);
    }
    let stretch = real() - SINCE.load(Ordering::Relaxed);
    if stretch < due {
        return TIMER.arm(due - stretch, 0);
    }
    // In the C library something may be locked that the simulation needs, but for calls in which
    // the kernel waits.
    let in_kernel = kernel::waits(context);
    if (in_kernel || rank::repeats::is_program(place(context))) && session.guess_until(next()) {
        let goes_on = first_signal().is_some_and(kernel::restarts);
        if ring(session) && in_kernel && !goes_on {
            kernel::fail(context);
        }
        seen(session);
        if next() != link::NEVER {
            TIMER.arm(due_in(session), 0);
        }
        return;
    }
    TIMER.arm(AGAIN, 0);
}

/// The instruction at which the program was.
fn place(context: *mut c_void) -> usize {
    // SAFETY: the kernel gives it to handlers of this form.
    unsafe {
        let context = &*context.cast::<libc::ucontext_t>();
        #[cfg(target_arch = "x86_64")]
        return context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        #[cfg(target_arch = "aarch64")]
        return context.uc_mcontext.pc as usize;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            let _ = context;
            0
        }
    }
}
