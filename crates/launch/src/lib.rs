//! # The process manager: starts an MPI program's ranks, and ends them
//!
//! An MPI library asks a process manager for its rank, for the rank count, and for the others'
//! addresses. MPICH and its descendants do so by PMI-1, a protocol of text lines on a connection
//! that each process inherits. MPICH's own process manager, hydra, passes these lines on through a
//! proxy; with some 280 ranks on one host both block in a write to each other, and the program
//! never starts. Here one process starts all ranks, answers them immediately, and waits for their
//! ends. All connections are Unix socket pairs: no port is opened.
//!
//! ## Start
//!
//! Each rank gets its own session, its end of the connection (`PMI_FD`), and its number
//! (`PMI_RANK`, `PMI_SIZE`). Rank 0 inherits standard input, the others read from `/dev/null`. All
//! inherit standard output and standard error, which are pipes to the simulator. If the process
//! manager ends, even by `SIGKILL`, the kernel kills the ranks.
//!
//! ## More ranks
//!
//! A rank may start more ranks (`MPI_Comm_spawn`), a *world* with its own key-value space, if the
//! run has room for them. The simulator gives them their places before: the ranks' library asks for
//! these when it sees the request, and a request without places is refused ([`spawn`]).
//!
//! ## Key-value space
//!
//! Ranks put their addresses under keys, enter a barrier, and get all others' addresses. With `n`
//! ranks these are `n²` values: the ranks' library reads them from a file in memory, which the
//! process manager writes before it lets ranks out of a barrier ([`space`]).
//!
//! ## End
//!
//! The process manager reports the ranks' ends in their order. A rank ends all others by a request
//! (`MPI_Abort`) and by a signal that kills it; and by an exit after `MPI_Init` without
//! `MPI_Finalize`, unless the user wants the others to continue. An exit before `MPI_Init` ends no
//! other rank here: the simulator notices if others wait for the rank.
//!
//! ## A start without progress
//!
//! A program hangs at its start if some ranks wait in a barrier for others that never enter. While
//! a barrier is incomplete, the process manager looks at all ranks' processor time. If within ten
//! host seconds no rank has computed, sent a request or ended, the start has no progress: the
//! process manager names the ranks and the reasons for their waits, and ends them. A rank that
//! waits for standard input is no such case.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`wire`], [`spawn`] | PMI-1 requests and replies; requests for more ranks |
//! | [`manager`] | a run's state: worlds with key-value spaces and barriers, published names |
//! | [`space`] | the key-value space as ranks read it |
//! | [`process`] | a rank as a process with a connection |
//! | [`serve`] | the loop over connections and ends |
//! | [`stall`] | the search for a start without progress |
//! | [`report`] | events for the program that has started the process manager |
//!
//! ## The main path
//!
//! A rank's request, from its start to its end:
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
