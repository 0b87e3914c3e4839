//! # Link variety: per-level and per-cable rates and delays
//!
//! `link.rate` and `link.hop_delay` have a value for all links, or one for each level. In a graph a
//! cable's line may give its own rate and delay. The fabric's cycle is a flit at the fastest rate
//! in `link.rate`, and [`Pace`] describes how a slower link moves its flits: exactly, if the rate
//! over the fastest one is a fraction with a denominator of at most 4,096, and otherwise at the
//! nearest such fraction, which is less than 0.025% off.
//!
//! *Delays in lines* replace `link.hop_delay`, rounded to the nearest cycle. A credit returns over
//! the same cable: its delay differs from the level's by the same amount, but is at least one
//! cycle. Where `link.credit_delay` is not given credits take a cycle on all links.

use crate::check::Check;
use crate::file::Machine;
use crate::graph::{Graph, Words, cables};
use crate::param::PerLevel;
use crate::rate::{admit, pace};
use crate::section::Parameterised;
use fabric::config::{MAX_CREDIT_DELAY, MAX_HOP_DELAY};
use fabric::{Config, LinkId, LinkOverride, Pace, Place, Wiring};
use std::collections::BTreeMap;
use units::{Rate, Time};

/// A delay in cycles, the nearest number.
fn cycles(delay: Time, cycle: Time) -> u64 {
    let twice = delay
        .as_ps()
        .saturating_mul(2)
        .saturating_add(cycle.as_ps());
    twice / (2 * cycle.as_ps())
}

impl Machine {
    /// Sets a checked machine's link paces, and the links that differ from their level.
    pub(crate) fn set_paces(&self, config: &mut Config) {
        let rates = &self.link.rate.value;
        let fastest = rates.fastest();
        let of_rate = |rate| pace(rate, fastest).expect("the machine has been checked");
        if rates.values().iter().any(|&rate| rate != fastest) {
            let levels = 0..config.topology.levels();
            let rate = |level| rates.level(level).expect("the machine has been checked");
            config.pace = levels.map(|level| of_rate(rate(level))).collect();
        }
        let all = self.cable_words(&config.topology);
        for (level, words, links) in all {
            if words == Words::default() {
                continue;
            }
            let pace = words.rate.map_or_else(|| config.pace(level), of_rate);
            let differing = self.differing(config, level, pace, words.delay);
            config
                .differing
                .extend(links.into_iter().map(|link| (link, differing)));
        }
    }

    /// The words of all cables and nodes in a checked graph's lines: each one's level, and its
    /// links; empty without a graph.
    fn cable_words(&self, topology: &fabric::Topology) -> Vec<(usize, Words, Vec<LinkId>)> {
        let (fabric::Topology::Graph(graph), Some(text)) = (topology, &self.topology.cables) else {
            return Vec::new();
        };
        let Ok(read) = Graph::read(&text.value) else {
            return Vec::new();
        };
        let wiring = graph.cabling();
        let rails = wiring.rails();
        let seat = |node: usize| {
            (0..rails).flat_map(move |rail| {
                let place = Place::new(rail * wiring.positions() + node as u32);
                [wiring.injection(place), wiring.ejection(place)]
            })
        };
        let seats = read.seat_words.iter().enumerate();
        let seats = seats.map(|(node, &words)| (0, words, seat(node).collect()));
        let inner = read.cable_words.iter().enumerate();
        let inner = inner.map(|(cable, &words)| (1, words, graph.links_of(cable).collect()));
        seats.chain(inner).collect()
    }

    /// The highest regular rate of some links.
    pub(crate) fn fastest_of(&self, links: &[LinkId], topology: &fabric::Topology) -> Option<Rate> {
        let mut own = BTreeMap::new();
        for (_, words, links) in self.cable_words(topology) {
            own.extend(links.into_iter().zip(std::iter::repeat(words.rate)));
        }
        let rates = &self.link.rate.value;
        let of_level = |link| rates.level(topology.link_level(link));
        let rate = |&link: &LinkId| own.get(&link).copied().flatten().or_else(|| of_level(link));
        links.iter().filter_map(rate).max()
    }

