//! # HyperX networks: rows in which each switch is joined to each other one
//!
//! Switches have coordinates in dimensions with `l_0, l_1, ...` switches, and in each dimension a
//! switch is joined to all switches with equal other coordinates (Ahn, Binkert, Davis, McLaren and
//! Schreiber, SC 2009; with as many nodes per switch as a row has switches it is a flattened
//! butterfly). A switch has `terminals` nodes at its first ports; then come, dimension by
//! dimension, the other switches in its rows in their order. Links on level `d + 1` are those in
//! dimension `d`.
//!
//! ## Routing
//!
//! *Minimal*: one hop in each dimension in which the coordinate is not right yet, in dimension
//! order. No channel cycle is possible, and all channels are equal. *Valiant*: minimally to a
//! random switch first, minimally on from there; packets between nodes at one switch stay there.
//! *UGAL-L*: see [`Misrouting::UgalLocal`]. Both have two channel classes: packets take the first
//! until they are at the random switch, and the second from there on.
//!
//! *Faults.* A packet with a dead way takes the next living plan among those that its routing has
//! anyway; with minimal routing there is only one.

use super::cabling::{Cabling, Names, Parts, Peer};
use super::coordinates::Coordinates;
use super::destination::Destination;
use super::error::{MAX_ARITY, TopologyError};
use super::misroute;
use super::routing::{CompiledRouting, DeadLinks, Header, Routing, Step};
use super::wiring::Wiring;
use crate::id::{ChannelId, Place, SwitchId};
use crate::mechanism::Misrouting;
use std::sync::Arc;

/// Most dimensions.
const MAX_DIMENSIONS: usize = 6;

/// Links on the longest path: twice a hop in each dimension, and the links of both nodes.
const MAX_PATH: usize = 2 * MAX_DIMENSIONS + 2;

/// Bits in a plan that hold the hops to the random switch; the others are its number.
const HOPS: u32 = 3;
const _: () = assert!(MAX_DIMENSIONS < 1 << HOPS, "the hops have room");

/// A HyperX network; see the module essay. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperX {
    sizes: Vec<u32>,
    terminals: u32,
    rule: Misrouting,
    coordinates: Coordinates,
    /// By dimension: a switch's first port that leads along it.
    first_ports: Vec<u32>,
    cabling: Arc<Cabling>,
}

impl HyperX {
    /// A network with `sizes[d]` switches in a row along dimension `d` and `terminals` positions at
    /// each switch, with nodes `0..nodes` attached.
    ///
    /// # Errors
    /// If a parameter is out of bounds.
    pub fn new(
        sizes: &[u32],
        terminals: u32,
        nodes: u32,
        rule: Misrouting,
    ) -> Result<Self, TopologyError> {
        let wrong = |key: &str, message, allowed| Err(TopologyError::new(key, message, allowed));
        let dimensions = sizes.len();
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            let message =
                format!("a HyperX network has 1 to {MAX_DIMENSIONS} dimensions, not {dimensions}");
            let allowed = format!("a list of 1 to {MAX_DIMENSIONS} numbers");
            return wrong("dimensions", message, allowed);
        }
        if let Some(size) = sizes.iter().find(|&&size| size < 2) {
            let message = format!("a row of {size} switches is none");
            return wrong("dimensions", message, "numbers of at least 2".into());
        }
        let most = MAX_ARITY;
        if !(1..=most).contains(&terminals) {
            let message = format!("{terminals} nodes of a switch are out of range");
            return wrong("terminals", message, format!("1 to {most}"));
        }
        let inner: u64 = sizes.iter().map(|&size| u64::from(size - 1)).sum();
        if inner > most.into() {
            let message = format!("a switch has {inner} links to others; the most is {most}");
            let allowed = format!(
                "numbers that add up to at most {}",
                most as usize + dimensions
            );
            return wrong("dimensions", message, allowed);
        }
        let switches = sizes
            .iter()
            .fold(1_u64, |product, &size| product.saturating_mul(size.into()));
        let positions = switches.saturating_mul(terminals.into());
        let ports = switches.saturating_mul(inner);
        Cabling::check_size("HyperX network", "dimensions", positions, ports)?;
        let peers = (0..switches as u32).map(|switch| {
            let mut stride = 1;
            let mut peers = Vec::new();
            for (level, &size) in (1..).zip(sizes) {
                let own = switch / stride % size;
                let others = (0..size).filter(|&other| other != own);
                peers.extend(others.map(|other| Peer {
                    switch: switch - own * stride + other * stride,
                    level,
                }));
                stride *= size;
            }
            peers
        });
        let way = |dimension| {
            ["forwards", "backwards"].map(|way| format!("{way} along dimension {dimension}"))
        };
        let cabling = Cabling::new(Parts {
            noun: "HyperX network",
            seats: (0..positions as u32)
                .map(|place| place / terminals)
                .collect(),
            peers: peers.collect(),
            nodes,
            ways: (1..=dimensions).map(way).collect(),
            classes: if rule.misroutes() { 2 } else { 1 },
            names: Names::Coordinates(sizes.to_vec()),
        })?;
        let mut port = terminals;
        let first_port = |&size: &u32| {
            port += size - 1;
            port - (size - 1)
        };
        Ok(HyperX {
            sizes: sizes.to_vec(),
            terminals,
            rule,
            coordinates: Coordinates::new(sizes),
            first_ports: sizes.iter().map(first_port).collect(),
            cabling: Arc::new(cabling),
        })
    }

    /// This network on several rails: equal networks side by side.
    ///
    /// # Errors
    /// If there are no rails, or too many, or too many links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        Ok(HyperX {
            cabling: Arc::new(self.cabling.with_rails(rails)?),
            ..self.clone()
        })
    }

    /// The wiring.
    pub fn cabling(&self) -> &Cabling {
        &self.cabling
    }

    /// Switches in a row, for each dimension.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Node positions per switch.
    pub fn terminals(&self) -> u32 {
        self.terminals
    }

    /// Which ways packets take.
    pub fn rule(&self) -> Misrouting {
        self.rule
    }

    /// Links of a rail in one direction that must be cut to halve the network across its shortest
    /// rows, which must be even.
    pub fn bisection(&self) -> u32 {
        let shortest = self.sizes.iter().min().expect("there is a dimension");
        self.cabling.switches_of_a_rail() * shortest / 4
    }

    /// Dimensions in which the coordinates of two switches on a rail differ: the hops between them.
    fn distance(&self, a: u32, b: u32) -> u32 {
        let [a, b] = [a, b].map(|switch| self.coordinates.of(switch));
        self.coordinates.differences(a, b)
    }

    fn plan_by(&self, from: u32, via: u32) -> u32 {
        match self.distance(from, via) {
            0 => 0,
            hops => via << HOPS | hops,
        }
    }

    /// A plan's random switch, and the hops to it.
    fn read(plan: u32) -> (u32, u32) {
        (plan >> HOPS, plan & ((1 << HOPS) - 1))
    }

    /// The switches on the rail of a switch.
    fn of_rail(&self, switch: u32) -> std::ops::Range<u32> {
        let own = self.cabling.switches_of_a_rail();
        let first = switch / own * own;
        first..first + own
    }
}

