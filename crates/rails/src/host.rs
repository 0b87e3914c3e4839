//! What a node knows of its rails, and what its processes share.

use super::nic::{MOST_PROCESSES, Port};
use elan::Node;
use elan::config::rails::Config;
use elan::{NodeId, Rail};
use std::cell::Cell;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// One rail at one node.
pub(super) struct RailAdapter {
    /// The node at the rail's adapter, in the context of the system.
    pub adapter: Node,
    /// The adapter's process, if the policy reserves.
    pub port: Option<Rc<Port>>,
}

impl RailAdapter {
    /// A rail on which nothing has been sent.
    pub fn new(adapter: Node, port: Option<Rc<Port>>) -> Self {
        RailAdapter { adapter, port }
    }

    /// Whether the network works.
    pub fn is_up(&self) -> bool {
        !self.adapter.is_down()
    }

    /// Whether the adapter neither sends nor receives, as far as its own node knows (the `NStatus` of coll2003 s3 and s4.1).
    pub fn is_free(&self) -> bool {
        self.is_up()
            && match &self.port {
                Some(port) => port.is_free(),
                None => !self.adapter.was_busy(),
            }
    }
}

/// A node: its rails, and what its processes share.
pub(super) struct Host {
    pub node: NodeId,
    pub config: Config,
    pub rails: TiVec<Rail, RailAdapter>,
    /// Requests made so far: no two have the same number.
    requests: Cell<u64>,
    /// Processes added so far.
    processes: Cell<u32>,
}

impl Host {
    pub fn new(node: NodeId, config: Config, rails: TiVec<Rail, RailAdapter>) -> Self {
        Host {
            node,
            config,
            rails,
            requests: Cell::new(0),
            processes: Cell::new(0),
        }
    }

    /// Adds a process.
    ///
    /// # Panics
    /// If the node already has [`MOST_PROCESSES`].
    pub fn add_process(&self) {
        let (node, others) = (self.node, self.processes.get());
        assert!(
            others < MOST_PROCESSES,
            "node {node} has {MOST_PROCESSES} processes already"
        );
        self.processes.set(others + 1);
    }

    /// The number of a new request.
    pub fn number(&self) -> u64 {
        let number = self.requests.get();
        self.requests.set(number + 1);
        number
    }

    /// The adapter's process on a rail.
    ///
    /// # Panics
    /// If the policy reserves nothing.
    pub fn port(&self, rail: Rail) -> &Rc<Port> {
        let port = self.rails[rail].port.as_ref();
        port.expect("the policy reserves")
    }

    /// The rails for which a condition holds, in ascending order.
    pub fn rails_that(&self, holds: impl Fn(&RailAdapter) -> bool) -> Vec<Rail> {
        let rails = self.rails.iter_enumerated();
        let rails = rails.filter(|(_, adapter)| holds(adapter));
        rails.map(|(rail, _)| rail).collect()
    }
}
