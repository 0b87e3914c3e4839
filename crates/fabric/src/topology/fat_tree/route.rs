//! Source routes: the adapter writes one tag per switch into the header, each Elite removes the
//! first tag and obeys it (petrini2003 s2.2.1).

use super::FatTree;
use crate::hash::mixed;
use crate::id::{ChannelId, LinkId, Place, SwitchId};
use crate::mechanism::{Ascent, Broadcast};
use crate::topology::destination::Destination;
use crate::topology::error::MAX_LEVELS;
use crate::topology::routing::{CompiledRouting, DeadLinks, Header, Routing, Step, Trees};
use crate::topology::wiring::Wiring;
use std::ops::RangeInclusive;

/// Switches on the longest path.
pub(super) const MAX_TAGS: usize = 2 * MAX_LEVELS - 1;

/// A routing instruction for one switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Take any up-link: the switch chooses the least loaded.
    Adaptive,
    /// Take this up-link, counted from 0.
    Up(u16),
    /// Go down to this child, counted from 0: over the least loaded link to it, if there are
    /// several.
    Down(u16),
}

/// A path's tags, in the order in which the switches consume them.
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

    /// Links on the path: one more than its switches.
    pub fn links(&self) -> usize {
        usize::from(self.len) + 1
    }
}

impl FatTree {
    /// The minimal route from `source` to `destination`: up to a nearest common ancestor, then
    /// down.
    ///
    /// The descent's switches are determined by the destination. The ascent leaves the choice to
    /// the switches, or fixes each switch's up-link: to the destination modulo the up-link count,
    /// as the Elan3 route tables do where they are not adaptive, or to the child above the source
    /// modulo the up-link count, or as [`Ascent`] describes for today's tables. Among parallel
    /// links down the switch chooses in all cases; this is assumed, since the paper's trees have no
    /// parallel links.
    pub fn route(&self, source: Place, destination: Place, ascent: Ascent) -> Route {
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

    /// Tag number `place` on the route from a source to a destination, if the route turns in level
    /// `turn`.
    #[inline]
    fn tag(
        &self,
        turn: usize,
        place: usize,
        (source, destination): (Place, Place),
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
                Tag::Up((node.get() % self.up_links(place + 1)) as u16)
            }
            Ascent::SourceFixed => {
                let child = self.child(place + 1, source);
                Tag::Up((child % self.up_links(place + 1)) as u16)
            }
            Ascent::DestinationModulo => {
                let digit = destination.get() % self.positions() / self.members[place + 1];
                Tag::Up(self.spread(place + 1, digit))
            }
            Ascent::FlowHash => {
                let ends = u64::from(source.get()) << 32 | u64::from(destination.get());
                let hash = mixed(ends ^ (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                Tag::Up((hash % u64::from(self.up_links(place + 1))) as u16)
            }
        }
    }

    /// An up-link on a level by a number that is spread evenly: over the parents first, then over
    /// the parallel links to each (Zahavi's parallel port numbering).
    fn spread(&self, level: usize, number: u32) -> u16 {
        let (up, parallel) = (self.up_links(level), self.parallel_links(level));
        let parents = up / parallel;
        let number = number % up;
        (number % parents * parallel + number / parents) as u16
    }
}

/// A tree's routing: up to a nearest common ancestor, then down. The plan is the level where the
/// packet turns. A link's channels are all alike, and a packet may take any, unless they are
/// `PARTED` into traffic classes.
#[derive(Clone, Debug)]
pub struct Climb<const PARTED: bool = false> {
    tree: FatTree,
    ascent: Ascent,
    broadcast: Broadcast,
}

impl Climb {
    /// A tree's routing by two rules: for ascents and for broadcasts.
    pub fn new(tree: &FatTree, ascent: Ascent, broadcast: Broadcast) -> Self {
        Climb {
            tree: tree.clone(),
            ascent,
            broadcast,
        }
    }

    /// The same routing with a link's channels divided into traffic classes.
    pub fn parted(self) -> Climb<true> {
        let Climb {
            tree,
            ascent,
            broadcast,
        } = self;
        Climb {
            tree,
            ascent,
            broadcast,
        }
    }
}

impl<const PARTED: bool> CompiledRouting for Climb<PARTED> {
    type Path = [ChannelId; MAX_TAGS + 1];

