//! Rails: equal, independent trees side by side.

use crate::common;

use common::random::{Case, case, many};
use common::{Bench, Heard};
use fabric::topology::{End, MAX_RAILS};
use fabric::{
    Cycle, Destination, FatTree, LinkCounters, LinkId, NodeId, PacketSpec, Place, Rail, Wiring,
};
use proptest::prelude::*;

/// A tree's numbers with one rail, and with several.
#[test]
fn every_count_is_so_many_times_that_of_a_tree() {
    let tree = FatTree::new(&[4, 4, 2], &[4, 2], 20).expect("20 of 32 nodes");
    let rails = tree.with_rails(3).expect("three rails");
    assert_eq!((tree.rails(), rails.rails()), (1, 3));
    assert_eq!((rails.nodes(), rails.positions()), (20, 32));
    assert_eq!(rails.places(), 3 * tree.places());
    assert_eq!(rails.switches(), 3 * tree.switches());
    assert_eq!(rails.links(), 3 * tree.links());
    assert_eq!(rails.bisection(), tree.bisection());
    let node = NodeId::new(7);
    assert_eq!(rails.place(Rail::new(0), node), Place::new(7));
    assert_eq!(rails.place(Rail::new(2), node), Place::new(71));
    assert_eq!(rails.rail_and_node(Place::new(71)), (Rail::new(2), node));
    assert_eq!(tree.with_rails(1).as_ref(), Ok(&tree));
}

/// The link on rail `rail` that is link `link` in a single tree: links are numbered level by level,
/// up before down, and within these rail by rail.
fn on_rail(rails: &dyn Wiring, tree: &dyn Wiring, rail: Rail) -> Vec<LinkId> {
    let name = |end: End| match end {
        End::Node(place) => rails.rail_and_node(place).0,
        End::Switch { switch, .. } => rails.rail_of(switch),
    };
    let of_rail = LinkId::all(rails.links()).filter(|&link| {
        let (from, to) = rails.ends(link);
        assert_eq!(name(from), name(to), "link {link} joins two rails");
        name(from) == rail
    });
    let of_rail: Vec<LinkId> = of_rail.collect();
    assert_eq!(of_rail.len(), tree.links() as usize);
    of_rail
}

/// A rail is wired, and named, as the tree.
#[test]
fn each_rail_is_the_tree() {
    let tree = FatTree::with_parallel_links(&[3, 2, 4], &[4, 2], &[2, 1], 23).expect("23 nodes");
    let rails = tree.with_rails(4).expect("four rails");
    for rail in Rail::all(4) {
        let suffix = format!(" of rail {rail}");
        let port = |end: End| match end {
            End::Node(_) => None,
            End::Switch { port, .. } => Some(port),
        };
        for (link, place) in LinkId::all(tree.links()).zip(on_rail(&rails, &tree, rail)) {
            let (one, other) = (tree.ends(link), rails.ends(place));
            for (end, on_rail) in [(one.0, other.0), (one.1, other.1)] {
                assert_eq!(rails.end_name(on_rail), tree.end_name(end) + &suffix);
                assert_eq!(port(end), port(on_rail));
            }
            assert_eq!(tree.link_level(link), rails.link_level(place));
            assert_eq!(tree.is_up(link), rails.is_up(place));
        }
        for (from, to) in [(0_u32, 22_u32), (5, 6), (7, 7)] {
            let [a, b] = [from, to].map(|node| rails.place(rail, node.into()));
            assert_eq!(rails.distance(a, b), tree.distance(from, to));
        }
    }
}

#[test]
fn no_rails_and_too_many_are_errors() {
    let tree = FatTree::quaternary(2).expect("16 nodes");
    for rails in [0, MAX_RAILS + 1] {
        let error = tree.with_rails(rails).expect_err("out of range");
        assert_eq!(
            (error.key.as_str(), error.allowed.as_str()),
            ("rails", "1 to 31")
        );
    }
    let large = FatTree::quaternary(8).expect("65,536 nodes");
    let error = large.with_rails(MAX_RAILS).expect_err("too many links");
    assert!(error.to_string().contains("links; the most is"), "{error}");
}

/// A tree's traffic, moved to one rail among several.
fn moved(
    traffic: &[(Cycle, PacketSpec)],
    rails: &dyn Wiring,
    rail: Rail,
) -> Vec<(Cycle, PacketSpec)> {
    let place = |node: Place| rails.place(rail, NodeId::new(node.get()));
    let moved = traffic.iter().map(|&(at, spec)| {
        let destination = match spec.destination {
            Destination::Node(node) => place(node).into(),
            Destination::Range { first, last } => Destination::Range {
                first: place(first),
                last: place(last),
            },
        };
        let spec = PacketSpec {
            source: place(spec.source),
            destination,
            token: spec.token + (u64::from(rail.get()) << 32),
            ..spec
        };
        (at, spec)
    });
    moved.collect()
}

/// All notices about some packets, and the counters of some links.
fn outcome(
    case: &Case,
    traffic: &[(Cycle, PacketSpec)],
    concerns: impl Fn(&PacketSpec) -> bool,
) -> (Vec<Heard>, Vec<LinkCounters>) {
    let turnaround = case.turnaround;
    let answer = move |spec: &PacketSpec, _| {
        let later = turnaround + Cycle::from(spec.flits % 7);
        (later, fabric::Ack::Accepted)
    };
    let bench = Bench::with_answers(case.config.clone(), answer).through(traffic);
    let heard = bench.heard.iter().copied().filter(|heard| {
        let (Heard::Injected(_, spec)
        | Heard::Delivered(_, _, spec)
        | Heard::Damaged(_, _, spec)
        | Heard::Acknowledged(_, spec)
        | Heard::Ended(_, _, _, _, spec)) = heard;
        concerns(spec)
    });
    (heard.collect(), bench.counters())
}

proptest! {
    #![proptest_config(many())]

    /// Under any load on the other rails, a rail acts in every cycle as it would alone. (It does
    /// not act as a single tree: among equal links, the choice goes by packet and switch number.)
    #[test]
    fn rails_know_nothing_of_each_other(
        mut case in case(),
        other in any::<prop::sample::Index>(),
        rail in (0_u32..3).prop_map(Rail::new)
    ) {
        let tree = case.config.topology.clone();
        let rails = tree.with_rails(3).expect("three small rails");
        case.config.topology = rails.clone();
        let of_rail = moved(&case.traffic, &*rails, rail);
        let mut all = of_rail.clone();
        let skipped = other.index(case.traffic.len());
        for beside in Rail::all(3).filter(|&beside| beside != rail) {
            all.extend(moved(&case.traffic[skipped..], &*rails, beside));
        }
        all.sort_by_key(|&(at, _)| at);
        let concerns = |spec: &PacketSpec| spec.token >> 32 == u64::from(rail.get());
        let (alone, counters) = outcome(&case, &of_rail, concerns);
        let (among, all_counters) = outcome(&case, &all, concerns);
        prop_assert_eq!(among, alone);
        for link in on_rail(&*rails, &*tree, rail) {
            let link = usize::from(link);
            prop_assert_eq!(all_counters[link], counters[link], "link {}", link);
        }
    }
}
