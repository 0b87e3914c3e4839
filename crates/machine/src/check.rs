//! What a machine file may say: bounds of single values and agreement between them.

mod noise;

use crate::file::Machine;
use crate::param::PerLevel;
use crate::rails::{Policy, Rails};
use config::{Document, Problem};
use elan::rails::allocation;
use fabric::config::MAX_HOP_DELAY;
use std::fmt::Display;
use units::{Bytes, Flits, Rate, Time};

/// Longest plausible time of one step in an adapter, switch or bus; it keeps sums far from overflow.
const LONGEST: Time = Time::from_secs(10);

/// Slowest link or bus, for the same reason.
const SLOWEST: Rate = Rate::from_mb_per_second(1);

/// Largest sizes, for the same reason: of a flit, of what a packet carries, of what is around it, of anything.
const LARGEST_FLIT: Bytes = Bytes::from_kb(4);
const LARGEST_PACKET: Bytes = Bytes::from_kb(64);
const LARGEST_HEADER: Bytes = Bytes::from_kb(4);
const LARGEST: Bytes = Bytes::from_mb(1024);

/// Least memory of an adapter: pages of events for a few processes.
const LEAST_MEMORY: Bytes = Bytes::from_mb(1);

/// Most flits of a buffer or period.
const MOST_FLITS: Flits = Flits::new(1 << 20);

/// Collects what is wrong.
pub(crate) struct Check<'a> {
    pub(crate) document: &'a Document,
    pub(crate) problems: Vec<Problem>,
}

/// Everything that is out of bounds.
pub(crate) fn problems(machine: &Machine, document: &Document) -> Vec<Problem> {
    let mut check = Check {
        document,
        problems: Vec::new(),
    };
    check.topology(machine);
    check.link(machine);
    check.packet(machine);
    check.adapter(machine);
    check.libraries(machine);
    check.times(machine);
    check.engine(machine);
    if let Some(rails) = &machine.rails {
        check.rails(rails, machine);
    }
    check.noise(machine);
    check.cycles(machine);
    check.problems
}

