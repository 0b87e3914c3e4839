//! Jobs in experiment files: node sets, pair files, several jobs, machine changes.

use crate::common;

use common::{lines, plan_file};
use experiment::{Job, NodeSet, PatternSpec, Point, Workload, simulate};
use serde_json::{Value, json};

const JOBS: &str = include_str!("jobs.toml");

/// The points in a series of the file with jobs; pair files lie beside it.
fn points(series: &str, overrides: &[&str]) -> Vec<Point> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jobs.toml");
    common::series(series, file, JOBS, overrides)
}

fn job<'a>(point: &'a Point, name: &str) -> &'a Job {
    match &point.workload {
        Workload::Jobs(traffic) => &traffic.jobs[name],
        other => panic!("{other:?}"),
    }
}

#[test]
fn sets_of_nodes() {
    let numbers = |written: Value| {
        let nodes: NodeSet = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(json!(nodes), written);
        let numbers = nodes.numbers().into_iter();
        numbers.map(elan::NodeId::get).collect::<Vec<u32>>()
    };
    let range = |first, last| (first..=last).collect::<Vec<u32>>();
    assert_eq!(numbers(json!(4)), range(0, 3));
    assert_eq!(numbers(json!(0)), range(1, 0));
    assert_eq!(numbers(json!("4")), [4]);
    assert_eq!(numbers(json!("48-63")), range(48, 63));
    assert_eq!(numbers(json!("0-63:8")), [0, 8, 16, 24, 32, 40, 48, 56]);
    assert_eq!(numbers(json!("7-63:8")), [7, 15, 23, 31, 39, 47, 55, 63]);
    assert_eq!(numbers(json!("9, 2 - 4,3-6 : 3")), [2, 3, 4, 6, 9]);
    let except = numbers(json!("0-9 except 0-63:8"));
    assert_eq!(except, [1, 2, 3, 4, 5, 6, 7, 9]);
    assert_eq!(numbers(json!("0-3 except 5")), range(0, 3));
    for wrong in [
        "", "a", "1-", "-1", "3-2", "1,,2", "0-7:", "0-7:0", "+1", "1 except", "except 1", "1 2",
    ] {
        let nodes = serde_json::from_value::<NodeSet>(json!(wrong));
        assert!(nodes.is_err(), "{wrong}");
    }
}

/// Machines slowest, then the jobs' fields in their order, the first job's slower.
#[test]
fn order_and_parameters() {
    for name in ["permutations", "combined"] {
        insta::assert_snapshot!(name, lines(&points(name, &[])));
    }
}

/// A point holds the pairs themselves: it depends on no file any more.
#[test]
fn pairs_come_from_a_file() {
    let point = points("permutations", &[]).remove(1);
    let PatternSpec::Pairs(pairs) = &job(&point, "permutation").pattern else {
        panic!("{point:?}")
    };
    let expected = [(0, 1), (1, 2), (2, 3), (3, 0), (5, 6), (5, 7)];
    assert_eq!(pairs.pairs, expected);
    let again: Point = serde_json::from_str(&serde_json::to_string(&point).unwrap()).unwrap();
    assert_eq!(again.key(), point.key());
    let digests = [&point, &again].map(|point| simulate(point, None).unwrap());
    assert_eq!(digests[0], digests[1]);
    let senders: Vec<_> = digests[0].tables.nodes.iter().map(|row| row.node).collect();
    assert_eq!(senders, [0, 1, 2, 3, 5]);
}

#[test]
fn overrides_name_a_job_where_there_are_several() {
    let (load, nodes) = ("io.load=20 MB/s", "compute.nodes=8");
    let [load, nodes] = [load, nodes].map(|change| format!("series.combined.{change}"));
    for point in points("combined", &[&load, &nodes]) {
        assert_eq!(json!(job(&point, "io").load), json!("20 MB/s"));
        assert_eq!(job(&point, "compute").nodes, NodeSet::first(8));
    }
    let pattern = "series.permutations.pattern=complement";
    assert_eq!(points("permutations", &[pattern]).len(), 2);
    let full = "series.permutations.jobs.permutation.pattern=complement";
    let [short, full] = [pattern, full].map(|change| points("permutations", &[change]));
    assert_eq!(short, full);
}

