//! Forwarding tables from outside: a Slim Fly's ways, channel classes and deadlocks, and tables
//! that do not fit a graph.

use crate::common;

use common::ASCENTS;
use common::graphs::{graph, plan, ring, shortest};
use common::kinds::{check_packet_alone, check_ways};
use common::machine;
use fabric::topology::graph::{Entry, Plan, Routes, Target};
use fabric::topology::{End, Forwarding, Header, Routing};
use fabric::{Graph, Place, find_cycle};

/// The smallest regular Slim Fly (Besta and Hoefler, 2014): q = 5, the Hoffman-Singleton graph with
/// 50 switches and 7 links each; any two switches are at most two links apart.
fn slim_fly() -> Plan {
    const Q: u32 = 5;
    let switch = |half: u32, x: u32, y: u32| half * Q * Q + x % Q * Q + y % Q;
    let mut cables = Vec::new();
    for x in 0..Q {
        for y in 0..Q {
            cables.push((switch(0, x, y), switch(0, x, y + 1)));
            cables.push((switch(1, x, y), switch(1, x, y + 2)));
            cables.extend((0..Q).map(|m| (switch(0, x, y), switch(1, m, y + Q * Q - m * x))));
        }
    }
    plan(2 * Q * Q, 1, cables)
}

fn with(plan: Plan, routes: Routes) -> Plan {
    Plan {
        routes: Some(routes),
        ..plan
    }
}

#[test]
fn minimal_ways_of_a_slim_fly() {
    let plan = slim_fly();
    assert_eq!(plan.cables.len(), 175);
    let routes = shortest(&plan, false, |_, _, _| true);
    assert_eq!(routes.classes, 2, "the diameter");
    let one_class = Routes {
        classes: 1,
        ..routes.clone()
    };
    let cycle = find_cycle(&machine(graph(&with(plan.clone(), one_class)), 1));
    assert!(cycle.is_some(), "five switches in a ring");
    let slim_fly = graph(&with(plan, routes));
    assert_eq!(find_cycle(&machine(slim_fly.clone(), 1)), None);
    for ascent in ASCENTS {
        assert_eq!(check_ways(&Forwarding::new(&slim_fly, ascent)), 4);
    }
    // Over the links of both nodes, and two between switches: all ways in a Moore graph are the
    // only ones.
    let routing = Forwarding::new(&slim_fly, ASCENTS[0]);
    let links = |to: u32| routing.path_of(Place::new(0), Place::new(to), 0).len() as u64;
    let neighbours = (1..50).filter(|&to| links(to) == 3).count();
    assert_eq!(neighbours, 7);
    check_packet_alone(slim_fly.clone(), &[3, 5], |to| 2 * 3 + 5 * (links(to) - 2));
}

/// A node's entry stands above the entry of its switch, and a switch without such an entry sends
/// the packets of its nodes alike.
#[test]
fn entries_of_nodes_and_switches() {
    let square = ring(4, 2); // nodes 4 and 5 are at switch 2, opposite switch 0
    let mut routes = shortest(&square, false, |_, _, next| next == 1);
    routes.entries.push(Entry {
        at: 0,
        to: Target::Node(5),
        next: vec![3],
    });
    let square = graph(&with(square, routes));
    let routing = Forwarding::new(&square, ASCENTS[0]);
    let by = |to: u32| {
        let path = routing.path_of(Place::new(0), Place::new(to), 0);
        let wiring = routing.wiring();
        path.iter()
            .map(|&link| wiring.end_name(wiring.ends(link).1))
            .collect::<Vec<_>>()
    };
    assert_eq!(by(4), ["switch s0", "switch s1", "switch s2", "node 4"]);
    assert_eq!(by(5), ["switch s0", "switch s3", "switch s2", "node 5"]);
    assert_eq!(by(1), ["switch s0", "node 1"]);
    // Rails have equal tables.
    let rails = square.with_rails(2).expect("two rails");
    let path = Forwarding::new(&rails, ASCENTS[0]).path_of(Place::new(8), Place::new(13), 0);
    assert_eq!(path.len(), 4);
}

/// Where a table lists several neighbours, plans lead over all.
#[test]
fn plans_choose_among_neighbours() {
    let square = ring(4, 1);
    let routes = shortest(&square, true, |_, _, _| true);
    let routing = Forwarding::new(&graph(&with(square, routes)), ASCENTS[0]);
    let (from, to) = (Place::new(0), Place::new(2));
    let plans = routing.plans(from, to);
    let ways: Vec<_> = plans
        .iter()
        .map(|&plan| routing.path_of(from, to, plan))
        .collect();
    assert_eq!(ways.len(), 2);
    assert_ne!(ways[0], ways[1]);
    let dead = ways[0][1];
    let around = routing.plan_around(from, to, plans[0], &|link| link == dead);
    assert_eq!(around, Some(plans[1]));
}

