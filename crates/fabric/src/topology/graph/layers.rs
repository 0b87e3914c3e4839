//! # Layers: shortest ways without deadlock
//!
//! Packets on shortest ways may wait for each other in a circle, as on a five-switch ring. *Layers*
//! end the circles: each link's channels are divided into classes, and the waits within a class
//! form no cycle. The graph gets the fewest layers among three kinds:
//!
//! * *One*, if all shortest ways together have no cycle: trees and fat trees, complete graphs.
//! * *Layers of links*: a packet takes another class on each link between switches (Günther 1981;
//!   Merlin and Schweitzer 1980). Their count is the link count on the longest shortest way between
//!   leaves: 2 in a Slim Fly or a `PolarFly`.
//! * *Layers of pairs* (LASH: Skeie, Lysne and Theiss, IPDPS 2002): all packets between a leaf pair
//!   stay in one class. Pair by pair, the ways are put into the first class that stays without a
//!   cycle. Here all shortest ways for a pair go together, where the paper has one way. If
//!   possible, the pairs are shared out among the classes: they are dealt once more, each to the
//!   class with the fewest pairs that stays without a cycle.
//!
//! The search for pair layers ends when it would need as many as there are link layers. A graph
//! whose pairs have more than [`MOST_STEPS`] dependencies in all is not searched, and has link
//! layers. The k shortest ways get their layers one by one (`alternatives.rs`).

use super::shortest::{FirstLinks, NextLink, farthest, leaves};
use foldhash::fast::FixedState;
use petgraph::Graph as Digraph;
use petgraph::acyclic::Acyclic;
use petgraph::algo::is_cyclic_directed;
use petgraph::csr::Csr;
use petgraph::graph::{EdgeIndex, NodeIndex};
use std::collections::HashSet;

/// Most dependencies of all pairs for which pair layers are searched.
pub(super) const MOST_STEPS: usize = 1 << 22;

/// How shortest ways are divided into channel classes; see the module essay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layers {
    /// One class for all.
    One,
    /// This many classes: one for each link between switches.
    Links(u32),
    /// The class count, and the classes: by source leaf, and then by destination leaf.
    Pairs(u32, Vec<u8>),
}

/// A link with a class, and a link with a class that packets on the first may wait for. Links are
/// numbered switch by switch.
pub(super) type Wait = ([u32; 2], [u32; 2]);

/// A graph without its nodes' ports.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    /// By switch: the other ends of its cables.
    pub neighbours: &'a [Vec<u32>],
    /// By position: switch and port.
    pub seats: &'a [(u32, u32)],
}

impl Layers {
    /// A graph's layers, where its longest shortest way has this many links between switches, and
    /// pair layers are searched for at most `steps` dependencies.
    pub(super) fn of(shape: Shape, longest: u32, steps: usize) -> Self {
        if longest < 2 || !shape.has_cycle() {
            return Layers::One;
        }
        let pairs = shape.leaves().len().pow(2);
        let found = if longest > 2 {
            lash(
                &|call| shape.each_pair(call),
                shape,
                pairs,
                (longest - 1, steps),
            )
        } else {
            None
        };
        let found = found.map(|(classes, of)| Layers::Pairs(classes, of));
        found.unwrap_or(Layers::Links(longest))
    }

    /// The class count.
    pub fn count(&self) -> u32 {
        match self {
            Layers::One => 1,
            Layers::Links(count) | Layers::Pairs(count, _) => *count,
        }
    }

    /// The class of a packet between two of `count` leaves, by their numbers, behind this many
    /// links between switches.
    #[inline]
    pub(super) fn class(&self, count: usize, from: u16, to: u16, links: u32) -> u32 {
        match self {
            Layers::One => 0,
            Layers::Links(count) => links.min(count - 1),
            Layers::Pairs(_, of) => of[usize::from(from) * count + usize::from(to)].into(),
        }
    }

    /// Holds and waits for packets on shortest ways between switches. With two `parts`, packets go
    /// on from a leaf by a second way, with separate classes. The waits between the two parts are
    /// left out: no wait leads back.
    pub(super) fn waits(&self, shape: Shape, parts: u32) -> Vec<Wait> {
        let count = self.count();
        let mut waits = match self {
            // The second way begins behind any number of links.
            Layers::Links(_) if parts == 2 => {
                return shape.waits_of_links(2 * count - 1, (2 << count) - 1, 1);
            }
            Layers::Links(_) | Layers::One => shape.waits_of_links(count - 1, 1, 1),
            Layers::Pairs(_, of) => shape.waits_of_pairs(of),
        };
        for part in 1..parts {
            let moved = |&(held, next): &Wait| {
                let [held, next] = [held, next].map(|[link, class]| [link, part * count + class]);
                (held, next)
            };
            waits.extend(waits.iter().map(moved).collect::<Vec<_>>());
        }
        waits
    }
}

