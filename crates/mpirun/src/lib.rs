//! # Real MPI programs on the simulated cluster: the time server
//!
//! A real MPI program's ranks are operating system processes. Their MPI library sends and receives
//! through our provider, which turns its calls into [orders](link::Order). This crate carries the
//! orders out on a simulated [`Cluster`](elan::Cluster) and reports their outcomes to the ranks at
//! the right moments in simulated time.
//!
//! ## Time
//!
//! A rank continues at a moment in simulated time, its *wake*. The rank's further work takes host
//! time, and takes no cluster time unless the run demands it ([`link::Compute`]).
//!
//! *Lookahead.* While ranks run, the cluster is simulated beside them, to less than the *lookahead*
//! after the earliest wake. There it waits for orders from the rank with this wake. The lookahead
//! is the simulated processor time that a library call takes before anything else can notice it
//! (`host.call`). So any order that a rank gives at its wake has its first effect when the
//! cluster's present has not passed it, and the result is the same as if the cluster stood still
//! until all ranks wait. Where processors work by themselves there is no lookahead: with several
//! ranks on a node, or where hosts match. (A rank's messages to itself are of that kind, too; MPI
//! libraries send none. Programs that race for a memory word, by a get without synchronisation, may
//! read another word than without a lookahead, but the same one each time.)
//!
//! *Order.* The server always takes orders a lookahead after the wake, however early the rank has
//! given them. Orders that are due together are taken in the order of their moments, then by rank.
//! So the result does not depend on when the host ran which rank, and equal programs have equal
//! runs.
//!
//! *Progress.* A rank takes part only while it waits in MPI. Then it sees the ended operations, and
//! its processor does the work for each end (a call, a copy), one after the other, for all that had
//! ended by then; after this work the rank continues. Operations that end while the program sleeps
//! or computes are seen later; the adapter's work needs no rank.
//!
//! *Coming and going.* A rank that leaves MPI may come back: sessions may be begun again and again.
//! The rank's work meanwhile is not simulated. When it comes back it has a moment in simulated
//! time, which must not depend on the host. So for some simulated time (a millisecond) it has no
//! waiter, as a real machine's process manager needs time to let it in. Then time stands until the
//! rank has come back, at that moment, or its process exits. All ranks that leave together continue
//! together: one rank's exit costs the others no time. While ranks wait for each other in the
//! process manager, they have no turn, and all continue at the moment at which the last one came.
//!
//! *Deaths.* A rank that ends without having left MPI ends the run, unless the others are to
//! continue ([`Options::keep_going`]). Then the dead rank gives no orders after the moment from
//! which it ran last, and its adapter carries out its earlier orders. A rank that waits for the
//! dead one waits for ever.
//!
//! *Memory.* A message's bytes are copied from the rank into its simulated process's main memory,
//! travel, and are copied from the receiver's memory to the receiving rank. For a get or a put, the
//! simulator asks the other rank's provider in between, in no simulated time. A get reads the
//! memory's content when the order is taken, except for puts that have come since the get. A rank
//! sees at its wake all earlier puts into its memory.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`options`], [`run`], [`outcome`] | a run's request, preparation and outcome |
//! | `server`, `watch` | the loop: simulate, let ranks go on, take orders; the watch |
//! | [`agent`], `memory`, `sent` | one rank in the simulation, its buffers, messages on their way |
//! | [`endpoint`], [`tports`], [`ideal`] | networks: trait, machine, one without contention |
//! | `files`, `horizon` | the machine's file system; the end of simulated time |
//! | [`groups`], `combine` | rank groups, and reduction functions |
//! | [`trace`], `record` | all messages and calls; the recording in GOAL |
//! | `table`, `sampling`, [`processors`] | sampled computation: a program's table, its use in a run, and on other processors |
//!
//! ## The main path
//!
//! A rank's send:
//!
//! 1. `run.rs`: [`ProgramRun::serve`] makes cluster, endpoints and server.
//! 2. `server/turns.rs`: the server takes a turn's records; `server/rules.rs` makes a
//!    [turn](agent::Turn) from them.
//! 3. `agent/orders.rs`: the rank's agent begins each operation.
//! 4. `tports.rs`, `tports/operations.rs`: the operation becomes a simulated library call.
//! 5. `agent/progress.rs`: its end becomes a report in the next turn.
//! 6. `trace.rs`: a row in the trace.

pub mod agent;
mod combine;
pub mod endpoint;
mod files;
pub mod groups;
mod horizon;
pub mod ideal;
mod memory;
pub mod options;
pub mod outcome;
pub mod processors;
mod record;
pub mod run;
mod sampling;
mod sent;
mod server;
mod table;
pub mod tports;
pub mod trace;
mod watch;

pub use groups::CarrierCounts;
pub use options::{Memory, NetworkMode, Options, OptionsProblem};
pub use outcome::{DeadRank, Outcome, Results, RunEnd, WaitingRank};
pub use run::{ProgramRun, RankSight, Sight};
pub use sampling::ExtendedTable;
pub use table::{Bottleneck, MeasuredProgram, MeasuringHost, SamplingRequest};
pub use trace::{CallRow, FilesRow, MessageKind, MessageRow, RankRow};
