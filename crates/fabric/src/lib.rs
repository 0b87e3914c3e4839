//! # The fabric: Elite switches and the links between them
//!
//! A packet enters at an adapter, climbs a fat tree adaptively to a nearest common ancestor, descends
//! deterministically to its destination and is acknowledged; the virtual channels of its path stay taken, a
//! *circuit*, until the end-of-packet token (EOP) that follows the acknowledgement has passed (000 s2.2). That rule is
//! what distinguishes the Quadrics networks from plain wormhole routing, and most of the published figures follow
//! from it.
//!
//! The crate is three rooms:
//!
//! * [`topology`]: the wiring of any fat tree, and source routes through it; arithmetic, no state;
//! * [`control`]: the *control plane*, which decides: injection, arbitration for channels, circuits, acknowledgements,
//!   releases. Its front is [`Fabric`];
//! * [`motion`]: the *movers*, which move flits over the channels that the control plane has granted.
//!   [`motion::flit`] visits every link in every cycle and is written to be read: it is the definition of the motion.
//!   [`motion::worm`] makes the same motion from events, and fast. Nothing outside of the room can tell them apart.
//!
//! ## Time
//!
//! The fabric lives in integer cycles of one flit on a link (`QsNET`: 2 bytes at 400 MB/s, 5 ns). A cycle has two phases:
//!
//! 0. *control*: all events that are due (their order must not matter), then each output group with news arbitrates
//!    once, then each adapter with news injects;
//! 1. *data*: every link moves at most one flit, decided on the state at the start of the cycle.
//!
//! With header delays of at least one cycle and a credit delay of one, what happens in cycle `t` depends only on counts
//! up to `t - 1`, so that the order of evaluation within a phase is free.
//!
//! The fabric knows nothing of nodes' memory, of messages or of picoseconds: adapters (crate `elan`) offer packets,
//! are told by [`Notice`]s what became of them, and answer deliveries with [`Fabric::acknowledge`].

pub mod config;
pub mod control;
mod fabric;
pub mod motion;
pub mod topology;

pub use config::{Arbitration, Ascent, Circuit, Config, Engine, Multiplexing};
pub use control::{
    Ack, LinkCounters, Notice, PacketId, PacketRecord, PacketSpec, Priority,
};
pub use fabric::Fabric;
pub use topology::{FatTree, LinkId, NodeId, SwitchId, TopologyError};

/// A point in the fabric's own time: a number of flit cycles since the start of the run.
pub type Cycle = u64;
