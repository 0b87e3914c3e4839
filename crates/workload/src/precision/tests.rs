use super::{Precision, measure};
use crate::Window;
use kernel::random::Stream;
use std::convert::Infallible;
use units::Time;

/// A window of one millisecond.
fn window(batches: u32, enough: f64, doublings: u32) -> Window {
    Window {
        warm_up: Time::from_us(50),
        length: Time::from_ms(1),
        batches,
        slices: 0,
        watch: Time::ZERO,
        precision: Some(Precision { enough, doublings }),
    }
}

/// A rate measured at batch ends: in each microsecond after the warm-up, one step by an amount.
struct Steps<F>(F);

impl<F: FnMut(u64) -> f64> Steps<F> {
    /// Measures; returns how often the window doubled, and the batch means.
    fn measure(mut self, mut window: Window) -> (u32, Vec<f64>) {
        let (first, start) = (window.length, window.warm_up.as_us_f64() as u64);
        let (mut sum, mut now) = (0.0, start);
        let measured = |end: Time| {
            let end = end.as_us_f64() as u64;
            sum += (now..end).map(|step| self.0(step - start)).sum::<f64>();
            now = now.max(end);
            Ok::<_, Infallible>((now, sum))
        };
        let batches = |ends: &[(u64, f64)]| {
            let mut before = (start, 0.0);
            let mean = |&end: &(u64, f64)| {
                let mean = (end.1 - before.1) / (end.0 - before.0) as f64;
                before = end;
                mean
            };
            ends.iter().map(mean).collect::<Vec<_>>()
        };
        let is_known = |precision: Precision, ends: &[_]| precision.is_reached(&batches(ends));
        let Ok(ends) = measure(&mut window, measured, is_known);
        let doublings = (window.length.as_us_f64() / first.as_us_f64())
            .log2()
            .round();
        (doublings as u32, batches(&ends))
    }
}

/// Steps with a mean of 1 and a scatter: 1 plus or minus `scatter`, at random.
fn scattered(scatter: f64, seed: u64) -> Steps<impl FnMut(u64) -> f64> {
    let mut stream = Stream::new(seed, "steps");
    Steps(move |_| {
        if stream.uniform_f64() < 0.5 {
            1.0 - scatter
        } else {
            1.0 + scatter
        }
    })
}

#[test]
fn what_does_not_scatter_takes_the_shortest_window() {
    let (doublings, batches) = Steps(|_| 1.0).measure(window(10, 1e-9, 5));
    assert_eq!((doublings, batches), (0, vec![1.0; 10]));
}

#[test]
fn what_scatters_too_much_takes_the_longest_window() {
    let (doublings, batches) = scattered(0.9, 1).measure(window(10, 1e-9, 5));
    assert_eq!((doublings, batches.len()), (5, 10));
}

/// The mean's scatter falls with the square root of the window. Half an interval over n batches
/// with standard deviation s is t s / sqrt(n), with t = 2.26 for 10 batches and 2.78 for 5 pairs. A
/// window with 1,000 steps that scatter by 0.9 has means that scatter by 0.9 / sqrt(1000) = 0.0285,
/// for any batch count: half intervals of 0.064 and 0.079. So 0.04, half of the latter, takes two
/// doublings for the median seed, 0.02 four and 0.01 six.
#[test]
fn the_window_is_as_long_as_theory_says() {
    for (enough, expected) in [(0.04, 2), (0.02, 4), (0.01, 6)] {
        let doublings = |seed| scattered(0.9, seed).measure(window(10, enough, 8)).0;
        let mut found: Vec<_> = (0..101).map(doublings).collect();
        found.sort_unstable();
        assert_eq!(found[50], expected, "{enough}: {found:?}");
        // The scatter over 5 pairs has quantiles of 0.35 and 1.54 times its mean at 1% and 99%: a
        // doubling to either side, and another one for the looks before.
        assert!(
            found[0] + 3 >= expected && found[100] <= expected + 2,
            "{found:?}"
        );
    }
}

/// A run's final mean is as close to the true one as its precision demands, in at least nine of ten
/// runs: a little fewer than 95%, since a run that looks several times may end by chance.
#[test]
fn the_interval_holds_what_it_says() {
    let close = |seed| {
        let (_, batches) = scattered(0.9, seed).measure(window(10, 0.02, 8));
        let mean = batches.iter().sum::<f64>() / 10.0;
        (mean - 1.0).abs() <= 0.02
    };
    let count = (0..200).filter(|&seed| close(seed)).count();
    assert!(count >= 180, "{count} of 200");
}

/// Steps that stay alike for longer than a batch: single batches would show too little scatter.
#[test]
fn batches_that_depend_on_each_other_do_not_pass_for_many() {
    let slow = |step: u64| {
        if (step / 400).is_multiple_of(2) {
            0.95
        } else {
            1.05
        }
    };
    let means = [0.95, 0.95, 0.95, 0.95, 1.05, 1.05, 1.05, 1.05, 0.95, 0.95];
    let precision = Precision {
        enough: 0.04,
        doublings: 0,
    };
    let alone = kernel::statistics::Interval::of(&means).relative();
    assert!(alone < 0.04 && !precision.is_reached(&means), "{alone}");
    let (doublings, _) = Steps(slow).measure(window(10, 0.04, 8));
    assert!(doublings > 0);
}

/// Batches cover the whole window, whether their number is even or odd.
#[test]
fn batches_are_equal_parts_of_the_window() {
    for batches in 4..12 {
        for doublings in 0..4 {
            let fixed = Window {
                length: Time::from_us(1000 << doublings),
                precision: None,
                ..window(batches, 0.0, 0)
            };
            let steps = || scattered(0.5, batches.into());
            let expected = steps().measure(fixed).1;
            let found = steps().measure(window(batches, 1e-9, doublings));
            assert_eq!(found, (doublings, expected), "{batches} batches");
        }
    }
}
