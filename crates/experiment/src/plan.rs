//! The points of an experiment.

use crate::changes::MachineFile;
use crate::fault;
use crate::file::Experiment;
use crate::fit::Fit;
use crate::kinds::{Series, Workload};
use crate::run::Run;
use crate::sweep::Grid;
use config::{Document, Problem, Problems};
use itertools::iproduct;
use machine::{Fault, Machine};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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
    /// How the point is run and measured.
    pub run: Run,
    /// The machine, with provenance.
    pub machine: Machine,
    /// What fails meanwhile, beside what the machine lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// What the series changed of the machine, where it has changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Regions into which the network is cut, and threads that work on them; 0 stands for 1. No result depends on these, and
    /// the text of a point lacks them.
    #[serde(skip)]
    pub regions: u32,
    /// See `regions`.
    #[serde(skip)]
    pub threads: u32,
}

impl Point {
    /// What distinguishes the point within its experiment, for tables and figures: the changes of the machine, and the
    /// fields of the faults and of the workload. Where there are several jobs, or a job beside a collective operation, their names stand
    /// before their fields: `compute.load`.
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

    /// All that can decide the result, as text: neither titles nor provenance nor bounds. Points with equal keys have
    /// equal results. How the machine recovers from faults is left out unless something may fail.
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

/// Most points of an experiment.
const MOST_POINTS: u64 = 100_000;

/// The points of an experiment on a machine. Series come in the order of the file; within a series the changes of the machine
/// vary slowest, then the fields of faults, then the fields of the workload in their order, and seeds fastest, from `first_seed` on.
///
/// # Errors
/// What is wrong with the machine, and what the machine does not admit.
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
        let faults = || experiment.fault.iter().chain(&series.fault);
        let of_faults = faults().map(Grid::combinations);
        count = series
            .combinations()
            .saturating_mul(of_faults.fold(1, u64::saturating_mul))
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
            let mut fit = Fit::new(machine, document);
            series.benchmark.fit(&path, &mut fit);
            for (index, fault) in experiment.fault.iter().enumerate() {
                fault.fit(&format!("fault.{index}"), &mut fit);
            }
            for (index, fault) in series.fault.iter().enumerate() {
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
        let workloads = series.benchmark.workloads();
        let faults = fault::combinations(faults());
        for ((machine, changes), faults, workload) in iproduct!(&machines, &faults, &workloads) {
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
    Problems::check(problems, points)
}

impl Series {
    /// The number of combinations of values.
    fn combinations(&self) -> u64 {
        let machines = self
            .machine
            .as_ref()
            .map_or(1, |sweep| sweep.values().len() as u64);
        machines.saturating_mul(self.benchmark.combinations())
    }
}
