//! The format of machine files. These comments are also the descriptions in the JSON schema and in `elanite show`.

use crate::noise::{Distribution, MeanOrCounts, Processors};
use crate::param::{Param, PerLevel};
use crate::rails::Rails;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{Bytes, Flits, Rate, Time};

/// A machine: the network, its adapters and the buses behind them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What it is called.
    pub machine: Title,
    /// How nodes and switches are joined.
    pub topology: Topology,
    /// Links and their flow control.
    pub link: Link,
    /// The rules of the switches.
    pub switch: Switch,
    /// How messages become packets.
    pub packet: Packet,
    /// The adapters.
    pub adapter: Adapter,
    /// The parts in which Elan4 adapters differ; without this section they are Elan3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elan4: Option<Elan4>,
    /// The I/O bus between a node's main memory and its adapter.
    pub bus: Bus,
    /// The host processors as the libraries use them.
    pub host: Host,
    /// Tports, the tagged messages of Elanlib.
    pub tport: Tport,
    /// Groups of processes, and what they do together.
    pub group: Group,
    /// Several networks side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rails: Option<Rails>,
    /// What the operating system takes of the hosts' processors, by its causes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub noise: BTreeMap<String, Noise>,
    /// How the fabric is computed; no physics.
    pub fabric: Fabric,
}

/// What a machine is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Title {
    /// Short name.
    pub name: String,
    /// One line about it.
    pub title: String,
}

/// Links and their flow control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Bytes of a flit, the unit of flow control.
    pub flit: Param<Bytes>,
    /// Nominal rate of each direction. A flit at this rate is the cycle of the fabric: a whole number of picoseconds.
    pub rate: Param<Rate>,
    /// From the first flit on a link to the earliest first flit on the next: switch, cable, synchronisation. A whole
    /// number of cycles, 1 to 127; one value, or one for each level of links from the nodes upwards.
    pub hop_delay: Param<PerLevel>,
    /// Virtual channels of each direction, 1 to 8.
    pub channels: Param<u32>,
    /// Flit buffer of each channel.
    pub buffer: Param<Flits>,
}

/// The rules of the switches. Each is a mechanism that can be exchanged to see its effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// When the channels of a packet's path are given back.
    pub circuit: Param<Circuit>,
    /// How the ascending phase picks an up-link.
    pub ascent: Param<Ascent>,
    /// By which up-links broadcasts climb.
    pub broadcast: Param<Broadcast>,
    /// Time in which a switch where a broadcast descends combines its answers.
    pub combine: Param<Time>,
    /// Who wins a free channel.
    pub arbitration: Param<Arbitration>,
    /// Which of its channels a link serves.
    pub multiplexing: Param<Multiplexing>,
    /// The age of a packet stops growing here.
    pub age_cap: Param<Time>,
    /// Ages are compared in steps of this; at least a cycle.
    pub age_step: Param<Time>,
    /// Whether high-priority packets go first.
    pub priorities: Param<bool>,
    /// Whether acknowledgements and EOPs take a flit slot of each link they cross.
    pub tokens: Param<bool>,
}

/// When the channels of a packet's path are given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Circuit {
    /// After the acknowledgement, when the EOP has passed.
    UntilAcknowledged,
    /// All at once, on delivery.
    UntilDelivered,
    /// Each as soon as the tail has left it: no circuit.
    Wormhole,
}

/// How the ascending phase picks an up-link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ascent {
    /// The least loaded.
    Adaptive,
    /// Destination modulo up-links, at every level.
    Deterministic,
    /// The child that the source is below, modulo up-links.
    SourceFixed,
}

/// By which up-links broadcasts climb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Broadcast {
    /// All by the first, and so through one root switch: no deadlock.
    Serialised,
    /// Source modulo up-links: broadcasts of different sources may deadlock.
    BySource,
}

/// Who wins a free channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The oldest packet, up to the cap of ages.
    Age,
    /// The inputs in turn.
    RoundRobin,
}

/// Which of its channels a link serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Multiplexing {
    /// The oldest packet that can move.
    OldestFirst,
    /// Flit by flit in turn.
    RoundRobin,
}

/// How messages become packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// Most payload of a packet; at least an envelope of Tports.
    pub payload: Param<Bytes>,
    /// Most payload of a transaction.
    pub transaction: Param<Bytes>,
    /// Bytes of a packet outside its transactions.
    pub header: Param<Bytes>,
    /// Bytes of a transaction besides its payload.
    pub transaction_overhead: Param<Bytes>,
}

