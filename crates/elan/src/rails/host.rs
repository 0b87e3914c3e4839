//! What a node knows of its rails, and what its processes share.

use super::allocation::Allocation;
use super::nic::{self, MOST_PROCESSES, Port};
use super::policy;
use super::process::{Attachment, Process};
use super::{Config, Kind};
use crate::NodeId;
use crate::cluster::{Cluster, Node};
use crate::memory::Region;
use crate::mmu::MemoryError;
use std::cell::Cell;
use std::rc::Rc;

/// One rail at one node.
pub(super) struct Rail {
    /// The node at its adapter, in the context of the system.
    pub adapter: Node,
    /// Whether a process of the node sends on it, if the policy keeps account of that.
    taken: Cell<bool>,
    /// The adapter's process, if the policy reserves.
    pub port: Option<Rc<Port>>,
}

impl Rail {
    /// Whether the network works.
    pub fn is_up(&self) -> bool {
        !self.adapter.is_down()
    }

    /// Whether the adapter neither sends nor receives, as far as its own node knows (the `NStatus` of 004 s3 and s4.1).
    pub fn is_free(&self) -> bool {
        self.is_up()
            && match &self.port {
                Some(port) => port.is_free(),
                None => !self.taken.get() && !self.adapter.is_receiving(),
            }
    }

    /// A process of the node sends on it from now on.
    pub fn take(&self) {
        self.taken.set(true);
    }

    /// It does no more.
    pub fn release(&self) {
        self.taken.set(false);
    }
}

/// A node: its rails, and what its processes share.
pub(super) struct Host {
    pub node: NodeId,
    pub config: Config,
    pub rails: Vec<Rail>,
    /// Requests made so far: no two have the same number.
    requests: Cell<u64>,
    /// Processes so far.
    processes: Cell<u32>,
}

impl Host {
    /// The number of a new request.
    pub fn number(&self) -> u64 {
        let number = self.requests.get();
        self.requests.set(number + 1);
        number
    }

    /// The rails of which something holds, in ascending order.
    pub fn rails_that(&self, holds: impl Fn(&Rail) -> bool) -> Vec<u32> {
        let rails = (0..).zip(&self.rails);
        let rails = rails.filter(|(_, rail)| holds(rail));
        rails.map(|(rail, _)| rail).collect()
    }
}

/// The rails of a cluster.
pub struct Rails {
    hosts: Rc<[Rc<Host>]>,
    /// Of the policy static.
    allocation: Option<Rc<Allocation>>,
}

impl Rails {
    /// Makes them ready; where the policy reserves, a thread starts on each adapter.
    ///
    /// # Errors
    /// If an adapter has no memory left for its thread.
    ///
    /// # Panics
    /// If the machine does not say how messages are spread over its rails, or its static policy lacks some; the machine file
    /// has been checked.
    pub fn new(cluster: &Cluster) -> Result<Self, MemoryError> {
        let config = cluster.config().rails.expect("a machine with rails");
        let (nodes, rails) = (cluster.nodes(), cluster.rails());
        let mut ports = Vec::new();
        if config.policy.reserves() {
            for rail in 0..rails {
                let adapters = (0..nodes).map(|node| cluster.adapter(rail, node));
                ports.push(nic::start(adapters.collect(), config)?);
            }
        }
        let rail = |node: NodeId, rail: u32| Rail {
            adapter: cluster.adapter(rail, node),
            taken: Cell::new(false),
            port: ports
                .get(rail as usize)
                .map(|ports: &Vec<Rc<Port>>| Rc::clone(&ports[node as usize])),
        };
        let host = |node| {
            Rc::new(Host {
                node,
                config,
                rails: (0..rails).map(|number| rail(node, number)).collect(),
                requests: Cell::new(0),
                processes: Cell::new(0),
            })
        };
        let allocation = (config.policy == Kind::Static).then(|| {
            let allocation = Allocation::with_rails(nodes, rails);
            Rc::new(allocation.expect("the machine has been checked"))
        });
        Ok(Rails {
            hosts: (0..nodes).map(host).collect(),
            allocation,
        })
    }

    /// A program's place on all rails of a node: the same process at each adapter, with a buffer there.
    ///
    /// # Panics
    /// If these are not the adapters of a node, in the order of the rails.
    pub fn attach(&self, adapters: Vec<Node>, buffers: Vec<Region>) -> Attachment {
        let (_, node) = adapters[0].rail_and_node();
        let host = &self.hosts[node as usize];
        let places = adapters.iter().map(Node::id);
        let all = places.eq(host.rails.iter().map(|rail| rail.adapter.id()));
        assert!(
            all && buffers.len() == adapters.len(),
            "a program is at all adapters of its node, in the order of the rails, and has a buffer at each"
        );
        let ports = host.rails.iter().zip(&adapters);
        let arrivals = ports.map(|(rail, adapter)| {
            let port = rail.port.as_ref()?;
            Some(nic::report_arrivals(port, adapter))
        });
        Attachment {
            node,
            arrivals: arrivals.collect(),
            adapters,
            buffers,
        }
    }

    /// A process of a node, which sends messages one at a time; `index` tells it from others of the node.
    ///
    /// # Panics
    /// If an adapter has no memory left for its events, or the node has [`MOST_PROCESSES`] already.
    pub fn process(&self, node: NodeId, index: u32) -> Process {
        let host = Rc::clone(&self.hosts[node as usize]);
        let others = host.processes.get();
        assert!(
            others < MOST_PROCESSES,
            "node {node} has {MOST_PROCESSES} processes already"
        );
        host.processes.set(others + 1);
        let hosts = Rc::clone(&self.hosts);
        let port = move |node: NodeId, rail: u32| {
            let port = &hosts[node as usize].rails[rail as usize].port;
            Rc::clone(port.as_ref().expect("all adapters have one"))
        };
        let policy = policy::new(&host, self.allocation.as_ref(), index, Rc::new(port));
        Process::new(host, policy)
    }

    /// Asserts that the adapters agree on who sends to whom: of those that are reserved for a message, both ends are, and no
    /// adapter for two.
    ///
    /// # Panics
    /// If one sends to an adapter that receives from another.
    pub fn check(&self) {
        let ports = self.hosts.iter().flat_map(|host| &host.rails);
        for port in ports.filter_map(|rail| rail.port.as_ref()) {
            port.check(|node, rail| {
                let port = &self.hosts[node as usize].rails[rail as usize].port;
                Rc::clone(port.as_ref().expect("all adapters have one"))
            });
        }
    }

    /// Adapters of rails that work which are reserved, now: 0 when all messages have been delivered.
    pub fn reserved(&self) -> usize {
        let rails = self.hosts.iter().flat_map(|host| &host.rails);
        let ports = rails.filter(|rail| rail.is_up());
        let ports = ports.filter_map(|rail| rail.port.as_ref());
        ports.filter(|port| !port.is_free()).count()
    }
}
