//! # Arbitration: which header gets which channel
//!
//! The links that leave a switch are divided into *output groups* by the routing ([`Routing`]); in
//! a tree with adaptive ascent a switch has one group for each child and one for all up-links. A
//! header that reaches a switch joins the group that the routing names and waits there. When a
//! header joins or a channel in the group falls free, the group arbitrates in that cycle: while a
//! header waits and a channel in its class is free,
//!
//! * the winner is the header with the highest priority, among equal priorities the one with the
//!   greatest age. The age is carried in the header, in `age_bits` bits (Elan3 headers: 4); it
//!   grows in equal steps from the injection on and is full at `age_cap`. Among equal ages the
//!   header wins that has had this age at this switch for the longest time: it came with this age,
//!   or reached it here. The rule for equal ages is not published. Headers that are equal in this,
//!   too, and all headers at a switch that ignores ages, are served by rotation over the switch's
//!   input channels, starting behind the last winner;
//! * the winner takes the lowest free channel in its class, on the link with the fewest busy
//!   channels in the class. A channel that only waits for its acknowledgement is busy. Ties between
//!   links are resolved by rotation from a start given by a hash over packet and switch, so that no
//!   shared random stream couples distant switches.

use crate::config::{MAX_CHANNELS, MAX_HOP_DELAY};
use crate::hash::mixed;
use crate::id::{GroupId, PacketId};
use crate::prefetch::prefetch;
use crate::records::{EJECTS, Hop};
use crate::table;
use crate::topology::{End, MAX_ARITY, Routing};
use crate::{Arbitration, Config, Cycle, LinkId, Place, SwitchId};
use bytemuck::Zeroable;
use std::cmp::Reverse;
use std::sync::Arc;
use typed_index_collections::TiVec;

/// A header that waits for a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingHeader {
    pub packet: PacketId,
    /// The input channel's number among all input channels of the switch.
    pub input: u32,
    /// When the packet was injected: its age counts from this cycle.
    pub injected: Cycle,
    /// When the header reached the switch.
    pub ready: Cycle,
    /// Whether the packet has high priority: it precedes all low-priority packets, regardless of
    /// their age.
    pub high: bool,
}

/// Headers that compete for the same outputs, and these outputs; half a cache line.
#[derive(Clone, Debug, Zeroable)]
#[repr(align(32))]
pub(super) struct Group {
    /// A waiting header; each links to the next one ([`State`](super::packet::State)), in no order.
    pub waiting: Option<PacketId>,
    /// The input that is looked at first.
    pub rotation: u16,
    /// Whether the group is on this cycle's list.
    pub flagged: bool,
    switch: SwitchId,
    /// The switch's input channels.
    inputs: u32,
    /// The first output, which mostly is the only one; all are in `Crossbar::outputs`.
    first: LinkId,
    /// The group's range in `Crossbar::outputs`: its place, and its length.
    place: u32,
    count: u16,
}

const _: () = assert!(size_of::<Group>() == 32, "half a cache line");
const _: () = assert!(
    2 * MAX_ARITY <= u16::MAX as u32,
    "the outputs of a group are counted in a short number"
);

/// The output groups of all switches.
pub(super) struct Crossbar {
    pub groups: TiVec<GroupId, Group>,
    outputs: Arc<Vec<LinkId>>,
    /// The groups that arbitrate in this cycle.
    flagged: Vec<GroupId>,
    /// How ages grow, if they arbitrate.
    ages: Option<Ages>,
}

