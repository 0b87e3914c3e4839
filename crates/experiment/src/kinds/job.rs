//! A job: its fields in experiment files, and the program that they describe.

use crate::nodes::NodeSet;
use crate::pattern::PatternSpec;
use crate::sweep::Sweep;
use derive::grid;
use elan::Placement;
use units::{Bytes, Rate};
use workload::Distribution;

/// Nodes that send messages, or fetch them, each one message at a time (petrini2003 s4.3-4.7).
#[grid(struct Job)]
pub struct JobGrid {
    /// Their messages' destinations: the name of a pattern, or of a CSV file with node pairs.
    pub pattern: Sweep<PatternSpec>,
    /// Its nodes. A node runs one job.
    pub nodes: Sweep<NodeSet>,
    /// Mean message size.
    pub message: Sweep<Bytes>,
    /// Message size distribution.
    pub sizes: Sweep<Distribution>,
    /// Inter-arrival time distribution.
    pub arrivals: Sweep<Distribution>,
    /// Mean offered load per node.
    pub load: Sweep<Rate>,
    /// The destinations of its messages, instead of each other; they may also belong to any job.
    pub servers: Option<Sweep<NodeSet>>,
    /// Fraction of messages that are written to their destination, 0 to 1 (default); the others are
    /// read from it. Over several rails they can only be written.
    pub writes: Option<Sweep<f64>>,
    /// Where the buffers lie: in the adapter's memory (default) or in main memory.
    pub memory: Option<Sweep<Placement>>,
    /// Processes per node, which share its load; 1 by default. Each sends one message at a time.
    pub processes: Option<Sweep<u32>>,
    /// Its message source, by the name that the simulating program has registered; by default sizes
    /// and gaps are independent draws.
    pub source: Option<Sweep<String>>,
    /// Its messages' traffic class, from 0 on, where the machine has several (`link.classes`); 0 by
    /// default.
    pub class: Option<Sweep<u32>>,
}

impl Job {
    /// The job as a program.
    pub fn workload(&self, name: &str) -> workload::Job {
        workload::Job {
            name: name.to_string(),
            nodes: self.nodes.numbers(),
            pattern: self.pattern.workload(),
            servers: self.servers.as_ref().map_or(Vec::new(), NodeSet::numbers),
            message: self.message,
            sizes: self.sizes,
            arrivals: self.arrivals,
            source: self.source.clone(),
            load: self.load,
            writes: self.writes.unwrap_or(1.0),
            memory: self.memory.unwrap_or(Placement::Adapter),
            processes: self.processes.unwrap_or(1),
            traffic_class: self.class.unwrap_or(0) as u8,
        }
    }
}
