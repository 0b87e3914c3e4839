//! # Warnings: a machine's limits that a simulation silently keeps to
//!
//! A machine may be right in all its parts and slower than its author expects. Two such limits
//! follow from the machine alone:
//!
//! * *Credits* that do not cover a link's round trip, hop and credit delay ([`fabric::Credits`]):
//!   the link never has its full rate.
//! * *Detours*: up*/down* routing in a graph leads most packets through the root
//!   ([`fabric::topology::Uniform`]).
//!
//! A warning does not affect results or the exit code. It names the parameter to change and gives
//! the rate that remains.

use crate::file::Machine;
use fabric::config::MAX_CHANNELS;
use fabric::topology::DetourLoads;
use fabric::{Circuit, Config, Credits, Cycle, Topology, Ways};
use serde::Serialize;
use serde_json::Value;

/// The least share of a link's rate that a stream keeps, without a warning, where each packet waits
/// behind one other.
const LEAST_BEHIND_ONE: f64 = 0.9;

/// The least share of a link's rate that prints as 100%.
const ALL: f64 = 0.9995;

/// The most that ways may be longer, and that uniform traffic may be slower, than on shortest ways,
/// without a warning.
const MOST_LOSS: f64 = 0.05;

/// A machine's limit, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// `credits` or `detours`.
    pub kind: &'static str,
    /// The parameter, such as `link.channels`.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// The share of a link's rate that remains, from 0 to 1.
    pub share: f64,
    /// The limit and a remedy.
    pub message: String,
}

impl Machine {
    /// A checked machine's limits; most machines have none.
    pub fn warnings(&self) -> Vec<Warning> {
        let config = self.cluster_config().fabric;
        self.credits(&config)
            .into_iter()
            .chain(self.detours(&config))
            .collect()
    }

    /// The level with the longest round trip, if its credits do not cover it.
    fn credits(&self, config: &Config) -> Option<Warning> {
        let flits = self.packet.config(self.link.flit.value);
        let flits = flits.flits(self.packet.payload.value);
        let cycle = self.cycle().expect("the machine has been checked");
        let turnaround = self.adapter.turnaround.value.div_ceil(cycle);
        let levels = (0..config.hop_delay.len())
            .map(|level| (level, Credits::new(config, level, flits, turnaround)));
        let (level, credits) = levels.max_by_key(|(_, credits)| credits.hold)?;
        let (alone, behind) = (credits.share(), credits.share_behind(1));
        let held = !config.circuit.ends_with_the_tail();
        if alone >= ALL && (held || behind >= LEAST_BEHIND_ONE) {
            return None;
        }
        let link = match (held, level) {
            (true, _) => "even between two nodes of one switch, a link".into(),
            (false, 0) => "a link between node and switch".into(),
            (false, _) if config.hop_delay.len() == 2 => "a link between switches".into(),
            (false, _) => format!("a link of level {level}"),
        };
        let rate = self.link.rate.value.level(level).expect("a checked level");
        let rate = rate.as_mb_per_second_f64() / 1000.0;
        let carries = |share: f64| {
            let (percent, part) = (100.0 * share, rate * share);
            format!("{percent:.1}% of its rate ({part:.3} of {rate:.3} GB/s)")
        };
        let behind = (!held).then(|| {
            let share = carries(behind);
            format!("{share} where each packet waits behind another one")
        });
        let alone_share = (alone < ALL).then(|| carries(alone));
        let shares: Vec<String> = alone_share.into_iter().chain(behind).collect();
        let (hold, time, share) = (credits.hold, cycle * credits.hold, shares.join(", and "));
        let (key, value, remedy) = self.remedy(config, level, &credits, turnaround);
        Some(Warning {
            kind: "credits",
            key: key.into(),
            value,
            share: alone,
            message: format!(
                "a full packet of {flits} flits holds a channel for {hold} cycles, {time}: {link} \
                carries at most {share}; {remedy}"
            ),
        })
    }

    /// A level's scarce parameter, its value, and the values that are enough.
    fn remedy(
        &self,
        config: &Config,
        level: usize,
        credits: &Credits,
        turnaround: Cycle,
    ) -> (&'static str, Value, String) {
        let flits = credits.flits;
        let held = !config.circuit.ends_with_the_tail();
        let whole = Config {
            buffer: flits.max(config.buffer),
            ..config.clone()
        };
        let whole = Credits::new(&whole, level, flits, turnaround);
        let needed = whole.enough(u32::from(!held)) * config.traffic_classes;
        let window = config.packets_in_flight;
        let (key, value) = if held && credits.channels == window && window < config.channels {
            ("adapter.packets_in_flight", window)
        } else {
            ("link.channels", config.channels)
        };
        let channels = if needed > MAX_CHANNELS {
            format!(
                "{needed} channels would be enough, and a link has at most {MAX_CHANNELS}: shorten \
                {}, or enlarge packet.payload",
                if config.credit_delay(level) > config.hop_delay[level] {
                    "link.credit_delay"
                } else {
                    "link.hop_delay"
                }
            )
        } else if config.circuit == Circuit::UntilAcknowledged {
            let keys = [
                ("link.channels", config.channels),
                ("adapter.packets_in_flight", window),
            ];
            let short = keys.iter().filter(|(_, value)| *value < needed);
            let short: Vec<&str> = short.map(|(key, _)| *key).collect();
            format!("raise {} to {needed}", short.join(" and "))
        } else {
            format!("raise link.channels to {needed}")
        };
        if whole.hold == credits.hold {
            return (key, value.into(), channels);
        }
        let level = if held { 0 } else { level };
        let trip = config.hop_delay[level] + config.credit_delay(level);
        let buffer = format!("raise link.buffer to {} flits", flits.min(trip));
        let remedy = if needed <= config.channels {
            buffer
        } else {
            format!("{buffer}, and {channels}")
        };
        let value = serde_json::to_value(self.link.buffer.value);
        ("link.buffer", value.expect("a value is plain data"), remedy)
    }

    /// A graph routing's ways and accepted rate, if they are worse than on shortest ways.
    fn detours(&self, config: &Config) -> Option<Warning> {
        let Topology::Graph(graph) = &config.topology else {
            return None;
        };
        if graph.routes().is_some() || graph.ways() != Ways::UpDown {
            return None; // The ways are those that were asked for.
        }
        let DetourLoads {
            used,
            shortest,
            sample,
        } = graph.detours();
        let (accepted, best) = (used.accepted(), shortest.accepted());
        let long = used.links > (1.0 + MOST_LOSS) * shortest.links;
        if !long && accepted >= (1.0 - MOST_LOSS) * best {
            return None;
        }
        let sampled = sample.map_or_else(String::new, |leaves| {
            format!(" (estimated from the packets to the nodes of {leaves} switches)")
        });
        let message = format!(
            "up*/down* routing takes detours: packets between switches cross {:.2} links, \
            {:.2} on shortest ways. \
            Uniform traffic loads the busiest link {:.2} times as much as a node's own, {:.2} \
            times on shortest ways: \
            the network accepts about {:.1}% of the rate of a link from each node, {:.1}% on \
            shortest ways{sampled}; \
            topology.routing = \"minimal\" takes shortest ways, and topology.roots chooses other \
            roots",
            used.links,
            shortest.links,
            used.busiest,
            shortest.busiest,
            100.0 * accepted,
            100.0 * best,
        );
        Some(Warning {
            kind: "detours",
            key: "topology.kind".into(),
            value: serde_json::to_value(self.topology.kind()).expect("a value is plain data"),
            share: accepted,
            message,
        })
    }
}
