//! Where packets may go to a random place first: the choice of dragonflies and HyperX networks.
//!
//! A minimal way loads few links, and all packets of an adverse pattern may share them. By way of a random place each pattern
//! becomes two uniform ones, at twice the hops (Valiant, 1982). UGAL-L (Kim et al., ISCA 2008) compares the two for each packet
//! at its first switch: it takes the minimal way unless the load of the first link there, times the hops of the whole way, is
//! greater than that of one random way. "L" is for local: nothing else is known. The load of a link is the number of packets
//! that hold a channel of it or wait for one (assumed: the paper counts flits in the queues of a router, and a router here
//! holds channels). The random place of a packet is a hash of its source and number.

use super::routing::Header;
use super::{Routing, Step};
use crate::mechanism::Misrouting;

impl Misrouting {
    /// Whether packets may go by way of a random place.
    pub(super) fn misroutes(self) -> bool {
        self != Misrouting::Minimal
    }
}

/// The better plan of two by UGAL-L: the minimal way, unless it promises to take longer. `hops` tells the links of a way between
/// switches. Where the minimal way is not loaded, nothing is asked of the other one.
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
