//! The table of threads that may be about to act.
//!
//! It has no locks, since a signal's handler may act at any time. A place belongs to one thread,
//! which alone gives it a stage; others move it between running and waiting, or take it away.

use crate::system;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// How long a thread may take to start, then to act, and to give its order within a call, where it
/// may have to wait for the MPI library's locks; in nanoseconds.
const STARTS: u64 = 5_000_000_000;
const ACTS: u64 = 20_000_000;
const CALLS: u64 = 200_000_000;

/// The longest time between two readings that counts, in nanoseconds: the reader may run late.
const MOST: u64 = 1_000_000;

/// How far a thread has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStage {
    /// The host has not started it yet.
    Starts,
    /// It runs the program.
    Acts,
    /// It is in an MPI call.
    Calls,
    /// It is blocked outside MPI.
    Rests,
    /// It is blocked in an MPI call, where it waits for another thread.
    RestsInCall,
    /// It sleeps in simulated time.
    Sleeps,
}

/// A thread's place.
pub struct ThreadPlace {
    /// 0 if the place is free, [`FILLED`], or a [`word`].
    word: AtomicU64,
    /// The time that is left, real time at the last reading, and the thread's processor time then.
    left: AtomicU64,
    real: AtomicU64,
    processor: AtomicU64,
    look: Look,
}

/// A thread's last look in vain.
struct Look {
    /// How many [events](PROGRESS) there had been, and [steps](STEPS).
    progress: AtomicU64,
    steps: AtomicU64,
    /// How often it has looked since the last event.
    count: AtomicU32,
    /// Whether the thread can only look again.
    blocks: AtomicBool,
}

/// The word of a place that is being filled.
const FILLED: u64 = u64::MAX;
/// A reading that there has not been.
const UNREAD: u64 = u64::MAX;

/// The stage's lowest bit in a word, and the bit of a thread that calls MPI beside others.
const STAGE: u32 = 60;
const CALLER: u64 = 1 << 59;
/// The bits that differ between any two takings of a place.
const IDENTITY: u64 = CALLER - 1;

static PLACES: [ThreadPlace; 64] = [const {
    ThreadPlace {
        word: AtomicU64::new(0),
        left: AtomicU64::new(0),
        real: AtomicU64::new(0),
        processor: AtomicU64::new(0),
        look: Look {
            progress: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            count: AtomicU32::new(0),
            blocks: AtomicBool::new(false),
        },
    }
}; 64];

/// How many places are taken.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Numbers the takings of places.
static LATEST: AtomicU32 = AtomicU32::new(0);

/// How many events there have been that may end threads' calls, from 1 on.
static PROGRESS: AtomicU64 = AtomicU64::new(1);

/// How many steps time has taken.
static STEPS: AtomicU64 = AtomicU64::new(0);

/// Whether the simulator observes the rank's threads.
static OBSERVED: AtomicBool = AtomicBool::new(false);

/// The simulator begins or ends to observe whether the rank's threads run or read files. Meanwhile a
/// thread that rests is only asked for its processor time, which reads no file of the kernel's.
pub fn observed(is_observed: bool) {
    OBSERVED.store(is_observed, Ordering::Relaxed);
}

/// Whether the simulator observes the rank: then it reads no file of the kernel's.
pub fn is_observed() -> bool {
    OBSERVED.load(Ordering::Relaxed)
}

/// An event has come, or the rank has done something, that may end the calls of other threads.
pub fn progressed() {
    PROGRESS.fetch_add(1, Ordering::AcqRel);
}

/// Time has taken a step.
pub fn stepped() {
    STEPS.fetch_add(1, Ordering::AcqRel);
}

/// Whether a place is taken.
pub fn is_taken() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// All places.
pub fn all() -> impl Iterator<Item = &'static ThreadPlace> {
    PLACES.iter()
}

/// A taken place's word: the stage, a number that no place has had for long, and the thread's
/// number in the kernel.
fn word(stage: ThreadStage, number: u32, thread: u32) -> u64 {
    at(
        stage,
        u64::from(number & 0xff_ffff) << 32 | u64::from(thread),
    )
}

