//! # The adapter, part by part (petrini2003 s2.1, figure 1)
//!
//! | part | task |
//! |---|---|
//! | [`bus`], `bus_interface` | moves everything between host and adapter, burst by burst |
//! | [`command_processor`] | takes the processes' commands |
//! | [`mmu`] | translates and protects each process's memory |
//! | [`dma_engine`] | works through the DMA descriptor queue, packet by packet; an Elan4 has several |
//! | [`sten`] | sends short messages without descriptors; a part of an Elan4 |
//! | [`inputter`] | stores and answers packets from the network; [`queue`]s for small messages |
//! | [`event_unit`] | counts the occurrences of events, and starts the events' actions |
//! | [`recovery`] | packets that faults damage or lose: sends them again, recognises repetitions, reports errors |
//! | `thread_processor` | runs the libraries' threads, one at a time, which send transaction packets ([`thread_packets`]) |
//!
//! Each part owns its state. A part receives events, and has the [`Wires`] to everything beyond
//! itself: the network, the bus, the clock, all processes' memory. A part returns requests to other
//! parts of its adapter, and the [`Adapter`] passes them on. The parts that all generations share
//! are always there; a list in the machine file names the adapter's further parts
//! ([`AdapterPart`](crate::AdapterPart)). To add a part: write its file, name it here with its
//! routing, and read its parameters from the machine file.

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
mod rail;
pub mod recovery;
pub mod sten;
pub mod thread_packets;
pub(crate) mod thread_processor;

use crate::config::Config;
use crate::dma::Dma;
use crate::faults;
use crate::in_flight::{DmaId, FlightTables, PacketNumber, Progress, Report, Token};
use crate::memory::{AccessFault, Address, EVENT_BLOCK, EventId, QueueNumber};
use crate::{Place, Rail};
use bus::Direction;
use bus_interface::BusInterface;
use command_processor::{Command, CommandProcessor};
use derive::Identifier;
use dma_engine::DmaEngine;
use event_unit::{Action, EventUnit, Occurrence};
use fabric::{Ack, Cycle, Fabric, PacketId, PacketSpec};
use inputter::Inputter;
use kernel::{EventQueue, Signal};
use mmu::shared::Memory;
use rail::RailState;
use sten::Sten;
use thread_processor::ThreadProcessor;
use units::Time;

/// Number of a DMA engine within its adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct EngineNumber(u32);

/// An event at an adapter that is due at a time.
#[derive(Clone, Debug)]
pub(crate) enum AdapterEvent {
    /// A burst on the adapter's bus ends.
    BurstEnds(Place, Direction),
    /// A command has crossed the bus.
    Commanded(Place, Command),
    /// The command processor is done with a command.
    Executed(Place, Command),
    /// The inputter is done with the get request.
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
    /// An occurrence's block is in main memory.
    Copied(Occurrence),
    /// The process has seen an occurrence's block.
    Seen(Occurrence),
    /// Something beyond a single adapter is due.
    Beyond(ClusterEvent),
}

/// An event beyond a single adapter that is due.
#[derive(Clone, Debug)]
pub(crate) enum ClusterEvent {
    /// A rail fails, or works again.
    Fails(Rail),
    Returns(Rail),
    /// A part fails or is repaired, or the sources notice it.
    Fault(faults::Event),
    /// A process continues: it has slept enough, or its transfer has ended.
    Wake(Signal),
}

// Every `AdapterEvent` is moved often.
const _: () = assert!(size_of::<AdapterEvent>() <= 16);

