//! Traces in experiment files: a pattern's groups where the file names no groups.

use crate::common;

use experiment::simulate;

const TRACE: &str = include_str!("trace.toml");

/// The bytes that a rank sends per call, from bandwidth and latency.
fn bytes(pattern: &str, processes: u32) -> f64 {
    let overrides = [
        format!("series.all-reduce.pattern={pattern}"),
        format!("series.all-reduce.processes={processes}"),
        "series.all-reduce.message=8 KB".to_string(),
        "series.all-reduce.repeats=1".to_string(),
    ];
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    let point = common::series("all-reduce", "trace.toml", TRACE, &overrides).remove(0);
    let records = simulate(&point, None).unwrap();
    records.value("bandwidth") * records.value("latency")
}

/// On eight nodes, with one process each or two: rings and exchanges have all ranks, and those
/// across groups one rank per node.
#[test]
fn groups_are_nodes_or_all_ranks() {
    let vector = 8192.0;
    let ring = |ranks: f64| 2.0 * (ranks - 1.0) / ranks * vector;
    for processes in [1, 2] {
        let ranks = 8.0 * f64::from(processes);
        for (pattern, expected) in [
            ("all-reduce-ring", ring(ranks)),
            ("all-reduce-hierarchical", ring(ranks)),
            ("all-reduce-across", ring(8.0)),
            ("all-to-all", (ranks - 1.0) * vector),
            ("all-to-all-across", 7.0 * vector),
        ] {
            let found = bytes(pattern, processes);
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{pattern}: {found} bytes"
            );
        }
    }
}
