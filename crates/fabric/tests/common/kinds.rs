//! Checks for any network kind: its wiring, its ways, and a packet alone.

use super::{Bench, machine, packet};
use fabric::topology::{End, Routing};
use fabric::{Engine, LinkId, Place, SwitchId, Topology, Wiring};
use std::collections::BTreeSet;

/// Each link is listed once and leads back where it comes from; switch names differ.
pub fn check_wiring(wiring: &dyn Wiring) {
    let mut links = BTreeSet::new();
    for place in Place::all(wiring.places()) {
        assert_eq!(wiring.ends(wiring.injection(place)).0, End::Node(place));
        assert_eq!(wiring.ends(wiring.ejection(place)).1, End::Node(place));
        links.insert(wiring.injection(place));
    }
    for switch in SwitchId::all(wiring.switches()) {
        for port in 0..wiring.ports(switch) {
            let link = wiring.output(switch, port);
            assert_eq!(wiring.ends(link).0, End::Switch { switch, port });
            assert!(links.insert(link), "two ports share a link");
        }
    }
    assert!(links.iter().copied().eq(LinkId::all(wiring.links())));
    for link in links {
        let (from, to) = wiring.ends(link);
        let back = wiring.reverse(link);
        assert_eq!(wiring.ends(back), (to, from));
        assert_eq!(wiring.is_up(link), !wiring.is_up(back));
        assert_eq!(wiring.link_level(link), wiring.link_level(back));
        assert!(wiring.link_level(link) < wiring.levels());
    }
    let names = SwitchId::all(wiring.switches()).map(|switch| wiring.switch_name(switch));
    assert_eq!(
        names.collect::<BTreeSet<_>>().len() as u32,
        wiring.switches()
    );
}

/// Links on the shortest way between two places, counted by search.
pub fn hops(wiring: &dyn Wiring, from: Place, to: Place) -> u32 {
    let mut ends = BTreeSet::from([wiring.injection(from)]);
    let mut seen = BTreeSet::new();
    for hops in 1.. {
        if ends.contains(&wiring.ejection(to)) {
            return hops;
        }
        let mut next = BTreeSet::new();
        for link in ends {
            if let End::Switch { switch, .. } = wiring.ends(link).1
                && seen.insert(switch)
            {
                next.extend((0..wiring.ports(switch)).map(|port| wiring.output(switch, port)));
            }
        }
        ends = next;
    }
    unreachable!()
}

/// Links that lead from one part of the switches to the rest.
pub fn cut(wiring: &dyn Wiring, lower: impl Fn(SwitchId) -> bool) -> u32 {
    let crosses = |&link: &LinkId| match wiring.ends(link) {
        (End::Switch { switch: from, .. }, End::Switch { switch: to, .. }) => {
            lower(from) && !lower(to)
        }
        _ => false,
    };
    LinkId::all(wiring.links()).filter(crosses).count() as u32
}

/// Each plan leads from each place to each other one, over no link twice. Returns the greatest link
/// count.
pub fn check_ways(routing: &impl Routing) -> usize {
    let wiring = routing.wiring();
    let mut longest = 0;
    for source in Place::all(wiring.nodes()) {
        for node in Place::all(wiring.nodes()) {
            let plans = routing.plans(source, node);
            assert!(plans.contains(&routing.plan(source, node.into(), 12345)));
            for plan in plans {
                let path = routing.path_of(source, node, plan);
                assert_eq!(wiring.ends(path[path.len() - 1]).1, End::Node(node));
                let links: BTreeSet<_> = path.iter().collect();
                assert_eq!(links.len(), path.len(), "{source} to {node} by {plan}");
                longest = longest.max(path.len());
            }
        }
    }
    longest
}

/// A packet alone takes the header delays of its links, level by level, and one cycle for each
/// further flit, by both movers.
pub fn check_packet_alone(
    topology: impl Into<Topology>,
    delays: &[u32],
    time: impl Fn(u32) -> u64,
) {
    let topology = topology.into();
    for engine in [Engine::Flit, Engine::Worm] {
        let mut config = machine(topology.clone(), 1);
        config.channels = config.channels.max(topology.classes());
        config.engine = engine;
        config.hop_delay = delays.to_vec();
        for to in 0..topology.nodes() {
            let bench = Bench::new(config.clone(), 5).through(&[(0, packet(0, to, 10))]);
            let done = bench.done().next().expect("it is done").0;
            assert_eq!(done.delivered, time(to) + 9, "to {to}");
        }
    }
}
