//! Puts and gets of many pieces: vectors of pieces of one length, and blocks at regular distances. Each piece is a put or get of
//! its own; one event stands for all.

use super::event::{Event, What};
use super::layout::State;
use super::putget::{get, process, put};
use super::{called, stop};
use crate::native::Ticket;
use std::ffi::{c_int, c_uint, c_void};

/// Memory in which the original kept descriptors; programs allocate as much as they are told.
const DESCRIPTORS: usize = 64;

/// Where the blocks of a strided transfer begin, from the first one on, at the source and at the destination.
struct Blocks<'a> {
    strides: [&'a [c_int]; 2],
    /// How many blocks there are in each direction.
    counts: &'a [c_uint],
    /// The next block; none behind the last.
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

/// The slices that a strided call names: strides and counts of its levels, and the bytes of a block.
///
/// # Safety
/// As the headers say.
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

fn event(call: &'static str, tickets: Vec<Ticket>) -> *mut Event {
    Event::make(What::Operations(call, tickets))
}

// SAFETY, of all functions below: their callers keep to the headers.

#[unsafe(no_mangle)]
extern "C" fn elan_pgvGlobalMemSize(_state: *mut State) -> usize {
    DESCRIPTORS
}

#[unsafe(no_mangle)]
extern "C" fn elan_pgsGlobalMemSize(_state: *mut State) -> c_int {
    DESCRIPTORS as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_putv(
    _control: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    size: usize,
    count: c_int,
    vp: c_uint,
) -> *mut Event {
    called!("elan_putv");
    let vp = process("elan_putv", vp);
    let one = |index: usize| unsafe { put(vp, *from.add(index), (*to.add(index)).addr(), size, 0) };
    let count = if size == 0 { 0 } else { count };
    event(
        "elan_putv",
        (0..usize::try_from(count).unwrap_or(0)).map(one).collect(),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_getv(
    _control: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    size: usize,
    count: c_int,
    vp: c_uint,
) -> *mut Event {
    called!("elan_getv");
    let vp = process("elan_getv", vp);
    let one = |index: usize| unsafe { get(vp, (*from.add(index)).addr(), *to.add(index), size) };
    let count = if size == 0 { 0 } else { count };
    event(
        "elan_getv",
        (0..usize::try_from(count).unwrap_or(0)).map(one).collect(),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_putss(
    _control: *mut c_void,
    from: *mut u8,
    to: *mut u8,
    from_strides: *const c_int,
    to_strides: *const c_int,
    count: *const c_uint,
    depth: c_uint,
    vp: c_uint,
) -> *mut Event {
    called!("elan_putss");
    let vp = process("elan_putss", vp);
    let (size, blocks) = unsafe { levels("elan_putss", [from_strides, to_strides], count, depth) };
    let one = |[here, there]: [isize; 2]| unsafe {
        put(
            vp,
            from.wrapping_offset(here).cast(),
            to.wrapping_offset(there).addr(),
            size,
            0,
        )
    };
    event("elan_putss", blocks.filter(|_| size > 0).map(one).collect())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_getss(
    _control: *mut c_void,
    from: *mut u8,
    to: *mut u8,
    from_strides: *const c_int,
    to_strides: *const c_int,
    count: *const c_uint,
    depth: c_uint,
    vp: c_uint,
) -> *mut Event {
    called!("elan_getss");
    let vp = process("elan_getss", vp);
    let (size, blocks) = unsafe { levels("elan_getss", [from_strides, to_strides], count, depth) };
    let one = |[there, here]: [isize; 2]| unsafe {
        get(
            vp,
            from.wrapping_offset(there).addr(),
            to.wrapping_offset(here).cast(),
            size,
        )
    };
    event("elan_getss", blocks.filter(|_| size > 0).map(one).collect())
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
