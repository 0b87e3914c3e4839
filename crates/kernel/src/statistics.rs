//! Statistics of a run and over runs.
//!
//! [`Summary`] and [`Histogram`] gather observations within a run. Both hold integers only, so
//! merging them commutes and associates exactly: no order of threads or batches can change a
//! result. [`Interval`] says how well the mean of a few independent results is known.

mod histogram;
mod interval;
mod summary;

pub use histogram::Histogram;
pub use interval::Interval;
pub use summary::Summary;
