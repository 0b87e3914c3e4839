//! Networks that are lists of cables: their wiring, their ways, and closed forms of each kind.

mod common;

use common::{Bench, machine, packet};
use fabric::topology::{Cabling, End, Routing, find_cycle};
use fabric::{Engine, LinkId, Mesh, Place, SwitchId, Topology, Wiring};
use std::collections::BTreeSet;

fn positions(sizes: &[u32]) -> u32 {
    sizes.iter().product()
}

fn mesh(sizes: &[u32]) -> Mesh {
    Mesh::new(sizes, positions(sizes)).expect("within bounds")
}

const MESHES: [&[u32]; 5] = [&[2], &[5], &[4, 3], &[3, 4, 5], &[2, 4, 3, 2]];

/// Each link is listed once and leads back where it comes from; the names of switches differ.
fn check_wiring(wiring: &dyn Wiring) {
    let mut links = BTreeSet::new();
    for place in Place::all(wiring.places()) {
        assert_eq!(wiring.ends(wiring.injection(place)).0, End::Node(place));
        assert_eq!(wiring.ends(wiring.ejection(place)).1, End::Node(place));
        links.insert(wiring.injection(place));
    }
    for switch in SwitchId::all(wiring.switches()) {
        for port in 0..wiring.ports(switch) {
            let link = wiring.output(switch, port);
            assert_eq!(wiring.ends(link).0, End::Switch { switch, port });
            assert!(links.insert(link), "two ports share a link");
        }
    }
    assert!(links.iter().copied().eq(LinkId::all(wiring.links())));
    for link in links {
        let (from, to) = wiring.ends(link);
        let back = wiring.reverse(link);
        assert_eq!(wiring.ends(back), (to, from));
        assert_eq!(wiring.is_up(link), !wiring.is_up(back));
        assert_eq!(wiring.link_level(link), wiring.link_level(back));
        assert!(wiring.link_level(link) < wiring.levels());
    }
    let names = SwitchId::all(wiring.switches()).map(|switch| wiring.switch_name(switch));
    assert_eq!(
        names.collect::<BTreeSet<_>>().len() as u32,
        wiring.switches()
    );
}

/// Links of the shortest way between two places, counted by search.
fn hops(wiring: &dyn Wiring, from: Place, to: Place) -> u32 {
    let mut ends = BTreeSet::from([wiring.injection(from)]);
    let mut seen = BTreeSet::new();
    for hops in 1.. {
        if ends.contains(&wiring.ejection(to)) {
            return hops;
        }
        let mut next = BTreeSet::new();
        for link in ends {
            if let End::Switch { switch, .. } = wiring.ends(link).1
                && seen.insert(switch)
            {
                next.extend((0..wiring.ports(switch)).map(|port| wiring.output(switch, port)));
            }
        }
        ends = next;
    }
    unreachable!()
}

/// Links that lead from one part of the switches to the rest.
fn cut(wiring: &dyn Wiring, lower: impl Fn(SwitchId) -> bool) -> u32 {
    let crosses = |&link: &LinkId| match wiring.ends(link) {
        (End::Switch { switch: from, .. }, End::Switch { switch: to, .. }) => {
            lower(from) && !lower(to)
        }
        _ => false,
    };
    LinkId::all(wiring.links()).filter(crosses).count() as u32
}

/// Each plan leads from each place to each other one, over no link twice. Returns the greatest number of links.
fn check_ways(routing: &impl Routing) -> usize {
    let wiring = routing.wiring();
    let mut longest = 0;
    for source in Place::all(wiring.nodes()) {
        for node in Place::all(wiring.nodes()) {
            let plans = routing.plans(source, node);
            assert!(plans.contains(&routing.plan(source, node.into(), 12345)));
            for plan in plans {
                let path = routing.path_of(source, node, plan);
                assert_eq!(wiring.ends(path[path.len() - 1]).1, End::Node(node));
                let links: BTreeSet<_> = path.iter().collect();
                assert_eq!(links.len(), path.len(), "{source} to {node} by {plan}");
                longest = longest.max(path.len());
            }
        }
    }
    longest
}

