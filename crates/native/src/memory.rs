//! This process's memory that other ranks reach by address.
//!
//! That is the writable memory in the program and its libraries, and the libraries' additions:
//! heaps ([`offer`]), or all mapped memory ([`offer_all`]), as in Elanlib's ordinary mappings. An
//! address elsewhere is the caller's error, and never touches this process. Offered memory must
//! stay mapped. For all other memory, the kernel's mapping list is read again at an access that the
//! known list does not cover, and each access checks that the pages are still there.

use link::ELAN3_SPACE;
use rank::memory::Span;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The memory that others may reach.
#[derive(Default)]
struct Offers {
    /// Offered ranges, from address to address, in order, with gaps between them.
    ranges: Vec<(usize, usize)>,
    /// Whether all mapped memory may be reached.
    all: bool,
    /// Mapped memory that may be written and read, when the list was read last: from, to, whether
    /// it may be written.
    mapped: Vec<(usize, usize, bool)>,
}

static OFFERS: Mutex<Offers> = Mutex::new(Offers {
    ranges: Vec::new(),
    all: false,
    mapped: Vec::new(),
});

/// Lets others reach a memory range, which stays mapped until the process ends.
pub fn offer(address: usize, length: usize) {
    let mut offers = OFFERS.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut from, mut to) = (address, address.saturating_add(length));
    offers.ranges.retain(|&(start, end)| {
        let apart = end < from || to < start;
        if !apart {
            (from, to) = (from.min(start), to.max(end));
        }
        apart
    });
    let place = offers.ranges.partition_point(|&(start, _)| start < from);
    offers.ranges.insert(place, (from, to));
}

/// Lets others reach all memory that is mapped.
pub fn offer_all() {
    OFFERS.lock().unwrap_or_else(PoisonError::into_inner).all = true;
}

/// Whether others may reach a range by this rank's own table: symmetric memory may be reached in
/// all ranks.
pub fn is_offered(address: usize, length: usize) -> bool {
    let offers = OFFERS.lock().unwrap_or_else(PoisonError::into_inner);
    offers.has(address, length)
}

/// Finds memory with this many bytes at an address, which others may read or, if the flag is set,
/// write to.
pub type ReachFn = fn(u64, u64, bool) -> Option<Span>;

/// How others reach an Elan3 context's memory.
static ELAN3: OnceLock<ReachFn> = OnceLock::new();

/// Names the function that finds memory by an Elan3 context's addresses.
pub fn serve_elan3(reach: ReachFn) {
    let _ = ELAN3.set(reach);
}

/// The memory at an address in a space, if others may reach it.
pub fn reach_in(space: u64, address: u64, length: u64, writes: bool) -> Option<Span> {
    if space == ELAN3_SPACE {
        return ELAN3.get()?(address, length, writes);
    }
    reach(address, length, writes)
}

/// The memory at an address, if others may reach it.
pub fn reach(address: u64, length: u64, writes: bool) -> Option<Span> {
    let (address, length) = (address as usize, length as usize);
    let mut offers = OFFERS.lock().unwrap_or_else(PoisonError::into_inner);
    let may = offers.has(address, length)
        || offers.all && offers.is_mapped(address, length, writes)
        || length == 0;
    let pointer = std::ptr::with_exposed_provenance(address);
    // SAFETY: the memory is mapped, and may be written if it is to be; programs that give memory
    // back while others write there are in error.
    may.then(|| unsafe { Span::new(pointer, length) })
}

/// Whether others may write a byte at an address; false while another thread holds the table.
pub fn may_be_written(address: usize) -> bool {
    let Ok(mut offers) = OFFERS.try_lock() else {
        return false;
    };
    offers.has(address, 1) || offers.all && offers.is_mapped(address, 1, true)
}

/// The start and end of the program's object with this address in it.
pub fn object_of(address: usize) -> (u64, u64) {
    let mut found = (address as u64, 0, 0);
    // SAFETY: the function is called with its argument here, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(find_object), (&raw mut found).cast()) };
    (found.1, found.2)
}

unsafe extern "C" fn find_object(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: as `object_of` calls it.
    let found = unsafe { &mut *found.cast::<(u64, u64, u64)>() };
    // SAFETY: the C library's description of an object.
    let (base, headers) = unsafe { headers(&*object) };
    let loaded = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD);
    let ends = loaded.map(|header| {
        let from = base + header.p_vaddr;
        (from, from + header.p_memsz)
    });
    let from = ends.clone().map(|(from, _)| from).min().unwrap_or(0);
    let to = ends.map(|(_, to)| to).max().unwrap_or(0);
    let inside = (from..to).contains(&found.0);
    if inside {
        (found.1, found.2) = (from, to);
    }
    inside.into()
}

