//! The events that a mover foresees.

use crate::config::MAX_HOP_DELAY;
use crate::{ChannelId, Cycle, LinkId, Place};

/// Events are foreseen at most this many cycles ahead. A prediction that was too early is made
/// again.
pub const HORIZON: Cycle = MAX_HOP_DELAY as Cycle;

/// An event that was foreseen for a cycle. The table in the essay of [`worm`](super::worm)
/// describes the effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Flits begin to arrive at the channel's end.
    Starts(ChannelId),
    /// Flits cease to arrive at the channel's end, in mid-worm.
    Stops(ChannelId),
    /// A single flit arrives at the channel's end, over a slow link.
    Arrives(ChannelId),
    /// The link's predicted cycle has come; void unless the prediction is still the latest.
    Due(LinkId),
    /// A place has fallen free in the channel's full buffer; or, if credits come late, they begin
    /// or cease to come back to the channel.
    Room(ChannelId),
    /// Flits begin to leave the channel's buffer, which is in another region; their credits come
    /// back from this cycle on.
    Leaves(ChannelId),
    /// They cease to do so.
    Stays(ChannelId),
    /// An adapter's pause begins or ends, if both its links want to move.
    Turn(Place),
}
