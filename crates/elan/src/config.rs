//! Adapter, bus and packet parameters. The machine file's texts arrive here as quantities. Their
//! bounds are checked where the file is read.

pub mod rails;

use crate::faults;
use crate::noise;
use crate::packet::PacketFormat;
use derive::choice;
use units::{Bytes, Rate, Time};

/// An Elan3 adapter (petrini2003 s2.1).
#[derive(Clone, Copy, Debug)]
pub struct AdapterConfig {
    /// From a packet's last flit to the moment when its acknowledgement leaves.
    pub turnaround: Time,
    /// Command processor: from the store in the command port to the descriptor in the DMA queue.
    pub command: Time,
    /// DMA engine: from taking up a descriptor to its first packet. Paid again after each time
    /// slice.
    pub dma_start: Time,
    /// Inputter: from the last payload stored until the event is named.
    pub input: Time,
    /// Setting an event and starting its action.
    pub event: Time,
    /// The host processor: from the copied event block in main memory to the moment when the
    /// polling process continues.
    pub poll: Time,
    /// A DMA that has held an engine for this time yields to the others in the queue.
    pub time_slice: Time,
    /// Descriptors in the DMA queue; a further descriptor is refused
    /// ([`crate::DmaError::QueueFull`]).
    pub queue: u32,
    /// Packets that wait in the inputter for the bus; a further packet's acknowledgement waits for
    /// a place.
    pub input_buffers: u32,
    /// Times that the hardware sends a discarded packet again immediately, before the operating
    /// system backs off.
    pub retries: u32,
    /// From a packet's refusal to sending it again.
    pub retry_delay: Time,
    /// From a packet's refusal to sending it again, once `retries` is used up.
    pub trap_delay: Time,
    /// The adapter's own memory.
    pub memory: Bytes,
    /// The operating system: from the copied event block in main memory to the moment when a
    /// blocking process continues.
    pub interrupt: Time,
    /// A thread processor cycle.
    pub thread_cycle: Time,
    /// Cycles in which the thread processor takes up a thread.
    pub thread_switch: u32,
    /// Cycles in which a thread hands a DMA, an event or a packet to the adapter's other parts.
    pub thread_issue: u32,
}

impl AdapterConfig {
    /// How long a packet waits after it has been refused so often.
    pub(crate) fn retry_after(&self, refusals: u32) -> Time {
        if refusals < self.retries {
            self.retry_delay
        } else {
            self.trap_delay
        }
    }
}

/// A part in which adapters differ. An adapter without these parts is an Elan3 (garcia2005 s2.1
/// describes the Elan4's parts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdapterPart {
    /// The short transaction engine.
    Sten {
        /// From taking up a command to handing its packet to the network.
        start: Time,
    },
    /// More than one DMA engine.
    DmaEngines {
        /// How many, at least 1.
        count: u32,
    },
    /// Main memory reads are split transactions.
    SplitReads {
        /// From a request's end on the bus to the moment when its data ask for the bus.
        latency: Time,
    },
}

/// Whether a bus moves in both directions at the same time.
#[choice]
pub enum Duplex {
    /// In one at a time.
    Half,
    /// In both, each at the full rate.
    Full,
}

/// An adapter's I/O bus: all traffic between main memory and adapter crosses it (petrini2003 s4:
/// 64-bit, 33 MHz PCI).
#[derive(Clone, Copy, Debug)]
pub struct BusConfig {
    /// Whether both directions move at the same time.
    pub duplex: Duplex,
    /// Rate within a burst.
    pub rate: Rate,
    /// Longest transaction; longer transfers are cut.
    pub burst: Bytes,
    /// Each transaction's arbitration, address and first-word latency.
    pub burst_overhead: Time,
    /// On a half-duplex bus: extra time before a transaction in another direction than the last
    /// (petrini2003 s5.2: the bus "is not able to efficiently interleave the bidirectional
    /// traffic").
    pub turnaround: Time,
}

/// The host processors as the libraries use them.
#[derive(Clone, Copy, Debug)]
pub struct HostConfig {
    /// Instructions in a library call that starts or ends a message.
    pub call: Time,
    /// Additional time for a non-blocking MPI call: its request is made and freed.
    pub request: Time,
    /// Rate at which a processor copies bytes within main memory.
    pub copy: Rate,
    /// Time until one processor sees another processor's store on the same node.
    pub shared: Time,
    /// Processors per node, at least 1.
    pub cpus: u32,
}

/// A tagged message's envelope: its kind and source, the sender's label, tag, size, and the places
/// of its bytes and the sender's event. One block with a descriptor's length is assumed.
pub const ENVELOPE: Bytes = Bytes::new(32);

/// The unit that matches message tags and moves the bytes.
#[choice]
pub enum Matching {
    /// A thread on the adapter, independent of the process.
    Adapter,
    /// The process's own processor, when it does not compute; it copies the bytes at both ends.
    Host,
}

/// Tports, Elanlib's tagged messages (petrini2003 s3.2): their thread's work, and their buffer
/// bounds.
#[derive(Clone, Copy, Debug)]
pub struct TportConfig {
    /// The unit that matches the tags and moves the bytes.
    pub matching: Matching,
    /// Cycles in which the thread takes up an envelope or a posted receive, and answers it.
    pub handle: u32,
    /// Cycles in which the thread compares an envelope with a posted receive.
    pub scan: u32,
    /// Messages up to this length travel with their envelope, if one packet holds both.
    pub small: Bytes,
    /// Longer messages than this are never buffered.
    pub big: Bytes,
    /// Slots in the envelope queue.
    pub slots: u32,
    /// A process's adapter memory for small messages that have no receive yet.
    pub buffer: Bytes,
    /// A process's main memory for longer messages, and for messages that are received into system
    /// buffers.
    pub system: Bytes,
}

/// Process groups in Elanlib, and their collective calls.
#[derive(Clone, Copy, Debug)]
pub struct GroupConfig {
    /// Most children of a process in the collective calls' tree (`LIBELAN_GROUP_BRANCHRATIO`); at
    /// least 1.
    pub branching: u32,
    /// Cycles in which a thread sets up a hardware barrier's packet, beside those for handing the
    /// packet over.
    pub broadcast: u32,
}

/// A whole cluster.
#[derive(Clone, Debug)]
pub struct Config {
    /// Switches and links.
    pub fabric: fabric::Config,
    /// A fabric cycle's duration: one flit on a link.
    pub cycle: Time,
    /// How messages become packets and packets become flits.
    pub packet: PacketFormat,
    /// The adapters.
    pub adapter: AdapterConfig,
    /// The parts that only some adapters have: empty for an Elan3.
    pub parts: Vec<AdapterPart>,
    /// The buses.
    pub bus: BusConfig,
    /// The hosts.
    pub host: HostConfig,
    /// The tagged messages.
    pub tport: TportConfig,
    /// The groups.
    pub group: GroupConfig,
    /// How messages are spread over the rails, as many as the fabric has trees; `None` where the
    /// file has no choice.
    pub rails: Option<rails::Config>,
    /// The operating system's noise on the hosts' processors.
    pub noise: Vec<noise::NoiseSource>,
    /// The faults; `None` where no faults are listed.
    pub faults: Option<faults::Config>,
}
