//! Messages that want the same rails.

use crate::common::multirail::{Bench, multirail};
use crate::common::run_to;
use rails::policies::{BASIC, DYNAMIC, HYBRID, LOCAL_DYNAMIC};
use units::{Bytes, Time};

/// Two processes on a node ask for all rails at once: the first gets them, the second gets them
/// when they are free again.
#[test]
fn two_processes_of_a_node() {
    let mut config = multirail(3, 2, DYNAMIC);
    for (striping, both) in [(1.0, [[2000; 2]; 2]), (0.0, [[4000, 0], [0, 4000]])] {
        config.rails.as_mut().expect("it has rails").striping = striping;
        let mut bench = Bench::new(&config);
        let ends = [0, 1].map(|index| bench.send((0, index), 1 + index, 4000, Time::ZERO));
        bench.finish();
        let [first, second] = ends.map(|ends| ends.take());
        assert_eq!((first.1, second.1), (Ok(()), Ok(())));
        assert_eq!([bench.received(1), bench.received(2)], both);
        // The message takes 10 us on one rail, 5 us on two.
        assert!(first.0 < second.0 && second.0 < Time::from_us(30));
    }
}

/// Two nodes ask for each other at once, on the only rail. Among equal requests the higher node's
/// goes first; its counter then falls by a point, so the next time the other goes first (coll2003
/// algorithm 6). Both are granted each time.
#[test]
fn two_nodes_at_once() {
    let config = multirail(2, 1, DYNAMIC);
    let mut bench = Bench::new(&config);
    let rounds = [0, 1, 2, 3].map(Time::from_ms);
    let puts = |from, to| rounds.map(|at| bench.put(from, to, 3000, at)).into();
    let (zero, one) = (puts(0, 1), puts(1, 0));
    let ends = [bench.spawn(0, 0, zero), bench.spawn(1, 0, one)];
    bench.finish();
    let ends = ends.map(|ends| ends.borrow().clone());
    let mut order = Vec::new();
    for (zero, one) in ends[0].iter().zip(&ends[1]) {
        assert_eq!((zero.1, one.1), (Ok(()), Ok(())));
        order.push(usize::from(one.0 < zero.0));
        // The messages do not overlap: 3000 bytes take 7.5 us.
        let between = zero.0.max(one.0) - zero.0.min(one.0);
        assert!(between > Time::from_ns(7_500), "{between}");
    }
    assert_eq!(order, [1, 0, 1, 0], "who goes first");
    assert_eq!(ends[0].len(), rounds.len());
}

/// Figure 6's circle: three nodes, each asks the next at once. All are granted, one after another.
#[test]
fn a_circle_of_three() {
    let config = multirail(3, 1, DYNAMIC);
    let mut bench = Bench::new(&config);
    let ends = [0, 1, 2].map(|node| bench.send((node, 0), (node + 1) % 3, 3000, Time::ZERO));
    bench.finish();
    let mut times = ends.map(|ends| ends.take().0);
    times.sort();
    for pair in times.windows(2) {
        assert!(pair[1] - pair[0] > Time::from_ns(7_500), "{times:?}");
    }
    assert!(times[2] < Time::from_us(60), "{times:?}");
}

/// A short message under the hybrid policy goes while all its node's adapters send (coll2003 s4.3),
/// and while they receive. Time slices, which the shipped machine does not have, let the message
/// pass the DMA that is under way.
#[test]
fn a_short_message_waits_for_nobody() {
    let mut config = multirail(3, 2, HYBRID);
    config.adapter.time_slice = Time::from_us(25);
    config.rails.as_mut().expect("it has rails").threshold = Bytes::new(100);
    for sender in [0, 1] {
        let mut bench = Bench::new(&config);
        let first = bench.send((sender, 0), 1 - sender, 65_536, Time::ZERO);
        let second = bench.send((0, 1), 2, 100, Time::from_us(30));
        run_to(&mut bench.cluster, Time::from_us(30));
        assert_eq!(bench.rails.reserved(), 4, "the long message is under way");
        bench.finish();
        assert!(second.take().0 < Time::from_us(35));
        assert!(first.take().0 > Time::from_us(80));
    }
}

/// A buffer that is too short is an error, and no rail stays reserved, or taken: the same process
/// sends the next message, and so does another node to the same destination.
#[test]
fn an_error_gives_the_rails_back() {
    for policy in [BASIC, LOCAL_DYNAMIC, DYNAMIC, HYBRID] {
        for short_end in [0, 1] {
            let mut config = multirail(3, 2, policy);
            config.rails.as_mut().expect("it has rails").threshold = Bytes::new(100);
            let mut bench = Bench::new(&config);
            let mut wrong = bench.put(0, 1, 50_000, Time::ZERO);
            let short = bench.put(0, 1, 40_000, Time::ZERO);
            if short_end == 0 {
                wrong.from = short.from;
            } else {
                wrong.to = short.to;
            }
            let right = bench.put(0, 1, 50_000, Time::ZERO);
            let first = bench.spawn(0, 0, vec![wrong, right]);
            let second = bench.send((2, 0), 1, 5000, Time::from_us(50));
            bench.finish();
            let first = first.borrow();
            assert!(first[0].1.is_err(), "{policy:?}, end {short_end}");
            assert_eq!(first[1].1, Ok(()), "{policy:?}, end {short_end}");
            assert_eq!(second.borrow()[0].1, Ok(()));
        }
    }
}

/// As many processes as a node can have, at once and on one rail: the control message queues have
/// room for all.
#[test]
fn as_many_processes_as_there_may_be() {
    let mut config = multirail(2, 1, DYNAMIC);
    // All ask when the adapter is free, and all but one in vain: the refusals take most of the
    // time.
    config.rails.as_mut().expect("it has rails").handle = 10;
    let mut bench = Bench::new(&config);
    let mut all = Vec::new();
    for (node, index) in (0..2).flat_map(|node| (0..256).map(move |index| (node, index))) {
        all.push(bench.send((node, index), 1 - node, 10, Time::ZERO));
    }
    bench.finish();
    assert!(all.iter().all(|ends| ends.borrow()[0].1 == Ok(())));
    assert_eq!([bench.received(0), bench.received(1)], [[2560], [2560]]);
}

#[test]
#[should_panic(expected = "node 1 has 256 processes already")]
fn one_process_more() {
    let bench = Bench::new(&multirail(2, 1, BASIC));
    for index in 0..=256 {
        bench.rails.process(1_u32.into(), index);
    }
}
