//! Packets: what an adapter hands in, what the control plane keeps while one is under way, what remains as a record.

use crate::motion::ChannelId;
use crate::topology::{FatTree, MAX_TAGS, NodeId, Tag};
use crate::{Ascent, Cycle};
use std::num::NonZeroU32;

/// Priority level of a packet; the Elite has two (000 s2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// User traffic.
    #[default]
    Low,
    /// Before all low-priority packets, where the machine has priorities.
    High,
}

/// The answer that the destination sends back along the circuit (000 s2.2.1; public Elan3 headers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// All transactions were executed.
    Accepted,
    /// A conditional transaction was executed and its test failed: a definite no.
    TestFailed,
    /// The destination was not ready; try again.
    Discarded,
    /// A transaction cannot be executed: there is no use in trying again.
    Error,
}

/// A packet that an adapter wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSpec {
    /// The adapter that sends.
    pub source: NodeId,
    /// The adapter that receives; may be the same.
    pub destination: NodeId,
    /// Length in flits, header and all overhead included; `1..=MAX_FLITS`.
    pub flits: u32,
    /// Priority level.
    pub priority: Priority,
    /// The adapter's own name for the packet, handed back in every [`Notice`].
    pub token: u64,
}

/// A packet under way. The number is re-used after the acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId(NonZeroU32);

impl PacketId {
    /// The number of a place in a list.
    pub(super) fn at(place: usize) -> Self {
        let number = u32::try_from(place + 1).ok().and_then(NonZeroU32::new);
        PacketId(number.expect("fewer than 2^32 packets are under way"))
    }

    fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// News for the adapters, in the order in which they must hear them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The packet has taken an injection channel: its place in the adapter's queue is free.
    Injected(PacketSpec),
    /// The last flit has reached the destination, which must answer with [`crate::Fabric::acknowledge`].
    Delivered(PacketId, PacketSpec),
    /// The acknowledgement has reached the source; the packet is done.
    Acknowledged(PacketRecord, PacketSpec),
}

impl Notice {
    /// Order within a cycle: by adapter concerned, then kind, then packet; independent of the order of events. Packets
    /// that an adapter injects in the same cycle keep their order; a node has one delivery in a cycle.
    pub(super) fn rank(&self) -> (NodeId, u8, u32) {
        match *self {
            Notice::Delivered(_, spec) => (spec.destination, 0, 0),
            Notice::Acknowledged(record, spec) => (spec.source, 1, record.sequence),
            Notice::Injected(spec) => (spec.source, 2, 0),
        }
    }
}

/// The life of a packet, complete once it is acknowledged. All times in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// How many packets the source had injected before.
    pub sequence: u32,
    /// Links of its path.
    pub links: u32,
    /// Handed to the fabric.
    pub offered: Cycle,
    /// Injection channel taken.
    pub injected: Cycle,
    /// Last flit at the destination.
    pub delivered: Cycle,
    /// Acknowledgement at the source.
    pub acknowledged: Cycle,
    /// What the destination said.
    pub ack: Ack,
}

/// What the control plane keeps of a packet under way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub spec: PacketSpec,
    pub injected: Cycle,
    /// Since when the header has waited to enter its next link.
    pub ready: Cycle,
    pub sequence: u32,
    /// While the header waits at a switch: number of the input channel, over the switch.
    pub input: u16,
    /// Level of the switch where the path turns.
    turn: u8,
    taken: u8,
    /// While the header waits at a switch: another that does in the same group.
    pub next: Option<PacketId>,
    /// Channels taken, in order; the first `taken` are valid.
    path: [ChannelId; MAX_TAGS + 1],
    /// When it was handed to the fabric.
    pub offered: Cycle,
    /// 0 until then.
    pub delivered: Cycle,
    /// The acknowledgement, once it has left.
    pub ack: Option<Ack>,
}

impl Flight {
    pub fn new(spec: PacketSpec, turn: usize, sequence: u32, offered: Cycle, now: Cycle) -> Self {
        Flight {
            spec,
            injected: now,
            ready: offered,
            sequence,
            input: 0,
            turn: turn as u8,
            taken: 0,
            next: None,
            path: [0; MAX_TAGS + 1],
            offered,
            delivered: 0,
            ack: None,
        }
    }

    /// The tag for the switch that the last of the channels taken leads to.
    pub fn next_tag(&self, tree: &FatTree, ascent: Ascent) -> Tag {
        let place = usize::from(self.taken) - 1;
        let ends = (self.spec.source, self.spec.destination);
        tree.tag(self.turn.into(), place, ends, ascent)
    }

    /// Rank among the worms of a link: the smaller goes first. The earlier injection, then the smaller source, then the
    /// earlier packet of it.
    pub fn rank(&self) -> (Cycle, NodeId, u32) {
        (self.injected, self.spec.source, self.sequence)
    }

    /// The channels taken so far, from the source on.
    pub fn path(&self) -> &[ChannelId] {
        &self.path[..usize::from(self.taken)]
    }

    pub fn extend(&mut self, channel: ChannelId) {
        self.path[usize::from(self.taken)] = channel;
        self.taken += 1;
    }
}

/// Storage of flights with re-used numbers.
#[derive(Default)]
pub(super) struct Flights {
    flights: Vec<Option<Flight>>,
    unused: Vec<PacketId>,
}

impl Flights {
    pub fn insert(&mut self, flight: Flight) -> PacketId {
        if let Some(packet) = self.unused.pop() {
            self.flights[packet.place()] = Some(flight);
            return packet;
        }
        self.flights.push(Some(flight));
        PacketId::at(self.flights.len() - 1)
    }

    pub fn get(&self, packet: PacketId) -> &Flight {
        self.flights[packet.place()]
            .as_ref()
            .expect("the packet is under way")
    }

    pub fn get_mut(&mut self, packet: PacketId) -> &mut Flight {
        self.flights[packet.place()]
            .as_mut()
            .expect("the packet is under way")
    }

    pub fn remove(&mut self, packet: PacketId) -> Flight {
        self.unused.push(packet);
        self.flights[packet.place()]
            .take()
            .expect("the packet is under way")
    }

    /// Packets under way.
    pub fn len(&self) -> usize {
        self.flights.len() - self.unused.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter().flatten()
    }
}
