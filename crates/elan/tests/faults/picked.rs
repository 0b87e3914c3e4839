//! Cables that a fault picks: how many, which, and each as likely as the others.

use crate::common::{cluster, failing, sixteen_nodes};
use elan::faults::{CableChoice, FaultTiming, FaultyPart, Links};
use elan::{Config, faults::Fault};
use fabric::id::LinkId;
use std::collections::BTreeMap;
use units::Time;

/// The cables above the nodes' switches: sixteen.
fn above(some: Option<(u32, CableChoice)>) -> Links {
    Links {
        level: Some(1),
        rail: None,
        some,
    }
}

/// The cables that fail, in the order of their faults.
fn failed(count: u32, pick: CableChoice, seed: u64) -> Vec<LinkId> {
    let fault = Fault {
        part: FaultyPart::Links(above(Some((count, pick)))),
        when: FaultTiming::At {
            at: Time::from_us(1),
            lasts: None,
        },
    };
    let mut config: Config = failing(sixteen_nodes(), vec![fault]);
    config.faults.as_mut().expect("there are faults").seed = seed;
    let mut cluster = cluster(&config);
    cluster.run_until(Time::from_us(2)).expect("nothing waits");
    let link = |part: FaultyPart| match part {
        FaultyPart::Link(link) => link,
        other => panic!("{other:?}"),
    };
    let faults = cluster.faults();
    faults.into_iter().map(|fault| link(fault.part)).collect()
}

#[test]
fn the_worst_cables_are_one_switchs_after_another() {
    let topology = sixteen_nodes().fabric.topology;
    let all = above(None).all(&*topology);
    assert_eq!(all.len(), 16);
    let mut sorted = all.clone();
    sorted.sort_unstable();
    for count in [0, 1, 4, 6, 16, 17, u32::MAX] {
        let picked = failed(count, CableChoice::Worst, 1);
        assert_eq!(picked, all[..all.len().min(count as usize)]);
        let mut random = failed(count, CableChoice::Random, 1);
        assert_eq!(random.len(), picked.len());
        random.sort_unstable();
        random.dedup();
        assert_eq!(random.len(), picked.len(), "no cable twice");
        assert!(random.iter().all(|link| sorted.contains(link)));
    }
}

/// Of 480 draws of two of sixteen cables each has 60, within five standard deviations of 7.2.
#[test]
fn random_cables_are_equally_likely() {
    let mut times: BTreeMap<LinkId, u32> = BTreeMap::new();
    for seed in 0..480 {
        for link in failed(2, CableChoice::Random, seed) {
            *times.entry(link).or_default() += 1;
        }
    }
    assert_eq!(times.len(), 16);
    assert!(
        times.values().all(|&times| times.abs_diff(60) < 36),
        "{times:?}"
    );
}
