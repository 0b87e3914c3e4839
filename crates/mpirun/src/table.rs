//! A program's computation table: the file in `--compute sampled:FILE`.
//!
//! ```toml
//! version = 1
//! program = { words = ["lulesh2.0", "-s", "8"], sha256 = "...", ranks = 8 }
//! host = { step = "1.4 ns", core_memory = "9.1 GB/s" }
//!
//! [[region]]
//! name = "MPI_Waitall lulesh2.0+0x1a2b > MPI_Allreduce lulesh2.0+0x33f0"
//! bound = "processor"
//! times = [
//!   { rank = 0, count = 40, sum = 81200, first = [2100, 2030], later = [2020, 2040] },
//! ]
//! ```
//!
//! Times are processor time in nanoseconds on the host that measured them. A row has a region's
//! execution count in a rank, the sum of the times, the first [`FIRST`] times in order, and up to
//! [`LATER`] later ones, evenly over the run. So a run's first executions take their measured
//! times, as the first touch of memory; later ones take the sampled times in turn, scaled so that
//! their mean equals the mean over all later ones.
//!
//! On a machine that has a `[processor]`, times are scaled from the host to it: in processor-bound
//! regions by the step time of the noise test's loop, in memory-bound regions by a rank's share of
//! its node's memory rate. The program's author knows which regions are memory-bound; the table has
//! `processor` unless a person changes it.
//!
//! A table belongs to a program, its arguments and its rank count: another problem's regions take
//! other times, and no law for these is fitted.

use config::{Document, Findings, Problems};
use link::plan::{LONGEST_NAME, RegionTimes};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use units::{Rate, Time};

/// The format version.
const VERSION: u32 = 1;

/// How many first executions have their own times.
const FIRST: usize = 16;

/// How many later executions represent all later ones.
const LATER: usize = 16;

/// The longest time of an execution, and the largest sum of times, in nanoseconds: a day, and a
/// year.
const LONGEST: u64 = 24 * 3600 * 1_000_000_000;
const LARGEST: u64 = 365 * LONGEST;

/// The last rank that a run may have, with those that its ranks start.
const MOST_RANK: u32 = 65_535;

/// The most executions of a region in a rank.
const MOST: u64 = 1 << 40;

/// The program that a table belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredProgram {
    /// The program's name, and its arguments.
    pub words: Vec<String>,
    /// The hash over its file and its script.
    pub sha256: String,
    /// How many ranks.
    pub ranks: u32,
}

/// The processor on the host that measured a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuringHost {
    /// The step time of the noise test's loop.
    pub step: Time,
    /// Rate at which one processor reads and writes main memory.
    pub core_memory: Rate,
}

/// The limit of a region's computation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bottleneck {
    /// Processor speed.
    #[default]
    Processor,
    /// Main memory's rate.
    Memory,
}

impl Bottleneck {
    fn name(self) -> &'static str {
        match self {
            Bottleneck::Processor => "processor",
            Bottleneck::Memory => "memory",
        }
    }
}

impl MeasuringHost {
    /// The factor from times on this host to a rank's times on a machine, with this many ranks on
    /// its node. `None` if the region is memory-bound, and the machine lacks the memory rate. A
    /// machine without processors has the host's.
    pub fn factor(
        &self,
        processor: Option<&machine::ProcessorSection>,
        ranks: u32,
        bound: Bottleneck,
    ) -> Option<f64> {
        let Some(processor) = processor else {
            return Some(1.0);
        };
        match bound {
            Bottleneck::Processor => {
                let step = processor.step.value;
                Some(step.as_ps() as f64 / self.step.as_ps() as f64)
            }
            Bottleneck::Memory => {
                let share = memory_share(processor, ranks)?;
                Some(self.core_memory.as_bytes_per_second() as f64 / share)
            }
        }
    }
}

/// A rank's memory rate in bytes per second, with this many ranks on its node; `None` if the
/// machine lacks it.
pub fn memory_share(processor: &machine::ProcessorSection, ranks: u32) -> Option<f64> {
    let rate = |given: &Option<machine::Param<Rate>>, sharers: u32| {
        let rate = given.as_ref()?.value.as_bytes_per_second() as f64;
        Some(rate / f64::from(sharers.max(1)))
    };
    let (alone, shared) = (
        rate(&processor.core_memory, 1),
        rate(&processor.memory, ranks),
    );
    alone.into_iter().chain(shared).reduce(f64::min)
}

/// The request for sampled computation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingRequest {
    /// The table's file, for people.
    pub file: String,
    /// Its text, if there is such a file.
    pub text: Option<String>,
    /// The run's program.
    pub program: MeasuredProgram,
    /// The run's host, if there is no table yet.
    pub host: Option<MeasuringHost>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionTable {
    program: MeasuredProgram,
    /// The host that measured it.
    pub host: MeasuringHost,
    /// By the name.
    regions: BTreeMap<String, RegionEntry>,
}

