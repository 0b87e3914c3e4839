//! Experiments on networks that are not trees: traffic runs as on a tree, and operations that need
//! a tree are refused.

use crate::common;

use common::{EXPERIMENT, GOOD_MACHINE, MACHINE, plan_on};
use experiment::{MachineFile, Point, simulate};

const TORUS: &[(&str, &str)] = &[("kind", "\"torus\""), ("dimensions", "[4, 4, 4]")];
const MESH: &[(&str, &str)] = &[
    ("kind", "\"torus\""),
    ("dimensions", "[4, 4, 4]"),
    ("wraparound", "false"),
];
const DRAGONFLY: &[(&str, &str)] = &[
    ("kind", "\"dragonfly\""),
    ("terminals", "2"),
    ("group", "4"),
    ("global", "2"),
    ("groups", "9"),
    ("routing", "\"minimal\""),
];
const HYPERX: &[(&str, &str)] = &[
    ("kind", "\"hyperx\""),
    ("dimensions", "[4, 4]"),
    ("terminals", "4"),
    ("routing", "\"ugal-local\""),
];

/// The tests' machine with another network in place of its tree.
fn machine(keys: &[(&str, &str)]) -> String {
    let tree = "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n";
    let key =
        |(key, value): &(&str, &str)| format!("{key} = {{ value = {value}, source = \"test\" }}\n");
    let keys: String = keys.iter().map(key).collect();
    assert!(MACHINE.contains(tree), "the machine of the tests is a tree");
    MACHINE.replace(tree, &keys)
}

fn last_of_load(keys: &[(&str, &str)], engine: &str) -> Point {
    let text = machine(keys);
    let machine = MachineFile {
        text: &text,
        ..GOOD_MACHINE
    };
    let change = format!("fabric.engine={engine}");
    let points = plan_on(machine, ("good.toml", EXPERIMENT), &[&change]);
    let points = points.unwrap_or_else(|problems| panic!("{problems}"));
    let load = points.into_iter().rfind(|point| point.series == "load");
    load.expect("a series of the experiment")
}

#[test]
fn traffic_is_the_same_by_both_movers() {
    for keys in [TORUS, MESH, DRAGONFLY, HYPERX] {
        let [worm, flit] = ["worm", "flit"].map(|engine| {
            let records = simulate(&last_of_load(keys, engine), None).expect("it ends");
            // The 16 hosts fill two dragonfly groups, and one cable between these groups limits
            // them.
            assert!(records.packets > 500, "{} packets", records.packets);
            records
        });
        assert_eq!(worm.digest, flit.digest, "{keys:?}");
        let switches = &worm.tables.switches;
        assert!(!switches.is_empty());
        assert!(switches.iter().all(|switch| switch.level == 1));
    }
}

/// Error messages for collective calls on a machine.
fn refused(text: &str, changes: &[&str]) -> String {
    let machine = MachineFile {
        text,
        ..GOOD_MACHINE
    };
    let collectives = include_str!("collectives.toml");
    let Err(problems) = plan_on(machine, ("collectives.toml", collectives), changes) else {
        panic!("a barrier by hardware that the network does not have");
    };
    problems.to_string()
}

#[test]
fn hardware_broadcasts_need_a_tree() {
    let told = refused(&machine(TORUS), &[]);
    let words = [
        "which need a tree; the machine is a torus",
        "collectives.toml:",
        "gsync, bcast, reduce",
    ];
    assert!(words.iter().all(|words| told.contains(words)), "{told}");
}

#[test]
fn hardware_broadcasts_need_circuits() {
    let told = refused(MACHINE, &["switch.circuit=wormhole"]);
    let words = [
        "which need switches that hold circuits",
        "gsync, bcast, reduce",
    ];
    assert!(words.iter().all(|words| told.contains(words)), "{told}");
}
