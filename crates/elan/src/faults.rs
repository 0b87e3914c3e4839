//! # Faults: failing parts and their times
//!
//! A machine has a list of faults ([`Config::list`]). Each fault names a [`FaultyPart`] of the
//! machine and the fault's kind: the part's cables flip bits at a rate or have trained to a lower
//! rate, or the part is *down* from one moment to another ([`FaultTiming`]). The list is data.
//! Others carry out a fault's effect: the fabric cuts and repairs cables and lets packets get lost,
//! adapters send packets again, nodes stop.
//!
//! Each fault has its own random streams, named by the fault's number in the list: its times and
//! the cables that it picks depend on the seed alone, not on other faults nor on the machine's
//! activity. Where a fault concerns several cables, each cable fails by itself and has its own
//! stream. A list without a fault before a run's end does not change the run.
//!
//! The machine's times for noticing faults and recovering are machine parameters,
//! [`Config::timeout`] and so on.
//!
//! Simplifications: cables die and come back as a whole, both directions in the same cycle. All
//! sources' routing tables change in the same cycle, [`Config::detect`] after a fault or a repair;
//! how real tables are distributed is not published.

mod loss;
mod schedule;

pub use loss::{CableName, Loss, Obstacle};
pub(crate) use schedule::{Event, Schedule};

use crate::packet::PacketFormat;
use crate::{NodeId, Place, Rail};
use fabric::topology::End;
use fabric::{LinkId, Pace, SwitchId, Topology, Wiring};
use kernel::random::Stream;
use std::collections::BTreeMap;
use units::Time;

/// A machine's faults, and its recovery times.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The sender's output timeout: a packet that has not been answered this long after its
    /// injection, and never can be, is given up and sent again.
    pub timeout: Time,
    /// From the timeout of a packet with one destination to sending the packet again.
    pub backoff: Time,
    /// From a broadcast's timeout to sending the broadcast again.
    pub broadcast_backoff: Time,
    /// From a fault or its repair to the moment when all sources' routing tables show it.
    pub detect: Time,
    /// A packet that has not succeeded this long after its first refusal by a fault ends its
    /// message with an error.
    pub give_up: Time,
    /// Seed for the faults' random streams.
    pub seed: u64,
    /// The faults.
    pub list: Vec<Fault>,
}

/// One fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The failing part.
    pub part: FaultyPart,
    /// How it fails, and when.
    pub when: FaultTiming,
}

/// A machine part that can fail. Links stand for their cables: both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultyPart {
    /// A link's cable.
    Link(LinkId),
    /// Several cables: each fails by itself.
    Links(Links),
    /// A switch: all its cables.
    Switch(SwitchId),
    /// An adapter: its cable, and the adapter stops executing.
    Adapter(Place),
    /// A node's host: the node's processes run no more. Its adapters still answer the network.
    Node(NodeId),
    /// All adapters and switches on a rail.
    Rail(Rail),
}

/// Cables that are picked by their place in the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// The link level, from 0 at the nodes; `None` for all levels.
    pub level: Option<usize>,
    /// The rail; `None` for all rails.
    pub rail: Option<Rail>,
    /// How many of these cables, and which; `None` for all.
    pub some: Option<(u32, CableChoice)>,
}

/// How some cables are picked among many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CableChoice {
    /// Any, all equally likely; drawn from the fault's stream.
    Random,
    /// One switch's cables after another's, upwards: the cables that together take most from some
    /// nodes if lost.
    Worst,
}

/// How a part fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultTiming {
    /// Cables flip bits: the probability that a bit is wrong, 0 to 1e-3.
    BitErrors(f64),
    /// Cables have a lower rate than others of their kind, in the whole run; a cable that is slower
    /// anyway stays so.
    Degraded(Pace),
    /// The part is down from a moment on: for a time, or for ever.
    At {
        /// The moment, from the run's start.
        at: Time,
        /// Duration; `None` for ever.
        lasts: Option<Time>,
    },
    /// The part fails at random and is repaired at random: both times have exponential
    /// distributions.
    Random {
        /// Mean time from a repair, or the run's start, to the next failure.
        mtbf: Time,
        /// Mean time from a failure to its repair.
        mttr: Time,
    },
}

