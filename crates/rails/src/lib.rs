//! # Which adapter carries a message (coll2003)
//!
//! A *rail* is a separate network. A node with several rails has an adapter on each, each behind
//! its own I/O bus, and a packet leaves on the rail that it entered. A bus moves less when it moves
//! in both directions; all ways to choose a rail address this (coll2003 s1). They differ in their
//! knowledge:
//!
//! | policy | a message goes on | the message waits |
//! |---|---|---|
//! | static (s2) | a rail on which its node only transmits and the destination only receives, in turn ([`allocation`]) | never |
//! | basic (s5.2) | the next rail in turn | never |
//! | local-dynamic (s3) | rails that neither send nor receive at its own node, by its status | until there is one |
//! | dynamic (s4) | rails that both ends have reserved for it ([`protocol`]) | until there is one |
//! | hybrid (s4.3) | if it is short, the next free rail, without reservation; else as dynamic | if it is long, as dynamic |
//!
//! A policy is one small type, a [`RailPolicy`], and programs [`register`] more of them. This crate
//! holds the policies' common parts: the [`Process`], which sends messages one at a time, cuts them
//! into stripes if it may use several rails, and sends again on other rails the bytes that a failed
//! rail has lost; a node's [`Host`]: the rails as the node's processes see them; and the adapter's
//! own process ([`nic`]), a thread that answers the control messages of reserving policies. Control
//! messages are packets like all others.
//!
//! ## Rules
//!
//! * A process blocks while it sends: it takes up its next message when all the previous message's
//!   stripes are acknowledged.
//! * Each process has its own turn through the rails, and a node's processes begin at different
//!   rails.
//! * A rail's status is the value that its adapter has written last: under local-dynamic it lags
//!   behind ([`Config::status_lag`]) and may be one bit ([`Status`]), under the policies that
//!   reserve it is the status in the [state machine](protocol).
//! * Local-dynamic picks a message's rails when the message is sent, or earlier, when a generator
//!   makes it ([`Choice`], [`Generator`]).
//! * Control messages go from process to adapter by a command across the bus, back by a copied
//!   event, and from adapter to adapter by a transaction into a queue. The thread processor works
//!   `handle` cycles on each.
//! * A rail may fail and work again ([`elan::Cluster::fail_rail`], [`elan::Cluster::repair_rail`]).
//!   While it is down, no policy picks it. Lost bytes go again, over the rails that the policy then
//!   picks.
//! * A message is delivered when all its stripes are delivered: each exactly once, even if a rail
//!   fails, returns, and fails again. This is asserted.
//!
//! Source: coll2003, "Using Multirail Networks in High Performance Clusters". It uses the words
//! rail and network interface interchangeably.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`allocation`] | static allocation |
//! | `pick`, `policy` | the policy trait, and its results |
//! | [`policies`], `names` | the shipped policies; their names in files, and those that a program registers |
//! | `turn` | a process's turn through the rails |
//! | `reservation`, [`protocol`], `nic` | a process's requests; the adapters' state machine, and its thread |
//! | `host` | a node's rails, as its processes share them |
//! | `process`, `generator` | processes that send, and rails that are picked in advance |
//!
//! ## The main path
//!
//! A message over several rails:
//!
//! 1. `lib.rs`: [`Rails::process`] gives a node's process its machine's policy.
//! 2. `process.rs`: [`Process::put`] asks the policy for rails, and cuts the message into
//!    stripes.
//! 3. `policies.rs`: the policy returns rails, free or reserved.
//! 4. `nic.rs`, `protocol.rs`: the adapters at both ends grant or refuse a reservation.
//! 5. `process.rs`: a DMA for each stripe; a failing rail's stripes go again.

pub mod allocation;
mod generator;
mod host;
mod names;
mod nic;
mod pick;
pub mod policies;
mod policy;
mod process;
pub mod protocol;
mod reservation;
mod turn;

pub use allocation::{Allocation, AllocationError};
pub use elan::config::rails::{Candidates, Choice, Config, Kind, Knowledge, Status};
pub use generator::Generator;
pub use host::Host;
pub use names::register;
pub use pick::{RailMessage, RailPick};
pub use policy::{PickFuture, Policy, PolicyFactory, RailPolicy, Seat, stripes};
pub use process::{Attachment, Process};
pub use reservation::{Reservation, Reservations};
pub use turn::{SharedTurn, Turn};

