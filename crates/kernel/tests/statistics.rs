//! Summaries, histograms and intervals.

use kernel::statistics::{Histogram, Interval, Summary};
use proptest::prelude::*;
use units::Time;

fn histogram(times: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &ps in times {
        histogram.record(Time::from_ps(ps));
    }
    histogram
}

fn summary(values: &[u64]) -> Summary {
    let mut summary = Summary::new();
    for &value in values {
        summary.record(value);
    }
    summary
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-6
}

#[test]
fn nothing_has_no_mean() {
    let (summary, histogram) = (Summary::new(), Histogram::new());
    assert_eq!(
        (
            summary.count(),
            summary.mean(),
            summary.min(),
            summary.max()
        ),
        (0, None, None, None)
    );
    assert_eq!(
        (
            histogram.mean(),
            histogram.min(),
            histogram.max(),
            histogram.quantile(0.5)
        ),
        (None, None, None, None)
    );
    assert!(histogram.is_empty() && histogram.counts().next().is_none());
}

#[test]
fn a_summary_is_exact() {
    let mut summary = summary(&[4, 1]);
    summary.record_n(3, 2);
    summary.record_n(9, 0);
    assert_eq!((summary.count(), summary.total()), (4, 11));
    assert_eq!(
        (summary.min(), summary.max(), summary.mean()),
        (Some(1), Some(4), Some(2.75))
    );
}

#[test]
fn small_times_are_exact_and_large_ones_to_a_thousandth() {
    let small: Vec<_> = (1..=100).collect();
    let small = histogram(&small);
    assert_eq!(small.quantile(0.0), Some(Time::from_ps(1)));
    assert_eq!(small.quantile(0.5), Some(Time::from_ps(50)));
    assert_eq!(small.quantile(0.99), Some(Time::from_ps(99)));
    assert_eq!(small.quantile(1.0), Some(Time::from_ps(100)));
    assert_eq!(small.mean(), Some(Time::from_ps(50)));

    let mut large = histogram(&[0, u64::MAX]);
    large.record_n(Time::from_us(5), 7);
    let median = large.quantile(0.5).unwrap();
    assert!(
        median >= Time::from_us(5) && median <= Time::from_ns(5005),
        "{median}"
    );
    assert_eq!(
        (large.min(), large.max()),
        (Some(Time::ZERO), Some(Time::MAX))
    );
}

#[test]
fn an_interval_is_that_of_the_textbook() {
    // Mean 5, sum of squares 10, standard error sqrt(10 / 4 / 5), t(4) = 2.776445.
    let interval = Interval::of(&[3.0, 4.0, 5.0, 6.0, 7.0]);
    let half = 2.776_445 * 0.5_f64.sqrt();
    assert!(close(interval.mean, 5.0) && interval.n == 5);
    assert!(
        close(interval.low, 5.0 - half) && close(interval.high, 5.0 + half),
        "{interval:?}"
    );
}

/// Two values have one degree of freedom: the interval is wide.
#[test]
fn the_width_of_an_interval_is_that_of_all_values_beside_its_mean() {
    let two = Interval::of(&[-1.0, -3.0]);
    assert!(close(two.half(), 12.706_205) && close(two.relative(), 12.706_205 / 2.0));
    let around_zero = Interval::of(&[-1.0, 1.0]);
    assert!(close(around_zero.half(), 12.706_205));
    assert!(close(around_zero.relative(), 0.0));
}

#[test]
fn one_value_is_its_own_interval_and_none_has_none() {
    assert_eq!(
        Interval::of(&[2.5]),
        Interval {
            mean: 2.5,
            low: 2.5,
            high: 2.5,
            n: 1
        }
    );
    let none = Interval::of(&[]);
    assert!(none.mean.is_nan() && none.low.is_nan() && none.high.is_nan() && none.n == 0);
}

#[test]
fn equal_values_have_an_interval_of_no_width() {
    let interval = Interval::of(&[1.5; 12]);
    assert_eq!(
        interval,
        Interval {
            mean: 1.5,
            low: 1.5,
            high: 1.5,
            n: 12
        }
    );
}

fn times() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(
        (any::<u64>(), 0..64).prop_map(|(ps, shift)| ps >> shift),
        0..40,
    )
}

proptest! {
    #[test]
    fn merging_commutes(left in times(), right in times()) {
        let all = [left.as_slice(), &right].concat();
        for (first, second) in [(&left, &right), (&right, &left)] {
            let mut merged = histogram(first);
            merged.merge(&histogram(second));
            prop_assert_eq!(&merged, &histogram(&all));
            let mut merged = summary(first);
            merged.merge(&summary(second));
            prop_assert_eq!(merged, summary(&all));
        }
    }

    #[test]
    fn merging_associates(parts in prop::array::uniform3(times())) {
        let [a, b, c] = parts.map(|part| histogram(&part));
        let (mut left, mut tail) = (a.clone(), b.clone());
        left.merge(&b);
        left.merge(&c);
        tail.merge(&c);
        let mut right = a;
        right.merge(&tail);
        prop_assert_eq!(left, right);
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_times(mut times in times(), share in 0.0..=1.0_f64) {
        prop_assume!(!times.is_empty());
        let histogram = histogram(&times);
        let quantile = histogram.quantile(share).unwrap().as_ps();
        // No quantile is beyond the greatest time, although its bucket's end may be.
        prop_assert_eq!(histogram.quantile(1.0), histogram.max());
        times.sort_unstable();
        let rank = ((share * times.len() as f64).ceil() as usize).max(1);
        let exact = times[rank - 1];
        prop_assert!(quantile >= exact && quantile - exact <= exact / 1000, "{quantile} for \
            {exact}");
    }

    #[test]
    fn counts_make_the_same_buckets(times in times()) {
        let first = histogram(&times);
        let mut second = Histogram::new();
        first.counts().for_each(|(time, count)| second.record_n(time, count));
        prop_assert!(first.counts().eq(second.counts()));
        // The first bucket begins at the least time, or at most a thousandth below.
        let begin = first.counts().next().map(|(time, _)| time.as_ps());
        let near = |begin, least| begin <= least && least - begin <= least / 1000;
        prop_assert!(
            begin.zip(times.iter().min()).is_none_or(|(begin, &least)| near(begin, least))
        );
        prop_assert_eq!(first.count(), second.count());
    }

    #[test]
    fn an_interval_holds_its_mean(values in prop::collection::vec(-1e6..1e6_f64, 1..50)) {
        let Interval { mean, low, high, n } = Interval::of(&values);
        prop_assert!(low <= mean && mean <= high);
        prop_assert_eq!(n as usize, values.len());
    }
}
