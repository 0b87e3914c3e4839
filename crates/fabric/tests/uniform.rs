//! Uniform traffic on graphs: way lengths and link loads, against ways followed one by one, and
//! against the simulator.

use crate::common;

use common::graphs::{complete, graph, plan, ring};
use common::{machine, uniform_share};
use fabric::topology::{Forwarding, Routing, Uniform, Wiring};
use fabric::{Ascent, Circuit, Config, Graph, Place};
use kernel::random::Stream;
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

/// The cables in the `SlimFly` network with 50 switches and diameter 2: the graph by `McKay`,
/// Miller and Siran for q = 5.
fn slim_fly_cables() -> Vec<(u32, u32)> {
    let at = |side: u32, x: u32, y: u32| side * 25 + x % 5 * 5 + y % 5;
    let mut cables = Vec::new();
    for x in 0..5 {
        for y in 0..5 {
            // The squares and the others, each with its negative.
            cables.push((at(0, x, y), at(0, x, y + 1)));
            cables.push((at(1, x, y), at(1, x, y + 2)));
            cables.extend((0..5).map(|m| (at(0, x, y), at(1, m, y + 25 - m * x))));
        }
    }
    cables
}

fn slim_fly(terminals: u32) -> Graph {
    graph(&plan(50, terminals, slim_fly_cables()))
}

/// A tree with one root and some leaves.
fn star(leaves: u32, terminals: u32) -> Graph {
    graph(&plan(
        leaves + 1,
        terminals,
        (1..=leaves).map(|leaf| (0, leaf)),
    ))
}

/// Mean links between switches, and the greatest load, from the ways of all pairs and plans.
fn followed(graph: &Graph) -> (f64, f64) {
    let routing = Forwarding::new(graph, Ascent::Adaptive);
    let wiring = graph.cabling();
    let nodes = wiring.nodes();
    let mut loads: HashMap<u32, f64> = HashMap::new();
    let (mut links, mut sent) = (0.0, 0.0);
    for from in Place::all(nodes) {
        for to in Place::all(nodes) {
            let plans = routing.plans(from, to);
            let share = 1.0 / plans.len() as f64;
            for plan in plans {
                let way = routing.path_of(from, to, plan);
                let between = &way[1..way.len() - 1];
                if between.is_empty() {
                    continue;
                }
                sent += share;
                links += share * between.len() as f64;
                for link in between {
                    *loads.entry(link.get()).or_default() += share / f64::from(nodes - 1);
                }
            }
        }
    }
    (links / sent, loads.values().copied().fold(0.0, f64::max))
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9 * one.abs().max(1.0)
}

fn equal(one: Uniform, other: Uniform) -> bool {
    near(one.links, other.links) && near(one.busiest, other.busiest)
}

#[test]
fn closed_forms() {
    // All ways in a complete graph have one link, with the packets of two switches.
    let (switches, terminals) = (6, 3);
    let both = [graph(&complete(switches, terminals)), star(1, 3)];
    for (graph, nodes) in both.iter().zip([18.0, 6.0]) {
        let used = graph.detours().used;
        assert!(equal(used, graph.detours().shortest));
        assert!(
            near(used.links, 1.0) && near(used.busiest, 9.0 / (nodes - 1.0)),
            "{used:?}"
        );
    }
    // A leaf's link carries all that its nodes send to others.
    let tree = star(4, 5);
    let used = tree.detours().used;
    assert!(equal(used, tree.detours().shortest));
    assert!(near(used.busiest, 5.0 * 20.0 / 24.0), "{used:?}");
    // Among 5 x 4 switch pairs, those between two leaves are two links apart.
    assert!(near(used.links, (8.0 + 2.0 * 12.0) / 20.0), "{used:?}");
    // A four-switch ring: on shortest ways two switches are 1, 1 and 2 links apart; the way between
    // the neighbours of the root's opposite is no longer, as the opposite is below both.
    let ring = graph(&ring(4, 1));
    assert!(near(ring.detours().shortest.links, 4.0 / 3.0));
    assert!(near(ring.detours().shortest.busiest, 2.0 / 3.0));
    assert!(near(
        slim_fly(1).detours().shortest.links,
        (7.0 + 2.0 * 42.0) / 49.0
    ));
    // A node without partners, and one switch.
    let alone = graph(&plan(1, 1, [])).detours().used;
    assert_eq!((alone.links, alone.accepted()), (0.0, 1.0));
}

/// Where a choice is among equally many links everywhere, plans share the ways evenly, and loads
/// are equal; lengths always are.
#[test]
fn ways_followed_one_by_one_agree() {
    for graph in [
        graph(&ring(4, 1)),
        graph(&ring(5, 2)),
        graph(&ring(9, 1)),
        graph(&complete(5, 2)),
        star(3, 2),
    ] {
        let used = graph.detours().used;
        let (links, busiest) = followed(&graph);
        assert!(near(used.links, links), "{used:?} {links}");
        assert!(near(used.busiest, busiest), "{used:?} {busiest}");
    }
    let used = slim_fly(1).detours().used;
    let (links, busiest) = followed(&slim_fly(1));
    assert!(near(used.links, links), "{used:?} {links}");
    assert!(
        (used.busiest / busiest - 1.0).abs() < 0.1,
        "{used:?} {busiest}"
    );
}

