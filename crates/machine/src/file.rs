//! The format of machine files. These comments are also the descriptions in the JSON schema and in `elanite show`.

use crate::fault::{Fault, Faults};
use crate::noise::Noise;
use crate::param::{Param, PerLevel};
use crate::rails::Rails;
use crate::section::{LARGEST, LONGEST, Section, section, sections};
use crate::topology::Topology;
use elan::config::ENVELOPE;
use elan::{
    AdapterConfig, BusConfig, Duplex, GroupConfig, HostConfig, Matching, PacketFormat, TportConfig,
};
use fabric::config::MAX_CHANNELS;
use fabric::{Arbitration, Ascent, Broadcast, Circuit, Engine, Multiplexing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{Bytes, Flits, Rate, Time};

/// Slowest link or bus; this bound keeps sums far from overflow.
const SLOWEST: Rate = Rate::from_mb_per_second(1);

/// Largest sizes, for the same reason: of a flit, of a small message of Tports, of the bytes around a payload.
const LARGEST_FLIT: Bytes = Bytes::from_kb(4);
const LARGEST_SMALL: Bytes = Bytes::from_kb(64);
const LARGEST_HEADER: Bytes = Bytes::from_kb(4);

/// Least memory of an adapter: pages of events for a few processes.
const LEAST_MEMORY: Bytes = Bytes::from_mb(1);

/// Most flits of a buffer or period.
const MOST_FLITS: Flits = Flits::new(1 << 20);

/// Processors of a node, where a file does not say: those of an ES40 (petrini2003 s4); and the most that a node has.
pub(crate) const CPUS: u32 = 4;
const MOST_CPUS: u32 = 256;

sections! {
    /// A machine: the network, its adapters and the buses behind them.
    Machine {
        /// The name of the machine.
        machine: Title,
        /// How nodes and switches are joined.
        topology: Topology,
        /// Links and their flow control.
        link: Link,
        /// The rules of the switches.
        switch: Switch,
        /// How messages become packets.
        packet: Packet,
        /// The adapters.
        adapter: Adapter,
        /// The parts in which Elan4 adapters differ; without this section they are Elan3.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elan4: Option<Elan4>,
        /// The I/O bus between a node's main memory and its adapter.
        bus: Bus,
        /// The host processors as the libraries use them.
        host: Host,
        /// Tports, the tagged messages of Elanlib.
        tport: Tport,
        /// Groups of processes, and what they do together.
        group: Group,
        /// Several networks side by side.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rails: Option<Rails>,
        /// What the operating system takes of the hosts' processors, by its causes.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        noise: BTreeMap<String, Noise>,
        /// What fails; an experiment may have more faults.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fault: Vec<Fault>,
        /// How the machine notices faults and recovers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        faults: Option<Faults>,
        /// How the fabric is computed; no physics.
        fabric: Fabric,
    }
}

// No parameter of these sections has bounds of its own; `rules` checks how they agree with others.
impl Section for Title {}
impl Section for Topology {}
impl Section for BTreeMap<String, Noise> {}
impl Section for Vec<Fault> {}
impl Section for Fabric {}

/// What a machine is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Title {
    /// Short name.
    pub name: String,
    /// One line about it.
    pub title: String,
}

section! {
    /// Links and their flow control.
    Link = "link" {
        /// Bytes of a flit, the unit of flow control.
        flit: Param<Bytes>, in Bytes::new(1)..=LARGEST_FLIT;
        /// Nominal rate of each direction. A flit at this rate is the cycle of the fabric: a whole number of picoseconds.
        rate: Param<Rate>, in SLOWEST..;
        /// The time from the first flit on a link to the earliest first flit on the next link: switch, cable, synchronisation.
        /// A whole number of cycles, 1 to 1023; one value, or one for each level of links from the nodes upwards.
        hop_delay: Param<PerLevel> => [fabric.hop_delay];
        /// Virtual channels of each direction, 1 to 32.
        channels: Param<u32>, in 1..=MAX_CHANNELS => [fabric.channels];
        /// Traffic classes, into which the channels of every link are parted as evenly as can be; 1 if not given. Each class needs
        /// as many channels as the routing, and has at each adapter a queue and a window of `adapter.packets_in_flight`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        classes: Option<Param<u32>>, in 1..=MAX_CHANNELS;
        /// Flit buffer of each channel. With the circuit "cut-through" a buffer holds the longest packet.
        buffer: Param<Flits>, in Flits::new(1)..=MOST_FLITS => [fabric.buffer];
    }
}

