//! What the rank says to the process manager: that all ranks be ended.
//!
//! An error of MPI ends the program without any call that is known here, and the process manager then kills all ranks within
//! a fraction of a millisecond, often before the one with the error has exited, and before its words have been passed on. So
//! its request is noted on its way out.

#![allow(unsafe_code)] // a function of C

use crate::clock::system::Next;
use crate::session;
use libc::{c_int, c_void, size_t, ssize_t};
use link::Leaving;
use std::sync::atomic::{AtomicI32, Ordering};

/// The descriptor on which the process manager listens, or -1.
static MANAGER: AtomicI32 = AtomicI32::new(-1);

/// How a request begins that all be ended, of those that MPICH's process managers understand, and how many bytes may stand
/// before it: its length, in the second version of their language.
const ABORT: &[u8] = b"cmd=abort";
const LENGTH: usize = 6;

static WRITE: Next = Next::new(
    c"write",
    if cfg!(target_arch = "x86_64") {
        c"GLIBC_2.2.5"
    } else {
        c"GLIBC_2.17"
    },
);

/// This process has become a rank.
pub fn attached() {
    let file = std::env::var("PMI_FD").ok();
    let file = file.and_then(|file| file.parse().ok()).unwrap_or(-1);
    MANAGER.store(file, Ordering::Relaxed);
    // A handler of a signal may write, and must not look for it.
    WRITE.get();
}

/// Notes requests to the process manager that all be ended, and passes everything on.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn write(file: c_int, data: *const c_void, count: size_t) -> ssize_t {
    if file >= 0
        && file == MANAGER.load(Ordering::Relaxed)
        && !data.is_null()
        && let Some(session) = session::get()
    {
        let start = count.min(LENGTH + ABORT.len());
        // SAFETY: the caller wants as many bytes written, and more.
        let start = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), start) };
        let second = start.get(LENGTH..).unwrap_or_default();
        if start.starts_with(ABORT) || second.starts_with(ABORT) {
            session.leaves(Leaving::Error);
        }
    }
    match WRITE.get() {
        Some(next) => {
            type Write = unsafe extern "C-unwind" fn(c_int, *const c_void, size_t) -> ssize_t;
            // SAFETY: it is the function of this name.
            let next = unsafe { std::mem::transmute::<*const c_void, Write>(next) };
            // SAFETY: as the caller's own.
            unsafe { next(file, data, count) }
        }
        // SAFETY: the kernel checks the address.
        None => (unsafe { libc::syscall(libc::SYS_write, file, data, count) }) as ssize_t,
    }
}
