//! # Workloads: the traffic of the published benchmarks
//!
//! Each benchmark is a short program for the nodes of a [`elan::Cluster`], with the parameters that the papers vary,
//! and returns [`Records`]. Sections and figures are those of 000, the `QsNET` paper.
//!
//! * [`ping`]: one message at a time between two nodes (4.1, 4.2, figures 9 and 10);
//! * [`uniform`]: every node sends to random nodes (4.3, figures 11 and 12).
//!
//! A run of steady traffic has a warm-up, which is discarded, and a measured window, cut into batches of equal length
//! whose means are the sample from which intervals are computed.

pub mod distribution;
pub mod ping;
pub mod records;
pub mod source;
pub mod uniform;

pub use distribution::Distribution;
pub use records::{LinkRow, Records, Row, SwitchRow};

use units::Time;

/// How long steady traffic runs, and how it is measured.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Discarded at the start.
    pub warm_up: Time,
    /// Measured after it.
    pub length: Time,
    /// Equal parts of the window, at least 1.
    pub batches: u32,
}

impl Window {
    /// The end of batch `batch`; batch 0 starts at the end of the warm-up.
    pub fn batch_end(&self, batch: u32) -> Time {
        self.warm_up + self.length * u64::from(batch + 1) / u64::from(self.batches)
    }
}
