//! The router. It tells each part of an adapter what happens to that part, in the network or at a time, and passes on what
//! one part asks of another.

use super::World;
use crate::adapter::Due;
use crate::adapter::bus::Direction;
use crate::adapter::command_processor::{COMMAND, Command, CommandProcessor};
use crate::adapter::dma_engine::DmaEngine;
use crate::adapter::event_unit::{Action, EventUnit, Occurrence};
use crate::adapter::inputter::Inputter;
use crate::adapter::sten::Sten;
use crate::adapter::thread_processor::ThreadProcessor;
use crate::config::Config;
use crate::dma::Dma;
use crate::in_flight::{DmaId, Progress, Report, Token};
use crate::memory::{Address, EVENT_BLOCK, EventId};
use crate::{NodeId, Place, Rail};
use fabric::{Notice, PacketId};
use kernel::Signal;
use units::Bytes;

/// The parts of one adapter.
pub(crate) struct Adapter {
    pub commands: CommandProcessor,
    pub engine: DmaEngine,
    /// The short transaction engine, where the machine has one.
    pub sten: Option<Sten>,
    pub inputter: Inputter,
    pub processor: ThreadProcessor,
    pub events: EventUnit,
    pub rail: RailState,
    /// Whether the adapter itself has died, and executes nothing.
    pub is_dead: bool,
}

/// What an adapter knows of its rail.
pub(crate) struct RailState {
    pub is_down: bool,
    /// Whether the rail as a whole is down, and not only the adapter.
    pub whole: bool,
    /// How often the rail has failed.
    pub failures: u32,
    /// Set while the rail is down, and while it works.
    pub down: Signal,
    pub up: Signal,
}

impl RailState {
    /// A rail that works.
    fn new() -> Self {
        RailState {
            is_down: false,
            whole: false,
            failures: 0,
            down: Signal::new(),
            up: Signal::counted(0),
        }
    }

    /// The rail fails, unless it is down.
    pub fn fail(&mut self) {
        if self.is_down {
            return;
        }
        self.is_down = true;
        self.failures += 1;
        // A signal that has been set once is set by one firing.
        self.up = Signal::new();
        self.down.fire();
    }

    /// The rail works again, unless it does.
    pub fn repair(&mut self) {
        if !self.is_down {
            return;
        }
        self.is_down = false;
        self.down.reset();
        self.up.fire();
    }
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
}

impl World {
    /// Routes what the network says.
    #[inline]
    pub(super) fn hear(&mut self) {
        let mut notices = std::mem::take(&mut self.notices);
        for notice in &notices {
            match *notice {
                Notice::Injected(spec) => self.run_engine(spec.source),
                Notice::Delivered(packet, node, spec) => {
                    if spec.awaits_end {
                        self.flight.expect_end(spec.token.into());
                    }
                    self.arrived(node, packet, spec.token.into());
                }
                Notice::Damaged(packet, node, spec) => {
                    if spec.awaits_end {
                        self.flight.expect_end(spec.token.into());
                    }
                    self.wires(node).damaged(packet);
                }
                Notice::Ended {
                    node, good, spec, ..
                } => {
                    let (adapter, mut wires) = self.at(node);
                    adapter.inputter.ended(&mut wires, spec.token.into(), good);
                }
                Notice::Acknowledged(record, spec) => {
                    self.packets_done += 1;
                    let (source, first) = (spec.source, spec.destination.first());
                    let path = u64::from(source.get()) << 32 | u64::from(first.get());
                    let form = u64::from(spec.flits) << 32 | u64::from(record.links);
                    self.digest.u64s([
                        path,
                        form,
                        record.sequence.into(),
                        record.offered,
                        record.injected,
                        record.delivered,
                        record.acknowledged,
                    ]);
                    let (adapter, mut wires) = self.at(source);
                    match spec.token.into() {
                        Token::Thread(token) => wires.thread_packet_answered(token, record.ack),
                        Token::Dma(token) => {
                            let over = adapter.engine.answered(&mut wires, token, record.ack);
                            self.release(source, over);
                        }
                    }
                    self.run_engine(source);
                }
            }
        }
        notices.clear();
        self.notices = notices;
    }

    /// The last flit of a packet has arrived.
    #[inline]
    fn arrived(&mut self, node: Place, packet: PacketId, token: Token) {
        let (adapter, mut wires) = self.at(node);
        match token {
            _ if adapter.rail.is_down || wires.flight.is_lost(token) => {
                Inputter::lost(&mut wires, packet, token);
            }
            Token::Thread(token) => {
                let inputter = &mut adapter.inputter;
                inputter.thread_packet_arrived(&mut wires, packet, token);
            }
            Token::Dma(token) => {
                if adapter.inputter.arrived(&mut wires, packet, token) {
                    let refusing = adapter.inputter.is_refusing();
                    let engine = &mut adapter.engine;
                    engine.requested(&mut wires, refusing, packet, token);
                }
            }
        }
    }

