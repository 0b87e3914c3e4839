//! Interleavings of a hand-over between ranks and the simulator, with the weak memory order that
//! the language allows: no wake is lost (the model reports a deadlock, since no sleep ends by
//! time), and no side touches a slot without its turn (the model reports a data race).

use link::turn::{self, NOBODY, RANK, SIMULATOR, SharedWord};
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use std::time::Duration;

/// A word on which threads sleep as processes do in the kernel: the value is compared and the sleep
/// begins in one step.
struct Modelled {
    value: AtomicU32,
    kernel: Mutex<()>,
    sleepers: Condvar,
}

impl Modelled {
    fn new(value: u32) -> Self {
        Modelled {
            value: AtomicU32::new(value),
            kernel: Mutex::new(()),
            sleepers: Condvar::new(),
        }
    }
}

impl SharedWord for Modelled {
    fn take(&self) -> u32 {
        self.value.load(Acquire)
    }

    fn give(&self, value: u32) {
        self.value.store(value, Release);
    }

    fn fence() {
        loom::sync::atomic::fence(SeqCst);
    }

    fn sleep(&self, value: u32, _: Duration) -> bool {
        let kernel = self.kernel.lock().expect("nobody panics with it");
        if self.value.load(Acquire) == value {
            drop(self.sleepers.wait(kernel).expect("nobody panics with it"));
        }
        true
    }

    fn wake(&self) {
        let _kernel = self.kernel.lock().expect("nobody panics with it");
        self.sleepers.notify_all();
    }
}

/// A slot: its words, and an area that only the turn's owner may touch.
struct Slot {
    turn: Modelled,
    wakes: [Modelled; 2],
    area: UnsafeCell<u32>,
}

struct Shared {
    awaited: Modelled,
    slots: Vec<Slot>,
}

impl Shared {
    fn new(ranks: usize) -> Arc<Self> {
        let slot = || Slot {
            turn: Modelled::new(RANK),
            wakes: [Modelled::new(NOBODY), Modelled::new(NOBODY)],
            area: UnsafeCell::new(0),
        };
        Arc::new(Shared {
            awaited: Modelled::new(NOBODY),
            slots: (0..ranks).map(|_| slot()).collect(),
        })
    }

    fn slot(&self, rank: u32) -> &Slot {
        &self.slots[rank as usize]
    }

    /// Increments an area's count, and returns it; a data race if another thread may do so at the
    /// same time.
    #[allow(unsafe_code)] // the model checks it
    fn count(&self, rank: u32) -> u32 {
        self.slot(rank).area.with_mut(|area| {
            // SAFETY: the cell of the model panics unless this access is alone.
            unsafe {
                *area += 1;
                *area
            }
        })
    }

    /// A rank: this many turns.
    fn rank(&self, rank: u32, turns: u32) {
        let slot = self.slot(rank);
        for turn in 0..turns {
            assert_eq!(self.count(rank), 2 * turn + 1);
            turn::to_simulator(&slot.turn, &self.awaited, rank);
            turn::await_rank(&slot.turn, Duration::MAX, |_| {});
            turn::pass_on(&slot.wakes, |rank| &self.slot(rank).turn);
        }
    }

    /// The simulator: it waits for one rank after the other, and gives all their turns together.
    fn simulator(&self, turns: u32) {
        let ranks: Vec<u32> = (0..self.slots.len() as u32).collect();
        for turn in 0..turns {
            for &rank in &ranks {
                let word = &self.slot(rank).turn;
                let given = turn::await_simulator(word, &self.awaited, rank, || Duration::MAX);
                assert!(given && word.take() == SIMULATOR);
                assert_eq!(self.count(rank), 2 * turn + 2);
            }
            turn::to_ranks(
                &ranks,
                |rank| &self.slot(rank).turn,
                |rank| &self.slot(rank).wakes,
            );
        }
    }
}

/// All interleavings in which at most this many threads are stopped while they could continue.
fn explore(ranks: u32, turns: u32, preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let shared = Shared::new(ranks as usize);
        let threads: Vec<_> = (0..ranks)
            .map(|rank| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.rank(rank, turns))
            })
            .collect();
        shared.simulator(turns);
        for thread in threads {
            thread.join().expect("a rank of the model");
        }
    });
}

#[test]
fn one_rank() {
    explore(1, 2, 3);
}

/// The first rank wakes the second one.
#[test]
fn two_ranks() {
    explore(2, 1, 3);
}

/// The first rank wakes both others.
#[test]
fn three_ranks() {
    explore(3, 1, 2);
}
