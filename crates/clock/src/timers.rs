//! Timers that ring in simulated time: `alarm`, `setitimer`, `timer_create`, `timerfd_create`.
//!
//! A timer is kept here, and rings when the rank's local time has come to its moment: in a sleep or
//! a wait with a time-out, which end there ([`until_ring`]); when the program reads a clock; in an
//! MPI call that blocks ([`Session::ring`]); and at the end of any MPI call ([`look`]). To ring is to
//! send the process the signal that the kernel would have sent, to start `SIGEV_THREAD`'s thread,
//! or to count in `timerfd_create`'s file, which is an `eventfd`: both kinds of files are read and
//! polled alike.
//!
//! *Loops without a call.* Simulated time stands while the program computes, so that a loop which
//! waits for a signal would never end. If a timer is pending, and the program has made no call for
//! as long as the timer has left, and for [`STRETCH`] at least, it is taken to wait: time advances
//! to the timer's moment ([`alarm`]). A computation may look the same; so the run is then marked as
//! not repeatable. The same holds where the kernel waits for something outside of the simulation
//! ([`kernel`]).

mod alarm;
mod calls;
mod kernel;
mod signals;

use super::system;
use libc::{c_int, c_void, sigset_t};
use rank::session::{self, Session};
use rank::{pending, thread};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a program has made no call at least that is taken to wait for a timer.
const STRETCH: Duration = Duration::from_millis(200);

/// The process's timers, by their names.
static TIMERS: Mutex<BTreeMap<Name, Timer>> = Mutex::new(BTreeMap::new());

/// How many timer files have been made.
static FILES: AtomicU32 = AtomicU32::new(0);

/// A timer's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    /// One of `setitimer`'s three.
    Interval(c_int),
    /// One from `timer_create`.
    Made(usize),
    /// One from `timerfd_create`, by its descriptor.
    File(c_int),
}

/// A timer.
#[derive(Clone, Copy, Debug)]
struct Timer {
    clock: libc::clockid_t,
    /// Its next ring's moment in local time.
    due: Option<u64>,
    /// The time between two rings, in picoseconds; 0 if it rings once.
    interval: u64,
    /// How often it has rung too often for the last signal.
    overruns: u64,
    how: RingEffect,
}

/// A ring's effect.
#[derive(Clone, Copy, Debug)]
enum RingEffect {
    Nothing,
    /// Sends a signal, with a value and the code for the timer's kind.
    Signal {
        number: c_int,
        value: usize,
        code: c_int,
    },
    /// Calls a function with a value in its own thread.
    Thread {
        function: usize,
        value: usize,
    },
    /// Counts in a file, by our descriptor.
    Count(c_int),
}

fn timers() -> MutexGuard<'static, BTreeMap<Name, Timer>> {
    TIMERS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub use rank::rings::next;

fn find_next(timers: &BTreeMap<Name, Timer>) {
    let due = timers.values().filter_map(|timer| timer.due).min();
    rank::rings::set_next(due.unwrap_or(link::NEVER));
    session::set_ring(|session| {
        ring(session);
    });
}

/// Sets a timer: its next ring, if any, and the time between two rings. Returns the time that was
/// left until its next ring, and the time between two.
fn set(session: &Session, name: Name, due: Option<u64>, interval: u64) -> Option<(u64, u64)> {
    let left = {
        let mut timers = timers();
        let left = state(session, timers.get(&name)?);
        let timer = timers.get_mut(&name)?;
        (timer.due, timer.interval, timer.overruns) = (due, interval, 0);
        find_next(&timers);
        left
    };
    alarm::watch(session);
    Some(left)
}

/// The time until a timer's next ring, 0 without one, and the time between two.
fn state(session: &Session, timer: &Timer) -> (u64, u64) {
    let left = timer
        .due
        .map_or(0, |due| due.saturating_sub(session.now()).max(1));
    (left, timer.interval)
}

/// Sleeps until a moment, or until a timer rings before; returns whether a program handler has run,
/// so that the program's wait ends.
pub fn until_ring(session: &Session, until: u64) -> bool {
    session.sleep_until(until.min(next()));
    ring(session)
}

/// Rings timers that are due. For places where the program is in no call.
#[inline]
pub fn look(session: &Session) {
    if next() != link::NEVER {
        // A look loop may end by a signal.
        session.reads_clock();
        if thread::outside() && thread::drives_time() && !session::is_held() {
            ring(session);
        }
    }
}

