//! The context's addresses: 32 bits, in which main memory and the adapter's memory are mapped.
//!
//! The two heaps are mapped at `elan3_init`'s addresses; `elan3_setperm` maps more. Other
//! processes' DMAs name these addresses, so that equal places need not have equal process
//! addresses. The adapter's memory is process memory; a `sdramaddr_t` is its address there.

use super::super::heap::SystemHeap;
use super::super::{complain, hold};
use super::Elan3Context;
use native::Span;
use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::ptr;
use std::sync::Mutex;

/// No address.
const NOWHERE: u32 = u32::MAX;
/// `ELAN_PERM_REMOTEREAD`, `_REMOTEWRITE`, `_REMOTEALL`.
const READ: c_int = 4;
const WRITE: c_int = 5;
const ALL: c_int = 7;

/// Main memory, or the adapter's, at a context address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    elan: u64,
    size: u64,
    at: usize,
    permission: c_int,
}

/// The mappings.
struct Space {
    mappings: Vec<Mapping>,
    main: SystemHeap,
    adapter: SystemHeap,
}

static SPACE: Mutex<Space> = Mutex::new(Space {
    mappings: Vec::new(),
    main: SystemHeap::at(0x3e60_0000_0000),
    adapter: SystemHeap::at(0x3e70_0000_0000),
});

impl Space {
    /// Where the context's address is in the process, if this many bytes are mapped there in one
    /// piece.
    fn find(&self, elan: u64, size: u64) -> Option<(usize, c_int)> {
        let holds = |one: &&Mapping| one.elan <= elan && elan + size <= one.elan + one.size;
        let found = self.mappings.iter().find(holds)?;
        Some((found.at + (elan - found.elan) as usize, found.permission))
    }

    /// The context's address for a process address.
    fn elan(&self, at: usize) -> u32 {
        let holds = |one: &&Mapping| (one.at..one.at + one.size as usize).contains(&at);
        let found = self.mappings.iter().find(holds);
        found.map_or(NOWHERE, |one| (one.elan + (at - one.at) as u64) as u32)
    }

    /// Removes mappings in a range; `from` gives the start of a mapping in the range's terms.
    fn clear(&mut self, from: impl Fn(&Mapping) -> u64, start: u64, size: u64) {
        let end = start + size;
        let rest = |one: Mapping| {
            let (low, high) = (from(&one), from(&one) + one.size);
            let part = |begin: u64, end: u64| {
                (begin < end).then(|| Mapping {
                    elan: one.elan + (begin - low),
                    at: one.at + (begin - low) as usize,
                    size: end - begin,
                    ..one
                })
            };
            [part(low, high.min(start)), part(low.max(end), high)]
        };
        let before = std::mem::take(&mut self.mappings);
        self.mappings = before.into_iter().flat_map(rest).flatten().collect();
    }
}

/// Maps the heaps; the error is the reason why not.
pub fn open(main: (u32, u32), adapter: (u32, u32)) -> Result<(), String> {
    let space = &mut *hold(&SPACE);
    for (heap, (elan, size)) in [(&mut space.main, main), (&mut space.adapter, adapter)] {
        heap.open(size as usize)?;
        let (at, _) = heap.range();
        space.mappings.push(Mapping {
            elan: elan.into(),
            size: size.into(),
            at,
            permission: ALL,
        });
    }
    Ok(())
}

/// This process's memory that another process's DMA names.
pub fn reach(elan: u64, size: u64, writes: bool) -> Option<Span> {
    if size == 0 {
        return Some(Span::default());
    }
    let (at, permission) = hold(&SPACE).find(elan, size)?;
    let may = if writes {
        matches!(permission, WRITE | ALL)
    } else {
        matches!(permission, READ | WRITE | ALL)
    };
    if may {
        native::memory::reach(at as u64, size, writes)
    } else {
        None
    }
}

