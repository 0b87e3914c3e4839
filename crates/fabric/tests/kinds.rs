//! Networks from cable lists: their wiring, their ways, and closed forms for each kind.

use crate::common;

use common::kinds::{check_packet_alone, check_ways, check_wiring, cut, hops};
use common::{Bench, machine, named, packet};
use fabric::find_cycle;
use fabric::topology::{Arities, Cabling, End, Routing};
use fabric::{
    Circuit, Config, Dragonfly, HyperX, LinkId, Mesh, Misrouting, Place, SwitchId, Topology, Wiring,
};

fn positions(sizes: &[u32]) -> u32 {
    sizes.iter().product()
}

fn mesh(sizes: &[u32]) -> Mesh {
    Mesh::new(sizes, positions(sizes)).expect("within bounds")
}

const MESHES: [&[u32]; 5] = [&[2], &[5], &[4, 3], &[3, 4, 5], &[2, 4, 3, 2]];

/// A switch and two links for each node, and in each row a cable less than switches. The average
/// distance in a row of `k`, 0 to itself included, is `(k^2 - 1) / 3 k`; the greatest is `k - 1`.
#[test]
fn meshes() {
    for sizes in MESHES {
        let mesh = mesh(sizes);
        let nodes = positions(sizes);
        let cabling: &Cabling = mesh.cabling();
        check_wiring(cabling);
        check_wiring(mesh.with_rails(3).expect("three rails").cabling());
        let cables: u32 = sizes.iter().map(|k| nodes / k * (k - 1)).sum();
        assert_eq!(
            (cabling.switches(), cabling.links()),
            (nodes, 2 * (nodes + cables))
        );
        let longest = sizes.iter().map(|k| k - 1).sum::<u32>() as usize + 2;
        assert_eq!(check_ways(&mesh), longest);
        let mut sum = 0;
        for from in Place::all(nodes) {
            for to in Place::all(nodes) {
                assert_eq!(
                    mesh.distance(from, to) as usize,
                    mesh.path_of(from, to, 0).len()
                );
                assert_eq!(mesh.distance(from, to), hops(cabling, from, to));
                sum += mesh.distance(from, to);
            }
        }
        let row = |&k: &u32| f64::from(k * k - 1) / f64::from(3 * k);
        let average = 2.0 + sizes.iter().map(row).sum::<f64>();
        assert!((f64::from(sum) / f64::from(nodes * nodes) - average).abs() < 1e-9);
        assert_eq!(find_cycle(&machine(mesh.clone(), 1)), None);
    }
    for (sizes, links) in [(&[8][..], 1), (&[4, 4], 4), (&[8, 4], 4), (&[4, 4, 4], 16)] {
        let mesh = mesh(sizes);
        let longest = *sizes.iter().max().expect("a dimension");
        let stride: u32 = sizes.iter().take_while(|&&k| k < longest).product();
        let lower = |switch: SwitchId| switch.get() / stride % longest < longest / 2;
        assert_eq!(cut(mesh.cabling(), lower), links);
        assert_eq!(mesh.bisection(), links);
    }
    let four_by_five = |to: u32| 2 * 2 + 3 * u64::from(to % 4) + 7 * u64::from(to / 4);
    check_packet_alone(mesh(&[4, 5]), &[2, 3, 7], four_by_five);
    assert_eq!(find_cycle(&machine(mesh(&[16, 16, 8, 8]), 1)), None);
}

#[test]
fn meshes_that_cannot_be() {
    let error = |sizes: &[u32], nodes| {
        let error = Mesh::new(sizes, nodes).expect_err("no mesh");
        (error.key.clone(), error.to_string())
    };
    for (sizes, nodes, key, message) in [
        (
            &[][..],
            1,
            "dimensions",
            "a mesh has 1 to 8 dimensions, not 0",
        ),
        (&[4, 1], 4, "dimensions", "a row of 1 switches is none"),
        (
            &[600, 600],
            4,
            "dimensions",
            "the mesh has 360000 node positions; the most is 262144",
        ),
        (
            &[100],
            4,
            "dimensions",
            "the longest path has 101 links; the most is 64",
        ),
        (
            &[4, 4],
            17,
            "nodes",
            "17 nodes do not fit: the mesh holds 1 to 16",
        ),
    ] {
        assert_eq!(error(sizes, nodes), (key.to_string(), message.to_string()));
    }
    assert!(mesh(&[4]).with_rails(0).is_err());
}

const RULES: [Misrouting; 3] = [
    Misrouting::Minimal,
    Misrouting::Valiant,
    Misrouting::UgalLocal,
];

