//! # Meshes: tori without wrap-around links
//!
//! A mesh with dimensions `k_0, k_1, ...` has a switch for each node, with coordinates as in a
//! [torus](super::torus). In each dimension a switch is joined to the next higher coordinate and to
//! the next lower one, if there are such switches: switches at the border have fewer ports. Port 0
//! of a switch is its node's; then come, dimension by dimension, the link to the higher coordinate
//! and the link to the lower one.
//!
//! Packets go in dimension order, as in a torus. There is no channel cycle in a mesh (Dally and
//! Seitz, 1987), so that all channels are equal. A packet has one way; if a cable on it is dead the
//! packet is refused.

use super::cabling::{Cabling, Names, Parts, Peer};
use super::coordinates::Coordinates;
use super::destination::Destination;
use super::error::TopologyError;
use super::routing::{CompiledRouting, Header, Routing, Step};
use super::torus::{MAX_DIMENSIONS, MAX_PATH};
use super::wiring::Wiring;
use crate::id::{ChannelId, Place, SwitchId};
use std::sync::Arc;

/// A mesh; see the module essay. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    sizes: Vec<u32>,
    coordinates: Coordinates,
    cabling: Arc<Cabling>,
}

impl Mesh {
    /// A mesh with `sizes[d]` switches in a row along dimension `d`, with nodes `0..nodes`
    /// attached.
    ///
    /// # Errors
    /// If a parameter is out of bounds.
    pub fn new(sizes: &[u32], nodes: u32) -> Result<Self, TopologyError> {
        let wrong = |message, allowed| Err(TopologyError::new("dimensions", message, allowed));
        let dimensions = sizes.len();
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            let message = format!("a mesh has 1 to {MAX_DIMENSIONS} dimensions, not {dimensions}");
            return wrong(message, format!("a list of 1 to {MAX_DIMENSIONS} numbers"));
        }
        if let Some(size) = sizes.iter().find(|&&size| size < 2) {
            let message = format!("a row of {size} switches is none");
            return wrong(message, "numbers of at least 2".into());
        }
        let positions = sizes
            .iter()
            .fold(1_u64, |product, &size| product.saturating_mul(size.into()));
        let ports = positions.saturating_mul(2 * dimensions as u64);
        Cabling::check_size("mesh", "dimensions", positions, ports)?;
        let path = 2 + sizes.iter().map(|size| size - 1).sum::<u32>();
        if path as usize > MAX_PATH {
            let message = format!("the longest path has {path} links; the most is {MAX_PATH}");
            let most = MAX_PATH - 2 + dimensions;
            return wrong(message, format!("numbers that add up to at most {most}"));
        }
        let peers = (0..positions as u32).map(|switch| {
            let mut stride = 1;
            let mut peers = Vec::new();
            for (level, &size) in (1..).zip(sizes) {
                let at = switch / stride % size;
                let peer = |switch| Peer { switch, level };
                peers.extend((at + 1 < size).then(|| peer(switch + stride)));
                peers.extend((at > 0).then(|| peer(switch - stride)));
                stride *= size;
            }
            peers
        });
        let way = |dimension| {
            ["forwards", "backwards"].map(|way| format!("{way} along dimension {dimension}"))
        };
        let cabling = Cabling::new(Parts {
            noun: "mesh",
            seats: (0..positions as u32).collect(),
            peers: peers.collect(),
            nodes,
            ways: (1..=dimensions).map(way).collect(),
            classes: 1,
            names: Names::Coordinates(sizes.to_vec()),
        })?;
        Ok(Mesh {
            sizes: sizes.to_vec(),
            coordinates: Coordinates::new(sizes),
            cabling: Arc::new(cabling),
        })
    }

    /// This mesh on several rails: equal meshes side by side.
    ///
    /// # Errors
    /// If there are no rails, or too many, or too many links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        Ok(Mesh {
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

    /// Links on the path between two places on a rail, the links of both nodes included.
    pub fn distance(&self, a: Place, b: Place) -> u32 {
        let (mut a, mut b) = (a.get(), b.get());
        let mut distance = 2;
        for &size in &self.sizes {
            distance += (a % size).abs_diff(b % size);
            (a, b) = (a / size, b / size);
        }
        distance
    }

    /// Links of a rail in one direction that must be cut to halve the mesh across its longest rows,
    /// which must be even: one in each.
    pub fn bisection(&self) -> u32 {
        self.cabling.positions() / self.sizes.iter().max().expect("there is a dimension")
    }
}

impl CompiledRouting for Mesh {
    type Path = [ChannelId; MAX_PATH];
}

impl Routing for Mesh {
    fn wiring(&self) -> &(dyn Wiring + 'static) {
        &*self.cabling
    }

    /// Rows with three switches have all the dependencies that longer rows have, and three
    /// dimensions stand for more.
    fn model(&self) -> Option<Box<dyn Routing>> {
        let sizes = self.sizes.iter().take(3).map(|&size| size.min(3));
        let sizes: Vec<u32> = sizes.collect();
        let small = Mesh::new(&sizes, sizes.iter().product()).expect("a small mesh");
        Some(Box::new(small))
    }

    fn begins_group(&self, _switch: SwitchId, _port: u32) -> bool {
        true
    }

    fn plan(&self, _source: Place, _destination: Destination, _draw: u64) -> u32 {
        0
    }

    #[inline]
    fn step(&self, header: &Header) -> Step {
        let (at, to) = (header.at.get(), header.destination.get());
        let [at, to] = [at, to].map(|number| self.coordinates.of(number));
        let Some(dimension) = self.coordinates.first_difference(at, to) else {
            return Step {
                group: 0,
                class: None,
            };
        };
        let here = |dimension| self.coordinates.along(dimension, at);
        let higher = |dimension: usize| u32::from(here(dimension) + 1 < self.sizes[dimension]);
        let before = (0..dimension).map(|before| higher(before) + u32::from(here(before) > 0));
        let mut group = 1 + before.sum::<u32>();
        if self.coordinates.along(dimension, to) < here(dimension) {
            group += higher(dimension);
        }
        Step { group, class: None }
    }
}
