//! # The MMU: the meaning of a process's addresses, and the rights to use them
//!
//! A process maps *ranges* of its address space, in main memory or adapter memory. Each range has
//! [`Permissions`], which the process can change for any part (petrini2003 s3: "a process can
//! select which part of its address space should be visible across the network, determine specific
//! access rights"). Translation happens at both ends: the sender's adapter translates the source,
//! packet by packet, the receiver's adapter the destination, transaction by transaction; [`Access`]
//! lists the right that each access needs.
//!
//! An access to an address that is unmapped, forbidden, or under another capability is a
//! [`AccessFault`](crate::AccessFault), which reaches the program that asked for the access; the
//! packet is not stored. An access of zero bytes touches no memory and needs no mapping.
//!
//! Mapping goes by pages, but a range's last page counts only as far as the range goes, and a page
//! is left out between two ranges. This is stricter than hardware: an access beyond the end never
//! passes by luck. The 16-entry TLB and its walks have no separate cost: `dma_start` includes them.

pub(crate) mod context;
pub(crate) mod shared;

use crate::memory::{
    Access, Contents, ElanAddr, HEAP, HEAP_END, PAGE, Permissions, Placement, Reason,
};
use units::Bytes;

/// A mapped range.
pub(crate) struct Range {
    start: u64,
    length: u64,
    pub placement: Placement,
    permissions: Permissions,
    /// Where the process has changed the permissions: offsets, ascending and disjoint.
    changes: Vec<(std::ops::Range<u64>, Permissions)>,
    pub contents: Option<Contents>,
}

impl Range {
    #[inline]
    fn allows(&self, offset: u64, length: u64, access: Access) -> bool {
        let needs = access.needs();
        if self.changes.is_empty() {
            return self.permissions.contains(needs);
        }
        let mut at = offset;
        let end = offset + length;
        for (part, permissions) in &self.changes {
            if part.end <= at || part.start >= end {
                continue;
            }
            if part.start > at && !self.permissions.contains(needs) || !permissions.contains(needs)
            {
                return false;
            }
            at = part.end;
        }
        at >= end || self.permissions.contains(needs)
    }

    fn protect(&mut self, part: std::ops::Range<u64>, permissions: Permissions) {
        let mut changes = Vec::with_capacity(self.changes.len() + 2);
        for (other, theirs) in self.changes.drain(..) {
            for rest in [
                other.start..other.end.min(part.start),
                other.start.max(part.end)..other.end,
            ] {
                if rest.start < rest.end {
                    changes.push((rest, theirs));
                }
            }
        }
        changes.push((part, permissions));
        changes.sort_by_key(|(part, _)| part.start);
        self.changes = changes;
    }

    /// Bytes in whole pages that the range takes, in addresses and, if it holds bytes, in memory.
    pub fn pages(&self) -> Bytes {
        pages(Bytes::new(self.length))
    }

    /// The first address that a range behind it may have: one page stays free.
    fn behind(&self) -> u64 {
        self.start + self.pages().as_u64() + PAGE.as_u64()
    }

    /// Adapter memory that the range takes.
    pub fn adapter_memory(&self) -> Bytes {
        if self.contents.is_some() && self.placement == Placement::Adapter {
            self.pages()
        } else {
            Bytes::ZERO
        }
    }
}

/// Bytes rounded up to whole pages, at least one. For a length within the last page of all numbers
/// this page is left out: no memory has room for it either way, and a rank may request any length.
pub(crate) fn pages(bytes: Bytes) -> Bytes {
    PAGE * bytes.div_ceil(PAGE).clamp(1, u64::MAX / PAGE.as_u64())
}

/// One process's ranges, by address.
#[derive(Default)]
pub(crate) struct AddressSpace {
    ranges: Vec<Range>,
    /// So many first ranges are adjacent from the heap's start on, without room between them.
    packed: usize,
}

