//! Repeated barriers, broadcasts or reductions (petrini2001), alone or beside jobs; see
//! [`workload::collective`].

use super::job::{Job, JobGrid};
use super::jobs;
use super::kind::{CompanionSections, Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::nodes::{MOST_NODES, NodeSet};
use crate::run::Run;
use crate::sweep::{Grid, Sweep, fields};
use derive::grid;
use elan::Placement;
use itertools::Itertools;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use units::{Bytes, Time};
use workload::collective::{CollectiveMessage, CollectiveOperation};
use workload::{Failure, Records};

/// Most processes on a node, as in a trace.
const MOST_PROCESSES: u32 = 256;

/// Most groups at a time: each group keeps a library heap in every adapter's memory.
const MOST_GROUPS: u32 = 16;

/// A barrier, a broadcast or a reduction, again and again (petrini2001). It begins after the
/// warm-up.
#[grid(struct Collective)]
pub struct CollectiveGrid {
    /// The called operation, by its name in Elanlib.
    pub operation: Sweep<CollectiveOperation>,
    /// Its nodes, with one process on each by default (`processes`); the first process is the root
    /// in broadcasts. The nodes may run jobs, too.
    pub nodes: Sweep<NodeSet>,
    /// Calls that are measured, at least as many as batches.
    pub repeats: Sweep<u32>,
    /// The location of a broadcast's buffers.
    pub memory: Option<Sweep<Placement>>,
    /// Broadcast length.
    pub message: Option<Sweep<Bytes>>,
    /// Processes on each node, with ranks next to each other; 1 by default, at most `host.cpus`.
    pub processes: Option<Sweep<u32>>,
    /// Groups of the same nodes that make the calls at the same time, each with another root; 1 by
    /// default.
    pub groups: Option<Sweep<u32>>,
    /// Whether a packet deadlock is a result, with the metric `deadlock` and a table, and not an
    /// error.
    pub may_deadlock: Option<Sweep<bool>>,
    /// Each process's computation before each call, on a processor that the operating system takes
    /// away now and then; no computation by default.
    pub compute: Option<Sweep<Time>>,
    /// Its packets' traffic class, from 0 on, where the machine has several (`link.classes`); 0 by
    /// default.
    pub class: Option<Sweep<u32>>,
}

/// A collective operation and its background traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CollectiveSeries {
    /// The called operation.
    pub collective: CollectiveGrid,
    /// The background traffic.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, JobGrid>,
}

/// A collective operation and its background traffic, with one value for each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectivePoint {
    /// The called operation.
    pub collective: Collective,
    /// The background traffic.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, Job>,
}

impl From<CollectiveGrid> for CollectiveSeries {
    fn from(collective: CollectiveGrid) -> Self {
        let jobs = BTreeMap::new();
        CollectiveSeries { collective, jobs }
    }
}

impl Grid for CollectiveSeries {
    type Point = CollectivePoint;

    fn lengths(&self) -> Vec<(String, usize)> {
        let jobs = jobs::named_lengths(&self.jobs, true);
        self.collective.lengths().into_iter().chain(jobs).collect()
    }

    fn keep(&mut self, name: &str, index: usize) {
        self.collective.keep(name, index);
        jobs::keep_named(&mut self.jobs, true, name, index);
    }

    fn points(&self) -> Vec<CollectivePoint> {
        let jobs = jobs::points(&self.jobs);
        let points = self.collective.points().into_iter().cartesian_product(jobs);
        points
            .map(|(collective, jobs)| CollectivePoint { collective, jobs })
            .collect()
    }
}

impl Kind for CollectiveSeries {
    const WHAT: &'static str = "a collective operation";
    const PLOT: Plot = Plot {
        over: "nodes",
        metrics: &["latency", "step", "bandwidth", "deadlock"],
    };

    fn take(&mut self, beside: &mut CompanionSections) {
        self.jobs = std::mem::take(&mut beside.jobs);
    }

    fn check(&self, series: &str, run: &Run, check: &mut Check<'_>) {
        self.collective
            .check(&format!("{series}.collective"), run, check);
        jobs::check(&self.jobs, series, check);
    }

    fn fit(&self, series: &str, fit: &mut Fit<'_>) {
        fit.nodes(
            &format!("{series}.collective.nodes"),
            &self.collective.nodes,
        );
        fit.broadcasts(
            &format!("{series}.collective.operation"),
            &self.collective.operation,
        );
        let cpus = fit.machine.cpus();
        if let Some(processes) = &self.collective.processes {
            for (place, &each) in processes.places(&format!("{series}.collective.processes")) {
                if each > cpus {
                    let message =
                        format!("{each} processes on a node; a node has {cpus} processors");
                    let hint = format!("--set host.cpus={each} gives nodes more");
                    fit.problem(&place, message)
                        .allowed(format!("1 to {cpus}"))
                        .hint(hint);
                }
            }
        }
        if let Some(classes) = &self.collective.class {
            fit.classes(&format!("{series}.collective.class"), classes);
        }
        jobs::fit(&self.jobs, series, fit);
    }

