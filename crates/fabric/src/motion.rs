//! # Movers: the data phase of a cycle
//!
//! The control plane grants *channels*, numbered by [`Lanes`]. A granted channel carries one *worm*, the flits of one
//! packet, from the channel upstream (or from the adapter) to the channel downstream (or into the node). The worm of a
//! broadcast has several channels downstream, its *branches*, which are granted in the same cycle. A mover decides in
//! which cycle which flit crosses which link, and reports the moments that matter to the control plane, as [`Moved`].
//!
//! ## The rule
//!
//! `S(v)` is the number of flits of channel `v`'s worm that have been sent over its link before this cycle, `R(v)` the
//! number that have arrived at the far end, `D` cycles after they were sent. `C` is the credit delay of the channel's link. In
//! cycle `t` channel `v` *can* move if
//!
//! * `S(v) < length`, and
//! * it starts at an adapter, or `R(upstream) > S(v)`: a flit is there, and
//! * it ends in a node, or is sunk, or `S(v) - S(downstream) < buffer`: there is room; flits on the wire count. `S(downstream)` is
//!   the count of cycle `t - (C - 1)`, and a worm is sunk from the view of its sender `C - 1` cycles after it is sunk: a place is
//!   free `C` cycles after its flit was sent on, when its *credit* is back. A worm begins with all credits, whatever the channel
//!   carried before. If the worm branches, the branch that has sent the least counts: a flit stays until all branches have
//!   sent it. Each branch moves as its own link lets it.
//!
//! Each link moves one flit of the oldest channel that can move (with priorities: of the oldest high-priority channel that can
//! move, if there is one), whatever moved before.
//!
//! A link may be slower than a flit a cycle ([`pace`](crate::pace)): then it moves flits only in its own slots. The machine may
//! switch on two refinements:
//!
//! * *Tokens.* Acknowledgements and EOPs take a slot of each link that they cross. A link owes a slot for each token; it pays
//!   in cycles in which no channel can move, and before it turns to a channel that did not move in the cycle before.
//! * *Sharing.* An adapter's memory port serves what it sends and what it receives. While both its links want to move,
//!   sending pauses for `share_burst` cycles of every `share_period`, and receiving pauses for as many cycles, half a period
//!   later. The phase differs from node to node.

mod event;
pub mod flit;
pub mod worm;

pub use crate::records::Lanes;
pub use event::{Event, HORIZON};

use crate::records::{Records, State};
use crate::{ChannelId, Config, Cycle, LinkId, Multiplexing, Pace, Place};
use std::ops::AddAssign;
use typed_index_collections::TiVec;

/// What a channel is granted for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worm {
    /// Length in flits, at least 1.
    pub flits: u32,
    /// The channel by which the worm arrives; none at the adapter that injects the worm.
    pub upstream: Option<ChannelId>,
}

/// What the control plane must know of the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moved {
    /// The first flit of the channel's worm has arrived at the switch at the end of the link.
    Header(ChannelId),
    /// The first flit of the channel's worm is sent in this cycle.
    Head(ChannelId),
    /// The last flit of the channel's worm was sent, in the named cycle. If the link is the last of the path, or without
    /// circuits, or if the worm is sunk, the report comes in that cycle or in the next; else at any time until the channel is
    /// closed, or [`Motion::look`] asks for it.
    Tail(ChannelId, Cycle),
}

/// Flits in the fabric, for checks of conservation: `injected + copied = delivered + discarded + in_flight` at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlitCensus {
    /// Sent by adapters.
    pub injected: u64,
    /// Made where broadcasts branch: a branch sends a flit that stays in the buffer for another branch.
    pub copied: u64,
    /// Arrived in nodes.
    pub delivered: u64,
    /// Arrived at the end of a channel whose worm was sunk.
    pub discarded: u64,
    /// Found on wires and in buffers, by inspection.
    pub in_flight: u64,
}

impl AddAssign for FlitCensus {
    fn add_assign(&mut self, other: Self) {
        self.injected += other.injected;
        self.copied = self.copied.wrapping_add(other.copied);
        self.delivered += other.delivered;
        self.discarded += other.discarded;
        self.in_flight += other.in_flight;
    }
}

/// What has become of the flits of a channel's worm behind the channel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    /// Flits that have left the buffer.
    pub taken: u32,
    /// Copies that are still to be made where the worm branches.
    pub uncopied: u64,
}

