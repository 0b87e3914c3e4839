//! Sockets with time-outs (`SO_RCVTIMEO`, `SO_SNDTIMEO`).
//!
//! Bytes come in real time, as for other files ([`super::timeout`]). So a call on such a socket
//! first waits until the socket is ready, as `poll` does, and fails after the time-out, which has
//! then passed in simulated time. A send that the time-out ends in the middle has taken it as well.
//! `connect`, and calls on several messages at once, keep real time.

use super::system::{self, SystemFunction};
use super::waiting::sleeper;
use super::{fail, nanoseconds, timeout};
use libc::{c_int, c_short, c_void, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t, timeval};
use rank::next;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether the program has given a socket a time-out.
static TIMED: AtomicBool = AtomicBool::new(false);

/// The time-outs that the program has given, in picoseconds, by descriptor and option: the kernel
/// rounds them up to its ticks.
static GIVEN: Mutex<BTreeMap<(c_int, c_int), u64>> = Mutex::new(BTreeMap::new());

/// The longest tick of a kernel.
const TICK: u64 = 10_000_000_000;

/// A call's direction.
#[derive(Clone, Copy, Debug)]
pub enum SocketUse {
    /// It takes bytes or connections.
    Receive,
    /// It sends bytes.
    Send,
}

/// The socket's time-out in picoseconds; `None` for one without, for other files, and for calls
/// that do not wait.
fn limit(file: c_int, of: SocketUse, flags: c_int) -> Option<u64> {
    if !TIMED.load(Ordering::Relaxed) || flags & libc::MSG_DONTWAIT != 0 {
        return None;
    }
    let option = match of {
        SocketUse::Receive => libc::SO_RCVTIMEO,
        SocketUse::Send => libc::SO_SNDTIMEO,
    };
    let mut time = timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let mut size = size_of::<timeval>() as socklen_t;
    // SAFETY: places for a time and for its size; the error number stays as it was.
    let waits = unsafe {
        let error = *libc::__errno_location();
        let place = (&raw mut time).cast();
        let found = libc::getsockopt(file, libc::SOL_SOCKET, option, place, &raw mut size);
        *libc::__errno_location() = error;
        found == 0 && libc::fcntl(file, libc::F_GETFL) & libc::O_NONBLOCK == 0
    };
    let time = picoseconds(&time);
    let given = given().get(&(file, option)).copied();
    let given = given.filter(|&given| given <= time && time - given < TICK);
    (waits && time > 0).then_some(given.unwrap_or(time))
}

fn given() -> MutexGuard<'static, BTreeMap<(c_int, c_int), u64>> {
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn picoseconds(time: &timeval) -> u64 {
    let count = |part: i64, unit| u64::try_from(part).unwrap_or(0).saturating_mul(unit);
    count(time.tv_sec, super::SECOND).saturating_add(count(time.tv_usec, super::MICROSECOND))
}

/// Waits until a socket with a time-out is ready; returns whether the call fails instead, with the
/// error number set.
pub fn fails(file: c_int, of: SocketUse, flags: c_int) -> bool {
    let Some(time) = limit(file, of, flags) else {
        return false;
    };
    let events: c_short = match of {
        SocketUse::Receive => libc::POLLIN,
        SocketUse::Send => libc::POLLOUT,
    };
    let mut asked = libc::pollfd {
        fd: file,
        events,
        revents: 0,
    };
    let result = timeout::wait(Some(time), |part| {
        let part = part.unwrap_or(nanoseconds(0));
        // SAFETY: one file, and a time that lives until the call returns.
        unsafe { system::ppoll(&raw mut asked, 1, &raw const part, std::ptr::null()) }
    });
    match result {
        0 => fail(libc::EAGAIN) != 0,
        found => found < 0,
    }
}

/// Carries out a call that sends so many bytes.
pub fn sends(file: c_int, flags: c_int, count: size_t, call: impl FnOnce() -> ssize_t) -> ssize_t {
    // `sleeper` settles the clock, so that calls without a time-out must not reach it.
    let end = limit(file, SocketUse::Send, flags)
        .and_then(|time| Some(sleeper()?.now().saturating_add(time)));
    if fails(file, SocketUse::Send, flags) {
        return -1;
    }
    let sent = call();
    if let Some(end) = end
        && usize::try_from(sent).is_ok_and(|sent| sent < count)
        && let Some(session) = sleeper()
    {
        session.sleep_until(end);
    }
    sent
}

