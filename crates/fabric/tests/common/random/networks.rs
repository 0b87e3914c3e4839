//! Random networks in all kinds.

use super::super::graphs::shortest;
use fabric::topology::Arities;
use fabric::topology::graph::Plan;
use fabric::{Dragonfly, FatTree, Graph, HyperX, Mesh, Misrouting, Torus, Ways, Wiring};
use proptest::prelude::*;
use proptest::sample::select;
use std::ops::RangeInclusive;

/// Arities of `1..=4` on 1 to 3 levels, more or fewer links up than down, some parallel, some
/// positions empty.
pub fn small_tree() -> impl Strategy<Value = FatTree> {
    tree(1..=3, 1..=4)
}

/// Up to some hundred nodes: 2 to 4 levels, arities of `1..=6`, but no more links than a case has
/// time for.
pub fn large_tree() -> impl Strategy<Value = FatTree> {
    tree(2..=4, 1..=6).prop_filter("too many links", |tree| tree.links() <= 2000)
}

pub fn tree(
    levels: RangeInclusive<usize>,
    arities: RangeInclusive<u32>,
) -> impl Strategy<Value = FatTree> {
    levels
        .prop_flat_map(move |levels| {
            (
                prop::collection::vec(arities.clone(), levels),
                prop::collection::vec((arities.clone(), 1_u32..=2), levels - 1),
                0.3_f64..=1.0,
            )
        })
        .prop_map(|(down, up, populated)| {
            let positions: u32 = down.iter().product();
            let nodes = (f64::from(positions) * populated).ceil() as u32;
            let parallel: Vec<u32> = up
                .iter()
                .map(|&(up, wish)| if up % wish == 0 { wish } else { 1 })
                .collect();
            let up: Vec<u32> = up.into_iter().map(|(up, _)| up).collect();
            FatTree::with_parallel_links(&down, &up, &parallel, nodes).expect("within all bounds")
        })
}

/// Rings of 2 to 6 switches in 1 to 3 dimensions, with datelines, some positions empty.
pub fn torus() -> impl Strategy<Value = Torus> {
    let sizes = prop::collection::vec(2_u32..=6, 1..=3)
        .prop_filter("too many", |sizes| sizes.iter().product::<u32>() <= 64);
    (sizes, 0.3_f64..=1.0).prop_map(|(sizes, populated)| {
        let positions: u32 = sizes.iter().product();
        let nodes = (f64::from(positions) * populated).ceil() as u32;
        Torus::new(&sizes, nodes, true).expect("within all bounds")
    })
}

/// Rows of 2 to 5 switches in 1 to 3 dimensions, some positions empty.
pub fn mesh() -> impl Strategy<Value = Mesh> {
    let sizes = prop::collection::vec(2_u32..=5, 1..=3)
        .prop_filter("too many", |sizes| sizes.iter().product::<u32>() <= 64);
    (sizes, 0.3_f64..=1.0).prop_map(|(sizes, populated)| {
        let positions: u32 = sizes.iter().product();
        let nodes = (f64::from(positions) * populated).ceil() as u32;
        Mesh::new(&sizes, nodes).expect("within all bounds")
    })
}

pub fn rule() -> impl Strategy<Value = Misrouting> {
    select(&[
        Misrouting::Minimal,
        Misrouting::Valiant,
        Misrouting::UgalLocal,
        Misrouting::UgalLocal,
    ])
}

/// Groups of 1 to 4 switches, 2 to 9 groups, one link or more between two groups, some positions
/// empty.
pub fn dragonfly() -> impl Strategy<Value = Dragonfly> {
    let arities = (1_u32..=3, 1_u32..=4, 1_u32..=4, 2_u32..=9)
        .prop_map(|(terminals, group, global, most)| {
            // The links must be shared out evenly.
            let even = |groups: &u32| (group * global).is_multiple_of(groups - 1);
            let groups = (2..=most).rev().find(even);
            Arities {
                terminals,
                group,
                global,
                groups: groups.expect("two groups always serve"),
            }
        })
        .prop_filter("too many", |a| a.terminals * a.group * a.groups <= 64);
    (arities, 0.3_f64..=1.0, rule()).prop_map(|(arities, populated, rule)| {
        let positions = arities.terminals * arities.group * arities.groups;
        let nodes = (f64::from(positions) * populated).ceil() as u32;
        Dragonfly::new(arities, nodes, rule).expect("within all bounds")
    })
}

