//! Queues for small messages: order, slots, full queues, and the right to send.

use crate::common;

use common::{
    four_nodes, log, logs, node_of, pattern, run_process, run_thread, run_to, settle, start,
};
use elan::{
    AccessFault, Dma, DmaError, Node, Permissions, Placement, ProcessQueueId, Reason, Thread,
};
use proptest::prelude::*;
use units::{Bytes, Time};

/// A message that identifies its origin.
fn message(sender: u32, number: u64, length: u64) -> Vec<u8> {
    let mut bytes = pattern(number, length);
    bytes[0] = sender as u8;
    bytes[1] = number as u8;
    bytes
}

/// Posts one message; its source is its own region.
fn post(node: &Node, queue: ProcessQueueId, bytes: &[u8], placement: Placement) -> elan::Transfer {
    let length = Bytes::new(bytes.len() as u64);
    let source = node.allocate(placement, length);
    node.write(source, bytes);
    node.dma(Dma::queue(source.start(), queue.start(), length))
}

/// Five messages into two slots that are not emptied for a while: two are in, the others are sent
/// again until there is room, and all come out in order.
#[test]
fn a_full_queue_loses_nothing() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let queue = b.queue(2, Bytes::new(64), None).unwrap();
    let sender = a.clone();
    cluster.spawn("sends", async move {
        let send = |number| post(&sender, queue, &message(0, number, 40), Placement::Main);
        let transfers: Vec<_> = (0..5).map(send).collect();
        for transfer in transfers {
            transfer.await.expect("there is room in the end");
        }
    });
    cluster.run_until(Time::from_us(50)).unwrap();
    assert_eq!(b.queue_len(queue), 2);
    // Two messages that were accepted, and the third again and again: 8 retries, then a 1 ms trap.
    assert_eq!(cluster.packets(), 2 + 9);
    // A message that waits for room is not being received: policies for several rails let the
    // reader's node send.
    assert!(!b.is_receiving() && !b.was_busy());
    let receiver = b.clone();
    run_process(&mut cluster, async move {
        for number in 0..5 {
            let found = loop {
                match receiver.take(queue).await {
                    Some(found) => break found,
                    None => receiver.sleep(Time::from_us(1)).await,
                }
            };
            assert_eq!(found[..], message(0, number, 40));
        }
    });
    assert_eq!((b.queue_len(queue), b.trap()), (0, None));
    cluster.check_conservation();
}

/// The process's read of a message takes the bus, and frees the slot at its end; a thread's read
/// takes no time.
#[test]
fn taking_a_message() {
    let mut config = four_nodes();
    config.adapter.trap_delay = Time::from_us(2);
    let (mut cluster, [a, b]) = start(&config);
    let queue = b.queue(1, Bytes::new(64), None).unwrap();
    let sender = a.clone();
    cluster.spawn("sends", async move {
        for number in 0..2 {
            let sent = post(&sender, queue, &message(0, number, 64), Placement::Adapter);
            sent.await.expect("there is room in the end");
        }
    });
    let receiver = b.clone();
    let by_process = run_process(&mut cluster, async move {
        assert_eq!(receiver.take(queue).await, None);
        receiver.sleep(Time::from_us(20)).await;
        let begun = receiver.now();
        receiver.take(queue).await.expect("one is there");
        receiver.now() - begun
    });
    // A turn, since this bus is unused so far, and a 64-byte burst.
    assert_eq!(by_process, Time::from_ps(80_000 + 77_000 + 242_425));
    settle(&mut cluster);
    let by_thread = run_thread(&mut cluster, &b, async move |thread: Thread| {
        let started = thread.now();
        assert_eq!(thread.receive(queue).await[..], message(0, 1, 64));
        thread.now() - started
    });
    assert_eq!(by_thread, Time::ZERO);
}

/// When a message is known: a thread is ready when the message has arrived and its event been
/// handled; a process sees the event.
#[test]
fn when_a_message_is_known() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let event = b.event(1);
    let queue = b.queue(4, Bytes::new(320), Some(event)).unwrap();
    let [times, noted] = logs();
    let program = async move |thread: Thread| {
        thread.receive(queue).await;
        noted.note(thread.now());
    };
    b.run("serves", program).unwrap();
    let posted = Time::from_us(20);
    cluster.spawn("sends", async move {
        a.sleep_until(posted).await;
        let sent = post(&a, queue, &message(0, 0, 64), Placement::Adapter);
        sent.await.expect("there is room");
    });
    let seen = run_process(&mut cluster, async move {
        b.wait(event).await;
        b.now()
    });
    // The command, the DMA's start; 46 flits: an 8-byte header, 64 in one transaction and the one
    // that claims the slot, each with 10.
    let ready = posted + Time::from_ps(77_000 + 30_304 + 200_000 + 540_000);
    let cycle = Time::from_ns(5);
    let arrived = cycle * (ready.div_ceil(cycle) + 22 + 46 - 1);
    let event = arrived + Time::from_ns(400);
    // The thread's command crossed this bus the other way.
    assert_eq!(
        seen,
        event + Time::from_ps(80_000 + 77_000 + 242_425 + 200_000)
    );
    assert_eq!(*times.borrow(), [event + Time::from_ns(300)]);
}

