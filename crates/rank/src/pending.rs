//! Threads that are about to act: they have just been started, or their sleep has ended; and, where
//! MPI lets several threads call it, all threads that do.
//!
//! The host decides when such a thread runs. So simulated time stands still for it until it has
//! given MPI an order, has looked for a message, sleeps, waits for another thread, or has ended.
//! A thread that does none of that gets some time for it: its own processor time while the host
//! can run it, real time while it waits for something outside the simulation. A busy host only
//! delays the run.
//!
//! Threads that call MPI beside others keep their places. Time takes a step for one of them when
//! each of the others
//!
//! - has looked in vain, in a call that blocks, since the last event: a report, an order, or a call
//!   that may have sent the rank a message itself. One thread's look takes in the reports for all;
//! - or has looked in vain again and again, in calls or at a clock, since the last event and since
//!   the last step;
//! - or sleeps in simulated time;
//! - or is blocked. The kernel knows at once when another thread wakes it, long before it runs.
//!
//! A thread that finds no free place in the [table](place) is not waited for.

mod place;
mod turns;

pub use place::{is_observed, observed};

use crate::system;
use place::{PlaceHold, ThreadPlace, ThreadStage};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often the state of these threads is read, in real time.
const SLICE: std::time::Duration = std::time::Duration::from_micros(100);

/// How often a thread that waits for these gives way to them before it sleeps for slices.
const YIELDS: u32 = 20;

/// How long threads may keep time from a step in all, in nanoseconds of real time.
const HELD: u64 = 2_000_000_000;

thread_local! {
    /// This thread's place, if it has one.
    static OWN: Cell<Option<PlaceHold>> = const { Cell::new(None) };
}

/// A thread that this one starts.
pub struct ThreadStart(Option<PlaceHold>);

impl ThreadStart {
    /// Before the thread is started.
    pub fn announced() -> ThreadStart {
        ThreadStart(PlaceHold::take(ThreadStage::Starts, 0, false))
    }

    /// The started thread runs.
    pub fn begins(self) {
        OWN.set(self.0);
        advance(ThreadStage::Acts);
    }

    /// The thread could not be started.
    pub fn fails(self) {
        if let Some(hold) = self.0 {
            hold.free();
        }
    }
}

/// This thread's sleep has ended.
pub fn wakes() {
    if is_caller() {
        advance(ThreadStage::Acts);
    } else {
        takes(ThreadStage::Acts, false);
    }
}

/// This thread begins to sleep in simulated time, up to a moment over which no step goes.
pub fn sleeps() {
    if is_caller() {
        advance(ThreadStage::Sleeps);
    } else {
        acted();
    }
}

/// This thread enters an MPI call, beside others that may do so, too, or not.
pub fn calls(beside_others: bool) {
    if beside_others {
        comes_to(ThreadStage::Calls);
    } else if place::is_taken() {
        advance(ThreadStage::Calls);
    }
}

/// This thread runs the program, and calls MPI beside others.
pub fn goes_on() {
    comes_to(ThreadStage::Acts);
}

/// This thread waits for others, in an MPI call or outside, until the returned value ends.
pub fn rests(in_call: bool) -> Rest {
    let (rests, goes_on) = if in_call {
        (ThreadStage::RestsInCall, ThreadStage::Calls)
    } else {
        (ThreadStage::Rests, ThreadStage::Acts)
    };
    let caller = is_caller();
    if caller {
        advance(rests);
    } else {
        acted();
    }
    Rest(caller.then_some(goes_on))
}

/// A thread's wait for others, and its stage afterwards.
pub struct Rest(Option<ThreadStage>);

impl Rest {
    /// The wait has ended.
    pub fn ends(self) {
        if let Some(stage) = self.0 {
            advance(stage);
        }
    }
}

/// This thread has looked in vain; whether it `blocks`, and can only look again.
pub fn looks(blocks: bool) {
    if let Some(hold) = OWN.get() {
        hold.looks(blocks);
        turns::changes();
    }
}

