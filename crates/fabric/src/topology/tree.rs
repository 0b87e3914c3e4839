//! The wiring: counts, names and ends of links; see the essay of the parent module.

use super::{LinkId, NodeId, SwitchId, TopologyError};
use std::ops::RangeInclusive;

/// Deepest tree, in levels of switches (Elan3 route tables: 8).
pub const MAX_LEVELS: usize = 8;

/// Largest tree, in node positions: 4^8.
pub const MAX_NODES: u64 = 65_536;

/// Most rails (public Elan3 headers: up to 31 adapters of a node).
pub const MAX_RAILS: u32 = 31;

/// Most links of a switch in one direction.
pub const MAX_ARITY: u32 = 1024;

/// Most switches, and most directed links, of a tree: arities upwards could otherwise multiply without bound.
pub(super) const MAX_PARTS: u64 = 1 << 24;

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The adapter of a node.
    Node(NodeId),
    /// A port of a switch: down-ports first, `0..down`, then up-ports.
    Switch {
        /// The switch.
        switch: SwitchId,
        /// The port.
        port: u32,
    },
}

/// A fat tree; see the essay of the module. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatTree {
    down: Vec<u32>,
    up: Vec<u32>,
    /// `parallel[l]`: links of link level `l` between the same two ends; `parallel[0] = 1`.
    parallel: Vec<u32>,
    nodes: u32,
    rails: u32,
    /// `span[l]`: nodes below a switch of level `l`; `span[0] = 1`, a node itself.
    span: Vec<u32>,
    /// `members[l]`: switches of level `l` that cover the same nodes; entry 0 unused.
    members: Vec<u32>,
    /// `first_switch[l]`: number of the first switch of level `l`; the last entry is the number of switches.
    first_switch: Vec<u32>,
    /// `first_link[l]`: number of the first up-link of link level `l`; the last entry is the number of links.
    first_link: Vec<u32>,
}

impl FatTree {
    /// A tree whose switches of level `l` (from 1) have `down[l-1]` links down and `up[l-1]` up, each to a switch of
    /// its own, with nodes `0..nodes` attached.
    ///
    /// # Errors
    /// What is out of bounds; see [`TopologyError`].
    pub fn new(down: &[u32], up: &[u32], nodes: u32) -> Result<Self, TopologyError> {
        FatTree::with_parallel_links(down, up, &vec![1; up.len()], nodes)
    }

    /// A tree whose switches of level `l` (from 1) have `down[l-1]` children and `up[l-1]` links up, of which each
    /// `parallel[l-1]` lead to the same parent, with nodes `0..nodes` attached.
    ///
    /// # Errors
    /// What is out of bounds; see [`TopologyError`].
    pub fn with_parallel_links(
        down: &[u32],
        up: &[u32],
        parallel: &[u32],
        nodes: u32,
    ) -> Result<Self, TopologyError> {
        FatTree::lay_out(down, up, parallel, nodes, 1)
    }

