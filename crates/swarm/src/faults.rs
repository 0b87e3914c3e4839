//! A case's faults. Parts are named by numbers that wrap around, so that they exist on a smaller
//! machine, too.

use crate::machine::{Shape, SwarmMachine};
use crate::numbers::Draw;
use crate::program::{ProcessOperation, SwarmProgram};
use elan::faults;
use elan::{NodeId, Place, Rail};
use fabric::{Destination, Engine, SwitchId, Topology};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use units::{Bytes, Time};

/// The faults, and how the machine recovers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// A sender's output timeout.
    pub timeout: Time,
    /// From a timeout to the next try.
    pub backoff: Time,
    /// The same for broadcasts.
    pub broadcast_backoff: Time,
    /// From a fault to new routing tables.
    pub detect: Time,
    /// From a packet's first refusal to the error.
    pub give_up: Time,
    /// The seed for the fault streams.
    pub seed: u64,
    /// The faults.
    pub list: Vec<PlannedFault>,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedFault {
    /// The failing parts.
    pub part: FailingPart,
    /// How.
    pub when: FailureTiming,
}

/// The failing parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FailingPart {
    /// A cable at a level.
    Cable {
        /// The level, from 0 at the nodes.
        level: u32,
        /// Its number there.
        number: u32,
    },
    /// All cables, each by itself.
    AllCables,
    /// A switch.
    Switch(u32),
    /// An adapter at a process's node.
    Adapter {
        /// The process.
        process: u32,
        /// The rail.
        rail: u32,
    },
    /// A process's host.
    Host(u32),
    /// A rail.
    Rail(u32),
}

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FailureTiming {
    /// The probability that a bit is wrong.
    BitErrors(f64),
    /// From a moment on, permanently.
    From(Time),
    /// From a moment on, for a time.
    During(Time, Time),
    /// At random: mean times to failure and to repair.
    Random(Time, Time),
}

impl FailureTiming {
    fn is_down(self) -> bool {
        !matches!(self, FailureTiming::BitErrors(_))
    }
}

/// A number of cables at a level, or at all levels.
fn cables(topology: &Topology, level: Option<usize>) -> Vec<fabric::LinkId> {
    let links = faults::Links {
        level,
        rail: None,
        some: None,
    };
    links.all(&**topology)
}

impl FailingPart {
    fn on(self, topology: &Topology, program: &SwarmProgram) -> faults::FaultyPart {
        let place = |process: u32, rail: u32| -> Place {
            let node = program.places[(process % program.processes()) as usize];
            topology.place(Rail::new(rail % topology.rails()), NodeId::new(node))
        };
        match self {
            FailingPart::Cable { level, number } => {
                let levels = topology.levels() as u32;
                let cables = cables(topology, Some((level % levels) as usize));
                faults::FaultyPart::Link(cables[number as usize % cables.len()])
            }
            FailingPart::AllCables => faults::FaultyPart::Links(faults::Links {
                level: None,
                rail: None,
                some: None,
            }),
            FailingPart::Switch(number) => {
                faults::FaultyPart::Switch(SwitchId::new(number % topology.switches()))
            }
            FailingPart::Adapter { process, rail } => {
                faults::FaultyPart::Adapter(place(process, rail))
            }
            FailingPart::Host(process) => {
                let node = program.places[(process % program.processes()) as usize];
                faults::FaultyPart::Node(NodeId::new(node))
            }
            FailingPart::Rail(rail) => faults::FaultyPart::Rail(Rail::new(rail % topology.rails())),
        }
    }
}

impl PlannedFault {
    /// Whether a cable in the tree of one of the program's broadcasts is permanently dead. The tree
    /// is fixed: ways around the cable do not help. Collective calls also have software trees, but
    /// a broadcast DMA does not.
    fn fells_a_tree(&self, machine: &SwarmMachine, program: &SwarmProgram) -> bool {
        if !matches!(self.when, FailureTiming::From(_)) {
            return false;
        }
        let config = machine.config(Engine::Worm).expect("the case can be run");
        let faults::FaultyPart::Link(dead) = self.part.on(&config.fabric.topology, program) else {
            return false;
        };
        let dead = [dead, config.fabric.topology.reverse(dead)];
        let trees = trees(&config.fabric, program);
        trees.iter().flatten().any(|link| dead.contains(link))
    }

