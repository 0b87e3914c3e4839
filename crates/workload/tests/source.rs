//! Sources: arrivals and sizes at the rate asked for, and the same however they are taken.

use units::{Bytes, Rate, Time};
use workload::Distribution::{self, Exponential, Fixed, Uniform};
use workload::source::{LARGEST_MESSAGE, Source};

const KINDS: [Distribution; 3] = [Fixed, Uniform, Exponential];

fn source(sizes: Distribution, load: Rate, arrivals: Distribution) -> Source {
    Source::new(1, "node 0", (Bytes::from_kb(4), sizes), load, arrivals)
}

/// What arrives in a second is the load asked for; the standard error is below 0.7%.
#[test]
fn the_load_is_as_asked() {
    for sizes in KINDS {
        for arrivals in KINDS {
            for load in [10, 130, 350].map(Rate::from_mb_per_second) {
                let mut source = source(sizes, load, arrivals);
                source.take_until(Time::from_secs(20));
                let offered =
                    Rate::of(source.taken(), Time::from_secs(20)) / load.as_mb_per_second_f64();
                assert!(
                    (offered - 1.0).abs() < 0.02,
                    "{sizes:?} {arrivals:?} {load}: {offered}"
                );
            }
        }
    }
}

/// Taking one by one and taking all until a moment see the same messages.
#[test]
fn one_by_one_and_all_at_once() {
    for sizes in KINDS {
        for arrivals in KINDS {
            let new = || source(sizes, Rate::from_mb_per_second(100), arrivals);
            let (mut single, mut whole) = (new(), new());
            for step in 1..200 {
                let until = Time::from_us(step * 37);
                let mut bytes = Bytes::ZERO;
                let before = whole.taken();
                while single.next_arrival() < until {
                    let next = single.next_arrival();
                    let message = single.take();
                    assert_eq!(message.arrival, next);
                    assert!(single.next_arrival() > next);
                    bytes += message.size;
                }
                whole.take_until(until);
                assert_eq!(whole.taken() - before, bytes);
                assert_eq!(whole.taken(), single.taken());
                assert_eq!(whole.next_arrival(), single.next_arrival());
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
            let source = Source::new(
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
    let mut source = Source::new(1, "node 0", size, Rate::from_mb_per_second(100), Fixed);
    let sizes: Vec<_> = (0..1000).map(|_| source.take().size).collect();
    assert!(sizes.iter().all(|&size| size <= LARGEST_MESSAGE));
    assert!(sizes.contains(&LARGEST_MESSAGE));
}
