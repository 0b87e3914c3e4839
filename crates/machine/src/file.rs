//! The machine file format. These comments are also the descriptions in the JSON schema and in
//! `elanite show`.

use crate::check::Check;
use crate::fault::{FaultSection, FaultsSection};
use crate::noise::NoiseCause;
use crate::param::{Param, PerLevel};
use crate::rails::RailsSection;
use crate::section::{LARGEST, LONGEST, Section};
use crate::topology::TopologySection;
use derive::{section, table};
use elan::config::ENVELOPE;
use elan::{
    AdapterConfig, AdapterPart, BusConfig, Duplex, GroupConfig, HostConfig, Matching, PacketFormat,
    TportConfig,
};
use fabric::config::MAX_CHANNELS;
use fabric::{Arbitration, Ascent, Broadcast, Circuit, Engine, Multiplexing};
use std::collections::BTreeMap;
use units::{Bytes, Flits, Rate, Time};

/// Slowest link or bus; this bound keeps sums far from overflow.
pub(crate) const SLOWEST: Rate = Rate::from_mb_per_second(1);

/// Largest sizes, for the same reason: of a flit, of a small Tports message, of the bytes around a
/// payload.
const LARGEST_FLIT: Bytes = Bytes::from_kb(4);
const LARGEST_SMALL: Bytes = Bytes::from_kb(64);
const LARGEST_HEADER: Bytes = Bytes::from_kb(4);

/// An adapter's least memory: event pages for a few processes.
const LEAST_MEMORY: Bytes = Bytes::from_mb(1);

/// The least and the most bytes in a file's stripe.
const LEAST_STRIPE: Bytes = Bytes::from_kb(4);
const MOST_STRIPE: Bytes = Bytes::from_mb(4);

/// Most flits in a buffer or period.
const MOST_FLITS: Flits = Flits::new(1 << 20);

/// Processors per node by default: an ES40's (petrini2003 s4); and the most that a node has.
pub(crate) const CPUS: u32 = 4;
const MOST_CPUS: u32 = 256;

/// A machine: the network, its adapters and the buses behind them.
#[table]
pub struct Machine {
    /// The machine's name.
    pub machine: Title,
    /// How nodes and switches are joined.
    pub topology: TopologySection,
    /// Links and their flow control.
    pub link: Link,
    /// The switches' rules.
    pub switch: Switch,
    /// How messages become packets.
    pub packet: PacketSection,
    /// The adapters.
    pub adapter: Adapter,
    /// The parts in which Elan4 adapters differ; without this section they are Elan3.
    pub elan4: Option<Elan4>,
    /// The I/O bus between a node's main memory and its adapter.
    pub bus: BusSection,
    /// The host processors as the libraries use them.
    pub host: HostSection,
    /// A node's processors as real programs use them.
    pub processor: Option<ProcessorSection>,
    /// The file system as real programs use it.
    pub files: Option<Files>,
    /// Tports, Elanlib's tagged messages.
    pub tport: TportSection,
    /// Process groups, and their collective operations.
    pub group: GroupSection,
    /// Several networks side by side.
    pub rails: Option<RailsSection>,
    /// Host processor time that the operating system takes, by its causes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub noise: BTreeMap<String, NoiseCause>,
    /// Faults; an experiment may add more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<FaultSection>,
    /// How the machine notices faults and recovers.
    pub faults: Option<FaultsSection>,
    /// How the fabric is computed; no physics.
    pub fabric: FabricSection,
}

impl Machine {
    /// Reports the parameters in all sections that are out of bounds.
    pub(crate) fn check_bounds(&self, check: &mut Check<'_>) {
        let sections: [&dyn Section; 13] = [
            &self.link,
            &self.switch,
            &self.packet,
            &self.adapter,
            &self.elan4,
            &self.bus,
            &self.host,
            &self.processor,
            &self.files,
            &self.tport,
            &self.group,
            &self.rails,
            &self.faults,
        ];
        for section in sections {
            section.check(check);
        }
    }
}

/// A machine's name and title.
#[table]
pub struct Title {
    /// Short name.
    pub name: String,
    /// One line about it.
    pub title: String,
}

