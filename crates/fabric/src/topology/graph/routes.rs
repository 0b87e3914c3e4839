//! # Forwarding tables from outside
//!
//! [`Routes`] list, for a switch and a destination, the neighbours to which packets may go on. A
//! destination is a node, or a switch with nodes, which stands for its nodes without their own
//! entry. Several cables to a neighbour all lead there.
//!
//! A graph takes such tables only if they are complete: from every switch with nodes all ways that
//! the entries allow lead to the destination, by cables that exist, and no way returns to a switch.
//! Entries that no packet meets are allowed.
//!
//! *Deadlock.* Such ways may wait for each other in a circle; [`find_cycle`](crate::find_cycle)
//! follows all of them. *Hop classes* end all circles: with `classes` channel classes a packet
//! takes class 0 on its first link between switches, class 1 on the second, and the last class on
//! all further ones. With as many classes as the longest way has such links no packet waits for a
//! class below its own (Günther 1981; Merlin and Schweitzer 1980).

use super::Graph;
use super::tables::{Home, List, NO_LEAF, Pair, Row, SharedLists, Tables};
use crate::id::{LinkId, SwitchId};
use crate::topology::error::TopologyError;
use crate::topology::routing::ChannelClass;
use crate::topology::torus::MAX_PATH;
use crate::topology::wiring::Wiring;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Most entries in a full table, one for each switch and destination.
const MAX_ENTRIES: u64 = 1 << 24;

/// Most links on a way between switches; the links of both nodes come on top.
const MAX_HOPS: usize = MAX_PATH - 2;

/// Forwarding tables; see the module essay. Switches and nodes are numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// The entries in any order, at most one for each switch and destination.
    pub entries: Vec<Entry>,
    /// Channel classes, at least 1.
    pub classes: u32,
    /// Node names, for messages; may be empty.
    pub nodes: Vec<String>,
}

/// Where packets to a destination go on from a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The switch.
    pub at: u32,
    /// The destination.
    pub to: Target,
    /// The neighbours, at least one.
    pub next: Vec<u32>,
}

/// A destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// All nodes at a switch without their own entry.
    Switch(u32),
    /// The node at a position.
    Node(u32),
}

impl Routes {
    /// The same tables, where each switch has another number.
    pub(super) fn renumbered(&self, number: impl Fn(u32) -> u32) -> Self {
        let renumbered = |entry: &Entry| Entry {
            at: number(entry.at),
            to: match entry.to {
                Target::Switch(switch) => Target::Switch(number(switch)),
                node @ Target::Node(_) => node,
            },
            next: entry.next.iter().map(|&next| number(next)).collect(),
        };
        Routes {
            entries: self.entries.iter().map(renumbered).collect(),
            ..self.clone()
        }
    }
}

/// Tables by destination, as a graph reads them: a *column* is a switch with nodes, or a node where
/// any entry names a node.
pub(super) struct Columns<'a> {
    graph: &'a Graph,
    routes: &'a Routes,
    /// By column: the switch.
    homes: Vec<u32>,
    by_node: bool,
    /// Column by column and switch by switch: the entry, or [`NO_ENTRY`].
    entries: Vec<u32>,
}

/// Greater than any entry number.
const NO_ENTRY: u32 = u32::MAX;

impl<'a> Columns<'a> {
    /// A graph's tables.
    ///
    /// # Errors
    /// If there are too many entries, or an entry does not fit the graph: the key is `routes.` and
    /// the entry's number.
    pub fn new(graph: &'a Graph, routes: &'a Routes) -> Result<Self, TopologyError> {
        let by_node = routes
            .entries
            .iter()
            .any(|entry| matches!(entry.to, Target::Node(_)));
        let mut homes: Vec<u32> = graph.seats.iter().map(|&(switch, _)| switch).collect();
        if !by_node {
            homes = homes
                .into_iter()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect();
        }
        let mut columns = Columns {
            graph,
            routes,
            homes,
            by_node,
            entries: Vec::new(),
        };
        let (destinations, switches) = (columns.homes.len(), graph.neighbours.len());
        let cells = destinations as u64 * switches as u64;
        if cells > MAX_ENTRIES || destinations >= NO_LEAF.into() {
            let message = format!(
                "tables of {switches} switches for {destinations} destinations are too large"
            );
            let allowed = format!("{MAX_ENTRIES} entries, for fewer than {NO_LEAF} destinations");
            let error = TopologyError::new("routes", message, allowed);
            return Err(error.hint("name switches as destinations"));
        }
        if routes.classes == 0 {
            return Err(TopologyError::new(
                "hop_classes",
                "there are no classes".into(),
                "1 or more",
            ));
        }
        columns.entries = vec![NO_ENTRY; cells as usize];
        columns.fill()?;
        Ok(columns)
    }

