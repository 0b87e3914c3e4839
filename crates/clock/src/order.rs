//! The order of a rank's threads in simulated time.
//!
//! Threads wait for each other in real time, and sleep in real time beside the thread that drives
//! the rank's time. A busy host lets them run in another order than the simulated ends of their
//! waits and sleeps have. So each has a place here with its end:
//!
//! - a wait goes on after its real time while another end comes before its own;
//! - a sleep goes on likewise until the rank waits for it, unless the driving thread computes; a
//!   thread that gives way again and again (`sched_yield`) waits, as a thread that is blocked for
//!   some slices perhaps does;
//! - a sleep that drives time stops at the ends of other threads' sleeps, which end there, and a
//!   loop that reads a clock waits there for their threads.
//!
//! All this has a bound in real time, in which the rank's time stands: a place's thread may do
//! something else than it seems.
//!
//! The places need no lock, since a signal's handler may sleep or wait at any time. A thread that
//! finds no free place is not waited for.

use crate::waiting;
use rank::session::Session;
use rank::{pending, sleepers, system, thread};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How long a place's thread waits longer than natively, and how long others wait for it to notice
/// its end; in tenths of slices.
const PATIENCE: u32 = 2000;
/// The cost of a slice, of the same measure.
const SLICE: u32 = 10;
/// The cost of a slice in which the driving thread is blocked.
const BLOCKED: u32 = 400;
/// The cost of a slice in which the rank waits for the simulator. A busy host takes long for that;
/// other ranks may take for ever, if they wait for this thread outside the simulation.
const SIMULATOR: u32 = 1;

/// How long the driving thread computes, in nanoseconds of its processor time while the rank's time
/// stands, before a sleep ends beside it.
const COMPUTES: u64 = 2_000_000;

/// The ends of waits and of sleeps, in local time; 0 if the place is free.
type Ends = [AtomicU64; 64];
static WAITS: Ends = [const { AtomicU64::new(0) }; 64];
static SLEEPS: Ends = [const { AtomicU64::new(0) }; 64];

/// How often threads that drive time have given way.
static YIELDS: AtomicU32 = AtomicU32::new(0);

/// This thread gives way to others.
pub fn gives_way() {
    YIELDS.fetch_add(1, Ordering::Relaxed);
}

/// A thread's wait or sleep, until it is dropped.
pub struct ThreadTurn {
    word: Option<&'static AtomicU64>,
    begun: u64,
    end: u64,
    patience: u32,
    /// [`YIELDS`] at the begin.
    yields: u32,
}

impl ThreadTurn {
    /// A wait begins, which gives up at a moment in local time.
    pub fn waits(session: &Session, end: u64) -> ThreadTurn {
        ThreadTurn::take(&WAITS, session, end)
    }

    /// A sleep begins, until a moment in local time.
    pub fn sleeps(session: &Session, end: u64) -> ThreadTurn {
        ThreadTurn::take(&SLEEPS, session, end)
    }

    fn take(places: &'static Ends, session: &Session, end: u64) -> ThreadTurn {
        let free = |place: &&AtomicU64| {
            let (new, old) = (Ordering::AcqRel, Ordering::Relaxed);
            place.compare_exchange(0, end.max(1), new, old).is_ok()
        };
        ThreadTurn {
            word: places.iter().find(free),
            begun: session.now(),
            end,
            patience: PATIENCE,
            yields: YIELDS.load(Ordering::Relaxed),
        }
    }

    /// Whether this wait, after its real time, goes on for a slice: it is another thread's turn.
    pub fn goes_on(&mut self) -> bool {
        waiting::awaited().is_some() && self.is_early() && self.spend(SLICE)
    }

    /// Whether another wait or sleep ends before this one, or has just ended.
    fn is_early(&self) -> bool {
        let before = |end: u64| self.begun < end && end < self.end;
        ends(&WAITS).chain(ends(&SLEEPS)).any(before) || pending::is_any()
    }

    fn spend(&mut self, cost: u32) -> bool {
        let is_left = self.patience >= cost;
        self.patience = self.patience.saturating_sub(cost);
        is_left
    }

    /// This sleep's real time is over: waits for its turn. Returns how the rank waits for it. The
    /// driving thread may have computed before, as OpenMP's threads do before they wait for others.
    pub fn reliance(&mut self, session: &Session) -> Reliance {
        let driver = thread::driver();
        let mut computed = system::processor_time_of(driver);
        let state = || (session.now(), YIELDS.load(Ordering::Relaxed));
        let (mut now, mut yields) = state();
        let (mut gives_way, mut advances) = (yields != self.yields, now != self.begun);
        while now < self.end && thread::in_calls() == 0 {
            let cost = if gives_way || waiting::awaited().is_some() {
                if !self.is_early() {
                    return Reliance::Yes;
                }
                SLICE
            } else if advances {
                self.patience = PATIENCE;
                computed = system::processor_time_of(driver);
                0
            } else if session.waits() {
                computed = system::processor_time_of(driver);
                SIMULATOR
            } else if system::processor_time_of(driver) > computed + COMPUTES {
                return Reliance::No;
            } else if system::is_runnable(driver) == Some(true) {
                SLICE
            } else if self.patience < BLOCKED {
                return Reliance::Perhaps;
            } else {
                BLOCKED
            };
            if !self.spend(cost) {
                return Reliance::No;
            }
            system::nap(sleepers::SLICE);
            let before = (now, yields);
            (now, yields) = state();
            (advances, gives_way) = (before.0 != now, before.1 != yields);
        }
        if waiting::awaited().is_some() {
            Reliance::Yes
        } else {
            Reliance::No
        }
    }
}

/// Whether a rank waits for the sleep of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliance {
    No,
    Yes,
    /// The driving thread is blocked outside MPI, by another thread's lock or file, or from outside
    /// the simulation.
    Perhaps,
}

impl Drop for ThreadTurn {
    fn drop(&mut self) {
        if let Some(word) = self.word {
            word.store(0, Ordering::Release);
        }
    }
}

fn ends(places: &'static Ends) -> impl Iterator<Item = u64> {
    let all = places.iter().map(|place| place.load(Ordering::Acquire));
    all.filter(|&end| end != 0)
}

/// The first end of another thread's sleep after a moment.
pub fn next_sleep(now: u64) -> Option<u64> {
    ends(&SLEEPS).filter(|&end| end > now).min()
}

/// Time has come from one moment to another. Gives sleeps that end there the time to notice, and
/// their threads the time to act.
pub fn notice(before: u64, now: u64) {
    let asleep = || ends(&SLEEPS).any(|end| before < end && end <= now);
    let mut left = PATIENCE;
    let mut any = false;
    while asleep() && left > 0 {
        any = true;
        system::nap(sleepers::SLICE / 10);
        left -= 1;
    }
    if any {
        pending::wait_for_all();
    }
}
