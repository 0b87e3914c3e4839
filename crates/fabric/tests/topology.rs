//! Trees in numbers: closed forms of k-ary n-trees, the golden numbers of `QsNET`, and what is refused.

use fabric::topology::{End, MAX_ARITY};
use fabric::{FatTree, Place, SwitchId, TopologyError, Wiring};

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
        // Of the k^n destinations, k share the first switch (the source among them), and k^l - k^(l-1) are 2 l links
        // away for each further level l.
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

/// The network of petrini2003 s2.2 and figure 2.
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

/// 32 of 64 nodes: the switches stay, distances too (petrini2003 s5.3).
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

/// The top level of `QsNET` with all eight links of a switch used: half the switches, all links (petrini2003 s5.4).
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
    // The last switch of the second level: two links to each of the last two at the top, at whose ports they end last.
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
    use TopologyError::*;
    let error = |down: &[u32], up: &[u32], nodes| {
        FatTree::new(down, up, nodes).expect_err("not a tree that is allowed")
    };
    assert_eq!(error(&[], &[], 1), Levels(0));
    assert_eq!(error(&[2; 9], &[2; 8], 1), Levels(9));
    assert_eq!(
        FatTree::k_ary(4, 0).expect_err("no levels"),
        Levels(0),
        "the shorthand has the same errors"
    );
    let wanted = UpLevels {
        levels: 3,
        found: 3,
    };
    assert_eq!(error(&[4, 4, 4], &[4, 4, 4], 64), wanted);
    assert_eq!(
        wanted.to_string(),
        "a tree of 3 levels has 2 entries of up-links, one for each level but the top, not 3"
    );
    let wanted = Arity {
        level: 2,
        direction: "down",
        found: 0,
    };
    assert_eq!(error(&[4, 0], &[4], 4), wanted);
    assert_eq!(
        wanted.to_string(),
        "the switches of level 2 have 0 down-links; allowed are 1 to 1024"
    );
    let wanted = Arity {
        level: 1,
        direction: "up",
        found: MAX_ARITY + 1,
    };
    assert_eq!(error(&[4, 4], &[MAX_ARITY + 1], 4), wanted);
    assert_eq!(
        error(&[MAX_ARITY, 65], &[1], 4),
        TooManyPositions(1024 * 65)
    );
    // One node, but 2^10 switches above each switch, three times over.
    assert_eq!(
        error(&[1; 4], &[1024; 3], 1),
        TooManyParts {
            parts: "switches",
            found: 1 + (1 << 10) + (1 << 20) + (1 << 30)
        }
    );
    // 2^16 first-level switches of one node, each with 2^10 up-links, then one up-link each.
    let wanted = TooManyParts {
        parts: "links",
        found: 2 * ((1 << 16) + (1 << 26) + (1 << 16)),
    };
    assert_eq!(error(&[1, 1024, 64], &[1024, 1], 1), wanted);
    assert_eq!(
        wanted.to_string(),
        "the tree has 134479872 links; the most is 16777216"
    );
    for nodes in [0, 65] {
        let wanted = Nodes {
            nodes: nodes.into(),
            positions: 64,
        };
        assert_eq!(error(&[4, 4, 4], &[4, 4], nodes), wanted);
    }
    assert_eq!(
        error(&[4, 4, 4], &[4, 4], 65).to_string(),
        "65 nodes do not fit: the tree holds 1 to 64"
    );
}

#[test]
fn errors_name_what_is_wrong_with_parallel_links() {
    use TopologyError::*;
    let error = |down: &[u32], up: &[u32], parallel: &[u32]| {
        FatTree::with_parallel_links(down, up, parallel, 1).expect_err("not a tree that is allowed")
    };
    let wanted = ParallelLevels {
        levels: 3,
        found: 1,
    };
    assert_eq!(error(&[4, 4, 4], &[4, 4], &[2]), wanted);
    assert_eq!(
        wanted.to_string(),
        "a tree of 3 levels has 2 entries of parallel links, one for each level but the top, not 1"
    );
    for found in [0, 3, 8] {
        let wanted = Parallel {
            level: 2,
            up: 4,
            found,
        };
        assert_eq!(error(&[4, 4, 4], &[4, 4], &[1, found]), wanted);
    }
    assert_eq!(
        error(&[4, 4], &[4], &[3]).to_string(),
        "the switches of level 1 have 4 up-links, which is no multiple of 3 parallel links to each parent"
    );
    let wanted = DownLinks {
        level: 2,
        children: 600,
        parallel: 2,
    };
    assert_eq!(error(&[1, 600], &[2], &[2]), wanted);
    assert_eq!(
        wanted.to_string(),
        "2 parallel links to each of 600 children are too many; a switch of level 2 may have 1024 down-links"
    );
    // Too many switches without parallel links, few enough with them.
    let (down, up) = ([1; 4], [1024; 3]);
    assert!(FatTree::new(&down, &up, 1).is_err());
    assert!(FatTree::with_parallel_links(&down, &up, &up, 1).is_ok());
}
