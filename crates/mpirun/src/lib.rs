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
//! | `server` | the loop: simulate, let ranks go on, take their orders |
//! | [`agent`] | one rank in the simulation: its operations under way, its reports, what it waits for |
//! | [`endpoint`] | what a network offers to an agent |
//! | [`tports`] | that of the machine: Tports, put and get of the simulated libraries |
//! | [`ideal`] | one without adapters and without contention, to compare with |
//! | [`trace`] | the trace of all messages and calls |
//! | `sent` | messages on their way, and whether what arrives is what was sent |
//! | [`series`] | how busy links, buses and thread processors were over time |
//!
//! ## Time
//!
//! A rank goes on from a moment of simulated time, its *wake*. What it then does takes the host's time, and none of the
//! cluster's unless the run says so ([`link::Compute`]).
//!
//! *Lookahead.* While ranks go on, the cluster is simulated on, beside them, to less than the *lookahead* after the earliest
//! wake, and there it waits for this rank's orders. The lookahead is what a call of the library takes of the simulated
//! processor before anything else can notice it (`host.call`): so whatever a rank orders at its wake has its first effect
//! when the cluster's present has not passed it, and the result is that of standing still until all ranks wait. Where
//! processors work by themselves there is no lookahead: with several ranks on a node, or where hosts match. (A rank's
//! messages to itself are of that kind, too; MPI libraries send none. And programs that race for a word of memory, by a get
//! without synchronisation, may read another one than without a lookahead; the same one each time.)
//!
//! *Order.* Orders are always taken at that moment, a lookahead after the wake, however early the rank has given them, and
//! those that are due at once in the order of their moments, then of the ranks. So nothing depends on when the host ran
//! which rank, and equal programs have equal runs.
//!
//! *Progress.* A rank takes part only while it waits in MPI: then it sees what has ended, and its processor does what the end
//! asks of it (a call, a copy), one after the other, for all that had ended by then; it goes on with all of this. What ends
//! while the program sleeps or computes is seen later; what the adapter does needs no rank.
//!
//! *Coming and going.* A rank that leaves MPI may come back: sessions may be begun again and again. What it does meanwhile is
//! nobody's business, but when it comes back it has a moment in simulated time, which must not depend on the host. So nobody
//! waits for it for a while of simulated time (a millisecond), as the process manager of a real machine takes some to let
//! it in; then time stands until it has come back, at that moment, or its process exits. All ranks that leave together go
//! on together: the exit of one costs the others nothing. While ranks wait for each other in the process manager, they have no
//! turn, and all go on from the moment at which the last one came.
//!
//! *Deaths.* A rank that ends without having left MPI ends the run, unless the others are to go on
//! ([`Options::keep_going`]). Then it orders no more from the moment on from which it ran, and what it had ordered is carried out
//! by its adapter. A rank that waits for it waits for ever.
//!
//! *Memory.* The bytes of a message are copied from the rank into main memory of its simulated process, travel, and are
//! copied from the receiver's memory to the receiving rank. For gets, and into windows for puts, the simulator asks the
//! other rank's provider in between, which happens in no simulated time: what a get reads is what the memory holds when the
//! order is taken, but for puts that have come since the get. A rank sees what was put into its memory by its wake.

pub mod agent;
pub mod endpoint;
pub mod ideal;
mod memory;
pub mod options;
pub mod run;
mod sent;
pub mod series;
mod server;
pub mod tports;
pub mod trace;
mod watch;

pub use options::{Memory, Network, Options, Problem};
pub use run::{Dead, End, Outcome, Results, Run, Waiting};
pub use trace::{CallRow, MessageKind, MessageRow, RankRow};
