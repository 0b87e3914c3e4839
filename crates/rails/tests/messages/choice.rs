//! The rails that a message takes, and its waits.

use crate::common::multirail::{Bench, multirail};
use crate::common::run_to;
use elan::{Config, NodeId, Rail};
use rails::policies::{BASIC, DYNAMIC, HYBRID, LOCAL_DYNAMIC, STATIC};
use rails::{Allocation, Choice, Status};
use units::{Bytes, Time};

fn striping(mut config: Config, ratio: f64) -> Config {
    config.rails.as_mut().expect("it has rails").striping = ratio;
    config
}

/// From a rail's change until its status shows it.
fn lag(config: &Config) -> Time {
    let rails = config.rails.expect("it has rails");
    rails.status_lag(config.adapter.thread_cycle)
}

/// The bytes that some messages from node 0 to node 1, one after another, bring on each rail.
fn brought(config: &Config, index: u32, sizes: &[u64]) -> Vec<Vec<u64>> {
    let mut bench = Bench::new(config);
    let gap = Time::from_us(100);
    let put = |(number, &size): (u64, &u64)| bench.put(0, 1, size, gap * number);
    let puts = (0..).zip(sizes).map(put).collect();
    let ends = bench.spawn(0, index, puts);
    let mut before = bench.received(1);
    let mut brought = Vec::new();
    for number in 1..=sizes.len() as u64 {
        run_to(&mut bench.cluster, gap * number - Time::from_ps(1));
        assert_eq!(ends.borrow().len() as u64, number, "it takes no longer");
        let after = bench.received(1);
        let both = after.iter().zip(&before);
        let more = both.map(|(after, before)| after - before);
        brought.push(more.collect());
        before = after;
    }
    bench.finish();
    assert!(ends.borrow().iter().all(|(_, end)| end.is_ok()));
    brought
}

/// One rail after another, beginning with the one at the process's number, for any striping ratio.
#[test]
fn basic_takes_rails_in_turn() {
    let config = multirail(2, 3, BASIC);
    for ratio in [0.0, 1.0] {
        let config = striping(config.clone(), ratio);
        for (index, expected) in [(0, [0, 1, 2, 0]), (1, [1, 2, 0, 1]), (5, [2, 0, 1, 2])] {
            let brought = brought(&config, index, &[7; 4]);
            let rail = |brought: &Vec<u64>| {
                assert_eq!(brought.iter().sum::<u64>(), 7);
                brought.iter().position(|&bytes| bytes == 7)
            };
            let rails: Vec<_> = brought.iter().map(rail).collect();
            assert_eq!(rails, expected.map(Some), "process {index}");
        }
    }
}

/// A message takes the ratio's part of the free rails, the next rails in turn; all stripes have the
/// same length, to a byte.
#[test]
fn stripes() {
    for policy in [LOCAL_DYNAMIC, DYNAMIC, HYBRID] {
        let mut config = multirail(2, 4, policy);
        config.rails.as_mut().expect("it has rails").threshold = Bytes::ZERO;
        let expect = |ratio, index, sizes: &[u64], expected: &[[u64; 4]]| {
            let brought = brought(&striping(config.clone(), ratio), index, sizes);
            assert_eq!(brought, expected, "{policy:?}, ratio {ratio}");
        };
        expect(0.0, 0, &[10, 10], &[[10, 0, 0, 0], [0, 10, 0, 0]]);
        // A tenth of four rails is less than one rail: the message takes one.
        expect(0.1, 3, &[10, 10], &[[0, 0, 0, 10], [10, 0, 0, 0]]);
        // Two fifths of four are nearer to two.
        expect(0.4, 0, &[10], &[[5, 5, 0, 0]]);
        expect(0.5, 0, &[10, 11], &[[5, 5, 0, 0], [0, 0, 5, 6]]);
        expect(0.5, 3, &[1000, 10], &[[500, 0, 0, 500], [0, 5, 5, 0]]);
        expect(0.75, 1, &[9, 9], &[[0, 3, 3, 3], [3, 3, 3, 0]]);
        expect(1.0, 0, &[1003, 4], &[[250, 251, 251, 251], [1, 1, 1, 1]]);
        // No stripe is empty; a message without bytes is one.
        expect(1.0, 0, &[1, 3, 0], &[[1, 0, 0, 0], [0, 1, 1, 1], [0; 4]]);
        if policy != HYBRID {
            // A message without bytes has its turn, too; under hybrid it is short, and short
            // messages have their own turn.
            expect(0.0, 0, &[0, 2], &[[0; 4], [0, 2, 0, 0]]);
        }
        expect(1.0, 0, &[0, 0, 0], &[[0; 4]; 3]);
    }
}

