//! # Any graph, with up*/down* routing or on shortest ways
//!
//! A [`Graph`] lists switches, each node's switch and the cables between switches; several cables
//! may join the same two switches. A switch's ports are first its nodes, then its cables, in the
//! order of the switches at their other ends.
//!
//! ## Up and down
//!
//! Some switches are *roots*. A breadth-first search, from all roots together, gives each switch a
//! level: its distance from the nearest root. Each cable leads *up* to the end with the lower
//! level; on equal levels, to the end that is listed first. A legal way goes up by any number of
//! links, then down by any number, and never up again (Schroeder et al., Autonet, 1991). As no link
//! up is waited for by a packet that holds a link down, and as the links up and the links down each
//! form no cycle by themselves, packets cannot wait for each other for ever, in any graph; all
//! channels are equal. Switches are numbered from the farthest to the roots, so that up is to a
//! higher number. The root is the most central switch, the one with the smallest eccentricity
//! (greatest distance from any other one), among equals the first listed, unless the caller names
//! others: in a tree all top switches are roots.
//!
//! With one root there is a legal way between all switches in a connected graph. With several roots
//! a pair may have no legal way, which is an error here. [`Forwarding`] chooses among the legal
//! ways.
//!
//! ## Shortest ways
//!
//! Up*/down* routing leads many packets through the root. With [`Ways::Minimal`] packets take all
//! shortest ways, with [`Ways::Valiant`] and [`Ways::UgalLocal`] also shortest ways to a random
//! leaf and on from there. [`Layers`] part the channels so that such packets cannot wait for each
//! other for ever. With [`Ways::KShortest`] they take any of the k shortest ways between their
//! leaves ([`Alternatives`]). [`Routes`] may list other ways, by switch and destination. In these
//! cases levels and directions are names only.

mod alternatives;
mod families;
mod forwarding;
mod layers;
mod routes;
mod shortest;
mod tables;
mod uniform;

#[cfg(test)]
mod tests;

pub use alternatives::{Alternatives, MOST_WAYS};
pub use families::Family;
pub use forwarding::Forwarding;
pub use layers::Layers;
pub use routes::{Entry, Routes, Target};
pub use uniform::{DetourLoads, Uniform};

use super::cabling::{Cabling, Names, Parts, Peer};
use super::error::{MAX_ARITY, MAX_NODES, TopologyError};
use super::torus::MAX_PATH;
use super::wiring::Wiring;
use crate::id::{LinkId, NodeId};
use crate::mechanism::Ways;
use layers::Shape;
use routes::Columns;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Most switches: a way table has an entry for each pair.
pub const MAX_SWITCHES: usize = 4096;

/// A graph; see the module essay. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    cabling: Arc<Cabling>,
    /// By position on a rail: its switch, and its port there.
    seats: Arc<[(u32, u32)]>,
    /// By switch on a rail: the switches behind the ports that follow the node ports, in ascending
    /// order.
    neighbours: Arc<[Vec<u32>]>,
    /// The listed cables by their numbers in the wiring.
    cables: Arc<[u32]>,
    routes: Option<Arc<Routes>>,
    ways: Ways,
    /// The layers of shortest ways.
    layers: Arc<Layers>,
    /// The k shortest ways, if packets take these.
    alternatives: Option<Arc<Alternatives>>,
}

/// A graph's parts: switch numbers follow the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Switch names, which differ.
    pub switches: Vec<String>,
    /// By node position: its switch.
    pub seats: Vec<u32>,
    /// Each cable's two switches.
    pub cables: Vec<(u32, u32)>,
    /// The roots; the most central switch if there are none.
    pub roots: Vec<u32>,
    /// Which ways packets take, if there are no forwarding tables.
    pub ways: Ways,
    /// With [`Ways::KShortest`]: the most ways between two leaves, k.
    pub alternatives: u32,
    /// The forwarding tables.
    pub routes: Option<Routes>,
}

