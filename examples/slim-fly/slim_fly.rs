//! # A topology from outside: the Slim Fly
//!
//! A Slim Fly (Besta and Hoefler, SC 2014) is an MMS graph (`McKay`, Miller and Siran, 1998): 2q²
//! routers, each with (3q - δ) / 2 others as neighbours for a prime q = 4w + δ, δ = ±1, and no two
//! routers more than two hops apart. For q = 5 it is the Hoffman-Singleton graph: 50 routers with
//! degree 7, the maximum for diameter two (the Moore bound).
//!
//! This file is complete: the cables, minimal and Valiant routing, and the program that `elanite`
//! calls to simulate.
//!
//! ```text
//! cargo build --release -p slim-fly
//! export ELANITE_SIMULATOR=target/release/slim-fly
//! elanite run examples/slim-fly/slim-fly.toml                      # points, store, figures
//! elanite sweep examples/slim-fly/slim-fly.toml --vary link.channels=4,8
//! cargo test -p slim-fly                      # closed forms, both movers, deadlocks
//! ```
//!
//! ## The graph
//!
//! Routers are (0, x, y) and (1, m, c) with coordinates modulo q. With a primitive root ξ and two
//! sets X and X' of its powers,
//!
//! * (0, x, y) and (0, x, y') are joined if y - y' is in X;
//! * (1, m, c) and (1, m, c') are joined if c - c' is in X';
//! * (0, x, y) and (1, m, c) are joined if y = mx + c.
//!
//! ## Routing
//!
//! *Minimal*: to the destination's router directly or through a common neighbour; among several,
//! the destination chooses. *Valiant*: minimally to a random router, then minimally on; packets
//! within one router stay there. A channel's class is the hop count before it, so that classes rise
//! along each path and no packets wait in a cycle: two classes for minimal paths, four for the
//! others.

use fabric::topology::cabling::{Cabling, Names, Parts, Peer};
use fabric::topology::{Custom, Header, Routing, Step, Wiring};
use fabric::{Destination, Misrouting, Place, SwitchId, Topology, TopologyError};
use machine::outside::{self, OutsideShape};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    outside::register("slim-fly", build);
    experiment::program::main()
}

/// A machine file's network: `dimensions` has q, `terminals` the nodes per router.
fn build(shape: OutsideShape<'_>) -> Result<Topology, TopologyError> {
    let [q] = *shape.dimensions else {
        let message = "a Slim Fly has one number, q".to_string();
        return Err(TopologyError::new(
            "dimensions",
            message,
            "a list of one prime",
        ));
    };
    let terminals = shape.terminals.unwrap_or(1);
    let network = SlimFly::new(q, terminals, shape.nodes, shape.routing)?;
    Ok(Custom::new(network).into())
}

/// The greatest q: 722 routers.
const MOST: u32 = 19;

/// A Slim Fly; see the module documentation.
#[derive(Clone, Debug)]
pub struct SlimFly {
    terminals: u32,
    routing: Misrouting,
    cabling: Arc<Cabling>,
    /// By router, those that it is joined to, in ascending order: those at its ports behind the
    /// terminals.
    neighbours: Arc<Vec<Vec<u32>>>,
}