/// Messages that no queue takes: too long for a slot or a packet, no queue there, forbidden; and a
/// queue that has been freed.
#[test]
fn what_a_queue_refuses() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let short = b.queue(2, Bytes::new(64), None).unwrap();
    let closed = b.queue(2, Bytes::new(64), None).unwrap();
    b.protect(closed.start().elan, Bytes::new(128), Permissions::LOCAL)
        .unwrap();
    let freed = b.queue(2, Bytes::new(64), None).unwrap();
    b.free_queue(freed);
    let from = a.allocate(Placement::Main, Bytes::new(1000)).start();
    let ends = run_process(&mut cluster, async move {
        let mut ends = Vec::new();
        let send =
            |queue: ProcessQueueId, length| Dma::queue(from, queue.start(), Bytes::new(length));
        for dma in [
            send(short, 65),
            send(short, 321),
            send(closed, 10),
            send(freed, 10),
            send(short, 0),
            send(short, 64),
        ] {
            ends.push(a.dma(dma).await);
        }
        ends
    });
    let reason = |end: &Result<(), DmaError>| match end {
        Err(DmaError::Fault(AccessFault { reason, .. })) => *reason,
        other => panic!("{other:?}"),
    };
    let length = Bytes::new(321);
    assert_eq!(ends[1], Err(DmaError::TooLong { length }));
    let reasons = [0, 2, 3].map(|index: usize| reason(&ends[index]));
    let expected = [Reason::SlotTooShort, Reason::Forbidden, Reason::Nothing];
    assert_eq!(reasons, expected);
    assert_eq!(ends[4..], [Ok(()), Ok(())]);
    assert_eq!(b.queue_len(short), 2);
    let outside = b.allocate(Placement::Main, Bytes::new(64)).start();
    let event = b.queue_at(outside.elan, 1, Bytes::new(64), None);
    assert_eq!(event.unwrap_err().reason, Reason::NotAdapter);
}

/// A random program's messages, and how they are taken.
#[derive(Clone, Debug)]
struct Program {
    /// Lengths, for each sender.
    senders: Vec<Vec<u64>>,
    slots: u32,
    /// Time between two messages that are taken.
    pause: u64,
    thread: bool,
}

prop_compose! {
    fn program()(
        senders in prop::collection::vec(prop::collection::vec(2_u64..=320, 0..12), 1..=4),
        slots in 1_u32..6,
        pause in 0_u64..4000,
        thread in any::<bool>(),
    ) -> Program {
        Program { senders, slots, pause, thread }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Several senders, the queue's own node among them, and a slow consumer: every message arrives
    /// once, intact, and each sender's in their order.
    #[test]
    fn every_message_arrives_in_order(program in program()) {
        let mut config = four_nodes();
        config.adapter.trap_delay = Time::from_us(15);
        let (mut cluster, [_, b]) = start(&config);
        let queue = b.queue(program.slots, Bytes::new(320), None).unwrap();
        for (sender, lengths) in program.senders.iter().enumerate() {
            let (node, lengths) = (node_of(&cluster, sender as u32), lengths.clone());
            cluster.spawn(format!("sender {sender}"), async move {
                let send = |(number, length)| {
                    let placement = if number % 2 == 0 { Placement::Main } else {
                        Placement::Adapter
                    };
                    post(&node, queue, &message(sender as u32, number as u64, length), placement)
                };
                let transfers: Vec<_> = lengths.into_iter().enumerate().map(send).collect();
                for transfer in transfers {
                    transfer.await.expect("there is room in the end");
                }
            });
        }
        let total: usize = program.senders.iter().map(Vec::len).sum();
        let found = log();
        let (noted, pause) = (found.clone(), Time::from_ns(program.pause));
        if program.thread {
            let serve = async move |thread: Thread| loop {
                let message = thread.receive(queue).await;
                noted.note(message);
                thread.until(thread.node().sleep(pause)).await;
            };
            b.run("takes", serve).unwrap();
            let watched = found.clone();
            cluster.spawn("watches", async move {
                while watched.borrow().len() < total {
                    b.sleep(Time::from_us(3)).await;
                }
            });
        } else {
            cluster.spawn("takes", async move {
                while noted.borrow().len() < total {
                    b.sleep(pause.max(Time::from_ns(100))).await;
                    if let Some(message) = b.take(queue).await {
                        noted.note(message);
                    }
                }
            });
        }
        prop_assert!(cluster.run().is_ok());
        for (sender, lengths) in program.senders.iter().enumerate() {
            let found = found.borrow();
            let theirs = found.iter().filter(|found| usize::from(found[0]) == sender);
            let theirs: Vec<_> = theirs.map(|found| found.to_vec()).collect();
            let sent: Vec<_> = lengths.iter().enumerate()
                .map(|(number, &length)| message(sender as u32, number as u64, length)).collect();
            prop_assert_eq!(theirs, sent);
        }
        cluster.check_conservation();
    }
}

/// The host's own messages need no network: a command brings each into the queue, in order.
#[test]
fn the_host_inserts_in_order() {
    let (mut cluster, [node]) = start(&four_nodes());
    let queue = node.queue(3, Bytes::new(8), None).unwrap();
    for number in 0..3 {
        node.insert(queue, &message(0, number, 8));
    }
    run_to(&mut cluster, Time::from_us(10));
    assert_eq!(node.queue_len(queue), 3);
    run_process(&mut cluster, async move {
        for number in 0..3 {
            assert_eq!(node.take(queue).await.expect("it is there")[1], number);
        }
    });
}

/// A command cannot wait: its queue must have a slot.
#[test]
#[should_panic(expected = "belongs to another process")]
fn a_queue_of_another_process_is_not_freed() {
    let (cluster, [node]) = start(&four_nodes());
    let queue = node.queue(2, Bytes::new(8), None).unwrap();
    let other = node.attach(cluster.capability()).unwrap();
    other.free_queue(queue);
}

#[test]
#[should_panic(expected = "too few slots")]
fn a_command_needs_a_slot() {
    let (mut cluster, [node]) = start(&four_nodes());
    let queue = node.queue(2, Bytes::new(8), None).unwrap();
    for number in 0..3 {
        node.insert(queue, &message(0, number, 8));
    }
    let _ = cluster.run_until(Time::from_us(10));
}
