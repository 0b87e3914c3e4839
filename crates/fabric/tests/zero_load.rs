//! Times that can be worked out on paper: a packet alone, two packets of one adapter, two packets that meet, small
//! buffers, tokens, a shared adapter. `L` is the length of a packet in flits, `D` the delay of a hop in cycles.

mod common;

use common::{Bench, machine, named, one_switch, packet, records, three_levels};
use fabric::{Circuit, Config, Cycle, FatTree, LinkCounters, NodeId, PacketRecord};

/// The record of a packet alone, injected as it is offered.
fn alone(at: Cycle, path: &[u32], flits: u32, turnaround: Cycle) -> PacketRecord {
    let travel = u64::from(path.iter().sum::<u32>());
    let delivered = at + travel + u64::from(flits) - 1;
    PacketRecord {
        sequence: 0,
        links: path.len() as u32,
        offered: at,
        injected: at,
        delivered,
        acknowledged: delivered + turnaround + travel,
        ack: fabric::Ack::Accepted,
    }
}

/// Flit `k` crosses link `i` in cycle `t + i D + k`: the last one arrives at `t + links D + L - 1`.
#[test]
fn a_packet_alone() {
    for delay in [1, 2, 11, 127] {
        let config = three_levels(delay);
        for (destination, links) in [(0, 2), (3, 2), (4, 4), (15, 4), (16, 6), (63, 6)] {
            for flits in [1, 2, 189] {
                for (at, turnaround) in [(0, 0), (7, 40), (5000, 2000)] {
                    let record =
                        records(&config, turnaround, &[(at, packet(0, destination, flits))]);
                    let path = vec![delay; links];
                    assert_eq!(record, [alone(at, &path, flits, turnaround)]);
                }
            }
        }
    }
}

/// Levels may have cables of different lengths. 0 to 16 climbs and descends all three.
#[test]
fn hop_delays_by_level() {
    let config = Config {
        hop_delay: vec![3, 7, 12],
        ..three_levels(1)
    };
    for (destination, path) in [
        (1, vec![3, 3]),
        (4, vec![3, 7, 7, 3]),
        (16, vec![3, 7, 12, 12, 7, 3]),
    ] {
        let record = records(&config, 9, &[(2, packet(0, destination, 20))]);
        assert_eq!(record, [alone(2, &path, 20, 9)]);
    }
}

/// Each link of the path has carried one packet and waited for nothing; an EOP has followed it, an acknowledgement has
/// crossed the link back.
#[test]
fn counters_of_a_packet_alone() {
    let config = Config {
        tokens: true,
        ..one_switch(3)
    };
    let mut bench = Bench::new(config, 5);
    bench.offer(&[(4, packet(0, 2, 20))]);
    bench.finish();
    let tree = bench.fabric.tree().clone();
    let path = [tree.injection(0), tree.ejection(2)];
    for link in 0..tree.links() {
        let on_path = u64::from(path.contains(&link));
        let expected = LinkCounters {
            packets: on_path,
            flits: 20 * on_path,
            tokens: on_path + u64::from(path.contains(&tree.reverse(link))),
            waiting: 0,
        };
        assert_eq!(bench.fabric.counters(link), expected, "link {link}");
    }
}

/// The acknowledgement is back at `T`; the EOP frees link `i` at `T + 1 + i D`. With one channel the next packet of the
/// adapter enters at `T + 1`, and a stranger that waits for the ejection link is let through at `T + 1 + D`.
#[test]
fn reuse_of_channels() {
    let config = Config {
        channels: 1,
        ..one_switch(3)
    };
    let traffic = [
        (0, packet(0, 3, 10)),
        (0, packet(0, 1, 10)),
        (1, packet(2, 3, 10)),
    ];
    let done = records(&config, 5, &traffic);
    let back = done[0].acknowledged;
    assert_eq!(back, (3 + 3 + 9) + 5 + (3 + 3));
    assert_eq!(done[1].injected, back + 1);
    // Its flits wait behind the switch; the first crosses the ejection link at T + 1 + D.
    assert_eq!(done[2].injected, 1);
    assert_eq!(done[2].delivered, (back + 1 + 3) + 3 + 9);
}

/// The wait for an adapter's link counts from the offer: the second packet is injected, and moves, at `T + 1 = 27`.
#[test]
fn waiting_at_the_adapter() {
    let config = Config {
        channels: 1,
        ..one_switch(3)
    };
    let mut bench = Bench::new(config, 5);
    bench.offer(&[(0, packet(0, 3, 10)), (4, packet(0, 1, 10))]);
    bench.finish();
    assert_eq!(bench.fabric.counters(0).waiting, 27 - 4);
}

/// With hop delays of 3 and 7 the EOP of 0 -> 4 passes at `T + 1`, `+ 3`, `+ 7`, `+ 7`: the ejection link of 4 is free
/// at `T + 18`, and a neighbour of 4 that waits for it gets it then.
#[test]
fn the_eop_travels_at_the_hop_delay() {
    let config = Config {
        hop_delay: vec![3, 7],
        channels: 1,
        ..machine(FatTree::quaternary(2).expect("16 nodes"), 1)
    };
    let done = records(&config, 5, &[(0, packet(0, 4, 10)), (20, packet(5, 4, 10))]);
    let back = done[0].acknowledged;
    assert_eq!(back, (3 + 7 + 7 + 3 + 9) + 5 + 20);
    assert_eq!(done[1].delivered, (back + 1 + 3 + 7 + 7) + 3 + 9);
}