/// Any two jobs in a series are on different nodes, whatever other jobs there are.
#[test]
fn no_two_of_three_jobs_share_a_node() {
    let job = |name: &str, nodes: &str| {
        format!(
            "[series.jobs.{name}]\npattern = \"uniform\"\nnodes = \"{nodes}\"\nmessage = \"4 KB\"\n\
             sizes = \"fixed\"\narrivals = \"fixed\"\nload = \"10 MB/s\"\n"
        )
    };
    let plan = |sets: [&str; 3]| {
        let jobs: String = ["a", "b", "c"]
            .iter()
            .zip(sets)
            .map(|(name, nodes)| job(name, nodes))
            .collect();
        let head = "title = \"Three\"\nmachine = \"good\"\n[[series]]\nname = \"three\"\n";
        plan_file("three.toml", &format!("{head}{jobs}"), &[])
    };
    assert!(plan(["0-3", "4-7", "8-11"]).is_ok());
    for (sets, one, other) in [
        (["0-3", "3-7", "8-11"], "a", "b"),
        (["0-3", "4-7", "3-9 except 4-7"], "a", "c"),
        (["0-3", "4-7", "7-11"], "b", "c"),
    ] {
        let problems = plan(sets).expect_err("they share a node").0;
        let [problem] = &problems[..] else {
            panic!("{problems:?}");
        };
        assert_eq!(problem.key, format!("series.three.jobs.{other}.nodes"));
        assert!(
            problem.message.contains(&format!("the job `{one}`")),
            "{problem:?}"
        );
    }
}

/// All of a job's keys are part of its points' identity, its name too: it names the random streams.
#[test]
fn keys_depend_on_every_field_of_a_job() {
    let text = include_str!("two_jobs.toml");
    let key = |text: &str| plan_file("two.toml", text, &[]).unwrap()[0].key();
    let changes = [
        ("pattern = \"complement\"", "pattern = \"shuffle\""),
        ("nodes = \"32-55\"", "nodes = \"32-54\""),
        ("servers = \"0-63:8\"", "servers = \"1-63:8\""),
        ("message = \"16 KB\"", "message = \"17 KB\""),
        ("sizes = \"uniform\"", "sizes = \"fixed\""),
        ("load = \"50 MB/s\"", "load = \"51 MB/s\""),
        ("writes = 0.5", "writes = 0.25"),
        ("arrivals = \"exponential\"", "arrivals = \"uniform\""),
        ("jobs.io", "jobs.storage"),
    ];
    for (from, to) in changes {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        assert_ne!(key(&changed), key(text), "{from}");
    }
}

/// A series' changes are distinguished from the machine file and from the command line; they follow
/// the latter's overrides.
#[test]
fn a_series_changes_the_machine() {
    let points = points(
        "permutations",
        &["link.channels=3", "switch.ascent=deterministic"],
    );
    let parameter = |point: &Point, key: &str| {
        let mut parameters = point.machine.parameters().into_iter();
        let found = parameters.find(|parameter| parameter.key == key).unwrap();
        (found.value, found.source)
    };
    let expected = |value: Value, source: &str| (value, source.to_string());
    for (point, changed) in points.iter().zip([false, false, true, true]) {
        let circuit = parameter(point, "switch.circuit");
        let channels = parameter(point, "link.channels");
        if changed {
            assert_eq!(circuit, expected(json!("wormhole"), "experiment"));
            assert_eq!(channels, expected(json!(4), "experiment"));
        } else {
            assert_eq!(circuit, expected(json!("until-acknowledged"), "test"));
            assert_eq!(channels, expected(json!(3), "command line"));
        }
        let ascent = parameter(point, "switch.ascent");
        assert_eq!(ascent, expected(json!("deterministic"), "command line"));
    }
    assert_ne!(points[0].key(), points[2].key());
}

/// A table instead of a list of one: the points are the same, except for fields that a results
/// table would not distinguish.
#[test]
fn a_table_of_changes_is_a_list_of_one() {
    let one = JOBS
        .replace("[{}, { switch.circuit", "{ switch.circuit")
        .replace("4 }]", "4 }");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jobs.toml");
    let all = plan_file(file, &one, &[]).unwrap();
    let changes = &all[0].parameters()["machine"];
    assert_eq!(changes, "link.channels=4, switch.circuit=wormhole");
    assert_eq!(all[..2], points("permutations", &[])[2..]);
}
