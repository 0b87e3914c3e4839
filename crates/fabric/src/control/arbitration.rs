//! # Arbitration: which header gets which channel
//!
//! Each switch has one *output group* per child, of all links to it (one, unless the tree has parallel links), and
//! above these either one group for all its up-links (adaptive ascent) or one per up-link (fixed ascent). A
//! header that reaches a switch joins the group its routing tag names and waits there. When a header joins or a channel
//! of the group falls free, the group arbitrates in that cycle: while a header waits and a channel is free,
//!
//! * the winner is the header of the highest priority, then of the greatest age. The age is the time since injection,
//!   carried in the header; it saturates at `age_cap` and is compared in steps of `age_step`. Equal ages are resolved
//!   by rotation over the inputs of the switch, starting behind the last winner;
//! * it takes the lowest free channel of the link with the fewest busy channels. A channel that only waits for its
//!   acknowledgement is busy. Ties between links are resolved by rotation from a start that a hash of the packet and
//!   the switch gives, so that no shared random stream couples distant switches.

use super::packet::PacketId;
use crate::config::{MAX_CHANNELS, MAX_HOP_DELAY};
use crate::topology::{End, LinkId, MAX_ARITY, SwitchId, Tag};
use crate::{Ascent, Config, Cycle};

/// A header that waits for a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub packet: PacketId,
    /// Number of the input channel, over the switch.
    pub input: u32,
    /// When it was injected: its age counts from there.
    pub injected: Cycle,
    /// Whether it goes before all that are not, whatever their age.
    pub high: bool,
}

/// Headers that compete for the same outputs.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// One of the headers that wait; each knows the next ([`Flight`](super::packet::Flight)), in no order.
    pub waiting: Option<PacketId>,
    /// The input that is looked at first.
    pub rotation: u16,
    /// Whether the group is on the list of this cycle.
    pub flagged: bool,
}

/// Where a link leads, and who may send over it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// The other link of the pair.
    pub reverse: LinkId,
    /// The group that competes for the link, or [`NO_GROUP`] for that of an adapter into the network.
    pub group: u32,
    /// Header delay, in cycles.
    delay: u8,
    /// Whether the link ends in a node; what follows is then zero.
    pub ejects: bool,
    /// Children of the switch where it ends.
    children: u16,
    /// First group of that switch.
    first_group: u32,
    /// Number of its first channel among the inputs of that switch.
    first_input: u16,
}

impl Hop {
    /// Header delay, in cycles.
    pub fn delay(&self) -> Cycle {
        self.delay.into()
    }

    /// Number of a channel of the link among the inputs of the switch where it ends.
    pub fn input(&self, lane: u32) -> u32 {
        u32::from(self.first_input) + lane
    }

    /// The group that a tag names at the switch where the link ends.
    pub fn next_group(&self, tag: Tag) -> u32 {
        self.first_group
            + match tag {
                Tag::Down(child) => u32::from(child),
                Tag::Adaptive => self.children.into(),
                Tag::Up(port) => u32::from(self.children) + u32::from(port),
            }
    }
}

/// The outputs of a group.
#[derive(Clone, Copy, Debug)]
struct Outputs {
    switch: SwitchId,
    /// In `Crossbar::outputs`, from and up to.
    range: (u32, u32),
    /// Input channels of the switch.
    inputs: u32,
}

/// The arrangement of groups and outputs; immutable.
pub(super) struct Crossbar {
    groups: Vec<Outputs>,
    outputs: Vec<LinkId>,
}

/// Group number of a link that no switch arbitrates.
pub(super) const NO_GROUP: u32 = u32::MAX;

impl Crossbar {
    /// The groups of all switches, and what there is to know of each link.
    pub fn new(config: &Config) -> (Self, Vec<Hop>) {
        let tree = &config.tree;
        let hop = |link| Hop {
            delay: config.hop_delay[tree.link_level(link)] as u8,
            reverse: tree.reverse(link),
            group: NO_GROUP,
            ejects: true,
            first_input: 0,
            first_group: 0,
            children: 0,
        };
        let mut hops: Vec<Hop> = (0..tree.links()).map(hop).collect();
        let mut crossbar = Crossbar {
            groups: Vec::new(),
            outputs: Vec::new(),
        };
        let mut first_group = Vec::new();
        for switch in 0..tree.switches() {
            first_group.push(crossbar.groups.len() as u32);
            crossbar.add_outputs(config, switch, &mut hops);
        }
        for (link, hop) in (0..).zip(&mut hops) {
            if let End::Switch { switch, port } = tree.ends(link).1 {
                hop.ejects = false;
                hop.first_input = (port * config.channels) as u16;
                hop.first_group = first_group[switch as usize];
                hop.children = tree.children(tree.switch_level(switch)) as u16;
            }
        }
        (crossbar, hops)
    }