/// By leaf and link, the load by the packets to the leaf's nodes, if each node sends at rate 1.
/// `ways` has the links between the nodes of two switches, for each packet choice.
fn loads_by_leaf(
    leaves: u32,
    terminals: u32,
    ways: impl Fn(u32, u32) -> Vec<Vec<u32>>,
) -> Vec<BTreeMap<u32, f64>> {
    let nodes = leaves * terminals;
    let mut loads = vec![BTreeMap::new(); leaves as usize];
    for to in 0..nodes {
        let others = (0..nodes).filter(|from| from / terminals != to / terminals);
        for from in others {
            let ways = ways(from, to);
            let share = 1.0 / (f64::from(nodes - 1) * ways.len() as f64);
            for link in ways.into_iter().flatten() {
                *loads[(to / terminals) as usize].entry(link).or_default() += share;
            }
        }
    }
    loads
}

/// Links and load by a sample, as shares of those by all leaves: the ranges over `DRAWS` random
/// samples.
///
/// The largest of estimated loads is above the largest load more often than below, and both bounds
/// contain this bias. The library's sample is as good as a random one, which is outside such a
/// range with a probability of `2 / (DRAWS + 1)`, 0.2%.
fn spread(loads: &[BTreeMap<u32, f64>], sample: usize) -> [RangeInclusive<f64>; 2] {
    const DRAWS: usize = 999;
    let busiest = |leaves: &[usize], load: fn([f64; 2]) -> f64| {
        let mut halves: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
        for (number, &leaf) in leaves.iter().enumerate() {
            for (&link, load) in &loads[leaf] {
                halves.entry(link).or_default()[number % 2] += load;
            }
        }
        let most = halves.into_values().map(load).fold(0.0, f64::max);
        most / leaves.len() as f64
    };
    let links = |leaves: &[usize]| {
        let all = leaves.iter().flat_map(|&leaf| loads[leaf].values());
        all.sum::<f64>() / leaves.len() as f64
    };
    let mut order: Vec<usize> = (0..loads.len()).collect();
    let all = [links(&order), busiest(&order, |[one, other]| one + other)];
    let mut stream = Stream::new(1, "samples");
    let mut ranges = [(f64::INFINITY, 0.0_f64); 2];
    for _ in 0..DRAWS {
        for last in (1..order.len()).rev() {
            order.swap(last, stream.uniform_u64(0..last as u64 + 1) as usize);
        }
        let drawn = &order[..sample];
        let found = [
            links(drawn),
            busiest(drawn, |[one, other]| 2.0 * one.min(other)),
        ];
        for ((range, found), all) in ranges.iter_mut().zip(found).zip(all) {
            *range = (range.0.min(found / all), range.1.max(found / all));
        }
    }
    ranges.map(|(low, high)| low - 1e-9..=high + 1e-9)
}

/// A leaf sample is as near to the whole as random samples are.
#[test]
fn samples_are_near_the_whole() {
    let graph = slim_fly(2);
    let (all, sample) = (graph.detours(), graph.detours_within(0));
    assert_eq!((all.sample, sample.sample), (None, Some(32)));
    let routing = Forwarding::new(&graph, Ascent::Adaptive);
    let used = loads_by_leaf(50, 2, |from, to| {
        let [from, to] = [from, to].map(Place::new);
        let ways = routing.plans(from, to).into_iter().map(|plan| {
            let way = routing.path_of(from, to, plan);
            way[1..way.len() - 1]
                .iter()
                .map(|link| link.get())
                .collect()
        });
        ways.collect()
    });
    // Two switches have a cable, or one neighbour in common.
    let cables = slim_fly_cables();
    let joined = |a, b| cables.contains(&(a, b)) || cables.contains(&(b, a));
    let shortest = loads_by_leaf(50, 2, |from, to| {
        let [from, to] = [from, to].map(|node| node / 2);
        if joined(from, to) {
            return vec![vec![50 * from + to]];
        }
        let middle = (0..50).filter(|&at| joined(from, at) && joined(at, to));
        middle
            .map(|at| vec![50 * from + at, 50 * at + to])
            .collect()
    });
    for (all, sample, loads) in [
        (all.used, sample.used, used),
        (all.shortest, sample.shortest, shortest),
    ] {
        let [links, busiest] = spread(&loads, 32);
        let ratios = [sample.links / all.links, sample.busiest / all.busiest];
        assert!(links.contains(&ratios[0]), "{} {links:?}", ratios[0]);
        assert!(busiest.contains(&ratios[1]), "{} {busiest:?}", ratios[1]);
    }
    // A link outside the sample carries 4 / 401 for each of the 200 other switches, and each half
    // has 16.
    let tree = star(200, 2).detours_within(0);
    assert!(equal(tree.used, tree.shortest), "{tree:?}");
    assert!(near(tree.used.busiest, 201.0 * 4.0 / 401.0), "{tree:?}");
}

/// The accepted share under uniform traffic with few packets under way.
fn simulated(graph: &Graph) -> f64 {
    let config = Config {
        circuit: Circuit::CutThrough,
        channels: 2,
        buffer: 20,
        packets_in_flight: 4,
        ..machine(graph.clone(), 2)
    };
    uniform_share(config, 150, [4, 7])
}

/// The bound holds, and is near where up*/down* routing has one hot spot. Elsewhere packets that
/// wait hold up others.
#[test]
fn the_bound_is_near_the_simulation() {
    for (graph, least) in [
        (slim_fly(4), 0.9),
        (graph(&ring(8, 4)), 0.6),
        (star(4, 8), 0.5),
    ] {
        let bound = graph.detours().used.accepted();
        let found = simulated(&graph);
        eprintln!("bound {bound}, simulated {found}");
        assert!(
            found <= 1.02 * bound && found >= least * bound,
            "simulated {found}, bound {bound}"
        );
    }
}
