//! The state behind all nodes, and the dispatch of what happens to it.

use crate::NodeId;
use crate::bus::{Bus, Direction};
use crate::command::Command;
use crate::config::Config;
use crate::context::Context;
use crate::dma::{DmaId, Packet, Progress, Token};
use crate::engine::Engine;
use crate::event::{Event, News};
use crate::input::Inputter;
use crate::message::Message;
use crate::queue::Queue;
use crate::sten::Sten;
use crate::thread::Processor;
use fabric::{Fabric, Notice};
use kernel::{Digest, EventQueue, Signal, Spawner};
use slab::Slab;
use std::collections::VecDeque;
use units::{Bytes, Time};

/// What is due at a time.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// A burst on the adapter's bus ends.
    BurstEnds(NodeId, Direction),
    /// A command has crossed the bus.
    Commanded(NodeId, Command),
    /// The command processor is done with it.
    Executed(NodeId, Command),
    /// The inputter is done with the request of a get.
    Announced(NodeId, DmaId),
    /// A DMA engine of the node, by its number, has taken up its next descriptor.
    Started(NodeId, u32),
    /// The short transaction engine has taken up a command.
    Issued(NodeId, DmaId),
    /// A request to read a packet's payload has crossed the bus.
    Asked(NodeId, Token),
    /// Main memory has the payload ready for the bus.
    Found(NodeId, Token),
    /// A packet's payload has been read from main memory.
    Read(NodeId, Token),
    /// A packet's payload has been written to main memory.
    Written(NodeId, Token),
    /// A refused packet goes out again.
    Retried(Token),
    /// A message is in a queue, by its number.
    Queued(NodeId, u32),
    /// See [`News`].
    Occurred(News),
    /// The event's block is in main memory.
    Copied(News),
    /// The process has seen it.
    Seen(News),
    /// A rail fails.
    Fails(u32),
    /// A process has slept enough.
    Wake(Signal),
}

// Every event is one: it is moved often.
const _: () = assert!(size_of::<Happening>() <= 16);

/// One adapter with its bus and memories.
pub(crate) struct Adapter {
    pub bus: Bus<Happening>,
    pub contexts: Vec<Option<Box<Context>>>,
    /// Adapter memory that is taken, in whole pages.
    pub memory_used: Bytes,
    /// Events of all contexts, and the places of those that have been freed.
    pub events: Vec<Event>,
    pub free_events: Vec<u32>,
    pub queues: Vec<Queue>,
    /// Messages of the host for these queues whose command is on its way.
    pub posted: VecDeque<(u32, Box<[u8]>)>,
    pub engine: Engine,
    pub sten: Sten,
    pub inputter: Inputter,
    pub processor: Processor,
    /// Set when its rail has failed.
    pub down: Signal,
}

/// Everything that is simulated but the processes.
pub(crate) struct World {
    pub config: Config,
    pub fabric: Fabric,
    pub adapters: Vec<Adapter>,
    pub dmas: Slab<Progress>,
    pub packets: Slab<Packet>,
    pub messages: Slab<Message>,
    pub spawner: Spawner,
    /// Seed of the random streams of the hosts.
    pub seed: u64,
    /// Capabilities given out.
    pub capabilities: u32,
    pub meters: Vec<Bytes>,
    pub digest: Digest,
    pub packets_done: u64,
    queue: EventQueue<Happening>,
    now: Time,
    notices: Vec<Notice>,
}

impl World {
    pub fn new(config: Config, spawner: Spawner) -> Self {
        let fabric = Fabric::new(config.fabric.clone());
        let topology = fabric.topology();
        let places = (topology.rails() - 1) * topology.positions() + topology.nodes();
        let engines = config.elan4.map_or(1, |elan4| elan4.engines);
        let adapters = (0..places).map(|_| Adapter {
            bus: Bus::new(config.bus),
            contexts: Vec::new(),
            memory_used: Bytes::ZERO,
            events: Vec::new(),
            free_events: Vec::new(),
            queues: Vec::new(),
            posted: VecDeque::new(),
            engine: Engine::new(engines),
            sten: Sten::default(),
            inputter: Inputter::default(),
            processor: Processor::default(),
            down: Signal::new(),
        });
        World {
            adapters: adapters.collect(),
            fabric,
            config,
            dmas: Slab::new(),
            packets: Slab::new(),
            messages: Slab::new(),
            spawner,
            seed: 0,
            capabilities: 0,
            meters: Vec::new(),
            digest: Digest::new(),
            packets_done: 0,
            queue: EventQueue::new(),
            now: Time::ZERO,
            notices: Vec::new(),
        }
    }

