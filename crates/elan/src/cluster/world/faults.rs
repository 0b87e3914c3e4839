//! The effects of faults on the machine. The schedule has their times.

use super::World;
use crate::adapter::sten::Sten;
use crate::adapter::{AdapterEvent, ClusterEvent};
use crate::faults::{Episode, Event, FaultyPart, Schedule};
use crate::{NodeId, Place};
use kernel::Signal;
use units::Time;

impl World {
    /// Schedules the listed faults.
    pub(super) fn schedule_faults(&mut self) {
        let Some(config) = &self.config.faults else {
            return;
        };
        let mut schedule = Schedule::new(config, &**self.fabric.topology());
        for (at, event) in schedule.begin() {
            self.schedule_fault(at, event);
        }
        self.faults = schedule;
    }

    /// The faults so far.
    pub fn episodes(&self) -> &[Episode] {
        self.faults.log()
    }

    fn schedule_fault(&mut self, at: Time, event: Event) {
        self.schedule(
            at,
            Place::new(0),
            AdapterEvent::Beyond(ClusterEvent::Fault(event)),
        );
    }

    /// A part fails or is repaired, or the sources notice it.
    pub(super) fn fault(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Down(number) => {
                let (part, up) = self.faults.down(now, number);
                self.break_down(&part);
                if let Some(up) = up {
                    self.schedule_fault(up, Event::Up(number));
                }
                self.learn_of(&part);
            }
            Event::Up(number) => {
                let (part, down) = self.faults.up(now, number);
                self.mend(&part);
                if let Some(down) = down {
                    self.schedule_fault(down, Event::Down(number));
                }
                self.learn_of(&part);
            }
            Event::Learn => {
                let cycle = self.cycle_from(now);
                self.fabric.learn(cycle);
                self.faults.learn(now);
                self.tables.fire();
                self.tables.reset();
            }
        }
    }

    /// The sources notice a part's change of state after some time; the network does not notice
    /// hosts.
    fn learn_of(&mut self, part: &FaultyPart) {
        if !matches!(part, FaultyPart::Node(_)) {
            let detect = self.config.faults.as_ref().map(|faults| faults.detect);
            let detect = detect.expect("faults are listed");
            self.schedule_fault(self.now.saturating_add(detect), Event::Learn);
        }
    }

    fn break_down(&mut self, part: &FaultyPart) {
        match *part {
            FaultyPart::Node(node) => self.stop_host(node),
            // Its adapters see that the rail is down; its cables stay as they are.
            FaultyPart::Rail(rail) => {
                if self.faults.rail_down(rail) {
                    self.fail(rail);
                }
                return;
            }
            _ => {}
        }
        let (cycle, topology) = (self.cycle_from(self.now), self.fabric.topology().clone());
        for link in part.cables(&*topology) {
            self.fabric.cut(cycle, link);
        }
        for place in part.adapters(&*topology) {
            if self.faults.adapter_down(place) {
                self.adapter_fails(place);
            }
        }
    }

    fn mend(&mut self, part: &FaultyPart) {
        if let FaultyPart::Rail(rail) = *part {
            if self.faults.rail_up(rail) {
                self.repair(rail);
            }
            return;
        }
        let (cycle, topology) = (self.cycle_from(self.now), self.fabric.topology().clone());
        for link in part.cables(&*topology) {
            self.fabric.repair(cycle, link);
        }
        for place in part.adapters(&*topology) {
            if self.faults.adapter_up(place) {
                self.adapter_returns(place);
            }
        }
    }

    /// The adapter executes no more work.
    fn adapter_fails(&mut self, place: Place) {
        let adapter = &mut self.adapters[place];
        adapter.is_dead = true;
        adapter.rail.fail();
        adapter.engine.release_all();
        let issuing = adapter.sten.as_mut().and_then(Sten::clear);
        for id in self.flight.queued_at(place) {
            if Some(id) != issuing {
                let (adapter, mut wires) = self.at(place);
                adapter.engine.forget(id);
                wires.end_by_death(id);
            }
        }
    }

    /// Permanently stops a node's host.
    pub fn stop_host(&mut self, node: NodeId) {
        let stopped = self.stopped.get(node);
        stopped.expect("the machine lists faults").fire();
    }

    /// Fired when a node's host stops; `None` in a machine that lists no faults.
    pub fn stopped(&self, node: NodeId) -> Option<&Signal> {
        self.stopped.get(node)
    }

    /// Fired, and reset, whenever the sources' routing tables are updated.
    pub fn tables(&self) -> &Signal {
        &self.tables
    }

    /// The adapter works again.
    fn adapter_returns(&mut self, place: Place) {
        let adapter = &mut self.adapters[place];
        adapter.is_dead = false;
        if !adapter.rail.whole {
            adapter.rail.repair();
        }
    }
}
