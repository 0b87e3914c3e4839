//! # A provider of libfabric for real MPI programs
//!
//! A rank's MPI library sends and receives by libfabric. The crate `preload` builds the preloaded
//! library that contains this crate; libfabric loads the same instance as a provider, which turns
//! all messages into link orders. The rank shares one [`session`](rank::session) with its clocks
//! (crate [`clock`](mod@clock)) and the MPI calls (crate `mpi-calls`).
//!
//! Before the MPI library opens the provider, and in the process's children, there is no session,
//! and all calls are the system's.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`abi`], [`provider`], [`fabric`], [`domain`], [`object`] | libfabric: layout and objects |
//! | [`endpoint`], [`messages`], [`rma`], [`operation`], [`peek`] | an endpoint's operations |
//! | [`completion`], [`progress`], [`losses`], [`stand_in`] | operations' ends and losses |
//! | [`engine`] | the progress engine for MPI calls |
//! | [`attach`], [`manager`], [`address`] | the rank's start, and its peers |
//! | [`mpi`] | a search for the MPI library's functions |
//!
//! ## The main path
//!
//! A send by the MPI library:
//!
//! 1. `messages.rs`: libfabric calls the endpoint with a buffer and a tag.
//! 2. `operation.rs`: the operation becomes a link order.
//! 3. `progress.rs`: the simulator's reports ([`rank::session`]) end operations.
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