/// What a link has carried since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Flits of packets.
    pub flits: u64,
    /// Acknowledgements and EOPs.
    pub tokens: u64,
}

/// What a mover needs of the control plane.
pub(crate) trait Witness<M: Motion> {
    /// The records of links and channels, which hold the state of the mover.
    fn records(&self) -> &Records<M>;

    /// See [`records`](Self::records).
    fn records_mut(&mut self) -> &mut Records<M>;

    /// Takes note: of headers in [`Motion::arrive`] and [`Motion::read`], of heads in [`Motion::step`].
    fn note(&mut self, moment: Moved);

    /// Takes note of a tail ([`Moved::Tail`]), anywhere. The mover has at hand over which channel the worm has come, if not from
    /// an adapter, and when the tail arrives, if at a node; the records of the control plane that tell would have to be fetched.
    fn note_tail(
        &mut self,
        channel: ChannelId,
        cycle: Cycle,
        upstream: Option<ChannelId>,
        arrival: Option<Cycle>,
    );

    /// Whether the worm of `channel` goes before the worm of `other`: it has higher priority, or is older.
    fn precedes(&self, channel: ChannelId, other: ChannelId) -> bool;

    /// Has the processor fetch the record of the packet that holds a channel.
    fn fetch_packet(&self, channel: ChannelId);

    /// Has [`Motion::read`] called with the event in cycle `at`, after this cycle, in the region at
    /// the far end of an outbound link.
    fn send_on(&mut self, link: LinkId, at: Cycle, event: Event);

    /// Has [`Motion::read`] called with the event in cycle `at`, after this cycle, in the region
    /// at the near end of the inbound link whose channel the event names.
    fn send_back(&mut self, at: Cycle, event: Event);

    /// Has [`Motion::read`] called with the event in cycle `at`, at most [`HORIZON`] ahead, unless all channels are closed then.
    fn foresee(&mut self, at: Cycle, event: Event);
}

/// The data phase; see the essay of the module.
///
/// In a cycle, the control plane calls [`arrive`](Motion::arrive), then [`read`](Motion::read) with the events that were
/// foreseen, [`close`](Motion::close) and [`charge`](Motion::charge) in any order, then [`open`](Motion::open), all in its phase
/// 0; then [`step`](Motion::step) for phase 1. Cycles in which neither side has anything to do are skipped.
pub(crate) trait Motion: State + Sized {
    /// Has the processor fetch the record of an adapter before its pause begins or ends.
    fn fetch_adapter(&self, _adapter: Place) {}

    /// Has the processor fetch what the records of an event name that will be read soon. Returns whether the event is a header's
    /// arrival.
    fn fetch_neighbours(&self, _records: &Records<Self>, _event: Event) -> bool {
        false
    }

    /// Begins cycle `now`: tells of the headers that arrive in it, in any order.
    fn arrive(&mut self, now: Cycle, witness: &mut impl Witness<Self>);

    /// Works off an event that was foreseen for cycle `now`.
    fn read(&mut self, event: Event, now: Cycle, witness: &mut impl Witness<Self>);

    /// Takes back a channel whose worm has passed entirely; it is free from cycle `now` on.
    fn close(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>);

    /// Makes a link owe one slot for a token from cycle `now` on.
    fn charge(&mut self, link: LinkId, now: Cycle, witness: &mut impl Witness<Self>);

    /// Grants a free channel to a worm from cycle `now` on. All channels with the same channel upstream are granted in the
    /// same cycle.
    fn open(
        &mut self,
        channel: ChannelId,
        worm: Worm,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    );

    /// A worm of so many flits comes by a channel of another region.
    fn expect(&mut self, channel: ChannelId, flits: u32, records: &mut Records<Self>);

    /// Sinks the worm of a channel whose header is at a switch and has no way on: from cycle `now` on the flits that have arrived,
    /// and all that arrive, are discarded; when the credits are back no buffer limits the channel. Called where [`open`](Motion::open) is. The tail is
    /// reported at once if it has been sent and has not been reported.
    fn sink(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>);

    /// The worm of a channel has passed on entirely, and the channels downstream will be closed before this one.
    fn detach(&mut self, channel: ChannelId, witness: &mut impl Witness<Self>);

    /// Reports the tail of a channel's worm if it was sent before cycle `now` and has not been reported. Cycle `now` has not
    /// begun.
    fn look(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>);