impl Shape<'_> {
    fn leaves(&self) -> Vec<u32> {
        leaves(self.seats)
    }

    /// By switch: its first link's number; one entry more.
    pub fn first_links(&self) -> Vec<u32> {
        let mut links = 0;
        let mut first = vec![0];
        for all in self.neighbours {
            links += all.len() as u32;
            first.push(links);
        }
        first
    }

    /// Links on the longest shortest way between leaves.
    pub fn longest(&self) -> u32 {
        let leaves = self.leaves();
        let far = farthest(self.neighbours, &leaves);
        let far = leaves.iter().map(|&leaf| far[leaf as usize]);
        far.max().expect("there is a leaf")
    }

    /// Whether packets in one class may wait for each other in a circle. In most graphs those to a
    /// few leaves already do.
    fn has_cycle(&self) -> bool {
        [32, 1].into_iter().any(|apart| {
            let waits = self.waits_of_links(0, 1, apart).into_iter();
            let waits = waits.map(|([held, _], [next, _])| (held, next));
            let mut waits: Vec<(u32, u32)> = waits.collect();
            waits.dedup();
            let waits: Csr<(), ()> = Csr::from_sorted_edges(&waits).expect("they are sorted");
            is_cyclic_directed(&waits)
        })
    }

    /// The waits where the class is the link count between switches, at most `last`; the bits in
    /// `start` are the counts with which packets begin. Of all leaves, one in `apart` is a
    /// destination.
    fn waits_of_links(&self, last: u32, start: u64, apart: usize) -> Vec<Wait> {
        let (leaves, first) = (self.leaves(), self.first_links());
        // By link, and by the neighbour's number at its end: the links behind packets that wait
        // there, as bits.
        let mut begins = vec![0];
        for &end in self.neighbours.iter().flatten() {
            begins.push(begins[begins.len() - 1] + self.neighbours[end as usize].len());
        }
        let mut held = vec![0_u64; begins[begins.len() - 1]];
        let mut toward = FirstLinks::default();
        let mut reached = vec![0_u64; self.neighbours.len()];
        for &leaf in leaves.iter().step_by(apart) {
            toward.search(self.neighbours, leaf);
            reached.fill(0);
            for &source in &leaves {
                reached[source as usize] = start;
            }
            for &switch in toward.order.iter().skip(1).rev() {
                let here = reached[switch as usize];
                if here == 0 {
                    continue;
                }
                for step in toward.onward(switch) {
                    reached[step.next as usize] |= here << 1;
                    let link = first[switch as usize] as usize + usize::from(step.number);
                    for next in toward.onward(step.next) {
                        held[begins[link] + usize::from(next.number)] |= here;
                    }
                }
            }
        }
        let mut waits = Vec::new();
        let ends = self.neighbours.iter().flatten();
        for (link, &end) in (0..).zip(ends) {
            let row = &held[begins[link as usize]..begins[link as usize + 1]];
            for (next, &bits) in (first[end as usize]..).zip(row) {
                let links = (0..u64::BITS).filter(|&links| bits >> links & 1 == 1);
                waits.extend(links.map(|links| {
                    let [class, behind] = [links, links + 1].map(|links| links.min(last));
                    ([link, class], [next, behind])
                }));
            }
        }
        waits
    }

    /// The waits where each leaf pair has a class.
    fn waits_of_pairs(&self, of: &[u8]) -> Vec<Wait> {
        let mut waits = Vec::new();
        self.each_pair(|pair, edges| {
            let class = u32::from(of[pair]);
            waits.extend(
                edges
                    .iter()
                    .map(|&[held, next]| ([held, class], [next, class])),
            );
            true
        });
        waits.sort_unstable();
        waits.dedup();
        waits
    }

    /// Calls for each leaf pair, by its place in a table, with the links that its packets hold and
    /// wait for, as long as the call returns true.
    fn each_pair(&self, mut call: impl FnMut(usize, &[[u32; 2]]) -> bool) -> bool {
        let (leaves, first) = (self.leaves(), self.first_links());
        let mut toward = FirstLinks::default();
        let (mut edges, mut open) = (Vec::new(), Vec::new());
        let mut met = vec![u32::MAX; self.neighbours.len()];
        for (to, &leaf) in leaves.iter().enumerate() {
            toward.search(self.neighbours, leaf);
            met.fill(u32::MAX);
            for (from, &source) in leaves.iter().enumerate() {
                edges.clear();
                open.push(source);
                met[source as usize] = source;
                while let Some(switch) = open.pop() {
                    for step in toward.onward(switch) {
                        let held = first[switch as usize] + u32::from(step.number);
                        let behind = toward.onward(step.next).iter();
                        let next = |next: &NextLink| {
                            [held, first[step.next as usize] + u32::from(next.number)]
                        };
                        edges.extend(behind.map(next));
                        if std::mem::replace(&mut met[step.next as usize], source) != source {
                            open.push(step.next);
                        }
                    }
                }
                if !call(from * leaves.len() + to, &edges) {
                    return false;
                }
            }
        }
        true
    }
}

