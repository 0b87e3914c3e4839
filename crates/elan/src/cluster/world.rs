//! The router: what happens, to the network or at a time, is told to the part of the adapter that it concerns, and what that
//! part wants of another one, to that one.

use crate::adapter::bus::Direction;
use crate::adapter::bus_interface::BusInterface;
use crate::adapter::command_processor::{COMMAND, Command, CommandProcessor, Order};
use crate::adapter::dma_engine::DmaEngine;
use crate::adapter::event_unit::{Action, Event, EventUnit, Occurrence};
use crate::adapter::inputter::Inputter;
use crate::adapter::mmu::shared::Memory;
use crate::adapter::queue::{Queue, QueueId};
use crate::adapter::sten::Sten;
use crate::adapter::thread_processor::ThreadProcessor;
use crate::adapter::{Due, Wires};
use crate::config::Config;
use crate::dma::Dma;
use crate::in_flight::{DmaId, InFlight, Progress, Report, Stage, Token, is_by_thread};
use crate::memory::{Address, EVENT_BLOCK, EventId, PerNode};
use fabric::{Cycle, Fabric, LinkCounters, LinkId, NodeId, Notice, PacketId};
use kernel::{Digest, EventQueue, Signal, Spawner};
use units::{Bytes, Time};

/// The parts of one adapter.
pub(crate) struct Adapter {
    pub commands: CommandProcessor,
    pub engine: DmaEngine,
    /// Where the machine has one.
    pub sten: Option<Sten>,
    pub inputter: Inputter,
    pub processor: ThreadProcessor,
    pub events: EventUnit,
    /// Set when its rail has failed.
    pub down: Signal,
}

impl Adapter {
    fn new(config: &Config) -> Self {
        Adapter {
            commands: CommandProcessor::default(),
            engine: DmaEngine::new(&config.parts),
            sten: Sten::new(&config.parts),
            inputter: Inputter::default(),
            processor: ThreadProcessor::default(),
            events: EventUnit::default(),
            down: Signal::new(),
        }
    }
}

/// Everything that is simulated but the processes.
pub(crate) struct World {
    config: Config,
    fabric: Fabric,
    adapters: PerNode<Adapter>,
    /// Their bus interfaces, which all parts use.
    interfaces: PerNode<BusInterface>,
    memory: Memory,
    flight: InFlight,
    spawner: Spawner,
    /// Seed of the random streams of the hosts.
    pub seed: u64,
    digest: Digest,
    packets_done: u64,
    agenda: EventQueue<Due>,
    now: Time,
    notices: Vec<Notice>,
}

impl World {
    pub fn new(config: Config, spawner: Spawner) -> Self {
        let fabric = Fabric::new(config.fabric.clone());
        let tree = fabric.tree();
        let places = tree.place(tree.rails() - 1, tree.nodes() - 1) + 1;
        World {
            adapters: (0..places).map(|_| Adapter::new(&config)).collect(),
            interfaces: (0..places).map(|_| BusInterface::new(&config)).collect(),
            memory: Memory::new(places, config.adapter.memory),
            flight: InFlight::new(places),
            fabric,
            config,
            spawner,
            seed: 0,
            digest: Digest::new(),
            packets_done: 0,
            agenda: EventQueue::new(),
            now: Time::ZERO,
            notices: Vec::new(),
        }
    }

    pub fn now(&self) -> Time {
        self.now
    }

    pub fn events(&self) -> u64 {
        self.agenda.events() + self.fabric.events()
    }

    /// Packets acknowledged so far.
    pub fn packets(&self) -> u64 {
        self.packets_done
    }