/// One fault's effect: a time in which a part was down, or cables' bit errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// The fault's number in the list.
    pub fault: u32,
    /// The part that failed.
    pub part: FaultyPart,
    /// The bit error rate, if the cables have one; the part is not down then.
    pub bit_error_rate: Option<f64>,
    /// When the part went down.
    pub down: Option<Time>,
    /// When it was repaired, if it was.
    pub up: Option<Time>,
    /// When the sources' routing tables showed it; `None` if the part was repaired before, or is a
    /// host.
    pub known: Option<Time>,
}

impl FaultyPart {
    /// The part's name for people.
    pub fn name(&self, wiring: &dyn Wiring) -> String {
        match self {
            FaultyPart::Link(link) => {
                let link = cable(wiring, *link);
                let (from, to) = wiring.ends(link);
                let (from, to) = (wiring.end_name(from), wiring.end_name(to));
                format!("cable from {from} to {to}{}", place_in_bundle(wiring, link))
            }
            FaultyPart::Links(links) => {
                let rail = links.rail.map(|rail| format!(" of rail {rail}"));
                let level = links.level.map(|level| format!(" of level {level}"));
                let (level, rail) = (level.unwrap_or_default(), rail.unwrap_or_default());
                format!("all cables{level}{rail}")
            }
            FaultyPart::Switch(switch) => wiring.switch_name(*switch),
            FaultyPart::Adapter(place) => {
                format!("adapter of {}", wiring.end_name(End::Node(*place)))
            }
            FaultyPart::Node(node) => format!("host of node {node}"),
            FaultyPart::Rail(rail) => format!("rail {rail}"),
        }
    }

    /// The node with the host that stops, if the part is a host.
    pub fn host(&self) -> Option<NodeId> {
        match self {
            FaultyPart::Node(node) => Some(*node),
            _ => None,
        }
    }

    /// The cables that die with the part, each by its upward link; empty for a host.
    pub fn cables(&self, wiring: &dyn Wiring) -> Vec<LinkId> {
        match self {
            FaultyPart::Link(link) => vec![cable(wiring, *link)],
            FaultyPart::Links(links) => links.all(wiring),
            FaultyPart::Switch(switch) => {
                let ports = 0..wiring.ports(*switch);
                let links = ports.map(|port| cable(wiring, wiring.output(*switch, port)));
                links.collect()
            }
            FaultyPart::Adapter(place) => vec![wiring.injection(*place)],
            FaultyPart::Node(_) => Vec::new(),
            FaultyPart::Rail(rail) => {
                let of_rail = Links {
                    level: None,
                    rail: Some(*rail),
                    some: None,
                };
                of_rail.all(wiring)
            }
        }
    }

    /// The adapters that die with the part.
    pub(crate) fn adapters(&self, wiring: &dyn Wiring) -> Vec<Place> {
        match self {
            FaultyPart::Adapter(place) => vec![*place],
            FaultyPart::Rail(rail) => {
                let nodes = NodeId::all(wiring.nodes());
                nodes.map(|node| wiring.place(*rail, node)).collect()
            }
            FaultyPart::Link(_)
            | FaultyPart::Links(_)
            | FaultyPart::Switch(_)
            | FaultyPart::Node(_) => Vec::new(),
        }
    }
}

/// The upward link of a link's cable, which stands for the cable.
fn cable(wiring: &dyn Wiring, link: LinkId) -> LinkId {
    if wiring.is_up(link) {
        link
    } else {
        wiring.reverse(link)
    }
}

/// A cable's place among the parallel cables of the same two switches, such as ` (cable 2 of 4)`;
/// empty for a single cable.
fn place_in_bundle(wiring: &dyn Wiring, link: LinkId) -> String {
    let switches = |link| match wiring.ends(link) {
        (End::Switch { switch: from, .. }, End::Switch { switch: to, .. }) => Some((from, to)),
        _ => None,
    };
    let Some((from, to)) = switches(link) else {
        return String::new();
    };
    let mut bundle: Vec<LinkId> = (0..wiring.ports(from))
        .map(|port| wiring.output(from, port))
        .filter(|&other| switches(other) == Some((from, to)))
        .collect();
    bundle.sort_unstable();
    match bundle.iter().position(|&other| other == link) {
        Some(place) if bundle.len() > 1 => format!(" (cable {} of {})", place + 1, bundle.len()),
        _ => String::new(),
    }
}

