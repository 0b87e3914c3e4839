//! The traits of benchmark kinds; see the essay in [`super`].

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
    /// The kind, in words with an article.
    const WHAT: &'static str;

    /// The default figure for a series of this kind.
    const PLOT: Plot;

    /// Whether anything travels over the network, where faults are.
    const USES_NETWORK: bool = true;

    /// Whether it admits only bit errors on all links, or on all links at a level.
    const ONLY_BIT_ERRORS: bool = false;

    /// Takes the usable sections from those beside this one.
    fn take(&mut self, _: &mut CompanionSections) {}

    /// Finds problems that do not depend on the machine. `series` is the series' path, `run` its
    /// run settings.
    fn check(&self, series: &str, run: &Run, check: &mut Check<'_>);

    /// Finds problems that depend on the machine.
    fn fit(&self, series: &str, fit: &mut Fit<'_>);

    /// The fields that distinguish its points, by their names in tables and figures.
    fn columns(&self) -> Map<String, Value> {
        fields(self)
    }

    /// The series' sections.
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

    /// The fields that distinguish a point in tables and figures.
    fn parameters(&self) -> Map<String, Value> {
        fields(self)
    }

    /// The benchmark's part of the key, which decides the result; `run` is the key's part with the
    /// run settings.
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
    /// The seed for all random streams.
    pub seed: u64,
}

/// A series' plot: metrics over a field.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    /// The horizontal axis's field.
    pub over: &'static str,
    /// The metrics, a figure each; metrics that a point does not have are left out.
    pub metrics: &'static [&'static str],
}

/// The sections that may stand beside a kind's section.
#[derive(Debug)]
pub(crate) struct CompanionSections {
    /// Jobs.
    pub jobs: BTreeMap<String, JobGrid>,
    /// A rail that fails.
    pub failure: Option<RailFailure>,
    /// A search.
    pub saturation: Option<Search>,
    /// Whether each job runs alone, too.
    pub alone: bool,
}
