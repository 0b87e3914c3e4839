//! One stream over links with bit errors: the closed form of its goodput against the simulation.

use crate::common;

use experiment::{Point, simulate};
use workload::Records;

const GOODPUT: &str = include_str!("goodput.toml");

fn run(series: &str, overrides: &[&str]) -> Vec<(Point, Records)> {
    let points = common::series(series, "goodput.toml", GOODPUT, overrides);
    let run = |point: Point| {
        let records = simulate(&point, None).unwrap_or_else(|error| panic!("{series}: {error}"));
        (point, records)
    };
    points.into_iter().map(run).collect()
}

/// Each point's goodput by the closed form.
fn form(series: &str, overrides: &[&str]) -> Vec<f64> {
    let points = run(series, overrides).into_iter();
    points
        .map(|(_, records)| records.value("accepted"))
        .collect()
}

/// Each simulated point's goodput, and its standard error over the batches.
fn simulated(series: &str) -> Vec<(f64, f64)> {
    let measured = |(_, records): (Point, Records)| {
        let (values, mean) = (records.values("accepted"), records.mean("accepted"));
        let count = values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (mean, (squares / (count - 1.0) / count).sqrt())
    };
    let points = run(series, &["run.window=200 ms"]).into_iter();
    points.map(measured).collect()
}

/// The greatest distance between a form and the simulation, in standard errors. A window's counts
/// are whole messages.
fn distance(found: &[(f64, f64)], forms: &[f64]) -> f64 {
    assert_eq!(found.len(), forms.len());
    let one =
        |(&(mean, error), form): (&(f64, f64), &f64)| (mean - form).abs() / error.max(2e-5 * mean);
    found.iter().zip(forms).map(one).fold(0.0, f64::max)
}

/// The simulation agrees with the closed form without errors, and at all error rates. The same form
/// for a machine with one different number is far off, so the simulation distinguishes such forms.
#[test]
fn the_closed_form_is_met() {
    let found = simulated("stream");
    for &(mean, error) in &found {
        assert!(error < 0.02 * mean, "{mean} +- {error} says little");
    }
    let right = distance(&found, &form("form", &[]));
    assert!(right < 4.0, "{right} standard errors");
    for wrong in [
        "series.form.goodput.to=4",
        "series.form.goodput.from=1",
        "adapter.retry_delay=1500 ns",
        "adapter.turnaround=300 ns",
        "packet.header=16 B",
    ] {
        let off = distance(&found, &form("form", &[wrong]));
        let same_distance = wrong.ends_with("from=1");
        assert_eq!(off < 4.0, same_distance, "{wrong}: {off} standard errors");
    }
}

/// Link levels may have their own rates.
#[test]
fn only_the_links_of_the_way_count() {
    let found = simulated("levels");
    let right = distance(&found, &form("form-of-levels", &[]));
    assert!(right < 4.0, "{right} standard errors");
    let other = form(
        "form-of-levels",
        &["series.form-of-levels.fault.0.links=level 2"],
    );
    let all = form(
        "form-of-levels",
        &["series.form-of-levels.fault.0.links=all"],
    );
    let near = form("form-of-levels", &["series.form-of-levels.goodput.to=1"]);
    // By level 2, headers are refused farther away; from node 0 to node 1 no level 1 link is on the
    // way.
    assert!(other[0] < near[0] && all[0] < other[0] && other[0] > 0.9 * found[0].0);
    assert!(distance(&found, &all) > 20.0 && distance(&found, &near) > 20.0);
}
