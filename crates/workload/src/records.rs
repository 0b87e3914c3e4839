//! A run's records: tidy rows, link and switch counters, and a digest over every packet.

use crate::faults::{self, FaultRow};
use crate::rows::{
    AllocationRow, BinRow, FlowRow, LinkRow, MetricRow, NodeRow, ShareRow, SwitchRow,
};
use crate::table::Table;
use crate::{CircuitRow, DeadlockRow, SliceRow};
use elan::Cluster;
use elan::Recoveries;
use fabric::{LinkCounters, LinkId, SwitchId, Wiring, topology::End};
use kernel::Digest;
use kernel::statistics::Histogram;
use units::Time;

/// A run's tables; those that its workload does not fill are empty. All code about tables uses this
/// list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// Measured values.
    pub rows: Vec<MetricRow>,
    /// Nodes that sent steady traffic.
    pub nodes: Vec<NodeRow>,
    /// Links that carried anything in the window, or were dead.
    pub links: Vec<LinkRow>,
    /// Switches that carried anything in the window.
    pub switches: Vec<SwitchRow>,
    /// Link delays over time, on request.
    pub slices: Vec<SliceRow>,
    /// Latency distribution for a collective operation, or detour distribution for a noise test.
    pub distribution: Vec<BinRow>,
    /// A deadlock's waits, where a run was meant to end in one.
    pub deadlock: Vec<DeadlockRow>,
    /// Matrix of a static rail allocation, on request.
    pub allocation: Vec<AllocationRow>,
    /// Parts that failed in the run.
    pub faults: Vec<FaultRow>,
    /// Channels held by packets over time, on request.
    pub circuits: Vec<CircuitRow>,
    /// Flows in lists.
    pub flows: Vec<FlowRow>,
    /// Link load by program, where several kinds of programs ran.
    pub shares: Vec<ShareRow>,
}

impl Tables {
    /// All tables with their names, in digest order.
    pub fn all(&self) -> Vec<(&'static str, &dyn Table)> {
        vec![
            ("rows", &self.rows as &dyn Table),
            ("nodes", &self.nodes),
            ("links", &self.links),
            ("switches", &self.switches),
            ("slices", &self.slices),
            ("distribution", &self.distribution),
            ("deadlock", &self.deadlock),
            ("allocation", &self.allocation),
            ("faults", &self.faults),
            ("circuits", &self.circuits),
            ("flows", &self.flows),
            ("shares", &self.shares),
        ]
    }
}

impl From<Vec<MetricRow>> for Tables {
    fn from(rows: Vec<MetricRow>) -> Self {
        Tables {
            rows,
            ..Tables::default()
        }
    }
}

/// A run's result.
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    /// The measurements.
    pub tables: Tables,
    /// Digest over all packets in the run, without the tables. Where values were added after the
    /// run, it is the digest without these values.
    pub base: String,
    /// Digest over all packets in the run and all tables: [`digest()`] from `base`.
    pub digest: String,
    /// Packets acknowledged in the whole run.
    pub packets: u64,
    /// Events in the whole run.
    pub events: u64,
    /// Simulated time over the whole run.
    pub simulated: Time,
    /// Message latencies in the window, for each steady-traffic job. They are in no table, because
    /// their bins are many, and not part of the digest.
    pub latencies: Vec<(String, Histogram)>,
}

/// All link counters, and the fault recovery counters, at one moment: the window's start.
pub struct Baseline {
    links: Vec<LinkCounters>,
    recoveries: Recoveries,
}

impl Baseline {
    /// The present counters.
    pub fn take(cluster: &Cluster) -> Self {
        let links = cluster.config().fabric.topology.links();
        Baseline {
            links: LinkId::all(links).map(|link| cluster.link(link)).collect(),
            recoveries: faults::recoveries(cluster),
        }
    }

    /// The records for a run that ends now: its workload's measurements and the fabric's counters.
    pub fn finish(self, cluster: &Cluster, mut measured: Tables) -> Records {
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
            latencies: Vec::new(),
        };
        records.digest = records.digest_of_all();
        records
    }

    /// Each link's activity since the baseline.
    pub fn links(&self, cluster: &Cluster) -> Vec<LinkRow> {
        self.link_rows(cluster, &cluster.config())
    }

    fn link_rows(&self, cluster: &Cluster, config: &elan::Config) -> Vec<LinkRow> {
        let tree = &config.fabric.topology;
        let row = |(link, before): (LinkId, &LinkCounters)| {
            let after = cluster.link(link);
            let busy = after.busy - before.busy;
            let waiting = after.waiting - before.waiting;
            let down = after.down - before.down;
            // Most links in a large machine may have been idle: only the links that are kept get
            // names.
            (busy > 0 || waiting > 0 || down > 0).then(|| {
                let (from, to) = tree.ends(link);
                LinkRow {
                    link: link.get(),
                    from: tree.end_name(from),
                    to: tree.end_name(to),
                    level: tree.link_level(link) as u32,
                    up: tree.is_up(link),
                    packets: after.packets - before.packets,
                    flits: after.flits - before.flits,
                    busy: config.cycle * busy,
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
    /// All values of a metric: for one job and all batches, if no other job has the metric.
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

    /// A metric's mean value.
    pub fn mean(&self, metric: &str) -> f64 {
        let values = self.values(metric);
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Adds values that are known only after the run.
    pub(crate) fn add(&mut self, rows: impl IntoIterator<Item = MetricRow>) {
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

/// The digest over records: their `base`, their packets, events and simulated picoseconds, and the
/// tables that `add` adds in the order of [`Tables::all`]. `None` if `add` returns `None`.
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
