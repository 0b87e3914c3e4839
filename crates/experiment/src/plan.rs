//! From an experiment to its points.

use crate::changes::MachineFile;
use crate::file::{
    Allocation, Collective, Experiment, Job, Noise, Overlap, Ping, RailFailure, Run, Saturation,
    Series,
};
use crate::fit;
use crate::pattern::Pattern;
use crate::sweep::Grid;
use config::{Document, Problem, Problems};
use itertools::Itertools;
use machine::Machine;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One run: everything that decides its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the series.
    pub series: String,
    /// What runs.
    pub workload: Workload,
    /// How it is run and measured.
    pub run: Run,
    /// The machine, with provenance.
    pub machine: Machine,
    /// What the series changed of it, where it has a list of changes or one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// A rail that fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<RailFailure>,
    /// A search of the load at which the job saturates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
    /// Seed of all random streams.
    pub seed: u64,
}

/// A workload with one value for each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// See [`crate::PingGrid`].
    Ping(Ping),
    /// See [`crate::OverlapGrid`].
    Overlap(Overlap),
    /// See [`crate::NoiseGrid`].
    Noise(Noise),
    /// See [`crate::JobGrid`].
    Jobs(BTreeMap<String, Job>),
    /// See [`crate::CollectiveGrid`].
    Collective {
        /// What is called.
        collective: Collective,
        /// The background traffic.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        jobs: BTreeMap<String, Job>,
    },
    /// See [`crate::AllocationGrid`].
    Allocation(Allocation),
}

impl Point {
    /// What distinguishes the point within its experiment, for tables and figures: the changes of the machine and the
    /// fields of the workload. Where there are several jobs, or a job beside a collective operation, their names stand
    /// before their fields: `compute.load`.
    pub fn parameters(&self) -> Map<String, Value> {
        let changes = self
            .changes
            .iter()
            .map(|changes| ("machine".to_string(), json!(changes)));
        let mut parameters: Map<_, _> = changes.collect();
        match &self.workload {
            Workload::Ping(ping) => parameters.extend(fields(ping)),
            Workload::Allocation(allocation) => parameters.extend(fields(allocation)),
            Workload::Overlap(overlap) => parameters.extend(fields(overlap)),
            Workload::Noise(noise) => parameters.extend(fields(noise)),
            Workload::Jobs(jobs) => parameters.extend(fields_of_jobs(jobs, jobs.len() > 1)),
            Workload::Collective { collective, jobs } => {
                parameters.extend(fields(collective));
                parameters.extend(fields_of_jobs(jobs, true));
            }
        }
        parameters
    }

    /// All that can decide the result, as text: neither titles nor provenance nor bounds. Points with equal keys have
    /// equal results.
    pub fn key(&self) -> String {
        let mut run = json!({
            "warm_up": self.run.warm_up,
            "window": self.run.window,
            "batches": self.run.batches,
        });
        if self.run.slices > 0 {
            run["slices"] = self.run.slices.into();
        }
        if let Some(failure) = self.failure {
            run["failure"] = json!(failure);
        }
        if let Some(saturation) = self.saturation {
            run["saturation"] = json!(saturation);
        }
        json!({
            "machine": self.machine.values(),
            "run": run,
            "seed": self.seed,
            "workload": self.workload,
        })
        .to_string()
    }
}

/// The fields of jobs, with their names or without.
fn fields_of_jobs(jobs: &BTreeMap<String, Job>, named: bool) -> Map<String, Value> {
    let mut all = Map::new();
    for (name, job) in jobs {
        let prefix = if named {
            format!("{name}.")
        } else {
            String::new()
        };
        let mut fields = fields(job);
        if let Pattern::Pairs(pairs) = &job.pattern {
            fields.insert("pattern".into(), json!(pairs.file));
        }
        let named = fields
            .into_iter()
            .map(|(key, value)| (format!("{prefix}{key}"), value));
        all.extend(named);
    }
    all
}

fn fields(table: &impl Serialize) -> Map<String, Value> {
    let value = serde_json::to_value(table).expect("a workload has no keys but strings");
    value.as_object().expect("it is a table").clone()
}

/// Most points of an experiment.
const MOST_POINTS: u64 = 100_000;

