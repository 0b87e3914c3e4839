//! What a kind of benchmark says about itself; see the essay of [`super`].

use super::job::JobGrid;
use crate::check::Check;
use crate::fit::Fit;
use crate::run::Run;
use crate::sweep::{Grid, fields};
use elan::Cluster;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use workload::{Failure, RailFailure, Records, Search, Window};

/// A benchmark's section in an experiment file, with lists of values.
pub(crate) trait Kind: Grid<Point: Runs> + Serialize {
    /// What the kind is, in words with an article.
    const WHAT: &'static str;

    /// The figure of a series of this kind where the file describes no other.
    const PLOT: Plot;

    /// Whether anything travels over the network, where faults are.
    const USES_NETWORK: bool = true;

    /// Whether it knows no other faults than bit errors of all links, or of all links of a level.
    const ONLY_BIT_ERRORS: bool = false;

    /// Takes what the kind can use of what stands beside the section.
    fn take(&mut self, _: &mut Beside) {}

    /// Finds problems that do not depend on the machine. `series` is the path of the series, `run` how it is run.
    fn check(&self, series: &str, run: &Run, check: &mut Check<'_>);

    /// Finds problems that depend on the machine.
    fn fit(&self, series: &str, fit: &mut Fit<'_>);

    /// The fields whose values tell its points apart, by their names in tables and figures.
    fn columns(&self) -> Map<String, Value> {
        fields(self)
    }

    /// The sections of the series.
    fn sections(&self, key: &str) -> Map<String, Value> {
        Map::from_iter([(key.to_string(), json!(self))])
    }
}

/// A benchmark with one value for each field.
pub(crate) trait Runs: Serialize {
    /// Runs the benchmark.
    ///
    /// # Errors
    /// See [`Failure`].
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure>;

    /// What distinguishes a point in tables and figures.
    fn parameters(&self) -> Map<String, Value> {
        fields(self)
    }

    /// The part of the benchmark that decides the result; `run` is the part of the key that says how it runs.
    fn key(&self, _run: &mut Value) -> Value {
        json!(self)
    }
}

/// How a point runs.
pub(crate) struct Setting<'a> {
    /// Makes an idle cluster.
    pub cluster: &'a dyn Fn() -> Cluster,
    /// The same without faults.
    pub whole: &'a dyn Fn() -> Cluster,
    /// How the point is measured.
    pub window: Window,
    /// Seed of all random streams.
    pub seed: u64,
}

/// What is drawn of a series: metrics over a field.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    /// The field of the horizontal axis.
    pub over: &'static str,
    /// The metrics, a figure each; metrics that a point does not have are left out.
    pub metrics: &'static [&'static str],
}

/// What may stand beside the section of a kind.
#[derive(Debug)]
pub(crate) struct Beside {
    /// Jobs.
    pub jobs: BTreeMap<String, JobGrid>,
    /// A rail that fails.
    pub failure: Option<RailFailure>,
    /// A search.
    pub saturation: Option<Search>,
}
