//! Rates that can be worked out on paper: small buffers, tokens, a shared adapter. `L` is a
//! packet's length in flits, `D` a hop's delay in cycles.

use crate::common;

use common::{Bench, one_switch, packet, records};
use fabric::{Circuit, Config, Cycle, Place};

/// Two flits of buffer and `D = 3`: a flit sent at `t` leaves the buffer at `t + 3`, its place is
/// free at `t + 4`. The older packet therefore sends at 0 1, 4 5, 8 9, and the younger one takes
/// the gaps: 2 3, 6 7, 10 11.
#[test]
fn the_younger_packet_takes_the_gaps() {
    let config = Config {
        buffer: 2,
        ..one_switch(3)
    };
    let done = records(&config, 5, &[(0, packet(0, 1, 6)), (0, packet(0, 2, 6))]);
    assert_eq!(done[0].delivered, 9 + 3 + 3);
    assert_eq!(done[1].delivered, 11 + 3 + 3);
}

/// When each packet in a stream enters the ejection link, from the delivery times.
fn stream(config: &Config, turnaround: Cycle, packets: u64, pairs: &[(u32, u32)]) -> Vec<Cycle> {
    let flits = 50;
    let traffic: Vec<_> = (0..packets)
        .flat_map(|_| pairs.iter().map(|&(from, to)| (0, packet(from, to, flits))))
        .collect();
    let done = records(config, turnaround, &traffic);
    done.iter()
        .step_by(pairs.len())
        .map(|record| record.delivered - u64::from(flits) + 1 - 2 * 3)
        .collect()
}

/// One channel, one packet in flight: the next packet is injected when the EOP has passed the
/// adapter's link, one cycle after the acknowledgement; with tokens the EOP takes the link in that
/// cycle and the packet follows in the next.
#[test]
fn tokens_between_lone_packets() {
    let mut config = Config {
        channels: 1,
        packets_in_flight: 1,
        ..one_switch(3)
    };
    // Delivered after 2 D + L - 1 = 55 cycles, acknowledged 5 + 2 D = 11 later, free one cycle
    // later.
    let starts: Vec<_> = (0..20).map(|number| number * 67).collect();
    assert_eq!(stream(&config, 5, 20, &[(0, 1)]), starts);
    config.tokens = true;
    let starts: Vec<_> = (0..20).map(|number| number * 68).collect();
    // The first packet follows no EOP: it starts at 0, the second at 67 + 1.
    assert_eq!(stream(&config, 5, 20, &[(0, 1)]), starts);
}

/// Two channels, two packets in flight: the link never rests. Each packet is acknowledged while the
/// next packet is on the link, and its EOP precedes the packet after that. Traffic one way takes
/// `L + 1` cycles a packet; if the other node sends as much, acknowledgements take another slot:
/// `L + 2`.
#[test]
fn tokens_in_a_steady_stream() {
    let mut config = one_switch(3);
    let one_way = &[(0, 1)];
    let both_ways = &[(0, 1), (1, 0)];
    let spaced = |spacing: u64| -> Vec<Cycle> {
        // No EOP precedes the first two packets.
        let start = |number: u64| match number {
            0 => 0,
            _ => number * spacing - (spacing - 50),
        };
        (0..20).map(start).collect()
    };
    assert_eq!(stream(&config, 5, 20, one_way), spaced(50));
    assert_eq!(stream(&config, 5, 20, both_ways), spaced(50));
    config.tokens = true;
    assert_eq!(stream(&config, 5, 20, one_way), spaced(51));
    assert_eq!(stream(&config, 5, 20, both_ways), spaced(52));
}

/// If both directions are busy, each pauses 32 of 185 cycles; one direction alone does not pause.
#[test]
fn a_shared_adapter() {
    for (share_period, share_burst) in [(185, 32), (40, 20), (7, 1)] {
        let config = Config {
            share_period,
            share_burst,
            circuit: Circuit::UntilDelivered,
            ..one_switch(11)
        };
        let long = 100_000;
        for (both, pause) in [(true, share_burst), (false, 0)] {
            let mut bench = Bench::new(config.clone(), 5);
            bench.offer(&[(0, packet(0, 1, long))]);
            if both {
                bench.offer(&[(0, packet(1, 0, long))]);
            }
            let carried = |bench: &Bench| {
                let (wiring, fabric) = (bench.fabric.topology(), &bench.fabric);
                let [first, second] = [0_u32, 1].map(Place::new);
                [wiring.injection(first), wiring.ejection(second)]
                    .map(|link| fabric.counters(link).flits)
            };
            // Away from the start, when the buffers have taken up the phase difference.
            bench.run_until(10 * share_period);
            let before = carried(&bench);
            bench.run_until(110 * share_period);
            let after = carried(&bench);
            for (before, after) in before.into_iter().zip(after) {
                assert_eq!(after - before, 100 * (share_period - pause));
            }
        }
    }
}
