//! # Fat trees with any arities
//!
//! A tree has `n` switch levels, numbered from 1 at the nodes to `n` at the top. A switch on level
//! `l` has `down[l-1]` links downwards and, below the top, `up[l-1]` links upwards. With all
//! arities `k` this is Petrini and Vanneschi's k-ary n-tree: `k^n` nodes and `n k^(n-1)` switches;
//! `k = 4` is `QsNET` (petrini2003 s2.2, figure 2). Fewer up-links than down-links make a reduced
//! tree.
//!
//! Each `parallel[l-1]` of a switch's up-links lead to the same parent: *parallel links*. The
//! switch then has `up[l-1] / parallel[l-1]` parents, and a parent has `parallel[l-1]` links down
//! to each of its `down[l]` children. So a top level with switches that would leave half their
//! links unused, as in `QsNET`, needs half the switches for as many links. In the literature's
//! terms these are parallel-port generalised fat trees (Zahavi; without parallel links, Öhring et
//! al.'s extended generalised fat trees) in which every node has one link.
//!
//! ## Names
//!
//! A switch is named by (level, group, member). Its *group* is the subtree it covers: the nodes `p`
//! with `p / (down[0] ... down[l-1]) = group`. Its *member* number distinguishes it from the
//! switches that cover the same nodes, and records the up-ports that lead to it: member `m`'s
//! up-port `p` reaches member `(m up + p) / parallel` in the parent group, so that parallel links
//! have neighbouring ports at both ends. The whole wiring is therefore arithmetic; only a few
//! products per level are stored.
//!
//! Links come in pairs, one up and one down between the same ends. A link's *level* is the level of
//! its lower end: level 0 joins nodes and first-level switches. Links are numbered level by level,
//! all up-links on a level before its down-links.
//!
//! Trees with several rails are a forest: the highest level has one group for each rail.
//!
//! A tree may be partly populated: nodes `0..nodes()` are attached, the other positions are empty,
//! and the switches stay (petrini2003 s5.3: 16 and 32 nodes in the 64-node network).
//!
//! ## Rail-optimised trees
//!
//! In a cluster with `a` adapters per host, adapter `k` on every host in a *pod* may be at the same
//! leaf, and `a` leaves make a pod: *rail-optimised*. The leaves are joined by the switches above,
//! as in any tree; unjoined leaves are a multirail machine's separate networks (`rails`). Only the
//! node numbers differ from the plain tree: the nodes `a h` to `a h + a - 1` are host `h`'s
//! adapters, each with its own process, and [`Wiring::place`] and [`Wiring::rail_and_node`] convert
//! between nodes and positions. All else counts positions, so that both trees have equal switches,
//! links and routes, and one job runs on both. Whole pods are attached. Messages between a host's
//! adapters cross the network; the links between processors within a host are not modelled.
//! Consecutive nodes are not consecutive positions, and so there are no hardware broadcasts.

mod broadcast;
mod detour;
mod route;

pub use route::{Climb, Route, Tag};

use super::error::{MAX_ARITY, MAX_LEVELS, MAX_NODES, MAX_PARTS, MAX_RAILS, TopologyError};
use super::wiring::{End, Wiring};
use crate::id::{LinkId, NodeId, Place, Rail, SwitchId};
use std::ops::RangeInclusive;

/// A fat tree; see the module essay. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatTree {
    down: Vec<u32>,
    up: Vec<u32>,
    /// `parallel[l]`: links on link level `l` between the same two ends; `parallel[0] = 1`.
    parallel: Vec<u32>,
    nodes: u32,
    rails: u32,
    /// Adapters per host, each at its own leaf; 1 in a plain tree.
    adapters: u32,
    /// `span[l]`: nodes below a switch on level `l`; `span[0] = 1`, a node itself.
    span: Vec<u32>,
    /// `members[l]`: switches on level `l` that cover the same nodes; entry 0 unused.
    members: Vec<u32>,
    /// `first_switch[l]`: the first switch number on level `l`; the last entry is the switch count.
    first_switch: Vec<u32>,
    /// `first_link[l]`: the first up-link's number on link level `l`; the last entry is the link
    /// count.
    first_link: Vec<u32>,
}

