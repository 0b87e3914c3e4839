//! Broadcasts that are not serialised deadlock, and the fabric reports which packet waits for
//! which; the same traffic, serialised, completes.

use crate::common;

use common::lockstep::{Manner, compare};
use common::random::{Case, rivals};
use common::referee::class_of;
use common::{Bench, assert_all_done, broadcast, named, packet, three_levels};
use fabric::control::{HeldChannel, PacketName, PacketWait, Resource};
use fabric::{Ascent, Broadcast, Config, Cycle, Deadlock, Engine, PacketSpec};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;

/// Nodes 0 and 1 broadcast to the lower half of 64 nodes, two packets each: both fill the channels
/// on the links that they get. Until the broadcasts come, long packets from the same half hold the
/// links from switch 2.0 to 1.1, on the way of node 0, and from 2.5 to 1.5, on the way of node 1.
/// So each sets up one half first, and then wants the links of the other.
fn traffic() -> Vec<(Cycle, PacketSpec)> {
    let mut traffic = Vec::new();
    for source in [8, 12] {
        traffic.push((0, packet(source, 4, 400)));
        traffic.push((0, packet(source + 16, 21, 400)));
    }
    for source in [0, 0, 1, 1] {
        traffic.push((100, broadcast(source, 0, 31, 50)));
    }
    named(&traffic)
}

fn config(broadcast: Broadcast, engine: Engine) -> Config {
    Config {
        ascent: Ascent::Deterministic,
        broadcast,
        engine,
        tokens: true,
        share_burst: 32,
        ..three_levels(3)
    }
}

fn run(config: &Config) -> Bench {
    Bench::new(config.clone(), 5).through(&traffic())
}

#[test]
fn serialised_broadcasts_complete() {
    for engine in [Engine::Flit, Engine::Worm] {
        let bench = run(&config(Broadcast::Serialised, engine));
        assert_all_done(&bench.fabric.packet_census(), traffic().len());
        assert_eq!(bench.fabric.deadlock(), None);
    }
}

#[test]
fn two_broadcasts_deadlock() {
    for engine in [Engine::Flit, Engine::Worm] {
        let bench = run(&config(Broadcast::BySource, engine));
        assert_eq!(bench.fabric.next_cycle(), None);
        let deadlock = bench.fabric.deadlock().expect("nobody goes on");
        check(&deadlock, &bench);
        // The four broadcasts are stuck, and no other packet; the cycle holds one packet from each
        // node.
        let names: Vec<_> = deadlock
            .packets
            .iter()
            .map(|stuck| name(&stuck.packet))
            .collect();
        assert_eq!(names, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        let text = deadlock.to_string();
        let expected = EXPECTED.trim();
        assert_eq!(text, expected, "\n{text}");
    }
}

/// The report as people see it.
const EXPECTED: &str = "
deadlock: 4 packets can never go on; of these 2 wait for each other:
  packet 0 of node 0 (to nodes 0 to 31) waits at switch 1.0 for the link to node 0; its channel 0 \
  is held by packet 0 of node 1 (to nodes 0 to 31)
  packet 0 of node 1 (to nodes 0 to 31) waits at switch 1.4 for the link to node 16; its channel \
  0 is held by packet 0 of node 0 (to nodes 0 to 31)
";

fn name(packet: &PacketName) -> (u32, u32) {
    (packet.source.get(), packet.sequence)
}

/// A deadlock report is true: the cycle closes, a holder holds its channel, a packet that waits
/// does not have the channel it waits for, and stuck packets hold all channels of its traffic class
/// on the links that a stuck packet waits for.
fn check(deadlock: &Deadlock, bench: &Bench) {
    let tree = bench.fabric.topology();
    let &Config {
        channels,
        traffic_classes,
        ..
    } = bench.fabric.config();
    let stuck = |packet: &PacketName| {
        let mut all = deadlock.packets.iter();
        all.find(|stuck| stuck.packet == *packet)
            .expect("it is listed")
    };
    let next = deadlock.cycle.iter().cycle().skip(1);
    for (wait, next) in deadlock.cycle.iter().zip(next) {
        let PacketWait {
            packet,
            switch,
            channel,
            holder,
        } = wait;
        assert_eq!(holder, &next.packet);
        assert_ne!(holder, packet);
        let waits = &stuck(packet).waits;
        let wanted = waits
            .iter()
            .filter(|(at, _)| at == switch)
            .map(|(_, wanted)| wanted);
        let fits = |wanted: &Resource| match (wanted, channel) {
            (Resource::Channel(links), Some(held)) => {
                links.contains(&held.link) && stuck(holder).holds.contains(held)
            }
            (Resource::Turn, None) => true,
            _ => false,
        };
        assert!(wanted.into_iter().any(fits), "{wait:?}");
    }
    let held: BTreeSet<&HeldChannel> = deadlock
        .packets
        .iter()
        .flat_map(|stuck| &stuck.holds)
        .collect();
    let count: usize = deadlock.packets.iter().map(|stuck| stuck.holds.len()).sum();
    assert_eq!(held.len(), count, "two hold a channel");
    for stuck in &deadlock.packets {
        // A packet that waits holds at least the injection channel, which is in its traffic class,
        // as all others are.
        let of_packet = |lanes: &Range<u32>| {
            let mut holds = stuck.holds.iter();
            holds.all(|held| lanes.contains(&held.channel))
        };
        let mut classes =
            (0..traffic_classes).map(|class| class_of(&(0..channels), class, traffic_classes));
        let lanes = classes.find(of_packet).expect("channels of one class");
        for (switch, wanted) in &stuck.waits {
            let Resource::Channel(links) = wanted else {
                continue;
            };
            for &link in links {
                let fabric::topology::End::Switch { switch: start, .. } = tree.ends(link).0 else {
                    panic!("a node waits");
                };
                assert_eq!(start, *switch);
                let all = lanes
                    .clone()
                    .all(|channel| held.contains(&HeldChannel { link, channel }));
                assert!(all, "somebody could go on");
            }
        }
    }
}

proptest! {
    /// Broadcasts by different trees among other packets on small machines: some runs end in a
    /// deadlock. Both movers come to the same end. A deadlock is reported if and only if packets
    /// are left; serialised, all packets are done.
    #[test]
    fn a_deadlock_is_reported_if_there_is_one(case in rivals()) {
        let manner = Manner { stride: 50, reversed: false, patience: 1 << 24 };
        let run = |case: &Case, engine: Engine| {
            let config = Config { engine, ..case.config.clone() };
            Bench::with_answers(config, case.answer()).through(&case.traffic)
        };
        let ends = [Engine::Flit, Engine::Worm].map(|engine| run(&case, engine));
        let reports = ends.each_ref().map(|bench| bench.fabric.deadlock());
        prop_assert_eq!(&reports[0], &reports[1]);
        let census = ends[0].fabric.packet_census();
        prop_assert_eq!(reports[0].is_some(), census.under_way > 0);
        if let Some(deadlock) = &reports[0] {
            check(deadlock, &ends[0]);
            prop_assert_eq!(deadlock.packets.len() as u64, census.under_way);
        }
        let mut serialised = case;
        serialised.config.broadcast = Broadcast::Serialised;
        if let Err(difference) = compare(&serialised, &manner) {
            prop_assert!(false, "{difference}");
        }
    }
}
