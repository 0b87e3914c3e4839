//! No loss, no duplicates, no stall: random machines under random traffic, with every mechanism in
//! every combination.

use crate::common;

use common::random::{Act, Case, Input, any_case, case, failing, inputs, many};
use common::{Bench, Heard, assert_all_done, farthest, in_class, packet, travel};
use fabric::motion::FlitCensus;
use fabric::{
    Ack, Circuit, Cycle, Fabric, LinkCounters, LinkId, Multiplexing, PacketRecord, PacketSpec,
    Place, Wiring,
};
use proptest::prelude::*;

/// Runs a case to its end, and checks it every `stride` cycles.
fn run(case: &Case, stride: Cycle) -> Bench {
    let mut bench = Bench::new(case.config.clone(), case.turnaround);
    let mut at = 0;
    let mut before = bench.counters();
    for (then, input) in inputs(&case.acts, &case.traffic) {
        // Cycles before the input.
        while at + stride <= then {
            at += stride;
            bench.run_until(at - 1);
            before = look(&bench, &before, stride);
        }
        bench.input(then, input);
    }
    while bench.fabric.next_cycle().is_some() {
        at += stride;
        bench.run_until(at - 1);
        before = look(&bench, &before, stride);
    }
    assert_all_done(&bench.fabric.packet_census(), case.traffic.len());
    bench
}

/// Checks the invariants at a moment. Returns the counters.
fn look(bench: &Bench, before: &[LinkCounters], cycles: Cycle) -> Vec<LinkCounters> {
    let fabric = &bench.fabric;
    let packets = fabric.packet_census();
    assert_eq!(
        packets.offered,
        packets.queued + packets.under_way + packets.acknowledged
    );
    // The packet count, and the count of all their destinations.
    let (mut injected, mut acknowledged, mut delivered) = ([0, 0], [0, 0], 0);
    for heard in &bench.heard {
        let (count, spec) = match heard {
            Heard::Injected(_, spec) => (&mut injected, spec),
            Heard::Acknowledged(_, spec) => (&mut acknowledged, spec),
            Heard::Delivered(..) | Heard::Damaged(..) => {
                delivered += 1;
                continue;
            }
            Heard::Ended(..) => continue,
        };
        count[0] += 1;
        count[1] += u64::from(spec.destination.count());
    }
    assert_eq!(packets.acknowledged, acknowledged[0]);
    assert_eq!(packets.under_way, injected[0] - acknowledged[0]);
    assert!(delivered <= injected[1]);
    assert!(fabric.config().faults.is_some() || acknowledged[1] <= delivered);

    let flits = fabric.flit_census();
    assert_eq!(
        flits.injected + flits.copied,
        flits.delivered + flits.discarded + flits.in_flight
    );
    assert!(flits.in_flight <= fabric.flits_under_way());
    let after = bench.counters();
    for (before, after) in before.iter().zip(&after) {
        let busy = (after.flits + after.tokens) - (before.flits + before.tokens);
        assert!(busy <= cycles, "a link moves more than a flit a cycle");
        assert!(before.waiting <= after.waiting && before.delay <= after.delay);
        assert!(before.packets <= after.packets && before.errors <= after.errors);
        assert!(before.down <= after.down);
    }
    after
}

fn check_record(case: &Case, record: &PacketRecord, spec: &PacketSpec) {
    let (offered, sent) = case.traffic[spec.token as usize];
    let travel = travel(&case.config, spec);
    let combined = if spec.destination.is_broadcast() {
        case.config.combine * u64::from(farthest(&case.config, spec) / 2)
    } else {
        0
    };
    assert_eq!((record.offered, spec), (offered, &sent));
    assert_eq!(record.links, farthest(&case.config, spec));
    assert!(record.offered <= record.injected);
    assert!(record.injected + travel + u64::from(spec.flits) - 1 <= record.delivered);
    assert_eq!(
        record.acknowledged,
        record.delivered + case.turnaround + travel + combined
    );
}