    /// A link with another pace or delay than its level.
    fn differing(
        &self,
        config: &Config,
        level: usize,
        pace: Pace,
        delay: Option<Time>,
    ) -> LinkOverride {
        let cycle = self.cycle().expect("the machine has been checked");
        let (usual, credit) = (config.hop_delay[level], config.credit_delay(level));
        let hop_delay = delay.map_or(usual, |delay| cycles(delay, cycle).max(1) as u32);
        let credit_delay = if self.link.credit_delay.given().is_some() {
            let credit = (credit + hop_delay).saturating_sub(usual);
            credit.clamp(1, MAX_CREDIT_DELAY)
        } else {
            credit
        };
        LinkOverride {
            hop_delay,
            credit_delay,
            pace,
        }
    }
}

/// Reports level rates, and cable rates and delays, that the fabric cannot represent.
pub(crate) fn check(machine: &Machine, cycle: Time, check: &mut Check<'_>) {
    let rates = &machine.link.rate.value;
    let fastest = rates.fastest();
    let levels = machine.topology.levels();
    if let (PerLevel::Each(rates), Some(levels)) = (rates, levels)
        && rates.len() != levels
    {
        let message = format!("{} values for {levels} levels of links", rates.len());
        let found = check.at("link.rate", message);
        found.allowed(format!("one rate, or a list of {levels} rates"));
    }
    let list = matches!(rates, PerLevel::Each(_));
    let delay = |level: usize| machine.link.hop_delay.value.level(level);
    for (level, &rate) in rates.values().iter().enumerate().filter(|_| list) {
        let key = format!("link.rate.value.{level}");
        if let Err((message, allowed)) = admit(rate, fastest) {
            check.at(&key, message).allowed(allowed);
        } else if let (Some(pace), Some(delay)) = (pace(rate, fastest), delay(level))
            && let Err(message) = fits(cycles(delay, cycle), pace, cycle)
        {
            check.at(&key, message).hint("shorten link.hop_delay");
        }
    }
    let Some(text) = &machine.topology.cables else {
        return;
    };
    for (line, level, words) in cables(&text.value) {
        let rate = words.rate.or_else(|| rates.level(level)).unwrap_or(fastest);
        let wrong = match admit(rate, fastest) {
            Err((message, allowed)) => Some((message, allowed)),
            Ok(pace) => {
                let delay = words.delay.or_else(|| delay(level)).unwrap_or(cycle);
                let fits = fits(cycles(delay, cycle), pace, cycle);
                fits.err().map(|message| (message, String::new()))
            }
        };
        if let Some((message, allowed)) = wrong {
            let found = check.at("topology.cables", format!("line {line}: {message}"));
            if !allowed.is_empty() {
                found.allowed(allowed);
            }
            return;
        }
    }
}

/// Whether any cable may have a lower rate.
pub(crate) fn fit(machine: &Machine, pace: Pace) -> Result<(), String> {
    let Some(cycle) = machine.cycle() else {
        return Ok(());
    };
    let text = machine.topology.cables.iter();
    let own = text.flat_map(|text| cables(&text.value));
    let own = own.filter_map(|(.., words)| words.delay);
    let delays = machine.link.hop_delay.value.values().iter().copied();
    let longest = delays.chain(own).map(|delay| cycles(delay, cycle)).max();
    fits(longest.unwrap_or(1), pace, cycle)
}

/// Whether a delay fits with a flit's time at the pace.
fn fits(delay: u64, pace: Pace, cycle: Time) -> Result<(), String> {
    let more = pace.serialisation();
    let most = MAX_HOP_DELAY - more;
    if delay <= most.into() {
        return Ok(());
    }
    Err(format!(
        "a delay of {} is too long: the most is {}, as a flit takes {} cycles at the rate of the \
        link",
        cycle * delay,
        cycle * u64::from(most),
        more + 1
    ))
}
