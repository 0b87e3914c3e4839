//! The taken ranges in the symmetric heap. The first gap that is long enough is used, so that equal
//! calls in all ranks give equal addresses.

use std::collections::BTreeMap;

/// Every allocation begins at a multiple of this: a host cache line, and a packet's payload.
const LINE: usize = 64;

/// The allocations in an address range.
#[derive(Debug)]
pub struct SymmetricHeap {
    from: usize,
    to: usize,
    /// Allocation lengths, by address.
    taken: BTreeMap<usize, usize>,
}

impl SymmetricHeap {
    /// A heap from an address on.
    pub const fn new(from: usize, length: usize) -> SymmetricHeap {
        SymmetricHeap {
            from,
            to: from + length,
            taken: BTreeMap::new(),
        }
    }

    /// Takes a range; `None` if no gap is long enough. The alignment is a power of two.
    pub fn take(&mut self, length: usize, alignment: usize) -> Option<usize> {
        let alignment = alignment.max(LINE);
        let length = length.max(1).checked_next_multiple_of(LINE)?;
        let mut at = self.from.checked_next_multiple_of(alignment)?;
        for (&next, &other) in &self.taken {
            if at.checked_add(length)? <= next {
                break;
            }
            at = at.max(next + other).checked_next_multiple_of(alignment)?;
        }
        let fits = at.checked_add(length)? <= self.to;
        fits.then(|| {
            self.taken.insert(at, length);
            at
        })
    }

    /// The allocation's length at an address.
    pub fn length(&self, at: usize) -> Option<usize> {
        self.taken.get(&at).copied()
    }

    /// Makes an allocation longer or shorter where it is; false if there is no room.
    pub fn resize(&mut self, at: usize, length: usize) -> bool {
        let next = self.taken.range(at + 1..).next();
        let limit = next.map_or(self.to, |(&next, _)| next);
        let length = length.max(1).checked_next_multiple_of(LINE);
        let end = length.and_then(|length| at.checked_add(length));
        let (Some(length), Some(end)) = (length, end) else {
            return false;
        };
        let fits = self.taken.contains_key(&at) && end <= limit;
        if fits {
            self.taken.insert(at, length);
        }
        fits
    }

    /// Gives an allocation back; false if there is no allocation at the address.
    pub fn give_back(&mut self, at: usize) -> bool {
        self.taken.remove(&at).is_some()
    }
}
