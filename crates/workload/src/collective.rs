//! # Collective operations (petrini2001)
//!
//! A job with one or more processes per node calls Elanlib's barrier, broadcast or reduction
//! repeatedly, like the paper's benchmarks: each call immediately follows the one before. The first
//! call, in which the library starts its threads, is not counted.
//!
//! *Latency* is a call's duration, from its beginning to its return, as each process sees it. All
//! calls by all processes are the sample for means, quantiles and the distribution. A benchmark
//! that divides its loop time by the call count gets the mean over a row of calls, at any process:
//! a process that returns early waits as much longer in the next call. This holds for broadcasts,
//! too, which begin with a barrier (petrini2001, "both implementations perform an initial
//! barrier"): the root may return before the last process has all bytes, but it cannot get ahead.
//! *Bandwidth* is size over the mean latency.
//!
//! *Steps.* Processes may compute for a while before each call, like programs that move in step.
//! Noise ([`elan::noise`]) makes the last process late, and all others wait for it (garcia2005
//! s3.3: such noise "gets worse as cluster size increases"). A *step* is computation and call, from
//! the end of one call to the end of the next.
//!
//! Other jobs may run on the same nodes, or on others, from the start: the *background traffic*.
//! Its load is measured from the first call, when the warm-up ends, until the last process returns
//! from its last call.
//!
//! *Groups.* Several jobs on the same nodes may make such calls at the same time, each with its own
//! root: the first node, the second, and so on. If broadcasts are not serialised
//! ([`fabric::Broadcast`]) their trees may block each other forever. A run that is meant to show
//! such a deadlock ends there, with a row for it and the table of waits.

use crate::job::RunningJob;
use crate::records::{Baseline, Records, Tables};
use crate::rows::{MetricRow, bins};
use crate::{Failure, Job, Window, buffer, deadlock, traffic};
use derive::choice;
use elan::{Cluster, DmaError, ElanAddr, NodeId, Permissions, Placement, Stop};
use kernel::statistics::{Histogram, Summary};
use libelan::Pe;
use libelan::elan::reduce::{self, Receivers};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

/// A collective operation in Elanlib (petrini2001).
#[choice]
#[schemars(rename = "Operation")]
pub enum CollectiveOperation {
    /// The software barrier.
    Gsync,
    /// The hardware barrier, polling.
    Hgsync,
    /// The hardware barrier, blocking.
    Hgsyncevent,
    /// The software broadcast.
    Bcast,
    /// The hardware broadcast.
    Hbcast,
    /// A sum over one number per process, returned to all (`elan_reduce`).
    Reduce,
}

/// Broadcast size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveMessage {
    /// Where the buffers lie.
    pub memory: Placement,
    /// The byte count.
    pub size: Bytes,
}

/// A point's parameters.
#[derive(Clone, Debug)]
pub struct Collective {
    /// The operation that is called.
    pub operation: CollectiveOperation,
    /// Broadcast size in bytes; `None` for other operations.
    pub message: Option<CollectiveMessage>,
    /// The processes' nodes, by rank.
    pub nodes: Vec<NodeId>,
    /// Processes on each node, with ranks next to each other, at least 1; they meet in shared
    /// memory.
    pub processes: u32,
    /// Calls that are counted, at least as many as batches.
    pub repeats: u32,
    /// Groups of these nodes that make the calls at the same time, from 1 up to the node count. The
    /// first group's root is the first process, and so on.
    pub groups: u32,
    /// Whether a fabric deadlock is a result.
    pub may_deadlock: bool,
    /// Each process's computation before each call, if any.
    pub compute: Option<Time>,
    /// Its packets' traffic class.
    pub traffic_class: u8,
}

/// Picoseconds per microsecond.
const PS_PER_US: f64 = 1e6;

/// Length in bytes of a summed number.
const NUMBER: Bytes = Bytes::new(8);

/// How numbers are summed.
fn sum() -> reduce::Reduction<'static> {
    reduce::Reduction {
        size: NUMBER,
        combine: &|before, after| {
            let [one, other] = [before, &*after].map(|bytes| {
                let bytes = bytes.try_into().expect("one number");
                u64::from_le_bytes(bytes)
            });
            after.copy_from_slice(&one.wrapping_add(other).to_le_bytes());
        },
    }
}