/// Short messages under the hybrid policy are never striped, and take all rails in turn (coll2003
/// s4.3).
#[test]
fn short_messages_are_whole() {
    let config = striping(multirail(2, 3, HYBRID), 1.0);
    let brought = brought(&config, 0, &[300, 300, 8192, 300]);
    let whole = [[300, 0, 0], [0, 300, 0], [0, 0, 8192], [300, 0, 0]];
    assert_eq!(brought, whole);
}

/// Up to the threshold no rails are reserved; from one byte more on, all rails are.
#[test]
fn the_threshold_is_short() {
    let mut config = multirail(2, 3, HYBRID);
    for threshold in [0, 1, 1000] {
        config.rails.as_mut().expect("it has rails").threshold = Bytes::new(threshold);
        for (size, expected) in [(threshold, 0), (threshold + 1, 6)] {
            let mut bench = Bench::new(&config);
            let ends = bench.send((0, 0), 1, size, Time::ZERO);
            let mut most = 0;
            for moment in 0..500 {
                run_to(&mut bench.cluster, Time::from_ns(50 * moment));
                most = most.max(bench.rails.reserved());
            }
            bench.finish();
            assert_eq!(most, expected, "{size} B with a threshold of {threshold} B");
            assert_eq!(ends.borrow().len(), 1);
        }
    }
}

/// Every pair, several times: only rails on which the one transmits and the other receives, all in
/// turn.
#[test]
fn static_goes_one_way() {
    for (nodes, rails) in [(2, 2), (6, 4), (5, 6), (10, 5)] {
        let config = striping(multirail(nodes, rails, STATIC), 1.0);
        let allocation = Allocation::with_rails(nodes, rails).expect("there are enough");
        for from in 0..nodes {
            for to in (0..nodes).filter(|&to| to != from) {
                let mut bench = Bench::new(&config);
                let ends = [from, to].map(NodeId::new);
                let ways: Vec<Rail> = allocation.rails_between(ends[0], ends[1]).collect();
                let puts = ways.iter().map(|_| bench.put(from, to, 400, Time::ZERO));
                let puts = puts.collect();
                let told = bench.spawn(from, to, puts);
                bench.finish();
                assert_eq!(told.borrow().len(), ways.len());
                let expected = Rail::all(rails).map(|rail| 400 * u64::from(ways.contains(&rail)));
                let received = bench.received(to).into_iter();
                assert!(received.eq(expected), "{from} to {to}");
                for rail in ways {
                    let transmits = ends.map(|end| allocation.transmits(rail, end));
                    assert_eq!(transmits, [true, false]);
                }
            }
        }
    }
}

/// Local-dynamic takes no rail on which its node sends, as soon as the adapter has updated the
/// status; before, it makes no reservation, so two messages may take one rail (algorithm 3).
/// Processes 0 and 2 both begin at rail 0, the first of two.
#[test]
fn local_dynamic_sends_beside_what_it_knows_to_be_sent() {
    let config = striping(multirail(4, 2, LOCAL_DYNAMIC), 0.0);
    let lag = lag(&config);
    assert_eq!(lag, Time::from_us(2), "400 cycles of 5 ns");
    for (at, expected) in [(lag - Time::from_ps(1), [100, 0]), (lag, [0, 100])] {
        let mut bench = Bench::new(&config);
        let first = bench.send((0, 0), 1, 65_536, Time::ZERO);
        let second = bench.send((0, 2), 2, 100, at);
        bench.finish();
        assert_eq!(bench.received(1), [65_536, 0]);
        assert_eq!(bench.received(2), expected, "at {at}");
        assert!(second.take().0 < first.take().0 + Time::from_us(1));
    }
}

/// Local-dynamic takes no rail on which its node receives, as soon as the adapter has updated the
/// status: the first packet is there within a microsecond.
#[test]
fn local_dynamic_sends_beside_what_it_knows_to_be_received() {
    let config = striping(multirail(4, 3, LOCAL_DYNAMIC), 0.0);
    let mut bench = Bench::new(&config);
    let first = bench.send((1, 0), 0, 65_536, Time::ZERO);
    let puts = [4, 14, 24, 34].map(|at| bench.put(0, 2, 90, Time::from_us(at)));
    let others = bench.spawn(0, 0, puts.into());
    bench.finish();
    assert_eq!(bench.received(0), [65_536, 0, 0]);
    assert_eq!(bench.received(2), [0, 180, 180]);
    assert!(others.borrow()[3].0 < first.borrow()[0].0);
}

