//! Packets: an adapter's order, the control plane's state for a packet under way, and the final
//! record.

use crate::Cycle;
use crate::id::PacketId;
use crate::prefetch::prefetch_front;
use crate::topology::{Climb, CompiledRouting, Destination, Header, Path};
use crate::{ChannelId, LinkId, Place, SwitchId};
use std::mem::offset_of;
use std::ops::{Deref, DerefMut};

/// A packet's priority level; the Elite has two (petrini2003 s2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// User traffic.
    #[default]
    Low,
    /// Precedes all low-priority packets, where the machine has priorities.
    High,
}

/// The answer that the destination sends back along the circuit (petrini2003 s2.2.1; public Elan3
/// headers), or the source's substitute after a fault (`control::faults`). For a broadcast the
/// greatest answer counts; the order among answers other than `Accepted` is not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ack {
    /// All transactions were executed.
    Accepted,
    /// The destination was not ready; try again.
    Discarded,
    /// A conditional transaction was executed and its test failed: a definite no.
    TestFailed,
    /// A transaction cannot be executed: a retry is useless.
    Error,
    /// A CRC is wrong: a switch has discarded the packet, or the destination has received it
    /// without storing it.
    Corrupted,
    /// No living link leads on: a switch, or the adapter itself, has refused the packet.
    Unreachable,
    /// No answer has come within the output timeout. Whether the destination has accepted the
    /// packet is not known.
    TimedOut,
}

/// A packet that an adapter wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSpec {
    /// The adapter that sends the packet.
    pub source: Place,
    /// The adapter that receives the packet, or the adapters that do; the sender may be among them.
    pub destination: Destination,
    /// Length in flits, header and all overhead included; `1..=MAX_FLITS`, and no more than a
    /// buffer where packets cut through.
    pub flits: u32,
    /// Priority level.
    pub priority: Priority,
    /// The traffic class, which determines the packet's channels: below
    /// [`Config::traffic_classes`](crate::Config::traffic_classes).
    pub traffic_class: u8,
    /// Whether the destinations are notified when the EOP arrives ([`Notice::Ended`]), which
    /// commits or aborts the packet's request.
    pub awaits_end: bool,
    /// The adapter's own name for the packet, handed back in every [`Notice`].
    pub token: u64,
}

/// Notices for the adapters, in the order of their delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The packet has taken an injection channel: its place in the adapter's queue is free.
    Injected(PacketSpec),
    /// The last flit has reached this destination, which must answer with
    /// [`crate::Network::acknowledge`].
    Delivered(PacketId, Place, PacketSpec),
    /// The last flit has reached this destination, and a transaction's CRC is wrong. The
    /// destination must not store the packet, and must answer [`Ack::Corrupted`] with
    /// [`crate::Network::acknowledge`].
    Damaged(PacketId, Place, PacketSpec),
    /// The acknowledgement (combined, for a broadcast) has reached the source; the packet is done.
    Acknowledged(PacketRecord, PacketSpec),
    /// The EOP has reached a destination, if the packet asked for this notice: one cycle and the
    /// path's header delays after the acknowledgement has reached the source.
    Ended {
        /// The destination.
        node: Place,
        /// Whether the (combined) answer was [`Ack::Accepted`]: the adapter commits the packet's
        /// request, or else aborts it.
        good: bool,
        /// How many packets the source had injected before.
        sequence: u32,
        /// The packet.
        spec: PacketSpec,
    },
}

impl Notice {
    /// Order among a cycle's notices: by adapter concerned, then kind, then packet; independent of
    /// event order. Packets that an adapter injects in the same cycle keep their order; a node has
    /// one delivery in a cycle.
    fn rank(&self) -> u128 {
        let (adapter, kind, source, sequence) = match *self {
            Notice::Delivered(_, node, _) | Notice::Damaged(_, node, _) => (node, 0, None, 0),
            Notice::Ended {
                node,
                sequence,
                spec,
                ..
            } => (node, 1, Some(spec.source), sequence),
            Notice::Acknowledged(record, spec) => (spec.source, 2, None, record.sequence),
            Notice::Injected(spec) => (spec.source, 3, None, 0),
        };
        let source = source.map_or(0, Place::get);
        u128::from(adapter.get()) << 72
            | kind << 64
            | u128::from(source) << 32
            | u128::from(sequence)
    }
}

/// More notices than this are sorted by ranks that are found once, and each notice is moved once.
const MANY: usize = 8;

/// Sorts a cycle's notices.
pub(crate) fn sort(notices: &mut [Notice]) {
    if notices.len() > MANY {
        notices.sort_by_cached_key(Notice::rank);
    } else {
        notices.sort_by_key(Notice::rank);
    }
}

