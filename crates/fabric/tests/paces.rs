//! Slow links in closed forms: times that were calculated from the essay in `fabric::pace`, met to
//! the cycle by both movers.

use super::common::graphs::graph;
use super::common::{Bench, broadcast, machine, named, packet};
use fabric::topology::graph::Plan;
use fabric::{
    Arbitration, Ascent, Circuit, Config, Cycle, Engine, FatTree, LinkId, LinkOverride, Pace,
    Place, SwitchId,
};

fn pace(flits: u64, cycles: u64) -> Pace {
    Pace::nearest(flits, cycles).expect("within bounds")
}

/// Two leaves with two nodes each and one link up from each, with such paces by level, where all
/// buffers hold whole packets.
fn two_leaves(paces: [Pace; 2]) -> Config {
    let tree = FatTree::new(&[2, 2], &[1], 4).expect("within all bounds");
    Config {
        pace: paces.to_vec(),
        ..machine(tree, 3)
    }
}

/// The same by both movers.
fn both(config: &Config) -> [Config; 2] {
    [Engine::Flit, Engine::Worm].map(|engine| Config {
        engine,
        ..config.clone()
    })
}

/// The cycles in which packets are delivered, by name.
fn delivered(config: &Config, traffic: &[(Cycle, fabric::PacketSpec)]) -> Vec<Cycle> {
    let bench = Bench::new(config.clone(), 5).through(&named(traffic));
    let tokens = 0..traffic.len() as u64;
    tokens.map(|token| bench.record(token).delivered).collect()
}

/// When a lone packet's flits leave its links, with these paces and delays, and when the last one
/// is delivered: each goes as soon as it is there and the link is ready.
fn alone(links: &[(Pace, Cycle)], flits: usize) -> Cycle {
    let mut there = vec![0; flits];
    for &(pace, delay) in links {
        let (mut ready, mut carry) = (0, 0);
        for flit in &mut there {
            if *flit > ready {
                carry = 0;
            }
            let sent = ready.max(*flit);
            let cycles = pace.cycles() + carry;
            ready = sent + Cycle::from(cycles / pace.flits());
            carry = cycles % pace.flits();
            *flit = sent + delay + Cycle::from(pace.serialisation());
        }
    }
    there[flits - 1]
}

/// Whole paces: the sum of the delays with each link's serialisation, and the slowest link's pace
/// for the flits behind the first, whether the slow link comes first, in the middle or last.
#[test]
fn the_slowest_link_sets_the_time_of_a_packet() {
    for (low, high) in [(1, 4), (4, 1), (3, 7), (7, 3), (1, 1), (5, 5)] {
        for config in both(&two_leaves([pace(1, low), pace(1, high)])) {
            let flits = 20;
            let time = delivered(&config, &[(7, packet(0, 3, flits))])[0];
            let delays = 2 * (3 + low - 1) + 2 * (3 + high - 1);
            let behind = Cycle::from(flits - 1) * low.max(high);
            assert_eq!(time - 7, delays + behind, "1/{low}, then 1/{high}");
        }
    }
}

/// Fractions: as computed flit by flit.
#[test]
fn fractions_of_the_full_pace_are_exact_to_the_flit() {
    for (low, high) in [
        ((2, 5), (1, 1)),
        ((3, 4), (2, 3)),
        ((1, 3), (7, 9)),
        ((511, 512), (2, 7)),
    ] {
        let paces = [low, high].map(|(flits, cycles)| pace(flits, cycles));
        for config in both(&two_leaves(paces)) {
            let [low, high] = paces.map(|pace| (pace, 3));
            let time = delivered(&config, &[(11, packet(0, 3, 300))])[0];
            assert_eq!(time - 11, alone(&[low, high, high, low], 300));
        }
    }
}

/// Only one cable differs, in both directions, and in its delay.
#[test]
fn a_cable_may_differ_from_those_of_its_level() {
    let mut config = two_leaves([Pace::FULL; 2]);
    let up = config.topology.injection(Place::new(3));
    let back = config.topology.reverse(up);
    for link in [up, back] {
        let slow = LinkOverride {
            hop_delay: 10,
            credit_delay: 1,
            pace: pace(1, 5),
        };
        config.differing.insert(link, slow);
    }
    for config in both(&config) {
        let traffic = [
            (0, packet(0, 3, 30)),
            (10_000, packet(0, 2, 30)),
            (20_000, packet(3, 0, 30)),
        ];
        let times = delivered(&config, &traffic);
        assert_eq!(times[0], 3 + 3 + 3 + 14 + 29 * 5);
        assert_eq!(times[1], 10_000 + 4 * 3 + 29);
        assert_eq!(times[2], 20_000 + 14 + 3 + 3 + 3 + 29 * 5);
    }
}

