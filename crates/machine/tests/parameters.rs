//! Machine files that are right: parameters, provenance, overrides, schema, and the shipped
//! machines.

#[path = "common/changes.rs"]
mod changes;

use changes::CHANGES;
use config::Override;
use elan::Distribution::{Exponential, Fixed};
use elan::noise::{NoiseSource, Spread};
use fabric::{Broadcast, Circuit, LinkId};
use machine::{Machine, Parameter};
use serde_json::{Value, json};
use std::path::Path;
use units::Time;

const GOOD: &str = include_str!("good.toml");
const RAILS: &str = include_str!("rails.toml");

/// A changed hop delay, with one value per level.
const DELAYS: &str = "link.hop_delay=[\"55 ns\", \"60 ns\", \"65 ns\"]";

fn machine(overrides: &[&str]) -> Machine {
    parse(GOOD, overrides)
}

fn parse(text: &str, overrides: &[&str]) -> Machine {
    let overrides = overrides.iter().map(|text| Override::parse(text).unwrap());
    let machine = Machine::parse("good.toml", text, &overrides.collect::<Vec<_>>());
    machine.unwrap_or_else(|problems| panic!("{problems}"))
}

fn parameter(machine: &Machine, key: &str) -> Parameter {
    let mut all = machine.parameters().into_iter();
    let found = all.find(|parameter| parameter.key == key);
    found.unwrap_or_else(|| panic!("no parameter {key}"))
}

/// A file's keys, in its order: the sections' names and their contents.
fn keys(text: &str) -> Vec<String> {
    let mut section = "";
    let mut keys = Vec::new();
    for line in text.lines() {
        let name = line.strip_prefix('[');
        if let Some(name) = name.and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            keys.push(format!("{section}.{key}"));
        }
    }
    keys
}

#[test]
fn parameters_are_complete_and_in_the_order_of_the_file() {
    let listed = machine(&[]).parameters().into_iter();
    let listed: Vec<_> = listed.map(|parameter| parameter.key).collect();
    let mut expected = keys(GOOD);
    expected.retain(|key| !key.starts_with("machine."));
    assert_eq!(listed, expected);
}

#[test]
fn parameters_have_their_values_and_provenance() {
    let turnaround = parameter(&machine(&[]), "adapter.turnaround");
    assert_eq!(turnaround.value, json!("200 ns"));
    assert_eq!(turnaround.source, "test");
    assert_eq!(turnaround.fitted_to, ["some.claim"]);
    let [down, engine] =
        ["topology.down", "fabric.engine"].map(|key| parameter(&machine(&[]), key));
    assert_eq!(down.value, json!([4, 4, 4]));
    assert_eq!(engine.source, "", "no physics");
}

