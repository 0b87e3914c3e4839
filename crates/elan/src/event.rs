//! Events: how the end of a transfer becomes known (000 s3.1.1).
//!
//! An event lives in adapter memory and holds a count. Each occurrence lowers it; when it reaches zero the event is
//! *set*, and its action starts: a block of adapter memory is copied to main memory, where a process polls the copy
//! without crossing the bus. A process that waits goes on once the block has arrived and its poll has seen it.

use crate::bus::Direction;
use crate::cluster::{Happening, World};
use crate::dma::DmaId;
use fabric::NodeId;
use kernel::Signal;
use units::Bytes;

/// The block that a set event copies to main memory (public Elan3 headers: 64 bytes).
pub const EVENT_BLOCK: Bytes = Bytes::new(64);

/// An event of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId {
    pub(crate) node: NodeId,
    pub(crate) index: u32,
}

impl EventId {
    /// The node whose adapter holds it.
    pub fn node(self) -> NodeId {
        self.node
    }
}

/// An event as the adapter sees it.
pub(crate) struct Event {
    /// Occurrences until it is set.
    pub count: u32,
    /// What the waiting process sees.
    pub seen: Signal,
}

impl Event {
    pub fn new(count: u32) -> Self {
        let mut event = Event {
            count,
            seen: Signal::new(),
        };
        event.prime(count);
        event
    }

    /// Lets it wait for `count` occurrences; with none to wait for it is set.
    pub fn prime(&mut self, count: u32) {
        self.count = count;
        self.seen.reset();
        if count == 0 {
            self.seen.fire();
        }
    }
}

/// What a process can be told of: a named event, or the completion of a DMA at its source.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    Event(EventId),
    Completed(NodeId, DmaId),
}

impl News {
    fn node(self) -> NodeId {
        match self {
            News::Event(event) => event.node,
            News::Completed(node, _) => node,
        }
    }
}

impl World {
    /// Something has occurred. What completes by it is copied to main memory; occurrences of an event that is set
    /// already do not count.
    pub(crate) fn occur(&mut self, news: News) {
        if let News::Event(event) = news {
            let state = &mut self.adapters[event.node as usize].events[event.index as usize];
            let before = state.count;
            state.count = before.saturating_sub(1);
            if before != 1 {
                return;
            }
        }
        self.transfer(
            news.node(),
            Direction::ToMain,
            EVENT_BLOCK,
            Happening::Copied(news),
        );
    }

    /// The block is in main memory: the process will see it at its next poll.
    pub(crate) fn copied(&mut self, news: News) {
        self.schedule(
            self.now() + self.config.adapter.poll,
            news.node(),
            Happening::Seen(news),
        );
    }

    /// The process has seen it.
    pub(crate) fn seen(&mut self, news: News) {
        match news {
            News::Event(event) => self.adapters[event.node as usize].events[event.index as usize]
                .seen
                .fire(),
            News::Completed(_, id) => {
                let progress = &mut self.dmas[id as usize];
                progress.reported = true;
                progress.done.fire();
                self.drop_dma_if_over(id);
            }
        }
    }
}
