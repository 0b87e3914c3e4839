//! Two packets on paper: with the same destination, the same source, an up-link that both need, or
//! ways that only cross; with every start offset, to the cycle. Buffers never fill, and ages count
//! every cycle.

use crate::common;

use common::paper::{Passage, run, way};
use common::{CIRCUITS, machine, packet};
use fabric::topology::End;
use fabric::{Ascent, Config, Cycle, Engine, FatTree, PacketSpec};

const TURNAROUND: Cycle = 5;

/// The cycle in which each packet is offered.
type Pair = [(Cycle, PacketSpec); 2];

/// The order among headers that come to a link in the same cycle: the older first, then the lower
/// switch port. At an adapter, which has no port, the packet that was offered first.
fn standing(config: &Config, passage: &Passage, place: usize, start: Cycle) -> (Cycle, Cycle, u32) {
    let port = match place {
        0 => 0,
        _ => match config.topology.ends(passage.links[place - 1]).1 {
            End::Switch { port, .. } => port,
            End::Node(_) => unreachable!("a way ends at a node"),
        },
    };
    (passage.head(place), start, port)
}

/// The packet that goes as if alone.
///
/// On a link with one channel, the packet with the first header. With two channels both packets get
/// one immediately, and the older packet goes first: the earlier injection, then the lower source.
fn leader(config: &Config, pair: &Pair, alone: &[Passage; 2]) -> usize {
    let [(a, first), (b, second)] = *pair;
    if config.channels > 1 {
        return usize::from((b, second.source) < (a, first.source));
    }
    let common = |passage: &Passage, other: &Passage| {
        passage
            .links
            .iter()
            .position(|link| other.links.contains(link))
    };
    match (common(&alone[0], &alone[1]), common(&alone[1], &alone[0])) {
        (Some(place), Some(other)) => usize::from(
            standing(config, &alone[1], other, b) < standing(config, &alone[0], place, a),
        ),
        _ => 0,
    }
}

/// Both passages, and when each packet is injected.
///
/// On a common link with one channel the other packet waits until the channel is free; with two
/// channels its flits take the cycles that the first packet leaves.
fn expected(config: &Config, pair: &Pair) -> [(Passage, Cycle); 2] {
    let alone = pair.map(|(start, spec)| Passage::alone(config, start, &spec));
    let leads = leader(config, pair, &alone);
    let first = &alone[leads];
    let (start, spec) = pair[1 - leads];
    let links = way(config, &spec);
    let second = Passage::held_up(config, start, &spec, |place, flit, earliest| {
        let Some(common) = first.place(links[place]) else {
            return earliest;
        };
        let taken = first.head(common)..=first.tail(common);
        match config.channels {
            1 if flit == 0 => earliest.max(first.free(config.circuit, common, TURNAROUND)),
            2 if taken.contains(&earliest) => first.tail(common) + 1,
            _ => earliest,
        }
    });
    let held = config.channels == 1 && first.links[0] == second.links[0];
    let injected = if held { second.head(0) } else { start };
    let (first, second) = ((first.clone(), pair[leads].0), (second, injected));
    if leads == 0 {
        [first, second]
    } else {
        [second, first]
    }
}

fn check(config: &Config, pair: &Pair) {
    let (bench, found) = run(config, TURNAROUND, pair);
    let expected = expected(config, pair);
    let mut on_paper = [expected[0].0.moments(), expected[1].0.moments()].concat();
    on_paper.sort_unstable();
    assert_eq!(found, on_paper, "{pair:?} {config:?}");
    let same_source = pair[0].1.source == pair[1].1.source;
    for (place, (passage, injected)) in expected.iter().enumerate() {
        let (at, other) = (pair[place].0, pair[1 - place].0);
        let later = (at, place) > (other, 1 - place);
        let sequence = u32::from(same_source && later);
        let record = passage.record(at, *injected, sequence, TURNAROUND);
        assert_eq!(bench.record(place as u64), record, "{pair:?} {config:?}");
    }
}

/// Node 1 and any other, to all destinations, with lengths 9 and 6 flits, and starts up to 40
/// cycles apart: the later packet arrives before, while and after it passes, and while its channels
/// are held.
fn check_all(down: &[u32], up: &[u32], delays: &[u32]) {
    let nodes: u32 = down.iter().product();
    let tree = FatTree::new(down, up, nodes).expect("within bounds");
    for circuit in CIRCUITS {
        for (channels, engine) in [(1, Engine::Worm), (2, Engine::Worm), (2, Engine::Flit)] {
            let config = Config {
                engine,
                hop_delay: delays.to_vec(),
                circuit,
                channels,
                ascent: Ascent::Deterministic,
                age_bits: 32,
                ..machine(tree.clone(), 1)
            };
            for (to, from, other) in
                (0..nodes.pow(3)).map(|n| (n % nodes, n / nodes % nodes, n / nodes / nodes))
            {
                for offset in 0..=80 {
                    let second = PacketSpec {
                        token: 1,
                        ..packet(from, other, 6)
                    };
                    check(&config, &[(40, packet(1, to, 9)), (offset, second)]);
                }
            }
        }
    }
}

#[test]
fn two_packets_of_one_switch() {
    check_all(&[3], &[], &[3]);
}

/// One link up from each switch: the ways from a switch share it.
#[test]
fn two_packets_of_a_reduced_tree() {
    check_all(&[2, 2], &[1], &[3, 5]);
}

#[test]
fn two_packets_of_a_full_tree() {
    check_all(&[2, 2], &[2], &[4, 1]);
}

/// Three levels, the middle one the slowest: a header comes to a link before the other packet's
/// tail has left it.
#[test]
fn two_packets_of_three_levels() {
    check_all(&[1, 2, 2], &[2, 1], &[2, 7, 3]);
}
