//! Graphs from cable lists, and up*/down* routing on them: closed forms for graphs that have some,
//! and invalid graphs.

use crate::common;

use common::ASCENTS;
use common::graphs::{complete, graph, plan, ring};
use common::kinds::{check_packet_alone, check_ways, check_wiring, cut, hops};
use common::machine;
use fabric::find_cycle;
use fabric::topology::graph::Plan;
use fabric::topology::{End, Forwarding, Routing};
use fabric::{Ascent, FatTree, Graph, LinkId, Place, SwitchId, Wiring};

fn hypercube(dimensions: u32) -> Plan {
    let switches = 1 << dimensions;
    let cables = (0..switches).flat_map(|at| (0..dimensions).map(move |bit| (at, at ^ 1 << bit)));
    plan(switches, 1, cables.filter(|(a, b)| a < b))
}

/// A fat tree's links with one node at each leaf and more, and its top as roots.
fn as_plan(tree: &FatTree) -> Plan {
    let ends = |link: LinkId| match tree.ends(link) {
        (End::Switch { switch: a, .. }, End::Switch { switch: b, .. }) => (a.get(), b.get()),
        _ => unreachable!("it joins switches"),
    };
    let up =
        LinkId::all(tree.links()).filter(|&link| tree.link_level(link) > 0 && tree.is_up(link));
    let seat = |place: Place| match tree.ends(tree.injection(place)).1 {
        End::Switch { switch, .. } => switch.get(),
        End::Node(_) => unreachable!("nodes are at switches"),
    };
    let top = |&switch: &u32| tree.switch_level(SwitchId::new(switch)) == tree.levels();
    Plan {
        switches: SwitchId::all(tree.switches())
            .map(|switch| tree.switch_name(switch))
            .collect(),
        seats: Place::all(tree.positions()).map(seat).collect(),
        cables: up.map(ends).collect(),
        roots: (0..tree.switches()).filter(top).collect(),
        ..Plan::default()
    }
}

/// Links on the ways between two places, the links of both nodes included: all plans lead over
/// equally many.
fn distance(routing: &Forwarding, from: Place, to: Place) -> u32 {
    let plans = routing.plans(from, to).into_iter();
    let mut lengths = plans.map(|plan| routing.path_of(from, to, plan).len() as u32);
    let first = lengths.next().expect("there is a plan");
    assert!(lengths.all(|length| length == first));
    first
}

/// The greatest and the average distance between nodes at different switches, their own links
/// included.
fn reach(routing: &Forwarding) -> (u32, f64) {
    let (mut longest, mut sum, mut pairs) = (0, 0, 0);
    for from in Place::all(routing.wiring().nodes()) {
        for to in Place::all(routing.wiring().nodes()).filter(|&to| to != from) {
            let distance = distance(routing, from, to);
            assert!(distance >= hops(routing.wiring(), from, to));
            (longest, sum, pairs) = (longest.max(distance), sum + distance, pairs + 1);
        }
    }
    (longest, f64::from(sum) / f64::from(pairs))
}

/// A graph's wiring, ways, distances and freedom from deadlock with all rules; returns the result
/// of `reach`.
fn check(plan: &Plan) -> (u32, f64) {
    let graph = graph(plan);
    check_wiring(graph.cabling());
    check_wiring(graph.with_rails(2).expect("two rails").cabling());
    let (switches, positions) = (plan.switches.len() as u32, plan.seats.len() as u32);
    let links = 2 * (positions + plan.cables.len() as u32);
    let cabling = graph.cabling();
    assert_eq!(
        (cabling.switches(), cabling.positions(), cabling.links()),
        (switches, positions, links)
    );
    let mut reached = Vec::new();
    for ascent in ASCENTS {
        let routing = Forwarding::new(&graph, ascent);
        let longest = check_ways(&routing) as u32;
        reached.push(reach(&routing));
        assert_eq!(reached[0], reached[reached.len() - 1]);
        assert_eq!(longest, reached[0].0);
        let mut config = machine(graph.clone(), 1);
        config.ascent = ascent;
        assert_eq!(find_cycle(&config), None);
        // No way goes up behind a link down.
        for from in Place::all(positions) {
            for to in Place::all(positions) {
                for plan in routing.plans(from, to) {
                    let path = routing.path_of(from, to, plan);
                    let inner = &path[1..path.len() - 1];
                    assert!(inner.is_sorted_by_key(|&link| !cabling.is_up(link)));
                }
            }
        }
    }
    reached[0]
}

