//! The discrete-event kernel, on which every part of the model runs, without network code.
//!
//! # How a run advances
//!
//! The kernel has no main loop and no clock of its own. The layer above pops the next event, sets
//! its own time to the event's time, acts on the event (which may fire signals), and then lets
//! every process that became ready run until it waits again:
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
//! executor.run_ready()?;
//! assert_eq!(executor.unfinished(), ["sleeper"]);
//! while let Some((_now, signal)) = events.pop() {
//!     signal.fire();
//!     executor.run_ready()?;
//! }
//! assert!(executor.unfinished().is_empty());
//! # Ok::<(), kernel::Livelock>(())
//! ```
//!
//! When no event is left and [`Executor::unfinished`] is not empty, the run is deadlocked. When
//! processes run without end at one moment, the run is a [`Livelock`].
//!
//! # Determinism
//!
//! A run is a function of its inputs. The kernel does not read a clock, the environment, an address
//! or an iteration order that depends on hashing; no result depends on the thread count, since a
//! run uses one. Two events at the same time are ordered by a key that the layer above chooses,
//! then by scheduling order. Processes run in the order in which they became ready.
//!
//! # The rooms
//!
//! | room | contents |
//! |---|---|
//! | `queue` | [`EventQueue`]: future events, in a total order |
//! | `executor`, [`turn`], `signal`, `label` | [`Executor`], [`Signal`]: processes and their conditions |
//! | [`random`] | one random number stream per component |
//! | [`statistics`] | counters, latency histograms, confidence intervals |
//! | `limits`, [`memory`] | [`Limits`]: run bounds; the memory that a run needs |
//! | [`digest`] | a fingerprint of results |
//! | [`registry`] | lists to which programs add entries |
//!
//! # The main path
//!
//! An event from a layer above wakes a process:
//!
//! 1. `queue.rs`: the layer pops the first event, by time, key and scheduling order.
//! 2. `signal.rs`: the event fires a signal, which marks the tasks that wait for it.
//! 3. `executor.rs`: every marked task runs until it waits again.
//! 4. `limits.rs`: time, event count and memory are compared with the run's bounds.
//! 5. `digest.rs`: results enter the run's fingerprint.

pub mod digest;
mod executor;
mod label;
mod limits;
pub mod memory;
mod queue;
pub mod random;
pub mod registry;
mod signal;
pub mod statistics;
pub mod turn;

pub use digest::Digest;
pub use executor::{Executor, Livelock, Spawner, TaskId};
pub use label::Label;
pub use limits::{Bound, LimitError, Limits, Progress};
pub use queue::EventQueue;
pub use signal::{Signal, Spares, Wait};
