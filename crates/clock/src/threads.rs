//! Waits for other threads in the process.
//!
//! *Waits that give up at a moment.* The moment belongs to a clock that the program has read, so it
//! is in simulated time. Other threads do the awaited work in real time. So the system waits in
//! real time for as long as the moment is away; if the wait has timed out, that moment is the
//! present, also in the simulation (see [`super::timeout`]). A condition variable's clock is not
//! visible from outside. The moment itself identifies it: real time and time since boot are decades
//! apart.
//!
//! *Waits without an end.* While a thread that sleeps in simulated time waits like this, outside
//! MPI, only its fellow threads advance the rank. So their sleep, which takes real time, takes
//! simulated time as well ([`super::waiting::awaited`]). A lock or a pipe without a time-out is not
//! seen here; the sleeping thread notices that the driving one is blocked ([`super::order`]).

use super::interpreter;
use super::parts::{AfterRing, endless, timed, timeless};
use super::sleep::sched_yield;
use super::system::SystemFunction;
use super::waiting::waits;
use libc::{
    c_int, c_void, clockid_t, pthread_barrier_t, pthread_cond_t, pthread_mutex_t,
    pthread_spinlock_t, pthread_t, sem_t, timespec,
};
use rank::next;

type Cond = *mut pthread_cond_t;
type Mutex = *mut pthread_mutex_t;
type Semaphore = *mut sem_t;
type Moment = *const timespec;
type SharedLock = *mut libc::pthread_rwlock_t;

type Result = *mut *mut c_void;

static COND_WAIT: SystemFunction = SystemFunction::new(c"pthread_cond_wait", c"GLIBC_2.3.2");
static JOIN: SystemFunction = SystemFunction::new(c"pthread_join", c"");
static SEM_WAIT: SystemFunction = SystemFunction::new(c"sem_wait", c"");
static BARRIER_WAIT: SystemFunction = SystemFunction::new(c"pthread_barrier_wait", c"");
static TIMEDJOIN: SystemFunction = SystemFunction::new(c"pthread_timedjoin_np", c"");
static CLOCKJOIN: SystemFunction = SystemFunction::new(c"pthread_clockjoin_np", c"");
static COND_TIMEDWAIT: SystemFunction =
    SystemFunction::new(c"pthread_cond_timedwait", c"GLIBC_2.3.2");
