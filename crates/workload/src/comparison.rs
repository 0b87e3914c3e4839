//! Programs in company: each one's slowdown over its run alone, and its share of each link.

use crate::rows::{MetricRow, ShareRow};
use elan::Cluster;
use units::Time;

/// A program's time alone, and the ratio of its time in company to it.
pub(crate) fn compared(
    name: &str,
    metric: &'static str,
    with: Option<Time>,
    alone: Option<Time>,
) -> Vec<MetricRow> {
    let (Some(with), Some(alone)) = (with, alone) else {
        return Vec::new();
    };
    let slowdown = with.as_us_f64() / alone.as_us_f64();
    vec![
        MetricRow::new(metric, "us", alone.as_us_f64()).of_job(name),
        MetricRow::new("slowdown", "", slowdown).of_job(name),
    ]
}

/// The load of each link by program, since [`Cluster::tally`]. `names` are the programs', by their
/// share numbers from 1 on.
pub(crate) fn shares(cluster: &Cluster, names: &[&str]) -> Vec<ShareRow> {
    let config = cluster.config();
    let topology = &config.fabric.topology;
    let row = |share: fabric::Share| {
        let (from, to) = topology.ends(share.link);
        let job = usize::from(share.group).checked_sub(1);
        ShareRow {
            link: share.link.get(),
            from: topology.end_name(from),
            to: topology.end_name(to),
            job: job.map(|job| names[job].to_string()),
            packets: share.packets,
            flits: share.flits,
            bytes: share.flits * config.packet.flit.as_u64(),
        }
    };
    cluster.tallied().into_iter().map(row).collect()
}
