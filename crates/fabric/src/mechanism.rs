//! A fabric's exchangeable mechanisms, by their names in machine files.

use derive::choice;

/// When the virtual channels of a packet's path are given back (petrini2003 s2.2).
#[choice]
pub enum Circuit {
    /// After the acknowledgement has returned and the EOP has passed: the Quadrics rule.
    UntilAcknowledged,
    /// All channels together, one cycle after the tail has reached the destination.
    UntilDelivered,
    /// Each channel as soon as the tail has left the channel's buffer: textbook wormhole routing,
    /// no circuit.
    Wormhole,
    /// As `Wormhole`, where each channel's buffer holds the longest packet: virtual cut-through
    /// (Kermani and Kleinrock, 1979). A packet that has got a channel never stands on its link, and
    /// a link's channels are its credits for whole packets.
    CutThrough,
}

/// How the ascending phase picks among a switch's up-links.
#[choice]
pub enum Ascent {
    /// The up-link with the fewest busy channels at the time of the grant (petrini2003 s2.2.1: "the
    /// least loaded link").
    Adaptive,
    /// The up-link numbered by the destination modulo the up-link count: the fixed route in the
    /// Elan3 tables.
    Deterministic,
    /// The up-link with the number of the child that the packet came from, modulo the up-link
    /// count: in a tree with as many links up as down every node climbs on its own links, and
    /// packets meet on the way down only.
    SourceFixed,
    /// The static tables in today's fat trees, destination modulo (D-mod-k: Zahavi, 2010): on each
    /// level another digit of the destination's position, so that the packets to a node come down
    /// from one top switch, and the top switches share out the nodes.
    DestinationModulo,
    /// A hash over source, destination and level: all packets in a flow climb by the same links,
    /// and flows are spread at random (equal-cost multi-path, ECMP).
    FlowHash,
}

/// Which ways packets take in a dragonfly, a HyperX network or a topology from outside.
#[choice]
pub enum Misrouting {
    /// Minimal ways.
    Minimal,
    /// By way of a random group or switch (Valiant, 1982).
    Valiant,
    /// The minimal way, or by way of a random group or switch: by the loads of the links at the
    /// packet's first switch (UGAL-L of Kim et al., ISCA 2008).
    UgalLocal,
}

/// Which ways packets take, in any kind of network that leaves the choice.
#[choice]
#[derive(Default)]
pub enum Ways {
    /// In a graph: up towards a root, then down.
    #[default]
    UpDown,
    /// Minimal ways.
    Minimal,
    /// By way of a random group or switch (Valiant, 1982).
    Valiant,
    /// The minimal way, or by way of a random group or switch: by the loads of the links at the
    /// packet's first switch (UGAL-L of Kim et al., ISCA 2008).
    UgalLocal,
    /// In a graph: any of the k shortest ways between two switches.
    KShortest,
}

/// The up-links by which broadcasts climb; see the route essay in `topology::fat_tree::broadcast`.
#[choice]
pub enum Broadcast {
    /// All broadcasts climb by each switch's up-link 0, through one tree with one root: no deadlock
    /// (petrini2001, "Serialization through the root switch to avoid deadlocks").
    Serialised,
    /// A broadcast climbs by the up-link numbered by the source modulo the up-link count.
    /// Broadcasts from different sources may deadlock.
    BySource,
}

/// Which header wins a free output channel when several wait for it.
#[choice]
pub enum Arbitration {
    /// The packet with the greatest age; among equal ages, the packet that has had this age at the
    /// switch for the longest time.
    Age,
    /// Rotation over the switch's inputs.
    RoundRobin,
}

/// Which channel a link serves when several have a flit to move.
#[choice]
pub enum Multiplexing {
    /// The packet that was injected first goes first, in any traffic class, preemptive and
    /// work-conserving: here ages count every cycle.
    OldestFirst,
    /// The channels in turn, flit by flit.
    RoundRobin,
}

/// Which mover runs the data phase. Both make the same motion in every cycle; see
/// [`crate::motion`].
#[choice]
pub enum Engine {
    /// The definition: visits every link that has something to send, in every cycle. Serves all
    /// mechanisms.
    Flit,
    /// Computes the same motion from events. Serves all but [`Multiplexing::RoundRobin`].
    Worm,
}

impl Circuit {
    /// Whether each channel is given back behind the tail: there is no circuit.
    #[inline]
    pub fn ends_with_the_tail(self) -> bool {
        matches!(self, Circuit::Wormhole | Circuit::CutThrough)
    }
}

impl Engine {
    /// Whether the engine can serve a link's channels by this multiplexing.
    pub fn serves(self, multiplexing: Multiplexing) -> bool {
        self == Engine::Flit || multiplexing == Multiplexing::OldestFirst
    }
}

impl Ways {
    /// The rule in networks with minimal ways and ways through a random place; `None` for other
    /// ways.
    pub fn misrouting(self) -> Option<Misrouting> {
        match self {
            Ways::UpDown | Ways::KShortest => None,
            Ways::Minimal => Some(Misrouting::Minimal),
            Ways::Valiant => Some(Misrouting::Valiant),
            Ways::UgalLocal => Some(Misrouting::UgalLocal),
        }
    }
}