impl AdapterEvent {
    /// The adapter at which it is due; `None` beyond a single one.
    #[inline]
    pub fn place(&self) -> Option<Place> {
        Some(match *self {
            AdapterEvent::BurstEnds(node, _)
            | AdapterEvent::Commanded(node, _)
            | AdapterEvent::Executed(node, _)
            | AdapterEvent::Announced(node, _)
            | AdapterEvent::Started(node, _)
            | AdapterEvent::Issued(node, _)
            | AdapterEvent::Asked(node, _)
            | AdapterEvent::Found(node, _)
            | AdapterEvent::Read(node, _)
            | AdapterEvent::Written(node, _)
            | AdapterEvent::Retried(node, _)
            | AdapterEvent::Queued(node, _) => node,
            AdapterEvent::Occurred(occurrence)
            | AdapterEvent::Copied(occurrence)
            | AdapterEvent::Seen(occurrence) => occurrence.node(),
            AdapterEvent::Beyond(_) => return None,
        })
    }
}

/// A part's reach beyond its adapter while it handles an event.
pub(crate) struct Wires<'a> {
    pub node: Place,
    pub now: Time,
    pub config: &'a Config,
    pub memory: &'a mut Memory,
    pub flight: &'a mut FlightTables,
    pub interface: &'a mut BusInterface,
    pub fabric: &'a mut Fabric,
    pub agenda: &'a mut EventQueue<AdapterEvent>,
}

impl Wires<'_> {
    /// Something happens at a time.
    pub fn schedule(&mut self, at: Time, due: AdapterEvent) {
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

    /// Lets an event occur after the time that setting it takes.
    pub fn occur_soon(&mut self, event: EventId) {
        let at = self.now + self.config.adapter.event;
        let occurred = AdapterEvent::Occurred(Occurrence::Event(event));
        self.agenda.schedule(at, event.node.get().into(), occurred);
    }

    /// Keeps an error without a waiter, for the process at an address.
    pub fn trap(&mut self, at: Address, fault: AccessFault) {
        self.memory.trap(self.node, at.context, fault.into());
    }

    /// Moment from which the network can act on something that happens at a given time.
    fn cycle_from(&self, at: Time) -> Cycle {
        at.div_ceil(self.config.cycle)
    }
}

/// One adapter's parts.
pub(crate) struct Adapter {
    pub commands: CommandProcessor,
    pub engine: DmaEngine,
    /// The short transaction engine, where the machine has one.
    pub sten: Option<Sten>,
    pub inputter: Inputter,
    pub processor: ThreadProcessor,
    pub events: EventUnit,
    pub rail: RailState,
    /// Whether the adapter itself has died, and no longer works.
    pub is_dead: bool,
}

impl Adapter {
    pub fn new(config: &Config) -> Self {
        Adapter {
            commands: CommandProcessor::default(),
            engine: DmaEngine::new(&config.parts),
            sten: Sten::new(&config.parts),
            inputter: Inputter::default(),
            processor: ThreadProcessor::default(),
            events: EventUnit::default(),
            rail: RailState::new(),
            is_dead: false,
        }
    }

