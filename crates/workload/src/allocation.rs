//! # A static allocation of rails (coll2003 s2)
//!
//! The point sends no messages: an allocation is known before there is traffic. The record is the
//! rail count (figure 2) and, on request, the transmitting and the receiving nodes on each rail:
//! the matrix in figures 3 and 4.

use crate::records::{Baseline, Records, Tables};
use crate::rows::{AllocationRow, MetricRow, Role};
use elan::{Cluster, NodeId, Rail};
use rails::Allocation;

/// An allocation's records, with or without its matrix, on an idle cluster.
pub fn run(allocation: &Allocation, matrix: bool, cluster: &Cluster) -> Records {
    let measured = Tables {
        rows: vec![MetricRow::new("rails", "", allocation.rails().into())],
        allocation: if matrix { rows(allocation) } else { Vec::new() },
        ..Tables::default()
    };
    Baseline::take(cluster).finish(cluster, measured)
}

/// Rail after rail, like the matrix rows.
fn rows(allocation: &Allocation) -> Vec<AllocationRow> {
    let entries = Rail::all(allocation.rails()).flat_map(|rail| {
        NodeId::all(allocation.nodes()).map(move |node| AllocationRow {
            rail: rail.get(),
            node: node.get(),
            role: if allocation.transmits(rail, node) {
                Role::Transmit
            } else {
                Role::Receive
            },
        })
    });
    entries.collect()
}
