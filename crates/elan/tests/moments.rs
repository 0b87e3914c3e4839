//! The next one in a line: a slice's exact end, turns that threads give up, short messages in their
//! order, waiters for one store; and a cable that is slower than others.

use crate::common;

use common::{Log, failing, four_nodes, log, run_process, settle, start};
use elan::faults::{Fault, FaultTiming};
use elan::{AdapterPart, Dma, Node, Placement, Thread};
use fabric::Pace;
use kernel::Signal;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use units::{Bytes, Time};

/// The order in which a DMA of two packets and a DMA of one, posted behind it, are over.
fn order(slice: Time) -> Vec<&'static str> {
    let mut config = four_nodes();
    config.adapter.time_slice = slice;
    config.fabric.packets_in_flight = 2;
    let (mut cluster, [a, b, c]) = start(&config);
    let ends = log();
    for (name, to, packets) in [("two", b, 2), ("one", c, 1)] {
        let size = config.packet.payload * packets;
        let [from, to] = [&a, &to].map(|node| node.reserve(Placement::Adapter, size).start());
        let (sender, ends) = (a.clone(), ends.clone());
        cluster.spawn(name, async move {
            sender.dma(Dma::new(from, to, size)).await.unwrap();
            ends.note(name);
        });
    }
    cluster.run().expect("all ends");
    ends.borrow().clone()
}

/// A slice is over at its end: a DMA whose slice ends with its first packet yields to the next
/// one, and a DMA with a picosecond more has prepared its second packet at the same moment.
#[test]
fn a_slice_ends_with_its_last_moment() {
    // An engine takes a DMA up for `dma_start`, and then prepares packets without delay.
    let start = four_nodes().adapter.dma_start;
    assert_eq!(order(start), ["one", "two"]);
    assert_eq!(order(start + Time::from_ps(1)), ["two", "one"]);
}

/// Waits for the processor, which another thread has, until something else happens.
async fn wait_in_line(thread: &Thread, end: impl Future<Output = ()>) {
    let mut end = pin!(end);
    let mut work = Box::pin(thread.step(1));
    poll_fn(|context| {
        if end.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        assert!(work.as_mut().poll(context).is_pending(), "the first has it");
        Poll::Pending
    })
    .await;
}

/// A thread's turn comes in the moment in which the thread stops waiting for it: the next thread
/// has the processor immediately, and the first one's later work takes its turn behind it.
#[test]
fn a_turn_that_comes_too_late_goes_to_the_next() {
    let (mut cluster, [node]) = start(&four_nodes());
    let (stop, never, ends) = (Signal::new(), Signal::new(), log());
    let (stops, noted) = (stop.clone(), ends.clone());
    let first = async move |thread: Thread| {
        thread.step(1000).await;
        noted.note(("first", thread.now()));
        // Wakes the next thread, and gives it the processor, in one go.
        stops.fire();
        thread.until(never.wait()).await;
    };
    node.run_resident("first", first).unwrap();
    let noted = ends.clone();
    let gives_up = async move |thread: Thread| {
        wait_in_line(&thread, stop.wait()).await;
        thread.step(5).await;
        noted.note(("gives up", thread.now()));
    };
    node.run_resident("gives up", gives_up).unwrap();
    let noted = ends.clone();
    let second = async move |thread: Thread| {
        thread.step(7).await;
        noted.note(("second", thread.now()));
    };
    node.run_resident("second", second).unwrap();
    settle(&mut cluster);
    // A switch takes 300 ns, a cycle 10 ns.
    let first = Time::from_ns(300 + 10_000);
    let second = first + Time::from_ns(300 + 70);
    let last = second + Time::from_ns(300 + 50);
    let expected = [("first", first), ("second", second), ("gives up", last)];
    assert_eq!(ends.borrow()[..], expected);
    assert_eq!(node.thread_busy(), last, "the processor never rests");
}

/// A thread that gives up waiting before its turn comes has left the line.
#[test]
fn a_thread_that_gives_up_is_not_waited_for() {
    let (mut cluster, [node]) = start(&four_nodes());
    let (never, ends) = (Signal::new(), log());
    let first = async move |thread: Thread| {
        thread.step(1000).await;
        thread.until(never.wait()).await;
    };
    node.run_resident("first", first).unwrap();
    let gives_up = async move |thread: Thread| {
        wait_in_line(&thread, thread.node().sleep(Time::from_us(2))).await;
    };
    node.run_resident("gives up", gives_up).unwrap();
    let noted = ends.clone();
    let second = async move |thread: Thread| {
        thread.step(7).await;
        noted.note(thread.now());
    };
    node.run_resident("second", second).unwrap();
    settle(&mut cluster);
    let expected = Time::from_ns(300 + 10_000 + 300 + 70);
    assert_eq!(ends.borrow()[..], [expected]);
}

/// A machine with a short transaction engine.
fn with_sten() -> elan::Config {
    let start = Time::from_us(1);
    elan::Config {
        parts: vec![AdapterPart::Sten { start }],
        ..four_nodes()
    }
}

