//! Who waits for whom: a deadlock of the fabric as a table.
//!
//! A row is a channel that a packet holds, or a wait of the cycle. A packet that will never go on holds the channels of its
//! path, or of the part of its tree that has been set up. The channels of the packets in the cycle make the picture.

use fabric::control::{Held, PacketName, Wait};
use fabric::{Deadlock, Wiring};

/// A channel that a packet holds, or a wait of the cycle.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.step, (self.source, self.sequence), (self.first, self.last), self.switch, self.link, self.channel, self.holder_source.zip(self.holder_sequence))]
pub struct DeadlockRow {
    /// The place of a wait in the cycle, from 0; the next waits for this one's holder to go on. None of a channel that is held.
    pub step: Option<u32>,
    /// The node that sent the packet.
    pub source: u32,
    /// How many packets it had sent before.
    pub sequence: u32,
    /// First destination of the packet.
    pub first: u32,
    /// Last destination of the packet.
    pub last: u32,
    /// The switch where it waits.
    pub switch: Option<u32>,
    /// The name of the switch.
    pub switch_name: Option<String>,
    /// The link that it holds a channel of, or waits for; none if it waits for its turn at the switch.
    pub link: Option<u32>,
    /// Where the link starts.
    pub from: Option<String>,
    /// Where the link ends.
    pub to: Option<String>,
    /// The number of the channel.
    pub channel: Option<u32>,
    /// Of a wait, the node that sent the packet that holds the channel, or goes before this one.
    pub holder_source: Option<u32>,
    /// How many packets it had sent before that.
    pub holder_sequence: Option<u32>,
}

/// The table of a deadlock: what the packets of the cycle hold, then the cycle.
pub(crate) fn rows(deadlock: &Deadlock, tree: &dyn Wiring) -> Vec<DeadlockRow> {
    let waits = |packet: &PacketName| deadlock.cycle.iter().any(|wait| wait.packet == *packet);
    let stuck = deadlock.packets.iter();
    let stuck = stuck.filter(|stuck| waits(&stuck.packet));
    let held = stuck.flat_map(|stuck| {
        let packet = stuck.packet;
        let held = stuck.holds.iter();
        held.map(move |&held| row(packet, Some(held), tree))
    });
    let wait = |(step, wait): (u32, &Wait)| DeadlockRow {
        step: Some(step),
        switch: Some(wait.switch.get()),
        switch_name: Some(tree.switch_name(wait.switch)),
        holder_source: Some(wait.holder.source.get()),
        holder_sequence: Some(wait.holder.sequence),
        ..row(wait.packet, wait.channel, tree)
    };
    held.chain((0..).zip(&deadlock.cycle).map(wait)).collect()
}

/// A packet, and a channel that it holds or waits for.
fn row(packet: PacketName, channel: Option<Held>, tree: &dyn Wiring) -> DeadlockRow {
    let ends = channel.map(|channel| tree.ends(channel.link));
    DeadlockRow {
        step: None,
        source: packet.source.get(),
        sequence: packet.sequence,
        first: packet.destination.first().get(),
        last: packet.destination.last().get(),
        switch: None,
        switch_name: None,
        link: channel.map(|channel| channel.link.get()),
        from: ends.map(|ends| tree.end_name(ends.0)),
        to: ends.map(|ends| tree.end_name(ends.1)),
        channel: channel.map(|channel| channel.channel),
        holder_source: None,
        holder_sequence: None,
    }
}
