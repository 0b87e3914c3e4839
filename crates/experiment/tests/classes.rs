//! Traffic classes in experiments: a job that has a class for itself is as fast beside a hot spot
//! as alone.

use crate::common;

use experiment::{Point, simulate};
use workload::Records;

const CLASSES: &str = include_str!("classes.toml");

fn run(series: &str, overrides: &[&str]) -> Vec<Records> {
    let points = common::series(series, "classes.toml", CLASSES, overrides);
    let run =
        |point: &Point| simulate(point, None).unwrap_or_else(|error| panic!("{series}: {error}"));
    points.iter().map(run).collect()
}

/// A job's metric.
fn of_job(records: &Records, job: &str, metric: &str) -> f64 {
    let mut rows = records.tables.rows.iter();
    let found = rows
        .find(|row| row.metric == metric && row.job.as_deref() == Some(job) && row.batch.is_none());
    found
        .unwrap_or_else(|| panic!("no {metric} of {job}"))
        .value
}

/// 32 nodes send all they can to node 0, and their packets, which wait with open circuits, fill the
/// links that lead down to its part of the tree. Short messages to other nodes in this part need
/// some of these links.
#[test]
fn a_job_of_another_class_does_not_wait_for_the_hot_spot() {
    for engine in ["worm", "flit"] {
        let change = format!("fabric.engine={engine}");
        let of_series = |name: &str| run(name, &[&change]).remove(0);
        let [alone, classes, together] = ["alone", "classes", "together"].map(of_series);
        let latency = |records: &Records| of_job(records, "short", "latency_mean");
        let messages = of_job(&alone, "short", "messages");
        assert!(messages > 100.0, "{messages} messages");
        assert!(of_job(&classes, "bulk", "saturated") > 0.5);
        let [alone, classes, together] = [alone, classes, together].map(|it| latency(&it));
        assert!(classes < 1.1 * alone, "{classes} us, not {alone} us");
        assert!(together > 3.0 * alone, "{together} us");
    }
}

/// Library processes, too: their envelopes and answers are in their job's class.
#[test]
fn a_barrier_of_another_class_does_not_wait_for_the_hot_spot() {
    let [together, apart] = &run("barrier", &[])[..] else {
        panic!("two classes");
    };
    let [together, apart] = [together, apart].map(|records| records.mean("latency"));
    assert!(together > 3.0 * apart, "{together} {apart}");
}
