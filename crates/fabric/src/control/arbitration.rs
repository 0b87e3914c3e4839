//! # Arbitration: which header gets which channel
//!
//! Each switch has one *output group* per down-link, and above it either one group for all its up-links (adaptive
//! ascent) or one per up-link (deterministic ascent). A header that reaches a switch joins the group its routing tag
//! names and waits there. When a header joins or a channel of the group falls free, the group arbitrates in that cycle:
//! while a header waits and a channel is free,
//!
//! * the winner is the header of the highest priority, then of the greatest age. The age is the time since injection,
//!   carried in the header; it saturates at `age_cap` and is compared in steps of `age_step`. Equal ages are resolved
//!   by rotation over the inputs of the switch, starting behind the last winner;
//! * it takes the lowest free channel of the link with the fewest busy channels. A channel that only waits for its
//!   acknowledgement is busy. Ties between links are resolved by rotation from a start that a hash of the packet and
//!   the switch gives, so that no shared random stream couples distant switches.

use super::packet::PacketId;
use crate::topology::{FatTree, LinkId, SwitchId, Tag};
use crate::{Ascent, Cycle};

/// A header that waits for a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub packet: PacketId,
    /// Number of the input channel, over the switch.
    pub input: u32,
    /// Priority and age, as far as they count; the larger wins.
    pub injected: Cycle,
    pub high: bool,
    /// Seed of the choice among equally loaded links.
    pub spread: u64,
}

/// Headers that compete for the same outputs.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub waiting: Vec<Waiting>,
    /// The input that is looked at first.
    pub rotation: u32,
    /// Whether the group is on the list of this cycle.
    pub flagged: bool,
}

/// The arrangement of groups, inputs and outputs; immutable.
pub(super) struct Crossbar {
    /// Entry `s`: number of the first group of switch `s`; one more entry at the end.
    first_group: Vec<u32>,
    /// Entry `g`: index in `outputs` of the first link of group `g`; one more entry at the end.
    first_output: Vec<u32>,
    outputs: Vec<LinkId>,
    /// Entry `l`: the group that link `l` serves, or `u32::MAX` for the link of an adapter into the network.
    group_of: Vec<u32>,
    /// Entry `l`: the switch and the port where link `l` ends; `None` for a node.
    target: Vec<Option<(SwitchId, u32)>>,
    /// Entry `s`: down-links of switch `s`.
    down: Vec<u32>,
}

/// Group number of a link that no switch arbitrates.
pub(super) const NO_GROUP: u32 = u32::MAX;

impl Crossbar {
    pub fn new(tree: &FatTree, ascent: Ascent) -> Self {
        let mut crossbar = Crossbar {
            first_group: Vec::new(),
            first_output: Vec::new(),
            outputs: Vec::new(),
            group_of: vec![NO_GROUP; tree.links() as usize],
            target: Vec::with_capacity(tree.links() as usize),
            down: Vec::new(),
        };
        for switch in 0..tree.switches() {
            let level = tree.switch_level(switch);
            let (down, up) = (tree.down_links(level), tree.up_links(level));
            crossbar.down.push(down);
            crossbar
                .first_group
                .push(crossbar.first_output.len() as u32);
            for port in 0..down + up {
                if port <= down || ascent == Ascent::Deterministic {
                    crossbar.first_output.push(crossbar.outputs.len() as u32);
                }
                let link = tree.output(switch, port);
                crossbar.group_of[link as usize] = crossbar.first_output.len() as u32 - 1;
                crossbar.outputs.push(link);
            }
        }
        crossbar
            .first_group
            .push(crossbar.first_output.len() as u32);
        crossbar.first_output.push(crossbar.outputs.len() as u32);
        for link in 0..tree.links() {
            crossbar.target.push(match tree.ends(link).1 {
                crate::topology::End::Node(_) => None,
                crate::topology::End::Switch { switch, port } => Some((switch, port)),
            });
        }
        crossbar
    }

    pub fn groups(&self) -> usize {
        self.first_output.len() - 1
    }

    /// The switch and input port at the end of a link; none at a node.
    pub fn target(&self, link: LinkId) -> Option<(SwitchId, u32)> {
        self.target[link as usize]
    }

    /// The group that competes for a link, or [`NO_GROUP`].
    pub fn group_of(&self, link: LinkId) -> u32 {
        self.group_of[link as usize]
    }

    /// The group that a tag names at a switch.
    pub fn group(&self, switch: SwitchId, tag: Tag) -> u32 {
        let down = self.down[switch as usize];
        self.first_group[switch as usize]
            + match tag {
                Tag::Down(port) => u32::from(port),
                Tag::Adaptive => down,
                Tag::Up(port) => down + u32::from(port),
            }
    }

    /// The links of a group.
    pub fn outputs(&self, group: u32) -> &[LinkId] {
        let group = group as usize;
        &self.outputs[self.first_output[group] as usize..self.first_output[group + 1] as usize]
    }
}

/// How ages are compared; see the essay of the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgeRule {
    /// In cycles; 0 makes all ages equal.
    pub cap: u64,
    /// In cycles.
    pub step: u64,
}

impl AgeRule {
    /// The age that counts.
    pub fn age(self, injected: Cycle, now: Cycle) -> u64 {
        (now - injected).min(self.cap) / self.step
    }
}

/// Index in `waiting` of the winner, by priority, age and rotation over `inputs` inputs.
pub(super) fn winner(
    waiting: &[Waiting],
    rotation: u32,
    inputs: u32,
    rule: AgeRule,
    now: Cycle,
) -> Option<usize> {
    let turns = |input: u32| (input + inputs - rotation) % inputs;
    (0..waiting.len()).max_by_key(|&index| {
        let header = &waiting[index];
        (
            header.high,
            rule.age(header.injected, now),
            std::cmp::Reverse(turns(header.input)),
        )
    })
}

/// The output of the group with a free channel and the fewest busy ones; `free` gives the free channels of a link as
/// bits. Ties go to the first output at or after `spread`, counted around.
pub(super) fn least_loaded(
    outputs: &[LinkId],
    spread: u64,
    free: impl Fn(LinkId) -> u8,
) -> Option<LinkId> {
    let count = outputs.len();
    let start = (spread % count as u64) as usize;
    let mut best = None;
    for turn in 0..count {
        let link = outputs[(start + turn) % count];
        let channels = free(link).count_ones();
        if channels > 0 && best.is_none_or(|(most, _)| channels > most) {
            best = Some((channels, link));
        }
    }
    best.map(|(_, link)| link)
}

/// A fixed hash of (source, sequence, switch) for [`least_loaded`]: the finaliser of `SplitMix64`.
pub(super) fn spread(source: u32, sequence: u32, switch: u32) -> u64 {
    let mut mixed = (u64::from(source) << 32 | u64::from(sequence))
        ^ u64::from(switch).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests;
