//! # Benchmark kinds: what a series can run
//!
//! A kind is one file below this one. The file defines everything about the kind: the fields of its
//! section in experiment files, each one value or a list ([`Grid`]); their bounds, on any machine
//! ([`Kind::check`]) and on a given one ([`Kind::fit`]); its points; how a point runs and its key
//! ([`Runs`]); and its default figure ([`Plot`]). The module `kind` has these traits. A run's
//! records are in the crate `workload`, with its program. All code that deals with experiments uses
//! this file's list of kinds; no other code names a kind.
//!
//! Lists multiply, unless the series zips them: the module `zip` pairs them, and keeps one value of
//! each.
//!
//! A section `[series.KEY]` chooses a series' only kind. Jobs have names, `[series.jobs.NAME]`, and
//! may run beside other kinds. [`CompanionSections`] holds the sections beside a section; a kind
//! takes the usable ones from it.

mod allocation;
mod collective;
mod goodput;
mod job;
mod jobs;
pub(crate) mod kind;
mod mix;
mod noise;
mod overlap;
mod ping;
mod trace;

pub use allocation::{Allocation, AllocationGrid};
pub use collective::{Collective, CollectiveGrid, CollectivePoint, CollectiveSeries};
pub use goodput::GoodputGrid;
pub use job::{Job, JobGrid};
pub use jobs::{JobsPoint, JobsSeries};
pub use kind::Plot;
pub use mix::{FlowListGrid, MixSeries, Programs, TraceFileGrid};
pub use noise::NoiseGrid;
pub use overlap::OverlapGrid;
pub use ping::PingGrid;
pub use trace::TraceGrid;

use crate::changes::Changes;
use crate::check::Check;
use crate::fault::FaultGrid;
use crate::fit::Fit;
use crate::run::{Run, RunChanges};
use crate::sweep::{Grid, Sweep};
use kind::{CompanionSections, Kind, Runs, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use workload::{Failure, RailFailure, Records, Search};

/// A series of points: the Cartesian product of its benchmark's lists, the first key slowest; lists
/// in `zip` go together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Short name, unique in the file.
    pub name: String,
    /// One line about it, with the figure.
    pub title: String,
    /// Changes of the defaults.
    pub run: RunChanges,
    /// Changes to the machine, each used in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Sweep<Changes>>,
    /// Columns whose lists go together, in one group or several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub zip: Vec<Sweep<String>>,
    /// Faults while it runs, in addition to those of all series.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<FaultGrid>,
    /// Its benchmark.
    #[serde(flatten)]
    pub benchmark: Benchmark,
}

impl Series {
    /// Checks the series' faults, and that it admits them; `shared` are the faults in all series.
    pub(crate) fn check_faults(&self, path: &str, shared: &[FaultGrid], check: &mut Check<'_>) {
        for (index, fault) in self.fault.iter().enumerate() {
            fault.check(&format!("{path}.fault.{index}"), check);
        }
        let Some(Refusal { what, why, admits }) = self.benchmark.refuses_faults() else {
            return;
        };
        let refused = |faults: &[FaultGrid]| faults.iter().position(|fault| !admits(fault));
        if let Some(index) = refused(&self.fault) {
            let message = format!("{what} {}", why.join(", and "));
            let found = check.problem(&format!("{path}.fault.{index}"), message);
            found.hint("leave it out");
        } else if let Some(index) = refused(shared) {
            let (name, why) = (&self.name, why.join(" and "));
            let message = format!("the series `{name}` runs {what}, which {why}");
            let found = check.problem(&format!("fault.{index}"), message);
            found.hint("give the faults to the other series, with [[series.fault]]");
        }
    }
}

