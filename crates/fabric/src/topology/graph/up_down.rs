//! # Up*/down* routing: the shortest legal ways of a graph, by tables
//!
//! Packets take a shortest legal way, up and then down. The tables have, for each switch and each switch with nodes, the number
//! of links of the shortest legal way, the links by which such ways begin, and the links by which the shortest ways begin that only
//! go down. A packet takes the latter as soon as they are as long as what is left of its way; so the number of links that it has
//! left tells a switch which of the two holds, and a packet that has gone down never goes up.
//!
//! ## Which of several links
//!
//! A hash of the destination and the switch chooses, plus the *plan* of the packet: a number that is 0 for fixed ways. As in a
//! tree, [`Ascent`] says what is fixed. *Adaptive*: the plan is drawn for each packet, and its first switch changes it so that the
//! first link is the one with the lowest load, of equals the drawn one. (The engine compares loads at each switch only among links
//! that all packets of a group may take alike, which legal ways are not; beyond the first switch the draw spreads packets.)
//! *Source-fixed*: a hash of source and switch. *Flow hash*: a hash of source, destination and switch. *Deterministic* and
//! *destination-modulo*: the plan is 0.
//!
//! *Faults.* A packet whose way is dead takes the next plan whose way lives, if there is one, with fixed ways, too. Plans differ
//! by the links of the same shortest ways, so that no detour is longer; levels and tables stay those of the whole graph.
//!
//! *No deadlock.* All ways are legal; [`Routing::dependencies`] lists what a packet may hold and wait for, from the tables.

use super::Graph;
use crate::hash::mixed;
use crate::id::{ChannelId, LinkId, Place, SwitchId};
use crate::mechanism::Ascent;
use crate::topology::destination::Destination;
use crate::topology::routing::{DeadLinks, Header, Routing, Step};
use crate::topology::torus::MAX_PATH;
use crate::topology::wiring::Wiring;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Further than any way.
const FAR: u8 = u8::MAX;

/// The ways from a switch to a switch with nodes.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Links of the shortest legal way.
    links: u8,
    /// By which ports of its switch such ways begin: by links down if there are such ways, by links up else.
    legal: Choice,
    /// By which ports the shortest ways begin that only go down.
    down: Choice,
}

/// One of the lists of ports of a switch, by its number there.
type Choice = u16;

/// The tables of a graph.
#[derive(Debug)]
struct Tables {
    /// By position of a rail: which switch with nodes it is at, counted among these.
    leaf: Vec<u32>,
    /// By switch with nodes, and then by switch.
    cells: Vec<Cell>,
    /// By switch: its first list.
    first: Vec<u32>,
    /// By list: where its ports begin in `ports`; one entry more.
    begin: Vec<u32>,
    ports: Vec<u16>,
    /// The most ports of a list, at least 1: so many plans there are.
    widest: u32,
}

/// The routing of a graph; see the essay of the module. Cheap to clone.
#[derive(Clone, Debug)]
pub struct UpDown {
    graph: Graph,
    ascent: Ascent,
    tables: Arc<Tables>,
}

impl UpDown {
    /// The routing of a graph by a rule for the choice among links.
    pub fn new(graph: &Graph, ascent: Ascent) -> Self {
        UpDown {
            graph: graph.clone(),
            ascent,
            tables: Arc::new(Tables::new(graph)),
        }
    }

    /// Links of the way between two places of a rail, the links of both nodes included.
    pub fn distance(&self, a: Place, b: Place) -> u32 {
        let positions = self.graph.cabling.positions();
        let from = self.graph.seats[(a.get() % positions) as usize].0;
        let leaf = self.tables.leaf[(b.get() % positions) as usize];
        2 + u32::from(self.cell(leaf, from).links)
    }

    fn cell(&self, leaf: u32, switch: u32) -> &Cell {
        &self.tables.cells[leaf as usize * self.graph.neighbours.len() + switch as usize]
    }

    /// The ports by which a header may leave a switch, if it is not at the switch of its destination.
    #[inline]
    fn choices(&self, header: &Header) -> Option<&[u16]> {
        let (positions, switches) = (
            self.graph.cabling.positions(),
            self.graph.neighbours.len() as u32,
        );
        let switch = header.at.get() % switches;
        let to = header.destination.get() % positions;
        if self.graph.seats[to as usize].0 == switch {
            return None;
        }
        let leaf = self.tables.leaf[to as usize];
        let from = self.graph.seats[(header.source.get() % positions) as usize].0;
        let left = u32::from(self.cell(leaf, from).links) - header.hops as u32;
        let cell = self.cell(leaf, switch);
        let choice = if left == u32::from(cell.links) {
            cell.legal
        } else {
            cell.down
        };
        Some(self.tables.list(switch, choice))
    }

