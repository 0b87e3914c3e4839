//! What a machine file may say: bounds of single values and agreement between them.

use crate::file::Machine;
use crate::param::PerLevel;
use config::{Document, Problem};
use fabric::config::MAX_HOP_DELAY;
use fabric::topology::{MAX_ARITY, MAX_LEVELS, MAX_NODES};
use fabric::{FatTree, TopologyError};
use units::{Bytes, Rate, Time};

/// Longest plausible time of one step in an adapter, switch or bus; it keeps sums far from overflow.
const LONGEST: Time = Time::from_secs(10);

/// Slowest link or bus, for the same reason.
const SLOWEST: Rate = Rate::from_mb_per_second(1);

/// Largest flit, for the same reason.
const LARGEST_FLIT: Bytes = Bytes::from_kb(4);

/// Everything that is out of bounds.
pub(crate) fn problems(machine: &Machine, document: &Document) -> Vec<Problem> {
    let mut problems = Vec::new();
    let at = |key: &str, message: String| {
        let path = if key.contains(".value") {
            key.to_string()
        } else {
            format!("{key}.value")
        };
        document.problem(&path, message)
    };
    tree(machine, &at, &mut problems);
    link(machine, &at, &mut problems);
    packet(machine, &at, &mut problems);

    let counts = [
        ("link.channels", machine.link.channels.value, 1, 8),
        (
            "link.buffer",
            machine.link.buffer.value.as_u32(),
            1,
            1 << 20,
        ),
        (
            "adapter.packets_in_flight",
            machine.adapter.packets_in_flight.value,
            1,
            64,
        ),
        ("adapter.queue", machine.adapter.queue.value, 1, 1 << 20),
        (
            "adapter.input_buffers",
            machine.adapter.input_buffers.value,
            1,
            1 << 16,
        ),
        ("adapter.retries", machine.adapter.retries.value, 0, 1 << 16),
        (
            "adapter.share_period",
            machine.adapter.share_period.value.as_u32(),
            1,
            1 << 20,
        ),
    ];
    for (key, value, least, most) in counts {
        if !(least..=most).contains(&value) {
            let unit = if ["link.buffer", "adapter.share_period"].contains(&key) {
                " flits"
            } else {
                ""
            };
            problems.push(
                at(key, format!("{value}{unit} is out of range"))
                    .allowed(format!("{least} to {most}{unit}")),
            );
        }
    }
    let (period, burst) = (
        machine.adapter.share_period.value,
        machine.adapter.share_burst.value,
    );
    if u64::from(burst.as_u32()) * 2 > u64::from(period.as_u32()) {
        problems.push(
            at(
                "adapter.share_burst",
                format!("{burst} is more than half of share_period, {period}"),
            )
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
            problems.push(
                at(key, format!("{value} is out of range")).allowed(format!("at most {LONGEST}")),
            );
        }
    }
    for (key, value) in [
        ("bus.burst", bus.burst.value),
        ("adapter.time_slice", adapter.time_slice.value),
    ] {
        if value.is_zero() {
            problems.push(at(key, "0 B would never move anything".into()).allowed("at least 1 B"));
        }
    }
    if bus.rate.value < SLOWEST {
        problems.push(
            at("bus.rate", format!("{} is out of range", bus.rate.value))
                .allowed(format!("at least {SLOWEST}")),
        );
    }
    problems
}

type At<'a> = &'a dyn Fn(&str, String) -> Problem;

fn tree(machine: &Machine, at: At<'_>, problems: &mut Vec<Problem>) {
    let topology = &machine.topology;
    let (down, up) = (&topology.down.value, &topology.up.value);
    let Err(error) = FatTree::new(down, up, topology.nodes.value) else {
        return;
    };
    let message = error.to_string();
    let arity = format!("1 to {MAX_ARITY}");
    problems.push(match error {
        TopologyError::Levels(_) => at("topology.down", message).allowed(format!(
            "a list of 1 to {MAX_LEVELS} numbers, one for each level from the nodes upwards"
        )),
        TopologyError::TooManyPositions(_) => at("topology.down", message)
            .allowed(format!("numbers whose product is at most {MAX_NODES}")),
        TopologyError::UpLevels { levels, .. } => at("topology.up", message).allowed(format!(
            "a list of {}: one number less than `down` has",
            levels - 1
        )),
        TopologyError::Arity {
            level, direction, ..
        } => at(
            &format!("topology.{direction}.value.{}", level - 1),
            message,
        )
        .allowed(arity),
        TopologyError::TooManyParts { .. } => {
            at("topology.up", message).hint("give the switches fewer up-links")
        }
        TopologyError::Nodes { nodes, positions } => {
            let problem = at("topology.nodes", message).allowed(format!("1 to {positions}"));
            if nodes == 0 {
                problem
            } else {
                problem.hint("add a level to `down` and `up`, or attach fewer nodes")
            }
        }
    });
}

