//! Broadcasts: one alone on paper, in every mode; answers that combine; two that meet; and the
//! destinations' notices.

use crate::common;

use common::{Bench, CIRCUITS, Heard, broadcast, farthest, machine, named, one_switch};
use common::{packet, three_levels, travel};
use fabric::topology::End;
use fabric::{
    Ack, Broadcast, Circuit, Config, Cycle, Destination, Engine, Fabric, FatTree, LinkId, Notice,
    PacketSpec, Place, Wiring,
};

/// Trees with several arities and depths, with hop delays that differ by level; one tree has
/// parallel links.
fn machines() -> Vec<Config> {
    let trees: [[&[u32]; 4]; 5] = [
        [&[4, 4, 4], &[4, 4], &[1, 1], &[11, 11, 11]],
        [&[2, 2, 2, 2], &[2, 2, 2], &[1, 1, 1], &[3, 1, 7, 2]],
        [&[3, 2, 3], &[1, 2], &[1, 1], &[5, 12, 1]],
        [&[2, 3], &[4], &[2], &[2, 9]],
        [&[6], &[], &[], &[127]],
    ];
    let machine = |[down, up, parallel, delays]: [&[u32]; 4]| {
        let nodes = down.iter().product();
        let tree = FatTree::with_parallel_links(down, up, parallel, nodes).expect("within bounds");
        Config {
            hop_delay: delays.to_vec(),
            ..machine(tree, 1)
        }
    };
    trees.into_iter().map(machine).collect()
}

/// Runs packets to the end.
fn run(config: &Config, turnaround: Cycle, traffic: &[(Cycle, PacketSpec)]) -> Bench {
    Bench::new(config.clone(), turnaround).through(&named(traffic))
}

/// Nodes with the cycle in which something happens there, in order.
type Times = Vec<(u32, Cycle)>;

/// When each node is reached by a packet, and when it receives the EOP.
fn reached(bench: &Bench, token: u64) -> (Times, Times) {
    let (mut delivered, mut ended) = (Vec::new(), Vec::new());
    for heard in &bench.heard {
        match *heard {
            Heard::Delivered(at, node, spec) if spec.token == token => {
                delivered.push((node.get(), at));
            }
            Heard::Ended(at, node, _, _, spec) if spec.token == token => {
                ended.push((node.get(), at));
            }
            _ => (),
        }
    }
    (delivered, ended)
}

/// From any node to any range, in any mode, with either engine: let `A` be the way's delay sum,
/// which is equal for all destinations. A packet with `n` flits that is injected in `t` is
/// everywhere at `t + A + n - 1`; the answers are back `A` cycles after they leave; the EOP is
/// everywhere `A + 1` cycles later. Behind a link with delay `D`, a buffer for `B` flits that is
/// too short for the way to the next switch and back lets `B` flits pass in `D + 1` cycles.
#[test]
fn a_broadcast_alone() {
    for machine in machines() {
        let nodes = machine.topology.nodes();
        for number in 0..nodes * nodes {
            let (source, first) = (number % nodes, number / nodes);
            let last = (first + number * 7 % nodes).min(nodes - 1);
            let config = Config {
                circuit: CIRCUITS[number as usize % 3],
                engine: if number % 2 == 0 {
                    Engine::Worm
                } else {
                    Engine::Flit
                },
                broadcast: if number % 5 == 0 {
                    Broadcast::BySource
                } else {
                    Broadcast::Serialised
                },
                ..machine.clone()
            };
            let (flits, turnaround, start) = (1 + number % 40, u64::from(number % 11), 5);
            let spec = broadcast(source, first, last, flits);
            let bench = run(&config, turnaround, &[(start, spec)]);
            let way = travel(&config, &spec);
            let delivered = start + way + u64::from(flits) - 1;
            let acknowledged = delivered + turnaround + way;
            let all = |at| (first..=last).map(|node| (node, at)).collect::<Vec<_>>();
            assert_eq!(
                reached(&bench, 0),
                (all(delivered), all(acknowledged + 1 + way))
            );
            let record = bench.record(0);
            let links = farthest(&config, &spec);
            assert_eq!((record.links, record.injected), (links, start));
            assert_eq!(
                (record.delivered, record.acknowledged),
                (delivered, acknowledged)
            );
            assert_eq!(record.ack, Ack::Accepted);
        }
    }
}

