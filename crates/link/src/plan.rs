//! The plan for a run with sampled computation: the simulated time for each execution of a region.
//!
//! A *region* is the program between two calls, by the places from which it makes them, or a
//! program part that `MPI_Pcontrol` has named. The simulator makes the plan from a table with
//! measured times and from the machine's processors. Ranks read it once, when they attach: a file
//! in memory beside that of the [link](crate), with a line for each region in a rank:
//!
//! ```text
//! RANK TAB REGION TAB FIRST TIMES TAB LATER TIMES
//! ```
//!
//! The first times belong to the first executions, in order; later executions take the later times
//! in turn. Times are picoseconds. A region without times for its next execution is measured by the
//! rank.

use std::collections::HashMap;
use std::fmt::Write;

/// The longest name of a region, in bytes.
pub const LONGEST_NAME: usize = 1024;

/// A region's execution times in one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionTimes {
    /// For the first executions, in order.
    pub first: Vec<u64>,
    /// For all later ones, in turn.
    pub later: Vec<u64>,
}

impl RegionTimes {
    /// The time for the execution that this many precede.
    pub fn of(&self, execution: u64) -> Option<u64> {
        let first = self.first.len() as u64;
        if execution < first {
            return Some(self.first[execution as usize]);
        }
        let later = self.later.len() as u64;
        (later > 0).then(|| self.later[((execution - first) % later) as usize])
    }
}

/// A name without signs that a line cannot hold, and not too long.
pub fn name(mut text: String) -> String {
    text.retain(|sign| !sign.is_control());
    while text.len() > LONGEST_NAME {
        text.pop();
    }
    text
}

/// The lines for a rank's regions.
pub fn write(rank: u32, name: &str, times: &RegionTimes, to: &mut String) {
    let list = |times: &[u64]| {
        let words: Vec<String> = times.iter().map(u64::to_string).collect();
        words.join(" ")
    };
    let (first, later) = (list(&times.first), list(&times.later));
    let _ = writeln!(to, "{rank}\t{name}\t{first}\t{later}");
}

/// A rank's regions by name; lines in another form are skipped.
pub fn read(rank: u32, text: &str) -> HashMap<String, RegionTimes> {
    let times = |words: &str| words.split_whitespace().flat_map(str::parse).collect();
    let own = format!("{rank}\t");
    let region = |line: &str| {
        let mut parts = line.strip_prefix(&own)?.split('\t');
        let (name, first, later) = (parts.next()?, parts.next()?, parts.next()?);
        let (first, later) = (times(first), times(later));
        Some((name.to_owned(), RegionTimes { first, later }))
    };
    text.lines().filter_map(region).collect()
}

#[cfg(test)]
mod tests;
