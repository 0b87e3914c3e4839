//! Tallies: a link's loads by packet group add up to its whole load.

use crate::common;

use common::random::{Case, any_case, inputs, many};
use common::{Bench, machine, packet};
use fabric::{Config, Engine, FatTree, LinkCounters, LinkId};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Three groups, by packet number.
fn third(token: u64) -> u8 {
    (token % 3) as u8
}

/// Packets and flits by link and group.
type Shares = BTreeMap<(LinkId, u8), [u64; 2]>;

/// The packets and flits by link and group after a run to its end, and the counters of all links.
fn tallied(case: &Case) -> (Shares, Vec<LinkCounters>) {
    let mut bench = Bench::with_answers(case.config.clone(), case.answer());
    bench.fabric.tally(third);
    for (at, input) in inputs(&case.acts, &case.traffic) {
        bench.input(at, input);
    }
    bench.run_until(u64::MAX);
    let shares = bench.fabric.tallied().into_iter();
    let shares = shares.map(|share| ((share.link, share.group), [share.packets, share.flits]));
    (shares.collect(), bench.counters())
}

/// A packet counts on each link on its way, to its own group and with all its flits. Packets before
/// the tally do not count.
#[test]
fn a_packet_counts_on_its_way() {
    let tree = FatTree::quaternary(2).expect("16 nodes");
    let mut bench = Bench::new(machine(tree, 11), 30).through(&[(0, packet(0, 3, 10))]);
    assert_eq!(bench.fabric.tallied(), []);
    bench.fabric.tally(|token| token as u8);
    let before = bench.counters();
    let mut bench = bench.through(&[(5000, packet(1, 14, 40))]);
    let shares = bench.fabric.tallied();
    assert_eq!(shares.len(), 4, "up and down, two links each: {shares:?}");
    let counters = bench.counters();
    for share in &shares {
        let (before, after) = (
            before[usize::from(share.link)],
            counters[usize::from(share.link)],
        );
        assert_eq!((share.packets, share.flits), (1, 40));
        assert_eq!(after.flits - before.flits, 40);
    }
    let again = bench.fabric.tallied();
    assert_eq!(again, shares, "asking changes nothing");
    bench.fabric.tally(third);
    assert_eq!(bench.fabric.tallied(), [], "a new tally is empty");
}

proptest! {
    #![proptest_config(many())]

    /// On random machines without faults the groups add up to each link's counters, and both movers
    /// agree.
    #[test]
    fn groups_add_up_to_the_counters(case in any_case()) {
        let of = |engine| {
            let config = Config { engine, ..case.config.clone() };
            tallied(&Case { config, ..case.clone() })
        };
        let (shares, counters) = of(Engine::Flit);
        for (link, counters) in (0_u32..).map(LinkId::from).zip(&counters) {
            let groups = shares.iter().filter(|((of, _), _)| *of == link);
            let sums = groups.fold(
                [0, 0], |[packets, flits], (_, own)| [packets + own[0], flits + own[1]]
            );
            prop_assert_eq!(sums, [counters.packets, counters.flits], "link {}", link);
        }
        if case.config.multiplexing == fabric::Multiplexing::OldestFirst {
            prop_assert_eq!(of(Engine::Worm).0, shares);
        }
    }
}
