//! Tori in numbers: closed forms, routes, invalid tori; and the purpose of datelines.

use crate::common;

use common::{Bench, assert_all_done, machine, named, packet};
use fabric::find_cycle;
use fabric::topology::{End, Header, Routing};
use fabric::{Config, Cycle, Engine, FatTree, LinkId, PacketSpec, Place, SwitchId, Torus, Wiring};
use std::collections::BTreeSet;

const SIZES: [&[u32]; 8] = [
    &[2],
    &[5],
    &[8],
    &[2, 2],
    &[4, 3],
    &[5, 6],
    &[3, 4, 5],
    &[2, 4, 3, 2],
];

fn torus(sizes: &[u32]) -> Torus {
    Torus::new(sizes, sizes.iter().product(), true).expect("within bounds")
}

/// The sizes multiply to the node count; each has two own links and two for each dimension. In a
/// ring of `k` the average distance, 0 to itself included, is `k / 4`, or `(k^2 - 1) / 4 k` if `k`
/// is odd; the greatest is `k / 2`, rounded down.
#[test]
fn closed_forms() {
    for sizes in SIZES {
        let torus = torus(sizes);
        let (nodes, dimensions) = (sizes.iter().product::<u32>(), sizes.len() as u32);
        assert_eq!(
            (torus.nodes(), torus.positions(), torus.switches()),
            (nodes, nodes, nodes)
        );
        assert_eq!(torus.links(), 2 * nodes * (1 + dimensions));
        assert_eq!(torus.levels(), sizes.len() + 1);
        let ring = |&k: &u32| f64::from(k * k - k % 2) / f64::from(4 * k);
        let average = 2.0 + sizes.iter().map(ring).sum::<f64>();
        let farthest = 2 + sizes.iter().map(|k| k / 2).sum::<u32>();
        for source in Place::all(nodes) {
            let distances = Place::all(nodes).map(|to| torus.distance(source, to));
            assert_eq!(distances.clone().max(), Some(farthest));
            let sum: u32 = distances.sum();
            assert!(
                (f64::from(sum) / f64::from(nodes) - average).abs() < 1e-9,
                "{sizes:?}"
            );
        }
    }
}

/// The ways of the links that leave a switch, in port order, and the way of the link from a node.
#[test]
fn ways() {
    let torus = torus(&[4, 3]);
    let ports = (0..5).map(|port| torus.way(torus.output(SwitchId::new(7), port)));
    let ways = [
        "to the nodes",
        "forwards along dimension 1",
        "backwards along dimension 1",
        "forwards along dimension 2",
        "backwards along dimension 2",
    ];
    assert!(ports.eq(ways));
    assert_eq!(torus.way(torus.injection(Place::new(7))), "from the nodes");
}

/// A cut across the longest rings, if they are even, cuts each ring at two places. Counted link by
/// link.
#[test]
fn bisection() {
    for (sizes, links) in [
        (&[8][..], 2),
        (&[4, 4], 8),
        (&[8, 4], 8),
        (&[4, 4, 4], 32),
        (&[2, 2], 4),
    ] {
        let torus = torus(sizes);
        let longest = *sizes.iter().max().expect("a dimension");
        let stride: u32 = sizes.iter().take_while(|&&k| k < longest).product();
        let lower = |switch: SwitchId| switch.get() / stride % longest < longest / 2;
        let crosses = |&link: &LinkId| match torus.ends(link) {
            (End::Switch { switch: from, .. }, End::Switch { switch: to, .. }) => {
                lower(from) && !lower(to)
            }
            _ => false,
        };
        assert_eq!(
            LinkId::all(torus.links()).filter(crosses).count() as u32,
            links
        );
        assert_eq!(torus.bisection(), links);
    }
}

#[test]
fn every_link_has_two_ends() {
    for sizes in SIZES {
        for torus in [
            torus(sizes),
            torus(sizes).with_rails(3).expect("three rails"),
        ] {
            let mut links = BTreeSet::new();
            for place in Place::all(torus.places()) {
                assert_eq!(torus.ends(torus.injection(place)).0, End::Node(place));
                assert_eq!(torus.ends(torus.ejection(place)).1, End::Node(place));
                links.insert(torus.injection(place));
            }
            for switch in SwitchId::all(torus.switches()) {
                for port in 0..torus.ports(switch) {
                    let link = torus.output(switch, port);
                    assert_eq!(torus.ends(link).0, End::Switch { switch, port });
                    assert!(links.insert(link), "two ports share a link");
                }
            }
            assert!(links.iter().copied().eq(LinkId::all(torus.links())));
            for link in links {
                let (from, to) = torus.ends(link);
                let back = torus.reverse(link);
                assert_eq!(torus.ends(back), (to, from));
                assert_eq!(torus.is_up(link), !torus.is_up(back));
                assert_eq!(torus.link_level(link), torus.link_level(back));
            }
        }
    }
}

