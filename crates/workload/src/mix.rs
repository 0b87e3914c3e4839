//! # Programs side by side: traces, lists of flows and jobs in one run
//!
//! Any number of *programs* run on one machine: traces, each with its nodes and its start; lists of
//! flows ([`crate::flows`]); and steady-traffic jobs ([`crate::job`]), which start with the run.
//! Traces and lists start after the warm-up. The run ends when the last trace and the last flow
//! have ended; jobs are measured once the warm-up is over.
//!
//! Each program also runs *alone*, on the same machine with the same faults and seeds: a trace or a
//! list to its end, a job as long as it runs in company. The *slowdown* is the program's duration
//! in company over its duration alone: for a trace, the time from its start to the end of its last
//! operation; for a list, its flows' mean completion time; for a job, its messages' mean latency.
//!
//! Every packet counts towards its program's share on each of its links, which shows the links that
//! programs have in common.
//!
//! Limits: programs do not see each other's processors, so all processes on a node, over all
//! programs, need a processor each.

use crate::comparison::{compared, shares};
use crate::flows::{self, Flows};
use crate::job::RunningJob;
use crate::records::{Baseline, Records, Tables};
use crate::rows::{FlowRow, MetricRow};
use crate::{Failure, Job, Window, traffic};
use elan::{Cluster, NodeId, Placement, Stop};
use goal::Trace;
use goal::pattern::Calls;
use goal::replay::{Buffers, ClusterReplay};
use std::path::PathBuf;
use units::{Bytes, Time};

/// The most programs: each has a number among the link shares.
pub const MOST_PROGRAMS: usize = 250;

/// A trace's source of operations.
#[derive(Clone, Debug)]
pub enum TraceOperations {
    /// A file in GOAL.
    File(PathBuf),
    /// Calls to a pattern.
    Calls(Calls),
}

/// A trace among other programs.
#[derive(Clone, Debug)]
pub struct TraceProgram {
    /// Its name.
    pub name: String,
    /// Its ranks' operations.
    pub operations: TraceOperations,
    /// Each rank's node.
    pub nodes: Vec<NodeId>,
    /// When it starts, after the warm-up.
    pub start: Time,
    /// The room for sends, per pair of ranks; if 0, long sends end when their bytes have been
    /// fetched.
    pub buffered: Bytes,
    /// Its packets' traffic class.
    pub traffic_class: u8,
}

/// Programs that run at the same time.
#[derive(Clone, Debug, Default)]
pub struct Mix {
    /// Steady-traffic jobs.
    pub jobs: Vec<Job>,
    /// Lists of flows.
    pub flows: Vec<Flows>,
    /// Traces.
    pub traces: Vec<TraceProgram>,
}

/// Machines for the runs, idle at time 0.
#[derive(Clone, Copy)]
pub struct Machines<'a> {
    /// The machine.
    pub cluster: &'a dyn Fn() -> Cluster,
    /// The same machine without faults.
    pub whole: &'a dyn Fn() -> Cluster,
}

/// A run's results.
struct Run {
    cluster: Cluster,
    baseline: Baseline,
    /// The flow completion times in each list.
    flows: Vec<Vec<Option<Time>>>,
    /// Each trace's time.
    traces: Vec<Time>,
    /// Each job's mean latency.
    jobs: Vec<Option<Time>>,
    /// The jobs' measurements.
    measured: Tables,
}