    /// Moves the flits of cycle `now` and tells of the heads that are sent in it, in any order.
    fn step(&mut self, now: Cycle, witness: &mut impl Witness<Self>);

    /// The next cycle after `now` in which anything happens; `due` is the next cycle for which an event is scheduled or
    /// foreseen.
    fn next(&self, now: Cycle, due: Option<Cycle>) -> Option<Cycle>;

    /// What a link has carried before cycle `now`.
    fn carried(&self, records: &Records<Self>, link: LinkId, now: Cycle) -> Carried;

    /// Counts the flits at the start of cycle `now`; asserts on the way that no buffer holds more than it may.
    /// Flits that were sent over an outbound link are looked up in the region behind the link.
    fn census(
        &self,
        records: &Records<Self>,
        now: Cycle,
        behind: &dyn Fn(ChannelId) -> Passed,
    ) -> FlitCensus;

    /// What has become of the flits that have come over an inbound channel.
    fn passed(&self, records: &Records<Self>, channel: ChannelId, now: Cycle) -> Passed;

    /// Events worked off so far.
    fn events(&self) -> u64;

    /// From here on the mover works off the events of a cycle in the opposite order, if it has an order.
    fn reverse(&mut self);
}

/// What a mover must know of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// Cycles from one end to the other.
    pub delay: u32,
    /// Credit delay in cycles.
    pub credit: u32,
    pub pace: Pace,
    /// Whether the link ends in a node: then no buffer limits the link.
    pub ejects: bool,
    /// For a link of an adapter: what it shares with the adapter's other link.
    pub shared: Option<Shared>,
}

impl Wire {
    /// Whether the link is slow, and so moves flits in slots of its own.
    pub fn is_paced(&self) -> bool {
        self.pace != Pace::FULL
    }
}

/// What a link of an adapter shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    pub adapter: Place,
    /// The other link of the adapter.
    pub partner: LinkId,
    /// The phase in which this link pauses.
    pub phase: u64,
}

/// What a mover must know of the machine.
pub(crate) struct Wiring {
    pub wires: TiVec<LinkId, Wire>,
    pub lanes: Lanes,
    pub buffer: u32,
    pub multiplexing: Multiplexing,
    /// Whether the control plane must know at once when a worm has left a channel: only without circuits.
    pub reports_tails: bool,
    pub share_period: u64,
    pub share_burst: u64,
}

/// The sharing phases of successive nodes differ by this many cycles, so that nodes do not pause in step. The number is
/// prime: for up to as many nodes as the period has cycles all phases differ, unless the period is a multiple of this prime.
const PHASE_STEP: u64 = 7919;

impl Wiring {
    pub fn new(config: &Config) -> Self {
        let topology = &config.topology;
        let mut wires: TiVec<LinkId, Wire> = LinkId::all(topology.links())
            .map(|link| Wire {
                delay: config.delay_of(link),
                credit: config.credit_delay_of(link),
                pace: config.pace_of(link),
                ejects: false,
                shared: None,
            })
            .collect();
        for adapter in Place::all(topology.places()) {
            let (injection, ejection) = (topology.injection(adapter), topology.ejection(adapter));
            let phase = PHASE_STEP * u64::from(adapter.get());
            let later = phase + config.share_period / 2;
            for (link, partner, phase) in
                [(injection, ejection, phase), (ejection, injection, later)]
            {
                wires[link].shared = Some(Shared {
                    adapter,
                    partner,
                    phase,
                });
            }
            wires[ejection].ejects = true;
        }
        Wiring {
            wires,
            lanes: Lanes::new(config.channels),
            buffer: config.buffer,
            multiplexing: config.multiplexing,
            reports_tails: config.circuit.ends_with_the_tail(),
            share_period: config.share_period,
            share_burst: config.share_burst,
        }
    }

    /// Whether a link that shares its adapter with a busy partner pauses in a cycle.
    pub fn pauses(&self, phase: u64, now: Cycle) -> bool {
        (now + phase) % self.share_period < self.share_burst
    }
}

#[cfg(test)]
mod tests {
    use super::PHASE_STEP;
    use std::collections::BTreeSet;

    /// The published period, 185 cycles, has room for the phases of 64 nodes, and no two nodes have the same phase.
    #[test]
    fn no_two_nodes_of_a_machine_pause_in_step() {
        let phases: BTreeSet<u64> = (0..64).map(|node| PHASE_STEP * node % 185).collect();
        assert_eq!(phases.len(), 64);
    }
}