impl CompiledRouting for HyperX {
    type Path = [ChannelId; MAX_PATH];

    const CHOOSES: bool = true;
}

impl Routing for HyperX {
    fn wiring(&self) -> &(dyn Wiring + 'static) {
        &*self.cabling
    }

    /// Rows with three switches have all the dependencies that longer ones have, and three
    /// dimensions stand for more.
    fn model(&self) -> Option<Box<dyn Routing>> {
        let sizes = self.sizes.iter().take(3).map(|&size| size.min(3));
        let sizes: Vec<u32> = sizes.collect();
        let nodes = sizes.iter().product();
        let small = HyperX::new(&sizes, 1, nodes, self.rule).expect("a small network");
        Some(Box::new(small))
    }

    fn begins_group(&self, _switch: SwitchId, _port: u32) -> bool {
        true
    }

    /// The random switch, and the hops to it; 0 for a minimal way.
    fn plan(&self, source: Place, destination: Destination, draw: u64) -> u32 {
        let [from, to] = [source, destination.first()].map(|place| place.get() / self.terminals);
        if !self.rule.misroutes() || from == to {
            return 0;
        }
        let switches = self.of_rail(from);
        let via = switches.start + (draw % switches.len() as u64) as u32;
        self.plan_by(from, via)
    }

    fn plans(&self, source: Place, node: Place) -> Vec<u32> {
        let [from, to] = [source, node].map(|place| place.get() / self.terminals);
        if !self.rule.misroutes() || from == to {
            return vec![0];
        }
        // The switch itself stands for the minimal way.
        let vias = self.of_rail(from);
        vias.map(|via| self.plan_by(from, via)).collect()
    }

    fn settles(&self) -> bool {
        self.rule == Misrouting::UgalLocal
    }

    fn settle(&self, header: &Header, load: &mut dyn FnMut(u32) -> u32) -> u32 {
        if header.plan == 0 {
            return header.plan;
        }
        let to = header.destination.get() / self.terminals;
        let hops = |plan| {
            if plan == 0 {
                return self.distance(header.at.get(), to);
            }
            let (via, hops) = HyperX::read(plan);
            hops + self.distance(via, to)
        };
        misroute::better(self, header, [0, header.plan], hops, load)
    }

    #[inline]
    fn step(&self, header: &Header) -> Step {
        let (via, hops) = HyperX::read(header.plan);
        let is_there = header.hops >= hops as usize;
        let mut to = via;
        if is_there {
            to = header.destination.get() / self.terminals;
        }
        let class = self.rule.misroutes().then_some(u32::from(is_there));
        let [at, to] = [header.at.get(), to].map(|switch| self.coordinates.of(switch));
        if let Some(dimension) = self.coordinates.first_difference(at, to) {
            let [own, other] = [at, to].map(|packed| self.coordinates.along(dimension, packed));
            let group = self.first_ports[dimension] + other - u32::from(other > own);
            return Step { group, class };
        }
        Step {
            group: header.destination.get() % self.terminals,
            class: None,
        }
    }

    /// To find out would take as long as to find a way.
    fn may_cross_any(&self, _source: Place, _node: Place, dead: &DeadLinks) -> bool {
        !dead.is_empty()
    }
}
