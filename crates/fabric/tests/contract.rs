//! A call that the contract forbids is a broken invariant, and stops the run immediately.

use crate::common;

use common::guard::guarded;
use common::{broadcast, machine, one_switch, packet};
use fabric::{Ack, Config, Cycle, Fabric, FatTree, Multiplexing, Notice, PacketId, Place};

/// A one-flit packet from 0 to 1, delivered: the cycle and its handle.
fn delivered(fabric: &mut Fabric) -> (Cycle, PacketId) {
    fabric.offer(0, packet(0, 1, 1));
    let mut notices = Vec::new();
    while let Some(cycle) = fabric.advance(Cycle::MAX, &mut notices) {
        for notice in notices.drain(..) {
            if let Notice::Delivered(packet, ..) = notice {
                return (cycle, packet);
            }
        }
    }
    panic!("the packet is not delivered");
}

#[test]
#[should_panic(expected = "answers a delivery, once")]
fn a_delivery_has_one_answer() {
    let mut fabric = Fabric::new(one_switch(3));
    let (cycle, packet) = delivered(&mut fabric);
    fabric.acknowledge(cycle, packet, Ack::Accepted);
    fabric.acknowledge(cycle, packet, Ack::Accepted);
}

#[test]
#[should_panic(expected = "answers a delivery, once")]
fn an_answer_follows_its_delivery() {
    let mut fabric = Fabric::new(one_switch(3));
    let (cycle, packet) = delivered(&mut fabric);
    fabric.acknowledge(cycle - 1, packet, Ack::Accepted);
}

#[test]
#[should_panic(expected = "cycles before 10 have not been executed")]
fn offers_do_not_overtake_the_network() {
    let mut fabric = Fabric::new(one_switch(3));
    fabric.offer(0, packet(0, 1, 1));
    fabric.offer(10, packet(0, 1, 1));
}

/// An adapter may act on a cycle's notices in that cycle; the fabric learns of it in the next.
#[test]
fn an_answer_to_news_counts_from_the_next_cycle() {
    let mut fabric = Fabric::new(one_switch(3));
    let (cycle, _) = delivered(&mut fabric);
    fabric.offer(cycle, packet(1, 0, 1));
    assert_eq!(fabric.next_cycle(), Some(cycle + 1));
    assert_eq!(fabric.queued(Place::new(1)), 1);
    let mut notices = Vec::new();
    assert_eq!(fabric.advance(cycle, &mut notices), None);
    assert_eq!(fabric.advance(Cycle::MAX, &mut notices), Some(cycle + 1));
    assert_eq!(notices, [Notice::Injected(packet(1, 0, 1))]);
}

/// Every answer from the destination reaches the source.
#[test]
fn the_answer_is_passed_on() {
    for ack in [Ack::Accepted, Ack::TestFailed, Ack::Discarded, Ack::Error] {
        let mut fabric = Fabric::new(one_switch(3));
        let (cycle, packet) = delivered(&mut fabric);
        fabric.acknowledge(cycle, packet, ack);
        let mut notices = Vec::new();
        assert_eq!(fabric.advance(Cycle::MAX, &mut notices), Some(cycle + 6));
        let [Notice::Acknowledged(record, _)] = notices[..] else {
            panic!("{notices:?}");
        };
        assert_eq!(record.ack, ack);
    }
}

/// A packet has at least one flit, and its destination is one or more nodes on its own rail.
#[test]
fn what_is_no_packet_is_refused() {
    let rails = FatTree::quaternary(1).and_then(|tree| tree.with_rails(2));
    let rails = machine(rails.expect("two rails of 4 nodes"), 3);
    for (config, spec) in [
        (one_switch(3), packet(0, 1, 0)),
        (one_switch(3), packet(0, 4, 1)),
        (one_switch(3), broadcast(0, 2, 1, 1)),
        (one_switch(3), broadcast(0, 2, 4, 1)),
        (rails, packet(1, 4, 10)),
    ] {
        let refused = guarded(|| Fabric::new(config).offer(0, spec)).expect_err("no packet");
        assert!(refused.contains("not a packet of this fabric"), "{refused}");
    }
}

#[test]
#[should_panic(expected = "one hop delay per level")]
fn every_level_has_a_hop_delay() {
    Fabric::new(Config {
        hop_delay: vec![3, 3],
        ..one_switch(3)
    });
}

#[test]
#[should_panic(expected = "one credit delay per level")]
fn every_level_has_a_credit_delay() {
    Fabric::new(Config {
        credit_delay: vec![3, 3],
        ..one_switch(3)
    });
}

#[test]
#[should_panic(expected = "only the flit mover serves channels in turns")]
fn the_worm_mover_serves_the_oldest_first() {
    Fabric::new(Config {
        multiplexing: Multiplexing::RoundRobin,
        ..one_switch(3)
    });
}
