//! # The noise test on the machine at hand (garcia2005 s3.3), and its processor
//!
//! The only part of the house that measures a real machine. [`measure`] does the same computation again and again on one
//! processor and takes the time of each iteration. The computation is a loop of shifts in registers, "neither memory accesses
//! nor I/O", calibrated to take a given time in the absence of noise. Only one reading of the monotonic clock lies between two
//! iterations: the end of one iteration is the beginning of the next.
//!
//! The time by which an iteration exceeds the shortest one, the *base*, is its *detour*. [`Measurement::profile`] makes a
//! section of a machine file from the detours, in the terms of `elan::noise`; with it a simulated machine has the same noise.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `probe` | the calibrated loop |
//! | `profile` | detours, and the section of a machine file |
//! | `processor` | the time of a step of the loop, and the rate of main memory |
//!
//! ## The main path
//!
//! From a processor to a noise profile:
//!
//! 1. `probe.rs`: [`measure`] binds itself to a processor, calibrates the loop, and times
//!    iterations.
//! 2. `profile.rs`: [`Measurement::profile`] turns detours into the text of a section.

mod probe;
mod processor;
mod profile;

pub use probe::{Error, Request, measure};
pub use processor::Processor;
pub use profile::{Measurement, THRESHOLD_PARTS};
