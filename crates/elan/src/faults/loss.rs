//! Losses: reports to a process about a message that faults have kept from its destination.

use crate::Place;
use crate::memory::ProcessId;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// A DMA, or a message, that the network has not carried for as long as its sender has tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub struct Loss {
    /// The adapter that sent.
    pub from: Place,
    /// The adapter at the other end; for a broadcast, the first.
    pub to: Place,
    /// The process at the other end, where a library knows it.
    pub process: Option<ProcessId>,
    /// The last obstacle that the sender noticed.
    pub reason: Obstacle,
    /// Whether the message may have been delivered nevertheless: an answer to it got lost. If not,
    /// it has not been delivered as a whole; bytes of a DMA with several packets may have been
    /// stored, without any notification.
    pub unsure: bool,
}

/// Why a packet did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No answer came within the output timeout.
    Silence,
    /// Packets were damaged on their way.
    Damage,
    /// No way is left: a dead cable, if the routing tables know which.
    NoWay(Option<CableName>),
    /// The adapter at a get's other end has died.
    Dead,
}

/// A dead cable's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CableName(&'static str);

/// Names of all cables that an error has named. Errors are copied, so the names stay: one for each
/// cable.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl From<String> for CableName {
    fn from(name: String) -> Self {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(name.as_str()) {
            return CableName(known);
        }
        let name: &'static str = Box::leak(name.into_boxed_str());
        names.insert(name);
        CableName(name)
    }
}

impl fmt::Display for CableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Silence => f.write_str("no answer came in time"),
            Obstacle::Damage => f.write_str("bit errors damaged the packets"),
            Obstacle::NoWay(Some(cut)) => write!(f, "no way is left, since the {cut} is dead"),
            Obstacle::NoWay(None) => f.write_str("a dead cable is in the way"),
            Obstacle::Dead => f.write_str("the adapter at the other end is dead"),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loss { from, to, .. } = self;
        write!(f, "the network between node {from} and node {to}")?;
        if let Some(process) = self.process {
            write!(f, " (process {process})")?;
        }
        write!(f, " has failed: {}; the message ", self.reason)?;
        f.write_str(if self.unsure {
            "may have been delivered"
        } else {
            "has not been delivered"
        })
    }
}
