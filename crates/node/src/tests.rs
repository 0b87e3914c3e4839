//! The node as a program sees it, without a run.

use super::RankNode;
use super::files::{cpuinfo, shown};
use super::processors::{all, length, within};
use link::Settings;

fn node(rank: u32, nodes: &[u32], processors: u32) -> RankNode {
    let settings = Settings {
        processors,
        nodes: 64,
        ..Settings::DEFAULT
    };
    RankNode::of(rank, nodes, settings).expect("a rank of the run")
}

#[test]
fn a_rank_has_the_name_of_its_node_and_a_place_on_it() {
    let nodes = [7, 3, 7, 7];
    let names: Vec<String> = (0..4).map(|rank| node(rank, &nodes, 4).name()).collect();
    assert_eq!(names, ["node7", "node3", "node7", "node7"]);
    let places = (0..4).map(|rank| node(rank, &nodes, 4).place);
    assert_eq!(places.collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert_eq!(RankNode::of(4, &nodes, Settings::DEFAULT), None);
}

#[test]
fn names_of_nodes_are_those_of_the_machine() {
    let node = node(0, &[0], 4);
    let known = [
        "node0",
        "node63",
        "node64",
        "node03",
        "node",
        "vm",
        "node1.local",
    ];
    let known = known.map(|name| node.is_of_machine(name.as_bytes()));
    assert_eq!(known, [true, true, false, false, false, false, false]);
}

#[test]
fn masks_have_a_bit_for_each_processor() {
    let node = node(0, &[0], 70);
    let mask = all(&node);
    assert_eq!(mask[..10], [255, 255, 255, 255, 255, 255, 255, 255, 63, 0]);
    assert_eq!(length(&node), 16);
    assert_eq!(within(&node, &[0; 16]), None);
    let mut beyond = [0; 16];
    beyond[8] = 0b1100_0000;
    assert_eq!(within(&node, &beyond), None);
    beyond[8] |= 1;
    assert_eq!(within(&node, &beyond).map(|mask| mask[8]), Some(1));
}

#[test]
fn the_files_of_the_kernel_describe_the_node() {
    let node = node(1, &[2, 5], 3);
    let host = "processor\t: 0\nmodel name\t: Best CPU\ncpu cores\t: 1\n\nprocessor\t: 1\n\
        model name\t: Best CPU\n";
    let text = cpuinfo(&node, host);
    let lines = |key: &str| text.lines().filter(|line| line.starts_with(key)).count();
    assert_eq!(
        (lines("processor"), lines("model name"), lines("\n")),
        (3, 3, 0)
    );
    assert!(text.contains("processor\t: 2\nmodel name\t: Best CPU\ncpu cores\t: 3\n"));
    let shows =
        |path: &[u8]| shown(&node, path).map(|text| String::from_utf8_lossy(&text).into_owned());
    assert_eq!(
        shows(b"/sys/devices/system/cpu/online").as_deref(),
        Some("0-2\n")
    );
    for path in ["/proc/sys/kernel/hostname", "/etc/hostname"] {
        assert_eq!(shows(path.as_bytes()).as_deref(), Some("node5\n"));
    }
    assert_eq!(shows(b"/proc/meminfo"), None);
}
