//! What ranks must know of the run. They read it from the head of the shared memory.

use crate::collective::Collectives;
use bytemuck::{Pod, Zeroable, checked::try_cast};

/// The simulated time that a rank's own computation between two calls of MPI takes.
#[derive(Clone, Copy, Debug, PartialEq)]
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
#[derive(Clone, Copy, Debug, PartialEq)]
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
        processors: 1,
        nodes: 1,
    };
}

/// The settings as they lie in memory.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Raw {
    compute: u64,
    value: u64,
    tick: u64,
    longest_tick: u64,
    epoch: u64,
    calls: u64,
    checksums: u64,
    faults: u64,
    collectives: u64,
    atomics: u64,
    processors: u64,
    nodes: u64,
}

impl From<Settings> for Raw {
    fn from(settings: Settings) -> Raw {
        let (compute, value) = match settings.compute {
            Compute::None => (0, 0),
            Compute::PerCall(time) => (1, time),
            Compute::Measured(factor) => (2, factor.to_bits()),
            Compute::Sampled(factor) => (3, factor.to_bits()),
        };
        Raw {
            compute,
            value,
            tick: settings.tick,
            longest_tick: settings.longest_tick,
            epoch: settings.epoch,
            calls: settings.calls.into(),
            checksums: settings.checksums.into(),
            faults: settings.faults.into(),
            collectives: settings.collectives as u64,
            atomics: settings.atomics.into(),
            processors: settings.processors.into(),
            nodes: settings.nodes.into(),
        }
    }
}

impl From<Raw> for Settings {
    fn from(raw: Raw) -> Settings {
        Settings {
            compute: match raw.compute {
                0 => Compute::None,
                1 => Compute::PerCall(raw.value),
                2 => Compute::Measured(f64::from_bits(raw.value)),
                _ => Compute::Sampled(f64::from_bits(raw.value)),
            },
            tick: raw.tick,
            longest_tick: raw.longest_tick,
            epoch: raw.epoch,
            calls: raw.calls != 0,
            checksums: raw.checksums != 0,
            faults: raw.faults != 0,
            collectives: try_cast(raw.collectives as u32).unwrap_or_default(),
            atomics: raw.atomics != 0,
            processors: raw.processors as u32,
            nodes: raw.nodes as u32,
        }
    }
}
