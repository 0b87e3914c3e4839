//! Sampled computation in a run: ranks get a table's plan, and their further measurements are added
//! to the table.

use crate::options::OptionsProblem;
use crate::table::{Bottleneck, MeasuringHost, RegionTable, SamplingRequest, memory_share};
use goal::{RegionLimit, TraceProcessor};
use machine::Machine;
use rustix::fs::MemfdFlags;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use units::Rate;

/// A run's sampling.
pub(crate) struct Sampling {
    table: RegionTable,
    /// The plan, as a file in memory.
    plan: File,
    /// The factor from host times to machine times, for regions that the processor bounds.
    pub factor: f64,
    /// The processor that the run's computation times belong to.
    pub processor: TraceProcessor,
}

/// The measurements by a run's ranks.
#[derive(Default)]
pub(crate) struct RankMeasurements {
    /// Region names by rank and number.
    names: BTreeMap<(u32, u64), String>,
    /// Region, rank and nanoseconds, in each rank's order.
    executions: Vec<(u32, u64, u64)>,
}

/// The table after a run.
#[derive(Clone, Debug)]
pub struct ExtendedTable {
    /// The file's text.
    pub text: String,
    /// How many executions the run has measured.
    pub executions: u64,
    /// The factor from host times to machine times, for regions that the processor bounds.
    pub factor: f64,
}

impl Sampling {
    /// Reads the table, and makes the plan for ranks on these nodes.
    ///
    /// # Errors
    /// The table's mistakes; data that the machine lacks for it; if the host has no memory for the
    /// plan.
    pub fn new(
        asked: &SamplingRequest,
        machine: &Machine,
        nodes: &[u32],
    ) -> Result<Sampling, OptionsProblem> {
        let table = match (&asked.text, asked.host) {
            (Some(text), _) => RegionTable::parse(&asked.file, text, &asked.program)?,
            (None, Some(host)) => RegionTable::new(asked.program.clone(), host),
            (None, None) => {
                let message = "a new table needs the processor of the host";
                return Err(OptionsProblem::Option(message.into()));
            }
        };
        let mut sharers: BTreeMap<u32, u32> = BTreeMap::new();
        for &node in nodes {
            *sharers.entry(node).or_default() += 1;
        }
        let host = table.host;
        let factor = |rank: u32, bound| {
            let node = nodes.get(rank as usize);
            let ranks = node.and_then(|node| sharers.get(node)).copied();
            host.factor(machine.processor.as_ref(), ranks.unwrap_or(1), bound)
        };
        let lacking = |region: String| {
            OptionsProblem::Option(format!(
                "{}: the region `{region}` is bound by memory, and {} has neither \
                processor.core_memory nor processor.memory; \
                 give one of them, or write bound = \"processor\"",
                asked.file, machine.machine.name
            ))
        };
        let flags = MemfdFlags::CLOEXEC;
        let plan = rustix::fs::memfd_create("elanite-plan", flags).map_err(std::io::Error::from)?;
        let mut plan = File::from(plan);
        plan.write_all(table.plan(factor).map_err(lacking)?.as_bytes())?;
        let factor = factor(0, Bottleneck::Processor).unwrap_or(1.0);
        let shares = nodes.iter().map(|node| sharers[node]).collect();
        Ok(Sampling {
            table,
            plan,
            factor,
            processor: run_processor(host, machine.processor.as_ref(), &shares),
        })
    }

    /// What limits a region's speed, by the table.
    pub fn bound(&self, region: &str) -> RegionLimit {
        match self.table.bound(region) {
            Bottleneck::Processor => RegionLimit::Processor,
            Bottleneck::Memory => RegionLimit::Memory,
        }
    }

    /// Where ranks find the plan: [`link::PLAN_VARIABLE`]'s value.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.plan.as_raw_fd())
    }

    /// The table with the ranks' measurements.
    pub fn extended(&self, measured: &RankMeasurements) -> ExtendedTable {
        let mut table = self.table.clone();
        for (rank, region, time) in &measured.executions {
            if let Some(name) = measured.names.get(&(*rank, *region)) {
                table.add(name, *rank, *time);
            }
        }
        ExtendedTable {
            text: table.text(),
            executions: measured.executions.len() as u64,
            factor: self.factor,
        }
    }
}

/// The machine's processor, or the host's if the machine has none, for ranks with these rank counts
/// on their nodes.
fn run_processor(
    host: MeasuringHost,
    processor: Option<&machine::ProcessorSection>,
    sharers: &BTreeSet<u32>,
) -> TraceProcessor {
    let Some(processor) = processor else {
        return TraceProcessor {
            step: host.step,
            memory: Some(host.core_memory),
        };
    };
    let share = |&ranks: &u32| memory_share(processor, ranks).map(|rate| rate as u64);
    let shares: BTreeSet<Option<u64>> = sharers.iter().map(share).collect();
    let one = (shares.len() == 1).then(|| shares.first().copied().flatten());
    TraceProcessor {
        step: processor.step.value,
        memory: one.flatten().map(Rate::from_bytes_per_second),
    }
}

impl RankMeasurements {
    /// A rank has measured an execution of a region, and gives the region's name the first time.
    pub fn add(&mut self, rank: u32, region: u64, name: &[u8], time: u64) {
        if !name.is_empty() {
            let name = link::plan::name(String::from_utf8_lossy(name).into_owned());
            self.names.entry((rank, region)).or_insert(name);
        }
        self.executions.push((rank, region, time));
    }

    /// Whether no rank has measured anything.
    pub fn is_empty(&self) -> bool {
        self.executions.is_empty()
    }
}
