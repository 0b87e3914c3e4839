//! Broadcasts: the network conditional, and DMAs to a node range.

use crate::common;

use common::{
    add_one, cluster, log, machine, pattern, run_process, run_thread, run_to, settle,
    sixteen_nodes, write,
};
use elan::{
    Address, Cluster, Comparison, Dma, DmaError, ElanAddr, EventId, Node, NodeId, Place, Placement,
    Priority, Stop, Thread, Transaction,
};
use fabric::{Ascent, Broadcast, FatTree};
use proptest::prelude::*;
use units::{Bytes, Time};

/// Each test node's objects, at the same addresses: a word, an event, a buffer.
struct Spot {
    node: Node,
    word: Address,
    event: EventId,
    at: Address,
    buffer: elan::Region,
}

fn places(cluster: &Cluster, placement: Placement, length: u64) -> Vec<Spot> {
    let place = |id| {
        let node = cluster.node(id);
        let word = node.allocate(Placement::Adapter, Bytes::new(8)).start();
        let event = node.event(1);
        let at = node.event_address(event).expect("just made");
        let buffer = node.allocate(placement, Bytes::new(length));
        Spot {
            node,
            word,
            event,
            at,
            buffer,
        }
    };
    NodeId::all(cluster.nodes()).map(place).collect()
}

fn word(place: &Spot) -> u64 {
    let bytes = place.node.load(place.word, Bytes::new(8)).expect("a word");
    u64::from_le_bytes(bytes[..].try_into().expect("8 bytes"))
}

/// Sends a conditional broadcast from node 5 to nodes 3 to 12, `tries` times. The words of these
/// nodes are 7, except that of `late`, and become 100 if all are 7.
fn conditional(late: Option<u32>, tries: u32) -> (Vec<Spot>, Vec<bool>) {
    let mut cluster = cluster(&sixteen_nodes());
    let places = places(&cluster, Placement::Adapter, 8);
    for place in &places {
        let is_late = Some(place.node.place().get()) == late;
        let value = 7 - u64::from(is_late);
        let stored = place.node.store(place.word, &value.to_le_bytes());
        stored.expect("a word");
    }
    let transactions = [
        Transaction::Test {
            at: places[0].word.elan,
            comparison: Comparison::NotLess,
            word: 7,
        },
        write(places[0].word, 100),
        Transaction::SetEvent {
            at: places[0].at.elan,
        },
    ];
    let first = places[3].word;
    let answers = run_thread(
        &mut cluster,
        &places[5].node,
        async move |thread: Thread| {
            let mut answers = Vec::new();
            for _ in 0..tries {
                let sent = thread.broadcast(first, Place::new(12), &transactions, Priority::High);
                answers.push(sent.await.expect("all have the word and the event").passed);
            }
            answers
        },
    );
    cluster.check_conservation();
    (places, answers)
}

#[test]
fn a_condition_that_holds_everywhere_commits_everywhere() {
    let (places, answers) = conditional(None, 1);
    assert_eq!(answers, [true]);
    for place in &places {
        let reached = (3..=12).contains(&place.node.place().get());
        assert_eq!(word(place), if reached { 100 } else { 7 });
        assert_eq!(place.node.is_set(place.event), reached);
    }
}

#[test]
fn one_no_aborts_everywhere() {
    for late in 3..=12 {
        let (places, answers) = conditional(Some(late), 2);
        assert_eq!(answers, [false, false]);
        for place in &places {
            let id = place.node.place().get();
            assert_eq!(word(place), if id == late { 6 } else { 7 });
            assert!(!place.node.is_set(place.event));
        }
    }
}

#[test]
fn a_fault_is_told_and_changes_nothing() {
    let mut cluster = cluster(&sixteen_nodes());
    let places = places(&cluster, Placement::Adapter, 8);
    let (to, nowhere) = (places[0].word, ElanAddr::NOWHERE);
    let transactions = [write(to, 1), Transaction::SetEvent { at: nowhere }];
    let node = places[0].node.clone();
    let errors = run_thread(&mut cluster, &node, async move |thread: Thread| {
        let send = async |last, packet: &[_]| {
            let sent = thread.broadcast(to, Place::new(last), packet, Priority::Low);
            sent.await
        };
        [
            send(15, &transactions).await,
            send(16, &transactions[..1]).await,
        ]
    });
    assert!(matches!(errors[0], Err(DmaError::Fault(_))));
    let no_range = DmaError::NoRange {
        first: Place::new(0),
        last: Place::new(16),
        nodes: 16,
    };
    assert_eq!(errors[1], Err(no_range));
    assert!(places.iter().all(|place| word(place) == 0));
}

