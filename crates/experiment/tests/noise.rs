//! The noise test as experiment files have it.

use crate::common;

use common::{GOOD_MACHINE, MACHINE, keys, plan_on};
use experiment::{MachineFile, Point, simulate};
use workload::Records;

const NOISE: &str = include_str!("noise.toml");

/// A tick on all processors, and kernel work on the second.
const CAUSES: &str = r#"
[noise.tick]
cpu = { value = "all", source = "test" }
interval = { value = "1 ms", source = "test" }
duration = { value = "2 us", source = "test" }

[noise.kernel]
cpu = { value = 1, source = "test" }
interval = { value = "50 us", source = "test" }
duration = { value = "1 us", source = "test" }
durations = { value = "exponential", source = "test" }
"#;

fn points(overrides: &[&str]) -> Vec<Point> {
    let text = format!("{MACHINE}{CAUSES}");
    let machine = MachineFile {
        text: &text,
        ..GOOD_MACHINE
    };
    plan_on(machine, ("noise.toml", NOISE), overrides)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

fn noise(overrides: &[&str]) -> Vec<Records> {
    let mut points = points(overrides);
    points.retain(|point| point.series == "noise");
    let run = |point: &Point| simulate(point, None).unwrap();
    points.iter().map(run).collect()
}

/// The mean follows from the causes on each processor: they take a part of all time, so that 100 us
/// of computation take 100 us / (1 - part).
#[test]
fn the_mean_is_what_the_causes_take() {
    for (records, part) in noise(&[]).iter().zip([0.002, 0.022, 0.002, 0.022]) {
        let (found, expected) = (records.mean("elapsed"), 100.0 / (1.0 - part));
        assert!((found - expected).abs() < 0.1, "{found} and {expected}");
        let bins = records.tables.distribution.iter();
        assert_eq!(bins.map(|bin| bin.count).sum::<u64>(), 2000);
        let of_run = records.simulated.as_us_f64() / 2000.0;
        assert!((of_run - found).abs() < 1e-6, "{of_run} and {found}");
    }
}

/// A tick of 2 us in every tenth iteration or so: the quantiles, and the share above 1%, are known.
#[test]
fn a_tick_is_seen_as_such() {
    let first = &noise(&[])[0];
    let share = first.mean("above_1_percent");
    assert!((share - 0.1).abs() < 0.002, "{share}");
    assert!((first.mean("elapsed_p50") - 100.0).abs() < 1e-9);
    assert!((first.mean("elapsed_p99") - 102.0).abs() < 1e-9);
    assert!((first.mean("elapsed_max") - 102.0).abs() < 1e-9);
    let bins = first.tables.distribution.iter();
    let times: Vec<_> = bins.map(|bin| bin.lower).collect();
    assert!(times.len() == 2 && times[0].is_zero(), "{times:?}");
}

#[test]
fn nodes_differ_and_seeds_differ_and_equal_points_do_not() {
    let (one, again) = (noise(&[]), noise(&[]));
    assert_eq!(one, again);
    let bins = |records: &Records| records.tables.distribution.clone();
    assert_ne!(bins(&one[1]), bins(&one[3]), "two nodes");
    let other = noise(&["run.seeds=2"]);
    assert_eq!(other[2], one[1]);
    assert_ne!(bins(&other[3]), bins(&one[1]), "two seeds");
}

#[test]
fn without_noise_all_iterations_are_alike() {
    for records in noise(&["host.noise=false"]) {
        assert!((records.mean("elapsed_max") - 100.0).abs() < 1e-9);
        assert_eq!(records.tables.distribution.len(), 1);
    }
}

/// All keys are part of a point's identity; the machine's noise is, too.
#[test]
fn keys_depend_on_every_field() {
    let before = keys(&points(&[]));
    for change in [
        "series.noise.node=2",
        "series.noise.cpu=2",
        "series.noise.iterations=1000",
        "series.noise.compute=200 us",
        "noise.tick.duration=3 us",
        "noise.kernel.durations=uniform",
        "host.noise=false",
        "series.steps.compute=100 us",
        "series.steps.operation=hgsync",
    ] {
        assert_ne!(before, keys(&points(&[change])), "{change}");
    }
}

/// Processes that move in step wait for the one that noise has made late: a step takes longer than
/// without noise, the more so the more processes there are. (A process other than the root may be
/// late for a hardware barrier by as long as the root's packet is on its way: ticks are longer
/// here.) Without noise it is computation and call.
#[test]
fn noise_delays_steps() {
    let steps = |machine: &str| -> Vec<(f64, f64)> {
        let mut points = points(&["noise.tick.duration=20 us"]);
        points.retain(|point| point.series == "steps" && point.changes.as_deref() == Some(machine));
        let run = |point: &Point| {
            let records = simulate(point, None).unwrap();
            (records.mean("step"), records.mean("latency"))
        };
        points.iter().map(run).collect()
    };
    let (noisy, quiet) = (steps("unchanged"), steps("host.noise=false"));
    assert_eq!((noisy.len(), quiet.len()), (6, 6));
    for (&(noisy, _), &(quiet, latency)) in noisy.iter().zip(&quiet) {
        assert!((quiet - 200.0 - latency).abs() < 1e-6, "{quiet} {latency}");
        assert!(noisy > quiet, "{noisy} {quiet}");
    }
    let extra: Vec<f64> = (0..6).map(|at| noisy[at].0 - quiet[at].0).collect();
    for few in [0, 2, 4] {
        assert!(extra[few + 1] > 1.2 * extra[few], "{extra:?}");
    }
}
