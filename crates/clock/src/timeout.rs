//! Waits for files that give up after a time.
//!
//! The awaited event comes in real time, so the program waits in real time, for as long as it
//! demands. After a time-out, the same time has passed in the simulation too; else a program that
//! looks at the clock would wait again, without end. A wait for no file at all is a sleep.
//!
//! This does not hold within MPI calls ([`sleeper`]): the library waits there for its process
//! manager, which is outside the simulation.

use super::order::ThreadTurn;
use super::waiting::{self, sleeper, waits};
use super::{NANOSECOND, fail, nanoseconds, sleep, span, system, timers};
use libc::{c_int, epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};
use link::NEVER;
use rank::session;
use rank::sleepers::SLICE;
use rank::{concurrency, next, pending, thread};
use system::SystemFunction;

const MILLISECOND: u64 = 1_000_000_000;

/// Waits by `by`, for a time in picoseconds or without an end. After a time-out, the wait's length
/// has passed in the simulation. While timers are pending, the wait has several parts: a timer
/// rings at the end of each, and may be the awaited event.
pub fn wait(time: Option<u64>, mut by: impl FnMut(Option<timespec>) -> c_int) -> c_int {
    pending::acted();
    let part = |time: u64| nanoseconds(time.div_ceil(NANOSECOND));
    if let Some(session) = session::shown().filter(|_| thread::outside()) {
        session.reads_clock();
    }
    if time.is_none() && timers::next() == NEVER {
        return waits(|| by(None));
    }
    let Some(session) = sleeper().filter(|_| time != Some(0)) else {
        let begun = session::shown().filter(|_| thread::outside()).zip(time);
        let end = begun.map(|(session, time)| session.now().saturating_add(time));
        let mut place = begun
            .zip(end)
            .map(|((session, _), end)| ThreadTurn::waits(session, end));
        let mut result = by(time.map(part));
        while result == 0 && place.as_mut().is_some_and(ThreadTurn::goes_on) {
            result = by(Some(nanoseconds(SLICE.as_nanos() as u64)));
        }
        drop(place);
        if let (Some(end), 0, Some(session)) = (end, result, waiting::awaited()) {
            session.sleep_until(end);
        }
        return result;
    };
    let end = time.map_or(NEVER, |time| session.now().saturating_add(time));
    loop {
        let until = end.min(timers::next());
        if until == NEVER {
            return waits(|| by(None));
        }
        let left = until.saturating_sub(session.now());
        let mut place = ThreadTurn::waits(session, until);
        let result = waits(|| {
            let mut result = timers::undisturbed(|| by(Some(part(left))));
            while result == 0 && place.goes_on() {
                result = by(Some(nanoseconds(SLICE.as_nanos() as u64)));
            }
            result
        });
        drop(place);
        if result != 0 {
            return result;
        }
        concurrency::time_passes();
        if timers::until_ring(session, until) {
            return fail(libc::EINTR);
        }
        if session.now() >= end || session::is_held() {
            return by(Some(nanoseconds(0)));
        }
    }
}

