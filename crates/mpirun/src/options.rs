//! A run's options.

use crate::table::SamplingRequest;
use config::Problems;
use elan::NodeId;
use libelan::{JobError, ProcessJob};
use link::Compute;
use machine::Machine;
use serde::Deserialize;
use thiserror::Error;
use units::Time;

/// Which network the messages cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkMode {
    /// The machine's network: adapters, buses, fabric.
    Machine,
    /// The network in [`crate::ideal`].
    Ideal,
}

/// Where message buffers lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// In main memory, across the bus, like a program's buffers.
    Main,
    /// In the adapter's memory, as in benchmarks that measure the network alone (petrini2003 s4).
    Elan,
}

impl From<Memory> for elan::Placement {
    fn from(memory: Memory) -> Self {
        match memory {
            Memory::Main => elan::Placement::Main,
            Memory::Elan => elan::Placement::Adapter,
        }
    }
}

/// The way in which MPI's collective operations that Elanlib has are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CollectiveMode {
    /// The MPI library, by messages.
    Mpi,
    /// Elanlib, by its software trees.
    Elan,
    /// Elanlib, by the hardware wherever that serves the group.
    Hardware,
}

impl CollectiveMode {
    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveMode::Mpi => "mpi",
            CollectiveMode::Elan => "elan",
            CollectiveMode::Hardware => "hardware",
        }
    }
}

impl From<CollectiveMode> for link::Collectives {
    fn from(collectives: CollectiveMode) -> Self {
        match collectives {
            CollectiveMode::Mpi => link::Collectives::Mpi,
            CollectiveMode::Elan => link::Collectives::Elan,
            CollectiveMode::Hardware => link::Collectives::Hardware,
        }
    }
}

/// The request for a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // each is a command line option
pub struct Options {
    /// How many ranks.
    pub ranks: u32,
    /// How many ranks there may be in all, with those that start later; at least the initial ones.
    #[serde(default)]
    pub universe: u32,
    /// How many ranks run on each node, where no places are given.
    pub ranks_per_node: u32,
    /// Each rank's node, also for ranks that start later.
    pub placement: Option<Vec<u32>>,
    /// The time that computation takes: `none`, `2 us per call`, `measured x 1.5` or `sampled`.
    pub compute: String,
    /// The table for sampled computation.
    #[serde(default)]
    pub sampled: Option<SamplingRequest>,
    /// Which network.
    pub network: NetworkMode,
    /// Where message buffers lie; the ideal network has no adapters.
    pub memory: Memory,
    /// The way in which collective operations are carried out; see [`Options::collectives`] for the
    /// default.
    #[serde(default)]
    pub collectives: Option<CollectiveMode>,
    /// The hosts' noise seed.
    pub seed: u64,
    /// A bound on simulated time.
    pub limit_time: Option<String>,
    /// Whether [`elan::series`] is kept.
    pub timeline: bool,
    /// Whether the run is recorded in GOAL.
    #[serde(default)]
    pub record: bool,
    /// Whether every MPI call is kept.
    pub calls: bool,
    /// Whether the bytes that ranks store are compared with the sent bytes' checksum.
    pub checksums: bool,
    /// Whether the other ranks go on when a rank ends that has not left MPI.
    pub keep_going: bool,
}

