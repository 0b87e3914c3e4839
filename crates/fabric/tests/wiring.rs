//! Any tree's wiring: links, routes, distances and bisection against searches that do not use its
//! symmetry.

use crate::common;

use common::ASCENTS;
use fabric::topology::{Climb, End, Routing, Tag};
use fabric::{Ascent, Broadcast, Destination, FatTree, LinkId, Place, SwitchId, Wiring};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Arities of `1..=5` on up to four levels, with more or fewer links up than down, all or some to
/// the same parent.
fn any_tree() -> impl Strategy<Value = FatTree> {
    let up = (1_u32..=5).prop_flat_map(|up| {
        let divisors: Vec<u32> = (1..=up).filter(|&part| up % part == 0).collect();
        (Just(up), select(divisors))
    });
    (1_usize..=4)
        .prop_flat_map(move |levels| {
            let down = prop::collection::vec(1_u32..=5, levels);
            (down, prop::collection::vec(up.clone(), levels - 1))
        })
        .prop_map(|(down, up)| {
            let positions = down.iter().product();
            let (up, parallel): (Vec<u32>, Vec<u32>) = up.into_iter().unzip();
            FatTree::with_parallel_links(&down, &up, &parallel, positions).expect("within bounds")
        })
}

/// Where a link starts, by the wiring seen from the switches and nodes.
fn outputs(tree: &FatTree) -> Vec<(LinkId, End)> {
    let nodes = Place::all(tree.positions()).map(|node| (tree.injection(node), End::Node(node)));
    let switches = SwitchId::all(tree.switches()).flat_map(|switch| {
        let level = tree.switch_level(switch);
        (0..tree.down_links(level) + tree.up_links(level)).map(move |port| {
            let end = End::Switch { switch, port };
            (tree.output(switch, port), end)
        })
    });
    nodes.chain(switches).collect()
}

/// Every node that a route can reach from a switch, over all switch choices, with the links taken.
fn follow(tree: &FatTree, link: LinkId, tags: &[Tag], links: u32, reached: &mut Vec<(End, u32)>) {
    let end = tree.ends(link).1;
    let (End::Switch { switch, .. }, [tag, rest @ ..]) = (end, tags) else {
        assert!(
            tags.is_empty(),
            "a node is reached before the tags are used"
        );
        reached.push((end, links));
        return;
    };
    let level = tree.switch_level(switch);
    let down = tree.down_links(level);
    let ports = match *tag {
        Tag::Down(child) => {
            let parallel = tree.parallel_links(level - 1);
            u32::from(child) * parallel..(u32::from(child) + 1) * parallel
        }
        Tag::Up(port) => down + u32::from(port)..down + u32::from(port) + 1,
        Tag::Adaptive => down..down + tree.up_links(level),
    };
    for port in ports {
        follow(tree, tree.output(switch, port), rest, links + 1, reached);
    }
}

