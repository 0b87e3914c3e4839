//! Sleep: a sleep's simulated time passes immediately, with all that others do in it.
//!
//! A rank has one time, however many threads it has. Sleep takes simulated time in the threads that
//! call MPI, and in the process's first thread, unless another one has initialised MPI. Others, such
//! as the periodic watchers of runtimes, would carry the rank away by their sleep; they sleep in
//! real time, but not past the sleep's end in simulated time, at which the driving thread's sleep
//! stops ([`order`]). If the rank waits at the end of such a sleep for its other threads
//! ([`waiting::awaited`]), the same time has passed in the simulation. While a thread is in an MPI
//! call beside it, the sleep is as long as that thread's looks have taken ([`sleepers`]).
//!
//! The handler for a [timer](timers)'s signal ends a sleep, as it does in the kernel.

use super::order::{self, Reliance, ThreadTurn};
use super::waiting::{self, sleeper};
use super::{
    MICROSECOND, NANOSECOND, SECOND, fail, length, local, nanoseconds, span, system, timers,
};
use libc::{c_int, c_uint, clockid_t, timespec, useconds_t};
use rank::session::Session;
use rank::sleepers::{self, Sleeper};
use rank::{concurrency, pending, session, thread};

/// Sleeps until a moment, or until the handler for a timer's signal has run; the error is the time
/// that is left then.
pub fn until(session: &Session, moment: u64) -> Result<(), u64> {
    if !session::is_held() && !pending::is_caller() {
        pending::wait_for_all();
    }
    while session.now() < moment && !session::is_held() {
        let now = session.now();
        let stop = order::next_sleep(now).map_or(moment, |end| end.min(moment));
        let handled = timers::until_ring(session, stop);
        if handled && session.now() < moment {
            return Err(moment - session.now());
        }
        order::notice(now, session.now());
    }
    concurrency::time_passes();
    Ok(())
}

/// Sleeps for this many picoseconds as [`until`], if this thread's sleep takes simulated time.
pub fn for_time(time: u64) -> Option<Result<(), u64>> {
    let session = sleeper()?;
    Some(until(session, session.now().saturating_add(time)))
}

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C" fn nanosleep(request: *const timespec, rest: *mut timespec) -> c_int {
    // SAFETY: null, or a time of the caller, which is copied.
    match unsafe { request.as_ref() }
        .and_then(span)
        .and_then(for_time)
    {
        Some(Ok(())) => return 0,
        Some(Err(left)) => {
            // SAFETY: null, or the caller's place for the rest.
            unsafe { give_rest(rest, left) };
            return fail(libc::EINTR);
        }
        None => {}
    }
    match real(libc::CLOCK_MONOTONIC, 0, request, rest) {
        0 => 0,
        error => fail(error),
    }
}

/// Stores a sleep's remaining time.
unsafe fn give_rest(place: *mut timespec, left: u64) {
    if !place.is_null() {
        // SAFETY: not null, so the caller's place.
        unsafe { place.write(nanoseconds(left.div_ceil(NANOSECOND))) };
    }
}

/// Returns the error number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    request: *const timespec,
    rest: *mut timespec,
) -> c_int {
    let absolute = flags == libc::TIMER_ABSTIME;
    // SAFETY: null, or a time of the caller, which is read before the call returns.
    if let Some(time) = unsafe { request.as_ref() }
        && let Some(length) = span(time)
    {
        if absolute && let Some(moment) = local(clock, time) {
            if let Some(session) = sleeper() {
                return until(session, moment).map_or(libc::EINTR, |()| 0);
            }
            // In another thread or within MPI, the wait for a moment in simulated time takes as
            // much real time.
            if let Some(session) = session::shown() {
                let left = moment.saturating_sub(session.now()) / NANOSECOND;
                return real(libc::CLOCK_MONOTONIC, 0, &nanoseconds(left), rest);
            }
        }
        if flags == 0 && local(clock, time).is_some() {
            match for_time(length) {
                Some(Ok(())) => return 0,
                Some(Err(left)) => {
                    // SAFETY: null, or the caller's place for the rest.
                    unsafe { give_rest(rest, left) };
                    return libc::EINTR;
                }
                None => {}
            }
        }
    }
    real(clock, flags, request, rest)
}

/// The system's sleep, with the C library's arguments.
fn real(clock: clockid_t, flags: c_int, request: *const timespec, rest: *mut timespec) -> c_int {
    // SAFETY: null, or a time of the caller, which is copied.
    let length = unsafe { request.as_ref() }.filter(|_| flags == 0);
    if let Some(length) = length.and_then(span)
        && let Some(session) = session::get().filter(|_| !thread::drives_time())
        && thread::outside()
    {
        // SAFETY: null, or the caller's place for the rest.
        return unsafe { beside(session, length, rest) };
    }
    // SAFETY: the kernel checks its arguments.
    match unsafe { system::clock_nanosleep(clock, flags, request, rest) } {
        0 => 0,
        // SAFETY: the place of this thread's error number.
        _ => unsafe { *libc::__errno_location() },
    }
}