    const CLASSED: bool = PARTED;
}

impl<const PARTED: bool> Routing for Climb<PARTED> {
    fn wiring(&self) -> &(dyn Wiring + 'static) {
        &self.tree
    }

    /// Two children and two up-links per switch have all the dependencies that more have, and four
    /// levels stand for more.
    fn model(&self) -> Option<Box<dyn Routing>> {
        let tree = &self.tree;
        let levels = tree.levels().min(4);
        let (down, up) = (vec![2; levels], vec![2; levels - 1]);
        let small = FatTree::new(&down, &up, 1 << levels).expect("at most 16 nodes");
        Some(Box::new(Climb {
            tree: small,
            ..self.clone()
        }))
    }

    /// Each child has one group with all links to it (one link, unless there are parallel links).
    /// The ports above have either one group for all up-links (adaptive ascent) or one group for
    /// each up-link.
    fn begins_group(&self, switch: SwitchId, port: u32) -> bool {
        let level = self.tree.switch_level(switch);
        let down = self.tree.down_links(level);
        if port < down {
            port.is_multiple_of(self.tree.parallel_links(level - 1))
        } else {
            port == down || self.ascent != Ascent::Adaptive
        }
    }

    #[inline]
    fn plan(&self, source: Place, destination: Destination, _draw: u64) -> u32 {
        self.tree.turn_level(source, destination) as u32
    }

    #[inline]
    fn step(&self, header: &Header) -> Step {
        let ends = (header.source, header.destination);
        let group = match self
            .tree
            .tag(header.plan as usize, header.hops, ends, self.ascent)
        {
            Tag::Down(child) => child.into(),
            Tag::Adaptive => self.tree.children(header.hops + 1),
            Tag::Up(port) => self.tree.children(header.hops + 1) + u32::from(port),
        };
        Step { group, class: None }
    }

    fn may_cross(&self, source: Place, node: Place, link: LinkId) -> bool {
        self.tree.may_cross(source, node, link)
    }

    fn may_cross_any(&self, source: Place, node: Place, dead: &DeadLinks) -> bool {
        let turn = self.tree.common_level(source, node);
        let mut ends = [source, node].into_iter();
        ends.any(|end| usize::from(dead.lowest[usize::from(end)]) < turn)
    }

    fn lowest(&self, dead: &[LinkId]) -> Vec<u8> {
        self.tree.lowest(dead)
    }

    fn plan_around(
        &self,
        source: Place,
        node: Place,
        _usual: u32,
        dead: &dyn Fn(LinkId) -> bool,
    ) -> Option<u32> {
        let turn = self.tree.common_level(source, node);
        if dead(self.tree.ejection(node)) {
            // Most often this alone is dead; to try all ways up would take long.
            return None;
        }
        let lives = self
            .tree
            .leads(self.tree.injection(source), turn, node, dead);
        lives.then_some(turn as u32)
    }

    fn living_ascents(
        &self,
        switch: SwitchId,
        header: &Header,
        dead: &dyn Fn(LinkId) -> bool,
    ) -> Option<Vec<LinkId>> {
        let (turn, level) = (header.plan as usize, header.hops + 1);
        let lives = |&link: &LinkId| self.tree.leads(link, turn, header.destination, dead);
        (level < turn).then(|| self.tree.ascents(switch).filter(lives).collect())
    }

    fn trees(&self) -> Option<&dyn Trees> {
        self.tree.has_ranges().then_some(self as &dyn Trees)
    }
}

impl<const PARTED: bool> Trees for Climb<PARTED> {
    fn ascent(&self, switch: SwitchId, source: Place) -> LinkId {
        self.tree.broadcast_ascent(switch, source, self.broadcast)
    }

    fn descent(&self, switch: SwitchId, destination: Destination) -> Vec<LinkId> {
        self.tree.broadcast_descent(switch, destination).collect()
    }

    fn below(&self, switch: SwitchId) -> RangeInclusive<Place> {
        self.tree.positions_of(switch)
    }
}