fn arities([terminals, group, global, groups]: [u32; 4]) -> Arities {
    Arities {
        terminals,
        group,
        global,
        groups,
    }
}

fn dragonfly(numbers: [u32; 4], rule: Misrouting) -> Dragonfly {
    let nodes = numbers[0] * numbers[1] * numbers[3];
    Dragonfly::new(arities(numbers), nodes, rule).expect("within bounds")
}

/// The largest one from its switches, one with two links between groups, switches alone in their
/// group, two groups.
const DRAGONFLIES: [[u32; 4]; 5] = [
    [2, 4, 2, 9],
    [1, 4, 2, 5],
    [2, 1, 4, 5],
    [1, 3, 2, 2],
    [3, 2, 3, 4],
];

/// `a (a - 1) / 2` cables in a group and `a h / 2` between groups per group; `a h / (g - 1)` cables
/// between every two groups. A minimal way has at most three links between switches, another one
/// five; one less for each one-switch group.
#[test]
fn dragonflies() {
    for numbers in DRAGONFLIES {
        let [p, a, h, g] = numbers;
        let minimal = dragonfly(numbers, Misrouting::Minimal);
        let wiring: &Cabling = minimal.cabling();
        check_wiring(wiring);
        check_wiring(minimal.with_rails(2).expect("two rails").cabling());
        assert_eq!((wiring.switches(), wiring.positions()), (a * g, p * a * g));
        assert_eq!(wiring.links(), 2 * p * a * g + g * a * (a - 1) + g * a * h);
        let between = |one: u32, other: u32| {
            let ends = |link: &LinkId| match wiring.ends(*link) {
                (End::Switch { switch: from, .. }, End::Switch { switch: to, .. }) => {
                    (from.get() / a, to.get() / a) == (one, other)
                }
                _ => false,
            };
            LinkId::all(wiring.links()).filter(ends).count() as u32
        };
        for (one, other) in (0..g).flat_map(|one| (0..g).map(move |other| (one, other))) {
            let links = if one == other {
                a * (a - 1)
            } else {
                a * h / (g - 1)
            };
            assert_eq!(between(one, other), links);
        }
        assert_eq!(
            cut(wiring, |switch| switch.get() / a < g / 2),
            minimal.bisection()
        );
        let within = usize::from(a > 1);
        assert_eq!(check_ways(&minimal), 3 + 2 * within);
        for rule in RULES {
            let dragonfly = dragonfly(numbers, rule);
            let longest = match rule {
                Misrouting::Minimal => 3 + 2 * within,
                _ if g == 2 => 3 + 2 * within,
                _ => 4 + 3 * within,
            };
            let found = check_ways(&dragonfly);
            assert!(found <= longest, "{numbers:?}, {rule:?}");
            assert!(found == longest || numbers != DRAGONFLIES[0]);
            let config = machine(dragonfly.clone(), 1);
            assert_eq!(find_cycle(&config), None, "{numbers:?}, {rule:?}");
            assert_eq!(
                dragonfly.cabling().classes(),
                if rule == Misrouting::Minimal { 2 } else { 3 }
            );
        }
        // One link between two groups leaves one minimal way, and it is a shortest one unless two
        // groups lead round a corner.
        for source in Place::all(wiring.nodes()) {
            for node in Place::all(wiring.nodes()) {
                let plans = minimal.plans(source, node).into_iter();
                let shortest = plans
                    .map(|plan| minimal.path_of(source, node, plan).len())
                    .min();
                let least = hops(wiring, source, node);
                assert!(shortest >= Some(least as usize) && shortest <= Some(5));
            }
        }
    }
    let time = |to: u32| {
        let (switch, group) = (to / 2, to / 8);
        let within = |own: u32| 3 * u64::from(own != 0);
        let there = within(switch % 4);
        2 * 2
            + if group == 0 {
                there
            } else {
                within((group - 1) / 2) + 7 + there
            }
    };
    check_packet_alone(
        dragonfly([2, 4, 2, 9], Misrouting::Minimal),
        &[2, 3, 7],
        time,
    );
    // An empty network leaves no reason to leave the minimal way.
    check_packet_alone(
        dragonfly([2, 4, 2, 9], Misrouting::UgalLocal),
        &[2, 3, 7],
        time,
    );
    for rule in RULES {
        assert_eq!(
            find_cycle(&machine(dragonfly([8, 16, 8, 129], rule), 1)),
            None
        );
    }
}

