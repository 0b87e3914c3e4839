//! What a run leaves behind: tidy rows, the counters of links and switches, and a digest of every packet.

use crate::{AllocationRow, DeadlockRow, SliceRow};
use elan::Cluster;
use elan::NodeId;
use fabric::{LinkCounters, LinkId, SwitchId, Wiring, topology::End};
use kernel::Digest;
use kernel::statistics::Histogram;
use units::Time;

/// One measured value.
#[derive(Clone, Debug, PartialEq)]
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

/// What one node of a job sent, or fetched, in the measured window. Silent nodes have no row.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRow {
    /// Its job.
    pub job: String,
    /// The node.
    pub node: NodeId,
    /// Load of the messages that arrived, in MB/s.
    pub offered: f64,
    /// Load of what was stored of its messages, in MB/s.
    pub accepted: f64,
}

/// What a directed link did in the measured window.
#[derive(Clone, Debug, PartialEq)]
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
}

/// What a switch did in the measured window: the sums over the links that leave it.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    /// Measured values.
    pub rows: Vec<Row>,
    /// Nodes that sent, of steady traffic.
    pub nodes: Vec<NodeRow>,
    /// Links that carried anything in the window.
    pub links: Vec<LinkRow>,
    /// Switches that carried anything in the window.
    pub switches: Vec<SwitchRow>,
    /// Delays of the links over time, where the run asked for them.
    pub slices: Vec<SliceRow>,
    /// Distribution of the latency of a collective operation, or of the detours of a noise test.
    pub distribution: Vec<BinRow>,
    /// Who waits for whom, where a run ended in a deadlock that was to be seen.
    pub deadlock: Vec<DeadlockRow>,
    /// Matrix of a static allocation of rails, where it was asked for.
    pub allocation: Vec<AllocationRow>,
    /// Digest of all packets of the run and of all that is above.
    pub digest: String,
    /// Packets acknowledged in the whole run.
    pub packets: u64,
    /// Events of the whole run.
    pub events: u64,
    /// Simulated time of the whole run.
    pub simulated: Time,
}

/// What a workload has measured itself.
#[derive(Default)]
pub(crate) struct Measured {
    pub rows: Vec<Row>,
    pub nodes: Vec<NodeRow>,
    pub slices: Vec<SliceRow>,
    pub distribution: Vec<BinRow>,
    pub deadlock: Vec<DeadlockRow>,
    pub allocation: Vec<AllocationRow>,
}

/// The counters of all links at one moment: the start of the window.
pub struct Baseline(Vec<LinkCounters>);

impl Baseline {
    /// Counters now.
    pub fn take(cluster: &Cluster) -> Self {
        let links = cluster.config().fabric.topology.links();
        Baseline(LinkId::all(links).map(|link| cluster.link(link)).collect())
    }

    /// The records of a run that ends now.
    pub(crate) fn finish(self, cluster: &Cluster, measured: Measured) -> Records {
        cluster.check_conservation();
        let config = cluster.config();
        let links = self.link_rows(cluster, &config);
        let switches = switch_rows(&*config.fabric.topology, &links);
        let mut records = Records {
            rows: measured.rows,
            nodes: measured.nodes,
            links,
            switches,
            slices: measured.slices,
            distribution: measured.distribution,
            deadlock: measured.deadlock,
            allocation: measured.allocation,
            digest: cluster.digest(),
            packets: cluster.packets(),
            events: cluster.events(),
            simulated: cluster.now(),
        };
        records.digest = records.digest_of_all();
        records
    }

    /// What each link did since.
    pub fn links(&self, cluster: &Cluster) -> Vec<LinkRow> {
        self.link_rows(cluster, &cluster.config())
    }

    fn link_rows(&self, cluster: &Cluster, config: &elan::Config) -> Vec<LinkRow> {
        let tree = &config.fabric.topology;
        let row = |(link, before): (LinkId, &LinkCounters)| {
            let after = cluster.link(link);
            let slots = (after.flits + after.tokens) - (before.flits + before.tokens);
            let waiting = after.waiting - before.waiting;
            // Most links of a large machine may have been idle: names only for those that are kept.
            (slots > 0 || waiting > 0).then(|| {
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
                }
            })
        };
        LinkId::all(tree.links())
            .zip(&self.0)
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
    /// Adds values that are known only after the run.
    pub(crate) fn add(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.rows.extend(rows);
        self.digest = self.digest_of_all();
    }

    fn digest_of_all(&self) -> String {
        let mut digest = Digest::new();
        digest
            .str(&self.digest)
            .u64(self.packets)
            .u64(self.events)
            .u64(self.simulated.as_ps());
        for row in &self.rows {
            digest
                .str(row.job.as_deref().unwrap_or_default())
                .str(row.metric)
                .u64(row.batch.map_or(u64::MAX, u64::from))
                .f64(row.value);
        }
        for row in &self.nodes {
            digest.str(&row.job).u64(row.node.into());
            digest.f64(row.offered).f64(row.accepted);
        }
        for link in &self.links {
            digest
                .u64(link.link.into())
                .u64(link.packets)
                .u64(link.flits);
            digest.u64(link.busy.as_ps()).u64(link.waiting.as_ps());
        }
        for slice in &self.slices {
            digest.u64(slice.slice.into()).u64(slice.link.into());
            digest.u64(slice.waiting.as_ps());
        }
        for bin in &self.distribution {
            digest.u64(bin.lower.as_ps()).u64(bin.count);
        }
        for row in &self.deadlock {
            row.add_to(&mut digest);
        }
        for row in &self.allocation {
            digest.u64(row.rail.into()).u64(row.node.into());
            digest.u64(row.transmits.into());
        }
        digest.hex()
    }
}
