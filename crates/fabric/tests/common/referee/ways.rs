//! Ways in networks other than trees, found by looking at the wiring instead of by arithmetic.

use super::{Header, Referee, hash};
use fabric::topology::graph::{Routes, Target};
use fabric::topology::{Arities, End, Forwarding, Layers, Routing};
use fabric::{
    Ascent, Cycle, Dragonfly, Graph, HyperX, LinkId, Misrouting, PacketSpec, Place, SwitchId,
    Topology, Torus, Wiring,
};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

impl Referee<'_> {
    /// The port by which a packet leaves a switch that is in no tree, and the channels that the
    /// packet may take.
    pub(super) fn step(
        &mut self,
        now: Cycle,
        header: &Header,
        switch: SwitchId,
    ) -> (u32, Range<u32>) {
        let spec = &self.flights[&header.packet].spec;
        match &self.case.config.topology {
            Topology::FatTree(_) | Topology::Custom(_) => panic!("another referee is for it"),
            Topology::Torus(torus) => torus_step(torus, spec, header.lanes.clone(), switch),
            Topology::Mesh(mesh) => {
                let to = spec.destination.first().get();
                let port = towards(mesh.cabling(), mesh.sizes(), to, switch, true);
                (port.unwrap_or(0), header.lanes.clone())
            }
            Topology::Dragonfly(dragonfly) => self.dragonfly_step(now, dragonfly, header, switch),
            Topology::HyperX(hyperx) => self.hyperx_step(now, hyperx, header, switch),
            Topology::Graph(graph) => self.graph_step(now, graph, header, switch),
        }
    }

    /// Packets that hold a channel on the link at a port, or have waited for one since before this
    /// cycle.
    pub(super) fn load(&self, now: Cycle, switch: SwitchId, port: u32) -> u32 {
        let link: LinkId = self.case.config.topology.output(switch, port);
        let waiting = self.groups.get(&link).map_or(0, |group| {
            let early = group.waiting.iter().filter(|header| header.ready < now);
            early.count()
        });
        self.lanes.count + waiting as u32 - self.spare(link) as u32
    }

    /// The load on the first link of a way, times its link count; `next` is the port that leads on,
    /// until the way ends.
    fn cost(
        &self,
        now: Cycle,
        from: SwitchId,
        mut next: impl FnMut(SwitchId) -> Option<u32>,
    ) -> u32 {
        let wiring = &self.case.config.topology;
        let (mut at, mut hops, mut first) = (from, 0, None);
        while let Some(port) = next(at) {
            first.get_or_insert(port);
            hops += 1;
            let End::Switch { switch, .. } = wiring.ends(wiring.output(at, port)).1 else {
                panic!("a way between switches");
            };
            at = switch;
        }
        hops * self.load(now, from, first.expect("the way leads elsewhere"))
    }

    /// At its first switch a packet gets its way in a dragonfly: at random, or by UGAL-L.
    fn dragonfly_step(
        &mut self,
        now: Cycle,
        dragonfly: &Dragonfly,
        header: &Header,
        switch: SwitchId,
    ) -> (u32, Range<u32>) {
        let wiring = dragonfly.cabling();
        let Arities {
            terminals,
            group,
            groups,
            ..
        } = dragonfly.arities();
        let flight = &self.flights[&header.packet];
        let ends = [flight.spec.source, flight.spec.destination.first()];
        let [source, node] = ends.map(fabric::Place::get);
        let (from, to) = (source / terminals, node / terminals);
        let (first, last) = (from / group, to / group);
        if flight.taken.len() == 1 && first != last {
            let draw = hash(source, flight.sequence, u32::MAX);
            let link = (draw >> 32) as usize % dragonfly.links_between_groups() as usize;
            let others = (0..groups).filter(|&other| other != first && other != last);
            let others: Vec<u32> = others.collect();
            let mut via = None;
            if dragonfly.rule() != Misrouting::Minimal && !others.is_empty() {
                via = Some(others[(draw % others.len() as u64) as usize]);
            }
            if dragonfly.rule() == Misrouting::UgalLocal && via.is_some() {
                let cost = |via: Option<u32>| {
                    let mut aims: VecDeque<u32> = via.into_iter().chain([last]).collect();
                    self.cost(now, switch, |at| {
                        if aims.front() == Some(&(at.get() / group)) {
                            aims.pop_front();
                        }
                        let aim = aims.front().copied();
                        (at.get() != to).then(|| dragonfly_port(wiring, group, aim, link, at, to))
                    })
                };
                if cost(None) <= cost(via) {
                    via = None;
                }
            }
            let flight = self.flights.get_mut(&header.packet);
            let flight = flight.expect("it is under way");
            (flight.via, flight.link) = (via, link);
        }
        let flight = &self.flights[&header.packet];
        if switch.get() == to {
            return (node % terminals, header.lanes.clone());
        }
        // The links between groups that the packet has crossed are its class.
        let taken = flight.taken.keys();
        let levels = taken.map(|&channel| wiring.link_level(self.lanes.link(channel)));
        let crossed = levels.filter(|&level| level == 2).count() as u32;
        let aim = match (switch.get() / group, flight.via) {
            (here, _) if here == last => None,
            (here, Some(via)) if here != via && crossed == 0 => Some(via),
            _ => Some(last),
        };
        let port = dragonfly_port(wiring, group, aim, flight.link, switch, to);
        let classes = match dragonfly.rule() {
            Misrouting::Minimal => 2,
            _ => 3,
        };
        (port, class_of(&header.lanes, crossed, classes))
    }

    /// The same in a HyperX network.
    fn hyperx_step(
        &mut self,
        now: Cycle,
        hyperx: &HyperX,
        header: &Header,
        switch: SwitchId,
    ) -> (u32, Range<u32>) {
        let wiring = hyperx.cabling();
        let flight = &self.flights[&header.packet];
        let node = flight.spec.destination.first().get();
        let to = node / hyperx.terminals();
        let port = |aim: u32, at: SwitchId| towards(wiring, hyperx.sizes(), aim, at, false);
        if flight.taken.len() == 1 && switch.get() != to && hyperx.rule() != Misrouting::Minimal {
            let draw = hash(flight.spec.source.get(), flight.sequence, u32::MAX);
            let other = (draw % u64::from(wiring.switches())) as u32;
            let mut via = Some(other).filter(|&via| via != switch.get());
            if hyperx.rule() == Misrouting::UgalLocal && via.is_some() {
                let cost = |ways: &[u32]| {
                    let mut ways = ways.iter();
                    let mut aim = *ways.next().expect("a way has an end");
                    self.cost(now, switch, |at| {
                        port(aim, at).or_else(|| {
                            aim = *ways.next()?;
                            port(aim, at)
                        })
                    })
                };
                if cost(&[to]) <= cost(&[other, to]) {
                    via = None;
                }
            }
            let flight = self.flights.get_mut(&header.packet);
            flight.expect("it is under way").via = via;
        }
        let flight = self.flights.get_mut(&header.packet);
        let flight = flight.expect("it is under way");
        if flight.via == Some(switch.get()) {
            flight.via = None;
        }
        let via = flight.via;
        let Some(port) = port(via.unwrap_or(to), switch) else {
            return (node % hyperx.terminals(), header.lanes.clone());
        };
        let lanes = match hyperx.rule() {
            Misrouting::Minimal => header.lanes.clone(),
            _ => class_of(&header.lanes, u32::from(via.is_none()), 2),
        };
        (port, lanes)
    }
}

