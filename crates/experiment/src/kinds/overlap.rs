//! Post-compute-wait: how communication and computation overlap (garcia2005 s3.2); see [`workload::overlap`].

use super::kind::{Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::run::Run;
use crate::sweep::{Grid, Sweep, grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Time};
use workload::{Failure, Overlap, Records};

/// Longest computation.
const LONGEST: Time = Time::from_secs(1);

grid! {
    /// Post-compute-wait: a process posts a send and a receive of MPI, computes, and waits for both (garcia2005 s3.2).
    OverlapGrid => Overlap {
        /// The node of the process that computes.
        from: u32,
        /// The node of its partner, which only communicates.
        to: u32,
        /// Length of each message, in main memory.
        message: Bytes,
        /// How long each computation takes.
        compute: Time,
        /// Rounds that are measured.
        repeats: u32,
    }
    optional {}
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