    /// The most bits exposed to this fault that must all be right before a packet gets through:
    /// those on its path, or those in the whole tree of a broadcast, which succeeds at all nodes or
    /// fails at all.
    fn bits_at_once(&self, machine: &SwarmMachine, program: &SwarmProgram) -> f64 {
        let path = machine.bits(self.part, program);
        if !matches!(self.part, FailingPart::AllCables) || !program.spreads() {
            return path;
        }
        let config = machine.config(Engine::Worm).expect("the case can be run");
        let trees = trees(&config.fabric, program);
        let links = trees.iter().map(Vec::len).max().unwrap_or(0);
        path.max(links as f64 * machine.bits_of_a_link(program))
    }
}

/// The links in each of a program's broadcast DMAs, on each rail.
fn trees(fabric: &fabric::Config, program: &SwarmProgram) -> Vec<Vec<fabric::LinkId>> {
    let (topology, rule) = (&fabric.topology, fabric.broadcast);
    let Some(tree) = topology.as_tree() else {
        return Vec::new();
    };
    let node = |process: u32| NodeId::new(program.places[process as usize]);
    let of_rail = |process: usize, to: u32, last: u32, rail| {
        let place = |process| topology.place(rail, node(process));
        let range = Destination::range(place(to), place(last));
        tree.broadcast_route(place(process as u32), range, rule)
    };
    let mut trees = Vec::new();
    for ((_, process, _), step) in program.steps() {
        if let ProcessOperation::Spread { to, last } = step.act {
            let rails = (0..topology.rails()).map(Rail::new);
            trees.extend(rails.map(|rail| of_rail(process, to.process, last, rail)));
        }
    }
    trees
}

impl FaultPlan {
    /// The faults as the simulator takes them.
    pub fn config(&self, topology: &Topology, program: &SwarmProgram) -> faults::Config {
        let list = self.list.iter().map(|fault| faults::Fault {
            part: fault.part.on(topology, program),
            when: match fault.when {
                FailureTiming::BitErrors(rate) => faults::FaultTiming::BitErrors(rate),
                FailureTiming::From(at) => faults::FaultTiming::At { at, lasts: None },
                FailureTiming::During(at, lasts) => faults::FaultTiming::At {
                    at,
                    lasts: Some(lasts),
                },
                FailureTiming::Random(mtbf, mttr) => faults::FaultTiming::Random { mtbf, mttr },
            },
        });
        faults::Config {
            timeout: self.timeout,
            backoff: self.backoff,
            broadcast_backoff: self.broadcast_backoff,
            detect: self.detect,
            give_up: self.give_up,
            seed: self.seed,
            list: list.collect(),
        }
    }

    /// Whether everything that was down has been repaired some milliseconds after the start, and no
    /// more bits flip.
    pub fn are_over(&self) -> bool {
        let mut list = self.list.iter();
        list.all(|fault| {
            matches!(fault.when, FailureTiming::During(..))
                && !matches!(fault.part, FailingPart::Host(_))
        })
    }

    /// Whether parts continue to fail and to be repaired forever.
    pub fn are_restless(&self) -> bool {
        let mut list = self.list.iter();
        list.any(|fault| matches!(fault.when, FailureTiming::Random(..)))
    }

    /// Processes on stopped hosts.
    pub fn stopped(&self, program: &SwarmProgram) -> BTreeSet<usize> {
        let hosts = self.list.iter().filter_map(|fault| match fault.part {
            FailingPart::Host(process) if fault.when.is_down() => {
                Some(program.places[(process % program.processes()) as usize])
            }
            _ => None,
        });
        let hosts: BTreeSet<u32> = hosts.collect();
        let places = program.places.iter().enumerate();
        places
            .filter(|(_, node)| hosts.contains(node))
            .map(|(process, _)| process)
            .collect()
    }

