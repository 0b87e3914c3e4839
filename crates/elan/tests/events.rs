//! Events: counts, priming, waiting, and occurrences beyond the count.

use crate::common;

use common::{cluster, four_nodes, log, logs, node_of, run_process, start};
use elan::{Action, Address, Cluster, Dma, ElanAddr, EventId, Node, Placement, WaitMode};
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// A process that sends a notification at each given time, one after the other.
fn notify_at(cluster: &mut Cluster, from: u32, event: EventId, times: &[Time]) {
    let (a, times) = (node_of(cluster, from), times.to_vec());
    cluster.spawn(format!("node {from} notifies"), async move {
        for at in times {
            a.sleep_until(at).await;
            a.notify(event).await.expect("nothing is wrong with it");
        }
    });
}

/// A notification's longest duration, far below the distance between those in these tests.
const SHORT: Time = Time::from_us(3);

fn us(us: u64) -> Time {
    Time::from_us(us)
}

/// The event occurs when the notification has arrived: within `SHORT` of its posting.
fn assert_soon_after(at: Time, posted: Time) {
    assert!(
        posted < at && at < posted + SHORT,
        "{at} is not soon after {posted}"
    );
}

/// When a process sees that its event is set.
async fn when_set(node: Node, event: EventId) -> Time {
    node.wait(event).await;
    node.now()
}

/// The third of three occurrences, from any nodes, sets an event with count 3.
#[test]
fn a_count_of_three() {
    let (mut cluster, [node]) = start(&four_nodes());
    let event = node.event(3);
    notify_at(&mut cluster, 1, event, &[us(10)]);
    notify_at(&mut cluster, 2, event, &[us(20), us(40)]);
    notify_at(&mut cluster, 3, event, &[us(30)]);
    let seen = run_process(&mut cluster, when_set(node, event));
    assert_soon_after(seen, us(30));
}

/// All waiting processes continue at the same moment, in the order in which they began to wait; a
/// later one continues immediately.
#[test]
fn several_wait() {
    let mut cluster = cluster(&four_nodes());
    let event = node_of(&cluster, 0).event(1);
    notify_at(&mut cluster, 1, event, &[us(10)]);
    let seen = log();
    for number in 0..4 {
        let (node, seen) = (node_of(&cluster, 0), seen.clone());
        cluster.spawn(format!("waits {number}"), async move {
            // The processes begin to wait in the order 3, 2, 1; number 0 begins after the event is
            // set.
            node.sleep(us(if number == 0 { 50 } else { 8 - 2 * number }))
                .await;
            node.wait(event).await;
            seen.note((number, node.now()));
        });
    }
    cluster.run().expect("all ends");
    let seen = seen.borrow();
    assert_eq!(
        seen.iter().map(|seen| seen.0).collect::<Vec<_>>(),
        [3, 2, 1, 0]
    );
    assert_soon_after(seen[0].1, us(10));
    assert!(seen[..3].iter().all(|other| other.1 == seen[0].1));
    assert_eq!(seen[3].1, us(50));
}

/// A set event's occurrences are lost: after priming the event waits for new ones.
#[test]
fn occurrences_beyond_the_count() {
    let mut cluster = cluster(&four_nodes());
    let event = node_of(&cluster, 0).event(1);
    let times = [10, 20, 30, 60, 70].map(us);
    notify_at(&mut cluster, 1, event, &times);
    let node = node_of(&cluster, 0);
    let seen = run_process(&mut cluster, async move {
        node.sleep_until(us(50)).await;
        node.wait(event).await;
        let first = node.now();
        node.prime(event, 2);
        node.wait(event).await;
        [first, node.now()]
    });
    assert_eq!(seen[0], us(50));
    assert_soon_after(seen[1], us(70));
    // Only the setting occurrence is copied to main memory: with a turn, then without.
    assert_eq!(node_of(&cluster, 0).bus_busy(), TURN + COPY * 2);
}

/// Priming an event that has counted down in part starts again.
#[test]
fn priming_starts_anew() {
    let mut cluster = cluster(&four_nodes());
    let event = node_of(&cluster, 0).event(2);
    notify_at(&mut cluster, 1, event, &[us(10), us(30), us(50)]);
    let node = node_of(&cluster, 0);
    let seen = run_process(&mut cluster, async move {
        node.sleep_until(us(20)).await;
        node.prime(event, 2);
        when_set(node, event).await
    });
    assert_soon_after(seen, us(50));
}

/// An event with count 0 is set.
#[test]
fn a_count_of_zero() {
    let (mut cluster, [node]) = start(&four_nodes());
    let event = node.event(0);
    run_process(&mut cluster, async move {
        node.wait(event).await;
        node.prime(event, 0);
        node.wait(event).await;
    });
}

/// A command on an idle bus; a block copy, without and with a bus turn.
const COMMAND: Time = Time::from_ps(77_000 + 30_304 + 200_000);
const COPY: Time = Time::from_ps(77_000 + 242_425);
const TURN: Time = Time::from_ns(80);

