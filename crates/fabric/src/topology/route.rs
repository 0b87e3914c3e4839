//! Source routes: the adapter writes one tag per switch into the header, each Elite removes the first and obeys it
//! (000 s2.2.1).

use super::{FatTree, NodeId, tree::MAX_LEVELS};
use crate::config::Ascent;

/// Switches on the longest path.
pub const MAX_TAGS: usize = 2 * MAX_LEVELS - 1;

/// What one switch is told to do with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Take any up-link: the switch chooses the least loaded.
    Adaptive,
    /// Take this up-link, counted from 0.
    Up(u16),
    /// Go down to this child, counted from 0: over the least loaded of the links to it, if there are several.
    Down(u16),
}

/// The tags of a path, in the order in which the switches consume them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    tags: [Tag; MAX_TAGS],
    len: u8,
}

impl Route {
    /// The tags.
    pub fn tags(&self) -> &[Tag] {
        &self.tags[..usize::from(self.len)]
    }

    /// Links of the path: one more than switches.
    pub fn links(&self) -> usize {
        usize::from(self.len) + 1
    }
}

impl FatTree {
    /// The minimal route from `source` to `destination`: up to a nearest common ancestor, then down.
    ///
    /// The switches of the descent are determined by the destination. The ascent leaves the choice to the switches, or
    /// fixes it to up-link (destination modulo up-links) of each switch, as the Elan3 route tables do where they are not
    /// adaptive, or to (child that the source is below, modulo up-links). Among parallel links down the switch chooses in
    /// all cases; that is assumed, since the paper's trees have none.
    pub fn route(&self, source: NodeId, destination: NodeId, ascent: Ascent) -> Route {
        let turn = self.common_level(source, destination);
        let mut route = Route {
            tags: [Tag::Adaptive; MAX_TAGS],
            len: (2 * turn - 1) as u8,
        };
        for (place, tag) in route.tags[..2 * turn - 1].iter_mut().enumerate() {
            *tag = self.tag(turn, place, (source, destination), ascent);
        }
        route
    }

    /// The tag number `place` of the route from a source to a destination that turns in level `turn`.
    pub(crate) fn tag(
        &self,
        turn: usize,
        place: usize,
        (source, destination): (NodeId, NodeId),
        ascent: Ascent,
    ) -> Tag {
        if place + 1 >= turn {
            let level = 2 * turn - 1 - place;
            return Tag::Down(self.child(level, destination) as u16);
        }
        match ascent {
            Ascent::Adaptive => Tag::Adaptive,
            Ascent::Deterministic => {
                let (_, node) = self.rail_and_node(destination);
                Tag::Up((node % self.up_links(place + 1)) as u16)
            }
            Ascent::SourceFixed => {
                let child = self.child(place + 1, source);
                Tag::Up((child % self.up_links(place + 1)) as u16)
            }
        }
    }
}