    /// Gives each cell its entry: node entries stand above those for their switches.
    fn fill(&mut self) -> Result<(), TopologyError> {
        let mut by_switch: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (column, &home) in self.homes.iter().enumerate() {
            by_switch.entry(home).or_default().push(column);
        }
        let mut seen = BTreeSet::new();
        let mut order: Vec<usize> = (0..self.routes.entries.len()).collect();
        order.sort_by_key(|&number| matches!(self.routes.entries[number].to, Target::Node(_)));
        for number in order {
            let entry = &self.routes.entries[number];
            let wrong = |message| Err(TopologyError::new(format!("routes.{number}"), message, ""));
            let (at, to) = (self.name(entry.at), self.target(entry.to));
            let columns = match entry.to {
                Target::Node(node) => vec![node as usize],
                Target::Switch(switch) => by_switch.get(&switch).cloned().unwrap_or_default(),
            };
            let Some(&first) = columns.first() else {
                return wrong(format!(
                    "{to} has no nodes, and so is no destination: remove the line"
                ));
            };
            if self.homes[first] == entry.at {
                return wrong(format!(
                    "{to} is at {at} itself, and packets leave there to their nodes: remove the \
                    line"
                ));
            }
            if !seen.insert((entry.at, entry.to)) {
                return wrong(format!(
                    "{at} has another entry for {to}: list all neighbours in one line"
                ));
            }
            let neighbours = &self.graph.neighbours[entry.at as usize];
            for &next in &entry.next {
                if neighbours.binary_search(&next).is_err() {
                    return wrong(format!(
                        "{at} has no cable to {}, the next switch for {to}: name one of its \
                        neighbours, {}",
                        self.name(next),
                        self.names(neighbours),
                    ));
                }
            }
            for column in columns {
                let cell = column * self.graph.neighbours.len() + entry.at as usize;
                self.entries[cell] = number as u32;
            }
        }
        Ok(())
    }

    /// Checks that all ways arrive.
    ///
    /// # Errors
    /// If a switch that a packet comes to has no entry, or a way returns to a switch, or is too
    /// long.
    pub fn check(&self) -> Result<(), TopologyError> {
        let sources: BTreeSet<u32> = self.homes.iter().copied().collect();
        let mut longest = vec![None; self.graph.neighbours.len()];
        for column in 0..self.homes.len() {
            longest.fill(None);
            for &source in &sources {
                self.walk(column, source, &mut Vec::new(), &mut longest)?;
            }
        }
        Ok(())
    }

    /// The links on the longest way from a switch, which packets have come to by a switch trail.
    fn walk(
        &self,
        column: usize,
        switch: u32,
        trail: &mut Vec<u32>,
        longest: &mut [Option<usize>],
    ) -> Result<usize, TopologyError> {
        let known = (switch == self.homes[column]).then_some(0);
        let known = known.or(longest[switch as usize]);
        let destination = || self.column(column);
        if trail.len() + known.unwrap_or(1) > MAX_HOPS {
            let message = format!(
                "a way from {} to {} has more than {MAX_HOPS} links between switches",
                self.name(trail[0]),
                destination(),
            );
            return Err(TopologyError::new("routes", message, ""));
        }
        if let Some(known) = known {
            return Ok(known);
        }
        let Some((number, entry)) = self.entry(column, switch) else {
            let (name, to) = (self.name(switch), destination());
            let from = match trail.first() {
                Some(&source) => format!(", and packets from {} come there", self.name(source)),
                None => String::new(),
            };
            let message = format!(
                "{name} has no entry for {to}{from}: add a line with {name}, {to} and the next \
                switches"
            );
            return Err(TopologyError::new("routes", message, ""));
        };
        if let Some(first) = trail.iter().position(|&before| before == switch) {
            let mut circle: Vec<String> = trail[first..].iter().map(|&at| self.name(at)).collect();
            circle.push(self.name(switch));
            let message = format!(
                "packets to {} return to {}, by {}: let one of these entries lead nearer",
                destination(),
                self.name(switch),
                circle.join(" -> "),
            );
            return Err(TopologyError::new(format!("routes.{number}"), message, ""));
        }
        trail.push(switch);
        let mut far = 0;
        for &next in &entry.next {
            far = far.max(1 + self.walk(column, next, trail, longest)?);
        }
        trail.pop();
        longest[switch as usize] = Some(far);
        Ok(far)
    }

    /// The entry of a switch for a column, with its number.
    fn entry(&self, column: usize, switch: u32) -> Option<(usize, &Entry)> {
        let number = self.entries[column * self.graph.neighbours.len() + switch as usize];
        let entry = self.routes.entries.get(number as usize)?;
        Some((number as usize, entry))
    }

    /// An entry's ports, in ascending order.
    fn ports(&self, entry: &Entry) -> Vec<u16> {
        let neighbours = &self.graph.neighbours[entry.at as usize];
        let ports = (self.graph.terminals(entry.at) as u16..).zip(neighbours);
        let ports = ports.filter(|(_, next)| entry.next.contains(next));
        ports.map(|(port, _)| port).collect()
    }

