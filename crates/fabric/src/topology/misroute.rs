//! Where packets may go to a random place first: the choice in dragonflies and HyperX networks.
//!
//! A minimal way loads few links, and all packets in an adverse pattern may share them. Through a
//! random place each pattern becomes two uniform ones, at twice the hops (Valiant, 1982). UGAL-L
//! (Kim et al., ISCA 2008) compares the two for each packet at its first switch: it takes the
//! minimal way unless the load of the first link there, times the hops of the whole way, is greater
//! than that product for one random way. "L" is for local: no other loads are used. A link's load
//! is the count of packets that hold a channel on it or wait for one (assumed: the paper counts
//! flits in a router's queues, and a router here holds channels). A packet's random place is a hash
//! over its source and number.

use super::routing::Header;
use super::{Routing, Step};
use crate::mechanism::Misrouting;

impl Misrouting {
    /// Whether packets may go through a random place.
    pub(super) fn misroutes(self) -> bool {
        self != Misrouting::Minimal
    }
}

/// The better plan by UGAL-L: the minimal way, unless it promises to take longer. `hops` gives a
/// way's links between switches. If the minimal way is not loaded, the other one is not examined.
pub(super) fn better(
    routing: &impl Routing,
    header: &Header,
    [minimal, other]: [u32; 2],
    hops: impl Fn(u32) -> u32,
    mut load: impl FnMut(u32) -> u32,
) -> u32 {
    let mut load_of = |plan| {
        let Step { group, .. } = routing.step(&Header { plan, ..*header });
        load(group)
    };
    let least = load_of(minimal);
    if least == 0 || least * hops(minimal) <= load_of(other) * hops(other) {
        minimal
    } else {
        other
    }
}
