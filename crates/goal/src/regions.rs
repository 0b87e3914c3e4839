//! Regions: names for the program parts in which a trace's computations lie.
//!
//! A recorded trace names the region of each computation, so that a replay can give each region its
//! own processor speed. In text, regions are comments for other readers of GOAL:
//!
//! ```text
//! //@ processor 1.4 ns 9.1 GB/s
//! //@ region 1 processor part 7
//! //@ region 2 memory MPI_Waitall solver+0x1a2b > MPI_Allreduce solver+0x33f0
//! num_ranks 1
//! rank 0 {
//! l0: calc 1500 cpu 1 //@ 2
//! }
//! ```
//!
//! | note | meaning |
//! |---|---|
//! | `processor STEP [RATE]` | the processor that the times belong to: the step time of the noise test's loop, and a rank's memory rate |
//! | `region N BOUND NAME` | region N, from 1 on in order, is bound by the `processor` or by `memory` |
//! | `N` behind a computation | its region |
//!
//! Other comments that begin with `//@` have no meaning. In the binary form, a computation's region
//! stands in place of its tag, and the other notes stand behind the last block: the word `REGIONS`
//! and a zero byte, their length in bytes (4), and their text. `LogGOPSim` reads neither.

use std::fmt;
use units::{Rate, Time};

/// The word in front of the notes in the binary form.
pub(crate) const MARK: &[u8; 8] = b"REGIONS\0";

/// The most bytes of all notes in the binary form.
pub(crate) const MOST: u32 = 1 << 28;

/// What limits the speed of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionLimit {
    /// The processor's speed.
    Processor,
    /// Main memory's rate.
    Memory,
}

impl RegionLimit {
    /// Its name in a trace.
    pub fn name(self) -> &'static str {
        match self {
            RegionLimit::Processor => "processor",
            RegionLimit::Memory => "memory",
        }
    }
}

/// A region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRegion {
    /// Its name, without a line's end.
    pub name: String,
    /// What limits its speed.
    pub bound: RegionLimit,
}

/// The processor that a trace's computation times belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceProcessor {
    /// The step time of the noise test's loop.
    pub step: Time,
    /// A rank's memory rate, if that is known and equal for all ranks.
    pub memory: Option<Rate>,
}

/// A trace's regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRegions {
    /// Region N is the entry N - 1.
    pub list: Vec<TraceRegion>,
    /// The processor of the recording, if it is known.
    pub processor: Option<TraceProcessor>,
}

impl TraceRegions {
    /// How many regions there are.
    pub fn len(&self) -> u32 {
        self.list.len() as u32
    }

    /// Whether the trace has no regions.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes in a note's text behind `//@`; the text has no effect if it is of another form.
    ///
    /// # Errors
    /// A region out of order.
    pub(crate) fn read(&mut self, note: &str) -> Result<(), String> {
        let (word, rest) = note.trim().split_once(' ').unwrap_or_default();
        match word {
            "region" => self.read_region(rest),
            "processor" => {
                self.processor = processor(rest).or(self.processor);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn read_region(&mut self, text: &str) -> Result<(), String> {
        let mut words = text.splitn(3, ' ');
        let number = words.next().and_then(|word| word.parse::<u32>().ok());
        let bound = match words.next() {
            Some("processor") => RegionLimit::Processor,
            Some("memory") => RegionLimit::Memory,
            _ => return Ok(()),
        };
        let (Some(number), Some(name)) = (number, words.next()) else {
            return Ok(());
        };
        let next = self.len() + 1;
        if number != next {
            return Err(format!(
                "the note defines region {number}, and the next one is region {next}; number the \
                regions from 1 on, in order"
            ));
        }
        let name = name.to_owned();
        self.list.push(TraceRegion { name, bound });
        Ok(())
    }
}

/// A processor's step time and memory rate.
fn processor(text: &str) -> Option<TraceProcessor> {
    let mut words = text.split_whitespace();
    let mut pair = || Some(format!("{} {}", words.next()?, words.next()?));
    let step: Time = pair()?.parse().ok()?;
    let memory = pair().map(|rate| rate.parse::<Rate>()).transpose().ok()?;
    let known = !step.is_zero() && memory.is_none_or(|rate| !rate.is_zero());
    known.then_some(TraceProcessor { step, memory })
}

/// The notes, a line each, without `//@`.
impl fmt::Display for TraceRegions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(TraceProcessor { step, memory }) = self.processor {
            write!(f, "processor {step}")?;
            if let Some(rate) = memory {
                write!(f, " {rate}")?;
            }
            writeln!(f)?;
        }
        for (number, TraceRegion { name, bound }) in (1..).zip(&self.list) {
            writeln!(f, "region {number} {} {name}", bound.name())?;
        }
        Ok(())
    }
}