proptest! {
    #[test]
    fn every_link_has_two_ends(tree in any_tree()) {
        let outputs = outputs(&tree);
        let links: BTreeSet<LinkId> = outputs.iter().map(|&(link, _)| link).collect();
        prop_assert_eq!(links.len(), outputs.len(), "two ports share a link");
        prop_assert!(links.into_iter().eq(LinkId::all(tree.links())), "a link starts nowhere");
        for (link, start) in outputs {
            let (from, to) = tree.ends(link);
            let back = tree.reverse(link);
            prop_assert_eq!(from, start);
            prop_assert_eq!(tree.ends(back), (to, from));
            prop_assert_eq!(tree.reverse(back), link);
            prop_assert_eq!(tree.is_up(link), !tree.is_up(back));
            prop_assert_eq!(tree.link_level(link), tree.link_level(back));
            let level = |end| match end {
                End::Node(_) => 0,
                End::Switch { switch, .. } => tree.switch_level(switch),
            };
            let (lower, upper) = if tree.is_up(link) { (from, to) } else { (to, from) };
            prop_assert_eq!(level(lower), tree.link_level(link));
            prop_assert_eq!(level(upper), tree.link_level(link) + 1);
            if let End::Node(node) = to {
                prop_assert_eq!(link, tree.ejection(node));
            }
        }
    }

    #[test]
    fn names_are_unique(tree in any_tree()) {
        let names: BTreeSet<String> = SwitchId::all(tree.switches())
            .map(|switch| tree.switch_name(switch))
            .collect();
        prop_assert_eq!(names.len(), tree.switches() as usize);
    }

    #[test]
    fn every_route_leads_to_its_destination(
        tree in any_tree(),
        pairs in prop::collection::vec((any::<u32>(), any::<u32>()), 1..20),
        ascent in prop::sample::select(&ASCENTS),
    ) {
        let fixed = ascent != Ascent::Adaptive;
        for (a, b) in pairs {
            let (source, destination) = (
                Place::new(a % tree.nodes()), Place::new(b % tree.nodes())
            );
            let route = tree.route(source, destination, ascent);
            let distance = tree.distance(source, destination);
            prop_assert_eq!(route.links(), distance as usize);
            let mut reached = Vec::new();
            follow(&tree, tree.injection(source), route.tags(), 1, &mut reached);
            let levels = 1..tree.common_level(source, destination);
            let up: u32 = levels.clone().map(|level| tree.up_links(level)).product();
            let down: u32 = levels.map(|level| tree.parallel_links(level)).product();
            prop_assert_eq!(reached.len() as u32, if fixed { down } else { up * down });
            for end in reached {
                prop_assert_eq!(end, (End::Node(destination), distance));
            }
        }
    }

    /// A broadcast climbs by one link a level to the lowest switch that covers its range and its
    /// source. From there it reaches exactly the nodes in the range, each once, by links that begin
    /// where other links on the route end. Serialised, each switch in the tree has one way in for
    /// all broadcasts.
    #[test]
    fn a_broadcast_reaches_its_range(
        tree in any_tree(),
        ends in prop::collection::vec(any::<[u32; 3]>(), 1..20),
        serialised: bool,
    ) {
        let rule = if serialised { Broadcast::Serialised } else { Broadcast::BySource };
        let place = |end| match end {
            End::Node(node) => (true, node.get()),
            End::Switch { switch, .. } => (false, switch.get()),
        };
        let mut ways_in: BTreeMap<SwitchId, LinkId> = BTreeMap::new();
        for ends in ends {
            let [source, a, b] = ends.map(|end| Place::new(end % tree.nodes()));
            let (first, last) = (a.min(b), a.max(b));
            let range = Destination::Range { first, last };
            let route = tree.broadcast_route(source, range, rule);
            let mut reached = Vec::new();
            let mut at: BTreeSet<(bool, u32)> = BTreeSet::from([(true, source.get())]);
            let mut by: BTreeSet<(bool, (bool, u32))> = BTreeSet::new();
            for (number, &link) in route.iter().enumerate() {
                let (from, to) = <[End; 2]>::from(tree.ends(link)).map(place).into();
                prop_assert!(at.contains(&from), "link {number} of {route:?} starts elsewhere");
                at.insert(to);
                // Once upwards, on the source's way, and once downwards.
                prop_assert!(by.insert((tree.is_up(link), to)), "an end is reached twice");
                if let (true, node) = to {
                    reached.push(Place::new(node));
                }
                if !tree.is_up(link) && !to.0 {
                    let before = ways_in.insert(to.1.into(), link);
                    prop_assert!(!serialised || before.is_none_or(|before| before == link));
                }
            }
            reached.sort_unstable();
            prop_assert!(reached.into_iter().eq(range.places()));
            let ups = route.iter().filter(|&&link| tree.is_up(link)).count();
            let farthest = range.places().map(|node| tree.distance(source, node)).max();
            prop_assert_eq!(Some(2 * ups as u32), farthest);
        }
    }

    /// A switch's neighbours, link by link: its children and parents, each by the right link count.
    #[test]
    fn parallel_links_join_the_same_switches(tree in any_tree()) {
        for switch in SwitchId::all(tree.switches()) {
            let level = tree.switch_level(switch);
            let (down, up) = (tree.down_links(level), tree.up_links(level));
            let across = |ports: Range<u32>| {
                let mut across: BTreeMap<String, u32> = BTreeMap::new();
                for port in ports {
                    let end = tree.ends(tree.output(switch, port)).1;
                    *across.entry(tree.end_name(end)).or_default() += 1;
                }
                across
            };
            let children = across(0..down);
            prop_assert_eq!(children.len() as u32, tree.children(level));
            prop_assert!(children.values().all(|&links| links == tree.parallel_links(level - 1)));
            let parents = across(down..down + up);
            prop_assert_eq!(parents.values().sum::<u32>(), up);
            prop_assert!(parents.values().all(|&links| links == tree.parallel_links(level)));
        }
    }

    /// Distances by breadth-first search over the links: no path is shorter than `distance`.
    #[test]
    fn distances_are_minimal(tree in any_tree(), source: u32) {
        let source = Place::new(source % tree.nodes());
        let outputs = outputs(&tree);
        let mut of_switch: Vec<Vec<LinkId>> = vec![Vec::new(); tree.switches() as usize];
        for &(link, start) in &outputs {
            if let End::Switch { switch, .. } = start {
                of_switch[usize::from(switch)].push(link);
            }
        }
        let mut seen: BTreeSet<SwitchId> = BTreeSet::new();
        let mut queue = VecDeque::from([(tree.injection(source), 1)]);
        let mut found = vec![0; tree.nodes() as usize];
        while let Some((link, links)) = queue.pop_front() {
            match tree.ends(link).1 {
                End::Node(node) => found[usize::from(node)] = links,
                End::Switch { switch, .. } => {
                    if seen.insert(switch) {
                        queue.extend(
                            of_switch[usize::from(switch)].iter().map(|&next| (next, links + 1))
                        );
                    }
                }
            }
        }
        for node in Place::all(tree.nodes()) {
            prop_assert_eq!(found[usize::from(node)], tree.distance(source, node));
        }
    }

    /// The greatest flow between the halves of the positions, found without using the tree's
    /// symmetry.
    #[test]
    fn bisection_is_the_greatest_flow(tree in any_tree()) {
        prop_assume!(tree.children(tree.levels()) % 2 == 0 && tree.links() < 1500);
        prop_assert_eq!(tree.bisection(), greatest_flow(&tree));
    }
}

