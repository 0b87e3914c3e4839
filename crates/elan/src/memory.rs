//! Memories of a node: its main memory, behind the bus, and the adapter's own.
//!
//! A program reserves *regions*. A region either holds real bytes ([`crate::Node::allocate`]) or only has a length
//! ([`crate::Node::reserve`]): generators of traffic need no data. Both take the same path through the model and the
//! same time; bytes move where both ends of a DMA hold them.

use fabric::NodeId;
use units::Bytes;

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// In the adapter's memory: no bus between it and the network.
    Adapter,
    /// In main memory, across the I/O bus.
    Main,
}

/// A stretch of one node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub(crate) node: NodeId,
    pub(crate) index: u32,
    pub(crate) placement: Placement,
    pub(crate) bytes: Bytes,
}

impl Region {
    /// The node that it belongs to.
    pub fn node(self) -> NodeId {
        self.node
    }

    /// Its first byte.
    pub fn start(self) -> Address {
        self.at(Bytes::ZERO)
    }

    /// The byte at an offset. Nothing is checked here: a DMA outside its region fails at the adapter that executes it.
    pub fn at(self, offset: Bytes) -> Address {
        Address {
            region: self,
            offset,
        }
    }

    /// Its length.
    pub fn len(self) -> Bytes {
        self.bytes
    }

    /// Whether its length is 0.
    pub fn is_empty(self) -> bool {
        self.bytes == Bytes::ZERO
    }
}

/// A byte in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub(crate) region: Region,
    pub(crate) offset: Bytes,
}

impl Address {
    /// Whether `length` bytes from here on lie within the region.
    pub(crate) fn covers(self, length: Bytes) -> bool {
        self.offset
            .as_u64()
            .checked_add(length.as_u64())
            .is_some_and(|end| end <= self.region.bytes.as_u64())
    }

    pub(crate) fn advanced(self, by: Bytes) -> Address {
        Address {
            offset: self.offset + by,
            ..self
        }
    }

    pub(crate) fn placement(self) -> Placement {
        self.region.placement
    }
}

/// The contents of a node's regions.
#[derive(Default)]
pub(crate) struct Memory {
    contents: Vec<Option<Box<[u8]>>>,
}

impl Memory {
    pub fn add(&mut self, contents: Option<Box<[u8]>>) -> u32 {
        self.contents.push(contents);
        self.contents.len() as u32 - 1
    }

    /// The bytes at an address, if the region holds any. The address must cover the length.
    pub fn load(&self, from: Address, length: Bytes) -> Option<Box<[u8]>> {
        let contents = self.contents[from.region.index as usize].as_ref()?;
        Some(contents[range(from, length)].into())
    }

    /// Stores bytes at an address, if the region holds any. The address must cover them.
    pub fn store(&mut self, to: Address, bytes: &[u8]) {
        if let Some(contents) = &mut self.contents[to.region.index as usize] {
            contents[range(to, Bytes::new(bytes.len() as u64))].copy_from_slice(bytes);
        }
    }
}

fn range(address: Address, length: Bytes) -> std::ops::Range<usize> {
    let start = address.offset.as_u64() as usize;
    start..start + length.as_u64() as usize
}
