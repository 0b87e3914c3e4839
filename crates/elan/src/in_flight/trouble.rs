//! The effects of faults on packets, and the adapters' measures against them.

use units::Time;

/// An adapter's measures against network faults so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recoveries {
    /// Packets that it sent, and that a CRC refused: by a switch or by the destination.
    pub corrupted: u64,
    /// Packets that it sent, and that found no living link.
    pub unreachable: u64,
    /// Packets that it sent, and that were not answered in time.
    pub timed_out: u64,
    /// Packets that it sent again for such a reason.
    pub resent: u64,
    /// DMAs and messages that it gave up.
    pub given_up: u64,
    /// Packets that came in damaged.
    pub damaged: u64,
    /// Packets that came in again after their final answer.
    pub repeated: u64,
}

/// The effects of faults on a packet that has not got through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketFaults {
    /// When the network first refused the packet, since its destination last answered.
    pub since: Option<Time>,
    /// Whether an answer has got lost.
    pub unsure: bool,
}

impl PacketFaults {
    /// The destination has answered, if only that it is not ready.
    pub fn pass(&mut self) {
        self.since = None;
    }
}
