//! # Identifiers
//!
//! Each kind of thing that the fabric counts has its own type, so that a link is never taken for a node; it indexes lists
//! (`TiVec`). An identifier is a `u32` in memory. `From` and `Into` are the way in and out at the edge of the crate.
//!
//! A *node* may have an adapter on each of several *rails*. The fabric deals with these adapters: each is a [`Place`], and
//! [`Wiring::place`](crate::topology::Wiring::place) and [`Wiring::rail_and_node`](crate::topology::Wiring::rail_and_node)
//! convert between a place and its rail and node. On the first rail the place has the number of the node, but for rail-optimised
//! trees.

use derive::Identifier;

/// A node: a computer with an adapter on each rail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct NodeId(u32);

/// One of several networks that are equal and not connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct Rail(u32);

/// A place for the adapter of a node on a rail. Empty where no node is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct Place(u32);

/// A switch, from 0 at the first level; see [`Wiring::switch_name`](crate::topology::Wiring::switch_name).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct SwitchId(u32);

/// A directed link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct LinkId(u32);

/// A virtual channel of a link, as numbered by [`Lanes`](crate::motion::Lanes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct ChannelId(u32);

/// Links of a switch that the same headers compete for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct GroupId(u32);

/// The packets of a traffic class at an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct QueueId(u32);
