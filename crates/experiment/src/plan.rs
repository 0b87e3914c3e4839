//! From an experiment to its points.

use crate::file::{
    Directions, Distribution, Experiment, PingGrid, Placement, Run, UniformGrid, WorkloadGrid,
};
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
        let workload =
            serde_json::to_value(&self.workload).expect("a workload has no keys but strings");
        let fields = workload
            .as_object()
            .and_then(|kinds| kinds.values().next())
            .and_then(Value::as_object);
        fields.expect("a workload is a table").clone()
    }

    /// All that can decide the result, as text: neither names and titles nor provenance nor bounds. Points with equal
    /// keys have equal results.
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

/// Most points of an experiment.
const MOST_POINTS: u64 = 100_000;

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
    let mut count: u64 = 0;
    for (index, series) in experiment.series.iter().enumerate() {
        let run = experiment.run.with(&series.run);
        let path = format!("series.{index}");
        let values = series
            .workload
            .combinations()
            .saturating_mul(run.seeds.into());
        count = values.saturating_add(count);
        if count > MOST_POINTS {
            let message = format!("with this series the experiment has {count} points");
            problems.push(
                document
                    .problem(&path, message)
                    .allowed(format!("at most {MOST_POINTS}")),
            );
            break;
        }
        let path = format!("{path}.workload");
        let workloads = match &series.workload {
            WorkloadGrid::Ping(grid) => {
                grid.fits(machine, &format!("{path}.ping"), document, &mut problems);
                grid.points()
            }
            WorkloadGrid::Uniform(grid) => {
                grid.fits(machine, &format!("{path}.uniform"), document, &mut problems);
                grid.points()
            }
        };
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

/// What to do where the machine has too few nodes; `needed` would do.
fn more_nodes(machine: &Machine, needed: u32) -> String {
    let positions: u64 = machine
        .topology
        .down
        .value
        .iter()
        .map(|&down| u64::from(down))
        .product();
    if u64::from(needed) <= positions {
        format!("the tree has room: attach more nodes with --set topology.nodes={needed}")
    } else {
        "run on a larger machine, with --machine".to_string()
    }
}

impl WorkloadGrid {
    /// How many combinations of values there are.
    fn combinations(&self) -> u64 {
        let fields = match self {
            WorkloadGrid::Ping(grid) => vec![
                grid.from.values().len(),
                grid.to.values().len(),
                grid.directions.values().len(),
                grid.source.values().len(),
                grid.destination.values().len(),
                grid.message.values().len(),
                grid.repeats.values().len(),
            ],
            WorkloadGrid::Uniform(grid) => vec![
                grid.nodes.values().len(),
                grid.message.values().len(),
                grid.sizes.values().len(),
                grid.arrivals.values().len(),
                grid.load.values().len(),
            ],
        };
        fields.iter().fold(1, |product: u64, &values| {
            product.saturating_mul(values as u64)
        })
    }
}

impl PingGrid {
    fn fits(
        &self,
        machine: &Machine,
        path: &str,
        document: &Document,
        problems: &mut Vec<Problem>,
    ) {
        let nodes = machine.topology.nodes.value;
        for (key, ends) in [("from", &self.from), ("to", &self.to)] {
            for (place, &end) in ends
                .places(&format!("{path}.{key}"))
                .filter(|(_, end)| **end >= nodes)
            {
                let message =
                    format!("there is no node {end}: the machine has {nodes}, numbered from 0");
                let problem = document
                    .problem(&place, message)
                    .allowed(format!("0 to {}", nodes - 1));
                problems.push(problem.hint(more_nodes(machine, end.saturating_add(1))));
            }
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
            .map(
                |(&from, &to, &directions, &source, &destination, &message, &repeats)| {
                    Workload::Ping(PingPoint {
                        from,
                        to,
                        directions,
                        source,
                        destination,
                        message,
                        repeats,
                    })
                },
            )
            .collect()
    }
}

impl UniformGrid {
    fn fits(
        &self,
        machine: &Machine,
        path: &str,
        document: &Document,
        problems: &mut Vec<Problem>,
    ) {
        let most = machine.topology.nodes.value;
        for (place, &nodes) in self
            .nodes
            .places(&format!("{path}.nodes"))
            .filter(|(_, nodes)| **nodes > most)
        {
            let problem = document.problem(
                &place,
                format!("{nodes} nodes are more than the machine has"),
            );
            problems.push(
                problem
                    .allowed(format!("at most {most}"))
                    .hint(more_nodes(machine, nodes)),
            );
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
                Workload::Uniform(UniformPoint {
                    nodes,
                    message,
                    sizes,
                    arrivals,
                    load,
                })
            })
            .collect()
    }
}
