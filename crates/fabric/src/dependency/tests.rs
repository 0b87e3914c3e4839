//! The classes in dragonflies and HyperX networks are needed: without them, the same ways have
//! cycles.

use super::{
    ChannelClass, Edge, Follower, Header, Place, Routing, SwitchId, cycle_of, shortest_cycle,
};
use crate::topology::graph::{Entry, Plan, Routes, Target};
use crate::topology::{Arities, Destination, Dragonfly, Forwarding, Graph, HyperX, Step, Wiring};
use crate::{Ascent, Config, LinkId, Misrouting, Ways};
use std::collections::BTreeSet;

/// A routing that lets packets take any channel.
#[derive(Debug)]
struct Classless<'a>(&'a dyn Routing);

impl Routing for Classless<'_> {
    fn wiring(&self) -> &(dyn Wiring + 'static) {
        self.0.wiring()
    }

    fn begins_group(&self, switch: SwitchId, port: u32) -> bool {
        self.0.begins_group(switch, port)
    }

    fn plan(&self, source: Place, destination: Destination, draw: u64) -> u32 {
        self.0.plan(source, destination, draw)
    }

    fn plans(&self, source: Place, node: Place) -> Vec<u32> {
        self.0.plans(source, node)
    }

    fn step(&self, header: &Header) -> Step {
        Step {
            class: None,
            ..self.0.step(header)
        }
    }

    fn may_cross(&self, source: Place, node: Place, link: LinkId) -> bool {
        self.0.may_cross(source, node, link)
    }
}

/// With classes there is no cycle; without them there is one if and only if `needed`.
fn check(routing: &dyn Routing, config: &Config, needed: bool) {
    assert_eq!(cycle_of(routing, config), None);
    let cycle = cycle_of(&Classless(routing), config);
    assert_eq!(cycle.is_some(), needed);
    // The small machine that stands for large ones deadlocks as they do.
    let model = routing.model().expect("these kinds have one");
    assert_eq!(cycle_of(&*model, config), None);
    assert_eq!(cycle_of(&Classless(&*model), config).is_some(), needed);
}

#[test]
fn classes_break_the_cycles() {
    let arities = Arities {
        terminals: 1,
        group: 2,
        global: 2,
        groups: 5,
    };
    for rule in [
        Misrouting::Minimal,
        Misrouting::Valiant,
        Misrouting::UgalLocal,
    ] {
        let dragonfly = Dragonfly::new(arities, 10, rule).expect("10 nodes");
        check(&dragonfly, &Config::new(dragonfly.clone()), true);
        let hyperx = HyperX::new(&[3, 4], 1, 12, rule).expect("12 nodes");
        let config = Config::new(hyperx.clone());
        check(&hyperx, &config, rule != Misrouting::Minimal);
    }
}

/// A graph lists the holds and waits of its packets: all of them and, over all graphs, little else.
/// A ring closes no cycle, as no packet goes round the switch that is farthest from the root.
#[test]
fn graphs_list_their_dependencies() {
    let (mut listed, mut met) = (0, 0);
    for (switches, chords) in [(4, 0), (7, 0), (8, 3), (9, 5), (12, 9)] {
        let plan = ring(switches, chords);
        let graph = Graph::new(&plan, switches).expect("it is connected");
        let (all, edges) = dependencies(&graph);
        assert!(
            edges.is_subset(&all),
            "{switches} switches, {chords} chords"
        );
        (listed, met) = (listed + all.len(), met + edges.len());
        assert_eq!(super::find_cycle(&Config::new(graph)), None);
    }
    assert!(met * 10 > listed * 9, "{met} of {listed}");
}