impl Graph {
    /// A graph with nodes `0..nodes` attached.
    ///
    /// # Errors
    /// If the graph is too large or is not connected, if two switches with nodes have no legal way
    /// or too long a one, or if given forwarding tables do not fit the graph or are not complete.
    ///
    /// # Panics
    /// If a switch number is out of range, or a cable joins a switch to itself.
    pub fn new(plan: &Plan, nodes: u32) -> Result<Self, TopologyError> {
        let switches = plan.switches.len();
        check_sizes(plan)?;
        let listed = joined(switches, &plan.cables);
        let distances = distances(&listed, &[0]);
        if let Some(apart) = distances.iter().position(|&distance| distance == u32::MAX) {
            let message = format!(
                "the graph is in several parts: no way leads from switch {} to switch {}",
                plan.switches[0], plan.switches[apart]
            );
            return Err(TopologyError::new("cables", message, ""));
        }
        let roots = match plan.roots.as_slice() {
            [] => vec![centre(&listed)],
            roots => roots.to_vec(),
        };
        let levels = self::distances(&listed, &roots);
        // From the farthest switch to the roots; on equal levels the first listed is the highest.
        let mut order: Vec<u32> = (0..switches as u32).collect();
        order.sort_by_key(|&switch| std::cmp::Reverse((levels[switch as usize], switch)));
        let mut numbers = vec![0; switches];
        for (number, &switch) in (0..).zip(&order) {
            numbers[switch as usize] = number;
        }
        let number = |switch: u32| numbers[switch as usize];
        let cables: Vec<(u32, u32)> = plan
            .cables
            .iter()
            .map(|&(a, b)| (number(a), number(b)))
            .collect();
        let neighbours = joined(switches, &cables);
        let seats: Vec<u32> = plan.seats.iter().map(|&switch| number(switch)).collect();
        let names: Vec<String> = order
            .iter()
            .map(|&switch| plan.switches[switch as usize].clone())
            .collect();
        let mut layers = Layers::One;
        let mut alternatives = None;
        let mut classes = plan.routes.as_ref().map_or(1, |routes| routes.classes);
        let mut ports = vec![0; switches];
        let seat = |&switch: &u32| {
            let port = &mut ports[switch as usize];
            *port += 1;
            (switch, *port - 1)
        };
        let seated: Arc<[(u32, u32)]> = seats.iter().map(seat).collect();
        if plan.routes.is_none() {
            let shape = Shape {
                neighbours: &neighbours,
                seats: &seated,
            };
            match plan.ways.misrouting() {
                None if plan.ways == Ways::KShortest => {
                    let found = Alternatives::new(shape, &ports, plan.alternatives)?;
                    classes = found.classes();
                    alternatives = Some(Arc::new(found));
                }
                None => check_ways(&neighbours, &seats, &names)?,
                Some(rule) => {
                    let parts = if rule.misroutes() { 2 } else { 1 };
                    let longest = shape.longest();
                    check_length(parts * longest)?;
                    layers = Layers::of(shape, longest, layers::MOST_STEPS);
                    classes = parts * layers.count();
                }
            }
        }
        let peer = |&switch: &u32| Peer { switch, level: 1 };
        let peers = neighbours.iter().map(|all| all.iter().map(peer).collect());
        let cabling = Cabling::new(Parts {
            noun: "graph",
            seats,
            peers: peers.collect(),
            nodes,
            ways: vec![[
                "up towards a root".to_string(),
                "down from a root".to_string(),
            ]],
            classes,
            names: Names::Given(names),
        })?;
        let graph = Graph {
            cabling: Arc::new(cabling),
            seats: seated,
            neighbours: neighbours.into(),
            cables: ranks(&cables).into(),
            routes: plan
                .routes
                .as_ref()
                .map(|routes| Arc::new(routes.renumbered(number))),
            ways: plan.ways,
            layers: Arc::new(layers),
            alternatives,
        };
        if let Some(routes) = graph.routes() {
            Columns::new(&graph, routes)?.check()?;
        }
        Ok(graph)
    }

