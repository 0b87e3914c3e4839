//! Rails that fail in mid-run, and return: their losses go over other rails, no message is lost or
//! delivered twice, no process hangs.

use crate::common::multirail::{Bench, multirail};
use crate::common::{logs, run_process, run_to};
use crate::messages::programs::{Program, Running, program};
use elan::faults::{Fault, FaultTiming, FaultyPart};
use elan::{Action, Config, Dma, DmaError, Placement, Rail};
use proptest::prelude::*;
use rails::policies::{BASIC, DYNAMIC, HYBRID, LOCAL_DYNAMIC, STATIC};
use rails::{Allocation, Kind};
use units::{Bytes, Time};

/// Rails that fail, when, and how long they are down, if they return.
type Failures = Vec<(Rail, Time, Option<Time>)>;

/// Some of a program's rails, perhaps all, fail at any moment up to the end of most messages, or at
/// once. Most return, some at the same moment, and fail again.
fn failures() -> impl Strategy<Value = (Program, Failures)> {
    let moment = prop_oneof![Just(0), 0..60_000_u64];
    let pause = prop_oneof![Just(0), 1..500_u64, 0..30_000_u64];
    let failures = prop::collection::vec(
        (any::<u32>(), moment, prop::option::weighted(0.7, pause)),
        1..9,
    );
    (program(), failures).prop_map(|(program, failures)| {
        let rail = |(rail, at, pause): (u32, u64, Option<u64>)| {
            let rail = Rail::new(rail % program.rails);
            (rail, Time::from_ns(at), pause.map(Time::from_ns))
        };
        let failures = failures.into_iter().map(rail).collect();
        (program, failures)
    })
}

/// Lets rails fail and return.
fn schedule(bench: &mut Bench, failures: &Failures) {
    for &(rail, at, pause) in failures {
        bench.cluster.fail_rail(rail, at);
        if let Some(pause) = pause {
            bench.cluster.repair_rail(rail, at + pause);
        }
    }
}

/// Whether a rail works at a moment, and does not fail then: the last change decides, and among
/// those at one moment the one that was scheduled last.
fn works(failures: &Failures, rail: Rail, now: Time) -> bool {
    let own = failures.iter().filter(|&&(other, ..)| other == rail);
    let changes = own.flat_map(|&(_, at, pause)| {
        let back = pause.map(|pause| (at + pause, true));
        std::iter::once((at, false)).chain(back)
    });
    let mut past = changes.filter(|&(at, _)| at <= now);
    let fails = past.clone().any(|change| change == (now, false));
    let last = past.by_ref().max_by_key(|&(at, _)| at);
    !fails && last.is_none_or(|(_, up)| up)
}

/// Whether a rail that leads from one node to another works at a moment.
fn joined(program: &Program, failures: &Failures, (from, to): (u32, u32), now: Time) -> bool {
    let allocation = (program.policy == STATIC).then(|| {
        let allocation = Allocation::with_rails(program.nodes, program.rails);
        allocation.expect("there are enough rails")
    });
    let (from, to) = (from.into(), to.into());
    Rail::all(program.rails).any(|rail| {
        let leads = allocation.as_ref().is_none_or(|allocation| {
            allocation.transmits(rail, from) && !allocation.transmits(rail, to)
        });
        leads && works(failures, rail, now)
    })
}

fn no_rail(from: u32, to: u32) -> DmaError {
    let (from, to) = (from.into(), to.into());
    DmaError::NoRail { from, to }
}

/// Long after the last failure, every node sends to every other.
const LATER: Time = Time::from_ms(2);

