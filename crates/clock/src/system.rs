//! The clock's functions without a session: they behave like the system's, by system calls or by
//! the C library's functions with the same names ([`SystemFunction`]).

use libc::{c_int, clockid_t, epoll_event, nfds_t, pollfd, timespec};
pub use rank::system::{SystemFunction, clock_gettime, real_time};

const SIGNALS: usize = 8; // bytes in the kernel's signal set

// As the C library functions with these names, and the kernel checks addresses.

pub unsafe fn clock_getres(clock: clockid_t, resolution: *mut timespec) -> c_int {
    // SAFETY: the kernel checks the address.
    unsafe { libc::syscall(libc::SYS_clock_getres, clock, resolution) as c_int }
}

/// Returns -1 and sets the error number, as system calls do.
pub unsafe fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    request: *const timespec,
    rest: *mut timespec,
) -> c_int {
    // SAFETY: the kernel checks the addresses.
    unsafe { libc::syscall(libc::SYS_clock_nanosleep, clock, flags, request, rest) as c_int }
}

pub unsafe fn ppoll(
    files: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const libc::sigset_t,
) -> c_int {
    // The kernel writes the remaining time. SAFETY: null, or the caller's time.
    let mut copy = unsafe { timeout.as_ref() }.copied();
    let copy = copy.as_mut().map_or(std::ptr::null_mut(), |copy| copy);
    // SAFETY: the kernel checks the addresses; the copy of the time lives until it returns.
    unsafe { libc::syscall(libc::SYS_ppoll, files, count, copy, mask, SIGNALS) as c_int }
}

pub unsafe fn pselect(
    count: c_int,
    sets: [*mut libc::fd_set; 3],
    timeout: Option<&mut timespec>,
    mask: *const libc::sigset_t,
) -> c_int {
    let [read, write, except] = sets;
    let timeout = timeout.map_or(std::ptr::null_mut(), |timeout| timeout);
    let mask = [mask as usize, SIGNALS];
    let number = libc::SYS_pselect6;
    // SAFETY: the kernel checks the addresses; the time and the mask live until it returns.
    unsafe { libc::syscall(number, count, read, write, except, timeout, mask.as_ptr()) as c_int }
}

pub unsafe fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
    mask: *const libc::sigset_t,
) -> c_int {
    let number = libc::SYS_epoll_pwait;
    // SAFETY: the kernel checks the addresses.
    unsafe { libc::syscall(number, epoll, events, count, timeout, mask, SIGNALS) as c_int }
}

pub unsafe fn epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: *const timespec,
    mask: *const libc::sigset_t,
) -> c_int {
    let number = libc::SYS_epoll_pwait2;
    // SAFETY: the kernel checks the addresses.
    unsafe { libc::syscall(number, epoll, events, count, timeout, mask, SIGNALS) as c_int }
}