/// A process sets an event at its own node: a command, then the event. A polling process sees it
/// `poll` after its block has come to main memory, a blocking one `interrupt` after that; a
/// spinning one sees it if it still looks, and else blocks.
#[test]
fn polling_and_blocking() {
    let copied = COMMAND + Time::from_ns(200) + TURN + COPY;
    let polled = copied + Time::from_ns(200);
    let woken = copied + us(5);
    // A spinning process looks at 0, 200, 400, ... ns.
    assert_eq!(copied, Time::from_ps(906_729));
    for (how, expected) in [
        (WaitMode::Poll, polled),
        (WaitMode::Block, woken),
        (WaitMode::Spin(0), woken),
        (WaitMode::Spin(1), woken),
        (WaitMode::Spin(5), woken),
        // The process looks the last time at 1 us, and finds the block there.
        (WaitMode::Spin(6), polled),
        (WaitMode::Spin(u32::MAX), polled),
    ] {
        let (mut cluster, [node]) = start(&four_nodes());
        let event = node.event(1);
        let seen = run_process(&mut cluster, async move {
            node.set(event);
            node.wait_by(event, how).await;
            let first = node.now();
            // The event is set: all ways continue immediately.
            for how in [WaitMode::Poll, WaitMode::Block, WaitMode::Spin(3)] {
                node.wait_by(event, how).await;
            }
            assert!(node.poll(event, 5).await && node.is_set(event));
            [first, node.now()]
        });
        assert_eq!(seen, [expected, expected], "{how:?}");
    }
}

/// The same ways serve to wait for a transfer's end: a blocking process sees it later, by the
/// difference between interrupt and look.
#[test]
fn polling_and_blocking_for_a_transfer() {
    let seen = |how| {
        let (mut cluster, [node, other]) = start(&four_nodes());
        let event = other.event(1);
        run_process(&mut cluster, async move {
            let sent = node.notify(event);
            node.wait_for(sent, how).await.expect("it is there");
            let seen = node.now();
            let sent = node.notify(event);
            node.sleep(us(100)).await;
            node.wait_for(sent, how).await.expect("it is there");
            assert_eq!(node.now(), seen + us(100), "{how:?}: it is there already");
            seen
        })
    };
    let (polled, woken) = (seen(WaitMode::Poll), seen(WaitMode::Block));
    assert_eq!(woken, polled + us(5) - Time::from_ns(200));
    let looks = u32::try_from(polled / Time::from_ns(200)).expect("few");
    assert_eq!(seen(WaitMode::Spin(0)), woken);
    assert_eq!(seen(WaitMode::Spin(looks)), woken);
    assert_eq!(seen(WaitMode::Spin(looks + 2)), polled);
}

/// A look that does not succeed takes its time.
#[test]
fn looking_in_vain() {
    let (mut cluster, [node]) = start(&four_nodes());
    let event = node.event(1);
    run_process(&mut cluster, async move {
        for (looks, end) in [(0, 0), (1, 0), (2, 200), (5, 1000)] {
            assert!(!node.poll(event, looks).await);
            assert_eq!(node.now(), Time::from_ns(end));
        }
    });
}

/// Events that set each other, the last one seen by the process: each step takes an event's time.
#[test]
fn a_chain_of_events() {
    for links in [0, 1, 5] {
        let (mut cluster, [node]) = start(&four_nodes());
        let last = node.event(1);
        let first = (0..links).fold(last, |next, _| node.event_with(1, Action::Set(next)));
        node.set(first);
        let seen = run_process(&mut cluster, when_set(node, last));
        let set = COMMAND + Time::from_ns(200) * (links + 1);
        assert_eq!(seen, set + TURN + COPY + Time::from_ns(200));
    }
}

/// A ring of chained events runs around once: an event that is set does not occur.
#[test]
fn a_ring_of_events_ends() {
    let (mut cluster, [node]) = start(&four_nodes());
    let room = node.allocate(Placement::Adapter, Bytes::new(128));
    let place = room.start().elan;
    let other = node.event_at(place, 1, Action::None).unwrap();
    let first = node.event_with(1, Action::Set(other));
    let second = node.event_at(place, 1, Action::Set(first)).unwrap();
    assert_eq!(second, other, "one event lies at an address");
    node.set(first);
    cluster.run_until(us(100)).expect("no error");
    // The command and its bursts, and three occurrences.
    assert!(cluster.events() < 10, "{}", cluster.events());
}

/// One DMA's end starts the next, at the source by its own event, at the destination by the
/// notification: a message that is passed on without any process.
#[test]
fn a_chain_of_dmas() {
    let mut cluster = cluster(&four_nodes());
    let nodes: Vec<Node> = (0..4).map(|number| node_of(&cluster, number)).collect();
    let size = Bytes::new(1000);
    let regions = [0, 1, 2, 3].map(|number| nodes[number].allocate(Placement::Main, size));
    nodes[0].write(regions[0], &common::pattern(5, 1000));
    let done = nodes[3].event(1);
    let pass = move |from: usize, event| {
        let dma = Dma::new(regions[from].start(), regions[from + 1].start(), size);
        dma.notify(event)
    };
    let second = nodes[2].event_with(1, Action::Dma(pass(2, done)));
    let first = nodes[1].event_with(1, Action::Dma(pass(1, second)));
    let (a, d) = (nodes[0].clone(), nodes[3].clone());
    let own = a.event(1);
    run_process(&mut cluster, async move {
        a.post(pass(0, first).done(own));
        a.wait(own).await;
        d.wait(done).await;
        assert_eq!(d.read(regions[3]).unwrap()[..], common::pattern(5, 1000));
    });
    assert_eq!(node_of(&cluster, 2).stored(), size);
}

