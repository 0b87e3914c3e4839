//! Waits for message queues, for System V semaphores, and for asynchronous file operations, which
//! give up at a moment or after a time.
//!
//! Messages, posts and bytes come in real time, from other threads and from other processes, like
//! those for files ([`timeout`]).

use super::parts::{AfterRing, timed};
use super::system::SystemFunction;
use super::{fail, nanoseconds, span, system, timeout};
use libc::{aiocb, c_char, c_int, c_short, c_uint, mqd_t, sembuf, size_t, ssize_t, timespec};
use rank::next;

static RECEIVE: SystemFunction = SystemFunction::new(c"mq_timedreceive", c"");
static SEND: SystemFunction = SystemFunction::new(c"mq_timedsend", c"");
static OPERATE: SystemFunction = SystemFunction::new(c"semtimedop", c"");
static SUSPEND: SystemFunction = SystemFunction::new(c"aio_suspend", c"");

/// The result of performed operations; 0 is that of a wait in vain.
const PERFORMED: c_int = 1;

type Moment = *const timespec;

/// The moment on the system's real-time clock, which is the only one for queues, at which its
/// monotonic clock shows another moment.
unsafe fn by_real_time(moment: Moment) -> timespec {
    let count = |time: &timespec| {
        let seconds = time.tv_sec.cast_unsigned().saturating_mul(1_000_000_000);
        seconds.saturating_add(time.tv_nsec.cast_unsigned())
    };
    let mut now = nanoseconds(0);
    // SAFETY: a place for the time, and the caller's moment.
    let moment = unsafe {
        system::clock_gettime(libc::CLOCK_REALTIME, &raw mut now);
        count(&*moment)
    };
    let left = moment.saturating_sub(system::real_time());
    nanoseconds(count(&now).saturating_add(left))
}

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mq_timedreceive(
    queue: mqd_t,
    message: *mut c_char,
    room: size_t,
    priority: *mut c_uint,
    moment: Moment,
) -> ssize_t {
    let by = |moment: Moment| {
        next!(
            RECEIVE,
            fn(
                queue => mqd_t, message => *mut c_char, room => size_t, priority => *mut c_uint,
                moment => Moment
            ) -> ssize_t,
            -1
        ) as c_int
    };
    let in_parts = |_, end| {
        // SAFETY: the end of a part of the wait.
        let end = unsafe { by_real_time(end) };
        by(&raw const end)
    };
    let clock = Some(libc::CLOCK_REALTIME);
    // SAFETY: the caller's moment.
    unsafe { timed(clock, moment, in_parts, || by(moment), AfterRing::Fails) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mq_timedsend(
    queue: mqd_t,
    message: *const c_char,
    length: size_t,
    priority: c_uint,
    moment: Moment,
) -> c_int {
    let by = |moment: Moment| {
        next!(
            SEND,
            fn(
                queue => mqd_t, message => *const c_char, length => size_t, priority => c_uint,
                moment => Moment
            ) -> c_int,
            -1
        )
    };
    let in_parts = |_, end| {
        // SAFETY: the end of a part of the wait.
        let end = unsafe { by_real_time(end) };
        by(&raw const end)
    };
    let clock = Some(libc::CLOCK_REALTIME);
    // SAFETY: the caller's moment.
    unsafe { timed(clock, moment, in_parts, || by(moment), AfterRing::Fails) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn semtimedop(
    set: c_int,
    operations: *mut sembuf,
    count: size_t,
    time: Moment,
) -> c_int {
    let by = |time: Moment| {
        next!(
            OPERATE,
            fn(
                set => c_int, operations => *mut sembuf, count => size_t, time => Moment
            ) -> c_int,
            -1
        )
    };
    // SAFETY: null, or the caller's time; the caller's operations, of which the kernel takes at
    // most 500 unless it is configured otherwise.
    let (length, waits) = unsafe {
        let mut all = (0..count.min(500)).map(|place| (*operations.add(place)).sem_flg);
        let no_wait = libc::IPC_NOWAIT as c_short;
        (
            time.as_ref().and_then(span),
            all.all(|flags| flags & no_wait == 0),
        )
    };
    let Some(length) = length.filter(|_| waits) else {
        return by(time);
    };
    in_parts(Some(length), by)
}

/// Waits by `by`, which fails with `EAGAIN` after a time.
fn in_parts(length: Option<u64>, by: impl Fn(Moment) -> c_int) -> c_int {
    let result = timeout::wait(length, |part| {
        let part = part.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let result = by(part);
        // SAFETY: the place of this thread's error number.
        let error = unsafe { *libc::__errno_location() };
        match result {
            0 => PERFORMED,
            _ if error == libc::EAGAIN => 0,
            failed => failed,
        }
    });
    match result {
        PERFORMED => 0,
        0 => fail(libc::EAGAIN),
        failed => failed,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn aio_suspend(
    operations: *const *const aiocb,
    count: c_int,
    time: Moment,
) -> c_int {
    let by = |time: Moment| {
        next!(
            SUSPEND,
            fn(operations => *const *const aiocb, count => c_int, time => Moment) -> c_int,
            -1
        )
    };
    // SAFETY: null, or the caller's time.
    let length = unsafe { time.as_ref() }.and_then(span);
    if time.is_null() != length.is_none() {
        return by(time);
    }
    in_parts(length, by)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn aio_suspend64(
    operations: *const *const aiocb,
    count: c_int,
    time: Moment,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { aio_suspend(operations, count, time) }
}
