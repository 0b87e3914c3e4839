//! # Identifiers
//!
//! Each kind of object in the fabric has its own identifier type, so that a link is never taken for
//! a node; it indexes lists (`TiVec`). An identifier is a `u32` in memory. `From` and `Into`
//! convert at the crate's edge.
//!
//! A *node* may have an adapter on each of several *rails*. The fabric deals with these adapters:
//! each is a [`Place`], and [`Wiring::place`](crate::topology::Wiring::place) and
//! [`Wiring::rail_and_node`](crate::topology::Wiring::rail_and_node) convert between a place and
//! its rail and node. On the first rail the place has the node's number, except in rail-optimised
//! trees.

use bytemuck::{Zeroable, ZeroableInOption};
use derive::Identifier;
use std::num::NonZeroU32;

/// A node: a computer with an adapter on each rail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct NodeId(u32);

/// One network among several equal ones that are not connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct Rail(u32);

/// A place for a node's adapter on a rail. Empty where no node is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct Place(u32);

/// A switch, from 0 at the first level; see
/// [`Wiring::switch_name`](crate::topology::Wiring::switch_name).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier, Zeroable,
)]
pub struct SwitchId(u32);

/// A directed link.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier, Zeroable,
)]
pub struct LinkId(u32);

/// A virtual channel on a link, as numbered by [`Lanes`](crate::motion::Lanes).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier, Zeroable,
)]
pub struct ChannelId(u32);

/// A switch's links that the same headers compete for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier, Zeroable,
)]
pub struct GroupId(u32);

/// The packets of a traffic class at an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct QueueId(u32);

/// A packet under way, or the broadcast part that goes to one node. The number is re-used after the
/// acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct PacketId(NonZeroU32);

#[expect(
    unsafe_code,
    reason = "the library has no safe name for a wrapped number"
)]
// SAFETY: The identifier is a `NonZeroU32` in memory, and no such number is `None` as zeros.
unsafe impl ZeroableInOption for PacketId {}

impl PacketId {
    /// The first packet's identifier.
    pub(crate) const FIRST: Self = PacketId(NonZeroU32::MIN);

    /// The identifier of the packet at a place in the list.
    pub(crate) fn at(place: usize) -> Self {
        let number = u32::try_from(place + 1).ok().and_then(NonZeroU32::new);
        PacketId(number.expect("fewer than 2^32 packets are under way"))
    }

    /// The packet's place in the list.
    pub(crate) fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}