/// The acknowledgement takes the link delays, serialisation included.
#[test]
fn acknowledgements_take_the_delays_of_slow_links() {
    for config in both(&two_leaves([pace(1, 4), Pace::FULL])) {
        let bench = Bench::new(config, 5).through(&named(&[(0, packet(0, 3, 10))]));
        let record = bench.record(0);
        assert_eq!(record.acknowledged, record.delivered + 5 + 2 * 6 + 2 * 3);
    }
}

/// A fast link has bubbles behind a slow one, and another packet uses them: two slow nodes at a
/// leaf share the link up, which is four times as fast, and both take no longer than each alone.
#[test]
fn packets_share_the_bubbles_of_a_fast_link() {
    for config in both(&two_leaves([pace(1, 4), Pace::FULL])) {
        let alone = delivered(&config, &[(0, packet(0, 2, 40))])[0];
        let traffic = [(0, packet(0, 2, 40)), (0, packet(1, 3, 40))];
        let together = delivered(&config, &traffic);
        // The younger packet's flit waits for a cycle where both arrive together, and goes in the
        // next one.
        assert_eq!(together, [alone, alone + 1]);
    }
}

/// From a fast link to a slow one the buffer fills, and the fast link stands: a small buffer does
/// not change when the last flit arrives, but the source is held up.
#[test]
fn a_full_buffer_before_a_slow_link_holds_up_the_fast_one() {
    for circuit in [Circuit::UntilAcknowledged, Circuit::Wormhole] {
        for buffer in [8, 50, 1000] {
            let mut config = two_leaves([Pace::FULL, pace(1, 4)]);
            (config.buffer, config.circuit) = (buffer, circuit);
            for config in both(&config) {
                let time = delivered(&config, &[(0, packet(0, 3, 100))])[0];
                assert_eq!(time, 2 * 3 + 2 * 6 + 99 * 4, "{buffer} flits of buffer");
            }
        }
    }
}

/// Saturated, a slow link carries exactly its pace, and its share is the same for two senders that
/// take turns by age.
#[test]
fn a_saturated_link_keeps_its_pace() {
    for (flits, cycles) in [(1, 4), (2, 5), (3, 4)] {
        let mut config = two_leaves([Pace::FULL, pace(flits, cycles)]);
        (config.channels, config.circuit) = (8, Circuit::CutThrough);
        config.packets_in_flight = 64;
        for config in both(&config) {
            let traffic: Vec<_> = (0..200)
                .map(|packet_of| (0, packet(packet_of % 2, 2, 10)))
                .collect();
            let bench = Bench::new(config, 5).through(&named(&traffic));
            let up = LinkId::all(bench.fabric.topology().links())
                .find(|&link| {
                    bench.fabric.topology().link_level(link) == 1
                        && bench.fabric.counters(link).flits > 0
                })
                .expect("a link up");
            assert_eq!(bench.fabric.counters(up).flits, 2000);
            let last = bench
                .done()
                .map(|(record, _)| record.delivered)
                .max()
                .expect("there are packets");
            let busy = 2000 * cycles / flits;
            assert!((busy..busy + 40).contains(&last), "{last}, not {busy}");
        }
    }
}

/// Tokens take slots on the slow link, as flits do: an acknowledgement and an EOP hold up the next
/// packet by two flits each way.
#[test]
fn tokens_take_slots_of_the_pace() {
    let tree = FatTree::new(&[2], &[], 2).expect("within all bounds");
    let mut config = machine(tree, 1);
    (config.pace, config.tokens) = (vec![pace(1, 6)], true);
    (config.channels, config.packets_in_flight) = (1, 1);
    for config in both(&config) {
        let traffic = [(0, packet(0, 1, 4)), (0, packet(0, 1, 4))];
        let bench = Bench::new(config, 5).through(&named(&traffic));
        let [first, second] = [0, 1].map(|token| bench.record(token));
        assert_eq!(first.delivered, 2 * 6 + 3 * 6);
        // The EOP passes in the cycle after the acknowledgement and frees the channel; its token
        // takes a slot before the packet.
        assert_eq!(second.injected, first.acknowledged + 1);
        assert_eq!(second.delivered - second.injected, 6 + 2 * 6 + 3 * 6);
        let carried: u64 = LinkId::all(4)
            .map(|link| bench.fabric.counters(link).tokens)
            .sum();
        assert_eq!(carried, 2 * 2 * 2);
    }
}