    /// Where in a list of ports the packets of a plan begin to count.
    #[inline]
    fn start(&self, header: &Header, plan: u32) -> u64 {
        let (source, destination) = match self.ascent {
            Ascent::Adaptive | Ascent::Deterministic | Ascent::DestinationModulo => {
                (0, header.destination.get())
            }
            Ascent::SourceFixed => (header.source.get(), 0),
            Ascent::FlowHash => (header.source.get(), header.destination.get()),
        };
        let ends = u64::from(source) << 32 | u64::from(destination);
        let switch = u64::from(header.at.get()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // Plans count up to the ports of a switch: the sum does not overflow.
        (mixed(ends ^ switch) >> 1) + u64::from(plan)
    }

    fn port(&self, header: &Header, choices: &[u16], plan: u32) -> u32 {
        if let [port] = *choices {
            return port.into(); // no division
        }
        let number = self.start(header, plan) % choices.len() as u64;
        choices[number as usize].into()
    }
}

impl Tables {
    fn new(graph: &Graph) -> Self {
        let (neighbours, seats) = (&graph.neighbours, &graph.seats);
        let switches = neighbours.len();
        let leaves: BTreeSet<u32> = seats.iter().map(|&(switch, _)| switch).collect();
        let leaves: Vec<u32> = leaves.into_iter().collect();
        let leaf = |&(switch, _): &(u32, u32)| {
            let leaf = leaves.binary_search(&switch);
            leaf.expect("it has nodes") as u32
        };
        let mut lists: Vec<Lists> = (0..switches).map(|_| Lists::default()).collect();
        let none = Cell {
            links: FAR,
            legal: 0,
            down: 0,
        };
        let mut cells = vec![none; leaves.len() * switches];
        let terminals: Vec<u32> = (0..switches as u32)
            .map(|switch| graph.terminals(switch))
            .collect();
        let mut down = vec![FAR; switches];
        let mut ports = Vec::new();
        for (row, &to) in cells.chunks_exact_mut(switches).zip(&leaves) {
            down.fill(FAR);
            down[to as usize] = 0;
            for switch in to as usize + 1..switches {
                let below = neighbours[switch]
                    .iter()
                    .take_while(|&&next| next < switch as u32);
                let nearest = below.map(|&next| down[next as usize]).min();
                down[switch] = nearest.map_or(FAR, |links| links.saturating_add(1));
            }
            for switch in (0..switches).rev() {
                let all = &neighbours[switch];
                let split = all.partition_point(|&next| next < switch as u32);
                let above = all[split..]
                    .iter()
                    .map(|&next| row[next as usize].links)
                    .min();
                let up = above.map_or(FAR, |links| links.saturating_add(1));
                let links = down[switch].min(up);
                row[switch].links = links;
                let mut choose = |range: std::ops::Range<usize>, serves: &dyn Fn(u32) -> bool| {
                    ports.clear();
                    let serving = range.filter(|&number| serves(all[number]));
                    ports.extend(serving.map(|number| terminals[switch] as u16 + number as u16));
                    lists[switch].number(&ports)
                };
                if links == FAR || links == 0 {
                    continue;
                }
                let falls = (down[switch] < FAR).then(|| {
                    let left = down[switch] - 1;
                    choose(0..split, &|next| down[next as usize] == left)
                });
                let climbs = (links < down[switch]).then(|| {
                    choose(split..all.len(), &|next| {
                        row[next as usize].links == links - 1
                    })
                });
                let either = climbs.or(falls).expect("a way begins");
                row[switch].legal = either;
                row[switch].down = falls.unwrap_or(either);
            }
        }
        let mut tables = Tables {
            leaf: seats.iter().map(leaf).collect(),
            cells,
            first: Vec::new(),
            begin: vec![0],
            ports: Vec::new(),
            widest: 1,
        };
        for of_switch in lists {
            tables.first.push(tables.begin.len() as u32 - 1);
            for ports in of_switch.lists {
                tables.widest = tables.widest.max(ports.len() as u32);
                tables.ports.extend(ports);
                tables.begin.push(tables.ports.len() as u32);
            }
        }
        tables
    }

    /// A list of ports of a switch.
    #[inline]
    fn list(&self, switch: u32, choice: Choice) -> &[u16] {
        let number = self.first[switch as usize] as usize + usize::from(choice);
        &self.ports[self.begin[number] as usize..self.begin[number + 1] as usize]
    }
}

/// The different lists of ports of a switch, while tables are made.
#[derive(Default)]
struct Lists {
    lists: Vec<Vec<u16>>,
    numbers: HashMap<Vec<u16>, Choice>,
}

impl Lists {
    fn number(&mut self, ports: &[u16]) -> Choice {
        if let Some(&number) = self.numbers.get(ports) {
            return number;
        }
        // At most two for each switch with nodes.
        let number = self.lists.len() as Choice;
        self.lists.push(ports.to_vec());
        self.numbers.insert(ports.to_vec(), number);
        number
    }
}

impl Routing for UpDown {
    type Path = [ChannelId; MAX_PATH];

