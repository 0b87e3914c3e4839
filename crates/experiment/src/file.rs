//! The format of experiment files. These comments are also the descriptions in the JSON schema.

use crate::changes::Changes;
use crate::figure::Figure;
use crate::kinds::Benchmark;
use crate::sweep::Sweep;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Time};

/// An experiment: one or more series of points on a machine, or on each of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Experiment")]
pub struct Experiment<S = Series> {
    /// One line about it.
    pub title: String,
    /// The document, sections and figures that it reproduces.
    #[serde(default)]
    pub source: String,
    /// The machine that it runs on, unless the command line names another; or a list of machines that it compares, on each
    /// of which everything runs.
    pub machine: Sweep<String>,
    /// Defaults of all series.
    #[serde(default)]
    pub run: Run,
    /// The series.
    pub series: Vec<S>,
    /// The figures; a plain one for each series and metric by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figure: Vec<Figure>,
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
    /// Equal parts of the whole run, warm-up included, of which the delays at every link are kept, to show how
    /// congestion builds up; 0 keeps none.
    pub slices: u32,
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
            slices: 0,
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
    pub slices: Option<u32>,
    /// See [`Run`].
    pub seeds: Option<u32>,
}

/// A series of points: the Cartesian product of the lists of what it runs, the first key slowest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Short name, unique in the file.
    pub name: String,
    /// One line about it, with the figure.
    pub title: String,
    /// Changes of the defaults.
    pub run: RunChanges,
    /// Changes of the machine, of which each is used in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Sweep<Changes>>,
    /// What it runs.
    #[serde(flatten)]
    pub benchmark: Benchmark,
}

impl Run {
    /// The settings of a series.
    pub(crate) fn with(&self, changes: &RunChanges) -> Run {
        Run {
            warm_up: changes.warm_up.unwrap_or(self.warm_up),
            window: changes.window.unwrap_or(self.window),
            batches: changes.batches.unwrap_or(self.batches),
            slices: changes.slices.unwrap_or(self.slices),
            seeds: changes.seeds.unwrap_or(self.seeds),
            ..self.clone()
        }
    }
}