/// Each destination is notified of each packet once, and once of its EOP, if the packet asks for
/// that, in the EOP's cycle.
fn check_news(case: &Case, bench: &Bench) {
    let mut delivered: Vec<_> = Vec::new();
    let mut ended: Vec<_> = Vec::new();
    for heard in &bench.heard {
        match *heard {
            Heard::Delivered(_, node, spec) => delivered.push((spec.token, node)),
            Heard::Ended(at, node, good, sequence, spec) => {
                let record = bench.record(spec.token);
                assert!(good && sequence == record.sequence);
                assert_eq!(at, record.acknowledged + 1 + travel(&case.config, &spec));
                ended.push((spec.token, node));
            }
            Heard::Damaged(..) => unreachable!("no part of these machines fails"),
            Heard::Injected(..) | Heard::Acknowledged(..) => (),
        }
    }
    let all = |wanted: &dyn Fn(&PacketSpec) -> bool| -> Vec<_> {
        let specs = case.traffic.iter().map(|&(_, spec)| spec);
        let nodes = |spec: PacketSpec| {
            spec.destination
                .places()
                .map(move |node| (spec.token, node))
        };
        specs.filter(wanted).flat_map(nodes).collect()
    };
    delivered.sort_unstable();
    ended.sort_unstable();
    assert_eq!(delivered, all(&|_| true));
    assert_eq!(ended, all(&|spec| spec.awaits_end));
}

/// No adapter has more packets in a traffic class under way than it may have, and it injects the
/// packets in each class and priority in order.
fn check_adapter(case: &Case, bench: &Bench, node: Place) {
    let mut done: Vec<_> = bench
        .done()
        .filter(|(_, spec)| spec.source == node)
        .collect();
    done.sort_by_key(|(record, _)| record.sequence);
    for (place, (record, spec)) in done.iter().enumerate() {
        assert_eq!(record.sequence as usize, place);
        let open = done[..place]
            .iter()
            .filter(|(_, before)| before.traffic_class == spec.traffic_class)
            .filter(|(earlier, _)| earlier.acknowledged > record.injected)
            .count();
        assert!(open < case.config.packets_in_flight as usize);
        for (earlier, before) in &done[..place] {
            let alike = !case.config.priorities || before.priority == spec.priority;
            let alike = alike && before.traffic_class == spec.traffic_class;
            assert!(earlier.injected <= record.injected);
            assert!(!alike || before.token < spec.token, "out of order");
        }
    }
}

fn check_links(case: &Case, fabric: &Fabric) {
    let tree = fabric.topology().as_tree().expect("a tree");
    let sum = |wanted: &dyn Fn(&PacketSpec) -> bool| {
        let specs = case.traffic.iter().map(|(_, spec)| spec);
        specs.filter(|spec| wanted(spec)).fold((0, 0), |sum, spec| {
            (sum.0 + 1, sum.1 + u64::from(spec.flits))
        })
    };
    for node in Place::all(tree.nodes()) {
        let (sent, received) = (
            fabric.counters(tree.injection(node)),
            fabric.counters(tree.ejection(node)),
        );
        assert_eq!(
            (sent.packets, sent.flits),
            sum(&|spec| spec.source == node),
            "sent by {node}"
        );
        assert_eq!(
            (received.packets, received.flits),
            sum(&|spec| spec.destination.places().any(|place| place == node)),
            "received by {node}"
        );
    }
    // A packet over 2 l links crosses one link up and one down at each of l levels; a broadcast
    // crosses one link down to each subtree with destinations. Each link has paid for EOP and
    // acknowledgement by the time that all motion has stopped.
    let mut below = 1;
    for level in 0..tree.levels() {
        let links = LinkId::all(tree.links()).filter(|&link| tree.link_level(link) == level);
        let (mut packets, mut tokens) = ([0, 0], 0);
        for link in links {
            packets[usize::from(tree.is_up(link))] += fabric.counters(link).packets;
            tokens += fabric.counters(link).tokens;
        }
        let crosses = |spec: &PacketSpec| farthest(&case.config, spec) > 2 * level as u32;
        let up = sum(&crosses).0;
        let specs = case.traffic.iter().map(|(_, spec)| spec);
        let subtrees = |spec: &PacketSpec| {
            1 + spec.destination.last().get() / below - spec.destination.first().get() / below
        };
        let down: u32 = specs.filter(|spec| crosses(spec)).map(subtrees).sum();
        assert_eq!(packets, [u64::from(down), up]);
        let crossed = packets[0] + packets[1];
        assert_eq!(tokens, if case.config.tokens { 2 * crossed } else { 0 });
        below *= tree.children(level + 1);
    }
}

