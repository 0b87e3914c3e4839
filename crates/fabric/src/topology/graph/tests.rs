//! Layers, tables and distances of random graphs against a plain reference, which follows each
//! pair's packets by itself and looks for cycles in all waits of a layer.

use super::layers::Shape;
use super::{Graph, Layers, Plan, distances, layers, shortest};
use crate::Ways;
use crate::hash::mixed;
use crate::topology::Family;
use petgraph::algo::is_cyclic_directed;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeSet;

type Edges = BTreeSet<[u32; 2]>;

/// A random tree with further cables, some of them parallel, and nodes at some switches.
fn random(seed: u64) -> Plan {
    let mut drawn = seed;
    let mut below = |limit: u32| {
        drawn += 1;
        (mixed(drawn << 8) % u64::from(limit)) as u32
    };
    let switches = 4 + below(13);
    let mut cables: Vec<(u32, u32)> = (1..switches).map(|at| (below(at), at)).collect();
    for _ in 0..below(2 * switches) {
        let (a, b) = (below(switches), below(switches));
        cables.extend((a != b).then_some((a, b)));
    }
    let mut seats: Vec<u32> = (0..switches).filter(|_| below(3) > 0).collect();
    seats.push(below(switches));
    Plan {
        switches: (0..switches).map(|at| at.to_string()).collect(),
        seats,
        cables,
        ways: Ways::Minimal,
        ..Plan::default()
    }
}

/// The graphs of the tests: random ones, a family's random ones, and a ring.
fn graphs() -> impl Iterator<Item = Graph> {
    let ring = Plan {
        cables: (0..12).map(|at| (at, (at + 1) % 12)).collect(),
        switches: (0..12).map(|at| at.to_string()).collect(),
        seats: (0..12).collect(),
        ..random(0)
    };
    let drawn = (0..4).map(|seed| {
        let family = Family::Jellyfish {
            switches: 20,
            degree: 3,
            seed,
        };
        Plan {
            ways: Ways::Minimal,
            ..family.plan(1).expect("a member")
        }
    });
    let plans = std::iter::once(ring)
        .chain(drawn)
        .chain((0..60).map(random));
    plans.map(|plan| Graph::new(&plan, plan.seats.len() as u32).expect("it is connected"))
}

fn shape(graph: &Graph) -> Shape<'_> {
    Shape {
        neighbours: &graph.neighbours,
        seats: &graph.seats,
    }
}

/// What packets between two leaves hold and wait for.
fn waits(graph: &Graph, from: u32, to: u32) -> Edges {
    let [near, far] = [from, to].map(|leaf| distances(&graph.neighbours, &[leaf]));
    let first = shape(graph).first_links();
    let onward = |at: u32| {
        let all = (first[at as usize]..).zip(&graph.neighbours[at as usize]);
        let far = &far;
        all.filter(move |&(_, &next)| far[next as usize] < far[at as usize])
    };
    let mut edges = Edges::new();
    for at in 0..near.len() as u32 {
        if near[at as usize] + far[at as usize] == far[from as usize] {
            for (held, &next) in onward(at) {
                edges.extend(onward(next).map(|(next, _)| [held, next]));
            }
        }
    }
    edges
}

fn has_cycle(edges: &Edges) -> bool {
    let edges = edges.iter().map(|&[held, next]| (held, next));
    is_cyclic_directed(&DiGraphMap::<u32, ()>::from_edges(edges))
}