#[test]
fn dragonflies_that_cannot_be() {
    for (numbers, nodes, key, message) in [
        (
            [0, 4, 2, 9],
            1,
            "terminals",
            "0 is out of range for a dragonfly",
        ),
        (
            [2, 4, 2, 1],
            1,
            "groups",
            "1 is out of range for a dragonfly",
        ),
        (
            [2, 4, 2, 8],
            64,
            "groups",
            "8 global links of a group cannot be shared out evenly among 7 other groups",
        ),
        (
            [2, 4, 2, 9],
            73,
            "nodes",
            "73 nodes do not fit: the dragonfly holds 1 to 72",
        ),
        (
            [16, 32, 16, 513],
            1,
            "groups",
            "the dragonfly has 262656 node positions; the most is 262144",
        ),
    ] {
        let error = Dragonfly::new(arities(numbers), nodes, Misrouting::Minimal);
        let error = error.expect_err("no dragonfly");
        assert_eq!(
            (error.key.as_str(), error.to_string().as_str()),
            (key, message)
        );
    }
}

fn hyperx(sizes: &[u32], terminals: u32, rule: Misrouting) -> HyperX {
    HyperX::new(sizes, terminals, terminals * positions(sizes), rule).expect("within bounds")
}

/// Each switch is joined to all others in its rows: as many hops as coordinates differ, once for a
/// minimal way and at most twice for another one. The cut across rows with `k` switches has
/// `k^2 / 4` links in each.
#[test]
fn hyperx_networks() {
    for (sizes, terminals) in [
        (&[5][..], 2),
        (&[4, 3], 1),
        (&[3, 2, 4], 1),
        (&[4, 4], 3),
        (&[2, 2, 2, 3], 1),
    ] {
        let minimal = hyperx(sizes, terminals, Misrouting::Minimal);
        let wiring: &Cabling = minimal.cabling();
        check_wiring(wiring);
        check_wiring(minimal.with_rails(2).expect("two rails").cabling());
        let switches = positions(sizes);
        let inner: u32 = sizes.iter().map(|k| k - 1).sum();
        assert_eq!(wiring.links(), switches * (2 * terminals + inner));
        assert_eq!(check_ways(&minimal), sizes.len() + 2);
        for source in Place::all(wiring.nodes()) {
            for node in Place::all(wiring.nodes()) {
                let path = minimal.path_of(source, node, 0);
                assert_eq!(path.len() as u32, hops(wiring, source, node));
            }
        }
        for rule in RULES {
            let network = hyperx(sizes, terminals, rule);
            let times = if rule == Misrouting::Minimal { 1 } else { 2 };
            assert_eq!(check_ways(&network), times * sizes.len() + 2);
            assert_eq!(network.cabling().classes() as usize, times);
            assert_eq!(
                find_cycle(&machine(network, 1)),
                None,
                "{sizes:?}, {rule:?}"
            );
        }
    }
    for sizes in [&[4][..], &[4, 6], &[2, 4, 3]] {
        let network = hyperx(sizes, 1, Misrouting::Minimal);
        let shortest = *sizes.iter().min().expect("a dimension");
        let stride: u32 = sizes.iter().take_while(|&&k| k > shortest).product();
        let lower = |switch: SwitchId| switch.get() / stride % shortest < shortest / 2;
        assert_eq!(cut(network.cabling(), lower), network.bisection());
    }
    let time = |to: u32| {
        let (x, y) = (to / 2 % 4, to / 8);
        2 * 2 + 3 * u64::from(x > 0) + 7 * u64::from(y > 0)
    };
    check_packet_alone(hyperx(&[4, 5], 2, Misrouting::Minimal), &[2, 3, 7], time);
    check_packet_alone(hyperx(&[4, 5], 2, Misrouting::UgalLocal), &[2, 3, 7], time);
    for rule in RULES {
        assert_eq!(find_cycle(&machine(hyperx(&[16, 8, 8], 16, rule), 1)), None);
    }
}

#[test]
fn hyperx_networks_that_cannot_be() {
    for (sizes, terminals, nodes, key, message) in [
        (
            &[][..],
            1,
            1,
            "dimensions",
            "a HyperX network has 1 to 6 dimensions, not 0",
        ),
        (&[4, 1], 1, 4, "dimensions", "a row of 1 switches is none"),
        (
            &[4],
            0,
            4,
            "terminals",
            "0 nodes of a switch are out of range",
        ),
        (
            &[4],
            2,
            9,
            "nodes",
            "9 nodes do not fit: the HyperX network holds 1 to 8",
        ),
        (
            &[1000, 1000],
            1,
            4,
            "dimensions",
            "a switch has 1998 links to others; the most is 1024",
        ),
        (
            &[512, 512, 2],
            1,
            4,
            "dimensions",
            "the HyperX network has 524288 node positions; the most is 262144",
        ),
    ] {
        let error = HyperX::new(sizes, terminals, nodes, Misrouting::Minimal);
        let error = error.expect_err("no network");
        assert_eq!(
            (error.key.as_str(), error.to_string().as_str()),
            (key, message)
        );
    }
}

