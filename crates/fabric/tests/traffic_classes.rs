//! Traffic classes on paper: the link share that a class gets beside a saturated or blocked class.

use crate::common;

use common::{
    Bench, CIRCUITS, assert_all_done, high, in_class, machine, named, one_switch, packet, records,
};
use fabric::topology::Arities;
use fabric::{
    Circuit, Config, Cycle, Dragonfly, Engine, FatTree, HyperX, Mesh, Misrouting, Multiplexing,
    PacketSpec, Topology, Torus,
};

const ENGINES: [Engine; 2] = [Engine::Worm, Engine::Flit];

/// A class with packets that wait for their acknowledgements holds all its channels and moves no
/// flits. A packet in the other class goes as if alone over the same links, `2 D + L - 1` cycles;
/// without classes it waits till a circuit is closed.
#[test]
fn held_circuits_hold_up_their_own_class_only() {
    let (delay, turnaround) = (3, 1000);
    for engine in ENGINES {
        let config = |traffic_classes| Config {
            traffic_classes,
            engine,
            ..one_switch(delay)
        };
        // Two packets hold both channels on the links, or one holds one, and the other waits.
        let held = [(0, packet(0, 3, 10)), (0, packet(0, 3, 10))];
        let classes = [held[0], held[1], (100, in_class(1, packet(0, 3, 10)))];
        let done = records(&config(2), turnaround, &classes);
        assert_eq!((done[2].injected, done[2].delivered), (100, 100 + 6 + 9));
        let alike = [held[0], held[1], (100, packet(0, 3, 10))];
        let done = records(&config(1), turnaround, &alike);
        // The acknowledgement is back at 15 + 1000 + 6, and the EOP starts.
        assert_eq!(done[2].injected, 1022);
    }
}

/// With one packet in flight for each class, the packet in the second class does not wait for the
/// acknowledgement in the first.
#[test]
fn each_class_has_a_window_of_its_own() {
    for (engine, circuit) in ENGINES
        .iter()
        .flat_map(|&engine| CIRCUITS.map(|it| (engine, it)))
    {
        let config = Config {
            channels: 8,
            traffic_classes: 2,
            packets_in_flight: 1,
            engine,
            circuit,
            ..one_switch(3)
        };
        let classes = [0, 0, 1, 1].map(|class| (0, in_class(class, packet(0, 3, 10))));
        let done = records(&config, 1000, &classes);
        let injected = done.iter().map(|record| record.injected);
        // The packet in class 1 crosses the links behind the one in class 0.
        let back = 15 + 1000 + 6;
        assert_eq!(injected.collect::<Vec<_>>(), [0, back, 0, back + 10]);
    }
}

/// Networks with some dozens of nodes, with the fewest channels that a traffic class needs.
fn networks() -> Vec<(Topology, u32)> {
    let arities = Arities {
        terminals: 2,
        group: 4,
        global: 2,
        groups: 9,
    };
    let dragonfly = |rule| Dragonfly::new(arities, 72, rule).expect("a network");
    vec![
        (FatTree::quaternary(3).expect("64 nodes").into(), 1),
        (Torus::new(&[5, 6], 30, true).expect("a torus").into(), 2),
        (Mesh::new(&[5, 6], 30).expect("a mesh").into(), 1),
        (dragonfly(Misrouting::Minimal).into(), 2),
        (dragonfly(Misrouting::UgalLocal).into(), 3),
        (
            HyperX::new(&[3, 4], 3, 36, Misrouting::Valiant)
                .expect("a network")
                .into(),
            2,
        ),
    ]
}

/// Class 0 packets from all nodes to node 0, more than its link can take; and now and then a
/// high-priority packet in another class, between two other nodes, every `pause` cycles.
fn crowd(nodes: u32, class: u8, pause: Cycle) -> Vec<(Cycle, PacketSpec)> {
    let crowd = (0..12 * nodes).map(|number| {
        let flits = 10 + number * 7 % 30;
        (0, packet(1 + number % (nodes - 1), 0, flits))
    });
    let others = (0..12).map(|number| {
        let (from, to) = (number * 7 % nodes, 1 + number * 11 % (nodes - 1));
        let spec = high(in_class(class, packet(from, to, 20)));
        (Cycle::from(number + 1) * pause, spec)
    });
    named(&crowd.chain(others).collect::<Vec<_>>())
}

