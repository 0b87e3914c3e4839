//! A ping: one message at a time between two nodes (petrini2003 s4.1, s4.2); see [`workload::ping`].

use super::kind::{Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::run::Run;
use crate::sweep::{Grid, Sweep, grid};
use elan::Placement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::ping::{Directions, Library, Ping};
use workload::{Failure, Records};

grid! {
    /// One message at a time between two nodes (petrini2003 s4.1, s4.2).
    PingGrid => Ping {
        /// The first node.
        from: u32,
        /// The second node.
        to: u32,
        /// Which messages travel at the same time.
        directions: Directions,
        /// Where the sender's buffer lies.
        source: Placement,
        /// Where the receiver's buffer lies.
        destination: Placement,
        /// Length of each message.
        message: Bytes,
        /// Messages in each direction.
        repeats: u32,
    }
    optional {
        /// What moves the messages: remote DMAs of Elan3lib (default), or MPI.
        library: Library,
    }
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
