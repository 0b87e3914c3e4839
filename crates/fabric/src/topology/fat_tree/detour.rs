//! Ways round dead links: up to any nearest common ancestor from which a living way leads down.

use super::FatTree;
use crate::id::{LinkId, Place, SwitchId};
use crate::topology::wiring::{End, Wiring};

impl FatTree {
    /// The up-links of a switch.
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

    /// Whether a link is alive and a living way leads on from its end, up to level `turn` and down to a node.
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
