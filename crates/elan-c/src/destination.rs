//! Events at the destination of puts: a put of `elan_doput` can set an event in the process that it
//! reaches.
//!
//! Such an event lies in memory with the same address everywhere (`elan_gallocElan`), and each
//! process makes its own there (`elan_initEvent`). It occurs when it has been set as often as
//! `elan_setWaitCount` demands. Earlier sets count.

use super::event::{ElanEvent, EventSubject};
use super::layout::{ElanRail, ElanState};
use super::{hold, stop};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::Mutex;

/// How often this process's events must still be set, by their addresses; 0 or less: they have
/// occurred.
static COUNTS: Mutex<BTreeMap<usize, i64>> = Mutex::new(BTreeMap::new());

/// A put has set the event at an address.
pub fn set(at: usize) {
    *hold(&COUNTS).entry(at).or_insert(0) -= 1;
}

fn has_occurred(at: usize) -> bool {
    hold(&COUNTS).get(&at).is_none_or(|&count| count <= 0)
}

/// The address for an event that [`elan_initEvent`] has made.
///
/// # Safety
/// It must be an event.
unsafe fn address(call: &str, event: *mut ElanEvent) -> usize {
    // SAFETY: the caller's word.
    let at = unsafe { event.as_ref() }.and_then(ElanEvent::stays_at);
    at.unwrap_or_else(|| stop(call, "elan_initEvent did not make this event"))
}

// The callers of the functions below keep to the headers.

#[unsafe(no_mangle)]
extern "C" fn elan_initEvent(
    _state: *mut ElanState,
    _rail: *mut ElanRail,
    memory: *mut c_void,
    _set: c_int,
) -> *mut ElanEvent {
    let at = memory.expose_provenance();
    // One put, until a count is set.
    hold(&COUNTS).insert(at, 1);
    ElanEvent::make(EventSubject::Stays(has_occurred, at))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_setWaitCount(event: *mut ElanEvent, count: c_int) {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    let at = unsafe { address("elan_setWaitCount", event) };
    let mut counts = hold(&COUNTS);
    let left = counts.entry(at).or_insert(0);
    // A count that has not been reached is replaced; sets beyond the last one count.
    *left = i64::from(count) + (*left).min(0);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_destEvent(event: *mut ElanEvent) -> u64 {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    unsafe { address("elan_destEvent", event) as u64 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_devent_completed(_set: c_int, event: *mut ElanEvent) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    c_int::from(has_occurred(unsafe {
        address("elan_devent_completed", event)
    }))
}
