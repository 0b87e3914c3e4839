//! # Forwarding by tables: up*/down* routing, shortest ways, given tables
//!
//! *Up*/down**: packets take a shortest legal way, up and then down; where ways up and ways down
//! are equally short, they go down. The tables (`tables.rs`) have, for each switch and each switch
//! with nodes, a *leaf*, the links by which the shortest legal ways begin, and the links by which
//! the shortest ways begin that only go down. The link over which a packet has come determines
//! which list holds: a packet that has gone down never goes up.
//!
//! *Minimal*: packets take any shortest way (`shortest.rs`). *Valiant*: a shortest way to a random
//! leaf, and a shortest way on from there; packets between nodes at one leaf stay there. *UGAL-L*:
//! see [`Misrouting::UgalLocal`].
//!
//! *K shortest*: a packet's plan is the number of its way between its leaves
//! ([`Alternatives`](super::Alternatives)), and each switch reads the next port there. *Adaptive*:
//! the number is drawn for each packet, and its first switch changes it to the way with the
//! smallest product of the first link's load and the way's links, as UGAL-L compares two ways;
//! among equals the shorter one, then the next one from the drawn way on. Otherwise a hash chooses,
//! over the source, the destination or both.
//!
//! ## The choice among links
//!
//! A hash over destination and switch chooses, plus the packet's *plan*: a number that is 0 for
//! fixed ways. As in a tree, [`Ascent`] determines the fixed choices. *Adaptive*: the plan is drawn
//! for each packet, and its first switch changes it so that the first link is the one with the
//! lowest load, among equals the drawn one. (The engine compares loads at each switch only among
//! links that all packets in a group may take alike, which legal ways are not; beyond the first
//! switch the draw spreads packets.) *Source-fixed*: a hash over source and switch. *Flow hash*: a
//! hash over source, destination and switch. *Deterministic* and *destination-modulo*: the plan is
//! 0.
//!
//! A plan also has the random leaf and the link count to it, if the packet goes there.
//!
//! *Faults.* A packet with a dead way takes the next plan with a living way, if there is one, with
//! fixed ways, too. Plans differ by the links on the same shortest ways, and by random leaves, if
//! there are any; levels and tables stay those for the whole graph.
//!
//! *No deadlock.* Up*/down* ways are legal; shortest ways have [`Layers`](super::Layers), once for
//! each part if packets go by random leaves. [`Routing::dependencies`] lists a packet's possible
//! holds and waits.

use super::layers::{Shape, Wait};
use super::shortest;
use super::tables::{Home, List, Row, Tables};
use super::{Alternatives, Graph, Layers};
use crate::hash::mixed;
use crate::id::{ChannelId, LinkId, Place, SwitchId};
use crate::mechanism::{Ascent, Misrouting, Ways};
use crate::topology::coordinates::within;
use crate::topology::destination::Destination;
use crate::topology::error::MAX_ARITY;
use crate::topology::routing::{ChannelClass, CompiledRouting, DeadLinks, Header, Routing, Step};
use crate::topology::torus::MAX_PATH;
use crate::topology::wiring::Wiring;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A graph's routing; see the module essay. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Forwarding {
    graph: Graph,
    ascent: Ascent,
    /// The rule for shortest ways; `None` with other ways.
    rule: Option<Misrouting>,
    /// Whether packets may go through a random leaf.
    misroutes: bool,
    tables: Arc<Tables>,
    /// By leaf, and then by leaf: the links between them, if packets may go through a random leaf.
    links: Arc<[u8]>,
    /// Channel classes.
    classes: u32,
}

/// Bits in a plan that choose among links.
const SPREAD: u32 = 10;
const _: () = assert!(MAX_ARITY <= 1 << SPREAD, "the ports of a switch have room");

/// Bits in a plan that hold the links to the random leaf; the others are its number.
const LINKS: u32 = 6;
const _: () = assert!(MAX_PATH <= 1 << LINKS, "the links of a way have room");

/// How a header may leave a switch.
enum Choices<'a> {
    /// By one of these ports, towards its destination's switch.
    Onward(&'a [u16]),
    /// By its destination's port.
    Home(u16),
}

impl Forwarding {
    /// A graph's routing by a rule for the choice among links.
    pub fn new(graph: &Graph, ascent: Ascent) -> Self {
        let rule = match graph.routes() {
            Some(_) => None,
            None => graph.ways().misrouting(),
        };
        let tables = match (graph.routes(), graph.ways()) {
            (Some(routes), _) => graph.columns(routes).tables(),
            (None, Ways::UpDown) => Tables::new(graph),
            // The k shortest ways begin with tables of the leaves.
            (None, _) => shortest::tables(graph),
        };
        let misroutes = rule.is_some_and(Misrouting::misroutes);
        let links = if misroutes {
            shortest::links(&graph.neighbours, &tables.leaves)
        } else {
            Vec::new()
        };
        Forwarding {
            graph: graph.clone(),
            ascent,
            rule,
            misroutes,
            tables: Arc::new(tables),
            links: links.into(),
            classes: graph.cabling.classes(),
        }
    }

