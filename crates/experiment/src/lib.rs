//! # Experiment files, points, and running them
//!
//! An experiment file describes a published figure or table: series of points on one machine. Each field of a series'
//! workload is one value or a list; the points of the series are the Cartesian product, once for each seed. A
//! [`Point`] holds everything that decides its result, and [`simulate`] is a pure function of it: same point, same
//! bits, on any machine and any number of threads.

mod check;
mod file;
mod plan;
mod read;
mod simulate;
mod sweep;

pub use file::{Directions, Distribution, Placement};
pub use file::{Experiment, PingGrid, Run, RunChanges, Series, UniformGrid, WorkloadGrid};
pub use plan::{PingPoint, Point, UniformPoint, Workload, plan};
pub use simulate::{RunError, simulate};
pub use sweep::Sweep;
