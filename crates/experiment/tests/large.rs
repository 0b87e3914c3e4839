//! Large machines' memory.
//!
//! The promise is the whole machine with 65,536 nodes, uniform traffic at 0.3 of the link rate, in
//! at most 8 GB. The bounds here are closer: they show when a node grows. `make bench` measures the
//! set-up time.

mod common;

use common::plan_file;
use experiment::simulate;
use kernel::memory::{CountingAllocator, measure};
use units::Bytes;
use workload::Records;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const EXPERIMENT: &str = include_str!("../../../experiments/speed/uniform-64.toml");

/// Uniform packets on a quaternary tree of `4^levels` nodes, from an idle network until the window
/// ends: the records, and the peak memory per node.
fn run(levels: u32, window: &str) -> (Records, Bytes) {
    let nodes = 4_u64.pow(levels);
    let arities = |levels| vec!["4"; levels as usize].join(", ");
    let overrides = [
        format!("topology.nodes={nodes}"),
        format!("topology.down=[{}]", arities(levels)),
        format!("topology.up=[{}]", arities(levels - 1)),
        format!("series.load.nodes={nodes}"),
        "series.load.load=101.6 MB/s".to_string(),
        "run.warm_up=0 s".to_string(),
        format!("run.window={window}"),
        "run.batches=1".to_string(),
    ];
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    let points = plan_file("uniform-64.toml", EXPERIMENT, &overrides).unwrap();
    let (records, peak) = measure(|| simulate(&points[0], None).unwrap());
    (records, peak / nodes)
}

#[test]
fn memory_of_4_096_nodes() {
    let (records, per_node) = run(6, "20 us");
    assert!(records.packets > 2 * 4_096, "{} packets", records.packets);
    assert!(per_node < Bytes::from_kb(16), "{per_node} a node");
}

#[test]
#[ignore = "takes a quarter of a minute"]
fn memory_of_65_536_nodes() {
    let (records, _) = run(8, "1 ns");
    assert_eq!(records.packets, 0);

    let (records, per_node) = run(8, "20 us");
    assert!(records.packets > 2 * 65_536, "{} packets", records.packets);
    assert!(per_node < Bytes::from_kb(20), "{per_node} a node");
}