/// Short messages leave in the order of their commands.
#[test]
fn short_messages_take_turns() {
    let (mut cluster, [a, b]) = start(&with_sten());
    let ends = log();
    for number in 0..4 {
        let size = Bytes::new(32);
        let [from, to] = [&a, &b].map(|node| node.reserve(Placement::Adapter, size).start());
        let arrived = b.event(1);
        let (sender, receiver, noted) = (a.clone(), b.clone(), ends.clone());
        cluster.spawn(format!("message {number}"), async move {
            let sent = sender.send_short(Dma::new(from, to, size).notify(arrived));
            receiver.wait(arrived).await;
            noted.note(number);
            sent.await.expect("both buffers are there");
        });
    }
    cluster.run().expect("all ends");
    assert_eq!(ends.borrow()[..], [0, 1, 2, 3]);
}

/// A short message whose bytes are gone when its turn comes fails, and the next message to the same
/// queue goes.
#[test]
fn a_short_message_without_bytes_keeps_no_other_back() {
    let (mut cluster, [a, b]) = start(&with_sten());
    let size = Bytes::new(16);
    let queue = b.queue(4, Bytes::new(64), None).unwrap();
    let (gone, kept) = (
        a.allocate(Placement::Adapter, size),
        a.allocate(Placement::Adapter, size),
    );
    a.write(kept, &[5; 16]);
    let (outcome, message) = run_process(&mut cluster, async move {
        let [first, second] =
            [gone, kept].map(|at| a.send_short(Dma::queue(at.start(), queue.start(), size)));
        // The commands have been checked, and the engine is at work on the first.
        a.sleep(Time::from_ns(700)).await;
        a.free(gone).expect("it is mapped");
        let first = first.await;
        second.await.expect("its bytes are there");
        (first, b.take(queue).await)
    });
    assert!(outcome.is_err());
    assert_eq!(message.expect("it has come")[..], [5; 16]);
}

/// A process that waits for a store to some bytes of main memory.
fn waits(
    node: &Node,
    at: elan::Address,
    length: u64,
    name: &'static str,
    noted: &Log<&'static str>,
) {
    let (node, noted) = (node.clone(), noted.clone());
    node.clone().spawn(name, async move {
        node.next_store(at.elan, Bytes::new(length)).wait().await;
        noted.note(name);
    });
}

/// The waiters for one store continue in the order in which they began to wait, wherever their
/// bytes lie, and a store beside their bytes wakes none of them.
#[test]
fn waiters_for_a_store_in_their_order() {
    let (mut cluster, [node]) = start(&four_nodes());
    let at = node.allocate(Placement::Main, Bytes::new(64)).start();
    let ends = log();
    let byte = move |offset| at.offset(Bytes::new(offset));
    for (name, first, length) in [("c", 40, 8), ("a", 8, 16), ("d", 16, 8), ("b", 9, 40)] {
        waits(&node, byte(first), length, name, &ends);
    }
    let storer = node.clone();
    run_process(&mut cluster, async move {
        storer.sleep(Time::from_us(1)).await;
        storer.store(byte(49), &[1; 8]).unwrap();
        storer.store(byte(0), &[1; 8]).unwrap();
        storer.sleep(Time::from_us(1)).await;
        storer.store(byte(16), &[1; 30]).unwrap();
    });
    assert_eq!(ends.borrow()[..], ["c", "a", "d", "b"]);
}

/// Zero bytes cross the bus in zero time.
#[test]
fn no_bytes_cross_at_once() {
    let (mut cluster, [node]) = start(&four_nodes());
    let crosser = node.clone();
    let end = run_process(&mut cluster, async move {
        crosser.cross_to_main(Bytes::ZERO).await;
        crosser.cross_to_adapter(Bytes::ZERO).await;
        crosser.now()
    });
    assert_eq!((end, node.bus_busy()), (Time::ZERO, Time::ZERO));
}

/// A cable at half the rate carries a long message in twice the time, both ways; a cable that is
/// said to be faster than others stays as it is.
#[test]
fn degraded_cables() {
    let time = |part: Option<[u64; 2]>, ends: [u32; 2]| {
        let config = four_nodes();
        let list = part.map(|[part, whole]| Fault {
            part: common::cable_of(&config, 0),
            when: FaultTiming::Degraded(Pace::nearest(part, whole).expect("a fraction")),
        });
        let mut cluster = common::cluster(&failing(config, list.into_iter().collect()));
        let [from, to] = ends.map(|number| common::node_of(&cluster, number));
        let size = Bytes::from_kb(256);
        let [source, target] =
            [&from, &to].map(|node| node.reserve(Placement::Adapter, size).start());
        run_process(&mut cluster, async move {
            from.dma(Dma::new(source, target, size)).await.unwrap();
            from.now().as_us_f64()
        })
    };
    let whole = time(None, [0, 1]);
    for ends in [[0, 1], [1, 0]] {
        let half = time(Some([1, 2]), ends) / whole;
        assert!((1.9..2.05).contains(&half), "{ends:?}: {half}");
    }
    assert_eq!(time(Some([1, 2]), [1, 2]).to_bits(), whole.to_bits());
    assert_eq!(time(Some([1, 1]), [0, 1]).to_bits(), whole.to_bits());
}
