//! Sampled computation: the program's regions in this process, and their execution times.
//!
//! A region is the program between two sites, or a part of it that `MPI_Pcontrol` has named. The
//! plan ([`link::plan`]) has the execution times. An execution that it lacks takes this host's
//! processor time, less the measurement's, which the simulator gets for the table with the next
//! call record.

use crate::site;
use crate::system;
use link::Order;
use link::plan::{self, RegionTimes};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The place of a call or a clock reading in the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Site {
    /// The call's number in [`link::calls`]; 0 for a clock reading, or for the start.
    pub call: u32,
    /// The return address.
    pub place: usize,
}

impl Site {
    /// The site of a call that begins, or of a clock reading.
    pub fn here(call: u32) -> Site {
        let place = site::here();
        Site { call, place }
    }

    fn name(self) -> String {
        let call = match (self.call, self.place) {
            (0, 0) => return "start".to_owned(),
            (0, _) => "clock",
            (call, _) => link::calls::name(call),
        };
        format!("{call} {}", site::name(self.place))
    }
}

/// The program part that `MPI_Pcontrol` has named last; 0 without one.
static PART: AtomicU32 = AtomicU32::new(0);

/// `MPI_Pcontrol` levels up to this one have their own meanings in MPI, and name no part.
const STANDARD_LEVELS: i32 = 2;

/// The program calls `MPI_Pcontrol`.
pub fn control(level: i32) {
    let part = if level > STANDARD_LEVELS { level } else { 0 };
    PART.store(part.unsigned_abs(), Ordering::Relaxed);
}

/// This process's regions.
#[derive(Default)]
pub struct Regions(Mutex<State>);

#[derive(Default)]
struct State {
    plan: HashMap<String, RegionTimes>,
    /// By the sites, and the part.
    numbers: HashMap<(Site, Site, u32), usize>,
    /// By the name.
    names: HashMap<String, usize>,
    regions: Vec<Region>,
    /// The measurement's own part in an execution, in nanoseconds.
    overhead: u64,
    /// Executions that the host has measured, and the simulator has not got: the region, its name
    /// at the first time, nanoseconds.
    measured: Vec<(usize, Option<String>, u64)>,
}

struct Region {
    times: RegionTimes,
    executions: u64,
    reported: bool,
    /// Whether the recording has its name.
    recorded: bool,
}

impl Regions {
    /// A rank's regions by the plan's text.
    pub fn planned(rank: u32, plan: &str) -> Regions {
        Regions(Mutex::new(State {
            plan: plan::read(rank, plan),
            overhead: overhead(),
            ..State::default()
        }))
    }

    /// The program has come from one site to another one in `host` nanoseconds on this host.
    /// Returns the simulated time in picoseconds. A signal handler that interrupts this function
    /// adds no computation.
    pub fn execute(&self, from: Site, to: Site, host: u64, factor: f64) -> u64 {
        let Ok(mut state) = self.0.try_lock() else {
            return 0;
        };
        let part = PART.load(Ordering::Relaxed);
        let number = state.number(from, to, part);
        let region = &mut state.regions[number];
        region.executions += 1;
        if let Some(time) = region.times.of(region.executions - 1) {
            return time;
        }
        let first = !std::mem::replace(&mut region.reported, true);
        let name = first.then(|| state.name_of(number));
        let host = host.saturating_sub(state.overhead);
        state.measured.push((number, name, host));
        (host as f64 * factor * 1000.0).round() as u64
    }

    /// The region between two sites by its number, and its name the first time, for the recording.
    pub fn executed(&self, from: Site, to: Site) -> Option<(u64, String)> {
        let mut state = self.0.try_lock().ok()?;
        let number = state.number(from, to, PART.load(Ordering::Relaxed));
        let known = std::mem::replace(&mut state.regions[number].recorded, true);
        let name = (!known).then(|| state.name_of(number));
        Some((number as u64, name.unwrap_or_default()))
    }

    /// The orders that bring measured executions to the simulator, each with its payload.
    pub fn reports(&self) -> Vec<(Order, String)> {
        let Ok(mut state) = self.0.try_lock() else {
            return Vec::new();
        };
        let measured = state.measured.drain(..);
        let order = |(region, name, time): (usize, Option<String>, u64)| {
            let region = region as u64;
            (Order::Computed { region, time }, name.unwrap_or_default())
        };
        measured.map(order).collect()
    }
}

impl State {
    /// A region's number.
    fn number(&mut self, from: Site, to: Site, part: u32) -> usize {
        let key = if part > 0 {
            (Site::default(), Site::default(), part)
        } else {
            (from, to, 0)
        };
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let name = if part > 0 {
            format!("part {part}")
        } else {
            format!("{} > {}", from.name(), to.name())
        };
        let name = plan::name(name);
        let number = self.names.get(&name).copied().unwrap_or_else(|| {
            self.regions.push(Region {
                times: self.plan.remove(&name).unwrap_or_default(),
                executions: 0,
                reported: false,
                recorded: false,
            });
            self.names.insert(name, self.regions.len() - 1);
            self.regions.len() - 1
        });
        self.numbers.insert(key, number);
        number
    }

    fn name_of(&self, number: usize) -> String {
        let mut names = self.names.iter();
        let found = names.find(|&(_, &each)| each == number);
        found.map(|(name, _)| name.clone()).unwrap_or_default()
    }
}

/// The least processor time between two readings of it, in nanoseconds.
fn overhead() -> u64 {
    const READINGS: u32 = 64;
    let twice = |_| {
        let first = system::processor_time();
        system::processor_time() - first
    };
    (0..READINGS).map(twice).min().unwrap_or_default()
}

#[cfg(test)]
mod tests;