section! {
    /// The rules of the switches. Each is a mechanism that can be exchanged to see its effect.
    Switch = "switch" {
        /// When the channels of a packet's path are given back.
        circuit: Param<Circuit> => [fabric.circuit];
        /// How the ascending phase picks an up-link.
        ascent: Param<Ascent> => [fabric.ascent];
        /// Which up-links broadcasts take.
        broadcast: Param<Broadcast> => [fabric.broadcast];
        /// Time in which a switch where a broadcast descends combines its answers.
        combine: Param<Time>, in Time::ZERO..=LONGEST => [fabric.combine];
        /// Who wins a free channel.
        arbitration: Param<Arbitration> => [fabric.arbitration];
        /// Which of the channels of a link is served when several have a flit to move.
        multiplexing: Param<Multiplexing> => [fabric.multiplexing];
        /// Bits of the age that a packet carries, 1 to 32.
        age_bits: Param<u32>, in 1..=32 => [fabric.age_bits];
        /// The time after the injection at which the age of a packet stops growing. The age grows in steps of `age_cap` over
        /// the greatest age, which is 15 if the age has 4 bits.
        age_cap: Param<Time>, in Time::ZERO..=LONGEST => [fabric.age_cap];
        /// Whether high-priority packets go first.
        priorities: Param<bool> => [fabric.priorities];
        /// Whether acknowledgements and EOPs take a flit slot of each link they cross.
        tokens: Param<bool> => [fabric.tokens];
    }
}

section! {
    /// How messages become packets.
    Packet = "packet" => PacketFormat: with flit: Bytes {
        /// Most payload of a packet; at least an envelope of Tports. With the largest value each message is one packet.
        payload: Param<Bytes>, in ENVELOPE..=LARGEST => payload;
        /// Most payload of a transaction.
        transaction: Param<Bytes>, in Bytes::new(1)..=LARGEST => transaction;
        /// Bytes of a packet outside its transactions.
        header: Param<Bytes>, in Bytes::ZERO..=LARGEST_HEADER => header;
        /// Bytes of a transaction besides its payload.
        transaction_overhead: Param<Bytes>, in Bytes::ZERO..=LARGEST_HEADER => transaction_overhead;
    }
}

section! {
    /// The adapters.
    Adapter = "adapter" => AdapterConfig {
        /// Packets that may be unacknowledged at a time, 1 to 1024; with several `link.classes`, of each class.
        packets_in_flight: Param<u32>, in 1..=1024 => [fabric.packets_in_flight];
        /// The time from the last flit of a packet until its acknowledgement leaves.
        turnaround: Param<Time>, in Time::ZERO..=LONGEST => turnaround;
        /// While an adapter both sends and receives, each pauses for `share_burst` in every such period: they share the
        /// adapter's memory port.
        share_period: Param<Flits>, in Flits::new(1)..=MOST_FLITS => [fabric.share_period];
        /// See `share_period`; at most half of it. "0 flits" switches the sharing off.
        share_burst: Param<Flits> => [fabric.share_burst];
        /// Command processor: from the store in the command port to the descriptor in the DMA queue.
        command: Param<Time>, in Time::ZERO..=LONGEST => command;
        /// DMA engine: from taking up a descriptor to its first packet.
        dma_start: Param<Time>, in Time::ZERO..=LONGEST => dma_start;
        /// Inputter: from the last stored byte until the event is set.
        input: Param<Time>, in Time::ZERO..=LONGEST => input;
        /// Setting an event and starting its action.
        event: Param<Time>, in Time::ZERO..=LONGEST => event;
        /// Host: from the event block in main memory until the waiting process goes on.
        poll: Param<Time>, in Time::ZERO..=LONGEST => poll;
        /// A DMA that has held an engine for this time yields to the others in the queue; "10 s" for never.
        time_slice: Param<Time>, in Time::from_ps(1)..=LONGEST => time_slice;
        /// Descriptors in the DMA queue.
        queue: Param<u32>, in 1..=1 << 20 => queue;
        /// Packets that wait in the inputter for the bus.
        input_buffers: Param<u32>, in 1..=1 << 16 => input_buffers;
        /// Times that a discarded packet is sent again at once, before the operating system backs off.
        retries: Param<u32>, in 0..=1 << 16 => retries;
        /// From the refusal of a packet to sending it again.
        retry_delay: Param<Time>, in Time::ZERO..=LONGEST => retry_delay;
        /// The time from the refusal of a packet to sending it again, once `retries` is used up.
        trap_delay: Param<Time>, in Time::ZERO..=LONGEST => trap_delay;
        /// The adapter's own memory, for buffers, events, queues and threads.
        memory: Param<Bytes>, in LEAST_MEMORY..=LARGEST => memory;
        /// Host: from the event block in main memory until a process that blocks, instead of polling, goes on.
        interrupt: Param<Time>, in Time::ZERO..=LONGEST => interrupt;
        /// A cycle of the thread processor.
        thread_cycle: Param<Time>, in Time::from_ps(1)..=Time::from_us(1) => thread_cycle;
        /// Cycles in which the thread processor takes up a thread.
        thread_switch: Param<u32>, in 0..=1 << 20 => thread_switch;
        /// Cycles in which a thread hands over a DMA, an event or a packet.
        thread_issue: Param<u32>, in 0..=1 << 20 => thread_issue;
    }
}