use elan::memory::{MemoryError, Region};
use elan::{Cluster, Node};
use elan::{NodeId, Rail};
use host::RailAdapter;
use nic::Port;
use std::cell::RefCell;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// A cluster's rails.
pub struct Rails {
    hosts: Rc<TiVec<NodeId, Rc<Host>>>,
    /// The allocation, under the policy static.
    allocation: Option<Rc<Allocation>>,
}

impl Rails {
    /// Makes the rails ready; where the policy reserves, a thread starts on each adapter.
    ///
    /// # Errors
    /// If an adapter has no memory left for its thread.
    ///
    /// # Panics
    /// If the machine has no rail policy, or too few rails for its static policy; the machine
    /// file's check excludes both.
    pub fn new(cluster: &Cluster) -> Result<Self, MemoryError> {
        let config = cluster.config().rails.expect("a machine with rails");
        let (nodes, rails) = (cluster.nodes(), cluster.rails());
        let mut ports: TiVec<Rail, TiVec<NodeId, Rc<Port>>> = TiVec::new();
        if config.policy.reserves() {
            for rail in Rail::all(rails) {
                let adapters = NodeId::all(nodes).map(|node| cluster.adapter(rail, node));
                ports.push(nic::start(adapters.collect(), config)?);
            }
        }
        let adapter = |rail: Rail, node: NodeId| {
            let port = ports.get(rail).map(|ports| Rc::clone(&ports[node]));
            RailAdapter::new(cluster.adapter(rail, node), port)
        };
        let host = |node| {
            let adapters = Rail::all(rails).map(|rail| adapter(rail, node));
            Rc::new(Host::new(node, config, adapters.collect()))
        };
        let allocation = config.policy.allocates().then(|| {
            let allocation = Allocation::with_rails(nodes, rails);
            Rc::new(allocation.expect("the machine has been checked"))
        });
        Ok(Rails {
            hosts: Rc::new(NodeId::all(nodes).map(host).collect()),
            allocation,
        })
    }

    /// A program's place on all of a node's rails: the same process at each adapter, with a buffer
    /// there.
    ///
    /// # Panics
    /// If the adapters do not belong to one node, in rail order.
    pub fn attach(&self, adapters: TiVec<Rail, Node>, buffers: TiVec<Rail, Region>) -> Attachment {
        let (_, node) = adapters[Rail::new(0)].rail_and_node();
        let host = &self.hosts[node];
        let places = adapters.iter().map(Node::place);
        let all = places.eq(host.rails.iter().map(|rail| rail.adapter.place()));
        assert!(
            all && buffers.len() == adapters.len(),
            "a program is at all adapters of its node, in the order of the rails, and has a buffer \
            at each"
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

    /// A node's process, which sends messages one at a time; `index` distinguishes it from the
    /// node's other processes.
    ///
    /// # Panics
    /// If an adapter has no memory left for its events, or the node has [`nic::MOST_PROCESSES`]
    /// already.
    pub fn process(&self, node: NodeId, index: u32) -> Process {
        let host = Rc::clone(&self.hosts[node]);
        host.add_process();
        let hosts = Rc::clone(&self.hosts);
        let port = move |node: NodeId, rail| Rc::clone(hosts[node].port(rail));
        let turn = Turn::starting_at(Rail::new(index % host.rails.len() as u32));
        let turn = Rc::new(RefCell::new(turn));
        let named = Policy::named(host.config().policy.name);
        let policy = (named.expect("the machine has been checked").make)(&Seat {
            host: &host,
            turn: &turn,
            allocation: self.allocation.as_ref(),
            ports: Rc::new(port),
        });
        Process::new(host, policy, turn)
    }

    /// Asserts that the adapters agree on senders and receivers: for each reserved message both
    /// ends are reserved, and no adapter for two messages.
    ///
    /// # Panics
    /// If an adapter sends to an adapter that receives from another.
    pub fn check(&self) {
        let ports = self.hosts.iter().flat_map(|host| &host.rails);
        for port in ports.filter_map(|rail| rail.port.as_ref()) {
            port.check(|node, rail| self.hosts[node].port(rail));
        }
    }

    /// The count of adapters, on working rails, that are reserved now: 0 when all messages have
    /// been delivered.
    pub fn reserved(&self) -> usize {
        let rails = self.hosts.iter().flat_map(|host| &host.rails);
        let ports = rails.filter(|rail| rail.is_up());
        let ports = ports.filter_map(|rail| rail.port.as_ref());
        ports.filter(|port| !port.is_free()).count()
    }
}