/// Links and their flow control.
#[section("link", within(u32 = 1..=MAX_CHANNELS))]
pub struct Link {
    /// Bytes per flit, the unit of flow control.
    #[param(within = Bytes::new(1)..=LARGEST_FLIT)]
    pub flit: Param<Bytes>,
    /// Nominal rate in each direction: one value, or one for each link level from the nodes
    /// upwards. A flit at the fastest rate is the fabric's cycle: a whole number of picoseconds. A
    /// slower link takes more cycles for a flit, 512 at most.
    pub rate: Param<PerLevel<Rate>>,
    /// The time from the first flit on a link to the earliest first flit on the next link: switch,
    /// cable, synchronisation. A whole number of cycles, 1 to 1023; one value, or one for each link
    /// level from the nodes upwards. A link slower than the fastest adds the longer time of one
    /// flit.
    #[param(fabric)]
    pub hop_delay: Param<PerLevel>,
    /// The time from a flit's departure out of the buffer behind a link until the link's sender may
    /// use its place again: the credit's way back, cable and switch. A whole number of cycles, 1 to
    /// 1023; one value, or one for each link level from the nodes upwards; one cycle if not given.
    pub credit_delay: Option<Param<PerLevel>>,
    /// Virtual channels in each direction, 1 to 32.
    #[param(fabric)]
    pub channels: Param<u32>,
    /// Traffic classes, into which every link's channels are divided as evenly as possible; 1 if
    /// not given. Each class needs as many channels as the routing, and has at each adapter a queue
    /// and a window of `adapter.packets_in_flight`.
    pub classes: Option<Param<u32>>,
    /// Flit buffer per channel. With the circuit "cut-through" a buffer holds the longest packet.
    #[param(within = Flits::new(1)..=MOST_FLITS, fabric)]
    pub buffer: Param<Flits>,
}

/// The switches' rules. Each is a mechanism that can be exchanged to see its effect.
#[section("switch", within(Time = Time::ZERO..=LONGEST))]
pub struct Switch {
    /// When the channels on a packet's path are released.
    #[param(fabric)]
    pub circuit: Param<Circuit>,
    /// How the ascending phase picks an up-link.
    #[param(fabric)]
    pub ascent: Param<Ascent>,
    /// Which up-links broadcasts take.
    #[param(fabric)]
    pub broadcast: Param<Broadcast>,
    /// Time in which a switch where a broadcast descends combines its answers.
    #[param(fabric)]
    pub combine: Param<Time>,
    /// The packet that wins a free channel.
    #[param(fabric)]
    pub arbitration: Param<Arbitration>,
    /// The channel that a link serves when several have a flit to move.
    #[param(fabric)]
    pub multiplexing: Param<Multiplexing>,
    /// Bits in the age that a packet carries, 1 to 32.
    #[param(within = 1..=32, fabric)]
    pub age_bits: Param<u32>,
    /// The time after the injection at which a packet's age stops growing. The age grows in steps
    /// of `age_cap` over the greatest age, which is 15 if the age has 4 bits.
    #[param(fabric)]
    pub age_cap: Param<Time>,
    /// Whether high-priority packets go first.
    #[param(fabric)]
    pub priorities: Param<bool>,
    /// Whether acknowledgements and EOPs take a flit slot on each link they cross.
    #[param(fabric)]
    pub tokens: Param<bool>,
}

/// How messages become packets.
#[section(
    "packet",
    config = PacketFormat,
    more(flit: Bytes),
    within(Bytes = Bytes::ZERO..=LARGEST_HEADER),
)]
#[schemars(rename = "Packet")]
pub struct PacketSection {
    /// A packet's maximum payload; at least a Tports envelope. With the largest value each message
    /// is one packet.
    #[param(within = ENVELOPE..=LARGEST)]
    pub payload: Param<Bytes>,
    /// A transaction's maximum payload.
    #[param(within = Bytes::new(1)..=LARGEST)]
    pub transaction: Param<Bytes>,
    /// Bytes in a packet outside its transactions.
    pub header: Param<Bytes>,
    /// Bytes in a transaction besides its payload.
    pub transaction_overhead: Param<Bytes>,
}

