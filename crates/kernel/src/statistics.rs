//! Statistics within a run and over runs.
//!
//! [`Summary`] and [`Histogram`] gather observations within a run. Both hold integers only, so
//! merging them commutes and associates exactly: no thread or batch order can change a result.
//! [`Interval`] estimates how well the mean over a few independent results is known.

mod histogram;
mod interval;
mod summary;

pub use histogram::Histogram;
pub use interval::Interval;
pub use summary::Summary;
