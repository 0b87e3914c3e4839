//! One packet on paper: to every distance on several trees, in every mode, and when its channels
//! are free.

use crate::common;

use common::paper::{Passage, run, way};
use common::{CIRCUITS, machine, packet, records};
use fabric::{Ascent, Circuit, Config, Cycle, Engine, FatTree, PacketSpec};

/// Trees with several arities and depths, full, reduced and widened, one as deep as trees may be,
/// with hop delays that differ by level; one channel, and no choice among ways; with both movers.
fn machines() -> Vec<Config> {
    let trees: [(&[u32], &[u32], &[u32]); 7] = [
        (&[4, 4, 4], &[4, 4], &[11, 11, 11]),
        (&[2, 2, 2, 2], &[2, 2, 2], &[3, 1, 7, 2]),
        (&[3, 2, 3], &[1, 2], &[5, 12, 1]),
        (&[2, 3], &[4], &[2, 9]),
        (&[1, 4, 2], &[3, 1], &[1, 1, 1]),
        (&[6], &[], &[127]),
        (&[2; 8], &[1; 7], &[2, 1, 3, 1, 5, 4, 1, 2]),
    ];
    let machine = |engine, (down, up, delays): (&[u32], &[u32], &[u32])| {
        let tree = FatTree::new(down, up, down.iter().product()).expect("within bounds");
        Config {
            hop_delay: delays.to_vec(),
            channels: 1,
            ascent: Ascent::Deterministic,
            engine,
            ..machine(tree, 1)
        }
    };
    let of = |engine| trees.map(|tree| machine(engine, tree));
    [of(Engine::Worm), of(Engine::Flit)].concat()
}

/// All nodes in a machine; in a large machine, the first node at each distance from node 0.
fn destinations(config: &Config) -> Vec<u32> {
    let nodes = config.topology.nodes();
    let first = |&node: &u32| nodes <= 64 || node < 2 || node.is_power_of_two();
    (0..nodes).filter(first).collect()
}

/// To every distance, in every mode, through buffers that fill and buffers that do not: every
/// header, head and tail, the delivery and the acknowledgement are in the cycles calculated on
/// paper.
#[test]
fn a_packet_alone() {
    for machine in machines() {
        for destination in destinations(&machine) {
            for (flits, buffer) in [(1, 1000), (2, 1), (9, 1), (40, 3), (40, 12), (189, 1000)] {
                for (at, turnaround, circuit) in [
                    (0, 0, Circuit::UntilAcknowledged),
                    (7, 40, Circuit::UntilDelivered),
                    (5000, 2000, Circuit::Wormhole),
                ] {
                    let config = Config {
                        buffer,
                        circuit,
                        ..machine.clone()
                    };
                    let spec = packet(0, destination, flits);
                    let passage = Passage::alone(&config, at, &spec);
                    let (bench, found) = run(&config, turnaround, &[(at, spec)]);
                    let mut expected = passage.moments();
                    expected.sort_unstable();
                    assert_eq!(found, expected);
                    let record = passage.record(at, at, 0, turnaround);
                    assert_eq!(bench.record(0), record);
                    // The ascent may take any way.
                    let adaptive = Config {
                        ascent: Ascent::Adaptive,
                        ..config
                    };
                    assert_eq!(records(&adaptive, turnaround, &[(at, spec)]), [record]);
                }
            }
        }
    }
}

/// A second packet comes to a link a cycle after the first, and waits for its only channel: it
/// crosses the link in the cycle in which the channel is free, or, if the tokens have to pass, in
/// the next. This holds for every link on every way, in every mode.
#[test]
fn every_channel_is_free_in_its_cycle() {
    let (start, turnaround) = (1000, 5);
    let mut met = 0;
    for machine in machines() {
        for (destination, flits, circuit, tokens) in cases(&destinations(&machine)) {
            let config = Config {
                circuit,
                tokens,
                ..machine.clone()
            };
            let spec = packet(0, destination, flits);
            let first = Passage::alone(&config, start, &spec);
            for (place, &link) in first.links.iter().enumerate() {
                let Some((source, before)) = stranger(&config, &first, place, destination) else {
                    continue;
                };
                met += 1;
                let at = first.head(place) + 1 - before;
                let stranger = PacketSpec {
                    token: 1,
                    ..packet(source, destination, 3)
                };
                let free = |link| {
                    first
                        .place(link)
                        .map(|place| first.free(circuit, place, turnaround))
                };
                let links = way(&config, &stranger);
                let second = Passage::held_up(&config, at, &stranger, |place, flit, earliest| {
                    match free(links[place]) {
                        Some(free) if flit == 0 => earliest.max(free + u64::from(tokens)),
                        _ => earliest,
                    }
                });
                let (bench, found) = run(&config, turnaround, &[(start, spec), (at, stranger)]);
                let mut expected = [first.moments(), second.moments()].concat();
                expected.sort_unstable();
                assert_eq!(found, expected);
                let (injected, sequence) = match place {
                    0 => (first.free(circuit, 0, turnaround), 1),
                    _ => (at, 0),
                };
                let record = second.record(at, injected, sequence, turnaround);
                assert_eq!(bench.record(1), record);
                let crossed = second.place(link).expect("they meet there");
                let waited = second.head(crossed) - (at + before);
                let counters = bench.fabric.counters(link);
                assert_eq!(counters.waiting, waited);
                // Before its injection a packet has no delay.
                let delay = if place == 0 {
                    second.head(0) - injected
                } else {
                    waited
                };
                assert_eq!(counters.delay, delay);
            }
        }
    }
    assert!(met > 2000, "only {met} links were looked at");
}

/// Destinations, lengths and mechanisms. On a node's way to itself one link's tokens meet the
/// other's.
fn cases(destinations: &[u32]) -> Vec<(u32, u32, Circuit, bool)> {
    let mut cases = Vec::new();
    for &destination in destinations {
        for circuit in CIRCUITS {
            for flits in [1, 20] {
                cases.push((destination, flits, circuit, false));
                if destination > 0 {
                    cases.push((destination, flits, circuit, true));
                }
            }
        }
    }
    cases
}

/// A node with a way to the destination that meets another way first at its link `place`, and the
/// cycles to there.
fn stranger(
    config: &Config,
    other: &Passage,
    place: usize,
    destination: u32,
) -> Option<(u32, Cycle)> {
    (0..config.topology.nodes()).find_map(|source| {
        let passage = Passage::alone(config, 0, &packet(source, destination, 1));
        let meets = passage
            .links
            .iter()
            .position(|link| other.links.contains(link))?;
        (passage.links[meets] == other.links[place]).then(|| (source, passage.head(meets)))
    })
}