impl Links {
    /// All cables on the level and the rail, by their lower ends. Cables at empty positions do not
    /// count.
    pub fn all(&self, wiring: &dyn Wiring) -> Vec<LinkId> {
        let lower = |link: LinkId| wiring.ends(link).0;
        let is_here = |&link: &LinkId| {
            let (attached, rail) = match lower(link) {
                End::Node(place) => {
                    let (rail, node) = wiring.rail_and_node(place);
                    (node.get() < wiring.nodes(), rail)
                }
                End::Switch { switch, .. } => (true, wiring.rail_of(switch)),
            };
            attached
                && wiring.is_up(link)
                && self
                    .level
                    .is_none_or(|level| level == wiring.link_level(link))
                && self.rail.is_none_or(|own| own == rail)
        };
        let mut links: Vec<LinkId> = LinkId::all(wiring.links()).filter(is_here).collect();
        links.sort_by_key(|&link| match lower(link) {
            End::Node(place) => (0, place.get()),
            End::Switch { switch, .. } => (1, switch.get()),
        });
        links
    }

    /// The selected cables, of which some may be drawn from a stream.
    fn picked(&self, wiring: &dyn Wiring, stream: &mut Stream) -> Vec<LinkId> {
        let mut links = self.all(wiring);
        let Some((count, pick)) = self.some else {
            return links;
        };
        let count = links.len().min(count as usize);
        if pick == CableChoice::Random {
            for index in 0..count {
                let other = stream.uniform_u64(index as u64..links.len() as u64);
                links.swap(index, other as usize);
            }
        }
        links.truncate(count);
        links
    }
}

impl Config {
    /// The stream of a fault, or of one of its cables.
    fn stream(&self, name: &str) -> Stream {
        Stream::new(self.seed, &format!("faults/{name}"))
    }

    /// The list with each of several cables by itself, with the fault's number and its stream's
    /// name. Bit errors and lower rates for all cables of a kind stay one entry.
    fn elements(&self, wiring: &dyn Wiring) -> Vec<(u32, Fault, String)> {
        let mut elements = Vec::new();
        for (number, fault) in (0_u32..).zip(&self.list) {
            let name = number.to_string();
            let at_once = matches!(
                fault.when,
                FaultTiming::BitErrors(_) | FaultTiming::Degraded(_)
            );
            match &fault.part {
                FaultyPart::Links(links) if links.some.is_some() || !at_once => {
                    let picked = links.picked(wiring, &mut self.stream(&name));
                    elements.extend(picked.into_iter().map(|link| {
                        let part = FaultyPart::Link(link);
                        let when = fault.when;
                        (number, Fault { part, when }, format!("{name}/{link}"))
                    }));
                }
                _ => elements.push((number, fault.clone(), name)),
            }
        }
        elements
    }

    /// Gives cables that are degraded their rates.
    pub(crate) fn degrade(&self, fabric: &mut fabric::Config) {
        let topology = fabric.topology.clone();
        for (_, fault, _) in self.elements(&*topology) {
            let FaultTiming::Degraded(pace) = fault.when else {
                continue;
            };
            for link in fault.part.cables(&*topology) {
                for link in [link, topology.reverse(link)] {
                    let mut differing = fabric.link(link);
                    if pace.per_cycle() < differing.pace.per_cycle() {
                        differing.pace = pace;
                        fabric.differing.insert(link, differing);
                    }
                }
            }
        }
    }

    /// The fabric's part of the list. `cycle` is the fabric's cycle.
    pub(crate) fn of_fabric(
        &self,
        topology: &Topology,
        packet: &PacketFormat,
        cycle: Time,
    ) -> fabric::FaultConfig {
        let wiring = &**topology;
        // The probability that a bit is right on a link that several faults name.
        let mut right: BTreeMap<LinkId, f64> = BTreeMap::new();
        for (_, fault, _) in self.elements(wiring) {
            if let FaultTiming::BitErrors(rate) = fault.when {
                for link in fault.part.cables(wiring) {
                    for link in [link, wiring.reverse(link)] {
                        *right.entry(link).or_insert(1.0) *= 1.0 - rate;
                    }
                }
            }
        }
        let rates = right.into_iter().map(|(link, right)| {
            let rate = (1.0 - right).min(fabric::config::MAX_BIT_ERROR_RATE);
            (link, rate)
        });
        let bits = |bytes: units::Bytes| 8 * bytes.as_u64() as u32;
        fabric::FaultConfig {
            timeout: self.timeout.div_ceil(cycle).max(1),
            header_bits: bits(packet.header),
            flit_bits: bits(packet.flit),
            // An acknowledgement takes a flit slot on each link.
            token_bits: bits(packet.flit),
            bit_error_rates: rates.filter(|&(_, rate)| rate > 0.0).collect(),
            seed: self.seed,
        }
    }
}
