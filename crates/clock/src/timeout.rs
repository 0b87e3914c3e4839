//! Waits for files that give up after a time.
//!
//! What a program waits for comes in real time, so it waits in real time, for as long as it says. When nothing has come, the
//! same time has passed in the simulation too; else a program that looks at the clock would wait again, without end. A wait for
//! no file at all is a sleep.
//!
//! None of this holds within calls of MPI ([`sleep::sleeper`]): the library waits there for its process manager, which is
//! outside of the simulation.

use super::sleep::{self, span};
use super::system;
use libc::{c_int, epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};

const MILLISECOND: u64 = 1_000_000_000;

/// Passes the result of a wait on; if nothing came, lets the length of the wait pass in the simulation.
fn waited(result: c_int, time: Option<u64>) -> c_int {
    if let Some(time) = time.filter(|&time| time > 0 && result == 0) {
        sleep::for_time(time);
    }
    result
}

/// Whether the wait is a sleep in simulated time, which is done then.
fn slept(time: Option<u64>) -> bool {
    time.is_some_and(|time| time > 0 && sleep::for_time(time))
}

// The callers of the functions below keep to the manual pages of the C library.

#[unsafe(no_mangle)]
unsafe extern "C" fn poll(files: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    let time = u64::try_from(timeout).ok();
    let time = time.map(|time| sleep::nanoseconds(time * 1_000_000));
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
    if count == 0 && slept(time) {
        return 0;
    }
    // SAFETY: the arguments of the caller, for the same call of the system.
    let result = unsafe { system::ppoll(files, count, timeout, mask) };
    waited(result, time)
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
    if (count == 0 || sets.iter().all(|set| set.is_null())) && slept(time) {
        if let Some(timeout) = timeout {
            *timeout = sleep::nanoseconds(0);
        }
        return 0;
    }
    // SAFETY: the arguments of the caller, for the same call of the system.
    let result = unsafe { system::pselect(count, sets, timeout, mask) };
    waited(result, time)
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
    // SAFETY: the arguments of the caller, for the same call of the system.
    let result = unsafe { system::epoll_pwait(epoll, events, count, timeout, mask) };
    let time = u64::try_from(timeout).ok().map(|time| time * MILLISECOND);
    waited(result, time)
}
