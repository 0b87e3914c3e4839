//! # The library that is loaded into every rank of a real MPI program: `libelanite-fi.so`
//!
//! The program is not changed and not linked with this library. The library is preloaded, and libfabric loads the same instance
//! as a provider. Three parts stand between the program and the world, and share one [`session`] with the simulator:
//!
//! | part | stands between | does |
//! |---|---|---|
//! | provider ([`provider`], and what it opens) | MPI library and network | makes orders of what MPI sends and receives |
//! | clocks ([`clock`]) | program and time | shows simulated time |
//! | calls ([`calls`]) | program and MPI library | knows in which MPI call the rank is, and whether it blocks |
//! | collective calls ([`collective`]) | program and MPI library | makes orders of barriers, broadcasts and reductions, if the run says so |
//!
//! The modules build on each other in this order: types of the interface ([`abi`]), the program's memory and addresses
//! ([`memory`], [`address`]), the calling thread ([`thread`]), lost operations ([`losses`]), receives that stand
//! for collective calls ([`stand_in`]), the state ([`progress`]), the
//! session around it, operations and the objects of libfabric ([`operation`], [`messages`], [`rma`], [`endpoint`],
//! [`completion`], [`domain`], [`fabric`]).
//!
//! Before the MPI library opens the provider, and in children of the process, there is no session, and all calls are those of
//! the system.

mod abi;
mod address;
mod attach;
mod calls;
mod clock;
mod collective;
mod completion;
mod domain;
pub mod elan;
mod endpoint;
mod fabric;
mod losses;
mod manager;
mod memory;
mod messages;
pub mod native;
mod object;
mod operation;
mod peek;
mod progress;
mod provider;
mod rma;
mod session;
pub mod shmem;
mod stand_in;
#[cfg(test)]
mod tests;
mod thread;
