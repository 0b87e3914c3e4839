//! Where packets go.

use crate::id::Place;
use std::fmt::{self, Display, Formatter};

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One node.
    Node(Place),
    /// A broadcast to all nodes in a contiguous range, which may hold only one node.
    Range {
        /// The range's first node.
        first: Place,
        /// The range's last node.
        last: Place,
    },
}

impl Destination {
    /// A broadcast to all places from `first` to `last`, both included.
    pub fn range(first: impl Into<Place>, last: impl Into<Place>) -> Self {
        let (first, last) = (first.into(), last.into());
        Destination::Range { first, last }
    }

    /// The lowest destination.
    pub fn first(self) -> Place {
        match self {
            Destination::Node(first) | Destination::Range { first, .. } => first,
        }
    }

    /// The highest destination.
    pub fn last(self) -> Place {
        match self {
            Destination::Node(last) | Destination::Range { last, .. } => last,
        }
    }

    /// All destinations, in their order.
    pub fn places(self) -> impl Iterator<Item = Place> {
        (self.first().get()..=self.last().get()).map(Place::new)
    }

    /// The destination count.
    pub fn count(self) -> u32 {
        self.last().get() - self.first().get() + 1
    }

    /// Whether the packet is a broadcast.
    pub fn is_broadcast(self) -> bool {
        matches!(self, Destination::Range { .. })
    }
}

impl<P: Into<Place>> From<P> for Destination {
    fn from(node: P) -> Self {
        Destination::Node(node.into())
    }
}

impl Display for Destination {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Destination::Node(node) => write!(f, "node {node}"),
            Destination::Range { first, last } => write!(f, "nodes {first} to {last}"),
        }
    }
}
