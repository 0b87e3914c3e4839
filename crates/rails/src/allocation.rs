//! # Static rail allocation (coll2003 s2)
//!
//! An allocation makes each adapter a transmitter or a receiver for the whole run. It is a binary
//! matrix with a row per rail and a column for each node: an entry is 1 where the node transmits on
//! the rail (s2.1, figure 1). Node *a* reaches node *b* if there is a rail on which *a* transmits
//! and *b* receives. All nodes reach each other if no column contains all ones that another column
//! has. With `r` rails there are at most C(r, r/2) such columns (proposition 1; this is Sperner's
//! theorem), and the columns with exactly r/2 ones attain this bound.
//!
//! | allocation | rails of n nodes | nodes of r rails |
//! |---|---|---|
//! | [`Allocation::logarithmic`], algorithm 1 | 2 log2 n | 2^(r/2) |
//! | [`Allocation::optimal`], algorithm 2 | the minimum | C(r, r/2) |
//!
//! For a node count between these sizes, an allocation takes the first columns of the next larger
//! matrix. A column is a word with a bit per rail, so there are at most [`MOST_RAILS`]. The 2^32
//! nodes that a number can count need 64 rails with algorithm 1 and 35 rails with algorithm 2.

use elan::{NodeId, Rail};
use itertools::Itertools;
use std::collections::BTreeMap;
use thiserror::Error;
use typed_index_collections::TiVec;

/// Most rails in an allocation.
pub const MOST_RAILS: u32 = u64::BITS;

/// Why there is no such allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AllocationError {
    /// No allocation on these rails lets all nodes reach each other.
    #[error("{nodes} nodes need {needed} rails; you have {rails}")]
    TooFewRails {
        /// Nodes to connect.
        nodes: u32,
        /// Rails that they need at least.
        needed: u32,
        /// Rails that there are.
        rails: u32,
    },
    /// A column has no bits for so many rails.
    #[error("{0} rails are more than the {MOST_RAILS} of an allocation")]
    TooManyRails(u32),
}

/// Every adapter's role: on each rail, the nodes that transmit and those that receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    rails: u32,
    /// For each node the rails that it transmits on.
    columns: TiVec<NodeId, u64>,
}

impl Allocation {
    /// Algorithm 1: on each rail of the first half, consecutive groups of 1, 2, 4 ... nodes
    /// transmit and receive in turn. Each rail in the second half is the inverse of a rail in the
    /// first half, so two nodes reach each other in both directions.
    ///
    /// Rails are numbered as the rows in figure 3, in the order in which the algorithm's two loops
    /// come to them: on all rails in the first half transmitters come first. (The paper's text
    /// calls these the rails 2i, and their inverses 2i + 1.)
    pub fn logarithmic(nodes: u32) -> Self {
        let rails = logarithmic_rails(nodes);
        let half = rails / 2;
        let column = |node| {
            let first = (0..half).filter(|group| node >> group & 1 == 0);
            let inverse = (0..half).filter(|group| node >> group & 1 == 1);
            word(
                first
                    .chain(inverse.map(|group| half + group))
                    .map(Rail::new),
            )
        };
        Allocation {
            rails,
            columns: (0..nodes).map(column).collect(),
        }
    }

    /// Algorithm 2 with the fewest rails.
    pub fn optimal(nodes: u32) -> Self {
        Self::with_rails(nodes, optimal_rails(nodes)).expect("they are as many as needed")
    }

    /// Algorithm 2 with a given rail count: each node transmits on half the rails, the next half in
    /// the order of the paper's recursion, 1 before 0. This is the lexical order of the rails that
    /// a node transmits on.
    ///
    /// # Errors
    /// If the nodes need more rails, or a column has no bits for so many rails.
    pub fn with_rails(nodes: u32, rails: u32) -> Result<Self, AllocationError> {
        check(nodes, rails)?;
        let halves = Rail::all(rails).combinations(rails as usize / 2);
        let columns: TiVec<_, _> = halves.map(word).take(nodes as usize).collect();
        assert_eq!(columns.len(), nodes as usize, "there are enough halves");
        Ok(Allocation { rails, columns })
    }

    /// How many rails there are.
    pub fn rails(&self) -> u32 {
        self.rails
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.columns.len() as u32
    }

