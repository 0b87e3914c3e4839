//! Job errors.

use crate::elan3::AllocError;
use elan::{ContextError, NodeId};
use thiserror::Error;

/// Why a job cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JobError {
    /// The job has no processes.
    #[error("a job has at least one process")]
    Empty,
    /// A node has fewer processors than processes.
    #[error("{processes} processes on node {node}; it has {cpus} processors (host.cpus)")]
    Crowded {
        /// The node.
        node: NodeId,
        /// How many processes the job wants there.
        processes: u32,
        /// How many processors the node has.
        cpus: u32,
    },
    /// The cluster lacks a node.
    #[error("there is no node {node}; the cluster has {nodes}")]
    NoNode {
        /// The node.
        node: NodeId,
        /// How many nodes there are.
        nodes: u32,
    },
    /// An adapter has no context left.
    #[error(transparent)]
    NoContext(#[from] ContextError),
    /// An adapter has no memory left for the libraries.
    #[error(
        "no memory for the libraries: {0}; --set adapter.memory makes more room, and --set \
        tport.buffer takes less"
    )]
    NoMemory(#[from] AllocError),
}
