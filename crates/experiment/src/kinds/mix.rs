//! Programs side by side: flow lists, traces and jobs in one run; see [`workload::mix`] and
//! [`workload::flows`].
//!
//! Each program has its own named section: `[series.flows.NAME]` is a flow list,
//! `[series.traces.NAME]` a trace in a file, `[series.jobs.NAME]` a steady-traffic job. A pattern's
//! trace, `[series.trace]`, may stand beside them.

mod check;
mod fit;

use super::job::{Job, JobGrid};
use super::jobs;
use super::kind::{CompanionSections, Kind, Plot, Runs, Setting};
use super::trace::{Trace, TraceGrid};
use crate::check::Check;
use crate::content::Content;
use crate::fit::Fit;
use crate::nodes::NodeSet;
use crate::run::Run;
use crate::sweep::{Grid, Sweep, fields};
use derive::grid;
use elan::{NodeId, Placement};
use itertools::{Itertools, iproduct};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use units::{Bytes, Time};
use workload::flows::Flow;
use workload::mix::{Machines, TraceOperations, TraceProgram};
use workload::{Failure, Flows, Mix, Records};

/// A pattern trace's name among the programs.
const PATTERN: &str = "trace";

/// A flow list: each flow with its start, its nodes and its size.
#[grid(struct FlowList)]
pub struct FlowListGrid {
    /// A CSV file with the columns start, source, destination, size and class.
    pub file: Sweep<Content>,
    /// The list's nodes: node 0 in the file is the first of these, and so on. By default, the
    /// file's nodes are the machine's.
    pub nodes: Option<Sweep<NodeSet>>,
    /// When the list starts, after the warm-up; immediately by default.
    pub start: Option<Sweep<Time>>,
    /// Where the buffers lie: in the adapter's memory (default) or in main memory.
    pub memory: Option<Sweep<Placement>>,
}

/// A trace in a file, by processes on some nodes.
#[grid(struct TraceFile)]
pub struct TraceFileGrid {
    /// A trace in GOAL, as text or from txt2bin. `elanite goal import` makes one from other
    /// formats.
    pub file: Sweep<Content>,
    /// The processes' nodes, in rank order.
    pub nodes: Sweep<NodeSet>,
    /// Processes on each node, with ranks next to each other; 1 by default, at most `host.cpus`.
    pub processes: Option<Sweep<u32>>,
    /// When the trace starts, after the warm-up; immediately by default.
    pub start: Option<Sweep<Time>>,
    /// Room for sends, per pair of ranks, which end in it; no room by default: long sends end when
    /// their bytes have been fetched.
    pub buffered: Option<Sweep<Bytes>>,
    /// Its packets' traffic class, from 0 on, where the machine has several (`link.classes`); 0 by
    /// default.
    pub class: Option<Sweep<u32>>,
}

/// Programs side by side, by their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MixSeries {
    /// Steady-traffic jobs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, JobGrid>,
    /// Flow lists.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub flows: BTreeMap<String, FlowListGrid>,
    /// A pattern's trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceGrid>,
    /// Traces in files.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<String, TraceFileGrid>,
}

/// Programs with one value for each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    /// Steady-traffic jobs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, Job>,
    /// Flow lists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flows: BTreeMap<String, FlowList>,
    /// A pattern's trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Traces in files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<String, TraceFile>,
}

/// All combinations of values for programs of one kind.
fn points<G: Grid>(grids: &BTreeMap<String, G>) -> Vec<BTreeMap<String, G::Point>>
where
    G::Point: Clone,
{
    let combinations = grids.values().map(Grid::points).multi_cartesian_product();
    combinations
        .map(|points| grids.keys().cloned().zip(points).collect())
        .collect()
}

impl Grid for MixSeries {
    type Point = Programs;

    fn lengths(&self) -> Vec<(String, usize)> {
        let jobs = jobs::named_lengths(&self.jobs, true);
        let flows = jobs::named_lengths(&self.flows, true);
        let trace = self.trace.iter().flat_map(Grid::lengths);
        let trace = trace.map(|(key, length)| (format!("{PATTERN}.{key}"), length));
        let traces = jobs::named_lengths(&self.traces, true);
        jobs.chain(flows).chain(trace).chain(traces).collect()
    }

    fn keep(&mut self, name: &str, index: usize) {
        jobs::keep_named(&mut self.jobs, true, name, index);
        jobs::keep_named(&mut self.flows, true, name, index);
        if let (Some(trace), Some((PATTERN, key))) = (&mut self.trace, name.split_once('.')) {
            trace.keep(key, index);
        }
        jobs::keep_named(&mut self.traces, true, name, index);
    }

    fn points(&self) -> Vec<Programs> {
        let trace: Vec<_> = match &self.trace {
            Some(trace) => trace.points().into_iter().map(Some).collect(),
            None => vec![None],
        };
        let (jobs, flows, traces) = (
            jobs::points(&self.jobs),
            points(&self.flows),
            points(&self.traces),
        );
        let all = iproduct!(jobs, flows, trace, traces);
        all.map(|(jobs, flows, trace, traces)| Programs {
            jobs,
            flows,
            trace,
            traces,
        })
        .collect()
    }
}

