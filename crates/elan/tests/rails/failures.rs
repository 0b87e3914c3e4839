//! Rails that fail in mid-run: their losses go over other rails, nothing is lost or delivered twice, no process hangs.

use crate::common::multirail::{Bench, multirail};
use crate::common::run_process;
use crate::programs::{Program, Running, program};
use elan::rails::{Allocation, Kind};
use elan::{Dma, DmaError, Rail};
use proptest::prelude::*;
use units::{Bytes, Time};

/// Rails that fail, and when.
type Failures = Vec<(Rail, Time)>;

/// Some of a program's rails, perhaps all, fail at any moment up to the end of most messages, or at once.
fn failures() -> impl Strategy<Value = (Program, Failures)> {
    let moment = prop_oneof![Just(0), 0..60_000_u64];
    let failures = prop::collection::vec((any::<u32>(), moment), 1..5);
    (program(), failures).prop_map(|(program, failures)| {
        let rail = |(rail, at)| (Rail::new(rail % program.rails), Time::from_ns(at));
        let failures = failures.into_iter().map(rail).collect();
        (program, failures)
    })
}

/// Whether a rail is left in the end that leads from one node to another.
fn joined(program: &Program, failures: &Failures, from: u32, to: u32) -> bool {
    let failed = |rail| failures.iter().any(|&(other, _)| other == rail);
    let allocation = (program.policy == Kind::Static).then(|| {
        let allocation = Allocation::with_rails(program.nodes, program.rails);
        allocation.expect("there are enough rails")
    });
    let (from, to) = (from.into(), to.into());
    Rail::all(program.rails).any(|rail| {
        let leads = allocation.as_ref().is_none_or(|allocation| {
            allocation.transmits(rail, from) && !allocation.transmits(rail, to)
        });
        leads && !failed(rail)
    })
}

fn no_rail(from: u32, to: u32) -> DmaError {
    let (from, to) = (from.into(), to.into());
    DmaError::NoRail { from, to }
}

/// Long after the last failure, every node sends to every other.
const LATER: Time = Time::from_ms(2);

proptest! {
    #![proptest_config(crate::cases(100))]

    /// As long as there is a way, every message arrives whole. Without a way its process is told so, and goes on.
    /// Afterwards, the remaining rails serve all.
    #[test]
    fn nothing_is_lost_or_hangs((program, failures) in failures()) {
        let mut running = Running::start(&program, &program.config());
        for &(rail, at) in &failures {
            running.bench.cluster.fail_rail(rail, at);
        }
        let nodes = 0..program.nodes;
        let mut later = Vec::new();
        for from in nodes.clone() {
            let others = nodes.clone().filter(move |&to| to != from);
            let puts = others.clone().map(|to| running.bench.put(from, to, 3000, LATER));
            let puts = puts.collect();
            later.push((from, others, running.bench.spawn(from, 7, puts)));
        }
        running.bench.finish();
        for (message, end) in running.ends(&program).into_iter().enumerate() {
            let send = &program.sends[message];
            let from = program.source(send);
            match end {
                Some(Ok(())) => running.check_payload(&program, message, false),
                Some(Err(error)) => {
                    prop_assert_eq!(error, no_rail(from, send.to));
                    prop_assert!(!joined(&program, &failures, from, send.to));
                }
                None => prop_assert!(false, "message {} has no end", message),
            }
        }
        for (from, others, ends) in later {
            let ends = ends.borrow();
            prop_assert_eq!(ends.len(), others.clone().count());
            for (to, (_, end)) in others.zip(&*ends) {
                let expected = if joined(&program, &failures, from, to) {
                    Ok(())
                } else {
                    Err(no_rail(from, to))
                };
                prop_assert_eq!(*end, expected, "from {} to {} later", from, to);
            }
        }
    }
}

const RESERVES: [Kind; 4] = [Kind::Basic, Kind::LocalDynamic, Kind::Dynamic, Kind::Hybrid];

