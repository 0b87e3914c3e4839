//! # Whether a routing can deadlock
//!
//! A packet that holds a channel waits for the next channel of its path. The *channel dependency graph* has a vertex for each
//! class of channels of each link. An edge leads from a class to each class that a packet which holds the first may wait for.
//! Without a cycle no packet can wait for ever (Dally and Seitz, 1987). With a cycle packets may, whether the routing leaves a
//! choice or not. Where the routing leaves a choice, a cycle is not always fatal, and is refused all the same.
//!
//! All packets of all pairs of nodes are followed; where cables may die, those that go round dead cables, too. (In a tree these
//! climb and descend like all others, and need no look of their own.) Traffic classes have equal graphs without an edge between them
//! (`control::classes`), so that one of them is followed. A machine of more than [`MOST`] positions is judged by a small machine of
//! its kind ([`Routing::model`]). A graph has no smaller model; its routing lists all dependencies from its tables
//! ([`Routing::dependencies`]). Broadcasts have a proof of their own (`control::broadcast`).

use super::{End, Header, LinkId, Place, Routing, SwitchId, Wiring, with_routing};
use crate::Config;
use petgraph::algo::{astar, tarjan_scc};
use petgraph::csr::Csr;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

/// Positions of the largest machine whose own pairs of nodes are followed.
const MOST: u32 = 32;

/// A class of channels of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelClass {
    /// The link.
    pub link: LinkId,
    /// The class, from 0.
    pub class: u32,
}

/// The vertex of a class of channels: so the classes of all links are numbered.
type Vertex = u32;

/// An edge, from what is held to what is waited for.
type Edge = (Vertex, Vertex);

/// A cycle of channels: a packet may hold each of them and wait for the next, and hold the last and wait for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyCycle {
    /// The channels.
    pub channels: Vec<ChannelClass>,
    /// The ends of their links, for people.
    names: Vec<(String, String)>,
    /// Whether the channels are those of the small machine that stands for a large one.
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

/// A cycle of the channel dependency graph of a machine and its routing, if there is one.
pub fn find_cycle(config: &Config) -> Option<DependencyCycle> {
    with_routing!(config, routing => {
        if let Some(edges) = routing.dependencies() {
            assert_eq!(routing.wiring().classes(), 1, "all channels of a link are equal");
            let edges = edges.into_iter().map(|(held, next)| (held.get(), next.get()));
            return shortest_cycle(edges.collect(), routing.wiring());
        }
        if routing.wiring().positions() <= MOST {
            return cycle_of(&routing, config);
        }
        let cycle = cycle_of(&routing.model(), config)?;
        Some(DependencyCycle { of_model: true, ..cycle })
    })
}

fn cycle_of<R: Routing>(routing: &R, config: &Config) -> Option<DependencyCycle> {
    let wiring = routing.wiring();
    let mut edges = BTreeSet::new();
    for source in Place::all(wiring.nodes()) {
        for destination in Place::all(wiring.nodes()) {
            let plans = routing.plans(source, destination);
            let detours = config.faults.iter().flat_map(|_| routing.detours());
            for plan in plans.into_iter().chain(detours) {
                follow(routing, source, destination, plan, &mut edges);
            }
        }
    }
    shortest_cycle(edges.into_iter().collect(), wiring)
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

/// Adds what the packets from a source to a destination may hold and wait for.
fn follow<R: Routing>(
    routing: &R,
    source: Place,
    destination: Place,
    plan: u32,
    edges: &mut BTreeSet<Edge>,
) {
    let wiring = routing.wiring();
    let all = 0..wiring.classes();
    let classes = |class: Option<u32>| class.map_or(all.clone(), |class| class..class + 1);
    let mut held: Vec<Vertex> = Vec::new();
    let mut links = vec![wiring.injection(source)];
    for hops in 0.. {
        let ends = links.iter().map(|&link| (link, wiring.ends(link).1));
        let switches = ends.filter_map(|(link, end)| match end {
            End::Switch { switch, .. } => Some((link, switch)),
            End::Node(_) => None,
        });
        let switches: Vec<(LinkId, SwitchId)> = switches.collect();
        if switches.is_empty() {
            return;
        }
        let mut next: Vec<LinkId> = Vec::new();
        let mut class = None;
        for (input, switch) in switches {
            let step = routing.step(&Header {
                source,
                destination,
                at: switch,
                input,
                plan,
                hops,
            });
            class = step.class;
            let mut group = 0;
            for port in 0..wiring.ports(switch) {
                group += u32::from(port > 0 && routing.begins_group(switch, port));
                if group == step.group {
                    next.push(wiring.output(switch, port));
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        let channels = next
            .iter()
            .flat_map(|&link| classes(class).map(move |class| link.get() * all.end + class));
        let channels: Vec<Vertex> = channels.collect();
        for &before in &held {
            edges.extend(channels.iter().map(|&after| (before, after)));
        }
        (held, links) = (channels, next);
    }
}

#[cfg(test)]
mod tests;
