//! Where something fails: each time calculated on paper, for both movers.
//!
//! All links have a delay of 3 cycles, and one channel, so that an adapter's next packet shows when
//! its channel is free.

mod bits;

use crate::common;

use common::random::{Act, Input};
use common::{ASCENTS, Bench, CIRCUITS, Heard, broadcast, machine, named, packet};
use fabric::find_cycle;
use fabric::{
    Ack, Ascent, Circuit, Config, Cycle, Engine, FatTree, FaultConfig, LinkCounters, LinkId,
    PacketRecord, PacketSpec, Place, Torus,
};

/// The output timeout in these machines.
const TIMEOUT: Cycle = 500;

/// Enough bits that one is wrong.
const MANY: u32 = 1_000_000;

/// The machine with faults, with one channel on each link.
fn failing(mut config: Config) -> Config {
    config.channels = config.topology.classes();
    config.faults = Some(FaultConfig {
        timeout: TIMEOUT,
        header_bits: 64,
        flit_bits: 16,
        token_bits: 16,
        bit_error_rates: Vec::new(),
        seed: 7,
    });
    config
}

/// One switch with four nodes: the links into nodes have numbers 4 to 7.
fn switch() -> Config {
    failing(machine(FatTree::quaternary(1).expect("4 nodes"), 3))
}

/// 16 nodes in two levels; packets to node 15 climb to switch 2.3.
fn tree() -> Config {
    let mut config = failing(machine(FatTree::quaternary(2).expect("16 nodes"), 3));
    config.ascent = Ascent::Deterministic;
    config
}

/// The link with these ends.
fn link(config: &Config, from: &str, to: &str) -> LinkId {
    let topology = &config.topology;
    let mut links = LinkId::all(topology.links());
    let found = links.find(|&link| {
        let (a, b) = topology.ends(link);
        topology.end_name(a) == from && topology.end_name(b) == to
    });
    found.expect("there is such a link")
}

/// A rate at which bits in a kind are surely wrong, on one link.
fn noisy(config: &Config, link: LinkId, set: impl Fn(&mut FaultConfig)) -> Config {
    let mut config = config.clone();
    let faults = config.faults.as_mut().expect("it may fail");
    faults.bit_error_rates = vec![(link, 1e-3)];
    (faults.header_bits, faults.flit_bits, faults.token_bits) = (0, 1, 0);
    set(faults);
    config
}

/// Runs packets, named by their places, with both movers, which must agree.
fn run(config: &Config, acts: &[(Cycle, Act)], traffic: &[(Cycle, PacketSpec)]) -> Bench {
    let [flit, worm] = [Engine::Flit, Engine::Worm].map(|engine| {
        let config = Config {
            engine,
            ..config.clone()
        };
        let mut bench = Bench::new(config, 0);
        for (at, input) in common::random::inputs(acts, &named(traffic)) {
            bench.input(at, input);
        }
        bench.finish();
        bench
    });
    assert_eq!(flit.heard, worm.heard);
    assert_eq!(flit.fabric.flit_census(), worm.fabric.flit_census());
    assert_eq!(flit.counters(), worm.counters());
    worm
}

/// When a packet was injected, when it was delivered, and its source's notice.
fn times(record: &PacketRecord) -> (Cycle, Cycle, Cycle, Ack) {
    let PacketRecord {
        injected,
        delivered,
        acknowledged,
        ack,
        ..
    } = *record;
    (injected, delivered, acknowledged, ack)
}

/// The notices to the destinations: cycle, node, kind.
fn news(bench: &Bench) -> Vec<(Cycle, u32, &'static str)> {
    let news = bench.heard.iter().filter_map(|heard| match *heard {
        Heard::Delivered(at, node, _) => Some((at, node.get(), "delivered")),
        Heard::Damaged(at, node, _) => Some((at, node.get(), "damaged")),
        Heard::Ended(at, node, true, ..) => Some((at, node.get(), "good")),
        Heard::Ended(at, node, false, ..) => Some((at, node.get(), "bad")),
        Heard::Injected(..) | Heard::Acknowledged(..) => None,
    });
    news.collect()
}

fn ended(spec: PacketSpec) -> PacketSpec {
    PacketSpec {
        awaits_end: true,
        ..spec
    }
}