/// Carries out a call that receives.
fn receives<R: From<i8>>(file: c_int, flags: c_int, call: impl FnOnce() -> R) -> R {
    if fails(file, SocketUse::Receive, flags) {
        return R::from(-1);
    }
    call()
}

// The callers of the functions below keep to the C library's manual pages.

/// Defines functions that receive, by their names: the file, the other arguments, the flags.
macro_rules! receiving {
    ($(fn $name:ident($file:ident, $($argument:ident: $type:ty),*; $flags:expr)
        -> $result:ty;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $name($file: c_int, $($argument: $type),*) -> $result {
                const NAME: &str = concat!(stringify!($name), "\0");
                static NEXT: SystemFunction = SystemFunction::new(
                    match std::ffi::CStr::from_bytes_with_nul(NAME.as_bytes()) {
                        Ok(name) => name,
                        Err(_) => c"",
                    },
                    c"",
                );
                receives($file, $flags, || {
                    next!(NEXT, fn($file => c_int, $($argument => $type),*) -> $result, -1)
                })
            }
        )*
    };
}

receiving! {
    fn recv(file, to: *mut c_void, room: size_t, flags: c_int; flags) -> ssize_t;
    fn recvmsg(file, message: *mut msghdr, flags: c_int; flags) -> ssize_t;
    fn recvfrom(
        file, to: *mut c_void, room: size_t, flags: c_int, from: *mut sockaddr,
        length: *mut socklen_t; flags
    ) -> ssize_t;
    fn __recv_chk(file, to: *mut c_void, room: size_t, space: size_t, flags: c_int; flags)
        -> ssize_t;
    fn __recvfrom_chk(
        file, to: *mut c_void, room: size_t, space: size_t, flags: c_int, from: *mut sockaddr,
        length: *mut socklen_t; flags
    ) -> ssize_t;
    fn accept(file, from: *mut sockaddr, length: *mut socklen_t; 0) -> c_int;
    fn accept4(file, from: *mut sockaddr, length: *mut socklen_t, flags: c_int; 0) -> c_int;
}

/// Remembers that there are time-outs.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn setsockopt(
    file: c_int,
    level: c_int,
    option: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"setsockopt", c"");
    if level == libc::SOL_SOCKET
        && [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO].contains(&option)
        && length as usize >= size_of::<timeval>()
        && !value.is_null()
    {
        // SAFETY: the caller's time.
        let time = unsafe { value.cast::<timeval>().read_unaligned() };
        given().insert((file, option), picoseconds(&time));
        TIMED.store(true, Ordering::Relaxed);
    }
    next!(NEXT, fn(file => c_int, level => c_int, option => c_int, value => *const c_void,
        length => socklen_t) -> c_int, -1)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn send(
    file: c_int,
    from: *const c_void,
    count: size_t,
    flags: c_int,
) -> ssize_t {
    static NEXT: SystemFunction = SystemFunction::new(c"send", c"");
    sends(file, flags, count, || {
        next!(NEXT, fn(file => c_int, from => *const c_void, count => size_t, flags => c_int)
            -> ssize_t, -1)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendto(
    file: c_int,
    from: *const c_void,
    count: size_t,
    flags: c_int,
    to: *const sockaddr,
    length: socklen_t,
) -> ssize_t {
    static NEXT: SystemFunction = SystemFunction::new(c"sendto", c"");
    sends(file, flags, count, || {
        next!(NEXT, fn(file => c_int, from => *const c_void, count => size_t, flags => c_int,
            to => *const sockaddr, length => socklen_t) -> ssize_t, -1)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmsg(file: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    static NEXT: SystemFunction = SystemFunction::new(c"sendmsg", c"");
    let mut count = 0;
    if TIMED.load(Ordering::Relaxed) && !message.is_null() {
        // SAFETY: the caller's message, with as many parts.
        let parts: &[iovec] = unsafe {
            let message = &*message;
            if message.msg_iov.is_null() {
                &[]
            } else {
                std::slice::from_raw_parts(message.msg_iov, message.msg_iovlen)
            }
        };
        count = parts.iter().map(|part| part.iov_len).sum();
    }
    sends(
        file,
        flags,
        count,
        || next!(NEXT, fn(file => c_int, message => *const msghdr, flags => c_int) -> ssize_t, -1),
    )
}