/// A packet's life, complete once it is acknowledged. All times in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// How many packets the source had injected before.
    pub sequence: u32,
    /// Links on the packet's path; on each path, if it is a broadcast. If the packet was refused on
    /// its way: the links up to there.
    pub links: u32,
    /// The cycle in which the packet was handed to the fabric.
    pub offered: Cycle,
    /// The cycle in which the packet took its injection channel.
    pub injected: Cycle,
    /// The cycle in which its last flit reached the destination; the last destination, if it is a
    /// broadcast. 0 if it has not reached all destinations.
    pub delivered: Cycle,
    /// The cycle in which the acknowledgement reached the source, or the source gave up waiting for
    /// it.
    pub acknowledged: Cycle,
    /// The destination's answer; the worst answer, if the packet is a broadcast.
    pub ack: Ack,
}

/// The control plane's record for a packet under way, or for a part of a broadcast
/// ([`super::broadcast`]): its state, and the channels that it has taken. The path comes last:
/// mostly only its begin is used ([`Flights::fetch`]).
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Flight<P> {
    state: State,
    /// Channels taken, in order; the first `taken` are valid.
    path: P,
}

/// A packet's state under way.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub spec: PacketSpec,
    pub injected: Cycle,
    /// Since when the header has waited to enter its next link.
    pub ready: Cycle,
    /// Since when the header would have waited without any wait since its injection: the packet's
    /// earlier waits sum to `ready - undelayed`, except for the first link, where the wait begins
    /// with the offer.
    pub undelayed: Cycle,
    /// When the packet was handed to the fabric.
    pub offered: Cycle,
    /// When the last flit reached the destination; 0 until then.
    pub delivered: Cycle,
    pub sequence: u32,
    /// The result of [`Routing::plan`](crate::topology::Routing::plan): in a tree the level of the
    /// switch where the path turns; 0 for a part of a broadcast that has turned.
    pub plan: u32,
    /// While the header waits at a switch: the next header that waits in the same group.
    pub next: Option<PacketId>,
    /// While the header waits at a switch: the link that it must take, or [`ANY_LINK`] in the
    /// group.
    pub only: LinkId,
    /// While the header waits at a switch: the channels on a link that it may take, as bits.
    pub lanes: u32,
    /// While the header waits at a switch: number of the input channel, among all input channels of
    /// the switch.
    pub input: u16,
    /// How many channels the packet has taken.
    taken: u8,
    /// Whether the packet is under way, and the record not unused.
    lives: bool,
    /// The position in the path where the packet was lost: the first such channel.
    pub broken: u8,
    /// The acknowledgement, once it has left the destination.
    pub ack: Option<Ack>,
    /// The fate of the packet, or of this part of a broadcast, after faults.
    pub fate: Fate,
}

/// A packet's fate after faults; see [`super::faults`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// No fault, except perhaps in the answer.
    Well,
    /// A switch, or the adapter, has refused the packet, and answers.
    Refused(Ack),
    /// A cable died under the packet: its end is not reported, or no longer.
    Lost,
}

impl State {
    /// The flight of a packet that is injected now, with the channels that it may take at first.
    pub fn new(
        spec: PacketSpec,
        plan: u32,
        sequence: u32,
        lanes: u32,
        offered: Cycle,
        now: Cycle,
    ) -> Self {
        State {
            spec,
            injected: now,
            ready: offered,
            undelayed: now,
            sequence,
            input: 0,
            plan,
            taken: 0,
            lives: true,
            next: None,
            only: ANY_LINK,
            lanes,
            offered,
            delivered: 0,
            ack: None,
            fate: Fate::Well,
            broken: u8::MAX,
        }
    }

    /// The flight of the broadcast part that leaves the switch at this part's end by `link`, which
    /// is still to be claimed.
    pub fn branch(&self, link: LinkId) -> Self {
        State {
            plan: 0,
            taken: 0,
            next: None,
            only: link,
            fate: Fate::Well,
            broken: u8::MAX,
            ..self.clone()
        }
    }

    /// Rank among a link's worms: the smaller goes first. The rank is the earlier injection, then
    /// the smaller source, then the earlier packet from one source.
    pub fn rank(&self) -> (Cycle, Place, u32) {
        (self.injected, self.spec.source, self.sequence)
    }

    /// The routing's view of the header that has come over a link to a switch, if the packet goes
    /// to one node.
    #[inline]
    pub fn header(&self, destination: Place, input: LinkId, at: SwitchId) -> Header {
        Header {
            source: self.spec.source,
            destination,
            at,
            input,
            plan: self.plan,
            hops: usize::from(self.taken) - 1,
        }
    }