/// The levels are distances from the root, and up is to the nearer end.
#[test]
fn links_lead_up_to_the_root() {
    let plan = Plan {
        roots: vec![3],
        ..hypercube(4)
    };
    let graph = graph(&plan);
    let wiring = graph.cabling();
    for link in LinkId::all(wiring.links()).filter(|&link| wiring.link_level(link) == 1) {
        let (from, to) = wiring.ends(link);
        let level = |end| {
            let name = wiring.end_name(end);
            let number: u32 = name
                .trim_start_matches("switch s")
                .parse()
                .expect("a number");
            (number ^ 3).count_ones()
        };
        assert_eq!(wiring.is_up(link), level(to) < level(from));
    }
}

/// A ring is cut at the switch that is farthest from the root: no way leads through it. On a ring
/// with even length `n` all other switches form a row of `n - 1`; its ends are `n - 2` links apart.
#[test]
fn rings() {
    for n in [4, 6, 10] {
        let (longest, average) = check(&ring(n, 1));
        assert_eq!(longest, 2 + n - 2);
        let row = |k: u32| f64::from(k * (k * k - 1) / 3);
        // The farthest switch is at most n / 2 from each other one, by both sides.
        let far: u32 = (1..n).map(|at| at.min(n - at)).sum();
        let sum = row(n - 1) + 2.0 * f64::from(far);
        assert!((average - 2.0 - sum / f64::from(n * (n - 1))).abs() < 1e-9);
    }
}

/// In a complete graph each pair is one link apart, up or down; half is cut off by `n^2 / 4` links.
#[test]
fn complete_graphs() {
    for n in [2, 5, 8] {
        assert_eq!(check(&complete(n, 1)), (3, 3.0));
    }
    let graph = graph(&complete(8, 1));
    assert_eq!(cut(graph.cabling(), |switch| switch.get() < 4), 16);
    let time = |to: u32| 2 * 2 + 3 * u64::from(to > 0);
    check_packet_alone(graph, &[2, 3], time);
}

/// In a hypercube the levels are distances from the root: differing bits that the root has are
/// gained on the way up, others are lost on the way down, so that all shortest ways are legal that
/// do it in this order. The cut in a dimension has `2^(d - 1)` links.
#[test]
fn hypercubes() {
    for d in [2, 3, 4] {
        let (longest, average) = check(&hypercube(d));
        assert_eq!(longest, 2 + d);
        let switches = f64::from(1 << d);
        let bits = f64::from(d) / 2.0 * switches / (switches - 1.0);
        assert!((average - 2.0 - bits).abs() < 1e-9);
        let graph = graph(&hypercube(d));
        let wiring = graph.cabling();
        let low = |switch: SwitchId| {
            let name = wiring.name_on_rail(switch);
            let number: u32 = name
                .trim_start_matches("switch s")
                .parse()
                .expect("a number");
            number.is_multiple_of(2)
        };
        assert_eq!(cut(wiring, low), 1 << (d - 1));
    }
    let time = |to: u32| 2 * 2 + 3 * u64::from(to.count_ones());
    check_packet_alone(graph(&hypercube(3)), &[2, 3], time);
}

/// A star and a row are trees: there is one way, the shortest.
#[test]
fn trees_have_one_way() {
    let star = plan(6, 2, (1..6).map(|at| (0, at)));
    assert_eq!(check(&star).0, 4);
    let row = plan(7, 1, (1..7).map(|at| (at - 1, at)));
    assert_eq!(check(&row).0, 8);
}

/// A fat tree as a graph, with the top switches as roots, has the ways of the fat tree: the same
/// distances, and as many different ways as there are nearest common ancestors. With one root all
/// packets would go through it.
#[test]
fn fat_trees_as_graphs() {
    for tree in [
        FatTree::k_ary(4, 2).expect("within bounds"),
        FatTree::k_ary(2, 3).expect("within bounds"),
        FatTree::k_ary(3, 2).expect("within bounds"),
        FatTree::with_parallel_links(&[3, 4], &[4], &[2], 12).expect("within bounds"),
    ] {
        let plan = as_plan(&tree);
        check(&plan);
        let routing = Forwarding::new(&graph(&plan), Ascent::Adaptive);
        for from in Place::all(tree.nodes()) {
            for to in Place::all(tree.nodes()) {
                assert_eq!(distance(&routing, from, to), tree.distance(from, to));
            }
        }
        let firsts = routing
            .plans(Place::new(0), Place::new(tree.nodes() - 1))
            .into_iter();
        let mut firsts: Vec<LinkId> = firsts
            .map(|plan| routing.path_of(Place::new(0), Place::new(tree.nodes() - 1), plan)[1])
            .collect();
        firsts.sort();
        firsts.dedup();
        assert_eq!(firsts.len() as u32, tree.up_links(1));
        let levels = |to: u32| u64::from(tree.distance(0_u32, to)) - 2;
        let delay = |to: u32| 2 * 2 + 3 * levels(to);
        check_packet_alone(graph(&plan), &[2, 3], delay);
    }
}