    fn columns(&self) -> Map<String, Value> {
        let mut all = fields(&self.collective);
        all.extend(jobs::named_fields(&self.jobs, true));
        all
    }

    fn sections(&self, _: &str) -> Map<String, Value> {
        fields(self)
    }
}

impl CollectiveGrid {
    fn check(&self, path: &str, run: &Run, check: &mut Check<'_>) {
        check.lists(path, self);
        check.nodes(&format!("{path}.nodes"), &self.nodes);
        check.repeats(path, &self.repeats);
        self.batches(path, run, check);
        self.broadcast(path, check);
        self.roots(path, check);
        if let Some(processes) = &self.processes {
            for (place, &each) in processes.places(&format!("{path}.processes")) {
                check.range(&place, each, 1..=MOST_PROCESSES);
            }
        }
        if let Some(compute) = &self.compute {
            check.compute(path, compute);
        }
        if let Some(message) = &self.message {
            check.largest_message(path, message);
        }
    }

    /// Checks that every batch has a call.
    fn batches(&self, path: &str, run: &Run, check: &mut Check<'_>) {
        for (place, &repeats) in self.repeats.places(&format!("{path}.repeats")) {
            if (1..run.batches).contains(&repeats) {
                let batches = run.batches;
                let message = format!("{repeats} calls are too few for {batches} batches");
                let found = check
                    .problem(&place, message)
                    .allowed(format!("at least {batches} for so many"));
                found.hint("or fewer `batches` in a `run` of the series");
            }
        }
    }

    /// Checks the fields that a broadcast needs and a barrier cannot use.
    fn broadcast(&self, path: &str, check: &mut Check<'_>) {
        let of_kind = |broadcast: bool| {
            let mut operations = self.operation.values().iter();
            operations.find(|operation| operation.is_broadcast() == broadcast)
        };
        let given = [
            ("memory", self.memory.is_some(), "\"elan\" or \"main\""),
            (
                "message",
                self.message.is_some(),
                "a size such as \"64 KB\"",
            ),
        ];
        for (key, given, allowed) in given {
            if let (Some(operation), false) = (of_kind(true), given) {
                let message = format!("{} needs `{key}`", operation.name());
                check
                    .problem(path, message)
                    .hint(format!("write {key} = ..., {allowed}"));
            }
            if let (Some(operation), true) = (of_kind(false), given) {
                let name = operation.name();
                let message = format!(
                    "{name} is a {}, which has no use for `{key}`",
                    operation.kind()
                );
                check
                    .problem(&format!("{path}.{key}"), message)
                    .hint(match of_kind(true) {
                        Some(_) => "give barriers and broadcasts a series each",
                        None => "leave it out",
                    });
            }
        }
    }

    fn roots(&self, path: &str, check: &mut Check<'_>) {
        let Some(groups) = &self.groups else {
            return;
        };
        let few = self.nodes.values().iter().filter(|nodes| {
            let countable = nodes.highest().is_none_or(|highest| highest < MOST_NODES);
            countable && !nodes.numbers().is_empty()
        });
        let few = few.map(|nodes| nodes.numbers().len()).min();
        for (place, &groups) in groups.places(&format!("{path}.groups")) {
            if check.range(&place, groups, 1..=MOST_GROUPS)
                && let Some(few) = few.filter(|&few| groups as usize > few)
            {
                let message = format!("{few} nodes have no roots for {groups} groups");
                check
                    .problem(&place, message)
                    .allowed("no more groups than nodes");
            }
        }
    }
}

impl Runs for CollectivePoint {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        let called = &self.collective;
        let broadcast = called.memory.zip(called.message);
        let collective = workload::Collective {
            operation: called.operation,
            message: broadcast.map(|(memory, size)| CollectiveMessage { memory, size }),
            nodes: called.nodes.numbers(),
            processes: called.processes.unwrap_or(1),
            repeats: called.repeats,
            groups: called.groups.unwrap_or(1),
            may_deadlock: called.may_deadlock.unwrap_or(false),
            compute: called.compute,
            traffic_class: called.class.unwrap_or(0) as u8,
        };
        let background = jobs::workloads(&self.jobs);
        collective.run(
            &background,
            (setting.cluster)(),
            setting.window,
            setting.seed,
        )
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut all = fields(&self.collective);
        all.extend(jobs::parameters(&self.jobs, true));
        all
    }
}