impl SlimFly {
    /// A network with 2q² routers, `terminals` positions at each, and nodes at the first `nodes`
    /// positions.
    ///
    /// # Errors
    /// The out-of-bounds quantity.
    pub fn new(
        q: u32,
        terminals: u32,
        nodes: u32,
        routing: Misrouting,
    ) -> Result<Self, TopologyError> {
        let wrong = |key: &str, message: String, allowed: &str| {
            Err(TopologyError::new(key, message, allowed))
        };
        let is_prime = q > 1 && (2..q).all(|divisor| !q.is_multiple_of(divisor));
        if !is_prime || !(5..=MOST).contains(&q) {
            let message = format!("a Slim Fly is made of a prime number of at least 5, not of {q}");
            return wrong("dimensions", message, "5, 7, 11, 13, 17, 19");
        }
        if !(1..=64).contains(&terminals) {
            let message = format!("{terminals} nodes of a router are out of range");
            return wrong("terminals", message, "1 to 64");
        }
        if routing == Misrouting::UgalLocal {
            let message = "this Slim Fly has no routing by loads".to_string();
            return wrong("routing", message, "\"minimal\" or \"valiant\"");
        }
        let neighbours = graph(q);
        let peer = |&switch: &u32| Peer { switch, level: 1 };
        let peers = neighbours.iter().map(|own| own.iter().map(peer).collect());
        let seats =
            (0..neighbours.len() as u32).flat_map(|router| (0..terminals).map(move |_| router));
        let cabling = Cabling::new(Parts {
            noun: "Slim Fly",
            seats: seats.collect(),
            peers: peers.collect(),
            nodes,
            ways: vec![["upwards", "downwards"].map(String::from)],
            classes: if routing == Misrouting::Minimal { 2 } else { 4 },
            names: Names::Groups(q),
        })?;
        Ok(SlimFly {
            terminals,
            routing,
            cabling: Arc::new(cabling),
            neighbours: Arc::new(neighbours),
        })
    }

    /// A neighbour's index among a router's neighbours, if the two are joined.
    fn port(&self, from: u32, to: u32) -> Option<u32> {
        let place = self.neighbours[from as usize].binary_search(&to).ok()?;
        Some(place as u32)
    }

    /// The hops between two routers.
    fn distance(&self, from: u32, to: u32) -> u32 {
        match self.port(from, to) {
            _ if from == to => 0,
            Some(_) => 1,
            None => 2,
        }
    }

    /// The first port on a minimal path to another router; `choice` chooses among several.
    fn towards(&self, from: u32, to: u32, choice: u32) -> u32 {
        self.port(from, to).unwrap_or_else(|| {
            let common = |&via: &u32| self.port(via, to).is_some();
            let own = self.neighbours[from as usize].iter().copied();
            let vias: Vec<u32> = own.filter(common).collect();
            let via = vias[choice as usize % vias.len()];
            self.port(from, via).expect("it is a neighbour")
        })
    }

    fn router(&self, place: Place) -> u32 {
        place.get() / self.terminals
    }

    /// The plan for packets through a router: its number and the hops to it; 0 for a minimal path.
    fn plan_by(&self, from: u32, via: u32) -> u32 {
        match self.distance(from, via) {
            0 => 0,
            hops => via << 2 | hops,
        }
    }

    fn is_direct(&self, from: u32, to: u32) -> bool {
        self.routing == Misrouting::Minimal || from == to
    }
}

impl Routing for SlimFly {
    fn wiring(&self) -> &(dyn Wiring + 'static) {
        &*self.cabling
    }

    /// Channel classes rise for all q and any terminal count.
    fn model(&self) -> Option<Box<dyn Routing>> {
        let small = SlimFly::new(5, 1, 50, self.routing).expect("50 routers");
        Some(Box::new(small))
    }

    fn begins_group(&self, _switch: SwitchId, _port: u32) -> bool {
        true
    }

    fn plan(&self, source: Place, destination: Destination, draw: u64) -> u32 {
        let [from, to] = [source, destination.first()].map(|place| self.router(place));
        if self.is_direct(from, to) {
            return 0;
        }
        self.plan_by(from, (draw % self.neighbours.len() as u64) as u32)
    }

    fn plans(&self, source: Place, node: Place) -> Vec<u32> {
        let [from, to] = [source, node].map(|place| self.router(place));
        if self.is_direct(from, to) {
            return vec![0];
        }
        let vias = 0..self.neighbours.len() as u32;
        vias.map(|via| self.plan_by(from, via)).collect()
    }