impl Referee<'_> {
    /// Up*/down* routing in a graph, by searches: down as soon as a shortest legal way leads down,
    /// else up. Given tables are read as they are.
    fn graph_step(
        &mut self,
        now: Cycle,
        graph: &Graph,
        header: &Header,
        switch: SwitchId,
    ) -> (u32, Range<u32>) {
        let wiring = graph.cabling();
        let flight = &self.flights[&header.packet];
        let node = flight.spec.destination.first();
        let all = header.lanes.clone();
        let to = wiring.ejection(node);
        let mut ports = 0..wiring.ports(switch);
        let own = ports.find(|&port| wiring.output(switch, port) == to);
        if let Some(port) = own
            && self.pending(graph, header).is_none()
        {
            return (port, all);
        }
        if let Some(routes) = graph.routes() {
            let count = flight.taken.len() as u32 - 1; // without the node's own link
            let choices = listed(graph, routes, switch, node);
            let lanes = match routes.classes {
                1 => all,
                classes => class_of(&all, count.min(classes - 1), classes),
            };
            return (self.choose(now, graph, header, switch, &choices), lanes);
        }
        if graph.alternatives().is_some() {
            return self.listed_step(now, graph, header, switch);
        }
        if let Some(rule) = graph.ways().misrouting() {
            return self.shortest_step(now, graph, rule, header, switch);
        }
        let descends = |link: &LinkId| wiring.link_level(*link) > 0 && !wiring.is_up(*link);
        let taken = flight.taken.keys();
        let mut links = taken.map(|&channel| self.lanes.link(channel));
        let climbs = !links.any(|link| descends(&link));
        let End::Switch { switch: goal, .. } = wiring.ends(to).0 else {
            panic!("a switch serves the node");
        };
        let left = legal(wiring, switch, goal, climbs).expect("a way leads on");
        let down = legal(wiring, switch, goal, false) == Some(left);
        let next = |&port: &u32| {
            let link = wiring.output(switch, port);
            let End::Switch { switch, .. } = wiring.ends(link).1 else {
                return false;
            };
            descends(&link) == down && legal(wiring, switch, goal, !down) == Some(left - 1)
        };
        let choices: Vec<u32> = (0..wiring.ports(switch)).filter(next).collect();
        (self.choose(now, graph, header, switch, &choices), all)
    }

    /// Shortest ways in a graph, to a random leaf first or not, by searches.
    fn shortest_step(
        &mut self,
        now: Cycle,
        graph: &Graph,
        rule: Misrouting,
        header: &Header,
        switch: SwitchId,
    ) -> (u32, Range<u32>) {
        let wiring = graph.cabling();
        let (all, sequence) = (header.lanes.clone(), self.flights[&header.packet].sequence);
        let spec = &self.flights[&header.packet].spec;
        let ends = [spec.source, spec.destination.first()];
        let home = |place: Place| match wiring.ends(wiring.ejection(place)).0 {
            End::Switch { switch, .. } => switch,
            End::Node(_) => panic!("a switch serves the node"),
        };
        let [source, goal] = ends.map(home);
        let links = |from, to| distance(wiring, from, to);
        let begins = self.flights[&header.packet].taken.len() == 1;
        if begins && rule != Misrouting::Minimal {
            let places = Place::all(wiring.positions());
            let leaves: BTreeSet<SwitchId> = places.map(home).collect();
            let draw = hash(ends[0].get(), sequence, u32::MAX) >> 32;
            let other = leaves.iter().nth((draw % leaves.len() as u64) as usize);
            let other = *other.expect("there is a leaf");
            let drawn = self.draw(graph, header);
            let mut choose = |to| {
                self.flights
                    .get_mut(&header.packet)
                    .expect("it is under way")
                    .link = drawn;
                let port = self.choose(now, graph, header, switch, &nearer(wiring, switch, to));
                let plan = self.flights[&header.packet].link;
                (self.load(now, switch, port), plan)
            };
            let (mut via, mut plan) = (Some(other), None);
            if other == source {
                via = None;
            } else if rule == Misrouting::UgalLocal {
                let (short, long) = (choose(goal), choose(other));
                let detour = links(source, other) + links(other, goal);
                if short.0 * links(source, goal) <= long.0 * detour {
                    via = None;
                }
                plan = Some(if via.is_none() { short.1 } else { long.1 });
            }
            let plan = plan.unwrap_or_else(|| choose(via.unwrap_or(goal)).1);
            let flight = self
                .flights
                .get_mut(&header.packet)
                .expect("it is under way");
            (flight.link, flight.via) = (plan, via.map(SwitchId::get));
        }
        let flight = &self.flights[&header.packet];
        let (via, hops) = (flight.via.map(SwitchId::new), flight.taken.len() as u32 - 1);
        let before = self.pending(graph, header);
        let aim = before.unwrap_or(goal);
        let choices = nearer(wiring, switch, aim);
        let port = if begins && rule == Misrouting::Minimal {
            self.choose(now, graph, header, switch, &choices)
        } else {
            self.by_plan(header, switch, &choices)
        };
        let count = graph.layers().count();
        let parts = if rule == Misrouting::Minimal { 1 } else { 2 };
        let node = |switch: SwitchId| {
            let mut nodes = Place::all(wiring.positions());
            let place = nodes.find(|&place| home(place) == switch);
            fabric::NodeId::new(place.expect("it is a leaf").get())
        };
        let class = match (graph.layers(), before) {
            (Layers::Links(_), _) => hops,
            (_, Some(via)) => graph.layer(node(source), node(via), hops),
            (_, None) => {
                let from = via.unwrap_or(source);
                (parts - 1) * count + graph.layer(node(from), node(goal), hops)
            }
        };
        let lanes = match parts * count {
            1 => all,
            classes => class_of(&all, class, classes),
        };
        (port, lanes)
    }

    /// A packet's random leaf in a graph, if it has not been there. It may pass its destination on
    /// the way.
    fn pending(&self, graph: &Graph, header: &Header) -> Option<SwitchId> {
        let flight = &self.flights[&header.packet];
        let (wiring, via) = (graph.cabling(), SwitchId::new(flight.via?));
        let End::Switch { switch: source, .. } =
            wiring.ends(wiring.injection(flight.spec.source)).1
        else {
            panic!("a switch serves the node");
        };
        let hops = flight.taken.len() as u32 - 1;
        (hops < distance(wiring, source, via)).then_some(via)
    }

    /// One among several ports at a switch in a graph: by a hash and the plan; at its first switch
    /// an adaptive packet takes the least loaded one.
    fn choose(
        &mut self,
        now: Cycle,
        graph: &Graph,
        header: &Header,
        switch: SwitchId,
        choices: &[u32],
    ) -> u32 {
        let count = choices.len();
        let ascent = self.case.config.ascent;
        if self.flights[&header.packet].taken.len() == 1 && ascent == Ascent::Adaptive {
            let plans = *Forwarding::new(graph, ascent).detours().end() as usize + 1;
            let drawn = self.draw(graph, header);
            let start = self.begin(header, switch);
            let port = |plan: usize| choices[((start + plan as u64) % count as u64) as usize];
            let plan = (drawn..drawn + count)
                .map(|plan| if plan < plans { plan } else { plan - count })
                .min_by_key(|&plan| self.load(now, switch, port(plan)));
            let flight = self.flights.get_mut(&header.packet);
            flight.expect("it is under way").link = plan.expect("a way leads on");
        }
        self.by_plan(header, switch, choices)
    }

    /// The plan that is drawn for a packet; 0 if the rule does not draw.
    fn draw(&self, graph: &Graph, header: &Header) -> usize {
        let ascent = self.case.config.ascent;
        if ascent != Ascent::Adaptive {
            return 0;
        }
        let flight = &self.flights[&header.packet];
        let plans = u64::from(*Forwarding::new(graph, ascent).detours().end()) + 1;
        (hash(flight.spec.source.get(), flight.sequence, u32::MAX) % plans) as usize
    }

    /// Where the packets of plan 0 begin to count the ports of a switch.
    fn begin(&self, header: &Header, switch: SwitchId) -> u64 {
        let spec = &self.flights[&header.packet].spec;
        let (source, node) = (spec.source.get(), spec.destination.first().get());
        let hashed = match self.case.config.ascent {
            Ascent::SourceFixed => hash(source, 0, switch.get()),
            Ascent::FlowHash => hash(source, node, switch.get()),
            _ => hash(0, node, switch.get()),
        };
        hashed >> 1
    }

    /// A packet's port by its plan.
    fn by_plan(&self, header: &Header, switch: SwitchId, choices: &[u32]) -> u32 {
        let plan = self.flights[&header.packet].link as u64;
        choices[((self.begin(header, switch) + plan) % choices.len() as u64) as usize]
    }
}

