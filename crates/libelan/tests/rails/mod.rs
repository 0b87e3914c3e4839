//! The libraries on machines with several rails, under each policy.
//!
//! * `tports`: which rails longer messages take, and the gain;
//! * `kinds`: which rails every other message kind takes, counted at the adapters;
//! * `failures`: rails that fail at any moment in any message kind, and return.
//! * `faults`: the same on a machine that lists faults.

use crate::common;

mod failures;
mod faults;
mod kinds;
mod tports;

use elan::Config;
use fabric::FatTree;
use rails::Kind;
use rails::policies::SHIPPED;

/// All shipped policies.
fn policies() -> Vec<Kind> {
    SHIPPED.iter().map(|policy| policy.kind).collect()
}

/// Four nodes from each generation.
fn generations() -> [Config; 2] {
    let tree = FatTree::quaternary(1).unwrap();
    [common::four_nodes(), common::opteron(tree)]
}