impl FatTree {
    /// A tree with switches on level `l` (from 1) that have `down[l-1]` links down and `up[l-1]`
    /// links up, each to a different switch, with nodes `0..nodes` attached.
    ///
    /// # Errors
    /// If a parameter is out of bounds; see [`TopologyError`].
    pub fn new(down: &[u32], up: &[u32], nodes: u32) -> Result<Self, TopologyError> {
        FatTree::with_parallel_links(down, up, &vec![1; up.len()], nodes)
    }

    /// A tree with switches on level `l` (from 1) that have `down[l-1]` children and `up[l-1]`
    /// links up, each `parallel[l-1]` to the same parent, with nodes `0..nodes` attached.
    ///
    /// # Errors
    /// If a parameter is out of bounds; see [`TopologyError`].
    pub fn with_parallel_links(
        down: &[u32],
        up: &[u32],
        parallel: &[u32],
        nodes: u32,
    ) -> Result<Self, TopologyError> {
        FatTree::lay_out(down, up, parallel, nodes, 1)
    }

    /// This tree on several rails: equal trees side by side.
    ///
    /// # Errors
    /// If there are no rails, or too many, or too many switches or links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        let tree = FatTree::lay_out(
            &self.down,
            &self.up,
            &self.parallel[1..],
            self.nodes,
            self.rails * rails,
        )?;
        Ok(FatTree {
            adapters: self.adapters,
            ..tree
        })
    }

    /// This tree with each host's adapters at separate leaves: rail-optimised; see the module
    /// essay.
    ///
    /// # Errors
    /// If the leaves or the nodes make no whole pods.
    pub fn rail_optimised(&self, adapters: u32) -> Result<Self, TopologyError> {
        let leaves = self.positions() / self.down[0];
        if adapters < 2 || !leaves.is_multiple_of(adapters) {
            let message = format!(
                "{adapters} adapters of a host need as many leaves in each pod, and the tree has \
                {leaves} leaves"
            );
            let allowed = (2..=leaves).filter(|part| leaves.is_multiple_of(*part));
            let allowed: Vec<String> = allowed.map(|part| part.to_string()).collect();
            let error = TopologyError::new("adapters", message, allowed.join(", "));
            return Err(error
                .hint("let the product of `down` without its first number be a multiple of them"));
        }
        let pod = adapters * self.down[0];
        if !self.nodes.is_multiple_of(pod) {
            let message = format!(
                "{} nodes are no whole pods: {adapters} leaves with {} nodes each are a pod of \
                {pod}",
                self.nodes, self.down[0]
            );
            return Err(TopologyError::new(
                "nodes",
                message,
                format!("multiples of {pod}"),
            ));
        }
        Ok(FatTree {
            adapters,
            ..self.clone()
        })
    }

    /// Adapters per host, each at its own leaf; 1 in a plain tree.
    pub fn adapters(&self) -> u32 {
        self.adapters
    }

    /// The number of a position in its pod for the number of a node in its pod, or the other way
    /// round: a pod is read by rows of `row` instead of by columns.
    fn transposed(&self, number: u32, row: u32) -> u32 {
        let pod = self.adapters * self.down[0];
        let own = number % pod;
        number - own + own % row * (pod / row) + own / row
    }

    fn lay_out(
        down: &[u32],
        up: &[u32],
        parallel: &[u32],
        nodes: u32,
        rails: u32,
    ) -> Result<Self, TopologyError> {
        check_arities(down, up, parallel)?;
        if !(1..=MAX_RAILS).contains(&rails) {
            return Err(TopologyError::of_rails(rails));
        }
        let levels = down.len();
        let parents: Vec<u32> = up
            .iter()
            .zip(parallel)
            .map(|(up, same)| up / same)
            .collect();
        let positions = product(down);
        if positions > MAX_NODES {
            let message =
                format!("the tree has {positions} node positions; the most is {MAX_NODES}");
            let allowed = format!("numbers whose product is at most {MAX_NODES}");
            return Err(TopologyError::new("down", message, allowed));
        }
        if !(1..=positions).contains(&nodes.into()) {
            let message = format!("{nodes} nodes do not fit: the tree holds 1 to {positions}");
            let error = TopologyError::new("nodes", message, format!("1 to {positions}"));
            return Err(match nodes {
                0 => error,
                _ => error.hint("add a level to `down` and `up`, or attach fewer nodes"),
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
                let message = format!("the tree has {found} {parts}; the most is {MAX_PARTS}");
                return Err(
                    TopologyError::new("up", message, "").hint("give the switches fewer up-links")
                );
            }
        }

        let mut tree = FatTree {
            down: down.to_vec(),
            up: up.to_vec(),
            parallel: [&[1], parallel].concat(),
            nodes,
            rails,
            adapters: 1,
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

    /// `QsNET`'s quaternary n-tree, fully populated: `4^levels` nodes (petrini2003 s2.2).
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

    /// Switches on a level (counted from 1), over all rails.
    pub fn switches_of_level(&self, level: usize) -> u32 {
        self.first_switch[level + 1] - self.first_switch[level]
    }

    /// Children per switch on a level (counted from 1): nodes, or switches on the level below.
    pub fn children(&self, level: usize) -> u32 {
        self.down[level - 1]
    }

    /// Links on a level (counted from 0) between the same two ends.
    pub fn parallel_links(&self, level: usize) -> u32 {
        self.parallel[level]
    }

    /// Links down from a switch on a level (counted from 1).
    pub fn down_links(&self, level: usize) -> u32 {
        self.down[level - 1] * self.parallel[level - 1]
    }

    /// Links up from a switch on a level (counted from 1); 0 at the top.
    pub fn up_links(&self, level: usize) -> u32 {
        self.up.get(level - 1).copied().unwrap_or(0)
    }

    /// Links of a rail in one direction that must be cut to separate the lower half of the
    /// positions from the upper half: half the links on the thinnest level, which is the top unless
    /// some switches have more links up than down. Rounded down; exact for an even child count at
    /// the top, and for k-ary n-trees.
    pub fn bisection(&self) -> u32 {
        let thinnest = (0..self.levels()).map(|level| self.pairs(level)).min();
        thinnest.expect("a tree has a level") / self.rails / 2
    }

    /// Links on the shortest path between two nodes on a rail: twice the level of their nearest
    /// common ancestor.
    pub fn distance(&self, a: impl Into<Place>, b: impl Into<Place>) -> u32 {
        2 * self.common_level(a.into(), b.into()) as u32
    }

    /// Level of the nearest common ancestors of two nodes: 1 if they share a first-level switch. A
    /// packet from a node to itself turns in the first-level switch too.
    pub fn common_level(&self, a: Place, b: Place) -> usize {
        (1..=self.levels())
            .find(|&level| a.get() / self.span[level] == b.get() / self.span[level])
            .expect("the top covers all nodes")
    }

    /// The child, counted from 0, by which a switch on `level` above `node` leads towards the node.
    pub fn child(&self, level: usize, node: Place) -> u32 {
        node.get() / self.span[level - 1] % self.down[level - 1]
    }

    /// Whether the nodes below each switch are in a row, as hardware broadcasts need them.
    pub fn has_ranges(&self) -> bool {
        self.adapters == 1
    }

    /// The positions that a switch covers.
    pub fn positions_of(&self, switch: SwitchId) -> RangeInclusive<Place> {
        let level = self.switch_level(switch);
        let group = (switch.get() - self.first_switch[level]) / self.members[level];
        let (first, next) = (group * self.span[level], (group + 1) * self.span[level]);
        Place::new(first)..=Place::new(next - 1)
    }

    /// A link's level, direction and number within both.
    fn locate(&self, link: LinkId) -> (usize, bool, u32) {
        let level = (0..self.levels())
            .find(|&level| link.get() < self.first_link[level + 1])
            .expect("link number in range");
        let offset = link.get() - self.first_link[level];
        let pairs = self.pairs(level);
        if offset < pairs {
            (level, true, offset)
        } else {
            (level, false, offset - pairs)
        }
    }

    /// Link pairs on a level.
    fn pairs(&self, level: usize) -> u32 {
        if level == 0 {
            self.positions_below()
        } else {
            self.switches_of_level(level) * self.up[level - 1]
        }
    }

    /// Node positions on all rails, from the arities: `span` is still growing while a tree is
    /// built.
    fn positions_below(&self) -> u32 {
        self.down.iter().product::<u32>() * self.rails
    }
}

impl Wiring for FatTree {
    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn rails(&self) -> u32 {
        self.rails
    }

    fn positions(&self) -> u32 {
        self.span[self.levels()]
    }

    fn switches(&self) -> u32 {
        self.first_switch[self.levels() + 1]
    }

    fn links(&self) -> u32 {
        self.first_link[self.levels()]
    }

    fn levels(&self) -> usize {
        self.down.len()
    }

    fn link_level(&self, link: LinkId) -> usize {
        self.locate(link).0
    }

    fn switch_level(&self, switch: SwitchId) -> usize {
        (1..=self.levels())
            .find(|&level| switch.get() < self.first_switch[level + 1])
            .expect("switch number in range")
    }

    fn is_up(&self, link: LinkId) -> bool {
        self.locate(link).1
    }

    fn way(&self, link: LinkId) -> String {
        let level = self.link_level(link);
        let below = match level {
            0 => "the nodes".to_string(),
            _ => format!("level {level}"),
        };
        let above = level + 1;
        if self.is_up(link) {
            format!("up from {below} to level {above}")
        } else {
            format!("down from level {above} to {below}")
        }
    }

    fn ends(&self, link: LinkId) -> (End, End) {
        let (level, upward, pair) = self.locate(link);
        let (upper, parallel) = (level + 1, self.parallel[level]);
        // The lower end's group, the upper end's member, and the number among the parallel links.
        let (lower_end, group, member, which) = if level == 0 {
            (End::Node(Place::new(pair)), pair, 0, 0)
        } else {
            let up = self.up[level - 1];
            let (index, port) = (pair / up, pair % up);
            let (group, member) = (index / self.members[level], index % self.members[level]);
            let end = End::Switch {
                switch: SwitchId::new(self.first_switch[level] + index),
                port: self.down_links(level) + port,
            };
            let parent = member * (up / parallel) + port / parallel;
            (end, group, parent, port % parallel)
        };
        let (parent_group, child) = (group / self.down[level], group % self.down[level]);
        let upper_end = End::Switch {
            switch: SwitchId::new(
                self.first_switch[upper] + parent_group * self.members[upper] + member,
            ),
            port: child * parallel + which,
        };
        if upward {
            (lower_end, upper_end)
        } else {
            (upper_end, lower_end)
        }
    }

    fn reverse(&self, link: LinkId) -> LinkId {
        let (level, upward, _) = self.locate(link);
        let pairs = self.pairs(level);
        LinkId::new(if upward {
            link.get() + pairs
        } else {
            link.get() - pairs
        })
    }

    fn output(&self, switch: SwitchId, port: u32) -> LinkId {
        let level = self.switch_level(switch);
        let index = switch.get() - self.first_switch[level];
        let (group, member) = (index / self.members[level], index % self.members[level]);
        let down = self.down_links(level);
        if port >= down {
            return LinkId::new(
                self.first_link[level] + index * self.up[level - 1] + (port - down),
            );
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
        LinkId::new(self.first_link[level - 1] + self.pairs(level - 1) + pair)
    }

    fn ports(&self, switch: SwitchId) -> u32 {
        let level = self.switch_level(switch);
        self.down_links(level) + self.up_links(level)
    }

    /// The switch's level and its number in that level, as in "switch 2.13".
    fn name_on_rail(&self, switch: SwitchId) -> String {
        let level = self.switch_level(switch);
        let number = switch.get() - self.first_switch[level];
        let of_a_rail = self.switches_of_level(level) / self.rails;
        format!("switch {level}.{}", number % of_a_rail)
    }

    fn rail_of(&self, switch: SwitchId) -> Rail {
        self.rail_and_node(*self.positions_of(switch).start()).0
    }

    fn place(&self, rail: Rail, node: NodeId) -> Place {
        let position = if self.adapters == 1 {
            node.get()
        } else {
            self.transposed(node.get(), self.adapters)
        };
        Place::new(rail.get() * self.positions() + position)
    }

    fn rail_and_node(&self, place: Place) -> (Rail, NodeId) {
        let positions = self.positions();
        let (rail, position) = (place.get() / positions, place.get() % positions);
        let node = if self.adapters == 1 {
            position
        } else {
            self.transposed(position, self.down[0])
        };
        (Rail::new(rail), NodeId::new(node))
    }
}

/// Product of arities, saturating.
fn product(arities: &[u32]) -> u64 {
    arities.iter().fold(1_u64, |product, &arity| {
        product.saturating_mul(arity.into())
    })
}

/// Checks that the arity lists are as long as they must be, and that their entries are within
/// bounds.
fn check_arities(down: &[u32], up: &[u32], parallel: &[u32]) -> Result<(), TopologyError> {
    let wrong = |key: &str, message, allowed| Err(TopologyError::new(key, message, allowed));
    let levels = down.len();
    if !(1..=MAX_LEVELS).contains(&levels) {
        let message = format!("a tree has 1 to {MAX_LEVELS} levels of switches, not {levels}");
        let allowed = format!(
            "a list of 1 to {MAX_LEVELS} numbers, one for each level from the nodes upwards"
        );
        return wrong("down", message, allowed);
    }
    let entries = levels - 1;
    for (key, what, list, hint) in [
        ("up", "up-links", up, ""),
        (
            "parallel",
            "parallel links",
            parallel,
            "without the key no links are parallel",
        ),
    ] {
        let found = list.len();
        if found != entries {
            let message = format!(
                "a tree of {levels} levels has {entries} entries of {what}, one for each level but \
                the top, not {found}"
            );
            let allowed = format!("a list of {entries}: one number less than `down` has");
            return Err(TopologyError::new(key, message, allowed).hint(hint));
        }
    }
    for (arities, key) in [(down, "down"), (up, "up")] {
        let found = arities
            .iter()
            .position(|arity| !(1..=MAX_ARITY).contains(arity));
        if let Some(entry) = found {
            let message = format!(
                "the switches of level {} have {} {key}-links; allowed are 1 to {MAX_ARITY}",
                entry + 1,
                arities[entry]
            );
            return wrong(
                &format!("{key}.{entry}"),
                message,
                format!("1 to {MAX_ARITY}"),
            );
        }
    }
    for (entry, (up, found)) in up.iter().zip(parallel).enumerate() {
        let (key, level, children) = (format!("parallel.{entry}"), entry + 1, down[entry + 1]);
        if !up.is_multiple_of(*found) {
            let message = format!(
                "the switches of level {level} have {up} up-links, which is no multiple of {found} \
                parallel links to each parent"
            );
            let divisors = (1..=*up).filter(|part| up.is_multiple_of(*part));
            let divisors: Vec<_> = divisors.map(|part| part.to_string()).collect();
            return wrong(&key, message, divisors.join(", "));
        }
        if children * found > MAX_ARITY {
            let message = format!(
                "{found} parallel links to each of {children} children are too many; a switch of \
                level {} may have {MAX_ARITY} down-links",
                level + 1
            );
            let error =
                TopologyError::new(key, message, format!("at most {}", MAX_ARITY / children));
            return Err(error.hint("give the switches fewer parallel links, or fewer in `down`"));
        }
    }
    Ok(())
}