    /// The header has come to a switch over a link with some delay, and waits there from now on, at
    /// an input channel.
    #[inline]
    pub fn come_to(&mut self, now: Cycle, delay: Cycle, input: u32) {
        self.ready = now;
        self.undelayed += delay;
        self.input = input as u16;
    }

    /// How many channels the packet has taken.
    pub fn taken(&self) -> usize {
        self.taken.into()
    }

    /// The destination's answer has come, and the packet's state there.
    fn answered(&mut self, there: &State) {
        self.taken = there.taken;
        self.undelayed = there.undelayed;
        self.delivered = there.delivered;
        self.ack = there.ack;
    }

    /// Takes all channels but the first `count` off the path.
    pub fn shorten(&mut self, count: usize) {
        self.taken = self.taken.min(count as u8);
    }
}

impl<P: Path> Flight<P> {
    /// The channels taken so far, from the source on.
    pub fn path(&self) -> &[ChannelId] {
        &self.path.as_ref()[..self.taken()]
    }

    /// The destination's answer has come from another region, and with it the whole path.
    pub fn come_back(&mut self, there: &Self) {
        self.state.answered(&there.state);
        self.path = there.path.clone();
    }

    pub fn extend(&mut self, channel: ChannelId) {
        self.path.as_mut()[usize::from(self.state.taken)] = channel;
        self.state.taken += 1;
    }
}

impl<P> Deref for Flight<P> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl<P> DerefMut for Flight<P> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// No link in particular.
pub(super) const ANY_LINK: LinkId = LinkId::new(u32::MAX);

/// Flight storage with re-used numbers. A new packet takes an old one's record, and the old path
/// stays in memory as it is: there is room for many links, and writing it would take longer than
/// all the rest.
pub(super) struct Flights<P> {
    flights: Vec<Flight<P>>,
    unused: Vec<PacketId>,
}

impl<P: Path> Flights<P> {
    pub fn new() -> Self {
        Flights {
            flights: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// Adds a packet that has taken no channel.
    pub fn insert(&mut self, state: State) -> PacketId {
        debug_assert!(state.lives && state.taken == 0, "a packet begins");
        if let Some(packet) = self.unused.pop() {
            self.flights[packet.place()].state = state;
            return packet;
        }
        let path = P::EMPTY;
        self.flights.push(Flight { state, path });
        PacketId::at(self.flights.len() - 1)
    }

    /// Adds a packet like another one, with its path.
    pub fn insert_like(&mut self, packet: PacketId) -> PacketId {
        let flight = self.get(packet).clone();
        self.insert_flight(flight)
    }

    /// Adds a packet with its path.
    pub fn insert_flight(&mut self, mut flight: Flight<P>) -> PacketId {
        let taken = std::mem::take(&mut flight.state.taken);
        let twin = self.insert(flight.state);
        let record = self.get_mut(twin);
        record.path = flight.path;
        record.state.taken = taken;
        twin
    }

    pub fn get(&self, packet: PacketId) -> &Flight<P> {
        let flight = &self.flights[packet.place()];
        assert!(flight.lives, "the packet is under way");
        flight
    }

    pub fn get_mut(&mut self, packet: PacketId) -> &mut Flight<P> {
        let flight = &mut self.flights[packet.place()];
        assert!(flight.lives, "the packet is under way");
        flight
    }

    /// The packet, if it is under way.
    #[inline]
    pub fn find(&self, packet: PacketId) -> Option<&Flight<P>> {
        let flight = self.flights.get(packet.place())?;
        flight.lives.then_some(flight)
    }

    /// Prefetches a packet's record, with as much of the path as the longest path in a tree takes:
    /// there is room for longer ones, which are rare.
    #[inline]
    pub fn fetch(&self, packet: PacketId) {
        let path = size_of::<<Climb as CompiledRouting>::Path>();
        let front = offset_of!(Flight<P>, path) + path;
        prefetch_front(self.flights.get(packet.place()), front);
    }

    /// The packet is done: its number may be used again.
    pub fn remove(&mut self, packet: PacketId) {
        self.get_mut(packet).state.lives = false;
        self.unused.push(packet);
    }

    /// Whether a packet is under way and has taken `channel`.
    pub fn holds(&self, packet: PacketId, channel: ChannelId) -> bool {
        let flight = self.find(packet);
        flight.is_some_and(|flight| flight.path().contains(&channel))
    }

    pub fn iter(&self) -> impl Iterator<Item = (PacketId, &Flight<P>)> {
        let flights = self.flights.iter().enumerate();
        flights
            .filter(|(_, flight)| flight.lives)
            .map(|(place, flight)| (PacketId::at(place), flight))
    }
}
