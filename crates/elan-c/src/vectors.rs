//! Puts and gets with many pieces: vectors of equally long pieces, and blocks at regular distances.
//! Each piece is its own put or get; one event stands for all.

use super::event::{ElanEvent, EventSubject};
use super::layout::ElanState;
use super::putget::{get, process, put};
use super::stop;
use derive::call;
use native::Ticket;
use std::ffi::{c_int, c_uint, c_void};

/// Memory in which the original kept descriptors; programs allocate the announced size.
const DESCRIPTORS: usize = 64;

/// Where a strided transfer's blocks begin, from the first one on, at the source and at the
/// destination.
struct Blocks<'a> {
    strides: [&'a [c_int]; 2],
    /// How many blocks there are in each direction.
    counts: &'a [c_uint],
    /// The next block; `None` behind the last.
    next: Option<Vec<c_uint>>,
}

impl Iterator for Blocks<'_> {
    type Item = [isize; 2];

    fn next(&mut self) -> Option<[isize; 2]> {
        let place = self.next.take()?;
        let offset = |strides: &[c_int]| {
            let steps = strides.iter().zip(&place);
            steps
                .map(|(&stride, &index)| stride as isize * index as isize)
                .sum()
        };
        let offsets = self.strides.map(offset);
        let mut after = place;
        for (index, &count) in after.iter_mut().zip(self.counts) {
            *index += 1;
            if *index < count {
                self.next = Some(after);
                break;
            }
            *index = 0;
        }
        Some(offsets)
    }
}

fn blocks<'a>(from: &'a [c_int], to: &'a [c_int], counts: &'a [c_uint]) -> Blocks<'a> {
    let any = counts.iter().all(|&count| count > 0);
    Blocks {
        strides: [from, to],
        counts,
        next: any.then(|| vec![0; counts.len()]),
    }
}

/// The slices that a strided call names: its levels' strides and counts, and the bytes of a block.
///
/// # Safety
/// As in the headers.
unsafe fn levels<'a>(
    call: &str,
    strides: [*const c_int; 2],
    count: *const c_uint,
    levels: c_uint,
) -> (usize, Blocks<'a>) {
    if count.is_null() {
        stop(call, "there are no counts");
    }
    let levels = levels as usize;
    // SAFETY: the caller's word.
    unsafe {
        let of = |strides: *const c_int| -> &'a [c_int] {
            if levels == 0 {
                &[]
            } else {
                std::slice::from_raw_parts(strides, levels)
            }
        };
        let counts = std::slice::from_raw_parts(count, levels + 1);
        (
            counts[0] as usize,
            blocks(of(strides[0]), of(strides[1]), &counts[1..]),
        )
    }
}

/// Puts a piece to a process: from, to, bytes.
fn putting(call: &str, vp: c_uint) -> impl Fn(*mut c_void, *mut c_void, usize) -> Ticket {
    let vp = process(call, vp);
    // SAFETY: the callers of the functions below keep to the headers.
    move |from, to, size| unsafe { put(vp, from, to.addr(), size, 0) }
}

/// Gets a piece from a process: from, to, bytes.
fn getting(call: &str, vp: c_uint) -> impl Fn(*mut c_void, *mut c_void, usize) -> Ticket {
    let vp = process(call, vp);
    // SAFETY: the callers of the functions below keep to the headers.
    move |from, to, size| unsafe { get(vp, from.addr(), to, size) }
}

/// Transfers `count` pieces of `size` bytes, with addresses in two arrays: from, to.
///
/// # Safety
/// As in the headers.
unsafe fn vector(
    call: &'static str,
    transfer: impl Fn(*mut c_void, *mut c_void, usize) -> Ticket,
    [from, to]: [*const *mut c_void; 2],
    size: usize,
    count: c_int,
) -> *mut ElanEvent {
    let count = if size == 0 {
        0
    } else {
        usize::try_from(count).unwrap_or(0)
    };
    // SAFETY: the caller's word.
    let one = |index: usize| unsafe { transfer(*from.add(index), *to.add(index), size) };
    ElanEvent::make(EventSubject::Operations(
        call,
        (0..count).map(one).collect(),
    ))
}

