//! An experiment's points.

use crate::changes::MachineFile;
use crate::fault;
use crate::file::Experiment;
use crate::fit::Fit;
use crate::kinds::Workload;
use crate::run::Run;
use config::{Document, Problem, Problems};
use fabric::config::MAX_REGIONS;
use itertools::iproduct;
use machine::{FaultSection, Machine};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One run: everything that decides its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The experiment's name.
    pub experiment: String,
    /// The series' name.
    pub series: String,
    /// The benchmark.
    pub workload: Workload,
    /// How the point is run and measured.
    pub run: Run,
    /// The machine, with provenance.
    pub machine: Machine,
    /// Faults meanwhile, in addition to the machine's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSection>,
    /// The series' changes to the machine, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// The seed for all random streams.
    pub seed: u64,
    /// Regions into which the network is cut, and threads that work on them; 0 stands for 1. No
    /// result depends on these, and a point's text lacks them.
    #[serde(skip)]
    pub regions: u32,
    /// See `regions`.
    #[serde(skip)]
    pub threads: u32,
}

impl Point {
    /// The point with so many threads, each with a region of the network: at least one, at most
    /// [`MAX_REGIONS`].
    #[must_use]
    pub fn on_threads(self, threads: u32) -> Self {
        let threads = threads.clamp(1, MAX_REGIONS);
        Point {
            regions: threads,
            threads,
            ..self
        }
    }

    /// The fields that distinguish the point within its experiment, for tables and figures: the
    /// machine changes, and the fields of the faults and of the workload. If there are several
    /// jobs, or a job beside a collective operation, their names precede their fields:
    /// `compute.load`.
    pub fn parameters(&self) -> Map<String, Value> {
        let changes = self
            .changes
            .iter()
            .map(|changes| ("machine".to_string(), json!(changes)));
        let mut parameters: Map<_, _> = changes.collect();
        parameters.extend(fault::columns(self.faults.iter()));
        parameters.extend(self.workload.parameters());
        parameters
    }

    /// All that can decide the result, as text, without titles, provenance and bounds. Points with
    /// equal keys have equal results. How the machine recovers from faults is left out unless
    /// something may fail.
    pub fn key(&self) -> String {
        let mut run = json!({
            "warm_up": self.run.warm_up,
            "window": self.run.window,
            "batches": self.run.batches,
        });
        if self.run.slices > 0 {
            run["slices"] = self.run.slices.into();
        }
        if !self.run.watch.is_zero() {
            run["watch"] = json!(self.run.watch);
        }
        if let Some(precision) = self.run.precision() {
            run["precision"] = precision.enough.into();
            run["doublings"] = precision.doublings.into();
        }
        let workload = self.workload.key(&mut run);
        let mut machine = self.machine.values();
        if self.machine.fault.is_empty() && self.faults.is_empty() {
            let sections = machine.as_object_mut().expect("a machine is a table");
            sections.shift_remove("faults");
        }
        let mut key = json!({
            "machine": machine,
            "run": run,
            "seed": self.seed,
            "workload": workload,
        });
        if !self.faults.is_empty() {
            key["faults"] = json!(self.faults);
        }
        key.to_string()
    }
}

/// Most points in an experiment.
pub(crate) const MOST_POINTS: u64 = 100_000;

/// An experiment's points on a machine. Series come in file order; within a series zipped lists
/// vary slowest, then the machine changes, then fault fields, then workload fields in their order,
/// and seeds fastest, from `first_seed` on.
///
/// # Errors
/// The machine's mistakes, and its limits that the experiment breaks.
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
        count = (series.combinations(&experiment.fault))
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
        if !problems.is_empty() {
            continue;
        }
        for row in series.rows(&experiment.fault) {
            let machines = row.machines(&machines);
            for (machine, _) in machines {
                let mut fit = Fit::new(machine, document);
                row.benchmark.fit(&path, &mut fit);
                for (index, fault) in row.shared.iter().enumerate() {
                    fault.fit(&format!("fault.{index}"), &mut fit);
                }
                for (index, fault) in row.fault.iter().enumerate() {
                    fault.fit(&format!("{path}.fault.{index}"), &mut fit);
                }
                for problem in fit.problems().drain(..) {
                    if !problems.contains(&problem) {
                        problems.push(problem);
                    }
                }
            }
            if !problems.is_empty() {
                continue;
            }
            let workloads = row.benchmark.workloads();
            let faults = fault::combinations(row.shared.iter().chain(&row.fault));
            for ((machine, changes), faults, workload) in iproduct!(machines, &faults, &workloads) {
                points.extend((0..u64::from(run.seeds)).map(|seed| Point {
                    experiment: name.to_string(),
                    series: series.name.clone(),
                    workload: workload.clone(),
                    run: run.clone(),
                    machine: machine.clone(),
                    faults: faults.clone(),
                    changes: changes.clone(),
                    seed: first_seed.wrapping_add(seed),
                    regions: 0,
                    threads: 0,
                }));
            }
        }
    }
    Problems::check(problems, points)
}