/// This process's memory that its own DMA names.
pub fn own(elan: u32, size: u32) -> Option<usize> {
    let found = hold(&SPACE).find(elan.into(), size.into());
    found.map(|(at, _)| at)
}

/// The context's address for a place in the adapter's memory.
pub fn elan_of(sdram: c_ulong) -> u32 {
    hold(&SPACE).elan(sdram as usize)
}

fn pointer(at: c_ulong) -> *mut u8 {
    ptr::with_exposed_provenance_mut(at as usize)
}

// The callers of the functions below keep to the headers.

#[unsafe(no_mangle)]
extern "C" fn elan3_allocMain(_ctx: *mut Elan3Context, align: c_uint, size: c_uint) -> *mut c_void {
    let at = hold(&SPACE).main.alloc(align as usize, size as usize);
    at.map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut)
}

/// Addresses that `elan3_setperm` can map: process memory outside the context.
#[unsafe(no_mangle)]
extern "C" fn elan3_allocVaddr(
    _ctx: *mut Elan3Context,
    _align: c_uint,
    size: c_uint,
) -> *mut c_void {
    super::super::memory::alloc("elan3_allocVaddr", false, 1 << 16, size as usize)
}

#[unsafe(no_mangle)]
extern "C" fn elan3_allocElan(_ctx: *mut Elan3Context, align: c_uint, size: c_uint) -> c_ulong {
    let at = hold(&SPACE).adapter.alloc(align as usize, size as usize);
    at.unwrap_or(0) as c_ulong
}

#[unsafe(no_mangle)]
extern "C" fn elan3_free(_ctx: *mut Elan3Context, memory: *mut c_void) {
    if !memory.is_null() && !hold(&SPACE).main.free(memory.expose_provenance()) {
        complain(
            "elan3_free",
            &format!("nothing was allocated at {memory:p}"),
        );
    }
}

#[unsafe(no_mangle)]
extern "C" fn elan3_freeElan(_ctx: *mut Elan3Context, memory: c_ulong) {
    if memory != 0 && !hold(&SPACE).adapter.free(memory as usize) {
        complain(
            "elan3_freeElan",
            &format!("nothing was allocated at {memory:#x}"),
        );
    }
}

#[unsafe(no_mangle)]
extern "C" fn elan3_main2elan(_ctx: *mut Elan3Context, memory: *const c_void) -> u32 {
    hold(&SPACE).elan(memory.expose_provenance())
}

#[unsafe(no_mangle)]
extern "C" fn elan3_elan2main(_ctx: *mut Elan3Context, elan: u32) -> *mut c_void {
    own(elan, 1).map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut)
}

#[unsafe(no_mangle)]
extern "C" fn elan3_sdram2elan(
    _ctx: *mut Elan3Context,
    _sdram: *mut c_void,
    memory: c_ulong,
) -> u32 {
    elan_of(memory)
}

#[unsafe(no_mangle)]
extern "C" fn elan3_elan2sdram(_ctx: *mut Elan3Context, elan: u32) -> c_ulong {
    own(elan, 1).unwrap_or(0) as c_ulong
}

#[unsafe(no_mangle)]
extern "C" fn elan3_addressable(
    _ctx: *mut Elan3Context,
    memory: *const c_void,
    size: usize,
) -> c_int {
    let space = hold(&SPACE);
    let elan = space.elan(memory.expose_provenance());
    c_int::from(elan != NOWHERE && space.find(elan.into(), size as u64).is_some())
}

#[unsafe(no_mangle)]
extern "C" fn elan3_setperm(
    _ctx: *mut Elan3Context,
    main: *mut c_void,
    elan: u32,
    size: c_uint,
    permission: c_int,
) -> c_int {
    let mut space = hold(&SPACE);
    let (elan, size) = (u64::from(elan), u64::from(size));
    let overlaps = |one: &Mapping| one.elan < elan + size && elan < one.elan + one.size;
    if size == 0 || elan + size > 1 << 32 || space.mappings.iter().any(overlaps) {
        return -1;
    }
    space.mappings.push(Mapping {
        elan,
        size,
        at: main.expose_provenance(),
        permission,
    });
    0
}