    /// Lets the parts handle a due event; returns the event that is due beyond the adapter.
    #[inline]
    pub fn happens(
        &mut self,
        wires: &mut Wires<'_>,
        mut due: AdapterEvent,
    ) -> Option<ClusterEvent> {
        if let AdapterEvent::BurstEnds(_, direction) = due {
            due = wires.end_burst(direction)?;
        }
        match due {
            AdapterEvent::BurstEnds(..) => unreachable!("no transfer is for a burst"),
            AdapterEvent::Commanded(node, command) => {
                let at = wires.now + wires.config.adapter.command;
                wires.schedule(at, AdapterEvent::Executed(node, command));
            }
            AdapterEvent::Executed(_, command) => return self.execute(wires, command),
            AdapterEvent::Announced(_, dma) => {
                if self.engine.announced(wires, dma) {
                    if self.is_dead {
                        wires.end_by_death(dma);
                    } else {
                        self.line_up(wires, dma);
                    }
                }
            }
            AdapterEvent::Started(_, number) => {
                self.engine.started(number);
                self.run_engine(wires);
            }
            AdapterEvent::Issued(_, dma) => {
                let sten = self.sten.as_mut();
                let over = sten.and_then(|sten| sten.issue(wires, dma));
                self.release(wires, over);
                self.run_sten(wires);
            }
            AdapterEvent::Asked(_, token) => wires.asked(token),
            AdapterEvent::Found(_, token) => wires.found(token),
            AdapterEvent::Read(_, token) => {
                wires.end_read();
                let over = wires.send_read(token);
                self.release(wires, over);
                self.run_engine(wires);
            }
            AdapterEvent::Written(_, token) => self.inputter.written(wires, token),
            AdapterEvent::Retried(_, Token::Thread(token)) => wires.offer_thread_packet(token),
            AdapterEvent::Retried(_, Token::Dma(token)) => {
                let over = wires.send_again(token);
                self.release(wires, over);
                self.run_engine(wires);
            }
            AdapterEvent::Queued(_, queue) => {
                if let Some(event) = self.inputter.queue(queue).arrive() {
                    self.event_occurs(wires, event);
                }
            }
            AdapterEvent::Occurred(occurrence) => self.occur(wires, occurrence),
            AdapterEvent::Copied(occurrence) => self.copied(wires, occurrence),
            AdapterEvent::Seen(occurrence) => self.seen(wires, occurrence),
            AdapterEvent::Beyond(beyond) => return Some(beyond),
        }
        None
    }

    /// A packet's last flit has arrived.
    #[inline]
    pub fn arrived(&mut self, wires: &mut Wires<'_>, packet: PacketId, token: Token) {
        match token {
            _ if self.rail.is_down || wires.flight.is_lost(token) => {
                Inputter::lost(wires, packet, token);
            }
            Token::Thread(token) => self.inputter.thread_packet_arrived(wires, packet, token),
            Token::Dma(token) => {
                if self.inputter.arrived(wires, packet, token) {
                    let refusing = self.inputter.is_refusing();
                    self.engine.requested(wires, refusing, packet, token);
                }
            }
        }
    }

    /// One of the adapter's packets has been answered.
    #[inline]
    pub fn answered(&mut self, wires: &mut Wires<'_>, token: Token, ack: Ack) {
        match token {
            Token::Thread(token) => wires.thread_packet_answered(token, ack),
            Token::Dma(token) => {
                let over = self.engine.answered(wires, token, ack);
                self.release(wires, over);
            }
        }
        self.run_engine(wires);
    }

    /// The command processor is done with a command.
    fn execute(&mut self, wires: &mut Wires<'_>, command: Command) -> Option<ClusterEvent> {
        match command {
            Command::Dma(dma) => self.enqueue(wires, dma),
            Command::Set(index) => {
                let node = wires.node;
                wires.occur_soon(EventId { node, index });
            }
            Command::Insert => {
                let (queue, message) = self.commands.insert();
                let room = self.inputter.queue(queue).has_room();
                assert!(room, "the queue was made with too few slots");
                self.inputter.enqueue(wires, queue, message);
            }
            Command::Run => return Some(ClusterEvent::Wake(self.commands.run())),
        }
        None
    }

    /// A descriptor is for the DMA queue.
    pub fn enqueue(&mut self, wires: &mut Wires<'_>, id: DmaId) {
        if self.engine.accept(wires, self.rail.is_down, id) {
            self.line_up(wires, id);
        }
    }

    /// A descriptor may go: it waits for a suitable engine.
    #[inline]
    fn line_up(&mut self, wires: &mut Wires<'_>, id: DmaId) {
        if wires.flight.dma(id).dma.short
            && let Some(sten) = &mut self.sten
        {
            sten.push(id);
            sten.run(wires);
        } else {
            self.engine.push(id);
            self.run_engine(wires);
        }
    }

    /// If a message to a queue is over, the next message to this queue may go.
    #[inline]
    fn release(&mut self, wires: &mut Wires<'_>, over: Option<Address>) {
        if let Some(queue) = over
            && let Some(next) = self.engine.release(queue)
        {
            self.line_up(wires, next);
        }
    }