fn link(machine: &Machine, at: At<'_>, problems: &mut Vec<Problem>) {
    let link = &machine.link;
    let (flit, rate) = (link.flit.value, link.rate.value);
    if flit.is_zero() || flit > LARGEST_FLIT {
        problems.push(
            at("link.flit", format!("{flit} is out of range"))
                .allowed(format!("1 B to {LARGEST_FLIT}")),
        );
        return;
    }
    if rate < SLOWEST {
        problems.push(
            at("link.rate", format!("{rate} is out of range"))
                .allowed(format!("at least {SLOWEST}")),
        );
        return;
    }
    let Some(cycle) = machine.cycle() else {
        let message =
            format!("a flit of {flit} at {rate} does not take a whole number of picoseconds");
        let hint =
            "the time of a flit is the cycle of the fabric: 2 B at 400 MB/s make one of 5 ns";
        problems.push(at("link.rate", message).hint(hint));
        return;
    };
    let levels = machine.topology.down.value.len();
    match &link.hop_delay.value {
        PerLevel::All(delay) => problems.extend(hop_delay("link.hop_delay", *delay, cycle, at)),
        PerLevel::Each(delays) => {
            if delays.len() != levels {
                let message = format!("{} values for {levels} levels of links", delays.len());
                problems.push(
                    at("link.hop_delay", message)
                        .allowed(format!("one time, or a list of {levels} times")),
                );
            }
            for (level, &delay) in delays.iter().enumerate() {
                problems.extend(hop_delay(
                    &format!("link.hop_delay.value.{level}"),
                    delay,
                    cycle,
                    at,
                ));
            }
        }
    }
    if machine.switch.age_step.value < cycle {
        let message = format!(
            "{} is less than a cycle, {cycle}",
            machine.switch.age_step.value
        );
        problems.push(at("switch.age_step", message).allowed(format!("at least {cycle}")));
    }
}

fn hop_delay(key: &str, delay: Time, cycle: Time, at: At<'_>) -> Option<Problem> {
    let longest = cycle * u64::from(MAX_HOP_DELAY);
    let allowed = format!("{cycle} to {longest}, in steps of the cycle, {cycle}");
    if delay.is_zero() || delay > longest {
        return Some(at(key, format!("{delay} is out of range")).allowed(allowed));
    }
    if delay.is_multiple_of(cycle) {
        return None;
    }
    let above = cycle * delay.div_ceil(cycle);
    let near = if delay < cycle {
        format!("the nearest is {above}")
    } else {
        format!("the nearest are {} and {above}", above - cycle)
    };
    let message = format!("{delay} is not a whole number of cycles of {cycle}");
    Some(at(key, message).allowed(allowed).hint(near))
}

fn packet(machine: &Machine, at: At<'_>, problems: &mut Vec<Problem>) {
    let packet = &machine.packet;
    let sizes = [
        ("packet.payload", packet.payload.value, 1, 64),
        ("packet.transaction", packet.transaction.value, 1, 64),
        ("packet.header", packet.header.value, 0, 4),
        (
            "packet.transaction_overhead",
            packet.transaction_overhead.value,
            0,
            4,
        ),
    ];
    for (key, value, least, most) in sizes {
        let (least, most) = (Bytes::new(least), Bytes::from_kb(most));
        if !(least..=most).contains(&value) {
            problems.push(
                at(key, format!("{value} is out of range")).allowed(format!("{least} to {most}")),
            );
        }
    }
    if packet.header.value.is_zero() && packet.transaction_overhead.value.is_zero() {
        let message = "a packet without payload would have no bytes at all";
        problems.push(
            at("packet.header", message.into())
                .allowed("at least 1 B, here or in transaction_overhead"),
        );
    }
}