#[test]
fn a_parameter_may_have_the_range_that_its_source_admits() {
    let range = r#"{ low = 1, high = 4, source = "one to four" }"#;
    let text = GOOD.replace(
        r#"channels = { value = 2, source = "test""#,
        &format!(r#"channels = {{ value = 2, source = "test", admissible = {range}"#),
    );
    let channels = parameter(&parse(&text, &[]), "link.channels");
    let expected = json!({ "low": 1, "high": 4, "source": "one to four" });
    assert_eq!(channels.admissible, Some(expected));
    assert_eq!(
        parse(&text, &[]).values(),
        machine(&[]).values(),
        "no physics"
    );
    let changed = parameter(&parse(&text, &["link.channels=3"]), "link.channels");
    assert_eq!(
        changed.admissible, None,
        "a value of one's own has no range of another source"
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
    let provenance = (turnaround.source.as_str(), turnaround.fitted_to.len());
    assert_eq!(provenance, ("command line", 0));
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
        let topology = machine.cluster_config().fabric.topology;
        topology.as_tree().expect("a tree").parallel_links(2)
    };
    assert!(machine(&[]).topology.parallel.is_none());
    assert_eq!(parallel(&machine(&[])), 1);
    let changed = machine(&["topology.parallel=[1, 2]"]);
    assert_eq!(parallel(&changed), 2);
    let found = parameter(&changed, "topology.parallel");
    assert_eq!(found.value, json!([1, 2]));
    assert_eq!(found.source, "command line");
    let parallel = "parallel = { value = [1, 2], source = \"test\" }\n\n[link]\n";
    let written = parse(&GOOD.replacen("\n[link]\n", parallel, 1), &[]);
    assert_eq!(written.values(), changed.values());
    assert_eq!(parameter(&written, "topology.parallel").source, "test");
}

/// The operating system's share of the hosts: optional, switched off as a whole, with provenance,
/// and not part of the identity of a machine without it.
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
    let parse = |overrides: &[&str]| parse(&text, overrides);
    let noisy = parse(&[]);
    let us = Time::from_us;
    let expected = [
        NoiseSource {
            name: "measured".into(),
            cpu: Some(1),
            interval: Spread::Counted([(us(1000), 3), (us(2000), 1)].into()),
            duration: Spread::Counted([(us(2), 4)].into()),
        },
        NoiseSource {
            name: "tick".into(),
            cpu: None,
            interval: Spread::Mean(us(1000), Fixed),
            duration: Spread::Mean(us(2), Exponential),
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
    let config = slower.cluster_config();
    assert_eq!(config.noise[1].interval, Spread::Mean(us(10_000), Fixed));
    assert_eq!((slower.cpus(), config.host.cpus), (2, 2));
}

#[test]
fn overrides_of_lists_mechanisms_and_values() {
    for (overrides, expected) in [(&[DELAYS][..], 65), (&[], 55)] {
        let delay = machine(overrides).link.hop_delay.value.level(2);
        assert_eq!(delay, Some(Time::from_ns(expected)));
    }
    let switch = machine(&["switch.priorities=false"]).switch;
    assert!(!switch.priorities.value);
    let broadcast = |overrides: &[&str]| machine(overrides).cluster_config().fabric.broadcast;
    assert_eq!(broadcast(&[]), Broadcast::Serialised);
    let by_source = broadcast(&["switch.broadcast=by-source"]);
    assert_eq!(by_source, Broadcast::BySource);
    assert_eq!(machine(&["fabric.engine=worm"]), machine(&[]));
    let [one, other] = ["link.buffer.value=64 flits", "link.buffer=64 flits"];
    assert_eq!(machine(&[one]), machine(&[other]));
    assert_eq!(machine(&["machine.name=mine"]).machine.name, "mine");
}

/// Flits of 64 bytes at 100 to 800 Gb/s, hops of 500 cycles, 4 KB packets that cut through. Such a
/// packet has 8 + 10 + 4096 bytes, and 10 more if it goes into a queue: 65 flits. Sixteen channels
/// in four traffic classes; eight adapters a node, each behind a fifth-generation PCI Express bus
/// with 16 lanes, 32 Gb/s each by 128 of 130 bits, which moves both directions at the same time.
#[test]
fn links_of_today() {
    for (gigabits, cycle) in [(100, 5120), (200, 2560), (400, 1280), (800, 640)] {
        let delay = Time::from_ps(500 * cycle);
        let overrides = [
            "topology.nodes=64".to_string(),
            "link.flit=64 B".to_string(),
            format!("link.rate={gigabits} Gb/s"),
            format!("link.hop_delay={delay}"),
            "link.buffer=65 flits".to_string(),
            "link.channels=16".to_string(),
            "link.classes=4".to_string(),
            "switch.circuit=cut-through".to_string(),
            "packet.payload=4 KB".to_string(),
            "packet.transaction=4 KB".to_string(),
            "adapter.packets_in_flight=1024".to_string(),
            "adapter.share_burst=0 flits".to_string(),
            "bus.duplex=full".to_string(),
            "bus.rate=63015 MB/s".to_string(),
            "bus.burst=512 B".to_string(),
            "rails.count=8".to_string(),
        ];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let machine = parse(&[GOOD, RAILS].concat(), &overrides);
        let rate = machine.link.rate.value.fastest().as_bytes_per_second();
        assert_eq!(rate, gigabits * 125_000_000);
        let config = machine.cluster_config();
        assert_eq!(config.cycle, Time::from_ps(cycle));
        assert_eq!(config.fabric.hop_delay, [500; 3]);
        assert_eq!(config.fabric.circuit, Circuit::CutThrough);
        assert_eq!((config.packet.longest(), config.fabric.buffer), (65, 65));
        assert_eq!(config.fabric.packets_in_flight, 1024);
        let classes = (config.fabric.channels, config.fabric.traffic_classes);
        assert_eq!(classes, (16, 4));
        assert_eq!(config.fabric.topology.rails(), 8);
        assert_eq!(config.bus.duplex, elan::Duplex::Full);
    }
    let one = machine(&[]);
    assert_eq!(one.cluster_config().fabric.traffic_classes, 1);
    assert!(one.values()["link"].get("classes").is_none());
}

/// Another network kind removes the keys of the file's kind, but not those that an override gives.
#[test]
fn another_kind_of_network() {
    let torus = ["topology.kind=torus", "topology.dimensions=[4, 4, 4]"];
    let machine = machine(&torus);
    assert_eq!(machine.topology.noun(), "torus");
    assert!(machine.topology.down.is_none() && machine.topology.up.is_none());
    let given = [
        "topology.kind=torus",
        "topology.dimensions=[4, 4, 4]",
        "topology.up=[4, 4]",
    ];
    let overrides: Vec<_> = given
        .iter()
        .map(|text| Override::parse(text).unwrap())
        .collect();
    let problems = Machine::parse("good.toml", GOOD, &overrides).unwrap_err();
    assert!(problems.render(false).contains("a torus has no key `up`"));
}

#[test]
fn a_parameter_may_be_a_section() {
    let line = "rate = { value = \"400 MB/s\", source = \"test\" }\n";
    let section = "\n[link.rate]\nvalue = \"400 MB/s\"\nsource = \"test\"\n";
    let text = GOOD.replacen(line, "", 1) + section;
    for overrides in [&[][..], &["link.rate=800 MB/s"]] {
        assert_eq!(parse(&text, overrides), machine(overrides));
    }
}

#[test]
fn values_leave_out_name_title_and_provenance() {
    let text = GOOD
        .replace("\"test\"", "\"elsewhere\"")
        .replace("A good machine", "Another")
        .replace("\"good\"", "\"other\"");
    let other = parse(&text, &[]);
    assert_eq!(other.values(), machine(&[]).values());
    assert_ne!(machine(&["bus.burst=32 B"]).values(), machine(&[]).values());
    assert_eq!(machine(&[]).values()["link"]["hop_delay"], json!("55 ns"));
}

#[test]
fn a_machine_survives_json() {
    let machine = machine(&[DELAYS]);
    let text = serde_json::to_string(&machine).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
}

#[test]
fn the_resolved_form_is_in_cycles() {
    let config = machine(&[DELAYS, "topology.nodes=16"]).cluster_config();
    assert_eq!(config.cycle, Time::from_ns(5));
    let fabric = config.fabric;
    assert_eq!(fabric.hop_delay, [11, 12, 13]);
    assert!(fabric.credit_delay.is_empty(), "one cycle if not given");
    let topology = fabric.topology;
    assert_eq!((topology.nodes(), topology.positions()), (16, 64));
    assert_eq!((fabric.age_bits, fabric.age_cap), (4, 14_000));
}

/// The fastest rate sets the cycle; slower levels have a pace, and so have cables that a fault
/// slows.
#[test]
fn rates_are_paces() {
    let rates = "link.rate=[\"100 MB/s\", \"400 MB/s\", \"160 MB/s\"]";
    let config = machine(&[rates]).cluster_config();
    assert_eq!(config.cycle, Time::from_ns(5));
    let paces = config.fabric.pace.iter();
    let paces: Vec<_> = paces.map(|pace| (pace.flits(), pace.cycles())).collect();
    assert_eq!(paces, [(1, 4), (1, 1), (2, 5)]);
    let equal = machine(&["link.rate=[\"400 MB/s\", \"400 MB/s\", \"400 MB/s\"]"]);
    assert!(equal.cluster_config().fabric.pace.is_empty());
}

/// A cable's words set its pace and its delay, to the nearest cycle, in both directions; its
/// credits are delayed by the same amount.
#[test]
fn cables_have_rates_and_delays() {
    let cables = "topology.cables=\"switch a\\nswitch b\\nnode n\\nnode m\\n\
        n a rate=100MB/s\\nm b\\nb a delay=63ns\\n\"";
    let changes = ["topology.kind=graph", "topology.nodes=2", cables];
    let config = machine(&[&changes[..], &["link.credit_delay=10 ns"]].concat()).cluster_config();
    let found = config.fabric.differing.iter().map(|(link, differing)| {
        let pace = differing.pace;
        let delays = (differing.hop_delay, differing.credit_delay);
        (link.get(), delays, (pace.flits(), pace.cycles()))
    });
    // Two links from nodes, two to nodes, two between the switches.
    let expected = [
        (0, (11, 2), (1, 4)),
        (2, (11, 2), (1, 4)),
        (4, (13, 4), (1, 1)),
        (5, (13, 4), (1, 1)),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let usual = machine(&changes).cluster_config().fabric;
    assert_eq!(usual.differing[&LinkId::new(4)].credit_delay, 1);
}

/// Cables are faster than the fastest rate, or too slow, or too long.
#[test]
fn cables_are_within_bounds() {
    for (words, message) in [
        (
            "rate=500MB/s",
            "line 3: 500 MB/s is above link.rate, 400 MB/s: make link.rate the fastest rate of all \
            links",
        ),
        ("rate=700KB/s", "is too slow beside link.rate, 400 MB/s"),
        ("delay=6us", "is too long"),
        ("rate=4MB/s delay=5us", "is too long"),
    ] {
        let cables = format!("topology.cables=\"switch a\\nswitch b\\nb a {words}\\n\"");
        let changes = [
            "topology.kind=graph",
            "topology.nodes=2",
            "topology.terminals=1",
            &cables,
        ];
        let changes = changes.map(|change| Override::parse(change).expect("an override"));
        let problems = Machine::parse("good.toml", GOOD, &changes).expect_err("it is wrong");
        assert!(problems.to_string().contains(message), "{problems}");
    }
}

/// Credits take the same time on all levels, or a different one on each; one cycle is the same as
/// not given.
#[test]
fn credits_are_in_cycles() {
    let fabric = |change: &str| machine(&[change]).cluster_config().fabric;
    assert_eq!(fabric("link.credit_delay=55 ns").credit_delay, [11; 3]);
    let each = fabric("link.credit_delay=[\"5 ns\", \"10 ns\", \"5115 ns\"]");
    assert_eq!(each.credit_delay, [1, 2, 1023]);
    let cycle = fabric("link.credit_delay=5 ns");
    let levels = 0..cycle.topology.levels();
    assert!(
        levels
            .into_iter()
            .all(|level| cycle.credit_delay(level) == 1)
    );
    assert!(machine(&[]).values()["link"].get("credit_delay").is_none());
}

/// Every parameter in these sections has an effect in the simulator, unless it needs others for
/// that.
#[test]
fn every_parameter_has_its_destination() {
    let before = format!("{:?}", machine(&[]).cluster_config());
    for change in CHANGES.into_iter().chain(["fabric.engine=flit"]) {
        let after = format!("{:?}", machine(&[change]).cluster_config());
        assert_ne!(after, before, "{change}");
    }
}

/// A key's schema, given by its path.
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
        let text = entry["description"].as_str();
        assert!(text.is_some_and(|text| text.len() > 5), "{key}: {entry}");
        let section = key.split('.').next().expect("a section");
        assert!(
            described(&schema, section)["description"].is_string(),
            "{section}"
        );
    }
    let pretty = |key| serde_json::to_string_pretty(described(&schema, key)).unwrap();
    insta::assert_snapshot!("schema_of_hop_delay", pretty("link.hop_delay"));
    insta::assert_snapshot!("schema_of_circuit", pretty("switch.circuit"));
}

/// Experiments do not read the processors for real programs, so that these are in no key.
#[test]
fn processors_of_programs_decide_no_point() {
    let given = machine(&["processor.step=7.2 ns", "processor.memory=2 GB/s"]);
    assert_eq!(given.values(), machine(&[]).values());
    let processor = given.processor.expect("it is given");
    assert_eq!(processor.step.value, Time::from_ps(7200));
    assert!(processor.core_memory.is_none());
}

/// Nor do they read the file system.
#[test]
fn files_of_programs_decide_no_point() {
    let given = machine(&[
        "files.latency=1 ms",
        "files.rate=100 MB/s",
        "files.total=320 MB/s",
        "files.servers=8",
    ]);
    assert_eq!(given.values(), machine(&[]).values());
    let files = given.files.expect("it is given");
    assert_eq!(files.latency.value, Time::from_ms(1));
    assert_eq!(files.stripe(), units::Bytes::from_kb(64));
}

/// Every file in `machines/` is valid, and each of its parameters has a source.
#[test]
fn shipped_machines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines");
    let mut count = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let machine = parse(&text, &[]);
        let name = path.file_stem().and_then(|name| name.to_str());
        assert_eq!(Some(machine.machine.name.as_str()), name);
        let mut parameters = machine.parameters();
        parameters.retain(|parameter| !parameter.key.starts_with("fabric."));
        for Parameter {
            key,
            source,
            fitted_to,
            ..
        } in parameters
        {
            assert!(source.len() > 3, "{name:?}: {key}");
            let claims = fitted_to.iter().all(|claim| claim.contains('.'));
            assert!(claims, "{name:?}: {key}");
        }
        count += 1;
    }
    assert!(count > 0);
}