/// Rows of 2 to 5 switches in 1 to 3 dimensions, 1 to 4 nodes at each switch, some positions empty.
pub fn hyperx() -> impl Strategy<Value = HyperX> {
    let positions = |sizes: &[u32], terminals: u32| terminals * sizes.iter().product::<u32>();
    let shape = (prop::collection::vec(2_u32..=5, 1..=3), 1_u32..=4)
        .prop_filter("too many", move |(sizes, terminals)| {
            positions(sizes, *terminals) <= 64
        });
    (shape, 0.3_f64..=1.0, rule()).prop_map(move |((sizes, terminals), populated, rule)| {
        let nodes = (f64::from(positions(&sizes, terminals)) * populated).ceil() as u32;
        HyperX::new(&sizes, terminals, nodes, rule).expect("within all bounds")
    })
}

/// Trees with leaves and nodes that make whole pods with 2 or 3 adapters per host.
pub fn rail_optimised() -> impl Strategy<Value = FatTree> {
    let shape = (1_u32..=4, 1_u32..=3, 2_u32..=3, 1_u32..=4, 0.3_f64..=1.0);
    shape.prop_map(|(hosts, pods, adapters, up, populated)| {
        let attached = (f64::from(pods) * populated).ceil() as u32;
        let nodes = attached * adapters * hosts;
        let tree = FatTree::new(&[hosts, adapters, pods], &[up, 2], nodes);
        let tree = tree.and_then(|tree| tree.rail_optimised(adapters));
        tree.expect("within all bounds")
    })
}

const WAYS: [Ways; 5] = [
    Ways::UpDown,
    Ways::Minimal,
    Ways::Valiant,
    Ways::UgalLocal,
    Ways::KShortest,
];

/// Up to 9 switches in a random tree with chords, some beside another cable, and up to 16 nodes
/// anywhere, some attached; one root or several, any way rule, or tables with some shortest ways by
/// switch or by node.
pub fn graph() -> impl Strategy<Value = Graph> {
    let ends = || (any::<u32>(), any::<u32>());
    let shape = (
        prop::collection::vec(any::<u32>(), 0..=8),
        prop::collection::vec(ends(), 0..=8),
        prop::collection::vec(any::<u32>(), 1..=16),
        prop_oneof![3 => Just(0_usize), 1 => 1..=3_usize],
        0.3_f64..=1.0,
        prop_oneof![
            2 => Just(None),
            1 => any::<bool>().prop_map(Some),
        ],
        (any::<u64>(), select(&WAYS)),
    );
    shape.prop_map(
        |(parents, chords, seats, roots, populated, tables, (draw, ways))| {
            let switches = parents.len() as u32 + 1;
            let tree = (1..)
                .zip(parents)
                .map(|(child, parent)| (child, parent % child));
            let chords = chords
                .into_iter()
                .map(|(a, b)| (a % switches, b % switches));
            let nodes = (f64::from(seats.len() as u32) * populated).ceil() as u32;
            let mut plan = Plan {
                switches: (0..switches).map(|number| format!("s{number}")).collect(),
                seats: seats.into_iter().map(|seat| seat % switches).collect(),
                cables: tree.chain(chords).filter(|(a, b)| a != b).collect(),
                roots: (0..switches).take(roots).collect(),
                ways,
                alternatives: 1 + (draw % 5) as u32,
                routes: None,
            };
            if let Some(by_node) = tables {
                let takes = |at, home, next| draw >> ((5 * at + 3 * home + next) % 64) & 1 == 1;
                let routes = shortest(&plan, by_node, takes);
                if routes.classes <= 8 {
                    plan.routes = Some(routes);
                    return Graph::new(&plan, nodes).expect("the tables are complete");
                }
            }
            // With several roots there may be no legal way.
            Graph::new(&plan, nodes).unwrap_or_else(|_| {
                plan.roots.clear();
                Graph::new(&plan, nodes).expect("within all bounds")
            })
        },
    )
}
