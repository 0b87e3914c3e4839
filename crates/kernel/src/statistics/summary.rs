//! Integer counters: exact, with constant size, merged by adding.

/// Count, total, least and greatest over a set of integers (times in ps, queue lengths, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Summary {
    count: u64,
    total: u128,
    /// `u64::MAX` as long as there is no observation.
    least: u64,
    /// Zero if empty.
    greatest: u64,
}

impl Summary {
    /// An empty summary.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            count: 0,
            total: 0,
            least: u64::MAX,
            greatest: 0,
        }
    }

    /// Adds an observation.
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Adds `count` observations with the same value.
    pub fn record_n(&mut self, value: u64, count: u64) {
        if count > 0 {
            self.count += count;
            self.total += u128::from(value) * u128::from(count);
            self.least = self.least.min(value);
            self.greatest = self.greatest.max(value);
        }
    }

    /// Adds all observations from another summary.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.total += other.total;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// How many observations there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The sum of the observations.
    #[must_use]
    pub const fn total(&self) -> u128 {
        self.total
    }

    /// The mean; `None` without observations.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total as f64 / self.count as f64)
    }

    /// The least, `None` if empty.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.least)
    }

    /// The greatest, `None` if empty.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.greatest)
    }
}

impl Default for Summary {
    fn default() -> Self {
        Self::new()
    }
}