/// A packet alone takes the header delays of its links, level by level, and one cycle for each further flit, by both movers.
fn check_packet_alone(topology: impl Into<Topology>, delays: &[u32], time: impl Fn(u32) -> u64) {
    let topology = topology.into();
    for engine in [Engine::Flit, Engine::Worm] {
        let mut config = machine(topology.clone(), 1);
        config.channels = config.channels.max(topology.classes());
        config.engine = engine;
        config.hop_delay = delays.to_vec();
        for to in 0..topology.nodes() {
            let bench = Bench::new(config.clone(), 5).through(&[(0, packet(0, to, 10))]);
            let done = bench.done().next().expect("it is done").0;
            assert_eq!(done.delivered, time(to) + 9, "to {to}");
        }
    }
}

/// A switch and two links for each node, and in each row a cable less than switches. The average distance in a row of `k`,
/// 0 to itself included, is `(k^2 - 1) / 3 k`; the greatest is `k - 1`.
#[test]
fn meshes() {
    for sizes in MESHES {
        let mesh = mesh(sizes);
        let nodes = positions(sizes);
        let cabling: &Cabling = mesh.cabling();
        check_wiring(cabling);
        check_wiring(mesh.with_rails(3).expect("three rails").cabling());
        let cables: u32 = sizes.iter().map(|k| nodes / k * (k - 1)).sum();
        assert_eq!(
            (cabling.switches(), cabling.links()),
            (nodes, 2 * (nodes + cables))
        );
        let longest = sizes.iter().map(|k| k - 1).sum::<u32>() as usize + 2;
        assert_eq!(check_ways(&mesh), longest);
        let mut sum = 0;
        for from in Place::all(nodes) {
            for to in Place::all(nodes) {
                assert_eq!(
                    mesh.distance(from, to) as usize,
                    mesh.path_of(from, to, 0).len()
                );
                assert_eq!(mesh.distance(from, to), hops(cabling, from, to));
                sum += mesh.distance(from, to);
            }
        }
        let row = |&k: &u32| f64::from(k * k - 1) / f64::from(3 * k);
        let average = 2.0 + sizes.iter().map(row).sum::<f64>();
        assert!((f64::from(sum) / f64::from(nodes * nodes) - average).abs() < 1e-9);
        assert_eq!(find_cycle(&machine(mesh.clone(), 1)), None);
    }
    for (sizes, links) in [(&[8][..], 1), (&[4, 4], 4), (&[8, 4], 4), (&[4, 4, 4], 16)] {
        let mesh = mesh(sizes);
        let longest = *sizes.iter().max().expect("a dimension");
        let stride: u32 = sizes.iter().take_while(|&&k| k < longest).product();
        let lower = |switch: SwitchId| switch.get() / stride % longest < longest / 2;
        assert_eq!(cut(mesh.cabling(), lower), links);
        assert_eq!(mesh.bisection(), links);
    }
    let four_by_five = |to: u32| 2 * 2 + 3 * u64::from(to % 4) + 7 * u64::from(to / 4);
    check_packet_alone(mesh(&[4, 5]), &[2, 3, 7], four_by_five);
    assert_eq!(find_cycle(&machine(mesh(&[16, 16, 8, 8]), 1)), None);
}

#[test]
fn meshes_that_cannot_be() {
    let error = |sizes: &[u32], nodes| {
        let error = Mesh::new(sizes, nodes).expect_err("no mesh");
        (error.key.clone(), error.to_string())
    };
    for (sizes, nodes, key, message) in [
        (
            &[][..],
            1,
            "dimensions",
            "a mesh has 1 to 8 dimensions, not 0",
        ),
        (&[4, 1], 4, "dimensions", "a row of 1 switches is none"),
        (
            &[300, 300],
            4,
            "dimensions",
            "the mesh has 90000 node positions; the most is 65536",
        ),
        (
            &[100],
            4,
            "dimensions",
            "the longest path has 101 links; the most is 64",
        ),
        (
            &[4, 4],
            17,
            "nodes",
            "17 nodes do not fit: the mesh holds 1 to 16",
        ),
    ] {
        assert_eq!(error(sizes, nodes), (key.to_string(), message.to_string()));
    }
    assert!(mesh(&[4]).with_rails(0).is_err());
}
