//! # Workloads: the traffic of the published benchmarks
//!
//! A workload is a short program for an [`elan::Cluster`]'s nodes. It has the parameters that the
//! papers vary and returns [`Records`]. Sections and figures refer to petrini2003, the `QsNET`
//! paper; petrini2001 is the paper about collective communication, garcia2005 about MPI on
//! `QsNetII`, coll2003 about several rails. The workloads are:
//!
//! * [`ping`]: one message at a time between two nodes (4.1, 4.2, figures 9 and 10);
//! * [`overlap`]: two processes that communicate while one of the two computes (garcia2005 s3.2);
//! * [`collective`]: repeated barriers or broadcasts, alone or among jobs' traffic (petrini2001);
//! * [`trace`]: the replay of a message pattern, such as an all-reduce by rings (in no paper);
//! * [`noise`]: one computation again and again, on a processor that noise interrupts (garcia2005
//!   s3.3);
//! * [`traffic`]: steady traffic from any number of *jobs*. A [`Job`] is a set of nodes, each with
//!   a [`source`] of messages, and a [`Pattern`] that chooses the destinations. The paper's other
//!   benchmarks are jobs:
//!
//! | benchmark | jobs |
//! |---|---|
//! | uniform traffic (4.3) | one, pattern uniform |
//! | permutations (4.4) | one, a permutation |
//! | hot-spot (4.5) | one, uniform, one server |
//! | multiple hot-spots, I/O (4.6) | one, uniform or one server for each node, several servers, writes and reads |
//! | combined traffic (4.7) | two: one computes (uniform), one does I/O |
//!
//! * [`mix`]: traces, lists of [`flows`] and jobs side by side (in no paper).
//!
//! [`saturation`] searches the load at which a job saturates (coll2003 s5.3). Two kinds run no
//! traffic: [`allocation`] is a static allocation of rails (coll2003 s2), and [`goodput`] is the
//! expected bandwidth of one stream under bit errors.
//!
//! A run of steady traffic has a warm-up, which is discarded, and a measured window. The window is
//! cut into batches of equal length. The batch means are the sample for confidence intervals. A run
//! with a [`precision`] doubles the window until the intervals are narrow enough. A run with
//! [`slices`] also keeps per-link delays over time.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`ping`], [`overlap`], [`collective`], [`trace`], [`noise`] | benchmarks with few processes |
//! | [`mix`], [`flows`], `comparison` | programs side by side, lists of flows, slowdowns |
//! | [`traffic`], [`mod@job`], [`source`], [`pattern`] | steady traffic from jobs |
//! | [`saturation`], [`precision`] | search and run length of steady traffic |
//! | [`allocation`], [`goodput`] | kinds for which no cluster runs |
//! | [`records`], `rows`, [`mod@table`] | results: rows, tables, digest |
//! | [`slices`], [`faults`], [`circuits`], [`deadlock`], [`wiring`] | results in their own form |
//!
//! ## The main path
//!
//! Steady traffic:
//!
//! 1. `traffic.rs`: the jobs start; the run's warm-up, window and batches.
//! 2. `job.rs`: a process for each node (and rail), with its source of messages.
//! 3. `source.rs`, `pattern.rs`: arrival, size and destination of the next message.
//! 4. `records.rs`: counters at the window's begin and end become rows.
//! 5. `table.rs`: rows become columns, with names and units.

pub mod allocation;
pub mod circuits;
pub mod collective;
mod comparison;
pub mod deadlock;
pub mod faults;
pub mod flows;
pub mod goodput;
pub mod job;
pub mod mix;
pub mod noise;
pub mod overlap;
pub mod pattern;
pub mod ping;
pub mod precision;
pub mod records;
pub mod rows;
pub mod saturation;
pub mod slices;
pub mod source;
pub mod table;
pub mod trace;
pub mod traffic;
pub mod wiring;

