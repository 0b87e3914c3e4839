//! The section `[topology]` of machine files: how nodes and switches are joined. Each kind has its own keys.

use crate::param::Param;
use fabric::{FatTree, TopologyError, Torus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How nodes and switches are joined. With `[rails]`, each rail has such a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// The kind of the network; a fat tree with any number of levels and any arities if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Param<Kind>>,
    /// Number of nodes, which are attached at the first positions of the network.
    pub nodes: Param<u32>,
    /// For a tree: how many switches or nodes are below a switch of each level, from the nodes upwards; these are its
    /// down-links without parallel ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<Param<Vec<u32>>>,
    /// For a tree: number of up-links of a switch of each level but the top; fewer than `down` make a reduced tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<Param<Vec<u32>>>,
    /// For a tree: how many of the up-links of a switch of each level but the top lead to the same parent; 1 if not given.
    /// With up-links 4, parallel links 2 give a switch two parents, and these two links down to each of their children.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Param<Vec<u32>>>,
    /// For a torus: number of switches of a ring in each dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Param<Vec<u32>>>,
    /// For a torus: whether packets change to other channels where they cross the wrap-around link of a ring; true if not given.
    /// Without this change, rings of five or more switches deadlock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datelines: Option<Param<bool>>,
}

/// What a network is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A fat tree: keys `down`, `up` and `parallel`.
    #[default]
    FatTree,
    /// A torus of any dimensions: keys `dimensions` and `datelines`.
    Torus,
}

impl Topology {
    pub(crate) fn kind(&self) -> Kind {
        self.kind
            .as_ref()
            .map_or(Kind::default(), |kind| kind.value)
    }

    /// The network of a rail, if such a network can exist.
    pub(crate) fn of_a_rail(&self) -> Result<fabric::Topology, TopologyError> {
        let list = |list: &Option<Param<Vec<u32>>>| {
            list.as_ref().map_or(Vec::new(), |list| list.value.clone())
        };
        let nodes = self.nodes.value;
        match self.kind() {
            Kind::FatTree => {
                let (down, up) = (list(&self.down), list(&self.up));
                let tree = match &self.parallel {
                    Some(parallel) => {
                        FatTree::with_parallel_links(&down, &up, &parallel.value, nodes)
                    }
                    None => FatTree::new(&down, &up, nodes),
                };
                tree.map(fabric::Topology::from)
            }
            Kind::Torus => {
                let datelines = self
                    .datelines
                    .as_ref()
                    .is_none_or(|datelines| datelines.value);
                Torus::new(&list(&self.dimensions), nodes, datelines).map(fabric::Topology::from)
            }
        }
    }

    /// The name of the kind for people.
    pub fn noun(&self) -> &'static str {
        match self.kind() {
            Kind::FatTree => "tree",
            Kind::Torus => "torus",
        }
    }

    /// Positions for nodes on a rail; 0 if such a network cannot exist.
    pub fn positions(&self) -> u32 {
        self.of_a_rail().map_or(0, |topology| topology.positions())
    }

    /// Levels of links, each of which may have a delay of its own.
    pub(crate) fn levels(&self) -> usize {
        match self.kind() {
            Kind::FatTree => self.down.as_ref().map_or(0, |down| down.value.len()),
            Kind::Torus => self
                .dimensions
                .as_ref()
                .map_or(1, |sizes| 1 + sizes.value.len()),
        }
    }

    /// The keys: whether each is given, the kind that it belongs to, and whether this kind needs it.
    pub(crate) fn keys(&self) -> [(&'static str, bool, Kind, bool); 5] {
        [
            ("down", self.down.is_some(), Kind::FatTree, true),
            ("up", self.up.is_some(), Kind::FatTree, true),
            ("parallel", self.parallel.is_some(), Kind::FatTree, false),
            ("dimensions", self.dimensions.is_some(), Kind::Torus, true),
            ("datelines", self.datelines.is_some(), Kind::Torus, false),
        ]
    }
}