/// A switch's ports that lead nearer to another one.
fn nearer(wiring: &dyn Wiring, switch: SwitchId, to: SwitchId) -> Vec<u32> {
    let left = |from| distance(wiring, from, to);
    let own = left(switch);
    let leads = |&port: &u32| match wiring.ends(wiring.output(switch, port)).1 {
        End::Switch { switch, .. } => left(switch) < own,
        End::Node(_) => false,
    };
    (0..wiring.ports(switch)).filter(leads).collect()
}

/// A switch's ports to the neighbours that a table lists for a node, or else for the node's switch.
fn listed(graph: &Graph, routes: &Routes, switch: SwitchId, node: Place) -> Vec<u32> {
    let wiring = graph.cabling();
    let on_rail = |switch: SwitchId| switch.get() % (wiring.switches() / wiring.rails());
    let End::Switch { switch: home, .. } = wiring.ends(wiring.ejection(node)).0 else {
        panic!("a switch serves the node");
    };
    let of_node = Target::Node(node.get() % wiring.positions());
    let of_switch = Target::Switch(on_rail(home));
    let entry = [of_node, of_switch].into_iter().find_map(|to| {
        let mut entries = routes.entries.iter();
        entries.find(|entry| entry.at == on_rail(switch) && entry.to == to)
    });
    let next = &entry.expect("the table is complete").next;
    let leads = |&port: &u32| match wiring.ends(wiring.output(switch, port)).1 {
        End::Switch { switch, .. } => next.contains(&on_rail(switch)),
        End::Node(_) => false,
    };
    (0..wiring.ports(switch)).filter(leads).collect()
}