/// A region in the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RegionEntry {
    bound: Bottleneck,
    ranks: BTreeMap<u32, Samples>,
}

/// A region's executions in a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Samples {
    count: u64,
    sum: u64,
    first: Vec<u64>,
    later: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    program: MeasuredProgram,
    host: MeasuringHost,
    #[serde(default)]
    region: Vec<Region>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Region {
    name: String,
    bound: Bottleneck,
    times: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    rank: u32,
    count: u64,
    sum: u64,
    first: Vec<u64>,
    later: Vec<u64>,
}

impl RegionTable {
    /// A table without regions.
    pub fn new(program: MeasuredProgram, host: MeasuringHost) -> RegionTable {
        RegionTable {
            program,
            host,
            regions: BTreeMap::new(),
        }
    }

    /// Reads this program's table.
    ///
    /// # Errors
    /// All mistakes in the file; a table for another program, other arguments or another rank
    /// count.
    pub fn parse(
        file: &str,
        text: &str,
        program: &MeasuredProgram,
    ) -> Result<RegionTable, Problems> {
        let document = Document::parse(file, text)?;
        let read: File = document.read()?;
        let mut findings = Findings::new(&document);
        let remedy =
            "name another file, which the run then makes, or run the program that the table is of";
        if read.version != VERSION {
            let found = findings.problem("version", "the table is of another version of Elanite");
            found
                .allowed(VERSION.to_string())
                .hint("name another file, which the run then makes");
        }
        let mut differs = |key: &str, message: String| {
            findings
                .problem(&format!("program.{key}"), message)
                .hint(remedy);
        };
        let own = &read.program;
        if own.sha256 != program.sha256 {
            differs("sha256", "the table is of another program".into());
        }
        if own.words != program.words {
            let words = program.words.join(" ");
            differs(
                "words",
                format!("the table is of other words than those of this run: {words}"),
            );
        }
        if own.ranks != program.ranks {
            let ranks = program.ranks;
            differs(
                "ranks",
                format!("the table is of another number of ranks than this run, which has {ranks}"),
            );
        }
        if read.host.step.is_zero() || read.host.core_memory.is_zero() {
            let found = findings.problem("host", "no host computes in no time");
            found.hint("leave the host of a measured table as it is");
        }
        let mut table = RegionTable::new(read.program, read.host);
        for (number, region) in read.region.into_iter().enumerate() {
            table.take(number, region, &mut findings);
        }
        Problems::check(findings.problems, table)
    }

    /// Takes a region from a file.
    fn take(&mut self, number: usize, region: Region, findings: &mut Findings<'_>) {
        let path = format!("region.{number}");
        if region.name.len() > LONGEST_NAME || region.name.contains(char::is_control) {
            let found = findings.problem(&format!("{path}.name"), "this is no name of a region");
            found.hint("leave the names of a measured table as they are");
            return;
        }
        let computed = self.regions.entry(region.name).or_default();
        computed.bound = region.bound;
        let ranks = &mut computed.ranks;
        for (place, row) in region.times.into_iter().enumerate() {
            let path = format!("{path}.times.{place}");
            let mut wrong = |key: &str, message: String, allowed: String| {
                let found = findings.problem(&format!("{path}.{key}"), message);
                found.allowed(allowed);
            };
            if row.rank > MOST_RANK {
                wrong(
                    "rank",
                    format!("there is no rank {}", row.rank),
                    format!("0 to {MOST_RANK}"),
                );
            }
            if row.first.len() > FIRST {
                wrong(
                    "first",
                    "the list is too long".into(),
                    format!("{FIRST} times"),
                );
            }
            if row.later.len() > LATER {
                wrong(
                    "later",
                    "the list is too long".into(),
                    format!("{LATER} times"),
                );
            }
            for (key, list) in [("first", &row.first), ("later", &row.later)] {
                if list.iter().any(|&time| time > LONGEST) {
                    let allowed = format!("up to {LONGEST}, a day in nanoseconds");
                    wrong(key, "a time is too long".into(), allowed);
                }
            }
            if row.sum > LARGEST {
                wrong(
                    "sum",
                    "the sum is too large".into(),
                    format!("up to {LARGEST}"),
                );
            }
            let listed = (row.first.len() + row.later.len()) as u64;
            if row.count < listed || row.count > MOST {
                let allowed = format!("{listed}, which are listed, to {MOST}");
                wrong("count", "this is no number of executions".into(), allowed);
            }
            let rank = row.rank;
            let samples = Samples {
                count: row.count,
                sum: row.sum,
                first: row.first,
                later: row.later,
            };
            if ranks.insert(rank, samples).is_some() {
                wrong(
                    "rank",
                    format!("rank {rank} has a row of this region already"),
                    "one row for each rank".into(),
                );
            }
        }
    }