    /// Whether `node`'s adapter on `rail` transmits; otherwise it receives.
    pub fn transmits(&self, rail: Rail, node: NodeId) -> bool {
        assert!(rail.get() < self.rails, "there is no rail {rail}");
        has(self.columns[node], rail)
    }

    /// The rails that lead from one node to another, in their order: `from` transmits on them, and
    /// `to` receives.
    pub fn rails_between(&self, from: NodeId, to: NodeId) -> impl Iterator<Item = Rail> {
        let between = self.between(from, to);
        Rail::all(self.rails).filter(move |&rail| has(between, rail))
    }

    /// Whether every node reaches every other. Takes time quadratic in the node count.
    pub fn is_connected(&self) -> bool {
        let mut pairs = self.columns.keys().tuple_combinations();
        pairs.all(|(one, other)| self.between(one, other) != 0 && self.between(other, one) != 0)
    }

    /// Two nodes between which only this rail leads from the first to the second, if there are any:
    /// the rail's failure would separate them. The allocation must come from algorithm 2, where
    /// every node transmits on equally many rails.
    pub fn parted_without(&self, rail: Rail) -> Option<(NodeId, NodeId)> {
        assert!(rail.get() < self.rails, "there is no rail {rail}");
        let columns = self.columns.iter_enumerated();
        let node: BTreeMap<u64, NodeId> = columns.map(|(node, column)| (*column, node)).collect();
        let senders = self.columns.iter_enumerated();
        let mut senders = senders.filter(|(_, column)| has(**column, rail));
        // The second node's column has another rail in place of this one; otherwise both columns
        // are equal.
        senders.find_map(|(from, column)| {
            let mut others = Rail::all(self.rails).filter(|&other| !has(*column, other));
            let to = others.find_map(|other| node.get(&(column ^ bit(rail) | bit(other))));
            to.map(|&to| (from, to))
        })
    }

    fn between(&self, from: NodeId, to: NodeId) -> u64 {
        self.columns[from] & !self.columns[to]
    }
}

/// Whether algorithm 2 connects so many nodes with so many rails. Where it does not, no other
/// allocation does.
///
/// # Errors
/// See [`Allocation::with_rails`].
pub fn check(nodes: u32, rails: u32) -> Result<(), AllocationError> {
    let needed = optimal_rails(nodes);
    if rails < needed {
        Err(AllocationError::TooFewRails {
            nodes,
            needed,
            rails,
        })
    } else if rails > MOST_RAILS {
        Err(AllocationError::TooManyRails(rails))
    } else {
        Ok(())
    }
}

/// The most nodes that a static allocation connects with so many rails: C(r, r/2) (proposition 1),
/// or `u64::MAX` where this number is larger than that.
pub fn most_nodes(rails: u32) -> u64 {
    // C(r, k + 1) = C(r, k) (r - k) / (k + 1), without remainder. A row of Pascal's triangle grows
    // up to its middle.
    let step = |nodes: u64, k: u64| {
        let next = u128::from(nodes) * (u128::from(rails) - u128::from(k)) / u128::from(k + 1);
        u64::try_from(next).ok()
    };
    let mut halves = 0..u64::from(rails / 2);
    halves.try_fold(1, step).unwrap_or(u64::MAX)
}

/// The rails that algorithm 1 needs, 2 log2 n with the logarithm rounded up.
pub fn logarithmic_rails(nodes: u32) -> u32 {
    // As many bits as the last node's number has.
    2 * (u32::BITS - nodes.saturating_sub(1).leading_zeros())
}

/// The rails that algorithm 2 needs, the least that connect so many nodes.
pub fn optimal_rails(nodes: u32) -> u32 {
    let enough = (0..=MOST_RAILS).find(|&rails| most_nodes(rails) >= u64::from(nodes));
    enough.expect("35 rails have more halves than a number can count")
}

fn word(rails: impl IntoIterator<Item = Rail>) -> u64 {
    rails.into_iter().fold(0, |word, rail| word | bit(rail))
}

fn bit(rail: Rail) -> u64 {
    1 << rail.get()
}

fn has(word: u64, rail: Rail) -> bool {
    word & bit(rail) != 0
}

#[cfg(test)]
mod tests;