/// The adapters.
#[section(
    "adapter",
    config = AdapterConfig,
    within(u32 = 0..=1 << 20),
    within(Time = Time::ZERO..=LONGEST),
)]
pub struct Adapter {
    /// Packets that may be unacknowledged at a time, 1 to 1024; with several `link.classes`, per
    /// class.
    #[param(within = 1..=1024, fabric)]
    pub packets_in_flight: Param<u32>,
    /// The time from a packet's last flit until its acknowledgement leaves.
    pub turnaround: Param<Time>,
    /// While an adapter both sends and receives, each pauses for `share_burst` in every such
    /// period: they share the adapter's memory port.
    #[param(within = Flits::new(1)..=MOST_FLITS, fabric)]
    pub share_period: Param<Flits>,
    /// See `share_period`; at most half of it. "0 flits" switches the sharing off.
    #[param(fabric)]
    pub share_burst: Param<Flits>,
    /// Command processor: from the store in the command port to the descriptor in the DMA queue.
    pub command: Param<Time>,
    /// DMA engine: from taking up a descriptor to its first packet.
    pub dma_start: Param<Time>,
    /// Inputter: from the last stored byte until the event is set.
    pub input: Param<Time>,
    /// Setting an event and starting its action.
    pub event: Param<Time>,
    /// Host: from the event block in main memory until the waiting process goes on.
    pub poll: Param<Time>,
    /// A DMA that has held an engine for this time yields to the others in the queue; "10 s" for
    /// never.
    #[param(within = Time::from_ps(1)..=LONGEST)]
    pub time_slice: Param<Time>,
    /// Descriptors in the DMA queue.
    #[param(within = 1..=1 << 20)]
    pub queue: Param<u32>,
    /// Packets that wait in the inputter for the bus.
    #[param(within = 1..=1 << 16)]
    pub input_buffers: Param<u32>,
    /// Times that a discarded packet is sent again at once, before the operating system backs off.
    #[param(within = 0..=1 << 16)]
    pub retries: Param<u32>,
    /// The time from a packet's refusal to its retransmission.
    pub retry_delay: Param<Time>,
    /// The time from a packet's refusal to its retransmission, once `retries` is used up.
    pub trap_delay: Param<Time>,
    /// The adapter's own memory, for buffers, events, queues and threads.
    #[param(within = LEAST_MEMORY..=LARGEST)]
    pub memory: Param<Bytes>,
    /// Host: from the event block in main memory until a process that blocks, instead of polling,
    /// continues.
    pub interrupt: Param<Time>,
    /// The thread processor's cycle.
    #[param(within = Time::from_ps(1)..=Time::from_us(1))]
    pub thread_cycle: Param<Time>,
    /// Cycles in which the thread processor takes up a thread.
    pub thread_switch: Param<u32>,
    /// Cycles in which a thread hands over a DMA, an event or a packet.
    pub thread_issue: Param<u32>,
}

/// The parts of second-generation adapters.
#[section("elan4", within(Time = Time::ZERO..=LONGEST))]
pub struct Elan4 {
    /// Short transaction engine: from taking up a command to handing its packet to the network.
    pub sten_start: Param<Time>,
    /// DMA engines, which share the queue.
    #[param(within = 1..=64)]
    pub engines: Param<u32>,
    /// Main memory reads are split transactions: the time between a request on the bus and its
    /// data, in which the bus is free.
    pub split: Param<Time>,
}

impl Files {
    /// Bytes per stripe.
    pub fn stripe(&self) -> Bytes {
        let stripe = self.stripe.as_ref();
        stripe.map_or(Bytes::from_kb(64), |stripe| stripe.value)
    }
}

impl Elan4 {
    /// The parts of this generation's adapters beside those that all have.
    pub(crate) fn parts(&self) -> Vec<AdapterPart> {
        vec![
            AdapterPart::Sten {
                start: self.sten_start.value,
            },
            AdapterPart::DmaEngines {
                count: self.engines.value,
            },
            AdapterPart::SplitReads {
                latency: self.split.value,
            },
        ]
    }
}

/// The I/O bus between a node's main memory and one of its adapters.
#[section("bus", config = BusConfig, within(Time = Time::ZERO..=LONGEST))]
#[schemars(rename = "Bus")]
pub struct BusSection {
    /// Whether both directions move at once; half-duplex, one at a time, if not given.
    #[param(default = Duplex::Half)]
    pub duplex: Option<Param<Duplex>>,
    /// Rate within a burst.
    #[param(within = SLOWEST..)]
    pub rate: Param<Rate>,
    /// Longest transaction.
    #[param(within = Bytes::new(1)..=LARGEST)]
    pub burst: Param<Bytes>,
    /// Arbitration, address and first-word latency per transaction.
    pub burst_overhead: Param<Time>,
    /// Extra time before a transaction in the other direction, on a half-duplex bus.
    pub turnaround: Param<Time>,
}

/// The host processors as the libraries use them.
#[section("host", config = HostConfig, within(Time = Time::ZERO..=LONGEST))]
#[schemars(rename = "Host")]
pub struct HostSection {
    /// Instructions in a library call that starts or ends a message.
    pub call: Param<Time>,
    /// The time of a non-blocking MPI call beside the library's instructions; zero if not given.
    #[param(default = Time::ZERO)]
    pub request: Option<Param<Time>>,
    /// Rate at which a processor copies from one place in main memory to another.
    #[param(within = SLOWEST..)]
    pub copy: Param<Rate>,
    /// The time until a node's processor sees another processor's store.
    pub shared: Param<Time>,
    /// Processors per node, 1 to 256; 4 if not given, as in an ES40 (petrini2003 s4).
    #[param(within = 1..=MOST_CPUS, default = CPUS)]
    pub cpus: Option<Param<u32>>,
    /// Whether the operating system takes processors away, for the causes that the machine has;
    /// true if not given.
    #[param(unmapped)]
    pub noise: Option<Param<bool>>,
}

