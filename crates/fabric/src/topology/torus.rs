//! # Tori with any dimensions
//!
//! A torus with dimensions `k_0, k_1, ...` has a switch for each node. A switch has coordinates,
//! one in each dimension: node `p` is at `p mod k_0`, `p / k_0 mod k_1` and so on. In each
//! dimension the switches with equal other coordinates are a *ring*: each switch is joined to the
//! next higher coordinate and to the next lower one, and the last switch to the first by the
//! *wrap-around* links. A ring with two switches has two link pairs.
//!
//! ## Names and numbers
//!
//! A switch has the number of its place, and its coordinates as its name. Port 0 of a switch is its
//! node's; dimension `d` has the ports `1 + 2 d` (to higher coordinates) and `2 + 2 d` (to lower
//! ones). Links on level 0 join nodes and switches, links on level `d + 1` form the rings in
//! dimension `d`. A torus may be partly populated, like a tree.
//!
//! ## Dimension-order routing
//!
//! A packet goes the shorter way round the first dimension's ring until that coordinate is right,
//! then in the second dimension, and so on (Dally and Seitz, 1987). If both ways are equally long,
//! packets from even coordinates go to higher ones and those from odd coordinates to lower ones.
//!
//! ## Datelines
//!
//! In a ring with five or more switches, packets that each hold a link and wait for the next link
//! may wait for each other round the ring. So a link's channels form two classes. A packet takes
//! class 0 channels until it has crossed a dimension's wrap-around link, the *dateline*, and class
//! 1 channels from there on. As no packet crosses a dateline twice, no cycle is left. Without
//! datelines all channels are equal, and the network deadlocks.

use super::coordinates::{Coordinates, Packed};
use super::destination::Destination;
use super::error::{MAX_NODES, MAX_PARTS, MAX_RAILS, TopologyError};
use super::routing::{CompiledRouting, Header, Routing, Step};
use super::wiring::{End, Wiring};
use crate::id::{ChannelId, LinkId, Place, Rail, SwitchId};
use std::ops::RangeInclusive;

/// Most dimensions.
pub const MAX_DIMENSIONS: usize = 8;

/// Most links on a path: half of each ring, and the links of both nodes.
pub const MAX_PATH: usize = 64;

/// A torus; see the module essay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torus {
    sizes: Vec<u32>,
    nodes: u32,
    rails: u32,
    datelines: bool,
    coordinates: Coordinates,
}

