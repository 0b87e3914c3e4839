//! # Deadlock: cycles of waits
//!
//! A packet under way *waits* where its header waits (each of its headers, if it is a broadcast):
//! for a channel on one link, or on any among several links; or for its turn, if a switch sets up
//! another broadcast first. A packet can go on if all its waits can end. A wait can end if it is
//! for a free channel, or if a packet that holds such a channel, or goes first, can go on. A packet
//! without a wait can go on: its flits move, or its destination will answer. The remaining packets
//! can never go on. Each wait that cannot end is for others among these packets, so that there is a
//! cycle. A shortest cycle is reported.

use super::Control;
use super::packet::ANY_LINK;
use crate::PacketId;
use crate::motion::Motion;
use crate::topology::{CompiledRouting, Destination};
use crate::{ChannelId, LinkId, Place, SwitchId, Topology};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// A packet's printed name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketName {
    /// The adapter that sends the packet.
    pub source: Place,
    /// How many packets the source had injected before.
    pub sequence: u32,
    /// Where the packet goes.
    pub destination: Destination,
}

impl Display for PacketName {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let PacketName {
            source,
            sequence,
            destination,
        } = self;
        write!(f, "packet {sequence} of node {source} (to {destination})")
    }
}

/// A link's channel, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldChannel {
    /// The link.
    pub link: LinkId,
    /// The channel's place on the link.
    pub channel: u32,
}

/// The resource that a packet waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A channel on any of these links.
    Channel(Vec<LinkId>),
    /// Its turn: the switch sets up another broadcast first.
    Turn,
}

/// A packet that can never go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedPacket {
    /// The packet.
    pub packet: PacketName,
    /// The channels that the packet holds, in the order of their numbers.
    pub holds: Vec<HeldChannel>,
    /// The switches where the packet waits for ever, each with the resource.
    pub waits: Vec<(SwitchId, Resource)>,
}

/// A packet that waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketWait {
    /// The packet.
    pub packet: PacketName,
    /// The switch where its header waits.
    pub switch: SwitchId,
    /// The channel that the packet waits for, among others or alone; `None` if the packet waits for
    /// its turn.
    pub channel: Option<HeldChannel>,
    /// The packet that holds the channel or precedes it.
    pub holder: PacketName,
}

/// Packets that wait for each other for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// A shortest cycle of packets: each waits for the next, the last for the first.
    pub cycle: Vec<PacketWait>,
    /// All packets that can never go on, by source and sequence.
    pub packets: Vec<BlockedPacket>,
    topology: Topology,
}

impl Display for Deadlock {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let (all, cycle) = (self.packets.len(), self.cycle.len());
        write!(
            f,
            "deadlock: {all} packets can never go on; of these {cycle} wait for each other:"
        )?;
        for wait in &self.cycle {
            let (packet, holder) = (wait.packet, wait.holder);
            let switch = self.topology.switch_name(wait.switch);
            match wait.channel {
                Some(HeldChannel { link, channel }) => {
                    let end = self.topology.end_name(self.topology.ends(link).1);
                    write!(
                        f,
                        "\n  {packet} waits at {switch} for the link to {end}; its \
                        channel {channel} is held by {holder}"
                    )?;
                }
                None => write!(
                    f,
                    "\n  {packet} waits at {switch} for its turn, after {holder}"
                )?,
            }
        }
        Ok(())
    }
}

impl Error for Deadlock {}

/// A packet's key while it is under way: source and sequence.
pub(super) type Key = (Place, u32);

/// The packet that waits, where, for which channel, and the packet that holds the channel.
type Step = (Key, SwitchId, Option<HeldChannel>, Key);

/// A wait, and the packets that it is for, each with the channel that it holds; one must go on for
/// the wait to end.
struct Edge {
    switch: SwitchId,
    wanted: Resource,
    holders: Vec<(Option<HeldChannel>, Key)>,
}