#[test]
fn a_message_that_one_node_discards_is_sent_again() {
    let mut cluster = cluster(&sixteen_nodes());
    let places = places(&cluster, Placement::Adapter, 8);
    let to = places[0].word;
    let add = [add_one(to)];
    let started = places[2].node.run("adds", async move |thread| {
        let sent = thread.broadcast(to, Place::new(15), &add, Priority::Low);
        assert!(sent.await.expect("all have the word").passed);
    });
    started.expect("there is memory for a stack");
    places[9].node.accept(false);
    run_to(&mut cluster, Time::from_us(5));
    let all_are = |value| places.iter().all(|place| word(place) == value);
    assert!(all_are(0), "node 9 discards");
    places[9].node.accept(true);
    run_to(&mut cluster, Time::from_us(100));
    assert!(all_are(1), "once, everywhere");
}

/// Broadcasts `length` bytes from a node to a range; returns the run's digest.
fn broadcast(
    (root, first, last): (u32, u32, u32),
    length: u64,
    (from, to): (Placement, Placement),
    refusing: Option<u32>,
) -> String {
    let mut cluster = cluster(&sixteen_nodes());
    let places = places(&cluster, to, length.max(1));
    let node = places[root as usize].node.clone();
    let source = node.allocate(from, Bytes::new(length.max(1)));
    let bytes = pattern(u64::from(root) + 1, length);
    node.write(source, &bytes);
    let Spot { at, buffer, .. } = places[first as usize];
    let (from, to) = (source.start(), buffer.start());
    let dma = Dma::broadcast(from, to, Place::new(last), Bytes::new(length)).notify_at(at);
    if let Some(refusing) = refusing {
        let node = places[refusing as usize].node.clone();
        node.accept(false);
        cluster.spawn("refuses for a while", async move {
            node.sleep(Time::from_us(12)).await;
            node.accept(true);
        });
    }
    cluster.spawn("root", async move {
        node.dma(dma).await.expect("all have the buffer");
    });
    for place in &places[first as usize..=last as usize] {
        let (event, buffer) = (place.event, place.buffer);
        let (node, bytes) = (place.node.clone(), bytes.clone());
        cluster.spawn("leaf", async move {
            node.wait(event).await;
            let found = node.load(buffer.start(), Bytes::new(bytes.len() as u64));
            assert_eq!(found.expect("it is mapped")[..], bytes[..]);
            assert!(node.trap().is_none());
        });
    }
    let run = cluster.run();
    run.unwrap_or_else(|stop| panic!("{stop}"));
    cluster.check_conservation();
    for place in &places {
        let id = place.node.place().get();
        let received = length * u64::from((first..=last).contains(&id));
        assert_eq!(place.node.stored(), Bytes::new(received), "node {id}");
    }
    cluster.digest()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_node_of_the_range_gets_all_bytes_before_its_event(
        root in 0u32..16, a in 0u32..16, b in 0u32..16, length in 0u64..3000,
        from_main: bool, to_main: bool, refuses: bool, which in 0u32..16,
    ) {
        let (first, last) = (a.min(b), a.max(b));
        let placement = |main| if main { Placement::Main } else { Placement::Adapter };
        let refusing = refuses.then_some(first + which % (last - first + 1));
        let placements = (placement(from_main), placement(to_main));
        let digest = broadcast((root, first, last), length, placements, refusing);
        prop_assert_eq!(digest, broadcast((root, first, last), length, placements, refusing));
    }
}

#[test]
fn a_broadcast_that_faults_at_one_node_fails_and_tells_nobody() {
    let mut cluster = cluster(&sixteen_nodes());
    let places = places(&cluster, Placement::Adapter, 1000);
    places[7].node.free(places[7].buffer).expect("it is mapped");
    let (from, to) = (places[1].buffer.start(), places[0].buffer.start());
    let dma = Dma::broadcast(from, to, Place::new(15), Bytes::new(1000)).notify_at(places[0].at);
    let node = places[1].node.clone();
    match run_process(&mut cluster, node.dma(dma)) {
        Err(DmaError::Fault(fault)) => assert_eq!(fault.address.node, Place::new(7)),
        other => panic!("{other:?}, but node 7 has no buffer"),
    }
    settle(&mut cluster);
    assert!(places.iter().all(|place| !place.node.is_set(place.event)));
}