proptest! {
    #![proptest_config(crate::messages::cases(100))]

    /// As long as there is a way, every message arrives whole. Without a way its process gets an
    /// error, and continues. Afterwards, the rails that work serve all.
    #[test]
    fn nothing_is_lost_or_hangs((program, failures) in failures()) {
        let mut running = Running::start(&program, &program.config());
        schedule(&mut running.bench, &failures);
        let nodes = 0..program.nodes;
        let mut later = Vec::new();
        for from in nodes.clone() {
            let others = nodes.clone().filter(move |&to| to != from);
            let puts = others.clone().map(|to| running.bench.put(from, to, 3000, LATER));
            let puts = puts.collect();
            later.push((from, others, running.bench.spawn(from, 7, puts)));
        }
        running.bench.finish();
        for (message, end) in running.times(&program).into_iter().enumerate() {
            let send = &program.sends[message];
            let from = program.source(send);
            match end {
                Some((_, Ok(()))) => running.check_payload(&program, message, false),
                Some((at, Err(error))) => {
                    prop_assert_eq!(error, no_rail(from, send.to));
                    prop_assert!(!joined(&program, &failures, (from, send.to), at));
                }
                None => prop_assert!(false, "message {} has no end", message),
            }
        }
        for (from, others, ends) in later {
            let ends = ends.borrow();
            prop_assert_eq!(ends.len(), others.clone().count());
            for (to, (_, end)) in others.zip(&*ends) {
                let expected = if joined(&program, &failures, (from, to), LATER) {
                    Ok(())
                } else {
                    Err(no_rail(from, to))
                };
                prop_assert_eq!(*end, expected, "from {} to {} later", from, to);
            }
        }
    }
}

const RESERVES: [Kind; 4] = [BASIC, LOCAL_DYNAMIC, DYNAMIC, HYBRID];

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

/// A rail fails at any moment during a long message on it, the request, its grant and the report
/// included: the other one carries the message, and both its ends are free in the end. A process
/// that waits for the dead rail continues as well.
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

/// A rail fails at any moment during two messages on it, in opposite directions, and returns at any
/// moment: at the same, before the packets that it lost would have arrived, or later. Then it fails
/// and returns again. No reservation stays for ever.
#[test]
fn at_every_moment_of_a_return() {
    for policy in RESERVES {
        for (number, pause) in [0, 1, 40, 300, 2_100, 7_000].into_iter().enumerate() {
            for moment in 0..50 {
                let at = Time::from_ns(250 * moment + 61 * number as u64);
                let mut config = multirail(3, 2, policy);
                config.rails.as_mut().expect("it has rails").striping = 1.0;
                let mut bench = Bench::new(&config);
                for at in [at, at + Time::from_ns(2 * pause + 777)] {
                    let failures = vec![(Rail::new(0), at, Some(Time::from_ns(pause)))];
                    schedule(&mut bench, &failures);
                }
                let ends = [(0, 1), (1, 0), (2, 0)];
                let ends = ends.map(|(from, to)| bench.send((from, 0), to, 9_000, Time::ZERO));
                let next = bench.send((0, 1), 2, 5_000, Time::from_us(40));
                bench.finish();
                for (known, end) in ends.map(|ends| ends.take()) {
                    assert_eq!(end, Ok(()), "{policy:?}, {at}, {pause} ns");
                    assert!(known < Time::from_us(300), "{policy:?}, {at}: {known}");
                }
                assert_eq!(next.take().1, Ok(()));
            }
        }
    }
}

/// After its return a rail is used again, as before its failure.
#[test]
fn a_rail_that_returns_is_used() {
    for policy in RESERVES {
        let mut bench = Bench::new(&multirail(2, 2, policy));
        let (down, up) = (Time::from_us(100), Time::from_us(300));
        schedule(&mut bench, &vec![(Rail::new(1), down, Some(up - down))]);
        // Two messages while the rail is down, two after its return: the rails take turns, or
        // share.
        let moments = [110, 110, 2_000, 2_000].map(Time::from_us);
        let all = moments.map(|at| bench.put(0, 1, 30_000, at));
        let ends = bench.spawn(0, 0, all.into());
        run_to(&mut bench.cluster, Time::from_us(1_500));
        assert_eq!(bench.received(1), [60_000, 0], "{policy:?}");
        bench.finish();
        assert!(ends.borrow().iter().all(|(_, end)| end.is_ok()));
        assert_eq!(bench.received(1), [90_000, 30_000], "{policy:?}");
    }
}

