//! Graph families: switches, degrees, diameters, mean ways and cuts in closed form.

use crate::common;

use common::graphs::graph;
use common::kinds::{check_wiring, cut};
use common::machine;
use fabric::topology::Family;
use fabric::topology::graph::Plan;
use fabric::{SwitchId, Ways, Wiring, find_cycle};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// By switch: the other ends of its cables, which are all different.
fn joined(plan: &Plan) -> Vec<BTreeSet<u32>> {
    let mut joined = vec![BTreeSet::new(); plan.switches.len()];
    for &(a, b) in &plan.cables {
        assert!(
            a != b && joined[a as usize].insert(b) && joined[b as usize].insert(a),
            "{a} {b}"
        );
    }
    let names: BTreeSet<&String> = plan.switches.iter().collect();
    assert_eq!(names.len(), plan.switches.len());
    joined
}

/// By link count: the count of other switches with nodes at that distance from one.
fn far(joined: &[BTreeSet<u32>], seats: &BTreeSet<u32>, from: u32) -> BTreeMap<u32, usize> {
    let mut links = BTreeMap::from([(from, 0)]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for &next in &joined[at as usize] {
            if !links.contains_key(&next) {
                links.insert(next, links[&at] + 1);
                queue.push_back(next);
            }
        }
    }
    let mut found = BTreeMap::new();
    for &seat in seats.iter().filter(|&&seat| seat != from) {
        *found.entry(links[&seat]).or_insert(0) += 1;
    }
    found
}

/// Distances for each switch with nodes.
fn all_far(plan: &Plan) -> Vec<BTreeMap<u32, usize>> {
    let (joined, seats) = (
        joined(plan),
        plan.seats.iter().copied().collect::<BTreeSet<_>>(),
    );
    seats
        .iter()
        .map(|&seat| far(&joined, &seats, seat))
        .collect()
}

/// Minimal ways need this many layers, and do not deadlock with them.
fn check_layers(plan: &Plan, layers: u32) {
    for (ways, parts) in [(Ways::Minimal, 1), (Ways::Valiant, 2), (Ways::UpDown, 0)] {
        let graph = graph(&Plan {
            ways,
            ..plan.clone()
        });
        check_wiring(graph.cabling());
        let classes = (parts * layers).max(1);
        assert_eq!(graph.cabling().classes(), classes, "{ways:?}");
        assert_eq!(find_cycle(&machine(graph, classes)), None);
    }
}

/// 2 q² switches with degree (3 q - δ) / 2: all others are one link away or two.
#[test]
fn slim_flies() {
    for (order, degree) in [(3, 5), (5, 7), (7, 11), (11, 17), (13, 19)] {
        let plan = Family::SlimFly { order }.plan(1).expect("a prime");
        let switches = 2 * order * order;
        assert_eq!(plan.switches.len() as u32, switches);
        let expected = BTreeMap::from([(1, degree), (2, switches as usize - 1 - degree)]);
        assert!(
            all_far(&plan).iter().all(|found| *found == expected),
            "{order}"
        );
    }
    check_layers(&Family::SlimFly { order: 5 }.plan(2).expect("a prime"), 2);
}

/// q² + q + 1 switches with degree q + 1, except the q + 1 points on the conic, which have q.
#[test]
fn polar_flies() {
    for order in [3, 5, 7, 11] {
        let plan = Family::PolarFly { order }.plan(1).expect("a prime");
        let (q, switches) = (order as usize, (order * order + order + 1) as usize);
        assert_eq!(
            (plan.switches.len(), plan.cables.len()),
            (switches, q * (q + 1) * (q + 1) / 2)
        );
        let all = all_far(&plan);
        let of_degree = |degree: usize| {
            let expected = BTreeMap::from([(1, degree), (2, switches - 1 - degree)]);
            all.iter().filter(|&found| *found == expected).count()
        };
        assert_eq!((of_degree(q), of_degree(q + 1)), (q + 1, q * q));
    }
    check_layers(&Family::PolarFly { order: 7 }.plan(1).expect("a prime"), 2);
}

