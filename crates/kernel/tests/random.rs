//! Random streams: fixed output, independence, and the right distributions.

use kernel::random::{Stream, note_draw, watch};
use proptest::prelude::*;

/// A change here changes every model result: it needs a new model revision. The values were
/// computed independently, from the definition in the module's documentation.
#[test]
fn the_first_draws_are_fixed() {
    let mut stream = Stream::new(1, "node.0/arrivals");
    let words: Vec<_> = (0..4).map(|_| stream.next_u64()).collect();
    assert_eq!(
        words,
        [
            18_098_628_033_900_728_633,
            3_796_326_255_035_876_974,
            11_015_056_174_100_129_738,
            1_050_831_873_429_118_250
        ]
    );

    let mut stream = Stream::new(2026, "node.63/sizes");
    let numbers: Vec<_> = (0..8).map(|_| stream.uniform_u64(10..20)).collect();
    assert_eq!(numbers, [15, 10, 17, 15, 15, 12, 10, 15]);
    let bits: Vec<_> = (0..2).map(|_| stream.uniform_f64().to_bits()).collect();
    assert_eq!(bits, [0x3fed_c384_ba31_a746, 0x3fed_c324_4647_3e2c]);
    let bits: Vec<_> = (0..2).map(|_| stream.exponential(2.5).to_bits()).collect();
    assert_eq!(bits, [0x3fed_b212_94cf_3212, 0x3ff3_08da_9a0b_5a41]);
}

/// Draws beyond the block that the generator makes in one step.
#[test]
fn the_hundredth_draw_is_fixed() {
    let mut stream = Stream::new(1, "x");
    let mut words = std::iter::from_fn(|| Some(stream.next_u64()));
    assert_eq!(words.nth(99), Some(14_105_846_717_462_257_529));
}

#[test]
fn seeds_and_paths_make_different_streams() {
    let first = |seed, path| Stream::new(seed, path).next_u64();
    let mut draws: Vec<_> = (0..10)
        .flat_map(|seed| ["", "a", "b", "a/b", "ab"].map(|path| first(seed, path)))
        .collect();
    draws.sort_unstable();
    draws.dedup();
    assert_eq!(draws.len(), 50);
    assert_eq!(first(7, "a"), first(7, "a"));
}

#[test]
fn draws_are_watched() {
    let drawn = |work: fn()| watch(work).1;
    assert!(!drawn(|| ()));
    assert!(!drawn(|| drop(Stream::new(1, "never drawn"))));
    assert!(!drawn(|| {
        Stream::fixed(1, "a permutation").next_u64();
    }));
    let draws: [fn(); 5] = [
        || {
            Stream::new(1, "x").next_u64();
        },
        || {
            Stream::new(1, "x").uniform_u64(0..3);
        },
        || {
            Stream::new(1, "x").uniform_f64();
        },
        || {
            Stream::new(1, "x").exponential(2.0);
        },
        note_draw,
    ];
    for draw in draws {
        assert!(drawn(draw));
        assert!(!drawn(|| ()), "the next run begins without draws");
        // An enclosing run has the draws of the inner ones, and an inner one its own.
        assert_eq!(
            watch(|| (watch(draw).1, watch(|| ()).1)),
            ((true, false), true)
        );
    }
    let other = || std::thread::spawn(note_draw).join().expect("it ends");
    assert!(!watch(other).1, "threads have runs of their own");
}

#[test]
fn fixed_streams_are_those_of_their_number() {
    assert_eq!(
        Stream::fixed(7, "a").next_u64(),
        Stream::new(7, "a").next_u64()
    );
}

#[test]
fn uniform_integers_fill_their_range_evenly() {
    let mut stream = Stream::new(0, "uniform");
    let mut counts = [0_u32; 6];
    for _ in 0..60_000 {
        counts[stream.uniform_u64(0..6) as usize] += 1;
    }
    // A count's standard deviation is 91.
    assert!(
        counts.iter().all(|count| count.abs_diff(10_000) < 400),
        "{counts:?}"
    );
}

