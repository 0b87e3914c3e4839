//! A ping: one message at a time between two nodes (petrini2003 s4.1, s4.2); see
//! [`workload::ping`].

use super::kind::{Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::run::Run;
use crate::sweep::Sweep;
use derive::grid;
use elan::Placement;
use units::Bytes;
use workload::ping::{Directions, Library, Ping};
use workload::{Failure, Records};

/// One message at a time between two nodes (petrini2003 s4.1, s4.2).
#[grid(Ping)]
pub struct PingGrid {
    /// The first node.
    pub from: Sweep<u32>,
    /// The second node.
    pub to: Sweep<u32>,
    /// Which messages travel at the same time.
    pub directions: Sweep<Directions>,
    /// Where the sender's buffer lies.
    pub source: Sweep<Placement>,
    /// Where the receiver's buffer lies.
    pub destination: Sweep<Placement>,
    /// Message length.
    pub message: Sweep<Bytes>,
    /// Messages in each direction.
    pub repeats: Sweep<u32>,
    /// The library that moves the messages: remote DMAs in Elan3lib (default), or MPI.
    pub library: Option<Sweep<Library>>,
}

impl Kind for PingGrid {
    const WHAT: &'static str = "a ping";
    const PLOT: Plot = Plot {
        over: "message",
        metrics: &["latency", "bandwidth"],
    };

    fn check(&self, series: &str, _: &Run, check: &mut Check<'_>) {
        let path = format!("{series}.ping");
        check.lists(&path, self);
        check.largest_message(&path, &self.message);
        check.repeats(&path, &self.repeats);
        check.apart(&path, (&self.from, &self.to), "ping");
    }

    fn fit(&self, series: &str, fit: &mut Fit<'_>) {
        fit.pair(&format!("{series}.ping"), &self.from, &self.to);
    }
}

impl Runs for Ping {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        self.run((setting.cluster)())
    }
}