    /// A digest of their records.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    pub fn flight(&mut self) -> &mut InFlight {
        &mut self.flight
    }

    pub fn spawner(&self) -> &Spawner {
        &self.spawner
    }

    /// The parts of an adapter.
    pub fn adapter(&self, node: NodeId) -> &Adapter {
        &self.adapters[node]
    }

    /// The same, to tell them something.
    pub fn adapter_mut(&mut self, node: NodeId) -> &mut Adapter {
        &mut self.adapters[node]
    }

    pub fn event(&mut self, event: EventId) -> &mut Event {
        self.adapters[event.node].events.event(event.index)
    }

    pub fn queue(&mut self, queue: QueueId) -> &mut Queue {
        self.adapters[queue.node].inputter.queue(queue.index)
    }

    /// Time in which an adapter's bus has been taken so far.
    pub fn bus_busy(&self, node: NodeId) -> Time {
        self.interfaces[node].busy()
    }

    /// Whether an adapter receives something.
    pub fn is_receiving(&self, node: NodeId) -> bool {
        self.flight.landing_at(node) > 0 || self.fabric.arriving(node) > 0
    }

    /// The parts of an adapter, and the wires from there.
    fn at(&mut self, node: NodeId) -> (&mut Adapter, Wires<'_>) {
        let wires = Wires {
            node,
            now: self.now,
            config: &self.config,
            memory: &mut self.memory,
            flight: &mut self.flight,
            interface: &mut self.interfaces[node],
            fabric: &mut self.fabric,
            agenda: &mut self.agenda,
        };
        (&mut self.adapters[node], wires)
    }

    /// The wires from an adapter.
    pub fn wires(&mut self, node: NodeId) -> Wires<'_> {
        self.at(node).1
    }

    pub fn schedule(&mut self, at: Time, node: NodeId, due: Due) {
        self.agenda.schedule(at, node.into(), due);
    }

    /// Nothing happens before `end` any more.
    pub fn advance_clock(&mut self, end: Time) {
        self.now = self.now.max(end);
        self.fabric.skip_to(end / self.config.cycle + 1);
    }

    /// Brings the fabric to the present: while its worms flow and nothing else happens, it is not called.
    fn catch_up(&mut self) {
        self.fabric.skip_to(self.cycle_from(self.now));
    }

    /// The cycle in which the network can act on something that happens at a time.
    fn cycle_from(&self, at: Time) -> Cycle {
        at.div_ceil(self.config.cycle)
    }

    /// Lets the next thing happen, if it is due by `end`; the fabric runs at most `stretch` cycles. Whether anything
    /// is left to do by then.
    pub fn step(&mut self, end: Time, stretch: u64) -> bool {
        let next = self.agenda.peek_time();
        // Cycles strictly before the next event come first.
        let bound = match next {
            Some(at) if at <= end => self.cycle_from(at).checked_sub(1),
            _ => Some(end / self.config.cycle),
        };
        let from = self.fabric.next_cycle();
        if let (Some(bound), Some(from)) = (bound, from)
            && from <= bound
        {
            let cycle = self
                .fabric
                .advance(bound.min(from + stretch), &mut self.notices);
            if let Some(cycle) = cycle {
                self.now = self.config.cycle * cycle;
                self.hear();
            }
            return true;
        }
        if next.is_some_and(|at| at <= end) {
            let (at, due) = self.agenda.pop().expect("an event is due");
            self.now = at;
            self.route(due);
            return true;
        }
        false
    }

    /// Routes what the network says.
    fn hear(&mut self) {
        let mut notices = std::mem::take(&mut self.notices);
        for notice in notices.drain(..) {
            match notice {
                Notice::Injected(spec) => self.run_engine(spec.source),
                Notice::Delivered(packet, node, spec) => self.arrived(node, packet, spec.token),
                Notice::Ended {
                    node, good, spec, ..
                } => {
                    let (adapter, mut wires) = self.at(node);
                    adapter.inputter.ended(&mut wires, spec.token, good);
                }
                Notice::Acknowledged(record, spec) => {
                    self.packets_done += 1;
                    let path = u64::from(spec.source) << 32 | u64::from(spec.destination.first());
                    let form = u64::from(spec.flits) << 32 | u64::from(record.links);
                    let digest = self.digest.u64(path).u64(form).u64(record.sequence.into());
                    digest
                        .u64(record.offered)
                        .u64(record.injected)
                        .u64(record.delivered)
                        .u64(record.acknowledged);
                    let (adapter, mut wires) = self.at(spec.source);
                    if is_by_thread(spec.token) {
                        wires.thread_packet_answered(spec.token, record.ack);
                    } else {
                        let over = adapter.engine.answered(&mut wires, spec.token, record.ack);
                        self.release(spec.source, over);
                    }
                    self.run_engine(spec.source);
                }
            }
        }
        self.notices = notices;
    }

    /// The last flit of a packet has arrived.
    fn arrived(&mut self, node: NodeId, packet: PacketId, token: Token) {
        let (adapter, mut wires) = self.at(node);
        if adapter.down.is_set() {
            Inputter::lost(&mut wires, packet, token);
        } else if adapter.inputter.arrived(&mut wires, packet, token) {
            let refusing = adapter.inputter.is_refusing();
            let engine = &mut adapter.engine;
            engine.requested(&mut wires, refusing, packet, token);
        }
    }

    /// Routes what is due.
    fn route(&mut self, due: Due) {
        match due {
            Due::BurstEnds(node, direction) => {
                if let Some(done) = self.wires(node).end_burst(direction) {
                    self.route(done);
                }
            }
            Due::Commanded(node, command) => {
                let at = self.now + self.config.adapter.command;
                self.schedule(at, node, Due::Executed(node, command));
            }
            Due::Executed(node, command) => self.execute(node, command),
            Due::Announced(node, dma) => {
                let (adapter, mut wires) = self.at(node);
                if adapter.engine.announced(&mut wires, dma) {
                    self.line_up(node, dma);
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
                wires.send(token);
                self.run_engine(node);
            }
            Due::Written(node, token) => {
                let (adapter, mut wires) = self.at(node);
                adapter.inputter.written(&mut wires, token);
            }
            Due::Retried(node, token) => {
                let mut wires = self.wires(node);
                if is_by_thread(token) {
                    wires.offer_thread_packet(token);
                } else {
                    wires.send_again(token);
                    self.run_engine(node);
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
            Due::Fails(rail) => {
                let tree = self.fabric.tree();
                let first = tree.place(rail, 0);
                for node in first..first + tree.nodes() {
                    self.adapters[node].down.fire();
                }
            }
            Due::Wake(signal) => signal.fire(),
        }
    }

    /// The host stores a command: it crosses the bus, then the command processor works on it.
    pub fn post(&mut self, node: NodeId, command: Command) {
        self.post_with(node, command, Bytes::ZERO);
    }

    /// The same, with bytes for a part that works on them.
    pub fn post_with(&mut self, node: NodeId, command: Command, bytes: Bytes) {
        let commanded = Due::Commanded(node, command);
        let mut wires = self.wires(node);
        wires.transfer(Direction::ToAdapter, COMMAND + bytes, commanded);
    }

    /// The command processor is done with a command.
    fn execute(&mut self, node: NodeId, command: Command) {
        match self.adapters[node].commands.execute(command) {
            Order::Dma(dma) => self.enqueue(node, dma),
            Order::Set(index) => self.occur_soon(EventId { node, index }),
            Order::Insert(queue, message) => {
                let (adapter, mut wires) = self.at(node);
                let room = adapter.inputter.queue(queue).has_room();
                assert!(room, "the queue was made with too few slots");
                adapter.inputter.enqueue(&mut wires, queue, message);
            }
            Order::Run => {}
        }
    }

    /// A descriptor is for the queue of an adapter.
    pub fn enqueue(&mut self, node: NodeId, id: DmaId) {
        let (adapter, mut wires) = self.at(node);
        let down = adapter.down.is_set();
        if adapter.engine.accept(&mut wires, down, id) {
            self.line_up(node, id);
        }
    }

    /// A descriptor may go: it waits for an engine of its kind.
    fn line_up(&mut self, node: NodeId, id: DmaId) {
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

    /// A message to a queue is over, if there is one: the next one to it may go.
    fn release(&mut self, node: NodeId, over: Option<Address>) {
        if let Some(queue) = over
            && let Some(next) = self.adapters[node].engine.release(queue)
        {
            self.line_up(node, next);
        }
    }

    /// Lets the DMA engine do what it can.
    fn run_engine(&mut self, node: NodeId) {
        loop {
            let (adapter, mut wires) = self.at(node);
            let over = adapter.engine.run(&mut wires);
            if over.is_none() {
                return;
            }
            self.release(node, over);
        }
    }

    /// Lets the STEN do what it can, where there is one.
    fn run_sten(&mut self, node: NodeId) {
        let (adapter, mut wires) = self.at(node);
        if let Some(sten) = &mut adapter.sten {
            sten.run(&mut wires);
        }
    }

    /// Something has occurred. What completes by it starts its action; occurrences of an event that is set already do
    /// not count, nor those of one that has been freed.
    fn occur(&mut self, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Event(id) => self.event_occurs(id),
            Occurrence::Block(..) => unreachable!("the copy of a block is no occurrence"),
            Occurrence::Completed(node, id) => {
                let progress = self.flight.dma(id);
                let (report, context) = (progress.report, progress.context);
                let failed = progress.failed.get();
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

    /// Lets an event occur after the time that it takes to set it.
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

    /// The block is in main memory: the process will see it at its next poll; the operating system wakes those that block.
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

    /// The process has seen it.
    fn seen(&mut self, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Event(_) => unreachable!("a process sees the copy of a block"),
            Occurrence::Block(id, round) => self.adapters[id.node].events.seen(id.index, round),
            Occurrence::Completed(_, id) => {
                let progress = self.flight.dma_mut(id);
                progress.stage = Stage::Reported;
                progress.done.fire();
                self.flight.drop_dma_if_over(id);
            }
        }
    }

    /// What a link has done so far.
    pub fn link(&mut self, link: LinkId) -> LinkCounters {
        self.catch_up();
        self.fabric.counters(link)
    }

    /// Packets and flits: what went in is what came out and what is on the way.
    pub fn check_conservation(&mut self) {
        self.catch_up();
        let packets = self.fabric.packet_census();
        assert_eq!(
            packets.offered,
            packets.queued + packets.under_way + packets.acknowledged,
            "packets are not conserved"
        );
        assert_eq!(
            packets.acknowledged, self.packets_done,
            "acknowledgements are not conserved"
        );
        let flits = self.fabric.flit_census();
        assert_eq!(
            flits.injected + flits.copied,
            flits.delivered + flits.in_flight,
            "flits are not conserved"
        );
    }
}