/// The links between switches that a packet climbs and descends.
fn inner_links(routing: &Climb, source: Place, node: Place) -> Vec<LinkId> {
    let plan = routing.plan(source, node.into(), 0);
    let path = routing.path_of(source, node, plan);
    path[1..path.len() - 1].to_vec()
}

/// Destination modulo: in a k-ary n-tree each link down carries the packets to one node, from all
/// sources, and no two packets share a link if each node sends to the node that is a fixed number
/// ahead (Zahavi, 2010). The same digit on each level, as in Elan3 tables, has neither property on
/// three levels.
#[test]
fn destination_modulo_shares_out_the_nodes() {
    for (k, n) in [(2, 2), (4, 2), (2, 3), (3, 3), (2, 4), (4, 3)] {
        let tree = FatTree::k_ary(k, n).expect("within bounds");
        let shares = |ascent| {
            let routing = Climb::new(&tree, ascent, Broadcast::Serialised);
            let mut served: BTreeMap<LinkId, BTreeSet<Place>> = BTreeMap::new();
            let mut collides = false;
            for shift in 1..tree.nodes() {
                let mut taken = BTreeSet::new();
                for source in Place::all(tree.nodes()) {
                    let node = Place::new((source.get() + shift) % tree.nodes());
                    for link in inner_links(&routing, source, node) {
                        collides |= !taken.insert(link);
                        if !tree.is_up(link) {
                            served.entry(link).or_default().insert(node);
                        }
                    }
                }
            }
            let most = served.values().map(BTreeSet::len).max();
            (served.len() as u32, most.expect("links are used"), collides)
        };
        let links_down = tree.nodes() * (n as u32 - 1);
        assert_eq!(shares(Ascent::DestinationModulo), (links_down, 1, false));
        let elan = shares(Ascent::Deterministic);
        assert_eq!(elan == (links_down, 1, false), n == 2, "{k}-ary {n}-tree");
    }
}

