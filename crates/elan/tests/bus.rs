//! The bus alone, against closed forms: bursts, overheads, turns, and which transfer goes next.

use Direction::{ToAdapter, ToMain};
use elan::adapter::bus::{BusState, Direction};
use elan::{BusConfig, Duplex};
use proptest::prelude::*;
use units::{Bytes, Rate, Time};

/// 100 ns overhead and 64 ns for a 64-byte burst; 80 ns for a turn.
const BUS: BusConfig = BusConfig {
    duplex: Duplex::Half,
    rate: Rate::from_mb_per_second(1000),
    burst: Bytes::new(64),
    burst_overhead: Time::from_ns(100),
    turnaround: Time::from_ns(80),
};

/// A transfer requested at a time.
type Request = (Time, Direction, u64);

struct Outcome {
    /// When each request was done, in request order.
    done: Vec<Time>,
    /// When the last burst ended.
    end: Time,
    /// Time in which something waited or was under way.
    wanted: Time,
    busy: Time,
}

/// Runs requests, sorted by time, to the end. A burst that ends at a request's time ends first.
fn run(config: BusConfig, requests: &[Request]) -> Outcome {
    let full = config.duplex == Duplex::Full;
    let mut bus = BusState::new(config);
    let mut done = vec![Time::MAX; requests.len()];
    let mut ends: Vec<(Time, Direction)> = Vec::new();
    let (mut now, mut wanted, mut next) = (Time::ZERO, Time::ZERO, 0);
    loop {
        ends.sort_by_key(|end| end.0);
        let arrives = requests.get(next).map(|request| request.0);
        match (ends.first().copied(), arrives) {
            (Some((end, way)), arrives) if arrives.is_none_or(|at| end <= at) => {
                wanted += end - now;
                now = end;
                ends.remove(0);
                let (purpose, burst) = bus.finish_burst(way);
                if let Some(purpose) = purpose {
                    let before = std::mem::replace(&mut done[purpose], now);
                    assert_eq!(before, Time::MAX, "done twice");
                }
                if let Some((next_way, duration)) = burst {
                    assert!(!full || next_way == way, "each way goes on by itself");
                    ends.push((now + duration, next_way));
                }
            }
            (open, Some(at)) => {
                if open.is_some() {
                    wanted += at - now;
                }
                now = at;
                let (_, way, size) = requests[next];
                if let Some(duration) = bus.request(way, Bytes::new(size), next) {
                    ends.push((now + duration, way));
                }
                next += 1;
            }
            (None, None) => {
                return Outcome {
                    done,
                    end: now,
                    wanted,
                    busy: bus.busy(),
                };
            }
            (Some(_), None) => unreachable!("the first arm takes it"),
        }
        let ways: Vec<_> = ends.iter().map(|end| end.1).collect();
        assert!(ways.len() <= 1 || full && ways.len() == 2 && ways[0] != ways[1]);
    }
}

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Each burst pays the overhead; the last one may be short.
#[test]
fn a_transfer_is_cut_into_bursts() {
    for (size, expected) in [
        (1, 101),
        (8, 108),
        (63, 163),
        (64, 164),
        (65, 164 + 101),
        (320, 5 * 164),
    ] {
        let outcome = run(BUS, &[(ns(7), ToAdapter, size)]);
        assert_eq!(outcome.done, [ns(7 + expected)], "{size} bytes");
        assert_eq!(outcome.busy, ns(expected));
    }
}

/// One direction: `burst` bytes in every `overhead + burst / rate`; first in, first out; no turns.
#[test]
fn a_one_way_stream() {
    let requests: Vec<_> = (0..100).map(|_| (ns(0), ToAdapter, 320)).collect();
    let outcome = run(BUS, &requests);
    let expected: Vec<_> = (1..=100).map(|number| ns(number * 5 * 164)).collect();
    assert_eq!(outcome.done, expected);
    assert_eq!(outcome.busy, outcome.end);
    let bandwidth = Rate::of(Bytes::new(100 * 320), outcome.end);
    assert!((bandwidth - 64.0 / 0.164).abs() < 1e-9);
}

/// A hundred transfers each way, simultaneously.
fn two_ways() -> Vec<Request> {
    [(ns(0), ToAdapter, 320), (ns(0), ToMain, 320)].repeat(100)
}

/// Both directions: they alternate burst by burst and pay a turn each time.
#[test]
fn a_two_way_stream() {
    let outcome = run(BUS, &two_ways());
    // The first burst starts alone and needs no turn. Then 5 bursts each way for each pair of
    // transfers.
    let pair = 10 * (164 + 80);
    let expected: Vec<_> = (1..=100)
        .flat_map(|number| [ns(number * pair - 80 - (164 + 80)), ns(number * pair - 80)])
        .collect();
    assert_eq!(outcome.done, expected);
    assert_eq!(outcome.busy, outcome.end);
}

