//! Post-compute-wait: how communication and computation overlap (garcia2005 s3.2); see
//! [`workload::overlap`].

use super::kind::{Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::run::Run;
use crate::sweep::Sweep;
use derive::grid;
use units::{Bytes, Time};
use workload::{Failure, Overlap, Records};

/// Longest computation.
const LONGEST: Time = Time::from_secs(1);

/// Post-compute-wait: a process posts an MPI send and receive, computes, and waits for both
/// (garcia2005 s3.2).
#[grid(Overlap)]
pub struct OverlapGrid {
    /// The computing process's node.
    pub from: Sweep<u32>,
    /// Its partner's node, which only communicates.
    pub to: Sweep<u32>,
    /// Message length, in main memory.
    pub message: Sweep<Bytes>,
    /// How long each computation takes.
    pub compute: Sweep<Time>,
    /// Rounds that are measured.
    pub repeats: Sweep<u32>,
}

impl Kind for OverlapGrid {
    const WHAT: &'static str = "a test of overlap";
    const PLOT: Plot = Plot {
        over: "message",
        metrics: &["availability", "bandwidth", "call", "wait"],
    };

    fn check(&self, series: &str, _: &Run, check: &mut Check<'_>) {
        let path = format!("{series}.overlap");
        check.lists(&path, self);
        check.largest_message(&path, &self.message);
        check.repeats(&path, &self.repeats);
        check.apart(&path, (&self.from, &self.to), "wait for");
        for (place, &compute) in self.compute.places(&format!("{path}.compute")) {
            check.longest(&place, compute, LONGEST);
        }
    }

    fn fit(&self, series: &str, fit: &mut Fit<'_>) {
        fit.pair(&format!("{series}.overlap"), &self.from, &self.to);
    }
}

impl Runs for Overlap {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        self.run((setting.cluster)())
    }
}