/// The result of a wait that is a sleep in simulated time, with another signal mask or none.
///
/// # Safety
/// The mask must be null or a set of signals.
unsafe fn slept(time: Option<u64>, mask: *const sigset_t) -> Option<c_int> {
    let time = time.filter(|&time| time > 0)?;
    sleeper()?;
    if !mask.is_null() {
        // A signal that has come before, and that the mask lets through, ends the wait.
        let none = nanoseconds(0);
        // SAFETY: no files, no time, and the caller's mask.
        let result = unsafe { system::ppoll(std::ptr::null_mut(), 0, &raw const none, mask) };
        if result != 0 {
            return Some(result);
        }
    }
    // SAFETY: the caller's mask.
    let slept = unsafe { timers::masked(mask, || sleep::for_time(time)) }?;
    Some(slept.map_or_else(|_| fail(libc::EINTR), |()| 0))
}

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C" fn poll(files: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    let time = u64::try_from(timeout).ok();
    let time = time.map(|time| nanoseconds(time * 1_000_000));
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the caller's files; the time lives until the call returns.
    unsafe { ppoll(files, count, time, std::ptr::null()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ppoll(
    files: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: null, or a time of the caller, which is copied.
    let time = unsafe { timeout.as_ref() }.and_then(span);
    if count == 0
        // SAFETY: the caller's mask.
        && let Some(result) = unsafe { slept(time, mask) }
    {
        return result;
    }
    if timeout.is_null() != time.is_none() {
        // SAFETY: the arguments of the caller, for the same call of the system, which refuses the
        // time.
        return unsafe { system::ppoll(files, count, timeout, mask) };
    }
    wait(time, |part| {
        let part = part.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the arguments of the caller, for the same call of the system; the time lives
        // until it returns.
        unsafe { system::ppoll(files, count, part, mask) }
    })
}

/// Whether a fortified program has room for this many files in a space of so many bytes.
fn fits(count: nfds_t, space: usize) -> bool {
    count <= (space / size_of::<pollfd>()) as nfds_t
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __poll_chk(
    files: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
    space: usize,
) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"__poll_chk", c"");
    if !fits(count, space) {
        // Ends the program.
        return next!(
            NEXT, fn(files => *mut pollfd, count => nfds_t, timeout => c_int, space => usize)
        );
    }
    // SAFETY: the arguments of the caller.
    unsafe { poll(files, count, timeout) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __ppoll_chk(
    files: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    space: usize,
) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"__ppoll_chk", c"");
    if !fits(count, space) {
        // Ends the program.
        return next!(NEXT, fn(files => *mut pollfd, count => nfds_t, timeout => *const timespec,
            mask => *const sigset_t, space => usize));
    }
    // SAFETY: the arguments of the caller.
    unsafe { ppoll(files, count, timeout, mask) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: null, or a time of the caller, which no other thread touches in the call.
    let given = unsafe { timeout.as_mut() };
    let mut time = given.as_ref().map(|time| timespec {
        // The kernel takes microseconds beyond a second.
        tv_sec: time.tv_sec + time.tv_usec / 1_000_000,
        tv_nsec: time.tv_usec % 1_000_000 * 1000,
    });
    // SAFETY: null, or the caller's sets; the time lives until the call returns.
    let result = unsafe {
        wait_for_sets(
            count,
            [read, write, except],
            time.as_mut(),
            std::ptr::null(),
        )
    };
    if let (Some(given), Some(time)) = (given, time) {
        // As Linux does: the time that is left.
        (given.tv_sec, given.tv_usec) = (time.tv_sec, time.tv_nsec / 1000);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: null, or a time of the caller, which is copied.
    let mut time = unsafe { timeout.as_ref() }.copied();
    // SAFETY: null, or the caller's sets and mask; the time lives until the call returns.
    unsafe { wait_for_sets(count, [read, write, except], time.as_mut(), mask) }
}

unsafe fn wait_for_sets(
    count: c_int,
    sets: [*mut fd_set; 3],
    timeout: Option<&mut timespec>,
    mask: *const sigset_t,
) -> c_int {
    let time = timeout.as_deref().and_then(span);
    if timeout.is_some() && time.is_none() {
        // SAFETY: the arguments of the caller, for the same call of the system, which refuses the
        // time.
        return unsafe { system::pselect(count, sets, timeout, mask) };
    }
    // The end of the wait in simulated time, if it passes for this thread.
    let end = session::shown()
        .filter(|_| thread::drives_time() && thread::outside())
        .zip(time)
        .map(|(session, time)| (session, session.now().saturating_add(time)));
    let left = || end.map(|(session, end)| end.saturating_sub(session.now()) / NANOSECOND);
    let nothing = count == 0 || sets.iter().all(|set| set.is_null());
    // SAFETY: the caller's mask.
    if nothing && let Some(result) = unsafe { slept(time, mask) } {
        if let Some(timeout) = timeout {
            *timeout = nanoseconds(left().unwrap_or(0));
        }
        return result;
    }
    // The system clears the sets after a time-out.
    let size = usize::try_from(count).unwrap_or(0).div_ceil(64) * 8;
    let kept = sets.map(|set| {
        // SAFETY: null, or a set of the caller, which has a bit for each descriptor.
        (!set.is_null())
            .then(|| unsafe { std::slice::from_raw_parts(set.cast::<u8>(), size) }.to_vec())
    });
    let mut part_left = timeout.as_deref().copied();
    let result = wait(time, |part| {
        for (set, kept) in sets.iter().zip(&kept) {
            if let Some(kept) = kept {
                // SAFETY: the same set.
                unsafe {
                    set.cast::<u8>()
                        .copy_from_nonoverlapping(kept.as_ptr(), size);
                };
            }
        }
        part_left = part;
        // SAFETY: the arguments of the caller, for the same call of the system.
        unsafe { system::pselect(count, sets, part_left.as_mut(), mask) }
    });
    if let (Some(timeout), Some(left)) = (timeout, left().map(nanoseconds).or(part_left)) {
        *timeout = left;
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: the caller's events; there is no mask.
    unsafe { epoll_pwait(epoll, events, count, timeout, std::ptr::null()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    let time = u64::try_from(timeout).ok().map(|time| time * MILLISECOND);
    wait(time, |part| {
        // Rounded up, so that no part is a look again and again.
        let timeout = part.map_or(-1, |part| {
            let milliseconds = part.tv_sec * 1000 + (part.tv_nsec + 999_999) / 1_000_000;
            c_int::try_from(milliseconds).unwrap_or(c_int::MAX)
        });
        // SAFETY: the arguments of the caller, for the same call of the system.
        unsafe { system::epoll_pwait(epoll, events, count, timeout, mask) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: null, or a time of the caller, which is copied.
    let time = unsafe { timeout.as_ref() }.and_then(span);
    if timeout.is_null() != time.is_none() {
        // SAFETY: the arguments of the caller, for the same call of the system, which refuses the
        // time.
        return unsafe { system::epoll_pwait2(epoll, events, count, timeout, mask) };
    }
    wait(time, |part| {
        let part = part.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the arguments of the caller, for the same call of the system; the time lives
        // until it returns.
        unsafe { system::epoll_pwait2(epoll, events, count, part, mask) }
    })
}
