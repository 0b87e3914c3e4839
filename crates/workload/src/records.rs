//! What a run leaves behind: tidy rows, the counters of links and switches, and a digest of every packet.

use crate::faults::{self, FaultRow};
use crate::table::Table;
use crate::{AllocationRow, CircuitRow, DeadlockRow, SliceRow};
use elan::Cluster;
use elan::adapter::recovery::Recoveries;
use fabric::{LinkCounters, LinkId, SwitchId, Wiring, topology::End};
use kernel::Digest;
use kernel::statistics::Histogram;
use units::Time;

/// One measured value.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.job, self.metric, self.batch, self.value)]
pub struct Row {
    /// The job that it was measured of; a ping is none, nor is a collective operation or a noise test.
    pub job: Option<String>,
    /// What was measured.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The batch of the window, where the value is one of a sample.
    pub batch: Option<u32>,
    /// The value.
    pub value: f64,
}

/// The names of what rows measure, as figures and claims use them.
#[rustfmt::skip]
pub const METRICS: &[&str] = &[
    // Jobs.
    "accepted", "offered", "server_accepted", "server_offered", "accepted_part", "offered_part", "saturated", "messages",
    "latency_mean", "latency_p50", "latency_p99", "latency_max", "latency_cycles", "saturation", "saturation_part",
    // Pings, collective operations, post-compute-wait.
    "latency", "bandwidth", "wire_bandwidth", "step", "latency_p93", "latency_p94", "deadlock", "stuck_packets",
    "call", "compute_phase", "wait", "round", "availability", "over",
    // The noise test, and the allocation of rails.
    "elapsed", "elapsed_p50", "elapsed_p99", "elapsed_p99_99", "elapsed_max", "above_1_percent", "rails",
    // Faults.
    "packets_corrupted", "packets_unreachable", "packets_timed_out", "packets_resent", "packets_repeated", "given_up", "failed",
];

impl Row {
    /// A value of the whole run.
    pub(crate) fn new(metric: &'static str, unit: &'static str, value: f64) -> Self {
        assert!(
            METRICS.contains(&metric),
            "{metric} is not in METRICS of crates/workload/src/records.rs: add it there"
        );
        Row {
            job: None,
            metric,
            unit,
            batch: None,
            value,
        }
    }

    /// The same row, for a job.
    pub(crate) fn of_job(self, job: &str) -> Self {
        let job = Some(job.to_string());
        Row { job, ..self }
    }

    /// The same row, for a batch.
    pub(crate) fn in_batch(self, batch: u32) -> Self {
        let batch = Some(batch);
        Row { batch, ..self }
    }
}

/// What one node of a job sent, or fetched, in the measured window. Silent nodes have no row.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.job, self.node, self.offered, self.accepted)]
pub struct NodeRow {
    /// Its job.
    pub job: String,
    /// The node.
    pub node: u32,
    /// Load of the messages that arrived.
    #[unit("MB/s")]
    pub offered: f64,
    /// Load of what was stored of its messages.
    #[unit("MB/s")]
    pub accepted: f64,
}

/// What a directed link did in the measured window. What failed follows from the packets and the faults, hence is no part of the
/// digest.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.link, self.packets, self.flits, self.busy, self.waiting, self.delay)]
#[digest_if(!self.busy.is_zero() || !self.waiting.is_zero())]
pub struct LinkRow {
    /// Number of the link.
    pub link: u32,
    /// Where it starts: "node 3" or "switch 1.0" (level and number within the level).
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// Level of its lower end; 0 joins nodes and first-level switches.
    pub level: u32,
    /// Whether it leads upwards.
    pub up: bool,
    /// Packets whose first flit it sent.
    pub packets: u64,
    /// Flits of packets.
    pub flits: u64,
    /// Time in which it moved a flit or a token.
    pub busy: Time,
    /// Time that packets waited to enter it.
    pub waiting: Time,
    /// Time that these packets have waited since their injection when they leave the link, the wait to enter included.
    pub delay: Time,
    /// Packets, headers of packets and acknowledgements that bit errors have damaged on it.
    pub errors: u64,
    /// Time in which its cable was dead.
    pub down: Time,
}

