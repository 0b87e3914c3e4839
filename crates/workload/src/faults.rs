//! A run's fault records: the failed parts and their times, and the adapters' recovery in the
//! measured window.
//!
//! A run without any fault event has the records of a machine without faults. `accepted` and
//! `bandwidth` always count the payload that arrives once and whole; a retransmitted packet counts
//! once.

use crate::Failure;
use crate::rows::MetricRow;
use elan::Recoveries;
use elan::faults::{Episode, FaultyPart};
use elan::{Cluster, DmaError, Node, NodeId, Rail, Stop};
use fabric::{LinkId, Wiring};
use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;
use units::Time;

/// A time in which a part was down, or bit errors on cables, in the whole run.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest(self.fault, self.part, self.name, self.bit_error_rate, self.down, self.up, self.known)]
pub struct FaultRow {
    /// The fault's number in the list: the machine's faults first, then the experiment's.
    pub fault: u32,
    /// The failed part: "link", "links", "switch", "adapter", "node" or "rail".
    pub part: &'static str,
    /// Its name.
    pub name: String,
    /// The cable's lower end, where the part has one cable: "node 3" or "switch 1.0".
    pub from: Option<String>,
    /// The cable's upper end.
    pub to: Option<String>,
    /// Probability that a bit is wrong, where the part has bit errors and is not down.
    pub bit_error_rate: Option<f64>,
    /// When the part went down.
    pub down: Option<Time>,
    /// When it was repaired, if it was.
    pub up: Option<Time>,
    /// When the sources learned that it was down, if they did.
    pub known: Option<Time>,
}

/// The faults so far.
pub fn rows(cluster: &Cluster) -> Vec<FaultRow> {
    let episodes = cluster.faults();
    if episodes.is_empty() {
        return Vec::new();
    }
    let topology = cluster.config().fabric.topology;
    let episodes = episodes.iter();
    episodes.map(|episode| row(episode, &*topology)).collect()
}

fn row(episode: &Episode, wiring: &dyn Wiring) -> FaultRow {
    let (part, cable): (_, Option<LinkId>) = match &episode.part {
        FaultyPart::Link(link) => ("link", Some(*link)),
        FaultyPart::Links(_) => ("links", None),
        FaultyPart::Switch(_) => ("switch", None),
        FaultyPart::Adapter(place) => ("adapter", Some(wiring.injection(*place))),
        FaultyPart::Node(_) => ("node", None),
        FaultyPart::Rail(_) => ("rail", None),
    };
    let cable = cable.map(|link| {
        let up = if wiring.is_up(link) {
            link
        } else {
            wiring.reverse(link)
        };
        let (from, to) = wiring.ends(up);
        (wiring.end_name(from), wiring.end_name(to))
    });
    let (from, to) = cable.unzip();
    FaultRow {
        fault: episode.fault,
        part,
        name: episode.part.name(wiring),
        from,
        to,
        bit_error_rate: episode.bit_error_rate,
        down: episode.down,
        up: episode.up,
        known: episode.known,
    }
}

/// The recovery of all adapters together so far; zero where no faults are listed.
pub fn recoveries(cluster: &Cluster) -> Recoveries {
    let mut sum = Recoveries::default();
    if cluster.config().faults.is_none() {
        return sum;
    }
    for rail in Rail::all(cluster.rails()) {
        for node in NodeId::all(cluster.nodes()) {
            let one = cluster.adapter(rail, node).recoveries();
            sum.corrupted += one.corrupted;
            sum.unreachable += one.unreachable;
            sum.timed_out += one.timed_out;
            sum.resent += one.resent;
            sum.given_up += one.given_up;
            sum.damaged += one.damaged;
            sum.repeated += one.repeated;
        }
    }
    sum
}

/// The adapters' recovery between two moments; no rows if no fault has occurred.
pub(crate) fn recovery_rows(cluster: &Cluster, before: &Recoveries) -> Vec<MetricRow> {
    if cluster.faults().is_empty() {
        return Vec::new();
    }
    let after = recoveries(cluster);
    let rows = [
        ("packets_corrupted", after.corrupted - before.corrupted),
        (
            "packets_unreachable",
            after.unreachable - before.unreachable,
        ),
        ("packets_timed_out", after.timed_out - before.timed_out),
        ("packets_resent", after.resent - before.resent),
        ("packets_repeated", after.repeated - before.repeated),
        ("given_up", after.given_up - before.given_up),
    ];
    let rows = rows.into_iter();
    rows.map(|(metric, count)| MetricRow::new(metric, "", count as f64))
        .collect()
}

/// Whether failed parts are the cause of an error.
pub(crate) fn caused(error: &DmaError) -> bool {
    error.loss().is_some() || error.is_rail_down() || matches!(error, DmaError::NoRail { .. })
}

/// The first error by which faults have ended a program.
#[derive(Clone, Default)]
pub(crate) struct FirstLoss(Rc<RefCell<Option<String>>>);

impl FirstLoss {
    /// The value that a program on a node returned; `None` if faults have caused an error, which is
    /// kept.
    ///
    /// # Panics
    /// If there is an error, and no faults are listed.
    pub fn value<T>(&self, node: &Node, result: Result<T, impl Display>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                assert!(
                    node.lists_faults(),
                    "both buffers are of the message's length, and nothing fails: {error}"
                );
                let mut first = self.0.borrow_mut();
                first.get_or_insert_with(|| error.to_string());
                None
            }
        }
    }

    /// How a run ended: the error that ended a program precedes the outcomes of the programs that
    /// waited for it.
    pub fn end(&self, end: Result<(), Stop>) -> Result<(), Failure> {
        match self.0.take() {
            Some(error) => Err(Failure::Lost(error)),
            None => Ok(end?),
        }
    }
}
