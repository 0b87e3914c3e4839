//! # Movers: a cycle's data phase
//!
//! The control plane grants *channels*, numbered by [`Lanes`]. A granted channel carries one
//! *worm*, a packet's flits, from the channel upstream (or from the adapter) to the channel
//! downstream (or into the node). A broadcast's worm has several channels downstream, its
//! *branches*, which are granted in the same cycle. A mover decides in which cycle each flit
//! crosses each link, and reports the relevant moments to the control plane as [`MotionReport`].
//!
//! ## The rule
//!
//! `S(v)` counts the flits that channel `v`'s worm has sent over its link before this cycle, `R(v)`
//! those that have arrived at the far end, `D` cycles after they were sent. `C` is the link's
//! credit delay. In cycle `t` channel `v` *can* move if
//!
//! * `S(v) < length`, and
//! * it starts at an adapter, or `R(upstream) > S(v)`: a flit is there, and
//! * it ends in a node, or is sunk, or `S(v) - S(downstream) < buffer`: there is room; flits on the
//!   wire count. `S(downstream)` is the count in cycle `t - (C - 1)`, and a worm is sunk from its
//!   sender's view `C - 1` cycles after it is sunk: a place is free `C` cycles after its flit was
//!   sent on, when its *credit* is back. A worm begins with all credits, regardless of the
//!   channel's previous worm. If the worm branches, the branch that has sent the fewest flits
//!   counts: a flit stays until all branches have sent it. Each branch moves as its own link lets
//!   it.
//!
//! Each link moves one flit from the oldest channel that can move (with priorities: from the oldest
//! high-priority channel that can move, if there is one), regardless of the previous cycle.
//!
//! A link may be slower than a flit a cycle ([`pace`](crate::pace)): then it moves flits only in
//! its own slots. The machine may switch on two refinements:
//!
//! * *Tokens.* Acknowledgements and EOPs take a slot on each link that they cross. A link owes a
//!   slot for each token; it pays in cycles in which no channel can move, and before it turns to a
//!   channel that did not move in the cycle before.
//! * *Sharing.* An adapter's memory port serves both directions. While both its links want to move,
//!   sending pauses for `share_burst` cycles in every `share_period`, and receiving pauses for as
//!   many cycles, half a period later. The phase differs from node to node.

mod event;
pub mod flit;
pub mod worm;

pub use crate::records::Lanes;
pub use event::{Event, HORIZON};

use crate::records::{Records, State};
use crate::{ChannelId, Config, Cycle, LinkId, Multiplexing, Pace, Place};
use std::ops::AddAssign;
use typed_index_collections::TiVec;

/// The grant of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worm {
    /// Length in flits, at least 1.
    pub flits: u32,
    /// The channel by which the worm arrives; `None` at the adapter that injects it.
    pub upstream: Option<ChannelId>,
}

/// The mover's reports to the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MotionReport {
    /// The first flit on the channel has arrived at the switch that the link leads to.
    Header(ChannelId),
    /// The channel's worm sends its first flit in this cycle.
    Head(ChannelId),
    /// The channel's worm sent its last flit, in the named cycle. If the link ends the path, or
    /// without circuits, or if the worm is sunk, the report comes in that cycle or in the next;
    /// else at any time until the channel is closed, or [`Motion::look`] is called.
    Tail(ChannelId, Cycle),
}

/// Flits in the fabric, for conservation checks:
/// `injected + copied = delivered + discarded + in_flight` at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlitCensus {
    /// Sent by adapters.
    pub injected: u64,
    /// Made where broadcasts branch: a branch sends a flit that stays in the buffer for another
    /// branch.
    pub copied: u64,
    /// Arrived in nodes.
    pub delivered: u64,
    /// Arrived at a channel's end after its worm was sunk.
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

/// The fate of a worm's flits behind a channel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlitFate {
    /// Flits that have left the buffer.
    pub taken: u32,
    /// Copies that are still to be made where the worm branches.
    pub uncopied: u64,
}

/// A link's traffic since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTotals {
    /// Packet flits.
    pub flits: u64,
    /// Acknowledgements and EOPs.
    pub tokens: u64,
}

/// The control plane as a mover sees it.
pub(crate) trait Witness<M: Motion> {
    /// The link and channel records, which hold the mover's state.
    fn records(&self) -> &Records<M>;

    /// See [`records`](Self::records).
    fn records_mut(&mut self) -> &mut Records<M>;

    /// Records a moment: headers in [`Motion::arrive`] and [`Motion::read`], heads in
    /// [`Motion::step`].
    fn note(&mut self, moment: MotionReport);

    /// Records a tail ([`MotionReport::Tail`]), anywhere. The mover passes the channel upstream
    /// (unless the worm comes from an adapter) and, at a node, the tail's arrival: it has both at
    /// hand, and the control plane would have to fetch the records that hold them.
    fn note_tail(
        &mut self,
        channel: ChannelId,
        cycle: Cycle,
        upstream: Option<ChannelId>,
        arrival: Option<Cycle>,
    );

    /// Whether the worm on `channel` precedes the worm on `other`: it has higher priority, or is
    /// older.
    fn precedes(&self, channel: ChannelId, other: ChannelId) -> bool;

    /// Prefetches the record of the packet that holds a channel.
    fn fetch_packet(&self, channel: ChannelId);

    /// Has [`Motion::read`] called with the event in cycle `at`, after this cycle, in the region at
    /// an outbound link's far end.
    fn send_on(&mut self, link: LinkId, at: Cycle, event: Event);

    /// Has [`Motion::read`] called with the event in cycle `at`, after this cycle, in the region at
    /// the near end: the event names a channel on an inbound link.
    fn send_back(&mut self, at: Cycle, event: Event);

