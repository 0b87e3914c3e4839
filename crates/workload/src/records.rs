//! What a run leaves behind: tidy rows, the counters of links and switches, and a digest of every packet.

use crate::faults::{self, FaultRow};
use crate::rows::{AllocationRow, BinRow, FlowRow, LinkRow, NodeRow, Row, ShareRow, SwitchRow};
use crate::table::Table;
use crate::{CircuitRow, DeadlockRow, SliceRow};
use elan::Cluster;
use elan::Recoveries;
use fabric::{LinkCounters, LinkId, SwitchId, Wiring, topology::End};
use kernel::Digest;
use kernel::statistics::Histogram;
use units::Time;

/// The tables of a run; those that its workload does not fill are empty. All code about tables goes by this list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// Measured values.
    pub rows: Vec<Row>,
    /// Nodes that sent steady traffic.
    pub nodes: Vec<NodeRow>,
    /// Links that carried anything in the window, or were dead.
    pub links: Vec<LinkRow>,
    /// Switches that carried anything in the window.
    pub switches: Vec<SwitchRow>,
    /// Delays of the links over time, where the run asked for them.
    pub slices: Vec<SliceRow>,
    /// Distribution of the latency of a collective operation, or of the detours of a noise test.
    pub distribution: Vec<BinRow>,
    /// The waits of a deadlock, where a run was meant to end in one.
    pub deadlock: Vec<DeadlockRow>,
    /// Matrix of a static allocation of rails, where the run asked for it.
    pub allocation: Vec<AllocationRow>,
    /// What failed in the run, where anything did.
    pub faults: Vec<FaultRow>,
    /// Who held which channel when, where the run asked for it.
    pub circuits: Vec<CircuitRow>,
    /// Flows of lists.
    pub flows: Vec<FlowRow>,
    /// What links carried of each program, where several kinds of programs ran.
    pub shares: Vec<ShareRow>,
}

impl Tables {
    /// All tables with their names, in the order of the digest.
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
    /// The latencies of the messages of each job of steady traffic in the window. They are in no table, because their bins are
    /// many, and not part of the digest.
    pub latencies: Vec<(String, Histogram)>,
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

    /// What each link did since the baseline.
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
            // Most links of a large machine may have been idle: only the links that are kept get names.
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
