//! The memory allocator: pieces from mapped ranges (petrini2003 s3.1.2).

use elan::{ElanAddr, MemoryError, Node, Permissions, Placement, Region};
use std::collections::BTreeMap;
use thiserror::Error;
use units::Bytes;

/// Why an allocator refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AllocError {
    /// There is no room.
    #[error(transparent)]
    Exhausted(#[from] MemoryError),
    /// The only range in a heap that does not grow is full.
    #[error("a heap of {heap} has no room for {size}")]
    Full {
        /// The heap's length.
        heap: Bytes,
        /// The requested size.
        size: Bytes,
    },
    /// The alignment is not a power of two.
    #[error("an alignment of {0} is no power of two")]
    Alignment(u32),
    /// There was no allocation at the address, or it has been freed.
    #[error("nothing is allocated at {0}")]
    NotAllocated(ElanAddr),
}

/// A heap in one process's memory. It maps ranges as it needs them, hands out the lowest place that
/// fits, and unmaps a range once it is free as a whole. Equal calls give equal addresses.
pub struct Heap {
    node: Node,
    placement: Placement,
    /// How much the heap maps at a time; `None` for a heap that does not grow.
    arena: Option<Bytes>,
    arenas: BTreeMap<ElanAddr, Region>,
    /// Free and used pieces: start and length.
    free: BTreeMap<u64, u64>,
    used: BTreeMap<u64, u64>,
}

impl Heap {
    /// A heap that maps at least so much at a time.
    pub fn new(node: Node, placement: Placement, arena: Bytes) -> Self {
        Heap {
            node,
            placement,
            arena: Some(arena),
            arenas: BTreeMap::new(),
            free: BTreeMap::new(),
            used: BTreeMap::new(),
        }
    }

    /// A heap that is mapped now and stays mapped: it never grows or shrinks.
    ///
    /// # Errors
    /// If there is no room for the heap.
    pub fn fixed(node: Node, placement: Placement, size: Bytes) -> Result<Self, AllocError> {
        let mut heap = Heap::new(node, placement, size);
        heap.map(size)?;
        heap.arena = None;
        Ok(heap)
    }

    fn map(&mut self, size: Bytes) -> Result<(), MemoryError> {
        let region = self
            .node
            .map(self.placement, size, Permissions::ALL, true)?;
        let start = region.start().elan;
        self.arenas.insert(start, region);
        self.free.insert(start.as_u32().into(), size.as_u64());
        Ok(())
    }

    /// Allocates bytes, zeros at first, at a multiple of `align`; 0 means any address. Zero bytes
    /// take a place, too.
    ///
    /// # Errors
    /// See [`AllocError`].
    pub fn alloc(&mut self, align: u32, size: Bytes) -> Result<ElanAddr, AllocError> {
        self.alloc_from(ElanAddr::new(0), align, size)
    }

    /// Allocates as [`alloc`](Self::alloc), no lower than at some address, in a heap that does not
    /// grow.
    pub(crate) fn alloc_from(
        &mut self,
        from: ElanAddr,
        align: u32,
        size: Bytes,
    ) -> Result<ElanAddr, AllocError> {
        let from = u64::from(from.as_u32());
        let align = align.max(1);
        if !align.is_power_of_two() {
            return Err(AllocError::Alignment(align));
        }
        let (align, length) = (u64::from(align), size.as_u64().max(1));
        let at = match (self.place(from, align, length), self.arena) {
            (Some(at), _) => at,
            (None, None) => {
                let heap = self.arenas.values().map(|region| region.len()).sum();
                return Err(AllocError::Full { heap, size });
            }
            (None, Some(arena)) => {
                // Ranges begin at pages; wider alignments may have to skip something.
                let page = elan::memory::PAGE.as_u64();
                let skip = if align > page { align } else { 0 };
                let wanted = Bytes::new(length.saturating_add(skip));
                self.map(wanted.max(arena))?;
                self.place(0, align, length)
                    .expect("it has just been mapped")
            }
        };
        Ok(ElanAddr::new(at as u32))
    }

    /// Takes the lowest free place.
    fn place(&mut self, from: u64, align: u64, length: u64) -> Option<u64> {
        let (start, free, at) = self.free.iter().find_map(|(&start, &free)| {
            let at = start.max(from).next_multiple_of(align);
            (at - start + length <= free).then_some((start, free, at))
        })?;
        self.free.remove(&start);
        let end = start + free;
        if at > start {
            self.free.insert(start, at - start);
        }
        if at + length < end {
            self.free.insert(at + length, end - at - length);
        }
        self.used.insert(at, length);
        Some(at)
    }

    /// Frees the allocation at an address.
    ///
    /// # Errors
    /// If there is no allocation at this address.
    pub fn free(&mut self, at: ElanAddr) -> Result<(), AllocError> {
        let mut start = u64::from(at.as_u32());
        let length = self.used.remove(&start);
        let mut length = length.ok_or(AllocError::NotAllocated(at))?;
        self.clear(at, length);
        // Adjacent free pieces in the range become one.
        let (&first, region) = self
            .arenas
            .range(..=at)
            .next_back()
            .expect("it has a range");
        let (from, to) = (
            u64::from(first.as_u32()),
            u64::from(first.as_u32()) + region.len().as_u64(),
        );
        if let Some((&before, &free)) = self.free.range(from..start).next_back()
            && before + free == start
        {
            self.free.remove(&before);
            (start, length) = (before, length + free);
        }
        if let Some(after) = self
            .free
            .remove(&(start + length))
            .filter(|_| start + length < to)
        {
            length += after;
        }
        if self.arena.is_some() && (start, length) == (from, to - from) {
            let region = self.arenas.remove(&first).expect("it has a range");
            self.node.free(region).expect("the heap has mapped it");
        } else {
            self.free.insert(start, length);
        }
        Ok(())
    }

    /// Clears freed memory: the next allocation finds zeros.
    fn clear(&self, at: ElanAddr, length: u64) {
        let at = self.node.at(at);
        let zeros = vec![0; length as usize];
        self.node.store(at, &zeros).expect("the heap has mapped it");
    }

    /// Bytes that are allocated.
    pub fn used(&self) -> Bytes {
        Bytes::new(self.used.values().sum())
    }
}