/// The pairs' layers as their essay says, and whether the bound ends the search.
fn plain(graph: &Graph, bound: usize) -> Layers {
    let leaves = shortest::leaves(&graph.seats);
    let far = |&leaf: &u32| {
        let far = distances(&graph.neighbours, &[leaf]);
        leaves.iter().map(|&leaf| far[leaf as usize]).max()
    };
    let longest = leaves.iter().filter_map(far).max().expect("a leaf");
    let mut pairs: Vec<(usize, Edges)> = Vec::new();
    for (to, &end) in leaves.iter().enumerate() {
        for (from, &start) in leaves.iter().enumerate() {
            pairs.push((from * leaves.len() + to, waits(graph, start, end)));
        }
    }
    let all = pairs.iter().flat_map(|(_, edges)| edges).copied().collect();
    if longest < 2 || !has_cycle(&all) {
        return Layers::One;
    }
    let deal = |most: usize, evenly: bool| {
        let mut layers = vec![(0, Edges::new()); if evenly { most } else { 0 }];
        let mut of = vec![0; pairs.len()];
        let mut steps = 0;
        for (pair, edges) in &pairs {
            steps += edges.len();
            if steps > bound {
                return None;
            }
            let mut order: Vec<usize> = (0..layers.len()).collect();
            if evenly {
                order.sort_by_key(|&layer| layers[layer].0);
            }
            let fits = |&layer: &usize| {
                let (_, own): &(usize, Edges) = &layers[layer];
                !has_cycle(&own.union(edges).copied().collect())
            };
            let taken = order.into_iter().find(fits).unwrap_or_else(|| {
                layers.push((0, Edges::new()));
                layers.len() - 1
            });
            if layers.len() > most {
                return None;
            }
            layers[taken].0 += 1;
            layers[taken].1.extend(edges);
            of[*pair] = taken as u8;
        }
        Some((layers.len(), of))
    };
    match deal(longest as usize - 1, false) {
        Some(first) if longest > 2 => {
            let (count, of) = deal(first.0, true).unwrap_or(first);
            Layers::Pairs(count as u32, of)
        }
        _ => Layers::Links(longest),
    }
}

#[test]
fn layers_are_those_of_plain_searches() {
    let mut met = [0; 3];
    for graph in graphs() {
        let all = shortest::leaves(&graph.seats);
        let pairs = all
            .iter()
            .flat_map(|&from| all.iter().map(move |&to| (from, to)));
        let steps: usize = pairs.map(|(from, to)| waits(&graph, from, to).len()).sum();
        for bound in [layers::MOST_STEPS, steps, steps.saturating_sub(1), 7] {
            let shape = shape(&graph);
            let found = Layers::of(shape, shape.longest(), bound);
            assert_eq!(found, plain(&graph, bound), "{bound} of {steps} steps");
            met[match found {
                Layers::One => 0,
                Layers::Links(_) => 1,
                Layers::Pairs(..) => 2,
            }] += 1;
        }
        assert_eq!(*graph.layers(), plain(&graph, layers::MOST_STEPS));
    }
    assert!(met.iter().all(|&met| met > 20), "{met:?}");
}

#[test]
fn tables_are_those_of_plain_searches() {
    for graph in graphs() {
        let tables = shortest::tables(&graph);
        assert_eq!(tables.leaves, shortest::leaves(&graph.seats));
        for (leaf, &home) in (0..).zip(&tables.leaves) {
            let far = distances(&graph.neighbours, &[home]);
            for (at, &row) in tables
                .rows
                .iter()
                .enumerate()
                .filter(|&(at, _)| at != home as usize)
            {
                let ports = (graph.terminals(at as u32) as u16..).zip(&graph.neighbours[at]);
                let nearer = ports.filter(|&(_, &next)| far[next as usize] < far[at]);
                let nearer: Vec<u16> = nearer.map(|(port, _)| port).collect();
                for may_climb in [true, false] {
                    let list = tables.list(row, leaf, may_climb);
                    assert_eq!(tables.ports(list), nearer);
                }
            }
        }
    }
}

#[test]
fn the_farthest_are_those_of_plain_searches() {
    for graph in graphs() {
        let leaves = shortest::leaves(&graph.seats);
        let all: Vec<u32> = (0..graph.neighbours.len() as u32).collect();
        for among in [&all, &leaves] {
            let found = shortest::farthest(&graph.neighbours, among);
            for &switch in &all {
                let links = distances(&graph.neighbours, &[switch]);
                let far = among.iter().map(|&other| links[other as usize]).max();
                assert_eq!(Some(found[switch as usize]), far);
            }
        }
    }
}