/// Links between switches on the shortest way to a switch.
fn distance(wiring: &dyn Wiring, from: SwitchId, to: SwitchId) -> u32 {
    let mut queue = VecDeque::from([(from, 0)]);
    let mut seen = BTreeSet::from([from]);
    while let Some((at, links)) = queue.pop_front() {
        if at == to {
            return links;
        }
        for port in 0..wiring.ports(at) {
            if let End::Switch { switch, .. } = wiring.ends(wiring.output(at, port)).1
                && seen.insert(switch)
            {
                queue.push_back((switch, links + 1));
            }
        }
    }
    panic!("a graph is connected");
}

/// Links between switches on the shortest legal way to a switch: up, if the packet may still climb,
/// and then down.
fn legal(wiring: &dyn Wiring, from: SwitchId, to: SwitchId, climbs: bool) -> Option<u32> {
    let mut queue = VecDeque::from([(from, climbs, 0)]);
    let mut seen = BTreeSet::from([(from, climbs)]);
    while let Some((at, climbs, links)) = queue.pop_front() {
        if at == to {
            return Some(links);
        }
        for port in 0..wiring.ports(at) {
            let link = wiring.output(at, port);
            let (End::Switch { switch, .. }, up) = (wiring.ends(link).1, wiring.is_up(link)) else {
                continue;
            };
            if (!up || climbs) && seen.insert((switch, up)) {
                queue.push_back((switch, up, links + 1));
            }
        }
    }
    None
}

