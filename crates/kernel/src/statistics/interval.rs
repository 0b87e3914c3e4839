//! Confidence intervals: how well the mean over a few independent results is known.

/// A mean and its 95% confidence interval: two-sided, by Student's t distribution, for independent
/// and roughly normal values such as batch or seed means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean of the values.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The value count. With one value, `low` and `high` equal the mean. Without values, all three
    /// are NaN.
    pub n: u32,
}

impl Interval {
    /// The interval for `values`. The sums are taken in the given order, so that equal slices give
    /// equal bits.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let half = if values.len() < 2 {
            0.0
        } else {
            let squares: f64 = values
                .iter()
                .map(|value| (value - mean) * (value - mean))
                .sum();
            student_t_975(values.len() - 1) * (squares / (n - 1.0) / n).sqrt()
        };
        Self {
            mean,
            low: mean - half,
            high: mean + half,
            n: values.len() as u32,
        }
    }

    /// Half the interval's width.
    #[must_use]
    pub fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half the width as a fraction of the mean; zero if the mean is zero.
    #[must_use]
    pub fn relative(&self) -> f64 {
        if self.mean == 0.0 {
            0.0
        } else {
            self.half() / self.mean.abs()
        }
    }
}

/// The 97.5% quantile of Student's t distribution with `freedom` degrees of freedom, to 10^-5.
///
/// Up to 10 degrees from the table; beyond by the expansion in Abramowitz and Stegun 26.7.5 around
/// the normal distribution's quantile z, to the fourth power of 1 / freedom.
fn student_t_975(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [
        12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004,
        2.262_157, 2.228_139,
    ];
    const Z: f64 = 1.959_963_984_540_054;
    const ZZ: f64 = Z * Z;
    const G1: f64 = Z * (ZZ + 1.0) / 4.0;
    const G2: f64 = Z * ((5.0 * ZZ + 16.0) * ZZ + 3.0) / 96.0;
    const G3: f64 = Z * (((3.0 * ZZ + 19.0) * ZZ + 17.0) * ZZ - 15.0) / 384.0;
    const G4: f64 =
        Z * ((((79.0 * ZZ + 776.0) * ZZ + 1482.0) * ZZ - 1920.0) * ZZ - 945.0) / 92160.0;
    assert!(freedom > 0, "one value has no spread");
    if let Some(&quantile) = TABLE.get(freedom - 1) {
        return quantile;
    }
    let x = 1.0 / freedom as f64;
    Z + x * (G1 + x * (G2 + x * (G3 + x * G4)))
}

#[cfg(test)]
mod tests;
