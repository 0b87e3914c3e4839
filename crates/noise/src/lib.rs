//! # The noise test on the machine at hand (garcia2005 s3.3), and its processor
//!
//! The only part of Elanite that measures a real machine. [`measure`] repeats the same computation
//! on one processor and times each iteration. The computation is a register shift loop, "neither
//! memory accesses nor I/O", calibrated to take a given time without noise. Only one reading of the
//! monotonic clock lies between two iterations: the end of one iteration is the beginning of the
//! next.
//!
//! The time by which an iteration exceeds the shortest one, the *base*, is its *detour*.
//! [`Measurement::profile`] makes a machine file section from the detours, in the terms of
//! `elan::noise`; with it a simulated machine has the same noise.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `probe` | the calibrated loop |
//! | `profile` | detours, and the machine file section |
//! | `processor` | a loop step's time, and the main memory rate |
//!
//! ## The main path
//!
//! From a processor to a noise profile:
//!
//! 1. `probe.rs`: [`measure`] binds itself to a processor, calibrates the loop, and times
//!    iterations.
//! 2. `profile.rs`: [`Measurement::profile`] turns detours into a section's text.

mod probe;
mod processor;
mod profile;

pub use probe::{Error, ProbeRequest, measure};
pub use processor::Processor;
pub use profile::{Measurement, THRESHOLD_PARTS};
