//! Packet ways on any topology kind.

use super::destination::Destination;
use super::error::TopologyError;
use super::wiring::{End, Wiring};
use crate::id::{ChannelId, LinkId, Place, SwitchId};
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A packet to one node, with its header at a switch: all that the routing may look at.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Where the packet comes from.
    pub source: Place,
    /// Where the packet goes.
    pub destination: Place,
    /// The switch.
    pub at: SwitchId,
    /// The link over which the packet has come there.
    pub input: LinkId,
    /// The packet's [`Routing::plan`] result.
    pub plan: u32,
    /// Switches that the packet has left behind: 0 at its first one.
    pub hops: usize,
}

/// Where a header may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The output group, counted from 0 at the switch. The packet takes the group's least loaded
    /// link.
    pub group: u32,
    /// The class of the channels that the packet may take, below [`Wiring::classes`]; `None` for
    /// all channels on the link.
    pub class: Option<u32>,
}

/// A channel class on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelClass {
    /// The link.
    pub link: LinkId,
    /// The class, from 0.
    pub class: u32,
}

/// The dead links in the sources' tables, in a form in which [`Routing::may_cross_any`] is fast.
#[derive(Clone, Debug, Default)]
pub struct DeadLinks {
    /// The links, in number order. A cable has two.
    pub links: Vec<LinkId>,
    /// The [`Routing::lowest`] result for them.
    pub lowest: Vec<u8>,
}

impl DeadLinks {
    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }
}

/// Packet ways. A routing needs [`wiring`](Routing::wiring),
/// [`begins_group`](Routing::begins_group), [`plan`](Routing::plan) and [`step`](Routing::step);
/// the other methods have defaults for a routing with one way for each node pair. A way has at most
/// [`MAX_PATH`] links, the links of the nodes included.
pub trait Routing: Debug + Send + Sync {
    /// The wiring that packets are routed on.
    fn wiring(&self) -> &(dyn Wiring + 'static);

    /// The same network on several rails, which are equal and not connected.
    ///
    /// # Errors
    /// If the network has no such form, as by default, or the rails are too many.
    fn on_rails(&self, rails: u32) -> Result<Arc<dyn Routing>, TopologyError> {
        let message = format!("this network has one rail, not {rails}");
        Err(TopologyError::new("rails", message, "1"))
    }

    /// A small machine of the same kind in which packets can wait for each other if and only if
    /// they can in this machine; `None` if the machine itself is to be searched for cycles.
    fn model(&self) -> Option<Box<dyn Routing>> {
        None
    }

    /// The possible holds and waits of packets between switches, if the routing lists them: pairs
    /// of channel classes. A routing without a small model lists them.
    fn dependencies(&self) -> Option<Vec<(ChannelClass, ChannelClass)>> {
        None
    }

    /// Whether a switch's port begins an output group: whether the port before it belongs to
    /// another group. Ports are those of [`Wiring::output`]; in a [`Cabling`](super::Cabling) the
    /// switch's nodes are at the first ports. Where each port begins a group, groups have the
    /// numbers of their ports.
    fn begins_group(&self, switch: SwitchId, port: u32) -> bool;

    /// The part of the route that the header carries besides source and destination: any number,
    /// which [`Routing::step`] reads. Each packet has its own `draw`, a hash over its source and
    /// number; 0 where the routing never chooses. The destination is one node, unless the routing
    /// has [`trees`](Routing::trees).
    fn plan(&self, source: Place, destination: Destination, draw: u64) -> u32;

    /// All plans that a packet to one node may have without faults: by default the plan for draw 0.
    /// A routing with random plans lists them, since [`find_cycle`](crate::find_cycle) follows
    /// packets with the listed plans only.
    fn plans(&self, source: Place, node: Place) -> Vec<u32> {
        vec![self.plan(source, node.into(), 0)]
    }

    /// Whether [`Routing::settle`] may change a plan.
    fn settles(&self) -> bool {
        false
    }

    /// A packet's plan once it has come to its first switch, by the loads there, if the routing
    /// chooses. An output group's load is the count of packets that hold a channel in it or have
    /// waited for one since before this cycle.
    fn settle(&self, header: &Header, _load: &mut dyn FnMut(u32) -> u32) -> u32 {
        header.plan
    }

    /// Prefetches the data for the next step from a switch, for a packet to one node, if it may be
    /// far.
    #[inline]
    fn fetch(&self, _switch: SwitchId, _destination: Place) {}

    /// The next step for a packet to one node.
    fn step(&self, header: &Header) -> Step;

    /// The plans, besides the usual one, that packets may have where the sources avoid dead links.
    fn detours(&self) -> RangeInclusive<u32> {
        RangeInclusive::new(1, 0)
    }

    /// The links on the way of a packet to one node, where each output group has one link.
    fn path_of(&self, source: Place, node: Place, plan: u32) -> Vec<LinkId> {
        let wiring = self.wiring();
        let mut links = vec![wiring.injection(source)];
        loop {
            let input = links[links.len() - 1];
            let End::Switch { switch: at, .. } = wiring.ends(input).1 else {
                return links;
            };
            let header = Header {
                source,
                destination: node,
                at,
                input,
                plan,
                hops: links.len() - 1,
            };
            links.push(wiring.output(at, self.step(&header).group));
        }
    }

    /// Whether a packet to a node may cross a link on any of its ways, the detours round dead links
    /// included.
    fn may_cross(&self, source: Place, node: Place, link: LinkId) -> bool {
        let mut plans = self.plans(source, node).into_iter();
        plans.any(|plan| self.path_of(source, node, plan).contains(&link))
    }

    /// Whether a packet to a node may cross any dead link. Called for each packet at each switch
    /// while any link is dead.
    fn may_cross_any(&self, source: Place, node: Place, dead: &DeadLinks) -> bool {
        let mut links = dead.links.iter();
        links.any(|&link| self.may_cross(source, node, link))
    }

    /// For each place the level of the lowest dead cable above it, where this is enough to decide
    /// whether a packet may cross one: in a tree. `u8::MAX` without a dead cable.
    fn lowest(&self, _dead: &[LinkId]) -> Vec<u8> {
        Vec::new()
    }

    /// The plan for a packet to a node that has a way without the dead links, if there is such a
    /// way: the `usual` one if it lives.
    fn plan_around(
        &self,
        source: Place,
        node: Place,
        usual: u32,
        dead: &dyn Fn(LinkId) -> bool,
    ) -> Option<u32> {
        let lives = |&plan: &u32| !self.path_of(source, node, plan).into_iter().any(dead);
        if lives(&usual) {
            return Some(usual);
        }
        let wiring = self.wiring();
        if dead(wiring.injection(source)) || dead(wiring.ejection(node)) {
            return None;
        }
        // From the usual plan on, so that packets with different plans are spread over the living
        // ways.
        let mut plans = self.plans(source, node);
        let behind = plans.iter().position(|&plan| plan == usual);
        plans.rotate_left(behind.unwrap_or(0));
        plans.into_iter().find(lives)
    }

    /// The links up by which a header may leave a switch so that a way without the dead links leads
    /// on; `None` if the routing leaves no choice there.
    fn living_ascents(
        &self,
        _switch: SwitchId,
        _header: &Header,
        _dead: &dyn Fn(LinkId) -> bool,
    ) -> Option<Vec<LinkId>> {
        None
    }

    /// The hardware broadcast trees, if the network has any.
    fn trees(&self) -> Option<&dyn Trees> {
        None
    }
}

/// The hardware broadcast trees: a fixed way up from each source to the switch where the packet
/// turns, as many hops as [`Routing::plan`] returns for it, and all ways down from there.
pub trait Trees {
    /// The link by which a broadcast leaves a switch below the one where it turns.
    fn ascent(&self, switch: SwitchId, source: Place) -> LinkId;

