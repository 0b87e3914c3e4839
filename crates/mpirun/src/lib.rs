//! # Real MPI programs on the simulated cluster: the time server
//!
//! The ranks of a real MPI program are processes of the operating system. Their MPI library sends and receives through a
//! provider of ours, which turns what it wants into [orders](link::Order). This crate carries the orders out on a simulated
//! [`Cluster`](elan::Cluster) and tells the ranks, at the right moments of simulated time, what came of them.
//!
//! ## Time
//!
//! A rank goes on from a moment of simulated time, its *wake*. What the rank then does takes the host's time, and takes none of
//! the cluster's unless the run says so ([`link::Compute`]).
//!
//! *Lookahead.* While ranks go on, the cluster is simulated beside them, to less than the *lookahead* after the earliest wake.
//! There it waits for the orders of the rank with this wake. The lookahead is the time that a call of the library takes of the
//! simulated processor before anything else can notice it (`host.call`). So whatever a rank orders at its wake has its first
//! effect when the cluster's present has not passed it, and the result is the same as if the cluster stood still until all
//! ranks wait. Where processors work by themselves there is no lookahead: with several ranks on a node, or where hosts match.
//! (A rank's messages to itself are of that kind, too; MPI libraries send none. Programs that race for a word of memory, by a
//! get without synchronisation, may read another word than without a lookahead, but the same one each time.)
//!
//! *Order.* The server always takes orders a lookahead after the wake, however early the rank has given them. Orders that are
//! due at once are taken in the order of their moments, then of the ranks. So nothing depends on when the host ran which rank,
//! and equal programs have equal runs.
//!
//! *Progress.* A rank takes part only while it waits in MPI. Then it sees what has ended, and its processor does what each end
//! asks of it (a call, a copy), one after the other, for all that had ended by then; after this work the rank goes on. What
//! ends while the program sleeps or computes is seen later; what the adapter does needs no rank.
//!
//! *Coming and going.* A rank that leaves MPI may come back: sessions may be begun again and again. What the rank does
//! meanwhile is not simulated. When it comes back it has a moment in simulated time, which must not depend on the host. So for
//! a while of simulated time (a millisecond) nobody waits for it, as the process manager of a real machine needs time to let it
//! in. Then time stands until the rank has come back, at that moment, or its process exits. All ranks that leave together go on
//! together: the exit of one costs the others nothing. While ranks wait for each other in the process manager, they have no
//! turn, and all go on from the moment at which the last one came.
//!
//! *Deaths.* A rank that ends without having left MPI ends the run, unless the others are to go on ([`Options::keep_going`]).
//! Then the dead rank gives no orders after the moment from which it ran last, and its adapter carries out what it had ordered.
//! A rank that waits for the dead one waits for ever.
//!
//! *Memory.* The bytes of a message are copied from the rank into main memory of its simulated process, travel, and are copied
//! from the receiver's memory to the receiving rank. For a get or a put, the simulator asks the other rank's provider in
//! between, in no simulated time. A get reads what the memory holds when the order is taken, except for puts that have come
//! since the get. A rank sees at its wake what was put into its memory before.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`options`], [`run`], [`outcome`] | request, preparation and outcome of a run |
//! | `server`, `watch` | the loop: simulate, let ranks go on, take orders; the watch |
//! | [`agent`], `memory`, `sent` | one rank in the simulation, its buffers, messages on their way |
//! | [`endpoint`], [`tports`], [`ideal`] | networks: trait, machine, one without contention |
//! | `files`, `horizon` | the file system of the machine; the end of simulated time |
//! | [`groups`], `combine` | groups of ranks, and the functions of reductions |
//! | [`trace`], `record` | all messages and calls; the recording in GOAL |
//! | `table`, `sampling` | sampled computation: the table of a program, and its use in a run |
//!
//! ## The main path
//!
//! A send of a rank:
//!
//! 1. `run.rs`: [`Run::serve`] makes cluster, endpoints and server.
//! 2. `server/turns.rs`: the server takes the records of a turn; `server/rules.rs` makes a [turn](agent::Turn) of them.
//! 3. `agent/orders.rs`: the agent of the rank begins each operation.
//! 4. `tports.rs`, `tports/operations.rs`: the operation becomes a call of a simulated library.
//! 5. `agent/progress.rs`: its end becomes a report of the next turn.
//! 6. `trace.rs`: a row of the trace.

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
mod record;
pub mod run;
mod sampling;
mod sent;
mod server;
mod table;
pub mod tports;
pub mod trace;
mod watch;

pub use groups::Ways;
pub use options::{Memory, Network, Options, Problem};
pub use outcome::{Dead, End, Outcome, Results, Waiting};
pub use run::{RankSight, Run, Sight};
pub use sampling::Extended;
pub use table::{Bound, Host, Program, Sampled};
pub use trace::{CallRow, FilesRow, MessageKind, MessageRow, RankRow};