/// Rings all timers that are due; returns whether a program handler has run.
fn ring(session: &Session) -> bool {
    let mut handled = false;
    while next() <= session.now() {
        let Some((name, how, count)) = take_due(session.now()) else {
            break;
        };
        handled |= act(name, how, count);
    }
    handled
}

/// The signal of the timer that rings first, if it sends one.
fn first_signal() -> Option<c_int> {
    let timers = timers();
    let due = timers.values().filter(|timer| timer.due.is_some());
    match due.min_by_key(|timer| timer.due)?.how {
        RingEffect::Signal { number, .. } => Some(number),
        _ => None,
    }
}

/// The first timer that is due, and how often it has rung; its next ring is set.
fn take_due(now: u64) -> Option<(Name, RingEffect, u64)> {
    let mut timers = timers();
    let due = timers
        .iter_mut()
        .filter(|(_, timer)| timer.due.is_some_and(|due| due <= now));
    let timer = due.min_by_key(|(_, timer)| timer.due);
    let found = timer.and_then(|(&name, timer)| {
        let due = timer.due.take()?;
        let mut count = 1;
        if let Some(more) = (now - due).checked_div(timer.interval) {
            count += more;
            timer.due = Some(due.saturating_add(count.saturating_mul(timer.interval)));
        }
        timer.overruns = count - 1;
        Some((name, timer.how, count))
    });
    find_next(&timers);
    found
}

/// Carries out a timer's effect; returns whether a program handler has run.
fn act(name: Name, how: RingEffect, count: u64) -> bool {
    match how {
        RingEffect::Nothing => false,
        RingEffect::Signal {
            number,
            value,
            code,
        } => signals::send(name, number, value, (code, count - 1)),
        RingEffect::Thread { function, value } => {
            // SAFETY: the function of `SIGEV_THREAD`, which the program gave with this value.
            unsafe { super::starts::start_detached(function, value) };
            pending::wait();
            false
        }
        RingEffect::Count(file) => {
            // SAFETY: a descriptor of ours, and the bytes of a number.
            unsafe { libc::syscall(libc::SYS_write, file, &raw const count, size_of::<u64>()) };
            false
        }
    }
}

/// Runs with another signal mask, unless it is null.
///
/// # Safety
/// The mask must be null or a set of signals.
pub unsafe fn masked<R>(mask: *const sigset_t, run: impl FnOnce() -> R) -> R {
    if mask.is_null() {
        return run();
    }
    // SAFETY: zeros are a valid set; the caller's mask, and a place for the old one.
    unsafe {
        let mut before: sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, &raw mut before);
        let result = run();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        result
    }
}

/// Waits until a timer's file can be read, if it is one; returns whether a handler has run first.
pub fn wait_to_read(file: c_int) -> bool {
    if FILES.load(Ordering::Relaxed) == 0 || !is_file(file) {
        return false;
    }
    let Some(session) = super::waiting::sleeper() else {
        return false;
    };
    // SAFETY: it only asks.
    if unsafe { libc::fcntl(file, libc::F_GETFL) } & libc::O_NONBLOCK != 0 {
        ring(session);
        return false;
    }
    while next() != link::NEVER && !is_ready(file) {
        if until_ring(session, link::NEVER) {
            return true;
        }
    }
    false
}

/// Whether a descriptor is still a timer's: the program may have closed it.
fn is_file(file: c_int) -> bool {
    let is_ours = timers().contains_key(&Name::File(file));
    is_ours
        && std::fs::read_link(format!("/proc/self/fd/{file}"))
            .is_ok_and(|target| target.as_os_str() == "anon_inode:[eventfd]")
}

fn is_ready(file: c_int) -> bool {
    let mut asked = libc::pollfd {
        fd: file,
        events: libc::POLLIN,
        revents: 0,
    };
    let none = super::nanoseconds(0);
    // SAFETY: one file, and no time.
    unsafe { system::ppoll(&raw mut asked, 1, &raw const none, std::ptr::null()) > 0 }
}

/// Runs without [`alarm`]'s signal, which would end waits in the kernel.
pub fn undisturbed<R>(run: impl FnOnce() -> R) -> R {
    alarm::hold(run)
}

type Handle = *mut c_void;