/// The points of an experiment on a machine: series in the order of the file; within a series the changes of the machine
/// slowest, then the fields of the workload in their order, seeds fastest, from `first_seed` on.
///
/// # Errors
/// What is wrong with the machine, and what it does not admit.
pub fn plan(
    name: &str,
    (experiment, document): (&Experiment, &Document),
    machine: &MachineFile<'_>,
    first_seed: u64,
) -> Result<Vec<Point>, Problems> {
    let base = Machine::parse(machine.file, machine.text, machine.overrides)?;
    let mut problems: Vec<Problem> = Vec::new();
    let mut points = Vec::new();
    let mut count: u64 = 0;
    for (index, series) in experiment.series.iter().enumerate() {
        let path = format!("series.{index}");
        let run = experiment.run.with(&series.run);
        count = series
            .combinations()
            .saturating_mul(run.seeds.into())
            .saturating_add(count);
        if count > MOST_POINTS {
            let message = format!("with this series the experiment has {count} points");
            let problem = document.problem(&path, message);
            problems.push(problem.allowed(format!("at most {MOST_POINTS}")));
            break;
        }
        let mut machines = Vec::new();
        match &series.machine {
            None => machines.push((base.clone(), None)),
            Some(sweep) => {
                for (place, changes) in sweep.places(&format!("{path}.machine")) {
                    match changes.apply(machine, document, &place) {
                        Ok(machine) => machines.push((machine, Some(changes.label()))),
                        Err(found) => problems.extend(found),
                    }
                }
            }
        }
        for (machine, _) in &machines {
            for problem in fit::problems(series, &path, machine, document) {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        if !problems.is_empty() {
            continue;
        }
        let workloads = series.workloads();
        for ((machine, changes), workload) in machines.iter().cartesian_product(&workloads) {
            points.extend((0..u64::from(run.seeds)).map(|seed| Point {
                experiment: name.to_string(),
                series: series.name.clone(),
                workload: workload.clone(),
                run: run.clone(),
                machine: machine.clone(),
                changes: changes.clone(),
                failure: series.failure,
                saturation: series.saturation,
                seed: first_seed.wrapping_add(seed),
            }));
        }
    }
    Problems::check(problems, points)
}

impl Series {
    /// How many combinations of values there are.
    fn combinations(&self) -> u64 {
        let machines = self
            .machine
            .as_ref()
            .map_or(1, |sweep| sweep.values().len() as u64);
        let ping = self.ping.as_ref().map_or(1, Grid::combinations);
        let noise = self.noise.as_ref().map_or(1, Grid::combinations);
        let collective = self.collective.as_ref().map_or(1, Grid::combinations);
        let jobs = self.jobs.values().map(Grid::combinations);
        let allocation = self.allocation.as_ref().map_or(1, Grid::combinations);
        let overlap = self.overlap.as_ref().map_or(1, Grid::combinations);
        let all = [ping, overlap, noise, collective, allocation];
        let all = all.into_iter().chain(jobs);
        all.fold(machines, u64::saturating_mul)
    }

    /// The combinations of values of what it runs.
    fn workloads(&self) -> Vec<Workload> {
        if let Some(ping) = &self.ping {
            return ping.points().into_iter().map(Workload::Ping).collect();
        }
        if let Some(allocation) = &self.allocation {
            let points = allocation.points().into_iter();
            return points.map(Workload::Allocation).collect();
        }
        if let Some(overlap) = &self.overlap {
            let points = overlap.points().into_iter();
            return points.map(Workload::Overlap).collect();
        }
        if let Some(noise) = &self.noise {
            return noise.points().into_iter().map(Workload::Noise).collect();
        }
        let names = || self.jobs.keys().cloned();
        let jobs = self.jobs.values().map(Grid::points);
        let jobs = jobs.multi_cartesian_product();
        let jobs = jobs.map(|jobs| names().zip(jobs).collect());
        let Some(collective) = &self.collective else {
            return jobs.map(Workload::Jobs).collect();
        };
        let jobs: Vec<BTreeMap<String, Job>> = jobs.collect();
        let points = collective.points().into_iter().cartesian_product(jobs);
        points
            .map(|(collective, jobs)| Workload::Collective { collective, jobs })
            .collect()
    }
}
