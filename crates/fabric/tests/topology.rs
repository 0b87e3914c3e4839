//! Trees in numbers: closed forms for k-ary n-trees, `QsNET`'s golden numbers, and invalid trees.

use fabric::topology::{Climb, DeadLinks, End, MAX_ARITY, Routing};
use fabric::{Ascent, Broadcast, FatTree, LinkId, NodeId, Place, Rail, SwitchId, Torus, Wiring};

#[test]
fn closed_forms_of_k_ary_n_trees() {
    let sizes = (2..=5).flat_map(|k| (1..=4).map(move |n| (k, n)));
    for (k, n) in sizes.chain((5..=8).map(|n| (4, n))) {
        let tree = FatTree::k_ary(k, n).expect("within bounds");
        let (nodes, levels) = (k.pow(n as u32), n as u32);
        assert_eq!((tree.nodes(), tree.positions()), (nodes, nodes));
        assert_eq!(tree.levels(), n);
        assert_eq!(tree.switches(), levels * nodes / k, "{k}-ary {n}-tree");
        assert_eq!(tree.links(), 2 * levels * nodes, "{k}-ary {n}-tree");
        assert_eq!(tree.bisection(), nodes / 2, "{k}-ary {n}-tree");
        for level in 1..=n {
            assert_eq!(tree.switches_of_level(level), nodes / k);
            assert_eq!(tree.down_links(level), k);
            assert_eq!(tree.up_links(level), if level < n { k } else { 0 });
        }
        // Of the k^n destinations, k share the first switch (the source among them), and k^l -
        // k^(l-1) are 2 l links away for each further level l.
        for source in [0, nodes / 3, nodes - 1] {
            let mut at_distance = vec![0; n + 1];
            for destination in 0..nodes {
                let distance = tree.distance(source, destination);
                assert_eq!(distance, tree.distance(destination, source));
                at_distance[distance as usize / 2] += 1;
            }
            assert_eq!(at_distance[1], k);
            for level in 2..=levels {
                let expected = k.pow(level) - k.pow(level - 1);
                assert_eq!(at_distance[level as usize], expected);
            }
        }
    }
}

/// The network in petrini2003 s2.2 and figure 2.
#[test]
fn qsnet_of_64_nodes() {
    let tree = FatTree::quaternary(3).expect("within bounds");
    assert_eq!((tree.nodes(), tree.switches(), tree.links()), (64, 48, 384));
    assert_eq!(tree.bisection(), 32);
    assert_eq!(tree.distance(0_u32, 3_u32), 2);
    assert_eq!(tree.distance(0_u32, 4_u32), 4);
    assert_eq!(tree.distance(0_u32, 16_u32), 6);
    assert_eq!(tree.distance(5_u32, 5_u32), 2);
    assert_eq!(tree.switch_name(SwitchId::new(0)), "switch 1.0");
    assert_eq!(tree.switch_name(SwitchId::new(29)), "switch 2.13");
    assert_eq!(tree.switch_name(SwitchId::new(47)), "switch 3.15");
    let (from, to) = tree.ends(tree.injection(Place::new(5)));
    assert_eq!(
        (tree.end_name(from), tree.end_name(to)),
        ("node 5".into(), "switch 1.1".into())
    );
}

/// Host `h`'s adapter `k` is at leaf `k` in the host's pod: a permutation of the positions, and all
/// else as in the plain tree. Two links join adapters on one rail in a pod, four those in one host
/// if a switch joins the pod's leaves.
#[test]
fn rail_optimised_trees() {
    for (down, up, adapters) in [
        (&[4, 8][..], &[4][..], 8),
        (&[4, 8, 3], &[4, 2], 8),
        (&[3, 4, 2], &[3, 3], 2),
        (&[2, 2, 3], &[2, 1], 6),
    ] {
        let positions: u32 = down.iter().product();
        let (hosts, pod) = (down[0], down[0] * adapters);
        let plain = FatTree::new(down, up, positions).expect("within bounds");
        let plain = plain.with_rails(2).expect("two rails");
        let tree = plain.rail_optimised(adapters).expect("whole pods");
        assert_eq!(tree.adapters(), adapters);
        assert_eq!(tree.bisection(), plain.bisection());
        assert_eq!(
            (tree.switches(), tree.links()),
            (plain.switches(), plain.links())
        );
        assert!(LinkId::all(tree.links()).all(|link| tree.ends(link) == plain.ends(link)));
        assert!(plain.has_ranges() && !tree.has_ranges());
        let rail = Rail::new(1);
        for node in NodeId::all(positions) {
            let place = tree.place(rail, node);
            assert_eq!(tree.rail_and_node(place), (rail, node));
            let (host, adapter) = (node.get() / adapters, node.get() % adapters);
            let leaf = host / hosts * adapters + adapter;
            assert_eq!(place.get(), positions + leaf * down[0] + host % hosts);
            let end = tree.end_name(End::Node(place));
            assert_eq!(end, format!("node {node} of rail 1"));
            // The same adapter in the pod's next host, and the next adapter in the same host.
            if host % hosts + 1 < hosts {
                let next = tree.place(rail, NodeId::new(node.get() + adapters));
                assert_eq!(tree.distance(place, next), 2);
            }
            if adapter + 1 < adapters {
                let next = tree.place(rail, NodeId::new(node.get() + 1));
                let within = if down[1].is_multiple_of(adapters) {
                    4
                } else {
                    6
                };
                assert!((4..=within).contains(&tree.distance(place, next)));
            }
        }
        // Whole pods, and so the first positions are taken.
        if positions > pod {
            let part = FatTree::new(down, up, pod).expect("within bounds");
            let part = part.rail_optimised(adapters).expect("a whole pod");
            let places = NodeId::all(pod).map(|node| part.place(Rail::new(0), node));
            let mut places: Vec<Place> = places.collect();
            places.sort();
            assert!(places.into_iter().eq(Place::all(pod)));
        }
    }
    let tree = FatTree::new(&[4, 8], &[4], 24).expect("within bounds");
    for (adapters, key, message) in [
        (
            1,
            "adapters",
            "1 adapters of a host need as many leaves in each pod, and the tree has 8 leaves",
        ),
        (
            3,
            "adapters",
            "3 adapters of a host need as many leaves in each pod, and the tree has 8 leaves",
        ),
        (
            4,
            "nodes",
            "24 nodes are no whole pods: 4 leaves with 4 nodes each are a pod of 16",
        ),
    ] {
        let error = tree.rail_optimised(adapters).expect_err("no whole pods");
        assert_eq!(
            (error.key.as_str(), error.to_string().as_str()),
            (key, message)
        );
    }
}

