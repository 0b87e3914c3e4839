//! # Steady traffic from any number of jobs (petrini2003 s4.3-4.7)
//!
//! All jobs run at the same time, from the start until the window ends, and are measured
//! separately.
//!
//! *Accepted* load is a job's payload that was stored in the measured window: at servers or, for
//! reads, at the requesting nodes. *Offered* load is the payload that arrived in the window. Both
//! are given per node that sends, without silent nodes, and for jobs with servers also per server.
//!
//! A job is *saturated* if the waiting messages have grown in the window by more than 5% of the
//! arrivals, and by more than half a message for each process. A load just above the accepted load
//! shows only in windows long enough for that.
//!
//! A run may have a *precision*: the window doubles until each saturated job's accepted load is
//! known well enough ([`crate::precision`]).
//!
//! On a machine with several rails loads are also given as fractions of the combined capacity of a
//! node's links, and latencies in cycles of one flit on a link, as in coll2003 (s5.3).
//!
//! The latency of a message runs from its arrival, including its wait behind earlier messages,
//! until its node knows that the message is complete. Past saturation the latency grows with the
//! run, and reflects only the run length.

use crate::circuits::Circuits;
use crate::comparison::{compared, shares};
use crate::job::{Job, RunningJob, Totals};
use crate::precision::{Precision, measure};
use crate::records::{Baseline, Records, Tables};
use crate::rows::{MetricRow, NodeRow};
use crate::slices::Slices;
use crate::{Failure, Window};
use elan::{Cluster, MemoryError};
use itertools::Itertools;
use rails::Rails;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Time};

/// The units in which coll2003 measures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm {
    /// The capacity of a node's links, in one direction, on all rails.
    rate: f64,
    /// The time for a flit on a link.
    cycle: Time,
}

impl Norm {
    /// A cluster's units; `None` if it has one rail.
    pub fn of(cluster: &Cluster) -> Option<Norm> {
        let config = cluster.config();
        config.rails.map(|_| Norm {
            rate: Rate::of(config.packet.flit, config.cycle) * f64::from(cluster.rails()),
            cycle: config.cycle,
        })
    }

    /// A node's load, in MB/s, as a fraction of its links' capacity.
    pub fn part(self, load: f64) -> f64 {
        load / self.rate
    }
}

/// A cluster's rails, if it has several.
pub(crate) fn rails(cluster: &Cluster) -> Result<Option<Rails>, MemoryError> {
    let several = cluster.config().rails.is_some();
    several.then(|| Rails::new(cluster)).transpose()
}

/// Jobs that run at the same time.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// A rail that fails during the run.
    pub failure: Option<RailFailure>,
}

/// A rail that fails permanently while jobs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RailFailure {
    /// Its number, from 0.
    pub rail: u32,
    /// The moment, from the start of the run.
    pub at: Time,
}

impl Traffic {
    /// Runs the jobs through the warm-up and the window.
    ///
    /// # Errors
    /// See [`Failure`].
    ///
    /// # Panics
    /// If a job has nodes that the cluster lacks, a pattern that does not admit their number, or no
    /// node that sends.
    pub fn run(&self, cluster: Cluster, window: Window, seed: u64) -> Result<Records, Failure> {
        self.measured(cluster, window, seed, false)
    }

    /// Runs the jobs together, with their shares of the links, and then each alone, on the same
    /// machine with the same faults and seed; see [`crate::mix`] for the slowdown.
    ///
    /// # Errors
    /// See [`Failure`].
    ///
    /// # Panics
    /// As [`Traffic::run`].
    pub fn run_together_and_alone(
        &self,
        cluster: &dyn Fn() -> Cluster,
        window: Window,
        seed: u64,
    ) -> Result<Records, Failure> {
        let mut records = self.measured(cluster(), window, seed, true)?;
        let mut rows = Vec::new();
        for (job, (name, latency)) in self.jobs.iter().zip(&records.latencies) {
            let part = Traffic {
                jobs: vec![job.clone()],
                ..*self
            };
            let alone = part.run(cluster(), window, seed)?;
            let (_, latency_alone) = &alone.latencies[0];
            let times = (latency.mean(), latency_alone.mean());
            rows.extend(compared(name, "latency_alone", times.0, times.1));
        }
        records.add(rows);
        Ok(records)
    }

