use super::Cut;
use crate::topology::{Arities, End, Wiring};
use crate::{Dragonfly, FatTree, HyperX, LinkId, Mesh, Misrouting, Place, Topology, Torus};
use std::collections::BTreeSet;

/// Links from one region to another, in both directions.
fn crossing(wiring: &dyn Wiring, cut: &Cut) -> usize {
    let links = LinkId::all(wiring.links());
    links
        .filter(|&link| {
            let [from, to] = cut.ends(link);
            from != to
        })
        .count()
}

/// Machines in every kind that is cut by closed forms.
fn machines() -> Vec<Topology> {
    let arities = Arities {
        terminals: 2,
        group: 4,
        global: 2,
        groups: 9,
    };
    let tree = FatTree::quaternary(3).expect("64 nodes");
    vec![
        tree.with_rails(2).expect("two rails").into(),
        tree.into(),
        Torus::new(&[4, 8], 32, true).expect("32 nodes").into(),
        Mesh::new(&[4, 8], 30).expect("32 positions").into(),
        Dragonfly::new(arities, 72, Misrouting::Minimal)
            .expect("72 nodes")
            .into(),
        HyperX::new(&[4, 4], 2, 32, Misrouting::Minimal)
            .expect("32 nodes")
            .into(),
    ]
}

/// An adapter and its switch are in one region, every region has adapters, and both directions of a
/// cable lie between the same regions. No region has more than twice the mean link count.
#[test]
fn regions_are_whole_and_balanced() {
    for topology in machines() {
        for regions in [1, 2, 3, 7, 16, 1000] {
            let cut = Cut::new(&*topology, regions);
            assert!((1..=regions as usize).contains(&cut.regions()));
            let mut adapters = vec![0; cut.regions()];
            for place in Place::all(topology.places()) {
                let region = cut.of_place(place);
                adapters[region] += 1;
                for link in [topology.injection(place), topology.ejection(place)] {
                    assert_eq!(cut.ends(link), [region, region]);
                }
            }
            assert!(adapters.iter().all(|&count| count > 0));
            let mut owned = vec![0; cut.regions()];
            for link in LinkId::all(topology.links()) {
                let [from, to] = cut.ends(link);
                assert_eq!(cut.ends(topology.reverse(link)), [to, from]);
                owned[from] += 1;
            }
            let mean = topology.links() as usize / cut.regions();
            let most = owned.into_iter().max().expect("a region");
            assert!(most <= 2 * mean + 2, "{most} links, {mean} in the mean");
        }
    }
}

/// The links between regions are as few as the network's shape allows.
#[test]
fn cuts_follow_the_shape() {
    let count = |topology: Topology, regions| {
        let cut = Cut::new(&*topology, regions);
        assert_eq!(cut.regions(), regions as usize);
        crossing(&*topology, &cut)
    };
    // Each of the 16 top switches is in the region of one of its four children: three cables cross.
    let tree = FatTree::quaternary(3).expect("64 nodes");
    assert_eq!(count(tree.into(), 4), 2 * 16 * 3);
    // Slabs with two rings each: the cables of four columns cross four times.
    let torus = Torus::new(&[4, 8], 32, true).expect("32 nodes");
    assert_eq!(count(torus.into(), 4), 2 * 4 * 4);
    let mesh = Mesh::new(&[4, 8], 32).expect("32 nodes");
    assert_eq!(count(mesh.into(), 4), 2 * 4 * 3);
    // A cable joins each pair among nine groups; three regions have three groups each.
    let arities = Arities {
        terminals: 2,
        group: 4,
        global: 2,
        groups: 9,
    };
    let dragonfly = Dragonfly::new(arities, 72, Misrouting::Minimal).expect("72 nodes");
    assert_eq!(count(dragonfly.into(), 3), 2 * (36 - 9));
    // Rails are not joined.
    let rails = FatTree::quaternary(2).and_then(|tree| tree.with_rails(2));
    assert_eq!(count(rails.expect("two rails").into(), 2), 0);
}

/// Switches without adapters belong to a region with which a cable joins them, if there is one.
#[test]
fn upper_switches_are_near() {
    let tree = FatTree::quaternary(3).expect("64 nodes");
    let cut = Cut::new(&tree, 4);
    let mut cables = 0;
    for link in LinkId::all(tree.links()) {
        let (from, to) = tree.ends(link);
        let level = |end| match end {
            End::Switch { switch, .. } => tree.switch_level(switch),
            End::Node(_) => 0,
        };
        let levels = (level(from), level(to));
        if levels == (1, 2) {
            let [from, to] = cut.ends(link);
            assert_eq!(from, to, "the two lower levels are subtrees");
            cables += 1;
        }
    }
    assert_eq!(cables, 64);
}

/// Link records that fit into a page of memory.
const PAGE: u32 = 64;

/// Regions of a large tree share few pages of link records. A link between regions has two records.
#[test]
fn records_lie_together() {
    let tree = FatTree::quaternary(6).expect("4,096 nodes");
    for regions in [7, 16] {
        let cut = Cut::new(&tree, regions);
        let mut pages = BTreeSet::new();
        let mut records = 0;
        for link in LinkId::all(tree.links()) {
            let ends = BTreeSet::from(cut.ends(link));
            records += ends.len();
            pages.extend(ends.into_iter().map(|region| (region, link.get() / PAGE)));
        }
        let most = records as f64 / f64::from(PAGE) * 1.05;
        assert!(
            (pages.len() as f64) < most,
            "{} pages for {records} records",
            pages.len()
        );
    }
}
