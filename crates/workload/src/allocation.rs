//! # A static allocation of rails (004 s2)
//!
//! Nothing is sent: an allocation is known before there is traffic. The record is the number of rails, figure 2, and, where it is
//! asked for, who transmits and who receives on each of them, the matrix of figures 3 and 4.

use crate::Records;
use crate::records::{Baseline, Measured, Row};
use elan::rails::Allocation;
use elan::{Cluster, NodeId};

/// What the adapter of a node does on a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationRow {
    /// The rail.
    pub rail: u32,
    /// The node.
    pub node: NodeId,
    /// Whether it transmits there; it receives otherwise.
    pub transmits: bool,
}

impl AllocationRow {
    /// Its role, in a word.
    pub fn role(&self) -> &'static str {
        if self.transmits {
            "transmit"
        } else {
            "receive"
        }
    }
}

/// The records of an allocation, with its matrix or without, on a cluster that stays idle.
pub fn run(allocation: &Allocation, matrix: bool, cluster: &Cluster) -> Records {
    let rails = Row {
        job: None,
        metric: "rails",
        unit: "",
        batch: None,
        value: allocation.rails().into(),
    };
    let measured = Measured {
        rows: vec![rails],
        allocation: if matrix { rows(allocation) } else { Vec::new() },
        ..Measured::default()
    };
    Baseline::take(cluster).finish(cluster, measured)
}

/// Rail after rail, as the rows of the matrix.
fn rows(allocation: &Allocation) -> Vec<AllocationRow> {
    let entries = (0..allocation.rails()).flat_map(|rail| {
        (0..allocation.nodes()).map(move |node| AllocationRow {
            rail,
            node,
            transmits: allocation.transmits(rail, node),
        })
    });
    entries.collect()
}
