//! A network in regions, on one thread or several, is the network on one engine.

use crate::common;

use common::graphs::{graph, ring};
use common::random::{large_case, many, rivals};
use common::{Bench, CIRCUITS, Heard, machine, packet};
use fabric::motion::{FlitCensus, MotionReport};
use fabric::topology::Arities;
use fabric::{
    Ack, Circuit, Config, Cycle, Destination, Dragonfly, Engine, Fabric, FatTree, Hold, HyperX,
    LinkCounters, LinkId, Mesh, Misrouting, Multiplexing, Network, Nodes, Notice, Pace, PacketSpec,
    SharedNodes, Topology, Torus,
};
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::{Arc, Mutex};

/// All that a run shows.
#[derive(Debug, PartialEq)]
struct Outcome {
    heard: Vec<Heard>,
    counters: Vec<LinkCounters>,
    moments: Vec<(Cycle, MotionReport)>,
    holds: Vec<Hold>,
    /// Control-plane events.
    events: u64,
    /// At some moments: the flits, taken channels, and flits in packets under way.
    states: Vec<(FlitCensus, u64, u64)>,
}

/// Nodes that offer packets, the last ones first in the list, and answer deliveries.
struct Answering {
    traffic: Vec<(Cycle, PacketSpec)>,
    turnaround: Cycle,
    heard: Vec<(Cycle, String)>,
}

impl Nodes for Answering {
    fn next(&self) -> Option<Cycle> {
        self.traffic.last().map(|&(at, _)| at)
    }

    fn offer(&mut self, now: Cycle, region: &mut dyn Network) {
        while let Some((at, spec)) = self.traffic.pop_if(|&mut (at, _)| at == now) {
            region.offer(at, spec);
        }
    }

    fn hear(&mut self, now: Cycle, notices: &mut Vec<Notice>, region: &mut dyn Network) {
        for notice in notices.drain(..) {
            let heard = if let Notice::Delivered(packet, node, spec) = notice {
                region.acknowledge(now + self.turnaround, packet, Ack::Accepted);
                // The packet's number is the region's own affair.
                format!("delivered at {node}: {spec:?}")
            } else {
                format!("{notice:?}")
            };
            self.heard.push((now, heard));
        }
    }
}

/// The notices for nodes that stand in their regions, by cycle; the counters of all links; events;
/// and the packets that wait for each other, if there are any.
type InRegions = (Vec<(Cycle, String)>, Vec<LinkCounters>, u64, Option<String>);

/// See [`InRegions`].
fn heard_in_regions(config: Config, traffic: &[(Cycle, PacketSpec)]) -> InRegions {
    let mut fabric = Fabric::new(config);
    let nodes: Vec<_> = (0..fabric.regions())
        .map(|region| {
            let own = traffic.iter().copied().rev();
            let own = own.filter(|(_, spec)| fabric.region_of(spec.source) == region);
            Arc::new(Mutex::new(Answering {
                traffic: own.collect(),
                turnaround: 9,
                heard: Vec::new(),
            }))
        })
        .collect();
    let shared: Vec<SharedNodes> = nodes.iter().map(|nodes| Arc::clone(nodes) as _).collect();
    // A run may end within a window.
    let middle = traffic[traffic.len() / 2].0;
    for until in [middle, middle + 5, 1 << 40] {
        fabric.run(until, &shared);
    }
    let mut heard: Vec<_> = nodes
        .iter()
        .flat_map(|nodes| nodes.lock().expect("no thread fails").heard.clone())
        .collect();
    heard.sort_unstable();
    let links = LinkId::all(fabric.topology().links());
    let counters = links.map(|link| fabric.counters(link)).collect();
    let deadlock = fabric.deadlock().map(|deadlock| deadlock.to_string());
    (heard, counters, fabric.events(), deadlock)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: many().cases / 8, ..many() })]

    /// Nodes that run on the threads of their regions receive the same, though regions execute
    /// several cycles between two meetings.
    #[test]
    fn windows_change_nothing(
        case in prop_oneof![5 => large_case(), 1 => rivals()],
        regions in select(&[2_u32, 3, 7, 16]),
        threads in prop_oneof![7 => Just(1_u32), 1 => 2_u32..=3],
    ) {
        let mut config = case.config;
        config.engine = Engine::Worm;
        config.multiplexing = Multiplexing::OldestFirst;
        config.faults = None;
        let traffic = case.traffic;
        if !traffic.is_empty() {
            let whole = heard_in_regions(config.clone(), &traffic);
            (config.regions, config.threads) = (regions, threads);
            prop_assert_eq!(heard_in_regions(config, &traffic), whole);
        }
    }
}

/// Moments are looked at in this many cycles after the last offer.
const STATES: Cycle = 40;

fn outcome(config: Config, traffic: &[(Cycle, PacketSpec)]) -> Outcome {
    let mut bench = Bench::new(config, 9);
    bench.fabric.watch();
    bench.fabric.record(0);
    bench.offer(traffic);
    let last = traffic.last().expect("some traffic").0;
    let mut states = Vec::new();
    for at in last..last + STATES {
        bench.run_until(at);
        let fabric = &bench.fabric;
        let (taken, under_way) = (fabric.channels_taken(), fabric.flits_under_way());
        states.push((fabric.flit_census(), taken, under_way));
    }
    bench.finish();
    let mut moments = bench.fabric.watch();
    moments.sort_unstable();
    let mut holds = bench.fabric.recorded();
    for hold in &mut holds {
        // The mover may report a tail earlier than it must.
        hold.tail = None;
    }
    Outcome {
        counters: bench.counters(),
        events: bench.fabric.events(),
        heard: bench.heard,
        moments,
        holds,
        states,
    }
}

