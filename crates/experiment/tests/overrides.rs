//! Overrides on a command line: the values that they replace, and the errors for wrong ones.

use crate::common;

use common::{EXPERIMENT, plan_file, points, snapshot};
use config::Override;
use experiment::{Experiment, Point};
use units::Time;

#[test]
fn values_of_a_series() {
    let points = points(&[
        "series.load.nodes=[16, 32]",
        "series.load.message=64 KB",
        "series.ping.to=2",
    ]);
    let loads = points.iter().filter(|point| point.series == "load");
    let loads: Vec<_> = loads.map(Point::parameters).collect();
    assert_eq!(loads.len(), 8, "two numbers of nodes, two loads, two seeds");
    for (index, load) in loads.iter().enumerate() {
        assert_eq!(load["nodes"], if index < 4 { 16 } else { 32 });
        assert_eq!(load["message"], "64 KB");
    }
    let pings = points.len() - loads.len();
    assert_eq!(pings, 6, "one destination instead of two");
}

#[test]
fn settings_of_all_series_and_of_one() {
    let changed = points(&[
        "run.window=2 ms",
        "series.load.run.seeds=3",
        "run.max_events=1_000_000",
    ]);
    for point in &changed {
        assert_eq!(point.run.window, Time::from_ms(2));
        assert_eq!(point.run.seeds, if point.series == "load" { 3 } else { 1 });
        // A key that the file does not have.
        assert_eq!(point.run.max_events, 1_000_000);
    }
    // A series' value overrides the default.
    let ours = points(&["series.load.run.window=3 ms", "run.window=2 ms"]);
    assert_eq!(ours.last().unwrap().run.window, Time::from_ms(3));
}

#[test]
fn settings_of_a_file_without_any() {
    let [run, series] = ["[run]", "[[series]]"].map(|key| EXPERIMENT.find(key).unwrap());
    let text = [&EXPERIMENT[..run], &EXPERIMENT[series..]].concat();
    let points = plan_file("short.toml", &text, &["run.window=2 ms"]).unwrap();
    let two = |point: &Point| point.run.window == Time::from_ms(2);
    assert!(points.iter().all(two));
}

#[test]
fn the_last_one_wins() {
    let points = points(&["run.batches=5", "run.batches=6"]);
    assert!(points.iter().all(|point| point.run.batches == 6));
}

#[test]
fn who_owns_a_key() {
    for key in ["run.window", "series.load.nodes", "series", "run"] {
        assert!(Experiment::owns(key), "{key}");
    }
    for key in ["link.rate", "topology.nodes", "runs.window", "title"] {
        assert!(!Experiment::owns(key), "{key}");
    }
}

#[test]
fn without_quotes_or_with() {
    for text in [
        "run.window=2 ms",
        "run.window = \"2 ms\"",
        " run.window='2 ms'",
    ] {
        let change = Override::parse(text).unwrap();
        let parts = (change.key.as_str(), change.toml());
        assert_eq!(
            (parts.0, parts.1.as_str()),
            ("run.window", Some("2 ms")),
            "{text}"
        );
    }
    assert_eq!(Override::parse("a=b=c").unwrap().value, "b=c");
}

/// Name, overrides.
const WRONG: &[(&str, &[&str])] = &[
    ("set_without_value", &["link.rate"]),
    ("set_without_key", &["=5"]),
    ("set_unknown_key", &["link.hop_dealy=60 ns"]),
    ("set_unknown_section", &["lnk.hop_delay=60 ns"]),
    ("set_section", &["link=60 ns"]),
    ("set_below_a_value", &["machine.title.length=60"]),
    ("set_bare_number", &["link.hop_delay=60"]),
    ("set_wrong_unit", &["link.hop_delay=60 MB"]),
    ("set_out_of_bounds", &["link.channels=33"]),
    (
        "set_list_element",
        &["link.hop_delay=[\"60 ns\", \"62 ns\", \"60 ns\"]"],
    ),
    ("set_broken_list", &["topology.down=[4, 4"]),
    ("set_unknown_value", &["switch.circuit=wormhol"]),
    ("set_consequence_elsewhere", &["topology.down=[4, 4]"]),
    ("set_empty", &["link.rate="]),
    ("set_unknown_series", &["series.laod.nodes=16"]),
    ("set_unknown_field", &["series.load.node=16"]),
    ("set_series", &["series.load=16"]),
    ("set_job", &["series.load.jobs.uniform=16"]),
    ("set_unknown_setting", &["run.windows=2 ms"]),
    ("set_bad_value_of_a_series", &["series.load.nodes=[16, 1]"]),
    (
        "set_more_nodes_than_the_machine",
        &["series.load.nodes=100"],
    ),
    (
        "set_and_a_mistake_in_the_file",
        &[
            "series.ping.message=1 KB",
            "run.max_memory=1 GB",
            "series.load.load=0 B/s",
            "topology.nodes=8",
        ],
    ),
];

#[test]
fn wrong_overrides() {
    for (name, overrides) in WRONG {
        match plan_file("good.toml", EXPERIMENT, overrides) {
            Ok(_) => panic!("{name}: {overrides:?} is wrong"),
            Err(problems) => snapshot(name, &problems),
        }
    }
}

/// An override that removes lines does not move the errors about the lines below.
#[test]
fn places_are_those_of_the_file() {
    let text = EXPERIMENT.replace("nodes = 16", "nodes = 100");
    let place = |overrides: &[&str]| {
        let problem = plan_file("bad.toml", &text, overrides)
            .expect_err("the file is wrong")
            .0
            .remove(0);
        (problem.file, problem.line, problem.column)
    };
    let expected = place(&[]);
    assert_eq!(
        place(&["series.ping.message=1 KB", "run.max_events=5"]),
        expected
    );
}
