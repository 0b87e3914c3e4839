//! A group's layout: its teams, and whether hardware serves it.

use crate::elan3::Context;
use derive::Identifier;
use elan::{ElanAddr, Place, ProcessId};
use std::collections::BTreeMap;
use typed_index_collections::TiVec;

/// A member's number in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct GroupRank(u32);

/// A team's number in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct TeamId(u32);

impl TeamId {
    /// The first member's team.
    pub const FIRST: TeamId = TeamId::new(0);
}

/// A group's teams and their places.
pub(super) struct Layout {
    pub members: TiVec<GroupRank, ProcessId>,
    /// Each team's members, in order; the teams are ordered by their first members.
    pub teams: TiVec<TeamId, Vec<GroupRank>>,
    pub team_of: TiVec<GroupRank, TeamId>,
    /// Each team's leader.
    pub leaders: TiVec<TeamId, ProcessId>,
    /// Whether each team's ranks are consecutive.
    pub in_order: bool,
    /// The leaders in node order, if hardware serves the group.
    pub contiguous: Option<Vec<ProcessId>>,
}

impl Layout {
    pub fn new(context: &Context, members: TiVec<GroupRank, ProcessId>) -> Self {
        let address = |vp| {
            let at = context.address(vp, ElanAddr::NOWHERE);
            at.expect("members are processes of the job")
        };
        let mut teams = TiVec::<TeamId, Vec<GroupRank>>::new();
        let (mut team_of, mut by_node) = (TiVec::new(), BTreeMap::<Place, TeamId>::new());
        for (rank, &vp) in members.iter_enumerated() {
            let team = by_node.entry(address(vp).node);
            let team = *team.or_insert_with(|| teams.push_and_get_key(Vec::new()));
            teams[team].push(rank);
            team_of.push(team);
        }
        let leaders: TiVec<TeamId, ProcessId> = teams.iter().map(|team| members[team[0]]).collect();
        let in_order = teams.iter().all(|team| {
            let mut pairs = team.windows(2);
            pairs.all(|pair| pair[0].get() + 1 == pair[1].get())
        });
        let nodes = by_node.len() as u32;
        let (first, last) = (by_node.keys().next(), by_node.keys().next_back());
        let closed = first
            .is_some_and(|first| last.is_some_and(|last| last.get() - first.get() + 1 == nodes));
        let number = address(leaders[TeamId::FIRST]).context;
        let one = leaders.iter().all(|&vp| address(vp).context == number);
        let sorted = by_node.values().map(|&team| leaders[team]);
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
