//! # Faults: what fails, and when
//!
//! A machine has a list of faults ([`Config::list`]). Each fault names a [`Part`] of the machine and says what happens to the part:
//! its cables flip bits at a rate, or the part is *down* from one moment to another ([`When`]). The list is data. The effect of a
//! fault is the work of others: the fabric cuts and repairs cables and lets packets get lost, adapters send packets again, nodes
//! stop.
//!
//! A fault that is down at random has a random stream of its own, named by the number of the fault and of the element: the times
//! of one fault do not depend on what else is listed before or after its own stream, nor on what the machine does. A list of which
//! no fault occurs before a run ends changes nothing in the run.
//!
//! The times in which the machine notices faults and recovers are parameters of the machine: [`Config::timeout`] and so on. They
//! have the names that they have in the section `[faults]` of machine files.

use crate::{NodeId, Place, Rail};
use fabric::{LinkId, SwitchId};
use units::Time;

/// The faults of a machine, and the times of its recovery.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The output timeout of the sender: a packet that has not been answered this long after its injection, and never can be, is
    /// given up and sent again.
    pub timeout: Time,
    /// From a timeout of a packet with one destination to sending the packet again.
    pub backoff: Time,
    /// From a timeout of a broadcast to sending the broadcast again.
    pub broadcast_backoff: Time,
    /// From a fault or its repair to the moment when the routing tables of all sources know of it.
    pub detect: Time,
    /// A packet that has not succeeded this long after its first refusal by a fault ends its message with an error.
    pub give_up: Time,
    /// Seed of the random streams of the faults.
    pub seed: u64,
    /// What fails.
    pub list: Vec<Fault>,
}

/// One fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What fails.
    pub part: Part,
    /// How it fails, and when.
    pub when: When,
}

/// A part of the machine that can fail. Links stand for their cables: both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The cable of a link.
    Link(LinkId),
    /// Several cables: each fails by itself.
    Links(Links),
    /// A switch: all its cables.
    Switch(SwitchId),
    /// An adapter: its cable, and the adapter executes nothing.
    Adapter(Place),
    /// The host of a node: no process of the node runs any more. Its adapters still answer the network.
    Node(NodeId),
    /// All adapters and switches of a rail.
    Rail(Rail),
}

/// Cables that are picked by their place in the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// The level of links, from 0 at the nodes; none for all levels.
    pub level: Option<usize>,
    /// The rail; none for all rails.
    pub rail: Option<Rail>,
    /// How many of these cables, and which; none for all.
    pub some: Option<(u32, Pick)>,
}

/// How some cables are picked of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Any, all equally likely; drawn from the stream of the fault.
    Random,
    /// Those of one switch after another, upwards: the cables whose loss together takes most from some nodes.
    Worst,
}

/// How a part fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// Cables flip bits: the probability that a bit is wrong, 0 to 1e-3.
    BitErrors(f64),
    /// The part is down from a moment on: for a time, or for ever.
    At {
        /// The moment, from the start of the run.
        at: Time,
        /// How long; none for ever.
        lasts: Option<Time>,
    },
    /// The part fails at random and is repaired at random: both times have exponential distributions.
    Random {
        /// Mean time from a repair, or the start of the run, to the next failure.
        mtbf: Time,
        /// Mean time from a failure to its repair.
        mttr: Time,
    },
}
