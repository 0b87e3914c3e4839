//! A fabric's parameters, in its own units (cycles and flits).
//!
//! The machine file speaks of nanoseconds and bytes; the `machine` crate converts and validates
//! them. The values that arrive here satisfy the bounds stated at each field, and
//! [`crate::Fabric::new`] asserts these bounds.

use crate::topology::Topology;
use crate::{Cycle, LinkId, Pace};
use std::collections::BTreeMap;

pub use crate::mechanism::{
    Arbitration, Ascent, Broadcast, Circuit, Engine, Misrouting, Multiplexing, Ways,
};

/// Longest header delay on one link, in cycles: a mover foresees no event further ahead.
pub const MAX_HOP_DELAY: u32 = 1023;

/// Longest credit delay on one link, in cycles, for the same reason.
pub const MAX_CREDIT_DELAY: u32 = MAX_HOP_DELAY;

/// Most virtual channels per link direction.
pub const MAX_CHANNELS: u32 = 32;

/// Most bits in an age.
pub const MAX_AGE_BITS: u32 = 32;

/// Most regions in a network: there is a message box for each pair.
pub const MAX_REGIONS: u32 = 256;

/// Longest packet, in flits; a larger buffer makes no difference.
pub const MAX_FLITS: u32 = 1 << 30;

/// All machine parameters that the fabric needs.
#[derive(Clone, Debug)]
pub struct Config {
    /// The wiring and the attached nodes.
    pub topology: Topology,
    /// A link's header delay in cycles, by level: entry 0 joins nodes and switches. Each
    /// `1..=1023`.
    pub hop_delay: Vec<u32>,
    /// A link's credit delay in cycles, by level: a buffer place that a flit leaves in cycle `T` is
    /// free for the link's sender from cycle `T + credit_delay` on. Each `1..=1023`; an empty list
    /// stands for one cycle on all levels.
    pub credit_delay: Vec<u32>,
    /// A link's pace, by level; an empty list stands for the full pace on all levels. The link's
    /// header delay is longer by the serialisation of its pace, and no more than [`MAX_HOP_DELAY`]
    /// with it.
    pub pace: Vec<Pace>,
    /// Links that differ from those on their level.
    pub differing: BTreeMap<LinkId, LinkOverride>,
    /// Virtual channels per link direction, `1..=32`.
    pub channels: u32,
    /// Traffic classes, each with separate channels: at least 1, and no more than leave each one
    /// channels for all routing classes. See the essay of `control::classes`.
    pub traffic_classes: u32,
    /// Buffer behind each channel in flits, at least 1; flits on the wire occupy it too. With
    /// [`Circuit::CutThrough`] no packet may be longer.
    pub buffer: u32,
    /// Unacknowledged packets that an adapter may have, in each traffic class, at least 1.
    pub packets_in_flight: u32,
    /// A circuit's life.
    pub circuit: Circuit,
    /// Routing in a tree's ascending phase.
    pub ascent: Ascent,
    /// Broadcast routing.
    pub broadcast: Broadcast,
    /// Cycles that each switch in a broadcast's descent takes to combine the answers.
    pub combine: u64,
    /// Arbitration for channels.
    pub arbitration: Arbitration,
    /// Service order among a link's channels.
    pub multiplexing: Multiplexing,
    /// Bits in the age that a packet carries, `1..=32`: an age step is `age_cap` over the greatest
    /// age, at least a cycle.
    pub age_bits: u32,
    /// The time after the injection at which a packet's age stops growing, in cycles.
    pub age_cap: u64,
    /// Whether high-priority packets precede all others, in arbitration, multiplexing and
    /// injection.
    pub priorities: bool,
    /// Whether each acknowledgement and each EOP takes a flit slot on every link that it crosses.
    pub tokens: bool,
    /// Period, in cycles, of the adapter's memory port, shared by sending and receiving. At least
    /// 1.
    pub share_period: u64,
    /// Cycles in each period in which sending pauses while both links want to move; receiving
    /// pauses for as many other cycles. At most half a period; 0 switches the sharing off.
    pub share_burst: u64,
    /// The mover. No result depends on the choice; [`Engine::serves`] must hold for the
    /// multiplexing.
    pub engine: Engine,
    /// Regions into which the network is cut, `1..=256`; no result depends on the number. A small
    /// network has fewer, and a machine with faults or slow links has one
    /// ([`Network::regions`](crate::Network::regions)). See the `regions` essay.
    pub regions: u32,
    /// Threads that work on the regions, at least 1; no result depends on the number.
    pub threads: u32,
    /// The possible faults; `None` in a machine without faults.
    pub faults: Option<FaultConfig>,
}