pub use circuits::CircuitRow;
pub use collective::Collective;
pub use deadlock::DeadlockRow;
pub use elan::Distribution;
pub use faults::FaultRow;
pub use flows::Flows;
pub use goodput::Goodput;
pub use job::Job;
pub use mix::Mix;
pub use noise::Noise;
pub use overlap::Overlap;
pub use pattern::Pattern;
pub use precision::Precision;
pub use records::{Records, Tables, digest};
pub use rows::{AllocationRow, BinRow, FlowRow, LinkRow, MetricRow, NodeRow, ShareRow, SwitchRow};
pub use saturation::Search;
pub use slices::SliceRow;
pub use trace::Replay;
pub use traffic::{RailFailure, Traffic};

use elan::{ContextError, ElanAddr, Permissions, Placement};
use libelan::{JobError, Pe};
use thiserror::Error;
use units::{Bytes, Time};

/// Why a run has no records.
#[derive(Debug, Error)]
pub enum Failure {
    /// The run stopped before its end.
    #[error(transparent)]
    Stop(#[from] elan::Stop),
    /// The machine has no room for the library job's processes.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The machine has no context for the processes in background traffic or in jobs without a
    /// library.
    #[error(transparent)]
    NoContext(#[from] ContextError),
    /// A DMA that the processes post has failed, although all buffers are there: mostly because the
    /// machine has no room for it.
    #[error("{0}{remedy}", remedy = dma_remedy(.0))]
    Dma(#[from] elan::DmaError),
    /// Machine parts have failed, and a program cannot continue without a message.
    #[error("{0}; fewer faults, shorter ones, or a longer faults.give_up let the run go on")]
    Lost(String),
    /// A file that the point needs is missing or has changed.
    #[error("{0}")]
    File(String),
    /// A trace cannot be replayed.
    #[error(transparent)]
    Trace(#[from] goal::TraceProblem),
    /// The machine has no room for the processes' buffers.
    #[error("{0}; {remedy}", remedy = remedy(.0))]
    Memory(#[from] elan::MemoryError),
}

/// How to make room for a DMA.
fn dma_remedy(error: &elan::DmaError) -> &'static str {
    match error {
        elan::DmaError::QueueFull { .. } => "; --set adapter.queue makes more room",
        _ => "",
    }
}

/// How to make room for buffers.
fn remedy(error: &elan::MemoryError) -> &'static str {
    match error.placement {
        elan::Placement::Adapter => "--set adapter.memory makes more room",
        elan::Placement::Main => "there is room for shorter messages",
    }
}

/// A process's buffer without contents. Its address is the same in all processes that map the same
/// buffers.
pub(crate) fn buffer(
    pe: &Pe,
    placement: Placement,
    size: Bytes,
) -> Result<ElanAddr, elan::MemoryError> {
    let region = pe.node().map(placement, size, Permissions::ALL, false)?;
    Ok(region.start().elan)
}

/// How long steady traffic runs, and how it is measured.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Time discarded at the start.
    pub warm_up: Time,
    /// Time measured after the warm-up; with a precision, the least.
    pub length: Time,
    /// Number of equal parts in the window, at least 1.
    pub batches: u32,
    /// Number of equal parts in the whole run, for per-link delays over time; 0 for no slices. A
    /// run with slices has no precision.
    pub slices: u32,
    /// The time after the warm-up for which circuits are kept; 0 for no circuits.
    pub watch: Time,
    /// The required precision of loads. Without a precision the length is as given.
    pub precision: Option<Precision>,
}

impl Window {
    /// When batch `batch` ends; batch 0 starts when the warm-up ends.
    pub fn batch_end(&self, batch: u32) -> Time {
        self.warm_up + self.length * u64::from(batch + 1) / u64::from(self.batches)
    }

    /// When slice `slice` ends; slice 0 starts with the run.
    pub fn slice_end(&self, slice: u32) -> Time {
        (self.warm_up + self.length) * u64::from(slice + 1) / u64::from(self.slices)
    }
}
