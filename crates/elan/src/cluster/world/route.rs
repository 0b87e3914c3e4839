//! The router. It passes network events and timed events to adapters, and lets rails fail and
//! return.

use super::World;
use crate::adapter::bus::Direction;
use crate::adapter::command_processor::{COMMAND, Command};
use crate::adapter::{AdapterEvent, ClusterEvent};
use crate::in_flight::DmaId;
use crate::memory::EventId;
use crate::{NodeId, Place, Rail};
use fabric::Notice;
use kernel::Signal;
use units::Bytes;

impl World {
    /// Routes a network event.
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
                    let (adapter, mut wires) = self.at(node);
                    adapter.arrived(&mut wires, packet, spec.token.into());
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
                    adapter.answered(&mut wires, spec.token.into(), record.ack);
                }
            }
        }
        notices.clear();
        self.notices = notices;
    }

    /// Routes a due event.
    #[inline]
    pub(super) fn route(&mut self, due: AdapterEvent) {
        let beyond = if let Some(place) = due.place() {
            let (adapter, mut wires) = self.at(place);
            adapter.happens(&mut wires, due)
        } else if let AdapterEvent::Beyond(beyond) = due {
            Some(beyond)
        } else {
            None
        };
        match beyond {
            None => {}
            Some(ClusterEvent::Fails(rail)) => self.fail(rail),
            Some(ClusterEvent::Returns(rail)) => self.repair(rail),
            Some(ClusterEvent::Fault(event)) => self.fault(event),
            Some(ClusterEvent::Wake(signal)) => self.wake(signal),
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

    /// Wakes the waiter of a signal, which will not be fired again.
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
        let commanded = AdapterEvent::Commanded(node, command);
        let mut wires = self.wires(node);
        wires.transfer(Direction::ToAdapter, COMMAND + bytes, commanded);
    }

    /// A descriptor enters an adapter's DMA queue.
    pub fn enqueue(&mut self, node: Place, id: DmaId) {
        let (adapter, mut wires) = self.at(node);
        adapter.enqueue(&mut wires, id);
    }

    /// Lets an event occur after the time that setting it takes.
    pub fn occur_soon(&mut self, event: EventId) {
        self.wires(event.node).occur_soon(event);
    }

    /// Runs an adapter's DMA engine as far as it gets.
    #[inline]
    fn run_engine(&mut self, node: Place) {
        if self.adapters[node].engine.is_busy() {
            let (adapter, mut wires) = self.at(node);
            adapter.run_engine(&mut wires);
        }
    }
}