    /// How a header may leave a switch.
    #[inline]
    fn choices(&self, header: &Header) -> Choices<'_> {
        let row = self.row(header.at);
        let Home { leaf, port } = self.home(header.destination);
        let via = self.via(header);
        if via.is_none() && leaf == row.leaf {
            return Choices::Home(port);
        }
        if let Some(ways) = &self.graph.alternatives {
            let from = self.home(header.source).leaf;
            return Choices::Onward(ways.port(from, leaf, header.plan, header.hops));
        }
        let may_climb = self.graph.cabling.is_up(header.input);
        let list = self.tables.list(row, via.unwrap_or(leaf), may_climb);
        Choices::Onward(self.tables.ports(list))
    }

    /// The random leaf, as long as the packet has not been there.
    #[inline]
    fn via(&self, header: &Header) -> Option<u16> {
        let (via, links) = Self::read(header.plan);
        (self.misroutes && header.hops < links as usize).then_some(via)
    }

    /// A plan's random leaf, and the links to it; no links in a plan without such a leaf.
    #[inline]
    fn read(plan: u32) -> (u16, u32) {
        let via = plan >> SPREAD >> LINKS;
        (via as u16, plan >> SPREAD & ((1 << LINKS) - 1))
    }

    /// The plan for packets from a leaf through another one.
    fn plan_by(&self, from: u16, via: u16, spread: u32) -> u32 {
        match self.links_between(from, via) {
            0 => spread,
            links => (u32::from(via) << LINKS | links) << SPREAD | spread,
        }
    }

    /// The links on the shortest ways between two leaves.
    fn links_between(&self, from: u16, to: u16) -> u32 {
        self.links[usize::from(from) * self.tables.leaves.len() + usize::from(to)].into()
    }

    /// The leaves of two nodes, if packets between them may go through a random leaf.
    fn may_misroute(&self, source: Place, node: Place) -> Option<[u16; 2]> {
        let leaves = [source, node].map(|place| self.home(place).leaf);
        (self.misroutes && leaves[0] != leaves[1]).then_some(leaves)
    }

    /// The count of plans that packets between two nodes may have.
    fn count(&self, source: Place, node: Place) -> u32 {
        if let Some(ways) = &self.graph.alternatives {
            let [from, to] = [source, node].map(|place| self.home(place).leaf);
            return ways.count(from, to);
        }
        let leaves = self.may_misroute(source, node);
        self.tables.widest * leaves.map_or(1, |_| self.tables.leaves.len() as u32)
    }

    /// The plan with a number, below the plan count.
    fn plan_of(&self, source: Place, node: Place, number: u32) -> u32 {
        let Some([from, _]) = self.may_misroute(source, node) else {
            return number;
        };
        let (via, spread) = (number / self.tables.widest, number % self.tables.widest);
        self.plan_by(from, via as u16, spread)
    }

    /// A plan's number.
    fn number_of(&self, source: Place, node: Place, plan: u32) -> u32 {
        let spread = plan & ((1 << SPREAD) - 1);
        let Some([from, _]) = self.may_misroute(source, node) else {
            return spread;
        };
        let via = match Self::read(plan) {
            (_, 0) => from,
            (via, _) => via,
        };
        u32::from(via) * self.tables.widest + spread
    }

    /// A switch's row.
    #[inline]
    fn row(&self, switch: SwitchId) -> Row {
        self.tables.rows[within(switch.get(), self.tables.rows.len())]
    }

    /// Where a destination is.
    #[inline]
    fn home(&self, destination: Place) -> Home {
        self.tables.homes[within(destination.get(), self.tables.homes.len())]
    }

    /// The ends that determine a fixed choice.
    #[inline]
    fn ends(&self, source: Place, destination: Place) -> u64 {
        let (source, destination) = match self.ascent {
            Ascent::Adaptive | Ascent::Deterministic | Ascent::DestinationModulo => {
                (0, destination.get())
            }
            Ascent::SourceFixed => (source.get(), 0),
            Ascent::FlowHash => (source.get(), destination.get()),
        };
        u64::from(source) << 32 | u64::from(destination)
    }

    /// Where in a port list the packets of a plan begin to count.
    #[inline]
    fn start(&self, header: &Header, plan: u32) -> u64 {
        let ends = self.ends(header.source, header.destination);
        let switch = u64::from(header.at.get()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let spread = plan & ((1 << SPREAD) - 1);
        (mixed(ends ^ switch) >> 1) + u64::from(spread) // does not overflow
    }

    /// The channel class that a header takes, where there are several.
    #[inline]
    fn class(&self, header: &Header) -> Option<u32> {
        let (tables, all) = (&self.tables, self.classes);
        if all == 1 {
            return None;
        }
        let to = self.home(header.destination).leaf;
        let here = header.at.get() % tables.rows.len() as u32;
        let via = self.via(header);
        if via.is_none() && here == tables.leaves[to as usize] {
            return None;
        }
        let (count, links) = (tables.leaves.len(), header.hops as u32);
        let from = || self.home(header.source).leaf;
        if let Some(ways) = &self.graph.alternatives {
            return Some(ways.class(from(), to, header.plan, links));
        }
        Some(match (self.graph.layers(), via) {
            _ if self.rule.is_none() => links.min(tables.classes - 1),
            (Layers::Links(_), _) => links.min(all - 1),
            (layers, Some(via)) => layers.class(count, from(), via, links),
            (layers, None) => {
                let from = match Self::read(header.plan) {
                    (via, 1..) if self.misroutes => via,
                    _ => from(),
                };
                let before = if self.misroutes { layers.count() } else { 0 };
                before + layers.class(count, from, to, links)
            }
        })
    }

    /// The plan that begins with the least loaded link that a header may take, among equals the
    /// first one from the header's own plan on; and the load.
    fn least(&self, header: &Header, load: &mut dyn FnMut(u32) -> u32) -> (u32, u32) {
        let (choices, plan) = match self.choices(header) {
            Choices::Onward(choices) => (choices, header.plan),
            Choices::Home(port) => return (header.plan, load(port.into())),
        };
        // This many consecutive plans begin with all the links, in their order; behind the last
        // plan they go on with those that begin alike.
        let count = choices.len();
        let first = self.first(header, plan, count);
        let (before, from) = choices.split_at(first);
        let mut least = (u32::MAX, 0);
        for (more, &port) in (0..).zip(from.iter().chain(before)) {
            let load = load(port.into());
            if load < least.0 {
                least = (load, more);
            }
            if load == 0 {
                break; // among equals the first one
            }
        }
        let spread = plan & ((1 << SPREAD) - 1);
        let chosen = if spread + least.1 < self.tables.widest {
            plan + least.1
        } else {
            plan + least.1 - count as u32
        };
        (chosen, least.0)
    }

    /// The best of the k shortest ways by the loads at a packet's first switch; see the module
    /// essay.
    fn best(&self, ways: &Alternatives, header: &Header, load: &mut dyn FnMut(u32) -> u32) -> u32 {
        let [from, to] = [header.source, header.destination].map(|place| self.home(place).leaf);
        if from == to {
            return header.plan;
        }
        let count = ways.count(from, to);
        let cost = |&way: &u32| {
            let ports = ways.ports(from, to, way);
            let links = ports.len() as u32;
            (load(ports[0].into()) * links, links)
        };
        let from_drawn = (0..count).map(|more| (header.plan + more) % count);
        from_drawn.min_by_key(cost).expect("there is a way")
    }

    /// By [`Misrouting::UgalLocal`]: whether a packet goes through its random leaf.
    fn ugal(&self, header: &Header, load: &mut dyn FnMut(u32) -> u32) -> u32 {
        let minimal = header.plan & ((1 << SPREAD) - 1);
        let mut best = |plan| {
            let header = Header { plan, ..*header };
            if self.ascent == Ascent::Adaptive {
                return self.least(&header, load);
            }
            (plan, load(self.step(&header).group))
        };
        let (short, least) = best(minimal);
        if least == 0 {
            return short;
        }
        let (via, links) = Self::read(header.plan);
        let [from, to] = [header.source, header.destination].map(|place| self.home(place).leaf);
        let (long, other) = best(header.plan);
        if least * self.links_between(from, to) <= other * (links + self.links_between(via, to)) {
            short
        } else {
            long
        }
    }

    fn port(&self, header: &Header, choices: &[u16], plan: u32) -> u32 {
        if let [port] = *choices {
            return port.into(); // no division
        }
        choices[self.first(header, plan, choices.len())].into()
    }

    /// The link that a plan's packets take, among some links.
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

impl CompiledRouting for Forwarding {
    type Path = [ChannelId; MAX_PATH];

    const CHOOSES: bool = true;

    const LISTS: bool = true;
}

impl Routing for Forwarding {
    fn wiring(&self) -> &(dyn Wiring + 'static) {
        &*self.graph.cabling
    }

    fn dependencies(&self) -> Option<Vec<(ChannelClass, ChannelClass)>> {
        if let Some(routes) = self.graph.routes() {
            return Some(self.graph.columns(routes).dependencies());
        }
        if self.rule.is_some() {
            return Some(self.waits());
        }
        if let Some(ways) = &self.graph.alternatives {
            let terminals = 0..self.graph.neighbours.len() as u32;
            let terminals: Vec<u32> = terminals.map(|at| self.graph.terminals(at)).collect();
            return Some(self.channels(ways.waits(self.shape(), &terminals)));
        }
        let (cabling, tables) = (&*self.graph.cabling, &*self.tables);
        let rows = &tables.rows;
        let mut edges = Vec::new();
        for (switch, neighbours) in (0..).zip(&*self.graph.neighbours) {
            let first = self.graph.terminals(switch);
            // By neighbour number: the lists that packets meet there. Leaves beside each other
            // mostly share it.
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

    fn plan(&self, source: Place, destination: Destination, draw: u64) -> u32 {
        if self.graph.alternatives.is_some() {
            let node = destination.first();
            let draw = match self.ascent {
                Ascent::Adaptive => draw,
                _ => mixed(self.ends(source, node)),
            };
            return (draw % u64::from(self.count(source, node))) as u32;
        }
        let spread = if self.ascent == Ascent::Adaptive {
            (draw % u64::from(self.tables.widest)) as u32
        } else {
            0
        };
        let Some([from, _]) = self.may_misroute(source, destination.first()) else {
            return spread;
        };
        let via = (draw >> 32) % self.tables.leaves.len() as u64;
        self.plan_by(from, via as u16, spread)
    }

    fn plans(&self, source: Place, node: Place) -> Vec<u32> {
        let all = (0..self.count(source, node)).map(|number| self.plan_of(source, node, number));
        if self.ascent == Ascent::Adaptive {
            all.collect()
        } else if self.graph.alternatives.is_some() {
            vec![self.plan(source, node.into(), 0)]
        } else {
            all.step_by(self.tables.widest as usize).collect()
        }
    }

    fn settles(&self) -> bool {
        self.ascent == Ascent::Adaptive || self.rule == Some(Misrouting::UgalLocal)
    }

    fn settle(&self, header: &Header, load: &mut dyn FnMut(u32) -> u32) -> u32 {
        if self.rule == Some(Misrouting::UgalLocal) && Self::read(header.plan).1 > 0 {
            return self.ugal(header, load);
        }
        if let Some(ways) = &self.graph.alternatives {
            return match self.ascent {
                Ascent::Adaptive => self.best(ways, header, load),
                _ => header.plan,
            };
        }
        match self.choices(header) {
            Choices::Onward([_, _, ..]) if self.ascent == Ascent::Adaptive => {
                self.least(header, load).0
            }
            _ => header.plan,
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
        // Leaf pairs have different counts of ways; the dependencies cover them all.
        match self.graph.alternatives {
            Some(_) => RangeInclusive::new(1, 0),
            None => 1..=self.tables.widest - 1,
        }
    }

    fn may_cross(&self, source: Place, node: Place, link: LinkId) -> bool {
        let mut plans = 0..self.count(source, node);
        plans.any(|number| {
            let plan = self.plan_of(source, node, number);
            self.path_of(source, node, plan).contains(&link)
        })
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
        let (plans, usual) = (
            self.count(source, node),
            self.number_of(source, node, usual),
        );
        let mut others = (0..plans).map(|more| self.plan_of(source, node, (usual + more) % plans));
        others.find(|&plan| !self.path_of(source, node, plan).into_iter().any(dead))
    }
}

impl Forwarding {
    /// Possible holds and waits for packets on shortest ways.
    fn waits(&self) -> Vec<(ChannelClass, ChannelClass)> {
        let parts = if self.misroutes { 2 } else { 1 };
        self.channels(self.graph.layers().waits(self.shape(), parts))
    }

    fn shape(&self) -> Shape<'_> {
        Shape {
            neighbours: &self.graph.neighbours,
            seats: &self.graph.seats,
        }
    }

    /// Waits by channels.
    fn channels(&self, waits: Vec<Wait>) -> Vec<(ChannelClass, ChannelClass)> {
        let graph = &self.graph;
        let links: Vec<LinkId> = (0..)
            .zip(&*graph.neighbours)
            .flat_map(|(switch, all)| {
                let first = graph.terminals(switch);
                let ports = first..first + all.len() as u32;
                ports.map(move |port| graph.cabling.output(SwitchId::new(switch), port))
            })
            .collect();
        let channel = |[link, class]: [u32; 2]| ChannelClass {
            link: links[link as usize],
            class,
        };
        let waits = waits.into_iter();
        waits
            .map(|(held, next)| (channel(held), channel(next)))
            .collect()
    }
}