/// A packet comes to a link in the tree just after a broadcast, which has the only channel, and
/// crosses the link when the channel is free: one cycle and the delays before the link after the
/// acknowledgement; one cycle after the last delivery; or two cycles after the last branch behind
/// the link has sent the tail.
#[test]
fn every_branch_is_free_in_its_cycle() {
    // One up-link, so that all packets use the tree; levels with different delays.
    let tree = FatTree::new(&[2, 2, 2], &[1, 1], 8).expect("8 nodes");
    // 0 -> 4 to 7, over links of 2, 3, 5 up and 5, 3, 2 down: the header starts on them at 0, 2, 5,
    // 10, 15, 18.
    let (spec, last) = (broadcast(0, 4, 7, 20), 19);
    let (delivered, acknowledged) = (20 + last, 20 + last + 7 + 20);
    // The delays before the link where the two meet, before the next link, and behind the header
    // there.
    for (at, source, before, next, rest) in [
        // At switch 2.0, 14, the link up, taken at 5.
        (9, 2, 5, 10, 5 + 5 + 3 + 2),
        // At switch 2.1, 16, the link down to 1.2, taken at 15.
        (11, 6, 15, 18, 3 + 2),
    ] {
        for (circuit, free) in [
            (Circuit::UntilAcknowledged, acknowledged + 1 + before),
            (Circuit::UntilDelivered, delivered + 1),
            (Circuit::Wormhole, next + last + 2),
        ] {
            let config = Config {
                hop_delay: vec![2, 3, 5],
                channels: 1,
                circuit,
                ..machine(tree.clone(), 1)
            };
            let bench = run(&config, 7, &[(0, spec), (at, packet(source, 4, 1))]);
            assert_eq!(bench.record(0).acknowledged, acknowledged);
            let after = bench.record(1);
            assert_eq!(after.delivered, free + rest, "{circuit:?} {source}");
        }
    }
}

/// The worst answer counts, and the latest: each answer takes the way's delays from its departure.
#[test]
fn answers_combine() {
    let answers = [Ack::Accepted, Ack::Discarded, Ack::TestFailed, Ack::Error];
    for worst in 0..4 {
        for who in 0..8_u32 {
            let answer = move |_: &PacketSpec, node: Place| {
                let node = node.get();
                // One node gives the worst answer, immediately; its neighbour gives a little better
                // one, later.
                let ack = if node == who {
                    answers[worst]
                } else if node == who ^ 1 {
                    answers[worst.saturating_sub(1)]
                } else {
                    Ack::Accepted
                };
                (
                    if node == who ^ 1 {
                        100
                    } else {
                        Cycle::from(node)
                    },
                    ack,
                )
            };
            let bench = Bench::with_answers(three_levels(3), answer)
                .through(&[(0, broadcast(9, 0, 7, 10))]);
            let record = bench.record(0);
            assert_eq!(record.ack, answers[worst]);
            assert_eq!(record.delivered, 12 + 9);
            assert_eq!(record.acknowledged, 12 + 9 + 100 + 12);
            let good = |heard: &Heard| match *heard {
                Heard::Ended(at, _, good, sequence, _) => Some((at, good, sequence)),
                _ => None,
            };
            let ends: Vec<_> = bench.heard.iter().filter_map(good).collect();
            assert_eq!(ends, [(record.acknowledged + 1 + 12, worst == 0, 0); 8]);
        }
    }
}

/// A packet to one node may ask for an EOP notice, too; otherwise its destination gets none.
#[test]
fn only_who_asks_is_told_of_the_end() {
    let spec = PacketSpec {
        awaits_end: true,
        ..packet(0, 1, 10)
    };
    let silent = PacketSpec {
        awaits_end: false,
        ..broadcast(1, 0, 3, 10)
    };
    let bench = run(&one_switch(3), 5, &[(0, spec), (100, silent)]);
    let ends = bench
        .heard
        .iter()
        .filter(|heard| matches!(heard, Heard::Ended(..)));
    let spec = PacketSpec { token: 0, ..spec };
    // Delivered at 15, acknowledged at 26.
    assert!(ends.eq(&[Heard::Ended(26 + 1 + 6, Place::new(1), true, 0, spec)]));
    assert_eq!(bench.fabric.packet_census().acknowledged, 2);
}

