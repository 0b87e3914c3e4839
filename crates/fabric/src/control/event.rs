//! A cycle's events.

use crate::PacketId;
use crate::motion;
use crate::{ChannelId, LinkId, Place, SwitchId};

/// A control-plane event, or an event that the mover has foreseen. All are in one enumeration,
/// since to choose first between the two kinds and then among the mover's events takes 3% longer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The packet's last flit reaches its destination.
    Delivered(PacketId),
    /// The acknowledgement reaches the source.
    Acknowledged(PacketId),
    /// The channel is free from this cycle on.
    Free(ChannelId),
    /// The EOP reaches a destination that awaits it.
    Ended(PacketId),
    /// A sunk packet's last flit is in.
    Sunk(PacketId),
    /// The switch may begin to set up another broadcast.
    SetUp(SwitchId),
    /// [`motion::Event::Starts`]
    Starts(ChannelId),
    /// [`motion::Event::Stops`]
    Stops(ChannelId),
    /// [`motion::Event::Arrives`]
    Arrives(ChannelId),
    /// [`motion::Event::Room`]
    Room(ChannelId),
    /// [`motion::Event::Due`]
    Due(LinkId),
    /// [`motion::Event::Turn`]
    Turn(Place),
    /// [`motion::Event::Starts`] for an inbound channel.
    ArrivalStarts(ChannelId),
    /// [`motion::Event::Stops`] for an inbound channel.
    ArrivalStops(ChannelId),
    /// [`motion::Event::Arrives`] for an inbound channel.
    FlitArrives(ChannelId),
    /// [`motion::Event::Leaves`]
    Leaves(ChannelId),
    /// [`motion::Event::Stays`]
    Stays(ChannelId),
    /// The link owes a slot for a token that has passed the link in the opposite direction, which
    /// is inbound.
    Charge(LinkId),
    /// The EOP frees an inbound channel, and goes on behind it.
    Enters(ChannelId),
    /// The same for a broadcast part that has come from another region.
    Descends(PacketId),
}

const _: () = assert!(size_of::<Event>() == 8, "one word");

/// The count of event kinds.
pub(super) const KINDS: usize = 20;

impl Event {
    /// The event's kind, as a number.
    pub fn kind(self) -> usize {
        match self {
            Event::Delivered(_) => 0,
            Event::Acknowledged(_) => 1,
            Event::Free(_) => 2,
            Event::Ended(_) => 3,
            Event::SetUp(_) => 4,
            Event::Starts(_) => 5,
            Event::Stops(_) => 6,
            Event::Room(_) => 7,
            Event::Due(_) => 8,
            Event::Turn(_) => 9,
            Event::Sunk(_) => 10,
            Event::ArrivalStarts(_) => 11,
            Event::ArrivalStops(_) => 12,
            Event::Leaves(_) => 13,
            Event::Stays(_) => 14,
            Event::Charge(_) => 15,
            Event::Enters(_) => 16,
            Event::Descends(_) => 17,
            Event::Arrives(_) => 18,
            Event::FlitArrives(_) => 19,
        }
    }
}

impl From<motion::Event> for Event {
    fn from(foreseen: motion::Event) -> Self {
        match foreseen {
            motion::Event::Starts(channel) => Event::Starts(channel),
            motion::Event::Stops(channel) => Event::Stops(channel),
            motion::Event::Arrives(channel) => Event::Arrives(channel),
            motion::Event::Room(channel) => Event::Room(channel),
            motion::Event::Due(link) => Event::Due(link),
            motion::Event::Turn(adapter) => Event::Turn(adapter),
            motion::Event::Leaves(channel) => Event::Leaves(channel),
            motion::Event::Stays(channel) => Event::Stays(channel),
        }
    }
}
