//! What a machine file may say: bounds of single values and agreement between them.

use crate::file::Machine;
use config::{Document, Problem};
use fabric::config::MAX_HOP_DELAY;
use fabric::topology::MAX_ARITY;
use fabric::{FatTree, TopologyError};
use units::{Bytes, Time};

/// Longest plausible time of one step in an adapter, switch or bus; it keeps sums far from overflow.
const LONGEST: Time = Time::from_secs(10);

/// Everything that is out of bounds.
pub(crate) fn problems(machine: &Machine, document: &Document) -> Vec<Problem> {
    let mut problems = Vec::new();
    let at = |key: &str, message: String| document.problem(&format!("{key}.value"), message);
    tree(machine, &at, &mut problems);
    link(machine, &at, &mut problems);
    packet(machine, &at, &mut problems);

    let counts = [
        ("link.channels", machine.link.channels.value, 1, 8),
        ("link.buffer", machine.link.buffer.value.as_u32(), 1, 1 << 20),
        ("adapter.packets_in_flight", machine.adapter.packets_in_flight.value, 1, 64),
        ("adapter.queue", machine.adapter.queue.value, 1, 1 << 20),
        ("adapter.input_buffers", machine.adapter.input_buffers.value, 1, 1 << 16),
        ("adapter.retries", machine.adapter.retries.value, 0, 1 << 16),
        ("adapter.share_period", machine.adapter.share_period.value.as_u32(), 1, 1 << 20),
    ];
    for (key, value, least, most) in counts {
        if !(least..=most).contains(&value) {
            problems.push(at(key, format!("{value} is out of range")).allowed(format!("{least} to {most}")));
        }
    }
    let (period, burst) = (machine.adapter.share_period.value, machine.adapter.share_burst.value);
    if u64::from(burst.as_u32()) * 2 > u64::from(period.as_u32()) {
        problems.push(
            at("adapter.share_burst", format!("{burst} is more than half of share_period, {period}"))
                .allowed(format!("at most {} flits", period.as_u32() / 2)),
        );
    }
    let (switch, adapter, bus) = (&machine.switch, &machine.adapter, &machine.bus);
    let times = [
        ("switch.age_cap", switch.age_cap.value),
        ("switch.age_step", switch.age_step.value),
        ("adapter.turnaround", adapter.turnaround.value),
        ("adapter.command", adapter.command.value),
        ("adapter.dma_start", adapter.dma_start.value),
        ("adapter.input", adapter.input.value),
        ("adapter.event", adapter.event.value),
        ("adapter.poll", adapter.poll.value),
        ("adapter.retry_delay", adapter.retry_delay.value),
        ("adapter.trap_delay", adapter.trap_delay.value),
        ("bus.burst_overhead", bus.burst_overhead.value),
        ("bus.turnaround", bus.turnaround.value),
    ];
    for (key, value) in times {
        if value > LONGEST {
            problems.push(at(key, format!("{value} is out of range")).allowed(format!("at most {LONGEST}")));
        }
    }
    for (key, value) in [("bus.burst", bus.burst.value), ("adapter.time_slice", adapter.time_slice.value)] {
        if value.is_zero() {
            problems.push(at(key, "0 B would never move anything".into()).allowed("at least 1 B"));
        }
    }
    if bus.rate.value.checked_time(Bytes::from_mb(1)).is_none_or(|time| time > LONGEST) {
        problems.push(at("bus.rate", format!("{} is too slow", bus.rate.value)).allowed("at least 1 MB/s or so"));
    }
    problems
}

type At<'a> = &'a dyn Fn(&str, String) -> Problem;

fn tree(machine: &Machine, at: At<'_>, problems: &mut Vec<Problem>) {
    let topology = &machine.topology;
    let (down, up) = (&topology.down.value, &topology.up.value);
    let Err(error) = FatTree::new(down, up, topology.nodes.value) else { return };
    let (key, allowed) = match &error {
        TopologyError::Levels(_) | TopologyError::TooManyPositions(_) => ("topology.down", String::new()),
        TopologyError::UpLevels { levels, .. } => ("topology.up", format!("{} entries", levels - 1)),
        TopologyError::Arity { direction: "up", .. } => ("topology.up", format!("1 to {MAX_ARITY}")),
        TopologyError::Arity { .. } => ("topology.down", format!("1 to {MAX_ARITY}")),
        TopologyError::TooManyParts { .. } => ("topology.up", String::new()),
        TopologyError::Nodes { positions, .. } => ("topology.nodes", format!("1 to {positions}")),
    };
    let mut problem = at(key, error.to_string());
    if !allowed.is_empty() {
        problem = problem.allowed(allowed);
    }
    if matches!(error, TopologyError::Nodes { .. }) {
        problem = problem.hint("the tree holds the product of `down` nodes: add a level, or attach fewer nodes");
    }
    problems.push(problem);
}

fn link(machine: &Machine, at: At<'_>, problems: &mut Vec<Problem>) {
    let link = &machine.link;
    let cycle = machine.cycle();
    let Some(cycle) = cycle else {
        let message = format!("a flit of {} at {} does not take a whole number of picoseconds", link.flit.value, link.rate.value);
        problems.push(at("link.rate", message).hint("choose rate and flit so that flit / rate is one, such as 2 B at 400 MB/s: 5 ns"));
        return;
    };
    let levels = machine.topology.down.value.len();
    if let crate::PerLevel::Each(times) = &link.hop_delay.value
        && times.len() != levels
    {
        let message = format!("{} hop delays for {levels} levels of links", times.len());
        problems.push(at("link.hop_delay", message).allowed(format!("one time, or {levels}")));
    }
    for delay in (0..levels).filter_map(|level| link.hop_delay.value.level(level)) {
        let longest = cycle * u64::from(MAX_HOP_DELAY);
        if !delay.is_multiple_of(cycle) || delay.is_zero() || delay > longest {
            let message = format!("{delay} is not a whole number of cycles of {cycle}, at least one and at most {MAX_HOP_DELAY}");
            let near = (cycle * (delay / cycle).max(1)).min(longest);
            problems.push(at("link.hop_delay", message).allowed(format!("multiples of {cycle} up to {longest}")).hint(format!("the nearest below is {near}")));
            break;
        }
    }
    if machine.switch.age_step.value < cycle {
        let message = format!("{} is less than a cycle, {cycle}", machine.switch.age_step.value);
        problems.push(at("switch.age_step", message).allowed(format!("at least {cycle}")));
    }
}

fn packet(machine: &Machine, at: At<'_>, problems: &mut Vec<Problem>) {
    let packet = &machine.packet;
    for (key, value) in [("packet.payload", packet.payload.value), ("packet.transaction", packet.transaction.value)] {
        if value.is_zero() || value > Bytes::from_mb(1) {
            problems.push(at(key, format!("{value} is out of range")).allowed("1 B to 1 MB"));
        }
    }
    for (key, value) in [("packet.header", packet.header.value), ("packet.transaction_overhead", packet.transaction_overhead.value)] {
        if value > Bytes::from_kb(64) {
            problems.push(at(key, format!("{value} is out of range")).allowed("at most 64 KB"));
        }
    }
    if packet.header.value.is_zero() && packet.transaction_overhead.value.is_zero() {
        problems.push(at("packet.header", "a packet without payload would have no bytes at all".into()).allowed("at least 1 B here or in transaction_overhead"));
    }
}