/// Given tables list exactly the holds and waits of their packets. Round a ring in one direction
/// packets wait in a circle, unless each link between switches has its own class.
#[test]
fn given_tables_list_their_dependencies() {
    for (switches, classes, by_node) in [(5, 1, false), (5, 3, false), (5, 4, true), (9, 8, true)] {
        let mut plan = ring(switches, 0);
        let ends = |at| {
            (0..switches)
                .filter(move |&to| to != at)
                .map(move |to| (at, to))
        };
        let entries = (0..switches).flat_map(ends).map(|(at, to)| Entry {
            at,
            to: if by_node {
                Target::Node(to)
            } else {
                Target::Switch(to)
            },
            next: vec![(at + 1) % switches],
        });
        plan.routes = Some(Routes {
            entries: entries.collect(),
            classes,
            nodes: Vec::new(),
        });
        let graph = Graph::new(&plan, switches).expect("the tables are complete");
        let (all, edges) = dependencies(&graph);
        assert_eq!(all, edges, "{switches} switches, {classes} classes");
        let cycle = super::find_cycle(&Config::new(graph));
        assert_eq!(cycle.is_none(), classes >= switches - 1, "{cycle:?}");
    }
}

/// Shortest ways list the holds and waits of their packets. Unlisted waits at a packet's random
/// leaf lead to higher classes.
#[test]
fn shortest_ways_list_their_dependencies() {
    let shapes = [(4, 0), (7, 0), (10, 0), (9, 3), (12, 8)];
    for ((switches, chords), ways) in shapes
        .into_iter()
        .flat_map(|shape| [Ways::Minimal, Ways::Valiant].map(|ways| (shape, ways)))
    {
        let plan = Plan {
            ways,
            ..ring(switches, chords)
        };
        let graph = Graph::new(&plan, switches).expect("it is connected");
        let classes = graph.cabling().classes();
        let (listed, met) = dependencies(&graph);
        assert_eq!(
            shortest_cycle(met.iter().copied().collect(), graph.cabling()),
            None
        );
        let unlisted: Vec<Edge> = met.difference(&listed).copied().collect();
        assert!(
            unlisted
                .iter()
                .all(|(held, next)| held % classes < next % classes)
        );
        assert_eq!(
            unlisted.is_empty(),
            ways == Ways::Minimal,
            "{switches} {chords}"
        );
        let most = ways == Ways::Minimal && met.len() * 10 <= listed.len() * 7;
        assert!(!most, "{} of {}", met.len(), listed.len());
        assert_eq!(super::find_cycle(&Config::new(graph)), None);
    }
}

/// A ring with chords, and a node at each switch.
fn ring(switches: u32, chords: u32) -> Plan {
    let ring = (0..switches).map(|at| (at, (at + 1) % switches));
    let chord = (0..chords).map(|at| (at, (3 * at + switches / 2) % switches));
    Plan {
        switches: (0..switches).map(|at| at.to_string()).collect(),
        seats: (0..switches).collect(),
        cables: ring.chain(chord).filter(|(a, b)| a != b).collect(),
        ..Plan::default()
    }
}

/// The dependencies between a graph's switches: those that its routing lists, and those that its
/// packets meet.
fn dependencies(graph: &Graph) -> (BTreeSet<Edge>, BTreeSet<Edge>) {
    let routing = Forwarding::new(graph, Ascent::Adaptive);
    let wiring = routing.wiring();
    let listed = routing.dependencies().expect("it lists");
    let vertex = |channel: ChannelClass| channel.link.get() * wiring.classes() + channel.class;
    let listed = listed.into_iter();
    let listed = listed.map(|(held, next)| (vertex(held), vertex(next)));
    let mut follower = Follower::new(&routing);
    for source in Place::all(wiring.nodes()) {
        for node in Place::all(wiring.nodes()) {
            for plan in routing.plans(source, node) {
                follower.follow(source, node, plan);
            }
        }
    }
    let inner = |vertex: u32| wiring.link_level(LinkId::new(vertex / wiring.classes())) == 1;
    let met = follower.edges().filter(|&(a, b)| inner(a) && inner(b));
    (listed.collect(), met.collect())
}