/// The error of a DMA without a waiter is a trap for its process.
#[test]
fn nobody_awaits_an_error() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let here = a.allocate(Placement::Adapter, Bytes::new(64)).start();
    let there = b.allocate(Placement::Adapter, Bytes::new(64)).start();
    let beyond = there.offset(Bytes::new(1));
    let bad = Dma::new(here, beyond, Bytes::new(64));
    let chained = a.event_with(1, Action::Dma(bad));
    let never = a.event(1);
    a.set(chained);
    a.post(Dma::new(beyond, here.offset(Bytes::new(1)), Bytes::new(64)).done(never));
    cluster.run_until(us(100)).expect("no error");
    let traps = std::iter::from_fn(|| a.trap()).map(|trap| trap.to_string());
    let traps: Vec<_> = traps.collect();
    assert_eq!(traps.len(), 2, "{traps:?}");
    let write = "a remote write of 64 B";
    let first = format!("{write} at 0xc808001 of node 0");
    assert!(
        traps[0].contains(&first) && traps[1].contains(write),
        "{traps:?}"
    );
    assert!(!a.is_set(never));
}

/// A block on its way to main memory when its event is primed again has no effect on polling or
/// blocking processes.
#[test]
fn a_copy_of_an_earlier_round() {
    for how in [WaitMode::Poll, WaitMode::Block] {
        let (mut cluster, [node]) = start(&four_nodes());
        let event = node.event(1);
        let [seen, noted] = logs();
        let process = node.clone();
        cluster.spawn("waits", async move {
            process.set(event);
            // It is set, and its copy under way.
            process.sleep(COMMAND + Time::from_ns(300)).await;
            assert!(!process.is_set(event));
            process.prime(event, 1);
            process.wait_by(event, how).await;
            noted.note(process.now());
        });
        cluster.spawn("sets", async move {
            node.sleep(us(50)).await;
            node.set(event);
        });
        cluster.run().expect("all ends");
        assert!(seen.borrow()[0] > us(50), "{how:?}");
    }
}

/// Any process in the job sets another's event; an event that has been freed, or never was, is a
/// fault.
#[test]
fn remote_events() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let event = b.event(2);
    let at = b.event_address(event).unwrap();
    let waits = b.clone();
    cluster.spawn("waits", async move { waits.wait(event).await });
    cluster.spawn("sets", async move {
        a.notify(event).await.expect("it is there");
        let zero = |to| Dma::new(at, to, Bytes::ZERO);
        let here = a.at(ElanAddr::NOWHERE);
        let put = |event| Dma::new(here, event, Bytes::ZERO).notify_at(event);
        a.dma(put(at)).await.expect("it is there");
        b.wait(event).await;
        b.free_event(event);
        assert!(a.dma(put(at)).await.is_err());
        assert!(a.notify(event).await.is_err());
        let other = b.event(1);
        assert_eq!(b.event_address(other), Some(at), "the place is used again");
        assert!(a.dma(zero(at)).await.is_err(), "it names no end of its own");
        a.dma(put(at)).await.expect("there is one again");
        b.wait(other).await;
    });
    cluster.run().expect("all ends");
}

/// More events than a page holds; each has its own address.
#[test]
fn many_events() {
    let (_, [node]) = start(&four_nodes());
    let thousand = || -> BTreeMap<Option<Address>, EventId> {
        let events = (0..1000).map(|_| node.event(1));
        events
            .map(|event| (node.event_address(event), event))
            .collect()
    };
    let events = thousand();
    assert!(events.len() == 1000 && !events.contains_key(&None));
    for &event in events.values() {
        node.free_event(event);
        assert_eq!(node.event_address(event), None);
    }
    assert!(
        thousand().keys().eq(events.keys()),
        "the places are used again"
    );
    // A place that the program chose stays the program's.
    let room = node.allocate(Placement::Adapter, Bytes::new(64));
    let chosen = room.start().elan;
    node.free_event(node.event_at(chosen, 1, Action::Copy).unwrap());
    let next = node.event_address(node.event(1)).unwrap();
    assert_ne!(next.elan, chosen);
}

/// A process's events are closed to the others on its node.
#[test]
#[should_panic(expected = "the event belongs to another process")]
fn events_of_another_process() {
    let (cluster, [node]) = start(&four_nodes());
    let event = node.event(1);
    let other = node.attach(cluster.capability()).unwrap();
    other.set(event);
}