/// The adapters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Packets that may be unacknowledged at a time.
    pub packets_in_flight: Param<u32>,
    /// From the last flit of a packet to its acknowledgement leaving.
    pub turnaround: Param<Time>,
    /// While an adapter both sends and receives, each pauses for `share_burst` in every such period: they share the
    /// adapter's memory port.
    pub share_period: Param<Flits>,
    /// See `share_period`; at most half of it. "0 flits" switches the sharing off.
    pub share_burst: Param<Flits>,
    /// Command processor: from the store in the command port to the descriptor in the DMA queue.
    pub command: Param<Time>,
    /// DMA engine: from taking up a descriptor to its first packet.
    pub dma_start: Param<Time>,
    /// Inputter: from the last byte stored to the event being named.
    pub input: Param<Time>,
    /// Setting an event and starting its action.
    pub event: Param<Time>,
    /// Host: from the event block in main memory to the waiting process going on.
    pub poll: Param<Time>,
    /// A DMA that has sent this much yields to the others in the queue.
    pub time_slice: Param<Bytes>,
    /// Descriptors in the DMA queue.
    pub queue: Param<u32>,
    /// Packets that wait in the inputter for the bus.
    pub input_buffers: Param<u32>,
    /// Times that a discarded packet is sent again at once, before the operating system backs off.
    pub retries: Param<u32>,
    /// From the refusal of a packet to sending it again.
    pub retry_delay: Param<Time>,
    /// The same once `retries` is used up.
    pub trap_delay: Param<Time>,
    /// The adapter's own memory, for buffers, events, queues and threads.
    pub memory: Param<Bytes>,
    /// Host: from the event block in main memory to a process that blocks, instead of polling, going on.
    pub interrupt: Param<Time>,
    /// A cycle of the thread processor.
    pub thread_cycle: Param<Time>,
    /// Cycles in which the thread processor takes up a thread.
    pub thread_switch: Param<u32>,
    /// Cycles in which a thread hands over a DMA, an event or a packet.
    pub thread_issue: Param<u32>,
}

/// The parts of the second generation of adapters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Elan4 {
    /// Short transaction engine: from taking up a command to handing its packet to the network.
    pub sten_start: Param<Time>,
    /// DMA engines, which share the queue.
    pub engines: Param<u32>,
    /// Reads of main memory are split transactions: the time between a request on the bus and its data, in which the
    /// bus is free.
    pub split: Param<Time>,
}

/// The I/O bus between a node's main memory and an adapter of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Whether both directions move at once; half-duplex, one at a time, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Param<Duplex>>,
    /// Rate within a burst.
    pub rate: Param<Rate>,
    /// Longest transaction.
    pub burst: Param<Bytes>,
    /// Arbitration, address and first-word latency of each transaction.
    pub burst_overhead: Param<Time>,
    /// Extra time before a transaction in the other direction, of a half-duplex bus.
    pub turnaround: Param<Time>,
}

/// Whether a bus moves in both directions at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// In one at a time.
    Half,
    /// In both, each at the full rate.
    Full,
}

/// The host processors as the libraries use them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Instructions of a library call that starts or ends a message.
    pub call: Param<Time>,
    /// What a call of MPI that does not block takes beside that; nothing if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Param<Time>>,
    /// Rate at which a processor copies from one place of main memory to another.
    pub copy: Param<Rate>,
    /// Until one processor of a node sees what another one stored.
    pub shared: Param<Time>,
    /// Processors of a node, 1 to 256; 4 if not given, as of an ES40 (000 s4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Param<u32>>,
    /// Whether the operating system takes processors away, for the causes that the machine has; true if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Param<bool>>,
}

/// One cause of noise: detours from what a process computes, such as those for the ticks of a timer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Which processors of every node it stops: "all", or the number of one, from 0.
    pub cpu: Param<Processors>,
    /// From the start of a detour to that of the next one: the mean, or what was counted.
    pub interval: Param<MeanOrCounts>,
    /// How intervals vary around their mean; fixed if not given. What was counted has a distribution of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Param<Distribution>>,
    /// What a detour takes: the mean, or what was counted.
    pub duration: Param<MeanOrCounts>,
    /// How durations vary around their mean, in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durations: Option<Param<Distribution>>,
}

/// Groups of processes in Elanlib, and what they do together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Most children of a process in the tree of the collective calls.
    pub branching: Param<u32>,
    /// Cycles in which a thread sets up a broadcast, beside those of handing it over.
    pub broadcast: Param<u32>,
}

/// Tports, the tagged messages of Elanlib: the work of their thread on the adapter, and the bounds of their buffers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tport {
    /// Who matches the tags of messages and moves their bytes; the adapter if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<Param<Matching>>,
    /// Cycles of the thread processor in which the thread takes up an envelope or a posted receive, and answers it.
    pub handle: Param<u32>,
    /// Cycles in which it compares an envelope with a posted receive.
    pub scan: Param<u32>,
    /// Messages up to this length travel with their envelope of 32 bytes, as far as one packet holds both.
    pub small: Param<Bytes>,
    /// Longer messages than this are never buffered: they wait at the sender for their receive.
    pub big: Param<Bytes>,
    /// Slots of the queue of envelopes.
    pub slots: Param<u32>,
    /// Adapter memory of a process for small messages that nobody has asked for yet, shared out among the senders; each
    /// may have at least one there.
    pub buffer: Param<Bytes>,
    /// Main memory of a process for longer ones, and for those that are received into buffers of the system.
    pub system: Param<Bytes>,
}

/// Who matches the tags of messages and moves their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Matching {
    /// A thread on the adapter, whatever the process does.
    Adapter,
    /// The process's own processor, when it does not compute; it copies the bytes at both ends. Without offload.
    Host,
}

/// How the fabric is computed; no physics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// What moves the flits. Both engines make the same motion in every cycle.
    pub engine: Engine,
}

/// What moves the flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// From events: fast. Serves a link's channels oldest first only.
    Worm,
    /// Every link in every cycle: the definition, slow.
    Flit,
}
