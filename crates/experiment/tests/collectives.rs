//! Collective operations and MPI pings in experiment files.

use crate::common;

use common::{keys, lines, planned};
use experiment::{CollectivePoint, Point, Workload, simulate};
use serde_json::json;

const COLLECTIVES: &str = include_str!("collectives.toml");

fn points(series: &str, overrides: &[&str]) -> Vec<Point> {
    common::series(series, "collectives.toml", COLLECTIVES, overrides)
}

/// The operation's fields first; those of jobs after them, with their names.
#[test]
fn order_and_parameters() {
    for name in ["barrier", "broadcast", "ping"] {
        insta::assert_snapshot!(name, lines(&points(name, &[])));
    }
}

#[test]
fn overrides_name_the_operation_or_the_job_beside_it() {
    let overrides = [
        "series.broadcast.message=2 KB",
        "series.broadcast.background.message=8 KB",
    ];
    for point in points("broadcast", &overrides) {
        let Workload::Collective(CollectivePoint { collective, jobs }) = &point.workload else {
            panic!("{point:?}")
        };
        assert_eq!(json!(collective.message), json!("2 KB"));
        assert_eq!(json!(jobs["background"].message), json!("8 KB"));
    }
}

/// All keys are part of a point's identity.
#[test]
fn keys_depend_on_every_field() {
    let keys = |text: &str| keys(&planned("collectives.toml", text, &[]));
    let before = keys(COLLECTIVES);
    let changes = [
        ("\"gsync\"", "\"hgsyncevent\""),
        ("\"bcast\"]", "\"hbcast\"]"),
        ("0-30:2", "0-28:2"),
        ("repeats = 4", "repeats = 5"),
        ("memory = \"main\"", "memory = \"elan\""),
        ("message = \"1 KB\"", "message = \"2 KB\""),
        ("groups = 2", "groups = 3"),
        ("may_deadlock = true", "may_deadlock = false"),
        ("jobs.background", "jobs.other"),
        ("\"complement\"", "\"uniform\""),
        ("\"mpi\"]", "\"elan3\"]"),
    ];
    for (from, to) in changes {
        let changed = COLLECTIVES.replace(from, to);
        assert_ne!(changed, COLLECTIVES, "{from}");
        assert_ne!(keys(&changed), before, "{from}");
    }
}

/// A point is complete: it survives its text, and its results do.
#[test]
fn points_run_from_their_text() {
    for series in ["barrier", "broadcast", "ping"] {
        for point in points(series, &[]) {
            let again: Point =
                serde_json::from_str(&serde_json::to_string(&point).unwrap()).unwrap();
            assert_eq!(again.key(), point.key());
            let records = [&point, &again].map(|point| simulate(point, None).unwrap());
            assert_eq!(records[0], records[1]);
            assert!(!records[0].values("latency").is_empty());
            let collective = matches!(point.workload, Workload::Collective(_));
            assert_eq!(records[0].tables.distribution.is_empty(), !collective);
        }
    }
}

/// Adapter contexts have room for the library's heaps, or the run reports that they have not.
#[test]
fn no_room_for_the_library_is_an_error() {
    let point = points("barrier", &["adapter.memory=1 MB"]).remove(0);
    let error = simulate(&point, None).unwrap_err();
    let text = error.to_string();
    for words in ["no memory for the libraries", "--set adapter.memory"] {
        assert!(text.contains(words), "{text}");
    }
}
