//! # A graph's forwarding tables
//!
//! A switch forwards by the input port and the destination, as Autonet's switches do (Schroeder et
//! al., 1991): a packet that has come down goes on down, any other one takes a shortest legal way.
//! All nodes at a switch have the same ways, so that destinations are switches with nodes, the
//! *leaves*. A switch's *row* has an entry for each leaf: the number of a port list pair, one for
//! packets that may still go up and one for those that have come down.
//!
//! Lists, pairs and rows are stored once each and shared between switches. In a fat tree all leaves
//! forward alike, as do all top switches, and the middle switches with the same leaves below: the
//! tables for 2,304 switches with 16,384 nodes have 66 rows of 4 KB. In a graph without any order
//! each switch has its own row.

use super::{Graph, MAX_SWITCHES};
use crate::prefetch::prefetch;
use foldhash::fast::FixedState;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, Hash};

/// Further than any way.
const FAR: u8 = u8::MAX;

/// A graph's tables; see the module essay.
#[derive(Debug)]
pub(super) struct Tables {
    /// By position on a rail.
    pub homes: Vec<Home>,
    /// By leaf: its switch.
    pub leaves: Vec<u32>,
    /// By switch.
    pub rows: Vec<Row>,
    /// Row by row and leaf by leaf: a pair's number.
    entries: Vec<u32>,
    pairs: Vec<Pair>,
    ports: Vec<u16>,
    /// The most ports in a list, at least 1.
    pub widest: u32,
    /// Channel classes, at least 1; see [`Routes`](super::Routes).
    pub classes: u32,
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Home {
    pub leaf: u16,
    /// The leaf's port.
    pub port: u16,
}

/// A switch's record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Where its row begins in `entries`.
    pub first: u32,
    /// Which leaf the switch is, or [`NO_LEAF`].
    pub leaf: u16,
}

/// More than any leaf number.
pub(super) const NO_LEAF: u16 = u16::MAX;
const _: () = assert!(MAX_SWITCHES < NO_LEAF as usize, "leaves have short numbers");

/// By which ports the shortest ways from a switch to a leaf begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    /// The legal ways: by links down if there are such ways, by links up else.
    legal: List,
    /// The ways that only go down; empty if there are no such ways.
    down: List,
}

/// A port list: a range in the ports of all lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct List {
    pub first: u32,
    pub count: u32,
}

impl Pair {
    /// One list for all packets.
    pub fn alike(list: List) -> Self {
        Pair {
            legal: list,
            down: list,
        }
    }
}

impl Tables {
    pub fn new(graph: &Graph) -> Self {
        let leaves: BTreeSet<u32> = graph.seats.iter().map(|&(switch, _)| switch).collect();
        let leaves: Vec<u32> = leaves.into_iter().collect();
        let home = |&(switch, port): &(u32, u32)| {
            let leaf = leaves.binary_search(&switch);
            Home {
                leaf: leaf.expect("it has nodes") as u16,
                port: port as u16,
            }
        };
        let homes = graph.seats.iter().map(home).collect();
        let distances = Distances::new(&graph.neighbours, &leaves);
        let (mut lists, mut pairs, mut rows) = (
            SharedLists::default(),
            SharedLists::default(),
            SharedLists::default(),
        );
        // By leaf: the ports for ways that begin with a link down, and with a link up.
        let mut falls: Vec<Vec<u16>> = vec![Vec::new(); leaves.len()];
        let mut climbs = falls.clone();
        let row_of = |switch: u32| {
            falls.iter_mut().chain(&mut climbs).for_each(Vec::clear);
            let (down, legal) = distances.of(switch);
            let neighbours = &graph.neighbours[switch as usize];
            for (port, &next) in (graph.terminals(switch) as u16..).zip(neighbours) {
                let (down_there, legal_there) = distances.of(next);
                for leaf in 0..leaves.len() {
                    if next < switch {
                        if leads(down[leaf], down_there[leaf]) {
                            falls[leaf].push(port);
                        }
                    } else if legal[leaf] < down[leaf] && leads(legal[leaf], legal_there[leaf]) {
                        climbs[leaf].push(port);
                    }
                }
            }
            let mut list = |ports: &[u16]| {
                let (first, count) = lists.place(ports);
                List { first, count }
            };
            let mut row = Vec::with_capacity(leaves.len());
            for (falls, climbs) in falls.iter().zip(&climbs) {
                let down = list(falls);
                let legal = if climbs.is_empty() {
                    down
                } else {
                    list(climbs)
                };
                row.push(pairs.place(&[Pair { legal, down }]).0);
            }
            // The way to the switch itself is never read: with the neighbouring entry in its place,
            // more rows are equal.
            let own = leaves.binary_search(&switch);
            if let Ok(own) = own
                && let Some(&beside) = row.get(own.abs_diff(1))
            {
                row[own] = beside;
            }
            Row {
                first: rows.place(&row).0,
                leaf: own.map_or(NO_LEAF, |own| own as u16),
            }
        };
        let begins = (0..graph.neighbours.len() as u32).map(row_of).collect();
        Tables::of(homes, leaves, begins, (rows, pairs, lists), 1)
    }

