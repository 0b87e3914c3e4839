//! Jobs: nodes that send messages, or fetch them (petrini2003 s4.3-4.7), any number of jobs at a time; see [`workload::job`] and
//! [`workload::traffic`]. A rail may fail meanwhile, and the load at which one job alone saturates may be searched for
//! ([`workload::saturation`]).

mod check;
mod fit;

pub(super) use check::{check, not_alone};
pub(super) use fit::fit;

use super::{Beside, Kind, Plot, Runs, Setting, fields};
use crate::check::Check;
use crate::file::Run;
use crate::fit::Fit;
use crate::nodes::Nodes;
use crate::pattern::Pattern;
use crate::sweep::{Grid, Sweep, grid};
use elan::Placement;
use itertools::Itertools;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use units::{Bytes, Rate, Time};
use workload::{Distribution, Failure, Records, Search};

grid! {
    /// Nodes that send messages, or fetch them, each one message at a time (petrini2003 s4.3-4.7).
    JobGrid, Job {
        /// Where their messages go: the name of a pattern, or of a CSV file with pairs of nodes.
        pattern: Pattern,
        /// Its nodes. A node runs one job.
        nodes: Nodes,
        /// Mean message size.
        message: Bytes,
        /// Distribution of message sizes.
        sizes: Distribution,
        /// Distribution of inter-arrival times.
        arrivals: Distribution,
        /// Mean offered load of each node.
        load: Rate,
    }
    optional {
        /// The nodes that its messages go to instead of each other; they may be nodes of any job, too.
        servers: Nodes,
        /// Fraction of messages that are written to their destination, 0 to 1 (default); the others are read from it. Over
        /// several rails they can only be written.
        writes: f64,
        /// Where the buffers lie: in the adapter's memory (default) or in main memory.
        memory: Placement,
        /// Processes of each node, which share its load; 1 by default. Each sends one message at a time.
        processes: u32,
    }
}

/// Jobs that run at the same time, by their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobsSeries {
    /// The jobs.
    pub jobs: BTreeMap<String, JobGrid>,
    /// A rail that fails while they run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<RailFailure>,
    /// A search of the load at which the only job saturates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
}

/// The same with one value for each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The jobs.
    pub jobs: BTreeMap<String, Job>,
    /// A rail that fails while they run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<RailFailure>,
    /// A search of the load at which the only job saturates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
}

/// A rail that fails while jobs run, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RailFailure {
    /// Its number, from 0.
    pub rail: u32,
    /// When, from the start of the run.
    pub at: Time,
}

/// A search of the load at which the only job of a series saturates; its own load is the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// The highest load.
    pub highest: Rate,
    /// How far apart a saturated load and one that is not may be in the end, as a fraction of the highest load.
    pub resolution: f64,
}

/// All combinations of the values of jobs.
pub(super) fn points(jobs: &BTreeMap<String, JobGrid>) -> Vec<BTreeMap<String, Job>> {
    let combinations = jobs.values().map(Grid::points).multi_cartesian_product();
    combinations
        .map(|points| jobs.keys().cloned().zip(points).collect())
        .collect()
}

/// The fields of jobs, with their names before them or without.
pub(super) fn parameters(jobs: &BTreeMap<String, Job>, named: bool) -> Map<String, Value> {
    let mut all = Map::new();
    for (name, job) in jobs {
        let mut fields = fields(job);
        if let Pattern::Pairs(pairs) = &job.pattern {
            fields.insert("pattern".into(), json!(pairs.file));
        }
        all.extend(fields.into_iter().map(|(key, value)| {
            let key = if named { format!("{name}.{key}") } else { key };
            (key, value)
        }));
    }
    all
}

/// The jobs as programs.
pub(super) fn workloads(jobs: &BTreeMap<String, Job>) -> Vec<workload::Job> {
    jobs.iter().map(|(name, job)| job.workload(name)).collect()
}

impl Grid for JobsSeries {
    type Point = Traffic;

    fn lengths(&self) -> Vec<(&'static str, usize)> {
        self.jobs.values().flat_map(Grid::lengths).collect()
    }

    fn points(&self) -> Vec<Traffic> {
        let points = points(&self.jobs).into_iter();
        points
            .map(|jobs| Traffic {
                jobs,
                failure: self.failure,
                saturation: self.saturation,
            })
            .collect()
    }
}

impl Kind for JobsSeries {
    const WHAT: &'static str = "jobs";
    const PLOT: Plot = Plot {
        over: "load",
        metrics: &["accepted", "latency_mean", "saturation"],
    };

    fn take(&mut self, beside: &mut Beside) {
        self.jobs = std::mem::take(&mut beside.jobs);
        self.failure = beside.failure.take();
        self.saturation = beside.saturation.take();
    }

    fn check(&self, series: &str, _: &Run, check: &mut Check<'_>) {
        self::check(&self.jobs, series, check);
        self.check_failure(series, check);
        self.check_saturation(series, check);
    }

    fn fit(&self, series: &str, fit: &mut Fit<'_>) {
        self.fit_failure(series, fit);
        self::fit(&self.jobs, series, fit);
    }

    fn sections(&self, _: &str) -> Map<String, Value> {
        fields(self)
    }
}

impl Runs for Traffic {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        let traffic = workload::Traffic {
            jobs: workloads(&self.jobs),
            failure: self.failure.map(|failure| (failure.rail, failure.at)),
        };
        let search = self.saturation.map(|saturation| Search {
            highest: saturation.highest,
            resolution: saturation.resolution,
        });
        match search {
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
        json!(self.jobs)
    }
}

impl Job {
    fn workload(&self, name: &str) -> workload::Job {
        workload::Job {
            name: name.to_string(),
            nodes: self.nodes.numbers(),
            pattern: self.pattern.workload(),
            servers: self.servers.as_ref().map_or(Vec::new(), Nodes::numbers),
            message: self.message,
            sizes: self.sizes,
            arrivals: self.arrivals,
            load: self.load,
            writes: self.writes.unwrap_or(1.0),
            memory: self.memory.unwrap_or(Placement::Adapter),
            processes: self.processes.unwrap_or(1),
        }
    }
}