    fn step(&self, header: &Header) -> Step {
        let (at, node) = (header.at.get(), header.destination.get());
        let (via, hops) = (header.plan >> 2, header.plan & 3);
        let is_there = header.hops >= hops as usize;
        let to = if is_there { node / self.terminals } else { via };
        if at == to {
            let (group, class) = (node % self.terminals, None);
            return Step { group, class };
        }
        Step {
            group: self.terminals + self.towards(at, to, node),
            class: Some(header.hops as u32),
        }
    }
}

/// A prime's MMS graph: each router's neighbours, in ascending order.
fn graph(q: u32) -> Vec<Vec<u32>> {
    let powers = |root: u32| -> Vec<u32> {
        let next = |&power: &u32| Some(power * root % q);
        std::iter::successors(Some(1), next)
            .take(q as usize - 1)
            .collect()
    };
    let is_primitive = |&root: &u32| powers(root).iter().filter(|&&power| power == 1).count() == 1;
    let root = (2..q).find(is_primitive).expect("a prime has one");
    let powers = powers(root);
    // The even powers; for q = 4w - 1 odd ones from the middle on, so that the set contains each
    // member's negative.
    let is_in = |&exponent: &usize| {
        let is_odd = q % 4 == 3 && exponent >= q as usize / 2;
        exponent % 2 == usize::from(is_odd)
    };
    let set: Vec<u32> = (0..powers.len())
        .filter(is_in)
        .map(|exponent| powers[exponent])
        .collect();
    let sets = [
        set.clone(),
        set.iter().map(|power| power * root % q).collect(),
    ];
    let router = |side: u32, column: u32, row: u32| (side * q + column) * q + row;
    let neighbours = |number: u32| {
        let (side, column, row) = (number / (q * q), number / q % q, number % q);
        let own = sets[side as usize]
            .iter()
            .map(|step| router(side, column, (row + step) % q));
        // y = mx + c: across, a router in each column.
        let across = (0..q).map(|other| match side {
            0 => router(1, other, (row + (q - other) * column) % q),
            _ => router(0, other, (column * other + row) % q),
        });
        let mut all: Vec<u32> = own.chain(across).collect();
        all.sort_unstable();
        all
    };
    (0..2 * q * q).map(neighbours).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::program::answer;
    use fabric::topology::End;
    use fabric::{Ack, Circuit, Config, Cycle, Engine, Fabric, LinkCounters, LinkId, Notice};
    use fabric::{PacketRecord, PacketSpec, Priority, find_cycle};
    use serde_json::json;

    fn slim_fly(q: u32, terminals: u32, routing: Misrouting) -> SlimFly {
        SlimFly::new(q, terminals, 2 * q * q * terminals, routing).expect("within all bounds")
    }

    fn config(network: impl Routing + 'static) -> Config {
        Config {
            channels: 4,
            ..Config::new(Custom::new(network))
        }
    }

    /// 2q² routers with degree (3q - δ) / 2, no two more than two hops apart. With q = 5 there are
    /// as many as degree 7 and diameter two admit: 1 + 7 + 7 * 6.
    #[test]
    fn the_graph_has_its_closed_forms() {
        for (q, routers, degree) in [(5, 50, 7), (7, 98, 11), (11, 242, 17), (13, 338, 19)] {
            let network = slim_fly(q, 1, Misrouting::Minimal);
            let wiring = network.wiring();
            assert_eq!(wiring.switches(), routers);
            assert!(SwitchId::all(routers).all(|switch| wiring.ports(switch) == 1 + degree));
            assert_eq!(wiring.links(), 2 * routers + routers * degree);
            for from in 0..routers {
                for to in 0..routers {
                    let common = |via: &u32| network.port(*via, to).is_some();
                    let own = &network.neighbours[from as usize];
                    assert!(network.distance(from, to) < 2 || own.iter().any(common));
                }
            }
        }
        assert_eq!(1 + 7 + 7 * 6, 50);
    }

    /// The cables join the routers that the lists name, each way ends at its destination, and each
    /// plan is listed.
    #[test]
    fn ways_end_at_their_destinations() {
        for routing in [Misrouting::Minimal, Misrouting::Valiant] {
            let network = slim_fly(7, 1, routing);
            let longest = if routing == Misrouting::Minimal { 4 } else { 6 };
            for (from, to) in [(0, 97), (3, 4), (50, 8), (60, 61), (9, 9)] {
                let [from, to] = [from, to].map(Place::new);
                let plans = network.plans(from, to);
                let drawn = |draw| network.plan(from, to.into(), draw);
                assert!((0..200).all(|draw| plans.contains(&drawn(draw))));
                for plan in plans {
                    let links = network.path_of(from, to, plan);
                    assert!(links.len() <= longest);
                    let last = links[links.len() - 1];
                    assert_eq!(network.wiring().ends(last).1, End::Node(to));
                }
            }
        }
    }

    /// The same paths over any channel.
    #[derive(Debug)]
    struct OneClass(SlimFly);

    impl Routing for OneClass {
        fn wiring(&self) -> &(dyn Wiring + 'static) {
            self.0.wiring()
        }

        fn begins_group(&self, switch: SwitchId, port: u32) -> bool {
            self.0.begins_group(switch, port)
        }

        fn plan(&self, source: Place, destination: Destination, draw: u64) -> u32 {
            self.0.plan(source, destination, draw)
        }

        fn step(&self, header: &Header) -> Step {
            let class = None;
            Step {
                class,
                ..self.0.step(header)
            }
        }
    }

    #[test]
    fn rising_classes_prevent_deadlocks() {
        for routing in [Misrouting::Minimal, Misrouting::Valiant] {
            assert_eq!(find_cycle(&config(slim_fly(5, 1, routing))), None);
            assert_eq!(find_cycle(&config(slim_fly(5, 3, routing))), None);
        }
        let cycle = find_cycle(&config(OneClass(slim_fly(5, 1, Misrouting::Minimal))));
        assert!(cycle.expect("pentagons").to_string().contains("switch"));
    }

    /// The observations on both sides of a comparison: all notices with their cycles, and all
    /// links' counters.
    type Seen = (Vec<(Cycle, Notice)>, Vec<LinkCounters>);

    /// Runs a network until it is at rest. Destinations answer immediately.
    fn run(network: &SlimFly, config: Config, traffic: &[(Cycle, PacketSpec)]) -> Seen {
        let mut fabric = Fabric::with_routing(network.clone(), config);
        let (mut seen, mut notices) = (Vec::new(), Vec::new());
        let mut offers = traffic.iter().copied().peekable();
        loop {
            let until = offers.peek().map_or(Cycle::MAX, |offer| offer.0 - 1);
            let Some(now) = fabric.advance(until, &mut notices) else {
                let Some((at, spec)) = offers.next() else {
                    break;
                };
                fabric.offer(at, spec);
                continue;
            };
            for notice in notices.drain(..) {
                if let Notice::Delivered(packet, ..) = notice {
                    fabric.acknowledge(now, packet, Ack::Accepted);
                }
                seen.push((now, notice));
            }
        }
        assert_eq!(fabric.deadlock(), None);
        assert_eq!(fabric.packet_census().acknowledged, traffic.len() as u64);
        let links = LinkId::all(network.wiring().links());
        (seen, links.map(|link| fabric.counters(link)).collect())
    }

    fn packet(source: u32, destination: u32, flits: u32) -> PacketSpec {
        PacketSpec {
            source: Place::new(source),
            destination: Place::new(destination).into(),
            flits,
            priority: Priority::Low,
            traffic_class: 0,
            awaits_end: false,
            token: 0,
        }
    }

    /// A packet alone: links times their delay, and a cycle for each further flit. Among the other
    /// 49 routers 7 are one hop away and 42 are two.
    #[test]
    fn a_packet_alone_takes_the_delays_of_its_way() {
        const DELAY: u32 = 9;
        const FLITS: u32 = 20;
        let network = slim_fly(5, 1, Misrouting::Minimal);
        let config = Config {
            hop_delay: vec![DELAY; 2],
            ..config(network.clone())
        };
        // Far apart: each packet finds the network at rest.
        let traffic = (0..50).map(|to| (1 + 1000 * u64::from(to), packet(17, to, FLITS)));
        let (seen, _) = run(&network, config, &traffic.collect::<Vec<_>>());
        let mut by_hops = [0; 3];
        for (_, notice) in seen {
            let Notice::Acknowledged(
                PacketRecord {
                    links,
                    injected,
                    delivered,
                    ..
                },
                _,
            ) = notice
            else {
                continue;
            };
            by_hops[links as usize - 2] += 1;
            assert_eq!(delivered - injected, u64::from(links * DELAY + FLITS - 1));
        }
        assert_eq!(by_hops, [1, 7, 42]);
    }

    /// The engine against its definition: both movers on the same dense traffic, with all circuits.
    #[test]
    fn both_movers_make_the_same_motion() {
        let draw = |number: u64, most: u64| {
            let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) % most
        };
        let offer = |number: u64| {
            let [source, to] = [2 * number, 2 * number + 1].map(|word| draw(word, 100) as u32);
            (
                1 + number / 2,
                packet(source, to, 1 + draw(number, 60) as u32),
            )
        };
        let traffic: Vec<_> = (0..2000).map(offer).collect();
        for routing in [Misrouting::Minimal, Misrouting::Valiant] {
            let network = slim_fly(5, 2, routing);
            for circuit in [
                Circuit::UntilAcknowledged,
                Circuit::UntilDelivered,
                Circuit::Wormhole,
            ] {
                let [flit, worm] = [Engine::Flit, Engine::Worm].map(|engine| {
                    let config = Config {
                        engine,
                        circuit,
                        buffer: 12,
                        hop_delay: vec![3, 5],
                        tokens: true,
                        ..config(network.clone())
                    };
                    run(&network, config, &traffic)
                });
                assert!(flit == worm, "{routing:?}, {circuit:?}");
            }
        }
    }

    /// The experiment's accepted loads beside this file, by the calls that `elanite` makes.
    #[test]
    fn the_experiment_runs() {
        outside::register("slim-fly", build);
        let machine = include_str!("../../machines/slingshot-dragonfly.toml");
        let experiment = include_str!("slim-fly.toml");
        let short = ["run.warm_up=10 us", "run.window=20 us"];
        let arguments = json!([
            machine,
            "machine",
            "slim-fly",
            experiment,
            "slim-fly.toml",
            short,
            1
        ]);
        let planned = answer("plan", &arguments.to_string()).expect("both files are right");
        let points = planned.as_array().expect("a list");
        let accepted = points.iter().map(|point| {
            let records = answer("simulate", &json!([point[0]]).to_string()).expect("it runs");
            let rows = &records["tables"]["rows"];
            let column = |name: &str| rows[name][1].as_array().expect("a column").clone();
            let (metrics, values) = (column("metric"), column("value"));
            let found = metrics
                .iter()
                .zip(&values)
                .find(|(metric, _)| metric.as_str() == Some("accepted"));
            found
                .and_then(|(_, value)| value.as_f64())
                .expect("a load")
                .round()
        });
        let accepted: Vec<f64> = accepted.collect();
        // By routing, pattern and load. Half the nodes' link rate is too much for one pattern on
        // minimal paths; for random traffic it is too much on paths with twice the length.
        let [
            _,
            uniform,
            _,
            tornado,
            _,
            uniform_by_valiant,
            _,
            tornado_by_valiant,
        ] = accepted[..]
        else {
            panic!("eight points");
        };
        assert!(uniform > uniform_by_valiant && tornado < tornado_by_valiant);
        let pinned = [1343, 20357, 1311, 14295, 1597, 18825, 1597, 21144];
        assert_eq!(accepted, pinned.map(f64::from));
    }
}