    /// This graph on several rails: equal networks side by side.
    ///
    /// # Errors
    /// If there are no rails, or too many, or too many links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        Ok(Graph {
            cabling: Arc::new(self.cabling.with_rails(rails)?),
            ..self.clone()
        })
    }

    /// The wiring.
    pub fn cabling(&self) -> &Cabling {
        &self.cabling
    }

    /// A listed cable's links, both directions on all rails.
    ///
    /// # Panics
    /// If fewer cables were listed.
    pub fn links_of(&self, cable: usize) -> impl Iterator<Item = LinkId> {
        self.cabling.links_of(self.cables[cable])
    }

    /// The forwarding tables, if any were given; switches have the numbers that they have on a
    /// rail.
    pub fn routes(&self) -> Option<&Routes> {
        self.routes.as_deref()
    }

    /// Which ways packets take, if there are no forwarding tables.
    pub fn ways(&self) -> Ways {
        self.ways
    }

    /// The layers of shortest ways; one if packets take other ways.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The k shortest ways, if packets take these.
    pub fn alternatives(&self) -> Option<&Alternatives> {
        self.alternatives.as_deref()
    }

    /// Two nodes' leaves, by their numbers among the leaves.
    pub fn leaves_of(&self, nodes: [NodeId; 2]) -> [u16; 2] {
        let leaves = shortest::leaves(&self.seats);
        nodes.map(|node| {
            let (switch, _) = self.seats[node.get() as usize];
            leaves.binary_search(&switch).expect("it has nodes") as u16
        })
    }

    /// The class of a packet on a shortest way between two nodes, behind this many links between
    /// switches.
    pub fn layer(&self, from: NodeId, to: NodeId, links: u32) -> u32 {
        let [from, to] = self.leaves_of([from, to]);
        let leaves = shortest::leaves(&self.seats).len();
        self.layers.class(leaves, from, to, links)
    }

    /// The forwarding tables by destination. They have been checked.
    fn columns<'a>(&'a self, routes: &'a Routes) -> Columns<'a> {
        Columns::new(self, routes).expect("the tables have been checked")
    }

    /// Nodes at a switch on a rail.
    fn terminals(&self, switch: u32) -> u32 {
        self.cabling.ports(switch.into()) - self.neighbours[switch as usize].len() as u32
    }
}

/// The most links between switches on a way.
const MOST_LINKS: u32 = MAX_PATH as u32 - 2;

/// Checks that ways with this many links between switches are possible.
fn check_length(links: u32) -> Result<(), TopologyError> {
    if links <= MOST_LINKS {
        return Ok(());
    }
    let message =
        format!("ways have up to {links} links between switches; the most is {MOST_LINKS}");
    let error = TopologyError::new("routing", message, "");
    Err(error.hint("set topology.routing to up-down, or give the graph shorter ways"))
}

/// Checks the counts: switches, nodes, links and ports.
fn check_sizes(plan: &Plan) -> Result<(), TopologyError> {
    let switches = plan.switches.len();
    let wrong = |message, allowed| Err(TopologyError::new("cables", message, allowed));
    if !(1..=MAX_SWITCHES).contains(&switches) {
        let message = format!("the graph has {switches} switches");
        return wrong(message, format!("1 to {MAX_SWITCHES}"));
    }
    if !(1..=MAX_NODES).contains(&(plan.seats.len() as u64)) {
        let message = format!("the graph has {} nodes", plan.seats.len());
        return wrong(message, format!("1 to {MAX_NODES}"));
    }
    let mut ports = vec![0_u32; switches];
    let ends = plan.cables.iter().flat_map(|&(a, b)| [a, b]);
    for switch in plan.seats.iter().copied().chain(ends) {
        ports[switch as usize] += 1;
    }
    if let Some(wide) = ports.iter().position(|&ports| ports > MAX_ARITY) {
        let message = format!("switch {} has {} ports", plan.switches[wide], ports[wide]);
        return wrong(message, format!("at most {MAX_ARITY}"));
    }
    let (positions, ends) = (plan.seats.len() as u64, 2 * plan.cables.len() as u64);
    Cabling::check_size("graph", "cables", positions, ends)
}

