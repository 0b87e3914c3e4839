//! # The library that is loaded into every rank of a real program: `libelanite-fi.so`
//!
//! The program is not changed and not linked with this library. The library is preloaded, and
//! libfabric loads the same instance as a provider. It consists of other crates, and exports their
//! C functions:
//!
//! | crate | stands between |
//! |---|---|
//! | [`rank`] | all of them and the simulator |
//! | [`clock`] | program and time |
//! | [`node`] | program and host |
//! | [`fi`] | MPI library and network |
//! | [`mpi_calls`] | program and MPI library |
//! | [`native`] | the libraries below and the simulator; it makes a process a rank without MPI |
//! | [`shmem_c`], [`elan_c`] | programs in C, and OpenSHMEM, Elanlib and Elan3lib |
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//!
//! ## The main path
//!
//! A program's call:
//!
//! 1. `lib.rs`: the loader finds the function here before the MPI library's or the C library's.
//! 2. `lib.rs`: a crate turns it into an order, or passes it on.

pub use {clock, elan_c, fi, mpi_calls, native, node, rank, shmem_c};