impl Crossbar {
    /// The groups of all switches, and for each link the [`Hop`] and the switch where the link
    /// ends, or 0 for a node.
    #[expect(clippy::type_complexity, reason = "two tables of links")]
    pub fn new(
        config: &Config,
        routing: &(impl Routing + ?Sized),
    ) -> (Self, (TiVec<LinkId, Hop>, TiVec<LinkId, SwitchId>)) {
        let wiring = routing.wiring();
        let hop = |link: LinkId| {
            // Links into the network are numbered as the places; links that leave switches follow
            // below.
            let place = Place::new(link.get());
            let delay = config.delay_of(link) as u16;
            Hop::new(wiring.reverse(link), place, delay)
        };
        let mut hops: TiVec<LinkId, Hop> = LinkId::all(wiring.links()).map(hop).collect();
        let links = wiring.links() as usize;
        let mut crossbar = Crossbar {
            groups: table::with_room(links),
            outputs: Arc::default(),
            flagged: Vec::new(),
            ages: (config.arbitration == Arbitration::Age)
                .then(|| Ages::new(config.age_bits, config.age_cap)),
        };
        let mut outputs = Vec::with_capacity(links);
        let mut first_group: TiVec<SwitchId, GroupId> = TiVec::new();
        for switch in SwitchId::all(wiring.switches()) {
            first_group.push(crossbar.groups.next_key());
            crossbar.add_outputs(config, routing, switch, &mut hops, &mut outputs);
        }
        crossbar.outputs = Arc::new(outputs);
        let mut switches = table::equal(SwitchId::new(0), links);
        for (link, hop) in hops.iter_mut_enumerated() {
            if let End::Switch { switch, port } = wiring.ends(link).1 {
                hop.enter(first_group[switch], (port * config.channels) as u16);
                switches[link] = switch;
            }
        }
        (crossbar, (hops, switches))
    }

    /// The groups of some links, for a region.
    pub fn of_some(&self, groups: impl Iterator<Item = GroupId>) -> Self {
        let mut crossbar = Crossbar {
            groups: table::blank(self.groups.len()),
            outputs: Arc::clone(&self.outputs),
            flagged: Vec::new(),
            ages: self.ages,
        };
        for group in groups {
            crossbar.groups[group] = self.groups[group].clone();
        }
        crossbar
    }

    fn add_outputs(
        &mut self,
        config: &Config,
        routing: &(impl Routing + ?Sized),
        switch: SwitchId,
        hops: &mut TiVec<LinkId, Hop>,
        outputs: &mut Vec<LinkId>,
    ) {
        let ports = routing.wiring().ports(switch);
        assert!(ports * config.channels <= MOST_INPUTS);
        for port in 0..ports {
            let place = outputs.len() as u32;
            if routing.begins_group(switch, port) {
                self.groups.push(Group {
                    waiting: None,
                    rotation: 0,
                    flagged: false,
                    switch,
                    inputs: ports * config.channels,
                    first: routing.wiring().output(switch, port),
                    place,
                    count: 0,
                });
            }
            let group = self
                .groups
                .last_key()
                .expect("the first port begins a group");
            let link = routing.wiring().output(switch, port);
            outputs.push(link);
            self.groups[group].count += 1;
            hops[link].leave(group);
        }
    }

    /// How ages grow, if they arbitrate.
    #[inline]
    pub fn ages(&self) -> Option<Ages> {
        self.ages
    }

    /// Has a group arbitrate in this cycle.
    #[inline]
    pub fn flag(&mut self, number: GroupId) {
        if !std::mem::replace(&mut self.groups[number].flagged, true) {
            self.flagged.push(number);
        }
    }

    /// The groups that arbitrate in this cycle. The list does not grow during the loop.
    #[inline]
    pub fn flagged(&self) -> &[GroupId] {
        &self.flagged
    }

    pub fn reverse(&mut self) {
        self.flagged.reverse();
    }

    /// All groups on the list have arbitrated.
    #[inline]
    pub fn clear(&mut self) {
        self.flagged.clear();
    }

    /// Prefetches a group's record.
    #[inline]
    pub fn fetch(&self, group: GroupId) {
        prefetch(self.groups.get(group));
    }

    /// Prefetches a group's link list.
    #[inline]
    pub fn fetch_outputs(&self, group: GroupId) {
        let Group { place, count, .. } = self.groups[group];
        if count > 1 {
            prefetch(self.outputs.get(place as usize));
        }
    }

