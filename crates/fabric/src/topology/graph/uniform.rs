//! # Uniform traffic on a graph: way lengths and link loads
//!
//! Each node sends at the same rate to every other node. The loads of links, in units of one node's
//! rate, give an estimate of the rate that the network accepts: no link carries more than its own
//! rate, and the busiest one has its rate when nodes send at `1 / busiest` of it. The loads follow
//! from the ways alone. Packets with a choice among several links take each one equally often.
//! Fixed ways by a hash load some link more; adaptive ascents beyond saturation load the busiest
//! one less.
//!
//! For each switch with nodes, the *leaf*, the packets to all its nodes are followed together. The
//! legal ways in up*/down* routing lead up, then down, and up is to a higher switch number: one
//! pass over the switches in ascending order moves all packets that may still go up, and one in
//! descending order moves all that go down. The same traffic on shortest ways, legal or not, moves
//! from the farthest switches to the leaf. Way lengths come from the neighbours and not from the
//! tables of [`Forwarding`](super::Forwarding), so that tests compare the two.
//!
//! *Samples.* The cost is a few steps for each leaf and link. In large graphs an even leaf sample
//! stands for all. A link near a sampled leaf would then seem busy; so each half of the sample has
//! its own loads, and the lower one counts.

use super::{Graph, distances};
use crate::topology::wiring::Wiring;

/// Steps, one for each leaf and link, beyond which leaves are sampled.
const MOST_STEPS: usize = 1 << 25;

/// Fewest leaves in a sample.
const LEAST_LEAVES: usize = 32;

/// Further than any way.
const FAR: u32 = u32::MAX;

/// Uniform traffic's loads on the links between switches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform {
    /// The mean link count between switches for packets that leave their first switch.
    pub links: f64,
    /// The load of the busiest link between switches, in units of the rate at which one node sends.
    pub busiest: f64,
}

impl Uniform {
    /// The rate of the nodes at which the busiest link is full, as a share of a link's rate, from 0
    /// to 1.
    pub fn accepted(&self) -> f64 {
        self.busiest.recip().min(1.0)
    }
}

/// A routing's detours: uniform traffic on its ways, and on shortest ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetourLoads {
    /// On the ways of up*/down* routing.
    pub used: Uniform,
    /// On shortest ways.
    pub shortest: Uniform,
    /// The count of switches with nodes that stand for all, if they are a sample.
    pub sample: Option<u32>,
}

/// Link loads, for each half of the leaves.
struct Loads<'a> {
    graph: &'a Graph,
    /// By half, switch and neighbour number.
    links: [Vec<Vec<f64>>; 2],
    /// By switch: its nodes.
    nodes: Vec<f64>,
    /// Packets that leave their first switch, if each node sends one.
    sent: f64,
}

impl<'a> Loads<'a> {
    fn new(graph: &'a Graph) -> Self {
        let attached = graph.seats.iter().take(graph.cabling.nodes() as usize);
        let mut nodes = vec![0.0; graph.neighbours.len()];
        attached.for_each(|&(switch, _)| nodes[switch as usize] += 1.0);
        let links = graph.neighbours.iter().map(|all| vec![0.0; all.len()]);
        let links: Vec<_> = links.collect();
        Loads {
            graph,
            links: [links.clone(), links],
            nodes,
            sent: 0.0,
        }
    }

    /// By switch: the packets to a leaf's nodes that begin there, if each node sends one.
    fn begin(&mut self, leaf: u32) -> Vec<f64> {
        let others = f64::from(self.graph.cabling.nodes()) - 1.0;
        let share = self.nodes[leaf as usize] / others.max(1.0);
        let begun = |(switch, nodes): (u32, &f64)| if switch == leaf { 0.0 } else { nodes * share };
        let begun: Vec<f64> = (0..).zip(&self.nodes).map(begun).collect();
        self.sent += begun.iter().sum::<f64>();
        begun
    }

    /// A half's packets leave a switch in equal parts by the links to those neighbours that `leads`
    /// names; `arrive` takes each part.
    fn split(
        &mut self,
        half: usize,
        (switch, packets): (u32, f64),
        leads: impl Fn(u32) -> bool,
        mut arrive: impl FnMut(u32, f64),
    ) {
        let graph = self.graph;
        let neighbours = &graph.neighbours[switch as usize];
        let count = neighbours.iter().filter(|&&next| leads(next)).count();
        let part = packets / count as f64;
        let links = &mut self.links[half][switch as usize];
        for (load, &next) in links.iter_mut().zip(neighbours) {
            if leads(next) {
                *load += part;
                arrive(next, part);
            }
        }
    }

