//! For the tests of the adapter and the libraries above it: the shipped machine, on any tree, and
//! places where processes leave their results.

use elan::faults::{self, Fault, FaultTiming, FaultyPart, Links};
use elan::{Cluster, Config, Node, Place, Thread, Watch};
use fabric::{FatTree, Topology};
use std::cell::{Ref, RefCell};
use std::rc::Rc;
use units::Time;

/// The `QsNET` paper's shipped machine, on the given tree.
pub fn machine(topology: impl Into<Topology>) -> Config {
    let file = include_str!("../../../../machines/es40-qsnet.toml");
    machine_on(file, topology.into())
}

/// A shipped file's machine, on the given tree.
pub fn machine_on(file: &str, topology: Topology) -> Config {
    let machine = ::machine::Machine::parse("machine.toml", file, &[]).expect("it is shipped");
    let mut config = machine.cluster_config();
    config.fabric.hop_delay = vec![config.fabric.hop_delay[0]; topology.levels()];
    config.fabric.topology = topology;
    config
}

/// One switch with four nodes.
pub fn four_nodes() -> Config {
    machine(FatTree::quaternary(1).expect("4 nodes"))
}

/// 16 nodes in two levels.
pub fn sixteen_nodes() -> Config {
    machine(FatTree::quaternary(2).expect("16 nodes"))
}

/// A machine in which some parts fail, and which recovers so fast that tests can wait for it: no
/// real machine has these times.
pub fn failing(mut config: Config, list: Vec<Fault>) -> Config {
    config.faults = Some(faults::Config {
        timeout: Time::from_us(40),
        backoff: Time::from_us(15),
        broadcast_backoff: Time::from_us(25),
        detect: Time::from_us(200),
        give_up: Time::from_ms(1),
        seed: 7,
        list,
    });
    config
}

/// Bits flip on all links.
pub fn bit_errors(rate: f64) -> Fault {
    let part = FaultyPart::Links(Links {
        level: None,
        rail: None,
        some: None,
    });
    let when = FaultTiming::BitErrors(rate);
    Fault { part, when }
}

/// A part is down from a moment on.
pub fn down(part: FaultyPart, at: Time, lasts: Option<Time>) -> Fault {
    let when = FaultTiming::At { at, lasts };
    Fault { part, when }
}

/// A node's cable.
pub fn cable_of(config: &Config, node: u32) -> FaultyPart {
    FaultyPart::Link(config.fabric.topology.injection(Place::new(node)))
}

/// A cluster without bounds.
pub fn cluster(config: &Config) -> Cluster {
    Cluster::new(config.clone(), Watch::default())
}

/// A cluster without bounds, and its first nodes.
pub fn start<const NODES: usize>(config: &Config) -> (Cluster, [Node; NODES]) {
    let cluster = cluster(config);
    let nodes = std::array::from_fn(|number| cluster.node(number.into()));
    (cluster, nodes)
}

/// A node, by its number.
pub fn node_of(cluster: &Cluster, number: u32) -> Node {
    cluster.node(number.into())
}

/// Runs to a moment, which no bound prevents.
pub fn run_to(cluster: &mut Cluster, end: Time) {
    let run = cluster.run_until(end);
    run.unwrap_or_else(|stop| panic!("{stop}"));
}

/// Runs until all activity ends, threads and posted writes included: nothing stays in flight.
pub fn settle(cluster: &mut Cluster) {
    let end = cluster.now() + Time::from_ms(1);
    run_to(cluster, end);
    assert!(cluster.census().is_empty(), "{:?}", cluster.census());
}

/// Runs a process, and with it all others, to its end; returns the process's result.
pub fn run_process<P: IntoFuture + 'static>(cluster: &mut Cluster, process: P) -> P::Output {
    let [ended, noted] = logs();
    cluster.spawn("process", async move { noted.note(process.await) });
    cluster.run().unwrap_or_else(|stop| panic!("{stop}"));
    ended.take()
}

/// Runs a node's thread, and all other activity; returns the thread's result.
pub fn run_thread<T: 'static>(
    cluster: &mut Cluster,
    node: &Node,
    program: impl AsyncFnOnce(Thread) -> T + 'static,
) -> T {
    let [ended, noted] = logs();
    let program = async move |thread| noted.note(program(thread).await);
    node.run("thread", program).expect("there is a stack");
    settle(cluster);
    ended.take()
}

/// The processes' notes for the test; clones share the log.
pub struct Log<T>(Rc<RefCell<Vec<T>>>);

pub fn log<T>() -> Log<T> {
    Log(Rc::new(RefCell::new(Vec::new())))
}

/// A log: for the test, and for a process.
pub fn logs<T>() -> [Log<T>; 2] {
    let log = log();
    [log.clone(), log]
}

impl<T> Log<T> {
    pub fn note(&self, value: T) {
        self.0.borrow_mut().push(value);
    }

    /// The last entry, which is taken out.
    pub fn take(&self) -> T {
        self.0.borrow_mut().pop().expect("there is an entry")
    }

    pub fn borrow(&self) -> Ref<'_, Vec<T>> {
        self.0.borrow()
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Log(Rc::clone(&self.0))
    }
}

/// Bytes that identify their origin.
pub fn pattern(seed: u64, length: u64) -> Vec<u8> {
    (0..length)
        .map(|index| (seed * 151 + index * 31 + index / 256 + 1) as u8)
        .collect()
}
