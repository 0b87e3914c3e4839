//! The discrete-event kernel, on which every part of the model runs: nothing of the network.
//!
//! | part | what it is |
//! |---|---|
//! | [`EventQueue`] | future events, in a total order |
//! | [`Executor`], [`Signal`] | simulated processes as async functions, and the conditions they wait for ([`Spares`]: for use again) |
//! | [`random`] | one stream of random numbers per component |
//! | [`statistics`] | counters, latency histograms, confidence intervals |
//! | [`Limits`] | bounds of a run in simulated time, events and memory |
//! | [`memory`] | how much memory a run needs |
//! | [`digest`] | a fingerprint of results |
//!
//! # How a run advances
//!
//! The kernel has no main loop and no clock of its own. The layer above pops the next event, sets its own time to that of the
//! event, acts on the event (which may fire signals), and then lets every process that became ready run until it waits again:
//!
//! ```
//! use kernel::{EventQueue, Executor, Signal};
//! use units::Time;
//!
//! let mut executor = Executor::new();
//! let mut events = EventQueue::new();
//!
//! let alarm = Signal::new();
//! events.schedule(Time::from_ns(35), 0, alarm.clone());
//! executor.spawn("sleeper", async move { alarm.wait().await });
//!
//! executor.run_ready();
//! assert_eq!(executor.unfinished(), ["sleeper"]);
//! while let Some((_now, signal)) = events.pop() {
//!     signal.fire();
//!     executor.run_ready();
//! }
//! assert!(executor.unfinished().is_empty());
//! ```
//!
//! When no event is left and [`Executor::unfinished`] is not empty, the run is deadlocked.
//!
//! # Determinism
//!
//! A run is a function of its inputs. Nothing here reads a clock, the environment, an address or
//! an iteration order that depends on hashing; no result depends on the number of threads, since
//! a run uses one. Two events at the same time are ordered by a key that the layer above chooses,
//! then by the order of scheduling. Processes run in the order in which they became ready.

pub mod digest;
mod executor;
mod label;
mod limits;
pub mod memory;
mod queue;
pub mod random;
mod signal;
pub mod statistics;

pub use digest::Digest;
pub use executor::{Executor, Spawner, TaskId};
pub use label::Label;
pub use limits::{Bound, Exceeded, Limits, Progress};
pub use queue::EventQueue;
pub use signal::{Signal, Spares, Wait};
