//! Time slices: how congestion builds up.
//!
//! A link's counters hold two sums: how long packets waited for it in the measured window, and how
//! long these packets have waited since their injection. On request, the whole run, warm-up
//! included, is cut into equal slices, each with its own sums. A wait counts where it ends, with
//! the packet's first flit on the link: a wait across two slices belongs to the second.
//!
//! Links without waits have no row. Even so a slice has a row for most links of a large network
//! under load, a million for 65,536 nodes; hence there are no slices unless a run asks for them.

use crate::Window;
use elan::{Cluster, Stop};
use units::Time;

/// Time that packets waited, in one slice.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.slice, self.link, self.waiting, self.delay)]
pub struct SliceRow {
    /// Slice number, from 0 at the start of the run.
    pub slice: u32,
    /// Link number.
    pub link: u32,
    /// Time that packets waited to enter the link.
    pub waiting: Time,
    /// Time that these packets have waited since their injection. At least one of the two times is
    /// above zero.
    pub delay: Time,
}

/// Runs a cluster, and keeps the sums for each slice that ends on the way.
pub(crate) struct Slices {
    window: Window,
    finished: u32,
    /// Entry per link: cycles waited for the link, and since the injection, until the last slice
    /// ended. Empty if there are no slices.
    before: Vec<[u64; 2]>,
    rows: Vec<SliceRow>,
}

impl Slices {
    /// The slices for a run that begins now.
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

    /// Runs to a moment, as [`Cluster::run_until`]. Slices do not affect the run.
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

    /// The rows for the slices that have ended.
    pub fn into_rows(self) -> Vec<SliceRow> {
        self.rows
    }
}
