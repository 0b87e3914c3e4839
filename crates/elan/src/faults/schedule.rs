//! The schedule: when parts go down and come back, and the episodes so far.

use super::{Config, Episode, FaultTiming, FaultyPart};
use crate::{Place, Rail};
use fabric::Wiring;
use kernel::random::Stream;
use std::collections::BTreeMap;
use units::Time;

/// An event that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An element goes down.
    Down(u32),
    /// An element is repaired.
    Up(u32),
    /// The sources' routing tables are updated.
    Learn,
}

/// When the elements go down and come back.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    elements: Vec<Element>,
    log: Vec<Episode>,
    /// How many faults keep an adapter, or a rail, down.
    adapters: BTreeMap<Place, u32>,
    rails: BTreeMap<Rail, u32>,
}

/// A part that goes down by itself.
#[derive(Debug)]
struct Element {
    fault: u32,
    part: FaultyPart,
    course: Course,
    /// The episode in the log that has not ended.
    open: Option<usize>,
}

#[derive(Debug)]
enum Course {
    Once {
        at: Time,
        lasts: Option<Time>,
    },
    Random {
        mtbf: Time,
        mttr: Time,
        stream: Box<Stream>,
    },
}

impl Schedule {
    /// A list's schedule. Bit errors are in the log from the start, and never due; nor are lower
    /// rates.
    pub fn new(config: &Config, wiring: &dyn Wiring) -> Self {
        let mut schedule = Schedule::default();
        for (number, fault, name) in config.elements(wiring) {
            let course = match fault.when {
                FaultTiming::BitErrors(rate) => {
                    if rate > 0.0 {
                        schedule.log.push(Episode {
                            fault: number,
                            part: fault.part,
                            bit_error_rate: Some(rate),
                            down: None,
                            up: None,
                            known: None,
                        });
                    }
                    continue;
                }
                FaultTiming::Degraded(_) => continue,
                FaultTiming::At { at, lasts } => Course::Once { at, lasts },
                FaultTiming::Random { mtbf, mttr } => Course::Random {
                    mtbf,
                    mttr,
                    stream: Box::new(config.stream(&format!("{name}/times"))),
                },
            };
            schedule.elements.push(Element {
                fault: number,
                part: fault.part,
                course,
                open: None,
            });
        }
        schedule
    }

    /// Each element's first due event.
    pub fn begin(&mut self) -> Vec<(Time, Event)> {
        let elements = (0_u32..).zip(&mut self.elements);
        elements
            .map(|(number, element)| {
                let at = match &mut element.course {
                    Course::Once { at, .. } => *at,
                    Course::Random { mtbf, stream, .. } => draw(*mtbf, stream),
                };
                (at, Event::Down(number))
            })
            .collect()
    }

    /// An element goes down: which part it is, and when it will be repaired.
    pub fn down(&mut self, now: Time, number: u32) -> (FaultyPart, Option<Time>) {
        let element = &mut self.elements[number as usize];
        element.open = Some(self.log.len());
        self.log.push(Episode {
            fault: element.fault,
            part: element.part.clone(),
            bit_error_rate: None,
            down: Some(now),
            up: None,
            known: None,
        });
        let lasts = match &mut element.course {
            Course::Once { lasts, .. } => *lasts,
            Course::Random { mttr, stream, .. } => Some(draw(*mttr, stream)),
        };
        (element.part.clone(), lasts.map(|lasts| now + lasts))
    }

    /// An element is repaired: which part it is, and when it will go down again.
    pub fn up(&mut self, now: Time, number: u32) -> (FaultyPart, Option<Time>) {
        let element = &mut self.elements[number as usize];
        let open = element.open.take().expect("what is repaired was down");
        self.log[open].up = Some(now);
        let next = match &mut element.course {
            Course::Once { .. } => None,
            Course::Random { mtbf, stream, .. } => Some(now + draw(*mtbf, stream)),
        };
        (element.part.clone(), next)
    }

    /// The sources' routing tables are updated.
    pub fn learn(&mut self, now: Time) {
        for element in &self.elements {
            if let Some(open) = element.open
                && !matches!(element.part, FaultyPart::Node(_))
            {
                self.log[open].known.get_or_insert(now);
            }
        }
    }

    /// An adapter goes down; returns whether it was up.
    pub fn adapter_down(&mut self, place: Place) -> bool {
        let faults = self.adapters.entry(place).or_insert(0);
        *faults += 1;
        *faults == 1
    }

    /// An adapter's fault is repaired; returns whether the adapter is up again.
    pub fn adapter_up(&mut self, place: Place) -> bool {
        let faults = self.adapters.get_mut(&place);
        let faults = faults.expect("what is repaired was down");
        *faults -= 1;
        *faults == 0
    }

    /// A rail goes down; returns whether it was up.
    pub fn rail_down(&mut self, rail: Rail) -> bool {
        let faults = self.rails.entry(rail).or_insert(0);
        *faults += 1;
        *faults == 1
    }

    /// A rail's fault is repaired; returns whether the rail is up again.
    pub fn rail_up(&mut self, rail: Rail) -> bool {
        let faults = self.rails.get_mut(&rail);
        let faults = faults.expect("what is repaired was down");
        *faults -= 1;
        *faults == 0
    }

    /// The episodes so far.
    pub fn log(&self) -> &[Episode] {
        &self.log
    }
}

/// A time from the exponential distribution with this mean, at least 1 ps.
fn draw(mean: Time, stream: &mut Stream) -> Time {
    let drawn = stream.exponential(mean.as_ps() as f64).round();
    Time::from_ps((drawn as u64).max(1))
}
