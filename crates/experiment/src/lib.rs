//! # Experiment files, points, and running them
//!
//! An experiment file describes a published figure or table: *series* of *points* on one machine. A
//! series runs a ping, an overlap test, a noise test, any number of *jobs* at a time, or a
//! collective operation, with jobs as background traffic; or it allocates rails:
//!
//! ```toml
//! [[series]]
//! name = "patterns"
//! [series.jobs.permutation]                      # a job and its name
//! pattern = ["neighbor", "complement"]           # where messages go: a rule, or "pairs.csv"
//! nodes = 64                                     # the first 64; or "0-27", "0-63 except 0-63:8"
//! message = "256 KB"
//! sizes = ["uniform", "exponential"]
//! arrivals = "exponential"
//! load = ["50 MB/s", "350 MB/s"]                 # of each node
//! # servers = "56-63"                            # its messages go there instead
//! # writes = 0.5                                 # half of them; the others are read
//! ```
//!
//! All benchmarks have one general form: those in petrini2003 s4.3-4.7 differ in these fields
//! alone, and a second `[series.jobs.NAME]` runs beside the first. Each field is one value or a
//! list. A series' points are the Cartesian product of all its jobs' lists, once per seed; lists in
//! `zip` go together. `[[fault]]` and `[[series.fault]]` list faults that occur meanwhile. A
//! series' `machine`, a table with machine file keys or a list of such tables, changes the machine
//! for the series.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `file`, `figure`, `sweep`, `run`, `missing` | the typed form: series, figures, lists |
//! | `nodes`, `pattern`, `content`, `changes`, `fault` | single fields |
//! | `kinds` | benchmark kinds: fields, checks, points and runs |
//! | `zip` | lists that go together |
//! | `check`, `figures`, `fit` | checks without the machine, and against it |
//! | `read`, `plan`, `simulate` | from text to file, from file to points, from point to records |
//! | `revision` | the model revision |
//! | [`calls`], [`program`] | the same as functions on texts; programs with their own kinds |
//!
//! ## The main path
//!
//! An experiment file becomes records:
//!
//! 1. `read.rs`: [`Experiment::parse`] makes the typed form in `file.rs` and has it checked.
//! 2. `check.rs`: checks that do not depend on the machine.
//! 3. `plan.rs`: [`plan`] has the series checked against the machine (`fit.rs`) and multiplies
//!    lists out.
//! 4. `kinds.rs`: each benchmark kind makes its points.
//! 5. `simulate.rs`: [`simulate`] is a pure function of a [`Point`]: same point, same bits, on any
//!    machine and thread count. Only the first step reads files.

pub mod calls;
mod changes;
mod check;
mod content;
mod fault;
mod figure;
mod figures;
mod file;
mod fit;
mod kinds;
mod missing;
mod nodes;
mod pattern;
mod plan;
pub mod program;
mod read;
mod revision;
mod run;
mod simulate;
mod sweep;
mod zip;

pub use changes::{Changes, MachineFile};
pub use fault::FaultGrid;
pub use figure::{Drawing, Figure, Published, Rows, XScale};
pub use file::Experiment;
pub use kinds::{
    Allocation, AllocationGrid, Benchmark, Collective, CollectiveGrid, CollectivePoint,
    CollectiveSeries, FlowListGrid, Job, JobGrid, JobsPoint, JobsSeries, MixSeries, NoiseGrid,
    OverlapGrid, PingGrid, Plot, Programs, Series, TraceFileGrid, Workload,
};
pub use nodes::NodeSet;
pub use pattern::{Pairs, PatternSpec};
pub use plan::{Point, plan};
pub use revision::MODEL_REVISION;
pub use run::{Run, RunChanges};
pub use simulate::{RunError, simulate, simulate_observed};
pub use sweep::Sweep;
