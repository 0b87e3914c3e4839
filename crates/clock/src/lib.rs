//! # The clocks that the program reads, and its sleep: simulated time
//!
//! The C library functions that read the time or wait for it are defined here again, under their
//! own names. As this library is preloaded, the program, the MPI library and the language's runtime
//! call these functions. While there is a session they show its local time, from any thread,
//! without a lock and without a system call:
//!
//! | clock | shows |
//! |---|---|
//! | real time, all kinds | the settings' epoch + local time |
//! | monotonic, since boot, processor time | [`START`] + local time, as programs take 0 for a clock that was never read |
//!
//! Without a session ([`session::shown`]) the functions behave like the system's. They make their
//! own system calls, since their names in the C library are taken ([`system`]). Programs that ask
//! the kernel or the processor (`rdtsc`) directly keep real time.
//!
//! *Busy waits.* A program that waits by reading the clock would wait forever, as only
//! communication takes time. So a thread's first [`FREE`] readings in a row are free, and each
//! further one costs a growing time step, as for programs that poll MPI
//! ([`rank::session::Session::pass`]). An MPI call, an order or a sleep begins a new row. Readings
//! inside the provider, which has the lock, are free. So does a program with one thread that gives
//! way in a loop (`sched_yield`): it waits for another process, as for a word in memory that a
//! node's ranks share.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`sleep`], [`timeout`] | sleep, and waits that give up after a time |
//! | [`timers`] | timers that ring in simulated time |
//! | [`threads`], [`c11`], [`waiting`], [`futex`] | waits between threads |
//! | [`queues`] | message queues and semaphores by the kernel, and `aio_suspend` |
//! | [`sockets`] | sockets with time-outs |
//! | [`interpreter`] | the lock of Python's interpreter |
//! | [`starts`] | threads that begin |
//! | [`order`] | the order of threads' waits and sleeps |
//! | [`parts`] | the parts of such waits, between the rings of timers |
//! | [`system`] | the same without a session |
//!
//! ## The main path
//!
//! A program's sleep:
//!
//! 1. `sleep.rs`: the program's `nanosleep` becomes a wait in simulated time.
//! 2. `lib.rs`: [`reading`] shows the time at its end.

#![allow(unsafe_code)] // C functions

mod c11;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod futex;
mod interpreter;
mod order;
mod parts;
mod queues;
mod sleep;
pub mod sockets;
mod starts;
mod system;
mod threads;
mod timeout;
pub mod timers;
mod waiting;

use libc::{c_int, clockid_t, time_t, timespec, timeval};
use rank::session::{self, Session};
use rank::{compute, pending, thread};
use std::sync::Once;

/// Seconds that clocks other than real time show at time 0.
pub const START: u64 = 1;

/// Free readings in a row.
const FREE: u32 = 1000;

const SECOND: u64 = 1_000_000_000_000;
const MICROSECOND: u64 = 1_000_000;
const NANOSECOND: u64 = 1000;

/// This process has become a rank; processes forked from it are not ranks.
pub fn attached() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler only sets a flag.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    });
}

extern "C" fn forked() {
    session::forget();
}

/// Local time as the program reads it, in picoseconds, if there is a session.
pub fn reading() -> Option<u64> {
    let session = session::shown()?;
    if thread::outside() {
        session.reads_clock();
    }
    look(session);
    Some(session.now())
}

/// The program looks for the time, or gives way, perhaps again and again: after some looks in a
/// row, time passes.
fn look(session: &Session) {
    compute::settle(session);
    let readings = &thread::current().readings;
    if readings.get() < FREE {
        readings.update(|readings| readings + 1);
    } else if let Some(mut state) = session.try_lock() {
        let before = session.now();
        session.pass(&mut state);
        drop(state);
        session.give_way();
        if thread::outside() {
            order::notice(before, session.now());
        }
    } else {
        // Another thread has the lock, and perhaps waits for this one.
        pending::looks(false);
    }
    timers::look(session);
}

/// The seconds that a clock shows at time 0, if the clock shows simulated time.
fn origin(clock: clockid_t) -> Option<u64> {
    match clock {
        libc::CLOCK_REALTIME
        | libc::CLOCK_REALTIME_COARSE
        | libc::CLOCK_REALTIME_ALARM
        | libc::CLOCK_TAI => session::shown().map(|session| session.settings().epoch),
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME
        | libc::CLOCK_BOOTTIME_ALARM
        | libc::CLOCK_PROCESS_CPUTIME_ID
        | libc::CLOCK_THREAD_CPUTIME_ID => Some(START),
        // Processor time for other processes and threads; 3 is a device clock.
        _ if clock < 0 && clock & 7 != 3 => Some(START),
        _ => None,
    }
}

/// A clock's reading.
fn show(clock: clockid_t) -> Option<timespec> {
    let now = reading()?;
    let seconds = origin(clock)? + now / SECOND;
    Some(timespec {
        tv_sec: seconds.cast_signed(),
        tv_nsec: (now % SECOND / NANOSECOND).cast_signed(),
    })
}

/// The local time at which a clock shows this moment; 0 for a moment that it never showed.
fn local(clock: clockid_t, shown: &timespec) -> Option<u64> {
    let seconds = shown.tv_sec.saturating_sub_unsigned(origin(clock)?);
    Some(match u64::try_from(seconds) {
        Ok(seconds) => length(seconds, shown.tv_nsec.cast_unsigned()),
        Err(_) => 0,
    })
}

/// A duration in picoseconds, if it is valid by the manual page.
pub fn span(time: &timespec) -> Option<u64> {
    let valid = time.tv_sec >= 0 && (0..1_000_000_000).contains(&time.tv_nsec);
    valid.then(|| length(time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned()))
}

