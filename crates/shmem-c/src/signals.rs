//! Puts with a signal: a word beside the data that changes when the data are there.
//!
//! Separate puts are not ordered, so the data are put first, and the signal when that is over. Also
//! a call that need not wait does.

use super::atomics;
use super::contexts;
use super::transfer::begin_put;
use super::{check_running, fail, own, symmetric, waits};
use derive::call;
use native::Atomic;
use std::ffi::{c_int, c_void};

/// The changes to a signal's word (`SHMEM_SIGNAL_SET`, `SHMEM_SIGNAL_ADD`).
const OPERATIONS: [Atomic; 2] = [Atomic::Swap, Atomic::Add];

#[call("shmem_put_signal")]
extern "C" fn elanite_shmem_put_signal(
    context: usize,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    word: *mut u64,
    signal: u64,
    operation: c_int,
    pe: c_int,
) {
    let pe = contexts::element(context, pe);
    let what = usize::try_from(operation)
        .ok()
        .and_then(|operation| OPERATIONS.get(operation));
    let what =
        *what.unwrap_or_else(|| fail(format_args!("there is no operation {operation} of signals")));
    symmetric(word.cast(), size_of::<u64>(), pe);
    if let Some(put) = begin_put(to, own(from, size), pe) {
        put.finish();
    }
    contexts::add(
        context,
        atomics::begin(word.cast(), what, 8, (signal, 0), pe),
    );
}

#[call]
extern "C" fn shmem_signal_fetch(word: *const u64) -> u64 {
    check_running();
    atomics::begin(word.cast(), Atomic::Fetch, 8, (0, 0), native::rank())
        .finish()
        .word
}

#[call]
extern "C" fn shmem_signal_wait_until(word: *const u64, comparison: c_int, value: u64) -> u64 {
    check_running();
    let word = waits::AwaitedWord::new(word.cast(), size_of::<u64>());
    let mut found = word.value();
    waits::wait_until(|| {
        found = word.value();
        waits::must_hold(found, comparison, value, size_of::<u64>(), false)
    });
    found
}
