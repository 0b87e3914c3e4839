//! The rows in most of a run's tables; slices, circuits, deadlocks and faults define their own.

use crate::table::{Cell, Type, Value};
use kernel::statistics::Histogram;
use units::Time;

/// One measured value.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.job, self.metric, self.batch, self.value)]
pub struct MetricRow {
    /// The measured job; missing for a ping, a collective operation or a noise test.
    pub job: Option<String>,
    /// The metric's name.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The batch in the window, where the value belongs to a sample.
    pub batch: Option<u32>,
    /// The value.
    pub value: f64,
}

/// The names of metrics, as figures and claims use them.
#[rustfmt::skip]
pub const METRICS: &[&str] = &[
    // Jobs.
    "accepted", "offered", "server_accepted", "server_offered", "accepted_part", "offered_part",
    "saturated", "messages", "latency_mean", "latency_p50", "latency_p99", "latency_max",
    "latency_cycles", "saturation", "saturation_part",
    // Pings, collective operations, post-compute-wait.
    "latency", "bandwidth", "wire_bandwidth", "step", "latency_p93", "latency_p94", "deadlock",
    "stuck_packets", "call", "compute_phase", "wait", "round", "availability", "over",
    // The noise test, and the rail allocation.
    "elapsed", "elapsed_p50", "elapsed_p99", "elapsed_p99_99", "elapsed_max", "above_1_percent",
    "rails",
    // Programs side by side, and flow lists.
    "time", "time_alone", "latency_alone", "fct_alone", "slowdown", "flows", "fct_mean", "fct_p50",
    "fct_p99", "fct_p99_9", "fct_slowdown_mean", "fct_slowdown_p50", "fct_slowdown_p99",
    "fct_slowdown_p99_9",
    // Faults.
    "packets_corrupted", "packets_unreachable", "packets_timed_out", "packets_resent",
    "packets_repeated", "given_up", "failed",
];

impl MetricRow {
    /// A value for the whole run.
    ///
    /// # Panics
    /// If [`METRICS`] lacks the metric.
    pub fn new(metric: &'static str, unit: &'static str, value: f64) -> Self {
        assert!(
            METRICS.contains(&metric),
            "{metric} is not in METRICS of crates/workload/src/rows.rs: add it there"
        );
        MetricRow {
            job: None,
            metric,
            unit,
            batch: None,
            value,
        }
    }

    /// The same row, for a job.
    #[must_use]
    pub fn of_job(self, job: &str) -> Self {
        let job = Some(job.to_string());
        MetricRow { job, ..self }
    }

    /// The same row, for a batch.
    #[must_use]
    pub fn in_batch(self, batch: u32) -> Self {
        let batch = Some(batch);
        MetricRow { batch, ..self }
    }
}

/// Messages that one node in a job sent, or fetched, in the measured window. Silent nodes have no
/// row.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.job, self.node, self.offered, self.accepted)]
pub struct NodeRow {
    /// Its job.
    pub job: String,
    /// The node.
    pub node: u32,
    /// Load that arrived.
    #[unit("MB/s")]
    pub offered: f64,
    /// Load that was stored.
    #[unit("MB/s")]
    pub accepted: f64,
}

/// A directed link's activity in the measured window. Its errors follow from the packets and the
/// faults, hence are not part of the digest.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.link, self.packets, self.flits, self.busy, self.waiting, self.delay)]
#[digest_if(!self.busy.is_zero() || !self.waiting.is_zero())]
pub struct LinkRow {
    /// Link number.
    pub link: u32,
    /// Where it starts: "node 3" or "switch 1.0" (level and number within the level).
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// Its lower end's level; 0 joins nodes and first-level switches.
    pub level: u32,
    /// Whether it leads upwards.
    pub up: bool,
    /// Packets whose first flit it sent.
    pub packets: u64,
    /// Packet flits.
    pub flits: u64,
    /// Time in which it moved a flit or a token.
    pub busy: Time,
    /// Time that packets waited to enter it.
    pub waiting: Time,
    /// Time that these packets have waited since their injection when they leave the link, the wait
    /// to enter included.
    pub delay: Time,
    /// Packets, headers of packets and acknowledgements that bit errors have damaged on it.
    pub errors: u64,
    /// Time in which its cable was dead.
    pub down: Time,
}

/// A switch's activity in the measured window: the sums over its outgoing links, hence not part of
/// the digest.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest()]
pub struct SwitchRow {
    /// Switch number.
    pub switch: u32,
    /// Its name.
    pub name: String,
    /// Its level, from 1.
    pub level: u32,
    /// Packets that it sent on.
    pub packets: u64,
    /// Flits that it sent on.
    pub flits: u64,
    /// Busy time summed over its outputs.
    pub busy: Time,
    /// Time that packets waited to leave it.
    pub waiting: Time,
}

/// A flow in a list, with its completion time.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.job, self.flow, self.fct, self.ideal)]
pub struct FlowRow {
    /// The list.
    pub job: String,
    /// The flow's place in the list, from 0.
    pub flow: u32,
    /// When it started, after the warm-up.
    pub start: Time,
    /// The node that sent.
    pub source: u32,
    /// The node that received.
    pub destination: u32,
    /// Its bytes.
    #[unit("B")]
    pub size: u64,
    /// Its traffic class.
    pub class: u32,
    /// The flow completion time; missing if a fault ended the flow.
    pub fct: Option<Time>,
    /// The same flow's FCT alone on the idle machine without faults.
    pub ideal: Time,
    /// The FCT over the ideal.
    pub slowdown: Option<f64>,
}

/// A program's load on a link.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.link, self.job, self.packets, self.flits)]
pub struct ShareRow {
    /// The link.
    pub link: u32,
    /// Where it starts.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// The program; missing for packets that the rail policy sends itself.
    pub job: Option<String>,
    /// Packets.
    pub packets: u64,
    /// Packet flits.
    pub flits: u64,
    /// Bytes in these flits: payload, headers and transaction overhead.
    #[unit("B")]
    pub bytes: u64,
}

/// The observations of a time in one bin of a distribution.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.lower, self.count)]
pub struct BinRow {
    /// The bin's least time. A bin is at most a thousandth of it wide.
    pub lower: Time,
    /// How many, at least 1.
    pub count: u64,
}

/// A histogram's bins that are not empty.
pub fn bins(histogram: &Histogram) -> Vec<BinRow> {
    let bins = histogram.counts();
    bins.map(|(lower, count)| BinRow { lower, count }).collect()
}

/// An adapter's role on a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It sends.
    Transmit,
    /// It is sent to.
    Receive,
}

impl Cell for Role {
    const TYPE: Type = Type::Text;

    fn value(&self) -> Value<'_> {
        Value::Text(match self {
            Role::Transmit => "transmit",
            Role::Receive => "receive",
        })
    }

    fn of(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Text("transmit") => Some(Role::Transmit),
            Value::Text("receive") => Some(Role::Receive),
            _ => None,
        }
    }
}

/// The role of a node's adapter on a rail.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.rail, self.node, self.role == Role::Transmit)]
pub struct AllocationRow {
    /// The rail.
    pub rail: u32,
    /// The node.
    pub node: u32,
    /// Its role: transmit or receive.
    pub role: Role,
}