/// A machine for each kind.
fn topologies() -> Vec<Topology> {
    let arities = Arities {
        terminals: 2,
        group: 3,
        global: 1,
        groups: 4,
    };
    let dragonfly = |rule| Dragonfly::new(arities, 24, rule).expect("24 nodes");
    let tree = FatTree::quaternary(2).expect("16 nodes");
    vec![
        tree.with_rails(2).expect("two rails").into(),
        tree.into(),
        FatTree::quaternary(3).expect("64 nodes").into(),
        Torus::new(&[3, 4], 12, true).expect("12 nodes").into(),
        Mesh::new(&[3, 4], 12).expect("12 nodes").into(),
        dragonfly(Misrouting::Minimal).into(),
        dragonfly(Misrouting::Valiant).into(),
        dragonfly(Misrouting::UgalLocal).into(),
        HyperX::new(&[3, 3], 2, 18, Misrouting::UgalLocal)
            .expect("18 nodes")
            .into(),
        graph(&ring(7, 2)).into(),
    ]
}

/// Some packets from each node, of 1 to 60 flits.
fn traffic(topology: &Topology) -> Vec<(Cycle, PacketSpec)> {
    let nodes = topology.nodes();
    let mut traffic = Vec::new();
    for number in 0..6 * nodes {
        let (from, hash) = (number % nodes, number.wrapping_mul(0x9E37_79B9) >> 8);
        let mut spec = packet(from, hash % nodes, 1 + hash / 256 % 60);
        spec.awaits_end = hash % 5 == 0;
        spec.token = number.into();
        if topology.as_tree().is_some() && hash % 7 == 0 {
            let (first, more) = (hash / 7 % nodes, hash / 1024 % 9);
            spec.destination = Destination::Range {
                first: first.into(),
                last: (first + more).min(nodes - 1).into(),
            };
        }
        traffic.push((Cycle::from(number / nodes * 9 + hash % 7), spec));
    }
    traffic.sort_by_key(|&(at, spec)| (at, spec.source));
    traffic
}

#[test]
fn regions_and_threads_change_nothing() {
    let mut machines = 0_usize;
    for topology in topologies() {
        let traffic = traffic(&topology);
        for circuit in CIRCUITS {
            let mut config = machine(topology.clone(), 3);
            config.channels = config.channels.max(topology.classes());
            config.hop_delay[0] = 1;
            (config.circuit, config.buffer, config.tokens) = (circuit, 5, true);
            (config.share_period, config.share_burst) = (20, 5);
            if machines % 2 == 1 {
                config.credit_delay = vec![6; topology.levels()];
            }
            if machines % 3 == 1 {
                // Slow from the nodes upwards, so that all cuts cross slow links in some machines.
                let slow = Pace::nearest(2, 5).expect("slower than a flit a cycle");
                config.pace = vec![Pace::FULL; topology.levels()];
                config.pace[machines / 3 % topology.levels()] = slow;
            }
            let whole = outcome(config.clone(), &traffic);
            let done = |heard: &&Heard| matches!(heard, Heard::Acknowledged(..));
            assert_eq!(whole.heard.iter().filter(done).count(), traffic.len());
            for regions in [2, 3, 7, 16] {
                // Threads wait for each other in every cycle: one run per machine is enough.
                let threads = if regions == 7 && machines.is_multiple_of(4) {
                    3
                } else {
                    1
                };
                let divided = Config {
                    regions,
                    threads,
                    ..config.clone()
                };
                let divided = outcome(divided, &traffic);
                let machine = format!("{regions} regions of {config:?}");
                assert!(divided.heard == whole.heard, "heard: {machine}");
                assert!(divided.counters == whole.counters, "counters: {machine}");
                assert!(divided.moments == whole.moments, "moments: {machine}");
                assert!(divided.states == whole.states, "states: {machine}");
                assert_eq!(divided.events, whole.events, "events: {machine}");
                let holds = divided.holds.iter().zip(&whole.holds);
                for (divided, whole) in holds {
                    assert_eq!(divided, whole, "{machine}");
                }
                assert_eq!(divided.holds.len(), whole.holds.len());
            }
            machines += 1;
        }
    }
}

/// Packets that wait for each other for ever are found across regions.
#[test]
fn a_deadlock_in_regions_is_found() {
    // Without datelines, long packets to the next but one node close each ring.
    let torus = Torus::new(&[6], 6, false).expect("6 nodes");
    let mut config = machine(torus, 1);
    (config.channels, config.buffer) = (1, 2);
    config.circuit = Circuit::Wormhole;
    let traffic: Vec<_> = (0..6)
        .map(|node| (0, packet(node, (node + 2) % 6, 50)))
        .collect();
    let found = |regions| {
        let config = Config {
            regions,
            ..config.clone()
        };
        let bench = Bench::new(config, 1).through(&traffic);
        bench.fabric.deadlock().expect("a deadlock").to_string()
    };
    let whole = found(1);
    for regions in [2, 3, 6] {
        assert_eq!(found(regions), whole);
    }
}
