//! # A provider of libfabric for real MPI programs
//!
//! The MPI library of a rank sends and receives by libfabric. The library of the crate `preload` contains this crate and is
//! preloaded; libfabric loads the same instance as a provider, which makes orders of the link of all messages. The rank shares one
//! [`session`](rank::session) with its clocks (crate [`clock`](mod@clock)) and the calls of MPI (crate `mpi-calls`).
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
//! | [`engine`] | the progress engine as the calls of MPI use it |
//! | [`attach`], [`manager`], [`address`] | the start of the rank, and its peers |
//! | [`mpi`] | a search for functions of the MPI library |
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
mod completion;
mod domain;
mod endpoint;
pub mod engine;
mod fabric;
pub mod losses;
pub mod manager;
mod messages;
pub mod mpi;
mod object;
mod operation;
mod peek;
mod progress;
mod provider;
mod rma;
pub mod stand_in;

pub use operation::longest;