/// Equal degrees, a draw for each seed, and cuts above the bound for random graphs: half of the
/// switches have at least n (d / 4 - sqrt(d ln 2) / 2) cables to the other half (Bollobás, 1988).
#[test]
fn jellyfish() {
    let member = |switches, degree, seed| Family::Jellyfish {
        switches,
        degree,
        seed,
    };
    for (switches, degree) in [(4, 3), (20, 3), (50, 7), (64, 16), (9, 8)] {
        let plan = member(switches, degree, 1).plan(1).expect("within bounds");
        let joined = joined(&plan);
        assert!(joined.iter().all(|own| own.len() as u32 == degree));
        let graph = graph(&plan);
        let half = |switch: SwitchId| {
            let name = graph.cabling().switch_name(switch);
            let number: u32 = name
                .trim_start_matches("switch s")
                .parse()
                .expect("a number");
            number < switches / 2
        };
        let (n, d) = (f64::from(switches), f64::from(degree));
        let bound = n * (d / 4.0 - (d * 2_f64.ln()).sqrt() / 2.0);
        assert!(f64::from(cut(graph.cabling(), half)) >= bound);
    }
    let [one, again, other] =
        [1, 1, 2].map(|seed| member(50, 7, seed).plan(4).expect("within bounds"));
    assert_eq!(one, again);
    assert_ne!(one.cables, other.cables);
    // No graph with this switch count and degree has shorter mean ways (Cerf et al., 1974); a
    // random one is near.
    let (others, near) = (49, 7);
    let least = f64::from(near + 2 * (others - near)) / f64::from(others);
    let sum: usize = all_far(&one)
        .iter()
        .flatten()
        .map(|(&links, &count)| links as usize * count)
        .sum();
    let mean = sum as f64 / f64::from(50 * 49);
    assert!(least < mean && mean < 1.2 * least, "{mean}");
    let graph = graph(&Plan {
        ways: Ways::Minimal,
        ..one
    });
    let layers = graph.cabling().classes();
    assert!((2..=4).contains(&layers), "{layers}");
    assert_eq!(find_cycle(&machine(graph, layers)), None);
}

/// Each switch has one cable to each other group.
#[test]
fn xpanders() {
    for (switches, degree) in [(8, 3), (24, 5), (64, 7)] {
        let family = Family::Xpander {
            switches,
            degree,
            seed: 3,
        };
        let plan = family.plan(1).expect("within bounds");
        let size = switches / (degree + 1);
        for (switch, own) in (0..).zip(joined(&plan)) {
            let groups: BTreeSet<u32> = own.iter().map(|other| other / size).collect();
            assert_eq!((own.len() as u32, groups.len() as u32), (degree, degree));
            assert!(!groups.contains(&(switch / size)));
        }
    }
}

/// Leaves in a group are two links apart, by any spine; leaves in two groups are three, if a spine
/// in each ends one link between them.
#[test]
fn megaflies() {
    for (group, global, groups) in [(2, 2, 5), (3, 1, 4), (4, 2, 9), (4, 2, 3)] {
        let family = Family::Megafly {
            group,
            global,
            groups,
        };
        let plan = family.plan(2).expect("within bounds");
        let inner = (group * group * groups) as usize;
        let between = (group * global * groups / 2) as usize;
        assert_eq!(plan.cables.len(), inner + between);
        assert_eq!(plan.seats.len() as u32, 2 * group * groups);
        let expected = BTreeMap::from([
            (2, group as usize - 1),
            (3, (group * (groups - 1)) as usize),
        ]);
        let mut all = all_far(&plan).into_iter();
        assert!(all.all(|found| found == expected), "{family:?}");
        check_layers(&plan, 1);
        // Half of the groups have as many cables to the other half as there are pairs, times the
        // cables per pair.
        let graph = graph(&plan);
        let lower = |switch: SwitchId| {
            let name = graph.cabling().switch_name(switch);
            let of = name
                .trim_start_matches("switch ")
                .split('.')
                .next()
                .expect("a group");
            of.parse::<u32>().expect("a number") < groups / 2
        };
        let pair = group * global / (groups - 1);
        assert_eq!(
            cut(graph.cabling(), lower),
            groups / 2 * (groups - groups / 2) * pair
        );
    }
}

#[test]
fn members_that_are_not() {
    let jellyfish = |switches, degree| Family::Jellyfish {
        switches,
        degree,
        seed: 0,
    };
    let xpander = |switches, degree| Family::Xpander {
        switches,
        degree,
        seed: 0,
    };
    let megafly = |group, global, groups| Family::Megafly {
        group,
        global,
        groups,
    };
    for (family, key) in [
        (Family::SlimFly { order: 9 }, "order"),
        (Family::SlimFly { order: 47 }, "order"),
        (Family::PolarFly { order: 2 }, "order"),
        (jellyfish(5000, 8), "switches"),
        (jellyfish(20, 20), "degree"),
        (jellyfish(15, 3), "degree"),
        (xpander(10, 3), "switches"),
        (megafly(0, 1, 2), "group"),
        (megafly(4, 2, 4), "groups"),
        (megafly(64, 64, 65), "groups"),
    ] {
        let error = family.plan(1).expect_err("no such member");
        assert_eq!(error.key, key, "{error}");
    }
}