/// The programs' fields, with names that begin with the program's.
fn named(
    jobs: &BTreeMap<String, impl Serialize>,
    flows: &BTreeMap<String, impl Serialize>,
    trace: Option<&impl Serialize>,
    traces: &BTreeMap<String, impl Serialize>,
) -> Map<String, Value> {
    let mut all = jobs::named_fields(jobs, true);
    all.extend(jobs::named_fields(flows, true));
    let trace = trace.map(|trace| (PATTERN.to_string(), trace));
    all.extend(jobs::named_fields(&trace.into_iter().collect(), true));
    all.extend(jobs::named_fields(traces, true));
    all
}

impl Kind for MixSeries {
    const WHAT: &'static str = "programs side by side";
    const PLOT: Plot = Plot {
        over: "start",
        metrics: &[
            "slowdown",
            "fct_slowdown_p50",
            "fct_slowdown_p99",
            "fct_slowdown_p99_9",
            "time",
        ],
    };

    fn take(&mut self, beside: &mut CompanionSections) {
        self.jobs = std::mem::take(&mut beside.jobs);
    }

    fn check(&self, series: &str, _: &Run, check: &mut Check<'_>) {
        jobs::check(&self.jobs, series, check);
        if let Some(trace) = &self.trace {
            trace.check_calls(series, check);
        }
        check::programs(self, series, check);
    }

    fn fit(&self, series: &str, fit: &mut Fit<'_>) {
        jobs::fit(&self.jobs, series, fit);
        if let Some(trace) = &self.trace {
            trace.fit(series, fit);
        }
        fit::programs(self, series, fit);
    }

    fn columns(&self) -> Map<String, Value> {
        named(&self.jobs, &self.flows, self.trace.as_ref(), &self.traces)
    }

    fn sections(&self, _: &str) -> Map<String, Value> {
        fields(self)
    }
}

impl FlowList {
    /// The list as a program.
    fn workload(&self, name: &str) -> Result<Flows, Failure> {
        let mut flows = self.file.flows()?;
        if let Some(nodes) = &self.nodes {
            let nodes = nodes.numbers();
            let placed = |node: NodeId| nodes[node.get() as usize];
            for flow in &mut flows {
                *flow = Flow {
                    source: placed(flow.source),
                    destination: placed(flow.destination),
                    ..*flow
                };
            }
        }
        Ok(Flows {
            name: name.to_string(),
            flows,
            memory: self.memory.unwrap_or(Placement::Adapter),
            start: self.start.unwrap_or_default(),
        })
    }
}

/// Each rank's node: a given number of ranks per node.
fn ranks(nodes: &NodeSet, processes: Option<u32>) -> Vec<NodeId> {
    let each = processes.unwrap_or(1) as usize;
    let nodes = nodes.numbers().into_iter();
    nodes
        .flat_map(|node| std::iter::repeat_n(node, each))
        .collect()
}

impl TraceFile {
    /// The trace as a program.
    fn workload(&self, name: &str) -> Result<TraceProgram, Failure> {
        Ok(TraceProgram {
            name: name.to_string(),
            operations: TraceOperations::File(self.file.verified()?),
            nodes: ranks(&self.nodes, self.processes),
            start: self.start.unwrap_or_default(),
            buffered: self.buffered.unwrap_or_default(),
            traffic_class: self.class.unwrap_or(0) as u8,
        })
    }
}

impl Runs for Programs {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        let flows = self.flows.iter().map(|(name, list)| list.workload(name));
        let pattern = self.trace.iter().map(|trace| {
            Ok(TraceProgram {
                name: PATTERN.to_string(),
                operations: TraceOperations::Calls(trace.calls()),
                nodes: ranks(&trace.nodes, trace.processes),
                start: trace.start.unwrap_or_default(),
                buffered: Bytes::ZERO,
                traffic_class: 0,
            })
        });
        let traces = self.traces.iter().map(|(name, trace)| trace.workload(name));
        let mix = Mix {
            jobs: jobs::workloads(&self.jobs),
            flows: flows.collect::<Result<_, _>>()?,
            traces: pattern.chain(traces).collect::<Result<_, _>>()?,
        };
        let machines = Machines {
            cluster: setting.cluster,
            whole: setting.whole,
        };
        mix.run(machines, setting.window, setting.seed)
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut all = named(&self.jobs, &self.flows, self.trace.as_ref(), &self.traces);
        for value in all.values_mut() {
            if let Some(file) = value.get("file") {
                *value = file.clone();
            }
        }
        all
    }

    /// File texts are named by their digests.
    fn key(&self, _run: &mut Value) -> Value {
        let mut key = json!(self);
        for kind in ["flows", "traces"] {
            let programs = key.get_mut(kind).and_then(Value::as_object_mut);
            for (_, program) in programs.into_iter().flatten() {
                program["file"] = program["file"]["digest"].clone();
            }
        }
        key
    }
}
