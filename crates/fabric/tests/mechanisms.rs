//! Circuits, limits, routing and sharing, seen from outside, to the cycle.

mod common;

use common::{Bench, high, machine, named, one_switch, packet, records, three_levels};
use fabric::{Ack, Ascent, Circuit, Config, Cycle, FatTree, LinkId, PacketSpec, Place, SwitchId};

fn with_circuit(circuit: Circuit) -> Config {
    Config {
        circuit,
        packets_in_flight: 3,
        ..one_switch(3)
    }
}

/// Three packets of one adapter, two channels: the first crosses the injection link in cycles 0 to 9 and the ejection
/// link in 3 to 12, arrives at 15, is acknowledged at `15 + 5 + 6 = 26`.
#[test]
fn the_life_of_a_circuit() {
    let injected = |circuit| {
        let traffic = [1, 2, 3].map(|destination| (0, packet(0, destination, 10)));
        let done = records(&with_circuit(circuit), 5, &traffic);
        assert_eq!((done[0].delivered, done[0].acknowledged), (15, 26));
        assert_eq!(done[1].injected, 0);
        done[2].injected
    };
    assert_eq!(injected(Circuit::UntilAcknowledged), 27, "the EOP passes");
    assert_eq!(injected(Circuit::UntilDelivered), 16, "after the delivery");
    assert_eq!(injected(Circuit::Wormhole), 12 + 2, "after the tail");
}

/// The same at the ejection link: packets of three nodes meet there, a cycle apart. The second one has sent its tail
/// over it at 22, so the link is free long before the third one, which waits at the switch from cycle 5, may enter.
#[test]
fn a_third_packet_waits_for_the_eop() {
    let traffic: Vec<_> = (0..3)
        .map(|node| (u64::from(node), packet(node, 3, 10)))
        .collect();
    let waits = |circuit| {
        let bench = Bench::new(with_circuit(circuit), 5).through(&named(&traffic));
        let ejection = bench.fabric.topology().ejection(Place::new(3));
        let waiting = bench.fabric.counters(ejection).waiting;
        (bench.record(2).delivered, waiting)
    };
    // The second waits from 4 to 13. The first circuit ends at the ejection link at 26 + 1 + 3.
    assert_eq!(
        waits(Circuit::UntilAcknowledged),
        (30 + 9 + 3, 9 + (30 - 5))
    );
    // Without a circuit it gets a channel in time and follows the second packet at once.
    for circuit in [Circuit::UntilDelivered, Circuit::Wormhole] {
        assert_eq!(waits(circuit), (23 + 9 + 3, 9 + (23 - 5)));
    }
}

/// At a node the tail is gone two cycles after it has arrived (plain wormhole) or one (all channels at once): with one
/// channel, packets of two nodes follow each other at 15 + 2 and 15 + 1.
#[test]
fn without_circuits_the_node_frees_its_link() {
    for (circuit, free) in [
        (Circuit::UntilAcknowledged, 30),
        (Circuit::UntilDelivered, 16),
        (Circuit::Wormhole, 17),
    ] {
        let config = Config {
            channels: 1,
            ..with_circuit(circuit)
        };
        let traffic = [(0, packet(0, 3, 10)), (1, packet(1, 3, 10))];
        let done = records(&config, 5, &traffic);
        assert_eq!(done[1].delivered, free + 9 + 3, "{circuit:?}");
    }
}

/// A destination that answers late holds the circuit: the next packet of the adapter waits that much longer.
#[test]
fn a_late_acknowledgement_holds_the_circuit() {
    let next = |late: Cycle| {
        let config = Config {
            channels: 1,
            ..one_switch(3)
        };
        let answer = move |spec: &PacketSpec, _| {
            let turnaround = 5 + if spec.token == 0 { late } else { 0 };
            (turnaround, Ack::Accepted)
        };
        let mut bench = Bench::with_answers(config, answer);
        let traffic = [packet(0, 1, 10), packet(0, 2, 10), packet(3, 1, 10)];
        bench.offer(&named(&traffic.map(|spec| (0, spec))));
        bench.finish();
        (bench.record(1).injected, bench.record(2).delivered)
    };
    assert_eq!(next(0), (27, 30 + 9 + 3));
    assert_eq!(next(500), (527, 530 + 9 + 3));
    assert_eq!(next(5000), (5027, 5030 + 9 + 3), "beyond the near future");
}

