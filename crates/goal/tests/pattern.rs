//! Generated patterns have the messages and bytes of their closed forms, and each rank's share of them; and end on an ideal network.

use goal::pattern::{Calls, Pattern};
use goal::replay::on_ideal;
use goal::{Kind, Trace};
use kernel::Limits;
use std::sync::atomic::AtomicBool;

const SIZE: u64 = 1003;

fn calls(pattern: Pattern, ranks: u32, group: u32) -> Calls {
    Calls {
        pattern,
        ranks,
        group,
        size: SIZE,
        calls: 2,
    }
}

/// Messages and bytes of all ranks.
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
        assert_eq!(traffic(&calls(Pattern::AllReduceRing, p, g)), twice(ring));
        let levels = (
            2 * all * (group - 1) + 2 * all * (m - 1),
            2 * m * (group - 1) * SIZE + 2 * (m - 1) * SIZE,
        );
        let hierarchical = calls(Pattern::AllReduceHierarchical, p, g);
        assert_eq!(traffic(&hierarchical), twice(levels));
        let rails = calls(Pattern::AllReduceAcross, p, g);
        assert_eq!(
            traffic(&rails),
            twice((2 * all * (m - 1), 2 * group * (m - 1) * SIZE))
        );
        let over = calls(Pattern::AllToAllAcross, p, g);
        assert_eq!(traffic(&over), twice((all * (m - 1), all * (m - 1) * SIZE)));
        let exchange = all * (group - 1);
        let all_to_all = calls(Pattern::AllToAll, p, g);
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
        Pattern::AllReduceRing,
        Pattern::AllReduceHierarchical,
        Pattern::AllReduceAcross,
        Pattern::AllToAll,
        Pattern::AllToAllAcross,
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

/// The bus bandwidth of NCCL's tests counts what a rank of a ring sends.
#[test]
fn the_bytes_of_the_bus_are_those_of_a_rank_of_a_ring() {
    let ring = Calls {
        size: 1600,
        calls: 1,
        ..calls(Pattern::AllReduceRing, 16, 16)
    };
    let sent: u64 = ring
        .schedule(3)
        .operations
        .iter()
        .filter(|operation| operation.kind == Kind::Send)
        .map(|operation| operation.size)
        .sum();
    assert!((ring.bus_bytes() - sent as f64).abs() < 0.5);
}
