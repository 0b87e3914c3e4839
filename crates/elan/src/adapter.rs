//! # The adapter, part by part (petrini2003 s2.1, figure 1)
//!
//! | part | what it does |
//! |---|---|
//! | [`bus`], `bus_interface` | moves everything between host and adapter, burst by burst |
//! | [`command_processor`] | takes the commands of processes |
//! | [`mmu`] | translates and protects the memory of each process |
//! | [`dma_engine`] | works through the queue of DMA descriptors, packet by packet; an Elan4 has several |
//! | [`sten`] | sends short messages without descriptors; a part of an Elan4 |
//! | [`inputter`] | stores and answers what comes from the network; [`queue`]s of small messages |
//! | [`event_unit`] | counts the occurrences of events, and starts the events' actions |
//! | [`recovery`] | packets that faults damage or lose: sends them again, knows repetitions, tells errors |
//! | `thread_processor` | runs the libraries' threads, one at a time, which send packets of transactions ([`thread_packets`]) |
//!
//! Each part owns its state. A part is told what happens, and has the [`Wires`] to everything beyond itself: the network,
//! the bus, the clock, the memory of all processes. A part returns what another part of its adapter must do, and the router
//! (`cluster::world::route`) tells that other part. The parts that all generations share are always there; a list in the
//! machine file says which further parts an adapter has ([`Part`](crate::Part)). To add a part: write its file, name it here and in the
//! router, and read its parameters from the machine file.

pub mod bus;
pub mod bus_interface;
pub mod command_processor;
pub mod dma_engine;
pub mod event_unit;
pub mod gets;
pub mod inputter;
pub mod mmu;
pub(crate) mod packets;
pub mod queue;
pub mod recovery;
pub mod sten;
pub mod thread_packets;
pub(crate) mod thread_processor;

use crate::config::Config;
use crate::faults;
use crate::in_flight::{DmaId, InFlight, PacketNumber, Token};
use crate::memory::{Address, Fault, QueueNumber};
use crate::{Place, Rail};
use bus::Direction;
use bus_interface::BusInterface;
use command_processor::Command;
use derive::Identifier;
use event_unit::Occurrence;
use fabric::{Ack, Cycle, Fabric, PacketId, PacketSpec};
use kernel::{EventQueue, Signal};
use mmu::shared::Memory;
use units::Time;

/// Number of a DMA engine of an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct EngineNumber(u32);

/// What is due at a time, at an adapter.
#[derive(Clone, Debug)]
pub(crate) enum Due {
    /// A burst on the adapter's bus ends.
    BurstEnds(Place, Direction),
    /// A command has crossed the bus.
    Commanded(Place, Command),
    /// The command processor is done with a command.
    Executed(Place, Command),
    /// The inputter is done with the request of a get.
    Announced(Place, DmaId),
    /// A DMA engine has taken up its next descriptor.
    Started(Place, EngineNumber),
    /// The short transaction engine has taken up a command.
    Issued(Place, DmaId),
    /// A request to read a packet's payload has crossed the bus.
    Asked(Place, PacketNumber),
    /// Main memory has the payload ready for the bus.
    Found(Place, PacketNumber),
    /// A packet's payload has been read from main memory.
    Read(Place, PacketNumber),
    /// A packet's payload has been written to main memory.
    Written(Place, PacketNumber),
    /// A refused packet goes out again.
    Retried(Place, Token),
    /// A message is in a queue.
    Queued(Place, QueueNumber),
    /// An [`Occurrence`] happens.
    Occurred(Occurrence),
    /// The block of an occurrence is in main memory.
    Copied(Occurrence),
    /// The process has seen the block of an occurrence.
    Seen(Occurrence),
    /// A rail fails, or works again.
    Fails(Rail),
    Returns(Rail),
    /// A part fails or is repaired, or the sources learn of it.
    Fault(faults::Event),
    /// A process has slept enough.
    Wake(Signal),
}

// Every `Due` is moved often.
const _: () = assert!(size_of::<Due>() <= 16);

/// What the parts of one adapter reach beyond themselves, while something happens to them.
pub(crate) struct Wires<'a> {
    pub node: Place,
    pub now: Time,
    pub config: &'a Config,
    pub memory: &'a mut Memory,
    pub flight: &'a mut InFlight,
    pub interface: &'a mut BusInterface,
    pub fabric: &'a mut Fabric,
    pub agenda: &'a mut EventQueue<Due>,
}

impl Wires<'_> {
    /// Something happens at a time.
    pub fn schedule(&mut self, at: Time, due: Due) {
        self.agenda.schedule(at, self.node.get().into(), due);
    }

    /// Hands a packet to the network.
    pub fn offer(&mut self, spec: PacketSpec) {
        let cycle = self.cycle_from(self.now);
        self.fabric.offer(cycle, spec);
    }

    /// Sends an acknowledgement, a turnaround from now.
    pub fn answer(&mut self, packet: PacketId, ack: Ack) {
        let cycle = self.cycle_from(self.now + self.config.adapter.turnaround);
        self.fabric.acknowledge(cycle, packet, ack);
    }

    /// Keeps an error that nobody awaits for the process at an address.
    pub fn trap(&mut self, at: Address, fault: Fault) {
        self.memory.trap(self.node, at.context, fault.into());
    }

    /// Moment from which the network can act on something that happens at a given time.
    fn cycle_from(&self, at: Time) -> Cycle {
        at.div_ceil(self.config.cycle)
    }
}