/// Transfers blocks at regular distances from two addresses on: from, to.
///
/// # Safety
/// As in the headers.
unsafe fn strided(
    call: &'static str,
    transfer: impl Fn(*mut c_void, *mut c_void, usize) -> Ticket,
    [from, to]: [*mut u8; 2],
    strides: [*const c_int; 2],
    count: *const c_uint,
    depth: c_uint,
) -> *mut ElanEvent {
    // SAFETY: the caller's word.
    let (size, blocks) = unsafe { levels(call, strides, count, depth) };
    let one = |[source, target]: [isize; 2]| {
        let (from, to) = (from.wrapping_offset(source), to.wrapping_offset(target));
        transfer(from.cast(), to.cast(), size)
    };
    ElanEvent::make(EventSubject::Operations(
        call,
        blocks.filter(|_| size > 0).map(one).collect(),
    ))
}

// The callers of the functions below keep to the headers.

#[unsafe(no_mangle)]
extern "C" fn elan_pgvGlobalMemSize(_state: *mut ElanState) -> usize {
    DESCRIPTORS
}

#[unsafe(no_mangle)]
extern "C" fn elan_pgsGlobalMemSize(_state: *mut ElanState) -> c_int {
    DESCRIPTORS as c_int
}

#[call]
unsafe extern "C" fn elan_putv(
    _control: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    size: usize,
    count: c_int,
    vp: c_uint,
) -> *mut ElanEvent {
    // SAFETY: arrays of `count` addresses, each of `size` bytes.
    unsafe {
        vector(
            "elan_putv",
            putting("elan_putv", vp),
            [from, to],
            size,
            count,
        )
    }
}

#[call]
unsafe extern "C" fn elan_getv(
    _control: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    size: usize,
    count: c_int,
    vp: c_uint,
) -> *mut ElanEvent {
    // SAFETY: arrays of `count` addresses, each of `size` bytes.
    unsafe {
        vector(
            "elan_getv",
            getting("elan_getv", vp),
            [from, to],
            size,
            count,
        )
    }
}

#[call]
unsafe extern "C" fn elan_putss(
    _control: *mut c_void,
    from: *mut u8,
    to: *mut u8,
    from_strides: *const c_int,
    to_strides: *const c_int,
    count: *const c_uint,
    depth: c_uint,
    vp: c_uint,
) -> *mut ElanEvent {
    let strides = [from_strides, to_strides];
    // SAFETY: `depth` strides and counts, and memory where they lead.
    unsafe {
        strided(
            "elan_putss",
            putting("elan_putss", vp),
            [from, to],
            strides,
            count,
            depth,
        )
    }
}

#[call]
unsafe extern "C" fn elan_getss(
    _control: *mut c_void,
    from: *mut u8,
    to: *mut u8,
    from_strides: *const c_int,
    to_strides: *const c_int,
    count: *const c_uint,
    depth: c_uint,
    vp: c_uint,
) -> *mut ElanEvent {
    let strides = [from_strides, to_strides];
    // SAFETY: `depth` strides and counts, and memory where they lead.
    unsafe {
        strided(
            "elan_getss",
            getting("elan_getss", vp),
            [from, to],
            strides,
            count,
            depth,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_visited_in_order() {
        let all: Vec<_> = blocks(&[100, 1000], &[8, 16], &[2, 3]).collect();
        let from: Vec<isize> = all.iter().map(|offsets| offsets[0]).collect();
        let to: Vec<isize> = all.iter().map(|offsets| offsets[1]).collect();
        assert_eq!(from, [0, 100, 1000, 1100, 2000, 2100]);
        assert_eq!(to, [0, 8, 16, 24, 32, 40]);
        assert_eq!(blocks(&[], &[], &[]).count(), 1);
        assert_eq!(blocks(&[5], &[5], &[0]).count(), 0);
    }
}