/// All channels are free again: as many packets as an adapter has channels, and one packet over all
/// levels, take the same time as in a machine that was never used. (Links that serve in turns
/// remember the turn; there one packet is sent.)
fn check_rest(case: &Case, mut used: Bench, after: Cycle) {
    let config = &case.config;
    let nodes = config.topology.nodes();
    let period = config.share_period;
    let mut fresh = Bench::new(config.clone(), case.turnaround);
    let done = case.traffic.len();
    let mut numbered = vec![0; nodes as usize];
    for (record, spec) in used.done() {
        let sent = &mut numbered[usize::from(spec.source)];
        *sent = (*sent).max(record.sequence + 1);
    }
    for (node, &sent) in numbered.iter().enumerate() {
        fresh.offer(&vec![
            (0, packet(node as u32, node as u32, 1));
            sent as usize
        ]);
    }
    fresh.finish();
    let before = fresh.done().count();
    let ended = used.done().chain(fresh.done());
    let last = ended.map(|(record, _)| record.acknowledged).max();
    // Far behind the last EOP; the sharing windows fall as they did for the fresh machine.
    let flits = match config.circuit {
        Circuit::CutThrough => config.buffer.min(30),
        _ => 30,
    };
    let links = || LinkId::all(config.topology.links());
    let longest = links().map(|link| config.delay_of(link)).max();
    let longest = u64::from(longest.expect("a link"));
    let slowest = links()
        .map(|link| config.pace_of(link).serialisation())
        .max();
    let slowest = 1 + u64::from(slowest.expect("a link"));
    let behind = slowest * (1000 + 40 * longest);
    let start = (last.expect("a packet").max(after) + behind).div_ceil(period) * period;
    let apart = slowest * (4000 + 40 * longest) * period;
    let at_once = match config.multiplexing {
        Multiplexing::OldestFirst => config.channels,
        Multiplexing::RoundRobin => 1,
    };
    for node in 0..nodes {
        let at = 2 * u64::from(node) * apart;
        let class = |number: u32| (number % config.traffic_classes) as u8;
        let probe = |number| (at, in_class(class(number), packet(node, node, flits)));
        let mut probes: Vec<_> = (0..at_once).map(probe).collect();
        let afar = packet(node, (node + nodes / 2) % nodes, flits);
        probes.push((at + apart, in_class(class(node), afar)));
        for (at, _) in &mut probes {
            *at += start;
        }
        fresh.offer(&probes);
        used.offer(&probes);
    }
    used.finish();
    fresh.finish();
    let times = |(record, spec): (PacketRecord, PacketSpec)| {
        let times = [record.injected, record.delivered, record.acknowledged];
        (spec, times)
    };
    let expected: Vec<_> = fresh.done().skip(before).map(times).collect();
    let found: Vec<_> = used.done().skip(done).map(times).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.into_iter().zip(expected) {
        assert_eq!(found, expected);
    }
}

fn check(case: &Case, stride: Cycle) {
    let bench = run(case, stride);
    let mut names: Vec<u64> = bench.done().map(|(_, spec)| spec.token).collect();
    names.sort_unstable();
    assert!(names.into_iter().eq(0..case.traffic.len() as u64));
    for (record, spec) in bench.done() {
        check_record(case, &record, &spec);
    }
    for node in Place::all(case.config.topology.nodes()) {
        check_adapter(case, &bench, node);
    }
    check_news(case, &bench);
    check_links(case, &bench.fabric);
    let sum = |flits: fn(&PacketSpec) -> u32| {
        let specs = case.traffic.iter().map(|(_, spec)| spec);
        specs.map(|spec| u64::from(flits(spec))).sum()
    };
    let expected = FlitCensus {
        injected: sum(|spec| spec.flits),
        copied: sum(|spec| spec.flits * (spec.destination.count() - 1)),
        delivered: sum(|spec| spec.flits * spec.destination.count()),
        discarded: 0,
        in_flight: 0,
    };
    assert!(bench.fabric.deadlock().is_none());
    assert_eq!(bench.fabric.flit_census(), expected);
    check_rest(case, bench, 0);
}