/// With no rail free the process looks again every `poll`: the message begins at the first look
/// after a rail's status has become free, and from there on takes as long as any.
#[test]
fn local_dynamic_looks_again_every_poll() {
    let polls = [Time::from_ns(700), Time::from_us(3)];
    let soon = Time::from_ns(3_111);
    // One look more, or one less.
    for (poll, begins) in polls
        .map(|poll| [(poll, soon), (poll, soon + poll)])
        .concat()
    {
        let mut config = striping(multirail(4, 1, LOCAL_DYNAMIC), 0.0);
        config.rails.as_mut().expect("it has rails").poll = poll;
        let time_of = |size, at| {
            let mut bench = Bench::new(&config);
            let ends = bench.send((0, 0), 1, size, at);
            bench.finish();
            ends.take().0
        };
        let start = Time::ZERO;
        let free = time_of(65_536, start);
        let looks = (free + lag(&config) - begins).div_ceil(poll);
        let expected = time_of(100, begins + poll * looks);

        let mut bench = Bench::new(&config);
        let first = bench.send((0, 0), 1, 65_536, start);
        let second = bench.send((0, 1), 2, 100, begins);
        bench.finish();
        assert_eq!(first.take(), (free, Ok(())));
        assert_eq!(second.take(), (expected, Ok(())));
    }
}

/// With a one-bit status, a received message's end frees the rail on which the node still sends;
/// with an exact status the node's next message waits for the end of the sent message, too, and for
/// the lag.
#[test]
fn an_end_frees_a_rail_of_one_bit() {
    for (status, expected) in [(Status::Exact, false), (Status::Bit, true)] {
        let mut config = striping(multirail(4, 1, LOCAL_DYNAMIC), 0.0);
        config.rails.as_mut().expect("it has rails").status = status;
        let mut bench = Bench::new(&config);
        let sent = bench.send((0, 0), 1, 65_536, Time::ZERO);
        let received = bench.send((2, 0), 0, 4_096, Time::ZERO);
        let next = bench.send((0, 1), 3, 100, Time::from_us(50));
        bench.finish();
        let end = |ends: &crate::common::multirail::Ends| ends.borrow()[0].0;
        assert!(end(&received) < Time::from_us(40), "before the next one");
        // The engine takes the next message after the first, in either case; without the bit, only
        // the status lets it begin.
        let waited = end(&next) >= end(&sent) + lag(&config);
        assert_eq!(waited, !expected, "{status:?}");
    }
}

/// Rails that are picked when a message is generated are those that are free then, in the process's
/// turn; if no rail is free, the message has no rails.
#[test]
fn a_generator_picks_what_is_free_when_a_message_is_generated() {
    let mut config = striping(multirail(4, 2, LOCAL_DYNAMIC), 0.0);
    config.rails.as_mut().expect("it has rails").choice = Choice::Generated;
    let mut bench = Bench::new(&config);
    let process = bench.rails.process(NodeId::new(0), 0);
    let generator = process.generator().expect("it picks in advance");
    let size = Bytes::new(100);
    let pick = || {
        generator
            .pick(size)
            .into_iter()
            .map(Rail::get)
            .collect::<Vec<_>>()
    };
    assert_eq!([pick(), pick(), pick()], [[0], [1], [0]]);
    let first = bench.send((0, 0), 1, 65_536, Time::ZERO);
    let second = bench.send((0, 1), 2, 65_536, Time::from_us(50));
    run_to(&mut bench.cluster, Time::from_us(10));
    assert_eq!([pick(), pick()], [[1], [1]], "rail 0 sends");
    run_to(&mut bench.cluster, Time::from_us(60));
    assert!(pick().is_empty(), "both send");
    bench.finish();
    assert!(first.borrow()[0].1.is_ok() && second.borrow()[0].1.is_ok());
    for other in [BASIC, DYNAMIC, HYBRID] {
        config.rails.as_mut().expect("it has rails").policy = other;
        let process = Bench::new(&config).rails.process(NodeId::new(0), 0);
        assert!(process.generator().is_none(), "{other:?}");
    }
}
