//! Allocation in the symmetric heap ([`super::heap`]).
//!
//! The standard wants the calls made by all processing elements with the same arguments; a barrier
//! keeps memory from being used before all have it, or after one has given it back.

use super::heap::SymmetricHeap;
use super::{collectives, fail, own, product, setup, shmem};
use derive::call;
use std::ffi::c_void;

/// The alignment for memory without a requested one.
const ALIGNMENT: usize = 64;

/// Does something with the heap.
fn with_heap<T>(what: impl FnOnce(&mut SymmetricHeap) -> T) -> T {
    setup::start_if_needed();
    let mut shmem = shmem();
    what(shmem.symmetric.heap())
}

/// Takes memory, which all have when the call ends.
fn allocate(size: usize, alignment: usize) -> *mut c_void {
    if size == 0 {
        return std::ptr::null_mut();
    }
    let at = with_heap(|heap| heap.take(size, alignment));
    collectives::barrier_of_all();
    at.map_or(std::ptr::null_mut(), std::ptr::with_exposed_provenance_mut)
}

fn length_at(at: *mut c_void) -> usize {
    let length = with_heap(|heap| heap.length(at.addr()));
    length.unwrap_or_else(|| {
        fail(format_args!(
            "no memory of the symmetric heap begins at address {:#x}, or it has been freed",
            at.addr()
        ))
    })
}

fn free(at: *mut c_void) {
    if at.is_null() {
        return;
    }
    length_at(at);
    collectives::barrier_of_all();
    with_heap(|heap| heap.give_back(at.addr()));
}

/// Takes memory at a multiple of a power of two: the next power, if the program names another
/// number.
fn align(alignment: usize, size: usize) -> *mut c_void {
    match alignment.checked_next_power_of_two() {
        Some(alignment) => allocate(size, alignment),
        None => std::ptr::null_mut(),
    }
}

fn reallocate(at: *mut c_void, size: usize) -> *mut c_void {
    if at.is_null() {
        return allocate(size, ALIGNMENT);
    }
    let old = length_at(at);
    collectives::barrier_of_all();
    if size == 0 {
        with_heap(|heap| heap.give_back(at.addr()));
        return std::ptr::null_mut();
    }
    if with_heap(|heap| heap.resize(at.addr(), size)) {
        collectives::barrier_of_all();
        return at;
    }
    let Some(new) = with_heap(|heap| heap.take(size, ALIGNMENT)) else {
        collectives::barrier_of_all();
        return std::ptr::null_mut();
    };
    let new = std::ptr::with_exposed_provenance_mut(new);
    own(new, size).store(0, own(at, old.min(size)).bytes());
    with_heap(|heap| heap.give_back(at.addr()));
    collectives::barrier_of_all();
    new
}

/// Takes zeroed memory: memory that was given back has arbitrary content.
fn zeroed(count: usize, size: usize) -> *mut c_void {
    let length = product(count, size);
    if length == 0 {
        return std::ptr::null_mut();
    }
    let at = with_heap(|heap| heap.take(length, ALIGNMENT));
    let at = at.map_or(
        std::ptr::null_mut(),
        std::ptr::with_exposed_provenance_mut::<c_void>,
    );
    if !at.is_null() {
        // SAFETY: the range has just been taken, and no other code knows it.
        unsafe { at.cast::<u8>().write_bytes(0, length) };
    }
    collectives::barrier_of_all();
    at
}

#[call]
extern "C" fn shmem_malloc(size: usize) -> *mut c_void {
    allocate(size, ALIGNMENT)
}

#[call]
extern "C" fn shmem_calloc(count: usize, size: usize) -> *mut c_void {
    zeroed(count, size)
}

#[call]
extern "C" fn shmem_align(alignment: usize, size: usize) -> *mut c_void {
    align(alignment, size)
}

#[call]
extern "C" fn shmem_realloc(at: *mut c_void, size: usize) -> *mut c_void {
    reallocate(at, size)
}

#[call]
extern "C" fn shmem_free(at: *mut c_void) {
    free(at);
}

#[call]
extern "C" fn shmem_malloc_with_hints(size: usize, _hints: std::ffi::c_long) -> *mut c_void {
    allocate(size, ALIGNMENT)
}

#[call]
extern "C" fn shmalloc(size: usize) -> *mut c_void {
    allocate(size, ALIGNMENT)
}

#[call]
extern "C" fn shmemalign(alignment: usize, size: usize) -> *mut c_void {
    align(alignment, size)
}

#[call]
extern "C" fn shrealloc(at: *mut c_void, size: usize) -> *mut c_void {
    reallocate(at, size)
}

#[call]
extern "C" fn shfree(at: *mut c_void) {
    free(at);
}