    /// The tables in the form that packets read.
    pub fn tables(&self) -> Tables {
        let (mut lists, mut pairs, mut rows) = (
            SharedLists::default(),
            SharedLists::default(),
            SharedLists::default(),
        );
        let mut pair = |ports: &[u16]| {
            let (first, count) = lists.place(ports);
            let list = List { first, count };
            pairs.place(&[Pair::alike(list)]).0
        };
        let of_entries: Vec<u32> = self
            .routes
            .entries
            .iter()
            .map(|entry| pair(&self.ports(entry)))
            .collect();
        let none = pair(&[]);
        let mut begins = Vec::new();
        for switch in 0..self.graph.neighbours.len() as u32 {
            let cell = |(column, &home): (usize, &u32)| match self.entry(column, switch) {
                Some((number, _)) => of_entries[number],
                // A one-node column: its port. All nodes at the switch have equal ways elsewhere.
                None if home == switch && self.by_node => {
                    pair(&[self.graph.seats[column].1 as u16])
                }
                None => none,
            };
            let row: Vec<u32> = self.homes.iter().enumerate().map(cell).collect();
            let own = self.homes.binary_search(&switch).ok();
            let own = own.filter(|_| !self.by_node);
            begins.push(Row {
                first: rows.place(&row).0,
                leaf: own.map_or(NO_LEAF, |own| own as u16),
            });
        }
        let home = |(position, &(switch, port)): (usize, &(u32, u32))| Home {
            leaf: if self.by_node {
                position as u16
            } else {
                self.homes.binary_search(&switch).expect("it has nodes") as u16
            },
            port: port as u16,
        };
        let homes = self.graph.seats.iter().enumerate().map(home).collect();
        let classes = self.routes.classes;
        Tables::of(
            homes,
            self.homes.clone(),
            begins,
            (rows, pairs, lists),
            classes,
        )
    }

    /// The possible holds and waits of packets: pairs of channels between switches.
    pub fn dependencies(&self) -> Vec<(ChannelClass, ChannelClass)> {
        let last = self.routes.classes - 1;
        let channel = |switch: u32, port: u16, hops: u32| ChannelClass {
            link: self.output(switch, port),
            class: hops.min(last),
        };
        let ports: Vec<Vec<u16>> = self
            .routes
            .entries
            .iter()
            .map(|entry| self.ports(entry))
            .collect();
        let sources: BTreeSet<u32> = self.homes.iter().copied().collect();
        let mut found = BTreeSet::new();
        for (column, &home) in self.homes.iter().enumerate() {
            let entry = |switch| {
                self.entry(column, switch)
                    .expect("the tables are complete")
                    .0
            };
            let mut states: BTreeSet<(u32, u32)> = BTreeSet::new();
            let mut open: Vec<(u32, u32)> = sources.iter().map(|&source| (source, 0)).collect();
            while let Some((switch, hops)) = open.pop() {
                if switch == home || !states.insert((switch, hops)) {
                    continue;
                }
                for &port in &ports[entry(switch)] {
                    let next = self.neighbour(switch, port);
                    let after = (hops + 1).min(last);
                    open.push((next, after));
                    if next != home {
                        let held = channel(switch, port, hops);
                        let behind = ports[entry(next)].iter();
                        found.extend(behind.map(|&port| (held, channel(next, port, hops + 1))));
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    fn output(&self, switch: u32, port: u16) -> LinkId {
        let cabling = self.graph.cabling();
        cabling.output(SwitchId::new(switch), port.into())
    }

    fn neighbour(&self, switch: u32, port: u16) -> u32 {
        let first = self.graph.terminals(switch);
        self.graph.neighbours[switch as usize][(u32::from(port) - first) as usize]
    }

    /// A switch's printed name.
    fn name(&self, switch: u32) -> String {
        self.graph.cabling().name_on_rail(SwitchId::new(switch))
    }

    /// The names of the first switches.
    fn names(&self, switches: &[u32]) -> String {
        const MOST: usize = 8;
        let mut all: Vec<u32> = switches.to_vec();
        all.dedup();
        let shown: Vec<String> = all.iter().take(MOST).map(|&at| self.name(at)).collect();
        let mut text = shown.join(", ");
        if all.len() > MOST {
            let _ = write!(text, " and {} more", all.len() - MOST);
        }
        text
    }

    /// A destination's printed name.
    fn target(&self, target: Target) -> String {
        match target {
            Target::Switch(switch) => self.name(switch),
            Target::Node(node) => match self.routes.nodes.get(node as usize) {
                Some(name) => format!("node {name}"),
                None => format!("node {node}"),
            },
        }
    }

    /// A column's printed name.
    fn column(&self, column: usize) -> String {
        self.target(if self.by_node {
            Target::Node(column as u32)
        } else {
            Target::Switch(self.homes[column])
        })
    }
}
