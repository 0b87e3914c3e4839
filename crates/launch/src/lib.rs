//! # The process manager: starts the ranks of an MPI program, and ends them
//!
//! An MPI library asks a process manager for its rank, for the number of ranks, and for the
//! addresses of the others. MPICH and its descendants do so by PMI-1, a protocol of lines of text
//! on a connection that each process inherits. MPICH's own process manager, hydra, passes these
//! lines on through a proxy; with some 280 ranks on one host both block in a write to each other,
//! and the program never starts. Here one process starts all ranks, answers them at once, and
//! waits for their ends. All connections are pairs of Unix sockets: no port is opened.
//!
//! ## Start
//!
//! Each rank gets a session of its own, its end of the connection (`PMI_FD`), and its number
//! (`PMI_RANK`, `PMI_SIZE`). Rank 0 inherits standard input, the others read from `/dev/null`. All
//! inherit standard output and standard error, which are pipes to the simulator. If the process
//! manager ends, even by `SIGKILL`, the kernel kills the ranks.
//!
//! ## More ranks
//!
//! A rank may start more ranks (`MPI_Comm_spawn`), a *world* with a key-value space of its own, if the run
//! has room for them. The simulator gives them their places before: the library of ranks asks for these
//! when it sees the request, and a request without places is refused ([`spawn`]).
//!
//! ## Key-value space
//!
//! Ranks put their addresses under keys, enter a barrier, and get the addresses of all others. With
//! `n` ranks these are `n²` values: the library of ranks reads them from a file in memory, which the
//! process manager writes before it lets ranks out of a barrier ([`space`]).
//!
//! ## End
//!
//! The process manager reports the end of each rank in the order of the ends. A rank ends all others
//! by a request (`MPI_Abort`) and by a signal that kills it; and by an exit after `MPI_Init` without
//! `MPI_Finalize`, unless the user wants the others to go on. An exit before `MPI_Init` ends no other
//! rank here: the simulator notices if others wait for the rank.
//!
//! ## A start without progress
//!
//! A program hangs at its start if some ranks wait in a barrier for others that never enter. While a
//! barrier is incomplete, the process manager looks at the processor time of all ranks. If within ten
//! seconds of the host no rank has computed, sent a request or ended, the start has no progress: the
//! process manager names the ranks and what they wait for, and ends them. A rank that waits for
//! standard input is no such case.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`wire`], [`spawn`] | requests and replies of PMI-1; requests for more ranks |
//! | [`manager`] | the state of a run: worlds with key-value spaces and barriers, published names |
//! | [`space`] | the key-value space as ranks read it |
//! | [`process`] | a rank as a process with a connection |
//! | [`serve`] | the loop over connections and ends |
//! | [`stall`] | the search for a start without progress |
//! | [`report`] | events for the program that has started the process manager |
//!
//! ## The main path
//!
//! A request of a rank, from its start to its end:
//!
//! 1. `main.rs`: `elanite mpirun` has started the process manager.
//! 2. `serve.rs`: the loop starts all ranks, and waits for events.
//! 3. `process.rs`: a rank is forked; later, its connection is read.
//! 4. `wire.rs`: a line becomes a request.
//! 5. `manager.rs`: the request changes the state, and has replies.
//! 6. `report.rs`: the rank has ended.

pub mod manager;
pub mod process;
pub mod report;
pub mod serve;
pub mod space;
pub mod spawn;
pub mod stall;
pub mod wire;