/// Both packets of an adapter enter at once, on two channels. The link serves the older one, in cycles 0 to `L - 1`;
/// the younger one follows in `L` to `2 L - 1`, wherever it goes.
#[test]
fn two_packets_of_one_adapter() {
    for second in [1, 2] {
        let mut bench = Bench::new(one_switch(3), 5);
        bench.offer(&named(&[(0, packet(0, 1, 10)), (0, packet(0, second, 10))]));
        bench.finish();
        let (older, younger) = (bench.record(0), bench.record(1));
        assert_eq!(older, alone(0, &[3, 3], 10, 5));
        assert_eq!((younger.sequence, younger.injected), (1, 0));
        assert_eq!(younger.delivered, 10 + (3 + 3 + 9));
        assert_eq!(younger.acknowledged, younger.delivered + 5 + 6);
        // The second packet waited ten cycles for its adapter's link, and for nothing behind it.
        assert_eq!(bench.fabric.counters(0).waiting, 10);
        let ejection = bench.fabric.tree().ejection(second);
        assert_eq!(bench.fabric.counters(ejection).waiting, 0);
    }
}

/// Two flits of buffer and `D = 3`: a flit sent at `t` leaves the buffer at `t + 3`, its place is free at `t + 4`. The
/// older packet therefore sends at 0 1, 4 5, 8 9, and the younger one takes the gaps: 2 3, 6 7, 10 11.
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

/// Two packets meet at the ejection link of node 2, a cycle apart. Both find a channel there; the older one has the link
/// in cycles 3 to 12, the younger one's header is there at 4, its flits follow in 13 to 22.
#[test]
fn two_packets_that_meet() {
    for (first, second) in [(0, 1), (1, 0)] {
        let mut bench = Bench::new(one_switch(3), 5);
        bench.offer(&named(&[
            (0, packet(first, 2, 10)),
            (1, packet(second, 2, 10)),
        ]));
        bench.finish();
        assert_eq!(bench.record(0).delivered, 15);
        assert_eq!(bench.record(1).injected, 1);
        assert_eq!(bench.record(1).delivered, 22 + 3);
        let ejection = bench.fabric.tree().ejection(2);
        assert_eq!(bench.fabric.counters(ejection).waiting, 13 - 4);
    }
}

/// With one channel the loser waits for the EOP: free at `T + 1 + D`, `T = 26`.
#[test]
fn two_packets_that_meet_at_one_channel() {
    let config = Config {
        channels: 1,
        ..one_switch(3)
    };
    // At the same moment: equal ages, and the rotation starts at the first input.
    let done = records(&config, 5, &[(0, packet(1, 2, 10)), (0, packet(0, 2, 10))]);
    assert_eq!((done[1].delivered, done[1].acknowledged), (15, 26));
    assert_eq!(done[0].delivered, 30 + 3 + 9);
}

/// `B` flits of buffer: `B` flits go in every `D + 1` cycles, if `B` is less than that. Flit `k` is sent at
/// `(k / B) (D + 1) + k mod B`, on each link `D` later.
#[test]
fn a_small_buffer_limits_the_rate() {
    for delay in [1, 2, 5, 11] {
        for buffer in 1..=13 {
            let config = Config {
                buffer,
                ..three_levels(delay)
            };
            for (destination, links) in [(1, 2), (4, 4), (16, 6)] {
                for flits in [1, 40, 41, 47] {
                    let last = u64::from(flits - 1);
                    let (buffer, delay) = (u64::from(buffer), u64::from(delay));
                    let sent = if buffer > delay {
                        last
                    } else {
                        (last / buffer) * (delay + 1) + last % buffer
                    };
                    let done = records(&config, 5, &[(0, packet(0, destination, flits))]);
                    assert_eq!(done[0].delivered, sent + links * delay);
                }
            }
        }
    }
}

/// When each packet of a stream enters the ejection link, from the times of delivery.
fn stream(
    config: &Config,
    turnaround: Cycle,
    packets: u64,
    pairs: &[(NodeId, NodeId)],
) -> Vec<Cycle> {
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

/// One channel, one packet in flight: the next packet is injected when the EOP has passed the adapter's link, one cycle
/// after the acknowledgement; with tokens it finds the EOP in that cycle and follows it in the next.
#[test]
fn tokens_between_lone_packets() {
    let mut config = Config {
        channels: 1,
        packets_in_flight: 1,
        ..one_switch(3)
    };
    // Delivered after 2 D + L - 1 = 55, acknowledged 5 + 2 D = 11 later, free one later.
    let starts: Vec<_> = (0..20).map(|number| number * 67).collect();
    assert_eq!(stream(&config, 5, 20, &[(0, 1)]), starts);
    config.tokens = true;
    let starts: Vec<_> = (0..20).map(|number| number * 68).collect();
    // The first packet follows no EOP: it starts at 0, the second at 67 + 1.
    assert_eq!(stream(&config, 5, 20, &[(0, 1)]), starts);
}

/// Two channels, two packets in flight: the link never rests. Each packet is acknowledged while the next one is on the
/// link, its EOP goes before the one after. One way that makes `L + 1` cycles a packet; if the other node sends
/// as much, its acknowledgements take another slot: `L + 2`.
#[test]
fn tokens_in_a_steady_stream() {
    let mut config = one_switch(3);
    let one_way = &[(0, 1)];
    let both_ways = &[(0, 1), (1, 0)];
    let spaced = |spacing: u64| -> Vec<Cycle> {
        // Nothing goes before the first two packets.
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

/// Both directions busy, each pauses 32 of 185 cycles; one direction alone does not.
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
                let (tree, fabric) = (bench.fabric.tree(), &bench.fabric);
                [tree.injection(0), tree.ejection(1)].map(|link| fabric.counters(link).flits)
            };
            // Away from the start, when the buffers have taken up the difference of the phases.
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
