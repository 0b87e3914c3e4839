//! # Real MPI programs on the simulated cluster: the time server
//!
//! The ranks of a real MPI program are processes of the operating system. Their MPI library sends and receives through a
//! provider of ours, which makes [orders](link::Order) of what it wants; this crate carries the orders out on a simulated
//! [`Cluster`](elan::Cluster) and tells the ranks, at the right moments of simulated time, what came of them.
//!
//! | module | is |
//! |---|---|
//! | [`options`] | what a run is to be: machine, ranks and their places, the time of computation |
//! | [`run`] | a run: what it needs, how it ended, what it leaves behind |
//! | `server` | the loop: wait until no rank runs, take their orders, simulate, let ranks go on |
//! | [`agent`] | one rank in the simulation: its operations under way, its news, what it waits for |
//! | [`endpoint`] | what a network offers to an agent |
//! | [`tports`] | that of the machine: Tports, put and get of the simulated libraries |
//! | [`ideal`] | one without adapters and without contention, to compare with |
//! | [`chronicle`] | the record of all messages and calls |
//! | [`series`] | how busy links, buses and thread processors were over time |
//!
//! ## Time
//!
//! While any rank runs, simulated time stands: what a rank does takes the host's time, and none of the cluster's unless the
//! run says so ([`link::Compute`]). When all have given their turns away, the cluster runs to the first moment at which one
//! of them can go on, its *wake*.
//!
//! *Windows.* All ranks whose wakes lie less than the *lookahead* after the first one go on at once, on all processors of the
//! host. The lookahead is what a call of the library takes of the simulated processor before anything else can notice it
//! (`host.call`): so whatever such a rank orders at its wake has its first effect when the cluster's present has not passed
//! it, and the result is that of going on one by one. Where processors work by themselves there is no lookahead: with several
//! ranks on a node, or where hosts match. (A rank's messages to itself are of that kind, too; MPI libraries send none.) The orders of a window are taken in the order of their moments, then of
//! the ranks, never in the order in which the host ran them. So equal programs have equal runs.
//!
//! *Progress.* A rank takes part only while it waits in MPI: then it sees what has ended, and its processor does what the end
//! asks of it (a call, a copy), one after the other, for all that had ended by then; it goes on with all of this. What ends
//! while the program sleeps or computes is seen later; what the adapter does needs no rank.
//!
//! *Memory.* The bytes of a message are copied from the rank into main memory of its simulated process, travel, and are
//! copied from the receiver's memory to the receiving rank. For gets, and into windows for puts, the simulator asks the
//! other rank's provider in between, which happens in no simulated time.

pub mod agent;
pub mod chronicle;
pub mod endpoint;
pub mod ideal;
mod memory;
pub mod options;
pub mod run;
pub mod series;
mod server;
pub mod tports;
mod watch;

pub use chronicle::{Call, Kind, Message, RankRow};
pub use options::{Network, Options, Problem};
pub use run::{End, Outcome, Results, Run, Waiting};
