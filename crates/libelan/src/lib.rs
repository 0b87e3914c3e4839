//! # The Elan's programming libraries (petrini2003 s3)
//!
//! This crate holds the calls that simulated programs make. A program is an async function that
//! every process of a [`ProcessJob`] runs, on nodes of a [`Cluster`](::elan::Cluster). Each process
//! gets a [`Pe`], its processing element:
//!
//! ```
//! # use elan::{Cluster, NodeId, ProcessId, Stop};
//! # use libelan::ProcessJob;
//! # use units::{Bytes, Time};
//! fn run(mut cluster: Cluster) -> Result<(), Stop> {
//!     let nodes = NodeId::all(4);
//!     let job = ProcessJob::new("ring", nodes, 1).expect("a process on each of four nodes");
//!     job.launch(&mut cluster, async |pe| {
//!         let elan3 = pe.elan3();
//!         // The same calls in every process, so the same addresses in every process.
//!         let size = Bytes::new(64);
//!         let mine = elan3.alloc_main(64, size).unwrap();
//!         let theirs = elan3.alloc_main(64, size).unwrap();
//!         let arrived = elan3.alloc_elan(64, size).unwrap();
//!         let event = elan3.init_event(arrived, 1).unwrap();
//!         pe.compute(Time::from_us(10)).await;
//!         let right = ProcessId::new((pe.vp().get() + 1) % pe.nvps());
//!         let put = elan3.put_notify(right, mine, theirs, size, arrived);
//!         put.await.expect("the neighbour has all of this");
//!         elan3.wait_event(event).await;
//!     })
//!     .expect("the nodes are there");
//!     cluster.run()
//! }
//! ```
//!
//! The calls have the original libraries' names and meaning, in Rust style. Each call names its
//! original call. Sources: petrini2003 is the `QsNET` paper; names and arguments follow programs
//! from that time.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `job`, `error` | jobs, their processes, and their errors |
//! | `cpu` | a process's processor, which works on one call at a time |
//! | [`elan3`] | Elan3lib: processes by number, memory, permissions, events, remote DMA |
//! | [`mod@elan`] | Elanlib: tagged messages, put and get, queues, groups |
//! | [`shmem`] | Shmem: one-sided put, get, atomics and waiting, on put and get |
//! | [`mpi`] | MPI: point to point, on Tports; barrier, broadcast, reductions |
//!
//! ## The main path
//!
//! A tagged message, from one process to another:
//!
//! 1. `job.rs`: [`ProcessJob::launch`] attaches the processes and starts the program in each.
//! 2. `elan/tport/send.rs`: the sender makes an envelope, with the bytes if they are few.
//! 3. `elan/tport/wire.rs`: the envelope in octets, for the receiver's adapter queue.
//! 4. `elan/tport/thread.rs`: the thread there matches the envelope with a posted receive.
//! 5. `elan/tport/long.rs`: a longer message's bytes are fetched over the rails.
//! 6. `elan/tport/host.rs`: the receiver sees the end.

mod cpu;
pub mod elan;
pub mod elan3;
mod error;
mod job;
pub mod mpi;
pub mod shmem;

pub use error::JobError;
pub use job::{Pe, ProcessJob};

/// The documentation pages for programmers. The programs on the pages are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/libraries-elan.md")]
#[doc = include_str!("../../../docs/libraries-mpi.md")]
struct Libraries;
