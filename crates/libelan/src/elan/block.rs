//! A group's memory in each member: events, words and the broadcast stage in the adapter, partial
//! results in main memory.

use crate::elan3::{AllocError, Heap};
use elan::{ElanAddr, Node};
use std::cell::RefCell;
use units::Bytes;

/// Packets per segment. The value is assumed, not published; sending a segment of 4 takes longer
/// than the thread and the DMA engine take to send it on.
const SEGMENT_PACKETS: u64 = 4;

/// Segments in the stage: one is copied out, one is sent on, one comes, and for one the signal that
/// there is room is under way. With 3 a chain is slower by a third, with more than 4 no faster. The
/// value is assumed, not published.
pub(super) const SLOTS: u64 = 4;

/// The longest segment.
pub(super) fn segment(node: &Node) -> Bytes {
    node.config().packet.payload * SEGMENT_PACKETS
}

/// A group's memory in each member: see the functions for the offsets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub elan: ElanAddr,
    pub main: ElanAddr,
}

/// Bytes that a reduction combines at a time, and thus the slot length for partial results: assumed
/// for `elan_reduce`.
pub(super) const CHUNK: Bytes = Bytes::from_kb(2);

/// The block's events, 64 bytes each. Two words follow the events: how many hardware barriers this
/// process has come to, and from which barrier on it shall notify the root. Then comes the stage
/// for software broadcasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// All processes below in the tree, and this process, are ready.
    Ready,
    /// The software barrier is over.
    Release,
    /// The network conditional is to be asked.
    Ask,
    /// The hardware barrier is over.
    Go,
    /// There is something to send on.
    Work,
    /// The bytes have been sent on.
    Sent,
    /// A broadcast segment has come: one event for even, one for odd numbers.
    Arrived(u32),
    /// The place above has taken the last partial result.
    Credit,
    /// A process has come to a hardware barrier after the root had given up asking.
    Told,
    /// A child has room for another broadcast segment.
    Room(u32),
    /// A child's partial result has come.
    Partial(u32),
}

impl Slot {
    pub fn index(self) -> u32 {
        match self {
            Slot::Ready => 0,
            Slot::Release => 1,
            Slot::Ask => 2,
            Slot::Go => 3,
            Slot::Work => 4,
            Slot::Sent => 5,
            Slot::Arrived(parity) => 6 + parity,
            Slot::Credit => 8,
            Slot::Told => 9,
            Slot::Room(child) => 10 + 2 * child,
            Slot::Partial(child) => 11 + 2 * child,
        }
    }

    /// A group's slots, given its tree's branching ratio.
    pub fn events(ratio: u32) -> impl Iterator<Item = Slot> {
        let first = [
            Slot::Ready,
            Slot::Release,
            Slot::Ask,
            Slot::Go,
            Slot::Work,
            Slot::Sent,
            Slot::Arrived(0),
            Slot::Arrived(1),
            Slot::Credit,
            Slot::Told,
        ];
        let of_children = (0..ratio).flat_map(|child| [Slot::Room(child), Slot::Partial(child)]);
        first.into_iter().chain(of_children)
    }
}

impl Block {
    /// A block at the lowest address.
    pub const ANYWHERE: Block = Block {
        elan: ElanAddr::new(0),
        main: ElanAddr::new(0),
    };

    /// Allocates a block in a process's global heaps, no lower than at some addresses.
    pub fn alloc(
        node: &Node,
        elan: &RefCell<Heap>,
        main: &RefCell<Heap>,
        from: Block,
    ) -> Result<Block, AllocError> {
        let at = elan
            .borrow_mut()
            .alloc_from(from.elan, 64, Block::elan_size(node))?;
        let size = Block::main_size(node.config().group.branching);
        let main = main.borrow_mut().alloc_from(from.main, 64, size);
        if main.is_err() {
            elan.borrow_mut().free(at)?;
        }
        Ok(Block {
            elan: at,
            main: main?,
        })
    }

    /// A block's adapter memory.
    pub fn elan_size(node: &Node) -> Bytes {
        let parts = if node.lists_faults() { 3 } else { 0 };
        Block::record_offset(node) + elan::memory::EVENT_BLOCK * parts
    }

    fn record_offset(node: &Node) -> Bytes {
        Block::events_size(node) + elan::memory::EVENT_BLOCK + segment(node) * SLOTS
    }

    /// The failure record at a block's end, where the machine lists faults: two events, and words.
    pub fn record(self, node: &Node) -> ElanAddr {
        self.elan.offset(Block::record_offset(node))
    }

    /// Adapter memory of a block's events.
    fn events_size(node: &Node) -> Bytes {
        let count = Slot::events(node.config().group.branching).count();
        elan::memory::EVENT_BLOCK * count as u64
    }

    /// A block's words.
    pub fn words(self, node: &Node) -> [ElanAddr; 2] {
        let first = self.elan.offset(Block::events_size(node));
        [first, first.offset(elan::transaction::WORD)]
    }

    /// A block's stage.
    pub fn stage(self, node: &Node) -> ElanAddr {
        let words = elan::memory::EVENT_BLOCK;
        self.elan.offset(Block::events_size(node) + words)
    }

    /// A block's main memory: the children's partial results, the process's own partial result, and
    /// the result.
    pub fn main_size(ratio: u32) -> Bytes {
        CHUNK * u64::from(ratio + 2)
    }

    pub fn at(self, slot: Slot) -> ElanAddr {
        let offset = elan::memory::EVENT_BLOCK * u64::from(slot.index());
        self.elan.offset(offset)
    }

    pub fn partial(self, child: u32) -> ElanAddr {
        self.main.offset(CHUNK * u64::from(child + 2))
    }

    pub fn own(self) -> ElanAddr {
        self.main
    }

    pub fn result(self) -> ElanAddr {
        self.main.offset(CHUNK)
    }
}
