//! # Real MPI programs: provider of libfabric, calls of MPI, and the node of a rank
//!
//! The program is not changed and not linked with this crate. The library of the crate `preload` contains it and is preloaded;
//! libfabric loads the same instance as a provider. Five parts, one of them the crate [`clock`](mod@clock), stand between the
//! program and the world, and share one [`session`](rank::session) with the simulator:
//!
//! | part | stands between | does |
//! |---|---|---|
//! | provider ([`provider`], and what it opens) | MPI library and network | makes orders of what MPI sends and receives |
//! | clocks (crate `clock`) | program and time | shows simulated time |
//! | calls ([`calls`]) | program and MPI library | knows in which MPI call the rank is, and whether it blocks |
//! | node ([`node`]) | program and host | shows the simulated node: name, processors |
//! | collective calls ([`collective`]) | program and MPI library | makes orders of barriers, broadcasts and reductions, if the run says so |
//!
//! Before the MPI library opens the provider, and in children of the process, there is no session, and all calls are those of
//! the system.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`abi`], [`provider`], [`fabric`], [`domain`], [`object`] | libfabric: layout and objects |
//! | [`endpoint`], [`messages`], [`rma`], [`operation`], [`peek`] | operations of an endpoint |
//! | [`completion`], [`progress`], [`losses`], [`stand_in`] | ends and losses of operations |
//! | [`attach`], [`manager`], [`address`] | the start of the rank, and its peers |
//! | [`calls`], [`collective`] | the calls of MPI |
//! | [`mpi`] | the MPI library's own functions |
//! | [`node`] | the simulated node in place of the host |
//!
//! ## The main path
//!
//! A send of the MPI library:
//!
//! 1. `messages.rs`: libfabric calls the endpoint with a buffer and a tag.
//! 2. `operation.rs`: the operation becomes an order of the link.
//! 3. `progress.rs`: reports of the simulator ([`rank::session`]) end operations.
//! 4. `completion.rs`: the MPI library reads the end from its completion queue.

mod abi;
mod address;
pub mod attach;
pub mod calls;
mod collective;
mod completion;
mod domain;
mod endpoint;
mod fabric;
mod losses;
pub mod manager;
mod messages;
mod mpi;
pub mod node;
mod object;
mod operation;
mod peek;
mod progress;
mod provider;
mod rma;
mod stand_in;
#[cfg(test)]
mod tests;