    /// So many equal trees in place of each one: rails.
    ///
    /// # Errors
    /// If they are none, or too many, or have too many switches or links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        FatTree::lay_out(
            &self.down,
            &self.up,
            &self.parallel[1..],
            self.nodes,
            self.rails * rails,
        )
    }

    fn lay_out(
        down: &[u32],
        up: &[u32],
        parallel: &[u32],
        nodes: u32,
        rails: u32,
    ) -> Result<Self, TopologyError> {
        if !(1..=MAX_RAILS).contains(&rails) {
            return Err(TopologyError::Rails(rails));
        }
        let levels = down.len();
        if !(1..=MAX_LEVELS).contains(&levels) {
            return Err(TopologyError::Levels(levels));
        }
        if up.len() + 1 != levels {
            return Err(TopologyError::UpLevels {
                levels,
                found: up.len(),
            });
        }
        if parallel.len() + 1 != levels {
            return Err(TopologyError::ParallelLevels {
                levels,
                found: parallel.len(),
            });
        }
        for (arities, direction) in [(down, "down"), (up, "up")] {
            if let Some(level) = arities
                .iter()
                .position(|arity| !(1..=MAX_ARITY).contains(arity))
            {
                return Err(TopologyError::Arity {
                    level: level + 1,
                    direction,
                    found: arities[level],
                });
            }
        }
        for (level, (&up, &found)) in (1..).zip(up.iter().zip(parallel)) {
            if !up.is_multiple_of(found) {
                return Err(TopologyError::Parallel { level, up, found });
            }
            let children = down[level];
            if children * found > MAX_ARITY {
                return Err(TopologyError::DownLinks {
                    level: level + 1,
                    children,
                    parallel: found,
                });
            }
        }
        let parents: Vec<u32> = up
            .iter()
            .zip(parallel)
            .map(|(up, same)| up / same)
            .collect();
        let positions = product(down);
        if positions > MAX_NODES {
            return Err(TopologyError::TooManyPositions(positions));
        }
        if nodes == 0 || u64::from(nodes) > positions {
            return Err(TopologyError::Nodes {
                nodes: nodes.into(),
                positions,
            });
        }
        let switches_of = |level: usize| {
            let of_a_rail = product(&down[level..]).saturating_mul(product(&parents[..level - 1]));
            of_a_rail.saturating_mul(rails.into())
        };
        let (mut switches, mut links) = (0_u64, 2 * positions * u64::from(rails));
        for level in 1..=levels {
            switches = switches.saturating_add(switches_of(level));
            let up_links = up.get(level - 1).copied().unwrap_or(0);
            links =
                links.saturating_add(switches_of(level).saturating_mul(2 * u64::from(up_links)));
        }
        for (parts, found) in [("switches", switches), ("links", links)] {
            if found > MAX_PARTS {
                return Err(TopologyError::TooManyParts { parts, found });
            }
        }

        let mut tree = FatTree {
            down: down.to_vec(),
            up: up.to_vec(),
            parallel: [&[1], parallel].concat(),
            nodes,
            rails,
            span: vec![1],
            members: vec![0],
            first_switch: vec![0, 0],
            first_link: vec![0],
        };
        for level in 1..=levels {
            tree.span.push(tree.span[level - 1] * down[level - 1]);
            tree.members.push(product(&parents[..level - 1]) as u32);
            tree.first_switch
                .push(tree.first_switch[level] + switches_of(level) as u32);
            tree.first_link
                .push(tree.first_link[level - 1] + 2 * tree.pairs(level - 1));
        }
        Ok(tree)
    }

    /// The quaternary n-tree of `QsNET`, fully populated: `4^levels` nodes (000 s2.2).
    ///
    /// # Errors
    /// As [`FatTree::new`].
    pub fn quaternary(levels: usize) -> Result<Self, TopologyError> {
        FatTree::k_ary(4, levels)
    }

    /// The k-ary n-tree, fully populated.
    ///
    /// # Errors
    /// As [`FatTree::new`].
    pub fn k_ary(arity: u32, levels: usize) -> Result<Self, TopologyError> {
        let down = vec![arity; levels];
        let nodes = u32::try_from(product(&down)).unwrap_or(u32::MAX);
        FatTree::new(&down, &down[..levels.saturating_sub(1)], nodes)
    }

    /// Levels of switches, which is also the number of levels of links.
    pub fn levels(&self) -> usize {
        self.down.len()
    }

    /// Attached nodes, each to all rails.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Equal trees.
    pub fn rails(&self) -> u32 {
        self.rails
    }

    /// Positions for nodes on a rail.
    pub fn positions(&self) -> u32 {
        self.span[self.levels()]
    }

    /// Positions for nodes on all rails.
    pub fn places(&self) -> u32 {
        self.positions_below()
    }

    /// The number of a node on a rail; that on rail 0 is its own.
    pub fn place(&self, rail: u32, node: NodeId) -> NodeId {
        rail * self.positions() + node
    }

    /// The rail and the node that a number stands for.
    pub fn rail_and_node(&self, place: NodeId) -> (u32, NodeId) {
        (place / self.positions(), place % self.positions())
    }

    /// Whether a node is attached at all of some places, in ascending order, which are on one rail.
    pub fn are_attached(&self, first: NodeId, last: NodeId) -> bool {
        let ((rail, first), (other, last)) = (self.rail_and_node(first), self.rail_and_node(last));
        rail == other && rail < self.rails && first <= last && last < self.nodes
    }

    /// Switches of all levels and rails.
    pub fn switches(&self) -> u32 {
        self.first_switch[self.levels() + 1]
    }

    /// Switches of one level, from 1, of all rails.
    pub fn switches_of_level(&self, level: usize) -> u32 {
        self.first_switch[level + 1] - self.first_switch[level]
    }

    /// Directed links of all levels, those of empty positions included.
    pub fn links(&self) -> u32 {
        self.first_link[self.levels()]
    }

    /// Nodes, or switches of the level below, that a switch of a level, from 1, is joined to downwards.
    pub fn children(&self, level: usize) -> u32 {
        self.down[level - 1]
    }

    /// Links of a level, from 0, between the same two ends.
    pub fn parallel_links(&self, level: usize) -> u32 {
        self.parallel[level]
    }

    /// Links down from a switch of a level, from 1.
    pub fn down_links(&self, level: usize) -> u32 {
        self.down[level - 1] * self.parallel[level - 1]
    }

    /// Links up from a switch of a level, from 1; none at the top.
    pub fn up_links(&self, level: usize) -> u32 {
        self.up.get(level - 1).copied().unwrap_or(0)
    }

    /// Directed links of a rail, one direction, that must be cut to part the lower half of the positions from the upper half:
    /// half the links of the thinnest level, which is the top unless some switches have more links up than down.
    /// Rounded down; exact for an even number of children at the top, and for k-ary n-trees.
    pub fn bisection(&self) -> u32 {
        let thinnest = (0..self.levels()).map(|level| self.pairs(level)).min();
        thinnest.expect("a tree has a level") / self.rails / 2
    }

    /// Links of the shortest path between two nodes of a rail: twice the level of their nearest common ancestor.
    pub fn distance(&self, a: NodeId, b: NodeId) -> u32 {
        2 * self.common_level(a, b) as u32
    }

    /// Level of the nearest common ancestors of two nodes: 1 if they share a first-level switch. A node's own packets
    /// turn in the first-level switch too.
    pub fn common_level(&self, a: NodeId, b: NodeId) -> usize {
        (1..=self.levels())
            .find(|&level| a / self.span[level] == b / self.span[level])
            .expect("the top covers all nodes")
    }

    /// The child of a switch of `level` above node `node` that leads towards it, counted from 0.
    pub fn child(&self, level: usize, node: NodeId) -> u32 {
        node / self.span[level - 1] % self.down[level - 1]
    }

    /// The level of a switch, from 1.
    pub fn switch_level(&self, switch: SwitchId) -> usize {
        (1..=self.levels())
            .find(|&level| switch < self.first_switch[level + 1])
            .expect("switch number in range")
    }

    /// The positions that a switch covers.
    pub fn positions_of(&self, switch: SwitchId) -> RangeInclusive<NodeId> {
        let level = self.switch_level(switch);
        let group = (switch - self.first_switch[level]) / self.members[level];
        group * self.span[level]..=(group + 1) * self.span[level] - 1
    }

    /// The name of a switch for people: its level and its number in that level, as in "switch 2.13"; where there are several
    /// rails, "switch 2.13 of rail 1".
    pub fn switch_name(&self, switch: SwitchId) -> String {
        let level = self.switch_level(switch);
        let number = switch - self.first_switch[level];
        let of_a_rail = self.switches_of_level(level) / self.rails;
        let name = format!("switch {level}.{}", number % of_a_rail);
        self.with_rail(name, number / of_a_rail)
    }

    /// The rail of a switch.
    pub fn rail_of(&self, switch: SwitchId) -> u32 {
        *self.positions_of(switch).start() / self.positions()
    }

    /// A name of a part, with its rail where there are several.
    fn with_rail(&self, name: String, rail: u32) -> String {
        if self.rails == 1 {
            name
        } else {
            format!("{name} of rail {rail}")
        }
    }

    /// The link from a node into the network.
    pub fn injection(&self, node: NodeId) -> LinkId {
        node
    }

    /// The link from the network to a node.
    pub fn ejection(&self, node: NodeId) -> LinkId {
        self.pairs(0) + node
    }

    /// The link that leaves a switch at a port (down-ports first, then up-ports).
    pub fn output(&self, switch: SwitchId, port: u32) -> LinkId {
        let level = self.switch_level(switch);
        let index = switch - self.first_switch[level];
        let (group, member) = (index / self.members[level], index % self.members[level]);
        let down = self.down_links(level);
        if port >= down {
            return self.first_link[level] + index * self.up[level - 1] + (port - down);
        }
        let parallel = self.parallel[level - 1];
        let child_group = group * self.down[level - 1] + port / parallel;
        let pair = if level == 1 {
            child_group
        } else {
            let up = self.up[level - 2];
            let parents = up / parallel;
            let child = child_group * self.members[level - 1] + member / parents;
            child * up + member % parents * parallel + port % parallel
        };
        self.first_link[level - 1] + self.pairs(level - 1) + pair
    }

    /// The link of the same pair in the other direction.
    pub fn reverse(&self, link: LinkId) -> LinkId {
        let (level, upward, _) = self.locate(link);
        if upward {
            link + self.pairs(level)
        } else {
            link - self.pairs(level)
        }
    }

    /// The level of a link: that of its lower end, 0 for a node.
    pub fn link_level(&self, link: LinkId) -> usize {
        self.locate(link).0
    }

    /// Whether a link leads upwards.
    pub fn is_up(&self, link: LinkId) -> bool {
        self.locate(link).1
    }

    /// Where a link starts and where it ends.
    pub fn ends(&self, link: LinkId) -> (End, End) {
        let (level, upward, pair) = self.locate(link);
        let (upper, parallel) = (level + 1, self.parallel[level]);
        // The group of the lower end, the member of the upper end, and which of the parallel links it is.
        let (lower_end, group, member, which) = if level == 0 {
            (End::Node(pair), pair, 0, 0)
        } else {
            let up = self.up[level - 1];
            let (index, port) = (pair / up, pair % up);
            let (group, member) = (index / self.members[level], index % self.members[level]);
            let end = End::Switch {
                switch: self.first_switch[level] + index,
                port: self.down_links(level) + port,
            };
            let parent = member * (up / parallel) + port / parallel;
            (end, group, parent, port % parallel)
        };
        let (parent_group, child) = (group / self.down[level], group % self.down[level]);
        let upper_end = End::Switch {
            switch: self.first_switch[upper] + parent_group * self.members[upper] + member,
            port: child * parallel + which,
        };
        if upward {
            (lower_end, upper_end)
        } else {
            (upper_end, lower_end)
        }
    }

    /// The name of a link's end for people.
    pub fn end_name(&self, end: End) -> String {
        match end {
            End::Node(place) => {
                let (rail, node) = self.rail_and_node(place);
                self.with_rail(format!("node {node}"), rail)
            }
            End::Switch { switch, .. } => self.switch_name(switch),
        }
    }

    /// Level, direction and number within its level and direction of a link.
    fn locate(&self, link: LinkId) -> (usize, bool, u32) {
        let level = (0..self.levels())
            .find(|&level| link < self.first_link[level + 1])
            .expect("link number in range");
        let offset = link - self.first_link[level];
        let pairs = self.pairs(level);
        if offset < pairs {
            (level, true, offset)
        } else {
            (level, false, offset - pairs)
        }
    }

    /// Pairs of links of a level.
    fn pairs(&self, level: usize) -> u32 {
        if level == 0 {
            self.positions_below()
        } else {
            self.switches_of_level(level) * self.up[level - 1]
        }
    }

    /// Node positions of all rails, from the arities: `span` is still growing while a tree is built.
    fn positions_below(&self) -> u32 {
        self.down.iter().product::<u32>() * self.rails
    }
}

/// Product of arities, saturating.
fn product(arities: &[u32]) -> u64 {
    arities.iter().fold(1_u64, |product, &arity| {
        product.saturating_mul(arity.into())
    })
}
