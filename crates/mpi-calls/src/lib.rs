//! # The calls of MPI that a real program makes
//!
//! The program calls MPI by names that this crate defines again. Its entry points note the call that the rank is in, answer what
//! concerns the simulated node, give barriers, broadcasts and reductions to Elanlib if the run says so, and pass all else on to
//! the MPI library. That library sends and receives by the provider of libfabric in the crate [`fi`].
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`calls`] | the entry points; nodes, shared windows, error handlers |
//! | [`collective`] | collective calls that Elanlib carries out |
//! | [`functions`] | functions of the MPI library, and profiling names |
//!
//! ## The main path
//!
//! A barrier of the program:
//!
//! 1. `calls/entries.rs`: the entry point notes the call.
//! 2. `collective.rs`: the call becomes an order of the link.
//! 3. `collective/library.rs`: the MPI library makes progress until the report has come.

pub mod calls;
mod collective;
mod functions;
#[cfg(test)]
mod tests;
