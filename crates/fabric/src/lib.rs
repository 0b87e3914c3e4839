//! # The fabric: Elite switches and the links between them
//!
//! A packet enters at an adapter, climbs a fat tree adaptively to a nearest common ancestor,
//! descends deterministically to its destination and is acknowledged; the virtual channels on its
//! path stay taken, a *circuit*, until the end-of-packet token (EOP) that follows the
//! acknowledgement has passed (petrini2003 s2.2). This rule distinguishes the Quadrics networks
//! from plain wormhole routing, and most published figures follow from it.
//!
//! The main rooms are [`topology`], networks and their routes; [`control`], the *control plane*,
//! which decides; and [`motion`], the *movers*, which move flits over the channels that the control
//! plane has granted. [`motion::flit`] visits every link with flits to send in every cycle; it is
//! written to be read, and defines the motion. [`motion::worm`] makes the same motion from events,
//! and fast. Outside this room the two movers are indistinguishable.
//!
//! ## The cycle
//!
//! The fabric counts time in integer cycles, each for one flit on a link (`QsNET`: 2 bytes at 400
//! MB/s, 5 ns); links may be slower ([`pace`]). A flit that is sent over a link in cycle `s` is at
//! the other end in `s + D`, `D` being the link's *delay*, at least 1 (`QsNET`: 11 cycles, wire and
//! switch). A place in the buffer behind the link that a flit leaves in `s` is free for the sender
//! in `s + C`, `C` being the link's *credit delay*, at least 1 (`QsNET`: 1). The following happens
//! in cycle `T`, with both movers.
//!
//! *Phase 0, control.* First all events that are due in `T` happen, in any order:
//!
//! | event | when | consequence |
//! |---|---|---|
//! | a header arrives at a switch | `D` cycles after its flit was sent | the header waits in the output group that its tag names |
//! | a packet is delivered | `D` cycles after its last flit was sent on the last link | the adapter receives the packet, and answers at any time |
//! | an acknowledgement is back | answer + the delays on all links of the path | the packet is done; the EOP starts, and frees the channel on each link at `T + 1` + the delays on the links before it |
//! | an EOP is at a node that awaits it | the delays on all links of the path, and one cycle, after it started | the adapter commits the packet's request, or drops it |
//! | a channel falls free | as in the acknowledgement's row; without circuits see below | the group, or the adapter, that sends over the link has news; the link and the opposite link each owe a slot for the token that has passed |
//!
//! Without circuits, channels are free earlier: all channels on a path one cycle after the delivery
//! (`UntilDelivered`), or each channel `C + 1` cycles after the next link has sent the tail, or the
//! node has received it (`Wormhole`): one cycle after the last credit.
//!
//! Then each switch with broadcast news begins to set up the next broadcast, if it is not setting
//! one up (`control::broadcast`). Then each output group with news arbitrates once: while a header
//! waits and a channel is free, the winner ([`control`]) gets the channel. Then each adapter with
//! news injects: while it has fewer unacknowledged packets than it may have, its link has a free
//! channel and a packet waits, the packet is stamped and takes the channel.
//!
//! *Phase 1, data.* Each link moves at most one flit. Among the channels with a flit and room
//! behind the link, the first in rank moves (priority, then age; in turns if the machine says so).
//! Counts before the cycle decide: in cycle `t` the channel's own count and the arrivals before it
//! as they are, the count of the channel behind as it was `C - 1` cycles earlier. Flits on the
//! wire, and credits on the wire, occupy the buffer; a place that a flit leaves in `T` is free in
//! `T + C`. A link that owes slots to tokens pays before it turns to another channel, and when it
//! has no flit to move. An adapter's link stands still in its pause if both directions want to move
//! ([`motion`]).
//!
//! ## Why the order within a cycle is free, and events suffice
//!
//! With header delays and credit delays of at least one cycle, cycle `T` depends only on counts up
//! to `T - 1`; so phase 1 may visit the links in any order, or visit only those with changes. As a
//! link serves the oldest channel that can move, and each channel moves 0 or 1 flits, all counts
//! are straight lines between changes of a link's choice. The choice can change only when a channel
//! is granted, when flits begin or cease to arrive, when a buffer fills or a full one gets room,
//! when a worm ends, when a debt is paid, or when a pause begins or ends. Each such moment is known
//! ahead, or follows another by at least one cycle. This is the whole idea behind [`motion::worm`];
//! its essay has the proof by induction over cycles. `tests/differential.rs` compares both movers
//! in every cycle on random machines.
//!
//! Cables may die and be repaired, and bits may arrive wrong ([`FaultConfig`], [`Network::cut`]):
//! the essay of `control::faults` describes the consequences for packets, answers and channels.
//!
//! The fabric has no notion of node memory, messages or picoseconds: adapters (crate `elan`) offer
//! packets, receive their outcomes as [`Notice`]s, and answer deliveries with
//! [`Network::acknowledge`].
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `fabric`, `network` | the crate's front, and the network behind it |
//! | [`topology`], [`dependency`] | wiring and routes; proof that a routing cannot deadlock |
//! | [`control`] | injection, arbitration, circuits, acknowledgements, releases |
//! | `credits` | the link rate that flow control sustains |
//! | `regions`, `cut` | the network in regions, for several threads; where it is cut |
//! | [`motion`] | the flit movers |
//! | `records` | the link and channel records of both planes |
//! | `config`, `mechanism`, [`pace`] | parameters, mechanisms by name, link rates |
//! | `id`, `table`, `hash`, `prefetch` | identifiers, record tables, hash, prefetching |
//!
//! ## The main path
//!
//! A packet, from its offer to its acknowledgement:
//!
//! 1. `network.rs`: [`Network::offer`] takes an adapter's packet.
//! 2. `control/queue.rs`: the packet waits at its adapter.
//! 3. `control/grant.rs`: injection, and the channel on each link after arbitration.
//! 4. `topology/fat_tree/route.rs` (or the route of another topology): the links that may
//!    follow.
//! 5. `control/arbitration.rs`: the header that wins a channel.
//! 6. `motion/worm.rs` (or `motion/flit.rs`): flits move.
//! 7. `control/circuit.rs`: delivery, acknowledgement, release.

pub mod config;
pub mod control;
mod credits;
mod cut;
mod dependency;
mod fabric;
mod hash;
pub mod id;
mod mechanism;
pub mod motion;
mod network;
pub mod pace;
mod prefetch;
mod records;
mod regions;
mod table;
pub mod topology;

pub use config::{
    Arbitration, Ascent, Broadcast, Circuit, Config, Engine, FaultConfig, LinkOverride, Misrouting,
    Multiplexing, Ways,
};
pub use control::{
    Ack, Deadlock, Hold, LinkCounters, NoRoute, Notice, PacketRecord, PacketSpec, Priority, Share,
};
pub use credits::Credits;
pub use dependency::{DependencyCycle, find_cycle};
pub use fabric::Fabric;
pub use id::{ChannelId, LinkId, NodeId, PacketId, Place, Rail, SwitchId};
pub use network::{Network, Nodes, SharedNodes};
pub use pace::Pace;
pub use topology::{
    ChannelClass, Destination, Dragonfly, FatTree, Graph, HyperX, Mesh, Topology, TopologyError,
    Torus, Wiring,
};

/// A point in the fabric's own time: flit cycles since the start of the run.
pub type Cycle = u64;
