//! The parameters of a fabric, in its own units (cycles and flits), and the mechanisms that can be switched.
//!
//! The machine file speaks of nanoseconds and bytes; the `machine` crate converts and validates. What arrives here
//! satisfies the bounds stated at each field, and [`crate::Fabric::new`] asserts them.

use crate::topology::Topology;

/// Longest header delay of one link, in cycles. It bounds the flit mover's record of what is on the wire.
pub const MAX_HOP_DELAY: u32 = 127;

/// Most virtual channels of each direction of a link.
pub const MAX_CHANNELS: u32 = 8;

/// Longest packet, in flits; no buffer makes a difference that is larger.
pub const MAX_FLITS: u32 = 1 << 30;

/// When the virtual channels of a packet's path are given back (petrini2003 s2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum Circuit {
    /// After the acknowledgement has returned and the EOP has passed: the Quadrics rule.
    UntilAcknowledged,
    /// All at once, one cycle after the tail has reached the destination.
    UntilDelivered,
    /// Each as soon as the tail has left its buffer: textbook wormhole routing, no circuit.
    Wormhole,
}

/// How the ascending phase picks among the up-links of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum Ascent {
    /// The up-link with the fewest busy channels at the moment of the grant (petrini2003 s2.2.1: "the least loaded link").
    Adaptive,
    /// The up-link whose number is the destination modulo the number of up-links: the fixed route of the Elan3 tables.
    Deterministic,
    /// The up-link with the number of the child that the packet came from, modulo the number of up-links: in a tree with
    /// as many links up as down every node climbs on links of its own, and packets meet on the way down only.
    SourceFixed,
}

/// By which up-links broadcasts climb; see the essay of the routes in `topology::fat_tree::broadcast`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum Broadcast {
    /// All by number 0 of each switch, and so through one tree with one root: no deadlock (petrini2001, "Serialization through
    /// the root switch to avoid deadlocks").
    Serialised,
    /// By the number that is the source modulo the number of up-links. Broadcasts of different sources may deadlock.
    BySource,
}

/// Who wins a free channel of an output when several headers wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum Arbitration {
    /// The packet that was injected first, up to the resolution and the saturation of its age.
    Age,
    /// Rotation over the inputs of the switch.
    RoundRobin,
}

/// Which of its channels a link serves when several have a flit to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum Multiplexing {
    /// The oldest packet first, preemptive and work-conserving.
    OldestFirst,
    /// Flit by flit in turn.
    RoundRobin,
}

/// Which mover runs the data phase. Both make the same motion in every cycle; see [`crate::motion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum Engine {
    /// The definition: visits every link that has something to send, in every cycle. Serves all mechanisms.
    Flit,
    /// Computes the same motion from events. Serves all but [`Multiplexing::RoundRobin`].
    Worm,
}

impl Engine {
    /// Whether the engine can serve the channels of a link in this way.
    pub fn serves(self, multiplexing: Multiplexing) -> bool {
        self == Engine::Flit || multiplexing == Multiplexing::OldestFirst
    }
}

/// Everything that the fabric needs to know of a machine.
#[derive(Clone, Debug)]
pub struct Config {
    /// The wiring and the number of attached nodes.
    pub topology: Topology,
    /// Header delay of a link in cycles, by level: entry 0 joins nodes and switches. Each `1..=127`.
    pub hop_delay: Vec<u32>,
    /// Virtual channels of each direction of a link, `1..=8`.
    pub channels: u32,
    /// Flits of buffer behind each channel, at least 1; flits on the wire occupy it too.
    pub buffer: u32,
    /// Packets that an adapter may have unacknowledged, at least 1.
    pub packets_in_flight: u32,
    /// The life of a circuit.
    pub circuit: Circuit,
    /// Routing of the ascending phase of a tree.
    pub ascent: Ascent,
    /// Routing of broadcasts.
    pub broadcast: Broadcast,
    /// Cycles in which a switch where a broadcast descends combines its answers.
    pub combine: u64,
    /// Arbitration for channels.
    pub arbitration: Arbitration,
    /// Service of a link's channels.
    pub multiplexing: Multiplexing,
    /// The age of a packet stops growing here, in cycles.
    pub age_cap: u64,
    /// Ages are compared in steps of this many cycles, at least 1.
    pub age_step: u64,
    /// Whether packets of high priority go before all others, in arbitration, multiplexing and injection.
    pub priorities: bool,
    /// Whether each acknowledgement and each EOP takes a flit slot of every link that it crosses.
    pub tokens: bool,
    /// Period, in cycles, of the adapter's memory port, shared by what it sends and what it receives. At least 1.
    pub share_period: u64,
    /// Cycles of each period in which sending pauses, and of as many others in which receiving pauses, while both
    /// want to move; 0 switches the sharing off. At most half a period.
    pub share_burst: u64,
    /// The mover. No result depends on it; [`Engine::serves`] the multiplexing.
    pub engine: Engine,
}

impl Config {
    /// The bounds stated at the fields, as assertions: the caller has validated what a user wrote.
    pub(crate) fn assert_valid(&self) {
        assert_eq!(
            self.hop_delay.len(),
            self.topology.levels(),
            "one hop delay per level of links"
        );
        assert!(
            self.hop_delay
                .iter()
                .all(|&delay| (1..=MAX_HOP_DELAY).contains(&delay))
        );
        assert!((1..=MAX_CHANNELS).contains(&self.channels));
        assert!(self.channels >= self.topology.classes());
        assert!(self.buffer >= 1 && self.packets_in_flight >= 1 && self.age_step >= 1);
        assert!(self.share_period >= 1 && 2 * self.share_burst <= self.share_period);
        assert!(
            self.engine.serves(self.multiplexing),
            "only the flit mover serves channels in turns"
        );
    }
}