    const CHOOSES: bool = true;

    fn wiring(&self) -> &dyn Wiring {
        &*self.graph.cabling
    }

    /// No smaller graph has all dependencies of a graph.
    fn model(&self) -> Self {
        self.clone()
    }

    fn dependencies(&self) -> Option<Vec<(LinkId, LinkId)>> {
        let cabling = &*self.graph.cabling;
        let switches = self.graph.neighbours.len() as u32;
        let mut seen: BTreeSet<(LinkId, Choice)> = BTreeSet::new();
        let mut edges = Vec::new();
        // By link: the list behind it that was met last, as neighbouring destinations mostly share it.
        let mut last: Vec<Option<Choice>> = vec![None; cabling.links() as usize];
        for row in self.tables.cells.chunks_exact(switches as usize) {
            for switch in 0..switches {
                let cell = row[switch as usize];
                if cell.links == FAR || cell.links == 0 {
                    continue;
                }
                let first = self.graph.terminals(switch);
                let neighbours = &self.graph.neighbours[switch as usize];
                let both = [cell.legal, cell.down];
                let different = if cell.legal == cell.down {
                    &both[..1]
                } else {
                    &both
                };
                let ports = different
                    .iter()
                    .flat_map(|&choice| self.tables.list(switch, choice));
                for &port in ports {
                    let next = neighbours[(u32::from(port) - first) as usize];
                    let there = row[next as usize];
                    if there.links == 0 {
                        continue;
                    }
                    let behind = if next < switch {
                        there.down
                    } else {
                        there.legal
                    };
                    let link = cabling.output(SwitchId::new(switch), port.into());
                    let last = &mut last[usize::from(link)];
                    if *last == Some(behind) || !seen.insert((link, behind)) {
                        continue;
                    }
                    *last = Some(behind);
                    let after = self.tables.list(next, behind).iter();
                    edges.extend(
                        after.map(|&port| (link, cabling.output(SwitchId::new(next), port.into()))),
                    );
                }
            }
        }
        Some(edges)
    }

    fn begins_group(&self, _switch: SwitchId, _port: u32) -> bool {
        true
    }

    fn plan(&self, _source: Place, _destination: Destination, draw: u64) -> u32 {
        if self.ascent == Ascent::Adaptive {
            (draw % u64::from(self.tables.widest)) as u32
        } else {
            0
        }
    }

    fn plans(&self, _source: Place, _node: Place) -> Vec<u32> {
        if self.ascent == Ascent::Adaptive {
            (0..self.tables.widest).collect()
        } else {
            vec![0]
        }
    }

    fn settle(&self, header: &Header, load: impl Fn(u32) -> u32) -> u32 {
        let choices = match self.choices(header) {
            Some(choices) if self.ascent == Ascent::Adaptive && choices.len() > 1 => choices,
            _ => return header.plan,
        };
        let (count, plan) = (choices.len() as u32, header.plan);
        // So many plans in a row begin with all the links; behind the last plan they go on with those that begin alike.
        let others = (0..count).map(|more| {
            if plan + more < self.tables.widest {
                plan + more
            } else {
                plan + more - count
            }
        });
        let of_least = others.min_by_key(|&plan| load(self.port(header, choices, plan)));
        of_least.expect("there is a choice")
    }

    #[inline]
    fn step(&self, header: &Header) -> Step {
        let group = if let Some(choices) = self.choices(header) {
            self.port(header, choices, header.plan)
        } else {
            let to = header.destination.get() % self.graph.cabling.positions();
            self.graph.seats[to as usize].1
        };
        Step { group, class: None }
    }

    fn detours(&self) -> RangeInclusive<u32> {
        1..=self.tables.widest - 1
    }

    fn may_cross(&self, source: Place, node: Place, link: LinkId) -> bool {
        let mut plans = 0..self.tables.widest;
        plans.any(|plan| self.path_of(source, node, plan).contains(&link))
    }

    /// To find out would take as long as to find a way.
    fn may_cross_any(&self, _source: Place, _node: Place, dead: &DeadLinks) -> bool {
        !dead.is_empty()
    }

    fn plan_around(
        &self,
        source: Place,
        node: Place,
        usual: u32,
        dead: &dyn Fn(LinkId) -> bool,
    ) -> Option<u32> {
        let wiring = self.wiring();
        if dead(wiring.injection(source)) || dead(wiring.ejection(node)) {
            return None;
        }
        let plans = self.tables.widest;
        let mut others = (0..plans).map(|more| (usual + more) % plans);
        others.find(|&plan| !self.path_of(source, node, plan).into_iter().any(dead))
    }
}
