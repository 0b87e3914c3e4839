//! The waits of C11's `<threads.h>`. The C library's own call its internal functions, so they are
//! made of the functions with POSIX names here: their locks, conditions and threads are the same
//! objects.

use super::starts::{self, C11Function, ThreadBody};
use super::{sleep, threads};
use libc::{c_int, c_void, pthread_cond_t, pthread_mutex_t, pthread_t, timespec};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;

/// The result in `<threads.h>` for an error number.
fn result(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        libc::ETIMEDOUT => TIMED_OUT,
        libc::EBUSY => BUSY,
        libc::ENOMEM => NO_MEMORY,
        _ => ERROR,
    }
}

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn thrd_create(
    thread: *mut pthread_t,
    function: C11Function,
    argument: *mut c_void,
) -> c_int {
    let (none, body) = (std::ptr::null(), ThreadBody::C11(function));
    // SAFETY: the caller's arguments; there are no attributes.
    result(unsafe { starts::create(thread, none, body, argument, starts::may_act()) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_sleep(request: *const timespec, rest: *mut timespec) -> c_int {
    // SAFETY: the arguments of the caller.
    match unsafe { sleep::clock_nanosleep(libc::CLOCK_REALTIME, 0, request, rest) } {
        0 => 0,
        libc::EINTR => -1,
        _ => -2,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn thrd_join(thread: pthread_t, place: *mut c_int) -> c_int {
    let mut given: *mut c_void = std::ptr::null_mut();
    // SAFETY: the caller's thread, and a place for its result.
    let error = unsafe { threads::pthread_join(thread, &raw mut given) };
    if error == 0 && !place.is_null() {
        // SAFETY: not null, so the caller's place.
        unsafe { place.write((given.addr() as u32).cast_signed()) };
    }
    result(error)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn cnd_wait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the arguments of the caller.
    result(unsafe { threads::pthread_cond_wait(c, m) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn cnd_timedwait(
    c: *mut pthread_cond_t,
    m: *mut pthread_mutex_t,
    moment: *const timespec,
) -> c_int {
    // SAFETY: the arguments of the caller.
    result(unsafe { threads::pthread_cond_timedwait(c, m, moment) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mtx_timedlock(
    m: *mut pthread_mutex_t,
    moment: *const timespec,
) -> c_int {
    // SAFETY: the arguments of the caller.
    result(unsafe { threads::pthread_mutex_timedlock(m, moment) })
}
