//! Atomic operations on 4-byte and 8-byte words: the target's adapter executes them, without its
//! host.

use super::contexts::{self, PendingOperation};
use super::{fail, symmetric};
use link::calls::number;
use native::{Atomic, Width};
use std::ffi::{c_int, c_void};

/// The atomics by their numbers in the header.
const OPERATIONS: [Atomic; 8] = [
    Atomic::Fetch,
    Atomic::Swap,
    Atomic::Swap,
    Atomic::CompareSwap,
    Atomic::Add,
    Atomic::And,
    Atomic::Or,
    Atomic::Xor,
];

/// Begins an operation.
pub fn begin(
    at: *const c_void,
    what: Atomic,
    size: usize,
    operands: (u64, u64),
    pe: u32,
) -> PendingOperation {
    let width = if size == 4 { Width::Four } else { Width::Eight };
    let at = symmetric(at, size, pe);
    if !at.is_multiple_of(size) {
        fail(format_args!(
            "the word of {size} bytes at address {at:#x} does not begin at a multiple of its size"
        ));
    }
    let ticket = native::atomic(pe, at, what, width, operands.0, operands.1);
    PendingOperation::new(ticket, pe, at)
}

/// Changes a 4-byte word by an operand, with one to compare with; returns the old word.
pub fn change(at: *const c_void, what: Atomic, operands: (u32, u32), pe: u32) -> u32 {
    let operands = (operands.0.into(), operands.1.into());
    begin(at, what, 4, operands, pe).finish().word as u32
}

/// The numbers of calls by operation, in [`OPERATIONS`] order.
const FETCHING: [u32; 8] = [
    number("shmem_atomic_fetch"),
    number("shmem_atomic_swap"),
    number("shmem_atomic_swap"),
    number("shmem_atomic_compare_swap"),
    number("shmem_atomic_fetch_add"),
    number("shmem_atomic_fetch_and"),
    number("shmem_atomic_fetch_or"),
    number("shmem_atomic_fetch_xor"),
];

/// The numbers for calls that store the old word later.
const NONBLOCKING: [u32; 8] = [
    number("shmem_atomic_fetch_nbi"),
    number("shmem_atomic_swap_nbi"),
    number("shmem_atomic_swap_nbi"),
    number("shmem_atomic_compare_swap_nbi"),
    number("shmem_atomic_fetch_add_nbi"),
    number("shmem_atomic_fetch_and_nbi"),
    number("shmem_atomic_fetch_or_nbi"),
    number("shmem_atomic_fetch_xor_nbi"),
];

/// The numbers for calls without a result.
const CHANGING: [u32; 8] = [
    number("shmem_atomic_fetch"),
    number("shmem_atomic_set"),
    number("shmem_atomic_swap"),
    number("shmem_atomic_compare_swap"),
    number("shmem_atomic_add"),
    number("shmem_atomic_and"),
    number("shmem_atomic_or"),
    number("shmem_atomic_xor"),
];

/// Changes a word and returns the old one, by the operation's number in the header.
#[unsafe(no_mangle)]
extern "C" fn elanite_shmem_fetching(
    context: usize,
    at: *const c_void,
    what: c_int,
    size: usize,
    operand: u64,
    compare: u64,
    pe: c_int,
) -> u64 {
    let what = what as usize;
    let _call = native::call(FETCHING[what]);
    let pe = contexts::element(context, pe);
    begin(at, OPERATIONS[what], size, (operand, compare), pe)
        .finish()
        .word
}

/// Changes a word.
#[unsafe(no_mangle)]
extern "C" fn elanite_shmem_changing(
    context: usize,
    at: *mut c_void,
    what: c_int,
    size: usize,
    operand: u64,
    pe: c_int,
) {
    let what = what as usize;
    let _call = native::call(CHANGING[what]);
    let pe = contexts::element(context, pe);
    contexts::add(context, begin(at, OPERATIONS[what], size, (operand, 0), pe));
}

/// Changes a word; the old one will be in the program's memory when the context is quiet.
#[unsafe(no_mangle)]
extern "C" fn elanite_shmem_fetching_nbi(
    context: usize,
    old: *mut c_void,
    at: *const c_void,
    what: c_int,
    size: usize,
    operand: u64,
    compare: u64,
    pe: c_int,
) {
    let what = what as usize;
    let _call = native::call(NONBLOCKING[what]);
    let pe = contexts::element(context, pe);
    let begun = begin(at, OPERATIONS[what], size, (operand, compare), pe);
    contexts::add(context, begun.storing(old, size));
}
