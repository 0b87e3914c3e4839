//! # GOAL: schedules of messages and computation, and their replay
//!
//! GOAL is the language of `LogGOPSim` and ATLAHS for parallel programs: for each rank a graph with
//! sends, receives and computations (Hoefler, Siebert, Lumsdaine: Group Operation Assembly
//! Language, ICPP 2009). The text form:
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//!   l1: calc 1500                  // nanoseconds
//!   l2: send 4096b to 1 tag 7
//!   l2 requires l1                 // l2 starts when l1 has ended
//! }
//! rank 1 {
//!   l1: recv 4096b from 0 tag 7
//!   l2: calc 1000 cpu 1
//!   l2 irequires l1                // l2 starts when l1 has started
//! }
//! ```
//!
//! ## A trace need not fit in memory
//!
//! A dependency may stand anywhere in its rank's block, behind the last operation too. So no
//! operation can start before its whole block has been read. A text is therefore translated into
//! the binary form first, rank by rank, in a file without a name in the temporary folder. One rank
//! must fit in memory while it is translated or checked; the trace need not. The replay then reads
//! the binary form through a bounded cache. In memory it keeps the operations that have started and
//! have not ended, and those with some dependencies met.
//!
//! ## Checks
//!
//! The whole trace is checked before the replay: syntax, ranks, labels, sizes, dependencies in a
//! circle, truncation, and in the binary form every number and offset. Whether each message has a
//! partner shows at the end of the replay, as wild cards may take any. A [`TraceProblem`] names the
//! file and the line, or the offset in a binary file.
//!
//! ## Differences from `LogGOPSim`
//!
//! Statements may also end with `;`, and comments may stand anywhere. A label twice in a rank is a
//! warning, and names the first operation. Other input that `txt2bin` silently accepts is refused:
//! a rank twice or without a block, a send with a wild card, a peer that does not exist, numbers
//! beyond their types.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `operation`, `schedule` | an operation; the graph of one rank, and its text |
//! | [`pattern`] | schedules for collective operations |
//! | `scan`, `text`, `write` | the text form: words, statements, a whole trace |
//! | `notes`, `scales` | names for the computations' program parts, the pace of polls, and factors on times |
//! | [`encoding`] | files that are no plain text, by their first bytes |
//! | `binary`, `pages`, `nameless` | the binary form, and a bounded cache over its file, which has no name |
//! | `trace` | a trace on the disk: any operation, from anywhere, in little memory |
//! | `progress` | operations that may start |
//! | `standstill` | operations that wait forever: without a partner, or in a circle |
//! | `ledger`, `pairs` | messages without a receive; sends and receives that belong together |
//! | [`replay`] | the replay, on a simulated machine or on an ideal network |
//! | `problem` | errors: place, cause, remedy |
//!
//! ## The main path
//!
//! A trace in text, from its file to its last operation's time:
//!
//! 1. `text.rs`: statements for one rank at a time, from the words in `scan.rs`.
//! 2. `schedule.rs`: the rank's graph, checked.
//! 3. `binary.rs`: the graph in the binary form; `trace.rs` opens it.
//! 4. `progress.rs`: operations with all dependencies met.
//! 5. `replay.rs`, `replay/cluster.rs`: each rank carries them out as a process in a job.

mod binary;
pub mod encoding;
mod ledger;
mod nameless;
mod notes;
mod operation;
mod pages;
mod pairs;
pub mod pattern;
mod problem;
mod progress;
pub mod replay;
mod scales;
mod scan;
mod schedule;
mod standstill;
mod text;
mod trace;
mod write;

pub use notes::{RegionLimit, TraceNotes, TraceProcessor, TraceRegion};
pub use operation::{ANY, Kind, Operation};
pub use problem::{TracePlace, TraceProblem};
pub use scales::Scales;
pub use schedule::Schedule;
pub use trace::Trace;
pub use write::write_text;
