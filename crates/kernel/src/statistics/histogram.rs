//! Latency histograms, over the counts of `hdrhistogram`: a bucket is found in constant time, and
//! merging adds counts.

use units::Time;

use super::Summary;

/// The distribution of times, such as the latencies of messages.
///
/// Count, mean, least and greatest are exact. Quantiles are quantiles over buckets with a width of
/// at most 1/1000 of the value: 2,047 ps and less are exact, 1 us is known to 0.512 ns. The memory
/// is 8 KB for every doubling of the greatest value beyond 2 ns: 250 KB for up to a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    counts: hdrhistogram::Histogram<u64>,
    summary: Summary,
}

/// Three significant decimal digits.
const DIGITS: u8 = 3;

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self {
            counts: hdrhistogram::Histogram::new(DIGITS).expect("a valid number of digits"),
            summary: Summary::new(),
        }
    }

    /// Adds an observation.
    #[inline]
    pub fn record(&mut self, time: Time) {
        self.record_n(time, 1);
    }

    /// Adds `count` observations with the same time.
    #[inline]
    pub fn record_n(&mut self, time: Time, count: u64) {
        self.counts
            .record_n(time.as_ps(), count)
            .expect("the histogram grows to any value");
        self.summary.record_n(time.as_ps(), count);
    }

    /// Adds all observations from another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.counts
            .add(&other.counts)
            .expect("the histogram grows to any value");
        self.summary.merge(&other.summary);
    }

    /// How many observations there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.summary.count()
    }

    /// Whether the histogram is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The mean, rounded down to a picosecond; `None` without observations.
    #[must_use]
    pub fn mean(&self) -> Option<Time> {
        let mean = self.summary.total().checked_div(u128::from(self.count()))?;
        Some(Time::from_ps(mean as u64))
    }

    /// The least, `None` if empty.
    #[must_use]
    pub fn min(&self) -> Option<Time> {
        self.summary.min().map(Time::from_ps)
    }

    /// The greatest, `None` if empty.
    #[must_use]
    pub fn max(&self) -> Option<Time> {
        self.summary.max().map(Time::from_ps)
    }

    /// The least time that is not exceeded by the share `quantile` in [0, 1] of the observations
    /// (0.5 is the median), rounded up to its bucket's end; `None` if empty.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<Time> {
        let value = Time::from_ps(self.counts.value_at_quantile(quantile));
        Some(value.clamp(self.min()?, self.max()?))
    }

    /// The buckets that are not empty, in ascending order: the bucket's least time and its
    /// observation count. Recording these gives the same buckets again.
    pub fn counts(&self) -> impl Iterator<Item = (Time, u64)> {
        self.counts.iter_recorded().map(|bucket| {
            let least = self.counts.lowest_equivalent(bucket.value_iterated_to());
            (Time::from_ps(least), bucket.count_at_value())
        })
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}