/// This many nanoseconds.
pub fn nanoseconds(count: u64) -> timespec {
    timespec {
        tv_sec: (count / 1_000_000_000).cast_signed(),
        tv_nsec: (count % 1_000_000_000).cast_signed(),
    }
}

/// A duration in picoseconds, or the longest possible one.
fn length(seconds: u64, nanoseconds: u64) -> u64 {
    seconds
        .saturating_mul(SECOND)
        .saturating_add(nanoseconds.saturating_mul(NANOSECOND))
}

/// The end of a call by a signal handler.
pub fn interrupted() -> c_int {
    fail(libc::EINTR)
}

fn fail(error: c_int) -> c_int {
    // SAFETY: the place of this thread's error number.
    unsafe { *libc::__errno_location() = error };
    -1
}

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    match show(clock) {
        Some(_) if time.is_null() => fail(libc::EFAULT),
        Some(shown) => {
            // SAFETY: not null, so the caller's place for a time.
            unsafe { time.write(shown) };
            0
        }
        // SAFETY: the arguments of the caller, for the same function of the system.
        None => unsafe { system::clock_gettime(clock, time) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_getres(clock: clockid_t, resolution: *mut timespec) -> c_int {
    if session::shown().and_then(|_| origin(clock)).is_none() {
        // SAFETY: the arguments of the caller, for the same function of the system.
        return unsafe { system::clock_getres(clock, resolution) };
    }
    if !resolution.is_null() {
        let nanosecond = timespec {
            tv_sec: 0,
            tv_nsec: 1,
        };
        // SAFETY: not null, so the caller's place for a time.
        unsafe { resolution.write(nanosecond) };
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timespec_get(time: *mut timespec, base: c_int) -> c_int {
    const UTC: c_int = 1;
    // SAFETY: the caller's place for a time.
    if base == UTC && unsafe { clock_gettime(libc::CLOCK_REALTIME, time) } == 0 {
        base
    } else {
        0
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(time: *mut timeval, zone: *mut [c_int; 2]) -> c_int {
    if !zone.is_null() {
        // As in the kernel without a set zone. SAFETY: not null, so the caller's place for a zone.
        unsafe { zone.write([0; 2]) };
    }
    if time.is_null() {
        return 0;
    }
    let now = real_time();
    let now = timeval {
        tv_sec: now.tv_sec,
        tv_usec: now.tv_nsec / 1000,
    };
    // SAFETY: not null, so the caller's place for a time.
    unsafe { time.write(now) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn time(time: *mut time_t) -> time_t {
    let now = real_time().tv_sec;
    if !time.is_null() {
        // SAFETY: not null, so the caller's place for a time.
        unsafe { time.write(now) };
    }
    now
}

/// The time by the oldest of these functions.
#[unsafe(no_mangle)]
unsafe extern "C" fn ftime(place: *mut TimeB) -> c_int {
    let now = real_time();
    let time = TimeB {
        seconds: now.tv_sec,
        milliseconds: (now.tv_nsec / 1_000_000) as u16,
        zone: [0; 2],
    };
    // SAFETY: the caller's place for a time.
    unsafe { place.write(time) };
    0
}

/// `struct timeb`.
#[repr(C)]
struct TimeB {
    seconds: time_t,
    milliseconds: u16,
    zone: [i16; 2],
}

/// Processor time in microseconds.
#[unsafe(no_mangle)]
extern "C" fn clock() -> libc::clock_t {
    let now = now_of(libc::CLOCK_PROCESS_CPUTIME_ID);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1000
}

fn real_time() -> timespec {
    now_of(libc::CLOCK_REALTIME)
}

fn now_of(clock: clockid_t) -> timespec {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for it.
    unsafe { clock_gettime(clock, &raw mut now) };
    now
}

/// Processor time for this process or thread; other figures, and those for children, are the
/// system's.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrusage(who: c_int, usage: *mut libc::rusage) -> c_int {
    // SAFETY: the kernel checks the address.
    let result = unsafe { libc::syscall(libc::SYS_getrusage, who, usage) as c_int };
    if result == 0
        && matches!(who, libc::RUSAGE_SELF | libc::RUSAGE_THREAD)
        && let Some(now) = show(libc::CLOCK_PROCESS_CPUTIME_ID)
    {
        // SAFETY: the kernel has just written to it.
        let usage = unsafe { &mut *usage };
        (usage.ru_utime.tv_sec, usage.ru_utime.tv_usec) = (now.tv_sec, now.tv_nsec / 1000);
        (usage.ru_stime.tv_sec, usage.ru_stime.tv_usec) = (0, 0);
    }
    result
}

/// Time since boot and processor time, in 10 ms ticks; children's processor time is the system's.
#[unsafe(no_mangle)]
unsafe extern "C" fn times(place: *mut libc::tms) -> libc::clock_t {
    const TICK: i64 = 10_000_000; // nanoseconds; the same on all systems for programs
    // SAFETY: the kernel checks the address.
    let result = unsafe { libc::syscall(libc::SYS_times, place) };
    let Some(now) = show(libc::CLOCK_PROCESS_CPUTIME_ID) else {
        return result;
    };
    let ticks = now.tv_sec * (1_000_000_000 / TICK) + now.tv_nsec / TICK;
    // SAFETY: null, or a place to which the kernel has just written.
    if let Some(place) = unsafe { place.as_mut() } {
        (place.tms_utime, place.tms_stime) = (ticks, 0);
    }
    ticks
}