/// Where an object lies, and its headers.
///
/// # Safety
/// The C library must have made the description.
unsafe fn headers(object: &libc::dl_phdr_info) -> (u64, &[libc::Elf64_Phdr]) {
    let (first, count) = (object.dlpi_phdr, object.dlpi_phnum as usize);
    let headers = if first.is_null() {
        &[]
    } else {
        // SAFETY: the caller's word.
        unsafe { std::slice::from_raw_parts(first, count) }
    };
    (object.dlpi_addr, headers)
}

/// Whether the system has chosen the program's addresses; otherwise its file fixes them.
pub fn program_is_movable() -> bool {
    let mut base = 0_u64;
    // SAFETY: the function is called with its argument here, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(first_base), (&raw mut base).cast()) };
    base != 0
}

unsafe extern "C" fn first_base(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    base: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: as `program_is_movable` calls it; the first object is the program.
    unsafe { *base.cast::<u64>() = (*object).dlpi_addr };
    1
}

impl Offers {
    fn has(&self, address: usize, length: usize) -> bool {
        let Some(end) = address.checked_add(length) else {
            return false;
        };
        let next = self.ranges.partition_point(|&(start, _)| start <= address);
        next > 0 && end <= self.ranges[next - 1].1
    }

    fn is_mapped(&mut self, address: usize, length: usize, writes: bool) -> bool {
        if self.lists(address, length, writes) && are_there(address, length) {
            return true;
        }
        self.mapped = mappings();
        self.lists(address, length, writes)
    }

    /// Whether the list has a whole range, which may lie in several neighbours.
    fn lists(&self, mut address: usize, length: usize, writes: bool) -> bool {
        let Some(end) = address.checked_add(length) else {
            return false;
        };
        for &(from, to, writable) in &self.mapped {
            if address < to && from <= address && (writable || !writes) {
                address = to;
            }
            if address >= end {
                return true;
            }
        }
        false
    }
}

/// Whether all pages in a range are mapped.
fn are_there(address: usize, length: usize) -> bool {
    const PAGE: usize = 4096;
    /// Pages that one question is about.
    const MOST: usize = 64;
    let mut present = [0_u8; MOST];
    let (mut at, end) = (address & !(PAGE - 1), address + length);
    while at < end {
        let now = (end - at).min(MOST * PAGE);
        let pointer = std::ptr::with_exposed_provenance_mut(at);
        // SAFETY: the kernel looks at the range and touches no memory of it; there is a byte for
        // each page.
        if unsafe { libc::mincore(pointer, now, present.as_mut_ptr()) } != 0 {
            return false;
        }
        at += now;
    }
    true
}

/// This process's mappings that may be read.
fn mappings() -> Vec<(usize, usize, bool)> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mapping = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let from = usize::from_str_radix(from, 16).ok()?;
        let to = usize::from_str_radix(to, 16).ok()?;
        // The kernel's own pages are not the program's.
        let own = rest.starts_with('r') && !line.ends_with(']')
            || line.ends_with("[heap]")
            || line.ends_with("[stack]");
        own.then(|| (from, to, rest[1..].starts_with('w')))
    };
    text.lines().filter_map(mapping).collect()
}

/// Offers the writable memory in the program and its libraries, as they are loaded now.
pub fn offer_static() {
    // SAFETY: the function is called with its argument, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(offer_object), std::ptr::null_mut()) };
}

unsafe extern "C" fn offer_object(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    _data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the C library's description of an object.
    let (base, headers) = unsafe { headers(&*object) };
    // Memory that is only read after relocation is no longer writable.
    let sealed = headers
        .iter()
        .find(|header| header.p_type == libc::PT_GNU_RELRO);
    let sealed = sealed.map_or(0, |header| header.p_vaddr + header.p_memsz);
    for header in headers {
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
            let (from, to) = (header.p_vaddr, header.p_vaddr + header.p_memsz);
            let from = if (from..to).contains(&sealed) {
                sealed
            } else {
                from
            };
            offer((base + from) as usize, (to - from) as usize);
        }
    }
    0
}
