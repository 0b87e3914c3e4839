//! # Shortest ways in a graph
//!
//! All shortest ways to a switch form a directed graph without cycles: each link leads to a switch
//! one link nearer. Breadth-first searches from the switches with nodes, the *leaves*, find these
//! links, leaf by leaf ([`FirstLinks`]). Tables hold them for all packets alike ([`Tables`]), and
//! [`Layers`](super::Layers) follow them for dependencies.

use super::Graph;
use super::tables::{Home, List, NO_LEAF, Pair, Row, SharedLists, Tables};
use std::collections::BTreeSet;

/// The links by which the shortest ways to one leaf begin, at each switch. Kept for reuse from leaf
/// to leaf.
#[derive(Debug, Default)]
pub(super) struct FirstLinks {
    /// The switches from the leaf to the farthest one.
    pub order: Vec<u32>,
    /// By switch: links to the leaf; `u32::MAX` if no way leads there.
    pub distance: Vec<u32>,
    /// By switch: where its steps begin in `steps`; one entry more.
    first: Vec<u32>,
    steps: Vec<NextLink>,
}

/// A link on a shortest way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextLink {
    /// The neighbour's number among the neighbours of its switch.
    pub number: u16,
    /// The neighbour.
    pub next: u32,
}

impl FirstLinks {
    /// Searches the shortest ways to a leaf.
    pub fn search(&mut self, neighbours: &[Vec<u32>], leaf: u32) {
        self.order.clear();
        self.distance.clear();
        self.distance.resize(neighbours.len(), u32::MAX);
        self.distance[leaf as usize] = 0;
        self.order.push(leaf);
        let mut read = 0;
        while let Some(&at) = self.order.get(read) {
            read += 1;
            let next = self.distance[at as usize] + 1;
            for &neighbour in &neighbours[at as usize] {
                let distance = &mut self.distance[neighbour as usize];
                if *distance == u32::MAX {
                    *distance = next;
                    self.order.push(neighbour);
                }
            }
        }
        self.first.clear();
        self.steps.clear();
        for (all, &own) in neighbours.iter().zip(&self.distance) {
            self.first.push(self.steps.len() as u32);
            let steps = (0..)
                .zip(all)
                .map(|(number, &next)| NextLink { number, next });
            let nearer = |step: &NextLink| self.distance[step.next as usize] < own;
            self.steps.extend(steps.filter(nearer));
        }
        self.first.push(self.steps.len() as u32);
    }

    /// The first links on the shortest ways from a switch, in port order; empty at the leaf.
    pub fn onward(&self, switch: u32) -> &[NextLink] {
        let [first, end] = [switch, switch + 1].map(|switch| self.first[switch as usize] as usize);
        &self.steps[first..end]
    }
}

/// The switches with nodes, in ascending order.
pub(super) fn leaves(seats: &[(u32, u32)]) -> Vec<u32> {
    let leaves: BTreeSet<u32> = seats.iter().map(|&(switch, _)| switch).collect();
    leaves.into_iter().collect()
}

/// By switch of a connected graph: its distance from the farthest one among some. Each switch has
/// the set of those within so many links, as bits: the union of its neighbours' sets of one link
/// less. Fewer steps than one search for each switch where ways have less than 64 links.
pub(super) fn farthest(neighbours: &[Vec<u32>], among: &[u32]) -> Vec<u32> {
    let words = among.len().div_ceil(64);
    let mut within = vec![0_u64; neighbours.len() * words];
    for (bit, &switch) in among.iter().enumerate() {
        within[switch as usize * words + bit / 64] |= 1 << (bit % 64);
    }
    let row = |switch: usize| switch * words..(switch + 1) * words;
    let mut further = within.clone();
    let mut far = vec![0; neighbours.len()];
    for links in 1.. {
        let mut grows = false;
        for (switch, all) in neighbours.iter().enumerate() {
            let own = &mut further[row(switch)];
            for &next in all {
                let others = &within[row(next as usize)];
                own.iter_mut()
                    .zip(others)
                    .for_each(|(own, other)| *own |= other);
            }
            if *own != within[row(switch)] {
                (far[switch], grows) = (links, true);
            }
        }
        if !grows {
            break;
        }
        within.copy_from_slice(&further);
    }
    far
}

/// By leaf, and then by leaf: the links between them.
pub(super) fn links(neighbours: &[Vec<u32>], leaves: &[u32]) -> Vec<u8> {
    let mut toward = FirstLinks::default();
    let row = |&leaf: &u32| {
        toward.search(neighbours, leaf);
        let links = leaves
            .iter()
            .map(|&other| toward.distance[other as usize] as u8);
        links.collect::<Vec<_>>()
    };
    leaves.iter().flat_map(row).collect()
}

/// The tables for all shortest ways.
pub(super) fn tables(graph: &Graph) -> Tables {
    let leaves = leaves(&graph.seats);
    let (mut lists, mut pairs, mut rows) = (
        SharedLists::default(),
        SharedLists::default(),
        SharedLists::default(),
    );
    let switches = graph.neighbours.len();
    let nodes = (0..switches as u32).map(|switch| graph.terminals(switch) as u16);
    let nodes: Vec<u16> = nodes.collect();
    let mut entries = vec![0; switches * leaves.len()];
    let (mut toward, mut ports) = (FirstLinks::default(), Vec::new());
    for (leaf, &home) in leaves.iter().enumerate() {
        toward.search(&graph.neighbours, home);
        for (switch, &nodes) in nodes.iter().enumerate() {
            ports.clear();
            let steps = toward.onward(switch as u32).iter();
            ports.extend(steps.map(|step| nodes + step.number));
            let (first, count) = lists.place(&ports);
            let pair = Pair::alike(List { first, count });
            entries[switch * leaves.len() + leaf] = pairs.place(&[pair]).0;
        }
    }
    let row = |(switch, row): (usize, &mut [u32])| {
        let own = leaves.binary_search(&(switch as u32)).ok();
        // The way to the switch itself is never read: with the entry beside, more rows are equal.
        if let Some(own) = own
            && let Some(&beside) = row.get(own.abs_diff(1))
        {
            row[own] = beside;
        }
        Row {
            first: rows.place(row).0,
            leaf: own.map_or(NO_LEAF, |own| own as u16),
        }
    };
    let begins = entries
        .chunks_mut(leaves.len())
        .enumerate()
        .map(row)
        .collect();
    let home = |&(switch, port): &(u32, u32)| Home {
        leaf: leaves.binary_search(&switch).expect("it has nodes") as u16,
        port: port as u16,
    };
    let homes = graph.seats.iter().map(home).collect();
    Tables::of(homes, leaves, begins, (rows, pairs, lists), 1)
}
