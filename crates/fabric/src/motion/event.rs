//! The events that a mover foresees.

use crate::config::MAX_HOP_DELAY;
use crate::{ChannelId, Cycle, LinkId, Place};

/// Nothing is foreseen further ahead than this many cycles. A prediction that was too early is made again.
pub const HORIZON: Cycle = MAX_HOP_DELAY as Cycle;

/// An event that was foreseen for a cycle. The table in the essay of [`worm`](super::worm) says what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Flits begin to arrive at the end of the channel.
    Starts(ChannelId),
    /// Flits cease to arrive at the end of the channel, in mid-worm.
    Stops(ChannelId),
    /// A single flit arrives at the end of the channel, whose link is slow.
    Arrives(ChannelId),
    /// The cycle of the link's prediction has come; void unless the prediction is still the latest.
    Due(LinkId),
    /// A place has fallen free in the buffer of the channel, which was full; or, if credits come late, they begin or cease to come
    /// back to the channel.
    Room(ChannelId),
    /// Flits begin to leave the buffer of the channel, which is in another region; their credits
    /// come back from this cycle on.
    Leaves(ChannelId),
    /// They cease to do so.
    Stays(ChannelId),
    /// A pause of the adapter begins or ends, if both its links want to move.
    Turn(Place),
}
