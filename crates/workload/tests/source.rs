//! Sources: arrivals and sizes at the rate asked for, and the same however they are taken.

use std::collections::VecDeque;
use units::{Bytes, Rate, Time};
use workload::Distribution::{self, Exponential, Fixed, Uniform};
use workload::source::{
    JobOffer, LARGEST_MESSAGE, Message, Source, TrafficSource, register, registered,
};

const KINDS: [Distribution; 3] = [Fixed, Uniform, Exponential];

fn source(sizes: Distribution, load: Rate, arrivals: Distribution) -> Source {
    new(1, "node 0", (Bytes::from_kb(4), sizes), load, arrivals)
}

fn new(
    seed: u64,
    path: &str,
    (message, sizes): (Bytes, Distribution),
    load: Rate,
    arrivals: Distribution,
) -> Source {
    Source::new(&JobOffer {
        seed,
        path,
        message,
        sizes,
        load,
        arrivals,
    })
}

/// The arrivals in a second are the requested load; the standard error is below 0.7%.
#[test]
fn the_load_is_as_asked() {
    for sizes in KINDS {
        for arrivals in KINDS {
            for load in [10, 130, 350].map(Rate::from_mb_per_second) {
                let mut source = source(sizes, load, arrivals);
                let end = Time::from_secs(20);
                let offered = Rate::of(source.arrived(end), end) / load.as_mb_per_second_f64();
                assert!(
                    (offered - 1.0).abs() < 0.02,
                    "{sizes:?} {arrivals:?} {load}: {offered}"
                );
            }
        }
    }
}

/// A reader that takes messages as they arrive and one that lags see the same messages, and the
/// same bytes have arrived.
#[test]
fn a_program_that_lags_misses_nothing() {
    for sizes in KINDS {
        for arrivals in KINDS {
            let new = || source(sizes, Rate::from_mb_per_second(100), arrivals);
            let (mut prompt, mut late) = (new(), new());
            let mut lag = VecDeque::new();
            for step in 1..200 {
                // Every other moment is an arrival, which does not count yet.
                let now = match step % 2 {
                    0 => prompt.next_arrival(),
                    _ => Time::from_us(step * 37).max(prompt.next_arrival()),
                };
                let before = prompt.arrived(now);
                assert_eq!(before, late.arrived(now));
                let mut counted = prompt.taken();
                while prompt.next_arrival() <= now {
                    let next = prompt.next_arrival();
                    let message = prompt.take();
                    assert_eq!(message.arrival, next);
                    assert!(prompt.next_arrival() > next);
                    if next < now {
                        counted += message.size;
                    }
                    lag.push_back(message);
                }
                assert_eq!((counted, prompt.arrived(now)), (before, before));
                for _ in 0..lag.len() / 2 {
                    assert_eq!(lag.pop_front(), Some(late.take()));
                }
            }
        }
    }
}

/// The first message comes within one mean gap, at another moment for each node and seed.
#[test]
fn nodes_do_not_move_in_step() {
    let gap = Rate::from_mb_per_second(100).time(Bytes::from_kb(4));
    let mut firsts = Vec::new();
    for seed in 0..10 {
        for node in 0..100 {
            let size = (Bytes::from_kb(4), Fixed);
            let source = new(
                seed,
                &format!("node {node}"),
                size,
                Rate::from_mb_per_second(100),
                Fixed,
            );
            firsts.push(source.next_arrival());
        }
    }
    assert!(firsts.iter().all(|&first| first < gap));
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 1000);
}

/// Sizes do not depend on the load or on how gaps vary, nor arrivals on how sizes vary.
#[test]
fn sizes_and_arrivals_have_streams_of_their_own() {
    let take = |sizes, load, arrivals| -> (Vec<Bytes>, Vec<Time>) {
        let mut source = source(sizes, Rate::from_mb_per_second(load), arrivals);
        (0..100)
            .map(|_| source.take())
            .map(|message| (message.size, message.arrival))
            .unzip()
    };
    let (sizes, arrivals) = take(Exponential, 100, Exponential);
    assert_eq!(take(Exponential, 50, Uniform).0, sizes);
    assert_eq!(take(Uniform, 100, Exponential).1, arrivals);
}

/// Draws beyond the largest DMA are cut.
#[test]
fn messages_have_a_largest_size() {
    let size = (Bytes::new(1 << 31), Exponential);
    let mut source = new(1, "node 0", size, Rate::from_mb_per_second(100), Fixed);
    let sizes: Vec<_> = (0..1000).map(|_| source.take().size).collect();
    assert!(sizes.iter().all(|&size| size <= LARGEST_MESSAGE));
    assert!(sizes.contains(&LARGEST_MESSAGE));
}

/// Two messages in a row, then a gap as long as four messages.
struct Bursts {
    gap: Time,
    next: Message,
    number: u64,
}

impl TrafficSource for Bursts {
    fn next(&mut self) -> Message {
        let message = self.next;
        self.number += 1;
        self.next.arrival += if self.number.is_multiple_of(2) {
            self.gap * 4
        } else {
            self.gap
        };
        message
    }
}

fn bursts(offered: &JobOffer<'_>) -> Box<dyn TrafficSource> {
    let size = offered.message;
    Box::new(Bursts {
        gap: offered.load.time(size),
        next: Message {
            arrival: Time::ZERO,
            size,
        },
        number: 0,
    })
}

/// A source from outside has its job's parameters, and its messages come as it makes them.
#[test]
fn a_source_from_outside_makes_the_messages() {
    register("bursts", bursts);
    assert_eq!(registered("burst").err(), Some(vec!["bursts"]));
    let make = registered("bursts").expect("just registered");
    let load = Rate::from_mb_per_second(100);
    let message = Bytes::from_kb(4);
    let mut source = Source::of(make(&JobOffer {
        seed: 1,
        path: "node 0",
        message,
        sizes: Fixed,
        load,
        arrivals: Fixed,
    }));
    let gap = load.time(message);
    assert_eq!(source.arrived(gap * 5 + Time::from_ps(1)), message * 3);
    let taken = [(); 4].map(|()| source.take().arrival);
    assert_eq!(taken, [0, 1, 5, 6].map(|gaps| gap * gaps));
}

/// All messages arrive together.
struct Heap;

impl TrafficSource for Heap {
    fn next(&mut self) -> Message {
        Message {
            arrival: Time::ZERO,
            size: Bytes::new(1),
        }
    }
}

#[test]
#[should_panic(expected = "messages have bytes and arrive one after another")]
fn a_source_from_outside_keeps_to_its_contract() {
    Source::of(Box::new(Heap)).take();
}