/// A link that differs from those on its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkOverride {
    /// As [`Config::hop_delay`], without the serialisation.
    pub hop_delay: u32,
    /// As [`Config::credit_delay`].
    pub credit_delay: u32,
    /// As [`Config::pace`].
    pub pace: Pace,
}

/// The fault parameters; see the essay of `control::faults`. Dead cables are named later
/// ([`Network::cut`](crate::Network::cut)).
#[derive(Clone, Debug, PartialEq)]
pub struct FaultConfig {
    /// The sender's output timeout, in cycles from the injection on, at least 1. Public Elan3
    /// headers: about 8 ms.
    pub timeout: Cycle,
    /// Bits at the begin of a packet that the switches check: the route and its CRC.
    pub header_bits: u32,
    /// Bits per flit.
    pub flit_bits: u32,
    /// Bits in an acknowledgement on a link.
    pub token_bits: u32,
    /// The probability that a bit arrives wrong, for each link with bit errors; each from 0 to
    /// [`MAX_BIT_ERROR_RATE`]. A link that is not listed makes no errors. The two links of a cable
    /// are listed one by one.
    pub bit_error_rates: Vec<(LinkId, f64)>,
    /// The seed for the bit error draws.
    pub seed: u64,
}

/// A link's greatest bit error rate: a link with more than one wrong bit in a thousand is unusable.
pub const MAX_BIT_ERROR_RATE: f64 = 1e-3;

impl Config {
    /// A fabric with the network's mechanisms but round parameters: one-cycle hops and credits, two
    /// channels, two packets in flight, buffers that never fill, no tokens, no sharing, no
    /// priorities.
    pub fn new(topology: impl Into<Topology>) -> Self {
        let topology = topology.into();
        Config {
            hop_delay: vec![1; topology.levels()],
            credit_delay: Vec::new(),
            pace: Vec::new(),
            differing: BTreeMap::new(),
            topology,
            channels: 2,
            traffic_classes: 1,
            buffer: 1000,
            packets_in_flight: 2,
            circuit: Circuit::UntilAcknowledged,
            ascent: Ascent::Adaptive,
            broadcast: Broadcast::Serialised,
            combine: 0,
            arbitration: Arbitration::Age,
            multiplexing: Multiplexing::OldestFirst,
            age_bits: 4,
            age_cap: 15_000,
            priorities: false,
            tokens: false,
            share_period: 185,
            share_burst: 0,
            engine: Engine::Worm,
            regions: 1,
            threads: 1,
            faults: None,
        }
    }

    /// Whether the network has hardware broadcasts, as the Quadrics networks have: a tree with
    /// switches that hold a packet's circuit until its end, and so can combine the answers of all
    /// destinations (petrini2001). The movers serve broadcasts in any tree.
    pub fn has_broadcasts(&self) -> bool {
        self.topology.as_tree().is_some() && !self.circuit.ends_with_the_tail()
    }

    /// The credit delay of a link on a level, in cycles.
    pub fn credit_delay(&self, level: usize) -> u32 {
        if self.credit_delay.is_empty() {
            1
        } else {
            self.credit_delay[level]
        }
    }

    /// The pace of a link on a level.
    pub fn pace(&self, level: usize) -> Pace {
        self.pace.get(level).copied().unwrap_or(Pace::FULL)
    }

    /// A link as it is, by itself or by its level; the header delay without the serialisation.
    pub fn link(&self, link: LinkId) -> LinkOverride {
        let of_level = || {
            let level = self.topology.link_level(link);
            LinkOverride {
                hop_delay: self.hop_delay[level],
                credit_delay: self.credit_delay(level),
                pace: self.pace(level),
            }
        };
        self.differing.get(&link).copied().unwrap_or_else(of_level)
    }

