//! For the tests of the adapter and of what stands on it: the shipped machine, on trees of choice, and places where processes
//! leave their results.

use elan::{Cluster, Config, Watch};
use fabric::{FatTree, Topology};
use std::cell::{Ref, RefCell};
use std::rc::Rc;

/// The shipped machine of the `QsNET` paper, on a tree of choice.
pub fn machine(topology: impl Into<Topology>) -> Config {
    let topology = topology.into();
    let file = include_str!("../../../../machines/es40-qsnet.toml");
    let machine = ::machine::Machine::parse("es40-qsnet.toml", file, &[]).expect("it is shipped");
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

/// A cluster without bounds.
pub fn cluster(config: &Config) -> Cluster {
    Cluster::new(config.clone(), Watch::default())
}

/// What processes leave for the test; clones are the same log.
pub struct Log<T>(Rc<RefCell<Vec<T>>>);

pub fn log<T>() -> Log<T> {
    Log(Rc::new(RefCell::new(Vec::new())))
}

impl<T> Log<T> {
    pub fn note(&self, value: T) {
        self.0.borrow_mut().push(value);
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

/// Bytes that tell where they come from.
pub fn pattern(seed: u64, length: u64) -> Vec<u8> {
    (0..length)
        .map(|index| (seed * 151 + index * 31 + index / 256 + 1) as u8)
        .collect()
}
