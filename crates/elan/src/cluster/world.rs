//! The state behind all nodes, and its clock. The router ([`route`]) passes each event to its part.

mod faults;
mod route;

use crate::adapter::bus_interface::BusInterface;
use crate::adapter::event_unit::Event;
use crate::adapter::inputter::Inputter;
use crate::adapter::mmu::shared::Memory;
use crate::adapter::queue::{ProcessQueueId, Queue};
use crate::adapter::{Adapter, AdapterEvent, Wires};
use crate::busy::AdapterLoad;
use crate::config::Config;
use crate::config::rails::Status;
use crate::faults::Schedule;
use crate::in_flight::{FlightTables, share};
use crate::memory::EventId;
use crate::{NodeId, Place};
use fabric::{Cycle, Fabric, LinkCounters, LinkId, Notice};
use kernel::{Digest, EventQueue, Signal, Spares, Spawner};
use std::rc::Rc;
use typed_index_collections::TiVec;
use units::Time;

/// Everything that is simulated, except the processes.
pub(crate) struct World {
    config: Rc<Config>,
    fabric: Fabric,
    adapters: TiVec<Place, Adapter>,
    /// The adapters' bus interfaces, which all parts use.
    interfaces: TiVec<Place, BusInterface>,
    memory: Memory,
    flight: FlightTables,
    spawner: Spawner,
    /// The signals for sleeps and bus transfers, which are reused.
    spares: Spares,
    /// Seed for the hosts' random streams.
    pub seed: u64,
    digest: Digest,
    packets_done: u64,
    agenda: EventQueue<AdapterEvent>,
    now: Time,
    notices: Vec<Notice>,
    /// The faults and their times; empty without a fault list.
    faults: Schedule,
    /// Fired when a node's host stops; empty without a fault list.
    stopped: TiVec<NodeId, Signal>,
    /// Fired, and reset, whenever the routing tables are updated.
    tables: Signal,
}

impl World {
    pub fn new(mut config: Config, spawner: Spawner) -> Self {
        if let Some(faults) = &config.faults {
            let (topology, packet) = (&config.fabric.topology, &config.packet);
            config.fabric.faults = Some(faults.of_fabric(topology, packet, config.cycle));
            faults.degrade(&mut config.fabric);
        }
        let fabric = Fabric::new(config.fabric.clone());
        let topology = fabric.topology();
        let places = (topology.rails() - 1) * topology.positions() + topology.nodes();
        let free = config
            .rails
            .map_or(AdapterLoad::new(Status::Exact, Time::ZERO), |rails| {
                AdapterLoad::new(rails.status, rails.status_lag(config.adapter.thread_cycle))
            });
        let hosts = config.faults.as_ref().map_or(0, |_| topology.nodes());
        let mut world = World {
            adapters: (0..places).map(|_| Adapter::new(&config)).collect(),
            interfaces: (0..places).map(|_| BusInterface::new(&config)).collect(),
            memory: Memory::new(places, config.adapter.memory),
            flight: FlightTables::new(places, free),
            fabric,
            config: Rc::new(config),
            spawner,
            spares: Spares::default(),
            seed: 0,
            digest: Digest::new(),
            packets_done: 0,
            agenda: EventQueue::new(),
            now: Time::ZERO,
            notices: Vec::new(),
            faults: Schedule::default(),
            stopped: (0..hosts).map(|_| Signal::new()).collect(),
            tables: Signal::new(),
        };
        world.schedule_faults();
        world
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

    /// A digest of all packet records.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    pub fn config(&self) -> &Rc<Config> {
        &self.config
    }

    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    pub fn flight(&mut self) -> &mut FlightTables {
        &mut self.flight
    }

    pub fn spares(&mut self) -> &mut Spares {
        &mut self.spares
    }

    pub fn spawner(&self) -> &Spawner {
        &self.spawner
    }

    /// An adapter's parts.
    pub fn adapter(&self, node: Place) -> &Adapter {
        &self.adapters[node]
    }

    /// An adapter's parts, mutable.
    pub fn adapter_mut(&mut self, node: Place) -> &mut Adapter {
        &mut self.adapters[node]
    }

    pub fn event(&mut self, event: EventId) -> &mut Event {
        self.adapters[event.node].events.event(event.index)
    }

    pub fn queue(&mut self, queue: ProcessQueueId) -> &mut Queue {
        self.adapters[queue.node].inputter.queue(queue.index)
    }

    /// Descriptors that wait in all adapters' DMA queues or are being processed.
    pub fn descriptors(&self) -> u64 {
        let engines = self.adapters.iter().map(|adapter| &adapter.engine);
        engines
            .map(|engine| u64::from(engine.waiting() + engine.working()))
            .sum()
    }

