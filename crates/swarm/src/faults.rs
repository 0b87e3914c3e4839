//! What fails in a case. Parts are named by numbers that come round, so that they are there on a smaller machine, too.

use crate::draw::Draw;
use crate::machine::{Machine, Shape};
use crate::program::Program;
use elan::faults;
use elan::{NodeId, Place, Rail};
use fabric::{SwitchId, Topology};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use units::Time;

/// What fails, and how the machine recovers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// The output timeout of a sender.
    pub timeout: Time,
    /// From a timeout to the next try.
    pub backoff: Time,
    /// The same for broadcasts.
    pub broadcast_backoff: Time,
    /// From a fault to new routing tables.
    pub detect: Time,
    /// From the first refusal of a packet to the error.
    pub give_up: Time,
    /// Seed of the streams of the faults.
    pub seed: u64,
    /// The faults.
    pub list: Vec<Fault>,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What fails.
    pub part: Part,
    /// How.
    pub when: When,
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Part {
    /// A cable of a level.
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
    /// An adapter of a process's node.
    Adapter {
        /// The process.
        process: u32,
        /// The rail.
        rail: u32,
    },
    /// The host of a process.
    Host(u32),
    /// A rail.
    Rail(u32),
}

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum When {
    /// The probability that a bit is wrong.
    BitErrors(f64),
    /// From a moment on, for ever.
    From(Time),
    /// From a moment on, for a time.
    During(Time, Time),
    /// At random: mean times to failure and to repair.
    Random(Time, Time),
}

impl When {
    fn is_down(self) -> bool {
        !matches!(self, When::BitErrors(_))
    }
}

/// So many cables of a level, or of all.
fn cables(topology: &Topology, level: Option<usize>) -> Vec<fabric::LinkId> {
    let links = faults::Links {
        level,
        rail: None,
        some: None,
    };
    links.all(&**topology)
}

impl Part {
    fn on(self, topology: &Topology, program: &Program) -> faults::Part {
        let place = |process: u32, rail: u32| -> Place {
            let node = program.places[(process % program.processes()) as usize];
            topology.place(Rail::new(rail % topology.rails()), NodeId::new(node))
        };
        match self {
            Part::Cable { level, number } => {
                let levels = topology.levels() as u32;
                let cables = cables(topology, Some((level % levels) as usize));
                faults::Part::Link(cables[number as usize % cables.len()])
            }
            Part::AllCables => faults::Part::Links(faults::Links {
                level: None,
                rail: None,
                some: None,
            }),
            Part::Switch(number) => {
                faults::Part::Switch(SwitchId::new(number % topology.switches()))
            }
            Part::Adapter { process, rail } => faults::Part::Adapter(place(process, rail)),
            Part::Host(process) => {
                let node = program.places[(process % program.processes()) as usize];
                faults::Part::Node(NodeId::new(node))
            }
            Part::Rail(rail) => faults::Part::Rail(Rail::new(rail % topology.rails())),
        }
    }
}