    /// Has [`Motion::read`] called with the event in cycle `at`, at most [`HORIZON`] ahead, unless
    /// all channels are closed then.
    fn foresee(&mut self, at: Cycle, event: Event);
}

/// The data phase; see the module essay.
///
/// In a cycle, the control plane calls [`arrive`](Motion::arrive), then [`read`](Motion::read) with
/// the events that were foreseen, [`close`](Motion::close) and [`charge`](Motion::charge) in any
/// order, then [`open`](Motion::open), all in its phase 0; then [`step`](Motion::step) for phase 1.
/// Cycles without work for either side are skipped.
pub(crate) trait Motion: State + Sized {
    /// Prefetches an adapter's record before its pause begins or ends.
    fn fetch_adapter(&self, _adapter: Place) {}

    /// Prefetches the records that an event's records name, for an event that will be read soon.
    /// Returns whether the event is a header's arrival.
    fn fetch_neighbours(&self, _records: &Records<Self>, _event: Event) -> bool {
        false
    }

    /// Begins cycle `now`: reports the headers that arrive in it, in any order.
    fn arrive(&mut self, now: Cycle, witness: &mut impl Witness<Self>);

    /// Handles an event that was foreseen for cycle `now`.
    fn read(&mut self, event: Event, now: Cycle, witness: &mut impl Witness<Self>);

    /// Takes back a channel after its worm has passed entirely; it is free from cycle `now` on.
    fn close(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>);

    /// Makes a link owe one slot for a token from cycle `now` on.
    fn charge(&mut self, link: LinkId, now: Cycle, witness: &mut impl Witness<Self>);

    /// Grants a free channel to a worm from cycle `now` on. All channels with the same channel
    /// upstream are granted in the same cycle.
    fn open(
        &mut self,
        channel: ChannelId,
        worm: Worm,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    );

    /// A worm with this many flits comes by another region's channel.
    fn expect(&mut self, channel: ChannelId, flits: u32, records: &mut Records<Self>);

    /// Sinks the worm on a channel after its header has found no way on from a switch: from cycle
    /// `now` on the flits that have arrived, and all that arrive, are discarded; when the credits
    /// are back no buffer limits the channel. Called where [`open`](Motion::open) is. The tail is
    /// reported immediately if it has been sent and has not been reported.
    fn sink(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>);

    /// A channel's worm has passed on entirely, and the channels downstream will be closed before
    /// this one.
    fn detach(&mut self, channel: ChannelId, witness: &mut impl Witness<Self>);

    /// Reports a worm's tail on a channel if it was sent before cycle `now` and has not been
    /// reported. Cycle `now` has not begun.
    fn look(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>);

    /// Moves the flits in cycle `now` and reports the heads that are sent in it, in any order.
    fn step(&mut self, now: Cycle, witness: &mut impl Witness<Self>);

    /// The next cycle after `now` in which anything happens; `due` is the next cycle for which an
    /// event is scheduled or foreseen.
    fn next(&self, now: Cycle, due: Option<Cycle>) -> Option<Cycle>;

    /// A link's traffic before cycle `now`.
    fn carried(&self, records: &Records<Self>, link: LinkId, now: Cycle) -> LinkTotals;

    /// Counts the flits at the start of cycle `now`, and asserts that no buffer is overfull. Flits
    /// that were sent over an outbound link are looked up in the region behind the link.
    fn census(
        &self,
        records: &Records<Self>,
        now: Cycle,
        behind: &dyn Fn(ChannelId) -> FlitFate,
    ) -> FlitCensus;

    /// The fate of the flits that have come over an inbound channel.
    fn passed(&self, records: &Records<Self>, channel: ChannelId, now: Cycle) -> FlitFate;

    /// Events handled so far.
    fn events(&self) -> u64;

    /// From here on the mover handles a cycle's events in the opposite order, if it has an order.
    fn reverse(&mut self);
}

/// A link's parameters, for a mover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// Cycles from one end to the other.
    pub delay: u32,
    /// Credit delay in cycles.
    pub credit: u32,
    pub pace: Pace,
    /// Whether the link ends in a node: then no buffer limits the link.
    pub ejects: bool,
    /// For an adapter's link: its sharing with the adapter's other link.
    pub shared: Option<Sharing>,
}

impl Wire {
    /// Whether the link is slow, and so moves flits in its own slots.
    pub fn is_paced(&self) -> bool {
        self.pace != Pace::FULL
    }
}

/// The sharing between an adapter's links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    pub adapter: Place,
    /// The adapter's other link.
    pub partner: LinkId,
    /// The phase in which this link pauses.
    pub phase: u64,
}

/// The machine's parameters, for a mover.
pub(crate) struct Wiring {
    pub wires: TiVec<LinkId, Wire>,
    pub lanes: Lanes,
    pub buffer: u32,
    pub multiplexing: Multiplexing,
    /// Whether the control plane needs an immediate report when a worm has left a channel: only
    /// without circuits.
    pub reports_tails: bool,
    pub share_period: u64,
    pub share_burst: u64,
}

/// The sharing phases of successive nodes differ by this many cycles, so that nodes do not pause in
/// step. The number is prime: for up to as many nodes as the period has cycles all phases differ,
/// unless the period is a multiple of this prime.
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
                wires[link].shared = Some(Sharing {
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

    /// The published period, 185 cycles, has room for the phases of 64 nodes, and no two nodes have
    /// the same phase.
    #[test]
    fn no_two_nodes_of_a_machine_pause_in_step() {
        let phases: BTreeSet<u64> = (0..64).map(|node| PHASE_STEP * node % 185).collect();
        assert_eq!(phases.len(), 64);
    }
}
