//! The order in which packets are handed in and events handled within a cycle is not part of the
//! model.

use crate::common;

use common::random::{Case, inputs, many, perhaps_failing_case};
use common::{Bench, Heard};
use fabric::{Cycle, LinkCounters, PacketSpec};
use proptest::prelude::*;

/// How a case is run; the default is the plain way.
#[derive(Clone, Debug, Default)]
struct Manner {
    /// The adapters act on a cycle's notices in the opposite order.
    adapters_reversed: bool,
    /// The fabric handles a cycle's events, groups, adapters and flits in the opposite order.
    fabric_reversed: bool,
    /// The fabric is run in stretches of this many cycles; 0 means without a stop.
    stretch: Cycle,
}

fn run(
    case: &Case,
    traffic: &[(Cycle, PacketSpec)],
    manner: &Manner,
) -> (Vec<Heard>, Vec<LinkCounters>) {
    let mut bench = Bench::with_answers(case.config.clone(), case.answer());
    bench.reversed = manner.adapters_reversed;
    if manner.fabric_reversed {
        bench.fabric.reverse_order_in_cycles();
    }
    let mut at = 0;
    for (then, input) in inputs(&case.acts, traffic) {
        while manner.stretch > 0 && at + manner.stretch < then {
            at += manner.stretch;
            bench.run_until(at);
        }
        bench.input(then, input);
    }
    while manner.stretch > 0 && bench.fabric.next_cycle().is_some() {
        at += manner.stretch;
        bench.run_until(at);
    }
    bench.finish();
    let counters = bench.counters();
    (bench.heard, counters)
}

/// Each cycle's packets in another source order; each adapter's packets stay in order.
fn reordered(traffic: &[(Cycle, PacketSpec)], salt: u32) -> Vec<(Cycle, PacketSpec)> {
    let mut traffic = traffic.to_vec();
    traffic.sort_by_key(|&(at, spec)| {
        (
            at,
            spec.source.get().wrapping_mul(salt | 1) % 64,
            spec.source,
        )
    });
    traffic
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn only_the_inputs_count(
        case in perhaps_failing_case(),
        adapters_reversed: bool,
        fabric_reversed: bool,
        stretch in prop_oneof![Just(0_u64), 1_u64..100],
        salt: u32,
    ) {
        let manner = Manner { adapters_reversed, fabric_reversed, stretch };
        let plain = run(&case, &case.traffic, &Manner::default());
        let other = run(&case, &reordered(&case.traffic, salt), &manner);
        let differs = plain.0.iter().zip(&other.0).position(|(a, b)| a != b);
        if let Some(place) = differs {
            let here = |heard: &[Heard]| heard[place];
            prop_assert_eq!(here(&plain.0), here(&other.0), "the first difference");
        }
        prop_assert_eq!(plain.0.len(), other.0.len());
        prop_assert_eq!(plain.1, other.1);
    }

    /// Packet names concern only the adapters.
    #[test]
    fn names_do_not_count(case in perhaps_failing_case()) {
        let nameless = |spec| PacketSpec { token: 7, ..spec };
        let traffic: Vec<_> = case.traffic.iter().map(|&(at, spec)| (at, nameless(spec))).collect();
        let plain = run(&case, &case.traffic, &Manner::default());
        let other = run(&case, &traffic, &Manner { fabric_reversed: true, ..Manner::default() });
        let blind = plain.0.iter().map(|&heard| match heard {
            Heard::Injected(at, spec) => Heard::Injected(at, nameless(spec)),
            Heard::Delivered(at, node, spec) => Heard::Delivered(at, node, nameless(spec)),
            Heard::Damaged(at, node, spec) => Heard::Damaged(at, node, nameless(spec)),
            Heard::Ended(at, node, good, sequence, spec) => {
                Heard::Ended(at, node, good, sequence, nameless(spec))
            }
            Heard::Acknowledged(record, spec) => Heard::Acknowledged(record, nameless(spec)),
        });
        prop_assert!(blind.eq(other.0));
    }
}
