//! The format of experiment files. These comments are also the descriptions in the JSON schema.

use crate::changes::Changes;
use crate::figure::Figure;
use crate::nodes::Nodes;
use crate::pattern::Pattern;
use crate::sweep::{Grid, Sweep, grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{Bytes, Rate, Time};

/// An experiment: one or more series of points on a machine, or on each of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// One line about it.
    pub title: String,
    /// The document, sections and figures that it reproduces.
    #[serde(default)]
    pub source: String,
    /// The machine that it runs on, unless the command line names another; or a list of machines that it compares, on each
    /// of which everything runs.
    pub machine: Sweep<String>,
    /// Defaults of all series.
    #[serde(default)]
    pub run: Run,
    /// The series.
    pub series: Vec<Series>,
    /// The figures; a plain one for each series and metric by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figure: Vec<Figure>,
}

/// How points are run and measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Simulated time that is discarded at the start of steady traffic.
    pub warm_up: Time,
    /// Simulated time that is measured after it.
    pub window: Time,
    /// Equal parts of the window; their means are the sample of the confidence interval.
    pub batches: u32,
    /// Equal parts of the whole run, warm-up included, of which the delays at every link are kept, to show how
    /// congestion builds up; 0 keeps none.
    pub slices: u32,
    /// Runs of each point with different random numbers.
    pub seeds: u32,
    /// A point that needs more events ends with an error.
    pub max_events: u64,
    /// A point that needs more memory ends with an error.
    pub max_memory: Bytes,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            warm_up: Time::ZERO,
            window: Time::from_ms(10),
            batches: 10,
            slices: 0,
            seeds: 1,
            max_events: 10_000_000_000,
            max_memory: Bytes::from_kb(4 << 20),
        }
    }
}

/// What a series changes of the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunChanges {
    /// See [`Run`].
    pub warm_up: Option<Time>,
    /// See [`Run`].
    pub window: Option<Time>,
    /// See [`Run`].
    pub batches: Option<u32>,
    /// See [`Run`].
    pub slices: Option<u32>,
    /// See [`Run`].
    pub seeds: Option<u32>,
}

/// A series of points: the Cartesian product of the lists of what it runs, the first key slowest. It runs a ping, a test
/// of overlap, a noise test, or jobs, or a collective operation, beside which there may be jobs; or it allocates rails, and
/// nothing runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Short name, unique in the file.
    pub name: String,
    /// One line about it, with the figure.
    #[serde(default)]
    pub title: String,
    /// Changes of the defaults.
    #[serde(default)]
    pub run: RunChanges,
    /// Changes of the machine: a table of its keys, or a list of such tables, of which each is used in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Sweep<Changes>>,
    /// A ping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping: Option<PingGrid>,
    /// A test of how communication and computation overlap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<OverlapGrid>,
    /// A noise test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseGrid>,
    /// A collective operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collective: Option<CollectiveGrid>,
    /// A static allocation of rails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<AllocationGrid>,
    /// Jobs that run at the same time, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, JobGrid>,
    /// A rail that fails while jobs run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<RailFailure>,
    /// A search of the load at which the job saturates, from its own load upwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
}

/// A rail that fails while jobs run, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RailFailure {
    /// Its number, from 0.
    pub rail: u32,
    /// When, from the start of the run.
    pub at: Time,
}

/// A search of the load at which the only job of a series saturates; its own load is the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// The highest load.
    pub highest: Rate,
    /// How far apart a saturated load and one that is not may be in the end, as a fraction of the highest load.
    pub resolution: f64,
}

