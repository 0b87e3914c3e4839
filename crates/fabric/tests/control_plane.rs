//! The control plane, audited on random machines under random traffic; see the essay in
//! `common::referee`.

use crate::common;

use common::random::{Case, any_case, many};
use common::referee::{Happened, Referee};
use common::{Bench, Heard};
use fabric::{Cycle, LinkCounters, PacketRecord};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Runs a case. Returns its events, by cycle, and each link's counters.
fn run(case: &Case) -> (BTreeMap<Cycle, Happened>, Vec<LinkCounters>) {
    let mut bench = Bench::with_answers(case.config.clone(), case.answer());
    bench.fabric.watch();
    bench.offer(&case.traffic);
    bench.finish();
    let mut cycles: BTreeMap<Cycle, Happened> = BTreeMap::new();
    for &(cycle, spec) in &case.traffic {
        cycles.entry(cycle).or_default().offered.push(spec);
    }
    for (cycle, moved) in bench.fabric.watch() {
        cycles.entry(cycle).or_default().moved.push(moved);
    }
    let counters = bench.counters();
    for heard in bench.heard {
        let (Heard::Injected(cycle, spec)
        | Heard::Delivered(cycle, _, spec)
        | Heard::Damaged(cycle, _, spec)
        | Heard::Ended(cycle, _, _, _, spec)
        | Heard::Acknowledged(
            PacketRecord {
                acknowledged: cycle,
                ..
            },
            spec,
        )) = heard;
        let happened = cycles.entry(cycle).or_default();
        match heard {
            Heard::Injected(..) => happened.injected.push(spec),
            Heard::Delivered(_, node, _) => happened.delivered.push((node, spec)),
            Heard::Damaged(..) => unreachable!("no part of these machines fails"),
            Heard::Acknowledged(record, _) => happened.acknowledged.push((record.ack, spec)),
            Heard::Ended(_, node, good, ..) => happened.ended.push((node, good, spec)),
        }
    }
    (cycles, counters)
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn the_referee_agrees(case in any_case()) {
        let (mut happened, counters) = run(&case);
        let mut referee = Referee::new(&case);
        loop {
            let next = [happened.keys().next().copied(), referee.next()];
            let Some(now) = next.into_iter().flatten().min() else {
                break;
            };
            referee.cycle(now, &happened.remove(&now).unwrap_or_default());
        }
        prop_assert_eq!(referee.close(), counters);
    }
}