    /// Routes what is due.
    #[inline]
    pub(super) fn route(&mut self, mut due: Due) {
        if let Due::BurstEnds(node, direction) = due {
            let Some(done) = self.wires(node).end_burst(direction) else {
                return;
            };
            due = done;
        }
        match due {
            Due::BurstEnds(..) => unreachable!("no transfer is for a burst"),
            Due::Commanded(node, command) => {
                let at = self.now + self.config.adapter.command;
                self.schedule(at, node, Due::Executed(node, command));
            }
            Due::Executed(node, command) => self.execute(node, command),
            Due::Announced(node, dma) => {
                let dead = self.is_dead(node);
                let (adapter, mut wires) = self.at(node);
                if adapter.engine.announced(&mut wires, dma) {
                    if dead {
                        wires.end_by_death(dma);
                    } else {
                        self.line_up(node, dma);
                    }
                }
            }
            Due::Started(node, number) => {
                self.adapters[node].engine.started(number);
                self.run_engine(node);
            }
            Due::Issued(node, dma) => {
                let (adapter, mut wires) = self.at(node);
                let sten = adapter.sten.as_mut();
                let over = sten.and_then(|sten| sten.issue(&mut wires, dma));
                self.release(node, over);
                self.run_sten(node);
            }
            Due::Asked(node, token) => self.wires(node).asked(token),
            Due::Found(node, token) => self.wires(node).found(token),
            Due::Read(node, token) => {
                let mut wires = self.wires(node);
                wires.end_read();
                let over = wires.send_read(token);
                self.release(node, over);
                self.run_engine(node);
            }
            Due::Written(node, token) => {
                let (adapter, mut wires) = self.at(node);
                adapter.inputter.written(&mut wires, token);
            }
            Due::Retried(node, token) => {
                let mut wires = self.wires(node);
                match token {
                    Token::Thread(token) => wires.offer_thread_packet(token),
                    Token::Dma(token) => {
                        let over = wires.send_again(token);
                        self.release(node, over);
                        self.run_engine(node);
                    }
                }
            }
            Due::Queued(node, queue) => {
                if let Some(event) = self.adapters[node].inputter.queue(queue).arrive() {
                    self.event_occurs(event);
                }
            }
            Due::Occurred(occurrence) => self.occur(occurrence),
            Due::Copied(occurrence) => self.copied(occurrence),
            Due::Seen(occurrence) => self.seen(occurrence),
            Due::Fails(rail) => self.fail(rail),
            Due::Returns(rail) => self.repair(rail),
            Due::Fault(event) => self.fault(event),
            Due::Wake(signal) => self.wake(signal),
        }
    }

    /// A rail fails, unless it is down: its packets under way get lost.
    pub(super) fn fail(&mut self, rail: Rail) {
        let topology = self.fabric.topology();
        let places = NodeId::all(topology.nodes()).map(|node| topology.place(rail, node));
        let (first, last) = (places.clone().next(), places.clone().next_back());
        if first.is_none_or(|first| self.adapters[first].rail.whole) {
            return;
        }
        for place in places {
            let state = &mut self.adapters[place].rail;
            state.whole = true;
            state.fail();
        }
        let here = |place: Place| Some(place) >= first && Some(place) <= last;
        self.flight.lose(here);
    }

    /// A rail works again, unless it does. Adapters that have died stay as they are.
    pub(super) fn repair(&mut self, rail: Rail) {
        let topology = self.fabric.topology();
        for node in NodeId::all(topology.nodes()) {
            let adapter = &mut self.adapters[topology.place(rail, node)];
            adapter.rail.whole = false;
            if !adapter.is_dead {
                adapter.rail.repair();
            }
        }
    }

    /// Wakes who waits for a signal, which will not be fired again.
    fn wake(&mut self, signal: Signal) {
        signal.fire();
        self.spares.keep(signal);
    }

    /// The host stores a command: it crosses the bus, then the command processor works on it.
    pub fn post(&mut self, node: Place, command: Command) {
        self.post_with(node, command, Bytes::ZERO);
    }

    /// Stores a command with bytes for the part that works on it.
    pub fn post_with(&mut self, node: Place, command: Command, bytes: Bytes) {
        let commanded = Due::Commanded(node, command);
        let mut wires = self.wires(node);
        wires.transfer(Direction::ToAdapter, COMMAND + bytes, commanded);
    }

    /// The command processor is done with a command.
    fn execute(&mut self, node: Place, command: Command) {
        match command {
            Command::Dma(dma) => self.enqueue(node, dma),
            Command::Set(index) => self.occur_soon(EventId { node, index }),
            Command::Insert => {
                let (adapter, mut wires) = self.at(node);
                let (queue, message) = adapter.commands.insert();
                let room = adapter.inputter.queue(queue).has_room();
                assert!(room, "the queue was made with too few slots");
                adapter.inputter.enqueue(&mut wires, queue, message);
            }
            Command::Run => {
                let thread = self.adapters[node].commands.run();
                self.wake(thread);
            }
        }
    }

