//! Which packet goes first where packets meet: for a channel, and for the next flit on a link.

use crate::common;

use common::{high, one_switch, packet, records, three_levels};
use fabric::{Arbitration, Config, Multiplexing};

/// The older of two waiting headers gets the channel, from any source, even if the header came
/// last; among equal ages, the header that has had this age here first; without ages the rotation
/// decides.
#[test]
fn the_older_packet_wins() {
    let config = |arbitration| Config {
        channels: 1,
        arbitration,
        age_bits: 16,
        ..three_levels(3)
    };
    let traffic = [
        (0, packet(1, 0, 10)),
        // Injected before the next packet, but from afar: its header arrives at 2 + 5 * 3 = 17.
        (2, packet(63, 0, 10)),
        (5, packet(2, 0, 10)),
    ];
    // The first packet is acknowledged at 26 and frees the ejection link at 26 + 1 + 3 = 30. One
    // packet later the link is free again after 3 + 9 (delivery), 5 and the way to the source and
    // back to this link: 6 * 3 + 1 + 5 * 3 or 3 + 3 + 1 + 3.
    let done = records(&config(Arbitration::Age), 5, &traffic);
    assert_eq!(done[1].delivered, 30 + 12);
    assert_eq!(done[2].delivered, (30 + 12 + 5 + 18 + 1 + 15) + 12);
    let done = records(&config(Arbitration::RoundRobin), 5, &traffic);
    assert_eq!(done[2].delivered, 30 + 12, "input 2 follows input 1");
    assert_eq!(done[1].delivered, (30 + 12 + 5 + 6 + 1 + 3) + 12);
    // If ages saturate after 10 cycles, both are equal at 30: since 15, and since the arrival at
    // 17.
    let coarse = Config {
        age_cap: 10,
        ..config(Arbitration::Age)
    };
    let done = records(&coarse, 5, &traffic);
    assert_eq!(done[2].delivered, 30 + 12);
}

/// Among equal ages the header goes first that came first, not the one that follows the last winner
/// in the rotation.
#[test]
fn equal_ages_are_served_as_they_come() {
    let traffic = [
        (0, packet(1, 0, 10)),
        (4, packet(3, 0, 10)),
        (5, packet(2, 0, 10)),
    ];
    for (arbitration, order) in [
        (Arbitration::Age, [0, 1, 2]),
        (Arbitration::RoundRobin, [0, 2, 1]),
    ] {
        let config = Config {
            channels: 1,
            arbitration,
            age_cap: 0,
            ..one_switch(3)
        };
        let done = records(&config, 5, &traffic);
        let delivered = order.map(|number: usize| done[number].delivered);
        assert!(delivered.is_sorted(), "{arbitration:?}: {delivered:?}");
    }
}

/// Three nodes send to a fourth, which has one channel. From each packet to the next it takes 12
/// cycles, 5, 6 and 1 + 3. The adapter that was served sends its next header immediately: the
/// header arrives in the very cycle in which the link is free again, and must wait for its turn.
#[test]
fn equal_packets_are_served_in_turn() {
    for (arbitration, age_cap) in [(Arbitration::RoundRobin, 14_000), (Arbitration::Age, 0)] {
        let config = Config {
            channels: 1,
            arbitration,
            age_cap,
            ..one_switch(3)
        };
        let traffic: Vec<_> = (0..12)
            .map(|number| (0, packet(number % 3, 3, 10)))
            .collect();
        let done = records(&config, 5, &traffic);
        let delivered: Vec<_> = done.iter().map(|record| record.delivered).collect();
        let in_turn: Vec<_> = (0..12).map(|number| 15 + 27 * number).collect();
        assert_eq!(delivered, in_turn);
    }
}

/// On a link, too, the age counts from the injection: a packet from afar, with the last header to
/// come, interrupts a younger one. Injected at 0, the older packet crosses its last link in cycles
/// 15 to 24; the younger one in 8 to 14 and 25 to 37.
#[test]
fn the_older_worm_interrupts_the_younger() {
    let traffic = [(0, packet(63, 0, 10)), (5, packet(1, 0, 20))];
    let done = records(&three_levels(3), 5, &traffic);
    assert_eq!(done[0].delivered, 24 + 3);
    assert_eq!(done[1].delivered, 37 + 3);
}

/// A high-priority packet passes all packets that have not started, in the adapter's queue and in
/// the wait for a channel; on a link it interrupts the flits of older worms.
#[test]
fn high_priority_overtakes() {
    let mut config = one_switch(3);
    let meeting = [(0, packet(0, 2, 100)), (10, high(packet(1, 2, 20)))];
    let queue = [
        (0, packet(0, 2, 100)),
        (0, packet(0, 2, 100)),
        (0, packet(0, 2, 100)),
        (1, high(packet(0, 2, 20))),
    ];
    let done = records(&config, 5, &meeting);
    assert_eq!(done[0].delivered, 6 + 99);
    assert_eq!(done[1].delivered, 6 + 99 + 20, "behind the older packet");
    let done = records(&config, 5, &queue);
    assert!(done[2].injected < done[3].injected);

    config.priorities = true;
    let done = records(&config, 5, &meeting);
    assert_eq!(done[1].delivered, 10 + 6 + 19, "as if alone");
    assert_eq!(done[0].delivered, 6 + 99 + 20, "interrupted for 20 cycles");
    let done = records(&config, 5, &queue);
    // A channel is free when the first is acknowledged: 105 + 5 + 6 and the EOP; the fourth packet
    // takes it, the third the next.
    assert_eq!(done[3].injected, 117);
    assert_eq!(done[3].delivered, 117 + 6 + 19, "before the second's rest");
    assert!(done[2].injected > 117);
}

/// Two packets of ten flits share a link: with the oldest first, one arrives 10 cycles before the
/// other; in turns, they take cycles 0 2 4 ... 18 and 1 3 5 ... 19.
#[test]
fn multiplexing() {
    let delivered = |multiplexing, buffer| {
        let config = Config {
            engine: fabric::Engine::Flit,
            multiplexing,
            buffer,
            ..one_switch(3)
        };
        let traffic = [(0, packet(0, 1, 10)), (0, packet(0, 2, 10))];
        let done = records(&config, 5, &traffic);
        (done[0].delivered, done[1].delivered)
    };
    assert_eq!(delivered(Multiplexing::OldestFirst, 100), (9 + 6, 19 + 6));
    assert_eq!(delivered(Multiplexing::RoundRobin, 100), (18 + 6, 19 + 6));
    // Half the rate needs half the buffer: two flits in D + 1 = 4 cycles.
    assert_eq!(delivered(Multiplexing::RoundRobin, 2), (18 + 6, 19 + 6));
}