/// Each destination's notices about each packet, and the packet's fate.
fn check_failing_news(case: &Case, bench: &Bench) {
    let timeout = case.config.faults.as_ref().expect("it may fail").timeout;
    for &(_, sent) in &case.traffic {
        let (record, _) = bench
            .done()
            .find(|(_, spec)| spec.token == sent.token)
            .expect("every packet ends");
        let of = |wanted: &dyn Fn(&Heard) -> Option<u64>| -> Vec<(Place, u64)> {
            let heard = bench.heard.iter().filter_map(|heard| match *heard {
                Heard::Delivered(_, node, spec)
                | Heard::Damaged(_, node, spec)
                | Heard::Ended(_, node, _, _, spec)
                    if spec.token == sent.token =>
                {
                    Some((node, wanted(heard)?))
                }
                _ => None,
            });
            let mut heard: Vec<_> = heard.collect();
            heard.sort_unstable();
            heard
        };
        let whole = of(&|heard| matches!(heard, Heard::Delivered(..)).then_some(0));
        let damaged = of(&|heard| matches!(heard, Heard::Damaged(..)).then_some(0));
        let told =
            of(&|heard| matches!(heard, Heard::Delivered(..) | Heard::Damaged(..)).then_some(0));
        let ended = of(&|heard| match heard {
            Heard::Ended(_, _, good, ..) => Some(u64::from(*good)),
            _ => None,
        });
        // Each destination is notified of the packet once at most, and then of its end, if it asks
        // for that.
        assert_eq!(told.len(), whole.len() + damaged.len());
        assert!(
            told.windows(2).all(|pair| pair[0] != pair[1]),
            "heard twice"
        );
        let good = u64::from(record.ack == Ack::Accepted);
        let ends = told.iter().map(|&(node, _)| (node, good));
        assert!(
            !sent.awaits_end || ended == ends.collect::<Vec<_>>(),
            "{ended:?} {told:?} {record:?}"
        );
        assert!(sent.awaits_end || ended.is_empty());
        let all = sent.destination.count() as usize;
        match record.ack {
            Ack::Accepted => assert_eq!((whole.len(), damaged.len()), (all, 0)),
            Ack::Corrupted => assert!(whole.len() < all),
            Ack::Unreachable => assert!(told.len() < all),
            Ack::TimedOut => assert!(record.acknowledged >= record.injected + timeout),
            Ack::Discarded | Ack::TestFailed | Ack::Error => unreachable!("nobody says so"),
        }
        assert_eq!(record.delivered > 0, told.len() == all, "{record:?}");
    }
}

fn check_failing(case: &Case, stride: Cycle) {
    let mut bench = run(case, stride);
    check_failing_news(case, &bench);
    for node in Place::all(case.config.topology.nodes()) {
        check_adapter(case, &bench, node);
    }
    let flits = bench.fabric.flit_census();
    assert_eq!(flits.in_flight, 0);
    for node in Place::all(case.config.topology.nodes()) {
        assert_eq!(bench.fabric.arriving(node), 0, "a channel is kept");
    }
    // The machine is as good as new when everything is repaired.
    let last = bench.done().map(|(record, _)| record.acknowledged).max();
    let at = last
        .unwrap_or(0)
        .max(case.acts.last().map_or(0, |act| act.0))
        + 500;
    let cut = case.acts.iter().filter_map(|act| match act.1 {
        Act::Cut(link) => Some(link),
        _ => None,
    });
    let mut cut: Vec<LinkId> = cut.collect();
    for act in &case.acts {
        if let Act::Repair(link) = act.1 {
            cut.remove(
                cut.iter()
                    .position(|&other| other == link)
                    .expect("it was cut"),
            );
        }
    }
    for link in cut {
        bench.input(at, Input::Act(Act::Repair(link)));
    }
    bench.input(at, Input::Act(Act::Learn));
    if case
        .config
        .faults
        .as_ref()
        .is_some_and(|faults| faults.bit_error_rates.is_empty())
    {
        check_rest(case, bench, at);
    }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn everything_arrives_once(mut case in case(), stride in prop_oneof![Just(1_u64), 2_u64..200]) {
        // The acknowledgement times are those by level.
        case.config.differing.clear();
        check(&case, stride);
    }

    /// Every packet ends, every channel falls free and no flit is left, under any failures.
    #[test]
    fn what_fails_is_accounted_for(
        case in any_case().prop_flat_map(failing),
        stride in prop_oneof![Just(1_u64), 2_u64..200],
    ) {
        check_failing(&case, stride);
    }

    /// Without a failure in time, results are as in a machine without faults.
    #[test]
    fn what_might_fail_changes_nothing(case in any_case().prop_flat_map(failing)) {
        let mut case = case;
        let faults = case.config.faults.as_mut().expect("it may fail");
        faults.bit_error_rates.clear();
        case.acts.clear();
        let run = |case: &Case| {
            let mut bench = Bench::with_answers(case.config.clone(), case.answer());
            bench.offer(&case.traffic);
            bench.finish();
            let counters = bench.counters();
            (bench.heard, counters)
        };
        let failing = run(&case);
        case.config.faults = None;
        prop_assert_eq!(failing, run(&case));
    }
}