/// A node's processors as real programs use them: sampled computation in `elanite mpirun` is scaled
/// to them. Experiments do not read this section. `elanite calibrate-host` measures it on a
/// computer.
#[section("processor")]
#[schemars(rename = "Processor")]
pub struct ProcessorSection {
    /// The time for a round of the noise test's loop: six operations on one register, each of which
    /// waits for the one before.
    #[param(within = Time::from_ps(1)..=Time::from_us(1))]
    pub step: Param<Time>,
    /// Rate at which one processor reads and writes main memory.
    #[param(within = SLOWEST..)]
    pub core_memory: Option<Param<Rate>>,
    /// Rate at which all of a node's processors together read and write main memory.
    #[param(within = SLOWEST..)]
    pub memory: Option<Param<Rate>>,
    /// Operations per second of the unit that a job's traces compute on, such as an accelerator:
    /// Chakra's `num_ops` are divided by it. If not given, the processor's steps.
    #[param(within = 1.0..=1e21)]
    pub flops: Option<Param<f64>>,
    /// Rate at which this unit reads and writes its memory: Chakra's `tensor_size` is divided by
    /// it. If not given, `core_memory`.
    #[param(within = SLOWEST..)]
    pub flops_memory: Option<Param<Rate>>,
}

/// The file system as real programs use it: the time that file operations take in `elanite mpirun`.
/// Experiments do not read this section.
#[section("files")]
pub struct Files {
    /// The time for a file operation, beside that for its bytes.
    #[param(within = Time::ZERO..=LONGEST)]
    pub latency: Param<Time>,
    /// Rate at which one node reads and writes files: its operations follow one another.
    #[param(within = SLOWEST..)]
    pub rate: Param<Rate>,
    /// Rate at which all nodes together read and write files; no limit if not given. With
    /// `servers`, each has an equal share.
    #[param(within = SLOWEST..)]
    pub total: Option<Param<Rate>>,
    /// I/O nodes, the machine's last nodes: the bytes cross the network to them and from them. If
    /// not given, files do not use the network.
    pub servers: Option<Param<u32>>,
    /// With `servers`: bytes per stripe. A file's stripe k lies on I/O node k, modulo their number;
    /// 64 KB if not given.
    #[param(within = LEAST_STRIPE..=MOST_STRIPE)]
    pub stripe: Option<Param<Bytes>>,
}

/// Process groups in Elanlib, and their collective operations.
#[section("group", config = GroupConfig)]
#[schemars(rename = "Group")]
pub struct GroupSection {
    /// A process's most children in the tree of the collective calls.
    #[param(within = 1..=64)]
    pub branching: Param<u32>,
    /// Cycles in which a thread sets up a hardware barrier's packet, beside those for handing it
    /// over.
    #[param(within = 0..=1 << 20)]
    pub broadcast: Param<u32>,
}

/// Tports, Elanlib's tagged messages: their thread's work on the adapter, and their buffers'
/// bounds.
#[section(
    "tport",
    config = TportConfig,
    within(u32 = 0..=1 << 20),
    within(Bytes = Bytes::ZERO..=LARGEST),
)]
#[schemars(rename = "Tport")]
pub struct TportSection {
    /// The processor that matches message tags and moves the bytes; the adapter if not given.
    #[param(default = Matching::Adapter)]
    pub matching: Option<Param<Matching>>,
    /// Thread processor cycles in which the thread takes up an envelope or a posted receive, and
    /// answers it.
    pub handle: Param<u32>,
    /// Cycles in which the thread compares an envelope with a posted receive.
    pub scan: Param<u32>,
    /// Messages up to this length travel with their envelope of 32 bytes, as far as one packet
    /// holds both.
    #[param(within = Bytes::ZERO..=LARGEST_SMALL)]
    pub small: Param<Bytes>,
    /// Longer messages than this are never buffered: they wait at the sender for their receive.
    pub big: Param<Bytes>,
    /// Slots in the envelope queue.
    #[param(within = 1..=1 << 16)]
    pub slots: Param<u32>,
    /// A process's adapter memory for small messages that no receive has taken yet, shared out
    /// among the senders; each may have at least one there.
    pub buffer: Param<Bytes>,
    /// A process's main memory for longer ones, and for those that are received into the system's
    /// buffers.
    pub system: Param<Bytes>,
}

/// How the fabric is computed; no physics.
#[table]
#[schemars(rename = "Fabric")]
pub struct FabricSection {
    /// The engine that moves the flits. Both engines make the same motion in every cycle.
    pub engine: Engine,
}
