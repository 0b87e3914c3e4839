//! A node's rails, as its processes and their policies see them.

use crate::nic::{MOST_PROCESSES, Port};
use crate::pick::{Hold, RailMessage, RailPick};
use elan::config::rails::Config;
use elan::dma::DmaError;
use elan::{Node, NodeId, Rail};
use std::cell::Cell;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// One rail at one node.
pub(super) struct RailAdapter {
    /// The node at the rail's adapter, in the system's context.
    pub adapter: Node,
    /// The adapter's process, if the policy reserves.
    pub port: Option<Rc<Port>>,
}

impl RailAdapter {
    /// An unused rail.
    pub fn new(adapter: Node, port: Option<Rc<Port>>) -> Self {
        RailAdapter { adapter, port }
    }

    /// Whether the network works.
    pub fn is_up(&self) -> bool {
        !self.adapter.is_down()
    }

    /// Whether the adapter neither sends nor receives, as far as its own node knows (the `NStatus`
    /// of coll2003 s3 and s4.1).
    pub fn is_free(&self) -> bool {
        self.is_up()
            && match &self.port {
                Some(port) => port.is_free(),
                None => !self.adapter.was_busy(),
            }
    }
}

/// A node and its rails, which its processes share.
pub struct Host {
    node: NodeId,
    config: Config,
    pub(super) rails: TiVec<Rail, RailAdapter>,
    /// Requests made so far: no two have the same number.
    requests: Cell<u64>,
    /// Processes added so far.
    processes: Cell<u32>,
}

impl Host {
    pub(super) fn new(node: NodeId, config: Config, rails: TiVec<Rail, RailAdapter>) -> Self {
        Host {
            node,
            config,
            rails,
            requests: Cell::new(0),
            processes: Cell::new(0),
        }
    }

    /// The node.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// How messages are spread over the rails, as the machine file sets it.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// All rails, whether they work or not.
    pub fn all(&self) -> impl Iterator<Item = Rail> + use<> {
        Rail::all(self.rails.len() as u32)
    }

    /// Whether a rail's network works, and the node's adapter there.
    pub fn is_up(&self, rail: Rail) -> bool {
        self.rails[rail].is_up()
    }

    /// Whether a rail works and its adapter neither sends nor receives, as far as the node knows:
    /// by the adapter's status or reservations, depending on the policy's kind.
    pub fn is_free(&self, rail: Rail) -> bool {
        self.rails[rail].is_free()
    }

    /// The rails that work, in ascending order.
    pub fn up(&self) -> Vec<Rail> {
        self.all().filter(|&rail| self.is_up(rail)).collect()
    }

    /// The rails that are free, in ascending order.
    pub fn free(&self) -> Vec<Rail> {
        self.all().filter(|&rail| self.is_free(rail)).collect()
    }

    /// Waits until some rails are free, with a look at each [`Config::poll`].
    ///
    /// # Errors
    /// If no rail works.
    pub async fn wait_for_free(&self, message: RailMessage) -> Result<Vec<Rail>, DmaError> {
        loop {
            let free = self.free();
            if !free.is_empty() {
                return Ok(free);
            }
            if !self.rails.iter().any(RailAdapter::is_up) {
                return Err(self.no_rail(message));
            }
            let first = &self.rails[Rail::new(0)];
            first.adapter.sleep(self.config.poll).await;
        }
    }

    /// The error for a message if no rail to its destination works.
    pub fn no_rail(&self, message: RailMessage) -> DmaError {
        let (from, to) = (self.node, message.to);
        DmaError::NoRail { from, to }
    }

    /// Picks a rail and marks it: from now on, after the status lag, its status is sending.
    pub fn mark(&self, rail: Rail) -> RailPick {
        self.rails[rail].adapter.begin_sending();
        let hold = Hold::Marked;
        RailPick { rail, hold }
    }

    /// Adds a process.
    ///
    /// # Panics
    /// If the node already has [`MOST_PROCESSES`].
    pub(super) fn add_process(&self) {
        let (node, others) = (self.node, self.processes.get());
        assert!(
            others < MOST_PROCESSES,
            "node {node} has {MOST_PROCESSES} processes already"
        );
        self.processes.set(others + 1);
    }

    /// A new request's number.
    pub(super) fn number(&self) -> u64 {
        let number = self.requests.get();
        self.requests.set(number + 1);
        number
    }

    /// The adapter's process on a rail.
    ///
    /// # Panics
    /// If the policy makes no reservations.
    pub(super) fn port(&self, rail: Rail) -> &Rc<Port> {
        let port = self.rails[rail].port.as_ref();
        port.expect("the policy reserves")
    }
}
