//! Shortest ways in graphs, and ways through random leaves: closed forms, channel layers,
//! deadlocks.

use crate::common;

use common::ASCENTS;
use common::graphs::{complete, graph, plan, ring, shortest};
use common::kinds::{check_packet_alone, check_ways, hops};
use common::{machine, uniform_share};
use fabric::topology::graph::Plan;
use fabric::topology::{End, Family, Forwarding, Header, Layers, Routing};
use fabric::{Arbitration, Ascent, Circuit, Config, Graph, Place, Ways, Wiring, find_cycle};

fn with(plan: Plan, ways: Ways) -> Graph {
    graph(&Plan { ways, ..plan })
}

/// Switches in rows in all dimensions, which are rings or not.
fn grid(sizes: [u32; 2], wraps: bool) -> Plan {
    let [wide, high] = sizes;
    let mut cables = Vec::new();
    for (x, y) in (0..high).flat_map(|y| (0..wide).map(move |x| (x, y))) {
        let at = |x: u32, y: u32| y % high * wide + x % wide;
        cables.extend((wraps || x + 1 < wide).then_some((at(x, y), at(x + 1, y))));
        cables.extend((wraps || y + 1 < high).then_some((at(x, y), at(x, y + 1))));
    }
    plan(wide * high, 1, cables)
}

/// Hoffman and Singleton's graph.
fn slim_fly(terminals: u32) -> Plan {
    let plan = Family::SlimFly { order: 5 }.plan(terminals);
    plan.expect("a prime")
}

/// All ways are as short as any, no packets wait in a circle, and the graph has this many layers.
fn check(plan: &Plan, layers: u32) {
    let minimal = with(plan.clone(), Ways::Minimal);
    assert_eq!(minimal.cabling().classes(), layers);
    let pairs = pairs(minimal.cabling());
    for ascent in ASCENTS {
        let routing = Forwarding::new(&minimal, ascent);
        check_ways(&routing);
        for &(from, to, links) in &pairs {
            for plan in routing.plans(from, to) {
                let path = routing.path_of(from, to, plan);
                assert_eq!(path.len() as u32, links);
            }
        }
        let mut config = machine(minimal.clone(), layers);
        config.ascent = ascent;
        assert_eq!(find_cycle(&config), None);
    }
    for ways in [Ways::Valiant, Ways::UgalLocal] {
        let graph = with(plan.clone(), ways);
        assert_eq!(graph.cabling().classes(), 2 * layers);
        assert_eq!(find_cycle(&machine(graph.clone(), 2 * layers)), None);
        check_ways(&Forwarding::new(&graph, Ascent::FlowHash));
    }
}

/// All place pairs, and the links on the shortest way between them.
fn pairs(wiring: &dyn Wiring) -> Vec<(Place, Place, u32)> {
    let all = || Place::all(wiring.nodes());
    let pairs = all().flat_map(|from| all().map(move |to| (from, to)));
    let pairs = pairs.filter(|(from, to)| from != to);
    pairs
        .map(|(from, to)| (from, to, hops(wiring, from, to)))
        .collect()
}

/// Trees, complete graphs and short rings need one layer. A row is a tree.
#[test]
fn graphs_of_one_layer() {
    check(&plan(7, 1, (1..7).map(|at| (at - 1, at))), 1);
    check(&complete(6, 2), 1);
    check(&ring(3, 1), 1);
    // A two-level Clos network, without a word about its top.
    let clos = (0..4).flat_map(|leaf| (4..7).map(move |spine| (leaf, spine)));
    let mut clos = plan(7, 1, clos);
    clos.seats = (0..12).map(|node| node / 3).collect();
    check(&clos, 1);
}

/// A ring with more than three switches has a cycle in each direction, which a second layer ends.
/// Packets go by either side to the switch opposite. A mesh needs a layer for each way round a
/// square.
#[test]
fn graphs_of_two_layers() {
    for switches in [4, 5, 6, 9, 12] {
        check(&ring(switches, 1), 2);
    }
    check(&grid([4, 4], false), 2);
    check(&slim_fly(1), 2);
}

/// Where the longest way has six links, pair layers may be fewer.
#[test]
fn layers_of_pairs_are_fewer() {
    for (plan, pairs) in [(ring(12, 1), 12 * 12), (grid([4, 4], false), 16 * 16)] {
        let graph = with(plan, Ways::Minimal);
        let Layers::Pairs(2, of) = graph.layers() else {
            panic!("the longest way has six links: {:?}", graph.layers());
        };
        assert_eq!(of.len(), pairs);
        assert!(
            [0, 1].iter().all(|layer| of.contains(layer)),
            "both are used"
        );
    }
    // Where all six links are needed, link layers are as few.
    let torus = with(grid([6, 6], true), Ways::Minimal);
    assert_eq!(torus.layers(), &Layers::Links(6));
}

