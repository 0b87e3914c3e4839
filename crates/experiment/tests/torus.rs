//! Experiments on a torus: traffic runs as on a tree, and what needs a tree is refused.

mod common;

use common::{EXPERIMENT, GOOD_MACHINE, MACHINE, plan_on};
use experiment::{MachineFile, Point, simulate};

/// The machine of the tests with a torus of 4 x 4 x 4 in place of its tree.
fn torus() -> String {
    let tree = "down = { value = [4, 4, 4], source = \"test\" }\nup = { value = [4, 4], source = \"test\" }\n";
    let torus = "kind = { value = \"torus\", source = \"test\" }\ndimensions = { value = [4, 4, 4], source = \"test\" }\n";
    assert!(MACHINE.contains(tree), "the machine of the tests is a tree");
    MACHINE.replace(tree, torus)
}

fn last_of_load(engine: &str) -> Point {
    let text = torus();
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
    let [worm, flit] = ["worm", "flit"].map(|engine| {
        let records = simulate(&last_of_load(engine), None).expect("it ends");
        assert!(records.packets > 1000, "{} packets", records.packets);
        records
    });
    assert_eq!(worm.digest, flit.digest);
    let switches = &worm.tables.switches;
    assert!(!switches.is_empty());
    assert!(switches.iter().all(|switch| switch.level == 1));
}

#[test]
fn hardware_broadcasts_need_a_tree() {
    let text = torus();
    let machine = MachineFile {
        text: &text,
        ..GOOD_MACHINE
    };
    let collectives = include_str!("collectives.toml");
    let Err(problems) = plan_on(machine, ("collectives.toml", collectives), &[]) else {
        panic!("a barrier by hardware on a torus");
    };
    let told = problems.to_string();
    let words = [
        "which need a tree; the machine is a torus",
        "collectives.toml:",
        "gsync, bcast, reduce",
    ];
    assert!(words.iter().all(|words| told.contains(words)), "{told}");
}