/// A class's channels, among those that a packet may take at all: as many as in any other class, or
/// one more if the class is low.
pub fn class_of(lanes: &Range<u32>, class: u32, classes: u32) -> Range<u32> {
    // Dealt out in turn, each class gets this many.
    let dealt = |class: u32| lanes.clone().skip(class as usize).step_by(classes as usize);
    let size = |class: u32| dealt(class).count() as u32;
    let first = lanes.start + (0..class).map(size).sum::<u32>();
    first..first + size(class)
}

/// Dimension-order routing in a torus, from the switch's place: the port, and the allowed channels.
/// A ring's dateline is between the last switch and the first; packets that have crossed it take
/// the second half of the channels.
fn torus_step(
    torus: &Torus,
    spec: &PacketSpec,
    lanes: Range<u32>,
    switch: SwitchId,
) -> (u32, Range<u32>) {
    let mut stride = 1;
    for (dimension, &size) in (0..).zip(torus.sizes()) {
        let place = |number: u32| number / stride % size;
        let (from, at) = (place(spec.source.get()), place(switch.get()));
        let to = place(spec.destination.first().get());
        if at != to {
            let (up, down) = ((to + size - from) % size, (from + size - to) % size);
            let upwards = up < down || up == down && from % 2 == 0;
            let crossed = if upwards { at < from } else { at > from };
            let port = 1 + 2 * dimension + u32::from(!upwards);
            return (port, class_of(&lanes, crossed.into(), 2));
        }
        stride *= size;
    }
    (0, lanes)
}