/// The header is at the switch in cycle 3, where the only link to node 1 is dead. The tail, sent in
/// cycle 9, is in at 12; the switch answers. The adapter's next packet enters when the channel is
/// free: behind the EOP; one cycle after the end; two cycles after the end.
#[test]
fn a_dead_link_is_refused_by_the_switch() {
    for (circuit, free) in CIRCUITS.into_iter().zip([16, 13, 14]) {
        let config = Config {
            circuit,
            ..switch()
        };
        let bench = run(
            &config,
            &[(0, Act::Cut(LinkId::new(5)))],
            &[(0, packet(0, 1, 10)), (0, packet(0, 2, 10))],
        );
        assert_eq!(times(&bench.record(0)), (0, 0, 15, Ack::Unreachable));
        assert_eq!(bench.record(0).links, 1);
        let after = (free, free + 15, free + 21, Ack::Accepted);
        assert_eq!(times(&bench.record(1)), after, "{circuit:?}");
        let census = bench.fabric.flit_census();
        let counted = (census.injected, census.delivered, census.discarded);
        assert_eq!(counted, (20, 10, 10));
    }
}

/// Packet 1 waits at the switch from cycle 4 on, all of it from cycle 13 on, for the link that
/// packet 0 holds. The cable dies in cycle 50: the switch discards packet 1 and answers in the next
/// cycle. Packet 0 goes on as garbage; its tail would be in at 3 + 99 + 3.
#[test]
fn a_header_that_waits_is_refused_when_the_last_link_dies() {
    let traffic = [(0, packet(2, 1, 100)), (1, packet(0, 1, 10))];
    let bench = run(&switch(), &[(50, Act::Cut(LinkId::new(5)))], &traffic);
    assert_eq!(times(&bench.record(1)), (1, 0, 54, Ack::Unreachable));
    assert_eq!(times(&bench.record(0)), (0, 0, TIMEOUT, Ack::TimedOut));
    assert!(news(&bench).is_empty());
    // A timeout does not end a worm.
    let mut config = switch();
    config.faults.as_mut().expect("it may fail").timeout = 60;
    let bench = run(&config, &[(50, Act::Cut(LinkId::new(5)))], &traffic);
    assert_eq!(times(&bench.record(0)), (0, 0, 105, Ack::TimedOut));
}

/// A packet's tail is at its destination in cycle 15. If the cable dies in that cycle, it is lost;
/// a cycle later it is not, but its answer is.
#[test]
fn what_comes_in_when_the_cable_dies_is_lost() {
    let traffic = [(0, packet(0, 1, 10))];
    for (at, delivered) in [(15, 0), (16, 15)] {
        let bench = run(&switch(), &[(at, Act::Cut(LinkId::new(5)))], &traffic);
        let lost = (0, delivered, TIMEOUT, Ack::TimedOut);
        assert_eq!(times(&bench.record(0)), lost);
    }
    // The timeout counts from the injection, not from the offer: packet 1 has waited for packet 0's
    // channel.
    let traffic = [(0, packet(0, 2, 10)), (0, packet(0, 1, 10))];
    let bench = run(&switch(), &[(30, Act::Cut(LinkId::new(5)))], &traffic);
    assert_eq!(
        times(&bench.record(1)),
        (22, 0, 22 + TIMEOUT, Ack::TimedOut)
    );
}

/// A channel that falls free while its cable is dead is free when it lives again, and not before.
#[test]
fn a_repaired_cable_has_its_channels() {
    let mut config = switch();
    config.channels = 2;
    let dies = LinkId::new(5);
    let traffic = [
        (0, packet(0, 1, 10)),
        (1, packet(2, 1, 10)),
        (600, packet(0, 1, 10)),
        (600, packet(2, 1, 10)),
        (700, packet(3, 1, 10)),
    ];
    // Both packets are lost; at cycle 600 all are free again.
    let acts = [(8, Act::Cut(dies)), (550, Act::Repair(dies))];
    let bench = run(&config, &acts, &traffic);
    let acks = [0, 1, 2, 3, 4].map(|token| bench.record(token).ack);
    assert_eq!(acks[..2], [Ack::TimedOut; 2]);
    assert_eq!(acks[2..], [Ack::Accepted; 3]);
    // Packet 3, like packet 1, takes the second channel, and waits for the flits before it, but for
    // no EOP.
    assert_eq!(bench.fabric.counters(dies).waiting, 9 + 10);
}