impl Mix {
    /// Runs the programs together, and each alone if there are several.
    ///
    /// # Errors
    /// See [`Failure`].
    ///
    /// # Panics
    /// If there are more programs than [`MOST_PROGRAMS`]; and as [`traffic::Traffic::run`].
    pub fn run(
        &self,
        machines: Machines<'_>,
        window: Window,
        seed: u64,
    ) -> Result<Records, Failure> {
        let parts = self.parts();
        assert!(
            parts.len() <= MOST_PROGRAMS,
            "the experiment has been checked"
        );
        let warm_up = window.warm_up;
        let several = parts.len() > 1;
        let alone = |part: &Mix, end| part.once((machines.cluster)(), (warm_up, end), seed);
        // Traces and lists run alone first: one that does not end is an error then, whereas jobs
        // beside it would run forever.
        let mut before = Vec::new();
        for part in parts.iter().filter(|part| several && part.jobs.is_empty()) {
            before.push(alone(part, None)?);
        }
        let run = self.once((machines.cluster)(), (warm_up, None), seed)?;
        let end = Some(run.cluster.now());
        let mut jobs = Vec::new();
        for part in parts.iter().filter(|part| several && !part.jobs.is_empty()) {
            jobs.push(alone(part, end)?);
        }
        let mut measured = Tables::default();
        let mut rows = run.measured.rows.clone();
        for (job, (time, alone)) in self.jobs.iter().zip(run.jobs.iter().zip(&jobs)) {
            rows.extend(compared(&job.name, "latency_alone", *time, alone.jobs[0]));
        }
        let mut before = before.iter();
        for (list, fcts) in self.flows.iter().zip(&run.flows) {
            let ideals = flows::ideals(list, (machines.whole)())?;
            let table = table(list, fcts, &ideals);
            rows.extend(flows::results(&list.name, &table));
            measured.flows.extend(table);
            if let Some(alone) = before.next() {
                rows.extend(compared(
                    &list.name,
                    "fct_alone",
                    mean(fcts),
                    mean(&alone.flows[0]),
                ));
            }
        }
        for (trace, &time) in self.traces.iter().zip(&run.traces) {
            rows.push(MetricRow::new("time", "us", time.as_us_f64()).of_job(&trace.name));
            if let Some(alone) = before.next() {
                rows.extend(compared(
                    &trace.name,
                    "time_alone",
                    Some(time),
                    Some(alone.traces[0]),
                ));
            }
        }
        let Run {
            cluster,
            baseline,
            measured: of_jobs,
            ..
        } = run;
        measured.rows = rows;
        measured.nodes = of_jobs.nodes;
        measured.shares = shares(&cluster, &self.names());
        Ok(baseline.finish(&cluster, measured))
    }

    /// Each program alone, in share order.
    fn parts(&self) -> Vec<Mix> {
        let jobs = self.jobs.iter().map(|job| Mix {
            jobs: vec![job.clone()],
            ..Mix::default()
        });
        let flows = self.flows.iter().map(|list| Mix {
            flows: vec![list.clone()],
            ..Mix::default()
        });
        let traces = self.traces.iter().map(|trace| Mix {
            traces: vec![trace.clone()],
            ..Mix::default()
        });
        jobs.chain(flows).chain(traces).collect()
    }

