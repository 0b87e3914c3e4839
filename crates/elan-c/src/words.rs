//! Waiting for memory words, which adapters write.

use super::layout::{ElanRail, ElanState};
use super::{until, within};
use derive::call;
use std::ffi::{c_int, c_long, c_void};

/// Whether a word is not 0.
///
/// # Safety
/// The word must be valid.
pub unsafe fn is_set(word: *const u32) -> bool {
    // SAFETY: the caller's word; others write it.
    unsafe { word.read_volatile() != 0 }
}

// The callers of the functions below keep to the headers.

#[call]
unsafe extern "C" fn elan_pollWord(
    _state: *mut ElanState,
    _rail: *mut ElanRail,
    word: *const u32,
    how: c_long,
) -> c_int {
    // SAFETY: the word of the program lives as long as it waits for it.
    c_int::from(within(how, || unsafe { is_set(word) }))
}

#[call]
unsafe extern "C" fn elan_waitWord(
    _state: *mut ElanState,
    _rail: *mut ElanRail,
    _event: *mut c_void,
    word: *const u32,
    _how: c_long,
) {
    // SAFETY: the word of the program lives as long as it waits for it.
    until(|| unsafe { is_set(word) });
}