/// A place's word in another stage.
fn at(stage: ThreadStage, word: u64) -> u64 {
    (stage as u64 + 1) << STAGE | word & ((1 << STAGE) - 1)
}

fn stage(word: u64) -> ThreadStage {
    match word >> STAGE {
        1 => ThreadStage::Starts,
        2 => ThreadStage::Acts,
        3 => ThreadStage::Calls,
        4 => ThreadStage::Rests,
        5 => ThreadStage::RestsInCall,
        _ => ThreadStage::Sleeps,
    }
}

/// The kernel's thread numbers have 22 bits.
fn thread(word: u64) -> u32 {
    word as u32
}

/// A thread's hold on its place.
#[derive(Clone, Copy)]
pub struct PlaceHold {
    place: &'static ThreadPlace,
    /// The place's word when it was taken.
    word: u64,
}

impl PlaceHold {
    /// Takes a place, if one is free, for a thread that calls MPI beside others or not.
    pub fn take(stage: ThreadStage, thread: u32, caller: bool) -> Option<PlaceHold> {
        let fill = |place: &&ThreadPlace| {
            let (new, old) = (Ordering::AcqRel, Ordering::Relaxed);
            place.word.compare_exchange(0, FILLED, new, old).is_ok()
        };
        let free = || PLACES.iter().find(fill);
        let place = free().or_else(|| {
            PLACES.iter().for_each(ThreadPlace::free_if_over);
            free()
        })?;
        COUNT.fetch_add(1, Ordering::AcqRel);
        let number = LATEST.fetch_add(1, Ordering::Relaxed);
        let word = word(stage, number, thread) | if caller { CALLER } else { 0 };
        place.look.progress.store(0, Ordering::Relaxed);
        place.begin(stage);
        place.word.store(word, Ordering::Release);
        Some(PlaceHold { place, word })
    }

    /// Whether the thread calls MPI beside others.
    pub fn is_caller(self) -> bool {
        self.word & CALLER != 0
    }

    /// Whether the place is this thread's still.
    pub fn lasts(self) -> bool {
        self.now().is_some()
    }

    /// The place's word, if the place is this thread's still.
    fn now(self) -> Option<u64> {
        let now = self.place.word.load(Ordering::Acquire);
        let is_same = now != 0 && now != FILLED && now & IDENTITY == self.word & IDENTITY;
        is_same.then_some(now)
    }

    /// The thread, with this number in the kernel, has come to a stage. Returns its hold, if the
    /// place is its own still.
    pub fn advance(self, to: ThreadStage, thread: u32) -> Option<PlaceHold> {
        loop {
            let old = self.now()?;
            let new = at(to, old) & !u64::from(u32::MAX) | u64::from(thread);
            self.place.begin(to);
            self.place.look.blocks.store(false, Ordering::Relaxed);
            if !matches!(to, ThreadStage::Acts | ThreadStage::Calls) {
                self.place.look.progress.store(0, Ordering::Relaxed);
            }
            if self.place.change(old, new) {
                return Some(PlaceHold { word: new, ..self });
            }
        }
    }

    /// The thread has looked in vain; whether it `blocks`, and can only look again.
    pub fn looks(self, blocks: bool) {
        let (progress, look) = (PROGRESS.load(Ordering::Acquire), &self.place.look);
        if look.progress.swap(progress, Ordering::Relaxed) == progress {
            let count = look.count.load(Ordering::Relaxed).saturating_add(1);
            look.count.store(count, Ordering::Relaxed);
        } else {
            look.count.store(1, Ordering::Relaxed);
            if let Some(word) = self.now() {
                self.place.begin(stage(word));
            }
        }
        let steps = STEPS.load(Ordering::Acquire);
        look.steps.store(steps, Ordering::Relaxed);
        look.blocks.store(blocks, Ordering::Release);
    }

    /// Whether the thread has looked since the last event.
    pub fn has_looked(self) -> bool {
        self.place.look.progress.load(Ordering::Relaxed) == PROGRESS.load(Ordering::Acquire)
    }

    /// Whether the thread is not waited for until the next event, or step.
    pub fn only_looks(self) -> bool {
        self.place.looks()
    }

