//! Virtual cut-through: a channel is a whole packet's credit. A link's rate from its credits, on
//! paper; and a packet which has got a channel never stands on the link.

use crate::common;

use common::{Bench, machine, named, one_switch, packet, records, three_levels};
use fabric::config::{MAX_CHANNELS, MAX_HOP_DELAY};
use fabric::control::Hold;
use fabric::{Circuit, Config, Cycle, Engine, FatTree};

const ENGINES: [Engine; 2] = [Engine::Worm, Engine::Flit];

/// One switch, over which a packet stream goes from one node to another.
fn stream(delay: u32, flits: u32, channels: u32, window: u32, engine: Engine) -> Config {
    Config {
        circuit: Circuit::CutThrough,
        buffer: flits,
        channels,
        packets_in_flight: window,
        engine,
        ..one_switch(delay)
    }
}

/// The delivery cycles in a stream, where `group` packets follow each other without a gap, and the
/// next `group` start `turn` cycles later, at the earliest.
fn expected(group: u32, turn: u32, flits: u32, delay: u32, packets: u32) -> Vec<Cycle> {
    let turn = turn.max(group * flits);
    let start = |number: u32| number / group * turn + number % group * flits;
    let travels = 2 * delay + flits - 1;
    (0..packets)
        .map(|number| Cycle::from(start(number) + travels))
        .collect()
}

/// When each packet is delivered, with acknowledgements that leave 100 cycles later.
fn delivered(config: &Config, flits: u32, packets: u32) -> Vec<Cycle> {
    let traffic: Vec<_> = (0..packets).map(|_| (0, packet(0, 1, flits))).collect();
    let done = records(config, 100, &traffic);
    done.iter().map(|record| record.delivered).collect()
}

/// A stream with `L`-flit packets over hops of `D` cycles. A channel with a packet that starts in
/// cycle `t` is free again in cycle `t + D + L + 1`: the tail leaves the buffer at `t + D + L - 1`,
/// and two cycles later the place is seen free. Until then the link can send one packet by each of
/// its `c` channels, `c L` flits. So the stream has the link's whole rate if `c L >= D + L + 1`.
#[test]
fn the_channels_of_a_link_are_its_credits() {
    for engine in ENGINES {
        for (delay, flits) in [(20, 10), (MAX_HOP_DELAY, 66)] {
            for channels in [1, 2, 3, 4, 5, 8, 16, 17, MAX_CHANNELS] {
                let config = stream(delay, flits, channels, 1024, engine);
                let expected = expected(channels, delay + flits + 1, flits, delay, 80);
                assert_eq!(
                    delivered(&config, flits, 80),
                    expected,
                    "{channels} {delay}"
                );
            }
        }
    }
}

/// The same stream over the six links on the longest way in a three-level tree, each as long as a
/// link can be. Every link sends flits as they come: one link's credits are enough for all, and 17
/// channels carry the link's whole rate over a way of 6,138 cycles.
#[test]
fn many_credits_fill_a_long_way() {
    let (delay, flits, packets) = (MAX_HOP_DELAY, 66, 80);
    for engine in ENGINES {
        for channels in [1, 16, 17, MAX_CHANNELS] {
            let config = Config {
                circuit: Circuit::CutThrough,
                buffer: flits,
                channels,
                packets_in_flight: 1024,
                engine,
                ..three_levels(delay)
            };
            let more = Cycle::from(4 * delay);
            let expected = expected(channels, delay + flits + 1, flits, delay, packets);
            let expected: Vec<_> = expected.into_iter().map(|at| at + more).collect();
            let traffic: Vec<_> = (0..packets).map(|_| (0, packet(0, 63, flits))).collect();
            let done = records(&config, 100, &traffic);
            let delivered: Vec<_> = done.iter().map(|record| record.delivered).collect();
            assert_eq!(delivered, expected, "{channels}");
            let took = delivered[79] - delivered[0] + Cycle::from(flits);
            assert_eq!(took == Cycle::from(flits * packets), channels >= 17);
        }
    }
}

/// Acknowledgements from end to end hold no channel and take their time all the same. A packet that
/// starts in cycle `t` is delivered at `t + 2 D + L - 1` and acknowledged `100 + 2 D` later, when
/// the adapter may send another: as many packets as may be in flight, and no more, share this time.
#[test]
fn a_window_of_packets_is_in_flight() {
    let (delay, flits) = (20, 10);
    let round_trip = 2 * delay + flits - 1 + 100 + 2 * delay;
    for engine in ENGINES {
        for window in [1, 2, 7, 18, 19, 64, 1024] {
            let config = stream(delay, flits, 5, window, engine);
            let expected = expected(window, round_trip, flits, delay, 200);
            assert_eq!(delivered(&config, flits, 200), expected, "{window}");
        }
    }
}

/// Packets of 1 to 30 flits from 16 nodes to 4 of them, over links with one channel, where headers
/// wait in every switch.
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

/// A head is sent only if the whole packet has room behind the link: the packet then crosses the
/// link without a pause, regardless of its header's wait in the next switch.
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
