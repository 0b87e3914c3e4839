//! Waits for file locks that other ranks hold.
//!
//! The holder may need simulated time before it frees the lock: it sleeps, or waits for the
//! machine's file system, as MPI-IO does in shared file pointers, atomic mode and writes with
//! holes. A rank that waited in the kernel would keep simulated time from going on. So a rank tries
//! the lock again and again, and time passes in small steps.
//!
//! The host's timing decides which of several ranks gets a lock first, so a run in which a rank has
//! waited for a lock is not repeatable.

use libc::{c_int, off_t, size_t};
use rank::session::{self, Session};
use rank::system::{FIRST, SystemFunction};
use rank::{compute, next, thread};

static FCNTL: SystemFunction = SystemFunction::new(c"fcntl", FIRST);
static FLOCK: SystemFunction = SystemFunction::new(c"flock", FIRST);
static LOCKF: SystemFunction = SystemFunction::new(c"lockf", FIRST);

/// The session whose time passes in this thread's waits.
fn waiting() -> Option<&'static Session> {
    let session = session::shown()?;
    let waits = session.is_own() && thread::drives_time() && !thread::begins_or_ends();
    (waits && !session::is_held()).then_some(session)
}

/// Waits for a lock: `tries` does not wait, and `waits` is the system's wait.
fn wait(tries: impl Fn() -> c_int, waits: impl FnOnce() -> c_int) -> c_int {
    let Some(session) = waiting() else {
        return waits();
    };
    loop {
        let result = tries();
        // SAFETY: the place of this thread's error number.
        let error = unsafe { *libc::__errno_location() };
        if result != -1 || ![libc::EAGAIN, libc::EACCES].contains(&error) {
            return result;
        }
        if thread::outside() {
            compute::settle(session);
        }
        if !session.step_outside() {
            return waits();
        }
    }
}

// The callers of the functions below keep to the C library's manual pages. A register without an
// argument is passed on, and ignored.

unsafe fn control(file: c_int, command: c_int, argument: size_t) -> c_int {
    let by = |command| {
        next!(
            FCNTL, fn(file => c_int, command => c_int, argument => size_t) -> c_int, -1
        )
    };
    match command {
        libc::F_SETLKW => wait(|| by(libc::F_SETLK), || by(command)),
        libc::F_OFD_SETLKW => wait(|| by(libc::F_OFD_SETLK), || by(command)),
        _ => by(command),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fcntl(file: c_int, command: c_int, argument: size_t) -> c_int {
    // SAFETY: the arguments of the caller.
    unsafe { control(file, command, argument) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fcntl64(file: c_int, command: c_int, argument: size_t) -> c_int {
    // SAFETY: the arguments of the caller.
    unsafe { control(file, command, argument) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn flock(file: c_int, operation: c_int) -> c_int {
    let by = |operation| next!(FLOCK, fn(file => c_int, operation => c_int) -> c_int, -1);
    if operation & (libc::LOCK_NB | libc::LOCK_UN) != 0 {
        return by(operation);
    }
    wait(|| by(operation | libc::LOCK_NB), || by(operation))
}

unsafe fn lock(file: c_int, command: c_int, length: off_t) -> c_int {
    let by =
        |command| next!(LOCKF, fn(file => c_int, command => c_int, length => off_t) -> c_int, -1);
    match command {
        libc::F_LOCK => wait(|| by(libc::F_TLOCK), || by(command)),
        _ => by(command),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lockf(file: c_int, command: c_int, length: off_t) -> c_int {
    // SAFETY: the arguments of the caller.
    unsafe { lock(file, command, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lockf64(file: c_int, command: c_int, length: off_t) -> c_int {
    // SAFETY: the arguments of the caller.
    unsafe { lock(file, command, length) }
}
