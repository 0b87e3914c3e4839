//! Machine files that are right: parameters, provenance, overrides, schema, and the shipped machines.

#[path = "common/changes.rs"]
mod changes;

use changes::CHANGES;
use config::Override;
use elan::noise::{Source, Spread};
use fabric::Broadcast;
use machine::{Machine, Parameter};
use serde_json::{Value, json};
use std::path::Path;
use units::Time;

const GOOD: &str = include_str!("good.toml");

fn machine(overrides: &[&str]) -> Machine {
    let overrides: Vec<_> = overrides
        .iter()
        .map(|text| Override::parse(text).unwrap())
        .collect();
    Machine::parse("good.toml", GOOD, &overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

fn parameter(machine: &Machine, key: &str) -> Parameter {
    let found = machine
        .parameters()
        .into_iter()
        .find(|parameter| parameter.key == key);
    found.unwrap_or_else(|| panic!("no parameter {key}"))
}

/// Every key of a file, in its order: the sections' names and what is in them.
fn keys(text: &str) -> Vec<String> {
    let mut section = "";
    let mut keys = Vec::new();
    for line in text.lines() {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name;
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            keys.push(format!("{section}.{key}"));
        }
    }
    keys
}

#[test]
fn parameters_are_complete_and_in_the_order_of_the_file() {
    let listed: Vec<_> = machine(&[])
        .parameters()
        .into_iter()
        .map(|parameter| parameter.key)
        .collect();
    let expected: Vec<_> = keys(GOOD)
        .into_iter()
        .filter(|key| !key.starts_with("machine."))
        .collect();
    assert_eq!(listed, expected);
}

#[test]
fn parameters_have_their_values_and_provenance() {
    let turnaround = parameter(&machine(&[]), "adapter.turnaround");
    assert_eq!(turnaround.value, json!("200 ns"));
    assert_eq!(
        (turnaround.source.as_str(), turnaround.fitted_to),
        ("test", vec!["some.claim".to_string()])
    );
    assert_eq!(
        parameter(&machine(&[]), "topology.down").value,
        json!([4, 4, 4])
    );
    assert_eq!(
        parameter(&machine(&[]), "fabric.engine").source,
        "",
        "no physics"
    );
}

#[test]
fn an_override_changes_the_provenance() {
    let changed = machine(&[
        "adapter.turnaround=300 ns",
        "link.channels=4",
        "topology.up=[2, 2]",
    ]);
    let turnaround = parameter(&changed, "adapter.turnaround");
    assert_eq!(turnaround.value, json!("300 ns"));
    assert_eq!(
        (turnaround.source.as_str(), turnaround.fitted_to.len()),
        ("command line", 0)
    );
    assert_eq!(parameter(&changed, "link.channels").value, json!(4));
    assert_eq!(parameter(&changed, "topology.up").value, json!([2, 2]));
    let others = |machine: &Machine| -> Vec<_> {
        let changed = ["adapter.turnaround", "link.channels", "topology.up"];
        let all = machine.parameters().into_iter();
        all.filter(|parameter| !changed.contains(&parameter.key.as_str()))
            .collect()
    };
    assert_eq!(others(&changed), others(&machine(&[])));
}

/// A key that a machine file leaves out can be given.
#[test]
fn an_override_adds_a_parameter() {
    let parallel = |machine: &Machine| {
        machine
            .cluster_config()
            .fabric
            .topology
            .as_tree()
            .expect("a tree")
            .parallel_links(2)
    };
    assert!(machine(&[]).topology.parallel.is_none());
    assert_eq!(parallel(&machine(&[])), 1);
    let changed = machine(&["topology.parallel=[1, 2]"]);
    assert_eq!(parallel(&changed), 2);
    let found = parameter(&changed, "topology.parallel");
    assert_eq!(
        (found.value, found.source.as_str()),
        (json!([1, 2]), "command line")
    );
    let line = "\n[link]\n";
    let text = GOOD.replacen(
        line,
        &format!("parallel = {{ value = [1, 2], source = \"test\" }}\n{line}"),
        1,
    );
    let written = Machine::parse("m.toml", &text, &[]).unwrap();
    assert_eq!(written.values(), changed.values());
    assert_eq!(parameter(&written, "topology.parallel").source, "test");
}

/// What the operating system takes of the hosts: optional, switched off as a whole, with provenance, and no part of what a
/// machine without it is known by.
#[test]
fn noise_is_optional() {
    let quiet = machine(&[]);
    assert!(quiet.values().get("noise").is_none() && quiet.values()["host"].get("cpus").is_none());
    assert_eq!((quiet.cpus(), quiet.cluster_config().noise.len()), (4, 0));
    let text = format!(
        "{GOOD}{}",
        r#"
[noise.tick]
cpu = { value = "all", source = "test" }
interval = { value = "1 ms", source = "test", fitted_to = ["some.claim"] }
duration = { value = "2 us", source = "test" }
durations = { value = "exponential", source = "test" }

[noise.measured]
cpu = { value = 1, source = "test" }
interval = { value = [["1 ms", 3], ["2 ms", 1]], source = "test" }
duration = { value = [["2 us", 4]], source = "test" }
"#
    );
    let parse = |overrides: &[&str]| {
        let overrides: Vec<_> = overrides
            .iter()
            .map(|text| Override::parse(text).unwrap())
            .collect();
        let parsed = Machine::parse("noisy.toml", &text, &overrides);
        parsed.unwrap_or_else(|problems| panic!("{problems}"))
    };
    let noisy = parse(&[]);
    let us = Time::from_us;
    let expected = [
        Source {
            name: "measured".into(),
            cpu: Some(1),
            interval: Spread::Counted([(us(1000), 3), (us(2000), 1)].into()),
            duration: Spread::Counted([(us(2), 4)].into()),
        },
        Source {
            name: "tick".into(),
            cpu: None,
            interval: Spread::Fixed(us(1000)),
            duration: Spread::Exponential(us(2)),
        },
    ];
    assert_eq!(noisy.cluster_config().noise, expected);
    let interval = parameter(&noisy, "noise.tick.interval");
    assert_eq!(interval.fitted_to, ["some.claim"]);
    assert_ne!(noisy.values(), quiet.values());
    let again: Machine = serde_json::from_str(&serde_json::to_string(&noisy).unwrap()).unwrap();
    assert_eq!(again, noisy);

    assert_eq!(parse(&["host.noise=false"]).cluster_config().noise.len(), 0);
    let slower = parse(&["noise.tick.interval=10 ms", "host.cpus=2"]);
    assert_eq!(
        slower.cluster_config().noise[1].interval,
        Spread::Fixed(us(10_000))
    );
    assert_eq!((slower.cpus(), slower.cluster_config().host.cpus), (2, 2));
}

#[test]
fn overrides_of_lists_mechanisms_and_values() {
    let each = machine(&["link.hop_delay=[\"55 ns\", \"60 ns\", \"65 ns\"]"]);
    assert_eq!(each.link.hop_delay.value.level(2), Some(Time::from_ns(65)));
    assert_eq!(
        machine(&[]).link.hop_delay.value.level(2),
        Some(Time::from_ns(55))
    );
    assert!(
        !machine(&["switch.priorities=false"])
            .switch
            .priorities
            .value
    );
    let broadcast = |overrides: &[&str]| machine(overrides).cluster_config().fabric.broadcast;
    assert_eq!(broadcast(&[]), Broadcast::Serialised);
    assert_eq!(
        broadcast(&["switch.broadcast=by-source"]),
        Broadcast::BySource
    );
    assert_eq!(machine(&["fabric.engine=worm"]), machine(&[]));
    assert_eq!(
        machine(&["link.buffer.value=64 flits"]),
        machine(&["link.buffer=64 flits"])
    );
    assert_eq!(machine(&["machine.name=mine"]).machine.name, "mine");
}

#[test]
fn a_parameter_may_be_a_section() {
    let line = "rate = { value = \"400 MB/s\", source = \"test\" }\n";
    let section = "\n[link.rate]\nvalue = \"400 MB/s\"\nsource = \"test\"\n";
    let text = GOOD.replacen(line, "", 1) + section;
    assert_eq!(Machine::parse("m.toml", &text, &[]).unwrap(), machine(&[]));
    let change = Override::parse("link.rate=800 MB/s").unwrap();
    let changed = Machine::parse("m.toml", &text, &[change]).unwrap();
    assert_eq!(changed, machine(&["link.rate=800 MB/s"]));
}

#[test]
fn values_leave_out_name_title_and_provenance() {
    let text = GOOD
        .replace("\"test\"", "\"elsewhere\"")
        .replace("A good machine", "Another")
        .replace("\"good\"", "\"other\"");
    let other = Machine::parse("other.toml", &text, &[]).unwrap();
    assert_eq!(other.values(), machine(&[]).values());
    assert_ne!(machine(&["bus.burst=32 B"]).values(), machine(&[]).values());
    assert_eq!(machine(&[]).values()["link"]["hop_delay"], json!("55 ns"));
}

#[test]
fn a_machine_survives_json() {
    let machine = machine(&["link.hop_delay=[\"55 ns\", \"60 ns\", \"65 ns\"]"]);
    let text = serde_json::to_string(&machine).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
}

#[test]
fn the_resolved_form_is_in_cycles() {
    let delays = "link.hop_delay=[\"55 ns\", \"60 ns\", \"65 ns\"]";
    let config = machine(&[delays, "topology.nodes=16"]).cluster_config();
    assert_eq!(config.cycle, Time::from_ns(5));
    assert_eq!(config.fabric.hop_delay, [11, 12, 13]);
    assert_eq!(
        (
            config.fabric.topology.nodes(),
            config.fabric.topology.positions()
        ),
        (16, 64)
    );
    assert_eq!((config.fabric.age_cap, config.fabric.age_step), (14_000, 1));
}

/// Every parameter of these sections decides something in the simulator, unless it needs others to do so.
#[test]
fn every_parameter_has_its_destination() {
    let before = format!("{:?}", machine(&[]).cluster_config());
    for change in CHANGES.into_iter().chain(["fabric.engine=flit"]) {
        let after = format!("{:?}", machine(&[change]).cluster_config());
        assert_ne!(after, before, "{change}");
    }
}

/// The schema of a key, given by its path.
fn described<'a>(schema: &'a Value, key: &str) -> &'a Value {
    key.split('.').fold(schema, |table, step| {
        let table = match table["$ref"].as_str() {
            Some(name) => &schema["$defs"][name.rsplit('/').next().unwrap()],
            None => table,
        };
        &table["properties"][step]
    })
}

