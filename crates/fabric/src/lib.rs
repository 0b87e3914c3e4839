//! # The fabric: Elite switches and the links between them
//!
//! A packet enters at an adapter, climbs a fat tree adaptively to a nearest common ancestor, descends
//! deterministically to its destination and is acknowledged; the virtual channels of its path stay taken, a
//! *circuit*, until the end-of-packet token (EOP) that follows the acknowledgement has passed (petrini2003 s2.2). That rule is
//! what distinguishes the Quadrics networks from plain wormhole routing, and most of the published figures follow
//! from it.
//!
//! The crate is three rooms:
//!
//! * [`topology`]: kinds of networks (fat trees of any arities, tori of any dimensions), their wiring and the routes through it; arithmetic, no state;
//! * [`control`]: the *control plane*, which decides: injection, arbitration for channels, circuits, acknowledgements,
//!   releases. Its front is [`Fabric`];
//! * [`motion`]: the *movers*, which move flits over the channels that the control plane has granted.
//!   [`motion::flit`] visits every link with something to send in every cycle, and is written to be read: it is the
//!   definition of the motion.
//!   [`motion::worm`] makes the same motion from events, and fast. Nothing outside of the room can tell them apart.
//!
//! ## The cycle
//!
//! The fabric lives in integer cycles of one flit on a link (`QsNET`: 2 bytes at 400 MB/s, 5 ns). A flit that is sent over a
//! link in cycle `s` is at the other end in `s + D`, `D` being the *delay* of the link, at least 1 (`QsNET`: 11 cycles, wire
//! and switch). This is what happens in cycle `T`, whichever mover runs.
//!
//! *Phase 0, control.* First all that is due in `T`, in any order:
//!
//! | what | when | consequence |
//! |---|---|---|
//! | a header arrives at a switch | `D` cycles after its flit was sent | it waits in the output group that its tag names |
//! | a packet is delivered | `D` cycles after its last flit was sent on the last link | the adapter hears of it, and answers when it pleases |
//! | an acknowledgement is back | answer + the delays of all links of the path | the packet is done; the EOP starts, and frees the channel of each link at `T + 1` + the delays of the links before it |
//! | an EOP is at a node that is to be told | the delays of all links of the path, and one cycle, after it started | the adapter commits what the packet asked for, or drops it |
//! | a channel falls free | see there | its group, or its adapter, has news; the link, and the one opposite, owe a slot for the tokens that have passed |
//!
//! Without circuits, channels are free earlier: all of a path one cycle after the delivery (`UntilDelivered`), or each two
//! cycles after the next link has sent the tail, or the node has it (`Wormhole`).
//!
//! Then each switch with news of broadcasts begins to set up the next, if none is being set up (`control::broadcast`). Then
//! each output group with news arbitrates once: while a header waits and a channel is free, the winner ([`control`])
//! gets the channel. Then each adapter with news injects: while it has fewer packets unacknowledged than it may, the link
//! has a free channel and a packet waits, that is stamped and takes the channel.
//!
//! *Phase 1, data.* Each link moves at most one flit: of the channels that have one and have room behind the link, that which
//! goes first (high priority, then age; in turns if the machine says so), decided on the counts before the cycle. Flits on
//! the wire occupy the buffer; a place that is left in `T` is free in `T + 1`. A link that owes slots to tokens pays before
//! it turns to another channel, and when it has nothing to move; a link of an adapter stands still in its pause if both
//! directions want to move ([`motion`]).
//!
//! ## Why the order within a cycle is free, and events suffice
//!
//! With header delays of at least one cycle and a credit delay of one, what happens in `T` depends only on counts up to
//! `T - 1`; so in phase 1 the links may be taken in any order, or only those taken for which something has changed. As a
//! link serves the oldest channel that can move, and each channel moves 0 or 1 flits, all counts are straight lines between
//! changes of a link's choice; and that can change only when a channel is granted, when flits begin or cease to arrive, when
//! a buffer fills or a full one gets room, when a worm ends, when a debt is paid, or when a pause begins or ends. Each of
//! these moments is known ahead or follows from another by at least one cycle. That is the whole idea of [`motion::worm`]; its essay has the proof by
//! induction over cycles, and `tests/differential.rs` compares both movers in every cycle on random machines.
//!
//! The fabric knows nothing of nodes' memory, of messages or of picoseconds: adapters (crate `elan`) offer packets,
//! are told by [`Notice`]s what became of them, and answer deliveries with [`Fabric::acknowledge`].

pub mod config;
pub mod control;
mod fabric;
pub mod id;
mod mechanism;
pub mod motion;
mod prefetch;
pub mod topology;

pub use config::{Arbitration, Ascent, Broadcast, Circuit, Config, Engine, Multiplexing};
pub use control::{
    Ack, Deadlock, LinkCounters, Notice, PacketId, PacketRecord, PacketSpec, Priority,
};
pub use fabric::Fabric;
pub use id::{ChannelId, LinkId, NodeId, Place, Rail, SwitchId};
pub use topology::{Destination, FatTree, Topology, TopologyError, Torus, Wiring};

/// A point in the fabric's own time: a number of flit cycles since the start of the run.
pub type Cycle = u64;
