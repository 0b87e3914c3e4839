//! # Elanlib and Elan3lib for programs in C
//!
//! The functions of `<elan/elan.h>` and `<elan3/elan3.h>`, made of the operations of [`native`]. So a put of a program
//! is a put of the simulator's own Elanlib, and costs the same: the machine file says what.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`base`] | `elan_baseInit` and all else about the beginning, the end, time, and versions |
//! | [`environment`] | what users set: `LIBELAN_…`, `RMS_…` |
//! | [`layout`] | structures whose fields programs read, as the headers have them |
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
//! A message of a program:
//!
//! 1. `tport.rs`: `elan_tportTxStart` makes an operation of [`native`], and an event for its end.
//! 2. `event.rs`: `elan_wait` asks for the end.
//! 3. `lib.rs`: the wait lets simulated time go on.
//!
//! ## What is different from the machine
//!
//! All mapped memory of a process can be reached, at the same numbers in both views: an
//! *Elan address* of Elanlib is an address of the process. Memory of the adapter (`elan_allocElan`) is memory of the process,
//! too, and its bytes take the way of main memory in the simulated node: `elanite prun --memory elan` moves all messages to the
//! adapter's memory. All waits poll. A call that cannot do what it is asked for says so and ends the process, or returns an
//! error where the original returned one.

#![allow(unsafe_code)] // functions of C, with pointers of the program
#![allow(clippy::cast_possible_wrap)] // C has signed numbers for processes, nodes and slots, of which there are few

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

/// Ends the process: a call cannot do what it is asked for.
fn stop(call: &str, why: &str) -> ! {
    life::stop(&format!("rank {}: {call}: {why}", native::rank()))
}

/// Ends the process, because an operation has failed.
fn fail(call: &str, why: native::Failure) -> ! {
    stop(call, &why.to_string())
}

/// Says why a call fails that returns an error.
fn complain(call: &str, why: &str) {
    eprintln!("elanite: rank {}: {call}: {why}", native::rank());
}

/// Takes a lock, whatever other threads have done.
fn hold<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a pointer of the program names; nothing for a count of 0.
///
/// # Safety
/// There must be so many values, as long as the slice is used.
unsafe fn slice<'a, T>(pointer: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's word.
    unsafe { std::slice::from_raw_parts(pointer, count) }
}

/// The most looks of one call: each takes simulated time, and a look of the host's.
const MOST_LOOKS: c_long = 64;

/// Waits until something is there, which only the ends of operations, messages and writes of others bring.
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

/// Whether something is there, after so many looks; a negative number waits for it.
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