/// The switch behind the link that leaves a switch at a port, if it does not end in a node.
fn leads(wiring: &dyn Wiring, from: SwitchId, port: u32) -> Option<u32> {
    match wiring.ends(wiring.output(from, port)).1 {
        End::Switch { switch, .. } => Some(switch.get()),
        End::Node(_) => None,
    }
}

/// The port at a group's switch that leads by the `link`-th link to group `aim`, or in its own
/// group to switch `to`.
fn dragonfly_port(
    wiring: &dyn Wiring,
    group: u32,
    aim: Option<u32>,
    link: usize,
    at: SwitchId,
    to: u32,
) -> u32 {
    let own = at.get() / group * group;
    let gate = aim.map(|aim| {
        let switches = (own..own + group).map(SwitchId::new);
        let all = switches.flat_map(|from| (0..wiring.ports(from)).map(move |port| (from, port)));
        let there = |&(from, port): &(SwitchId, u32)| {
            leads(wiring, from, port).is_some_and(|to| to / group == aim)
        };
        let mut there = all.filter(there);
        there.nth(link).expect("there are so many links")
    });
    match gate {
        Some((switch, port)) if switch == at => port,
        _ => {
            let aim = gate.map_or(to, |(switch, _)| switch.get());
            let mut ports = 0..wiring.ports(at);
            let port = ports.find(|&port| leads(wiring, at, port) == Some(aim));
            port.expect("it is joined")
        }
    }
}

/// A switch's port that leads to a neighbour which is right, or one step nearer, in the first
/// dimension that is not right yet; `None` at the switch itself.
fn towards(
    wiring: &dyn Wiring,
    sizes: &[u32],
    to: u32,
    switch: SwitchId,
    by_steps: bool,
) -> Option<u32> {
    let mut stride = 1;
    for size in sizes {
        let [at, to] = [switch.get(), to].map(|number| number / stride % size);
        if at != to {
            let there = match (by_steps, to > at) {
                (false, _) => to,
                (true, true) => at + 1,
                (true, false) => at - 1,
            };
            let neighbour = switch.get() - at * stride + there * stride;
            let mut ports = 0..wiring.ports(switch);
            let port = ports.find(|&port| leads(wiring, switch, port) == Some(neighbour));
            return Some(port.expect("it is joined"));
        }
        stride *= size;
    }
    None
}