    /// Tables from rows, pairs and lists that are stored once each, and channel classes.
    pub fn of(
        homes: Vec<Home>,
        leaves: Vec<u32>,
        rows: Vec<Row>,
        (entries, pairs, lists): (SharedLists<u32>, SharedLists<Pair>, SharedLists<u16>),
        classes: u32,
    ) -> Self {
        let pairs: Vec<Pair> = pairs.all;
        let lengths = pairs
            .iter()
            .map(|pair| pair.legal.count.max(pair.down.count));
        Tables {
            homes,
            leaves,
            rows,
            entries: entries.all,
            widest: lengths.max().unwrap_or(0).max(1),
            pairs,
            ports: lists.all,
            classes,
        }
    }

    /// The port list by which packets to a leaf leave a switch, another one: those that may still
    /// go up, or those that have come down.
    #[inline]
    pub fn list(&self, row: Row, leaf: u16, may_climb: bool) -> List {
        let entry = row.first + u32::from(leaf);
        let pair = self.pairs[self.entries[entry as usize] as usize];
        if may_climb { pair.legal } else { pair.down }
    }

    /// Prefetches a row's entry for a leaf.
    #[inline]
    pub fn fetch(&self, row: Row, leaf: u16) {
        let entry = row.first + u32::from(leaf);
        prefetch(self.entries.get(entry as usize));
    }

    /// A list's ports, in ascending order.
    #[inline]
    pub fn ports(&self, list: List) -> &[u16] {
        &self.ports[list.first as usize..(list.first + list.count) as usize]
    }
}

/// Lists that are kept once each, one behind the other.
#[derive(Default)]
pub(super) struct SharedLists<T> {
    all: Vec<T>,
    /// By a list's hash: where such lists begin. The lists themselves are in `all` only, as rows
    /// have a number for each switch.
    places: HashMap<u64, Vec<u32>, FixedState>,
    /// The list that was met last, since it mostly comes again: where it begins, and its length.
    last: (u32, u32),
}

impl<T: Copy + Eq + Hash> SharedLists<T> {
    /// Where a list begins, and its length.
    pub fn place(&mut self, list: &[T]) -> (u32, u32) {
        let (first, count) = self.last;
        if self.all[first as usize..(first + count) as usize] == *list {
            return self.last;
        }
        let places = self.places.entry(FixedState::default().hash_one(list));
        let places = places.or_default();
        let all = &mut self.all;
        let known = places
            .iter()
            .find(|&&first| all[first as usize..].starts_with(list));
        let first = known.copied().unwrap_or_else(|| {
            let first = all.len() as u32;
            all.extend(list);
            places.push(first);
            first
        });
        self.last = (first, list.len() as u32);
        self.last
    }
}

/// The links on the shortest ways from all switches to all leaves.
struct Distances {
    leaves: usize,
    /// By switch, and then by leaf: on the ways that only go down.
    down: Vec<u8>,
    /// On all legal ways.
    legal: Vec<u8>,
}

impl Distances {
    fn new(neighbours: &[Vec<u32>], leaves: &[u32]) -> Self {
        let count = leaves.len();
        let mut down = vec![FAR; neighbours.len() * count];
        for (leaf, &switch) in leaves.iter().enumerate() {
            down[switch as usize * count + leaf] = 0;
        }
        let row = |switch: usize| switch * count..(switch + 1) * count;
        // A way by a neighbour is a link longer than the neighbour's own.
        let by = |links: &mut [u8], of_neighbour: &[u8]| {
            for (links, &further) in links.iter_mut().zip(of_neighbour) {
                *links = further.saturating_add(1).min(*links);
            }
        };
        for (switch, all) in neighbours.iter().enumerate() {
            let (lower, rest) = down.split_at_mut(row(switch).start);
            for &next in all.iter().filter(|&&next| next < switch as u32) {
                by(&mut rest[..count], &lower[row(next as usize)]);
            }
        }
        let mut legal = down.clone();
        for (switch, all) in neighbours.iter().enumerate().rev() {
            let (rest, higher) = legal.split_at_mut(row(switch).end);
            for &next in all.iter().filter(|&&next| next > switch as u32) {
                let next = next as usize - switch - 1;
                by(&mut rest[row(switch)], &higher[row(next)]);
            }
        }
        Distances {
            leaves: count,
            down,
            legal,
        }
    }

    /// The links from a switch to each leaf: on the ways that only go down, and on all legal ways.
    fn of(&self, switch: u32) -> (&[u8], &[u8]) {
        let row = switch as usize * self.leaves..(switch as usize + 1) * self.leaves;
        (&self.down[row.clone()], &self.legal[row])
    }
}

/// Whether a shortest way with `links` links, if there is one, begins with the link to a neighbour
/// with a way of `further` links.
fn leads(links: u8, further: u8) -> bool {
    links != FAR && links == further.saturating_add(1)
}
