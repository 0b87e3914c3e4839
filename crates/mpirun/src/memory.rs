//! A simulated process's buffers, in main memory or in the adapter's, for messages on their way.
//!
//! Buffers up to [`LARGE`] are kept and used again, by powers of two; longer ones are mapped for
//! one message. Those that are shorter than a page share pages, since a program may have thousands
//! of short messages under way. Buffers are not cleared: their user writes all bytes that will be
//! read.
//!
//! Buffers that puts write to are of a separate kind ([`Use::Sink`]). A put has ended for its
//! sender when the other adapter has accepted its bytes, which may still lie in that adapter's
//! input buffers and come to main memory later. A sink is never read and has no other use, so bytes
//! that come late are harmless.

use elan::{Address, ElanAddr, MemoryError, Node, PAGE, Permissions, Placement, Region};
use std::cell::RefCell;
use std::collections::BTreeMap;
use units::Bytes;

const SMALL: u64 = 64;
const LARGE: u64 = 1 << 20;

/// The use of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// Bytes that are read: by an adapter, or by the process.
    Message,
    /// Put bytes.
    Sink,
}

/// A buffer.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    place: Place,
    length: u64,
    what: Use,
}

/// Where a buffer begins: an offset in a mapped region.
type Place = (Region, Bytes);

impl Buffer {
    fn start(self) -> Address {
        let (region, offset) = self.place;
        region.at(offset)
    }

    pub fn at(self) -> ElanAddr {
        self.start().elan
    }
}

/// One process's buffers.
pub(crate) struct Buffers {
    node: Node,
    placement: Placement,
    free: RefCell<BTreeMap<(Use, u64), Vec<Place>>>,
}

impl Buffers {
    pub fn new(node: Node, placement: Placement) -> Self {
        Buffers {
            node,
            placement,
            free: RefCell::default(),
        }
    }

    /// A buffer with at least this many bytes.
    pub fn take(&self, size: Bytes) -> Result<Buffer, MemoryError> {
        self.take_for(Use::Message, size)
    }

    /// A buffer with at least this many bytes, for a use.
    pub fn take_for(&self, what: Use, size: Bytes) -> Result<Buffer, MemoryError> {
        let length = size.as_u64().max(SMALL);
        let length = if length <= LARGE {
            length.next_power_of_two()
        } else {
            length
        };
        let kept = self
            .free
            .borrow_mut()
            .get_mut(&(what, length))
            .and_then(Vec::pop);
        let place = match kept {
            Some(place) => place,
            None => self.map(what, length)?,
        };
        Ok(Buffer {
            place,
            length,
            what,
        })
    }

    /// Maps a new buffer. The others on its page are kept, so that the next one lies behind it.
    fn map(&self, what: Use, length: u64) -> Result<Place, MemoryError> {
        let mapped = PAGE.max(Bytes::new(length));
        let region = self
            .node
            .map(self.placement, mapped, Permissions::ALL, true)?;
        let others = (1..mapped.as_u64() / length).rev();
        let others = others.map(|index| (region, Bytes::new(index * length)));
        if length < mapped.as_u64() {
            let mut free = self.free.borrow_mut();
            free.entry((what, length)).or_default().extend(others);
        }
        Ok((region, Bytes::ZERO))
    }

    /// Fills a buffer's first bytes.
    pub fn store(&self, buffer: Buffer, bytes: &[u8]) {
        let stored = self.node.store(buffer.start(), bytes);
        stored.expect("the buffer is long enough");
    }

    /// A buffer's first bytes.
    pub fn load(&self, buffer: Buffer, size: Bytes) -> Box<[u8]> {
        let bytes = self.node.load(buffer.start(), size);
        bytes.expect("the buffer is long enough")
    }

    pub fn give_back(&self, buffer: Buffer) {
        let Buffer {
            place,
            length,
            what,
        } = buffer;
        if length <= LARGE {
            let mut free = self.free.borrow_mut();
            free.entry((what, length)).or_default().push(place);
        } else {
            self.node.free(place.0).expect("it was mapped here");
        }
    }
}