impl Faults {
    /// The faults as the simulator takes them.
    pub fn config(&self, topology: &Topology, program: &Program) -> faults::Config {
        let list = self.list.iter().map(|fault| faults::Fault {
            part: fault.part.on(topology, program),
            when: match fault.when {
                When::BitErrors(rate) => faults::When::BitErrors(rate),
                When::From(at) => faults::When::At { at, lasts: None },
                When::During(at, lasts) => faults::When::At {
                    at,
                    lasts: Some(lasts),
                },
                When::Random(mtbf, mttr) => faults::When::Random { mtbf, mttr },
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

    /// Whether everything that was down has been repaired some milliseconds after the start, and no more bits flip.
    pub fn are_over(&self) -> bool {
        let mut list = self.list.iter();
        list.all(|fault| {
            matches!(fault.when, When::During(..)) && !matches!(fault.part, Part::Host(_))
        })
    }

    /// Processes whose host stops.
    pub fn stopped(&self, program: &Program) -> BTreeSet<usize> {
        let hosts = self.list.iter().filter_map(|fault| match fault.part {
            Part::Host(process) if fault.when.is_down() => {
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

    /// Whether the machine masters all faults: no error may be told. Bits may flip as often as they like: packets are sent again
    /// until they get through. One part may be down besides. It may be a cable or a switch that works again before the routing
    /// tables learn of it, or, for ever, a cable between switches where others lead to the same place. (At the moment when they
    /// learn of one fault, the tables learn of all others, too: a second fault may leave no way, however short it is.)
    pub fn are_mastered(&self, machine: &Machine) -> bool {
        let downs = self
            .list
            .iter()
            .filter(|fault| fault.when.is_down())
            .count();
        let each = self
            .list
            .iter()
            .all(|fault| match (fault.part, fault.when) {
                (_, When::BitErrors(_)) => true,
                (Part::Host(_) | Part::Adapter { .. } | Part::Rail(_) | Part::AllCables, _) => {
                    false
                }
                (_, When::During(_, lasts)) if lasts < self.detect => true,
                (Part::Cable { level, .. }, _) => machine.has_others(level),
                (Part::Switch(_), _) => false,
            });
        let rates = self.list.iter().map(|fault| match fault.when {
            When::BitErrors(rate) => rate,
            _ => 0.0,
        });
        let gets_through = rates.sum::<f64>() * machine.bits_of_a_path() <= 3.0;
        self.list.is_empty() || downs <= 1 && each && gets_through && self.give_up >= PATIENT
    }

    /// Random faults, or none.
    pub fn draw(seed: u64, machine: &Machine) -> Option<Faults> {
        let mut draw = Draw::new(seed, "swarm/faults");
        let draw = &mut draw;
        if draw.chance(15) {
            return None;
        }
        let us = |draw: &mut Draw, least: u64, most: u64| {
            Time::from_ns(1000 * least + draw.below(1000 * (most - least)))
        };
        let patient = draw.chance(60);
        let mut faults = Faults {
            timeout: us(draw, 5, 200),
            backoff: us(draw, 1, 100),
            broadcast_backoff: us(draw, 1, 200),
            detect: us(draw, 2, 400),
            give_up: if patient { PATIENT } else { us(draw, 20, 2000) },
            seed: draw.below(1 << 32),
            list: Vec::new(),
        };
        // Some lists have nothing in them that ever happens.
        for _ in 0..draw.below(4) {
            faults
                .list
                .push(fault(draw, machine, patient, faults.detect));
        }
        if !faults.are_mastered(machine) {
            // Or a run would wait for its errors for long.
            faults.give_up = us(draw, 20, 2000);
        }
        Some(faults)
    }
}

/// A source that is as patient as this sends a packet again until it gets through.
const PATIENT: Time = Time::from_ms(200);

fn fault(draw: &mut Draw, machine: &Machine, patient: bool, detect: Time) -> Fault {
    let level = draw.below(machine.shape.levels() as u64) as u32;
    let number = draw.below(1 << 16) as u32;
    let cable = Part::Cable { level, number };
    if draw.chance(35) {
        let rate = draw.one_of(&[1e-7, 1e-6, 1e-5, 1e-5, 3e-5, 1e-4]);
        // A patient sender needs a chance in not too many.
        let most = if patient {
            1.5 / machine.bits_of_a_path()
        } else {
            1e-4
        };
        let rate = f64::min(rate, most);
        return Fault {
            part: if draw.chance(60) {
                Part::AllCables
            } else {
                cable
            },
            when: When::BitErrors(rate),
        };
    }
    let at = Time::from_ns(draw.one_of(&[3000, 100_000, 500_000]));
    let at = Time::from_ns(draw.below(at.as_ps() / 1000));
    let part = if patient {
        draw.one_of(&[cable, cable, Part::Switch(number)])
    } else {
        let (process, rail) = (number, number >> 8);
        draw.one_of(&[
            cable,
            cable,
            Part::Switch(number),
            Part::Adapter { process, rail },
            Part::Host(process),
            Part::Rail(rail),
        ])
    };
    let short = Time::from_ps(1000 + draw.below(detect.as_ps() - 1000));
    let when = match draw.below(4) {
        0 if patient && machine.has_others(level) && part == cable => When::From(at),
        0 if !patient => When::From(at),
        1 if !patient => When::During(at, Time::from_ns(draw.below(2_000_000))),
        2 => {
            let mttr = Time::from_ps(detect.as_ps() / 25 + 1);
            let mttr = if patient {
                mttr
            } else {
                Time::from_us(1 + draw.below(300))
            };
            let mtbf = Time::from_ps(mttr.as_ps() * (10 + draw.below(40))).max(Time::from_us(100));
            When::Random(mtbf, mttr)
        }
        _ => When::During(at, short),
    };
    // A host does not come back.
    let when = match part {
        Part::Host(_) => When::From(at),
        _ => when,
    };
    Fault { part, when }
}

impl Machine {
    /// Bits that the longest packet sends over the links of the longest path.
    fn bits_of_a_path(&self) -> f64 {
        let links = match &self.shape {
            Shape::Tree { down, .. } => 2 * down.len() as u32,
            Shape::Torus { sizes, .. } => 2 + sizes.iter().map(|size| size / 2).sum::<u32>(),
        };
        let packet = self.base.config().packet;
        let flits = packet.flits(packet.payload);
        f64::from(links * flits) * 8.0 * packet.flit.as_u64() as f64
    }

    /// Whether all nodes reach each other without any one cable of a level.
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
