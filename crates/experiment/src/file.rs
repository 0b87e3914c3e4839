//! The format of experiment files. These comments are also the descriptions in the JSON schema.

use crate::sweep::Sweep;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Time};

/// An experiment: one or more series of points on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// One line about it.
    pub title: String,
    /// The document, sections and figures that it reproduces.
    #[serde(default)]
    pub source: String,
    /// The machine that it runs on, unless the command line names another.
    pub machine: String,
    /// Defaults of all series.
    #[serde(default)]
    pub run: Run,
    /// The series.
    pub series: Vec<Series>,
}

/// How points are run and measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Simulated time that is discarded at the start of steady traffic.
    pub warm_up: Time,
    /// Simulated time that is measured after it.
    pub window: Time,
    /// Equal parts of the window; their means are the sample of the confidence interval.
    pub batches: u32,
    /// Runs of each point with different random numbers.
    pub seeds: u32,
    /// A point that needs more events ends with an error.
    pub max_events: u64,
    /// A point that needs more memory ends with an error.
    pub max_memory: Bytes,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            warm_up: Time::ZERO,
            window: Time::from_ms(10),
            batches: 10,
            seeds: 1,
            max_events: 10_000_000_000,
            max_memory: Bytes::from_kb(4 << 20),
        }
    }
}

/// What a series changes of the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunChanges {
    /// See [`Run`].
    pub warm_up: Option<Time>,
    /// See [`Run`].
    pub window: Option<Time>,
    /// See [`Run`].
    pub batches: Option<u32>,
    /// See [`Run`].
    pub seeds: Option<u32>,
}

/// A series of points: the Cartesian product of the lists of its workload, the first key slowest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Short name, unique in the file.
    pub name: String,
    /// One line about it, with the figure.
    #[serde(default)]
    pub title: String,
    /// Changes of the defaults.
    #[serde(default)]
    pub run: RunChanges,
    /// What runs.
    pub workload: WorkloadGrid,
}

/// What a series runs, by the name of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadGrid {
    /// One message at a time between two nodes.
    Ping(PingGrid),
    /// Every node sends to random nodes.
    Uniform(UniformGrid),
}

/// One message at a time between two nodes (000 s4.1, s4.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PingGrid {
    /// The first node.
    pub from: Sweep<u32>,
    /// The second node.
    pub to: Sweep<u32>,
    /// Which messages travel at the same time.
    pub directions: Sweep<Directions>,
    /// Where the sender's buffer lies.
    pub source: Sweep<Placement>,
    /// Where the receiver's buffer lies.
    pub destination: Sweep<Placement>,
    /// Length of each message.
    pub message: Sweep<Bytes>,
    /// Messages in each direction.
    pub repeats: Sweep<u32>,
}

/// Every node sends to random nodes, one message at a time (000 s4.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformGrid {
    /// Nodes that are attached and take part, from node 0 on.
    pub nodes: Sweep<u32>,
    /// Mean message size.
    pub message: Sweep<Bytes>,
    /// Distribution of message sizes.
    pub sizes: Sweep<Distribution>,
    /// Distribution of inter-arrival times.
    pub arrivals: Sweep<Distribution>,
    /// Mean offered load of each node.
    pub load: Sweep<Rate>,
}

/// Which messages of a ping travel at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Directions {
    /// From the first node to the second.
    One,
    /// Both ways.
    Both,
}

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// In the adapter's memory.
    Elan,
    /// In main memory, across the bus.
    Main,
}

/// How a quantity with a given mean varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Not at all.
    Fixed,
    /// Uniformly between 0 and twice the mean.
    Uniform,
    /// Exponentially.
    Exponential,
}

impl Run {
    /// The settings of a series.
    pub(crate) fn with(&self, changes: &RunChanges) -> Run {
        Run {
            warm_up: changes.warm_up.unwrap_or(self.warm_up),
            window: changes.window.unwrap_or(self.window),
            batches: changes.batches.unwrap_or(self.batches),
            seeds: changes.seeds.unwrap_or(self.seeds),
            ..self.clone()
        }
    }
}