    /// Whether the machine masters all faults: no error may be reported. Bits may flip without
    /// limit where packets are retransmitted until they get through: those to one node, and those
    /// of a broadcast, which any wrong bit in its tree makes void. Cables and switches may be down
    /// for so short a time that the routing tables never notice. One cable between switches may be
    /// down for any time if others lead to the same place, unless one of the program's broadcasts
    /// needs this cable. (When the tables notice one fault, they notice all others, too: a second
    /// fault may leave no way, however short it is.)
    pub fn are_mastered(&self, machine: &SwarmMachine, program: &SwarmProgram) -> bool {
        let downs = self.list.iter().filter(|fault| fault.when.is_down());
        let spared = downs.clone().count() == 1
            && downs.clone().all(|fault| match fault.part {
                FailingPart::Cable { level, .. } => {
                    machine.has_others(level) && !fault.fells_a_tree(machine, program)
                }
                _ => false,
            });
        let bits = self.list.iter().map(|fault| match fault.when {
            FailureTiming::BitErrors(rate) => rate * fault.bits_at_once(machine, program),
            _ => 0.0,
        });
        let gets_through = bits.sum::<f64>() <= 3.0;
        let seen = spared || self.are_unnoticed();
        self.list.is_empty() || seen && gets_through && self.give_up >= PATIENT
    }

    /// Whether all that is down are cables and switches, and work whenever the routing tables look.
    fn are_unnoticed(&self) -> bool {
        let mut outages = Vec::new();
        for fault in self.list.iter().filter(|fault| fault.when.is_down()) {
            let network = matches!(
                fault.part,
                FailingPart::Cable { .. } | FailingPart::Switch(_)
            );
            match fault.when {
                FailureTiming::During(at, lasts) if network => outages.push((at, at + lasts)),
                _ => return false,
            }
        }
        let changes = outages.iter().flat_map(|&(down, up)| [down, up]);
        let mut looks = changes.map(|at| at + self.detect);
        looks.all(|look| {
            let mut outages = outages.iter();
            outages.all(|&(down, up)| look < down || up < look)
        })
    }

    /// The moment after which no packet to one node may run into a dead cable, if only one is dead,
    /// permanently, and others lead to the same place: the routing tables avoid the cable, and
    /// packets that were under way have come.
    pub fn leads_around(&self, machine: &SwarmMachine) -> Option<Time> {
        let [
            PlannedFault {
                part: FailingPart::Cable { level, .. },
                when: FailureTiming::From(at),
            },
        ] = self.list[..]
        else {
            return None;
        };
        let since = at + self.detect + Time::from_us(100);
        machine.has_others(level).then_some(since)
    }

    /// Random faults, or none.
    pub fn draw(seed: u64, machine: &SwarmMachine, program: &SwarmProgram) -> Option<FaultPlan> {
        let mut draw = Draw::new(seed, "swarm/faults");
        let draw = &mut draw;
        if draw.chance(10) {
            return None;
        }
        let us = |draw: &mut Draw, least: u64, most: u64| {
            Time::from_ns(1000 * least + draw.below(1000 * (most - least)))
        };
        let patient = draw.chance(50);
        let mut faults = FaultPlan {
            timeout: us(draw, 5, 100),
            backoff: us(draw, 1, 50),
            broadcast_backoff: us(draw, 1, 100),
            detect: us(draw, 2, 300),
            give_up: PATIENT,
            seed: draw.below(1 << 32),
            list: Vec::new(),
        };
        // Some lists only have faults that never occur.
        let many = draw.one_of(&[0, 1, 1, 1, 2, 2, 3, 4]);
        let drawing = Drawing {
            machine,
            program,
            patient,
            detect: faults.detect,
            latest: draw.one_of(&[3000, 30_000, 100_000, 300_000]),
            draw,
        };
        faults.list = drawing.faults(many);
        if !faults.are_mastered(machine, program) {
            // Or a run would wait for its errors for long.
            let most = draw.one_of(&[60, 200, 2000]);
            faults.give_up = us(draw, 20, most);
        }
        Some(faults)
    }
}

/// A source that is as patient as this sends a packet again until it gets through.
const PATIENT: Time = Time::from_ms(200);

/// A fault list under construction.
struct Drawing<'a> {
    draw: &'a mut Draw,
    machine: &'a SwarmMachine,
    program: &'a SwarmProgram,
    /// Whether the faults are to be such that the machine masters them.
    patient: bool,
    detect: Time,
    /// In nanoseconds, until when faults begin.
    latest: u64,
}