/// A packet takes the class with its link count between switches, and the last class on further
/// links; to its node it takes any. With fewer classes than links packets may wait for each other,
/// with as many they may not.
#[test]
fn hop_classes() {
    for (classes, expected) in [(1, [None; 4]), (3, [0, 1, 2, 2].map(Some))] {
        let row = plan(5, 1, (1..5).map(|at| (at - 1, at)));
        let routes = Routes {
            classes,
            ..shortest(&row, false, |_, _, _| true)
        };
        let routing = Forwarding::new(&graph(&with(row, routes)), ASCENTS[0]);
        let (wiring, source, destination) = (routing.wiring(), Place::new(0), Place::new(4));
        assert_eq!(wiring.classes(), classes);
        let path = routing.path_of(source, destination, 0);
        let class = |hops: usize| {
            let End::Switch { switch: at, .. } = wiring.ends(path[hops]).1 else {
                panic!("a way between switches");
            };
            let header = Header {
                source,
                destination,
                at,
                input: path[hops],
                plan: 0,
                hops,
            };
            routing.step(&header).class
        };
        assert_eq!([0, 1, 2, 3].map(class), expected);
        assert_eq!(class(4), None);
    }
    // Clockwise round a ring.
    for (classes, deadlocks) in [(1, true), (2, true), (3, true), (4, false), (5, false)] {
        let mut routes = shortest(&ring(5, 1), true, |_, _, _| true);
        for entry in &mut routes.entries {
            entry.next = vec![(entry.at + 1) % 5];
        }
        routes.classes = classes;
        let graph = graph(&with(ring(5, 1), routes));
        let cycle = find_cycle(&machine(graph, 1));
        assert_eq!(cycle.is_some(), deadlocks, "{classes}: {cycle:?}");
    }
}

/// The message about tables that a change has spoilt, the change, and the error's key.
type Misfit<'a> = (&'a str, &'a dyn Fn(&mut Routes), String);

#[test]
fn tables_that_do_not_fit() {
    let square = || ring(4, 1);
    let routes = || shortest(&square(), false, |_, _, next| next % 2 == 1);
    let entry = |at, to, next: &[u32]| Entry {
        at,
        to,
        next: next.to_vec(),
    };
    let number = |at: u32, to: u32| {
        let all = routes().entries;
        let there = |entry: &Entry| entry.at == at && entry.to == Target::Switch(to);
        all.iter().position(there).expect("it is there")
    };
    let cases: [Misfit; 6] = [
        (
            "switch s0 has no cable to switch s2, the next switch for node 2: name one of its \
            neighbours, switch s3, switch s1",
            &|routes| routes.entries.push(entry(0, Target::Node(2), &[1, 2])),
            "routes.12".into(),
        ),
        (
            "switch s0 has another entry for switch s2: list all neighbours in one line",
            &|routes| routes.entries.push(entry(0, Target::Switch(2), &[3])),
            "routes.12".into(),
        ),
        (
            "node 2 is at switch s2 itself, and packets leave there to their nodes: remove the \
            line",
            &|routes| routes.entries.push(entry(2, Target::Node(2), &[3])),
            "routes.12".into(),
        ),
        (
            "switch s2 has no entry for switch s0: add a line with switch s2, switch s0 and the \
            next switches",
            &|routes| drop(routes.entries.remove(number(2, 0))),
            "routes".into(),
        ),
        (
            "packets to switch s0 return to switch s2, by switch s2 -> switch s1 -> switch s2: let \
            one of these entries lead nearer",
            &|routes| routes.entries[number(1, 0)].next = vec![2],
            format!("routes.{}", number(2, 0)),
        ),
        (
            "there are no classes",
            &|routes| routes.classes = 0,
            "hop_classes".into(),
        ),
    ];
    for (message, change, key) in &cases {
        let mut changed = routes();
        change(&mut changed);
        let error = Graph::new(&with(square(), changed), 4).expect_err("it does not fit");
        assert_eq!((error.message.as_str(), &error.key), (*message, key));
    }
    let without_nodes = Plan {
        seats: vec![0, 1],
        ..square()
    };
    let error = Graph::new(&with(without_nodes, routes()), 2).expect_err("no destination");
    assert_eq!(
        error.message,
        "switch s2 has no nodes, and so is no destination: remove the line"
    );
}

/// A switch in the middle of a way needs an entry, too; a switch that no packet comes to does not.
#[test]
fn only_switches_on_a_way_need_entries() {
    let row = Plan {
        seats: vec![0, 2],
        ..plan(4, 1, [(0, 1), (1, 2), (2, 3)])
    };
    let mut routes = shortest(&row, false, |_, _, _| true);
    routes.entries.retain(|entry| entry.at != 3);
    graph(&with(row.clone(), routes.clone()));
    routes
        .entries
        .retain(|entry| (entry.at, entry.to) != (1, Target::Switch(2)));
    let error = Graph::new(&with(row, routes), 2).expect_err("a gap");
    assert_eq!(
        error.message,
        "switch s1 has no entry for switch s2, and packets from switch s0 come there: add a line \
        with switch s1, switch s2 and the next switches"
    );
    let long = plan(70, 1, (1..70).map(|at| (at - 1, at)));
    let routes = shortest(&long, false, |_, _, _| true);
    let error = Graph::new(&with(long, routes), 70).expect_err("too long");
    assert!(
        error
            .message
            .ends_with("has more than 62 links between switches"),
        "{error}"
    );
}