/// The slowest branch sets the pace for all others once the buffers are full: one node's link is
/// busy with an older 200-flit packet, and the other nodes get the flits that the buffer behind the
/// link up holds.
#[test]
fn the_slowest_branch_holds_the_others() {
    for buffer in [4, 30, 1000] {
        let config = Config {
            buffer,
            ..one_switch(3)
        };
        let traffic = [(0, packet(0, 1, 200)), (5, broadcast(2, 0, 3, 50))];
        let bench = run(&config, 5, &traffic);
        let (delivered, _) = reached(&bench, 1);
        // The older packet leaves its last link at 3 + 199; then the broadcast has the link.
        let slow = 3 + 200 + 50 - 1 + 3;
        let quick = match buffer {
            1000 => 5 + 6 + 49,
            // The last flit finds room when the slow branch has sent the flit `buffer` before it,
            // is sent in the next cycle, and crosses two links.
            _ => 203 + (49 - Cycle::from(buffer)) + 1 + 6,
        };
        let mut expected = vec![(0, quick), (2, quick), (3, quick), (1, slow)];
        expected.sort_by_key(|&(node, at)| (at, node));
        assert_eq!(delivered, expected, "{buffer}");
    }
}

/// At a switch the older broadcast is first when two come in the same cycle. The other one begins
/// in the next cycle; with one channel, when the first is done.
#[test]
fn two_broadcasts_at_one_switch() {
    let config = |channels| Config {
        channels,
        ..one_switch(3)
    };
    let traffic = [(0, broadcast(2, 0, 3, 10)), (0, broadcast(1, 1, 3, 10))];
    // Alone: delivered at 15, acknowledged at 26, the links down free at 30.
    let bench = run(&config(1), 5, &traffic);
    assert_eq!(bench.record(1).delivered, 15);
    assert_eq!(bench.record(0).delivered, 30 + 12);
    // With two channels both are open, and the older goes first on each link.
    let bench = run(&config(2), 5, &traffic);
    assert_eq!(bench.record(1).delivered, 15);
    assert_eq!(bench.record(0).delivered, 15 + 10);
    let (delivered, _) = reached(&bench, 0);
    assert_eq!(delivered, [(0, 16), (1, 25), (2, 25), (3, 25)]);
}

/// The handle identifies the delivery that an answer is for; each node has its own handle.
#[test]
#[should_panic(expected = "answers a delivery, once")]
fn a_destination_has_one_answer() {
    let mut fabric = Fabric::new(one_switch(3));
    fabric.offer(0, broadcast(0, 1, 2, 1));
    let mut notices = Vec::new();
    while let Some(cycle) = fabric.advance(Cycle::MAX, &mut notices) {
        for notice in notices.drain(..) {
            if let Notice::Delivered(packet, node, _) = notice
                && node == Place::new(1)
            {
                fabric.acknowledge(cycle, packet, Ack::Accepted);
                fabric.acknowledge(cycle, packet, Ack::Accepted);
            }
        }
    }
}

/// Where a route's links end, for [`Destination`]s with one node and with many.
#[test]
fn a_broadcast_to_one_node_is_a_path() {
    let tree = FatTree::quaternary(3).expect("64 nodes");
    let range = Destination::Range {
        first: Place::new(21),
        last: Place::new(21),
    };
    let route = tree.broadcast_route(Place::new(5), range, Broadcast::Serialised);
    let names = |&link: &LinkId| tree.end_name(tree.ends(link).1);
    let ends: Vec<_> = route.iter().map(names).collect();
    assert_eq!(
        ends,
        [
            "switch 1.1",
            "switch 2.0",
            "switch 3.0",
            "switch 2.4",
            "switch 1.5",
            "node 21"
        ]
    );
    assert_eq!(tree.ends(route[5]).1, End::Node(Place::new(21)));
}
