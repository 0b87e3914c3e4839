//! # A process as a rank on a simulated machine
//!
//! All that stands between a program and the world shares one [`session`] with the simulator: it
//! gives orders, and gives the turn away to wait. Before the MPI library opens the simulated
//! network, and in the process's children, there is no session.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`session`] | local time, the turn, and the lock around both |
//! | [`thread`], [`compute`], [`record`] | the call that a thread is in; its computation time; calls that have ended |
//! | [`regions`], [`site`] | sampled computation: program parts between the places of its calls |
//! | [`library`] | the libraries that share the session with the MPI library |
//! | [`memory`] | the program's memory |
//! | [`repeats`] | whether the program repeats itself |
//! | [`rings`] | the program's next timer |
//! | [`sleepers`], [`pending`] | threads that sleep beside an MPI call; those about to act |
//! | [`concurrency`] | threads that compute while simulated time passes |
//! | [`host_timer`] | host timers, for our own looks |
//! | [`system`] | C library functions with names that this library also defines |
//!
//! ## The main path
//!
//! A wait:
//!
//! 1. `session/turn.rs`: the rank writes its orders, and gives its turn away.
//! 2. `session.rs`: reports go to the engine that the session began with
//!    ([`session::ReportReceiver`]).
//! 3. `library.rs`: reports on operations of our own libraries go to these.

pub mod compute;
pub mod concurrency;
pub mod host_timer;
pub mod library;
pub mod memory;
pub mod pending;
pub mod record;
pub mod regions;
pub mod repeats;
pub mod rings;
pub mod session;
pub mod site;
pub mod sleepers;
pub mod system;
pub mod thread;
