//! Who is where in a group: its teams, and whether hardware serves it.

use crate::elan3::Context;
use elan::{ElanAddr, NodeId};
use std::collections::BTreeMap;

/// Who is where.
pub(super) struct Layout {
    /// By rank.
    pub members: Vec<u32>,
    /// Ranks of each team, in order; the teams are in the order of their first ranks.
    pub teams: Vec<Vec<u32>>,
    /// By rank.
    pub team_of: Vec<u32>,
    /// The leader of each team.
    pub leaders: Vec<u32>,
    /// Whether the ranks of each team follow one on the other.
    pub in_order: bool,
    /// The leaders in the order of their nodes, if hardware serves the group.
    pub contiguous: Option<Vec<u32>>,
}

impl Layout {
    pub fn new(context: &Context, members: Vec<u32>) -> Self {
        let address = |vp: u32| {
            let at = context.address(vp, ElanAddr::NOWHERE);
            at.expect("members are processes of the job")
        };
        let (mut teams, mut team_of) = (Vec::<Vec<u32>>::new(), Vec::new());
        let mut by_node = BTreeMap::<NodeId, u32>::new();
        for (rank, &vp) in (0..).zip(&members) {
            let team = *by_node
                .entry(address(vp).node)
                .or_insert(teams.len() as u32);
            if team as usize == teams.len() {
                teams.push(Vec::new());
            }
            teams[team as usize].push(rank);
            team_of.push(team);
        }
        let leaders: Vec<u32> = teams.iter().map(|team| members[team[0] as usize]).collect();
        let in_order = teams.iter().all(|team| {
            let mut pairs = team.windows(2);
            pairs.all(|pair| pair[0] + 1 == pair[1])
        });
        let nodes = by_node.len() as u32;
        let (first, last) = (by_node.keys().next(), by_node.keys().next_back());
        let closed = first.is_some_and(|first| last.is_some_and(|last| last - first + 1 == nodes));
        let number = address(leaders[0]).context;
        let one = leaders.iter().all(|&vp| address(vp).context == number);
        let sorted = by_node.values().map(|&team| leaders[team as usize]);
        let contiguous =
            (closed && one && context.node().has_broadcasts()).then(|| sorted.collect());
        Layout {
            members,
            teams,
            team_of,
            leaders,
            in_order,
            contiguous,
        }
    }
}
