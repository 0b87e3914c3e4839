//! Figures that are compared: ratios and differences, with the uncertainty of both sides.
//!
//! Two configurations with the same seeds draw the same random numbers, so that both share much of the noise. Where both sides
//! have equally many values, value is compared with value, and the interval is narrower; it is right without common noise, too.
//! Otherwise the two sides are taken for independent.

use super::Interval;

/// A mean with its interval, and the independent values of the mean, by seed and batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The mean and its interval.
    pub interval: Interval,
    /// The values in the order of seeds and batches; empty where they are not known.
    pub values: Vec<f64>,
}

impl Figure {
    /// The mean of values.
    #[must_use]
    pub fn of(values: Vec<f64>) -> Self {
        let interval = Interval::of(&values);
        Self { interval, values }
    }

    /// This figure relative to another one. The values of a ratio are not known: the ratio is no mean of ratios.
    #[must_use]
    pub fn ratio(&self, other: &Self) -> Self {
        let mean = self.interval.mean / other.interval.mean;
        let half = match self.pairs(other) {
            Some(pairs) => {
                let apart: Vec<f64> = pairs.map(|(one, other)| one - mean * other).collect();
                Interval::of(&apart).half() / other.interval.mean.abs()
            }
            None => mean.abs() * together(self.interval.relative(), other.interval.relative()),
        };
        Self::around(mean, half)
    }

    /// This figure less another one.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        match self.pairs(other) {
            Some(pairs) => Self::of(pairs.map(|(one, other)| one - other).collect()),
            None => Self::around(
                self.interval.mean - other.interval.mean,
                together(self.interval.half(), other.interval.half()),
            ),
        }
    }

    fn around(mean: f64, half: f64) -> Self {
        let interval = Interval {
            mean,
            low: mean - half,
            high: mean + half,
            n: 0,
        };
        Self {
            interval,
            values: Vec::new(),
        }
    }

    /// The values of equal seeds and batches; none where the two figures were not measured alike.
    fn pairs(&self, other: &Self) -> Option<impl Iterator<Item = (f64, f64)>> {
        let alike = self.values.len() == other.values.len() && self.values.len() > 1;
        alike.then(|| {
            self.values
                .iter()
                .copied()
                .zip(other.values.iter().copied())
        })
    }
}

/// The uncertainty of two independent figures together.
fn together(one: f64, other: f64) -> f64 {
    (one * one + other * other).sqrt()
}

#[cfg(test)]
mod tests;
