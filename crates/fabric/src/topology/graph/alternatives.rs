//! # The k shortest ways
//!
//! In a random graph two switches have few shortest ways, often one, so that traffic between few
//! nodes loads few links. With [`Ways::KShortest`](crate::Ways::KShortest) packets between two
//! leaves take any of their `k` shortest ways, as Jellyfish does (Singla, Hong, Popa and Godfrey,
//! NSDI 2012, with k = 8): first all ways without detours, then the next longer ones. No way passes
//! a switch twice. Two ways over different cables between the same switches are two ways. A leaf
//! pair with fewer ways has them all.
//!
//! The search is Yen's (Management Science, 1971) in Lawler's form: the next way leaves an earlier
//! one at some switch, and goes on from there by a shortest way (A*, with the link counts in the
//! whole graph as bounds) over no earlier switch and by none of the links on which the known ways
//! leave there. Among equally long ways a hash decides, since the first ones in number order would
//! load the switches with low numbers (Alzaid, Bhowmik and Yuan, TPDS 2021).
//!
//! ## No deadlock
//!
//! Each way has one layer of channels on all its links, the first in which no waits form a circle
//! (LASH; `layers.rs`), and the ways are shared out among the layers if possible. If the layers of
//! the links on the longest way are as few, or the search is too long, a packet takes another layer
//! on each link.

use super::MOST_LINKS;
use super::check_length;
use super::layers::{MOST_STEPS, Shape, Wait, lash};
use super::shortest::{FirstLinks, leaves};
use crate::hash::mixed;
use crate::topology::error::TopologyError;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Most ways that a leaf pair may have.
pub const MOST_WAYS: u32 = 64;

/// Most ways in all, which take a few seconds to find.
const MOST_IN_ALL: u64 = 1 << 19;

/// The ways between all leaf pairs; see the module essay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternatives {
    leaves: u32,
    /// By source leaf, and then by destination leaf: the number of its first way; one entry more.
    pairs: Vec<u32>,
    /// By way: where its ports begin in `ports`; one entry more.
    ways: Vec<u32>,
    /// Way by way: the ports at its switches.
    ports: Vec<u16>,
    /// By way: its layer; empty if each link between switches has its own.
    layers: Vec<u8>,
    classes: u32,
}

impl Alternatives {
    /// The `most` shortest ways between all leaves of a connected graph; `terminals` are the node
    /// counts by switch.
    ///
    /// # Errors
    /// If there are no ways or too many in all, or if a leaf pair has only ways that are longer
    /// than packets' ways may be.
    pub(super) fn new(shape: Shape, terminals: &[u32], most: u32) -> Result<Self, TopologyError> {
        let leaves = leaves(shape.seats);
        check(most, leaves.len() as u64)?;
        let mut search = Search::new(shape.neighbours);
        // By destination leaf, and then by source leaf.
        let mut all: Vec<Vec<Vec<u16>>> = Vec::new();
        for &to in &leaves {
            search.toward.search(shape.neighbours, to);
            for &from in &leaves {
                if from == to {
                    all.push(Vec::new());
                    continue;
                }
                check_length(search.toward.distance[from as usize])?;
                all.push(search.ways(from, to, most as usize));
            }
        }
        let mut alternatives = Alternatives {
            leaves: leaves.len() as u32,
            pairs: vec![0],
            ways: vec![0],
            ports: Vec::new(),
            layers: Vec::new(),
            classes: 1,
        };
        for (number, &from) in leaves.iter().enumerate() {
            for to in 0..leaves.len() {
                for way in &all[to * leaves.len() + number] {
                    let mut at = from as usize;
                    for &step in way {
                        alternatives.ports.push(terminals[at] as u16 + step);
                        at = shape.neighbours[at][usize::from(step)] as usize;
                    }
                    alternatives.ways.push(alternatives.ports.len() as u32);
                }
                alternatives.pairs.push(alternatives.ways.len() as u32 - 1);
            }
        }
        alternatives.deal(shape, terminals);
        Ok(alternatives)
    }

