//! Memory: a process's heaps, heaps with the same addresses everywhere, and the two views of an
//! address.
//!
//! *Global* memory for all processes needs no communication between them: all make the same calls
//! in the same order, and a heap gives equal places to equal calls. Members of a smaller group may
//! have made different calls before. They agree on the first place that is free in all of them, by
//! a reduction, and such groups' memory has its own heap.
//!
//! Heaps lie at fixed addresses, which the kernel and programs do not use by themselves:
//! `elanite prun` starts ranks without randomised addresses.

use super::layout::{self, ElanBase, ElanGroup, ElanState};
use super::{complain, environment, group, hold};
use derive::call;
use heaps::{ALL, ALL_ELAN, Heaps, OWN, OWN_ELAN, SOME, SOME_ELAN};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::sync::Mutex;

mod heaps {
    //! A process's heaps.

    use crate::heap::SystemHeap;

    /// The process's own memory, main and adapter; all processes' memory; smaller groups' memory.
    pub const OWN: usize = 0;
    pub const OWN_ELAN: usize = 1;
    pub const ALL: usize = 2;
    pub const ALL_ELAN: usize = 3;
    pub const SOME: usize = 4;
    pub const SOME_ELAN: usize = 5;

    /// All heaps.
    pub struct Heaps(pub [SystemHeap; 6]);

    impl Heaps {
        pub const fn new() -> Heaps {
            Heaps([
                SystemHeap::at(0x3e00_0000_0000),
                SystemHeap::at(0x3e10_0000_0000),
                SystemHeap::at(0x3e20_0000_0000),
                SystemHeap::at(0x3e30_0000_0000),
                SystemHeap::at(0x3e40_0000_0000),
                SystemHeap::at(0x3e50_0000_0000),
            ])
        }
    }
}

static HEAPS: Mutex<Heaps> = Mutex::new(Heaps::new());

/// How long a heap is.
fn size(which: usize) -> usize {
    let (name, usual) = match which {
        OWN => ("LIBELAN_ALLOC_SIZE", environment::ALLOC),
        OWN_ELAN => ("LIBELAN_ALLOCELAN_SIZE", environment::ALLOC_ELAN),
        ALL | SOME => ("LIBELAN_GALLOC_SIZE", environment::GALLOC),
        _ => ("LIBELAN_GALLOCELAN_SIZE", environment::GALLOC_ELAN),
    };
    environment::number(name).unwrap_or(usual)
}

/// Lets a function use a heap that has its memory.
fn with<T>(
    call: &str,
    which: usize,
    act: impl FnOnce(&mut super::heap::SystemHeap) -> T,
) -> Option<T> {
    let mut heaps = hold(&HEAPS);
    let heap = &mut heaps.0[which];
    match heap.open(size(which)) {
        Ok(()) => Some(act(heap)),
        Err(why) => {
            complain(call, &why);
            None
        }
    }
}

fn pointer(at: Option<usize>) -> *mut c_void {
    at.map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut)
}

/// From where to where the process's own heaps reach: main, then adapter.
pub fn own_ranges() -> [(usize, usize); 2] {
    [OWN, OWN_ELAN]
        .map(|which| with("elan_baseInit", which, |heap| heap.range()).unwrap_or_default())
}

/// Memory for this process alone.
pub fn alloc(call: &str, adapter: bool, align: usize, size: usize) -> *mut c_void {
    let which = if adapter { OWN_ELAN } else { OWN };
    pointer(with(call, which, |heap| heap.alloc(align, size)).flatten())
}

/// Memory with the same address in all a group's members.
///
/// # Safety
/// The group must be one that this library has made.
pub unsafe fn galloc(
    call: &str,
    of: *mut ElanGroup,
    adapter: bool,
    align: usize,
    size: usize,
) -> *mut c_void {
    // SAFETY: the caller's word.
    if unsafe { of.is_null() || group::is_all(of) } {
        let which = if adapter { ALL_ELAN } else { ALL };
        return pointer(with(call, which, |heap| heap.alloc(align, size)).flatten());
    }
    let which = if adapter { SOME_ELAN } else { SOME };
    let align = align.max(16).next_power_of_two();
    let top = with(call, which, |heap| heap.top().next_multiple_of(align));
    // SAFETY: the caller's word.
    let top = unsafe { group::most(of, top.unwrap_or(0) as u64) } as usize;
    pointer(with(call, which, |heap| heap.alloc_at(top, size)).flatten())
}