impl AddressSpace {
    /// Maps a range at the heap's lowest addresses that have room, but no lower than `from`, on
    /// page boundaries.
    ///
    /// # Errors
    /// Returns the longest range that would fit.
    pub fn map(
        &mut self,
        from: ElanAddr,
        bytes: Bytes,
        placement: Placement,
        permissions: Permissions,
        contents: Option<Contents>,
    ) -> Result<ElanAddr, Bytes> {
        let needed = pages(bytes).as_u64();
        let from = u64::from(from.max(HEAP).as_u32());
        let packed = self.pack();
        let start = from.max(packed).next_multiple_of(PAGE.as_u64());
        let (mut start, mut longest) = (start, 0);
        let end = u64::from(HEAP_END.as_u32());
        let mut place = self.ranges.len();
        for (index, range) in self.ranges.iter().enumerate().skip(self.packed) {
            // One page stays free before the next range.
            let gap = range.start.saturating_sub(start + PAGE.as_u64());
            if gap >= needed {
                place = index;
                break;
            }
            longest = longest.max(gap);
            start = start.max(range.behind());
        }
        if place == self.ranges.len() && end.saturating_sub(start) < needed {
            return Err(Bytes::new(longest.max(end.saturating_sub(start))));
        }
        let range = Range {
            start,
            length: bytes.as_u64(),
            placement,
            permissions,
            changes: Vec::new(),
            contents,
        };
        self.ranges.insert(place, range);
        Ok(ElanAddr::new(start as u32))
    }

    /// Counts the packed ranges; returns the first address that a range behind them may have.
    fn pack(&mut self) -> u64 {
        let last = self.packed.checked_sub(1);
        let mut start = last.map_or(HEAP.as_u32().into(), |last| self.ranges[last].behind());
        while let Some(range) = self.ranges.get(self.packed)
            && range.start <= start + PAGE.as_u64()
        {
            start = start.max(range.behind());
            self.packed += 1;
        }
        start
    }

    /// Unmaps the range of this length at this address, if there is one.
    pub fn unmap(&mut self, start: ElanAddr, bytes: Bytes) -> Option<Range> {
        let wanted = (u64::from(start.as_u32()), bytes.as_u64());
        let index = self
            .ranges
            .binary_search_by_key(&wanted.0, |range| range.start)
            .ok()
            .filter(|&index| self.ranges[index].length == wanted.1)?;
        self.packed = self.packed.min(index);
        Some(self.ranges.remove(index))
    }

    /// All ranges.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    #[inline]
    fn find(&self, at: ElanAddr, length: Bytes) -> Result<(usize, u64), Reason> {
        let (at, length) = (u64::from(at.as_u32()), length.as_u64());
        let index = self.ranges.partition_point(|range| range.start <= at);
        let index = index.checked_sub(1).ok_or(Reason::Unmapped)?;
        let (range, offset) = (&self.ranges[index], at - self.ranges[index].start);
        let inside = offset <= range.length && length <= range.length - offset;
        inside.then_some((index, offset)).ok_or(Reason::Unmapped)
    }

    /// Translates an access to at least one byte: the range and the offset in it.
    #[inline]
    pub fn translate(
        &self,
        at: ElanAddr,
        length: Bytes,
        access: Access,
    ) -> Result<(&Range, u64), Reason> {
        let (index, offset) = self.find(at, length)?;
        let range = &self.ranges[index];
        if range.allows(offset, length.as_u64(), access) {
            Ok((range, offset))
        } else {
            Err(Reason::Forbidden)
        }
    }

    /// Translates a write access to at least one byte.
    pub fn translate_mut(
        &mut self,
        at: ElanAddr,
        length: Bytes,
        access: Access,
    ) -> Result<(&mut Range, u64), Reason> {
        self.translate(at, length, access)?;
        let (index, offset) = self.find(at, length)?;
        Ok((&mut self.ranges[index], offset))
    }

    /// Changes the permissions of a range's part.
    pub fn protect(
        &mut self,
        at: ElanAddr,
        length: Bytes,
        permissions: Permissions,
    ) -> Result<(), Reason> {
        let (index, offset) = self.find(at, length)?;
        if !length.is_zero() {
            self.ranges[index].protect(offset..offset + length.as_u64(), permissions);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