    /// Deals the ways to layers.
    fn deal(&mut self, shape: Shape, terminals: &[u32]) {
        let lengths = self.ways.windows(2).map(|ends| ends[1] - ends[0]);
        let longest = lengths.max().unwrap_or(0);
        let links: Vec<Vec<u32>> = self.links(shape, terminals);
        let each = |call: &mut dyn FnMut(usize, &[[u32; 2]]) -> bool| {
            links.iter().enumerate().all(|(way, links)| {
                let waits: Vec<[u32; 2]> = links.windows(2).map(|two| [two[0], two[1]]).collect();
                call(way, &waits)
            })
        };
        let most = longest.saturating_sub(1).max(1);
        match lash(&each, shape, links.len(), (most, MOST_STEPS)) {
            Some((0 | 1, _)) => {}
            Some((count, of)) => (self.classes, self.layers) = (count, of),
            None => self.classes = longest,
        }
        if self.classes == 1 {
            self.layers = vec![0; links.len()];
        }
    }

    /// By way: its links between switches.
    fn links(&self, shape: Shape, terminals: &[u32]) -> Vec<Vec<u32>> {
        let (leaves, first) = (leaves(shape.seats), shape.first_links());
        let mut all = Vec::with_capacity(self.ways.len() - 1);
        for (pair, ends) in self.pairs.windows(2).enumerate() {
            for way in ends[0]..ends[1] {
                let mut at = leaves[pair / leaves.len()] as usize;
                let links = self.ports_of(way).iter().map(|&port| {
                    let step = u32::from(port) - terminals[at];
                    let link = first[at] + step;
                    at = shape.neighbours[at][step as usize] as usize;
                    link
                });
                all.push(links.collect());
            }
        }
        all
    }

    /// The layers of channels.
    pub fn classes(&self) -> u32 {
        self.classes
    }

    /// Holds and waits of packets between switches.
    pub(super) fn waits(&self, shape: Shape, terminals: &[u32]) -> Vec<Wait> {
        let mut waits = BTreeSet::new();
        for (way, links) in (0..).zip(self.links(shape, terminals)) {
            for (behind, two) in (0..).zip(links.windows(2)) {
                let [held, next] = [behind, behind + 1].map(|links| self.layer(way, links));
                waits.insert(([two[0], held], [two[1], next]));
            }
        }
        waits.into_iter().collect()
    }

    /// The number of ways between two leaves, by their numbers; 1 within a leaf.
    #[inline]
    pub fn count(&self, from: u16, to: u16) -> u32 {
        let [first, end] = self.range(from, to);
        (end - first).max(1)
    }

    /// The port at the switch behind this many links of a way, as a list.
    #[inline]
    pub(super) fn port(&self, from: u16, to: u16, way: u32, links: usize) -> &[u16] {
        let [first, _] = self.range(from, to);
        &self.ports_of(first + way)[links..=links]
    }

    /// The ports of a way at its switches.
    #[inline]
    pub fn ports(&self, from: u16, to: u16, way: u32) -> &[u16] {
        let [first, _] = self.range(from, to);
        self.ports_of(first + way)
    }

    /// The layer on a link of a way, behind this many links.
    #[inline]
    pub fn class(&self, from: u16, to: u16, way: u32, links: u32) -> u32 {
        let [first, _] = self.range(from, to);
        self.layer(first + way, links)
    }

    #[inline]
    fn layer(&self, way: u32, links: u32) -> u32 {
        match self.layers.get(way as usize) {
            Some(&layer) => layer.into(),
            None => links.min(self.classes - 1),
        }
    }

    #[inline]
    fn range(&self, from: u16, to: u16) -> [u32; 2] {
        let pair = usize::from(from) * self.leaves as usize + usize::from(to);
        [self.pairs[pair], self.pairs[pair + 1]]
    }

    #[inline]
    fn ports_of(&self, way: u32) -> &[u16] {
        let [first, end] = [way, way + 1].map(|way| self.ways[way as usize] as usize);
        &self.ports[first..end]
    }
}

/// Checks the number of ways of a leaf pair, and of all.
fn check(most: u32, leaves: u64) -> Result<(), TopologyError> {
    let wrong = |message, allowed| Err(TopologyError::new("ways", message, allowed));
    if !(1..=MOST_WAYS).contains(&most) {
        let message = format!("{most} ways between two switches are out of range");
        return wrong(message, format!("1 to {MOST_WAYS}"));
    }
    let pairs = leaves * (leaves - 1);
    if pairs * u64::from(most) <= MOST_IN_ALL {
        return Ok(());
    }
    let message = format!(
        "{most} ways each between {leaves} switches with nodes are {}; the most are {MOST_IN_ALL}",
        pairs * u64::from(most)
    );
    match MOST_IN_ALL / pairs {
        0 => wrong(message, String::new()).map_err(|error: TopologyError| {
            error.hint("set topology.routing to minimal, which needs no list of ways")
        }),
        fewer => wrong(message, format!("1 to {}", fewer.min(MOST_WAYS.into()))),
    }
}