    /// The result, where the leaves are a sample or all leaves.
    fn finish(&self, sampled: bool, all: usize, leaves: usize) -> Uniform {
        let [one, other] = self.links.each_ref().map(|half| half.iter().flatten());
        let both = one.zip(other);
        let sum: f64 = both.clone().map(|(one, other)| one + other).sum();
        let load = |(one, other): (&f64, &f64)| {
            if sampled {
                2.0 * one.min(*other)
            } else {
                one + other
            }
        };
        Uniform {
            links: if self.sent > 0.0 {
                sum / self.sent
            } else {
                0.0
            },
            busiest: both.map(load).fold(0.0, f64::max) * all as f64 / leaves as f64,
        }
    }
}

impl Graph {
    /// Uniform traffic on the ways of up*/down* routing and on shortest ways.
    pub fn detours(&self) -> DetourLoads {
        self.detours_within(MOST_STEPS)
    }

    /// The same with another step bound, beyond which leaves are sampled.
    pub fn detours_within(&self, steps: usize) -> DetourLoads {
        let mut all: Vec<u32> = self.seats.iter().map(|&(switch, _)| switch).collect();
        all.sort_unstable();
        all.dedup();
        let links: usize = self.neighbours.iter().map(Vec::len).sum();
        let count = (steps / links.max(1)).max(LEAST_LEAVES).min(all.len());
        let leaves = (0..count).map(|number| all[number * all.len() / count]);
        let (mut used, mut shortest) = (Loads::new(self), Loads::new(self));
        for (number, leaf) in leaves.enumerate() {
            self.follow_legal(leaf, number % 2, &mut used);
            self.follow_shortest(leaf, number % 2, &mut shortest);
        }
        let sampled = count < all.len();
        let finish = |loads: &Loads| loads.finish(sampled, all.len(), count);
        DetourLoads {
            used: finish(&used),
            shortest: finish(&shortest),
            sample: sampled.then_some(count as u32),
        }
    }

    /// Follows the packets to a leaf on the shortest legal ways; among equally short ones, packets
    /// take those that go down.
    fn follow_legal(&self, leaf: u32, half: usize, loads: &mut Loads) {
        let switches = self.neighbours.len() as u32;
        let nearest = |links: &[u32], neighbours: &mut dyn Iterator<Item = &u32>| {
            let near = neighbours.map(|&next| links[next as usize]).min();
            near.unwrap_or(FAR).saturating_add(1)
        };
        let mut down = vec![FAR; switches as usize];
        down[leaf as usize] = 0;
        for switch in leaf + 1..switches {
            let neighbours = &self.neighbours[switch as usize];
            down[switch as usize] =
                nearest(&down, &mut neighbours.iter().filter(|&&next| next < switch));
        }
        let mut legal = down.clone();
        for switch in (0..switches).rev() {
            let neighbours = &self.neighbours[switch as usize];
            let up = nearest(
                &legal,
                &mut neighbours.iter().filter(|&&next| next > switch),
            );
            legal[switch as usize] = up.min(legal[switch as usize]);
        }
        let mut climbing = loads.begin(leaf);
        let mut falling = vec![0.0; climbing.len()];
        for switch in 0..switches {
            let (here, packets) = (switch as usize, climbing[switch as usize]);
            if switch == leaf || packets == 0.0 {
                continue;
            }
            if legal[here] == down[here] {
                falling[here] += packets;
                continue;
            }
            let leads = |next: u32| next > switch && legal[next as usize] + 1 == legal[here];
            loads.split(half, (switch, packets), leads, |next, part| {
                climbing[next as usize] += part;
            });
        }
        for switch in (0..switches).rev() {
            let (here, packets) = (switch as usize, falling[switch as usize]);
            if switch == leaf || packets == 0.0 {
                continue;
            }
            let leads =
                |next: u32| next < switch && down[next as usize].saturating_add(1) == down[here];
            loads.split(half, (switch, packets), leads, |next, part| {
                falling[next as usize] += part;
            });
        }
    }

    /// Follows the packets to a leaf on shortest ways.
    fn follow_shortest(&self, leaf: u32, half: usize, loads: &mut Loads) {
        let distance = distances(&self.neighbours, &[leaf]);
        let mut order: Vec<u32> = (0..distance.len() as u32).collect();
        order.sort_unstable_by_key(|&switch| std::cmp::Reverse(distance[switch as usize]));
        let mut packets = loads.begin(leaf);
        for switch in order {
            let here = packets[switch as usize];
            if switch == leaf || here == 0.0 {
                continue;
            }
            let leads = |next: u32| distance[next as usize] < distance[switch as usize];
            loads.split(half, (switch, here), leads, |next, part| {
                packets[next as usize] += part;
            });
        }
    }
}