    /// A descriptor is for the DMA queue of an adapter.
    pub fn enqueue(&mut self, node: Place, id: DmaId) {
        let (adapter, mut wires) = self.at(node);
        if adapter.engine.accept(&mut wires, adapter.rail.is_down, id) {
            self.line_up(node, id);
        }
    }

    /// A descriptor may go: it waits for an engine of its kind.
    #[inline]
    fn line_up(&mut self, node: Place, id: DmaId) {
        let adapter = &mut self.adapters[node];
        if self.flight.dma(id).dma.short
            && let Some(sten) = &mut adapter.sten
        {
            sten.push(id);
            self.run_sten(node);
        } else {
            adapter.engine.push(id);
            self.run_engine(node);
        }
    }

    /// If a message to a queue is over, the next message to this queue may go.
    #[inline]
    fn release(&mut self, node: Place, over: Option<Address>) {
        if let Some(queue) = over
            && let Some(next) = self.adapters[node].engine.release(queue)
        {
            self.line_up(node, next);
        }
    }

    /// Lets the DMA engine do what it can.
    #[inline]
    fn run_engine(&mut self, node: Place) {
        while self.adapters[node].engine.is_busy() {
            let (adapter, mut wires) = self.at(node);
            let over = adapter.engine.run(&mut wires);
            if over.is_none() {
                return;
            }
            self.release(node, over);
        }
    }

    /// Lets the STEN do what it can, where the adapter has one.
    fn run_sten(&mut self, node: Place) {
        let (adapter, mut wires) = self.at(node);
        if let Some(sten) = &mut adapter.sten {
            sten.run(&mut wires);
        }
    }

    /// Something has occurred. What this completes starts its action; occurrences of an event that is set already or has
    /// been freed do not count.
    fn occur(&mut self, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Event(id) => self.event_occurs(id),
            Occurrence::Block(..) => unreachable!("the copy of a block is no occurrence"),
            Occurrence::Completed(node, id) => {
                let progress = self.flight.dma(id);
                let (report, context) = (progress.report, progress.context);
                let failed = progress.failed;
                if failed.is_none()
                    && let Some(event) = progress.dma.done
                {
                    self.event_occurs(event);
                }
                if let (Report::Nobody, Some(error)) = (report, failed) {
                    self.memory.trap(node, context, error);
                }
                match report {
                    Report::Host => self.copy(occurrence),
                    Report::Thread | Report::Nobody => self.seen(occurrence),
                }
            }
        }
    }

    fn event_occurs(&mut self, id: EventId) {
        let at = self.memory.event_address(id);
        let events = &mut self.adapters[id.node].events;
        let (Some((action, round)), Some(at)) = (events.occur(id.index, at.is_none()), at) else {
            return;
        };
        match *action {
            Action::None => {}
            Action::Copy => self.copy(Occurrence::Block(id, round)),
            Action::Set(other) => self.occur_soon(other),
            Action::Dma(dma) => self.start_chained(at, dma),
        }
    }

    /// Starts a DMA that an event of a process posts, without the command port.
    fn start_chained(&mut self, process: Address, dma: Dma) {
        if let Some(capability) = self.memory.capability(process) {
            let owner = (process.node, process.context);
            let progress = Progress::new(dma, owner, capability, Report::Nobody);
            let id = self.flight.add_dma(progress);
            self.enqueue(process.node, id);
        }
    }

    /// Lets an event occur after the time that setting it takes.
    pub fn occur_soon(&mut self, event: EventId) {
        let at = self.now + self.config.adapter.event;
        let occurred = Due::Occurred(Occurrence::Event(event));
        self.schedule(at, event.node, occurred);
    }

    /// Copies a block to main memory.
    fn copy(&mut self, occurrence: Occurrence) {
        let mut wires = self.wires(occurrence.node());
        wires.transfer(Direction::ToMain, EVENT_BLOCK, Due::Copied(occurrence));
    }

    /// The block is in main memory: a polling process sees it at its next poll; the operating system wakes blocking ones.
    fn copied(&mut self, occurrence: Occurrence) {
        let (adapter, mut wires) = self.at(occurrence.node());
        let config = &wires.config.adapter;
        let (seen, woken) = (wires.now + config.poll, wires.now + config.interrupt);
        wires.schedule(seen, Due::Seen(occurrence));
        if let Occurrence::Block(id, round) = occurrence {
            for signal in adapter.events.copied(id.index, round) {
                wires.schedule(woken, Due::Wake(signal));
            }
        }
    }

    /// The process has seen the block.
    fn seen(&mut self, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Event(_) => unreachable!("a process sees the copy of a block"),
            Occurrence::Block(id, round) => self.adapters[id.node].events.seen(id.index, round),
            Occurrence::Completed(_, id) => {
                self.flight.dma_mut(id).tell();
                self.flight.drop_dma_if_over(self.now, id);
            }
        }
    }
}
