//! Locks, which processing elements get in the order in which they ask.
//!
//! A lock is a symmetric `long`, zero while it is free. Its two halves are words for atomic
//! operations. The lower half at processing element 0, the lock's *home*, names the last one in the
//! queue of elements that have the lock or wait for it. The upper half at each element is its own:
//! whether it must still wait, and its successor.
//!
//! | call | does |
//! |---|---|
//! | `shmem_set_lock` | sets its own "wait" bit, swaps its name for the last one's, gives that one its name, waits until the bit is cleared |
//! | `shmem_clear_lock` | makes the queue empty if it is still the last one; else clears the next one's "wait" bit |
//! | `shmem_test_lock` | puts its name into an empty queue |
//!
//! So no element polls others' memory, and an uncontended lock costs one atomic operation to take
//! and one to give back.

use super::atomics::change;
use super::contexts::{self, DEFAULT};
use super::{check_running, fail, symmetric, waits};
use derive::call;
use native::Atomic;
use std::ffi::{c_int, c_long, c_void};

/// The "wait" bit in the own half; the other bits name the successor.
const WAIT: u32 = 1 << 31;

/// Where a lock's queue is.
const HOME: u32 = 0;

/// A lock, as one processing element sees it. Names are element numbers plus 1, so that 0 is no
/// name.
struct Lock {
    last: *const c_void,
    own: *const c_void,
    name: u32,
}

impl Lock {
    fn new(at: *mut c_long) -> Lock {
        check_running();
        let me = native::rank();
        symmetric(at.cast(), size_of::<c_long>(), me);
        Lock {
            last: at.cast(),
            own: at.wrapping_byte_add(4).cast(),
            name: me + 1,
        }
    }

    fn state(&self) -> u32 {
        // SAFETY: the upper half of the program's lock, which other ranks may write at any time.
        unsafe { self.own.cast::<u32>().read_volatile() }
    }

    fn set_state(&self, state: u32) {
        // SAFETY: as above; others change it only while this processing element is in the queue,
        // from its swap on.
        unsafe { self.own.cast_mut().cast::<u32>().write_volatile(state) };
    }

    fn set(&self) {
        self.set_state(WAIT);
        let before = change(self.last, Atomic::Swap, (self.name, 0), HOME);
        // The first element leaves the bit: another one may write its name beside it at any moment.
        if before != 0 {
            change(self.own, Atomic::Or, (self.name, 0), before - 1);
            waits::wait_until(|| self.state() & WAIT == 0);
        }
    }

    fn clear(&self) {
        contexts::quiet(DEFAULT);
        if self.state() & !WAIT == 0 {
            let last = change(self.last, Atomic::CompareSwap, (0, self.name), HOME);
            if last == self.name {
                return self.set_state(0);
            }
            if last == 0 {
                fail(format_args!("nobody has this lock"));
            }
        }
        waits::wait_until(|| self.state() & !WAIT != 0);
        let next = (self.state() & !WAIT) - 1;
        self.set_state(0);
        change(self.own, Atomic::And, (!WAIT, 0), next);
    }

    /// Whether the lock was free, and is now this one's.
    fn test(&self) -> bool {
        change(self.last, Atomic::CompareSwap, (self.name, 0), HOME) == 0
    }
}

#[call]
extern "C" fn shmem_set_lock(lock: *mut c_long) {
    Lock::new(lock).set();
}

#[call]
extern "C" fn shmem_clear_lock(lock: *mut c_long) {
    Lock::new(lock).clear();
}

#[call]
extern "C" fn shmem_test_lock(lock: *mut c_long) -> c_int {
    (!Lock::new(lock).test()).into()
}
