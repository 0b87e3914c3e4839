//! # Memory: addresses, regions, and the bytes behind them
//!
//! A process has one address space that its program and its adapter share (petrini2003 s3.1.2,
//! figure 5). The adapter's addresses have 32 bits, the host's 64. In the *memory allocator heap*,
//! which begins at [`HEAP`], both name the same bytes, at a constant distance. Behind an address
//! range lies either main memory, across the bus, or the adapter's own memory: this is the range's
//! [`Placement`].
//!
//! An [`ElanAddr`] is a place in one process's space. An [`Address`] is a place in the distributed
//! virtual shared memory: the node, the process's context, the adapter's address. A [`Region`] is a
//! range that a process has mapped; see [`crate::adapter::mmu`] for translation and protection.
//!
//! A region either holds real bytes ([`crate::Node::allocate`]) or only has a length
//! ([`crate::Node::reserve`]): traffic generators need no data. Both kinds take the same path
//! through the model and the same time. Bytes move where both ends of a DMA hold bytes; a region
//! without bytes reads as zeros.

mod rights;

pub use rights::{Access, AccessFault, Capability, Permissions, Reason};

use crate::Place;
use derive::Identifier;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;
use units::Bytes;

/// A page in the MMUs (the Alpha's; the Elan3 has 4 or 8 KB pages: public headers).
pub const PAGE: Bytes = Bytes::from_kb(8);

/// An event in adapter memory, and the block that an event copies to main memory (public Elan3
/// headers: 64 bytes).
pub const EVENT_BLOCK: Bytes = Bytes::new(64);

/// Where the allocator heap begins, in the adapter's addresses (petrini2003 figure 5).
pub const HEAP: ElanAddr = ElanAddr::new(0x0C80_8000);

/// Where the heap ends. The last page in the 32 bits is never mapped, so [`ElanAddr::NOWHERE`] is
/// never valid.
pub const HEAP_END: ElanAddr = ElanAddr::new(0xFFFF_E000);

/// The distance from an adapter's address in the heap to the host's (petrini2003 figure 5:
/// 0x1FF0C808000 is 0xC808000).
const MAIN_OFFSET: u64 = 0x1FF_0000_0000;

/// An adapter address: 32 bits (petrini2003 s3.1.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElanAddr(u32);

impl ElanAddr {
    /// The last address, which is mapped in no process.
    pub const NOWHERE: ElanAddr = ElanAddr::new(u32::MAX);

    /// The address with a number.
    pub const fn new(address: u32) -> Self {
        ElanAddr(address)
    }

    /// The address's number.
    pub const fn as_u32(self) -> u32 {
        self.0
    }

    /// The address some bytes further on; beyond the 32 bits it is [`NOWHERE`](Self::NOWHERE).
    #[must_use]
    pub fn offset(self, by: Bytes) -> Self {
        let sum = u64::from(self.0).saturating_add(by.as_u64());
        ElanAddr(u32::try_from(sum).unwrap_or(u32::MAX))
    }

    /// The host's address for the same byte (`elan2main`); `None` outside the heap.
    pub fn main(self) -> Option<MainAddr> {
        (HEAP..HEAP_END)
            .contains(&self)
            .then(|| MainAddr(MAIN_OFFSET + u64::from(self.0)))
    }
}

impl fmt::Display for ElanAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Debug for ElanAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A host address: 64 bits (petrini2003 s3.1.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MainAddr(u64);

impl MainAddr {
    /// The address with a number.
    pub const fn new(address: u64) -> Self {
        MainAddr(address)
    }

    /// The address's number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The adapter's address for the same byte (`main2elan`); `None` outside the heap.
    pub fn elan(self) -> Option<ElanAddr> {
        let address = self.0.checked_sub(MAIN_OFFSET)?;
        let address = ElanAddr(u32::try_from(address).ok()?);
        (HEAP..HEAP_END).contains(&address).then_some(address)
    }
}

impl fmt::Display for MainAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Debug for MainAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A context's number on its adapter; see [`crate::adapter::mmu`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct ContextId(u32);

/// Virtual process id: a process's number in its job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct ProcessId(u32);

/// An event's number on its adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct EventNumber(u32);

/// A queue's number on its adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct QueueNumber(u32);

/// An event at one node; see [`crate::adapter::event_unit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    pub(crate) node: Place,
    pub(crate) index: EventNumber,
}