    fn add_outputs(&mut self, config: &Config, switch: SwitchId, hops: &mut [Hop]) {
        let tree = &config.tree;
        let level = tree.switch_level(switch);
        let (down, up) = (tree.down_links(level), tree.up_links(level));
        let parallel = tree.parallel_links(level - 1);
        for port in 0..down + up {
            let first = self.outputs.len() as u32;
            let begins = if port < down {
                port.is_multiple_of(parallel)
            } else {
                port == down || config.ascent != Ascent::Adaptive
            };
            if begins {
                self.groups.push(Outputs {
                    switch,
                    range: (first, first),
                    inputs: (down + up) * config.channels,
                });
            }
            let group = self.groups.len() - 1;
            let link = tree.output(switch, port);
            self.outputs.push(link);
            self.groups[group].range.1 += 1;
            hops[link as usize].group = group as u32;
        }
    }

    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The links of a group, its switch, and the number of input channels of that.
    pub fn outputs(&self, group: u32) -> (&[LinkId], SwitchId, u32) {
        let Outputs {
            switch,
            range,
            inputs,
        } = self.groups[group as usize];
        let outputs = &self.outputs[range.0 as usize..range.1 as usize];
        (outputs, switch, inputs)
    }
}

const _: () = assert!(
    2 * MAX_ARITY * MAX_CHANNELS <= u16::MAX as u32 && MAX_HOP_DELAY <= u8::MAX as u32,
    "numbers of inputs, and delays, are kept short"
);

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

/// The winner among the headers that wait, by priority, age and rotation over `inputs` inputs.
pub(super) fn winner(
    mut waiting: impl Iterator<Item = Waiting>,
    rotation: u32,
    inputs: u32,
    rule: AgeRule,
    now: Cycle,
) -> Option<Waiting> {
    let rank = |header: &Waiting| {
        let turns = if header.input < rotation {
            header.input + inputs - rotation
        } else {
            header.input - rotation
        };
        let age = rule.age(header.injected, now);
        (header.high, age, std::cmp::Reverse(turns))
    };
    let mut best = waiting.next()?;
    // Mostly there is one.
    for other in waiting {
        best = std::cmp::max_by_key(best, other, rank);
    }
    Some(best)
}

/// The output of the group with a free channel and the fewest busy ones; `free` gives the free channels of a link as
/// bits. Ties go to the first output at or after `spread`, a number that is asked for if there is a choice, counted
/// around.
pub(super) fn least_loaded(
    outputs: &[LinkId],
    spread: impl Fn() -> u64,
    free: impl Fn(LinkId) -> u8,
) -> Option<LinkId> {
    // Most groups have one output.
    if let [link] = *outputs {
        return (free(link) != 0).then_some(link);
    }
    let count = outputs.len() as u32;
    let start = if count.is_power_of_two() {
        spread() as u32 & (count - 1) // nearly all trees: no division
    } else {
        (spread() % u64::from(count)) as u32
    };
    let around = |number: u32| {
        if number < count {
            number
        } else {
            number - count
        }
    };
    // Free channels, and of equals the first one tried. No branches: nobody could foresee them.
    let rank = |(number, &link): (u32, &LinkId)| {
        let tried = around(number + count - start);
        u32::from(ONES[usize::from(free(link))]) << 16 | (count - 1 - tried)
    };
    let best = (0..).zip(outputs).map(rank).fold(0, u32::max);
    let tried = count - 1 - (best & 0xFFFF);
    (best >> 16 != 0).then(|| outputs[around(start + tried) as usize])
}

/// How many bits a byte has: not every processor counts them in one instruction.
const ONES: [u8; 256] = {
    let mut ones = [0; 256];
    let mut byte = 1;
    while byte < 256 {
        ones[byte] = ones[byte / 2] + (byte % 2) as u8;
        byte += 1;
    }
    ones
};

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
