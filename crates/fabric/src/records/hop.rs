//! Where a link leads.

use crate::id::GroupId;
use crate::{Cycle, LinkId, Place};
use bytemuck::Zeroable;

/// The competitors for a link's channels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sender {
    /// An adapter's packets, for its link into the network.
    Adapter(Place),
    /// The headers in a switch's output group.
    Group(GroupId),
}

/// Where a link leads, and which adapter or group may send over it.
#[derive(Clone, Copy, Debug, Zeroable)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct Hop {
    /// The pair's other link.
    pub reverse: LinkId,
    /// The adapter that sends over the link, with [`ADAPTER`], or the group; with [`OUTBOUND`] or
    /// [`INBOUND`] if the link's ends are in different regions.
    sender: u32,
    /// First group at the switch where the link ends; the first mirror's number, if that switch is
    /// in another region.
    first_group: GroupId,
    /// Number of the link's first channel among the inputs of that switch, or [`EJECTS`].
    first_input: u16,
    /// Header delay, in cycles.
    delay: u16,
}

/// The bit for a sender that is an adapter.
const ADAPTER: u32 = 1 << 31;

/// The bits for a link that ends in another region, and for a link that begins in another region.
/// There are fewer groups, and an adapter's link has both ends in one region.
const OUTBOUND: u32 = 1 << 30;
const INBOUND: u32 = 1 << 29;

/// In place of an input number: the link ends in a node. (A separate flag would make the record
/// larger.)
pub(crate) const EJECTS: u16 = u16::MAX;

impl Hop {
    /// A link from an adapter to a node: see [`leave`](Self::leave) and [`enter`](Self::enter) for
    /// links at switches.
    pub fn new(reverse: LinkId, sender: Place, delay: u16) -> Self {
        Hop {
            reverse,
            sender: sender.get() | ADAPTER,
            first_group: GroupId::new(0),
            first_input: EJECTS,
            delay,
        }
    }

    /// Sets a switch's group as the link's sender.
    pub fn leave(&mut self, group: GroupId) {
        self.sender = group.get();
    }

    /// Sets the switch where the link ends: its first group, and the number of the link's first
    /// channel among the inputs.
    pub fn enter(&mut self, first_group: GroupId, first_input: u16) {
        self.first_group = first_group;
        self.first_input = first_input;
    }

    /// Marks a link that ends in another region, with the number of its first channel among those
    /// of all such links.
    pub fn end_elsewhere(&mut self, first_mirror: u32) {
        self.sender |= OUTBOUND;
        self.first_group = GroupId::new(first_mirror);
    }

    /// The number of a channel on an outbound link among the channels of all outbound links.
    pub fn mirror(&self, lane: u32) -> u32 {
        self.first_group.get() + lane
    }

    /// Marks a link that begins in another region.
    pub fn begin_elsewhere(&mut self) {
        self.sender |= INBOUND;
    }

    /// Whether the link ends in another region.
    #[inline]
    pub fn is_outbound(&self) -> bool {
        self.sender & OUTBOUND != 0
    }

    /// Whether the link begins in another region.
    #[inline]
    pub fn is_inbound(&self) -> bool {
        self.sender & INBOUND != 0
    }

    /// Whether both link ends are outside this region.
    #[inline]
    pub fn is_blank(&self) -> bool {
        self.delay == 0
    }

    /// Header delay, in cycles.
    pub fn delay(&self) -> Cycle {
        self.delay.into()
    }

    /// The adapter or group that competes for the link's channels.
    #[inline]
    pub fn sender(&self) -> Sender {
        if self.injects() {
            Sender::Adapter(Place::new(self.sender & !ADAPTER))
        } else {
            Sender::Group(GroupId::new(self.sender & !(OUTBOUND | INBOUND)))
        }
    }

    /// Whether the link starts in a node.
    #[inline]
    pub fn injects(&self) -> bool {
        self.sender & ADAPTER != 0
    }

    /// Whether the link ends in a node.
    #[inline]
    pub fn ejects(&self) -> bool {
        self.first_input == EJECTS
    }

    /// A channel's number among the inputs at the switch where the link ends.
    pub fn input(&self, lane: u32) -> u32 {
        u32::from(self.first_input) + lane
    }

    /// A group at the switch where the link ends.
    pub fn next_group(&self, number: u32) -> GroupId {
        GroupId::new(self.first_group.get() + number)
    }

    /// The switch group that competes for the link.
    pub fn group(&self) -> GroupId {
        match self.sender() {
            Sender::Group(group) => group,
            Sender::Adapter(_) => unreachable!("the link leaves a switch"),
        }
    }
}