impl Check<'_> {
    /// Not every engine serves every mechanism.
    fn engine(&mut self, machine: &Machine) {
        if !machine.engine().serves(machine.multiplexing()) {
            let message = "the worm engine serves the channels of a link oldest first only";
            let problem = self.document.problem("fabric.engine", message);
            self.problems.push(
                problem.allowed("flit").hint(
                    "set fabric.engine to \"flit\", or switch.multiplexing to \"oldest-first\"",
                ),
            );
        }
    }

    /// A problem with the value of a parameter, or with an element of it: `link.hop_delay.value.2`.
    pub(crate) fn at(&self, key: &str, message: impl Into<String>) -> Problem {
        let element = key.contains(".value.");
        let path = if element {
            key.to_string()
        } else {
            format!("{key}.value")
        };
        self.document.problem(&path, message)
    }

    /// Whether a value is in a range.
    fn range<T: PartialOrd + Display + Copy>(
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

    /// Whether a link or bus is fast enough.
    fn rate(&mut self, key: &str, rate: Rate) -> bool {
        let fast = rate >= SLOWEST;
        if !fast {
            let problem = self.at(key, format!("{rate} is out of range"));
            self.problems
                .push(problem.allowed(format!("at least {SLOWEST}")));
        }
        fast
    }

    fn adapter(&mut self, machine: &Machine) {
        let (adapter, bus) = (&machine.adapter, &machine.bus);
        self.range(
            "adapter.packets_in_flight",
            adapter.packets_in_flight.value,
            1,
            64,
        );
        if let Some(elan4) = &machine.elan4 {
            self.range("elan4.engines", elan4.engines.value, 1, 64);
        }
        self.range("adapter.queue", adapter.queue.value, 1, 1 << 20);
        self.range(
            "adapter.input_buffers",
            adapter.input_buffers.value,
            1,
            1 << 16,
        );
        self.range("adapter.retries", adapter.retries.value, 0, 1 << 16);
        let memory = adapter.memory.value;
        self.range("adapter.memory", memory, LEAST_MEMORY, LARGEST);
        let (switch, issue) = (adapter.thread_switch.value, adapter.thread_issue.value);
        self.range("adapter.thread_switch", switch, 0, 1 << 20);
        self.range("adapter.thread_issue", issue, 0, 1 << 20);
        let cycle = adapter.thread_cycle.value;
        self.range(
            "adapter.thread_cycle",
            cycle,
            Time::from_ps(1),
            Time::from_us(1),
        );
        self.range(
            "adapter.time_slice",
            adapter.time_slice.value,
            Bytes::new(1),
            LARGEST,
        );
        self.range("bus.burst", bus.burst.value, Bytes::new(1), LARGEST);
        self.rate("bus.rate", bus.rate.value);
        let (period, burst) = (adapter.share_period.value, adapter.share_burst.value);
        let most = period.as_u32() / 2;
        if self.range("adapter.share_period", period, Flits::new(1), MOST_FLITS)
            && burst.as_u32() > most
        {
            let message = format!("{burst} is more than half of share_period, {period}");
            let problem = self.at("adapter.share_burst", message);
            self.problems
                .push(problem.allowed(format!("at most {}", Flits::new(most))));
        }
    }

    fn rails(&mut self, rails: &Rails, machine: &Machine) {
        self.range("rails.striping", rails.striping.value, 0.0, 1.0);
        let threshold = rails.threshold.value;
        self.range("rails.threshold", threshold, Bytes::ZERO, LARGEST);
        self.range("rails.handle", rails.handle.value, 0, 1 << 20);
        // A process that never rests would keep time from passing.
        if let Some(cycle) = machine.cycle() {
            self.range("rails.poll", rails.poll.value, cycle, LONGEST);
        }
        let (nodes, count) = (machine.topology.nodes.value, rails.count.value);
        if rails.policy.value == Policy::Static
            && machine.topology().is_ok()
            && let Err(error) = allocation::check(nodes, count)
        {
            let problem = self.at("rails.count", error.to_string());
            let hint = "take more rails, fewer nodes, or another rails.policy";
            self.problems.push(problem.hint(hint));
        }
    }

    fn libraries(&mut self, machine: &Machine) {
        let (host, tport) = (&machine.host, &machine.tport);
        self.rate("host.copy", host.copy.value);
        self.range("tport.handle", tport.handle.value, 0, 1 << 20);
        self.range("tport.scan", tport.scan.value, 0, 1 << 20);
        self.range("tport.slots", tport.slots.value, 1, 1 << 16);
        self.range(
            "tport.small",
            tport.small.value,
            Bytes::ZERO,
            LARGEST_PACKET,
        );
        self.range("tport.big", tport.big.value, Bytes::ZERO, LARGEST);
        self.range("tport.buffer", tport.buffer.value, Bytes::ZERO, LARGEST);
        self.range("tport.system", tport.system.value, Bytes::ZERO, LARGEST);
        self.range("group.branching", machine.group.branching.value, 1, 64);
        self.range("group.broadcast", machine.group.broadcast.value, 0, 1 << 20);
    }

    fn times(&mut self, machine: &Machine) {
        let (switch, adapter, bus) = (&machine.switch, &machine.adapter, &machine.bus);
        let host = &machine.host;
        let times = [
            ("switch.age_cap", switch.age_cap.value),
            ("switch.age_step", switch.age_step.value),
            ("switch.combine", switch.combine.value),
            ("adapter.turnaround", adapter.turnaround.value),
            ("adapter.command", adapter.command.value),
            ("adapter.dma_start", adapter.dma_start.value),
            ("adapter.input", adapter.input.value),
            ("adapter.event", adapter.event.value),
            ("adapter.poll", adapter.poll.value),
            ("adapter.retry_delay", adapter.retry_delay.value),
            ("adapter.trap_delay", adapter.trap_delay.value),
            ("adapter.interrupt", adapter.interrupt.value),
            ("bus.burst_overhead", bus.burst_overhead.value),
            ("bus.turnaround", bus.turnaround.value),
            ("host.call", host.call.value),
            ("host.shared", host.shared.value),
        ];
        let request = host.request.iter().map(|time| ("host.request", time.value));
        let elan4 = machine.elan4.iter().flat_map(|elan4| {
            let times = [&elan4.sten_start, &elan4.split].map(|time| time.value);
            ["elan4.sten_start", "elan4.split"].into_iter().zip(times)
        });
        for (key, time) in times.into_iter().chain(request).chain(elan4) {
            self.range(key, time, Time::ZERO, LONGEST);
        }
    }

    fn link(&mut self, machine: &Machine) {
        let link = &machine.link;
        self.range("link.channels", link.channels.value, 1, 8);
        self.range("link.buffer", link.buffer.value, Flits::new(1), MOST_FLITS);
        let (flit, rate) = (link.flit.value, link.rate.value);
        if !self.range("link.flit", flit, Bytes::new(1), LARGEST_FLIT)
            || !self.rate("link.rate", rate)
        {
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

    fn packet(&mut self, machine: &Machine) {
        let packet = &machine.packet;
        let (header, overhead) = (packet.header.value, packet.transaction_overhead.value);
        self.range(
            "packet.payload",
            packet.payload.value,
            elan::config::ENVELOPE,
            LARGEST_PACKET,
        );
        self.range(
            "packet.transaction",
            packet.transaction.value,
            Bytes::new(1),
            LARGEST_PACKET,
        );
        self.range("packet.header", header, Bytes::ZERO, LARGEST_HEADER);
        self.range(
            "packet.transaction_overhead",
            overhead,
            Bytes::ZERO,
            LARGEST_HEADER,
        );
        if header.is_zero() && overhead.is_zero() {
            let problem = self.at(
                "packet.header",
                "a packet without payload would have no bytes at all",
            );
            self.problems
                .push(problem.allowed("at least 1 B, here or in transaction_overhead"));
        }
    }
}
