//! # The swarm: random machines, random programs, random faults
//!
//! From one number, the seed, a *case* is drawn: a machine, a program for its processes with all
//! libraries, and faults meanwhile. The case is run on both movers, and all conditions that must
//! hold in spite of the faults are checked. A failing case is made smaller until every remaining
//! part is needed, and printed as a command.
//!
//! The page `docs/swarm.md` describes the checks, and how to reproduce a failure. This crate is
//! only for Elanite's development; no other crate depends on it.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`case`], [`machine`], [`faults`] | a case: a machine, a program, and failures |
//! | [`program`], [`collective`], `bytes` | programs, their collective calls, and their payload |
//! | [`mod@draw`], `numbers` | the case for a seed, from random numbers |
//! | [`play`], `probe` | a case's run; a look at the repaired machine |
//! | [`oracle`] | the findings that are possible, worked out with plain vectors |
//! | [`mod@check`], [`mod@shrink`] | a case on both movers; a smaller case that fails alike |
//! | [`endurance`] | millions of messages through a network that fails |
//!
//! ## The main path
//!
//! A seed becomes a verdict:
//!
//! 1. `case.rs`: [`Case::of`] draws machine, program and faults (`draw.rs`, `faults.rs`).
//! 2. `check.rs`: [`check()`] runs the case on both movers and compares the digests.
//! 3. `play.rs`, `play/player.rs`: each process carries out its steps and notes its findings.
//! 4. `oracle.rs`: the notes are possible, or the case fails.
//! 5. `shrink.rs`: a failing case loses operations, processes and faults as long as it fails.

mod bytes;
pub mod case;
pub mod check;
pub mod collective;
pub mod draw;
pub mod endurance;
pub mod faults;
pub mod machine;
mod numbers;
pub mod oracle;
pub mod play;
mod probe;
pub mod program;
pub mod shrink;

pub use case::Case;
pub use check::{FailureKind, RunFailure, RunReport, check};
pub use shrink::{SmallerCase, shrink};