/// Destination modulo with parallel links: the nodes are spread over the parents first, and evenly.
#[test]
fn destination_modulo_spreads_over_parents_first() {
    let tree = FatTree::with_parallel_links(&[4, 4], &[4], &[2], 16).expect("within bounds");
    let up = |node: u32| {
        let route = tree.route(Place::new(15), Place::new(node), Ascent::DestinationModulo);
        route.tags()[0]
    };
    // Ports 0 and 1 lead to one parent, ports 2 and 3 to the other.
    assert_eq!([0, 1, 2, 3].map(up), [0, 2, 1, 3].map(Tag::Up));
}

/// A flow hash: each node pair has one way; all pairs together load each up-link on a level by
/// chance, within five standard deviations of a fair share.
#[test]
fn a_hash_of_the_flow_spreads_pairs() {
    let tree = FatTree::k_ary(4, 3).expect("within bounds");
    let routing = Climb::new(&tree, Ascent::FlowHash, Broadcast::Serialised);
    let mut pairs: BTreeMap<LinkId, u32> = BTreeMap::new();
    for source in Place::all(tree.nodes()) {
        for node in Place::all(tree.nodes()) {
            for link in inner_links(&routing, source, node) {
                *pairs.entry(link).or_default() += 1;
            }
        }
    }
    for level in [1, 2] {
        let links = LinkId::all(tree.links());
        let ups = links.filter(|&link| tree.link_level(link) == level && tree.is_up(link));
        let loads: Vec<u32> = ups
            .map(|link| pairs.get(&link).copied().unwrap_or(0))
            .collect();
        // From each node at a level-1 switch to 60 others, and from the 16 below a level-2 switch
        // to 48 others.
        let fair = if level == 1 { 60 } else { 48 };
        let spread = 5.0 * (f64::from(fair) * 0.75).sqrt();
        assert!(
            loads
                .iter()
                .all(|&load| f64::from(load.abs_diff(fair)) < spread),
            "{loads:?}"
        );
        assert_eq!(loads.iter().sum::<u32>(), 64 * fair);
        assert!(loads.iter().any(|&load| load != fair));
    }
}

/// An odd tree cannot be halved; its flow is rounded down with the node count.
#[test]
fn bisection_of_odd_trees() {
    for (k, n) in [(3, 1), (3, 2), (3, 3), (5, 1), (5, 2)] {
        let tree = FatTree::k_ary(k, n).expect("within bounds");
        assert_eq!(tree.bisection(), greatest_flow(&tree), "{k}-ary {n}-tree");
    }
}

/// Edmonds and Karp: links with capacity one, from the lower half of the nodes to the upper half.
fn greatest_flow(tree: &FatTree) -> u32 {
    let half = tree.positions() / 2;
    let vertex = |end| match end {
        End::Node(node) => tree.switches() + node.get(),
        End::Switch { switch, .. } => switch.get(),
    } as usize;
    // Flow over a link makes room in its reverse: it can be pushed back.
    let mut room: Vec<u32> = vec![1; tree.links() as usize];
    let mut leaving: Vec<Vec<LinkId>> =
        vec![Vec::new(); (tree.switches() + tree.positions()) as usize];
    for (link, start) in outputs(tree) {
        leaving[vertex(start)].push(link);
    }
    for flow in 0.. {
        let mut by: Vec<Option<LinkId>> = vec![None; leaving.len()];
        let mut queue: VecDeque<usize> = Place::all(half)
            .map(|node| vertex(End::Node(node)))
            .collect();
        let sources = tree.switches() as usize..(tree.switches() + half) as usize;
        let mut end = None;
        while let Some(at) = queue.pop_front() {
            if at >= sources.end {
                end = Some(at);
                break;
            }
            for &link in &leaving[at] {
                let next = vertex(tree.ends(link).1);
                if room[usize::from(link)] > 0 && by[next].is_none() && !sources.contains(&next) {
                    by[next] = Some(link);
                    queue.push_back(next);
                }
            }
        }
        let Some(mut at) = end else { return flow };
        while let Some(link) = by[at] {
            room[usize::from(link)] -= 1;
            room[usize::from(tree.reverse(link))] += 1;
            at = vertex(tree.ends(link).0);
        }
    }
    unreachable!("a flow is finite")
}