/// A found way, and the links that it has in common with the way from which it was found.
type Candidate = (Vec<u16>, usize);

/// The searches to one leaf after another.
struct Search<'a> {
    neighbours: &'a [Vec<u32>],
    toward: FirstLinks,
    /// The number of the present search.
    number: u32,
    /// By switch: the last search that met it.
    met: Vec<u32>,
    /// By switch: the links to it in that search.
    links: Vec<u32>,
    /// By switch: the switch before it, and the link from there.
    before: Vec<(u32, u16)>,
    open: BinaryHeap<(Reverse<u32>, u32, u64, u32)>,
}

impl<'a> Search<'a> {
    fn new(neighbours: &'a [Vec<u32>]) -> Self {
        let switches = neighbours.len();
        Search {
            neighbours,
            toward: FirstLinks::default(),
            number: 0,
            met: vec![0; switches],
            links: vec![0; switches],
            before: vec![(0, 0); switches],
            open: BinaryHeap::new(),
        }
    }

    /// The `most` shortest ways to the leaf that `toward` has searched, as far as packets' ways may
    /// be so long.
    fn ways(&mut self, from: u32, to: u32, most: usize) -> Vec<Vec<u16>> {
        let pair = mixed(u64::from(from) << 32 | u64::from(to));
        let mut ways: Vec<Vec<u16>> = Vec::new();
        let mut next: BTreeSet<(usize, u64, Candidate)> = BTreeSet::new();
        let mut last: Option<Candidate> =
            self.shortest(from, to, &[], &[], pair).map(|way| (way, 0));
        while let Some((way, shared)) = last {
            if way.len() > MOST_LINKS as usize {
                break;
            }
            let mut switches = vec![from];
            for &step in &way {
                let at = switches[switches.len() - 1] as usize;
                switches.push(self.neighbours[at][usize::from(step)]);
            }
            ways.push(way.clone());
            if ways.len() == most {
                break;
            }
            for kept in shared..way.len() {
                let root = &way[..kept];
                let alike = ways.iter().filter(|other| other.starts_with(root));
                let barred: Vec<u16> = alike.filter_map(|other| other.get(kept).copied()).collect();
                let (closed, at) = (&switches[..kept], switches[kept]);
                let number = (ways.len() << 16 | kept) as u64;
                if let Some(rest) = self.shortest(at, to, closed, &barred, pair ^ mixed(number)) {
                    let found = [root, &rest].concat();
                    let draw = found
                        .iter()
                        .fold(pair, |draw, &step| mixed(draw ^ u64::from(step)));
                    next.insert((found.len(), draw, (found, kept)));
                }
            }
            last = next.pop_first().map(|(_, _, found)| found);
        }
        ways
    }

    /// A shortest way from a switch, over no closed switch, that begins by no barred link.
    fn shortest(
        &mut self,
        from: u32,
        to: u32,
        closed: &[u32],
        barred: &[u16],
        draw: u64,
    ) -> Option<Vec<u16>> {
        self.number += 1;
        for &switch in closed {
            (self.met[switch as usize], self.links[switch as usize]) = (self.number, 0);
        }
        (self.met[from as usize], self.links[from as usize]) = (self.number, 0);
        self.open.clear();
        self.open.push((Reverse(0), 0, 0, from));
        while let Some((_, links, _, at)) = self.open.pop() {
            if at == to {
                return Some(self.way(from, to));
            }
            if links > self.links[at as usize] {
                continue; // a shorter way there is known
            }
            for (step, &next) in (0..).zip(&self.neighbours[at as usize]) {
                let behind = next as usize;
                let known = self.met[behind] == self.number && self.links[behind] <= links + 1;
                if known || at == from && barred.contains(&step) {
                    continue;
                }
                self.met[behind] = self.number;
                self.links[behind] = links + 1;
                self.before[behind] = (at, step);
                let order = mixed(draw ^ (u64::from(at) << 32 | u64::from(step)));
                let bound = links + 1 + self.toward.distance[behind];
                self.open.push((Reverse(bound), links + 1, order, next));
            }
        }
        None
    }

    /// The links of the way that has been found.
    fn way(&self, from: u32, mut at: u32) -> Vec<u16> {
        let mut way = Vec::with_capacity(self.links[at as usize] as usize);
        while at != from {
            let (before, step) = self.before[at as usize];
            way.push(step);
            at = before;
        }
        way.reverse();
        way
    }
}