/// The cycle in which the last packet is done.
fn last_done(topology: impl Into<Topology>, traffic: &[(u32, u32)]) -> u64 {
    let config = Config {
        channels: 6,
        buffer: 64,
        circuit: Circuit::Wormhole,
        ..machine(topology, 1)
    };
    let packets = traffic.iter().map(|&(from, to)| (0, packet(from, to, 20)));
    let bench = Bench::new(config, 5).through(&named(&packets.collect::<Vec<_>>()));
    bench
        .done()
        .map(|(record, _)| record.delivered)
        .max()
        .expect("packets")
}

/// All nodes in a group send to the next group: minimal ways share one link, and 16 nodes' 40
/// packets of 20 flits take at least 40 * 16 * 20 cycles there. Ways through random groups share
/// out among 16 links at each end, and UGAL-L detects it. For uniform traffic minimal ways are
/// best, and UGAL-L is nearly as good.
#[test]
fn ugal_follows_the_better_rule() {
    let numbers = [4, 4, 4, 17];
    let nodes = 4 * 4 * 17;
    let adverse: Vec<(u32, u32)> = (0..40)
        .flat_map(|_| (0..nodes).map(|node| (node, (node + 16) % nodes)))
        .collect();
    let [minimal, valiant, ugal] = RULES.map(|rule| last_done(dragonfly(numbers, rule), &adverse));
    assert!(minimal >= 40 * 16 * 20, "{minimal}");
    assert!(valiant < minimal / 3, "{valiant} of {minimal}");
    assert!(ugal < minimal / 3, "{ugal} of {minimal}");
    // Multiplicative hashing scatters the destinations.
    let anywhere =
        |node: u32, k: u32| (node * 40 + k).wrapping_add(1).wrapping_mul(0x9E37_79B1) >> 7;
    let uniform: Vec<(u32, u32)> = (0..40)
        .flat_map(|k| (0..nodes).map(move |node| (node, anywhere(node, k) % nodes)))
        .collect();
    let [minimal, valiant, ugal] = RULES.map(|rule| last_done(dragonfly(numbers, rule), &uniform));
    assert!(valiant > minimal * 5 / 4, "{valiant} of {minimal}");
    assert!(
        ugal < valiant && ugal < minimal * 5 / 4,
        "{ugal} of {minimal}"
    );
    // In a row all nodes at a switch send to the next switch.
    let adverse: Vec<(u32, u32)> = (0..40)
        .flat_map(|_| (0..64).map(|node| (node, (node + 8) % 64)))
        .collect();
    let [minimal, valiant, ugal] = RULES.map(|rule| last_done(hyperx(&[8], 8, rule), &adverse));
    assert!(minimal >= 40 * 8 * 20, "{minimal}");
    assert!(
        valiant < minimal * 2 / 3 && ugal < minimal * 2 / 3,
        "{valiant}, {ugal} of {minimal}"
    );
}

/// A cable dies that the usual way needs: where the routing has other ways, packets take one; else
/// they are refused.
#[test]
fn dead_cables() {
    let (from, to) = (Place::new(0), Place::new(8));
    let alive = |routing: &dyn Fn(u32) -> Vec<LinkId>, plan: u32, dead: LinkId| {
        !routing(plan).contains(&dead)
    };
    for (numbers, rule, found) in [
        ([2, 4, 2, 9], Misrouting::Minimal, false),
        ([2, 4, 4, 9], Misrouting::Minimal, true),
        ([2, 4, 2, 9], Misrouting::Valiant, true),
        ([2, 4, 2, 9], Misrouting::UgalLocal, true),
    ] {
        let network = dragonfly(numbers, rule);
        let usual = network.plan(from, to.into(), 7);
        let way = network.path_of(from, to, usual);
        let wiring = network.cabling();
        let dead = way
            .iter()
            .copied()
            .find(|&link| wiring.link_level(link) == 2);
        let dead = dead.expect("the way leads to another group");
        assert!(network.may_cross(from, to, dead));
        let plan = network.plan_around(from, to, usual, &|link| link == dead);
        assert_eq!(plan.is_some(), found, "{numbers:?}, {rule:?}");
        let ways = |plan| network.path_of(from, to, plan);
        assert!(plan.is_none_or(|plan| alive(&ways, plan, dead)));
        assert_eq!(
            network.plan_around(from, to, usual, &|_| false),
            Some(usual)
        );
        let own = wiring.ejection(to);
        assert_eq!(
            network.plan_around(from, to, usual, &|link| link == own),
            None
        );
    }
}
