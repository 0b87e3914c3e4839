//! # Fat trees of any arities
//!
//! A tree has `n` levels of switches, numbered from 1 at the nodes to `n` at the top. A switch of level `l` has
//! `down[l-1]` links downwards and, below the top, `up[l-1]` links upwards. With all arities `k` this is the k-ary
//! n-tree of Petrini and Vanneschi: `k^n` nodes and `n k^(n-1)` switches; `k = 4` is `QsNET` (000 s2.2, figure 2). Fewer
//! up-links than down-links make a reduced tree.
//!
//! Of the up-links of a switch, each `parallel[l-1]` may lead to the same parent: *parallel links*. The switch then has
//! `up[l-1] / parallel[l-1]` parents, and a parent has `parallel[l-1]` links down to each of its `down[l]` children. So
//! a top level of switches that would leave half of their links unused, as it does in `QsNET`, needs half the switches
//! for as many links. In the literature's terms these are parallel-port generalised fat trees (Zahavi; without parallel
//! links, extended generalised fat trees of Öhring et al.) in which every node has one link.
//!
//! ## Rails
//!
//! A node may have several adapters, each on a network of its own: *rails* (document 004). They are a forest of equal trees,
//! and nothing leads from one to another. With them, what is called a node here is a node's place on a rail: number
//! `rail * positions + node`. All arithmetic is that of one tree, whose highest level has one group for each rail.
//!
//! ## Names
//!
//! A switch is (level, group, member). Its *group* is the subtree it covers: the nodes `p` with
//! `p / (down[0] ... down[l-1]) = group`. Its *member* number tells the switches that cover the same nodes apart, and
//! records the up-ports that lead to it: up-port `p` of member `m` reaches member `(m up + p) / parallel` of the parent
//! group, so that parallel links have neighbouring ports at both ends. The whole wiring is therefore arithmetic; nothing
//! is stored but a few products per level.
//!
//! Every pair of ends is two directed links, one up and one down. A link's *level* is that of its lower end: 0 joins
//! nodes and first-level switches. Links are numbered level by level, all up-links of a level before its down-links.
//!
//! A tree may be partly populated: nodes `0..nodes()` are attached, the rest of the positions are empty, and the
//! switches stay (000 s5.3: 16 and 32 nodes of the 64-node network).

mod broadcast;
mod error;
mod route;
mod tree;

pub use broadcast::Destination;
pub use error::TopologyError;
pub use route::{MAX_TAGS, Route, Tag};
pub use tree::{End, FatTree, MAX_ARITY, MAX_LEVELS, MAX_NODES, MAX_RAILS};

/// Number of a node, from 0.
pub type NodeId = u32;

/// Number of a switch, from 0 at the first level; see [`FatTree::switch_name`].
pub type SwitchId = u32;

/// Number of a directed link.
pub type LinkId = u32;