/// Hosts at 25 Gb/s below switches that are joined at 100 Gb/s, with cables of 0.8 us: a cycle is
/// 64 bytes at 100 Gb/s, 5.12 ns. Two flows of 700 kB to one host share its 25 Gb/s, and end after
/// 448 us plus the way's time.
#[test]
fn two_flows_share_a_slow_cable() {
    let plan = Plan {
        switches: ["low", "far", "core"].map(String::from).to_vec(),
        seats: vec![0, 0, 0, 0, 1, 1, 1, 1],
        cables: vec![(0, 2), (1, 2)],
        ..Plan::default()
    };
    let mut config = machine(graph(&plan), 156);
    config.pace = vec![pace(1, 4), Pace::FULL];
    (config.channels, config.circuit) = (8, Circuit::CutThrough);
    (config.packets_in_flight, config.arbitration) = (1000, Arbitration::RoundRobin);
    // 16 flits are 1,024 bytes.
    let packets = 700_000_u32.div_ceil(1024);
    let traffic: Vec<_> = (0..packets)
        .flat_map(|_| [(0, packet(0, 5, 16)), (0, packet(1, 5, 16))])
        .collect();
    let way = 4 * 156 + 2 * 3;
    for config in both(&config) {
        let bench = Bench::new(config, 5).through(&named(&traffic));
        let last = |source: u32| {
            let done = bench.done();
            let own = done.filter(|(_, spec)| spec.source == Place::new(source));
            own.map(|(record, _)| record.delivered).max()
        };
        for flow in [0, 1] {
            let us = (last(flow).expect("it ends") - way) as f64 * 5.12e-3;
            assert!((us / 448.0 - 1.0).abs() < 0.005, "flow {flow}: {us} us");
        }
    }
}

/// One of four links up from a leaf has trained to a fifth of its rate. It carries no more than the
/// others, and is the hottest one, since its time counts at its own rate.
#[test]
fn a_slow_cable_is_the_hottest_of_its_group() {
    for ascent in [Ascent::Adaptive, Ascent::FlowHash] {
        let tree = FatTree::new(&[8, 2], &[4], 16).expect("within all bounds");
        let mut config = machine(tree, 3);
        (config.ascent, config.circuit) = (ascent, Circuit::CutThrough);
        config.channels = 4;
        let (from, up) = (SwitchId::new(0), 8);
        let slow = config.topology.output(from, up);
        for link in [slow, config.topology.reverse(slow)] {
            let slow = LinkOverride {
                pace: pace(1, 5),
                ..config.link(link)
            };
            config.differing.insert(link, slow);
        }
        let traffic: Vec<_> = (0..1600)
            .map(|number| {
                (
                    number * 10,
                    packet(number as u32 % 8, 8 + number as u32 / 8 % 8, 16),
                )
            })
            .collect();
        let mut found = Vec::new();
        for config in both(&config) {
            let ports = (up..up + 4).map(|port| config.topology.output(from, port));
            let ports: Vec<_> = ports.collect();
            let bench = Bench::new(config, 5).through(&named(&traffic));
            let counters = ports.iter().map(|&link| bench.fabric.counters(link));
            let counters: Vec<_> = counters.collect();
            assert_eq!(
                counters[0].busy,
                5 * (counters[0].flits + counters[0].tokens)
            );
            for other in &counters[1..] {
                assert!(counters[0].busy > other.busy, "{ascent:?}: {counters:?}");
            }
            found.push(counters);
        }
        assert_eq!(found[0], found[1]);
    }
}

/// Credits come back from three slow branches in a row of cycles: an event for each, and no event
/// that makes others.
#[test]
fn credits_of_slow_branches_do_not_multiply() {
    let tree = FatTree::new(&[4], &[], 4).expect("within all bounds");
    let mut config = machine(tree, 3);
    (config.pace, config.credit_delay) = (vec![pace(9, 10)], vec![4]);
    (config.buffer, config.engine) = (20, Engine::Worm);
    let flits = 200;
    let bench = Bench::new(config, 5).through(&named(&[(0, broadcast(0, 1, 3, flits))]));
    // The source's link is looked at for each flit, and again where the credit comes later; then
    // the flit arrives. Each branch is looked at, and its credit begins and ceases to come.
    let events = bench.fabric.motion_events();
    let most = u64::from(flits) * (3 + 3 * 3);
    assert!(events <= most, "{events} events, more than {most}");
}