#[unsafe(no_mangle)]
extern "C" fn elan3_clearperm(_ctx: *mut Elan3Context, elan: u32, size: c_uint) -> c_int {
    hold(&SPACE).clear(|one| one.elan, elan.into(), size.into());
    0
}

#[unsafe(no_mangle)]
extern "C" fn elan3_clearperm_elan(ctx: *mut Elan3Context, elan: u32, size: c_uint) -> c_int {
    elan3_clearperm(ctx, elan, size)
}

#[unsafe(no_mangle)]
extern "C" fn elan3_clearperm_main(
    _ctx: *mut Elan3Context,
    main: *mut c_void,
    size: c_uint,
) -> c_int {
    let start = main.expose_provenance() as u64;
    hold(&SPACE).clear(|one| one.at as u64, start, size.into());
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan3_write32_sdram(_sdram: *mut c_void, to: c_ulong, value: u32) {
    // SAFETY: adapter memory, which is memory of the process (`elan3_elan2sdram`), with room for a
    // word.
    unsafe { pointer(to).cast::<u32>().write_unaligned(value) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan3_read32_sdram(_sdram: *mut c_void, from: c_ulong) -> u32 {
    // SAFETY: adapter memory, which is memory of the process (`elan3_elan2sdram`), with a word
    // there.
    unsafe { pointer(from).cast::<u32>().read_unaligned() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan3_zero_byte_sdram(_sdram: *mut c_void, to: c_ulong, size: c_uint) {
    // SAFETY: adapter memory, which is memory of the process, with room for this many bytes.
    unsafe { pointer(to).write_bytes(0, size as usize) };
}

/// Copies a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C" fn elan3_copy32_to_sdram(_sdram: *mut c_void, from: *const u8, to: c_ulong) {
    const DESCRIPTOR: usize = 32;
    // SAFETY: a descriptor of the program, and adapter memory with room for it.
    unsafe { pointer(to).copy_from(from, DESCRIPTOR) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan3_blkcopy64_to_sdram(
    _sdram: *mut c_void,
    from: *const u8,
    to: c_ulong,
    size: c_uint,
) {
    // SAFETY: bytes of the program, and adapter memory with room for them.
    unsafe { pointer(to).copy_from(from, size as usize) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(mappings: &[(u64, u64, usize)]) -> Space {
        let mapping = |&(elan, size, at): &(u64, u64, usize)| Mapping {
            elan,
            size,
            at,
            permission: ALL,
        };
        Space {
            mappings: mappings.iter().map(mapping).collect(),
            main: SystemHeap::at(0),
            adapter: SystemHeap::at(0),
        }
    }

    #[test]
    fn addresses_go_both_ways_and_stop_at_edges() {
        let space = space(&[(0x1000, 0x100, 0x7000_0000), (0x1100, 0x100, 0x9000_0000)]);
        assert_eq!(space.find(0x1010, 0x10), Some((0x7000_0010, ALL)));
        assert_eq!(space.find(0x10f8, 0x10), None, "two pieces");
        assert_eq!(space.elan(0x9000_0001), 0x1101);
        assert_eq!(space.elan(0x8000_0000), NOWHERE);
    }

    #[test]
    fn clearing_leaves_what_is_around() {
        let mut one = space(&[(0x1000, 0x100, 0x7000_0000)]);
        one.clear(|one| one.elan, 0x1040, 0x20);
        assert_eq!(one.find(0x1000, 0x40), Some((0x7000_0000, ALL)));
        assert_eq!(one.find(0x1040, 1), None);
        assert_eq!(one.find(0x1060, 0xa0), Some((0x7000_0060, ALL)));
        one.clear(|one| one.at as u64, 0x7000_0000, 0x1000);
        assert!(one.mappings.is_empty());
    }
}
