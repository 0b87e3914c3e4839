//! # The noise test on the machine at hand (garcia2005 s3.3)
//!
//! The only part of the house that measures a real machine. [`measure`] does the same computation again and again on one
//! processor and takes the time of each iteration: a loop of shifts in registers, "neither memory accesses nor I/O", calibrated
//! to take so long in the absence of noise. Nothing is between two iterations but one reading of the monotonic clock, the end
//! of one being the beginning of the next.
//!
//! What an iteration takes longer than the shortest one, the *base*, is its *detour*. [`Measurement::profile`] makes of them a
//! section of a machine file, in the terms of `elan::noise`, by which a simulated machine has the same noise.

mod probe;
mod profile;

pub use probe::{Error, Request, measure};
pub use profile::{Measurement, THRESHOLD_PARTS};