/// A packet takes another class on each link where layers are by links; where they are by pairs it
/// keeps its class.
#[test]
fn classes_of_a_way() {
    let classes = |graph: &Graph, to: u32, plan: u32| {
        let routing = Forwarding::new(graph, Ascent::FlowHash);
        let (source, destination) = (Place::new(0), Place::new(to));
        let path = routing.path_of(source, destination, plan);
        let class = |(hops, &input): (usize, _)| {
            let End::Switch { switch: at, .. } = routing.wiring().ends(input).1 else {
                return None;
            };
            let header = Header {
                source,
                destination,
                at,
                input,
                plan,
                hops,
            };
            routing.step(&header).class
        };
        path.iter().enumerate().map(class).collect::<Vec<_>>()
    };
    let slim_fly = with(slim_fly(1), Ways::Minimal);
    let far = (1..50).find(|&to| hops(slim_fly.cabling(), Place::new(0), Place::new(to)) == 4);
    let far = far.expect("two links between switches");
    assert_eq!(classes(&slim_fly, far, 0), [Some(0), Some(1), None, None]);
    let ring = with(ring(9, 1), Ways::Minimal);
    let own = classes(&ring, 4, 0);
    assert_eq!(own[4..], [None, None]);
    assert!(
        own[..4]
            .iter()
            .all(|&class| class.is_some() && class == own[0])
    );
    // Through a leaf: all classes in the first part are lower.
    let valiant = with(common::graphs::ring(9, 1), Ways::Valiant);
    let routing = Forwarding::new(&valiant, Ascent::FlowHash);
    let plans = routing.plans(Place::new(0), Place::new(4));
    assert_eq!(plans.len(), 9);
    for plan in plans {
        let all = classes(&valiant, 4, plan);
        let all: Vec<u32> = all.into_iter().flatten().collect();
        assert!(
            all.is_sorted() && all.iter().all(|&class| class < 4),
            "{all:?}"
        );
    }
}

/// A packet alone takes a shortest way's delays.
#[test]
fn a_packet_alone() {
    let graph = with(slim_fly(1), Ways::Minimal);
    let routing = Forwarding::new(&graph, Ascent::FlowHash);
    let links = |to: u32| routing.path_of(Place::new(0), Place::new(to), 0).len() as u64;
    check_packet_alone(graph.clone(), &[3, 5], |to| 2 * 3 + 5 * (links(to) - 2));
}

/// A way by a random leaf goes there, shortest before and behind, and back over no link.
#[test]
fn ways_by_a_random_leaf() {
    let graph = with(slim_fly(2), Ways::Valiant);
    let routing = Forwarding::new(&graph, Ascent::FlowHash);
    let wiring = routing.wiring();
    let (from, to) = (Place::new(0), Place::new(99));
    let between = |a: u32, b: u32| hops(wiring, Place::new(2 * a), Place::new(2 * b + 1)) - 2;
    let lengths = routing.plans(from, to).into_iter();
    let lengths: Vec<u32> = lengths
        .map(|plan| routing.path_of(from, to, plan).len() as u32 - 2)
        .collect();
    let leaf = |place: Place| match wiring.ends(wiring.injection(place)).1 {
        End::Switch { switch, .. } => switch.get(),
        End::Node(_) => panic!("a node is at a switch"),
    };
    let mut expected: Vec<u32> = Vec::new();
    for via in (0..50).map(|switch| Place::new(2 * switch)) {
        let [a, via, b] = [from, via, to].map(|place| place.get() / 2);
        assert_ne!(leaf(from), leaf(to));
        expected.push(between(a, via) + between(via, b));
    }
    let sorted = |mut list: Vec<u32>| {
        list.sort_unstable();
        list
    };
    assert_eq!(sorted(lengths), sorted(expected));
    // Packets within one switch stay there.
    assert_eq!(routing.plans(Place::new(0), Place::new(1)), [0]);
}

/// Tables with all shortest ways and a class for each link are the same routing.
#[test]
fn tables_of_shortest_ways() {
    let plan = slim_fly(2);
    let routes = shortest(&plan, false, |_, _, _| true);
    let given = graph(&Plan {
        routes: Some(routes),
        ..plan.clone()
    });
    let own = with(plan, Ways::Minimal);
    assert_eq!(own.layers(), &Layers::Links(2));
    let [given, own] = [given, own].map(|graph| Forwarding::new(&graph, Ascent::Adaptive));
    assert_eq!(given.wiring().classes(), own.wiring().classes());
    for (from, to, _) in pairs(own.wiring()) {
        assert_eq!(given.plans(from, to), own.plans(from, to));
        for plan in own.plans(from, to) {
            assert_eq!(given.path_of(from, to, plan), own.path_of(from, to, plan));
        }
    }
}

/// The accepted share under uniform traffic. Channels are whole-packet credits.
fn accepted(graph: &Graph) -> f64 {
    let config = Config {
        circuit: Circuit::CutThrough,
        arbitration: Arbitration::RoundRobin,
        channels: 8,
        buffer: 20,
        packets_in_flight: 64,
        ..machine(graph.clone(), 8)
    };
    uniform_share(config, 200, [3, 6])
}

/// Minimal ways in low-diameter graphs accept nearly all uniform traffic, up*/down* ways in the
/// same graph a fraction.
#[test]
fn accepted_uniform_traffic() {
    let jellyfish = Family::Jellyfish {
        switches: 50,
        degree: 10,
        seed: 1,
    };
    let rate = |family: Family, ways| {
        let plan = family.plan(4).expect("a member");
        let share = accepted(&with(plan, ways));
        eprintln!("{family:?}, {ways:?}: {share:.3}");
        share
    };
    let slim_fly = Family::SlimFly { order: 5 };
    for family in [slim_fly, Family::PolarFly { order: 7 }, jellyfish] {
        assert!(rate(family, Ways::Minimal) >= 0.85);
    }
    // Ways by a random leaf are twice as long, and UGAL-L takes few.
    assert!(rate(slim_fly, Ways::UgalLocal) >= 0.7);
    assert!((0.3..0.6).contains(&rate(slim_fly, Ways::Valiant)));
    assert!(rate(slim_fly, Ways::UpDown) < 0.3);
}
