//! A replay that stops before its end leaves its records.

use super::{es40, ideal, machine, open, row};
use elan::{Cluster, NodeId, Placement, Watch};
use goal::replay::{ReplayFailure, on_cluster, on_ideal};
use kernel::Limits;
use libelan::ProcessJob;
use std::sync::atomic::AtomicBool;
use units::Time;

/// The progress of a replay that does not end: the operations that ended, those that wait, and the
/// sends that receives took.
#[test]
fn a_replay_without_an_end_leaves_its_records() {
    let trace = "num_ranks 3
rank 0 {
a: calc 2000
b: send 5b to 1 tag 1
c: send 5b to 1 tag 1
b requires a
c requires b
}
rank 1 {
a: recv 5b from 2 tag 9
b: recv 5b from 0 tag 1
}
rank 2 {
calc 700000
}";
    for replayed in [ideal(trace), es40(trace, 1)] {
        let Err(ReplayFailure::Partners(_, left)) = replayed else {
            panic!("{replayed:?}");
        };
        let mut ended: Vec<_> = left.operations.iter().map(|row| row.rank).collect();
        ended.sort_unstable();
        assert_eq!(ended, [0, 0, 0, 1, 2], "{left:?}");
        assert_eq!(row(&left, 1, 1).taken, Some((0, 1)));
        let [waiting] = left.waiting[..] else {
            panic!("{left:?}");
        };
        assert_eq!((waiting.rank, waiting.number), (1, 0));
        assert_eq!(waiting.free, Time::ZERO);
        assert!(left.time >= Time::from_us(700), "{left:?}");
    }
}

/// At a bound, a long message is on its way to a receive, and a short one that was sent later is
/// there.
#[test]
fn a_bound_leaves_the_records_of_messages_on_their_way() {
    let trace = |tag: u32, first: &str| {
        let sends = format!("send 4000000b to 1 tag {tag}\nsend 5b to 1 tag 1\n");
        let receives = format!("recv 4000000b from {first}\nrecv 5b from 0 tag 1\n");
        format!("num_ranks 2\nrank 0 {{\n{sends}}}\nrank 1 {{\n{receives}}}")
    };
    // Where the first receive may have either message, the records leave the second one's send
    // open.
    let cases = [
        (2, "0 tag 2", Some((0, 1))),
        (2, "-1 tag -1", None),
        (1, "0 tag 1", None),
    ];
    for (tag, first, taken) in cases {
        let machine = machine("es40-qsnet", &[]);
        let limits = Limits {
            time: Some(Time::from_us(300)),
            ..Limits::default()
        };
        let watch = Watch {
            limits,
            ..Watch::default()
        };
        let mut cluster = Cluster::new(machine.cluster_config(), watch);
        let job = ProcessJob::new("rank", NodeId::all(2), 1).unwrap();
        let stopped = on_cluster(
            open(&trace(tag, first)),
            &mut cluster,
            &job,
            Placement::Main,
            true,
        );
        let Err(ReplayFailure::Stop(elan::Stop::Exceeded(_), left)) = stopped else {
            panic!("{stopped:?}");
        };
        let waiting: Vec<_> = left
            .waiting
            .iter()
            .map(|row| (row.rank, row.number))
            .collect();
        assert_eq!(waiting, [(0, 0), (1, 0)], "{first}");
        assert_eq!(row(&left, 1, 1).taken, taken, "{first}");
        assert!(!left.series.is_empty());
        assert!(left.time >= Time::from_us(300));
    }
}

/// However few events a replay has, it does not pass a bound; it may reach one.
#[test]
fn a_bound_holds_for_few_events() {
    let trace = "num_ranks 1\nrank 0 {\ncalc 400000\n}";
    for (most, passed) in [(50, true), (399, true), (400, false), (500, false)] {
        let limits = Limits {
            time: Some(Time::from_us(most)),
            ..Limits::default()
        };
        let watch = Watch {
            limits,
            ..Watch::default()
        };
        let mut cluster = Cluster::new(machine("es40-qsnet", &[]).cluster_config(), watch);
        let job = ProcessJob::new("rank", NodeId::all(1), 1).unwrap();
        let on_machine = on_cluster(open(trace), &mut cluster, &job, Placement::Main, true);
        let ideal = on_ideal(open(trace), true, limits, &AtomicBool::new(false));
        for replayed in [on_machine, ideal] {
            let stopped = matches!(
                replayed,
                Err(ReplayFailure::Stop(elan::Stop::Exceeded(_), _))
            );
            assert_eq!(stopped, passed, "{most}: {replayed:?}");
        }
    }
}
