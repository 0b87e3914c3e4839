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
use crate::topology::{End, LinkId, SwitchId, Tag};
use crate::{Ascent, Config, Cycle};

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
    /// Since when it waits.
    pub since: Cycle,
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

/// Where a link leads, and who may send over it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// Header delay, in cycles.
    pub delay: u64,
    /// The other link of the pair.
    pub reverse: LinkId,
    /// The group that competes for the link, or [`NO_GROUP`] for that of an adapter into the network.
    pub group: u32,
    /// Whether the link ends in a node; what follows is then zero.
    pub ejects: bool,
    /// The switch where it ends.
    pub switch: SwitchId,
    /// Number of its first channel among the inputs of that switch.
    first_input: u32,
    /// First group of that switch.
    first_group: u32,
    /// Down-links of that switch.
    down: u32,
}

impl Hop {
    /// Number of a channel of the link among the inputs of the switch where it ends.
    pub fn input(&self, channel: u32) -> u32 {
        self.first_input + channel
    }

    /// The group that a tag names at the switch where the link ends.
    pub fn next_group(&self, tag: Tag) -> u32 {
        self.first_group
            + match tag {
                Tag::Down(port) => u32::from(port),
                Tag::Adaptive => self.down,
                Tag::Up(port) => self.down + u32::from(port),
            }
    }
}

/// The outputs of a group.
#[derive(Clone, Copy, Debug)]
struct Outputs {
    /// In `Crossbar::outputs`, from and up to.
    range: (u32, u32),
    /// Input channels of the switch.
    inputs: u32,
}

/// The arrangement of links, groups and outputs; immutable.
pub(super) struct Crossbar {
    hops: Vec<Hop>,
    groups: Vec<Outputs>,
    outputs: Vec<LinkId>,
}

/// Group number of a link that no switch arbitrates.
pub(super) const NO_GROUP: u32 = u32::MAX;

impl Crossbar {
    pub fn new(config: &Config) -> Self {
        let tree = &config.tree;
        let hop = |link| Hop {
            delay: config.hop_delay[tree.link_level(link)].into(),
            reverse: tree.reverse(link),
            group: NO_GROUP,
            ejects: true,
            switch: 0,
            first_input: 0,
            first_group: 0,
            down: 0,
        };
        let mut crossbar = Crossbar {
            hops: (0..tree.links()).map(hop).collect(),
            groups: Vec::new(),
            outputs: Vec::new(),
        };
        let mut first_group = Vec::new();
        for switch in 0..tree.switches() {
            first_group.push(crossbar.groups.len() as u32);
            crossbar.add_outputs(config, switch);
        }
        for link in 0..tree.links() {
            if let End::Switch { switch, port } = tree.ends(link).1 {
                let hop = &mut crossbar.hops[link as usize];
                hop.ejects = false;
                hop.switch = switch;
                hop.first_input = port * config.channels;
                hop.first_group = first_group[switch as usize];
                hop.down = tree.down_links(tree.switch_level(switch));
            }
        }
        crossbar
    }

    fn add_outputs(&mut self, config: &Config, switch: SwitchId) {
        let tree = &config.tree;
        let level = tree.switch_level(switch);
        let (down, up) = (tree.down_links(level), tree.up_links(level));
        for port in 0..down + up {
            let first = self.outputs.len() as u32;
            if port <= down || config.ascent == Ascent::Deterministic {
                self.groups.push(Outputs {
                    range: (first, first),
                    inputs: (down + up) * config.channels,
                });
            }
            let group = self.groups.len() - 1;
            let link = tree.output(switch, port);
            self.outputs.push(link);
            self.groups[group].range.1 += 1;
            self.hops[link as usize].group = group as u32;
        }
    }

    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// What there is to know of a link.
    pub fn hop(&self, link: LinkId) -> &Hop {
        &self.hops[link as usize]
    }

    /// The links of a group, and the number of input channels of its switch.
    pub fn outputs(&self, group: u32) -> (&[LinkId], u32) {
        let Outputs { range, inputs } = self.groups[group as usize];
        (&self.outputs[range.0 as usize..range.1 as usize], inputs)
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
        let age = (now - injected).min(self.cap);
        if self.step == 1 { age } else { age / self.step }
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
    if waiting.len() < 2 {
        return waiting.len().checked_sub(1);
    }
    let turns = |input: u32| {
        if input < rotation {
            input + inputs - rotation
        } else {
            input - rotation
        }
    };
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
    // Most groups have one output.
    let start = match outputs.len() {
        1 => 0,
        count => (spread % count as u64) as usize,
    };
    let mut best = None;
    for &link in outputs[start..].iter().chain(&outputs[..start]) {
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
