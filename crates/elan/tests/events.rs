//! Events: counts, priming, who waits, and what occurrences beyond the count do.

mod common;

use common::{cluster, four_nodes, log};
use elan::{Cluster, Dma, EventId, Node, Placement};
use units::{Bytes, Time};

/// A process that sends a notification at each of some times, one after the other.
fn notify_at(cluster: &mut Cluster, from: u32, event: EventId, times: &[Time]) {
    let (a, b) = (cluster.node(from), cluster.node(event.node()));
    let times = times.to_vec();
    cluster.spawn(format!("node {from} notifies"), async move {
        let here = a.reserve(Placement::Adapter, Bytes::ZERO);
        let there = b.reserve(Placement::Adapter, Bytes::ZERO);
        for at in times {
            a.sleep_until(at).await;
            let dma = Dma::new(here.start(), there.start(), Bytes::ZERO).notify(event);
            a.dma(dma).await.expect("nothing is wrong with it");
        }
    });
}

/// What a notification takes at most, far below the distance of those in these tests.
const SHORT: Time = Time::from_us(3);

fn us(us: u64) -> Time {
    Time::from_us(us)
}

/// It occurs when the notification has arrived: within `SHORT` of its posting.
fn assert_soon_after(at: Time, posted: Time) {
    assert!(
        posted < at && at < posted + SHORT,
        "{at} is not soon after {posted}"
    );
}

async fn note_when_set(node: Node, event: EventId, seen: common::Log<Time>) {
    node.wait(event).await;
    seen.note(node.now());
}

/// The third of three, from whomever, sets an event of count 3.
#[test]
fn a_count_of_three() {
    let mut cluster = cluster(&four_nodes());
    let node = cluster.node(0);
    let event = node.event(3);
    notify_at(&mut cluster, 1, event, &[us(10)]);
    notify_at(&mut cluster, 2, event, &[us(20), us(40)]);
    notify_at(&mut cluster, 3, event, &[us(30)]);
    let seen = log();
    cluster.spawn("waits", note_when_set(node, event, seen.clone()));
    cluster.run().expect("all ends");
    assert_soon_after(seen.borrow()[0], us(30));
}

/// All who wait go on at the same moment, in the order in which they began to wait; who comes later goes on at once.
#[test]
fn several_wait() {
    let mut cluster = cluster(&four_nodes());
    let event = cluster.node(0).event(1);
    notify_at(&mut cluster, 1, event, &[us(10)]);
    let seen = log();
    for number in 0..4 {
        let (node, seen) = (cluster.node(0), seen.clone());
        cluster.spawn(format!("waits {number}"), async move {
            // They begin to wait in the order 3, 2, 1; number 0 after it is set.
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

/// Occurrences of a set event are lost: after priming it waits for new ones.
#[test]
fn occurrences_beyond_the_count() {
    let mut cluster = cluster(&four_nodes());
    let event = cluster.node(0).event(1);
    notify_at(
        &mut cluster,
        1,
        event,
        &[us(10), us(20), us(30), us(60), us(70)],
    );
    let (node, seen) = (cluster.node(0), log());
    let noted = seen.clone();
    cluster.spawn("waits", async move {
        node.sleep_until(us(50)).await;
        node.wait(event).await;
        noted.note(node.now());
        node.prime(event, 2);
        node.wait(event).await;
        noted.note(node.now());
    });
    cluster.run().expect("all ends");
    assert_eq!(seen.borrow()[0], us(50));
    assert_soon_after(seen.borrow()[1], us(70));
    // Only what sets it is copied to main memory: a turn, the overhead and 64 bytes; then a copy without a turn.
    let copy = Time::from_ps(77_000 + 242_425);
    assert_eq!(cluster.node(0).bus_busy(), Time::from_ns(80) + copy * 2);
}

/// Priming an event that has counted down in part starts anew.
#[test]
fn priming_starts_anew() {
    let mut cluster = cluster(&four_nodes());
    let event = cluster.node(0).event(2);
    notify_at(&mut cluster, 1, event, &[us(10), us(30), us(50)]);
    let (node, seen) = (cluster.node(0), log());
    let noted = seen.clone();
    cluster.spawn("waits", async move {
        node.sleep_until(us(20)).await;
        node.prime(event, 2);
        note_when_set(node, event, noted).await;
    });
    cluster.run().expect("all ends");
    assert_soon_after(seen.borrow()[0], us(50));
}

/// An event that waits for nothing is set.
#[test]
fn a_count_of_zero() {
    let mut cluster = cluster(&four_nodes());
    let node = cluster.node(0);
    let event = node.event(0);
    cluster.spawn("waits", async move {
        node.wait(event).await;
        node.prime(event, 0);
        node.wait(event).await;
    });
    cluster.run().expect("nobody waits");
}

/// A notification says that all bytes are stored, whatever the placement and however slow the bus of the destination.
#[test]
fn a_notification_follows_the_bytes() {
    for (from, to) in [
        (Placement::Adapter, Placement::Adapter),
        (Placement::Adapter, Placement::Main),
        (Placement::Main, Placement::Adapter),
        (Placement::Main, Placement::Main),
    ] {
        for length in [1, 64, 320, 321, 5000] {
            let mut config = four_nodes();
            config.bus.burst_overhead = Time::from_ns(500);
            let mut cluster = cluster(&config);
            let (a, b) = (cluster.node(0), cluster.node(1));
            let size = Bytes::new(length);
            let (source, target) = (a.allocate(from, size), b.allocate(to, size));
            let data = common::pattern(7, length);
            a.write(source, &data);
            let event = b.event(1);
            cluster.spawn("sends", async move {
                let dma = Dma::new(source.start(), target.start(), size).notify(event);
                a.dma(dma).await.expect("nothing is wrong with it");
            });
            let seen = log();
            let noted = seen.clone();
            cluster.spawn("waits", async move {
                b.wait(event).await;
                noted.note(b.read(target).expect("it holds bytes"));
            });
            cluster.run().expect("all ends");
            assert_eq!(
                *seen.borrow()[0],
                *data,
                "{length} bytes from {from:?} to {to:?}"
            );
        }
    }
}
