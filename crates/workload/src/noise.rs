//! # The noise test (garcia2005 s3.3, figure 3)
//!
//! A process on one processor repeats the same computation, and takes the time of each: "each
//! synthetic computation has been calibrated to take about 1 ms in the absence of noise". An
//! iteration's *detour* is the time beyond that: processor time taken by the operating system
//! ([`elan::noise`]). An iteration begins when the one before ends; reading the clock takes no
//! time.
//!
//! Results are the iteration time, as mean, quantiles and maximum; the share of iterations that
//! took at least 1% longer than without noise; and the detour distribution. Detour bins are fine;
//! bins for whole times would be 1 us wide.
//!
//! The network is idle, and only this processor is modelled: the test is arithmetic.

use crate::Failure;
use crate::records::{Baseline, Records, Tables};
use crate::rows::{MetricRow, bins};
use elan::Cluster;
use kernel::statistics::{Histogram, Summary};
use serde::{Deserialize, Serialize};
use units::Time;

/// A point's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// The node.
    pub node: u32,
    /// The processor on the node.
    pub cpu: u32,
    /// The iteration count, at least the batch count.
    pub iterations: u32,
    /// Duration of one computation without noise, at least 1 ps.
    pub compute: Time,
}

/// Picoseconds per microsecond.
const PS_PER_US: f64 = 1e6;

impl Noise {
    /// Runs all iterations, in the given number of equal batches.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn run(&self, mut cluster: Cluster, batches: u32) -> Result<Records, Failure> {
        let baseline = Baseline::take(&cluster);
        let mut cpu = cluster.node(self.node.into()).cpu(self.cpu);
        let mut detours = Histogram::new();
        let mut means = vec![Summary::new(); batches as usize];
        let mut long = vec![0_u64; batches as usize];
        let noticeable = self.compute / 100;
        let mut now = cluster.now();
        for iteration in 0..u64::from(self.iterations) {
            let begin = now;
            now = cpu.work(begin, self.compute);
            let detour = now - begin - self.compute;
            let batch = (iteration * u64::from(batches) / u64::from(self.iterations)) as usize;
            detours.record(detour);
            means[batch].record(detour.as_ps());
            long[batch] += u64::from(detour >= noticeable);
        }
        cluster.run_until(now)?;

        let mut rows = Vec::new();
        for (batch, (summary, &long)) in (0..).zip(means.iter().zip(&long)) {
            let Some(mean) = summary.mean() else { continue };
            let elapsed = (self.compute.as_ps() as f64 + mean) / PS_PER_US;
            let share = long as f64 / summary.count() as f64;
            rows.push(MetricRow::new("elapsed", "us", elapsed).in_batch(batch));
            rows.push(MetricRow::new("above_1_percent", "", share).in_batch(batch));
        }
        for (metric, quantile) in [
            ("elapsed_p50", 0.5),
            ("elapsed_p99", 0.99),
            ("elapsed_p99_99", 0.9999),
            ("elapsed_max", 1.0),
        ] {
            let elapsed = detours
                .quantile(quantile)
                .map(|detour| self.compute + detour);
            rows.extend(elapsed.map(|elapsed| MetricRow::new(metric, "us", elapsed.as_us_f64())));
        }
        let measured = Tables {
            rows,
            distribution: bins(&detours),
            ..Tables::default()
        };
        Ok(baseline.finish(&cluster, measured))
    }
}
