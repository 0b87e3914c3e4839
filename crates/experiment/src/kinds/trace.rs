//! The replay of a generated message pattern, such as an all-reduce by rings; see
//! [`workload::trace`].

use super::kind::{Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::nodes::NodeSet;
use crate::run::Run;
use crate::sweep::Sweep;
use derive::grid;
use goal::pattern::Calls;
use units::{Bytes, Time};
use workload::trace::CalledPattern;
use workload::{Failure, Records, Replay};

/// Most ranks.
const MOST_RANKS: u32 = 1 << 20;

/// A collective operation as a trace: its messages, replayed by processes on some nodes.
#[grid(struct Trace)]
pub struct TraceGrid {
    /// The called operation, by its algorithm.
    pub pattern: Sweep<CalledPattern>,
    /// The processes' nodes, in rank order.
    pub nodes: Sweep<NodeSet>,
    /// Bytes in a rank's vector; for an all-to-all, from each rank to each other rank in its group.
    pub message: Sweep<Bytes>,
    /// Calls, one after the other.
    pub repeats: Sweep<u32>,
    /// Processes on each node, with ranks next to each other; 1 by default.
    pub processes: Option<Sweep<u32>>,
    /// Ranks per group: a divisor of the rank count. By default a node's ranks; for an all-to-all
    /// in groups, all ranks.
    pub group: Option<Sweep<u32>>,
    /// When it starts beside other programs, after the warm-up; immediately by default.
    pub start: Option<Sweep<Time>>,
}

impl Kind for TraceGrid {
    const WHAT: &'static str = "a trace";
    const PLOT: Plot = Plot {
        over: "message",
        metrics: &["latency", "bandwidth"],
    };

    fn check(&self, series: &str, _: &Run, check: &mut Check<'_>) {
        self.check_calls(series, check);
        if self.start.is_some() {
            let path = format!("{series}.trace.start");
            let found = check.problem(&path, "a trace without other programs starts at once");
            found.hint("leave it out");
        }
    }

    fn fit(&self, series: &str, fit: &mut Fit<'_>) {
        fit.nodes(&format!("{series}.trace.nodes"), &self.nodes);
    }
}

impl TraceGrid {
    /// Checks the calls, alone or beside other programs.
    pub(super) fn check_calls(&self, series: &str, check: &mut Check<'_>) {
        let path = format!("{series}.trace");
        check.lists(&path, self);
        check.nodes(&format!("{path}.nodes"), &self.nodes);
        check.largest_message(&path, &self.message);
        check.repeats(&path, &self.repeats);
        let processes = self.processes.clone().unwrap_or(Sweep::One(1));
        let mut counted = true;
        for (place, &each) in processes.places(&format!("{path}.processes")) {
            counted &= check.range(&place, each, 1..=256);
        }
        let Some(groups) = self.group.as_ref().filter(|_| counted) else {
            return;
        };
        for (place, &group) in groups.places(&format!("{path}.group")) {
            let ranks = self.nodes.values().iter().flat_map(|nodes| {
                let nodes = nodes.numbers().len() as u32;
                let each = processes.values().iter();
                each.map(move |each| nodes.saturating_mul(*each))
            });
            let mut undivided = ranks.filter(|&ranks| ranks > 0);
            if let Some(ranks) = undivided.find(|ranks| group == 0 || !ranks.is_multiple_of(group))
            {
                let message = format!("{ranks} ranks do not make groups of {group}");
                let found = check.problem(&place, message);
                found.allowed("a divisor of the ranks: nodes times processes");
            }
        }
    }
}

impl Trace {
    /// The calls.
    pub(super) fn calls(&self) -> Calls {
        let nodes = self.nodes.numbers().len() as u32;
        let processes = self.processes.unwrap_or(1);
        let ranks = nodes.saturating_mul(processes);
        assert!(ranks <= MOST_RANKS, "nodes and processes are bounded");
        let own = match self.pattern {
            CalledPattern::AllReduceHierarchical
            | CalledPattern::AllReduceAcross
            | CalledPattern::AllToAllAcross => processes,
            CalledPattern::AllReduceRing | CalledPattern::AllToAll => ranks,
        };
        Calls {
            pattern: self.pattern.into(),
            ranks,
            group: self.group.unwrap_or(own),
            size: self.message.as_u64(),
            calls: self.repeats,
        }
    }
}

impl Runs for Trace {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        let replay = Replay {
            nodes: self.nodes.numbers(),
            processes: self.processes.unwrap_or(1),
            calls: self.calls(),
        };
        replay.run((setting.cluster)())
    }
}