    /// The jobs' run; with `tally`, packets count towards their jobs' shares of the links.
    fn measured(
        &self,
        mut cluster: Cluster,
        mut window: Window,
        seed: u64,
        tally: bool,
    ) -> Result<Records, Failure> {
        if let Some(failure) = self.failure {
            cluster.fail_rail(failure.rail.into(), failure.at);
        }
        let rails = rails(&cluster)?;
        let norm = Norm::of(&cluster);
        let start = |(job, number)| {
            let share = if tally { number } else { 0 };
            RunningJob::start(job, &mut cluster, rails.as_ref(), seed, share)
        };
        let running = self.jobs.iter().zip(1..).map(start);
        let running = running.collect::<Result<Vec<_>, _>>()?;
        let mut slices = Slices::new(&cluster, window);
        let mut circuits = Circuits::new(&mut cluster, window);
        slices.run_until(&mut cluster, window.warm_up)?;
        cluster.check_conservation();
        let baseline = Baseline::take(&cluster);
        if tally {
            cluster.tally();
        }
        let start = Moment::of(&running, &cluster);
        running.iter().for_each(RunningJob::measure);
        let moments = measure(
            &mut window,
            |end| -> Result<_, Failure> {
                circuits.run_until(&mut cluster, &mut slices, end)?;
                slices.run_until(&mut cluster, end)?;
                cluster.check_conservation();
                rails.iter().for_each(Rails::check);
                Ok(Moment::of(&running, &cluster))
            },
            |precision, moments| is_known(precision, &running, &start, moments),
        )?;
        let mut rows = Vec::new();
        let mut before = &start;
        for (batch, after) in (0..).zip(&moments) {
            let length = after.time - before.time;
            let totals = before.totals.iter().zip(&after.totals);
            for (job, (before, after)) in running.iter().zip(totals) {
                rows.extend(load_rows(job, norm, Some(batch), length, before, after));
            }
            before = after;
        }
        let mut nodes = Vec::new();
        for ((job, start), end) in running.iter().zip(&start.totals).zip(&before.totals) {
            rows.extend(whole_window(job, norm, start, end));
            rows.extend(failed(job, &cluster));
            nodes.extend(node_rows(job, window.length, start, end));
        }
        let measured = Tables {
            rows,
            nodes,
            slices: slices.into_rows(),
            circuits: circuits.into_rows(),
            shares: if tally {
                let names: Vec<&str> = self.jobs.iter().map(|job| &*job.name).collect();
                shares(&cluster, &names)
            } else {
                Vec::new()
            },
            ..Tables::default()
        };
        let latencies = running
            .iter()
            .map(|job| (job.job.name.clone(), job.latency()));
        Ok(Records {
            latencies: latencies.collect(),
            ..baseline.finish(&cluster, measured)
        })
    }
}

/// All jobs' totals at one moment.
struct Moment {
    time: Time,
    /// Entry per job.
    totals: Vec<Totals>,
}

