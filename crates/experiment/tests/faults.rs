//! Faults in experiment files: the points that their lists make, these points' names, and their
//! keys.

use crate::common;

use common::{GOOD_MACHINE, MACHINE, keys, plan_on, planned, points, series};
use elan::faults::{CableChoice, FaultTiming, FaultyPart};
use experiment::{MachineFile, simulate};
use fabric::topology::FatTree;
use fabric::{LinkId, Wiring};
use serde_json::json;
use std::collections::BTreeSet;
use units::Time;
use workload::Records;

const FAULTS: &str = include_str!("faults.toml");

/// Fault lists multiply, the faults of all series first, and every combination has its own key and
/// its own name.
#[test]
fn lists_of_faults_multiply() {
    let points = series("links", "faults.toml", FAULTS, &[]);
    assert_eq!(points.len(), 2 * 2 * 2);
    let named = |index: usize| {
        let all = points[index].parameters();
        let of_faults = all.into_iter().filter(|(key, _)| key.starts_with("fault."));
        of_faults.collect::<serde_json::Map<_, _>>()
    };
    let expected = json!({
        "fault.0.links": "all", "fault.0.bit_error_rate": 0.0, "fault.1.links": "level 1",
        "fault.1.count": 1, "fault.1.pick": "worst", "fault.1.at": "50 us", "fault.1.for": "50 us",
    });
    assert_eq!(json!(named(1)), expected);
    assert_eq!(named(7)["fault.1.count"], 3);
    let distinct: BTreeSet<_> = keys(&points).into_iter().collect();
    assert_eq!(distinct.len(), points.len());
    // One fault alone has no number.
    let alone = FAULTS.replacen(
        "[[fault]]\nlinks = \"all\"\nbit_error_rate = [0, 1e-6]\n",
        "",
        1,
    );
    let points = series("ping", "faults.toml", &alone, &[]);
    assert_eq!(points[0].parameters()["fault.mtbf"], "20 us");
}

/// File entries become the simulator's faults.
#[test]
fn words_become_faults() {
    let points = series("links", "faults.toml", FAULTS, &[]);
    let config = points[7].machine.failing_config(&points[7].faults, 5);
    let faults = config.faults.expect("two are listed");
    assert_eq!((faults.seed, faults.list.len()), (5, 2));
    assert_eq!(
        (faults.timeout, faults.detect),
        (Time::from_ms(8), Time::from_ms(100))
    );
    assert_eq!(faults.list[0].when, FaultTiming::BitErrors(1e-6));
    let FaultyPart::Links(links) = &faults.list[1].part else {
        panic!("{:?}", faults.list[1]);
    };
    assert_eq!(
        (links.level, links.some),
        (Some(1), Some((3, CableChoice::Worst)))
    );
    let (at, lasts) = (Time::from_us(50), Some(Time::from_us(50)));
    assert_eq!(faults.list[1].when, FaultTiming::At { at, lasts });
}

/// The two cables between two switches have different names, and a node's only cable has no number.
#[test]
fn parallel_cables_have_numbers() {
    let tree = FatTree::with_parallel_links(&[4, 4], &[4], &[2], 16).expect("within bounds");
    let name = |link| FaultyPart::Link(link).name(&tree);
    let names: BTreeSet<_> = LinkId::all(tree.links()).map(name).collect();
    assert_eq!(names.len() * 2, tree.links() as usize);
    for found in [
        "cable from node 0 to switch 1.0",
        "cable from switch 1.0 to switch 2.0 (cable 1 of 2)",
        "cable from switch 1.0 to switch 2.0 (cable 2 of 2)",
    ] {
        assert!(names.contains(found), "{names:?}");
    }
}

/// A command line changes faults, and recovery times.
#[test]
fn a_command_line_changes_faults() {
    let overrides = [
        "fault.0.bit_error_rate=1e-7",
        "series.links.fault.0.count=2",
        "faults.timeout=20 us",
    ];
    let points = series("links", "faults.toml", FAULTS, &overrides);
    assert_eq!(points.len(), 2);
    let config = points[0].machine.failing_config(&points[0].faults, 1);
    let faults = config.faults.expect("two are listed");
    assert_eq!(faults.timeout, Time::from_us(20));
    assert_eq!(faults.list[0].when, FaultTiming::BitErrors(1e-7));
}

/// Where nothing may fail, keys are as they were before machines had faults; recovery times are not
/// in the key then.
#[test]
fn without_faults_keys_do_not_know_of_them() {
    let before = keys(&points(&[]));
    assert!(before.iter().all(|key| !key.contains("fault")));
    assert_eq!(keys(&points(&["faults.timeout=20 us"])), before);
    let key = |overrides: &[&str]| keys(&planned("faults.toml", FAULTS, overrides));
    assert_ne!(key(&["faults.timeout=20 us"]), key(&[]));
}

