//! Channels held and waits in a cycle: a fabric deadlock as a table.
//!
//! A row is a channel that a packet holds, or a wait in the cycle. A blocked packet holds the
//! channels along its path, or along the part of its tree that has been set up. The channels held
//! by the packets in the cycle make the picture.

use fabric::control::{HeldChannel, PacketName, PacketWait};
use fabric::{Deadlock, Wiring};

/// A channel that a packet holds, or a wait in the cycle.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[
    digest(
        self.step,
        (self.source, self.sequence),
        (self.first, self.last),
        self.switch,
        self.link,
        self.channel,
        self.holder_source.zip(self.holder_sequence)
    )
]
pub struct DeadlockRow {
    /// A wait's place in the cycle, from 0; the next waits for this one's holder to continue.
    /// Missing for a channel that is held.
    pub step: Option<u32>,
    /// The node that sent the packet.
    pub source: u32,
    /// How many packets it had sent before.
    pub sequence: u32,
    /// The packet's first destination.
    pub first: u32,
    /// The packet's last destination.
    pub last: u32,
    /// The switch where it waits.
    pub switch: Option<u32>,
    /// The switch's name.
    pub switch_name: Option<String>,
    /// The link whose channel it holds or waits for; missing if it waits for its turn at the
    /// switch.
    pub link: Option<u32>,
    /// Where the link starts.
    pub from: Option<String>,
    /// Where the link ends.
    pub to: Option<String>,
    /// The channel's number.
    pub channel: Option<u32>,
    /// For a wait, the source node of the packet that holds the channel or goes before this one.
    pub holder_source: Option<u32>,
    /// How many packets it had sent before that.
    pub holder_sequence: Option<u32>,
}

/// A deadlock's table: the channels held by the packets in the cycle, then the cycle.
pub(crate) fn rows(deadlock: &Deadlock, tree: &dyn Wiring) -> Vec<DeadlockRow> {
    let waits = |packet: &PacketName| deadlock.cycle.iter().any(|wait| wait.packet == *packet);
    let stuck = deadlock.packets.iter();
    let stuck = stuck.filter(|stuck| waits(&stuck.packet));
    let held = stuck.flat_map(|stuck| {
        let packet = stuck.packet;
        let held = stuck.holds.iter();
        held.map(move |&held| row(packet, Some(held), tree))
    });
    let wait = |(step, wait): (u32, &PacketWait)| DeadlockRow {
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
fn row(packet: PacketName, channel: Option<HeldChannel>, tree: &dyn Wiring) -> DeadlockRow {
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
