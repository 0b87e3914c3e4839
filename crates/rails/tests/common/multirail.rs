//! Machines with several rails, and messages on them.

use super::{Log, logs, node_of, settle};
use elan::{Cluster, Config, DmaError, Meter, Node, NodeId, Placement, Rail, Region, Watch};
use fabric::FatTree;
use rails::policies::SHIPPED;
use rails::{Attachment, Kind, Rails};
use std::rc::Rc;
use typed_index_collections::{TiSlice, TiVec};
use units::{Bytes, Time};

/// All shipped policies.
pub fn policies() -> Vec<Kind> {
    SHIPPED.iter().map(|policy| policy.kind).collect()
}

/// The multirail paper's shipped machine with up to 16 nodes, on so many rails.
pub fn multirail(nodes: u32, rails: u32, policy: Kind) -> Config {
    let file = include_str!("../../../../machines/smart-multirail.toml");
    let machine = ::machine::Machine::parse("smart-multirail.toml", file, &[]);
    let mut config = machine.expect("it is shipped").cluster_config();
    let tree = if nodes <= 4 {
        FatTree::new(&[4], &[], nodes)
    } else {
        FatTree::new(&[4, 4], &[4], nodes)
    };
    let trees = tree.and_then(|tree| tree.with_rails(rails));
    config.fabric.topology = trees.expect("up to 16 nodes on some rails").into();
    let levels = config.fabric.topology.levels();
    config.fabric.hop_delay.truncate(levels);
    config.rails.as_mut().expect("it has rails").policy = policy;
    config
}

/// A node's buffer, on each rail.
pub struct Place {
    pub attachment: Attachment,
    pub regions: TiVec<Rail, Region>,
}

/// A process's message: its contents and time.
pub struct Put {
    pub at: Time,
    pub from: Rc<Place>,
    pub to: Rc<Place>,
    pub size: u64,
    pub meter: Option<Meter>,
}

/// The ends of a process's messages: when the process saw each, and its result.
pub type Ends = Log<(Time, Result<(), DmaError>)>;

/// A cluster with rails, and a program attached at each adapter.
pub struct Bench {
    pub cluster: Cluster,
    pub rails: Rails,
    programs: TiVec<NodeId, TiVec<Rail, Node>>,
}

impl Bench {
    pub fn new(config: &Config) -> Self {
        // All tests take a few milliseconds at most: a test that is not over by then will never be.
        let mut watch = Watch::default();
        watch.limits.time = Some(Time::from_ms(50));
        let cluster = Cluster::new(config.clone(), watch);
        let rails = Rails::new(&cluster).expect("there is memory for the threads");
        let capability = cluster.capability();
        let attach = |node| {
            let adapters = Rail::all(cluster.rails()).map(|rail| cluster.adapter(rail, node));
            let programs = adapters.map(|adapter| adapter.attach(capability));
            programs
                .map(|one| one.expect("it is the first program"))
                .collect()
        };
        let programs = NodeId::all(cluster.nodes()).map(attach).collect();
        Bench {
            cluster,
            rails,
            programs,
        }
    }

    /// The program at each of a node's adapters.
    pub fn programs(&self, node: u32) -> &TiSlice<Rail, Node> {
        &self.programs[NodeId::new(node)]
    }

    /// Buffers that hold bytes.
    pub fn place(&self, node: u32, placement: Placement, bytes: u64) -> Rc<Place> {
        let adapters = self.programs[NodeId::new(node)].clone();
        let region = |adapter: &Node| adapter.allocate(placement, Bytes::new(bytes));
        let regions: TiVec<_, _> = adapters.iter().map(region).collect();
        Rc::new(Place {
            attachment: self.rails.attach(adapters, regions.clone()),
            regions,
        })
    }

    /// A message between two nodes with its own buffers.
    pub fn put(&self, from: u32, to: u32, size: u64, at: Time) -> Put {
        let place = |node| self.place(node, Placement::Adapter, size.max(1));
        let (from, to) = (place(from), place(to));
        Put {
            at,
            from,
            to,
            size,
            meter: None,
        }
    }

    /// Starts a process on a node, by both numbers, that sends one message.
    pub fn send(&mut self, (node, index): (u32, u32), to: u32, size: u64, at: Time) -> Ends {
        let put = self.put(node, to, size, at);
        self.spawn(node, index, vec![put])
    }

    /// Starts a process on a node that sends messages one after another, each at its time or later.
    pub fn spawn(&mut self, node: u32, index: u32, puts: Vec<Put>) -> Ends {
        let mut process = self.rails.process(node.into(), index);
        let ([ends, noted], clock) = (logs(), node_of(&self.cluster, node));
        let label = format!("process {index} of node {node}");
        self.cluster.spawn(label, async move {
            for put in puts {
                clock.sleep_until(put.at).await;
                let (from, to) = (&put.from.attachment, &put.to.attachment);
                let size = Bytes::new(put.size);
                let end = process.put(from, to, size, put.meter).await;
                noted.note((clock.now(), end));
            }
        });
        ends
    }

    /// Runs until all processes end, and on until the adapters have sent all their messages.
    pub fn finish(&mut self) {
        let end = self.cluster.run();
        end.unwrap_or_else(|stop| panic!("{stop}"));
        settle(&mut self.cluster);
        self.rails.check();
        self.cluster.check_conservation();
        assert_eq!(self.rails.reserved(), 0, "an adapter is reserved for ever");
    }

    /// Payload that a node has received so far, on each rail.
    pub fn received(&self, node: u32) -> Vec<u64> {
        let stored = self.programs(node).iter().map(Node::stored);
        stored.map(Bytes::as_u64).collect()
    }
}
