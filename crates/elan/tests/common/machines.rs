//! Machines for the tests of the adapter and of what stands on it: the shipped one, on trees of choice.

use elan::Config;
use fabric::{FatTree, Topology};

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
