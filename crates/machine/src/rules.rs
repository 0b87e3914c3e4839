//! Rules for machine files: bounds for single values, and agreement between values.

mod fault;
mod noise;
mod topology;

use crate::check::Check;
use crate::file::{Files, Machine, SLOWEST};
use crate::links;
use crate::param::PerLevel;
use crate::rails::RailsSection;
use crate::section::{Bounds, LONGEST};
use config::{Document, Problem};
use fabric::Circuit;
use fabric::config::{MAX_CREDIT_DELAY, MAX_HOP_DELAY};
use rails::allocation;
use units::{Bytes, Flits, Time};

/// A packet's most bytes, including those around its payload; this bound keeps sums far from
/// overflow.
const LONGEST_PACKET: Bytes = Bytes::from_mb(2048);

/// Reports all values that are out of bounds.
pub(crate) fn problems(machine: &Machine, document: &Document) -> Vec<Problem> {
    let mut check = Check::new(document);
    topology::check(machine, &mut check);
    machine.check_bounds(&mut check);
    check_link(machine, &mut check);
    check_share(machine, &mut check);
    check_packet(machine, &mut check);
    check_circuit(machine, &mut check);
    check_engine(machine, &mut check);
    if let Some(files) = &machine.files {
        check_files(files, machine, &mut check);
    }
    if let Some(rails) = &machine.rails {
        check_rails(rails, machine, &mut check);
    }
    noise::check(machine, &mut check);
    fault::check(machine, &mut check);
    topology::check_cycles(machine, &mut check);
    check.finish()
}

/// Reports mechanisms that the chosen engine does not serve.
fn check_engine(machine: &Machine, check: &mut Check<'_>) {
    if !machine
        .fabric
        .engine
        .serves(machine.switch.multiplexing.value)
    {
        let message = "the worm engine serves the channels of a link oldest first only";
        let found = check.problem("fabric.engine", message).allowed("flit");
        found.hint("set fabric.engine to \"flit\", or switch.multiplexing to \"oldest-first\"");
    }
}

fn check_rails(rails: &RailsSection, machine: &Machine, check: &mut Check<'_>) {
    // A process that never rests would keep time from passing.
    if let Some(cycle) = machine.cycle() {
        check.range("rails.poll", rails.poll.value, cycle..=LONGEST);
    }
    let (nodes, count) = (machine.topology.nodes.value, rails.count.value);
    if rails.policy.value.kind.allocates()
        && machine.topology().is_ok()
        && let Err(error) = allocation::check(nodes, count)
    {
        let found = check.at("rails.count", error.to_string());
        found.hint("take more rails, fewer nodes, or another rails.policy");
    }
}

/// Reports I/O nodes that the machine lacks or that have no rate, and stripes without I/O nodes.
fn check_files(files: &Files, machine: &Machine, check: &mut Check<'_>) {
    let nodes = machine.topology.nodes.value;
    match &files.servers {
        Some(servers) if !(1..=nodes).contains(&servers.value) => {
            let message = format!("{} I/O nodes of a machine of {nodes}", servers.value);
            check
                .at("files.servers", message)
                .allowed(format!("1 to {nodes}"));
        }
        Some(_) if files.total.is_none() => {
            let found = check.at("files.servers", "the rate of the I/O nodes is not given");
            found.hint("give files.total, the rate of all of them together");
        }
        None if files.stripe.is_some() => {
            let found = check.at("files.stripe", "there are no I/O nodes to stripe over");
            found.hint("give files.servers, the number of I/O nodes, or leave out files.stripe");
        }
        _ => {}
    }
}

fn check_link(machine: &Machine, check: &mut Check<'_>) {
    let link = &machine.link;
    for (level, &rate) in link.rate.value.values().iter().enumerate() {
        let key = match &link.rate.value {
            PerLevel::All(_) => "link.rate".to_string(),
            PerLevel::Each(_) => format!("link.rate.value.{level}"),
        };
        (SLOWEST..).check(&key, rate, check);
    }
    let (flit, rate) = (link.flit.value, link.rate.value.fastest());
    if check.told("link.flit") || check.told("link.rate") {
        return;
    }
    let Some(cycle) = machine.cycle() else {
        let message =
            format!("a flit of {flit} at {rate} does not take a whole number of picoseconds");
        let hint =
            "the time of a flit is the cycle of the fabric: 2 B at 400 MB/s make one of 5 ns";
        check.at("link.rate", message).hint(hint);
        return;
    };
    let levels = machine.topology.levels();
    check_delays(
        "link.hop_delay",
        &link.hop_delay.value,
        cycle,
        levels,
        check,
    );
    if let Some(credits) = &link.credit_delay {
        check_delays("link.credit_delay", &credits.value, cycle, levels, check);
    }
    if !["link.hop_delay", "link.credit_delay", "topology"]
        .iter()
        .any(|key| check.told(key))
    {
        links::check(machine, cycle, check);
    }
}

