//! Which way packets go on any kind of topology.

use super::destination::Destination;
use super::wiring::Wiring;
use crate::id::{ChannelId, LinkId, Place, SwitchId};
use std::fmt::Debug;

/// A packet to one node whose header is at a switch: all that the routing may look at.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Where it comes from.
    pub source: Place,
    /// Where it goes.
    pub destination: Place,
    /// What [`Routing::plan`] said.
    pub plan: u8,
    /// Switches that it has left behind.
    pub hops: usize,
}

/// Where a header may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The output group, counted from 0 at the switch. The packet takes the least loaded link of it.
    pub group: u32,
    /// Which channels of the link it may take: those of a class, of [`Routing::CLASSES`], or any.
    pub class: Option<u32>,
}

/// Which way packets go. The engine is made for each; see the essay of the module.
pub trait Routing {
    /// Room for the channels of the longest path.
    type Path: Path;

    /// Classes into which the channels of a link are parted, as evenly as can be. With one class all are equal.
    const CLASSES: u32 = 1;

    /// The wiring that packets are routed on.
    fn wiring(&self) -> &dyn Wiring;

    /// A small machine of the same kind whose packets can wait for each other if and only if those of this machine can.
    #[must_use]
    fn model(&self) -> Self
    where
        Self: Sized;

    /// Whether the output group of a port of a switch is another than that of the port before.
    fn begins_group(&self, switch: SwitchId, port: u32) -> bool;

    /// What the header carries of the route, besides source and destination.
    fn plan(&self, source: Place, destination: Destination) -> u8;

    /// The next step of a packet to one node.
    fn step(&self, header: &Header) -> Step;

    /// The link by which a broadcast leaves a switch below the one where it turns. Asked of trees only.
    fn broadcast_ascent(&self, _switch: SwitchId, _source: Place) -> LinkId {
        unreachable!("broadcasts are refused where there is no tree")
    }

    /// The links by which a broadcast leaves a switch that covers some of its destinations. Asked of trees only.
    fn broadcast_descent(&self, _switch: SwitchId, _destination: Destination) -> Vec<LinkId> {
        unreachable!("broadcasts are refused where there is no tree")
    }
}

/// A list of the channels of a path, with room for as many as a path can have.
pub trait Path: Clone + Debug + AsRef<[ChannelId]> + AsMut<[ChannelId]> {
    /// Room for a path.
    const EMPTY: Self;
}

impl<const LINKS: usize> Path for [ChannelId; LINKS] {
    const EMPTY: Self = [ChannelId::new(0); LINKS];
}