#[test]
fn the_schema_describes_every_key() {
    let schema = Machine::schema();
    for key in keys(GOOD).into_iter().chain(["topology.parallel".into()]) {
        let entry = described(&schema, &key);
        assert!(
            entry["description"]
                .as_str()
                .is_some_and(|text| text.len() > 5),
            "{key}: {entry}"
        );
    }
    for section in [
        "topology", "link", "switch", "packet", "adapter", "bus", "fabric",
    ] {
        assert!(
            described(&schema, section)["description"].is_string(),
            "{section}"
        );
    }
    insta::assert_snapshot!(
        "schema_of_hop_delay",
        pretty(described(&schema, "link.hop_delay"))
    );
    insta::assert_snapshot!(
        "schema_of_circuit",
        pretty(described(&schema, "switch.circuit"))
    );
}

/// Every file in `machines/` is right, and every parameter of it says where it comes from.
#[test]
fn shipped_machines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines");
    let mut count = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let machine = Machine::parse(&path.display().to_string(), &text, &[])
            .unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(
            Some(machine.machine.name.as_str()),
            path.file_stem().and_then(|name| name.to_str())
        );
        for parameter in machine
            .parameters()
            .iter()
            .filter(|parameter| !parameter.key.starts_with("fabric."))
        {
            assert!(
                parameter.source.len() > 3,
                "{}: {}",
                path.display(),
                parameter.key
            );
            assert!(
                parameter.fitted_to.iter().all(|claim| claim.contains('.')),
                "{}",
                parameter.key
            );
        }
        count += 1;
    }
    assert!(count > 0);
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}