/// With 32 of 64 nodes the switches stay, and so do the distances (petrini2003 s5.3).
#[test]
fn partly_populated() {
    let full = FatTree::quaternary(3).expect("within bounds");
    let half = FatTree::new(&[4, 4, 4], &[4, 4], 32).expect("within bounds");
    assert_eq!((half.nodes(), half.positions()), (32, 64));
    assert_eq!(
        (half.switches(), half.links()),
        (full.switches(), full.links())
    );
    assert_eq!(half.distance(0_u32, 31_u32), full.distance(0_u32, 31_u32));
}

/// Half the links upwards from the first level: half the switches above, half the bisection.
#[test]
fn reduced() {
    let tree = FatTree::new(&[4, 4, 4], &[2, 4], 64).expect("within bounds");
    assert_eq!(tree.switches_of_level(1), 16);
    assert_eq!(tree.switches_of_level(2), 8);
    assert_eq!(tree.switches_of_level(3), 8);
    assert_eq!(tree.links(), 2 * (64 + 32 + 32));
    assert_eq!(tree.bisection(), 16);
}

/// `QsNET`'s top level with all eight links per switch used: half the switches, all links
/// (petrini2003 s5.4).
#[test]
fn halved_top_level() {
    let full = FatTree::quaternary(3).expect("within bounds");
    let tree =
        FatTree::with_parallel_links(&[4, 4, 4], &[4, 4], &[1, 2], 64).expect("within bounds");
    assert_eq!((tree.nodes(), tree.positions()), (64, 64));
    assert_eq!(tree.switches_of_level(1), 16);
    assert_eq!(tree.switches_of_level(2), 16);
    assert_eq!(tree.switches_of_level(3), 8);
    assert_eq!((tree.children(3), tree.down_links(3)), (4, 8));
    assert_eq!((tree.children(2), tree.down_links(2)), (4, 4));
    assert_eq!(tree.links(), full.links());
    assert_eq!(tree.bisection(), full.bisection());
    // The last switch on the second level: two links to the last ports at each of the last two at
    // the top.
    let switch = SwitchId::new(16 + 15);
    let ends = (4..8).map(|port| tree.ends(tree.output(switch, port)).1);
    let top = |number: u32, port| End::Switch {
        switch: SwitchId::new(32 + number),
        port,
    };
    assert!(ends.eq([top(6, 6), top(6, 7), top(7, 6), top(7, 7)]));
}