impl Torus {
    /// A torus with `sizes[d]` switches per ring in dimension `d`, with nodes `0..nodes` attached.
    ///
    /// # Errors
    /// If a parameter is out of bounds.
    pub fn new(sizes: &[u32], nodes: u32, datelines: bool) -> Result<Self, TopologyError> {
        let wrong = |message, allowed| Err(TopologyError::new("dimensions", message, allowed));
        let dimensions = sizes.len();
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            let message = format!("a torus has 1 to {MAX_DIMENSIONS} dimensions, not {dimensions}");
            return wrong(message, format!("a list of 1 to {MAX_DIMENSIONS} numbers"));
        }
        if let Some(size) = sizes.iter().find(|&&size| size < 2) {
            let message = format!("a ring of {size} switches is none");
            return wrong(message, "numbers of at least 2".into());
        }
        let product = sizes
            .iter()
            .fold(1_u64, |product, &size| product.saturating_mul(size.into()));
        if product > MAX_NODES {
            let message =
                format!("the torus has {product} node positions; the most is {MAX_NODES}");
            return wrong(
                message,
                format!("numbers whose product is at most {MAX_NODES}"),
            );
        }
        let path = 2 + sizes.iter().map(|size| size / 2).sum::<u32>();
        if path as usize > MAX_PATH {
            let message = format!("the longest path has {path} links; the most is {MAX_PATH}");
            return wrong(
                message,
                format!("numbers whose halves add up to at most {}", MAX_PATH - 2),
            );
        }
        if !(1..=product).contains(&nodes.into()) {
            let message = format!("{nodes} nodes do not fit: the torus holds 1 to {product}");
            return Err(TopologyError::new(
                "nodes",
                message,
                format!("1 to {product}"),
            ));
        }
        Ok(Torus {
            sizes: sizes.to_vec(),
            nodes,
            rails: 1,
            datelines,
            coordinates: Coordinates::new(sizes),
        })
    }

    /// This torus on several rails: equal tori side by side.
    ///
    /// # Errors
    /// If there are no rails, or too many, or too many links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        let rails = self.rails * rails;
        if !(1..=MAX_RAILS).contains(&rails) {
            return Err(TopologyError::of_rails(rails));
        }
        let torus = Torus {
            rails,
            ..self.clone()
        };
        let found = 2 * u64::from(torus.places()) * (1 + torus.sizes.len() as u64);
        if found > MAX_PARTS {
            let message = format!("the torus has {found} links; the most is {MAX_PARTS}");
            return Err(TopologyError::new("rails", message, "").hint("take fewer rails"));
        }
        Ok(torus)
    }

    /// Switches in a ring, for each dimension.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Links on the shortest path between two places on a rail, the links of both nodes included.
    pub fn distance(&self, a: Place, b: Place) -> u32 {
        2 + self.ways(a, b, 0).map(|way| way.length).sum::<u32>()
    }

    /// Links of a rail in one direction that must be cut to halve the torus across its longest
    /// rings, which must be even: two in each.
    pub fn bisection(&self) -> u32 {
        2 * self.positions() / self.sizes.iter().max().expect("there is a dimension")
    }

    /// The way round each dimension's ring: the longer way if the dimension's bit in `longer` is
    /// set.
    fn ways(&self, source: Place, destination: Place, longer: u32) -> impl Iterator<Item = Way> {
        let [from, to] = [source, destination].map(|place| self.coordinates.of(place.get()));
        (0..self.sizes.len()).map(move |dimension| self.way(dimension, from, to, longer))
    }

    /// The way round one dimension's ring.
    #[inline]
    fn way(&self, dimension: usize, from: Packed, to: Packed, longer: u32) -> Way {
        let [from, to] = [from, to].map(|packed| self.coordinates.along(dimension, packed));
        Way::new(
            from,
            to,
            self.sizes[dimension],
            longer >> dimension & 1 == 1,
        )
    }

    /// A path's links: to the network, round each ring, to the node.
    fn links_of(&self, source: Place, node: Place, longer: u32) -> Vec<LinkId> {
        let mut links = vec![self.injection(source)];
        let mut switch = source.get();
        for (dimension, way) in self.ways(source, node, longer).enumerate() {
            let port = 1 + 2 * dimension as u32 + u32::from(!way.up);
            for _ in 0..way.length {
                links.push(self.output(SwitchId::new(switch), port));
                switch = self.neighbour(switch, dimension, way.up);
            }
        }
        links.push(self.ejection(node));
        links
    }

    /// The difference between the numbers of a switch and its next higher neighbour in a dimension.
    fn stride(&self, dimension: usize) -> u32 {
        self.sizes[..dimension].iter().product()
    }

    /// The neighbour of a switch in a dimension, upwards or downwards.
    fn neighbour(&self, switch: u32, dimension: usize, up: bool) -> u32 {
        let (size, stride) = (self.sizes[dimension], self.stride(dimension));
        let at = switch / stride % size;
        let next = if up {
            (at + 1) % size
        } else {
            (at + size - 1) % size
        };
        switch - at * stride + next * stride
    }

    /// A link's level, its direction, and the place or switch at its start.
    fn locate(&self, link: LinkId) -> (usize, bool, u32) {
        let (kind, number) = (link.get() / self.places(), link.get() % self.places());
        (kind as usize / 2, kind.is_multiple_of(2), number)
    }
}

/// How a packet goes in one dimension.
struct Way {
    from: u32,
    size: u32,
    length: u32,
    up: bool,
}

/// The hops upwards round a ring from one coordinate to another.
#[inline]
fn upwards(from: u32, to: u32, size: u32) -> u32 {
    if to < from {
        to + size - from
    } else {
        to - from
    }
}

impl Way {
    fn new(from: u32, to: u32, size: u32, longer: bool) -> Self {
        let upwards = upwards(from, to, size);
        let up = match (2 * upwards).cmp(&size) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => from.is_multiple_of(2),
            std::cmp::Ordering::Greater => false,
        };
        let up = up != longer;
        let length = if up { upwards } else { size - upwards };
        // The coordinate is right: the packet does not move in this dimension.
        let length = if upwards == 0 { 0 } else { length };
        Way {
            from,
            size,
            length,
            up,
        }
    }

    /// The hops after which the packet is at a coordinate.
    #[inline]
    fn hops_to(&self, at: u32) -> u32 {
        let (from, to) = if self.up {
            (self.from, at)
        } else {
            (at, self.from)
        };
        upwards(from, to, self.size)
    }

    /// Whether the packet has crossed the wrap-around link after `hops` hops.
    fn crossed(&self, hops: u32) -> bool {
        if self.up {
            self.from + hops >= self.size
        } else {
            hops > self.from
        }
    }
}

impl Wiring for Torus {
    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn rails(&self) -> u32 {
        self.rails
    }

    fn positions(&self) -> u32 {
        self.sizes.iter().product()
    }

    fn switches(&self) -> u32 {
        self.places()
    }

    fn links(&self) -> u32 {
        2 * self.places() * (1 + self.sizes.len() as u32)
    }

    fn levels(&self) -> usize {
        1 + self.sizes.len()
    }

    fn classes(&self) -> u32 {
        1 + u32::from(self.datelines)
    }

    fn link_level(&self, link: LinkId) -> usize {
        self.locate(link).0
    }