/// How much longer than natively a sleep beside a call may be, in real time and picoseconds: other
/// ranks' looks may let time pass more slowly.
const GRACE: u64 = 10 * SECOND;

/// The longest part of a long sleep, in slices.
const LONGEST: u64 = 10;

/// The sleep of a thread beside the one that drives the rank's time. It takes real time, unless
/// the rank's time comes to its end before. Where the thread may call MPI later, and another one is
/// in a call, only that ends it. Returns the error number.
unsafe fn beside(session: &Session, length: u64, rest: *mut timespec) -> c_int {
    let slice = sleepers::SLICE.as_nanos() as u64 * NANOSECOND;
    let until = session.now().saturating_add(length);
    let (mut left, mut grace) = (length, length.saturating_add(GRACE));
    let sleeper = waiting::may_call().then(|| Sleeper::until(until));
    if sleeper.is_none() {
        pending::acted();
    }
    let mut place = ThreadTurn::sleeps(session, until);
    while left > 0 && grace > 0 && session.now() < until {
        let (part, before) = match sleeper {
            Some(_) => (slice, None),
            None => (
                (length / 16).clamp(slice, LONGEST * slice),
                Some(rank::system::real_time()),
            ),
        };
        let part = nanoseconds(left.min(part).div_ceil(NANOSECOND));
        let none = std::ptr::null_mut();
        // SAFETY: the kernel reads the time.
        let slept =
            unsafe { system::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const part, none) };
        if slept != 0 {
            // SAFETY: the caller's place.
            unsafe { give_rest(rest, left) };
            return libc::EINTR;
        }
        if let Some(before) = before {
            let lasted = rank::system::real_time().saturating_sub(before);
            left = left.saturating_sub(lasted.saturating_mul(NANOSECOND));
            continue;
        }
        grace = grace.saturating_sub(slice);
        if thread::in_calls() == 0 {
            left = left.saturating_sub(slice);
        }
    }
    let reliance = place.reliance(session);
    drop(sleeper);
    match reliance {
        Reliance::Yes => {
            concurrency::time_passes();
            session.sleep_until(until);
        }
        Reliance::Perhaps => {
            session.guess_until(until);
        }
        Reliance::No => {}
    }
    pending::wakes();
    0
}

#[unsafe(no_mangle)]
extern "C" fn usleep(time: useconds_t) -> c_int {
    match for_time(u64::from(time) * MICROSECOND) {
        Some(Ok(())) => return 0,
        Some(Err(_)) => return fail(libc::EINTR),
        None => {}
    }
    let request = nanoseconds(u64::from(time) * 1000);
    let clock = libc::CLOCK_MONOTONIC;
    match real(clock, 0, &raw const request, std::ptr::null_mut()) {
        0 => 0,
        error => fail(error),
    }
}

/// Returns the seconds that are left.
#[unsafe(no_mangle)]
extern "C" fn sleep(seconds: c_uint) -> c_uint {
    match for_time(length(u64::from(seconds), 0)) {
        Some(Ok(())) => return 0,
        Some(Err(left)) => return ((left + SECOND / 2) / SECOND) as c_uint,
        None => {}
    }
    let request = nanoseconds(u64::from(seconds) * 1_000_000_000);
    let mut rest = nanoseconds(0);
    let clock = libc::CLOCK_MONOTONIC;
    match real(clock, 0, &raw const request, &raw mut rest) {
        0 => 0,
        _ => rest.tv_sec as c_uint + c_uint::from(rest.tv_nsec >= 500_000_000),
    }
}

/// A rank that gives way again and again outside MPI waits for another process: time passes, as at
/// readings of a clock.
///
/// If it has several threads, it waits for them, and their sleeps take simulated time ([`order`]).
/// A rank that waits in MPI gives way to its other threads again and again. Without other threads,
/// it would give way to other ranks, which the simulator lets run when it is their turn.
#[unsafe(no_mangle)]
pub extern "C" fn sched_yield() -> c_int {
    if let Some(session) = session::get().filter(|_| thread::one_thread()) {
        if thread::outside() && session::shown().is_some() {
            super::look(session);
        }
        return 0;
    }
    if thread::outside() && thread::drives_time() {
        order::gives_way();
    }
    pending::gives_way(thread::waits());
    // SAFETY: it has no arguments.
    unsafe { libc::syscall(libc::SYS_sched_yield) as c_int }
}
