//! The ways of packets on any kind of topology.

use super::destination::Destination;
use super::wiring::Wiring;
use crate::id::{ChannelId, LinkId, Place, SwitchId};
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// A packet to one node whose header is at a switch: all that the routing may look at.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Where the packet comes from.
    pub source: Place,
    /// Where the packet goes.
    pub destination: Place,
    /// What [`Routing::plan`] returned for the packet.
    pub plan: u8,
    /// Switches that the packet has left behind.
    pub hops: usize,
}

/// Where a header may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The output group, counted from 0 at the switch. The packet takes the least loaded link of the group.
    pub group: u32,
    /// The channels of the link that the packet may take: those of one of the [`Routing::CLASSES`] classes, or any.
    pub class: Option<u32>,
}

/// Dead links that the sources know, in a form in which [`Routing::may_cross_any`] is fast.
#[derive(Clone, Debug, Default)]
pub struct DeadLinks {
    /// The links, in the order of their numbers. A cable has two.
    pub links: Vec<LinkId>,
    /// What [`Routing::lowest`] says of them.
    pub lowest: Vec<u8>,
}

impl DeadLinks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }
}

/// The ways of packets. The engine is compiled for each routing; see the essay of [`topology`](crate::topology).
pub trait Routing {
    /// Room for the channels of the longest path.
    type Path: Path;

    /// Classes into which the channels of a link are parted, as evenly as can be. With one class all are equal.
    const CLASSES: u32 = 1;

    /// The wiring that packets are routed on.
    fn wiring(&self) -> &dyn Wiring;

    /// A small machine of the same kind whose packets can wait for each other if and only if those of this machine can.
    #[must_use]
    fn model(&self) -> Self
    where
        Self: Sized;

    /// Whether a port of a switch begins an output group: whether the port before it belongs to another group.
    fn begins_group(&self, switch: SwitchId, port: u32) -> bool;

    /// The part of the route that the header carries besides source and destination.
    fn plan(&self, source: Place, destination: Destination) -> u8;

    /// The next step of a packet to one node.
    fn step(&self, header: &Header) -> Step;

    /// The plans, besides the usual one, that packets may have where the sources avoid dead links.
    fn detours(&self) -> RangeInclusive<u8> {
        RangeInclusive::new(1, 0)
    }

    /// Whether a packet to a node may cross a link on any of its ways, the detours round dead links included.
    fn may_cross(&self, source: Place, node: Place, link: LinkId) -> bool;

    /// Whether a packet to a node may cross one of some dead links. Asked for each packet at each switch where anything is dead.
    fn may_cross_any(&self, source: Place, node: Place, dead: &DeadLinks) -> bool {
        let mut links = dead.links.iter();
        links.any(|&link| self.may_cross(source, node, link))
    }

    /// For each place the level of the lowest dead cable above it, where that is enough to know whether a packet may cross one: in
    /// a tree. `u8::MAX` where nothing is dead.
    fn lowest(&self, _dead: &[LinkId]) -> Vec<u8> {
        Vec::new()
    }

    /// The plan of a packet to a node that has a way without the dead links, if there is such a way.
    fn plan_around(&self, source: Place, node: Place, dead: &dyn Fn(LinkId) -> bool) -> Option<u8>;

    /// The links up by which a header may leave a switch so that a way without the dead links leads on; none if the routing
    /// leaves no choice there.
    fn living_ascents(
        &self,
        _switch: SwitchId,
        _header: &Header,
        _dead: &dyn Fn(LinkId) -> bool,
    ) -> Option<Vec<LinkId>> {
        None
    }

    /// The link by which a broadcast leaves a switch below the one where it turns. Asked of trees only.
    fn broadcast_ascent(&self, _switch: SwitchId, _source: Place) -> LinkId {
        unreachable!("broadcasts are refused where there is no tree")
    }

    /// The links by which a broadcast leaves a switch that covers some of its destinations. Asked of trees only.
    fn broadcast_descent(&self, _switch: SwitchId, _destination: Destination) -> Vec<LinkId> {
        unreachable!("broadcasts are refused where there is no tree")
    }
}

/// A list of the channels of a path, with room for as many as a path can have.
pub trait Path: Clone + Debug + AsRef<[ChannelId]> + AsMut<[ChannelId]> {
    /// Room for a path.
    const EMPTY: Self;
}

impl<const LINKS: usize> Path for [ChannelId; LINKS] {
    const EMPTY: Self = [ChannelId::new(0); LINKS];
}
