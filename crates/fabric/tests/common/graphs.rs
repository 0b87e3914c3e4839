//! Graphs with as many nodes at each switch.

use fabric::Graph;
use fabric::topology::graph::Plan;

/// A graph of switches "s0", "s1" and so on, with `terminals` nodes each.
pub fn plan(switches: u32, terminals: u32, cables: impl IntoIterator<Item = (u32, u32)>) -> Plan {
    Plan {
        switches: (0..switches).map(|number| format!("s{number}")).collect(),
        seats: (0..switches * terminals)
            .map(|place| place / terminals)
            .collect(),
        cables: cables.into_iter().collect(),
        roots: Vec::new(),
    }
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

/// The graph of a plan, with a node at every seat.
///
/// # Panics
/// If a bound is passed.
pub fn graph(plan: &Plan) -> Graph {
    Graph::new(plan, plan.seats.len() as u32).expect("within bounds")
}