/// A fault in the machine file belongs to every point.
#[test]
fn machines_have_faults() {
    let text = MACHINE.replacen(
        "[tport]",
        "[[fault]]\nadapter = 3\nat = \"1 ms\"\n\n[tport]",
        1,
    );
    let machine = MachineFile {
        text: &text,
        ..GOOD_MACHINE
    };
    let points = plan_on(
        machine,
        ("faults.toml", FAULTS),
        &["fault.0.bit_error_rate=1e-7"],
    );
    let points = points.unwrap_or_else(|problems| panic!("{problems}"));
    for point in &points {
        let config = point.machine.failing_config(&point.faults, 1);
        let list = config.faults.expect("three are listed").list;
        assert!(matches!(list[0].part, FaultyPart::Adapter(_)));
        assert_eq!(list.len(), 3);
    }
}

/// Listed faults that do not occur have no effect: bit errors at rate 0, and a part that fails
/// after the run.
#[test]
fn faults_that_do_not_occur_change_nothing() {
    let none = FAULTS.replacen("bit_error_rate = [0, 1e-6]", "bit_error_rate = 0", 1);
    let none = none.replacen("at = \"50 us\"", "at = \"900 s\"", 1);
    let none = none.replacen("mtbf = \"20 us\"", "mtbf = \"86400 s\"", 1);
    let listed = planned("faults.toml", &none, &["series.links.fault.0.count=3"]);
    for point in &listed {
        assert!(!point.faults.is_empty());
        let mut bare = point.clone();
        bare.faults.clear();
        let [with, without] = [point, &bare].map(|point| simulate(point, None).unwrap());
        assert!(with.tables.faults.is_empty());
        assert_eq!(with, without, "{:?}", point.parameters());
    }
}

/// Bit errors damage packets, which are retransmitted; cables go down and come back. All events are
/// in the records, and are the same every time.
#[test]
fn what_fails_is_recorded() {
    let short = [
        "faults.timeout=20 us",
        "faults.backoff=5 us",
        "faults.detect=20 us",
    ];
    let points = series("links", "faults.toml", FAULTS, &short);
    let point = points.last().expect("there are points");
    let records = simulate(point, None).unwrap();
    let faults = &records.tables.faults;
    assert_eq!(faults.len(), 4, "{faults:?}");
    assert_eq!(
        (faults[0].part, faults[0].bit_error_rate),
        ("links", Some(1e-6))
    );
    for (index, fault) in faults[1..].iter().enumerate() {
        // The worst three cables at level 1 belong to one switch.
        assert_eq!(fault.from.as_deref(), Some("switch 1.0"));
        assert_eq!(fault.to, Some(format!("switch 2.{index}")));
        let times = [fault.down, fault.known, fault.up].map(Option::unwrap);
        assert_eq!(times, [50, 70, 100].map(Time::from_us));
    }
    assert!(records.value("packets_corrupted") > 0.0);
    assert!(records.value("packets_resent") >= records.value("packets_corrupted"));
    assert!(records.value("failed") == 0.0);
    assert_eq!(simulate(point, None).unwrap(), records);
}

/// A fault's times, and the cables that it picks, come from its own stream: they do not depend on
/// other faults.
#[test]
fn streams_belong_to_faults() {
    let overrides = [
        "series.links.fault.0.pick=random",
        "series.links.fault.0.count=3",
    ];
    let points = series("links", "faults.toml", FAULTS, &overrides);
    let cables = |point: &experiment::Point| {
        let rows = simulate(point, None).unwrap().tables.faults;
        let cables = rows.into_iter().filter(|row| row.part == "link");
        cables.map(|row| row.name).collect::<Vec<_>>()
    };
    let [without, with] = [&points[0], &points[1]].map(cables);
    assert_eq!(without, with);
    let distinct: BTreeSet<_> = without.iter().collect();
    assert_eq!(distinct.len(), 3);
    let mut other = points[0].clone();
    other.seed += 1;
    assert_ne!(cables(&other), without);
}

