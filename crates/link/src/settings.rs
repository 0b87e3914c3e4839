//! What ranks must know of the run. They read it from the head of the shared memory.

use crate::collective::Collectives;
use serde::{Deserialize, Serialize};

/// The simulated time that a rank's own computation between two calls of MPI takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Compute {
    /// None: only communication takes time. Repeatable.
    None,
    /// This time after each call, in picoseconds. Repeatable.
    PerCall(u64),
    /// The processor time that the host measured, times a factor. Not repeatable.
    Measured(f64),
    /// By the region of the program, from the [plan](crate::plan) of the run; regions that it lacks take the processor time that the
    /// host measured, times a factor. Repeatable if it lacks none.
    Sampled(f64),
}

/// Settings of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct Settings {
    /// The simulated time of computation.
    pub compute: Compute,
    /// The first and shortest step of time, in picoseconds, by which a program gets on that looks and does not wait.
    pub tick: u64,
    /// The longest of these steps.
    pub longest_tick: u64,
    /// What the real-time clocks show at time 0, in seconds since 1970.
    pub epoch: u64,
    /// Whether each MPI call is reported ([`crate::Order::Called`]).
    pub calls: bool,
    /// Whether payloads have checksums, which ranks compare ([`crate::checksum`]).
    pub checksums: bool,
    /// Whether parts of the machine may fail.
    pub faults: bool,
    /// Who carries out the collective operations of MPI.
    pub collectives: Collectives,
    /// Whether the adapters execute atomics for MPI.
    pub atomics: bool,
    /// Whether operations on files take simulated time.
    pub files: bool,
    /// How many processors each node has.
    pub processors: u32,
    /// How many nodes the machine has.
    pub nodes: u32,
}

impl Settings {
    /// The settings of a run in which computation takes no time, and calls are not reported: steps from 100 ns to 20 us, clocks
    /// that begin in the first second of 2001, and one node with one processor.
    pub const DEFAULT: Settings = Settings {
        compute: Compute::None,
        tick: 100_000,
        longest_tick: 20_000_000,
        epoch: 978_307_200,
        calls: false,
        checksums: true,
        faults: false,
        collectives: Collectives::Mpi,
        atomics: false,
        files: false,
        processors: 1,
        nodes: 1,
    };
}
