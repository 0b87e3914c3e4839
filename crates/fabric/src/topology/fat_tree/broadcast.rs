//! # Broadcast routes: a fixed tree to a contiguous node range
//!
//! A broadcast packet climbs a fixed path, never an adaptive one, to the lowest switch that covers
//! its range and its source. There it turns, and from there on each switch sends it on to all its
//! children that have nodes in the range: a contiguous range of its down-links (petrini2001,
//! "Broadcast tree for a 16-node network"; public Elan3 headers). Among parallel links the
//! broadcast takes the first. The source may lie in the range; it then receives its own packet.
//!
//! With [`Broadcast::Serialised`] the up-link is number 0 at every switch, so that all broadcasts
//! use the switches with member number 0: one tree with one root. With [`Broadcast::BySource`]
//! different sources climb to different roots, and the trees of two broadcasts meet again at the
//! nodes: they may deadlock (`control::broadcast`).

use super::FatTree;
use crate::id::{LinkId, Place, SwitchId};
use crate::mechanism::Broadcast;
use crate::topology::destination::Destination;
use crate::topology::wiring::{End, Wiring};

impl FatTree {
    /// The level where a packet turns: the lowest that covers the source and all destinations.
    pub fn turn_level(&self, source: Place, destination: Destination) -> usize {
        // All nodes between two nodes are below every switch that is above both.
        let (first, last) = (destination.first(), destination.last());
        self.common_level(first.min(source), last.max(source))
    }

    /// The up-link by which a broadcast leaves a switch below the one where it turns.
    pub fn broadcast_ascent(&self, switch: SwitchId, source: Place, rule: Broadcast) -> LinkId {
        let level = self.switch_level(switch);
        let number = match rule {
            Broadcast::Serialised => 0,
            Broadcast::BySource => self.rail_and_node(source).1.get() % self.up_links(level),
        };
        self.output(switch, self.down_links(level) + number)
    }

    /// The down-links by which a broadcast leaves a switch that covers some destinations, in their
    /// order.
    pub fn broadcast_descent(
        &self,
        switch: SwitchId,
        destination: Destination,
    ) -> impl Iterator<Item = LinkId> {
        let level = self.switch_level(switch);
        let below = self.positions_of(switch);
        let first = destination.first().max(*below.start());
        let last = destination.last().min(*below.end());
        let parallel = self.parallel_links(level - 1);
        (self.child(level, first)..=self.child(level, last))
            .map(move |child| self.output(switch, child * parallel))
    }

    /// All links in a broadcast: the ascent, then the descent level by level.
    pub fn broadcast_route(
        &self,
        source: Place,
        destination: Destination,
        rule: Broadcast,
    ) -> Vec<LinkId> {
        let mut links = vec![self.injection(source)];
        let turn = self.turn_level(source, destination);
        let mut place = 0;
        while let Some(&link) = links.get(place) {
            place += 1;
            if let End::Switch { switch, .. } = self.ends(link).1 {
                if place < turn {
                    links.push(self.broadcast_ascent(switch, source, rule));
                } else {
                    links.extend(self.broadcast_descent(switch, destination));
                }
            }
        }
        links
    }
}
