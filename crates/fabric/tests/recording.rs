//! Recordings: when packets waited for channels, had them and gave them back; on paper, and on
//! random machines.

use crate::common;

use common::paper::Passage;
use common::random::{Case, inputs, many, perhaps_failing_case};
use common::{Bench, CIRCUITS, machine, packet};
use fabric::control::Hold;
use fabric::{Ascent, Config, Cycle, Engine, FatTree, LinkId};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// 16 nodes without a choice among ways, one channel a link.
fn small(engine: Engine) -> Config {
    let tree = FatTree::quaternary(2).expect("16 nodes");
    Config {
        channels: 1,
        ascent: Ascent::Deterministic,
        engine,
        ..machine(tree, 11)
    }
}

/// A run's recording from cycle `from` on, stopped after cycle `until`.
fn recorded(case: &Case, from: Cycle, until: Cycle) -> Vec<Hold> {
    let mut bench = Bench::with_answers(case.config.clone(), case.answer());
    bench.fabric.record(from);
    for (at, input) in inputs(&case.acts, &case.traffic) {
        if at <= until {
            bench.input(at, input);
        }
    }
    bench.run_until(until);
    bench.fabric.recorded()
}

/// A packet alone: every channel is taken, used and given back in the cycles calculated on paper.
#[test]
fn a_packet_alone() {
    for engine in [Engine::Worm, Engine::Flit] {
        for circuit in CIRCUITS {
            let config = Config {
                circuit,
                ..small(engine)
            };
            let (spec, turnaround) = (packet(1, 14, 40), 30);
            let passage = Passage::alone(&config, 5, &spec);
            let mut bench = Bench::new(config, turnaround);
            bench.fabric.record(0);
            let mut bench = bench.through(&[(5, spec)]);
            let holds = bench.fabric.recorded();
            assert_eq!(holds.len(), passage.links.len());
            for (place, hold) in holds.iter().enumerate() {
                assert_eq!((hold.link, hold.hop), (passage.links[place], place as u32));
                assert_eq!(
                    (hold.waits, hold.opened),
                    (passage.head(place), Some(hold.waits))
                );
                assert_eq!(hold.head, Some(passage.head(place)));
                if engine == Engine::Flit || place + 1 == holds.len() {
                    assert_eq!(hold.tail, Some(passage.tail(place)));
                }
                let free = passage.free(circuit, place, turnaround);
                assert_eq!(hold.closed, Some(free));
                assert_eq!(hold.delivered, Some(passage.delivered()));
                assert_eq!(hold.acknowledged, Some(passage.acknowledged(turnaround)));
            }
            // The recording has ended.
            assert_eq!(bench.fabric.recorded(), []);
        }
    }
}

/// Two packets to one node: in the middle of the first, the second waits for the last link without
/// a channel. Holds that ended before the recording begins are left out.
#[test]
fn a_packet_that_waits() {
    for engine in [Engine::Worm, Engine::Flit] {
        let first = Passage::alone(&small(engine), 0, &packet(0, 3, 100));
        let [middle, free] = [first.delivered(), first.free(CIRCUITS[0], 1, 30)];
        let run = |from, until| {
            let mut bench = Bench::new(small(engine), 30);
            bench.fabric.record(from);
            bench.offer(&[(0, packet(0, 3, 100)), (1, packet(1, 3, 10))]);
            bench.run_until(until);
            bench.fabric.recorded()
        };
        let then = run(0, middle);
        let last = then.last().expect("holds");
        assert_eq!((last.source.get(), last.hop, last.waits), (1, 1, 12));
        assert_eq!((last.link, last.channel), (first.links[1], None));
        assert_eq!((last.opened, last.head, last.closed), (None, None, None));
        // The channel is free when the first packet's end has passed.
        let after = run(free, Cycle::MAX);
        let sources: Vec<u32> = after.iter().map(|hold| hold.source.get()).collect();
        assert_eq!(sources, [1, 1]);
        assert_eq!((after[1].waits, after[1].opened), (12, Some(free)));
    }
}

proptest! {
    #![proptest_config(many())]

    /// On random machines, with faults and without: a channel has one holder at a time; its moments
    /// are in order; open holds at the end equal the fabric's count; and both movers have the same
    /// recording.
    #[test]
    fn channels_have_one_holder(case in perhaps_failing_case(), until in 0_u64..3000) {
        let of = |engine| {
            let config = Config { engine, ..case.config.clone() };
            recorded(&Case { config, ..case.clone() }, 0, until)
        };
        let holds = of(Engine::Flit);
        if case.config.multiplexing == fabric::Multiplexing::OldestFirst {
            let others = of(Engine::Worm);
            prop_assert_eq!(holds.len(), others.len());
            for (hold, other) in holds.iter().zip(&others) {
                // The worm mover leaves out tails that have no consequence.
                let tail = other.tail.and(hold.tail);
                prop_assert_eq!(&Hold { tail, ..*hold }, other);
            }
        }
        let mut channels: BTreeMap<(LinkId, u32), Vec<&Hold>> = BTreeMap::new();
        for hold in &holds {
            if let Some(channel) = hold.channel {
                channels.entry((hold.link, channel)).or_default().push(hold);
            } else {
                prop_assert_eq!((hold.opened, hold.closed), (None, None));
            }
            let moments = [Some(hold.waits), hold.opened, hold.head, hold.tail, hold.closed];
            prop_assert!(moments.iter().flatten().is_sorted(), "{:?}", hold);
        }
        for holds in channels.values_mut() {
            holds.sort_by_key(|hold| hold.opened);
            for pair in holds.windows(2) {
                prop_assert!(
                    pair[0].closed <= pair[1].opened && pair[0].closed.is_some(), "{:?}", pair
                );
            }
        }
    }
}
