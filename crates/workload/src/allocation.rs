//! # A static allocation of rails (coll2003 s2)
//!
//! Nothing is sent: an allocation is known before there is traffic. The record is the number of rails (figure 2) and, on
//! request, which nodes transmit and which receive on each rail: the matrix of figures 3 and 4.

use crate::records::{Baseline, Records, Tables};
use crate::rows::{AllocationRow, Role, Row};
use elan::{Cluster, NodeId, Rail};
use rails::Allocation;

/// The records of an allocation, with its matrix or without, on a cluster that stays idle.
pub fn run(allocation: &Allocation, matrix: bool, cluster: &Cluster) -> Records {
    let measured = Tables {
        rows: vec![Row::new("rails", "", allocation.rails().into())],
        allocation: if matrix { rows(allocation) } else { Vec::new() },
        ..Tables::default()
    };
    Baseline::take(cluster).finish(cluster, measured)
}

/// Rail after rail, as the rows of the matrix.
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
