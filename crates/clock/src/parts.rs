//! Waits in real time for moments in simulated time, and their parts: a timer that rings before the
//! end divides them.

use super::order::ThreadTurn;
use super::waiting::{awaited, sleeper, waits};
use super::{NANOSECOND, local, nanoseconds, origin, system, timers};
use libc::{c_int, clockid_t, timespec};
use link::NEVER;
use rank::session::{self, Session};
use rank::sleepers::SLICE;
use rank::{concurrency, pending, thread};

/// The wait in real time for a moment in simulated time.
pub struct SimulatedWait {
    /// The moment in local time.
    until: u64,
    /// The wait's end, by the system's monotonic clock.
    pub end: timespec,
    place: ThreadTurn,
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
        Some(SimulatedWait::starting_now(session, until))
    }

    /// The wait from now until a moment in local time.
    fn starting_now(session: &Session, until: u64) -> SimulatedWait {
        let left = until.saturating_sub(session.now()).div_ceil(NANOSECOND);
        SimulatedWait {
            until,
            end: real_moment(left),
            place: ThreadTurn::waits(session, until),
        }
    }

    /// Whether the wait goes on for a while after its real time, since it is another thread's turn in
    /// simulated time.
    pub fn goes_on(&mut self, timed_out: bool) -> bool {
        let goes_on = timed_out && self.place.goes_on();
        if goes_on {
            self.end = real_moment(SLICE.as_nanos() as u64);
        }
        goes_on
    }

    /// The wait has ended. If it has timed out, simulated time has passed.
    pub fn ended(&self, timed_out: bool) {
        if timed_out {
            // SAFETY: the place of this thread's error number.
            let error = unsafe { *libc::__errno_location() };
            concurrency::time_passes();
            SimulatedWait::pass(self.until);
            super::fail(error);
        }
    }

    /// A wait has lasted until a moment without success.
    pub fn pass(until: u64) {
        if let Some(session) = sleeper().or_else(awaited) {
            session.sleep_until(until);
        }
    }
}

/// The moment after some nanoseconds, by the system's monotonic clock.
fn real_moment(left: u64) -> timespec {
    let now = system::real_time();
    nanoseconds(now.saturating_add(left))
}

fn likely_clock(moment: &timespec) -> clockid_t {
    let epoch = origin(libc::CLOCK_REALTIME).unwrap_or(0);
    if moment.tv_sec.cast_unsigned() < epoch / 2 {
        libc::CLOCK_MONOTONIC
    } else {
        libc::CLOCK_REALTIME
    }
}

type Moment = *const timespec;

/// Waits until a moment on a clock. If the moment is in simulated time, calls `by`, which waits
/// until a moment on any clock; else waits as the system does. `rung` is what a timer's ring does
/// to the wait.
pub unsafe fn timed(
    clock: Option<clockid_t>,
    moment: Moment,
    by: impl Fn(clockid_t, Moment) -> c_int,
    system: impl FnOnce() -> c_int,
    rung: AfterRing,
) -> c_int {
    pending::acted();
    // SAFETY: a moment or null.
    match unsafe { moment.as_ref() }.and_then(|moment| SimulatedWait::new(clock, moment)) {
        Some(wait) => in_parts(wait, by, rung),
        None => system(),
    }
}

/// Waits as [`timed`] for a lock under which all threads run, for as long in real time, and in no
/// simulated time.
pub unsafe fn timeless(
    clock: Option<clockid_t>,
    moment: Moment,
    by: impl Fn(clockid_t, Moment) -> c_int,
    system: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: a moment or null.
    let until = unsafe { moment.as_ref() }
        .and_then(|moment| local(clock.unwrap_or_else(|| likely_clock(moment)), moment));
    let Some((until, session)) = until.zip(session::shown()) else {
        return system();
    };
    thread::takes_turns();
    let end = real_moment(until.saturating_sub(session.now()).div_ceil(NANOSECOND));
    waits(|| by(libc::CLOCK_MONOTONIC, &raw const end))
}

/// Waits without an end, by `system`; while timers are pending, by `by`, which waits until a
/// moment.
pub fn endless(
    by: impl Fn(clockid_t, Moment) -> c_int,
    system: impl FnOnce() -> c_int,
    rung: AfterRing,
) -> c_int {
    while timers::next() != NEVER
        && let Some(session) = sleeper()
    {
        let by = |clock, end| waits(|| by(clock, end));
        if let Some(result) = until_ring(session, timers::next(), by, rung) {
            return result;
        }
    }
    waits(system)
}

/// Waits until a moment in simulated time. Timers that ring before divide the wait, as they do
/// waits for files ([`super::timeout`]).
fn in_parts(
    mut wait: SimulatedWait,
    by: impl Fn(clockid_t, Moment) -> c_int,
    rung: AfterRing,
) -> c_int {
    loop {
        let next = timers::next();
        let rings = (next < wait.until).then(sleeper).flatten();
        let Some(session) = rings else {
            let (result, error) =
                with_error(|| waits(|| by(libc::CLOCK_MONOTONIC, &raw const wait.end)));
            let timed_out = error == libc::ETIMEDOUT;
            if waits(|| wait.goes_on(timed_out)) {
                continue;
            }
            wait.ended(timed_out);
            return result;
        };
        if let Some(result) = until_ring(session, next, &by, rung) {
            return result;
        }
    }
}

/// Waits until the next timer rings, at most; the wait's result, unless it goes on.
fn until_ring(
    session: &Session,
    next: u64,
    by: impl Fn(clockid_t, Moment) -> c_int,
    rung: AfterRing,
) -> Option<c_int> {
    let part = SimulatedWait::starting_now(session, next);
    let end = &raw const part.end;
    let call = || timers::undisturbed(|| by(libc::CLOCK_MONOTONIC, end));
    let (result, error) = with_error(call);
    if error == libc::ETIMEDOUT {
        return rung.result(timers::until_ring(session, next));
    }
    Some(result)
}

/// A call's result, and its error number, which functions of semaphores set, and others return.
fn with_error(call: impl FnOnce() -> c_int) -> (c_int, c_int) {
    let result = call();
    // SAFETY: the place of this thread's error number.
    let set = unsafe { *libc::__errno_location() };
    (result, if result == -1 { set } else { result })
}

/// How a wait goes on after a timer has rung.
#[derive(Clone, Copy, Debug)]
pub enum AfterRing {
    /// It ends: a condition's wait may end without a reason, and others may have changed the
    /// condition meanwhile.
    Ends,
    /// It fails if a handler has run, as a semaphore's does.
    Fails,
    /// It goes on, as for locks and threads.
    GoesOn,
}

impl AfterRing {
    /// The wait's result, unless it goes on.
    fn result(self, handled: bool) -> Option<c_int> {
        match self {
            AfterRing::Ends => Some(0),
            AfterRing::Fails => handled.then(super::interrupted),
            AfterRing::GoesOn => None,
        }
    }
}