/// Why there is no such run.
#[derive(Debug, Error)]
pub enum OptionsProblem {
    /// An option is wrong.
    #[error("{0}")]
    Option(String),
    /// There are more ranks than the machine has places for.
    #[error(
        "{ranks} ranks at {per_node} a node need {needed} nodes, and the machine has {nodes}; \
         ask for fewer ranks, for more on each node (--ranks-per-node), or for more nodes (--nodes \
         {needed})"
    )]
    TooMany {
        /// Ranks.
        ranks: u32,
        /// On each node.
        per_node: u32,
        /// Nodes that the ranks need.
        needed: u32,
        /// Nodes that the machine has.
        nodes: u32,
    },
    /// The machine has no room for the ranks.
    #[error("{0}")]
    NoRoom(#[from] JobError),
    /// The table for sampled computation has mistakes.
    #[error("{0}")]
    Table(#[from] Problems),
    /// The host has no memory for the link.
    #[error("there is no shared memory for the ranks: {0}")]
    NoMemory(#[from] std::io::Error),
}

impl Options {
    /// How many ranks there may be in all.
    pub fn room(&self) -> u32 {
        self.universe.max(self.ranks)
    }

    /// The ranks' nodes, also for those that start later.
    pub fn places(&self) -> Vec<u32> {
        let per_node = self.ranks_per_node.max(1);
        let block = || (0..self.room()).map(|rank| rank / per_node).collect();
        self.placement.clone().unwrap_or_else(block)
    }

    /// The ranks' job, also for those that start later: they have their places from the beginning.
    /// The I/O nodes of the machine's file system are its last processes.
    ///
    /// # Errors
    /// If the ranks have no places on the machine.
    pub fn job(&self, machine: &Machine) -> Result<ProcessJob, OptionsProblem> {
        let nodes = machine.cluster_config().fabric.topology.nodes();
        let ranks = self.room();
        let mut places = match &self.placement {
            Some(places) if places.len() != ranks as usize => {
                return Err(OptionsProblem::Option(format!(
                    "there are places of {} ranks, and {ranks} ranks",
                    places.len(),
                )));
            }
            Some(places) => places.clone(),
            None => {
                let per_node = self.ranks_per_node.max(1);
                let needed = ranks.div_ceil(per_node);
                if needed > nodes {
                    return Err(OptionsProblem::TooMany {
                        ranks,
                        per_node,
                        needed,
                        nodes,
                    });
                }
                self.places()
            }
        };
        if let Some(servers) = machine
            .files
            .as_ref()
            .and_then(|files| files.servers.as_ref())
        {
            places.extend(nodes - servers.value..nodes);
        }
        Ok(ProcessJob::at("rank", places.into_iter().map(NodeId::new))?)
    }

    /// The way in which collective operations are carried out: by default, by the hardware on a
    /// machine that has it, as with MPI on the Quadrics machines. The ideal network has no
    /// hardware, and a recording holds messages only.
    pub fn collectives(&self, machine: &Machine) -> CollectiveMode {
        let hardware = self.network == NetworkMode::Machine
            && !self.record
            && machine.cluster_config().fabric.has_broadcasts();
        self.collectives.unwrap_or(if hardware {
            CollectiveMode::Hardware
        } else {
            CollectiveMode::Mpi
        })
    }

    /// The time that computation takes.
    ///
    /// # Errors
    /// If the text has another form.
    pub fn compute(&self) -> Result<Compute, OptionsProblem> {
        let text = self.compute.trim();
        let wrong = || {
            OptionsProblem::Option(format!(
                "computation takes `none`, a time `per call` such as `2 us per call`, `measured x` \
                a factor, or \
                 is `sampled`, and not `{text}`"
            ))
        };
        if text == "none" {
            return Ok(Compute::None);
        }
        if text == "sampled" {
            return Ok(Compute::Sampled(1.0));
        }
        if let Some(time) = text.strip_suffix("per call") {
            let time: Time = time.trim().parse().map_err(|_| wrong())?;
            return Ok(Compute::PerCall(time.as_ps()));
        }
        let factor = text.strip_prefix("measured").map(str::trim);
        let factor = match factor.ok_or_else(wrong)? {
            "" => 1.0,
            factor => {
                let factor = factor.strip_prefix('x').ok_or_else(wrong)?;
                factor.trim().parse().map_err(|_| wrong())?
            }
        };
        if f64::is_finite(factor) && factor > 0.0 {
            Ok(Compute::Measured(factor))
        } else {
            Err(wrong())
        }
    }

    /// The bound on simulated time.
    ///
    /// # Errors
    /// If the text is no time.
    pub fn limit(&self) -> Result<Option<Time>, OptionsProblem> {
        let parse = |text: &String| {
            let time = text.parse::<Time>();
            time.map_err(|error| OptionsProblem::Option(format!("the bound of time: {error}")))
        };
        self.limit_time.as_ref().map(parse).transpose()
    }
}