/// The processes' reports.
struct Calls {
    latency: Histogram,
    /// Each batch's latencies, in picoseconds.
    batches: Vec<Summary>,
    /// Each batch's step time, if processes compute.
    steps: Vec<Summary>,
    /// Why a call failed.
    failed: Option<DmaError>,
}

impl CollectiveOperation {
    /// The operation's name in Elanlib.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveOperation::Gsync => "gsync",
            CollectiveOperation::Hgsync => "hgsync",
            CollectiveOperation::Hgsyncevent => "hgsyncevent",
            CollectiveOperation::Bcast => "bcast",
            CollectiveOperation::Hbcast => "hbcast",
            CollectiveOperation::Reduce => "reduce",
        }
    }

    /// The operation's kind, in a word.
    pub fn kind(self) -> &'static str {
        match self {
            CollectiveOperation::Bcast | CollectiveOperation::Hbcast => "broadcast",
            CollectiveOperation::Reduce => "reduction",
            _ => "barrier",
        }
    }

    /// Whether the operation is a broadcast.
    pub fn is_broadcast(self) -> bool {
        matches!(
            self,
            CollectiveOperation::Bcast | CollectiveOperation::Hbcast
        )
    }

    /// One call.
    async fn call(
        self,
        pe: &Pe,
        (buffer, size): (ElanAddr, Bytes),
        root: u32,
    ) -> Result<(), DmaError> {
        let group = pe.elan().all_group();
        match self {
            CollectiveOperation::Gsync => group.gsync().await,
            CollectiveOperation::Hgsync => group.hgsync().await,
            CollectiveOperation::Hgsyncevent => group.hgsyncevent().await,
            CollectiveOperation::Bcast => group.bcast(buffer, size, root).await,
            CollectiveOperation::Hbcast => group.hbcast(buffer, size, root).await,
            CollectiveOperation::Reduce => {
                let target = buffer.offset(NUMBER);
                group
                    .reduce(buffer, target, 1, &sum(), Receivers::All)
                    .await
            }
        }
    }
}

impl Collective {
    /// Runs the warm-up, and then until the last process has returned from its last call. Only the
    /// window's warm-up and batch count are used.
    ///
    /// # Errors
    /// See [`Failure`]. A packet deadlock is not an error where it is permitted.
    ///
    /// # Panics
    /// If the cluster lacks a job's nodes; and as [`traffic::Traffic::run`].
    pub fn run(
        &self,
        background: &[Job],
        mut cluster: Cluster,
        window: Window,
        seed: u64,
    ) -> Result<Records, Failure> {
        let rails = traffic::rails(&cluster)?;
        let norm = traffic::Norm::of(&cluster);
        let start = |job| RunningJob::start(job, &mut cluster, rails.as_ref(), seed, 0);
        let mut running = background
            .iter()
            .map(start)
            .collect::<Result<Vec<_>, _>>()?;
        cluster.run_until(window.warm_up)?;
        let baseline = Baseline::take(&cluster);
        let start = cluster.now();
        let before: Vec<_> = running.iter_mut().map(|job| job.totals(&cluster)).collect();
        running.iter().for_each(RunningJob::measure);

        let calls = Rc::new(RefCell::new(Calls {
            latency: Histogram::new(),
            batches: vec![Summary::new(); window.batches as usize],
            steps: vec![Summary::new(); window.batches as usize],
            failed: None,
        }));
        for group in 0..self.groups {
            self.launch(group, &mut cluster, &calls)?;
        }
        let end = cluster.run();
        if let Some(error) = calls.borrow().failed {
            return Err(error.into());
        }
        let deadlock = match end {
            Ok(()) => None,
            Err(Stop::Deadlock {
                packets: Some(deadlock),
                ..
            }) if self.may_deadlock => Some(deadlock),
            Err(stop) => return Err(stop.into()),
        };

        let length = cluster.now() - start;
        let mut measured = Tables::default();
        if self.may_deadlock {
            let deadlocked = f64::from(u8::from(deadlock.is_some()));
            measured
                .rows
                .push(MetricRow::new("deadlock", "", deadlocked));
        }
        if let Some(deadlock) = deadlock {
            let tree = cluster.config().fabric.topology;
            measured.deadlock = deadlock::rows(&deadlock, &*tree);
            let stuck = deadlock.packets.len() as f64;
            measured
                .rows
                .push(MetricRow::new("stuck_packets", "", stuck));
        } else {
            let calls = calls.borrow();
            measured.rows.extend(self.latencies(&calls));
            measured.distribution = bins(&calls.latency);
        }
        for (job, before) in running.iter_mut().zip(&before) {
            let after = job.totals(&cluster);
            let rows = &mut measured.rows;
            rows.extend(traffic::load_rows(job, norm, None, length, before, &after));
            rows.extend(traffic::whole_window(job, norm, before, &after));
            rows.extend(traffic::failed(job, &cluster));
            let nodes = traffic::node_rows(job, length, before, &after);
            measured.nodes.extend(nodes);
        }
        Ok(baseline.finish(&cluster, measured))
    }