/// The bus remembers which way it went last, however long ago; it starts towards the adapter.
#[test]
fn a_turn_is_paid_when_the_way_changes() {
    let ways = [ToAdapter, ToMain, ToMain, ToAdapter, ToAdapter, ToMain];
    let turns = [0, 80, 0, 80, 0, 80];
    for gap in [244, 1_000_000] {
        let at = |number: u64| ns(number * gap);
        let requests = (0..).zip(ways).map(|(number, way)| (at(number), way, 64));
        let outcome = run(BUS, &requests.collect::<Vec<_>>());
        let expected = (0..)
            .zip(turns)
            .map(|(number, turn)| at(number) + ns(164 + turn));
        assert!(outcome.done.into_iter().eq(expected));
        assert_eq!(outcome.busy, ns(6 * 164 + 3 * 80));
    }
}

/// A short transfer against a long one the other way waits for the burst under way, not for the
/// long one.
#[test]
fn a_long_transfer_does_not_block_the_other_way() {
    let outcome = run(BUS, &[(ns(0), ToAdapter, 6400), (ns(200), ToMain, 8)]);
    // The second burst ends at 328; then a turn and 8 bytes; then a turn and 98 bursts.
    assert_eq!(outcome.done, [ns(328 + 188 + 80 + 98 * 164), ns(328 + 188)]);
}

/// Requests in both directions, half at the same moment as the previous one.
fn requests() -> impl Strategy<Value = Vec<Request>> {
    let request = (0_u64..3000, any::<bool>(), 1_u64..700);
    prop::collection::vec(request, 1..60).prop_map(|requests| {
        let mut at = 0;
        let request = |(gap, to_main, size): (u64, bool, u64)| {
            at += gap.saturating_sub(1500);
            (ns(at), if to_main { ToMain } else { ToAdapter }, size)
        };
        requests.into_iter().map(request).collect()
    })
}

proptest! {
    /// For any requests: all are done; each direction in order; the bus rests only when no transfer
    /// waits; it is busy for as long as its bursts and turns take.
    #[test]
    fn work_is_conserved(requests in requests()) {
        let outcome = run(BUS, &requests);
        prop_assert_eq!(outcome.busy, outcome.wanted);
        let bursts: u64 = requests.iter().map(|request| request.2.div_ceil(64)).sum();
        let bytes: u64 = requests.iter().map(|request| request.2).sum();
        let turns = outcome.busy - ns(100 * bursts + bytes);
        prop_assert_eq!(turns.as_ps() % 80_000, 0);
        prop_assert!(turns <= ns(80 * bursts));
        for way in [ToAdapter, ToMain] {
            let of_way = requests.iter().zip(&outcome.done).filter(|(request, _)| request.1 == way);
            let done: Vec<_> = of_way.map(|(_, &done)| done).collect();
            prop_assert!(done.is_sorted());
        }
        prop_assert_eq!(outcome.done.iter().max(), Some(&outcome.end));
    }
}

/// The same bus in full duplex.
const FULL: BusConfig = BusConfig {
    duplex: Duplex::Full,
    ..BUS
};

/// Full-duplex: both directions at the full rate, without turns.
#[test]
fn a_two_way_stream_in_full_duplex() {
    let Outcome { done, busy, .. } = run(FULL, &two_ways());
    let expected = (1..=100).flat_map(|number| [ns(number * 5 * 164); 2]);
    assert!(done.into_iter().eq(expected));
    assert_eq!(busy, ns(2 * 100 * 5 * 164));
}

/// Full-duplex: a transfer takes its own time, independent of transfers the other way, and of the
/// last transfer's direction.
#[test]
fn full_duplex_knows_no_turns() {
    for other in [0, 1, 163, 164, 200] {
        let requests = [
            (ns(0), ToAdapter, 6400),
            (ns(other), ToMain, 8),
            (ns(1_000_000), ToMain, 64),
            (ns(2_000_000), ToAdapter, 64),
        ];
        let Outcome { done, busy, .. } = run(FULL, &requests);
        let expected = [100 * 164, other + 108, 1_000_164, 2_000_164].map(ns);
        assert_eq!(done, expected);
        assert_eq!(busy, ns(102 * 164 + 108));
    }
}

proptest! {
    /// Each direction of a full-duplex bus acts as a half-duplex bus with only this direction's
    /// requests.
    #[test]
    fn full_duplex_is_two_buses(requests in requests()) {
        let Outcome { done, busy, .. } = run(FULL, &requests);
        let mut both = Time::ZERO;
        for way in [ToAdapter, ToMain] {
            let of_way: Vec<Request> = requests.iter()
                .copied()
                .filter(|request| request.1 == way)
                .collect();
            // A half-duplex bus turns once before its first burst to main memory: a single
            // direction pays no other turn.
            let turnless = BusConfig { turnaround: Time::ZERO, ..BUS };
            let alone = run(turnless, &of_way);
            let together = requests.iter().zip(&done).filter(|(request, _)| request.1 == way);
            let together: Vec<_> = together.map(|(_, &done)| done).collect();
            prop_assert_eq!(together, alone.done);
            both += alone.busy;
        }
        prop_assert_eq!(busy, both);
    }
}
