//! Jobs: nodes that send or fetch messages (petrini2003 s4.3-4.7), any number of jobs at a time;
//! see [`workload::job`] and [`workload::traffic`]. A rail may fail meanwhile. A search may look
//! for the load at which one job alone saturates ([`workload::saturation`]); several jobs may also
//! run alone, for their slowdowns.

mod check;
mod fit;

pub(super) use check::{check, not_alone};
pub(super) use fit::fit;

use super::job::{Job, JobGrid};
use super::kind::{CompanionSections, Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::run::Run;
use crate::sweep::{Grid, fields};
use itertools::Itertools;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use workload::{Failure, RailFailure, Records, Search};

/// Jobs that run at the same time, by their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobsSeries {
    /// The jobs.
    pub jobs: BTreeMap<String, JobGrid>,
    /// A rail that fails while they run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<RailFailure>,
    /// A search for the load at which the only job saturates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Search>,
    /// Whether each job runs alone, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

/// Jobs with one value for each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobsPoint {
    /// The jobs.
    pub jobs: BTreeMap<String, Job>,
    /// A rail that fails while they run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<RailFailure>,
    /// A search for the load at which the only job saturates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Search>,
    /// Whether each job runs alone, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

/// All combinations of the jobs' values.
pub(super) fn points(jobs: &BTreeMap<String, JobGrid>) -> Vec<BTreeMap<String, Job>> {
    let combinations = jobs.values().map(Grid::points).multi_cartesian_product();
    combinations
        .map(|points| jobs.keys().cloned().zip(points).collect())
        .collect()
}

/// The jobs' fields; their names begin with the job's name if `named` is set.
pub(super) fn named_fields(
    jobs: &BTreeMap<String, impl Serialize>,
    named: bool,
) -> Map<String, Value> {
    let fields = jobs.iter().flat_map(|(name, job)| {
        fields(job).into_iter().map(move |(key, value)| {
            let key = if named { format!("{name}.{key}") } else { key };
            (key, value)
        })
    });
    fields.collect()
}

/// Lists of programs, with names that begin with the program's name if `named` is set.
pub(super) fn named_lengths(
    programs: &BTreeMap<String, impl Grid>,
    named: bool,
) -> impl Iterator<Item = (String, usize)> {
    programs.iter().flat_map(move |(program, grid)| {
        let lengths = grid.lengths().into_iter();
        lengths.map(move |(key, length)| {
            let name = if named {
                format!("{program}.{key}")
            } else {
                key
            };
            (name, length)
        })
    })
}

/// Keeps one value of the list that [`named_lengths`] calls `name`.
pub(super) fn keep_named(
    programs: &mut BTreeMap<String, impl Grid>,
    named: bool,
    name: &str,
    index: usize,
) {
    for (program, grid) in programs {
        if !named {
            grid.keep(name, index);
        } else if let Some(("", key)) = name
            .strip_prefix(program.as_str())
            .and_then(|rest| rest.split_once('.'))
        {
            grid.keep(key, index);
        }
    }
}

/// The jobs' fields with one value each, and file names in place of pair lists.
pub(super) fn parameters(jobs: &BTreeMap<String, Job>, named: bool) -> Map<String, Value> {
    let mut all = named_fields(jobs, named);
    for value in all.values_mut() {
        if let Some(file) = value.get("pairs").and(value.get("file")) {
            *value = file.clone();
        }
    }
    all
}

/// The jobs as programs.
pub(super) fn workloads(jobs: &BTreeMap<String, Job>) -> Vec<workload::Job> {
    jobs.iter().map(|(name, job)| job.workload(name)).collect()
}

impl Grid for JobsSeries {
    type Point = JobsPoint;

    fn lengths(&self) -> Vec<(String, usize)> {
        named_lengths(&self.jobs, self.jobs.len() > 1).collect()
    }

    fn keep(&mut self, name: &str, index: usize) {
        let named = self.jobs.len() > 1;
        keep_named(&mut self.jobs, named, name, index);
    }

    fn points(&self) -> Vec<JobsPoint> {
        let points = points(&self.jobs).into_iter();
        points
            .map(|jobs| JobsPoint {
                jobs,
                failure: self.failure,
                saturation: self.saturation,
                alone: self.alone,
            })
            .collect()
    }
}

impl Kind for JobsSeries {
    const WHAT: &'static str = "jobs";
    const PLOT: Plot = Plot {
        over: "load",
        metrics: &["accepted", "latency_mean", "saturation", "slowdown"],
    };

    fn take(&mut self, beside: &mut CompanionSections) {
        self.jobs = std::mem::take(&mut beside.jobs);
        self.failure = beside.failure.take();
        self.saturation = beside.saturation.take();
        self.alone = std::mem::take(&mut beside.alone);
    }

    fn check(&self, series: &str, run: &Run, check: &mut Check<'_>) {
        self::check(&self.jobs, series, check);
        check::failure(self.failure, series, check);
        check::saturation(self.saturation, &self.jobs, series, check);
        check::comparison(self.alone, &self.jobs, series, check);
        if run.precision().is_some() {
            check::fixed_window("failure", self.failure.is_some(), series, check);
            check::fixed_window("saturation", self.saturation.is_some(), series, check);
            check::fixed_window("alone", self.alone, series, check);
        }
    }

    fn fit(&self, series: &str, fit: &mut Fit<'_>) {
        fit::failure(self.failure, series, fit);
        self::fit(&self.jobs, series, fit);
    }

    fn columns(&self) -> Map<String, Value> {
        named_fields(&self.jobs, self.jobs.len() > 1)
    }

    fn sections(&self, _: &str) -> Map<String, Value> {
        fields(self)
    }
}

impl Runs for JobsPoint {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        let traffic = workload::Traffic {
            jobs: workloads(&self.jobs),
            failure: self.failure,
        };
        match self.saturation {
            None if self.alone => {
                traffic.run_together_and_alone(setting.cluster, setting.window, setting.seed)
            }
            None => traffic.run((setting.cluster)(), setting.window, setting.seed),
            Some(search) => search.run(&traffic, setting.cluster, setting.window, setting.seed),
        }
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters(&self.jobs, self.jobs.len() > 1)
    }

    fn key(&self, run: &mut Value) -> Value {
        if let Some(failure) = self.failure {
            run["failure"] = json!(failure);
        }
        if let Some(saturation) = self.saturation {
            run["saturation"] = json!(saturation);
        }
        if self.alone {
            run["alone"] = json!(true);
        }
        json!(self.jobs)
    }
}
