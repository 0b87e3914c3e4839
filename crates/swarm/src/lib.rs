//! # The swarm: random machines, random programs, random faults
//!
//! From one number, the seed, a *case* is drawn: a machine, a program of all libraries for its processes, and what fails meanwhile.
//! The case is run on both movers, and all that must hold in spite of the faults is checked. A case that fails is made smaller until
//! nothing more can be left out, and printed as a command.
//!
//! | module | what is in it |
//! |---|---|
//! | [`machine`], [`program`], [`collective`], [`faults`] | the parts of a case, as data |
//! | [`mod@draw`] | the case of a seed |
//! | [`play`] | runs a program on a simulated cluster, and notes what its processes find |
//! | [`oracle`] | what the processes may find, worked out with plain vectors |
//! | [`mod@check`] | one case: both movers, the oracle, and what is left in the machine |
//! | [`mod@shrink`] | a smaller case that fails in the same way |
//! | [`endurance`] | beside the cases: millions of messages through a network that fails |
//!
//! The page `docs/swarm.md` says what is checked, and how to see a failure again. This crate is for the development of Elanite only;
//! nothing depends on it.

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
pub use check::{Failure, Report, Wrong, check};
pub use shrink::{Shrunk, shrink};