    /// The links by which a broadcast leaves a switch that covers some destinations.
    fn descent(&self, switch: SwitchId, destination: Destination) -> Vec<LinkId>;

    /// The places below a switch.
    fn below(&self, switch: SwitchId) -> RangeInclusive<Place>;
}

/// A routing for which the engine is compiled, with the facts that let it leave questions out.
/// Routings from outside share one engine, which calls them by `dyn`.
pub(crate) trait CompiledRouting: Routing {
    /// Room for the longest path's channels.
    type Path: Path;

    /// Whether a packet may be barred from some channels on a link: by the class that a step names
    /// ([`Wiring::classes`]), or by its traffic class. If no packet ever is, the engine skips the
    /// check.
    const CLASSED: bool = true;

    /// Whether plans depend on the packet: on its draw ([`Routing::plan`]) and on loads
    /// ([`Routing::settle`]).
    const CHOOSES: bool = false;

    /// Whether steps are read from long lists ([`Routing::fetch`]).
    const LISTS: bool = false;
}

/// Most links on an external routing's path.
pub const MAX_PATH: usize = 32;

impl CompiledRouting for dyn Routing {
    type Path = [ChannelId; MAX_PATH];

    const CHOOSES: bool = true;
}

/// A path's channel list, with room for as many as a path can have.
pub(crate) trait Path:
    Clone + Debug + Send + Sync + AsRef<[ChannelId]> + AsMut<[ChannelId]>
{
    /// Room for a path.
    const EMPTY: Self;
}

impl<const LINKS: usize> Path for [ChannelId; LINKS] {
    const EMPTY: Self = [ChannelId::new(0); LINKS];
}