#[test]
fn ranges_near_the_end_of_the_integers_are_uniform_too() {
    // Three quarters of all words, so that one draw in four is skipped. Were it not, every multiple
    // of 3 would come twice as often as other numbers: two words w in four have a multiple of 3 as
    // the whole part of 3 w / 4.
    let length = 3 << 62;
    let mut stream = Stream::new(0, "wide");
    let (mut thirds, mut remainders) = ([0_u32; 3], [0_u32; 3]);
    for _ in 0..9_000 {
        let draw = stream.uniform_u64(0..length);
        thirds[(draw / (1 << 62)) as usize] += 1;
        remainders[(draw % 3) as usize] += 1;
    }
    // A count's standard deviation is 45.
    for counts in [thirds, remainders] {
        let even = counts.iter().all(|count| count.abs_diff(3_000) < 200);
        assert!(even, "{counts:?}");
    }
    assert_eq!(stream.uniform_u64(u64::MAX - 1..u64::MAX), u64::MAX - 1);
}

#[test]
#[should_panic(expected = "empty range")]
fn an_empty_range_has_no_number() {
    Stream::new(0, "empty").uniform_u64(5..5);
}

#[test]
fn exponential_numbers_have_their_mean_and_tail() {
    let mut stream = Stream::new(0, "exponential");
    let draws: Vec<_> = (0..100_000).map(|_| stream.exponential(3.0)).collect();
    let mean = draws.iter().sum::<f64>() / 1e5;
    // The mean's standard deviation is 0.0095.
    assert!((mean - 3.0).abs() < 0.04, "{mean}");
    let beyond = draws.iter().filter(|&&draw| draw > 6.0).count() as f64 / 1e5;
    assert!((beyond - (-2.0_f64).exp()).abs() < 0.005, "{beyond}");
    assert!(draws.iter().all(|draw| (0.0..=3.0 * 36.74).contains(draw)));
}

/// The distribution's inverse: an exponential number is exceeded with the probability 1 - u, and
/// grows with u.
#[test]
fn exponential_numbers_are_quantiles_of_uniform_ones() {
    let [mut uniform, mut exponential] = [(); 2].map(|()| Stream::new(3, "quantiles"));
    for _ in 0..1000 {
        let (u, gap) = (uniform.uniform_f64(), exponential.exponential(2.5));
        assert!(((-gap / 2.5).exp() - (1.0 - u)).abs() < 1e-12, "{u} {gap}");
    }
}

proptest! {
    #[test]
    fn draws_stay_in_their_range(
        seed in any::<u64>(), start in any::<u64>(), length in 1..u64::MAX
    ) {
        let range = start..start.saturating_add(length).max(start.saturating_add(1));
        prop_assume!(!range.is_empty());
        let mut stream = Stream::new(seed, "range");
        for _ in 0..20 {
            prop_assert!(range.contains(&stream.uniform_u64(range.clone())));
            prop_assert!((0.0..1.0).contains(&stream.uniform_f64()));
        }
    }

    /// In any interleaving of the draws of two streams, each gives the numbers that it gives alone.
    #[test]
    fn streams_do_not_disturb_each_other(
        seed in any::<u64>(), turns in prop::collection::vec(any::<bool>(), 0..100)
    ) {
        let [mut left, mut right] = ["left", "right"].map(|path| Stream::new(seed, path));
        let [mut left_alone, mut right_alone] = ["left", "right"].map(
            |path| Stream::new(seed, path)
        );
        for turn in turns {
            let (shared, alone) = if turn { (&mut left, &mut left_alone) } else {
                (&mut right, &mut right_alone)
            };
            prop_assert_eq!(shared.next_u64(), alone.next_u64());
        }
        // The left stream alone, after the whole right one: still the same.
        prop_assert_eq!(left.next_u64(), left_alone.next_u64());
    }
}