    /// Gives the place up.
    pub fn free(self) {
        while let Some(word) = self.now() {
            self.place.free(word);
        }
    }

    /// Whether the hold is on this place.
    pub fn is_of(self, place: &ThreadPlace) -> bool {
        std::ptr::eq(self.place, place)
    }

    /// The time of the last reading.
    #[cfg(test)]
    pub fn set_last_reading(self, real: u64) {
        self.place.real.store(real, Ordering::Relaxed);
    }
}

impl ThreadPlace {
    /// The thread comes to a stage: it gets time for it.
    fn begin(&self, stage: ThreadStage) {
        let left = match stage {
            ThreadStage::Starts => STARTS,
            ThreadStage::Acts | ThreadStage::Rests => ACTS,
            ThreadStage::Calls | ThreadStage::RestsInCall | ThreadStage::Sleeps => CALLS,
        };
        self.left.store(left, Ordering::Relaxed);
        self.real.store(UNREAD, Ordering::Relaxed);
        self.processor.store(UNREAD, Ordering::Relaxed);
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

    /// Whether the thread has looked since the last event, and can only look again; or has looked
    /// twice, and since the last step: it does nothing else.
    fn looks(&self) -> bool {
        let look = &self.look;
        let blocks = look.blocks.load(Ordering::Acquire);
        look.progress.load(Ordering::Relaxed) == PROGRESS.load(Ordering::Acquire)
            && (blocks
                || look.count.load(Ordering::Relaxed) > 1
                    && look.steps.load(Ordering::Relaxed) == STEPS.load(Ordering::Acquire))
    }

    /// The stage of the thread in this place, if it is about to act: it still runs, does not rest or
    /// only look, and has time left.
    pub fn waits(&self) -> Option<ThreadStage> {
        let word = self.word.load(Ordering::Acquire);
        if word == 0 || word == FILLED || self.looks() {
            return None;
        }
        let rests = matches!(stage(word), ThreadStage::Rests | ThreadStage::RestsInCall);
        if rests
            && OBSERVED.load(Ordering::Relaxed)
            && system::processor_time_of(thread(word)) == self.processor.load(Ordering::Relaxed)
        {
            return None;
        }
        let is_runnable = match stage(word) {
            ThreadStage::Starts => Some(false),
            ThreadStage::Sleeps => return None,
            _ => system::is_runnable(thread(word)),
        };
        match (stage(word), is_runnable) {
            (ThreadStage::Rests | ThreadStage::RestsInCall, Some(false)) => {
                self.read(word);
                return None;
            }
            (ThreadStage::Acts, Some(false)) if word & CALLER != 0 => {
                self.change(word, at(ThreadStage::Rests, word));
                return None;
            }
            (ThreadStage::Rests, Some(true)) => {
                self.begin(ThreadStage::Acts);
                self.change(word, at(ThreadStage::Acts, word));
                return Some(ThreadStage::Acts);
            }
            _ => {}
        }
        let (real, processor) = self.read(word);
        let spent = is_runnable.map(|runs| if runs { processor } else { real.min(MOST) });
        let left = self.left.load(Ordering::Relaxed);
        let left = spent.map_or(0, |spent| left.saturating_sub(spent));
        self.left.store(left, Ordering::Relaxed);
        if left == 0 {
            self.free(word);
            return None;
        }
        Some(match stage(word) {
            ThreadStage::RestsInCall => ThreadStage::Calls,
            stage => stage,
        })
    }

    /// Gives the place another word, if it still has this one.
    fn change(&self, word: u64, new: u64) -> bool {
        let (set, kept) = (Ordering::AcqRel, Ordering::Relaxed);
        self.word.compare_exchange(word, new, set, kept).is_ok()
    }

    /// Frees the place, if it still has this word.
    fn free(&self, word: u64) {
        if self.change(word, 0) {
            COUNT.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Frees the place of a thread that has ended.
    fn free_if_over(&self) {
        let word = self.word.load(Ordering::Acquire);
        let begun = word != 0 && word != FILLED && stage(word) != ThreadStage::Starts;
        if begun && system::is_runnable(thread(word)).is_none() {
            self.free(word);
        }
    }
}