    /// A group's links, its switch, and the switch's input channel count.
    #[inline]
    pub fn outputs(&self, group: GroupId) -> (&[LinkId], SwitchId, u32) {
        let group = &self.groups[group];
        let outputs = if group.count == 1 {
            std::slice::from_ref(&group.first)
        } else {
            &self.outputs[group.place as usize..][..group.count.into()]
        };
        (outputs, group.switch, group.inputs)
    }
}

/// Most input channels at a switch.
const MOST_INPUTS: u32 = 2 * MAX_ARITY * MAX_CHANNELS;

const _: () = assert!(
    MOST_INPUTS - 1 <= u16::MAX as u32
        && MOST_INPUTS - MAX_CHANNELS < EJECTS as u32
        && MAX_HOP_DELAY <= u16::MAX as u32,
    "numbers of inputs, and delays, are kept short"
);

/// How ages grow; see the module essay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ages {
    /// The cycles after which a packet's age is one more, at least 1.
    step: u64,
    /// The cycles after the injection at which the age stops growing: a whole number of steps.
    full: u64,
}

impl Ages {
    /// Ages with this many bits that are full at `cap` cycles, as exactly as whole cycles allow. If
    /// the bits can count all these cycles, a step is one cycle.
    pub fn new(bits: u32, cap: u64) -> Self {
        let most = (1 << bits) - 1;
        let step = (cap / most).max(1);
        Ages {
            step,
            full: step * (cap / step).min(most),
        }
    }

    /// A waiting header's age, and since when it has had this age at the switch.
    fn of(self, header: &PendingHeader, now: Cycle) -> (u64, Cycle) {
        let age = (now - header.injected).min(self.full) / self.step;
        let reached = header.injected + age * self.step;
        (age, reached.max(header.ready))
    }
}

/// The winner among the headers that wait, by priority, by age and time at this age (if ages
/// count), and by rotation over `inputs` inputs.
pub(super) fn winner(
    waiting: impl Iterator<Item = PendingHeader>,
    rotation: u32,
    inputs: u32,
    ages: Option<Ages>,
    now: Cycle,
) -> Option<PendingHeader> {
    let rank = |header: &PendingHeader| {
        let turns = if header.input < rotation {
            header.input + inputs - rotation
        } else {
            header.input - rotation
        };
        let (age, since) = ages.map_or((0, 0), |ages| ages.of(header, now));
        (header.high, age, Reverse(since), Reverse(turns))
    };
    waiting.max_by_key(rank)
}

/// The group's output with a free channel and the fewest busy ones; `free` gives the free channels
/// of a link as bits. Ties go to the first output at or after number `spread`, counted around;
/// `spread` is computed only if there is a choice.
pub(super) fn least_loaded(
    outputs: &[LinkId],
    spread: impl Fn() -> u64,
    free: impl Fn(LinkId) -> u32,
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
    // Most free channels, and among equals the first one tried. No branches: they would be
    // unpredictable.
    let rank = |(number, &link): (u32, &LinkId)| {
        let tried = around(number + count - start);
        ones(free(link)) << 16 | (count - 1 - tried)
    };
    let best = (0..).zip(outputs).map(rank).fold(0, u32::max);
    let tried = count - 1 - (best & 0xFFFF);
    (best >> 16 != 0).then(|| outputs[around(start + tried) as usize])
}

/// How many bits are set. Not every processor counts them in one instruction, and most links have
/// few channels.
#[inline]
fn ones(bits: u32) -> u32 {
    ONES.get(bits as usize)
        .map_or_else(|| bits.count_ones(), |&ones| ones.into())
}

/// The number of set bits in a byte.
const ONES: [u8; 256] = {
    let mut ones = [0; 256];
    let mut byte = 1;
    while byte < 256 {
        ones[byte] = ones[byte / 2] + (byte % 2) as u8;
        byte += 1;
    }
    ones
};

/// A fixed hash over (source, sequence, switch) for [`least_loaded`].
pub(super) fn spread(source: Place, sequence: u32, switch: SwitchId) -> u64 {
    let packet = u64::from(source.get()) << 32 | u64::from(sequence);
    mixed(packet ^ u64::from(switch.get()).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

#[cfg(test)]
mod tests;