/// Each route has as many links as the distance, dimension after dimension, and ends at its
/// destination.
#[test]
fn routes_are_shortest_and_in_order() {
    for sizes in SIZES {
        let torus = torus(sizes);
        for source in Place::all(torus.nodes()) {
            for destination in Place::all(torus.nodes()) {
                let mut link = torus.injection(source);
                let (mut links, mut level) = (1, 0);
                while let End::Switch { switch, .. } = torus.ends(link).1 {
                    let header = Header {
                        source,
                        destination,
                        at: switch,
                        input: link,
                        plan: 0,
                        hops: links as usize - 1,
                    };
                    link = torus.output(switch, torus.step(&header).group);
                    links += 1;
                    let next = torus.link_level(link);
                    assert!(next >= level || next == 0);
                    level = next;
                }
                assert_eq!(torus.ends(link).1, End::Node(destination));
                assert_eq!(links, torus.distance(source, destination));
            }
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let error = |sizes: &[u32], nodes| {
        Torus::new(sizes, nodes, true)
            .expect_err("no torus")
            .to_string()
    };
    assert_eq!(error(&[], 1), "a torus has 1 to 8 dimensions, not 0");
    assert_eq!(error(&[4, 1], 4), "a ring of 1 switches is none");
    assert_eq!(
        error(&[600, 600], 4),
        "the torus has 360000 node positions; the most is 262144"
    );
    assert_eq!(
        error(&[200], 4),
        "the longest path has 102 links; the most is 64"
    );
    assert_eq!(
        error(&[4, 4], 17),
        "17 nodes do not fit: the torus holds 1 to 16"
    );
    assert!(torus(&[4]).with_rails(0).is_err());
}

/// There is no cycle in a tree or with datelines; without datelines, each ring with five or more
/// has one.
#[test]
fn only_datelines_break_the_cycles() {
    let tree = FatTree::quaternary(2).expect("16 nodes");
    assert_eq!(find_cycle(&machine(tree, 1)), None);
    assert_eq!(
        find_cycle(&machine(FatTree::quaternary(8).expect("65,536 nodes"), 1)),
        None
    );
    for sizes in SIZES.into_iter().chain([&[24, 24, 8][..]]) {
        assert_eq!(find_cycle(&machine(torus(sizes), 1)), None, "{sizes:?}");
        let without = Torus::new(sizes, sizes.iter().product(), false).expect("within bounds");
        let cycle = find_cycle(&machine(without, 1));
        assert_eq!(cycle.is_some(), sizes.iter().any(|&k| k > 4), "{sizes:?}");
    }
    let ring = Torus::new(&[5], 5, false).expect("within bounds");
    let cycle = find_cycle(&machine(ring, 1)).expect("a cycle");
    assert_eq!(cycle.channels.len(), 5);
    let text = cycle.to_string();
    assert!(
        text.contains("switch 0 -> switch") && text.ends_with("switch 0"),
        "{text}"
    );
}

/// In an eight-switch ring all nodes send long packets three switches on, at the same time.
fn round_the_ring() -> Vec<(Cycle, PacketSpec)> {
    let packets = (0..8).flat_map(|node| vec![(0, packet(node, (node + 3) % 8, 300)); 4]);
    named(&packets.collect::<Vec<_>>())
}

/// Without datelines all packets wait for each other, and the report names the ring; with datelines
/// all packets arrive.
#[test]
fn a_ring_deadlocks_without_datelines() {
    for engine in [Engine::Flit, Engine::Worm] {
        for datelines in [true, false] {
            let ring = Torus::new(&[8], 8, datelines).expect("within bounds");
            let config = Config {
                engine,
                buffer: 8,
                ..machine(ring, 3)
            };
            let bench = Bench::new(config, 5).through(&round_the_ring());
            let deadlock = bench.fabric.deadlock();
            assert_eq!(deadlock.is_none(), datelines);
            match deadlock {
                Some(deadlock) => {
                    let text = deadlock.to_string();
                    assert!(
                        text.contains("waits at switch") && text.contains("for the link to switch"),
                        "{text}"
                    );
                }
                None => assert_all_done(&bench.fabric.packet_census(), 32),
            }
        }
    }
}

/// A packet alone takes the header delays of its links, level by level, and one cycle for each
/// further flit.
#[test]
fn a_packet_alone() {
    for engine in [Engine::Flit, Engine::Worm] {
        let mut config = Config {
            engine,
            ..machine(torus(&[4, 5]), 1)
        };
        config.hop_delay = vec![2, 3, 7];
        for to in 0..20 {
            let bench = Bench::new(config.clone(), 5).through(&[(0, packet(0, to, 10))]);
            let [x, y] = [(to % 4).min(4 - to % 4), (to / 4).min(5 - to / 4)].map(u64::from);
            assert_eq!(
                bench.done().next().expect("it is done").0.delivered,
                2 * 2 + 3 * x + 7 * y + 9
            );
        }
    }
}

#[test]
#[should_panic(expected = "hardware broadcasts need a tree")]
fn no_broadcasts() {
    let mut bench = Bench::new(machine(torus(&[4]), 1), 5);
    bench.offer(&[(0, common::broadcast(0, 0, 3, 10))]);
}