    /// Time in which an adapter's bus has been taken so far.
    pub fn bus_busy(&self, node: Place) -> Time {
        self.interfaces[node].busy()
    }

    /// Whether an adapter receives something.
    pub fn is_receiving(&self, node: Place) -> bool {
        self.flight.busy_at(node).is_receiving() || self.fabric.arriving(node) > 0
    }

    /// The status that an adapter has written down: whether it sent or received a message.
    pub fn was_busy(&self, node: Place) -> bool {
        self.flight.busy_at(node).was_busy(self.now)
    }

    /// A process sends a message by an adapter from now on, or has finished.
    pub fn sends(&mut self, node: Place, begins: bool) {
        let busy = self.flight.busy_at_mut(node);
        if begins {
            busy.begin_sending(self.now);
        } else {
            busy.end_sending(self.now);
        }
    }

    /// An adapter's parts, and the wires that they reach.
    #[inline]
    fn at(&mut self, node: Place) -> (&mut Adapter, Wires<'_>) {
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

    /// An adapter's inputter, and the wires that it reaches.
    pub fn inputter(&mut self, node: Place) -> (&mut Inputter, Wires<'_>) {
        let (adapter, wires) = self.at(node);
        (&mut adapter.inputter, wires)
    }

    /// The wires from an adapter.
    pub fn wires(&mut self, node: Place) -> Wires<'_> {
        self.at(node).1
    }

    pub fn schedule(&mut self, at: Time, node: Place, due: AdapterEvent) {
        self.agenda.schedule(at, node.get().into(), due);
    }

    /// Moves the clock to `end`: no further events happen before `end`.
    pub fn advance_clock(&mut self, end: Time) {
        self.now = self.now.max(end);
        self.fabric.skip_to(end / self.config.cycle + 1);
    }

    /// Brings the fabric to the present: the fabric is not called while its worms flow and no other
    /// event happens.
    fn catch_up(&mut self) {
        let cycle = self.cycle_from(self.now);
        self.fabric.skip_to(cycle);
    }

    /// The cycle in which the network can act on something that happens at a time.
    fn cycle_from(&self, at: Time) -> Cycle {
        at.div_ceil(self.config.cycle)
    }

    /// Handles the events that are due by `end`, one per step, until no more are due by then, or
    /// `goes_on`, called after each step, returns false, or `steps` have passed; the fabric runs at
    /// most `stretch` cycles in a step. Returns whether the last step found an event.
    pub fn run(
        &mut self,
        end: Time,
        steps: &mut u64,
        stretch: u64,
        goes_on: impl Fn(u64) -> bool,
    ) -> bool {
        let (cycle, instant) = (self.config.cycle, Time::from_ps(1));
        loop {
            let event = self.agenda.peek_time().filter(|at| *at <= end);
            // Cycles strictly before the next event come first.
            let limit = event.unwrap_or(end.saturating_add(instant));
            if let Some(from) = self.fabric.next_cycle()
                && cycle * from < limit
            {
                *steps += 1;
                let bound = (limit - instant) / cycle;
                let until = bound.min(from + stretch);
                let heard = self.fabric.advance(until, &mut self.notices);
                if let Some(heard) = heard {
                    self.now = cycle * heard;
                    self.hear();
                }
                if !goes_on(*steps) {
                    return true;
                }
                if heard.is_some() || until < bound {
                    continue;
                }
            }
            *steps += 1;
            if event.is_none() {
                return false;
            }
            let (at, due) = self.agenda.pop().expect("an event is due");
            self.now = at;
            self.route(due);
            if !goes_on(*steps) {
                return true;
            }
        }
    }

    /// A link's counters so far.
    pub fn link(&mut self, link: LinkId) -> LinkCounters {
        self.catch_up();
        self.fabric.counters(link)
    }

    /// See [`super::Cluster::record`].
    pub fn record(&mut self, from: Time) {
        let from = self.cycle_from(from);
        self.fabric.record(from);
    }

    /// See [`super::Cluster::recorded`].
    pub fn recorded(&mut self) -> Vec<fabric::control::Hold> {
        self.fabric.recorded()
    }

    /// See [`super::Cluster::tally`].
    pub fn tally(&mut self) {
        self.catch_up();
        self.fabric.tally(share);
    }

    /// See [`super::Cluster::tallied`].
    pub fn tallied(&mut self) -> Vec<fabric::Share> {
        self.catch_up();
        self.fabric.tallied()
    }

    /// Asserts packet and flit conservation: injected equals ejected plus in flight.
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
            flits.delivered + flits.discarded + flits.in_flight,
            "flits are not conserved"
        );
    }
}