/// Gives memory back.
fn free(memory: *mut c_void) {
    let at = memory.expose_provenance();
    let mut heaps = hold(&HEAPS);
    let freed = memory.is_null() || heaps.0.iter_mut().any(|heap| heap.free(at));
    drop(heaps);
    if !freed {
        complain("elan_free", &format!("nothing was allocated at {at:#x}"));
    }
}

// The callers of the functions below keep to the headers.

#[unsafe(no_mangle)]
extern "C" fn elan_allocMain(_state: *mut ElanState, align: usize, size: usize) -> *mut c_void {
    alloc("elan_allocMain", false, align, size)
}

#[unsafe(no_mangle)]
extern "C" fn elan_allocElan(_state: *mut ElanState, align: usize, size: usize) -> *mut c_void {
    alloc("elan_allocElan", true, align, size)
}

#[unsafe(no_mangle)]
extern "C" fn elan_free(_state: *mut ElanState, memory: *mut c_void) {
    free(memory);
}

#[unsafe(no_mangle)]
extern "C" fn elan_freeElan(_state: *mut ElanState, memory: *mut c_void) {
    free(memory);
}

#[call]
unsafe extern "C" fn elan_gallocMain(
    _base: *mut ElanBase,
    group: *mut ElanGroup,
    align: usize,
    size: usize,
) -> *mut c_void {
    // SAFETY: a group of this library, which are never freed.
    unsafe { galloc("elan_gallocMain", group, false, align, size) }
}

#[call]
unsafe extern "C" fn elan_gallocElan(
    _base: *mut ElanBase,
    group: *mut ElanGroup,
    align: usize,
    size: usize,
) -> *mut c_void {
    // SAFETY: a group of this library, which are never freed.
    unsafe { galloc("elan_gallocElan", group, true, align, size) }
}

#[unsafe(no_mangle)]
extern "C" fn elan_gallocFree(_base: *mut ElanBase, memory: *mut c_void) {
    free(memory);
}

/// An allocator for global addresses: the global heap, regardless of the requested address.
#[unsafe(no_mangle)]
extern "C" fn elan_gallocVaddrCreate(
    _state: *mut ElanState,
    _at: u64,
    _size: usize,
    _flags: c_uint,
) -> *mut c_void {
    let base = layout::BASE.load(std::sync::atomic::Ordering::Acquire);
    // SAFETY: null, or the base, which lives until the process ends.
    unsafe { base.as_ref() }.map_or(std::ptr::null_mut(), |base| base.galloc)
}

#[call]
unsafe extern "C" fn elan_galloc(
    _galloc: *mut c_void,
    group: *mut ElanGroup,
    align: usize,
    size: usize,
) -> u64 {
    // SAFETY: a group of this library, which are never freed.
    let memory = unsafe { galloc("elan_galloc", group, false, align, size) };
    memory.expose_provenance() as u64
}

#[unsafe(no_mangle)]
extern "C" fn elan_main2elan(_state: *mut ElanState, memory: *const c_void) -> u64 {
    memory.expose_provenance() as u64
}

#[unsafe(no_mangle)]
extern "C" fn elan_elan2main(_state: *mut ElanState, at: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(at as usize)
}

#[unsafe(no_mangle)]
extern "C" fn elan_elan2sdram(_state: *mut ElanState, at: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(at as usize)
}

#[unsafe(no_mangle)]
extern "C" fn elan_sdram2elan(_state: *mut ElanState, memory: *const c_void) -> u64 {
    memory.expose_provenance() as u64
}

/// The first address that programs cannot have.
const TOP: usize = 1 << 47;

/// The adapter's tables cover all addresses in a process, whether memory is there or not.
#[unsafe(no_mangle)]
extern "C" fn elan_addressable(
    _state: *mut ElanState,
    memory: *const c_void,
    size: usize,
) -> c_int {
    let end = memory.addr().checked_add(size);
    c_int::from(!memory.is_null() && end.is_some_and(|end| end <= TOP))
}

#[unsafe(no_mangle)]
extern "C" fn elan_addMapping(_state: *mut ElanState, memory: *mut c_void, size: usize) -> c_int {
    native::memory::offer(memory.expose_provenance(), size);
    0
}
