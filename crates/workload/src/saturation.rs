//! # A job's saturation point: a search over its load (coll2003 s5.3)
//!
//! "Saturation is defined as the minimum offered bandwidth where the accepted bandwidth is lower
//! than the global packet creation rate at the source nodes." For a run, `saturated` in
//! [`crate::traffic`] is this condition. The search halves an interval of loads, whose lower end is
//! not saturated and whose upper end is, until the interval is short enough. Each trial is a
//! separate run, on a fresh cluster, with the same seed. The result is the upper end: the least
//! load that was found saturated. The whole range's two ends are tried last, and only if they are
//! still ends of the interval.
//!
//! The records are those for the greatest load that was not saturated, and also `saturation`, in
//! MB/s for each node. If the highest load is not saturated, it is the result, and `saturated` is 0
//! as always. If the lowest load is saturated, it is the result, and `saturated` is 1.

use crate::job::Job;
use crate::records::Records;
use crate::rows::MetricRow;
use crate::traffic::{Norm, Traffic};
use crate::{Failure, Window};
use elan::Cluster;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

/// A search for the load at which a series' only job saturates; its own load is the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The highest load.
    pub highest: Rate,
    /// The largest final distance between a saturated load and one that is not, as a fraction of
    /// the highest load.
    pub resolution: f64,
}

impl Search {
    /// Searches the saturation point of the only job in `traffic`.
    ///
    /// # Errors
    /// See [`Failure`].
    ///
    /// # Panics
    /// As [`Traffic::run`], or if there is not exactly one job.
    pub fn run(
        self,
        traffic: &Traffic,
        cluster: impl Fn() -> Cluster,
        window: Window,
        seed: u64,
    ) -> Result<Records, Failure> {
        let [job] = &traffic.jobs[..] else {
            panic!(
                "a saturation point is that of one job, and there are {}",
                traffic.jobs.len()
            )
        };
        let trial = |load: Rate| {
            let job = Job {
                load,
                ..job.clone()
            };
            let traffic = Traffic {
                jobs: vec![job],
                ..*traffic
            };
            traffic.run(cluster(), window, seed)
        };
        let norm = Norm::of(&cluster());
        let (load, mut records) = bisect(job.load, self, trial, is_saturated)?;
        let row = |metric, unit, value| MetricRow::new(metric, unit, value).of_job(&job.name);
        let load = load.as_mb_per_second_f64();
        let part = norm.map(|norm| row("saturation_part", "", norm.part(load)));
        records.add(std::iter::once(row("saturation", "MB/s", load)).chain(part));
        Ok(records)
    }
}

fn is_saturated(records: &Records) -> bool {
    records.values("saturated").iter().any(|&value| value > 0.5)
}

/// The least load that was found saturated, and the result at the greatest load that was not.
fn bisect<T, E>(
    lowest: Rate,
    search: Search,
    mut trial: impl FnMut(Rate) -> Result<T, E>,
    is_saturated: impl Fn(&T) -> bool,
) -> Result<(Rate, T), E> {
    let mut records = None;
    let (mut below, mut above) = (
        lowest.as_bytes_per_second(),
        search.highest.as_bytes_per_second(),
    );
    let close = (above as f64 * search.resolution).max(1.0);
    while (above - below) as f64 > close {
        let middle = below.midpoint(above);
        let tried = trial(Rate::from_bytes_per_second(middle))?;
        if is_saturated(&tried) {
            above = middle;
        } else {
            (below, records) = (middle, Some(tried));
        }
    }
    let above = Rate::from_bytes_per_second(above);
    if above == search.highest {
        let highest = trial(above)?;
        if !is_saturated(&highest) {
            return Ok((above, highest));
        }
    }
    if let Some(records) = records {
        return Ok((above, records));
    }
    let records = trial(lowest)?;
    let load = if is_saturated(&records) {
        lowest
    } else {
        above
    };
    Ok((load, records))
}

#[cfg(test)]
mod tests;
