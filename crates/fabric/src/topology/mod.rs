//! # Topologies: how nodes and switches are joined, and which way packets go
//!
//! A kind of topology is two things. Its [`Wiring`] has nodes, switches, links and their levels; it is arithmetic, and stores
//! nothing but a few products. Its [`Routing`] says, from the state of a packet at a switch, which outputs the packet may take
//! there and which channels of them. There are two kinds, a file each: the [`FatTree`] and the [`Torus`].
//!
//! The engine is made once for every kind (`with_routing`), so that it asks nobody which kind it has. All others ask the
//! [`Topology`] of a machine, which is any kind, for its wiring.
//!
//! ## Rails
//!
//! A node may have several adapters, each on a network of its own: *rails* (coll2003). They are equal networks, and nothing
//! leads from one to another. An adapter is at a [`Place`]: number `rail * positions + node`.
//!
//! ## Numbers of links
//!
//! Every pair of ends is two directed links. In every kind the first [`Wiring::places`] links lead from the places into the
//! network, in their order; the next as many lead from the network to the places.
//!
//! ## To add a kind
//!
//! Write a file beside `torus.rs` that implements [`Wiring`] and [`Routing`], name the kind in [`Topology`] and `with_routing`
//! here, and give machine files its keys (`machine::topology`). [`find_cycle`] tells whether its routing can deadlock;
//! the random machines of `tests/common/random.rs` compare the movers on it.

mod dependency;
mod destination;
mod error;
pub mod fat_tree;
pub mod torus;

pub use crate::id::{ChannelId, LinkId, NodeId, Place, Rail, SwitchId};
pub use dependency::{ChannelClass, DependencyCycle, find_cycle};
pub use destination::Destination;
pub use error::TopologyError;
pub use fat_tree::{Climb, FatTree, MAX_ARITY, MAX_LEVELS, Route, Tag};
pub use torus::Torus;

use std::fmt::Debug;
use std::ops::Deref;

/// Most positions for nodes of a rail.
pub const MAX_NODES: u64 = 65_536;

/// Most rails (public Elan3 headers: up to 31 adapters of a node).
pub const MAX_RAILS: u32 = 31;

/// Most switches, and most directed links: arities could otherwise multiply without bound.
const MAX_PARTS: u64 = 1 << 24;

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The adapter of a node.
    Node(Place),
    /// A port of a switch.
    Switch {
        /// The switch.
        switch: SwitchId,
        /// The port: [`Wiring::output`] is the link that leaves there.
        port: u32,
    },
}

/// Nodes, switches and links, and what joins what.
pub trait Wiring {
    /// Attached nodes, each to all rails.
    fn nodes(&self) -> u32;

    /// Equal networks side by side.
    fn rails(&self) -> u32;

    /// Positions for nodes on a rail; the first [`Wiring::nodes`] of them are taken.
    fn positions(&self) -> u32;

    /// Switches of all rails.
    fn switches(&self) -> u32;

    /// Directed links of all rails, those of empty positions included.
    fn links(&self) -> u32;

    /// Levels of links, which may differ in their delays. Level 0 joins nodes and switches.
    fn levels(&self) -> usize;

    /// Classes into which the routing parts the channels of a link, which therefore has at least as many.
    fn classes(&self) -> u32 {
        1
    }

    /// The level of a link.
    fn link_level(&self, link: LinkId) -> usize;

    /// The level of a switch, from 1.
    fn switch_level(&self, switch: SwitchId) -> usize;

    /// Which of the two directions of its level a link has: upwards in a tree, to higher coordinates in a torus; from a node.
    fn is_up(&self, link: LinkId) -> bool;

    /// Where a link starts and where it ends.
    fn ends(&self, link: LinkId) -> (End, End);

    /// The link of the same pair in the other direction.
    fn reverse(&self, link: LinkId) -> LinkId;

    /// Ports of a switch.
    fn ports(&self, switch: SwitchId) -> u32;

    /// The link that leaves a switch at a port.
    fn output(&self, switch: SwitchId, port: u32) -> LinkId;

    /// The name of a switch for people, without its rail.
    fn name_on_rail(&self, switch: SwitchId) -> String;

    /// The rail of a switch.
    fn rail_of(&self, switch: SwitchId) -> Rail;

    /// The tree that it is, if it is one: hardware broadcasts need a tree.
    fn as_tree(&self) -> Option<&FatTree> {
        None
    }

    /// Places for adapters on all rails.
    fn places(&self) -> u32 {
        self.positions() * self.rails()
    }