/// An adapter with a dead cable refuses its packets, which never enter; they are answered in the
/// next cycle.
#[test]
fn a_dead_cable_of_its_own_is_refused_by_the_adapter() {
    let traffic = [(10, packet(0, 1, 10)), (30, packet(0, 1, 10))];
    let acts = [
        (0, Act::Cut(LinkId::new(0))),
        (20, Act::Repair(LinkId::new(4))),
    ];
    let bench = run(&switch(), &acts, &traffic);
    assert_eq!(times(&bench.record(0)), (10, 0, 11, Ack::Unreachable));
    assert_eq!(bench.record(0).links, 0);
    assert_eq!(times(&bench.record(1)), (30, 45, 51, Ack::Accepted));
    assert_eq!(bench.fabric.flit_census().injected, 10);
}

/// Packet 0's path to node 15: 50 flits enter the links in cycles 0, 3, 6 and 9, and the last is in
/// at 9 + 49 + 3. The cable between the switches dies in cycle 20. The last two channels are free
/// one cycle after the end: packet 1 has waited there. The first two are free behind the EOP:
/// packet 2 enters when its adapter's channel is free.
#[test]
fn a_packet_that_crosses_goes_on_as_garbage() {
    let config = tree();
    let dies = link(&config, "switch 1.0", "switch 2.3");
    let traffic = [
        (0, packet(0, 15, 50)),
        (10, packet(14, 15, 10)),
        (10, packet(0, 1, 10)),
    ];
    let bench = run(&config, &[(20, Act::Cut(dies))], &traffic);
    assert_eq!(times(&bench.record(0)), (0, 0, TIMEOUT, Ack::TimedOut));
    assert_eq!(times(&bench.record(1)), (10, 74, 80, Ack::Accepted));
    assert_eq!(times(&bench.record(2)), (501, 516, 522, Ack::Accepted));
    assert_eq!(news(&bench), [(74, 15, "delivered"), (516, 1, "delivered")]);
    // Without circuits the channels are free as ever: one cycle after the end, or two after the
    // next link has sent the tail.
    for (circuit, enters, heads) in [
        (Circuit::UntilDelivered, 62, 62),
        (Circuit::Wormhole, 54, 63),
    ] {
        let config = Config {
            circuit,
            ..config.clone()
        };
        let bench = run(&config, &[(20, Act::Cut(dies))], &traffic);
        assert_eq!(times(&bench.record(0)), (0, 0, TIMEOUT, Ack::TimedOut));
        assert_eq!(bench.record(1).delivered, heads + 12);
        assert_eq!(bench.record(2).injected, enters, "{circuit:?}");
    }
}

/// The header enters the cable in cycle 3 and would be at its end in cycle 6. Lost on the way, the
/// packet is drained there: its tail is in at 3 + 49 + 3.
#[test]
fn a_header_on_the_wire_is_lost() {
    let mut config = tree();
    let dies = link(&config, "switch 2.3", "switch 1.0");
    let traffic = [(0, packet(0, 15, 50)), (4, packet(14, 15, 10))];
    for at in [4, 6] {
        let bench = run(&config, &[(at, Act::Cut(dies))], &traffic);
        assert_eq!(times(&bench.record(0)), (0, 0, TIMEOUT, Ack::TimedOut));
        // No flit has come further.
        assert_eq!(bench.record(1).delivered, 4 + 15);
        let census = bench.fabric.flit_census();
        assert_eq!((census.discarded, census.delivered), (50, 10));
    }
    // In cycle 7 the header has passed, to be followed by garbage.
    let bench = run(&config, &[(7, Act::Cut(dies))], &traffic);
    let census = bench.fabric.flit_census();
    assert_eq!((census.discarded, census.delivered), (0, 60));
    config.faults.as_mut().expect("it may fail").timeout = 10;
    let bench = run(&config, &[(4, Act::Cut(dies))], &traffic);
    assert_eq!(times(&bench.record(0)), (0, 0, 55, Ack::TimedOut));
}