grid! {
    /// One message at a time between two nodes (000 s4.1, s4.2).
    PingGrid, Ping {
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

grid! {
    /// Post-compute-wait: a process posts a send and a receive of MPI, computes, and waits for both (003 s3.2).
    OverlapGrid, Overlap {
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

grid! {
    /// One computation again and again on one processor, which the operating system of the machine takes away (003 s3.3).
    NoiseGrid, Noise {
        /// The node.
        node: u32,
        /// Its processor, from 0.
        cpu: u32,
        /// How often it computes, at least as often as there are batches.
        iterations: u32,
        /// What one computation takes in the absence of noise.
        compute: Time,
    }
    optional {}
}

grid! {
    /// A barrier, a broadcast or a reduction, again and again (002). It begins after the warm-up.
    CollectiveGrid, Collective {
        /// What is called, by its name in Elanlib.
        operation: Operation,
        /// Its nodes, with a process on each; the first of them is the root of broadcasts. They may run jobs, too.
        nodes: Nodes,
        /// Calls that are measured, at least as many as batches.
        repeats: u32,
    }
    optional {
        /// Where the buffers of a broadcast lie.
        memory: Placement,
        /// Length of what is broadcast.
        message: Bytes,
        /// Groups of the same nodes that do this at the same time, each with another root; 1 by default.
        groups: u32,
        /// Whether a deadlock of packets is a result, with the metric `deadlock` and a table, and not an error.
        may_deadlock: bool,
        /// What each process computes before each call, on a processor that the operating system takes away now and then;
        /// nothing by default.
        compute: Time,
    }
}

grid! {
    /// A static allocation of rails (004 s2): each adapter either transmits or receives, and every node reaches every other.
    AllocationGrid, Allocation {
        /// How many nodes there are; they need not be those of the machine.
        nodes: u32,
        /// How rails are allocated.
        algorithm: Algorithm,
    }
    optional {
        /// How many rails there are, for the optimal algorithm; as few as it needs by default.
        rails: u32,
        /// Whether the matrix of the allocation is kept, who transmits and who receives on each rail.
        matrix: bool,
    }
}

grid! {
    /// Nodes that send messages, or fetch them, each one message at a time (000 s4.3-4.7).
    JobGrid, Job {
        /// Where their messages go: the name of a pattern, or of a CSV file with pairs of nodes.
        pattern: Pattern,
        /// Its nodes. A node runs one job.
        nodes: Nodes,
        /// Mean message size.
        message: Bytes,
        /// Distribution of message sizes.
        sizes: Distribution,
        /// Distribution of inter-arrival times.
        arrivals: Distribution,
        /// Mean offered load of each node.
        load: Rate,
    }
    optional {
        /// The nodes that its messages go to instead of each other; they may be nodes of any job, too.
        servers: Nodes,
        /// Fraction of messages that are written to their destination, 0 to 1 (default); the others are read from it. Over
        /// several rails they can only be written.
        writes: f64,
        /// Where the buffers lie: in the adapter's memory (default) or in main memory.
        memory: Placement,
        /// Processes of each node, which share its load; 1 by default. Each sends one message at a time.
        processes: u32,
    }
}

/// Which messages of a ping travel at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Directions {
    /// From the first node to the second.
    One,
    /// Both ways.
    Both,
}

/// What moves the messages of a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Library {
    /// Remote DMAs of Elan3lib.
    Elan3,
    /// Blocking calls of MPI: a round trip, or `MPI_Sendrecv`.
    Mpi,
}

/// A collective operation of Elanlib (002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// The software barrier.
    Gsync,
    /// The hardware barrier, polling.
    Hgsync,
    /// The hardware barrier, blocking.
    Hgsyncevent,
    /// The software broadcast.
    Bcast,
    /// The hardware broadcast.
    Hbcast,
    /// A sum of one number of each process, for all of them (`elan_reduce`).
    Reduce,
}

/// An algorithm that allocates rails statically (004 s2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Algorithm 1: twice the logarithm of the number of nodes.
    Logarithmic,
    /// Algorithm 2: as few as there can be.
    Optimal,
}

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// In the adapter's memory.
    Elan,
    /// In main memory, across the bus.
    Main,
}

/// How a quantity with a given mean varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Not at all.
    Fixed,
    /// Uniformly between 0 and twice the mean.
    Uniform,
    /// Exponentially.
    Exponential,
}

impl Operation {
    /// Its name in Elanlib, and here.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::Gsync => "gsync",
            Operation::Hgsync => "hgsync",
            Operation::Hgsyncevent => "hgsyncevent",
            Operation::Bcast => "bcast",
            Operation::Hbcast => "hbcast",
            Operation::Reduce => "reduce",
        }
    }

    /// What it is, of those that are no broadcasts.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Operation::Reduce => "reduction",
            _ => "barrier",
        }
    }

    /// Whether it sends something.
    pub(crate) fn is_broadcast(self) -> bool {
        matches!(self, Operation::Bcast | Operation::Hbcast)
    }
}

impl Run {
    /// The settings of a series.
    pub(crate) fn with(&self, changes: &RunChanges) -> Run {
        Run {
            warm_up: changes.warm_up.unwrap_or(self.warm_up),
            window: changes.window.unwrap_or(self.window),
            batches: changes.batches.unwrap_or(self.batches),
            slices: changes.slices.unwrap_or(self.slices),
            seeds: changes.seeds.unwrap_or(self.seeds),
            ..self.clone()
        }
    }
}
