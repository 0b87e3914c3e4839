//! The k shortest ways in graphs: against all ways found by hand, without deadlock, and round dead
//! cables.

use crate::common;

use common::ASCENTS;
use common::graphs::{complete, graph, plan, ring};
use common::kinds::{check_packet_alone, check_ways};
use common::{machine, uniform_share};
use fabric::topology::graph::Plan;
use fabric::topology::{End, Family, Forwarding, Routing};
use fabric::{
    Arbitration, Ascent, Circuit, Config, Graph, LinkId, Place, SwitchId, Ways, Wiring, find_cycle,
};
use std::collections::BTreeSet;

fn with(plan: Plan, alternatives: u32) -> Graph {
    let ways = Ways::KShortest;
    graph(&Plan {
        ways,
        alternatives,
        ..plan
    })
}

/// Two squares with one cable between them, and a second cable beside it.
fn two_squares() -> Plan {
    let square = |first: u32| (0..4).map(move |at| (first + at, first + (at + 1) % 4));
    let cables = square(0).chain(square(4)).chain([(2, 4), (2, 4), (1, 3)]);
    plan(8, 1, cables)
}

/// All ways between two switches that pass no switch twice, by their links.
fn all_ways(wiring: &dyn Wiring, from: SwitchId, to: SwitchId) -> Vec<Vec<LinkId>> {
    let mut ways = Vec::new();
    let mut open = vec![(vec![from], Vec::new())];
    while let Some((passed, links)) = open.pop() {
        let at = passed[passed.len() - 1];
        if at == to {
            ways.push(links);
            continue;
        }
        for port in 0..wiring.ports(at) {
            let link = wiring.output(at, port);
            if let End::Switch { switch, .. } = wiring.ends(link).1
                && !passed.contains(&switch)
            {
                let (mut passed, mut links) = (passed.clone(), links.clone());
                passed.push(switch);
                links.push(link);
                open.push((passed, links));
            }
        }
    }
    ways.sort_by_key(Vec::len);
    ways
}

/// Each pair has different ways among all that exist, none of them longer than a way that is left
/// out; fewer only if all are taken. No packets wait in a circle.
fn check(plan: &Plan, most: u32) -> u32 {
    let graph = with(plan.clone(), most);
    let classes = graph.cabling().classes();
    let routing = Forwarding::new(&graph, Ascent::Adaptive);
    let wiring = routing.wiring();
    let home = |place: Place| match wiring.ends(wiring.ejection(place)).0 {
        End::Switch { switch, .. } => switch,
        End::Node(_) => panic!("a switch serves the node"),
    };
    for from in Place::all(wiring.nodes()) {
        for to in Place::all(wiring.nodes()).filter(|&to| home(to) != home(from)) {
            let all = all_ways(wiring, home(from), home(to));
            let plans = routing.plans(from, to);
            assert_eq!(plans.len(), all.len().min(most as usize), "{from} to {to}");
            let inner = |&plan: &u32| {
                let path = routing.path_of(from, to, plan);
                path[1..path.len() - 1].to_vec()
            };
            let ways: Vec<Vec<LinkId>> = plans.iter().map(inner).collect();
            let different: BTreeSet<_> = ways.iter().collect();
            assert_eq!(different.len(), ways.len(), "{from} to {to}");
            for (way, other) in ways.iter().zip(&all) {
                assert!(all.contains(way));
                assert_eq!(way.len(), other.len(), "{from} to {to}");
            }
        }
    }
    for ascent in ASCENTS {
        let mut config = machine(graph.clone(), classes);
        config.ascent = ascent;
        assert_eq!(find_cycle(&config), None);
        check_ways(&Forwarding::new(&graph, ascent));
    }
    let longest = check_ways(&routing) as u32 - 2;
    assert!(classes <= longest.max(1), "layers by links are as many");
    classes
}

/// A tree has one way, a ring two in two layers, a complete graph those over one other switch
/// behind the direct one.
#[test]
fn ways_by_hand() {
    assert_eq!(check(&plan(7, 1, (1..7).map(|at| (at - 1, at))), 8), 1);
    for switches in [3, 5, 8] {
        assert_eq!(
            check(&ring(switches, 1), 1),
            if switches < 4 { 1 } else { 2 }
        );
        assert!(check(&ring(switches, 1), 8) >= 2);
    }
    assert!(check(&complete(5, 1), 4) >= 2);
    for most in [1, 2, 3, 7, 64] {
        check(&two_squares(), most);
    }
}

/// Random graphs, with as many ways as Jellyfish has.
#[test]
fn ways_in_random_graphs() {
    for seed in 0..4 {
        let family = Family::Jellyfish {
            switches: 10,
            degree: 3,
            seed,
        };
        let layers = check(&family.plan(1).expect("a member"), 8);
        assert!(layers >= 2, "{layers} layers");
    }
}

