//! From experiment files to points: order, number, seeds, identity; the schema and the shipped
//! experiments.

use crate::common;

use common::{EXPERIMENT, GOOD_MACHINE, plan_file, points};
use experiment::{Experiment, MachineFile, Point, Sweep, plan};
use serde_json::{Value, json};
use std::path::Path;

/// The good experiment: 2 destinations x 2 directions x 3 messages, and 2 loads x 2 seeds.
#[test]
fn order_and_number() {
    let line = |point: &Point| {
        let parameters = point.parameters();
        let values = parameters
            .values()
            .map(|value| value.to_string().replace('"', ""));
        let values = values.collect::<Vec<_>>().join(", ");
        format!("{} seed {}: {values}", point.series, point.seed)
    };
    let lines: Vec<String> = points(&[]).iter().map(line).collect();
    insta::assert_snapshot!("order", lines.join("\n"));
}

#[test]
fn seeds_count_from_the_first() {
    let (experiment, document) = Experiment::parse("good.toml", EXPERIMENT, &[]).unwrap();
    let seeds = |first| -> Vec<u64> {
        let points = plan("good", (&experiment, &document), &GOOD_MACHINE, first).unwrap();
        let load = points.iter().filter(|point| point.series == "load");
        load.map(|point| point.seed).collect()
    };
    assert_eq!(seeds(1), [1, 2, 1, 2]);
    assert_eq!(seeds(100), [100, 101, 100, 101]);
    assert_eq!(seeds(u64::MAX), [u64::MAX, 0, u64::MAX, 0]);
}

#[test]
fn parameters_of_a_point() {
    let first = points(&[]).remove(0);
    let expected = json!({
        "from": 0, "to": 1, "directions": "one", "source": "elan", "destination": "elan",
        "message": "0 B", "repeats": 1
    });
    assert_eq!(Value::from(first.parameters()), expected);
}

#[test]
fn points_survive_json() {
    for point in points(&["link.hop_delay=[\"55 ns\", \"60 ns\", \"65 ns\"]"]) {
        let text = serde_json::to_string(&point).unwrap();
        let again: Point = serde_json::from_str(&text).unwrap();
        assert_eq!(again, point);
        assert_eq!(again.key(), point.key());
    }
}

#[test]
fn sweeps_are_one_value_or_many() {
    let read = |text: &str| serde_json::from_str::<Sweep<u32>>(text);
    assert_eq!(read("3").unwrap(), Sweep::One(3));
    assert_eq!(read("[3, 1, 3]").unwrap(), Sweep::Many(vec![3, 1, 3]));
    assert_eq!(read("[]").unwrap().values(), [0_u32; 0]);
    assert_eq!(Sweep::One("a").values(), ["a"]);
    assert_eq!(json!(Sweep::One(3)), json!(3));
    assert_eq!(json!(Sweep::Many(vec![3, 1])), json!([3, 1]));
    for wrong in [
        "-1", "1.5", "\"1\"", "true", "[1, -1]", "[[1]]", "{}", "null",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    let size = serde_json::from_str::<Sweep<units::Bytes>>("[\"1 KB\", 64]");
    let error = size.unwrap_err().to_string();
    assert!(error.contains("a bare number has no unit"), "{error}");
}

#[test]
fn the_schema_describes_every_key() {
    let schema = Experiment::schema();
    let mut described = 0;
    let mut tables = vec![&schema];
    tables.extend(schema["$defs"].as_object().unwrap().values());
    for table in tables {
        for (key, entry) in table["properties"].as_object().into_iter().flatten() {
            let text = entry["description"].as_str();
            assert!(text.is_some_and(|text| text.len() > 5), "{key}: {entry}");
            described += 1;
        }
    }
    assert!(described > 25, "{described} keys");
    let [ping, job] =
        ["PingGrid", "JobGrid"].map(|kind| &schema["$defs"][kind]["properties"]["message"]);
    assert!(ping.is_object());
    let pretty = serde_json::to_string_pretty(job).unwrap();
    insta::assert_snapshot!("schema_of_message", pretty);
}

/// Every shipped experiment is right on the machines that it names.
#[test]
fn shipped_experiments() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &Path| {
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let mut count = 0;
    let paths = |folder: &Path| {
        let entries = folder.read_dir().unwrap();
        entries.map(|entry| entry.unwrap().path())
    };
    for folder in paths(&root.join("experiments")).filter(|path| path.is_dir()) {
        for path in paths(&folder) {
            let file = path.display().to_string();
            let parsed = Experiment::parse(&file, &read(&path), &[]);
            let (experiment, document) = parsed.unwrap_or_else(|problems| panic!("{problems}"));
            for machine in experiment.machine.values() {
                let machine = root.join("machines").join(machine).with_extension("toml");
                let (name, text) = (machine.display().to_string(), read(&machine));
                let machine = MachineFile {
                    file: &name,
                    text: &text,
                    overrides: &[],
                };
                let points = plan(&file, (&experiment, &document), &machine, 1);
                let points = points.unwrap_or_else(|problems| panic!("{problems}"));
                let count = points.len();
                assert!((2..2000).contains(&count), "{file}: {count} points");
            }
            let untitled = experiment
                .series
                .iter()
                .find(|series| series.title.is_empty());
            assert!(
                untitled.is_none() && !experiment.source.is_empty(),
                "{file}"
            );
            count += 1;
        }
    }
    assert!(count >= 2);
}

#[test]
fn nodes_outside_the_machine_are_refused_when_planning() {
    let text = EXPERIMENT.replace("nodes = 16", "nodes = 65");
    let alone = Experiment::parse("a.toml", &text, &[]);
    assert!(alone.is_ok(), "the file alone is right");
    let problems = plan_file("a.toml", &text, &[]).unwrap_err();
    assert_eq!(problems.0[0].key, "series.load.jobs.uniform.nodes");
    let last = points(&["series.load.nodes=64"]).pop().unwrap();
    assert_eq!(last.parameters()["nodes"], 64);
}
