//! What is in flight: for checks that nothing is left behind.

use super::{Cluster, Node};
use crate::memory::EventId;

/// What adapters and their parts still work on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// DMAs that are not over at both ends.
    pub dmas: usize,
    /// Packets of DMAs that one of their ends still needs.
    pub packets: usize,
    /// Packets of threads that one of their ends still needs.
    pub thread_packets: usize,
    /// Descriptors in the DMA queues of all adapters, and descriptors that engines work on.
    pub descriptors: u64,
    /// Packets in the fabric.
    pub under_way: u64,
    /// Virtual channels that are taken.
    pub channels: u64,
}

impl Census {
    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        *self == Census::default()
    }
}

impl Cluster {
    /// What is in flight now.
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
    /// Of one of the process's events: occurrences that are missing until it is set, and occurrences since it was set.
    pub fn occurrences(&self, event: EventId) -> (u32, u32) {
        self.world.borrow_mut().event(event).occurrences()
    }
}
