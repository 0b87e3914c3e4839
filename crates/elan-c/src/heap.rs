//! A heap in an address range: the first place that fits, so that equal calls give equal places.

use std::collections::BTreeMap;
use std::ffi::c_void;

/// A heap. It has its memory from the kernel when it is first used; untouched pages have no cost.
pub struct SystemHeap {
    base: usize,
    size: usize,
    mapped: bool,
    /// Free ranges that do not touch each other: start and length.
    free: BTreeMap<usize, usize>,
    /// Allocated ranges.
    taken: BTreeMap<usize, usize>,
}

impl SystemHeap {
    /// A heap that will lie at a fixed address, which must be free in each process.
    pub const fn at(base: usize) -> SystemHeap {
        SystemHeap {
            base,
            size: 0,
            mapped: false,
            free: BTreeMap::new(),
            taken: BTreeMap::new(),
        }
    }

    /// Maps the memory, unless that was done. The error is the reason why it is not available.
    pub fn open(&mut self, size: usize) -> Result<(), String> {
        const PAGE: usize = 4096;
        if self.mapped {
            return Ok(());
        }
        let size = size.next_multiple_of(PAGE);
        let hint = std::ptr::with_exposed_provenance_mut::<c_void>(self.base);
        let flags = libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_NORESERVE
            | libc::MAP_FIXED_NOREPLACE;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel takes only unused addresses.
        let got = unsafe { libc::mmap(hint, size, rights, flags, -1, 0) };
        if got != hint {
            return Err(format!(
                "no memory of {size} bytes at address {:#x}: {}",
                self.base,
                std::io::Error::last_os_error()
            ));
        }
        self.size = size;
        self.mapped = true;
        self.free.insert(self.base, size);
        Ok(())
    }

    /// From where to where the heap reaches.
    pub fn range(&self) -> (usize, usize) {
        (self.base, self.size)
    }

    /// Allocates this many bytes at a multiple of `align`; `None` if there is no room.
    pub fn alloc(&mut self, align: usize, size: usize) -> Option<usize> {
        const LEAST: usize = 16;
        let align = align.max(LEAST).checked_next_power_of_two()?;
        let size = size.max(1).checked_next_multiple_of(LEAST)?;
        let fits = |(&from, &length): (&usize, &usize)| {
            let at = from.next_multiple_of(align);
            (at.checked_add(size)? <= from + length).then_some((from, length, at))
        };
        let (from, length, at) = self.free.iter().find_map(fits)?;
        self.free.remove(&from);
        if at > from {
            self.free.insert(from, at - from);
        }
        let (end, all) = (at + size, from + length);
        if end < all {
            self.free.insert(end, all - end);
        }
        self.taken.insert(at, size);
        Some(at)
    }

    /// Whether this place was allocated here and is free now.
    pub fn free(&mut self, at: usize) -> bool {
        let Some(mut length) = self.taken.remove(&at) else {
            return false;
        };
        let mut from = at;
        if let Some((&before, &size)) = self.free.range(..at).next_back()
            && before + size == at
        {
            self.free.remove(&before);
            (from, length) = (before, length + size);
        }
        if let Some(size) = self.free.remove(&(from + length)) {
            length += size;
        }
        self.free.insert(from, length);
        true
    }

    /// The last allocated range's end: above it all is free.
    pub fn top(&self) -> usize {
        let last = self.taken.last_key_value();
        last.map_or(self.base, |(&at, &size)| at + size)
    }

    /// Allocates at a place, which lies at or above [`SystemHeap::top`].
    pub fn alloc_at(&mut self, at: usize, size: usize) -> Option<usize> {
        const LEAST: usize = 16;
        let size = size.max(1).checked_next_multiple_of(LEAST)?;
        let (&from, &length) = self.free.range(..=at).next_back()?;
        if at.checked_add(size)? > from + length {
            return None;
        }
        self.free.remove(&from);
        if at > from {
            self.free.insert(from, at - from);
        }
        if at + size < from + length {
            self.free.insert(at + size, from + length - at - size);
        }
        self.taken.insert(at, size);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_places_join_and_are_used_again() {
        let mut heap = SystemHeap::at(0x4100_0000_0000);
        heap.open(1 << 16).expect("addresses that nobody uses");
        let places: Vec<_> = (0..4).filter_map(|_| heap.alloc(64, 100)).collect();
        assert_eq!(places.len(), 4);
        assert!(places.iter().all(|at| at % 64 == 0));
        assert!(heap.free(places[1]) && heap.free(places[2]));
        assert!(!heap.free(places[1]), "it is free");
        assert_eq!(heap.alloc(64, 200), Some(places[1]));
        assert_eq!(heap.alloc(16, 1 << 20), None);
    }

    #[test]
    fn equal_calls_give_equal_places() {
        let sizes = [10, 5000, 64, 1, 300];
        let all = [0x4200_0000_0000, 0x4300_0000_0000].map(|base| {
            let mut heap = SystemHeap::at(base);
            heap.open(1 << 16).expect("addresses that nobody uses");
            let places = sizes.map(|size| heap.alloc(32, size).map(|at| at - base));
            assert!(heap.top() > base);
            places
        });
        assert_eq!(all[0], all[1]);
    }
}