/// The acknowledgement leaves node 15 in cycle 21 and passes the links in cycles 24, 27, 30 and 33.
/// A cable that dies in the passage's cycle or before loses it, a cycle later it does not. Beyond
/// the third link the channel is free at 34, and the bad EOP is at the node at 34 + 3.
#[test]
fn an_answer_is_lost_on_a_dead_cable() {
    let config = tree();
    let ways = [
        ("node 0", "switch 1.0", 33),
        ("switch 1.0", "switch 2.3", 30),
        ("switch 2.3", "switch 1.3", 27),
        ("switch 1.3", "node 15", 24),
    ];
    let traffic = [(0, ended(packet(0, 15, 10))), (21, packet(14, 15, 10))];
    for (place, (from, to, passes)) in ways.into_iter().enumerate() {
        let dies = link(&config, from, to);
        for at in [22, passes] {
            let bench = run(&config, &[(at, Act::Cut(dies))], &traffic);
            assert_eq!(times(&bench.record(0)), (0, 21, TIMEOUT, Ack::TimedOut));
            let beyond = 34 + 3 * (3 - place as Cycle);
            assert_eq!(news(&bench)[0], (21, 15, "delivered"));
            assert_eq!(news(&bench)[1], (beyond, 15, "bad"));
            let second = if place < 3 {
                (21, 34 + 12, 34 + 18, Ack::Accepted)
            } else {
                (21, 0, 21 + 15, Ack::Unreachable)
            };
            assert_eq!(times(&bench.record(1)), second, "{from}");
        }
        let bench = run(&config, &[(passes + 1, Act::Cut(dies))], &traffic);
        assert_eq!(times(&bench.record(0)), (0, 21, 33, Ack::Accepted));
        assert_eq!(news(&bench)[1], (33 + 1 + 12, 15, "good"));
    }
}

/// A broadcast's header is at the switch in cycle 3. The dead branch is answered immediately; the
/// other nodes have the packet at 3 + 9 + 3, the answers are back at 15 + 6, and the EOP at the
/// nodes at 22 + 6 aborts the packet's request.
#[test]
fn a_broadcast_without_a_branch_is_refused_by_all() {
    let acts = [(0, Act::Cut(LinkId::new(6)))];
    let bench = run(&switch(), &acts, &[(0, broadcast(0, 0, 3, 10))]);
    assert_eq!(times(&bench.record(0)), (0, 0, 21, Ack::Unreachable));
    let nodes = [0, 1, 3];
    let delivered = nodes.map(|node| (15, node, "delivered"));
    assert_eq!(
        news(&bench),
        [delivered, nodes.map(|node| (28, node, "bad"))].concat()
    );
    // With no branch left the switch discards the packet, and answers behind the tail.
    let bench = run(&switch(), &acts, &[(0, broadcast(0, 2, 2, 10))]);
    assert_eq!(times(&bench.record(0)), (0, 0, 15, Ack::Unreachable));
    assert_eq!(bench.fabric.flit_census().discarded, 10);
}

/// All nodes have the broadcast in cycle 15. A cable that dies before the combined answer is back,
/// in cycle 21, loses it.
#[test]
fn a_broadcast_is_all_or_nothing() {
    for at in [10, 16, 21] {
        let bench = run(
            &switch(),
            &[(at, Act::Cut(LinkId::new(6)))],
            &[(0, broadcast(0, 0, 3, 10))],
        );
        let heard = news(&bench);
        assert!(heard.iter().all(|&(.., what)| what != "good"));
        let (told, ack) = (heard.len() / 2, bench.record(0).ack);
        assert_eq!((told, ack), (if at < 15 { 3 } else { 4 }, Ack::TimedOut));
        assert_eq!(bench.record(0).acknowledged, TIMEOUT);
        assert!(heard[told..].iter().all(|&(end, ..)| end == TIMEOUT + 7));
    }
    // A repair comes too late.
    let acts = [
        (16, Act::Cut(LinkId::new(6))),
        (18, Act::Repair(LinkId::new(6))),
    ];
    let bench = run(&switch(), &acts, &[(0, broadcast(0, 0, 3, 10))]);
    assert_eq!(bench.record(0).ack, Ack::TimedOut);
    let late = run(
        &switch(),
        &[(22, Act::Cut(LinkId::new(6)))],
        &[(0, broadcast(0, 0, 3, 10))],
    );
    assert_eq!(late.record(0).ack, Ack::Accepted);
}

/// A broadcast's flits come to switch 1.3 in cycles 9 to 18. If the cable dies meanwhile, the four
/// nodes below get no notice, and the others receive a bad EOP. In cycle 9 the header is lost, too,
/// and the part is drained at the switch.
#[test]
fn below_a_dead_cable_a_broadcast_is_garbage() {
    let config = tree();
    let dies = link(&config, "switch 2.0", "switch 1.3");
    for (at, discarded) in [(9, 10), (10, 0), (18, 0)] {
        let traffic = [(0, broadcast(0, 0, 15, 10))];
        let bench = run(&config, &[(at, Act::Cut(dies))], &traffic);
        let nodes = 0..12_u32;
        let delivered = nodes.clone().map(|node| (21, node, "delivered"));
        let ended = nodes.map(|node| (TIMEOUT + 13, node, "bad"));
        assert_eq!(news(&bench), delivered.chain(ended).collect::<Vec<_>>());
        assert_eq!(times(&bench.record(0)), (0, 0, TIMEOUT, Ack::TimedOut));
        assert_eq!(bench.fabric.flit_census().discarded, discarded);
    }
}