    /// One run, until the last trace and flow have ended or, with an `end`, to that moment.
    fn once(
        &self,
        mut cluster: Cluster,
        (warm_up, end): (Time, Option<Time>),
        seed: u64,
    ) -> Result<Run, Failure> {
        let rails = traffic::rails(&cluster)?;
        let norm = traffic::Norm::of(&cluster);
        let mut shares = 1..;
        let mut share = || shares.next().expect("there are few programs");
        let jobs = self.jobs.iter();
        let jobs =
            jobs.map(|job| RunningJob::start(job, &mut cluster, rails.as_ref(), seed, share()));
        let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
        cluster.run_until(warm_up)?;
        let baseline = Baseline::take(&cluster);
        cluster.tally();
        let before: Vec<_> = jobs.iter().map(|job| job.totals(&cluster)).collect();
        jobs.iter().for_each(RunningJob::measure);
        let lists = self.flows.iter().map(|list| {
            let begin = (warm_up + list.start, share());
            flows::RunningFlows::start(list, (&cluster, rails.as_ref()), begin)
        });
        let lists = lists.collect::<Result<Vec<_>, _>>()?;
        let traces = self
            .traces
            .iter()
            .map(|trace| trace.start(&cluster, warm_up, share()));
        let traces = traces.collect::<Result<Vec<_>, _>>()?;
        let run = match end {
            Some(end) => cluster.run_until(end),
            None => cluster.run(),
        };
        let stuck = match run {
            Ok(()) => None,
            Err(stop @ Stop::Deadlock { packets: None, .. }) => Some(stop),
            Err(stop) => return Err(stop.into()),
        };
        // A program that waits forever reports the deadlock itself.
        let mut times = Vec::new();
        for (started, trace) in traces.into_iter().zip(&self.traces) {
            let replayed = started.finish(&cluster, Ok(()), Vec::new())?;
            times.push(replayed.time.saturating_sub(warm_up + trace.start));
        }
        let flows = lists.iter().map(|list| list.finish());
        let flows = flows.collect::<Result<Vec<_>, _>>()?;
        if let Some(stop) = stuck {
            return Err(stop.into());
        }
        let length = cluster.now() - warm_up;
        let mut measured = Tables::default();
        for (job, before) in jobs.iter().zip(&before) {
            let after = job.totals(&cluster);
            let rows = &mut measured.rows;
            rows.extend(traffic::load_rows(job, norm, None, length, before, &after));
            rows.extend(traffic::whole_window(job, norm, before, &after));
            rows.extend(traffic::failed(job, &cluster));
            let nodes = traffic::node_rows(job, length, before, &after);
            measured.nodes.extend(nodes);
        }
        Ok(Run {
            jobs: jobs.iter().map(|job| job.latency().mean()).collect(),
            cluster,
            baseline,
            flows,
            traces: times,
            measured,
        })
    }

    /// The programs' names, in share order.
    fn names(&self) -> Vec<&str> {
        let jobs = self.jobs.iter().map(|job| &*job.name);
        let flows = self.flows.iter().map(|list| &*list.name);
        let traces = self.traces.iter().map(|trace| &*trace.name);
        jobs.chain(flows).chain(traces).collect()
    }
}

impl TraceProgram {
    /// Puts the ranks on a cluster.
    fn start(&self, cluster: &Cluster, warm_up: Time, share: u8) -> Result<ClusterReplay, Failure> {
        let trace = match &self.operations {
            TraceOperations::File(path) => Trace::open(path)?,
            TraceOperations::Calls(calls) => {
                Trace::of(&self.name, calls.ranks, |rank| calls.schedule(rank))?
            }
        };
        let job = libelan::ProcessJob::at(&self.name, self.nodes.iter().copied())?;
        let job = job.in_traffic_class(self.traffic_class).of_share(share);
        let buffers = Buffers {
            placement: Placement::Main,
            sends: self.buffered,
        };
        let begin = (cluster, warm_up + self.start);
        Ok(ClusterReplay::new(trace, begin, &job, buffers, false)?)
    }
}

/// A list's table.
fn table(list: &Flows, fcts: &[Option<Time>], ideals: &[Time]) -> Vec<FlowRow> {
    let flows = list.flows.iter().zip(fcts).zip(ideals);
    let rows = flows
        .zip(0..)
        .map(|(((flow, &fct), &ideal), number)| FlowRow {
            job: list.name.clone(),
            flow: number,
            start: list.start + flow.start,
            source: flow.source.get(),
            destination: flow.destination.get(),
            size: flow.size.as_u64(),
            class: flow.class.into(),
            fct,
            ideal,
            slowdown: fct.map(|fct| fct.as_us_f64() / ideal.as_us_f64()),
        });
    rows.collect()
}

/// The mean completion time of finished flows.
fn mean(fcts: &[Option<Time>]) -> Option<Time> {
    let ended: Vec<u64> = fcts.iter().flatten().map(|fct| fct.as_ps()).collect();
    let sum: u128 = ended.iter().map(|&fct| u128::from(fct)).sum();
    let mean = sum.checked_div(ended.len() as u128)?;
    Some(Time::from_ps(mean as u64))
}
