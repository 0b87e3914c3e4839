//! # Identifiers
//!
//! Each kind of thing that the fabric counts has its own type, so that a link is never taken for a node; it indexes lists
//! (`TiVec`). An identifier is a `u32` in memory. `From` and `Into` are the way in and out at the edge of the crate.
//!
//! A *node* may have an adapter on each of several *rails*. The fabric deals with these adapters: each is a [`Place`], and
//! [`Wiring::place`](crate::topology::Wiring::place) and [`Wiring::rail_and_node`](crate::topology::Wiring::rail_and_node)
//! convert between a place and its rail and node. On the first rail the place has the number of the node, but for rail-optimised
//! trees.

/// Defines identifiers: numbers from 0 that index a `TiVec`.
#[macro_export]
macro_rules! identifiers {
    ($($(#[$text:meta])* $name:ident;)*) => {$(
        $(#[$text])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The identifier with number `number`.
            pub const fn new(number: u32) -> Self {
                $name(number)
            }

            /// The number of the identifier.
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The first `count` identifiers, in their order.
            pub fn all(count: u32) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (0..count as usize).map(Self::from)
            }
        }

        impl From<u32> for $name {
            fn from(number: u32) -> Self {
                $name(number)
            }
        }

        impl From<usize> for $name {
            #[inline]
            fn from(index: usize) -> Self {
                $name(index as u32)
            }
        }

        impl From<$name> for u32 {
            fn from(identifier: $name) -> Self {
                identifier.0
            }
        }

        impl From<$name> for usize {
            #[inline]
            fn from(identifier: $name) -> Self {
                identifier.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

identifiers! {
    /// A node: a computer with an adapter on each rail.
    NodeId;
    /// One of several networks that are equal and not connected.
    Rail;
    /// A place for the adapter of a node on a rail. Empty where no node is attached.
    Place;
    /// A switch, from 0 at the first level; see [`Wiring::switch_name`](crate::topology::Wiring::switch_name).
    SwitchId;
    /// A directed link.
    LinkId;
    /// A virtual channel of a link, as numbered by [`Lanes`](crate::motion::Lanes).
    ChannelId;
    /// Links of a switch that the same headers compete for.
    GroupId;
    /// The packets of a traffic class at an adapter.
    QueueId;
}
