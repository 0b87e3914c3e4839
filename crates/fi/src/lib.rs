//! # The library that is loaded into every rank of a real MPI program: `libelanite-fi.so`
//!
//! The program is not changed and not linked with this library. The library is preloaded, and libfabric loads the same instance
//! as a provider. Five parts stand between the program and the world, and share one [`session`] with the simulator:
//!
//! | part | stands between | does |
//! |---|---|---|
//! | provider ([`provider`], and what it opens) | MPI library and network | makes orders of what MPI sends and receives |
//! | clocks ([`clock`]) | program and time | shows simulated time |
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
//! | [`session`], [`attach`], [`manager`], [`address`], [`library`] | the rank: its turn, its start, its peers, its other users |
//! | [`clock`], [`compute`], [`calls`], [`thread`], [`collective`] | simulated time, and the calls of MPI |
//! | [`mpi`] | the MPI library's own functions |
//! | [`node`], [`system`] | the simulated node in place of the host; the C library's own functions |
//! | [`memory`] | memory of the program |
//!
//! ## The main path
//!
//! A send of the MPI library:
//!
//! 1. `messages.rs`: libfabric calls the endpoint with a buffer and a tag.
//! 2. `operation.rs`: the operation becomes an order of the link.
//! 3. `session.rs`, `session/turn.rs`: the order goes out; the turn when the rank must wait.
//! 4. `progress.rs`: reports of the simulator end operations.
//! 5. `completion.rs`: the MPI library reads the end from its completion queue.

mod abi;
mod address;
pub mod attach;
pub mod calls;
pub mod clock;
mod collective;
mod completion;
mod compute;
mod domain;
mod endpoint;
mod fabric;
pub mod library;
mod losses;
pub mod manager;
pub mod memory;
mod messages;
mod mpi;
pub mod node;
mod object;
mod operation;
mod peek;
mod progress;
mod provider;
mod rma;
pub mod session;
mod stand_in;
mod system;
#[cfg(test)]
mod tests;
pub mod thread;