    /// Runs the DMA engine as far as it gets.
    #[inline]
    pub fn run_engine(&mut self, wires: &mut Wires<'_>) {
        while self.engine.is_busy() {
            let over = self.engine.run(wires);
            if over.is_none() {
                return;
            }
            self.release(wires, over);
        }
    }

    /// Runs the STEN, if the adapter has one, as far as it gets.
    fn run_sten(&mut self, wires: &mut Wires<'_>) {
        if let Some(sten) = &mut self.sten {
            sten.run(wires);
        }
    }

    /// Something has occurred. An event that is now complete starts its action; occurrences of an
    /// event that is set already or has been freed do not count.
    fn occur(&mut self, wires: &mut Wires<'_>, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Event(id) => self.event_occurs(wires, id),
            Occurrence::Block(..) => unreachable!("the copy of a block is no occurrence"),
            Occurrence::Completed(node, id) => {
                let progress = wires.flight.dma(id);
                let (report, context) = (progress.report, progress.context);
                let failed = progress.failed;
                if failed.is_none()
                    && let Some(event) = progress.dma.done
                {
                    self.event_occurs(wires, event);
                }
                if let (Report::Nobody, Some(error)) = (report, failed) {
                    wires.memory.trap(node, context, error);
                }
                match report {
                    Report::Host => copy(wires, occurrence),
                    Report::Thread | Report::Nobody => self.seen(wires, occurrence),
                }
            }
        }
    }

    fn event_occurs(&mut self, wires: &mut Wires<'_>, id: EventId) {
        debug_assert_eq!(id.node, wires.node, "an event of another adapter");
        let at = wires.memory.event_address(id);
        let occurred = self.events.occur(id.index, at.is_none());
        let (Some((action, round)), Some(at)) = (occurred, at) else {
            return;
        };
        match *action {
            Action::None => {}
            Action::Copy => copy(wires, Occurrence::Block(id, round)),
            Action::Set(other) => wires.occur_soon(other),
            Action::Dma(dma) => self.start_chained(wires, at, dma),
        }
    }

    /// Starts a DMA that a process's event posts, without the command port.
    fn start_chained(&mut self, wires: &mut Wires<'_>, process: Address, dma: Dma) {
        if let Some(capability) = wires.memory.capability(process) {
            let owner = (process.node, process.context);
            let progress = Progress::new(dma, owner, capability, Report::Nobody);
            let id = wires.flight.add_dma(progress);
            self.enqueue(wires, id);
        }
    }

    /// The block is in main memory: a polling process sees it at its next poll; the operating
    /// system wakes blocking ones.
    fn copied(&mut self, wires: &mut Wires<'_>, occurrence: Occurrence) {
        let config = &wires.config.adapter;
        let (seen, woken) = (wires.now + config.poll, wires.now + config.interrupt);
        wires.schedule(seen, AdapterEvent::Seen(occurrence));
        if let Occurrence::Block(id, round) = occurrence {
            for signal in self.events.copied(id.index, round) {
                wires.schedule(woken, AdapterEvent::Beyond(ClusterEvent::Wake(signal)));
            }
        }
    }

    /// The process has seen the block.
    fn seen(&mut self, wires: &mut Wires<'_>, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Event(_) => unreachable!("a process sees the copy of a block"),
            Occurrence::Block(id, round) => self.events.seen(id.index, round),
            Occurrence::Completed(_, id) => {
                wires.flight.dma_mut(id).tell();
                wires.flight.drop_dma_if_over(wires.now, id);
            }
        }
    }
}

/// Copies a block to main memory.
fn copy(wires: &mut Wires<'_>, occurrence: Occurrence) {
    wires.transfer(
        Direction::ToMain,
        EVENT_BLOCK,
        AdapterEvent::Copied(occurrence),
    );
}
