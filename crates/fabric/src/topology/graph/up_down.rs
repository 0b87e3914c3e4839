//! # Up*/down* routing: the shortest legal ways of a graph, by tables
//!
//! Packets take a shortest legal way, up and then down; where ways up and ways down are equally short, they go down. The tables
//! (`tables.rs`) have, for each switch and each switch with nodes, the links by which the shortest legal ways begin, and the links
//! by which the shortest ways begin that only go down. The link over which a packet has come tells which of the two holds: what has
//! gone down never goes up.
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
use super::tables::{Home, List, Row, Tables};
use crate::hash::mixed;
use crate::id::{ChannelId, LinkId, Place, SwitchId};
use crate::mechanism::Ascent;
use crate::topology::coordinates::within;
use crate::topology::destination::Destination;
use crate::topology::routing::{ChannelClass, Compiled, DeadLinks, Header, Routing, Step};
use crate::topology::torus::MAX_PATH;
use crate::topology::wiring::Wiring;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The routing of a graph; see the essay of the module. Cheap to clone.
#[derive(Clone, Debug)]
pub struct UpDown {
    graph: Graph,
    ascent: Ascent,
    tables: Arc<Tables>,
}

/// How a header may leave a switch.
enum Choices<'a> {
    /// By one of these ports, towards the switch of its destination.
    Onward(&'a [u16]),
    /// By the port of its destination.
    Home(u16),
}

impl UpDown {
    /// The routing of a graph by a rule for the choice among links.
    pub fn new(graph: &Graph, ascent: Ascent) -> Self {
        let tables = match graph.routes() {
            Some(routes) => graph.columns(routes).tables(),
            None => Tables::new(graph),
        };
        UpDown {
            graph: graph.clone(),
            ascent,
            tables: Arc::new(tables),
        }
    }

    /// How a header may leave a switch.
    #[inline]
    fn choices(&self, header: &Header) -> Choices<'_> {
        let row = self.row(header.at);
        let Home { leaf, port } = self.home(header.destination);
        if leaf == row.leaf {
            return Choices::Home(port);
        }
        let may_climb = self.graph.cabling.is_up(header.input);
        Choices::Onward(self.tables.ports(self.tables.list(row, leaf, may_climb)))
    }

    /// The row of a switch.
    #[inline]
    fn row(&self, switch: SwitchId) -> Row {
        self.tables.rows[within(switch.get(), self.tables.rows.len())]
    }

    /// Where a destination is.
    #[inline]
    fn home(&self, destination: Place) -> Home {
        self.tables.homes[within(destination.get(), self.tables.homes.len())]
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

    /// The class of the channel that a header takes, where there are several: by the switches that it has left behind.
    #[inline]
    fn class(&self, header: &Header) -> Option<u32> {
        let tables = &self.tables;
        if tables.classes == 1 {
            return None;
        }
        let home = tables.leaves[self.home(header.destination).leaf as usize];
        let here = header.at.get() % tables.rows.len() as u32;
        (here != home).then(|| (header.hops as u32).min(tables.classes - 1))
    }

    fn port(&self, header: &Header, choices: &[u16], plan: u32) -> u32 {
        if let [port] = *choices {
            return port.into(); // no division
        }
        choices[self.first(header, plan, choices.len())].into()
    }

    /// Which of some links the packets of a plan take.
    #[inline]
    fn first(&self, header: &Header, plan: u32, count: usize) -> usize {
        let (start, count) = (self.start(header, plan), count as u64);
        let first = if count.is_power_of_two() {
            start & (count - 1) // nearly all networks: no division
        } else {
            start % count
        };
        first as usize
    }
}

impl Compiled for UpDown {
    type Path = [ChannelId; MAX_PATH];

    const CHOOSES: bool = true;

    const LISTS: bool = true;
}

impl Routing for UpDown {
    fn wiring(&self) -> &(dyn Wiring + 'static) {
        &*self.graph.cabling
    }

    fn dependencies(&self) -> Option<Vec<(ChannelClass, ChannelClass)>> {
        if let Some(routes) = self.graph.routes() {
            return Some(self.graph.columns(routes).dependencies());
        }
        let (cabling, tables) = (&*self.graph.cabling, &*self.tables);
        let rows = &tables.rows;
        let mut edges = Vec::new();
        for (switch, neighbours) in (0..).zip(&*self.graph.neighbours) {
            let first = self.graph.terminals(switch);
            // By number of a neighbour: the lists that packets meet there. Leaves beside each other mostly share it.
            let mut behind: BTreeSet<(u32, List)> = BTreeSet::new();
            let mut last: Vec<Option<List>> = vec![None; neighbours.len()];
            for (leaf, &home) in (0..).zip(&tables.leaves) {
                let lists = [true, false]
                    .map(|may_climb| tables.list(rows[switch as usize], leaf, may_climb));
                let ports = lists.into_iter().flat_map(|list| tables.ports(list));
                for number in ports.map(|&port| u32::from(port) - first) {
                    let next = neighbours[number as usize];
                    if home == switch || home == next {
                        continue;
                    }
                    let met = Some(tables.list(rows[next as usize], leaf, next > switch));
                    if std::mem::replace(&mut last[number as usize], met) != met {
                        behind.extend(met.map(|list| (number, list)));
                    }
                }
            }
            for number in 0..neighbours.len() as u32 {
                let link = cabling.output(SwitchId::new(switch), first + number);
                let next = SwitchId::new(neighbours[number as usize]);
                let lists = behind.range((number, List::default())..(number + 1, List::default()));
                let ports = lists.flat_map(|&(_, list)| tables.ports(list));
                let ports: BTreeSet<u16> = ports.copied().collect();
                let only = |link| ChannelClass { link, class: 0 };
                edges.extend(
                    ports
                        .iter()
                        .map(|&port| (only(link), only(cabling.output(next, port.into())))),
                );
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

    fn settles(&self) -> bool {
        self.ascent == Ascent::Adaptive
    }

    fn settle(&self, header: &Header, load: &mut dyn FnMut(u32) -> u32) -> u32 {
        let choices = match self.choices(header) {
            Choices::Onward(choices) if choices.len() > 1 => choices,
            _ => return header.plan,
        };
        // So many plans in a row begin with all the links, in their order; behind the last plan they go on with those that begin
        // alike.
        let (count, plan) = (choices.len(), header.plan);
        let first = self.first(header, plan, count);
        let (before, from) = choices.split_at(first);
        let mut least = (u32::MAX, 0);
        for (more, &port) in (0..).zip(from.iter().chain(before)) {
            let load = load(port.into());
            if load < least.0 {
                least = (load, more);
            }
            if load == 0 {
                break; // of equals the first one
            }
        }
        if plan + least.1 < self.tables.widest {
            plan + least.1
        } else {
            plan + least.1 - count as u32
        }
    }

    #[inline]
    fn fetch(&self, switch: SwitchId, destination: Place) {
        let leaf = self.home(destination).leaf;
        self.tables.fetch(self.row(switch), leaf);
    }

    #[inline]
    fn step(&self, header: &Header) -> Step {
        let group = match self.choices(header) {
            Choices::Onward(choices) => self.port(header, choices, header.plan),
            Choices::Home(port) => port.into(),
        };
        Step {
            group,
            class: self.class(header),
        }
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
