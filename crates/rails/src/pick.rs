//! A message's rails, and how the message holds them.

use crate::nic::{Grant, Port};
use elan::{NodeId, Rail};
use std::rc::Rc;
use units::Bytes;

/// A message, or its unsent rest.
#[derive(Clone, Copy, Debug)]
pub struct RailMessage {
    /// The destination.
    pub to: NodeId,
    /// Its length.
    pub size: Bytes,
}

/// A rail for a message, or for a message's stripe.
pub struct RailPick {
    pub(crate) rail: Rail,
    pub(crate) hold: Hold,
}

impl RailPick {
    /// A rail that other messages may take at the same time. [`Host::mark`](crate::Host::mark) and
    /// [`Reservations::keep`](crate::Reservations::keep) pick rails for one message.
    pub fn shared(rail: Rail) -> Self {
        let hold = Hold::Shared;
        RailPick { rail, hold }
    }
}

/// How a message holds a rail.
pub(crate) enum Hold {
    /// Not at all.
    Shared,
    /// Not at all; the rail's status is sending, after the status lag.
    Marked,
    /// Both adapters are reserved, until the receiver reports the message's end.
    Reserved {
        /// The request.
        grant: Grant,
        /// The adapter at the other end.
        there: Rc<Port>,
    },
}

/// The adapter's process for a node on a rail.
pub(crate) type PortOf = Rc<dyn Fn(NodeId, Rail) -> Rc<Port>>;