/// A rail that is down from the start is not tried.
#[test]
fn a_rail_that_never_worked() {
    for policy in RESERVES {
        let mut bench = Bench::new(&multirail(2, 3, policy));
        bench.cluster.fail_rail(Rail::new(1), Time::ZERO);
        let puts = [1, 2, 3, 4].map(|at| bench.put(0, 1, 3000, Time::from_us(50 * at)));
        let ends = bench.spawn(0, 0, puts.into());
        bench.finish();
        assert!(ends.borrow().iter().all(|(_, end)| end.is_ok()));
        let received = bench.received(1);
        let both = received[0] + received[2];
        assert_eq!((received[1], both), (0, 12_000), "{policy:?}");
        assert!(received[0] > 0 && received[2] > 0, "{policy:?}");
    }
}

/// A rail fails at any moment of a long message on it, the request, its grant and the report included: the other one carries
/// the message, and both of its ends are free in the end. A process that waits for the dead rail goes on as well.
#[test]
fn at_every_moment_of_a_message() {
    for policy in RESERVES {
        for moment in 0..60 {
            let at = Time::from_ns(250 * moment);
            let mut config = multirail(3, 2, policy);
            config.rails.as_mut().expect("it has rails").striping = 0.0;
            let mut bench = Bench::new(&config);
            bench.cluster.fail_rail(Rail::new(0), at);
            let ends = [(0, 1), (2, 2)];
            let ends = ends.map(|(index, to)| bench.send((0, index), to, 3000, Time::ZERO));
            bench.finish();
            for (known, end) in ends.map(|ends| ends.take()) {
                assert_eq!(end, Ok(()), "{policy:?}, {at}");
                assert!(known < Time::from_us(60), "{policy:?}, {at}");
            }
        }
    }
}

/// An adapter that knows its link to be dead refuses at once, and sends nothing: a command of 20 ns, a block of 160 ns.
#[test]
fn a_dead_adapter_refuses() {
    let mut bench = Bench::new(&multirail(2, 2, Kind::Basic));
    bench.cluster.fail_rail(Rail::new(1), Time::ZERO);
    let put = bench.put(0, 1, 100, Time::ZERO);
    let rail = Rail::new(1);
    let node = bench.programs(0)[rail].clone();
    let (from, to) = (put.from.regions[rail], put.to.regions[rail]);
    run_process(&mut bench.cluster, async move {
        node.sleep_until(Time::from_us(1)).await;
        let dma = Dma::new(from.start(), to.start(), Bytes::new(100));
        let error = node.dma(dma).await.expect_err("its rail is down");
        assert!(error.is_rail_down(), "{error}");
        assert_eq!(node.now(), Time::from_ns(1_180));
    });
    assert_eq!(bench.cluster.packets(), 0);
}

/// With no rail left there is an error, at once, and for whoever was under way.
#[test]
fn no_rail_is_left() {
    for policy in RESERVES {
        let mut bench = Bench::new(&multirail(2, 2, policy));
        bench.cluster.fail_rail(Rail::new(0), Time::from_us(10));
        bench.cluster.fail_rail(Rail::new(1), Time::from_us(20));
        let long = bench.put(0, 1, 65_536, Time::ZERO);
        let next = bench.put(0, 1, 0, Time::ZERO);
        let ends = bench.spawn(0, 0, vec![long, next]);
        bench.finish();
        let ends = ends.borrow();
        let gone = Err(no_rail(0, 1));
        assert_eq!([ends[0].1, ends[1].1], [gone, gone], "{policy:?}");
        assert_eq!(ends[0].0, ends[1].0);
        assert!(ends[0].0 < Time::from_us(25), "{policy:?}: {}", ends[0].0);
    }
}

/// Static: two nodes on two rails lose one direction each, and nothing else.
#[test]
fn static_loses_a_direction() {
    for failed in [0, 1] {
        let mut bench = Bench::new(&multirail(2, 2, Kind::Static));
        bench.cluster.fail_rail(Rail::new(failed), Time::from_us(1));
        let ends = [0, 1].map(|node| bench.send((node, 0), 1 - node, 5000, Time::ZERO));
        bench.finish();
        let ends = ends.map(|ends| ends.take().1);
        let gone = |from| Err(no_rail(from, 1 - from));
        // Node 0 transmits on rail 0, node 1 on rail 1.
        let expected = if failed == 0 {
            [gone(0), Ok(())]
        } else {
            [Ok(()), gone(1)]
        };
        assert_eq!(ends, expected);
    }
}
