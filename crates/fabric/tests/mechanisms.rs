//! Circuits, limits, routing and sharing, seen from outside, to the cycle.

use crate::common;

use common::{Bench, high, machine, named, one_switch, packet, records, three_levels};
use fabric::{Ack, Ascent, Circuit, Config, Cycle, FatTree, PacketSpec, Place, SwitchId};

fn with_circuit(circuit: Circuit) -> Config {
    Config {
        circuit,
        packets_in_flight: 3,
        ..one_switch(3)
    }
}

/// Three packets from one adapter, two channels: the first crosses the injection link in cycles 0
/// to 9 and the ejection link in 3 to 12, arrives at 15, is acknowledged at `15 + 5 + 6 = 26`.
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

/// The circuit at the ejection link: packets from three nodes meet there, a cycle apart. The second
/// packet has sent its tail over the link at 22, so the link is idle long before the third packet,
/// which waits at the switch from cycle 5, may enter.
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
    // The second packet waits from 4 to 13. The first circuit ends at the ejection link at 26 + 1 +
    // 3.
    assert_eq!(
        waits(Circuit::UntilAcknowledged),
        (30 + 9 + 3, 9 + (30 - 5))
    );
    // Without a circuit the third packet gets a channel in time and follows the second packet
    // immediately.
    for circuit in [Circuit::UntilDelivered, Circuit::Wormhole] {
        assert_eq!(waits(circuit), (23 + 9 + 3, 9 + (23 - 5)));
    }
}

/// A destination that answers late holds the circuit: the adapter's next packet waits that much
/// longer.
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

/// Packets that each up-link at a switch has carried.
fn climbed(config: &Config, traffic: &[(Cycle, PacketSpec)]) -> Vec<u64> {
    let bench = Bench::new(config.clone(), 5).through(traffic);
    let tree = bench.fabric.topology();
    let ups = (4..8).map(|port| tree.output(SwitchId::new(0), port));
    ups.map(|link| bench.fabric.counters(link).packets)
        .collect()
}

#[test]
fn adaptive_ascent_takes_the_least_loaded_link() {
    let config = Config {
        packets_in_flight: 1,
        ..three_levels(3)
    };
    // Four packets climb at the same time to destinations that are the same modulo 4: each has a
    // link to itself.
    let at_once: Vec<_> = (0..4)
        .map(|node| (0, packet(node, 16 + 4 * node, 100)))
        .collect();
    assert_eq!(climbed(&config, &at_once), [1, 1, 1, 1]);
    // Eight packets from four adapters with two in flight: two on each up-link.
    let config = three_levels(3);
    let twice: Vec<_> = [&at_once[..], &at_once[..]].concat();
    assert_eq!(climbed(&config, &twice), [2, 2, 2, 2]);
    // One packet after the other, on an idle network: the hash spreads them over all links.
    let alone: Vec<_> = (0..400)
        .map(|number| (1000 * number, packet(0, 63, 10)))
        .collect();
    let spread = climbed(&config, &alone);
    assert!(
        spread.iter().all(|&packets| (70..130).contains(&packets)),
        "{spread:?}"
    );
}

/// A fixed ascent always takes the same link: the link with the last digit of the destination, or
/// the link with the number of the source in its switch.
#[test]
fn a_fixed_ascent_always_takes_the_same_link() {
    for ascent in [Ascent::Deterministic, Ascent::SourceFixed] {
        let config = Config {
            ascent,
            ..three_levels(3)
        };
        for link in 0..4 {
            let spec = |number: u32| match ascent {
                Ascent::SourceFixed => packet(link, 16 + number % 8, 30),
                _ => packet(number % 4, 16 + link, 30),
            };
            let traffic: Vec<_> = (0..40).map(|at| (at.into(), spec(at))).collect();
            let mut expected = vec![0; 4];
            expected[link as usize] = 40;
            assert_eq!(climbed(&config, &traffic), expected, "{ascent:?}");
        }
    }
}

/// A blocked header takes the up-link that falls free first: with one channel each, the fifth
/// packet follows the shortest of the four.
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
    // Over four links: acknowledged 12 + 69 + 5 + 12 after the start; the EOP passes the up-link
    // 1 + 3 later.
    assert_eq!(done[3].acknowledged, 98);
    assert_eq!(done[4].delivered, (98 + 4) + 3 * 3 + 9);
}

/// Sending pauses only for flits that are received, not for an open channel without flits to
/// receive: the long packet from 2 to 0 is interrupted at its source for a thousand cycles, in
/// which node 0 sends undisturbed.
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