/// A broadcast over two levels with a header that goes wrong on the way to switch 1.3: the switch
/// discards its part and answers for its four nodes.
#[test]
fn a_switch_answers_for_the_nodes_below() {
    let config = tree();
    let down = link(&config, "switch 2.0", "switch 1.3");
    let config = noisy(&config, down, |faults| faults.header_bits = MANY);
    let bench = run(&config, &[], &[(0, broadcast(0, 0, 15, 10))]);
    let heard = news(&bench);
    let delivered = heard.iter().filter(|heard| heard.2 == "delivered");
    assert!(delivered.map(|heard| heard.1).eq(0..12));
    assert_eq!(heard.iter().filter(|heard| heard.2 == "bad").count(), 12);
    // All others answer later: in cycle 9 + 9 + 3.
    assert_eq!(times(&bench.record(0)), (0, 0, 33, Ack::Corrupted));
}

/// Before the sources learn, adaptive packets meet the dead link on their way down; then they avoid
/// it. If it is repaired, they avoid it until the sources learn again.
#[test]
fn sources_avoid_what_they_know_to_be_dead() {
    for ascent in ASCENTS {
        let config = Config { ascent, ..tree() };
        let dies = link(&config, "switch 2.3", "switch 1.3");
        let traffic: Vec<_> = (0..300)
            .map(|number| (100 * number, packet(number as u32 % 12, 15, 10)))
            .collect();
        let acts = [
            (50, Act::Cut(dies)),
            (10_050, Act::Learn),
            (20_050, Act::Repair(dies)),
        ];
        let bench = run(&config, &acts, &traffic);
        let refused = (0..300).map(|number| bench.record(number).ack == Ack::Unreachable);
        let refused: Vec<bool> = refused.collect();
        let counts = [1..101, 101..300].map(|numbers| {
            let here = &refused[numbers];
            here.iter().filter(|&&refused| refused).count()
        });
        assert!(counts[0] > 5, "{ascent:?}: {counts:?}");
        assert_eq!(counts[1], 0, "{ascent:?}");
        // The three other switches serve all packets, about evenly.
        let packets = |switch: u32| {
            let down = link(&config, &format!("switch 2.{switch}"), "switch 1.3");
            bench.fabric.counters(down).packets
        };
        assert!((0..3).all(|switch| packets(switch) > 40), "{ascent:?}");
        assert!(packets(3) <= 100);
    }
}

/// The source fixes the way at switch 1.0, in cycle 3. Before the header is at the next switch, in
/// cycle 6, the sources learn that all is alive again: there the way is not fixed.
#[test]
fn a_fixed_way_ends_with_the_tables() {
    let config = tree();
    let dies = link(&config, "switch 2.3", "switch 1.3");
    let acts = [
        (0, Act::Cut(dies)),
        (0, Act::Learn),
        (4, Act::Repair(dies)),
        (4, Act::Learn),
    ];
    let bench = run(&config, &acts, &[(0, packet(0, 15, 10))]);
    assert_eq!(times(&bench.record(0)), (0, 21, 33, Ack::Accepted));
}

/// If the known cuts leave no way, the adapter refuses the packet, and the fabric names the cables.
#[test]
fn what_has_no_way_is_refused_by_the_adapter() {
    let config = tree();
    let mut acts: Vec<(Cycle, Act)> = (0..4)
        .map(|top| link(&config, &format!("switch 2.{top}"), "switch 1.3"))
        .map(|link| (0, Act::Cut(link)))
        .collect();
    acts.push((0, Act::Learn));
    let traffic = [
        (0, packet(0, 15, 10)),
        (0, packet(12, 15, 10)),
        (0, packet(12, 0, 10)),
        (0, broadcast(4, 0, 15, 10)),
        (0, packet(8, 0, 10)),
    ];
    let bench = run(&config, &acts, &traffic);
    for (token, ack) in [
        (0, Ack::Unreachable),
        (1, Ack::Accepted),
        (2, Ack::Unreachable),
        (3, Ack::Unreachable),
        (4, Ack::Accepted),
    ] {
        assert_eq!(bench.record(token).ack, ack, "packet {token}");
        if ack == Ack::Unreachable {
            let PacketRecord {
                injected,
                acknowledged,
                ..
            } = bench.record(token);
            assert_eq!(acknowledged, injected + 1);
        }
    }
    let none = bench
        .fabric
        .way(Place::new(0), Place::new(15))
        .expect_err("all is cut");
    assert_eq!(none.cut.len(), 4);
    assert_eq!(
        none.to_string(),
        "no way leads from node 0 to node 15: dead are the cables switch 1.3 - switch 2.0, \
         switch 1.3 - switch 2.1, switch 1.3 - switch 2.2, switch 1.3 - switch 2.3"
    );
    assert!(bench.fabric.way(Place::new(0), Place::new(11)).is_ok());
}