/// A layer's waits, without a cycle at any time.
struct Layer {
    waits: Acyclic<Digraph<(), ()>>,
    known: HashSet<[u32; 2], FixedState>,
    groups: usize,
}

impl Layer {
    fn new(links: u32) -> Self {
        let mut graph = Digraph::new();
        (0..links).for_each(|_| {
            graph.add_node(());
        });
        Layer {
            waits: Acyclic::try_from_graph(graph).expect("there is no edge"),
            known: HashSet::default(),
            groups: 0,
        }
    }

    /// Takes a group's waits, unless a cycle would come about: then the layer stays as it is.
    fn take(&mut self, edges: &[[u32; 2]]) -> bool {
        let mut added: Vec<(EdgeIndex, [u32; 2])> = Vec::new();
        for &edge in edges {
            if !self.known.insert(edge) {
                continue;
            }
            let [held, next] = edge.map(|link| NodeIndex::new(link as usize));
            if let Ok(index) = self.waits.try_add_edge(held, next, ()) {
                added.push((index, edge));
                continue;
            }
            self.known.remove(&edge);
            // The last edge first: then the others keep their numbers.
            for (index, edge) in added.into_iter().rev() {
                self.waits.remove_edge(index);
                self.known.remove(&edge);
            }
            return false;
        }
        self.groups += 1;
        true
    }
}

/// Calls a function for each group of ways, by its number, with the links that its packets hold and
/// wait for, as long as the function returns true; whether it always did.
pub(super) type Each<'a> = dyn Fn(&mut dyn FnMut(usize, &[[u32; 2]]) -> bool) -> bool + 'a;

/// At most `most` layers for `count` groups of ways, and each group's layer; `None` if more would
/// be needed, or the groups have more than `steps` dependencies in all.
pub(super) fn lash(
    each: &Each,
    shape: Shape,
    count: usize,
    (most, steps): (u32, usize),
) -> Option<(u32, Vec<u8>)> {
    // To count them takes a hundredth of the time in which they are dealt.
    let mut met = 0;
    let within = each(&mut |_, edges| {
        met += edges.len();
        met <= steps
    });
    if !within {
        return None;
    }
    let links: u32 = shape.neighbours.iter().map(|all| all.len() as u32).sum();
    let first = deal(each, [links, most], count, false)?;
    Some(deal(each, [links, first.0], count, true).unwrap_or(first))
}

/// The layers of the groups, dealt to the first layer that can take them, or to the one with the
/// fewest groups.
fn deal(
    each: &Each,
    [links, most]: [u32; 2],
    count: usize,
    evenly: bool,
) -> Option<(u32, Vec<u8>)> {
    let mut of = vec![0; count];
    let mut layers: Vec<Layer> = Vec::new();
    let done = each(&mut |group, edges| {
        if evenly && layers.is_empty() {
            layers = (0..most).map(|_| Layer::new(links)).collect();
        }
        let mut order: Vec<usize> = (0..layers.len()).collect();
        if evenly {
            order.sort_by_key(|&layer| layers[layer].groups);
        }
        let mut taken = order.into_iter().find(|&layer| layers[layer].take(edges));
        if taken.is_none() && (layers.len() as u32) < most {
            let mut layer = Layer::new(links);
            assert!(layer.take(edges), "the ways of a group have no cycle");
            layers.push(layer);
            taken = Some(layers.len() - 1);
        }
        of[group] = taken.unwrap_or(0) as u8;
        taken.is_some()
    });
    done.then_some((layers.len() as u32, of))
}