/// Whether another thread keeps time from a step for this one, which has the session's lock and
/// perhaps MPI's; or one wants the session's lock. Then it gives way as soon as it can.
pub fn holds_up(is_wanted: impl FnOnce() -> bool) -> bool {
    let held_up = wait() || is_wanted();
    if held_up {
        turns::note();
    }
    held_up
}

/// This thread gives way to others, and has no locks: it waits a little for the others, if its step
/// was held up. MPI or the program may wait like this for another thread, without looking; whether
/// the thread `blocks`.
pub fn gives_way(blocks: bool) {
    let caller = OWN.get().filter(|hold| hold.is_caller());
    if let Some(hold) = caller.filter(|hold| !hold.only_looks()) {
        // At the second time it has seen the last event.
        looks(blocks && hold.has_looked());
    }
    turns::release(is_any);
}

/// This thread looks again, and has no locks: lets others act before. A look may take simulated
/// time, and there may be any number of looks while the host lets another thread run.
pub fn lets_act() {
    while is_any() && !is_over() {
        turns::wait();
    }
}

/// An event has come, or the rank has done something, that may end the calls of other threads.
pub fn progressed() {
    SINCE.store(0, Ordering::Relaxed);
    place::progressed();
}

/// Time has taken a step.
pub fn stepped() {
    SINCE.store(0, Ordering::Relaxed);
    place::stepped();
}

/// This thread has acted.
pub fn acted() {
    if place::is_taken()
        && !is_caller()
        && let Some(hold) = OWN.take()
    {
        hold.free();
    }
}

/// Whether another thread is about to act.
pub fn is_any() -> bool {
    place::is_taken() && others().any(|place| place.waits().is_some())
}

/// Whether this thread has a place as one that calls MPI beside others.
pub fn is_caller() -> bool {
    OWN.get()
        .is_some_and(|hold| hold.is_caller() && hold.lasts())
}

/// This thread, which calls MPI beside others, has come to a stage.
fn comes_to(stage: ThreadStage) {
    if is_caller() {
        advance(stage);
    } else {
        takes(stage, true);
    }
}

/// This thread takes a place, and then gives up another one that it may have.
fn takes(stage: ThreadStage, caller: bool) {
    let old = OWN.replace(PlaceHold::take(stage, system::thread(), caller));
    if let Some(old) = old {
        old.free();
    }
}

/// This thread has come to another stage.
fn advance(stage: ThreadStage) {
    if let Some(hold) = OWN.get() {
        OWN.set(hold.advance(stage, system::thread()));
        turns::changes();
    }
}

/// The places but this thread's.
fn others() -> impl Iterator<Item = &'static ThreadPlace> {
    let own = OWN.get();
    place::all().filter(move |&place| own.is_none_or(|own| !own.is_of(place)))
}

/// Waits in real time until no other thread is about to act but in MPI calls. Returns whether there
/// are such: they need the locks that the caller may have.
pub fn wait() -> bool {
    let mut yields = YIELDS;
    while place::is_taken() {
        let (mut call, mut acts) = (false, false);
        for stage in others().filter_map(ThreadPlace::waits) {
            call |= stage == ThreadStage::Calls;
            acts |= stage != ThreadStage::Calls;
        }
        if !acts {
            return call && !is_over();
        }
        if yields > 0 {
            yields -= 1;
            system::give_way();
        } else {
            system::nap(SLICE);
        }
    }
    false
}

/// Since when threads in calls keep time from a step, in real time; 0 if they do not.
static SINCE: AtomicU64 = AtomicU64::new(0);

/// Whether they have kept it for too long: two that look in turns, and do other things between,
/// might do so for ever.
fn is_over() -> bool {
    let now = system::real_time();
    let (set, kept) = (Ordering::Relaxed, Ordering::Relaxed);
    match SINCE.compare_exchange(0, now, set, kept) {
        Ok(_) => false,
        Err(since) => now.saturating_sub(since) > HELD,
    }
}

/// The same, and for threads in MPI calls, too; for callers without locks.
pub fn wait_for_all() {
    acted();
    while wait() {
        system::nap(SLICE);
    }
}

#[cfg(test)]
pub(crate) mod tests;
