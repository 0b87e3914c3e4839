//! Slices of time: how congestion builds up.
//!
//! The counters of a link tell how long packets waited for it in the measured window, and how long these packets have waited
//! since their injection, as two sums. Where a run asks for slices, the whole run, warm-up included, is cut into equal parts,
//! each with its own sums. A wait counts where it ends, with the first flit of the packet on the link: a wait across two slices
//! belongs to the second.
//!
//! Links without waits have no row. Even so a slice of a large network under load has a row for most of its links, a
//! million for 65,536 nodes; hence there are no slices unless a run asks for them.

use crate::Window;
use elan::{Cluster, Stop};
use units::Time;

/// Time that packets waited, in one slice.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.slice, self.link, self.waiting, self.delay)]
pub struct SliceRow {
    /// Number of the slice, from 0 at the start of the run.
    pub slice: u32,
    /// Number of the link.
    pub link: u32,
    /// Time that packets waited to enter the link.
    pub waiting: Time,
    /// Time that these packets have waited since their injection. One of the two times is above zero.
    pub delay: Time,
}

/// Runs a cluster, and keeps the sums of each slice that ends on the way.
pub(crate) struct Slices {
    window: Window,
    finished: u32,
    /// Entry per link: cycles waited for the link, and since the injection, until the end of the last slice. Empty if there are
    /// no slices.
    before: Vec<[u64; 2]>,
    rows: Vec<SliceRow>,
}

impl Slices {
    /// The slices of a run that begins now.
    pub fn new(cluster: &Cluster, window: Window) -> Self {
        let links = match window.slices {
            0 => 0,
            _ => cluster.config().fabric.topology.links() as usize,
        };
        Slices {
            window,
            finished: 0,
            before: vec![[0; 2]; links],
            rows: Vec::new(),
        }
    }

    /// Runs to a moment, as [`Cluster::run_until`]. Slices change nothing of what happens.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn run_until(&mut self, cluster: &mut Cluster, end: Time) -> Result<(), Stop> {
        while self.finished < self.window.slices && self.window.slice_end(self.finished) <= end {
            cluster.run_until(self.window.slice_end(self.finished))?;
            self.finish_slice(cluster);
        }
        cluster.run_until(end)
    }

    fn finish_slice(&mut self, cluster: &Cluster) {
        let cycle = cluster.config().cycle;
        for (link, before) in (0_u32..).zip(&mut self.before) {
            let counters = cluster.link(link);
            let after = [counters.waiting, counters.delay];
            if after != *before {
                let [waiting, delay] = [0, 1].map(|sum| cycle * (after[sum] - before[sum]));
                self.rows.push(SliceRow {
                    slice: self.finished,
                    link,
                    waiting,
                    delay,
                });
            }
            *before = after;
        }
        self.finished += 1;
    }

    /// The rows of the slices that have ended.
    pub fn into_rows(self) -> Vec<SliceRow> {
        self.rows
    }
}