/// Reports link delays that the fabric cannot represent: a single one, or one per level, if the
/// level count is known.
fn check_delays(
    key: &str,
    delays: &PerLevel,
    cycle: Time,
    levels: Option<usize>,
    check: &mut Check<'_>,
) {
    match delays {
        PerLevel::All(delay) => check_delay(key, *delay, cycle, check),
        PerLevel::Each(delays) => {
            if let Some(levels) = levels
                && delays.len() != levels
            {
                let message = format!("{} values for {levels} levels of links", delays.len());
                let found = check.at(key, message);
                found.allowed(format!("one time, or a list of {levels} times"));
            }
            for (level, &delay) in delays.iter().enumerate() {
                check_delay(&format!("{key}.value.{level}"), delay, cycle, check);
            }
        }
    }
}

const _: () = assert!(
    MAX_CREDIT_DELAY == MAX_HOP_DELAY,
    "one bound for both delays"
);

fn check_delay(key: &str, delay: Time, cycle: Time, check: &mut Check<'_>) {
    let longest = cycle * u64::from(MAX_HOP_DELAY);
    let found = if delay.is_zero() || delay > longest {
        check.at(key, format!("{delay} is out of range"))
    } else if delay.is_multiple_of(cycle) {
        return;
    } else {
        let above = cycle * delay.div_ceil(cycle);
        let near = if delay < cycle {
            format!("the nearest is {above}")
        } else {
            format!("the nearest are {} and {above}", above - cycle)
        };
        check
            .at(
                key,
                format!("{delay} is not a whole number of cycles of {cycle}"),
            )
            .hint(near)
    };
    found.allowed(format!(
        "{cycle} to {longest}, in steps of the cycle, {cycle}"
    ));
}

/// Reports packets that would have no bytes if they had no payload, and packets with too many bytes
/// around their payload.
fn check_packet(machine: &Machine, check: &mut Check<'_>) {
    let packet = &machine.packet;
    if packet.header.value.is_zero() && packet.transaction_overhead.value.is_zero() {
        let found = check.at(
            "packet.header",
            "a packet without payload would have no bytes at all",
        );
        found.allowed("at least 1 B, here or in transaction_overhead");
    }
    if check.told("packet") {
        return;
    }
    let longest = packet
        .config(Bytes::new(1))
        .queue_wire(packet.payload.value);
    if longest > LONGEST_PACKET {
        let message = format!("a packet has up to {longest} with the bytes of its transactions");
        let found = check.at("packet.transaction", message);
        let found = found.allowed(format!("at most {LONGEST_PACKET}"));
        found.hint("lengthen packet.transaction, or shorten packet.payload");
    }
}

/// Reports buffers that cannot hold a packet where packets cut through.
fn check_circuit(machine: &Machine, check: &mut Check<'_>) {
    let told = ["packet", "link.flit", "link.buffer"];
    if machine.switch.circuit.value != Circuit::CutThrough || told.iter().any(|key| check.told(key))
    {
        return;
    }
    let buffer = machine.link.buffer.value;
    let longest = Flits::new(machine.packet.config(machine.link.flit.value).longest());
    if buffer < longest {
        let message = format!(
            "packets cut through, but the buffer of {buffer} is shorter than the longest packet, \
            {longest}"
        );
        let found = check.at("link.buffer", message);
        let found = found.allowed(format!("at least {longest}"));
        found.hint(
            "enlarge link.buffer, shorten packet.payload, or set switch.circuit to \"wormhole\"",
        );
    }
}

/// Reports an adapter that pauses for more than half of the time to share its memory port.
fn check_share(machine: &Machine, check: &mut Check<'_>) {
    let adapter = &machine.adapter;
    let (period, burst) = (adapter.share_period.value, adapter.share_burst.value);
    let most = Flits::new(period.as_u32() / 2);
    if !period.is_zero() && burst > most {
        let message = format!("{burst} is more than half of share_period, {period}");
        check
            .at("adapter.share_burst", message)
            .allowed(format!("at most {most}"));
    }
}
