//! Worlds: ranks that enter the simulation together, at the run's start or when a rank starts them.
//!
//! All ranks have their processes on the cluster from the beginning, since a job's processes share
//! their receivers' slots. A rank that has not been started gives no orders.

use super::Server;
use crate::agent::Agent;
use crate::endpoint::Endpoint;
use elan::{Node, NodeId};
use std::rc::Rc;

impl Server {
    /// The ranks, each on a node, with its network endpoint; also those that start later.
    pub fn attach(&mut self, nodes: Vec<Node>, endpoints: Vec<Box<dyn Endpoint>>) {
        let agent = |((rank, node), endpoint)| {
            let shared = Rc::clone(&self.shared);
            Rc::new(Agent::new(rank, node, endpoint, shared))
        };
        let agents = (0..).zip(nodes).zip(endpoints).map(agent);
        self.reserve = agents.collect();
        let ranks = self.turns.link.lock().ranks();
        self.start(ranks);
    }

    /// Takes the next ranks into the simulation.
    fn start(&mut self, count: u32) {
        let agents: Vec<Rc<Agent>> = self.reserve.drain(..count as usize).collect();
        let config = self.cluster.config();
        let faults = config.faults.iter().flat_map(|faults| &faults.list);
        let hosts: Vec<NodeId> = faults.filter_map(|fault| fault.part.host()).collect();
        let stops = |agent: &&Rc<Agent>| hosts.contains(&agent.node.rail_and_node().1);
        let mortal = agents.iter().filter(stops).cloned();
        self.mortal.borrow_mut().extend(mortal);
        self.shared.agents.borrow_mut().extend(agents);
    }

    /// Starts the worlds that ranks have ordered, from the present on, and reports their first
    /// ranks.
    pub(super) fn start_worlds(&mut self) {
        for (rank, id, count) in self.shared.spawns.take() {
            let now = self.cluster.now();
            let first = self.turns.start(count, now);
            if first.is_some() {
                self.start(count);
                self.shared.trace.borrow_mut().grow(count);
            }
            let agents = self.shared.agents.borrow();
            agents[rank as usize].spawned(id, first);
        }
    }
}