#[test]
fn errors_name_what_is_wrong() {
    let error = |down: &[u32], up: &[u32], nodes| {
        FatTree::new(down, up, nodes).expect_err("not a tree that is allowed")
    };
    // One node, but 2^10 switches above each switch, three times over; and 2^16 one-node
    // first-level switches, each with 2^10 up-links, then one up-link each.
    for (found, says) in [
        (
            error(&[], &[], 1),
            "down: a tree has 1 to 8 levels of switches, not 0",
        ),
        (
            error(&[2; 9], &[2; 8], 1),
            "down: a tree has 1 to 8 levels of switches, not 9",
        ),
        (
            FatTree::k_ary(4, 0).expect_err("no levels"),
            "down: a tree has 1 to 8 levels of switches, not 0",
        ),
        (
            error(&[4, 4, 4], &[4, 4, 4], 64),
            "up: a tree of 3 levels has 2 entries of up-links, one for each level but the \
            top, not 3",
        ),
        (
            error(&[4, 0], &[4], 4),
            "down.1: the switches of level 2 have 0 down-links; allowed are 1 to 1024",
        ),
        (
            error(&[4, 4], &[MAX_ARITY + 1], 4),
            "up.0: the switches of level 1 have 1025 up-links; allowed are 1 to 1024",
        ),
        (
            error(&[MAX_ARITY, 257], &[1], 4),
            "down: the tree has 263168 node positions; the most is 262144",
        ),
        (
            error(&[1; 4], &[1024; 3], 1),
            "up: the tree has 1074791425 switches; the most is 16777216",
        ),
        (
            error(&[1, 1024, 64], &[1024, 1], 1),
            "up: the tree has 134479872 links; the most is 16777216",
        ),
        (
            error(&[4, 4, 4], &[4, 4], 0),
            "nodes: 0 nodes do not fit: the tree holds 1 to 64",
        ),
        (
            error(&[4, 4, 4], &[4, 4], 65),
            "nodes: 65 nodes do not fit: the tree holds 1 to 64",
        ),
    ] {
        assert_eq!(format!("{}: {}", found.key, found.message), says);
    }
}

#[test]
fn errors_name_what_is_wrong_with_parallel_links() {
    for (down, up, parallel, says) in [
        (
            &[4, 4, 4][..],
            &[4, 4][..],
            &[2][..],
            "parallel: a tree of 3 levels has 2 entries of parallel links, one for each level but \
            the top, not 1",
        ),
        (
            &[4, 4],
            &[4],
            &[3],
            "parallel.0: the switches of level 1 have 4 up-links, which is no multiple of 3 \
            parallel links to each parent",
        ),
        (
            &[1, 600],
            &[2],
            &[2],
            "parallel.0: 2 parallel links to each of 600 children are too many; a switch of level \
            2 may have 1024 down-links",
        ),
    ] {
        let found = FatTree::with_parallel_links(down, up, parallel, 1)
            .expect_err("not a tree that is allowed");
        assert_eq!(format!("{}: {}", found.key, found.message), says);
    }
    for found in [0, 3, 8] {
        let found = FatTree::with_parallel_links(&[4, 4, 4], &[4, 4], &[1, found], 1)
            .expect_err("no multiple");
        assert_eq!(
            (found.key.as_str(), found.allowed.as_str()),
            ("parallel.1", "1, 2, 4")
        );
    }
    // Too many switches without parallel links, few enough with them.
    let (down, up) = ([1; 4], [1024; 3]);
    assert!(FatTree::new(&down, &up, 1).is_err());
    assert!(FatTree::with_parallel_links(&down, &up, &up, 1).is_ok());
}

/// The check in the routing tables for each packet matches the definition, for any dead cables.
#[test]
fn dead_cables_are_found_on_the_ways_of_all_pairs() {
    let trees = [
        FatTree::quaternary(3).expect("within bounds"),
        FatTree::with_parallel_links(&[3, 2, 4], &[4, 2], &[2, 1], 20).expect("within bounds"),
        FatTree::new(&[4, 2, 3], &[1, 3], 24).expect("within bounds"),
    ];
    let torus = Torus::new(&[4, 3, 2], 24, true).expect("within bounds");
    for tree in trees {
        let climb = Climb::new(&tree, Ascent::Adaptive, Broadcast::Serialised);
        find_dead_cables(&climb);
        let rails = tree.with_rails(2).expect("within bounds");
        find_dead_cables(&Climb::new(&rails, Ascent::Adaptive, Broadcast::Serialised));
    }
    find_dead_cables(&torus);
}

fn find_dead_cables(routing: &impl Routing) {
    let wiring = routing.wiring();
    let mut found = [0, 0];
    for (sample, count) in (1_u32..).zip([1, 1, 1, 2, 2, 4, 9]) {
        let mut links: Vec<LinkId> = (0..count)
            .map(|number| LinkId::new((sample * 7919 + number * 4799) % wiring.links()))
            .flat_map(|link| [link, wiring.reverse(link)])
            .collect();
        links.sort_unstable();
        links.dedup();
        let lowest = routing.lowest(&links);
        let dead = DeadLinks { links, lowest };
        for rail in Rail::all(wiring.rails()) {
            for (from, to) in
                (0..wiring.nodes()).flat_map(|a| (0..wiring.nodes()).map(move |b| (a, b)))
            {
                let [from, to] = [from, to].map(|node| wiring.place(rail, NodeId::new(node)));
                let crosses = dead
                    .links
                    .iter()
                    .any(|&link| routing.may_cross(from, to, link));
                assert_eq!(
                    routing.may_cross_any(from, to, &dead),
                    crosses,
                    "{from} to {to}: {dead:?}"
                );
                found[usize::from(crosses)] += 1;
            }
        }
    }
    assert!(found.iter().all(|&count| count > 500), "{found:?}");
}
