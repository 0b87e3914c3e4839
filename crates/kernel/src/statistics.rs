//! Statistics of a run and over runs.
//!
//! [`Summary`] and [`Histogram`] gather observations within a run. Both hold integers only, so
//! merging them commutes and associates exactly: no order of threads or batches can change a
//! result. [`Interval`] says how well the mean of a few independent results is known, and
//! [`Figure`] sets two such means beside each other.

mod figure;
mod histogram;
mod interval;
mod summary;

pub use figure::Figure;
pub use histogram::Histogram;
pub use interval::Interval;
pub use summary::Summary;
