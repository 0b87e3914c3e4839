//! # The simulated node in place of the host
//!
//! This process's rank, and the node and node kind on which it runs.
//!
//! A program queries its host in many ways. The C library's are defined here again, under their own
//! names, and show the simulated node from the process's first instruction on, by the run's
//! placement:
//!
//! | question | answer | module |
//! |---|---|---|
//! | `gethostname`, `uname` | [`RankNode::name`]; addresses for such names are this host's | [`names`] |
//! | affinity, processor count | all the node's processors (the machine's `host.cpus`) | [`processors`] |
//! | `/proc/cpuinfo` and the like | the same processor count, with this host's kind | [`files`] |
//!
//! Operations on files take the time of the machine's file system ([`access`], [`streams`]).
//!
//! Threads are not moved: the host's scheduler places them, and a mask that a program sets is only
//! shown to it again. A process that is not a rank, and programs that a rank starts, see the host.
//! MPI's own answers are in the crate `mpi-calls`.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`names`] | the host name, and addresses for such names |
//! | [`processors`] | affinity and processor count |
//! | [`files`] | system files that list processors |
//! | [`access`], [`streams`], [`places`] | the time for operations on files, and for C streams |
//! | [`locks`] | waits for file locks that other ranks hold |
//!
//! ## The main path
//!
//! A program asks for its host's name:
//!
//! 1. `names.rs`: the loader finds `gethostname` here.
//! 2. `lib.rs`: [`own`] is the process's node, by the run's placement.

#![allow(unsafe_code)] // C functions

mod access;
mod files;
mod locks;
mod names;
mod places;
mod processors;
mod streams;

pub use access::{AccessMode, moves};

use launch::process::NUMBER_VARIABLE;
use link::Starter;
use std::sync::LazyLock;

/// The variables by which MPI program starters give a process its rank. Our own gives the number in
/// the run, too, which differs from the rank if another rank has started the process.
pub const RANKS: [&str; 4] = [
    NUMBER_VARIABLE,
    "PMI_RANK",
    "PMIX_RANK",
    "OMPI_COMM_WORLD_RANK",
];

/// This process's rank.
pub fn own_rank() -> Option<u32> {
    let mut values = RANKS.iter().filter_map(|name| std::env::var(name).ok());
    values.find_map(|value| value.parse().ok())
}

/// This process's rank, and its slot; `None` if the process was not started as a rank in a run.
pub fn starter() -> Option<(u32, Starter)> {
    let path = std::env::var(link::PATH_VARIABLE).ok()?;
    let rank = own_rank()?;
    Some((rank, Starter::open(&path, rank).ok()?))
}

/// This process's node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankNode {
    /// Its number in the machine.
    pub number: u32,
    /// This process's place among the node's ranks.
    pub place: u32,
    /// How many processors the node has.
    pub processors: u32,
    /// How many nodes the machine has.
    machine: u32,
}

impl RankNode {
    /// A rank's node, by all ranks' nodes.
    fn of(rank: u32, nodes: &[u32], settings: link::Settings) -> Option<RankNode> {
        let before = nodes.get(..rank as usize)?;
        let number = *nodes.get(rank as usize)?;
        Some(RankNode {
            number,
            place: before.iter().filter(|&&node| node == number).count() as u32,
            processors: settings.processors.max(1),
            machine: settings.nodes,
        })
    }

    /// The host name: `node` and the number.
    pub fn name(&self) -> String {
        format!("node{}", self.number)
    }

    /// Whether a host name belongs to a node in the machine.
    fn is_of_machine(&self, name: &[u8]) -> bool {
        let digits = name.strip_prefix(b"node").unwrap_or_default();
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        let number = digits.parse().ok();
        number.is_some_and(|number: u32| number < self.machine && number.to_string() == digits)
    }
}

/// The run's settings, also before this process takes part in it.
pub fn settings() -> Option<link::Settings> {
    Some(starter()?.1.settings())
}

/// This process's node; `None` if the process is not a rank in a run.
pub fn own() -> Option<&'static RankNode> {
    static OWN: LazyLock<Option<RankNode>> = LazyLock::new(|| {
        let (rank, starter) = starter()?;
        RankNode::of(rank, &starter.nodes(), starter.settings())
    });
    OWN.as_ref()
}

/// Before the program begins: describes the node to hwloc, which many MPI libraries and runtimes
/// ask for processors, by hwloc's own variables, unless the user has described a machine.
pub fn describe() {
    const OF_USERS: [&str; 3] = ["HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_FSROOT"];
    if let Some(node) = own()
        && OF_USERS.iter().all(|name| std::env::var_os(name).is_none())
    {
        let kind = format!("package:1 core:{} pu:1", node.processors);
        // SAFETY: the program has not begun, and there is one thread. The description is of this
        // system, so that masks are asked for.
        unsafe {
            std::env::set_var("HWLOC_SYNTHETIC", kind);
            std::env::set_var("HWLOC_THISSYSTEM", "1");
        }
    }
}

#[cfg(test)]
mod tests;
