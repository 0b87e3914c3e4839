//! # Traces: the replay of a generated message pattern
//!
//! A job with a given process count per node carries out a collective operation's calls as Tports
//! messages: the operation's [`goal::pattern`], replayed as [`goal::replay::on_cluster`] replays
//! any trace. Ranks are dealt out node by node. Buffers lie in main memory.
//!
//! *Latency* is the time from the start to the end of the last operation, over the call count.
//! *Bandwidth* is the *bus bandwidth* of NCCL's tests: the bytes that a rank would have to send in
//! a call, over the latency ([`Calls::bus_bytes`]). So figures for different algorithms and rank
//! counts can be compared with an adapter's rate.
//!
//! Limits: a message that can not get through ends the run with an error.

use crate::Failure;
use crate::records::{Baseline, Records};
use crate::rows::MetricRow;
use derive::choice;
use elan::{Cluster, NodeId, Placement};
use goal::Trace;
use goal::pattern::{Calls, CollectivePattern};
use goal::replay::on_cluster;

/// The called operation, by its algorithm.
#[choice]
#[schemars(rename = "Called")]
pub enum CalledPattern {
    /// An all-reduce by one ring over all ranks.
    AllReduceRing,
    /// An all-reduce by rings in groups and across groups.
    AllReduceHierarchical,
    /// All-reduces by rings across the groups, among the ranks with the same place in their groups.
    AllReduceAcross,
    /// An all-to-all in each group.
    AllToAll,
    /// All-to-alls across the groups, among the ranks with the same place in their groups.
    AllToAllAcross,
}

impl From<CalledPattern> for CollectivePattern {
    fn from(called: CalledPattern) -> CollectivePattern {
        match called {
            CalledPattern::AllReduceRing => CollectivePattern::AllReduceRing,
            CalledPattern::AllReduceHierarchical => CollectivePattern::AllReduceHierarchical,
            CalledPattern::AllReduceAcross => CollectivePattern::AllReduceAcross,
            CalledPattern::AllToAll => CollectivePattern::AllToAll,
            CalledPattern::AllToAllAcross => CollectivePattern::AllToAllAcross,
        }
    }
}

/// A point's parameters.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The nodes, in rank order.
    pub nodes: Vec<NodeId>,
    /// Processes on each node.
    pub processes: u32,
    /// The calls; as many ranks as processes on all nodes.
    pub calls: Calls,
}

impl Replay {
    /// Runs until the last operation has ended.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn run(&self, mut cluster: Cluster) -> Result<Records, Failure> {
        let job = libelan::ProcessJob::new("trace", self.nodes.iter().copied(), self.processes)?;
        let trace = Trace::of("the pattern", self.calls.ranks, |rank| {
            self.calls.schedule(rank)
        })?;
        let baseline = Baseline::take(&cluster);
        let replayed = on_cluster(trace, &mut cluster, &job, Placement::Main, false)?;
        let latency = replayed.time.as_us_f64() / f64::from(self.calls.calls);
        // Bytes per microsecond are MB/s.
        let rows = vec![
            MetricRow::new("latency", "us", latency),
            MetricRow::new("bandwidth", "MB/s", self.calls.bus_bytes() / latency),
        ];
        Ok(baseline.finish(&cluster, rows.into()))
    }
}

impl From<goal::replay::ReplayFailure> for Failure {
    fn from(failure: goal::replay::ReplayFailure) -> Failure {
        use goal::replay::ReplayFailure as Unplayed;
        match failure {
            Unplayed::Trace(problem) => problem.into(),
            Unplayed::Stop(stop, _) => stop.into(),
            Unplayed::Job(error) => error.into(),
            Unplayed::Memory(error) => error.into(),
            Unplayed::Partners(..) => Failure::Lost(failure.to_string()),
        }
    }
}
