//! What is wrong with a tree that cannot be built.

use super::{MAX_ARITY, MAX_LEVELS, MAX_NODES, MAX_PARTS, MAX_RAILS};
use thiserror::Error;

/// Why a tree cannot be built. Each names the quantity that is wrong and its bound.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TopologyError {
    /// No level, or too many.
    #[error("a tree has 1 to {MAX_LEVELS} levels of switches, not {0}")]
    Levels(usize),
    /// `up` does not have one entry for each level but the top.
    #[error("a tree of {levels} levels has {} entries of up-links, one for each level but the top, not {found}", levels - 1)]
    UpLevels {
        /// Levels of switches, from `down`.
        levels: usize,
        /// Entries of `up`.
        found: usize,
    },
    /// `parallel` does not have one entry for each level but the top.
    #[error("a tree of {levels} levels has {} entries of parallel links, one for each level but the top, not {found}", levels - 1)]
    ParallelLevels {
        /// Levels of switches, from `down`.
        levels: usize,
        /// Entries of `parallel`.
        found: usize,
    },
    /// The up-links of a switch cannot be shared out evenly among its parents.
    #[error(
        "the switches of level {level} have {up} up-links, which is no multiple of {found} parallel links to each parent"
    )]
    Parallel {
        /// Level of the switches, from 1.
        level: usize,
        /// Up-links of each.
        up: u32,
        /// Links to each parent asked for.
        found: u32,
    },
    /// Too many links down, all parallel ones counted.
    #[error(
        "{parallel} parallel links to each of {children} children are too many; a switch of level {level} may have {MAX_ARITY} down-links"
    )]
    DownLinks {
        /// Level of the switches, from 1.
        level: usize,
        /// Entry of `down`.
        children: u32,
        /// Links to each child asked for.
        parallel: u32,
    },
    /// A switch without links, or with too many.
    #[error(
        "the switches of level {level} have {found} {direction}-links; allowed are 1 to {MAX_ARITY}"
    )]
    Arity {
        /// Level of the switches, from 1.
        level: usize,
        /// "down" or "up".
        direction: &'static str,
        /// Links asked for.
        found: u32,
    },
    /// More positions for nodes than supported.
    #[error("the tree has {0} node positions; the most is {MAX_NODES}")]
    TooManyPositions(u64),
    /// More switches or links than supported.
    #[error("the tree has {found} {parts}; the most is {MAX_PARTS}")]
    TooManyParts {
        /// "switches" or "links".
        parts: &'static str,
        /// Switches or links asked for.
        found: u64,
    },
    /// A torus is none.
    #[error("{message}")]
    Torus {
        /// What is wrong: `dimensions` or `nodes`.
        key: &'static str,
        /// Why.
        message: String,
        /// What is allowed.
        allowed: String,
    },
    /// No rail, or too many.
    #[error("{0} rails are out of range; allowed are 1 to {MAX_RAILS}")]
    Rails(u32),
    /// More nodes than positions, or none.
    #[error("{nodes} nodes do not fit: the tree holds 1 to {positions}")]
    Nodes {
        /// Nodes asked for.
        nodes: u64,
        /// Positions of the tree.
        positions: u64,
    },
}
