//! Generated patterns have the messages and bytes of their closed forms, and each rank's share of
//! them; and end on an ideal network.

use goal::pattern::{Calls, CollectivePattern};
use goal::replay::{LATENCY, on_ideal};
use goal::{Kind, Operation, Trace};
use kernel::Limits;
use std::sync::atomic::AtomicBool;

const SIZE: u64 = 1003;

fn calls(pattern: CollectivePattern, ranks: u32, group: u32) -> Calls {
    Calls {
        pattern,
        ranks,
        group,
        size: SIZE,
        calls: 2,
    }
}

/// Messages and bytes over all ranks.
fn traffic(calls: &Calls) -> (u64, u64) {
    let mut found = (0, 0);
    for rank in 0..calls.ranks {
        for operation in calls.schedule(rank).operations {
            if operation.kind == Kind::Send {
                found.0 += 1;
                found.1 += operation.size;
            }
        }
    }
    found
}

#[test]
fn messages_and_bytes_are_those_of_the_closed_forms() {
    for (p, g) in [(1, 1), (2, 1), (6, 2), (6, 3), (6, 6), (16, 4), (7, 7)] {
        let m = u64::from(p / g);
        let (all, group) = (u64::from(p), u64::from(g));
        let ring = (2 * all * (all - 1), 2 * (all - 1) * SIZE);
        assert_eq!(
            traffic(&calls(CollectivePattern::AllReduceRing, p, g)),
            twice(ring)
        );
        let levels = (
            2 * all * (group - 1) + 2 * all * (m - 1),
            2 * m * (group - 1) * SIZE + 2 * (m - 1) * SIZE,
        );
        let hierarchical = calls(CollectivePattern::AllReduceHierarchical, p, g);
        assert_eq!(traffic(&hierarchical), twice(levels));
        let rails = calls(CollectivePattern::AllReduceAcross, p, g);
        assert_eq!(
            traffic(&rails),
            twice((2 * all * (m - 1), 2 * group * (m - 1) * SIZE))
        );
        let over = calls(CollectivePattern::AllToAllAcross, p, g);
        assert_eq!(traffic(&over), twice((all * (m - 1), all * (m - 1) * SIZE)));
        let exchange = all * (group - 1);
        let all_to_all = calls(CollectivePattern::AllToAll, p, g);
        assert_eq!(traffic(&all_to_all), twice((exchange, exchange * SIZE)));
    }
}

/// Two calls.
fn twice((messages, bytes): (u64, u64)) -> (u64, u64) {
    (2 * messages, 2 * bytes)
}

#[test]
fn every_message_has_a_partner_on_an_ideal_network() {
    for pattern in [
        CollectivePattern::AllReduceRing,
        CollectivePattern::AllReduceHierarchical,
        CollectivePattern::AllReduceAcross,
        CollectivePattern::AllToAll,
        CollectivePattern::AllToAllAcross,
    ] {
        let calls = calls(pattern, 12, 4);
        let trace = Trace::of("a pattern", 12, |rank| calls.schedule(rank)).unwrap();
        let never = AtomicBool::new(false);
        let replayed = on_ideal(trace, true, Limits::default(), &never).unwrap();
        let sent: u64 = replayed.ranks.iter().map(|row| row.sent).sum();
        let received: u64 = replayed.ranks.iter().map(|row| row.received).sum();
        assert_eq!((sent, received), (traffic(&calls).0, sent));
    }
}

/// A step sends the part that the step before has brought, so that each step takes a latency: on an
/// ideal network a call takes one latency per step.
#[test]
fn a_step_waits_for_the_step_before() {
    let (p, g, m) = (12, 4, 3);
    for (pattern, steps) in [
        (CollectivePattern::AllReduceRing, 2 * (p - 1)),
        (
            CollectivePattern::AllReduceHierarchical,
            2 * (g - 1) + 2 * (m - 1),
        ),
        (CollectivePattern::AllReduceAcross, 2 * (m - 1)),
        (CollectivePattern::AllToAll, g - 1),
        (CollectivePattern::AllToAllAcross, m - 1),
    ] {
        let calls = calls(pattern, p, g);
        let trace = Trace::of("a pattern", p, |rank| calls.schedule(rank)).unwrap();
        let never = AtomicBool::new(false);
        let replayed = on_ideal(trace, false, Limits::default(), &never).unwrap();
        let expected = LATENCY * u64::from(steps) * u64::from(calls.calls);
        assert_eq!(replayed.time, expected, "{pattern:?}");
    }
}

/// The message sizes of a kind that a rank sends or receives, in schedule order.
fn sizes(calls: &Calls, rank: u32, chosen: impl Fn(&Operation) -> bool) -> Vec<u64> {
    let operations = calls.schedule(rank).operations;
    let chosen = operations.iter().filter(|operation| chosen(operation));
    chosen.map(|operation| operation.size).collect()
}

/// The first turn in a group leaves each rank with one part's sum, which came in last. This part
/// goes across: with two groups in two halves, one in each turn. Then it goes round the group first.
#[test]
fn the_part_that_a_rank_has_summed_goes_across() {
    let (p, g) = (8, 4);
    let calls = Calls {
        calls: 1,
        ..calls(CollectivePattern::AllReduceHierarchical, p, g)
    };
    for rank in 0..p {
        let within = |other: u32| other / g == rank / g;
        let came = sizes(&calls, rank, |one| {
            one.kind == Kind::Recv && within(one.peer)
        });
        let went = sizes(&calls, rank, |one| {
            one.kind == Kind::Send && within(one.peer)
        });
        assert_eq!(went[g as usize - 1], came[g as usize - 2], "{rank}");
        let across = |one: &Operation| one.kind == Kind::Send && !within(one.peer);
        let across = sizes(&calls, rank, across);
        assert_eq!(across.iter().sum::<u64>(), came[g as usize - 2], "{rank}");
    }
}

/// The bus bandwidth of NCCL's tests counts the bytes that a rank sends, except for the
/// hierarchical all-reduce, which counts as a ring over all ranks.
#[test]
fn the_bytes_of_the_bus_are_those_that_a_rank_sends() {
    for pattern in [
        CollectivePattern::AllReduceRing,
        CollectivePattern::AllReduceAcross,
        CollectivePattern::AllToAll,
        CollectivePattern::AllToAllAcross,
    ] {
        let calls = Calls {
            size: 1600,
            calls: 1,
            ..calls(pattern, 16, 4)
        };
        let sent = sizes(&calls, 3, |one| one.kind == Kind::Send);
        let sent = sent.iter().sum::<u64>() as f64;
        assert!(
            (calls.bus_bytes() - sent).abs() < 0.5,
            "{pattern:?}: {sent}"
        );
    }
    let [ring, levels] = [
        CollectivePattern::AllReduceRing,
        CollectivePattern::AllReduceHierarchical,
    ];
    let [ring, levels] = [ring, levels].map(|pattern| calls(pattern, 16, 4).bus_bytes());
    assert!((ring - levels).abs() < 0.5);
}