    /// A region's bound; that of the processor if the table lacks the region.
    pub fn bound(&self, region: &str) -> Bottleneck {
        let found = self.regions.get(region);
        found.map(|region| region.bound).unwrap_or_default()
    }

    /// Adds a measured execution, in nanoseconds.
    pub fn add(&mut self, region: &str, rank: u32, time: u64) {
        let region = match self.regions.get_mut(region) {
            Some(found) => found,
            None => self.regions.entry(region.to_owned()).or_default(),
        };
        let ranks = &mut region.ranks;
        ranks.entry(rank).or_default().add(time.min(LONGEST));
    }

    /// A run's plan ([`link::plan`]), with a factor from the table's nanoseconds to each rank's
    /// simulated nanoseconds.
    ///
    /// # Errors
    /// The name of a region without a factor.
    pub fn plan(&self, factor: impl Fn(u32, Bottleneck) -> Option<f64>) -> Result<String, String> {
        let mut text = String::new();
        for (name, region) in &self.regions {
            for (&rank, samples) in &region.ranks {
                let factor = factor(rank, region.bound).ok_or_else(|| name.clone())?;
                link::plan::write(rank, name, &samples.times(factor), &mut text);
            }
        }
        Ok(text)
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# The computation of a program between its calls, measured by `elanite \
            mpirun --compute sampled:FILE`. A run with this\n\
            # file takes its times from it. Times are nanoseconds of processor time on the host. \
            A machine with a [processor] scales them;\n\
             # write bound = \"memory\" where a region waits for memory.\n",
        );
        let quoted = |word: &str| toml_edit::Value::from(word).to_string();
        let list = |words: &[String]| words.join(", ");
        let words: Vec<String> = self.program.words.iter().map(|word| quoted(word)).collect();
        let (words, hash) = (list(&words), quoted(&self.program.sha256));
        let _ = writeln!(
            text,
            "version = {VERSION}\nprogram = {{ words = [{words}], sha256 = {hash}, ranks = {} }}\n\
             host = {{ step = \"{}\", core_memory = \"{}\" }}",
            self.program.ranks, self.host.step, self.host.core_memory
        );
        for (name, region) in &self.regions {
            let (name, bound) = (quoted(name), region.bound.name());
            let _ = writeln!(
                text,
                "\n[[region]]\nname = {name}\nbound = \"{bound}\"\ntimes = ["
            );
            for (rank, samples) in &region.ranks {
                let times = |times: &[u64]| {
                    let times: Vec<String> = times.iter().map(u64::to_string).collect();
                    list(&times)
                };
                let (first, later) = (times(&samples.first), times(&samples.later));
                let _ = writeln!(
                    text,
                    "  \
                    {{ rank = {rank}, count = {}, sum = {}, first = [{first}], later = [{later}] }},",
                    samples.count, samples.sum
                );
            }
            text.push_str("]\n");
        }
        text
    }
}

impl Samples {
    fn add(&mut self, time: u64) {
        let later = self.count.saturating_sub(FIRST as u64);
        self.count = (self.count + 1).min(MOST);
        self.sum = self.sum.saturating_add(time).min(LARGEST);
        if self.first.len() < FIRST {
            self.first.push(time);
            return;
        }
        // Later ones: every one at first, then every second one, every fourth, and so on.
        let stride = later.div_ceil(LATER as u64).max(1).next_power_of_two();
        if self.later.len() == LATER && later.is_multiple_of(stride) {
            let mut place = 0;
            self.later.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
        if later.is_multiple_of(stride) {
            self.later.push(time);
        }
    }

    /// The plan's times in picoseconds.
    fn times(&self, factor: f64) -> RegionTimes {
        let scaled = |times: &[u64], factor: f64| {
            let time = |&time: &u64| (time as f64 * factor * 1000.0).round() as u64;
            times.iter().map(time).collect()
        };
        let firsts: u64 = self.first.iter().sum();
        let sampled: u64 = self.later.iter().sum();
        let others = self.count.saturating_sub(self.first.len() as u64);
        let mean = self.sum.saturating_sub(firsts) as f64 / others.max(1) as f64;
        let level = if sampled > 0 {
            mean * self.later.len() as f64 / sampled as f64
        } else {
            1.0
        };
        RegionTimes {
            first: scaled(&self.first, factor),
            later: scaled(&self.later, factor * level),
        }
    }
}

#[cfg(test)]
mod tests;