/// Bytes that the rail has lost are lost, even if they would have arrived after the return: the
/// sender is notified, and no part of the message is stored after that. Gets and puts, in either
/// memory.
#[test]
fn what_was_lost_stays_lost() {
    for (placement, get) in [
        (Placement::Main, false),
        (Placement::Main, true),
        (Placement::Adapter, false),
        (Placement::Adapter, true),
    ] {
        for moment in 0..80 {
            let at = Time::from_ns(130 * moment);
            let mut bench = Bench::new(&multirail(2, 1, BASIC));
            bench.cluster.fail_rail(Rail::new(0), at);
            bench.cluster.repair_rail(Rail::new(0), at);
            let [here, there] = [0, 1].map(|node| bench.programs(node)[Rail::new(0)].clone());
            let size = Bytes::new(3_000);
            let [own, other] = [&here, &there].map(|node| node.allocate(placement, size));
            let (source, target) = if get { (other, own) } else { (own, other) };
            let (giver, taker) = if get {
                (there, here.clone())
            } else {
                (here.clone(), there)
            };
            giver.write(source, &[7; 3_000]);
            let [ends, noted] = logs();
            run_process(&mut bench.cluster, async move {
                let dma = || Dma::new(source.start(), target.start(), size).stored();
                let first = here.dma(dma()).await;
                noted.note(first);
                if first.is_err() {
                    taker.write(target, &[0; 3_000]);
                    here.sleep(Time::from_us(100)).await;
                    let late = taker.read(target).expect("it holds bytes");
                    assert!(late.iter().all(|&byte| byte == 0), "stored after the error");
                    here.dma(dma()).await.expect("the rail works again");
                }
                // A put's last bytes may wait for the bus.
                here.sleep(Time::from_us(20)).await;
                let bytes = taker.read(target).expect("it holds bytes");
                assert!(bytes.iter().all(|&byte| byte == 7), "lost");
            });
            bench.cluster.check_conservation();
            let ends: Vec<Result<(), DmaError>> = ends.borrow().clone();
            let down = ends.iter().all(|end| {
                end.is_ok_and(|()| true) || end.is_err_and(|error| error.is_rail_down())
            });
            assert!(down, "{ends:?}");
        }
    }
}

/// A broadcast on a rail that fails at any moment, and returns, is all or nothing: its event occurs
/// everywhere, or nowhere and the sender gets an error.
#[test]
fn broadcasts_are_all_or_nothing() {
    let (rail, size) = (Rail::new(0), Bytes::new(2_000));
    let mut outcomes = [0; 2];
    for (placement, pause) in [
        (Placement::Adapter, 0),
        (Placement::Main, 0),
        (Placement::Adapter, 400),
        (Placement::Main, 3_000),
    ] {
        for moment in 0..70 {
            let at = Time::from_ns(140 * moment);
            let mut bench = Bench::new(&multirail(4, 1, BASIC));
            schedule(&mut bench, &vec![(rail, at, Some(Time::from_ns(pause)))]);
            let nodes = [0, 1, 2, 3].map(|node| bench.programs(node)[rail].clone());
            let places = nodes.each_ref().map(|node| node.allocate(placement, size));
            let rung = nodes.each_ref().map(|node| {
                let place = node.allocate(Placement::Adapter, Bytes::new(64)).start();
                let event = node.event_at(place.elan, 1, Action::Copy);
                (place, event.expect("it is adapter memory"))
            });
            nodes[0].write(places[0], &[7; 2_000]);
            let [ends, noted] = logs();
            run_process(&mut bench.cluster, async move {
                loop {
                    let (first, last) = (places[1].start(), nodes[3].place());
                    let dma = Dma::broadcast(places[0].start(), first, last, size);
                    let end = nodes[0].dma(dma.notify_at(rung[1].0)).await;
                    nodes[0].sleep(Time::from_us(50)).await;
                    let set = (1..4).filter(|&node| nodes[node].is_set(rung[node].1));
                    noted.note((end, set.count()));
                    if end.is_ok() {
                        break;
                    }
                }
                for node in 1..4 {
                    let bytes = nodes[node].read(places[node]).expect("it holds bytes");
                    assert!(bytes.iter().all(|&byte| byte == 7));
                }
            });
            bench.cluster.check_conservation();
            let ends = ends.borrow();
            let (last, lost) = ends.split_last().expect("it has ended");
            assert_eq!(*last, (Ok(()), 3), "{placement}, {at}");
            for (end, set) in lost {
                assert!(end.is_err_and(|error| error.is_rail_down()), "{end:?}");
                assert_eq!(*set, 0, "{placement}, {at}");
            }
            outcomes[usize::from(lost.is_empty())] += 1;
        }
    }
    assert!(outcomes.iter().all(|&count| count > 20), "{outcomes:?}");
}

