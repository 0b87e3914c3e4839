//! Ranks that start more ranks.

use super::process::{TestRank, machine, options, play};
use crate::{NetworkMode, Options, Outcome, Results, RunEnd};
use link::EndStatus;
use std::collections::BTreeSet;
use units::Time;

const START: Time = Time::from_us(50);

/// Rank 0 starts two ranks twice, in a run with two ranks and room for five, and receives from each
/// new rank; rank 1 sleeps.
fn grows(network: NetworkMode) -> (Outcome, Results) {
    let options = Options {
        universe: 5,
        network,
        ..options(2)
    };
    play(machine("es40-qsnet"), options, Time::MAX, |process| {
        process.sleep(START);
        if process.rank() == 1 {
            return process.sleep(START);
        }
        let children = process.spawn(2, child).expect("there is room");
        for rank in 2..4 {
            let (status, envelope, bytes) = process.receive_and_wait(rank, 9, 4);
            assert_eq!((status, envelope.from), (EndStatus::Done, rank));
            assert_eq!(bytes, rank.to_ne_bytes());
        }
        assert!(process.spawn(2, child).is_none(), "one place is left");
        let last = process.spawn(1, child).expect("there is room");
        assert_eq!(process.receive_and_wait(4, 9, 4).0, EndStatus::Done);
        assert!(process.spawn(1, child).is_none(), "no place is left");
        for one in children.into_iter().chain(last) {
            one.join().expect("it ends well");
        }
    })
}

/// A rank's clock begins at its start.
fn child(process: &mut TestRank) {
    assert!(process.now > 0);
    let own = process.rank();
    assert_eq!(
        process.send_and_wait(0, 9, &own.to_ne_bytes()),
        EndStatus::Done
    );
}

#[test]
fn ranks_that_start_later_take_part() {
    for network in [NetworkMode::Machine, NetworkMode::Ideal] {
        let (outcome, results) = grows(network);
        assert_eq!(outcome.end, RunEnd::Finished, "{}", outcome.message);
        assert_eq!(results.nodes, [0, 1, 2, 3, 4]);
        let sent: Vec<u64> = results.ranks.iter().map(|row| row.sent).collect();
        assert_eq!(sent, [0, 0, 1, 1, 1]);
        assert!(results.repeatable);
        let digests: BTreeSet<String> = (0..3).map(|_| grows(network).1.digest).collect();
        assert_eq!(digests, BTreeSet::from([results.digest]));
    }
}

#[test]
fn places_without_ranks_are_no_ranks() {
    let options = Options {
        universe: 5,
        ..options(2)
    };
    let (outcome, results) = play(machine("es40-qsnet"), options, Time::MAX, |process| {
        process.sleep(START);
    });
    assert_eq!(outcome.end, RunEnd::Finished, "{}", outcome.message);
    assert_eq!((results.nodes.len(), results.ranks.len()), (2, 2));
}

#[test]
fn the_group_of_the_start_has_the_ranks_of_the_start() {
    use link::collective::{ALL_RANKS, CollectiveKind};
    use link::{CollectiveCall, Order};
    let options = Options {
        universe: 3,
        ..options(2)
    };
    let (outcome, _) = play(machine("es40-qsnet"), options, Time::MAX, |process| {
        if process.rank() == 0 {
            let children = process.spawn(1, child).expect("there is room");
            assert_eq!(process.receive_and_wait(2, 9, 4).0, EndStatus::Done);
            for child in children {
                child.join().expect("it ends well");
            }
        }
        let barrier = process.order(
            Order::Collective(CollectiveCall {
                group: ALL_RANKS,
                kind: CollectiveKind::Barrier,
                root: 0,
                size: 0,
                combiner: None,
                hardware: true,
                posted: false,
            }),
            &[],
        );
        assert_eq!(process.end_of(barrier).0, EndStatus::Done);
    });
    assert_eq!(outcome.end, RunEnd::Finished, "{}", outcome.message);
}
