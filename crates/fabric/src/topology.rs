//! # Topologies: how nodes and switches are joined, and how packets travel
//!
//! A topology kind has two parts. Its [`Wiring`] has nodes, switches, links and their levels. For a
//! [`FatTree`] and a [`Torus`] it is arithmetic, and stores only a few products; other kinds list
//! their cables ([`Cabling`]). Its [`Routing`] determines, from a packet's state at a switch, which
//! outputs the packet may take there, and which channels on these outputs. Each kind is a file:
//! [`FatTree`], [`Torus`], [`Mesh`], [`Dragonfly`], [`HyperX`], and [`Graph`], any network from a
//! cable list.
//!
//! The engine is compiled once for every kind (`with_routing`), so that it never checks which kind
//! it runs, and once for all routings from outside ([`Custom`]). All other code reads the wiring
//! from the machine's [`Topology`], which covers every kind.
//!
//! ## Rails
//!
//! A node may have several adapters, each on a separate network: *rails* (coll2003). Rails are
//! equal networks, and no link leads from one to another. An adapter is at a [`Place`]: number
//! `rail * positions + node`.
//!
//! ## Link numbers
//!
//! Links are directed and come in pairs, one for each direction. In every kind the first
//! [`Wiring::places`] links lead from the places into the network, in place order; as many links,
//! the next ones, lead from the network to the places.
//!
//! ## To add a kind
//!
//! Your own program needs one file: implement [`Routing`] there, and make it a [`Custom`]
//! (`examples/slim-fly`). A kind in this crate is faster, since the engine is compiled for it.
//!
//! Write a file beside `mesh.rs` that lists the cables and implements [`Routing`], name the kind in
//! [`Topology`] and `with_routing` here, and give machine files its keys (`machine::topology`).
//! [`find_cycle`](crate::find_cycle) searches its routing for deadlocks; the random machines in
//! `tests/common/random.rs` compare the movers on it.

pub mod cabling;
mod coordinates;
mod custom;
mod destination;
pub mod dragonfly;
mod error;
pub mod fat_tree;
pub mod graph;
pub mod hyperx;
pub mod mesh;
mod misroute;
mod routing;
pub mod torus;
mod wiring;

pub use crate::id::{ChannelId, LinkId, NodeId, Place, Rail, SwitchId};
pub use cabling::Cabling;
pub use custom::Custom;
pub use destination::Destination;
pub use dragonfly::{Arities, Dragonfly};
pub use error::{MAX_ARITY, MAX_LEVELS, MAX_NODES, MAX_RAILS, TopologyError};
pub use fat_tree::{Climb, FatTree, Route, Tag};
pub use graph::{Alternatives, DetourLoads, Family, Forwarding, Graph, Layers, Routes, Uniform};
pub use hyperx::HyperX;
pub use mesh::Mesh;
pub use routing::{ChannelClass, DeadLinks, Header, MAX_PATH, Routing, Step, Trees};
pub(crate) use routing::{CompiledRouting, Path};
pub use torus::Torus;
pub use wiring::{End, Wiring};

use std::ops::Deref;

/// A machine's topology: any kind. It implements all of [`Wiring`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A fat tree.
    FatTree(FatTree),
    /// A torus.
    Torus(Torus),
    /// A mesh.
    Mesh(Mesh),
    /// A dragonfly.
    Dragonfly(Dragonfly),
    /// A HyperX network.
    HyperX(HyperX),
    /// Any graph.
    Graph(Graph),
    /// A network with a routing from outside.
    Custom(Custom),
}

/// Evaluates an expression with a configuration's shared routing, made for its topology kind.
macro_rules! with_routing {
    ($config:expr, $routing:ident => $value:expr) => {
        match &$config.topology {
            $crate::Topology::FatTree(tree) => {
                let (ascent, broadcast) = ($config.ascent, $config.broadcast);
                let climb = $crate::topology::Climb::new(tree, ascent, broadcast);
                if $config.traffic_classes > 1 {
                    let $routing = std::sync::Arc::new(climb.parted());
                    $value
                } else {
                    let $routing = std::sync::Arc::new(climb);
                    $value
                }
            }
            $crate::Topology::Torus(torus) => {
                let $routing = std::sync::Arc::new(torus.clone());
                $value
            }
            $crate::Topology::Dragonfly(dragonfly) => {
                let $routing = std::sync::Arc::new(dragonfly.clone());
                $value
            }
            $crate::Topology::HyperX(hyperx) => {
                let $routing = std::sync::Arc::new(hyperx.clone());
                $value
            }
            $crate::Topology::Mesh(mesh) => {
                let $routing = std::sync::Arc::new(mesh.clone());
                $value
            }
            $crate::Topology::Graph(graph) => {
                let forwarding = $crate::topology::Forwarding::new(graph, $config.ascent);
                let $routing = std::sync::Arc::new(forwarding);
                $value
            }
            $crate::Topology::Custom(custom) => {
                let $routing = custom.routing();
                $value
            }
        }
    };
}
pub(crate) use with_routing;

impl Topology {
    /// This topology on several rails: equal networks side by side.
    ///
    /// # Errors
    /// If there are no rails, or too many, or too many switches or links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        match self {
            Topology::FatTree(tree) => tree.with_rails(rails).map(Topology::FatTree),
            Topology::Torus(torus) => torus.with_rails(rails).map(Topology::Torus),
            Topology::Dragonfly(dragonfly) => dragonfly.with_rails(rails).map(Topology::Dragonfly),
            Topology::HyperX(hyperx) => hyperx.with_rails(rails).map(Topology::HyperX),
            Topology::Mesh(mesh) => mesh.with_rails(rails).map(Topology::Mesh),
            Topology::Graph(graph) => graph.with_rails(rails).map(Topology::Graph),
            Topology::Custom(custom) => custom.with_rails(rails).map(Topology::Custom),
        }
    }

    /// This topology as a tree, if it is a tree with nodes in a row below each switch: hardware
    /// broadcasts need such a tree.
    pub fn as_tree(&self) -> Option<&FatTree> {
        match self {
            Topology::FatTree(tree) if tree.has_ranges() => Some(tree),
            _ => None,
        }
    }
}

impl Deref for Topology {
    type Target = dyn Wiring;

    fn deref(&self) -> &Self::Target {
        match self {
            Topology::FatTree(tree) => tree,
            Topology::Torus(torus) => torus,
            Topology::Mesh(mesh) => mesh.cabling(),
            Topology::HyperX(hyperx) => hyperx.cabling(),
            Topology::Dragonfly(dragonfly) => dragonfly.cabling(),
            Topology::Graph(graph) => graph.cabling(),
            Topology::Custom(custom) => custom.wiring(),
        }
    }
}

impl From<Custom> for Topology {
    fn from(custom: Custom) -> Self {
        Topology::Custom(custom)
    }
}

impl From<Torus> for Topology {
    fn from(torus: Torus) -> Self {
        Topology::Torus(torus)
    }
}

impl From<Dragonfly> for Topology {
    fn from(dragonfly: Dragonfly) -> Self {
        Topology::Dragonfly(dragonfly)
    }
}

impl From<HyperX> for Topology {
    fn from(hyperx: HyperX) -> Self {
        Topology::HyperX(hyperx)
    }
}

impl From<Mesh> for Topology {
    fn from(mesh: Mesh) -> Self {
        Topology::Mesh(mesh)
    }
}

impl From<Graph> for Topology {
    fn from(graph: Graph) -> Self {
        Topology::Graph(graph)
    }
}

impl From<FatTree> for Topology {
    fn from(tree: FatTree) -> Self {
        Topology::FatTree(tree)
    }
}
