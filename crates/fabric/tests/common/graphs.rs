//! Graphs with as many nodes at each switch.

use fabric::Graph;
use fabric::topology::graph::{Entry, Plan, Routes, Target};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A graph with switches "s0", "s1" and so on, with `terminals` nodes each.
pub fn plan(switches: u32, terminals: u32, cables: impl IntoIterator<Item = (u32, u32)>) -> Plan {
    Plan {
        switches: (0..switches).map(|number| format!("s{number}")).collect(),
        seats: (0..switches * terminals)
            .map(|place| place / terminals)
            .collect(),
        cables: cables.into_iter().collect(),
        ..Plan::default()
    }
}

/// Tables with shortest ways, for those neighbours that `takes` names, or else for the first one
/// that is nearer: for each node if `by_node`, for each switch otherwise. There are as many classes
/// as the longest way has links between switches.
pub fn shortest(plan: &Plan, by_node: bool, takes: impl Fn(u32, u32, u32) -> bool) -> Routes {
    let switches = plan.switches.len() as u32;
    let both = plan.cables.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    let joined: BTreeSet<(u32, u32)> = both.collect();
    let from = |at: u32| joined.range((at, 0)..(at + 1, 0)).map(|&(_, next)| next);
    let mut routes = Routes {
        classes: 1,
        ..Routes::default()
    };
    let targets: BTreeSet<(u32, Target)> = (0..)
        .zip(&plan.seats)
        .map(|(node, &home)| {
            let of_node = Target::Node(node);
            (
                home,
                if by_node {
                    of_node
                } else {
                    Target::Switch(home)
                },
            )
        })
        .collect();
    for (home, to) in targets {
        let mut links = BTreeMap::from([(home, 0)]);
        let mut queue = VecDeque::from([home]);
        while let Some(at) = queue.pop_front() {
            for next in from(at) {
                if !links.contains_key(&next) {
                    links.insert(next, links[&at] + 1);
                    queue.push_back(next);
                }
            }
        }
        routes.classes = routes
            .classes
            .max(links.values().copied().max().unwrap_or(0));
        for at in (0..switches).filter(|&at| at != home) {
            let nearer: Vec<u32> = from(at).filter(|next| links[next] < links[&at]).collect();
            let mut next: Vec<u32> = nearer
                .iter()
                .copied()
                .filter(|&next| takes(at, home, next))
                .collect();
            if next.is_empty() {
                next.push(nearer[0]);
            }
            routes.entries.push(Entry { at, to, next });
        }
    }
    routes
}

pub fn ring(switches: u32, terminals: u32) -> Plan {
    plan(
        switches,
        terminals,
        (0..switches).map(|at| (at, (at + 1) % switches)),
    )
}

pub fn complete(switches: u32, terminals: u32) -> Plan {
    let pairs = (0..switches).flat_map(|a| (a + 1..switches).map(move |b| (a, b)));
    plan(switches, terminals, pairs)
}

/// A plan's graph, with a node at every seat.
///
/// # Panics
/// If a bound is passed.
pub fn graph(plan: &Plan) -> Graph {
    Graph::new(plan, plan.seats.len() as u32).expect("within bounds")
}