    /// Starts a group's processes.
    fn launch(
        &self,
        group: u32,
        cluster: &mut Cluster,
        calls: &Rc<RefCell<Calls>>,
    ) -> Result<(), Failure> {
        let nodes = self.nodes.iter().copied();
        let job = libelan::ProcessJob::new(format!("collective {group}"), nodes, self.processes)?
            .in_traffic_class(self.traffic_class);
        let (operation, compute, root) = (self.operation, self.compute, group);
        let repeats = self.repeats as usize;
        let size = self.message.map_or(NUMBER, |message| message.size);
        for pe in job.attach(cluster)? {
            // All processes map the same buffers, so the buffer has one address.
            let buffer = match self.message {
                // The process's number, and the sum.
                None if operation == CollectiveOperation::Reduce => {
                    let numbers =
                        pe.node()
                            .map(Placement::Main, NUMBER * 2, Permissions::ALL, true)?;
                    pe.node().write(numbers, &1_u64.to_le_bytes());
                    numbers.start().elan
                }
                None => ElanAddr::NOWHERE,
                Some(CollectiveMessage { memory, size }) => buffer(&pe, memory, size)?,
            };
            let (label, calls) = (pe.label().clone(), Rc::clone(calls));
            let host = pe.node().clone();
            host.spawn(label, async move {
                for number in 0..=repeats {
                    let start = pe.now();
                    if let Some(time) = compute {
                        pe.compute(time).await;
                    }
                    let begin = pe.now();
                    if let Err(error) = operation.call(&pe, (buffer, size), root).await {
                        // The others wait for this process in vain.
                        calls.borrow_mut().failed = Some(error);
                        return;
                    }
                    if let Some(number) = number.checked_sub(1) {
                        let mut calls = calls.borrow_mut();
                        let batch = calls.add(number, repeats, pe.now() - begin);
                        calls.steps[batch].record((pe.now() - start).as_ps());
                    }
                }
            });
        }
        Ok(())
    }

    fn latencies(&self, calls: &Calls) -> Vec<MetricRow> {
        let mut rows = Vec::new();
        let message = self.message;
        for (batch, (summary, steps)) in (0..).zip(calls.batches.iter().zip(&calls.steps)) {
            let Some(mean) = summary.mean() else {
                continue;
            };
            let latency = mean / PS_PER_US;
            let one = |metric, unit, value| MetricRow::new(metric, unit, value).in_batch(batch);
            rows.push(one("latency", "us", latency));
            if let (Some(_), Some(step)) = (self.compute, steps.mean()) {
                rows.push(one("step", "us", step / PS_PER_US));
            }
            // Bytes per microsecond are MB/s.
            let bandwidth = message.map(|message| message.size.as_u64() as f64 / latency);
            rows.extend(bandwidth.map(|bandwidth| one("bandwidth", "MB/s", bandwidth)));
        }
        for (metric, quantile) in [
            ("latency_p50", 0.5),
            ("latency_p93", 0.93),
            ("latency_p94", 0.94),
            ("latency_p99", 0.99),
            ("latency_max", 1.0),
        ] {
            let time = calls.latency.quantile(quantile);
            rows.extend(time.map(|time| MetricRow::new(metric, "us", time.as_us_f64())));
        }
        rows
    }
}

impl Calls {
    /// Adds call `number` of `repeats`; returns its batch.
    fn add(&mut self, number: usize, repeats: usize, latency: Time) -> usize {
        self.latency.record(latency);
        let batch = number * self.batches.len() / repeats;
        self.batches[batch].record(latency.as_ps());
        batch
    }
}
