//! Virtual cut-through: a channel is the credit of a whole packet. What the credits of a link allow, on paper; and that a packet
//! which has got a channel never stands on the link.

mod common;

use common::{Bench, machine, named, one_switch, packet, records};
use fabric::control::Hold;
use fabric::{Circuit, Config, Cycle, Engine, FatTree};

const ENGINES: [Engine; 2] = [Engine::Worm, Engine::Flit];

/// A stream of packets of `L` flits over hops of `D` cycles. A channel whose packet starts in cycle `t` is free again in cycle
/// `t + D + L + 1`: the tail leaves the buffer at `t + D + L - 1`, and two cycles later the place is seen free. Until then the
/// link can send one packet by each of its `c` channels, `c L` flits. So the stream has the whole rate of the link if
/// `c L >= D + L + 1`.
#[test]
fn the_channels_of_a_link_are_its_credits() {
    let (delay, flits, packets) = (20_u32, 10_u32, 20_u64);
    for engine in ENGINES {
        for channels in 1..=5 {
            let config = Config {
                circuit: Circuit::CutThrough,
                buffer: flits,
                channels,
                packets_in_flight: 64,
                engine,
                ..one_switch(delay)
            };
            let stream: Vec<_> = (0..packets).map(|_| (0, packet(0, 1, flits))).collect();
            let done = records(&config, 5, &stream);
            let turn = (channels * flits).max(delay + flits + 1);
            for (number, record) in (0_u64..).zip(&done) {
                let (turns, place) = (number / u64::from(channels), number % u64::from(channels));
                let starts = turns * u64::from(turn) + place * u64::from(flits);
                let travels = u64::from(2 * delay + flits - 1);
                assert_eq!(record.delivered, starts + travels, "{channels} {number}");
            }
        }
    }
}

/// Packets of 1 to 30 flits from 16 nodes to 4 of them, over links of one channel, where headers wait in every switch.
fn crowd(circuit: Circuit, buffer: u32, engine: Engine) -> Vec<Hold> {
    let tree = FatTree::quaternary(2).expect("16 nodes");
    let config = Config {
        circuit,
        buffer,
        channels: 1,
        packets_in_flight: 64,
        engine,
        ..machine(tree, 5)
    };
    let traffic = (0..400_u32).map(|number| {
        let flits = 1 + number * 11 % 30;
        let at = Cycle::from(number * 3);
        (at, packet(number % 16, number * 7 % 4, flits))
    });
    let mut bench = Bench::new(config, 5);
    bench.fabric.record(0);
    let mut bench = bench.through(&named(&traffic.collect::<Vec<_>>()));
    bench.fabric.recorded()
}

/// Cycles that a packet stood on a link, between its first flit and its last.
fn stood(hold: &Hold) -> Cycle {
    let (head, tail) = (hold.head.expect("sent"), hold.tail.expect("sent"));
    tail - head - u64::from(hold.flits - 1)
}

/// A head is sent only if the whole packet has room behind the link: the packet then crosses the link without a pause, however
/// long its header waits in the next switch.
#[test]
fn a_packet_with_a_channel_never_stands() {
    for engine in ENGINES {
        let holds = crowd(Circuit::CutThrough, 30, engine);
        assert!(holds.len() > 800, "{} holds", holds.len());
        assert!(holds.iter().all(|hold| stood(hold) == 0));
        let waited = |hold: &&Hold| hold.hop > 0 && hold.head > Some(hold.waits);
        assert!(holds.iter().filter(waited).count() > 100, "headers wait");
        // Wormhole routing with small buffers leaves the waiting packets on the links.
        let worms = crowd(Circuit::Wormhole, 4, engine);
        assert!(worms.iter().filter(|hold| stood(hold) > 0).count() > 100);
    }
}

/// Such a packet would have to stand.
#[test]
#[should_panic(expected = "not a packet of this fabric")]
fn a_packet_longer_than_the_buffer_is_refused() {
    let config = Config {
        circuit: Circuit::CutThrough,
        buffer: 10,
        ..one_switch(1)
    };
    records(&config, 5, &[(0, packet(0, 1, 11))]);
}
