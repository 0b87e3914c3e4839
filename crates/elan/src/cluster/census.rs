//! Objects in flight, for checks that no leftovers remain.

use super::{Cluster, Node};
use crate::memory::EventId;

/// The work in progress at adapters and their parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// DMAs that are not over at both ends.
    pub dmas: usize,
    /// DMA packets that one end still needs.
    pub packets: usize,
    /// Thread packets that one end still needs.
    pub thread_packets: usize,
    /// Descriptors in all adapters' DMA queues, and descriptors that engines work on.
    pub descriptors: u64,
    /// Packets in the fabric.
    pub under_way: u64,
    /// Virtual channels that are taken.
    pub channels: u64,
}

impl Census {
    /// Whether the census is empty.
    pub fn is_empty(&self) -> bool {
        *self == Census::default()
    }
}

impl Cluster {
    /// The census now.
    pub fn census(&self) -> Census {
        let mut world = self.world.borrow_mut();
        let packets = world.fabric().packet_census();
        let channels = world.fabric().channels_taken();
        let [dmas, of_dmas, thread_packets] = world.flight().census();
        Census {
            dmas,
            packets: of_dmas,
            thread_packets,
            descriptors: world.descriptors(),
            under_way: packets.queued + packets.under_way,
            channels,
        }
    }
}

impl Node {
    /// For one event of the process: missing occurrences until it is set, and occurrences since it
    /// was set.
    pub fn occurrences(&self, event: EventId) -> (u32, u32) {
        self.world.borrow_mut().event(event).occurrences()
    }
}