    /// A link's pace.
    pub fn pace_of(&self, link: LinkId) -> Pace {
        self.link(link).pace
    }

    /// Cycles from a flit on a link to its arrival, the serialisation at the link's pace included.
    pub fn delay_of(&self, link: LinkId) -> u32 {
        let link = self.link(link);
        link.hop_delay + link.pace.serialisation()
    }

    /// A link's credit delay, in cycles.
    pub fn credit_delay_of(&self, link: LinkId) -> u32 {
        self.link(link).credit_delay
    }

    /// Credit delays by level and on links that differ, in cycles.
    pub(crate) fn credit_delays(&self) -> impl Iterator<Item = u32> {
        let differing = self.differing.values().map(|link| link.credit_delay);
        let levels = 0..self.topology.levels();
        levels
            .map(|level| self.credit_delay(level))
            .chain(differing)
    }

    /// Least header delay by level and on links that differ, in cycles.
    pub(crate) fn least_hop_delay(&self) -> u32 {
        let differing = self.differing.values().map(|link| link.hop_delay);
        let delays = self.hop_delay.iter().copied().chain(differing);
        delays.min().unwrap_or(0)
    }

    /// Whether any link's credits take longer than a cycle.
    pub(crate) fn has_late_credits(&self) -> bool {
        self.credit_delays().any(|delay| delay > 1)
    }

    /// Why the network has one region for any number of [`regions`](Self::regions); `None` if it
    /// may have several. See the `regions` essay.
    pub fn undivided(&self) -> Option<&'static str> {
        match self.engine {
            Engine::Flit => Some("the flit engine moves whole networks"),
            Engine::Worm if self.faults.is_some() => Some("the network may have faults"),
            Engine::Worm => None,
        }
    }

    /// The longest packet that the fabric takes, in flits.
    pub(crate) fn longest_packet(&self) -> u32 {
        if self.circuit == Circuit::CutThrough {
            self.buffer.min(MAX_FLITS)
        } else {
            MAX_FLITS
        }
    }

    /// The bounds stated at the fields, as assertions: the caller has validated the user's values.
    pub(crate) fn assert_valid(&self) {
        let levels = self.topology.levels();
        let (hops, credits) = (&self.hop_delay, &self.credit_delay);
        assert_eq!(hops.len(), levels, "one hop delay per level of links");
        assert!(
            credits.is_empty() || credits.len() == levels,
            "one credit delay per level of links"
        );
        assert!(
            self.pace.is_empty() || self.pace.len() == levels,
            "one pace per level of links"
        );
        let of_level = |level: usize| LinkOverride {
            hop_delay: hops[level],
            credit_delay: self.credit_delay(level),
            pace: self.pace(level),
        };
        let differing = self.differing.values().copied();
        assert!((0..levels).map(of_level).chain(differing).all(|link| {
            let delay = link.hop_delay + link.pace.serialisation();
            link.hop_delay >= 1
                && delay <= MAX_HOP_DELAY
                && (1..=MAX_CREDIT_DELAY).contains(&link.credit_delay)
        }));
        assert!((1..=MAX_CHANNELS).contains(&self.channels));
        assert!(self.traffic_classes >= 1);
        assert!(self.channels >= self.traffic_classes * self.topology.classes());
        assert!((1..=MAX_REGIONS).contains(&self.regions) && self.threads >= 1);
        assert!(self.buffer >= 1 && self.packets_in_flight >= 1);
        assert!((1..=MAX_AGE_BITS).contains(&self.age_bits));
        assert!(self.share_period >= 1 && 2 * self.share_burst <= self.share_period);
        assert!(
            self.engine.serves(self.multiplexing),
            "only the flit mover serves channels in turns"
        );
        if let Some(faults) = &self.faults {
            let rates = &faults.bit_error_rates;
            assert!(faults.timeout >= 1 && faults.flit_bits >= 1);
            assert!(rates.iter().all(|&(link, rate)| {
                link.get() < self.topology.links() && (0.0..=MAX_BIT_ERROR_RATE).contains(&rate)
            }));
        }
    }
}
