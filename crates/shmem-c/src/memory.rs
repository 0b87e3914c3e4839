//! The symmetric heap: memory at the same address in all ranks.
//!
//! | variable | |
//! |---|---|
//! | `SHMEM_SYMMETRIC_SIZE`, or the older `SMA_SYMMETRIC_SIZE` | bytes of the heap; the letters K, M, G and T stand for powers of 1024 |
//!
//! Without them the heap has [`DEFAULT_SIZE`]. Its pages cost memory only when they are touched. The standard wants the calls made
//! by all processing elements with the same arguments; a barrier keeps memory from being used before all have it, or after one
//! has given it back.

use super::heap::Heap;
use super::{collectives, fail, own, product, setup, shmem};
use derive::call;
use std::ffi::c_void;

/// Where the heap begins in every rank, far from where systems put programs, libraries and stacks.
const BASE: usize = 0x20_0000_0000;

/// Bytes of the heap unless the environment says otherwise.
const DEFAULT_SIZE: usize = 1 << 30;

/// The alignment of memory for which none is asked.
const ALIGNMENT: usize = 64;

/// The heap, once there is one.
#[derive(Default)]
pub struct Symmetric(Option<Heap>);

impl Symmetric {
    pub const EMPTY: Symmetric = Symmetric(None);
}

/// Maps the heap and lets others reach it.
pub fn open() {
    let size = wanted_size();
    // SAFETY: a new range of memory, which replaces none.
    let mapped = unsafe {
        libc::mmap(
            std::ptr::without_provenance_mut(BASE),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE
                | libc::MAP_ANONYMOUS
                | libc::MAP_NORESERVE
                | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        )
    };
    if mapped.addr() != BASE {
        let error = std::io::Error::last_os_error();
        fail(format_args!(
            "there is no room for a symmetric heap of {size} bytes at address {BASE:#x}: {error}; SHMEM_SYMMETRIC_SIZE says \
             how many bytes it has"
        ));
    }
    mapped.expose_provenance();
    native::memory::offer(BASE, size);
    shmem().symmetric.0 = Some(Heap::new(BASE, size));
}

/// What the environment says of the heap's size.
fn wanted_size() -> usize {
    const NAMES: [&str; 2] = ["SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"];
    for name in NAMES {
        let Ok(text) = std::env::var(name) else {
            continue;
        };
        match bytes_of(&text) {
            Some(size) if size > 0 => return size,
            _ => fail(format_args!(
                "{name} is {text:?}; it says how many bytes the symmetric heap has, such as 256M"
            )),
        }
    }
    DEFAULT_SIZE
}

/// Bytes: digits, with a fraction or without one, and a letter for a power of 1024.
fn bytes_of(text: &str) -> Option<usize> {
    const PAGE: usize = 4096;
    let text = text.trim();
    let (number, power) = match text.char_indices().last()? {
        (at, letter) if letter.is_ascii_alphabetic() => {
            let power = "kmgt".find(letter.to_ascii_lowercase())?;
            (&text[..at], power as u32 + 1)
        }
        _ => (text, 0),
    };
    let bytes = number.trim().parse::<f64>().ok()? * 1024_f64.powi(power.cast_signed());
    let inside = bytes >= 0.0 && bytes < 2_f64.powi(46);
    inside.then(|| (bytes as usize).next_multiple_of(PAGE))
}

/// Does something with the heap.
fn with_heap<T>(what: impl FnOnce(&mut Heap) -> T) -> T {
    setup::start_if_needed();
    let mut shmem = shmem();
    let heap = shmem
        .symmetric
        .0
        .as_mut()
        .expect("it is there from the start on");
    what(heap)
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

/// Takes memory at a multiple of a power of two: of the next one, if the program names another number.
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

/// Takes memory of zeros: memory that was given back has anything.
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
        // SAFETY: the range has just been taken, and nobody else knows it.
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

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn sizes_have_letters() {
        assert_eq!(bytes_of("4096"), Some(4096));
        assert_eq!(bytes_of("1"), Some(4096));
        assert_eq!(bytes_of(" 1.5 M "), Some(3 << 19));
        assert_eq!(bytes_of("2g"), Some(2 << 30));
        assert_eq!(bytes_of("-1"), None);
        assert_eq!(bytes_of("1Q"), None);
        assert_eq!(bytes_of("99T"), None);
        assert_eq!(bytes_of(""), None);
    }
}
