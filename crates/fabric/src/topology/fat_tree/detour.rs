//! Ways round dead links: up to any nearest common ancestor from which a living way leads down.

use super::FatTree;
use crate::id::{LinkId, Place, SwitchId};
use crate::topology::wiring::{End, Wiring};
use std::ops::RangeInclusive;

impl FatTree {
    /// A switch's up-links.
    pub(super) fn ascents(&self, switch: SwitchId) -> impl Iterator<Item = LinkId> {
        let down = self.down_links(self.switch_level(switch));
        (down..self.ports(switch)).map(move |port| self.output(switch, port))
    }

    /// Whether a minimal path from a source to a node may cross a link.
    pub(super) fn may_cross(&self, source: Place, node: Place, link: LinkId) -> bool {
        let turn = self.common_level(source, node);
        let (start, end) = self.ends(link);
        let (lower, passes) = if self.is_up(link) {
            (start, source)
        } else {
            (end, node)
        };
        match lower {
            End::Node(place) => place == passes,
            End::Switch { switch, .. } => {
                self.switch_level(switch) < turn && self.positions_of(switch).contains(&passes)
            }
        }
    }

    /// For each place the level of the lowest dead cable on the ways up from it; `u8::MAX` without
    /// a dead cable. A packet may cross a cable above its source or above its destination if the
    /// cable's level is below that where the packet turns.
    pub(super) fn lowest(&self, dead: &[LinkId]) -> Vec<u8> {
        let mut lowest = vec![u8::MAX; self.places() as usize];
        // A cable's two links have the same lower end.
        let ups = dead.iter().filter(|&&link| self.is_up(link));
        let mut below: Vec<(usize, RangeInclusive<Place>)> = ups
            .map(|&link| match self.ends(link).0 {
                End::Node(place) => (0, place..=place),
                End::Switch { switch, .. } => {
                    (self.switch_level(switch), self.positions_of(switch))
                }
            })
            .collect();
        below.dedup();
        for (level, below) in below {
            let below = usize::from(*below.start())..=usize::from(*below.end());
            for place in &mut lowest[below] {
                *place = (*place).min(level as u8);
            }
        }
        lowest
    }

    /// Whether a link is alive and a living way leads on from its end, up to level `turn` and down
    /// to a node.
    pub(super) fn leads(
        &self,
        link: LinkId,
        turn: usize,
        node: Place,
        dead: &dyn Fn(LinkId) -> bool,
    ) -> bool {
        let End::Switch { switch, .. } = self.ends(link).1 else {
            return !dead(link);
        };
        if dead(link) {
            return false;
        }
        let level = self.switch_level(switch);
        if self.is_up(link) && level < turn {
            return self
                .ascents(switch)
                .any(|next| self.leads(next, turn, node, dead));
        }
        let parallel = self.parallel_links(level - 1);
        let first = self.child(level, node) * parallel;
        (first..first + parallel)
            .any(|port| self.leads(self.output(switch, port), turn, node, dead))
    }
}