section! {
    /// The parts of the second generation of adapters.
    Elan4 = "elan4" {
        /// Short transaction engine: from taking up a command to handing its packet to the network.
        sten_start: Param<Time>, in Time::ZERO..=LONGEST;
        /// DMA engines, which share the queue.
        engines: Param<u32>, in 1..=64;
        /// Reads of main memory are split transactions: the time between a request on the bus and its data, in which the
        /// bus is free.
        split: Param<Time>, in Time::ZERO..=LONGEST;
    }
}

section! {
    /// The I/O bus between a node's main memory and an adapter of it.
    Bus = "bus" => BusConfig {
        /// Whether both directions move at once; half-duplex, one at a time, if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duplex: Option<Param<Duplex>> => duplex or Duplex::Half;
        /// Rate within a burst.
        rate: Param<Rate>, in SLOWEST.. => rate;
        /// Longest transaction.
        burst: Param<Bytes>, in Bytes::new(1)..=LARGEST => burst;
        /// Arbitration, address and first-word latency of each transaction.
        burst_overhead: Param<Time>, in Time::ZERO..=LONGEST => burst_overhead;
        /// Extra time before a transaction in the other direction, of a half-duplex bus.
        turnaround: Param<Time>, in Time::ZERO..=LONGEST => turnaround;
    }
}

section! {
    /// The host processors as the libraries use them.
    Host = "host" => HostConfig {
        /// Instructions of a library call that starts or ends a message.
        call: Param<Time>, in Time::ZERO..=LONGEST => call;
        /// What a call of MPI that does not block takes beside the instructions of the library; nothing if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Param<Time>>, in Time::ZERO..=LONGEST => request or Time::ZERO;
        /// Rate at which a processor copies from one place of main memory to another.
        copy: Param<Rate>, in SLOWEST.. => copy;
        /// The time until one processor of a node sees what another processor stored.
        shared: Param<Time>, in Time::ZERO..=LONGEST => shared;
        /// Processors of a node, 1 to 256; 4 if not given, as of an ES40 (petrini2003 s4).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpus: Option<Param<u32>>, in 1..=MOST_CPUS => cpus or CPUS;
        /// Whether the operating system takes processors away, for the causes that the machine has; true if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        noise: Option<Param<bool>>;
    }
}

section! {
    /// Groups of processes in Elanlib, and what they do together.
    Group = "group" => GroupConfig {
        /// Most children of a process in the tree of the collective calls.
        branching: Param<u32>, in 1..=64 => branching;
        /// Cycles in which a thread sets up the packet of a hardware barrier, beside those of handing it over.
        broadcast: Param<u32>, in 0..=1 << 20 => broadcast;
    }
}

section! {
    /// Tports, the tagged messages of Elanlib: the work of their thread on the adapter, and the bounds of their buffers.
    Tport = "tport" => TportConfig {
        /// Who matches the tags of messages and moves their bytes; the adapter if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matching: Option<Param<Matching>> => matching or Matching::Adapter;
        /// Cycles of the thread processor in which the thread takes up an envelope or a posted receive, and answers it.
        handle: Param<u32>, in 0..=1 << 20 => handle;
        /// Cycles in which the thread compares an envelope with a posted receive.
        scan: Param<u32>, in 0..=1 << 20 => scan;
        /// Messages up to this length travel with their envelope of 32 bytes, as far as one packet holds both.
        small: Param<Bytes>, in Bytes::ZERO..=LARGEST_SMALL => small;
        /// Longer messages than this are never buffered: they wait at the sender for their receive.
        big: Param<Bytes>, in Bytes::ZERO..=LARGEST => big;
        /// Slots of the queue of envelopes.
        slots: Param<u32>, in 1..=1 << 16 => slots;
        /// Adapter memory of a process for small messages that nobody has asked for yet, shared out among the senders; each
        /// may have at least one there.
        buffer: Param<Bytes>, in Bytes::ZERO..=LARGEST => buffer;
        /// Main memory of a process for longer ones, and for those that are received into buffers of the system.
        system: Param<Bytes>, in Bytes::ZERO..=LARGEST => system;
    }
}

/// How the fabric is computed; no physics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// What moves the flits. Both engines make the same motion in every cycle.
    pub engine: Engine,
}
