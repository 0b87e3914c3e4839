//! Locks: two words in one process's memory, at which all others take numbers.
//!
//! A process that wants the lock takes the next number by an atomic addition, and looks at the
//! other word until it shows this number. Releasing the lock adds one to it. So processes get the
//! lock in their order of arrival, and the host that has the words does no work.

use super::layout::ElanState;
use super::{event, putget};
use derive::call;
use native::{Atomic, Width};
use std::ffi::{c_int, c_uint};

/// `ELAN_LOCK`.
#[repr(C)]
pub struct Lock {
    kind: c_int,
    master: c_uint,
    words: u64,
    reserved: [u64; 2],
}

/// Looks as often as it can: `ELAN_LOCK_BUSY`.
const BUSY: c_int = 1;

/// The pause between two looks for a process that does not look all the time, in picoseconds: at
/// first, and at most. Assumed.
const FIRST_PAUSE: u64 = 1_000_000;
const LONGEST_PAUSE: u64 = 16_000_000;

const WORD: usize = 8;

fn atomic(call: &str, lock: &Lock, word: usize, what: Atomic, operand: u64) -> u64 {
    let vp = putget::process(call, lock.master);
    let at = lock.words as usize + WORD * word;
    let ticket = native::atomic(vp, at, what, Width::Eight, operand, 0);
    event::wait_for(call, ticket).word
}

// The callers of the functions below keep to the headers.

#[call]
unsafe extern "C" fn elan_lockInit(_state: *mut ElanState, lock: *mut Lock, kind: c_int) -> c_int {
    let words: &mut [u64; 2] = Box::leak(Box::new([0; 2]));
    let made = Lock {
        kind,
        master: native::rank(),
        words: words.as_mut_ptr().expose_provenance() as u64,
        reserved: [0; 2],
    };
    // SAFETY: the program has a place for a lock.
    unsafe { lock.write(made) };
    0
}

#[call]
unsafe extern "C" fn elan_lockLock(_state: *mut ElanState, lock: *mut Lock, how: c_int) {
    // SAFETY: a lock that `elan_lockInit` has made; it does not change.
    let lock = unsafe { &*lock };
    let number = atomic("elan_lockLock", lock, 0, Atomic::Add, 1);
    let mut pause = FIRST_PAUSE;
    while atomic("elan_lockLock", lock, 1, Atomic::Fetch, 0) != number {
        if how != BUSY {
            native::work(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }
}

#[call]
unsafe extern "C" fn elan_lockUnLock(_state: *mut ElanState, lock: *mut Lock) {
    // SAFETY: a lock that `elan_lockInit` has made; it does not change.
    atomic("elan_lockUnLock", unsafe { &*lock }, 1, Atomic::Add, 1);
}
