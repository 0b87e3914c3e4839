//! # Whether a routing can deadlock
//!
//! A packet that holds a channel waits for the next channel on its path. The *channel dependency
//! graph* has a vertex for each channel class on each link. An edge leads from a class to each
//! class that a packet which holds the first may wait for. Without a cycle no packet can wait for
//! ever (Dally and Seitz, 1987). With a cycle packets may, with or without a choice in the routing.
//! Where the routing leaves a choice, a cycle is not always fatal, and is refused all the same.
//!
//! All packets between all node pairs are followed; where cables may die, those that go round dead
//! cables, too. (In a tree these climb and descend like all others, and need no separate check.)
//! Traffic classes have equal graphs without an edge between them (`control::classes`), so that
//! only one is followed. A machine with more than [`MOST`] positions is judged by a small machine
//! of its kind ([`Routing::model`]). A graph has no smaller model; its routing lists all
//! dependencies from its tables ([`Routing::dependencies`]). Broadcasts have a separate proof
//! (`control::broadcast`).

use crate::topology::{ChannelClass, End, Header, Routing, Wiring, with_routing};
use crate::{Config, LinkId, Place, SwitchId};
use petgraph::algo::{astar, tarjan_scc};
use petgraph::csr::Csr;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// Positions in the largest machine for which all node pairs are followed.
const MOST: u32 = 32;

/// The vertex of a channel class: its number among the classes of all links.
type Vertex = u32;

/// An edge, from a held class to an awaited one.
type Edge = (Vertex, Vertex);

/// A cycle of channels: a packet may hold each one and wait for the next, and hold the last and
/// wait for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyCycle {
    /// The channels.
    pub channels: Vec<ChannelClass>,
    /// The ends of their links, for messages.
    names: Vec<(String, String)>,
    /// Whether the channels belong to the small machine that stands for a large one.
    of_model: bool,
}

impl Display for DependencyCycle {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let starts = self.names.iter().map(|(from, _)| from.as_str());
        let starts: Vec<&str> = starts
            .chain(self.names.first().map(|(from, _)| from.as_str()))
            .collect();
        write!(
            f,
            "packets may wait for each other for ever along the links {}",
            starts.join(" -> ")
        )?;
        if self.of_model {
            write!(f, " (of a smaller network of the same kind)")?;
        }
        Ok(())
    }
}

/// A cycle in the channel dependency graph for a machine and its routing, if there is one.
pub fn find_cycle(config: &Config) -> Option<DependencyCycle> {
    let routing: Arc<dyn Routing> = with_routing!(config, routing => routing);
    if let Some(edges) = routing.dependencies() {
        let classes = routing.wiring().classes();
        let vertex = |channel: ChannelClass| channel.link.get() * classes + channel.class;
        let edges = edges
            .into_iter()
            .map(|(held, next)| (vertex(held), vertex(next)));
        return shortest_cycle(edges.collect(), routing.wiring());
    }
    let is_large = routing.wiring().positions() > MOST;
    let Some(model) = routing.model().filter(|_| is_large) else {
        return cycle_of(&*routing, config);
    };
    let cycle = cycle_of(&*model, config)?;
    Some(DependencyCycle {
        of_model: true,
        ..cycle
    })
}

fn cycle_of(routing: &dyn Routing, config: &Config) -> Option<DependencyCycle> {
    let wiring = routing.wiring();
    let mut follower = Follower::new(routing);
    for source in Place::all(wiring.nodes()) {
        for destination in Place::all(wiring.nodes()) {
            let plans = routing.plans(source, destination);
            let detours = config.faults.iter().flat_map(|_| routing.detours());
            for plan in plans.into_iter().chain(detours) {
                follower.follow(source, destination, plan);
            }
        }
    }
    shortest_cycle(follower.edges().collect(), wiring)
}

