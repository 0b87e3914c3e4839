//! From an experiment to its points.

use crate::file::{Directions, Distribution, Experiment, PingGrid, Placement, Run, UniformGrid, WorkloadGrid};
use config::{Document, Problem, Problems};
use itertools::iproduct;
use machine::Machine;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use units::{Bytes, Rate};

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
    /// Seed of all random streams.
    pub seed: u64,
}

/// A workload with one value for each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// See [`PingGrid`].
    Ping(PingPoint),
    /// See [`UniformGrid`].
    Uniform(UniformPoint),
}

/// See [`PingGrid`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // the fields are those of the grid
pub struct PingPoint {
    pub from: u32,
    pub to: u32,
    pub directions: Directions,
    pub source: Placement,
    pub destination: Placement,
    pub message: Bytes,
    pub repeats: u32,
}

/// See [`UniformGrid`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // the fields are those of the grid
pub struct UniformPoint {
    pub nodes: u32,
    pub message: Bytes,
    pub sizes: Distribution,
    pub arrivals: Distribution,
    pub load: Rate,
}

impl Point {
    /// What distinguishes the point within its experiment, for tables and figures: the fields of its workload.
    pub fn parameters(&self) -> Map<String, Value> {
        let workload = serde_json::to_value(&self.workload).expect("a workload has no keys but strings");
        let fields = workload.as_object().and_then(|kinds| kinds.values().next()).and_then(Value::as_object);
        fields.expect("a workload is a table").clone()
    }

    /// All that decides the result, and nothing else, as text. Points with equal keys have equal results.
    pub fn key(&self) -> String {
        let run = json!({
            "warm_up": self.run.warm_up,
            "window": self.run.window,
            "batches": self.run.batches,
        });
        json!({
            "machine": self.machine.values(),
            "run": run,
            "seed": self.seed,
            "workload": self.workload,
        })
        .to_string()
    }
}

/// The points of an experiment on a machine: series in the order of the file, the first field slowest, seeds fastest,
/// from `first_seed` on.
///
/// # Errors
/// What the machine does not admit.
pub fn plan(
    name: &str,
    (experiment, document): (&Experiment, &Document),
    machine: &Machine,
    first_seed: u64,
) -> Result<Vec<Point>, Problems> {
    let mut problems = Vec::new();
    let mut points = Vec::new();
    let nodes = machine.topology.nodes.value;
    for (index, series) in experiment.series.iter().enumerate() {
        let path = format!("series.{index}.workload");
        let workloads = match &series.workload {
            WorkloadGrid::Ping(grid) => {
                grid.fits(nodes, &format!("{path}.ping"), document, &mut problems);
                grid.points()
            }
            WorkloadGrid::Uniform(grid) => {
                grid.fits(nodes, &format!("{path}.uniform"), document, &mut problems);
                grid.points()
            }
        };
        let run = experiment.run.with(&series.run);
        for workload in workloads {
            for seed in 0..u64::from(run.seeds) {
                points.push(Point {
                    experiment: name.to_string(),
                    series: series.name.clone(),
                    workload: workload.clone(),
                    run: run.clone(),
                    machine: machine.clone(),
                    seed: first_seed.wrapping_add(seed),
                });
            }
        }
    }
    Problems::check(problems, points)
}

/// A problem with a node number or a number of nodes that the machine does not have.
fn too_many(path: &str, found: u32, most: u32, document: &Document) -> Problem {
    document.problem(path, format!("{found} is more than the machine has")).allowed(format!("at most {most}")).hint(
        "attach more nodes with --set topology.nodes=N if the tree has room, or run on a larger machine with --machine",
    )
}

impl PingGrid {
    fn fits(&self, nodes: u32, path: &str, document: &Document, problems: &mut Vec<Problem>) {
        for (key, ends) in [("from", &self.from), ("to", &self.to)] {
            if let Some(&end) = ends.values().iter().find(|&&end| end >= nodes) {
                problems.push(too_many(&format!("{path}.{key}"), end, nodes - 1, document));
            }
        }
        if let Some(end) = self.to.values().iter().find(|end| self.from.values().contains(end)) {
            let problem = document.problem(&format!("{path}.to"), format!("node {end} would ping itself"));
            problems.push(problem.allowed("a node that is not in `from`"));
        }
    }

    fn points(&self) -> Vec<Workload> {
        let fields = iproduct!(
            self.from.values(),
            self.to.values(),
            self.directions.values(),
            self.source.values(),
            self.destination.values(),
            self.message.values(),
            self.repeats.values()
        );
        fields
            .map(|(&from, &to, &directions, &source, &destination, &message, &repeats)| {
                Workload::Ping(PingPoint { from, to, directions, source, destination, message, repeats })
            })
            .collect()
    }
}

impl UniformGrid {
    fn fits(&self, most: u32, path: &str, document: &Document, problems: &mut Vec<Problem>) {
        if let Some(&nodes) = self.nodes.values().iter().find(|&&nodes| nodes > most) {
            problems.push(too_many(&format!("{path}.nodes"), nodes, most, document));
        }
    }

    fn points(&self) -> Vec<Workload> {
        let fields = iproduct!(
            self.nodes.values(),
            self.message.values(),
            self.sizes.values(),
            self.arrivals.values(),
            self.load.values()
        );
        fields
            .map(|(&nodes, &message, &sizes, &arrivals, &load)| {
                Workload::Uniform(UniformPoint { nodes, message, sizes, arrivals, load })
            })
            .collect()
    }
}
