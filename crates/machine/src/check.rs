//! What a machine file may say: bounds of single values and agreement between them.

mod noise;

use crate::file::{LONGEST, Machine};
use crate::param::PerLevel;
use crate::rails::Rails;
use config::{Document, Problem};
use elan::rails::{Kind, allocation};
use fabric::config::MAX_HOP_DELAY;
use std::fmt::Display;
use units::{Flits, Time};

/// Collects what is wrong.
pub(crate) struct Check<'a> {
    pub document: &'a Document,
    pub problems: Vec<Problem>,
}

/// Everything that is out of bounds.
pub(crate) fn problems(machine: &Machine, document: &Document) -> Vec<Problem> {
    let mut check = Check {
        document,
        problems: Vec::new(),
    };
    check.topology(machine);
    machine.link.check(&mut check);
    machine.switch.check(&mut check);
    machine.packet.check(&mut check);
    machine.adapter.check(&mut check);
    machine.bus.check(&mut check);
    machine.host.check(&mut check);
    machine.tport.check(&mut check);
    machine.group.check(&mut check);
    if let Some(elan4) = &machine.elan4 {
        elan4.check(&mut check);
    }
    check.link(machine);
    check.share(machine);
    check.packet(machine);
    check.engine(machine);
    if let Some(rails) = &machine.rails {
        rails.check(&mut check);
        check.rails(rails, machine);
    }
    check.noise(machine);
    check.cycles(machine);
    check.problems
}

impl Check<'_> {
    /// Not every engine serves every mechanism.
    fn engine(&mut self, machine: &Machine) {
        if !machine
            .fabric
            .engine
            .serves(machine.switch.multiplexing.value)
        {
            let message = "the worm engine serves the channels of a link oldest first only";
            let problem = self.document.problem("fabric.engine", message);
            self.problems.push(
                problem.allowed("flit").hint(
                    "set fabric.engine to \"flit\", or switch.multiplexing to \"oldest-first\"",
                ),
            );
        }
    }

    /// Whether there is a problem with a parameter already.
    fn told(&self, key: &str) -> bool {
        let mut problems = self.problems.iter();
        problems.any(|problem| problem.key.starts_with(key))
    }

    /// A problem with the value of a parameter, or with an element of it: `link.hop_delay.value.2`.
    pub fn at(&self, key: &str, message: impl Into<String>) -> Problem {
        let element = key.contains(".value.");
        let path = if element {
            key.to_string()
        } else {
            format!("{key}.value")
        };
        self.document.problem(&path, message)
    }

    /// Whether a value is in a range.
    pub fn range<T: PartialOrd + Display + Copy>(
        &mut self,
        key: &str,
        value: T,
        least: T,
        most: T,
    ) -> bool {
        let inside = least <= value && value <= most;
        if !inside {
            let problem = self.at(key, format!("{value} is out of range"));
            self.problems
                .push(problem.allowed(format!("{least} to {most}")));
        }
        inside
    }

    fn rails(&mut self, rails: &Rails, machine: &Machine) {
        // A process that never rests would keep time from passing.
        if let Some(cycle) = machine.cycle() {
            self.range("rails.poll", rails.poll.value, cycle, LONGEST);
        }
        let (nodes, count) = (machine.topology.nodes.value, rails.count.value);
        if rails.policy.value == Kind::Static
            && machine.topology().is_ok()
            && let Err(error) = allocation::check(nodes, count)
        {
            let problem = self.at("rails.count", error.to_string());
            let hint = "take more rails, fewer nodes, or another rails.policy";
            self.problems.push(problem.hint(hint));
        }
    }

    fn link(&mut self, machine: &Machine) {
        let link = &machine.link;
        let (flit, rate) = (link.flit.value, link.rate.value);
        if self.told("link.flit") || self.told("link.rate") {
            return;
        }
        let Some(cycle) = machine.cycle() else {
            let message =
                format!("a flit of {flit} at {rate} does not take a whole number of picoseconds");
            let hint =
                "the time of a flit is the cycle of the fabric: 2 B at 400 MB/s make one of 5 ns";
            let problem = self.at("link.rate", message).hint(hint);
            self.problems.push(problem);
            return;
        };
        let levels = machine.topology.levels();
        match &link.hop_delay.value {
            PerLevel::All(delay) => self.hop_delay("link.hop_delay", *delay, cycle),
            PerLevel::Each(delays) => {
                if delays.len() != levels {
                    let message = format!("{} values for {levels} levels of links", delays.len());
                    let problem = self.at("link.hop_delay", message);
                    self.problems
                        .push(problem.allowed(format!("one time, or a list of {levels} times")));
                }
                for (level, &delay) in delays.iter().enumerate() {
                    self.hop_delay(&format!("link.hop_delay.value.{level}"), delay, cycle);
                }
            }
        }
        let step = machine.switch.age_step.value;
        if step < cycle {
            let problem = self.at(
                "switch.age_step",
                format!("{step} is less than a cycle, {cycle}"),
            );
            self.problems
                .push(problem.allowed(format!("at least {cycle}")));
        }
    }

    fn hop_delay(&mut self, key: &str, delay: Time, cycle: Time) {
        let longest = cycle * u64::from(MAX_HOP_DELAY);
        let allowed = format!("{cycle} to {longest}, in steps of the cycle, {cycle}");
        let problem = if delay.is_zero() || delay > longest {
            self.at(key, format!("{delay} is out of range"))
        } else if delay.is_multiple_of(cycle) {
            return;
        } else {
            let above = cycle * delay.div_ceil(cycle);
            let near = if delay < cycle {
                format!("the nearest is {above}")
            } else {
                format!("the nearest are {} and {above}", above - cycle)
            };
            self.at(
                key,
                format!("{delay} is not a whole number of cycles of {cycle}"),
            )
            .hint(near)
        };
        self.problems.push(problem.allowed(allowed));
    }

    /// A packet without payload has bytes, too.
    fn packet(&mut self, machine: &Machine) {
        let packet = &machine.packet;
        if packet.header.value.is_zero() && packet.transaction_overhead.value.is_zero() {
            let message = "a packet without payload would have no bytes at all";
            let problem = self.at("packet.header", message);
            self.problems
                .push(problem.allowed("at least 1 B, here or in transaction_overhead"));
        }
    }

    /// An adapter that shares its memory port has time left.
    fn share(&mut self, machine: &Machine) {
        let adapter = &machine.adapter;
        let (period, burst) = (adapter.share_period.value, adapter.share_burst.value);
        let most = Flits::new(period.as_u32() / 2);
        if !period.is_zero() && burst > most {
            let message = format!("{burst} is more than half of share_period, {period}");
            let problem = self.at("adapter.share_burst", message);
            self.problems
                .push(problem.allowed(format!("at most {most}")));
        }
    }
}