/// The shortest cycle through the first channel that is in a cycle.
fn shortest_cycle(mut edges: Vec<Edge>, wiring: &dyn Wiring) -> Option<DependencyCycle> {
    edges.sort_unstable();
    edges.dedup();
    let graph: Csr<(), ()> = Csr::from_sorted_edges(&edges).expect("they are sorted");
    drop(edges); // A large graph has millions.
    let components = tarjan_scc(&graph);
    let start = *components
        .iter()
        .find(|component| component.len() > 1)?
        .iter()
        .min()?;
    let ways = graph
        .neighbors_slice(start)
        .iter()
        .filter_map(|&next| astar(&graph, next, |at| at == start, |_| 1, |_| 0));
    let (_, mut vertices) = ways.min_by_key(|(length, _)| *length)?;
    vertices.rotate_right(1);
    let channel = |&vertex: &Vertex| ChannelClass {
        link: LinkId::new(vertex / wiring.classes()),
        class: vertex % wiring.classes(),
    };
    let channels: Vec<ChannelClass> = vertices.iter().map(channel).collect();
    let name = |channel: &ChannelClass| {
        let (from, to) = wiring.ends(channel.link);
        (wiring.end_name(from), wiring.end_name(to))
    };
    Some(DependencyCycle {
        of_model: false,
        names: channels.iter().map(name).collect(),
        channels,
    })
}

/// Follows packets, and notes their holds and waits. Its lists are used again for each packet:
/// millions are followed.
struct Follower<'a> {
    routing: &'a dyn Routing,
    wiring: &'a dyn Wiring,
    /// By channel: those that a packet which holds it may wait for.
    behind: Vec<Vec<Vertex>>,
    /// The links over which a packet may have come; it may hold a channel on each.
    links: Vec<LinkId>,
    held: Vec<Vertex>,
    /// The links and channels that it may take next.
    next: Vec<LinkId>,
    channels: Vec<Vertex>,
}

impl<'a> Follower<'a> {
    fn new(routing: &'a dyn Routing) -> Self {
        let wiring = routing.wiring();
        Follower {
            routing,
            wiring,
            behind: vec![Vec::new(); (wiring.links() * wiring.classes()) as usize],
            links: Vec::new(),
            held: Vec::new(),
            next: Vec::new(),
            channels: Vec::new(),
        }
    }

    /// The edges so far.
    fn edges(&self) -> impl Iterator<Item = Edge> {
        let behind = (0..).zip(&self.behind);
        behind.flat_map(|(held, next)| next.iter().map(move |&next| (held, next)))
    }

    /// Notes the possible holds and waits for packets from a source to a destination.
    fn follow(&mut self, source: Place, destination: Place, plan: u32) {
        self.held.clear();
        self.links.clear();
        self.links.push(self.wiring.injection(source));
        for hops in 0.. {
            let class = self.find_next(|at, input| Header {
                source,
                destination,
                at,
                input,
                plan,
                hops,
            });
            if self.next.is_empty() {
                return;
            }
            let all = self.wiring.classes();
            let classes = class.map_or(0..all, |class| class..class + 1);
            self.channels.clear();
            for link in &self.next {
                let channels = classes.clone().map(|class| link.get() * all + class);
                self.channels.extend(channels);
            }
            for &before in &self.held {
                let behind = &mut self.behind[before as usize];
                for &after in &self.channels {
                    if !behind.contains(&after) {
                        behind.push(after);
                    }
                }
            }
            std::mem::swap(&mut self.held, &mut self.channels);
            std::mem::swap(&mut self.links, &mut self.next);
        }
    }

    /// Finds the links that packets may take from the switches to which they have come; at their
    /// nodes there are none. Returns the class of the channels.
    fn find_next(&mut self, header: impl Fn(SwitchId, LinkId) -> Header) -> Option<u32> {
        self.next.clear();
        let mut class = None;
        for &input in &self.links {
            let End::Switch { switch, .. } = self.wiring.ends(input).1 else {
                continue;
            };
            let step = self.routing.step(&header(switch, input));
            class = step.class;
            let mut group = 0;
            for port in 0..self.wiring.ports(switch) {
                group += u32::from(port > 0 && self.routing.begins_group(switch, port));
                if group == step.group {
                    self.next.push(self.wiring.output(switch, port));
                }
            }
        }
        self.next.sort_unstable();
        self.next.dedup();
        class
    }
}

#[cfg(test)]
mod tests;