    /// The place of a node on a rail.
    fn place(&self, rail: Rail, node: NodeId) -> Place {
        Place::new(rail.get() * self.positions() + node.get())
    }

    /// The rail and the node that a place belongs to.
    fn rail_and_node(&self, place: Place) -> (Rail, NodeId) {
        let (rail, node) = (
            place.get() / self.positions(),
            place.get() % self.positions(),
        );
        (Rail::new(rail), NodeId::new(node))
    }

    /// Whether two places, in ascending order, are on one rail and nodes are attached at them and between.
    fn are_attached(&self, first: Place, last: Place) -> bool {
        let ((rail, first), (other, last)) = (self.rail_and_node(first), self.rail_and_node(last));
        rail == other && rail.get() < self.rails() && first <= last && last.get() < self.nodes()
    }

    /// The link from a place into the network.
    fn injection(&self, place: Place) -> LinkId {
        LinkId::new(place.get())
    }

    /// The link from the network to a place.
    fn ejection(&self, place: Place) -> LinkId {
        LinkId::new(self.places() + place.get())
    }

    /// The name of a switch for people, as in "switch 2.13"; where there are several rails, "switch 2.13 of rail 1".
    fn switch_name(&self, switch: SwitchId) -> String {
        with_rail(
            self.name_on_rail(switch),
            self.rail_of(switch),
            self.rails(),
        )
    }

    /// The name of a link's end for people.
    fn end_name(&self, end: End) -> String {
        match end {
            End::Node(place) => {
                let (rail, node) = self.rail_and_node(place);
                with_rail(format!("node {node}"), rail, self.rails())
            }
            End::Switch { switch, .. } => self.switch_name(switch),
        }
    }
}

/// A name of a part, with its rail where there are several.
fn with_rail(name: String, rail: Rail, rails: u32) -> String {
    if rails == 1 {
        name
    } else {
        format!("{name} of rail {rail}")
    }
}

/// A packet to one node whose header is at a switch: all that the routing may look at.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Where it comes from.
    pub source: Place,
    /// Where it goes.
    pub destination: Place,
    /// What [`Routing::plan`] said.
    pub plan: u8,
    /// Switches that it has left behind.
    pub hops: usize,
}

/// Where a header may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The output group, counted from 0 at the switch. The packet takes the least loaded link of it.
    pub group: u32,
    /// Which channels of the link it may take: those of a class, of [`Routing::CLASSES`], or any.
    pub class: Option<u32>,
}

/// Which way packets go. The engine is made for each; see the essay of the module.
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

    /// Whether the output group of a port of a switch is another than that of the port before.
    fn begins_group(&self, switch: SwitchId, port: u32) -> bool;

    /// What the header carries of the route, besides source and destination.
    fn plan(&self, source: Place, destination: Destination) -> u8;

    /// The next step of a packet to one node.
    fn step(&self, header: &Header) -> Step;

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

/// The topology of a machine: any kind. All that a [`Wiring`] has can be asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A fat tree.
    FatTree(FatTree),
    /// A torus.
    Torus(Torus),
}

/// Evaluates an expression with the routing of a configuration, made for its kind of topology.
macro_rules! with_routing {
    ($config:expr, $routing:ident => $value:expr) => {
        match &$config.topology {
            $crate::Topology::FatTree(tree) => {
                let $routing =
                    $crate::topology::Climb::new(tree, $config.ascent, $config.broadcast);
                $value
            }
            $crate::Topology::Torus(torus) => {
                let $routing = torus.clone();
                $value
            }
        }
    };
}
pub(crate) use with_routing;

impl Topology {
    /// So many equal networks in place of each one: rails.
    ///
    /// # Errors
    /// If they are none, or too many, or have too many switches or links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        match self {
            Topology::FatTree(tree) => tree.with_rails(rails).map(Topology::FatTree),
            Topology::Torus(torus) => torus.with_rails(rails).map(Topology::Torus),
        }
    }
}

impl Deref for Topology {
    type Target = dyn Wiring;

    fn deref(&self) -> &Self::Target {
        match self {
            Topology::FatTree(tree) => tree,
            Topology::Torus(torus) => torus,
        }
    }
}

impl From<Torus> for Topology {
    fn from(torus: Torus) -> Self {
        Topology::Torus(torus)
    }
}

impl From<FatTree> for Topology {
    fn from(tree: FatTree) -> Self {
        Topology::FatTree(tree)
    }
}
