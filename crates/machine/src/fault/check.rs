//! Machine-independent checks of a fault: keys that exclude or need each other, and their bounds.

use super::{FaultProblem, FaultSection};
use fabric::config::MAX_BIT_ERROR_RATE;
use std::ops::RangeInclusive;
use units::Time;

/// A fault's latest moment, and the longest repair time: far beyond any simulated time.
const LATEST: Time = Time::from_secs(1000);

/// Bounds of mean times: with shorter ones, a run would process only faults.
const MEANS: RangeInclusive<Time> = Time::from_us(1)..=Time::from_secs(24 * 3600);

impl FaultSection {
    /// Finds the mistakes that do not depend on the machine.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), FaultProblem> {
        self.check_part()?;
        self.check_rate()?;
        self.check_time()
    }

    /// The parts that the fault names, by their keys.
    fn parts(&self) -> Vec<&'static str> {
        let given = [
            ("link", self.link.is_some()),
            ("links", self.links.is_some()),
            ("switch", self.switch.is_some()),
            ("adapter", self.adapter.is_some()),
            ("node", self.node.is_some()),
        ];
        let given = given.into_iter().filter(|&(_, given)| given);
        given.map(|(key, _)| key).collect()
    }

    fn check_part(&self) -> Result<(), FaultProblem> {
        match self.parts()[..] {
            [] if self.rail.is_none() => {
                return Err(
                    FaultProblem::new("", "this fault names no part of the machine")
                        .allowed("one of link, links, switch, adapter, node, rail")
                        .hint("write for example link = \"node 3\""),
                );
            }
            [first, second, ..] => {
                let message = format!("the fault has a `{first}` already, and is of one part");
                return Err(
                    FaultProblem::new(second, message).hint("give each part a fault of its own")
                );
            }
            _ => {}
        }
        if self.node.is_some() && self.rail.is_some() {
            let message = "a host is attached to all rails: `node` has no rail";
            return Err(FaultProblem::new("rail", message)
                .hint("for one adapter of the node, write adapter = ..."));
        }
        if let Some(links) = &self.links {
            level(links)?;
        }
        for (key, given) in [
            ("count", self.count.is_some()),
            ("pick", self.pick.is_some()),
        ] {
            if given && self.links.is_none() {
                let message = format!("`{key}` picks some of `links`, which is not given");
                let hint = "write for example links = \"level 1\", or leave this out";
                return Err(FaultProblem::new(key, message).hint(hint));
            }
        }
        if self.pick.is_some() && self.count.is_none() {
            let message = "`pick` needs `count`, how many links are picked";
            return Err(
                FaultProblem::new("pick", message).hint("write count = ..., or leave this out")
            );
        }
        Ok(())
    }

    fn check_rate(&self) -> Result<(), FaultProblem> {
        if self.rate.is_none() {
            return Ok(());
        }
        if self.link.is_none() && self.links.is_none() {
            let message = "only links have a rate";
            return Err(FaultProblem::new("rate", message).hint("name the part with link or links"));
        }
        let within = [
            ("at", self.at),
            ("for", self.lasts),
            ("mtbf", self.mtbf),
            ("mttr", self.mttr),
        ];
        if let Some((key, _)) = within.into_iter().find(|(_, time)| time.is_some()) {
            let message = "a link has a lower rate in the whole run: rates that change within the \
                run \
                are not modelled";
            return Err(FaultProblem::new(key, message).hint("leave this out"));
        }
        Ok(())
    }

    fn check_time(&self) -> Result<(), FaultProblem> {
        let (down, random) = (self.at.is_some(), self.mtbf.is_some());
        let ways = [
            ("bit_error_rate", self.bit_error_rate.is_some()),
            ("rate", self.rate.is_some()),
            ("at", down),
            ("mtbf", random),
        ];
        let ways: Vec<_> = ways.into_iter().filter(|&(_, given)| given).collect();
        match ways[..] {
            [] => {
                let missing = if self.mttr.is_some() { "mtbf" } else { "at" };
                let orphan = [("for", self.lasts), ("mttr", self.mttr)];
                if let Some((key, _)) = orphan.into_iter().find(|(_, time)| time.is_some()) {
                    let message = format!("`{key}` needs `{missing}`");
                    return Err(
                        FaultProblem::new(key, message).hint(format!("write {missing} = \"3 ms\""))
                    );
                }
                return Err(
                    FaultProblem::new("", "this fault does not say how the part fails")
                        .allowed("bit_error_rate, or rate, or at, or mtbf with mttr")
                        .hint("write for example at = \"3 ms\""),
                );
            }
            [(first, _), (second, _), ..] => {
                let message = format!("the fault has `{first}` already, and fails in one way");
                return Err(
                    FaultProblem::new(second, message).hint("give each way a fault of its own")
                );
            }
            _ => {}
        }
        if let Some(rate) = self.bit_error_rate {
            if self.link.is_none() && self.links.is_none() {
                let message = "only links have bit errors";
                return Err(FaultProblem::new("bit_error_rate", message)
                    .hint("name the part with link or links"));
            }
            if !(0.0..=MAX_BIT_ERROR_RATE).contains(&rate) {
                return Err(
                    FaultProblem::new("bit_error_rate", format!("{rate} is out of range"))
                        .allowed("0 to 1e-3")
                        .hint("a link on which more bits are wrong is down: write at = \"0 ns\""),
                );
            }
        }
        for (key, given, needed, there) in [
            ("for", self.lasts.is_some(), "at", down),
            ("mttr", self.mttr.is_some(), "mtbf", random),
            ("mtbf", random, "mttr", self.mttr.is_some()),
        ] {
            if given && !there {
                let message = format!("`{key}` needs `{needed}`");
                return Err(
                    FaultProblem::new(key, message).hint(format!("write {needed} = \"3 ms\""))
                );
            }
        }
        if self.node.is_some() {
            let back = [("for", self.lasts), ("mtbf", self.mtbf)];
            if let Some((key, _)) = back.into_iter().find(|(_, time)| time.is_some()) {
                let message = "a host that has stopped does not come back";
                return Err(FaultProblem::new(key, message)
                    .hint("write only at = ..., or name the adapter of the node"));
            }
        }
        range("at", self.at, Time::ZERO..=LATEST)?;
        range("for", self.lasts, Time::from_ps(1)..=LATEST)?;
        range("mtbf", self.mtbf, MEANS)?;
        range("mttr", self.mttr, MEANS)
    }
}

fn range(
    key: &'static str,
    time: Option<Time>,
    range: RangeInclusive<Time>,
) -> Result<(), FaultProblem> {
    match time {
        Some(time) if !range.contains(&time) => {
            let allowed = format!("{} to {}", range.start(), range.end());
            Err(FaultProblem::new(key, format!("{time} is out of range")).allowed(allowed))
        }
        _ => Ok(()),
    }
}

/// The level that `links` names; `None` for all levels.
pub(super) fn level(links: &str) -> Result<Option<usize>, FaultProblem> {
    if links == "all" {
        return Ok(None);
    }
    let number = links
        .strip_prefix("level ")
        .and_then(|number| number.parse().ok());
    number.map(Some).ok_or_else(|| {
        let wrong = FaultProblem::new("links", format!("unknown value `{links}`"));
        let wrong = wrong.allowed("\"all\", or a level such as \"level 1\"");
        if links.starts_with("node ") || links.starts_with("switch ") {
            wrong.hint("for one cable, write link = ...")
        } else {
            wrong
        }
    })
}