impl Moment {
    /// The present moment.
    fn of(running: &[RunningJob<'_>], cluster: &Cluster) -> Self {
        Moment {
            time: cluster.now(),
            totals: running.iter().map(|job| job.totals(cluster)).collect(),
        }
    }
}

/// Whether all saturated jobs' accepted loads are known well enough from the batch ends.
fn is_known(
    precision: Precision,
    running: &[RunningJob<'_>],
    start: &Moment,
    moments: &[Moment],
) -> bool {
    let Some(end) = moments.last() else {
        return true;
    };
    running.iter().enumerate().all(|(index, job)| {
        let (before, after) = (&start.totals[index], &end.totals[index]);
        let stored = |moment: &Moment| moment.totals[index].stored();
        let ends = std::iter::once(start).chain(moments);
        let batches: Vec<f64> = ends
            .tuple_windows()
            .map(|(before, after)| {
                Rate::of(stored(after) - stored(before), after.time - before.time)
            })
            .collect();
        !is_saturated(job, before, after) || precision.is_reached(&batches)
    })
}

/// Whether a job's waiting messages have grown by more than half a message for each process, and by
/// more than 5% of the arrivals.
fn is_saturated(job: &RunningJob<'_>, start: &Totals, end: &Totals) -> bool {
    let arrived = end.arrived() - start.arrived();
    let growth = arrived.saturating_sub(end.taken - start.taken);
    let half_a_message = job.job.message * job.processes() as u64 / 2;
    growth > half_a_message && growth > arrived / 20
}

/// Loads in a part of the window, or in all of it.
pub(crate) fn load_rows(
    job: &RunningJob<'_>,
    norm: Option<Norm>,
    batch: Option<u32>,
    length: Time,
    before: &Totals,
    after: &Totals,
) -> impl Iterator<Item = MetricRow> {
    let row = move |(metric, unit, value)| MetricRow {
        batch,
        ..MetricRow::new(metric, unit, value).of_job(&job.job.name)
    };
    let loads: Vec<_> = loads(job, length, before, after).collect();
    let parts = norm.into_iter().flat_map(|norm| {
        // The first two rows: each node's offered load, and its accepted part.
        let names = ["accepted_part", "offered_part"];
        let part = move |(name, &(_, load)): (_, &(_, f64))| (name, "", norm.part(load));
        names.into_iter().zip(&loads).map(part).collect::<Vec<_>>()
    });
    let parts: Vec<_> = parts.collect();
    let loads = loads.into_iter();
    let loads = loads.map(|(metric, value)| (metric, "MB/s", value));
    loads.chain(parts).map(row)
}

fn loads(
    job: &RunningJob<'_>,
    length: Time,
    before: &Totals,
    after: &Totals,
) -> impl Iterator<Item = (&'static str, f64)> {
    let accepted = after.stored() - before.stored();
    let offered = after.arrived() - before.arrived();
    let per = move |bytes, count: usize| Rate::of(bytes, length * count as u64);
    let (nodes, servers) = (job.senders.len(), job.job.servers.len());
    let of_nodes = [("accepted", accepted), ("offered", offered)];
    let of_servers = [("server_accepted", accepted), ("server_offered", offered)];
    let of_nodes = of_nodes.map(|(metric, bytes)| (metric, per(bytes, nodes)));
    let of_servers = of_servers.into_iter().filter(move |_| servers > 0);
    of_nodes
        .into_iter()
        .chain(of_servers.map(move |(metric, bytes)| (metric, per(bytes, servers))))
}

/// Results that are known only for the window as a whole.
pub(crate) fn whole_window(
    job: &RunningJob<'_>,
    norm: Option<Norm>,
    start: &Totals,
    end: &Totals,
) -> Vec<MetricRow> {
    let saturated = is_saturated(job, start, end);
    let row = |metric, unit, value| MetricRow::new(metric, unit, value).of_job(&job.job.name);
    let latency = job.latency();
    let mut rows = vec![
        row("saturated", "", f64::from(u8::from(saturated))),
        row("messages", "", latency.count() as f64),
    ];
    let quantile = |quantile| latency.quantile(quantile);
    for (metric, time) in [
        ("latency_mean", latency.mean()),
        ("latency_p50", quantile(0.5)),
        ("latency_p99", quantile(0.99)),
        ("latency_max", latency.max()),
    ] {
        rows.extend(time.map(|time| row(metric, "us", time.as_us_f64())));
    }
    if let (Some(norm), Some(mean)) = (norm, latency.mean()) {
        let cycles = mean.as_us_f64() / norm.cycle.as_us_f64();
        rows.push(row("latency_cycles", "cycles", cycles));
    }
    rows
}

/// A job's messages that faults have ended with an error, if any part has failed.
pub(crate) fn failed(job: &RunningJob<'_>, cluster: &Cluster) -> Option<MetricRow> {
    let row = || MetricRow::new("failed", "", job.failed() as f64).of_job(&job.job.name);
    (!cluster.faults().is_empty()).then(row)
}

/// The loads of each sender.
pub(crate) fn node_rows(
    job: &RunningJob<'_>,
    length: Time,
    start: &Totals,
    end: &Totals,
) -> impl Iterator<Item = NodeRow> {
    let senders = job.senders.iter().enumerate();
    senders.map(move |(index, &(node, _))| NodeRow {
        job: job.job.name.clone(),
        node: node.get(),
        offered: Rate::of(end.arrived[index] - start.arrived[index], length),
        accepted: Rate::of(end.stored[index] - start.stored[index], length),
    })
}
