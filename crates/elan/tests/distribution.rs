//! Distributions: means, spreads and ranges, on fixed seeds.
#![allow(clippy::float_cmp)] // equal values must be equal to the last bit

use elan::Distribution::{self, Exponential, Fixed, Uniform};
use kernel::random::Stream;

const DRAWS: usize = 100_000;

fn draws(distribution: Distribution, mean: u64) -> Vec<f64> {
    let mut stream = Stream::new(1, &format!("{distribution:?} {mean}"));
    (0..DRAWS)
        .map(|_| distribution.draw_count(mean, &mut stream) as f64)
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn assert_close(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value / expected - 1.0).abs() < tolerance,
        "{value} is not close to {expected}"
    );
}

/// A mean's standard error is 0.18% (uniform) and 0.32% (exponential) of it.
#[test]
fn means_and_spreads() {
    for size in [320_u64, 262_144, 1 << 40] {
        let expected = size as f64;
        for (distribution, variance) in [
            (Uniform, expected * expected / 3.0),
            (Exponential, expected * expected),
        ] {
            let values = draws(distribution, size);
            assert_close(mean(&values), expected, 0.015);
            let squares: Vec<f64> = values
                .iter()
                .map(|value| (value - expected).powi(2))
                .collect();
            assert_close(mean(&squares), variance, 0.04);
        }
    }
}

#[test]
fn fixed_is_the_mean() {
    assert!(draws(Fixed, 4096).iter().all(|&value| value == 4096.0));
}

#[test]
fn uniform_reaches_from_nothing_to_twice_the_mean() {
    let values = draws(Uniform, 1000);
    let [least, most] =
        [f64::min, f64::max].map(|pick| values.iter().copied().reduce(pick).expect("some"));
    assert_eq!((least, most), (1.0, 2000.0));
    let below = values.iter().filter(|&&value| value < 500.0).count();
    assert_close(below as f64, DRAWS as f64 / 4.0, 0.03);
}

/// A draw exceeds the mean with probability 1/e, three times the mean with 1/e^3.
#[test]
fn exponential_has_its_tail() {
    let values = draws(Exponential, 10_000);
    for times in [1.0, 3.0] {
        let above = values
            .iter()
            .filter(|&&value| value > times * 10_000.0)
            .count();
        assert_close(above as f64, DRAWS as f64 * f64::exp(-times), 0.05);
    }
}

/// No draw is below 1, for any mean.
#[test]
fn at_least_one() {
    for distribution in [Fixed, Uniform, Exponential] {
        for mean in [0, 1, 2] {
            assert!(draws(distribution, mean).iter().all(|&value| value >= 1.0));
        }
    }
}

/// Each draw takes one word from the stream: sizes of one kind do not shift later draws.
#[test]
fn one_draw_each() {
    let after = |distribution: Distribution| {
        let mut stream = Stream::new(5, "a");
        for _ in 0..10 {
            distribution.draw_count(1000, &mut stream);
        }
        stream.next_u64()
    };
    assert_eq!(after(Fixed), after(Uniform));
    assert_eq!(after(Fixed), after(Exponential));
}