/// When the source knows the end, and when the destination sees its event, of bytes that go to main
/// memory behind a slow bus: by a DMA, or by a broadcast to this node alone.
fn behind_a_slow_bus(input_buffers: u32, length: u64, range: bool) -> [Time; 2] {
    let mut config = sixteen_nodes();
    config.adapter.input_buffers = input_buffers;
    config.bus.burst_overhead = Time::from_us(1);
    let mut cluster = cluster(&config);
    let places = places(&cluster, Placement::Main, length);
    let (source, leaf) = (places[1].node.clone(), &places[6]);
    let from = source.reserve(Placement::Adapter, Bytes::new(length));
    let (from, to, length) = (from.start(), leaf.buffer.start(), Bytes::new(length));
    let dma = if range {
        Dma::broadcast(from, to, Place::new(6), length)
    } else {
        Dma::new(from, to, length)
    };
    let dma = dma.notify_at(leaf.at);
    let (seen, noted) = (log(), log());
    let (node, event, log) = (leaf.node.clone(), leaf.event, seen.clone());
    cluster.spawn("leaf", async move {
        node.wait(event).await;
        log.note(node.now());
    });
    let log = noted.clone();
    cluster.spawn("source", async move {
        source.dma(dma).await.expect("there is a buffer");
        log.note(source.now());
    });
    cluster.run().expect("all ends");
    [noted.take(), seen.take()]
}

/// A broadcast's packet waits for an input buffer as others do, and its answer with it: the bytes
/// are there at the same moment.
#[test]
fn a_broadcast_to_one_node_waits_for_the_bus_as_a_dma_does() {
    for input_buffers in 1..=3 {
        let mut before = [Time::ZERO; 2];
        for length in [64, 320, 321, 640, 1600, 3000] {
            let alone = behind_a_slow_bus(input_buffers, length, false);
            let range = behind_a_slow_bus(input_buffers, length, true);
            let case = format!("{length} B, {input_buffers} buffers: {alone:?} {range:?}");
            assert_eq!(alone[1], range[1], "{case}");
            // The answers of all destinations are combined at the root of the tree.
            assert!(
                range[0] >= alone[0] && range[0] <= alone[0] + Time::from_us(1),
                "{case}"
            );
            assert!(before[1] < range[1], "{case}");
            before = range;
        }
    }
}

/// Nodes 0 and 1 broadcast to the lower half, two packets each. Before, long packets from the same
/// half hold links on the ways down, so each broadcast first gets one quarter and then wants the
/// quarter that the other has.
#[test]
fn broadcasts_deadlock_unless_they_are_serialised() {
    let run = |rule| {
        let mut config = machine(FatTree::quaternary(3).expect("64 nodes"));
        config.fabric.broadcast = rule;
        config.fabric.ascent = Ascent::Deterministic;
        let mut cluster = cluster(&config);
        let places = places(&cluster, Placement::Adapter, 640);
        let at = |node: usize| places[node].buffer.start();
        let put = |from: usize, to: usize, bytes| Dma::new(at(from), at(to), Bytes::new(bytes));
        for (source, to) in [(8, 4), (12, 4), (24, 21), (28, 21)] {
            let node = places[source].node.clone();
            let dma = put(source, to, 640);
            cluster.spawn(format!("puts from {source}"), async move {
                node.dma(dma).await.expect("all have the buffer");
            });
        }
        // Other traffic continues for ever.
        let (other, again) = (places[48].node.clone(), put(48, 52, 640));
        other.clone().serve("puts from 48", async move {
            loop {
                other.dma(again).await.expect("all have the buffer");
            }
        });
        for root in [0, 1] {
            let node = places[root].node.clone();
            let dma = Dma::broadcast(at(root), at(0), Place::new(31), Bytes::new(100));
            cluster.spawn(format!("root {root}"), async move {
                node.sleep(Time::from_ns(500)).await;
                let both = [node.dma(dma), node.dma(dma)];
                for transfer in both {
                    transfer.await.expect("all have the buffer");
                }
            });
        }
        cluster.run()
    };
    run(Broadcast::Serialised).expect("one tree");
    let stop = run(Broadcast::BySource).expect_err("two trees");
    let text = stop.to_string();
    let Stop::Deadlock { packets, .. } = stop else {
        panic!("{text}");
    };
    assert!(packets.is_some_and(|packets| packets.cycle.len() == 2));
    let parts = [
        "root 0, root 1",
        "waits at switch",
        "is held by packet 0 of node 0",
    ];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}
