//! Waits for other threads in the process.
//!
//! *Waits that give up at a moment.* The moment belongs to a clock that the program has read, so it is in simulated
//! time. Other threads do the awaited work in real time. So the system waits in real time for as long as the moment is
//! away; if the wait has timed out, that moment is the present, also in the simulation (see [`super::timeout`]). A
//! condition variable's clock is not visible from outside. The moment itself identifies it: real time and time since
//! boot are decades apart.
//!
//! *Waits without an end.* While a thread that sleeps in simulated time waits like this, outside MPI, only its fellow
//! threads advance the rank. So their sleep, which takes real time, takes simulated time as well ([`awaited`]).

use super::system::SystemFunction;
use super::waiting::{awaited, sleeper, waits};
use super::{NANOSECOND, local, nanoseconds, origin, system};
use libc::{c_int, c_void, clockid_t, pthread_cond_t, pthread_mutex_t, pthread_t, sem_t, timespec};
use rank::next;
use rank::{session, thread};

/// The wait in real time for a moment in simulated time.
pub struct SimulatedWait {
    /// The moment in local time.
    until: u64,
    /// The wait's end, by the system's monotonic clock.
    pub end: timespec,
}

impl SimulatedWait {
    /// The wait for a moment on a clock, if the moment is in simulated time.
    pub fn new(clock: Option<clockid_t>, moment: &timespec) -> Option<SimulatedWait> {
        let session = session::shown()?;
        if thread::outside() {
            session.reads_clock();
        }
        let clock = clock.unwrap_or_else(|| likely_clock(moment));
        let until = local(clock, moment)?;
        let left = until.saturating_sub(session.now()) / NANOSECOND;
        let mut end = nanoseconds(0);
        // SAFETY: a place for it.
        unsafe { system::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut end) };
        let left = nanoseconds(left);
        let nanoseconds = end.tv_nsec + left.tv_nsec;
        end.tv_sec += left.tv_sec + nanoseconds / 1_000_000_000;
        end.tv_nsec = nanoseconds % 1_000_000_000;
        Some(SimulatedWait { until, end })
    }

    /// The wait has ended. If it has timed out, simulated time has passed.
    pub fn ended(&self, timed_out: bool) {
        if timed_out {
            SimulatedWait::pass(self.until);
        }
    }

    /// A wait has lasted until a moment without success.
    pub fn pass(until: u64) {
        if let Some(session) = sleeper().or_else(awaited) {
            session.sleep_until(until);
        }
    }
}

fn likely_clock(moment: &timespec) -> clockid_t {
    let epoch = origin(libc::CLOCK_REALTIME).unwrap_or(0);
    if moment.tv_sec.cast_unsigned() < epoch / 2 {
        libc::CLOCK_MONOTONIC
    } else {
        libc::CLOCK_REALTIME
    }
}

type Cond = *mut pthread_cond_t;
type Mutex = *mut pthread_mutex_t;
type Semaphore = *mut sem_t;
type Moment = *const timespec;

type Result = *mut *mut c_void;

static COND_WAIT: SystemFunction = SystemFunction::new(c"pthread_cond_wait", c"GLIBC_2.3.2");
static JOIN: SystemFunction = SystemFunction::new(c"pthread_join", c"");
static SEM_WAIT: SystemFunction = SystemFunction::new(c"sem_wait", c"");
static COND_TIMEDWAIT: SystemFunction =
    SystemFunction::new(c"pthread_cond_timedwait", c"GLIBC_2.3.2");
static COND_CLOCKWAIT: SystemFunction = SystemFunction::new(c"pthread_cond_clockwait", c"");
static MUTEX_TIMEDLOCK: SystemFunction = SystemFunction::new(c"pthread_mutex_timedlock", c"");
static MUTEX_CLOCKLOCK: SystemFunction = SystemFunction::new(c"pthread_mutex_clocklock", c"");
static SEM_TIMEDWAIT: SystemFunction = SystemFunction::new(c"sem_timedwait", c"");
static SEM_CLOCKWAIT: SystemFunction = SystemFunction::new(c"sem_clockwait", c"");

// The callers of the functions below keep to the C library's manual pages.

/// Waits until a moment on a clock. If the moment is in simulated time, calls `by`, which waits until a moment on any
/// clock; else waits as the system does.
unsafe fn timed(
    clock: Option<clockid_t>,
    moment: Moment,
    by: impl Fn(clockid_t, Moment) -> c_int,
    system: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: a moment or null.
    let wait = unsafe { moment.as_ref() }.and_then(|moment| SimulatedWait::new(clock, moment));
    let Some(wait) = wait else {
        return system();
    };
    let result = by(libc::CLOCK_MONOTONIC, &raw const wait.end);
    // Functions of semaphores return -1 and set the error number; the others return the number.
    // SAFETY: the place of this thread's error number.
    let error = unsafe { *libc::__errno_location() };
    let said = if result == -1 { error } else { result };
    wait.ended(said == libc::ETIMEDOUT);
    if result == -1 {
        super::fail(error);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_timedwait(c: Cond, m: Mutex, moment: Moment) -> c_int {
    let by = |clock, end| next!(COND_CLOCKWAIT, fn(c => Cond, m => Mutex, clock => clockid_t, end => Moment));
    let system = || next!(COND_TIMEDWAIT, fn(c => Cond, m => Mutex, moment => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe { timed(None, moment, by, system) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_clockwait(
    c: Cond,
    m: Mutex,
    clock: clockid_t,
    moment: Moment,
) -> c_int {
    let by = |clock, end| next!(COND_CLOCKWAIT, fn(c => Cond, m => Mutex, clock => clockid_t, end => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe { timed(Some(clock), moment, by, || by(clock, moment)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_timedlock(m: Mutex, moment: Moment) -> c_int {
    let by = |clock, end| next!(MUTEX_CLOCKLOCK, fn(m => Mutex, clock => clockid_t, end => Moment));
    let system = || next!(MUTEX_TIMEDLOCK, fn(m => Mutex, moment => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe { timed(Some(libc::CLOCK_REALTIME), moment, by, system) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_clocklock(m: Mutex, clock: clockid_t, moment: Moment) -> c_int {
    let by = |clock, end| next!(MUTEX_CLOCKLOCK, fn(m => Mutex, clock => clockid_t, end => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe { timed(Some(clock), moment, by, || by(clock, moment)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_timedwait(s: Semaphore, moment: Moment) -> c_int {
    let by =
        |clock, end| next!(SEM_CLOCKWAIT, fn(s => Semaphore, clock => clockid_t, end => Moment));
    let system = || next!(SEM_TIMEDWAIT, fn(s => Semaphore, moment => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe { timed(Some(libc::CLOCK_REALTIME), moment, by, system) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_clockwait(s: Semaphore, clock: clockid_t, moment: Moment) -> c_int {
    let by =
        |clock, end| next!(SEM_CLOCKWAIT, fn(s => Semaphore, clock => clockid_t, end => Moment));
    // SAFETY: the caller's moment; the functions get the caller's other arguments.
    unsafe { timed(Some(clock), moment, by, || by(clock, moment)) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_cond_wait(c: Cond, m: Mutex) -> c_int {
    waits(|| next!(COND_WAIT, fn(c => Cond, m => Mutex)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_join(thread: pthread_t, result: Result) -> c_int {
    waits(|| next!(JOIN, fn(thread => pthread_t, result => Result)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_wait(s: Semaphore) -> c_int {
    waits(|| next!(SEM_WAIT, fn(s => Semaphore)))
}