static COND_CLOCKWAIT: SystemFunction = SystemFunction::new(c"pthread_cond_clockwait", c"");
static MUTEX_TIMEDLOCK: SystemFunction = SystemFunction::new(c"pthread_mutex_timedlock", c"");
static MUTEX_CLOCKLOCK: SystemFunction = SystemFunction::new(c"pthread_mutex_clocklock", c"");
static SEM_TIMEDWAIT: SystemFunction = SystemFunction::new(c"sem_timedwait", c"");
static SEM_CLOCKWAIT: SystemFunction = SystemFunction::new(c"sem_clockwait", c"");

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_timedwait(c: Cond, m: Mutex, moment: Moment) -> c_int {
    let by = |clock, end| {
        next!(
            COND_CLOCKWAIT, fn(c => Cond, m => Mutex, clock => clockid_t, end => Moment)
        )
    };
    let system = || next!(COND_TIMEDWAIT, fn(c => Cond, m => Mutex, moment => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe {
        if interpreter::has(c.cast()) {
            return timeless(None, moment, by, system);
        }
        timed(None, moment, by, system, AfterRing::Ends)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_clockwait(
    c: Cond,
    m: Mutex,
    clock: clockid_t,
    moment: Moment,
) -> c_int {
    let by = |clock, end| {
        next!(
            COND_CLOCKWAIT, fn(c => Cond, m => Mutex, clock => clockid_t, end => Moment)
        )
    };
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe {
        if interpreter::has(c.cast()) {
            return timeless(Some(clock), moment, by, || by(clock, moment));
        }
        timed(
            Some(clock),
            moment,
            by,
            || by(clock, moment),
            AfterRing::Ends,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_timedlock(m: Mutex, moment: Moment) -> c_int {
    let by = |clock, end| next!(MUTEX_CLOCKLOCK, fn(m => Mutex, clock => clockid_t, end => Moment));
    let system = || next!(MUTEX_TIMEDLOCK, fn(m => Mutex, moment => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe {
        timed(
            Some(libc::CLOCK_REALTIME),
            moment,
            by,
            system,
            AfterRing::GoesOn,
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_clocklock(m: Mutex, clock: clockid_t, moment: Moment) -> c_int {
    let by = |clock, end| next!(MUTEX_CLOCKLOCK, fn(m => Mutex, clock => clockid_t, end => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe {
        timed(
            Some(clock),
            moment,
            by,
            || by(clock, moment),
            AfterRing::GoesOn,
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_timedwait(s: Semaphore, moment: Moment) -> c_int {
    let by =
        |clock, end| next!(SEM_CLOCKWAIT, fn(s => Semaphore, clock => clockid_t, end => Moment));
    let system = || next!(SEM_TIMEDWAIT, fn(s => Semaphore, moment => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe {
        timed(
            Some(libc::CLOCK_REALTIME),
            moment,
            by,
            system,
            AfterRing::Fails,
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_clockwait(s: Semaphore, clock: clockid_t, moment: Moment) -> c_int {
    let by =
        |clock, end| next!(SEM_CLOCKWAIT, fn(s => Semaphore, clock => clockid_t, end => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe {
        timed(
            Some(clock),
            moment,
            by,
            || by(clock, moment),
            AfterRing::Fails,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_wait(c: Cond, m: Mutex) -> c_int {
    let by = |clock, end| {
        next!(
            COND_CLOCKWAIT, fn(c => Cond, m => Mutex, clock => clockid_t, end => Moment)
        )
    };
    endless(
        by,
        || next!(COND_WAIT, fn(c => Cond, m => Mutex)),
        AfterRing::Ends,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_join(thread: pthread_t, result: Result) -> c_int {
    let by = |clock, end| {
        next!(
            CLOCKJOIN, fn(thread => pthread_t, result => Result, clock => clockid_t, end => Moment)
        )
    };
    let system = || next!(JOIN, fn(thread => pthread_t, result => Result));
    endless(by, system, AfterRing::GoesOn)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_wait(s: Semaphore) -> c_int {
    let by =
        |clock, end| next!(SEM_CLOCKWAIT, fn(s => Semaphore, clock => clockid_t, end => Moment));
    endless(by, || next!(SEM_WAIT, fn(s => Semaphore)), AfterRing::Fails)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
    waits(|| next!(BARRIER_WAIT, fn(barrier => *mut pthread_barrier_t)))
}

/// A lock that is awaited by computing: the thread gives way instead, which is a known wait.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int {
    loop {
        // SAFETY: the caller's lock.
        let error = unsafe { libc::pthread_spin_trylock(lock) };
        if error != libc::EBUSY {
            return error;
        }
        sched_yield();
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_timedjoin_np(
    thread: pthread_t,
    result: Result,
    moment: Moment,
) -> c_int {
    let by = |clock, end| {
        next!(
            CLOCKJOIN, fn(thread => pthread_t, result => Result, clock => clockid_t, end => Moment)
        )
    };
    let system = || next!(TIMEDJOIN, fn(thread => pthread_t, result => Result, moment => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe {
        timed(
            Some(libc::CLOCK_REALTIME),
            moment,
            by,
            system,
            AfterRing::GoesOn,
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_clockjoin_np(
    thread: pthread_t,
    result: Result,
    clock: clockid_t,
    moment: Moment,
) -> c_int {
    let by = |clock, end| {
        next!(
            CLOCKJOIN, fn(thread => pthread_t, result => Result, clock => clockid_t, end => Moment)
        )
    };
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe {
        timed(
            Some(clock),
            moment,
            by,
            || by(clock, moment),
            AfterRing::GoesOn,
        )
    }
}

/// The C library's function with one of our names.
macro_rules! named {
    ($name:ident) => {
        SystemFunction::new(
            // SAFETY: it ends with the only 0.
            unsafe {
                std::ffi::CStr::from_bytes_with_nul_unchecked(
                    concat!(stringify!($name), "\0").as_bytes(),
                )
            },
            c"",
        )
    };
}
/// Locks that readers share: waits with a time-out on the C library's real clock, and on a clock
/// that the caller names.
macro_rules! shared_locks {
    ($(fn $timed:ident, $clocked:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $timed(lock: SharedLock, moment: Moment) -> c_int {
            static TIMED: SystemFunction = named!($timed);
            static CLOCKED: SystemFunction = named!($clocked);
            let by = |clock, end| next!(
                CLOCKED, fn(lock => SharedLock, clock => clockid_t, end => Moment)
            );
            let system = || next!(TIMED, fn(lock => SharedLock, moment => Moment));
            // SAFETY: the caller's moment; the functions get the caller's lock.
            unsafe { timed(Some(libc::CLOCK_REALTIME), moment, by, system, AfterRing::GoesOn) }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $clocked(lock: SharedLock, clock: clockid_t, moment: Moment) -> c_int {
            static CLOCKED: SystemFunction = named!($clocked);
            let by = |clock, end| next!(
                CLOCKED, fn(lock => SharedLock, clock => clockid_t, end => Moment)
            );
            // SAFETY: the caller's moment; the functions get the caller's lock.
            unsafe { timed(Some(clock), moment, by, || by(clock, moment), AfterRing::GoesOn) }
        }
    )*};
}

shared_locks! {
    fn pthread_rwlock_timedrdlock, pthread_rwlock_clockrdlock;
    fn pthread_rwlock_timedwrlock, pthread_rwlock_clockwrlock;
}