/// Cuts are counted per cable, in both directions alike.
#[test]
fn a_cable_lives_after_as_many_repairs_as_cuts() {
    let (to, from) = (LinkId::new(1), LinkId::new(5));
    let acts = [
        (10, Act::Cut(to)),
        (20, Act::Cut(from)),
        (30, Act::Repair(to)),
        (40, Act::Repair(to)),
    ];
    let mut bench = Bench::new(switch(), 0);
    for ((at, act), cut) in acts.into_iter().zip([true, true, true, false]) {
        bench.input(at, Input::Act(act));
        assert_eq!([to, from].map(|link| bench.fabric.is_cut(link)), [cut; 2]);
    }
    bench.fabric.skip_to(100);
    let down = |link| bench.fabric.counters(link).down;
    assert_eq!([down(to), down(from), down(LinkId::new(0))], [30, 30, 0]);
    assert_eq!(
        bench.fabric.counters(LinkId::new(4)),
        LinkCounters::default()
    );
}

/// In a five-switch ring the packet goes the other way round, with all its channels in order.
#[test]
fn a_torus_goes_the_other_way_round() {
    let torus = Torus::new(&[5, 3], 15, true).expect("15 nodes");
    let config = failing(machine(torus, 3));
    let dies = link(&config, "switch 0,0", "switch 1,0");
    let traffic = [(0, packet(0, 1, 10)), (0, packet(6, 7, 10))];
    let acts = [(0, Act::Cut(dies)), (0, Act::Learn)];
    let bench = run(&config, &acts, &traffic);
    assert_eq!(times(&bench.record(0)), (0, 27, 45, Ack::Accepted));
    assert_eq!([0, 1].map(|token| bench.record(token).links), [6, 3]);
    // A second cut in the ring leaves no way to nodes behind it.
    let other = link(&config, "switch 3,0", "switch 4,0");
    let acts = [acts[0], (0, Act::Cut(other)), acts[1]];
    let bench = run(&config, &acts, &traffic);
    assert_eq!(bench.record(0).ack, Ack::Unreachable);
    assert_eq!(
        bench
            .fabric
            .way(Place::new(0), Place::new(1))
            .map_err(|none| none.cut.len()),
        Err(2)
    );
    assert!(bench.fabric.way(Place::new(0), Place::new(4)).is_ok());
    assert_eq!(bench.fabric.arriving(Place::new(1)), 0);
}

/// With datelines, packets that go the longer way round wait for each other in no circle. Without,
/// in a four-switch ring, they may, while those that go the shorter way may not.
#[test]
fn ways_round_dead_cables_do_not_deadlock() {
    for sizes in [&[3][..], &[4], &[5], &[6], &[3, 4], &[5, 2], &[2, 3, 4]] {
        let torus = Torus::new(sizes, sizes.iter().product(), true).expect("it fits");
        assert_eq!(find_cycle(&failing(machine(torus, 3))), None, "{sizes:?}");
    }
    let without = Torus::new(&[4], 4, false).expect("4 nodes");
    assert_eq!(find_cycle(&machine(without.clone(), 3)), None);
    assert!(find_cycle(&failing(machine(without, 3))).is_some());
    assert_eq!(find_cycle(&tree()), None);
}

#[test]
#[should_panic(expected = "made with faults")]
fn a_machine_without_faults_has_no_cuts() {
    let mut config = switch();
    config.faults = None;
    fabric::Fabric::new(config).cut(0, LinkId::new(0));
}

#[test]
#[should_panic(expected = "is not cut")]
fn only_what_is_cut_is_repaired() {
    fabric::Fabric::new(switch()).repair(0, LinkId::new(0));
}