    pub fn now(&self) -> Time {
        self.now
    }

    pub fn events(&self) -> u64 {
        self.queue.events() + self.fabric.events()
    }

    pub fn schedule(&mut self, at: Time, node: NodeId, happening: Happening) {
        self.queue.schedule(at, node.into(), happening);
    }

    /// Nothing happens before `end` any more.
    pub fn advance_clock(&mut self, end: Time) {
        self.now = self.now.max(end);
        self.fabric.skip_to(end / self.config.cycle + 1);
    }

    /// Brings the fabric to the present: while its worms flow and nothing else happens, it is not called.
    pub fn catch_up(&mut self) {
        self.fabric.skip_to(self.cycle_from(self.now));
    }

    /// Lets the next thing happen, if it is due by `end`; the fabric runs at most `stretch` cycles. Whether anything
    /// is left to do by then.
    pub fn step(&mut self, end: Time, stretch: u64) -> bool {
        let next = self.queue.peek_time();
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
            let (at, happening) = self.queue.pop().expect("an event is due");
            self.now = at;
            self.happen(happening);
            return true;
        }
        false
    }

    /// Handles the fabric's news.
    fn hear(&mut self) {
        let mut notices = std::mem::take(&mut self.notices);
        for notice in notices.drain(..) {
            match notice {
                Notice::Injected(spec) => self.run_engine(spec.source.get()),
                Notice::Delivered(packet, node, spec) => {
                    self.arrived(node.get(), packet, spec.token);
                }
                Notice::Ended {
                    node, good, spec, ..
                } => self.ended(node.get(), spec.token, good),
                Notice::Acknowledged(record, spec) => {
                    self.packets_done += 1;
                    let [source, first] =
                        [spec.source, spec.destination.first()].map(|place| u64::from(place.get()));
                    let path = source << 32 | first;
                    let form = u64::from(spec.flits) << 32 | u64::from(record.links);
                    let digest = self.digest.u64(path).u64(form).u64(record.sequence.into());
                    digest
                        .u64(record.offered)
                        .u64(record.injected)
                        .u64(record.delivered)
                        .u64(record.acknowledged);
                    self.answered(spec.token, record.ack);
                }
            }
        }
        self.notices = notices;
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::BurstEnds(node, direction) => {
                let bus = &mut self.adapters[node as usize].bus;
                let (done, next) = bus.finish_burst(direction);
                if let Some((direction, duration)) = next {
                    let ends = Happening::BurstEnds(node, direction);
                    self.schedule(self.now + duration, node, ends);
                }
                if let Some(purpose) = done {
                    self.happen(purpose);
                }
            }
            Happening::Commanded(node, command) => {
                let at = self.now + self.config.adapter.command;
                self.schedule(at, node, Happening::Executed(node, command));
            }
            Happening::Executed(node, command) => self.command(node, command),
            Happening::Announced(node, dma) => self.announced(node, dma),
            Happening::Started(node, number) => self.started(node, number),
            Happening::Issued(node, dma) => self.issued(node, dma),
            Happening::Asked(node, token) => self.asked(node, token),
            Happening::Found(node, token) => self.found(node, token),
            Happening::Read(node, token) => self.read(node, token),
            Happening::Written(node, token) => self.written(node, token),
            Happening::Retried(token) => self.retry(token),
            Happening::Queued(node, queue) => self.queue_event(node, queue),
            Happening::Occurred(news) => self.occur(news),
            Happening::Copied(news) => self.copied(news),
            Happening::Seen(news) => self.seen(news),
            Happening::Fails(rail) => {
                let tree = self.fabric.topology();
                let first = usize::from(tree.place(rail.into(), fabric::NodeId::new(0)));
                let failed = &self.adapters[first..first + tree.nodes() as usize];
                for adapter in failed {
                    adapter.down.fire();
                }
            }
            Happening::Wake(signal) => signal.fire(),
        }
    }

    /// Asks for the bus of a node; `purpose` happens when all is transferred.
    pub fn transfer(
        &mut self,
        node: NodeId,
        direction: Direction,
        size: Bytes,
        purpose: Happening,
    ) {
        if let Some(duration) = self.adapters[node as usize]
            .bus
            .request(direction, size, purpose)
        {
            let ends = Happening::BurstEnds(node, direction);
            self.schedule(self.now + duration, node, ends);
        }
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
