//! The pace of threads: each counts the steps that it has done, and waits for the counts of the
//! others.
//!
//! A step mostly takes microseconds, so that a thread that waits looks again and again for a while.
//! If there are fewer processors than threads, or the program does something else for long, the
//! thread sleeps.

use super::sync::{AtomicU64, Condvar, Mutex, Ordering, spin_loop, yield_now};
use std::sync::PoisonError;

/// Looks at a count before the processor is given to another thread, and before sleep.
const LOOKS: u32 = 2000;
const YIELDS: u32 = 20;

/// A thread's count, alone in its cache line.
#[repr(align(128))]
struct Count(AtomicU64);

/// The step counts for some threads.
pub(super) struct Pace {
    counts: Vec<Count>,
    /// Threads that sleep, or are about to.
    sleepers: AtomicU64,
    lock: Mutex<()>,
    woken: Condvar,
}

impl Pace {
    /// No thread has done a step.
    pub fn new(threads: usize) -> Self {
        Pace {
            counts: (0..threads).map(|_| Count(AtomicU64::new(0))).collect(),
            sleepers: AtomicU64::new(0),
            lock: Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    /// Sets a thread's step count.
    pub fn set(&self, thread: usize, steps: u64) {
        self.counts[thread].0.store(steps, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let lock = self.lock.lock();
            self.woken.notify_all();
            drop(lock);
        }
    }

    fn have_done(&self, steps: u64) -> bool {
        let mut counts = self.counts.iter();
        counts.all(|count| count.0.load(Ordering::SeqCst) >= steps)
    }

    /// Waits until every thread has done this many steps.
    pub fn wait(&self, steps: u64) {
        for _ in 0..LOOKS {
            if self.have_done(steps) {
                return;
            }
            spin_loop();
        }
        for _ in 0..YIELDS {
            if self.have_done(steps) {
                return;
            }
            yield_now();
        }
        self.sleep(steps);
    }

    /// Sleeps until every thread has done this many steps. A thread that sets a count after the
    /// last look here sees the sleeper.
    pub fn sleep(&self, steps: u64) {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while !self.have_done(steps) {
            lock = self
                .woken
                .wait(lock)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}