/// A hot spot saturates class 0: its packets fill the link trees that lead to node 0. High-priority
/// packets in class 1, one at a time, cross the same links as fast as in an empty network, `D` for
/// each link and one cycle for each further flit: in any network, with any routing, circuits and
/// buffers. Without classes they wait for channels.
#[test]
fn a_saturated_class_leaves_the_other_at_its_zero_load_latency() {
    let (delay, flits) = (5, 20);
    for (topology, least) in networks() {
        for (engine, circuit) in [
            (Engine::Worm, Circuit::UntilAcknowledged),
            (Engine::Worm, Circuit::Wormhole),
            (Engine::Worm, Circuit::CutThrough),
            (Engine::Flit, Circuit::UntilDelivered),
        ] {
            let config = |traffic_classes| Config {
                channels: 2 * least,
                traffic_classes,
                buffer: if circuit == Circuit::CutThrough {
                    40
                } else {
                    7
                },
                circuit,
                priorities: true,
                engine,
                ..machine(topology.clone(), delay)
            };
            let late = |traffic_classes| {
                let class = (traffic_classes - 1) as u8;
                let traffic = crowd(topology.nodes(), class, 150);
                let bench = Bench::new(config(traffic_classes), 5).through(&traffic);
                assert_all_done(&bench.fabric.packet_census(), traffic.len());
                let urgent = traffic.iter().filter(|(_, spec)| spec.flits == flits);
                let urgent = urgent.filter(|(at, _)| *at > 0);
                let alone = |links| Cycle::from(links * delay + flits - 1);
                let late = urgent.map(|(at, spec)| {
                    let done = bench.record(spec.token);
                    done.delivered - at - alone(done.links)
                });
                late.collect::<Vec<_>>()
            };
            let of_classes = late(2);
            assert_eq!(of_classes, [0; 12], "{config:?}", config = config(2));
            assert!(late(1).iter().sum::<Cycle>() > 100, "{:?}", config(1));
        }
    }
}

/// Without priorities, the oldest packet goes first, in any class. A class with one channel on each
/// link sends a stream of 60-flit packets, one every `D + L + 1` cycles. A packet in the other
/// class, whenever it is offered, waits only for the rest of the one worm that was injected before.
#[test]
fn the_older_worm_of_another_class_goes_first() {
    let (delay, long, short) = (3, 60, 10);
    let period = Cycle::from(delay + long + 1);
    for engine in ENGINES {
        for circuit in [Circuit::Wormhole, Circuit::CutThrough] {
            let config = Config {
                traffic_classes: 2,
                packets_in_flight: 64,
                circuit,
                engine,
                ..one_switch(delay)
            };
            let stream = (0..8).map(|_| (0, packet(0, 1, long)));
            for offered in 0..3 * period {
                let other = (offered, in_class(1, packet(0, 1, short)));
                let mut traffic: Vec<_> = stream.clone().chain([other]).collect();
                traffic.sort_by_key(|&(at, _)| at);
                let place = traffic.iter().position(|(_, spec)| spec.traffic_class == 1);
                let done = records(&config, 5, &traffic)[place.expect("it is there")];
                let rest = Cycle::from(long).saturating_sub(offered % period);
                let alone = Cycle::from(2 * delay + short - 1);
                assert_eq!(done.delivered, offered + rest + alone, "{offered}");
            }
        }
    }
}

/// Channels that are served in turns share a link flit by flit, in any classes: beside a worm
/// without end a packet in another class takes every second cycle, from the cycle of its offer on.
#[test]
fn classes_take_turns_where_channels_do() {
    let (delay, flits) = (3, 10);
    let config = Config {
        traffic_classes: 2,
        multiplexing: Multiplexing::RoundRobin,
        engine: Engine::Flit,
        ..one_switch(delay)
    };
    for offered in 20..30 {
        let traffic = [
            (0, packet(0, 1, 500)),
            (offered, in_class(1, packet(0, 1, flits))),
        ];
        let done = records(&config, 5, &traffic);
        let takes = Cycle::from(2 * delay + 2 * (flits - 1));
        assert_eq!(done[1].delivered, offered + takes);
        assert_eq!(done[0].delivered, Cycle::from(2 * delay + 499 + flits));
    }
}

/// A link's classes may have different channel counts, the first ones one more: three channels give
/// a stream in the first class two credits, and a stream in the second class one.
#[test]
fn the_first_classes_have_the_odd_channels() {
    let (delay, flits) = (20, 10);
    for (class, credits) in [(0, 2), (1, 1)] {
        let config = Config {
            channels: 3,
            traffic_classes: 2,
            circuit: Circuit::CutThrough,
            packets_in_flight: 64,
            ..one_switch(delay)
        };
        let traffic: Vec<_> = (0..12)
            .map(|_| (0, in_class(class, packet(0, 1, flits))))
            .collect();
        let delivered = records(&config, 5, &traffic);
        let turn = delay + flits + 1;
        for (number, done) in (0..).zip(delivered) {
            let start = number / credits * turn + number % credits * flits;
            assert_eq!(done.delivered, Cycle::from(start + 2 * delay + flits - 1));
        }
    }
}

/// No other code can handle such a packet.
#[test]
#[should_panic(expected = "not a packet of this fabric")]
fn a_class_that_the_machine_lacks_is_refused() {
    records(&one_switch(1), 5, &[(0, in_class(1, packet(0, 1, 10)))]);
}