impl Drawing<'_> {
    fn faults(mut self, many: usize) -> Vec<PlannedFault> {
        (0..many).map(|_| self.fault()).collect()
    }

    fn fault(&mut self) -> PlannedFault {
        let errors = self.draw.chance(30);
        let part = if errors && self.draw.chance(60) {
            FailingPart::AllCables
        } else {
            self.part(errors)
        };
        let when = if errors {
            let most = if self.patient { 1.5 } else { 3.0 };
            let share = self.draw.one_of(&[0.001, 0.03, 0.3, 0.3, 1.0]);
            // Few digits, so that a case that was printed is the same case.
            let rate = share * most / self.machine.bits(part, self.program);
            FailureTiming::BitErrors((rate * 1e12).round() / 1e12)
        } else {
            self.when(part)
        };
        PlannedFault { part, when }
    }

    /// A part that fails; for node cables, a process's.
    fn part(&mut self, cable: bool) -> FailingPart {
        let (level, number) = (self.draw.below(8), self.draw.below(1 << 16) as u32);
        let (process, rail) = (number, number >> 8);
        let level = (level % self.machine.shape.levels() as u64) as u32;
        let place = self.program.places[(process % self.program.processes()) as usize];
        let rails = self.machine.rails.map_or(1, |rails| rails.count);
        let number = match level {
            0 => rail % rails * self.machine.shape.nodes() + place,
            _ => number,
        };
        let cables = FailingPart::Cable { level, number };
        if cable || self.draw.chance(50) {
            return cables;
        }
        match self.draw.below(if self.patient { 1 } else { 5 }) {
            0 => FailingPart::Switch(number),
            1..=2 => FailingPart::Adapter { process, rail },
            3 => FailingPart::Host(process),
            _ => FailingPart::Rail(rail),
        }
    }

    fn when(&mut self, part: FailingPart) -> FailureTiming {
        let draw = &mut *self.draw;
        let at = Time::from_ns(draw.below(self.latest));
        // A host does not come back.
        if matches!(part, FailingPart::Host(_)) {
            return FailureTiming::From(at);
        }
        let others = match part {
            FailingPart::Cable { level, .. } => self.machine.has_others(level),
            _ => false,
        };
        let short = Time::from_ps(1000 + draw.below(self.detect.as_ps() - 1000));
        match draw.below(5) {
            0 if !self.patient || others => FailureTiming::From(at),
            1 if !self.patient || others => {
                let most = draw.one_of(&[2000, 20_000, 500_000, 2_000_000]);
                FailureTiming::During(at, Time::from_ns(1 + draw.below(most)))
            }
            2 if !self.patient || others => {
                let most = draw.one_of(&[1000, 10_000, 300_000]);
                let mttr = Time::from_ns(100 + draw.below(most));
                let mtbf = Time::from_ps(mttr.as_ps() * (5 + draw.below(40)));
                FailureTiming::Random(mtbf.max(Time::from_us(10)), mttr)
            }
            _ => FailureTiming::During(at, short),
        }
    }
}

impl SwarmMachine {
    /// Bits that a program's longest packet sends over the longest path's links, or over one
    /// cable's.
    fn bits(&self, part: FailingPart, program: &SwarmProgram) -> f64 {
        let links = match (part, &self.shape) {
            (FailingPart::Cable { .. }, _) => 2,
            (_, Shape::Tree { down, .. }) => 2 * down.len() as u32,
            (_, Shape::Torus { sizes, .. }) => 2 + sizes.iter().map(|size| size / 2).sum::<u32>(),
        };
        f64::from(links) * self.bits_of_a_link(program)
    }

    /// Bits that a program's longest packet sends over one link.
    fn bits_of_a_link(&self, program: &SwarmProgram) -> f64 {
        let packet = self.base.config().packet;
        let length = elan::config::ENVELOPE + Bytes::new(program.longest());
        let flits = packet.flits(length.min(packet.payload));
        f64::from(flits) * 8.0 * packet.flit.as_u64() as f64
    }

    /// Whether all nodes reach each other without any one cable at a level.
    pub fn has_others(&self, level: u32) -> bool {
        match &self.shape {
            Shape::Tree { up, .. } => {
                let level = level as usize % self.shape.levels();
                level > 0 && up[level - 1] > 1
            }
            Shape::Torus { .. } => false,
        }
    }
}