/// Where a packet has come down, up again and down would be a shorter way, and packets that start
/// there take it.
#[test]
fn what_has_come_down_goes_on_down() {
    let levels = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6)];
    let lowest = [
        (4, 7),
        (5, 7),
        (6, 8),
        (6, 9),
        (5, 10),
        (7, 8),
        (8, 9),
        (9, 10),
    ];
    let mut plan = plan(11, 1, levels.into_iter().chain(lowest));
    plan.roots = vec![0];
    check(&plan);
    let routing = Forwarding::new(&graph(&plan), Ascent::Adaptive);
    let links = |from: u32| distance(&routing, Place::new(from), Place::new(10)) - 2;
    assert_eq!([4, 7, 8].map(links), [4, 2, 2]);
}

/// A large graph: 16,384 nodes at 1,024 switches in a hypercube; the dependencies are searched in a
/// few seconds.
#[test]
#[ignore = "takes a minute without optimisation"]
fn large_graphs() {
    let mut plan = hypercube(10);
    plan.seats = (0..16_384).map(|node| node / 16).collect();
    assert_eq!(find_cycle(&machine(graph(&plan), 1)), None);
}

/// A cable dies: packets take another shortest legal way, under any rule, and are refused where
/// there is one way only.
#[test]
fn dead_cables() {
    let tree = FatTree::k_ary(4, 2).expect("within bounds");
    for ascent in ASCENTS {
        let routing = Forwarding::new(&graph(&as_plan(&tree)), ascent);
        let (from, to) = (Place::new(0), Place::new(15));
        let usual = routing.plan(from, to.into(), 5);
        let dead = routing.path_of(from, to, usual)[1];
        assert!(routing.may_cross(from, to, dead));
        let plan = routing.plan_around(from, to, usual, &|link| link == dead);
        let around = routing.path_of(from, to, plan.expect("another way up"));
        assert!(!around.contains(&dead));
        assert_eq!(around.len(), 4);
        let last = routing.wiring().ejection(to);
        assert_eq!(
            routing.plan_around(from, to, usual, &|link| link == last),
            None
        );
    }
    let row = plan(3, 1, [(0, 1), (1, 2)]);
    let routing = Forwarding::new(&graph(&row), Ascent::Adaptive);
    let dead = routing.path_of(Place::new(0), Place::new(2), 0)[1];
    assert_eq!(
        routing.plan_around(Place::new(0), Place::new(2), 0, &|link| link == dead),
        None
    );
}

#[test]
fn graphs_that_cannot_be() {
    let apart = plan(4, 1, [(0, 1), (2, 3)]);
    let wide = plan(2, 1024, [(0, 1)]);
    let long = plan(70, 1, (1..70).map(|at| (at - 1, at)));
    // Two leaves below separate roots, which are joined below only.
    let valley = Plan {
        roots: vec![0, 2],
        ..plan(5, 1, [(0, 1), (2, 3), (1, 4), (3, 4)])
    };
    for (plan, nodes, key, message) in [
        (
            &apart,
            4,
            "cables",
            "the graph is in several parts: no way leads from switch s0 to switch s2",
        ),
        (&wide, 2, "cables", "switch s0 has 1025 ports"),
        (
            &long,
            70,
            "roots",
            "a way from switch s0 to switch s69 by a root has 71 links; the most is 64",
        ),
        (
            &valley,
            5,
            "roots",
            "no way leads from switch s0 to switch s2 up to a root and down again",
        ),
        (
            &ring(4, 1),
            5,
            "nodes",
            "5 nodes do not fit: the graph holds 1 to 4",
        ),
        (&plan(1, 0, []), 1, "cables", "the graph has 0 nodes"),
        (&plan(0, 0, []), 1, "cables", "the graph has 0 switches"),
    ] {
        let error = Graph::new(plan, nodes).expect_err("no graph");
        assert_eq!(error.key, key, "{error}");
        // Any pair among several may be named.
        if key == "roots" {
            let kind = message.split(" from ").next().expect("a word");
            assert!(error.to_string().starts_with(kind), "{error}");
        } else {
            assert_eq!(error.to_string(), message);
        }
    }
}