/// A benchmark kind that refuses faults.
pub(crate) struct Refusal {
    /// The kind, in words.
    what: &'static str,
    /// Why it refuses them.
    why: [&'static str; 2],
    /// Which faults it admits nevertheless.
    admits: fn(&FaultGrid) -> bool,
}

impl Refusal {
    fn of<K: Kind>(_: &K) -> Option<Refusal> {
        let (why, admits): (_, fn(&FaultGrid) -> bool) = if !K::USES_NETWORK {
            (
                ["sends nothing over the network", "meets no faults"],
                |_| false,
            )
        } else if K::ONLY_BIT_ERRORS {
            let form = [
                "holds for bit errors of all links, or of all links of a level",
                "for no other faults",
            ];
            (form, FaultGrid::is_bit_errors_of_levels)
        } else {
            return None;
        };
        Some(Refusal {
            what: K::WHAT,
            why,
            admits,
        })
    }
}

/// A series' benchmark, with lists of values. The variant names are the kinds' keys.
#[derive(Clone, Debug, PartialEq, derive::Kinds)]
pub enum Benchmark {
    /// A ping.
    Ping(PingGrid),
    /// A test of the overlap between communication and computation.
    Overlap(OverlapGrid),
    /// A noise test.
    Noise(NoiseGrid),
    /// A collective operation.
    Collective(CollectiveSeries),
    /// A collective operation as a trace.
    Trace(TraceGrid),
    /// A static rail allocation.
    Allocation(AllocationGrid),
    /// A closed form for goodput.
    Goodput(GoodputGrid),
    /// Jobs that run at the same time.
    Jobs(JobsSeries),
    /// Flows, traces and jobs that run at the same time.
    Mix(MixSeries),
}

/// A series as written in a file. One of its sections gives its benchmark; jobs, a section each,
/// may run beside a collective operation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Series")]
pub(crate) struct Sections {
    /// Short name, unique in the file.
    pub name: String,
    /// One line about it, with the figure.
    #[serde(default)]
    pub title: String,
    /// Changes of the defaults.
    #[serde(default)]
    pub run: RunChanges,
    /// Changes to the machine: a table with its keys, or a list of such tables, each used in turn.
    #[serde(default)]
    pub machine: Option<Sweep<Changes>>,
    /// Lists that go together, the first values with the first, and so on, in place of all
    /// combinations: their columns, as `["nodes", "load"]`; or a list of such groups.
    #[serde(default)]
    zip: Vec<Sweep<String>>,
    /// Faults while the series runs, in addition to those of all series.
    #[serde(default)]
    fault: Vec<FaultGrid>,
    /// A ping.
    #[serde(default)]
    ping: Option<PingGrid>,
    /// A test of the overlap between communication and computation.
    #[serde(default)]
    overlap: Option<OverlapGrid>,
    /// A noise test.
    #[serde(default)]
    noise: Option<NoiseGrid>,
    /// A collective operation.
    #[serde(default)]
    collective: Option<CollectiveGrid>,
    /// A collective operation as a trace.
    #[serde(default)]
    trace: Option<TraceGrid>,
    /// A static rail allocation.
    #[serde(default)]
    allocation: Option<AllocationGrid>,
    /// A closed form for goodput.
    #[serde(default)]
    goodput: Option<GoodputGrid>,
    /// Jobs that run at the same time, by their names.
    #[serde(default)]
    pub jobs: BTreeMap<String, JobGrid>,
    /// Flow lists that run at the same time, by their names.
    #[serde(default)]
    pub flows: BTreeMap<String, FlowListGrid>,
    /// Traces in files that run at the same time, by their names.
    #[serde(default)]
    pub traces: BTreeMap<String, TraceFileGrid>,
    /// A rail that fails while jobs run.
    #[serde(default)]
    failure: Option<RailFailure>,
    /// A search for the load at which the job saturates, from its own load upwards.
    #[serde(default)]
    saturation: Option<Search>,
    /// Whether each of several jobs also runs alone, on the same machine with the same faults and
    /// seed: for its slowdown, and its share of each link. Programs of other kinds always do.
    #[serde(default)]
    alone: bool,
}

impl Sections {
    /// The series, if it runs anything. `path` is its own.
    pub fn series(self, path: &str, check: &mut Check<'_>) -> Option<Series> {
        let collective = self.collective.map(CollectiveSeries::from);
        let listed = !self.flows.is_empty() || !self.traces.is_empty();
        let (trace, mix) = if listed || (self.trace.is_some() && !self.jobs.is_empty()) {
            let mix = MixSeries {
                jobs: BTreeMap::new(),
                flows: self.flows,
                trace: self.trace,
                traces: self.traces,
            };
            (None, Some(mix))
        } else {
            (self.trace, None)
        };
        let given = [
            self.ping.map(Benchmark::Ping),
            self.overlap.map(Benchmark::Overlap),
            self.noise.map(Benchmark::Noise),
            collective.map(Benchmark::Collective),
            trace.map(Benchmark::Trace),
            self.allocation.map(Benchmark::Allocation),
            self.goodput.map(Benchmark::Goodput),
            mix.map(Benchmark::Mix),
        ];
        let beside = CompanionSections {
            jobs: self.jobs,
            failure: self.failure,
            saturation: self.saturation,
            alone: self.alone,
        };
        Some(Series {
            name: self.name,
            title: self.title,
            run: self.run,
            machine: self.machine,
            zip: self.zip,
            fault: self.fault,
            benchmark: choose(given.into_iter().flatten(), beside, path, check)?,
        })
    }
}

/// The sections' keys, except those of programs with names.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    let keys = Benchmark::PLOTS.iter().map(|&(key, _)| key);
    keys.filter(|&key| key != "jobs" && key != "mix")
}

/// The keys of programs with names, which run side by side.
pub(crate) const NAMED: [&str; 3] = ["jobs", "flows", "traces"];

/// A series' one benchmark, chosen from those given, and the sections beside it.
fn choose(
    mut given: impl Iterator<Item = Benchmark>,
    mut beside: CompanionSections,
    path: &str,
    check: &mut Check<'_>,
) -> Option<Benchmark> {
    let jobs = (!beside.jobs.is_empty()).then_some(JobsSeries::WHAT);
    let Some(mut benchmark) = given.next() else {
        if jobs.is_none() {
            let sections: Vec<_> = keys().map(|key| format!("[series.{key}]")).collect();
            let hint = format!(
                "say what runs, in a section such as {} or, with a name of your choice for the \
                job, [series.jobs.NAME], [series.flows.NAME] or [series.traces.NAME]",
                sections.join(", ")
            );
            check.problem(path, "this series runs nothing").hint(hint);
        }
        let mut jobs = JobsSeries::default();
        jobs.take(&mut beside);
        return (!jobs.jobs.is_empty()).then_some(Benchmark::Jobs(jobs));
    };
    benchmark.take(&mut beside);
    let jobs = jobs.filter(|_| !beside.jobs.is_empty());
    if let Some(other) = given.next().map(|other| other.what()).or(jobs) {
        let message = format!("this series runs both {} and {other}", benchmark.what());
        let found = check.problem(&format!("{path}.{}", benchmark.key()), message);
        found.hint("give each of them a series of its own");
    }
    if beside.failure.is_some() {
        let found = check.problem(
            &format!("{path}.failure"),
            "a rail can fail under jobs only",
        );
        found.hint("leave it out");
    }
    if beside.saturation.is_some() {
        jobs::not_alone(path, check);
    }
    if beside.alone {
        let found = check.problem(
            &format!("{path}.alone"),
            "this is a choice of series with jobs only",
        );
        found.hint(match benchmark {
            Benchmark::Mix(_) => "leave it out: these programs always run alone, too",
            _ => "leave it out",
        });
    }
    Some(benchmark)
}
