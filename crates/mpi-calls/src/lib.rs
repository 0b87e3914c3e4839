//! # The MPI calls that a real program makes
//!
//! The program calls MPI by names that this crate defines again. Its entry points record the call
//! that the rank is in, answer queries about the simulated node, give barriers, broadcasts and
//! reductions to Elanlib if the run demands it, and pass all else on to the MPI library. That
//! library sends and receives by the libfabric provider in the crate [`fi`].
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`calls`] | the entry points; nodes, shared windows, error handlers |
//! | [`collective`] | collective calls that Elanlib carries out |
//! | [`functions`] | the MPI library's functions, and profiling names |
//!
//! ## The main path
//!
//! A program's barrier:
//!
//! 1. `calls/entries.rs`: the entry point notes the call.
//! 2. `collective.rs`: the call becomes a link order.
//! 3. `collective/library.rs`: the MPI library makes progress until the report has come.

pub mod calls;
mod collective;
mod functions;
#[cfg(test)]
mod tests;