/// An adapter stops at its limit of unacknowledged packets, though its link has free channels.
#[test]
fn packets_in_flight_are_limited() {
    for limit in 1..=4 {
        let config = Config {
            channels: 4,
            packets_in_flight: limit,
            ..one_switch(3)
        };
        let traffic = [(0, packet(0, 1, 10)); 5];
        let done = records(&config, 5, &traffic);
        let at_once = done.iter().filter(|record| record.injected == 0).count();
        assert_eq!(at_once, limit as usize);
        // In the very cycle of the acknowledgement if there is another channel, with the EOP's passing if not.
        let expected = if limit == 4 { 27 } else { 26 };
        assert_eq!(done[limit as usize].injected, expected);
    }
}

/// Packets that each of the up-links of a switch has carried.
fn climbed(config: &Config, traffic: &[(Cycle, PacketSpec)]) -> Vec<u64> {
    let bench = Bench::new(config.clone(), 5).through(traffic);
    let tree = bench.fabric.topology();
    let ups: Vec<LinkId> = (4..8)
        .map(|port| tree.output(SwitchId::new(0), port))
        .collect();
    ups.iter()
        .map(|&link| bench.fabric.counters(link).packets)
        .collect()
}

#[test]
fn adaptive_ascent_takes_the_least_loaded_link() {
    let config = Config {
        packets_in_flight: 1,
        ..three_levels(3)
    };
    // Four packets climb at the same time to destinations that are the same modulo 4: each has a link to itself.
    let at_once: Vec<_> = (0..4)
        .map(|node| (0, packet(node, 16 + 4 * node, 100)))
        .collect();
    assert_eq!(climbed(&config, &at_once), [1, 1, 1, 1]);
    // Eight from four adapters with two in flight: two on each.
    let config = three_levels(3);
    let twice: Vec<_> = [&at_once[..], &at_once[..]].concat();
    assert_eq!(climbed(&config, &twice), [2, 2, 2, 2]);
    // One after the other, on an idle network: spread by the hash, all links are used.
    let alone: Vec<_> = (0..400)
        .map(|number| (1000 * number, packet(0, 63, 10)))
        .collect();
    let spread = climbed(&config, &alone);
    assert!(
        spread.iter().all(|&packets| (70..130).contains(&packets)),
        "{spread:?}"
    );
}

#[test]
fn deterministic_ascent_always_takes_the_same_link() {
    let config = Config {
        ascent: Ascent::Deterministic,
        ..three_levels(3)
    };
    for destination in 16..20 {
        let traffic: Vec<_> = (0..40)
            .map(|number| (number, packet(number as u32 % 4, destination, 30)))
            .collect();
        let mut expected = vec![0; 4];
        expected[destination as usize % 4] = 40;
        assert_eq!(climbed(&config, &traffic), expected);
    }
}

/// Each node climbs by the link with its own number in its switch, wherever it sends to.
#[test]
fn source_fixed_ascent_gives_every_node_its_own_link() {
    let config = Config {
        ascent: Ascent::SourceFixed,
        ..three_levels(3)
    };
    for source in 0..4 {
        let traffic: Vec<_> = (0..40)
            .map(|number| (number, packet(source, 16 + number as u32 % 8, 30)))
            .collect();
        let mut expected = vec![0; 4];
        expected[source as usize] = 40;
        assert_eq!(climbed(&config, &traffic), expected);
    }
}

/// A blocked header takes whichever of the up-links frees first: with one channel each, the fifth packet follows the
/// shortest of the four.
#[test]
fn a_blocked_header_takes_the_first_link_that_frees() {
    let config = Config {
        channels: 1,
        ..machine(FatTree::new(&[5, 2], &[4], 10).expect("10 nodes"), 3)
    };
    let mut traffic: Vec<_> = (0..4)
        .map(|node| (0, packet(node, 5 + node, 100 - 10 * node)))
        .collect();
    traffic.push((1, packet(4, 9, 10)));
    let done = records(&config, 5, &traffic);
    // Over four links: acknowledged 12 + 69 + 5 + 12 after the start; the EOP passes the up-link 1 + 3 later.
    assert_eq!(done[3].acknowledged, 98);
    assert_eq!(done[4].delivered, (98 + 4) + 3 * 3 + 9);
}

/// What is sent pauses only for what is received, not for a channel that is open but has nothing to receive: the long
/// packet from 2 to 0 is interrupted at its source for a thousand cycles, in which 0 sends undisturbed.
#[test]
fn sharing_needs_two() {
    let config = Config {
        share_burst: 32,
        priorities: true,
        ..one_switch(3)
    };
    let traffic = [
        (0, packet(2, 0, 500)),
        (10, high(packet(2, 3, 1000))),
        (20, packet(0, 1, 500)),
    ];
    let done = records(&config, 5, &traffic);
    assert_eq!(done[1].delivered, 10 + 6 + 999);
    assert_eq!(done[2].delivered, 20 + 6 + 499);
    assert_eq!(done[0].delivered, 1000 + 6 + 499);
}