/// What a switch did in the measured window: the sums over the links that leave it, hence no part of the digest.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest()]
pub struct SwitchRow {
    /// Number of the switch.
    pub switch: u32,
    /// Its name.
    pub name: String,
    /// Its level, from 1.
    pub level: u32,
    /// Packets that it sent on.
    pub packets: u64,
    /// Flits that it sent on.
    pub flits: u64,
    /// Busy time of its outputs.
    pub busy: Time,
    /// Time that packets waited to leave it.
    pub waiting: Time,
}

/// How many observations of a time fell into one bin of a distribution.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.lower, self.count)]
pub struct BinRow {
    /// The least time of the bin. A bin is as wide as a thousandth of it, or less.
    pub lower: Time,
    /// How many, at least 1.
    pub count: u64,
}

/// The bins of a histogram that are not empty.
pub(crate) fn bins(histogram: &Histogram) -> Vec<BinRow> {
    let bins = histogram.counts();
    bins.map(|(lower, count)| BinRow { lower, count }).collect()
}

macro_rules! tables {
    ($($(#[$about:meta])* $name:ident: $row:ty,)*) => {
        /// The tables of a run; those that its workload does not fill are empty. All code about tables goes by this list.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Tables {
            $($(#[$about])* pub $name: Vec<$row>,)*
        }

        impl Tables {
            /// All tables with their names, in the order in which the digest takes them.
            pub fn all(&self) -> Vec<(&'static str, &dyn Table)> {
                vec![$((stringify!($name), &self.$name as &dyn Table),)*]
            }
        }
    };
}

tables! {
    /// Measured values.
    rows: Row,
    /// Nodes that sent steady traffic.
    nodes: NodeRow,
    /// Links that carried anything in the window, or were dead.
    links: LinkRow,
    /// Switches that carried anything in the window.
    switches: SwitchRow,
    /// Delays of the links over time, where the run asked for them.
    slices: SliceRow,
    /// Distribution of the latency of a collective operation, or of the detours of a noise test.
    distribution: BinRow,
    /// The waits of a deadlock, where a run was meant to end in one.
    deadlock: DeadlockRow,
    /// Matrix of a static allocation of rails, where the run asked for it.
    allocation: AllocationRow,
    /// What failed in the run, where anything did.
    faults: FaultRow,
    /// Who held which channel when, where the run asked for it.
    circuits: CircuitRow,
}

impl From<Vec<Row>> for Tables {
    fn from(rows: Vec<Row>) -> Self {
        Tables {
            rows,
            ..Tables::default()
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    /// What was measured.
    pub tables: Tables,
    /// Digest of all packets of the run, without the tables. Where values were added after the run, it is the digest of the
    /// records without these values.
    pub base: String,
    /// Digest of all packets of the run and of all tables: [`digest()`] of `base`.
    pub digest: String,
    /// Packets acknowledged in the whole run.
    pub packets: u64,
    /// Events of the whole run.
    pub events: u64,
    /// Simulated time of the whole run.
    pub simulated: Time,
}

/// The counters of all links, and of the recovery from faults, at one moment: the start of the window.
pub struct Baseline {
    links: Vec<LinkCounters>,
    recoveries: Recoveries,
}

impl Baseline {
    /// The counters of the present moment.
    pub fn take(cluster: &Cluster) -> Self {
        let links = cluster.config().fabric.topology.links();
        Baseline {
            links: LinkId::all(links).map(|link| cluster.link(link)).collect(),
            recoveries: faults::recoveries(cluster),
        }
    }

    /// The records of a run that ends now: what its workload has measured and what the fabric has counted.
    pub(crate) fn finish(self, cluster: &Cluster, mut measured: Tables) -> Records {
        cluster.check_conservation();
        let config = cluster.config();
        let recovered = faults::recovery_rows(cluster, &self.recoveries);
        measured.rows.extend(recovered);
        measured.faults = faults::rows(cluster);
        let links = self.link_rows(cluster, &config);
        let switches = switch_rows(&*config.fabric.topology, &links);
        let mut records = Records {
            tables: Tables {
                links,
                switches,
                ..measured
            },
            base: cluster.digest(),
            digest: String::new(),
            packets: cluster.packets(),
            events: cluster.events(),
            simulated: cluster.now(),
        };
        records.digest = records.digest_of_all();
        records
    }

    /// What each link did since the baseline.
    pub fn links(&self, cluster: &Cluster) -> Vec<LinkRow> {
        self.link_rows(cluster, &cluster.config())
    }

    fn link_rows(&self, cluster: &Cluster, config: &elan::Config) -> Vec<LinkRow> {
        let tree = &config.fabric.topology;
        let row = |(link, before): (LinkId, &LinkCounters)| {
            let after = cluster.link(link);
            let slots = (after.flits + after.tokens) - (before.flits + before.tokens);
            let waiting = after.waiting - before.waiting;
            let down = after.down - before.down;
            // Most links of a large machine may have been idle: only the links that are kept get names.
            (slots > 0 || waiting > 0 || down > 0).then(|| {
                let (from, to) = tree.ends(link);
                LinkRow {
                    link: link.get(),
                    from: tree.end_name(from),
                    to: tree.end_name(to),
                    level: tree.link_level(link) as u32,
                    up: tree.is_up(link),
                    packets: after.packets - before.packets,
                    flits: after.flits - before.flits,
                    busy: config.cycle * slots,
                    waiting: config.cycle * waiting,
                    delay: config.cycle * (after.delay - before.delay),
                    errors: after.errors - before.errors,
                    down: config.cycle * down,
                }
            })
        };
        LinkId::all(tree.links())
            .zip(&self.links)
            .filter_map(row)
            .collect()
    }
}

fn switch_rows(tree: &dyn Wiring, links: &[LinkRow]) -> Vec<SwitchRow> {
    let mut rows: Vec<SwitchRow> = SwitchId::all(tree.switches())
        .map(|switch| SwitchRow {
            switch: switch.get(),
            name: tree.switch_name(switch),
            level: tree.switch_level(switch) as u32,
            packets: 0,
            flits: 0,
            busy: Time::ZERO,
            waiting: Time::ZERO,
        })
        .collect();
    for link in links {
        if let End::Switch { switch, .. } = tree.ends(link.link.into()).0 {
            let row = &mut rows[usize::from(switch)];
            row.packets += link.packets;
            row.flits += link.flits;
            row.busy += link.busy;
            row.waiting += link.waiting;
        }
    }
    rows.retain(|row| !row.busy.is_zero() || !row.waiting.is_zero());
    rows
}

impl Records {
    /// All values of a metric: of one job and all batches, if no other job has the metric.
    pub fn values(&self, metric: &str) -> Vec<f64> {
        let rows = self.tables.rows.iter().filter(|row| row.metric == metric);
        rows.map(|row| row.value).collect()
    }

    /// The value of a metric.
    ///
    /// # Panics
    /// If the metric has no value, or more than one.
    pub fn value(&self, metric: &str) -> f64 {
        let values = self.values(metric);
        assert_eq!(values.len(), 1, "{metric} is there once");
        values[0]
    }

    /// The mean of the values of a metric.
    pub fn mean(&self, metric: &str) -> f64 {
        let values = self.values(metric);
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Adds values that are known only after the run.
    pub(crate) fn add(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.tables.rows.extend(rows);
        self.base = std::mem::take(&mut self.digest);
        self.digest = self.digest_of_all();
    }

    fn digest_of_all(&self) -> String {
        let totals = [self.packets, self.events, self.simulated.as_ps()];
        let add = |digest: &mut Digest| {
            for (_, table) in self.tables.all() {
                table.add_to(digest);
            }
            Some(())
        };
        digest(&self.base, totals, add).expect("all rows are there")
    }
}

/// The digest of records: of their `base`, their packets, events and simulated picoseconds, and the tables that `add` adds in the
/// order of [`Tables::all`]. `None` if `add` returns `None`.
pub fn digest(
    base: &str,
    totals: [u64; 3],
    add: impl FnOnce(&mut Digest) -> Option<()>,
) -> Option<String> {
    let mut digest = Digest::new();
    digest.str(base).u64s(totals);
    add(&mut digest)?;
    Some(digest.hex())
}