/// With one way each, it is a shortest one, and takes the delays of its links.
#[test]
fn a_packet_alone() {
    let plan = Family::SlimFly { order: 5 }.plan(1).expect("a prime");
    let graph = with(plan, 1);
    let routing = Forwarding::new(&graph, Ascent::FlowHash);
    let links = |to: u32| routing.path_of(Place::new(0), Place::new(to), 0).len() as u64;
    assert!((1..50).all(|to| links(to) <= 4));
    check_packet_alone(graph.clone(), &[3, 5], |to| 2 * 3 + 5 * (links(to) - 2));
}

/// Round a ring, packets take the long way if the short one has a dead cable; shortest ways have
/// none.
#[test]
fn ways_round_a_dead_cable() {
    let (from, to) = (Place::new(0), Place::new(2));
    let around = |graph: &Graph| {
        let routing = Forwarding::new(graph, Ascent::FlowHash);
        let usual = routing.plan(from, to.into(), 0);
        let dead = routing.path_of(from, to, usual)[1];
        assert!(routing.may_cross(from, to, dead));
        let plan = routing.plan_around(from, to, usual, &|link| link == dead)?;
        Some(routing.path_of(from, to, plan).len())
    };
    let listed = with(ring(7, 1), 2);
    let lengths = around(&listed).expect("there is another way");
    assert!(lengths == 4 || lengths == 7, "{lengths}");
    let minimal = graph(&Plan {
        ways: Ways::Minimal,
        ..ring(7, 1)
    });
    assert_eq!(around(&minimal), None);
}

/// An adaptive packet takes the shorter way while the loads are equal, and the longer one behind
/// enough others.
#[test]
fn the_first_switch_compares_the_ways() {
    let graph = with(ring(5, 1), 2);
    let routing = Forwarding::new(&graph, Ascent::Adaptive);
    let (source, destination) = (Place::new(0), Place::new(2));
    let input = routing.wiring().injection(source);
    let End::Switch { switch: at, .. } = routing.wiring().ends(input).1 else {
        panic!("a node is at a switch");
    };
    let links = |plan| routing.path_of(source, destination, plan).len() - 2;
    let first = |plan| routing.path_of(source, destination, plan)[1];
    let short = [0, 1]
        .into_iter()
        .find(|&plan| links(plan) == 2)
        .expect("two links");
    let settled = |drawn: u32, loads: [u32; 2]| {
        let header = fabric::topology::Header {
            source,
            destination,
            at,
            input,
            plan: drawn,
            hops: 0,
        };
        let port_of = |port: u32| routing.wiring().output(at, port) == first(short);
        routing.settle(&header, &mut |port| loads[usize::from(!port_of(port))])
    };
    // Two links against three.
    for drawn in [0, 1] {
        for (loads, is_short) in [
            ([0, 0], true),
            ([3, 2], true),
            ([4, 2], false),
            ([1, 0], false),
        ] {
            assert_eq!(settled(drawn, loads) == short, is_short, "{loads:?}");
        }
    }
}

/// Bounds: the ways of a pair, all ways, and how long a way may be.
#[test]
fn bounds() {
    let error = |plan: Plan, alternatives: u32| {
        let plan = Plan {
            ways: Ways::KShortest,
            alternatives,
            ..plan
        };
        let error = Graph::new(&plan, plan.seats.len() as u32).expect_err("out of bounds");
        (error.key, error.message, error.allowed)
    };
    let of_ways = |message: &str, allowed: &str| ("ways".into(), message.into(), allowed.into());
    let out = |most: u32| format!("{most} ways between two switches are out of range");
    assert_eq!(error(ring(4, 1), 0), of_ways(&out(0), "1 to 64"));
    assert_eq!(error(ring(4, 1), 65), of_ways(&out(65), "1 to 64"));
    let message = "64 ways each between 100 switches with nodes are 633600; the most are 524288";
    assert_eq!(error(ring(100, 1), 64), of_ways(message, "1 to 52"));
    let row = plan(70, 1, (1..70).map(|at| (at - 1, at)));
    let (key, message, _) = error(row, 2);
    assert_eq!(key, "routing");
    assert!(message.contains("the most is"), "{message}");
}

/// Longer ways load more links, so that less uniform traffic is accepted than on the shortest ones.
#[test]
fn accepted_uniform_traffic() {
    let family = Family::Jellyfish {
        switches: 50,
        degree: 10,
        seed: 1,
    };
    let graph = with(family.plan(4).expect("a member"), 8);
    let layers = graph.cabling().classes();
    assert!((2..=4).contains(&layers), "{layers} layers");
    let config = Config {
        circuit: Circuit::CutThrough,
        arbitration: Arbitration::RoundRobin,
        channels: 12,
        buffer: 20,
        packets_in_flight: 64,
        ..machine(graph, 8)
    };
    let share = uniform_share(config, 200, [3, 6]);
    eprintln!("8 shortest ways: {share:.3}");
    assert!(share >= 0.7);
}
