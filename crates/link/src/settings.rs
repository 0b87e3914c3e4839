//! The facts about the run that ranks need. They read them from the shared memory's head.

use crate::collective::Collectives;
use serde::{Deserialize, Serialize};

/// The simulated time that a rank's own computation between two MPI calls takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Compute {
    /// None: only communication takes time. Repeatable.
    None,
    /// This time after each call, in picoseconds. Repeatable.
    PerCall(u64),
    /// The processor time that the host measured, times a factor. Not repeatable.
    Measured(f64),
    /// By the program's region, from the run's [plan](crate::plan); regions that it lacks take the
    /// processor time that the host measured, times a factor. Repeatable if it lacks no region.
    Sampled(f64),
}

/// A run's settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // each is a separate fact
pub struct Settings {
    /// The simulated computation time.
    pub compute: Compute,
    /// The first and shortest time step, in picoseconds, by which a program advances that looks and
    /// does not wait.
    pub tick: u64,
    /// The longest step.
    pub longest_tick: u64,
    /// The real-time clocks' reading at time 0, in seconds since 1970.
    pub epoch: u64,
    /// Whether each MPI call is reported ([`crate::Order::Called`]).
    pub calls: bool,
    /// Whether each execution of a region is reported ([`crate::Order::Executed`]).
    pub regions: bool,
    /// Whether payloads have checksums, which ranks compare ([`crate::checksum`]).
    pub checksums: bool,
    /// Whether machine parts may fail.
    pub faults: bool,
    /// The way in which MPI's collective operations are carried out.
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
    /// The settings for a run in which computation takes no time, and calls are not reported: steps
    /// from 100 ns to 20 us, clocks that begin in 2001's first second, and one node with one
    /// processor.
    pub const DEFAULT: Settings = Settings {
        compute: Compute::None,
        tick: 100_000,
        longest_tick: 20_000_000,
        epoch: 978_307_200,
        calls: false,
        regions: false,
        checksums: true,
        faults: false,
        collectives: Collectives::Mpi,
        atomics: false,
        files: false,
        processors: 1,
        nodes: 1,
    };
}
