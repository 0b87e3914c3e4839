//! A node as its programs see it.

use super::{Happening, World};
use crate::dma::{Dma, DmaError, Progress, Transfer};
use crate::event::{Event, EventId};
use crate::memory::{Placement, Region};
use fabric::NodeId;
use kernel::Signal;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

/// One node. Clones are the same node; a process keeps its own.
#[derive(Clone)]
pub struct Node {
    world: Rc<RefCell<World>>,
    id: NodeId,
}

impl Node {
    pub(super) fn new(world: Rc<RefCell<World>>, id: NodeId) -> Self {
        Node { world, id }
    }

    /// Its number.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.world.borrow().now()
    }

    /// Waits until a moment; one in the past is now.
    pub async fn sleep_until(&self, at: Time) {
        if at > self.now() {
            let signal = Signal::new();
            self.world
                .borrow_mut()
                .schedule(at, self.id, Happening::Wake(signal.clone()));
            signal.wait().await;
        }
    }

    /// Waits for a while.
    pub async fn sleep(&self, time: Time) {
        self.sleep_until(self.now() + time).await;
    }

    /// A region of zeros.
    pub fn allocate(&self, placement: Placement, bytes: Bytes) -> Region {
        let contents = vec![0; bytes.as_u64() as usize].into_boxed_slice();
        self.region(placement, bytes, Some(contents))
    }

    /// A region that has a length and no contents; DMAs to and from it cost the same time.
    pub fn reserve(&self, placement: Placement, bytes: Bytes) -> Region {
        self.region(placement, bytes, None)
    }

    fn region(&self, placement: Placement, bytes: Bytes, contents: Option<Box<[u8]>>) -> Region {
        let index = self.world.borrow_mut().adapters[self.id as usize]
            .memory
            .add(contents);
        Region {
            node: self.id,
            index,
            placement,
            bytes,
        }
    }

    /// Stores bytes at the start of one of this node's regions, as the host does, in no time.
    ///
    /// # Panics
    /// If the region is another node's, or too short.
    pub fn write(&self, region: Region, bytes: &[u8]) {
        assert_eq!(region.node, self.id, "the region belongs to another node");
        assert!(
            region.start().covers(Bytes::new(bytes.len() as u64)),
            "the region is too short"
        );
        self.world.borrow_mut().adapters[self.id as usize]
            .memory
            .store(region.start(), bytes);
    }

    /// The contents of one of this node's regions; none if it was only reserved.
    ///
    /// # Panics
    /// If the region is another node's.
    pub fn read(&self, region: Region) -> Option<Box<[u8]>> {
        assert_eq!(region.node, self.id, "the region belongs to another node");
        self.world.borrow().adapters[self.id as usize]
            .memory
            .load(region.start(), region.len())
    }

    /// An event that is set by its `count`-th occurrence; one of count 0 is set.
    pub fn event(&self, count: u32) -> EventId {
        let events = &mut self.world.borrow_mut().adapters[self.id as usize].events;
        events.push(Event::new(count));
        EventId {
            node: self.id,
            index: events.len() as u32 - 1,
        }
    }

    /// Makes an event of this node wait for `count` occurrences again.
    pub fn prime(&self, event: EventId, count: u32) {
        assert_eq!(event.node, self.id, "the event belongs to another node");
        self.world.borrow_mut().adapters[self.id as usize].events[event.index as usize]
            .prime(count);
    }

    /// Waits until one of this node's events is set and its block seen in main memory.
    pub async fn wait(&self, event: EventId) {
        assert_eq!(
            event.node, self.id,
            "a process waits for events of its own node"
        );
        let seen = self.world.borrow().adapters[self.id as usize].events[event.index as usize]
            .seen
            .clone();
        seen.wait().await;
    }

    /// Posts a DMA, now. Awaiting the transfer waits until all of it is acknowledged, or all bytes of a get are there,
    /// and the process knows.
    pub fn dma(&self, dma: Dma) -> Transfer {
        let progress = Progress::new(dma, self.id, None);
        let (done, failed) = (progress.done.clone(), Rc::clone(&progress.failed));
        let mut world = self.world.borrow_mut();
        let id = world.dmas.insert(progress);
        world.post(self.id, id as u32);
        let result = async move {
            done.wait().await;
            failed.get().map_or(Ok(()), |error: DmaError| Err(error))
        };
        Transfer {
            result: Box::pin(result),
        }
    }

    /// Whether the inputter accepts packets; if not, it discards them and their senders try again.
    pub fn accept(&self, accepting: bool) {
        self.world.borrow_mut().adapters[self.id as usize]
            .inputter
            .refusing = !accepting;
    }

    /// Time in which this node's bus has been taken so far.
    pub fn bus_busy(&self) -> Time {
        self.world.borrow().adapters[self.id as usize].bus.busy()
    }
}