/// A lower rate must be below the regular rate of the links that have it; among several links, of
/// one of them.
#[test]
fn a_rate_without_effect_is_refused() {
    let slow_nodes = "link.rate=[\"100 MB/s\", \"400 MB/s\", \"400 MB/s\"]";
    let levels = machine(&[slow_nodes]);
    let cables = "topology.cables=\"switch a\\nswitch b\\nnode n\\nnode m\\n\
                  n a rate=200MB/s\\nm b\\na b rate=100MB/s\\n\"";
    let graph = machine(&["topology.kind=graph", "topology.nodes=2", cables]);
    for (machine, fault, allowed) in [
        (
            &levels,
            "link = 'node 3', rate = '100 MB/s'",
            Some("below 100 MB/s"),
        ),
        (
            &levels,
            "link = 'node 3', rate = '200 MB/s'",
            Some("below 100 MB/s"),
        ),
        (&levels, "link = 'node 3', rate = '99 MB/s'", None),
        (
            &levels,
            "links = 'level 0', rate = '200 MB/s'",
            Some("below 100 MB/s"),
        ),
        (&levels, "links = 'level 1', rate = '200 MB/s'", None),
        (&levels, "links = 'all', rate = '200 MB/s'", None),
        (
            &graph,
            "link = 'node 0', rate = '200 MB/s'",
            Some("below 200 MB/s"),
        ),
        (&graph, "link = 'node 0', rate = '150 MB/s'", None),
        (&graph, "link = 'node 1', rate = '200 MB/s'", None),
        (&graph, "links = 'all', count = 1, rate = '390 MB/s'", None),
        (
            &graph,
            "links = 'level 1', rate = '150 MB/s'",
            Some("below 100 MB/s"),
        ),
    ] {
        let read = machine.read_fault(fault);
        let told = read.err().map(|problems| problems.to_string());
        let told = told.as_deref();
        assert_eq!(told.is_some(), allowed.is_some(), "{fault}: {told:?}");
        assert!(
            allowed.is_none_or(|words| told.unwrap().contains(words)),
            "{told:?}"
        );
    }
}
