//! Random traces, with operations in the order of their dependencies.

use super::{es40, ideal, ns, row, text, times};
use goal::replay::ReplayResult;
use goal::{Kind, Operation, Schedule};
use proptest::prelude::*;
use units::Time;

/// Schedules that end: every message is added at both ends together, behind existing operations.
fn schedules() -> impl Strategy<Value = Vec<Schedule>> {
    let step = (
        (0..6_u32, 0..6_u32),
        prop_oneof![0..300_u64, 2000..9000_u64],
        0..3_u32,
        any::<[prop::sample::Index; 4]>(),
        any::<[Option<bool>; 4]>(),
    );
    (2..7_u32, prop::collection::vec(step, 1..40)).prop_map(|(ranks, steps)| {
        let mut all = vec![Schedule::default(); ranks as usize];
        for ((one, other), size, tag, places, how) in steps {
            let (one, other) = (one % ranks, other % ranks);
            // Receives for one way are in a chain, so that messages find receives of the same
            // length.
            let mut add = |rank: u32, operation: Operation, choice: usize| {
                let schedule = &mut all[rank as usize];
                let number = schedule.add(operation);
                let alike = |before: &Operation| {
                    (before.kind, before.peer, before.tag)
                        == (operation.kind, operation.peer, operation.tag)
                };
                let before = schedule.operations[..number as usize].iter();
                if let (Some(last), true) =
                    (before.rev().position(alike), operation.kind != Kind::Calc)
                {
                    schedule.requires(number, number - 1 - last as u32);
                }
                for choice in [choice, choice + 1] {
                    if let (Some(started), true) = (how[choice], number > 0) {
                        let earlier = places[choice].index(number as usize) as u32;
                        schedule.dependencies.push((number, earlier, started));
                    }
                }
            };
            if one == other {
                let calc = Operation {
                    cpu: tag as u8 % 2,
                    ..Operation::calc(size)
                };
                add(one, calc, 0);
            } else {
                add(one, Operation::send(size, other, tag), 0);
                add(other, Operation::recv(size, one, tag), 2);
            }
        }
        all
    })
}

/// Compares a replay's result with the trace.
fn assert_ordered(schedules: &[Schedule], replayed: &ReplayResult) {
    let count: usize = schedules
        .iter()
        .map(|schedule| schedule.operations.len())
        .sum();
    assert_eq!(replayed.operations.len(), count);
    assert!(replayed.operations.is_sorted_by_key(|row| row.end));
    for (rank, schedule) in (0..).zip(schedules) {
        let times: Vec<[Time; 2]> = (0..schedule.operations.len() as u32)
            .map(|number| times(replayed, rank, number))
            .collect();
        for (number, (operation, [free, end])) in (0..).zip(schedule.operations.iter().zip(&times))
        {
            assert!(end >= free);
            if operation.kind == Kind::Calc {
                assert!(*end >= *free + ns(operation.size));
            }
            let own = schedule
                .dependencies
                .iter()
                .filter(|&&(later, _, _)| later == number);
            let ends: Vec<(Time, bool)> = own
                .map(|&(_, earlier, started)| {
                    (times[earlier as usize][usize::from(!started)], started)
                })
                .collect();
            // It is free when the last of these ends, or when one starts.
            assert!(ends.iter().all(|(time, _)| free >= time));
            if ends.iter().all(|&(_, started)| !started) {
                let last = ends.iter().map(|&(time, _)| time).max();
                assert_eq!(*free, last.unwrap_or_default());
            }
        }
    }
    // The n-th message on a way takes longer than zero.
    for (source, schedule) in (0..).zip(schedules) {
        let mut seen = Vec::new();
        for (number, operation) in (0..).zip(&schedule.operations) {
            if operation.kind != Kind::Send {
                continue;
            }
            let way = (operation.peer, operation.tag);
            let nth = seen.iter().filter(|&&other| other == way).count();
            seen.push(way);
            let receives = &schedules[operation.peer as usize].operations;
            let fits = |&(_, receive): &(u32, &Operation)| {
                (receive.kind, receive.peer, receive.tag) == (Kind::Recv, source, operation.tag)
            };
            let (receive, _) = (0..)
                .zip(receives)
                .filter(fits)
                .nth(nth)
                .expect("both were added");
            assert!(
                times(replayed, operation.peer, receive)[1] > times(replayed, source, number)[0]
            );
            let taken = row(replayed, operation.peer, receive).taken;
            assert_eq!(taken, Some((source, number)), "the send of the receive");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn operations_come_in_the_order_of_the_trace(schedules in schedules()) {
        let trace = text(&schedules);
        for replay in [ideal, |trace: &str| es40(trace, 1), |trace: &str| es40(trace, 3)] {
            let replayed = replay(&trace).unwrap_or_else(|failure| panic!("{failure}\n{trace}"));
            assert_ordered(&schedules, &replayed);
            prop_assert_eq!(replay(&trace).unwrap().digest, replayed.digest);
        }
    }
}
