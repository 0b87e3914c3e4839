//! The real timer that finds programs which wait for a timer in a loop without a call.

use super::{STRETCH, next, ring};
use crate::system;
use libc::{c_int, c_void, siginfo_t, timer_t};
use rank::session::{self, Session};
use rank::system::Next;
use rank::{next as call_next, thread};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// How soon it rings again when the program is somewhere where time cannot go on, in nanoseconds.
const AGAIN: u64 = 1_000_000;

/// The system's timer, null before the first use.
static TIMER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The signal has come since the program last called this often.
static SEEN: AtomicU32 = AtomicU32::new(0);

/// Since when, in real time, the program has made no call, in nanoseconds.
static SINCE: AtomicU64 = AtomicU64::new(0);

pub(super) static CREATE: Next = Next::new(c"timer_create", c"");
pub(super) static SETTIME: Next = Next::new(c"timer_settime", c"");

/// The signal; no program and no MPI library uses the last ones but two of the real-time signals.
fn signal() -> c_int {
    libc::SIGRTMAX() - 3
}

/// A timer has been set, or none is left.
pub fn watch(session: &Session) {
    if next() == link::NEVER || !thread::drives_time() {
        return;
    }
    if TIMER.load(Ordering::Relaxed).is_null() && !make() {
        return;
    }
    seen(session);
    arm(due_in(session));
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
    let mut timer: timer_t = ptr::null_mut();
    // SAFETY: zeros are a valid event and a valid action; the handler is of this form, and the kernel fills the timer in.
    let made = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = rings as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(signal(), &raw const action, ptr::null_mut());
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal();
        event.sigev_notify_thread_id = libc::gettid();
        call_next!(CREATE, fn(libc::CLOCK_MONOTONIC => libc::clockid_t, &raw mut event => *mut libc::sigevent,
            &raw mut timer => *mut timer_t))
            == 0
    };
    if made {
        // The first timer of a process has the number 0, which is no pointer: one more.
        TIMER.store(timer.wrapping_byte_add(1), Ordering::Relaxed);
    }
    made
}

/// Rings once after so many nanoseconds; 0 for never.
fn arm(time: u64) {
    let timer = TIMER.load(Ordering::Relaxed);
    if timer.is_null() {
        return;
    }
    let timer = timer.wrapping_byte_sub(1);
    let times = libc::itimerspec {
        it_interval: crate::nanoseconds(0),
        it_value: crate::nanoseconds(time),
    };
    call_next!(SETTIME, fn(timer => timer_t, 0 => c_int, &raw const times => *const libc::itimerspec,
        ptr::null_mut() => *mut libc::itimerspec));
}

/// Runs without the signal.
pub fn hold<R>(run: impl FnOnce() -> R) -> R {
    if TIMER.load(Ordering::Relaxed).is_null() {
        return run();
    }
    arm(0);
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
        return arm(due);
    }
    let stretch = real() - SINCE.load(Ordering::Relaxed);
    if stretch < due {
        return arm(due - stretch);
    }
    // In the C library something may be locked that the simulation needs.
    if rank::repeats::is_program(place(context)) && session.guess_until(next()) {
        ring(session);
        seen(session);
        if next() != link::NEVER {
            arm(due_in(session));
        }
        return;
    }
    arm(AGAIN);
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