/// The link table has each cable's down time, also for idle links, and the packets that bit errors
/// damaged.
#[test]
fn links_tell_of_their_faults() {
    let whole = [
        "fault.0.bit_error_rate=1e-5",
        "series.links.fault.0.count=3",
        "series.links.fault.0.pick=random",
    ];
    let [some, all] = ["50 us", "1 ms"].map(|lasts| {
        let lasts = format!("series.links.fault.0.for={lasts}");
        let overrides = [whole[0], whole[1], whole[2], &lasts];
        let points = series("links", "faults.toml", FAULTS, &overrides);
        simulate(&points[0], None).unwrap()
    });
    let dead = |records: &Records| {
        let links = records.tables.links.iter();
        let dead = links.filter(|row| !row.down.is_zero());
        dead.map(|row| row.down.as_us_f64()).collect::<Vec<_>>()
    };
    let [some_dead, all_dead] = [&some, &all].map(dead);
    assert!(
        some_dead.len() == 6 && some_dead.iter().all(|us| (us - 50.0).abs() < 0.1),
        "{some_dead:?}"
    );
    assert!(
        all_dead.len() == 6 && all_dead.iter().all(|us| (us - 150.0).abs() < 0.1),
        "{all_dead:?}"
    );
    for records in [some, all] {
        let links = &records.tables.links;
        let errors: u64 = links.iter().map(|row| row.errors).sum();
        let corrupted = records.value("packets_corrupted");
        assert!(corrupted > 5.0, "{corrupted}");
        // A packet may be damaged on several links, and so may its answer be.
        assert!(
            (corrupted..2.0 * corrupted).contains(&(errors as f64)),
            "{errors} {corrupted}"
        );
    }
    // A link that is dead for the whole window carries no packets, and has a row.
    let mut overrides = whole.to_vec();
    overrides.extend([
        "series.links.fault.0.for=1 ms",
        "series.links.fault.0.at=0 s",
    ]);
    let points = series("links", "faults.toml", FAULTS, &overrides);
    let records = simulate(&points[0], None).unwrap();
    let links = &records.tables.links;
    let dead: Vec<_> = links.iter().filter(|row| !row.down.is_zero()).collect();
    assert_eq!(dead.len(), 6);
    for row in dead {
        assert_eq!(
            (row.packets, row.down, row.busy),
            (0, records.simulated, Time::ZERO)
        );
    }
}

/// Parts fail and are repaired at random, again and again: times follow each other, and their means
/// are about those that are given.
#[test]
fn parts_fail_at_random() {
    let often = [
        "faults.timeout=20 us",
        "faults.backoff=5 us",
        "faults.detect=5 us",
    ];
    let many = FAULTS.replacen("repeats = 10", "repeats = 500", 1);
    let many = many.replacen("bit_error_rate = [0, 1e-6]", "bit_error_rate = 0", 1);
    let points = series("ping", "faults.toml", &many, &often);
    let records = simulate(&points[0], None).unwrap();
    let faults = &records.tables.faults;
    assert!(faults.len() > 100, "{}", faults.len());
    let us = |time: Option<Time>| time.map(Time::as_us_f64);
    let (mut before, mut up, mut down) = (0.0, 0.0, 0.0);
    for fault in faults {
        assert_eq!(fault.name, "cable from switch 1.0 to switch 2.1");
        let (Some(fell), Some(rose)) = (us(fault.down), us(fault.up)) else {
            continue;
        };
        assert!(before < fell && fell < rose);
        // The sources learn all that is down whenever they learn: 5 us after this failure, or after
        // the repair before.
        assert!(us(fault.known).is_none_or(|known| fell < known && known < fell + 5.0 + 1e-9));
        (up, down, before) = (up + fell - before, down + rose - fell, rose);
    }
    let count = faults.len() as f64;
    assert!((15.0..25.0).contains(&(up / count)), "{}", up / count);
    assert!((7.0..13.0).contains(&(down / count)), "{}", down / count);
}

/// A message that cannot be carried ends a ping, with the reason; steady-traffic jobs count such
/// messages and continue. A job on a stopped host sends no more messages.
#[test]
fn messages_end_with_errors() {
    let soon = [
        "faults.timeout=10 us",
        "faults.backoff=5 us",
        "faults.give_up=50 us",
        "faults.detect=10 us",
        "run.window=3 ms",
    ];
    let cut = FAULTS.replacen("bit_error_rate = [0, 1e-6]", "bit_error_rate = 0", 1);
    let ping = cut.replacen(
        "link = \"switch 1.0, port 5\"\nmtbf = \"20 us\"\nmttr = \"10 us\"",
        "link = \"node 5\"\nat = \"1 us\"",
        1,
    );
    let points = series("ping", "faults.toml", &ping, &soon);
    let error = simulate(&points[0], None).unwrap_err().to_string();
    assert!(
        error.contains("node 0") && error.contains("node 5") && error.contains("has failed"),
        "{error}"
    );

    let old = "links = \"level 1\"\ncount = [1, 3]\npick = [\"random\", \"worst\"]\n\
        at = \"50 us\"\n\
        for = \"50 us\"";
    for (part, failed) in [("link = \"node 3\"", true), ("node = 3", false)] {
        let jobs = cut.replacen(old, &format!("{part}\nat = \"20 us\""), 1);
        let points = series("links", "faults.toml", &jobs, &soon);
        let records = simulate(&points[0], None).unwrap();
        assert_eq!(records.value("failed") > 0.0, failed, "{part}");
        let sent = records
            .tables
            .nodes
            .iter()
            .map(|row| (row.node, row.accepted));
        let (of_node, of_others): (Vec<_>, Vec<_>) = sent.partition(|&(node, _)| node == 3);
        let least = of_others
            .iter()
            .map(|&(_, load)| load)
            .fold(f64::MAX, f64::min);
        assert!(of_node[0].1 < least, "{part}: {} {least}", of_node[0].1);
    }
}