/// A rail fault in the machine's list is the same as calls that let the rail fail and return.
#[test]
fn a_listed_fault_is_the_same() {
    let rail = Rail::new(1);
    let (at, pause) = (Time::from_ps(7_000_003), Time::from_ps(20_000_011));
    let play = |config: &Config, listed: bool| {
        let when = FaultTiming::At {
            at,
            lasts: Some(pause),
        };
        let part = FaultyPart::Rail(rail);
        let config = if listed {
            crate::common::failing(config.clone(), vec![Fault { part, when }])
        } else {
            config.clone()
        };
        let mut bench = Bench::new(&config);
        if !listed {
            schedule(&mut bench, &vec![(rail, at, Some(pause))]);
        }
        let ends = [(0, 1), (1, 2), (2, 0)].map(|(from, to)| {
            let puts = [0, 1, 30, 40].map(|at| bench.put(from, to, 6_000, Time::from_us(at)));
            bench.spawn(from, 0, puts.into())
        });
        bench.finish();
        let ends = ends.map(|ends| ends.borrow().clone());
        (ends, bench.cluster.digest())
    };
    for policy in RESERVES {
        let config = multirail(3, 2, policy);
        let told = play(&config, false);
        assert!(told.0.iter().flatten().all(|(_, end)| end.is_ok()));
        assert!(told == play(&config, true), "{policy:?}");
    }
}

/// Processes notice both: the signals are raised at each failure, and at each return.
#[test]
fn signals_of_failures_and_returns() {
    let mut bench = Bench::new(&multirail(2, 2, BASIC));
    let rail = Rail::new(1);
    for (at, up) in [(10, 20), (30, 30), (40, 60)] {
        bench.cluster.fail_rail(rail, Time::from_us(at));
        // A failure of a rail that is down has no effect.
        bench.cluster.fail_rail(rail, Time::from_us(at));
        bench.cluster.repair_rail(rail, Time::from_us(up));
        bench.cluster.repair_rail(rail, Time::from_us(up));
    }
    let nodes = [0, 1].map(|node| bench.programs(node)[rail].clone());
    let other = bench.programs(0)[Rail::new(0)].clone();
    run_process(&mut bench.cluster, async move {
        let mut seen = Vec::new();
        for number in 1..=3 {
            nodes[0].down().wait().await;
            assert!(nodes[1].is_down() && !other.is_down());
            assert_eq!(nodes.each_ref().map(elan::Node::failures), [number; 2]);
            let down = nodes[0].now();
            nodes[1].up().wait().await;
            assert!(!nodes[0].is_down());
            seen.push((down, nodes[0].now()));
        }
        let expected = [(10, 20), (30, 30), (40, 60)];
        assert_eq!(
            seen,
            expected.map(|(at, up)| (Time::from_us(at), Time::from_us(up)))
        );
        assert_eq!(other.failures(), 0);
    });
}

/// An adapter that knows its link to be dead refuses immediately, and sends no packets: a 20 ns
/// command, a 160 ns block.
#[test]
fn a_dead_adapter_refuses() {
    let mut bench = Bench::new(&multirail(2, 2, BASIC));
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

/// With no rail left there is an immediate error, also for messages under way.
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

/// Static: two nodes on two rails lose only one direction each.
#[test]
fn static_loses_a_direction() {
    for failed in [0, 1] {
        let mut bench = Bench::new(&multirail(2, 2, STATIC));
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
