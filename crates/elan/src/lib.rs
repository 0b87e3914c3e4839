//! # The Elan adapter and the cluster around it
//!
//! A [`Cluster`] is a fabric, one Elan3 or Elan4 adapter for each node with its memories and its
//! I/O bus, and the processes that run on the nodes. Processes are async functions. They post
//! remote DMAs, wait for events and sleep, in simulated time:
//!
//! ```
//! # use elan::{Cluster, Dma, NodeId, Placement, Stop};
//! # use units::Bytes;
//! fn ping(mut cluster: Cluster, size: Bytes) -> Result<(), Stop> {
//!     let (a, b) = (cluster.node(NodeId::new(0)), cluster.node(NodeId::new(63)));
//!     let (from, to) = (a.reserve(Placement::Adapter, size), b.reserve(Placement::Adapter, size));
//!     let arrived = b.event(1);
//!     cluster.spawn("ping", async move {
//!         let sent = a.dma(Dma::new(from.start(), to.start(), size).notify(arrived)).await;
//!         sent.expect("both regions hold `size` bytes");
//!     });
//!     cluster.spawn("pong", async move { b.wait(arrived).await });
//!     cluster.run()
//! }
//! ```
//!
//! ## A remote DMA's way (petrini2003 s3.1.3, figure 6)
//!
//! | step | where | cost |
//! |---|---|---|
//! | the process stores the descriptor's address in the command port | bus, command processor | one bus transaction, `command` |
//! | the descriptor waits its turn | DMA queue | first in, first out; time slices |
//! | the DMA engine fetches it, translates addresses, looks up the route | DMA engine | `dma_start` |
//! | the engine cuts the message into packets up to 320 bytes long and reads their payload | adapter memory or bus | 0, or the bus |
//! | packets travel, up to two unacknowledged at a time | fabric | cycles |
//! | the inputter checks, stores the payload and acknowledges | adapter memory or bus | `turnaround`, the bus |
//! | with the last byte stored, the destination's event is set; with the last acknowledgement, the source's event | events | `input`, `event` |
//! | the event's block is copied to main memory, where the process polls | bus, processor | one bus transaction, `poll` |
//!
//! Each process has a *context* on its adapter: an address space ([`memory`]) that the adapter's
//! MMU ([`adapter::mmu`]) translates and protects. Any failure at either end of a transfer reaches
//! the process as an error.
//!
//! ## The second generation
//!
//! An Elan4 is an Elan3 with other parameters and some further parts, which the machine file lists
//! ([`AdapterPart`]): a short transaction engine that sends short messages without the DMA engine,
//! more DMA engines, and split transactions for main memory reads. Everything else is shared.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`config`] | adapter, bus, host, library and rail parameters |
//! | [`packet`], [`dma`], [`transaction`], [`meter`] | formats and descriptors |
//! | [`memory`] | addresses, regions, rights, and the bytes behind them |
//! | `busy` | an adapter's status, as its node knows it some time later |
//! | `in_flight` | the DMAs and packets on their way, at both ends |
//! | [`adapter`] | the chip's parts, each with its own state |
//! | [`cluster`] | the run loop, the router between the parts, [`Node`], utilisation over time |
//! | [`thread`] | threads on the adapter |
//! | [`noise`], `distribution` | the processor time that the operating system takes |
//! | [`faults`] | parts that fail, and each failure's time |
//!
//! ## The main path
//!
//! A remote DMA, from a process's call to its end:
//!
//! 1. `cluster/node.rs`: [`Node::dma`] posts a descriptor; its command crosses the bus.
//! 2. `adapter/command_processor.rs`: the command enters the descriptor queue.
//! 3. `adapter/dma_engine.rs`: the engine cuts packets; `adapter/packets.rs` reads their
//!    payload.
//! 4. `adapter/mmu/shared.rs`: addresses become memory ranges, or a fault.
//! 5. `cluster/world/route.rs`: packets go to the fabric, deliveries and answers come back.
//! 6. `adapter/inputter.rs`: the destination checks, stores and acknowledges.
//! 7. `adapter/event_unit.rs`: events occur at both ends, and wake processes or start actions.
//! 8. `cluster/waiting.rs`: the process sees the event in main memory.
//!
//! Sources: petrini2003 is the `QsNET` paper ("Performance Evaluation of the Quadrics
//! Interconnection Network"), garcia2005 the one about its successor ("Assessing MPI Performance on
//! `QsNetII`").

pub mod adapter;
mod busy;
pub mod cluster;
pub mod config;
mod distribution;
pub mod dma;
pub mod faults;
mod in_flight;
pub mod memory;
pub mod meter;
pub mod noise;
pub mod packet;
pub mod thread;
pub mod transaction;

pub use adapter::event_unit::{Action, WaitMode};
pub use adapter::mmu::context::ContextError;
pub use adapter::queue::ProcessQueueId;
pub use cluster::{Census, Cluster, Node, Observer, Stop, Watch, series};
pub use config::{
    AdapterConfig, AdapterPart, BusConfig, Config, Duplex, GroupConfig, HostConfig, Matching,
    TportConfig,
};
pub use distribution::Distribution;
pub use dma::{Dma, DmaError, Transfer};
pub use fabric::{NodeId, Place, Priority, Rail};
pub use faults::{Loss, Obstacle};
pub use in_flight::Recoveries;
pub use memory::{
    Access, AccessFault, Address, Capability, ContextId, ElanAddr, EventId, MainAddr, MemoryError,
    PAGE, Permissions, Placement, ProcessId, Reason, Region,
};
pub use meter::Meter;
pub use noise::HostCpu;
pub use packet::PacketFormat;
pub use thread::Thread;
pub use transaction::{Answer, Comparison, Transaction};
