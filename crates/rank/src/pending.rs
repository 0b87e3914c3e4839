//! Threads that are about to act: they have just been started, or their sleep has ended.
//!
//! The host decides when such a thread runs. So simulated time stands still for it until it has
//! given MPI an order, has looked for a message, sleeps, waits for another thread, or has ended.
//! A thread that does none of that gets some time for it: its own processor time while the host
//! can run it, real time while it waits for something outside the simulation. A busy host only
//! delays the run.
//!
//! The threads have places in a table without locks, since a signal's handler may act at any time.
//! A thread that finds no free place is not waited for.

use crate::system;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How long a thread may take to start, then to act, and to give its order within a call, where it
/// may have to wait for the MPI library's locks; in nanoseconds.
const STARTS: u64 = 5_000_000_000;
const ACTS: u64 = 20_000_000;
const CALLS: u64 = 200_000_000;

/// How often the state of these threads is read, in real time.
const SLICE: std::time::Duration = std::time::Duration::from_micros(100);
/// The longest time between two readings that counts, in nanoseconds: the reader may run late.
const MOST: u64 = 1_000_000;

/// How far a thread has come: the host has not started it yet; it runs the program; it has entered
/// an MPI call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Starts,
    Acts,
    Calls,
}

/// A thread's place.
struct Place {
    /// 0 if the place is free, [`FILLED`], or a [`word`].
    word: AtomicU64,
    /// The time that is left, real time at the last reading, and the thread's processor time then.
    left: AtomicU64,
    real: AtomicU64,
    processor: AtomicU64,
}

/// The word of a place that is being filled.
const FILLED: u64 = u64::MAX;

static PLACES: [Place; 64] = [const {
    Place {
        word: AtomicU64::new(0),
        left: AtomicU64::new(0),
        real: AtomicU64::new(0),
        processor: AtomicU64::new(0),
    }
}; 64];

/// How many places are taken.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Numbers the takings of places.
static LATEST: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// This thread's place and word, if it is about to act.
    static OWN: Cell<Option<(&'static Place, u64)>> = const { Cell::new(None) };
}

/// A taken place's word: the stage, a number that no place has had for long, and the thread's
/// number in the kernel.
fn word(stage: Stage, number: u32, thread: u32) -> u64 {
    (stage as u64 + 1) << 60 | u64::from(number & 0xff_ffff) << 32 | u64::from(thread)
}

fn stage(word: u64) -> Stage {
    match word >> 60 {
        1 => Stage::Starts,
        2 => Stage::Acts,
        _ => Stage::Calls,
    }
}

/// The kernel's thread numbers have 22 bits.
fn thread(word: u64) -> u32 {
    word as u32
}

/// Takes a place, if one is free.
fn take(stage: Stage, thread: u32) -> Option<(&'static Place, u64)> {
    let fill = |place: &&Place| {
        let (new, old) = (Ordering::AcqRel, Ordering::Relaxed);
        place.word.compare_exchange(0, FILLED, new, old).is_ok()
    };
    let place = PLACES.iter().find(fill)?;
    COUNT.fetch_add(1, Ordering::AcqRel);
    let word = word(stage, LATEST.fetch_add(1, Ordering::Relaxed), thread);
    place.begin(word);
    place.word.store(word, Ordering::Release);
    Some((place, word))
}

/// A thread that this one starts.
pub struct ThreadStart(Option<(&'static Place, u64)>);

impl ThreadStart {
    /// Before the thread is started.
    pub fn announced() -> ThreadStart {
        ThreadStart(take(Stage::Starts, 0))
    }

    /// The started thread runs.
    pub fn begins(self) {
        OWN.set(self.0);
        advance(Stage::Acts);
    }

    /// The thread could not be started.
    pub fn fails(self) {
        if let Some((place, word)) = self.0 {
            place.free(word);
        }
    }
}

/// This thread's sleep has ended.
pub fn wakes() {
    acted();
    OWN.set(take(Stage::Acts, system::thread()));
}

/// This thread enters an MPI call.
pub fn calls() {
    if COUNT.load(Ordering::Relaxed) > 0 {
        advance(Stage::Calls);
    }
}

/// This thread has acted.
pub fn acted() {
    if COUNT.load(Ordering::Relaxed) > 0
        && let Some((place, word)) = OWN.take()
    {
        place.free(word);
    }
}

/// Whether a thread is about to act.
pub fn is_any() -> bool {
    COUNT.load(Ordering::Acquire) > 0 && PLACES.iter().any(|place| place.waits().is_some())
}

/// This thread has come to another stage.
fn advance(stage: Stage) {
    if let Some((place, old)) = OWN.get() {
        let new = word(stage, (old >> 32) as u32, system::thread());
        place.begin(new);
        let (set, kept) = (Ordering::AcqRel, Ordering::Relaxed);
        let kept = place.word.compare_exchange(old, new, set, kept).is_ok();
        OWN.set(kept.then_some((place, new)));
    }
}

/// Waits in real time until no thread is about to act but in MPI calls. Returns whether there are
/// such: they need the locks that the caller may have.
pub fn wait() -> bool {
    while COUNT.load(Ordering::Acquire) > 0 {
        let mut call = false;
        let waits = PLACES.iter().filter_map(Place::waits);
        if waits.fold(false, |others, stage| {
            call |= stage == Stage::Calls;
            others || stage != Stage::Calls
        }) {
            system::nap(SLICE);
        } else {
            return call;
        }
    }
    false
}

/// The same, and for threads in MPI calls, too; for callers without locks.
pub fn wait_for_all() {
    acted();
    while wait() {
        system::nap(SLICE);
    }
}

impl Place {
    /// The thread comes to the stage in a word: it gets time for it.
    fn begin(&self, word: u64) {
        let left = match stage(word) {
            Stage::Starts => STARTS,
            Stage::Acts => ACTS,
            Stage::Calls => CALLS,
        };
        self.left.store(left, Ordering::Relaxed);
        self.read(word);
    }

    /// Reads both clocks; returns the times since the last reading.
    fn read(&self, word: u64) -> (u64, u64) {
        let clocks = [system::real_time(), system::processor_time_of(thread(word))];
        let seen = [&self.real, &self.processor];
        let [real, processor] = [0, 1].map(|clock| {
            let before = seen[clock].swap(clocks[clock], Ordering::Relaxed);
            clocks[clock].saturating_sub(before)
        });
        (real, processor)
    }

    /// The stage of the thread in this place, if it still runs and has time left.
    fn waits(&self) -> Option<Stage> {
        let word = self.word.load(Ordering::Acquire);
        if word == 0 || word == FILLED {
            return None;
        }
        let (real, processor) = self.read(word);
        let spent = match (stage(word), system::is_runnable(thread(word))) {
            (Stage::Starts, _) | (_, Some(false)) => Some(real.min(MOST)),
            (_, Some(true)) => Some(processor),
            (_, None) => None,
        };
        let left = self.left.load(Ordering::Relaxed);
        let left = spent.map_or(0, |spent| left.saturating_sub(spent));
        self.left.store(left, Ordering::Relaxed);
        if left == 0 {
            self.free(word);
            return None;
        }
        Some(stage(word))
    }

    /// Frees the place, if it still has this word.
    fn free(&self, word: u64) {
        let (new, old) = (Ordering::AcqRel, Ordering::Relaxed);
        if self.word.compare_exchange(word, 0, new, old).is_ok() {
            COUNT.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
