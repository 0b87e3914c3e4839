//! The identity of points: changes that affect a key, and changes that do not.

#[path = "../../machine/tests/common/changes.rs"]
mod changes;
use crate::common;

use changes::CHANGES;
use common::{EXPERIMENT, GOOD_MACHINE, MACHINE, keys, plan_on, points};
use experiment::MachineFile;

#[test]
fn keys_are_distinct_and_name_no_people() {
    let keys = keys(&points(&[]));
    let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len());
    assert!(keys.iter().all(|key| !key.contains("source\":\"test")
        && !key.contains("Good")
        && !key.contains("good")));
}

/// Changes that leave the key as it is: they do not affect results.
#[test]
fn keys_do_not_depend_on_words_and_bounds() {
    let changed = |experiment: &str, machine: &str, overrides: &[&str]| {
        let machine = MachineFile {
            text: machine,
            ..GOOD_MACHINE
        };
        keys(&plan_on(machine, ("other.toml", experiment), overrides).unwrap())
    };
    let expected = keys(&points(&[]));
    let titles = EXPERIMENT
        .replace("\"Good\"", "\"Fine\"")
        .replace("Short messages", "A title");
    let names = titles
        .replace("name = \"load\"", "name = \"other\"")
        .replace("machine = \"good\"", "machine = \"x\"");
    let machine = MACHINE
        .replace("\"test\"", "\"elsewhere\"")
        .replace("A good machine", "Another")
        .replace("some.claim", "another.claim");
    assert_eq!(changed(&names, &machine, &[]), expected);
    let bounds = ["run.max_events=12345", "run.max_memory=1 GB"];
    assert_eq!(changed(EXPERIMENT, MACHINE, &bounds), expected);
    // Without a precision, no window doubles.
    let doublings = ["run.doublings=1"];
    assert_eq!(changed(EXPERIMENT, MACHINE, &doublings), expected);
    // The same quantity, in another unit.
    let size = EXPERIMENT.replace("4 KB", "4096 B");
    assert_eq!(changed(&size, MACHINE, &[]), expected);
    let time = MACHINE.replace("\"1 us\"", "\"1000 ns\"");
    assert_eq!(changed(EXPERIMENT, &time, &[]), expected);
}

/// Changes to every point's key.
#[test]
fn keys_depend_on_every_value() {
    let before = keys(&points(&[]));
    let differ = |after: &[String]| {
        before
            .iter()
            .zip(after)
            .all(|(before, after)| before != after)
    };
    let others = [
        "run.window=201 us",
        "run.warm_up=1 us",
        "run.batches=5",
        "run.slices=5",
        "run.precision=0.01",
        "topology.nodes=63",
        "topology.up=[4, 2]",
        "topology.parallel=[1, 2]",
        "switch.multiplexing=round-robin",
        "adapter.turnaround=201 ns",
        "adapter.command=1 ns",
        "adapter.dma_start=1 ns",
        "adapter.input=1 ns",
        "adapter.event=1 ns",
        "adapter.poll=1 ns",
        "adapter.time_slice=1 us",
        "adapter.queue=1",
        "adapter.input_buffers=1",
        "adapter.retries=1",
        "adapter.retry_delay=2 us",
        "adapter.trap_delay=2 ms",
        "adapter.memory=32 MB",
        "adapter.interrupt=6 us",
        "adapter.thread_cycle=11 ns",
        "adapter.thread_switch=31",
        "adapter.thread_issue=11",
        "bus.rate=263 MB/s",
        "bus.burst=32 B",
        "bus.burst_overhead=1 ns",
        "bus.turnaround=1 ns",
        "host.call=1 ns",
        "host.copy=599 MB/s",
        "host.shared=1 ns",
        "tport.handle=1",
        "tport.scan=1",
        "tport.small=64 B",
        "tport.big=1 KB",
        "tport.slots=1",
        "tport.buffer=1 KB",
        "tport.system=1 KB",
        "group.branching=3",
        "group.broadcast=1",
    ];
    for change in CHANGES.into_iter().chain(others) {
        let with = match change.split_once('=') {
            Some(("topology.nodes", _)) => Some("series.ping.to=[1, 62]"),
            Some(("switch.multiplexing", _)) => Some("fabric.engine=flit"),
            _ => None,
        };
        let overrides: Vec<&str> = [change].into_iter().chain(with).collect();
        let after = keys(&points(&overrides));
        assert_eq!(before.len(), after.len());
        assert!(differ(&after), "{change}");
    }
    let precise = |more| keys(&points(&["run.precision=0.01", more]));
    assert!(precise("run.doublings=2") != precise("run.doublings=3"));
    let mut seeds = points(&[]);
    for point in &mut seeds {
        point.seed += 10;
    }
    assert!(differ(&keys(&seeds)));
}
