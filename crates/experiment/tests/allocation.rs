//! Static rail allocations in experiment files.

use crate::common;

use experiment::{Point, Workload, simulate};
use serde_json::json;
use workload::Records;
use workload::rows::Role;

const ALLOCATION: &str = include_str!("allocation.toml");

fn points(series: &str, overrides: &[&str]) -> Vec<Point> {
    common::series(series, "allocation.toml", ALLOCATION, overrides)
}

fn rails(records: &Records) -> u32 {
    let [row] = &records.tables.rows[..] else {
        panic!("{:?}", records.tables.rows)
    };
    assert_eq!(
        (row.metric, row.job.as_deref(), row.batch),
        ("rails", None, None)
    );
    row.value as u32
}

#[test]
fn rails_of_both_algorithms() {
    let found = points("both", &[]).into_iter().map(|point| {
        let records = simulate(&point, None).unwrap();
        assert!(
            records.tables.allocation.is_empty(),
            "nobody asked for a matrix"
        );
        assert_eq!((records.packets, records.events), (0, 0));
        (json!(point.parameters()).to_string(), rails(&records))
    });
    let expected = [(1, 0, 0), (8, 6, 5), (20, 10, 6)];
    let expected = expected.into_iter().flat_map(|(nodes, one, other)| {
        let line = |algorithm| json!({ "nodes": nodes, "algorithm": algorithm }).to_string();
        [(line("logarithmic"), one), (line("optimal"), other)]
    });
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

/// The matrix is a table, rail after rail.
#[test]
fn a_matrix_is_kept_where_it_is_asked_for() {
    let found = points("kept", &[]).into_iter().map(|point| {
        let records = simulate(&point, None).unwrap();
        let mut lines = vec![String::new(); rails(&records) as usize];
        for (index, row) in records.tables.allocation.iter().enumerate() {
            assert_eq!((row.rail, row.node), (index as u32 / 3, index as u32 % 3));
            lines[row.rail as usize].push(match row.role {
                Role::Transmit => 't',
                Role::Receive => 'r',
            });
        }
        lines.join(" ")
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        ["trr rtr rrt", "ttt trr rtr rrt"]
    );
}

/// All keys are part of a point's identity; a matrix changes the digest.
#[test]
fn keys_and_digests_depend_on_every_field() {
    let first = |overrides: &[&str]| {
        let point = points("kept", overrides).remove(0);
        (point.key(), simulate(&point, None).unwrap().digest)
    };
    let before = first(&[]);
    for change in ["nodes=2", "rails=4", "matrix=false"] {
        let after = first(&[&format!("series.kept.{change}")]);
        assert_ne!(after.0, before.0, "{change}");
        assert_ne!(after.1, before.1, "{change}");
    }
    let algorithm = |name: &str| {
        let name = format!("series.both.algorithm={name}");
        points("both", &[&name]).remove(0).key()
    };
    assert_ne!(algorithm("logarithmic"), algorithm("optimal"));
}

/// Any node count, on a machine with 64.
#[test]
fn the_machine_is_not_asked() {
    let point = points("both", &["series.both.nodes=1000000"]).remove(1);
    let Workload::Allocation(allocation) = &point.workload else {
        panic!("{point:?}")
    };
    assert_eq!(allocation.nodes, 1_000_000);
    assert_eq!(
        rails(&simulate(&point, None).unwrap()),
        23,
        "C(23, 11) is 1,352,078"
    );
}