impl EventId {
    /// The place of the adapter that holds the event.
    pub fn node(self) -> Place {
        self.node
    }
}

/// A byte in the distributed virtual shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The adapter's place.
    pub node: Place,
    /// The process's context on the adapter.
    pub context: ContextId,
    /// The address in the process's memory.
    pub elan: ElanAddr,
}

impl Address {
    /// The address some bytes further on.
    #[must_use]
    pub fn offset(self, by: Bytes) -> Self {
        let elan = self.elan.offset(by);
        Address { elan, ..self }
    }

    /// Whether another address lies in the same process's memory.
    pub fn is_with(self, other: Address) -> bool {
        (self.node, self.context) == (other.node, other.context)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address {
            node,
            context,
            elan,
        } = self;
        write!(f, "{elan} of node {node}, context {context}")
    }
}

/// Where a buffer lies.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// In the adapter's memory: no bus between it and the network.
    #[serde(rename = "elan")]
    Adapter,
    /// In main memory, across the I/O bus.
    Main,
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Placement::Adapter => "adapter",
            Placement::Main => "main",
        })
    }
}

/// A range in one process's memory, as it was mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub(crate) start: Address,
    pub(crate) placement: Placement,
    pub(crate) bytes: Bytes,
}

impl Region {
    /// The place of the adapter at which the process has mapped the region.
    pub fn node(self) -> Place {
        self.start.node
    }

    /// The region's first byte.
    pub fn start(self) -> Address {
        self.start
    }

    /// The byte at an offset. There is no check here: an address outside the region fails at the
    /// adapter that translates it.
    pub fn at(self, offset: Bytes) -> Address {
        self.start.offset(offset)
    }

    /// The region's length.
    pub fn len(self) -> Bytes {
        self.bytes
    }

    /// Whether its length is 0.
    pub fn is_empty(self) -> bool {
        self.bytes == Bytes::ZERO
    }

    /// The region's kind of memory.
    pub fn placement(self) -> Placement {
        self.placement
    }
}

/// There is no room for a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "node {node}, context {context}: no room for {bytes} of {placement} memory; {left} are left"
)]
pub struct MemoryError {
    /// The adapter's place.
    pub node: Place,
    /// The process's context.
    pub context: ContextId,
    /// The requested kind of memory.
    pub placement: Placement,
    /// The requested length.
    pub bytes: Bytes,
    /// The longest range that would fit.
    pub left: Bytes,
}

/// A region's bytes: pages of zeros, which exist only once they have been written to.
#[derive(Default)]
pub(crate) struct Contents {
    pages: BTreeMap<u64, Box<[u8]>>,
}

const PAGE_LENGTH: usize = PAGE.as_u64() as usize;

impl Contents {
    pub fn load(&self, offset: u64, length: Bytes) -> Box<[u8]> {
        let mut bytes = vec![0; length.as_u64() as usize].into_boxed_slice();
        for (page, inside, part) in pieces(offset, bytes.len()) {
            if let Some(page) = self.pages.get(&page) {
                let length = part.len();
                bytes[part].copy_from_slice(&page[inside..inside + length]);
            }
        }
        bytes
    }

    pub fn store(&mut self, offset: u64, bytes: &[u8]) {
        for (page, inside, part) in pieces(offset, bytes.len()) {
            let zeros = || vec![0; PAGE_LENGTH].into_boxed_slice();
            let page = self.pages.entry(page).or_insert_with(zeros);
            page[inside..inside + part.len()].copy_from_slice(&bytes[part]);
        }
    }
}

/// Cuts bytes at an offset into pieces, each within a page: the page, the offset in the page, and
/// the byte indices.
fn pieces(
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let inside = (at % PAGE.as_u64()) as usize;
        let end = length.min(done + PAGE_LENGTH - inside);
        let piece = (at / PAGE.as_u64(), inside, done..end);
        done = end;
        (!piece.2.is_empty()).then_some(piece)
    })
}
