//! # Elanlib and Elan3lib for programs in C
//!
//! The functions in `<elan/elan.h>` and `<elan3/elan3.h>`, made of [`native`]'s operations. So a
//! program's put is a put in the simulator's own Elanlib, with the same cost, which the machine
//! file determines.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`base`] | `elan_baseInit` and all else about the beginning, the end, time, and versions |
//! | [`environment`] | users' settings: `LIBELAN_…`, `RMS_…` |
//! | [`layout`] | structures with fields that programs read, as in the headers |
//! | [`heap`], [`memory`] | `elan_alloc…`, `elan_galloc…`, addresses |
//! | [`event`], [`destination`], [`words`] | `elan_poll`, `elan_wait`; events at the destination of puts; words that change |
//! | [`putget`], [`vectors`], [`pending`] | `elan_put`, `elan_get`, and their forms |
//! | [`tport`], [`receive`] | `elan_tport…` |
//! | [`queue`] | `elan_queue…`, `elan_mainQueue…` |
//! | [`lock`] | `elan_lock…` |
//! | [`group`], [`exchange`] | collective calls |
//! | [`places`] | capabilities, and where processes are |
//! | [`elan3`] | Elan3lib |
//!
//! ## The main path
//!
//! A program's message:
//!
//! 1. `tport.rs`: `elan_tportTxStart` makes a [`native`] operation, and an event for its end.
//! 2. `event.rs`: `elan_wait` asks for the end.
//! 3. `lib.rs`: the wait lets simulated time go on.
//!
//! ## Differences from the machine
//!
//! A process's whole mapped memory can be reached, at the same numbers in both views: Elanlib's
//! *Elan address* is a process address. Adapter memory (`elan_allocElan`) is process memory, too,
//! and its bytes take main memory's path in the simulated node: `elanite prun --memory elan` moves
//! all messages to the adapter's memory. All waits poll. A call that cannot do its work prints the
//! reason and ends the process, or returns an error where the original returned one.

#![allow(unsafe_code)]
// C functions, with the program's pointers
// C has signed numbers for processes, nodes and slots, and there are few.
#![allow(clippy::cast_possible_wrap)]

mod base;
mod destination;
mod elan3;
mod environment;
mod event;
mod exchange;
mod group;
mod heap;
mod layout;
mod lock;
mod memory;
mod pending;
mod places;
mod putget;
mod queue;
mod receive;
mod tport;
mod vectors;
mod words;

use native::life;
use std::ffi::c_long;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ends the process: a call cannot do its work.
fn stop(call: &str, why: &str) -> ! {
    life::stop(&format!("rank {}: {call}: {why}", native::rank()))
}

/// Ends the process, because an operation has failed.
fn fail(call: &str, why: native::OperationFailure) -> ! {
    stop(call, &why.to_string())
}

/// Prints why a call fails that returns an error.
fn complain(call: &str, why: &str) {
    eprintln!("elanite: rank {}: {call}: {why}", native::rank());
}

/// Takes a lock, also after a panic in another thread.
fn hold<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The slice at a program's pointer; empty for a count of 0.
///
/// # Safety
/// There must be this many values, as long as the slice is used.
unsafe fn slice<'a, T>(pointer: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's word.
    unsafe { std::slice::from_raw_parts(pointer, count) }
}

/// The most looks in one call: each takes simulated time, and a look by the host.
const MOST_LOOKS: c_long = 64;

/// Waits until a condition holds, which only ended operations, messages and others' writes can
/// change.
fn until(mut there: impl FnMut() -> bool) {
    loop {
        elan3::go_on();
        if there() {
            return;
        }
        if base::call_poll_functions() && there() {
            return;
        }
        native::wait_for_change();
    }
}

/// Whether something is there, after this many looks; a negative number waits for it.
fn within(how: c_long, mut there: impl FnMut() -> bool) -> bool {
    elan3::go_on();
    if there() {
        return true;
    }
    if how < 0 {
        until(there);
        return true;
    }
    for _ in 0..how.clamp(1, MOST_LOOKS) {
        base::call_poll_functions();
        native::look();
        elan3::go_on();
        if there() {
            return true;
        }
    }
    false
}
