//! Who waits for whom: a deadlock of the fabric as a table.
//!
//! A row is a channel that a packet holds, or a wait of the cycle. A packet that will never go on holds the channels of its
//! path, or of its tree as far as that has been set up; those of the packets in the cycle make the picture.

use elan::NodeId;
use fabric::control::{Held, PacketName, Wait};
use fabric::topology::End;
use fabric::{Deadlock, Wiring};
use kernel::Digest;

/// A channel that a packet holds, or a wait of the cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockRow {
    /// The place of a wait in the cycle, from 0; the next waits for this one's holder to go on. None of a channel that is held.
    pub step: Option<u32>,
    /// The node that sent the packet, and how many it had sent before.
    pub packet: (NodeId, u32),
    /// First and last destination of the packet.
    pub destinations: (NodeId, NodeId),
    /// The switch where it waits, by its number and its name.
    pub switch: Option<(u32, String)>,
    /// The link that it holds a channel of, or waits for; none if it waits for its turn at the switch.
    pub link: Option<u32>,
    /// The ends of the link, by their names.
    pub ends: Option<(String, String)>,
    /// The number of the channel.
    pub channel: Option<u32>,
    /// Of a wait, who holds the channel, or goes before it.
    pub holder: Option<(NodeId, u32)>,
}

/// The table of a deadlock: what the packets of the cycle hold, then the cycle.
pub(crate) fn rows(deadlock: &Deadlock, tree: &dyn Wiring) -> Vec<DeadlockRow> {
    let waits = |packet: &PacketName| deadlock.cycle.iter().any(|wait| wait.packet == *packet);
    let stuck = deadlock.packets.iter();
    let stuck = stuck.filter(|stuck| waits(&stuck.packet));
    let held = stuck.flat_map(|stuck| {
        let packet = stuck.packet;
        let held = stuck.holds.iter();
        held.map(move |&held| DeadlockRow::new(packet, Some(held), tree))
    });
    let wait = |(step, wait): (u32, &Wait)| DeadlockRow {
        step: Some(step),
        switch: Some((wait.switch.get(), tree.switch_name(wait.switch))),
        holder: Some((wait.holder.source.get(), wait.holder.sequence)),
        ..DeadlockRow::new(wait.packet, wait.channel, tree)
    };
    held.chain((0..).zip(&deadlock.cycle).map(wait)).collect()
}

impl DeadlockRow {
    fn new(packet: PacketName, held: Option<Held>, tree: &dyn Wiring) -> Self {
        let ends = |link| {
            let (from, to): (End, End) = tree.ends(link);
            (tree.end_name(from), tree.end_name(to))
        };
        DeadlockRow {
            step: None,
            packet: (packet.source.get(), packet.sequence),
            destinations: (
                packet.destination.first().get(),
                packet.destination.last().get(),
            ),
            switch: None,
            link: held.map(|held| held.link.get()),
            ends: held.map(|held| ends(held.link)),
            channel: held.map(|held| held.channel),
            holder: None,
        }
    }

    /// Everything but the names, which follow from the numbers.
    pub(crate) fn add_to(&self, digest: &mut Digest) {
        let number = |number: Option<u32>| number.map_or(u64::MAX, u64::from);
        let pair = |(first, second): (u32, u32)| u64::from(first) << 32 | u64::from(second);
        digest
            .u64(number(self.step))
            .u64(pair(self.packet))
            .u64(pair(self.destinations))
            .u64(number(self.switch.as_ref().map(|switch| switch.0)))
            .u64(number(self.link))
            .u64(number(self.channel))
            .u64(self.holder.map_or(u64::MAX, pair));
    }
}