/// The packets that can never go on, if there are any, in a network with these control planes for
/// its regions.
pub(crate) fn deadlock<R: CompiledRouting + ?Sized, M: Motion>(
    regions: &[&Control<R, M>],
) -> Option<Deadlock> {
    let mut waits: BTreeMap<Key, Vec<Edge>> = BTreeMap::new();
    for (key, edges) in regions.iter().flat_map(|region| region.waits()) {
        waits.entry(key).or_default().extend(edges);
    }
    for edges in waits.values_mut() {
        edges.sort_by_key(|edge| edge.switch);
    }
    // From here on packets that can go on are taken out, till no packet is left that can.
    loop {
        let stuck: BTreeSet<Key> = waits.keys().copied().collect();
        let can_end = |edge: &Edge| edge.holders.iter().any(|(_, key)| !stuck.contains(key));
        waits.retain(|_, edges| {
            edges.retain(|edge| !can_end(edge));
            !edges.is_empty()
        });
        if waits.len() == stuck.len() {
            break;
        }
    }
    let cycles = waits.keys().filter_map(|&key| shortest_cycle(&waits, key));
    let cycle = cycles.min_by_key(Vec::len)?;
    let mut held: BTreeMap<Key, (PacketName, Vec<HeldChannel>)> = BTreeMap::new();
    for (name, more) in regions.iter().flat_map(|region| region.held()) {
        let key = (name.source, name.sequence);
        held.entry(key).or_insert((name, Vec::new())).1.extend(more);
    }
    for (_, held) in held.values_mut() {
        held.sort_unstable();
    }
    let wait = |(key, switch, channel, holder): Step| PacketWait {
        packet: held[&key].0,
        switch,
        channel,
        holder: held[&holder].0,
    };
    let packets = waits.iter().map(|(key, edges)| BlockedPacket {
        packet: held[key].0,
        holds: held[key].1.clone(),
        waits: edges
            .iter()
            .map(|edge| (edge.switch, edge.wanted.clone()))
            .collect(),
    });
    Some(Deadlock {
        packets: packets.collect(),
        cycle: cycle.into_iter().map(wait).collect(),
        topology: regions[0].config.topology.clone(),
    })
}

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    pub(super) fn key(&self, part: PacketId) -> Key {
        let flight = self.flights.get(part);
        (flight.spec.source, flight.sequence)
    }

    /// The flights, each with its packet's name and the channels that it holds.
    fn held(&self) -> impl Iterator<Item = (PacketName, Vec<HeldChannel>)> {
        self.flights.iter().map(|(id, flight)| {
            let name = PacketName {
                source: flight.spec.source,
                sequence: flight.sequence,
                destination: flight.spec.destination,
            };
            let path = flight.path().iter();
            let held = path
                .filter(|&&channel| self.channels.records.channels[channel].holder == Some(id))
                .map(|&channel| self.held_channel(channel))
                .filter(|&held| !self.is_free(held));
            (name, held.collect())
        })
    }

    fn is_free(&self, held: HeldChannel) -> bool {
        self.channels.free(held.link) >> held.channel & 1 == 1
    }

    fn held_channel(&self, channel: ChannelId) -> HeldChannel {
        HeldChannel {
            link: self.channels.link(channel),
            channel: self.channels.lane(channel),
        }
    }

    /// Each packet's waits. A wait for a free resource is left out.
    fn waits(&self) -> BTreeMap<Key, Vec<Edge>> {
        let mut waits: BTreeMap<Key, Vec<Edge>> = BTreeMap::new();
        for (number, group) in self.crossbar.groups.iter_enumerated() {
            let mut next = group.waiting;
            while let Some(packet) = next {
                let flight = self.flights.get(packet);
                next = flight.next;
                let (outputs, switch, _) = self.crossbar.outputs(number);
                let links = match flight.only {
                    ANY_LINK => outputs.to_vec(),
                    link => vec![link],
                };
                let lives = |link: &LinkId| !self.is_cut(*link);
                let links: Vec<LinkId> = links.into_iter().filter(lives).collect();
                let edge = Edge {
                    switch,
                    holders: self.holders_of(&links, flight.lanes),
                    wanted: Resource::Channel(links),
                };
                waits.entry(self.key(packet)).or_default().push(edge);
            }
        }
        for (switch, setting_up, arrived) in self.broadcasts.waiting() {
            for &part in arrived {
                // A broadcast goes first that was sent over the same link first, or that is being
                // set up now.
                let first = self.broadcasts.first_of(self.last_link(part));
                let own = self.key(part);
                let set_up = setting_up.map(|part| self.key(part));
                let before = first.filter(|&first| first != own).or(set_up);
                let edge = Edge {
                    switch,
                    holders: before.iter().map(|&before| (None, before)).collect(),
                    wanted: Resource::Turn,
                };
                waits.entry(self.key(part)).or_default().push(edge);
            }
        }
        // A wait without holders ends in this cycle or the next.
        waits.retain(|_, edges| {
            edges.retain(|edge| !edge.holders.is_empty());
            edges.sort_by_key(|edge| edge.switch);
            !edges.is_empty()
        });
        waits
    }

    /// The packets that hold some channels on links; empty if one channel is free or waits only for
    /// an EOP. `lanes` are the channels on each link that the packet may take, as bits.
    fn holders_of(&self, links: &[LinkId], lanes: u32) -> Vec<(Option<HeldChannel>, Key)> {
        let mut holders = Vec::new();
        let channels = links.iter().flat_map(|&link| self.channels.of(link));
        for channel in channels.filter(|&channel| lanes >> self.channels.lane(channel) & 1 == 1) {
            let held = self.held_channel(channel);
            let holder = self.channels.holder(channel);
            if self.is_free(held) || !self.flights.holds(holder, channel) {
                return Vec::new();
            }
            holders.push((Some(held), self.key(holder)));
        }
        holders
    }
}

/// A shortest cycle through a packet.
fn shortest_cycle(waits: &BTreeMap<Key, Vec<Edge>>, start: Key) -> Option<Vec<Step>> {
    let mut by: BTreeMap<Key, Step> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(key) = queue.pop_front() {
        for edge in &waits[&key] {
            for &(held, holder) in &edge.holders {
                by.entry(holder).or_insert_with(|| {
                    queue.push_back(holder);
                    (key, edge.switch, held, holder)
                });
            }
        }
    }
    let mut cycle = vec![*by.get(&start)?];
    while cycle[cycle.len() - 1].0 != start {
        cycle.push(by[&cycle[cycle.len() - 1].0]);
    }
    cycle.reverse();
    Some(cycle)
}