    fn switch_level(&self, _switch: SwitchId) -> usize {
        1
    }

    fn is_up(&self, link: LinkId) -> bool {
        self.locate(link).1
    }

    fn way(&self, link: LinkId) -> String {
        match (self.link_level(link), self.is_up(link)) {
            (0, true) => "from the nodes".to_string(),
            (0, false) => "to the nodes".to_string(),
            (dimension, true) => format!("forwards along dimension {dimension}"),
            (dimension, false) => format!("backwards along dimension {dimension}"),
        }
    }

    fn ends(&self, link: LinkId) -> (End, End) {
        let (level, up, number) = self.locate(link);
        let end = |switch: u32, port: u32| End::Switch {
            switch: SwitchId::new(switch),
            port,
        };
        let Some(dimension) = level.checked_sub(1) else {
            let (node, switch) = (End::Node(Place::new(number)), end(number, 0));
            return if up { (node, switch) } else { (switch, node) };
        };
        let port = |up: bool| 1 + 2 * dimension as u32 + u32::from(!up);
        // It arrives at the back link's port.
        (
            end(number, port(up)),
            end(self.neighbour(number, dimension, up), port(!up)),
        )
    }

    fn reverse(&self, link: LinkId) -> LinkId {
        match self.ends(link) {
            (End::Node(place), _) => self.ejection(place),
            (_, End::Node(place)) => self.injection(place),
            (_, End::Switch { switch, port }) => self.output(switch, port),
        }
    }

    fn ports(&self, _switch: SwitchId) -> u32 {
        1 + 2 * self.sizes.len() as u32
    }

    fn output(&self, switch: SwitchId, port: u32) -> LinkId {
        LinkId::new((1 + port) * self.places() + switch.get())
    }

    /// The switch's coordinates, as in "switch 3,0,2".
    fn name_on_rail(&self, switch: SwitchId) -> String {
        let mut rest = switch.get();
        let coordinate = |size: &u32| {
            let at = rest % size;
            rest /= size;
            at.to_string()
        };
        let coordinates: Vec<String> = self.sizes.iter().map(coordinate).collect();
        format!("switch {}", coordinates.join(","))
    }

    fn rail_of(&self, switch: SwitchId) -> Rail {
        Rail::new(switch.get() / self.positions())
    }
}

impl CompiledRouting for Torus {
    type Path = [ChannelId; MAX_PATH];
}

impl Routing for Torus {
    fn wiring(&self) -> &(dyn Wiring + 'static) {
        self
    }

    /// Rings with five and six switches have all the dependencies that longer rings have.
    fn model(&self) -> Option<Box<dyn Routing>> {
        let sizes: Vec<u32> = self
            .sizes
            .iter()
            .map(|&size| if size > 6 { 6 - size % 2 } else { size })
            .collect();
        let nodes = sizes.iter().product();
        let small = Torus::new(&sizes, nodes, self.datelines).expect("a small torus");
        Some(Box::new(small))
    }

    fn begins_group(&self, _switch: SwitchId, _port: u32) -> bool {
        true
    }

    /// The dimensions in which the packet goes the longer way round, as bits.
    fn plan(&self, _source: Place, _destination: Destination, _draw: u64) -> u32 {
        0
    }

    fn detours(&self) -> RangeInclusive<u32> {
        1..=(1 << self.sizes.len()) - 1
    }

    fn may_cross(&self, source: Place, node: Place, link: LinkId) -> bool {
        // Each dimension has two ways, independent of the others.
        [0, u32::MAX]
            .iter()
            .any(|&longer| self.links_of(source, node, longer).contains(&link))
    }

    /// The first plan that is alive, in number order: dimensions are independent, so that each goes
    /// the shorter way if it can.
    fn plan_around(
        &self,
        source: Place,
        node: Place,
        _usual: u32,
        dead: &dyn Fn(LinkId) -> bool,
    ) -> Option<u32> {
        let plans = 0..1_u32 << self.sizes.len();
        let mut plans = plans.map(|plan| (plan, self.links_of(source, node, plan)));
        let lives =
            |links: &[LinkId]| links.len() <= MAX_PATH && !links.iter().any(|&link| dead(link));
        plans.find_map(|(plan, links)| lives(&links).then_some(plan))
    }

    #[inline]
    fn step(&self, header: &Header) -> Step {
        let of = |number| self.coordinates.of(number);
        let (at, to) = (of(header.at.get()), of(header.destination.get()));
        let Some(dimension) = self.coordinates.first_difference(at, to) else {
            return Step {
                group: 0,
                class: None,
            };
        };
        let way = self.way(dimension, of(header.source.get()), to, header.plan);
        let hops = way.hops_to(self.coordinates.along(dimension, at));
        let class = self.datelines.then(|| way.crossed(hops).into());
        Step {
            group: 1 + 2 * dimension as u32 + u32::from(!way.up),
            class,
        }
    }
}