/// By listed cable: its number in end order, as in the wiring; cables between the same two switches
/// in list order.
fn ranks(cables: &[(u32, u32)]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..cables.len()).collect();
    order.sort_by_key(|&cable| {
        let (a, b) = cables[cable];
        (a.min(b), a.max(b))
    });
    let mut ranks = vec![0; cables.len()];
    for (rank, cable) in (0..).zip(order) {
        ranks[cable] = rank;
    }
    ranks
}

/// By switch: the other ends of its cables, in ascending order.
fn joined(switches: usize, cables: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut neighbours = vec![Vec::new(); switches];
    for &(a, b) in cables {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    for all in &mut neighbours {
        all.sort_unstable();
    }
    neighbours
}

/// By switch: its distance from the nearest start switch; `u32::MAX` if no way leads there.
fn distances(neighbours: &[Vec<u32>], from: &[u32]) -> Vec<u32> {
    let mut distances = vec![u32::MAX; neighbours.len()];
    let mut queue: VecDeque<u32> = VecDeque::new();
    for &start in from {
        distances[start as usize] = 0;
        queue.push_back(start);
    }
    while let Some(at) = queue.pop_front() {
        let next = distances[at as usize] + 1;
        for &neighbour in &neighbours[at as usize] {
            let distance = &mut distances[neighbour as usize];
            if *distance == u32::MAX {
                *distance = next;
                queue.push_back(neighbour);
            }
        }
    }
    distances
}

/// The switch with the smallest eccentricity, the first among equals.
fn centre(neighbours: &[Vec<u32>]) -> u32 {
    let all: Vec<u32> = (0..neighbours.len() as u32).collect();
    let far = shortest::farthest(neighbours, &all);
    let central = all.into_iter().min_by_key(|&switch| far[switch as usize]);
    central.expect("there is a switch")
}

/// Checks that a legal way within the length limit leads between all switches with nodes: by a
/// summit, a switch from which no link leads up.
fn check_ways(
    neighbours: &[Vec<u32>],
    seats: &[u32],
    names: &[String],
) -> Result<(), TopologyError> {
    let summits: Vec<usize> = (0..neighbours.len())
        .filter(|&switch| neighbours[switch].iter().all(|&next| next < switch as u32))
        .collect();
    // By summit: the links up to it from each switch.
    let climbs = summits.iter().map(|&summit| {
        let mut links = vec![u32::MAX; neighbours.len()];
        links[summit] = 0;
        for switch in (0..summit).rev() {
            let above = neighbours[switch]
                .iter()
                .filter(|&&next| next > switch as u32);
            let nearest = above.map(|&next| links[next as usize]).min();
            links[switch] = nearest.map_or(u32::MAX, |links| links.saturating_add(1));
        }
        links
    });
    let climbs: Vec<Vec<u32>> = climbs.collect();
    // Most switches climb alike.
    let leaves: BTreeSet<u32> = seats.iter().copied().collect();
    let mut alike: BTreeSet<Vec<u32>> = BTreeSet::new();
    let mut kinds: Vec<(u32, Vec<u32>)> = Vec::new();
    for &leaf in &leaves {
        let up: Vec<u32> = climbs.iter().map(|climb| climb[leaf as usize]).collect();
        if alike.insert(up.clone()) {
            kinds.push((leaf, up));
        }
    }
    for (number, (from, up)) in kinds.iter().enumerate() {
        for (to, down) in &kinds[number..] {
            let by = up
                .iter()
                .zip(down)
                .map(|(up, down)| up.saturating_add(*down));
            let links = by.min().unwrap_or(u32::MAX);
            let ends = format!(
                "switch {} to switch {}",
                names[*from as usize], names[*to as usize]
            );
            if links == u32::MAX {
                let message = format!("no way leads from {ends} up to a root and down again");
                let error = TopologyError::new("roots", message, "");
                return Err(
                    error.hint("name fewer roots, or none: then one switch is the root of all")
                );
            }
            if links as usize + 2 > MAX_PATH && from != to {
                let message = format!(
                    "a way from {ends} by a root has {} links; the most is {MAX_PATH}",
                    links + 2
                );
                let error = TopologyError::new("roots", message, "");
                return Err(error.hint("name a more central root"));
            }
        }
    }
    Ok(())
}
