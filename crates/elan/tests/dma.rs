//! The DMA engine: time slices, refused packets, priorities, a message to oneself, many at once.

mod common;

use common::{cluster, four_nodes, logs, node_of, pattern, run_to, sixteen_nodes};
use elan::{Cluster, Config, Dma, Placement, Priority};
use units::{Bytes, Time};

/// A process that posts a DMA of `length` bytes at a time; its latency, until its source knows, is logged.
fn put_at(
    cluster: &mut Cluster,
    (from, to): (u32, u32),
    at: Time,
    length: Bytes,
    priority: Priority,
) -> common::Log<Time> {
    let placements = (Placement::Adapter, Placement::Adapter);
    put_between(cluster, (from, to), placements, at, length, priority)
}

/// The same with a choice of memories.
fn put_between(
    cluster: &mut Cluster,
    (from, to): (u32, u32),
    placements: (Placement, Placement),
    at: Time,
    length: Bytes,
    priority: Priority,
) -> common::Log<Time> {
    let (a, b) = (node_of(cluster, from), node_of(cluster, to));
    let (source, target) = (
        a.reserve(placements.0, length),
        b.reserve(placements.1, length),
    );
    let [latency, noted] = logs();
    cluster.spawn(format!("{from} to {to}"), async move {
        a.sleep_until(at).await;
        let dma = Dma::new(source.start(), target.start(), length).priority(priority);
        a.dma(dma).await.expect("nothing is wrong with it");
        noted.note(a.now() - at);
    });
    latency
}

/// Latency of a DMA of 64 bytes that is posted at some time after a long one of the same node.
fn behind_a_long_one(slice: Bytes, long: Option<Bytes>, at: Time) -> Time {
    let mut config = four_nodes();
    config.adapter.time_slice = slice;
    let mut cluster = cluster(&config);
    if let Some(long) = long {
        put_at(&mut cluster, (0, 1), Time::ZERO, long, Priority::Low);
    }
    let latency = put_at(&mut cluster, (0, 2), at, Bytes::new(64), Priority::Low);
    cluster.run().expect("all ends");
    latency.borrow()[0]
}

/// A short DMA waits for no more than the time slice of the long one, and the packets that are prepared.
#[test]
fn a_time_slice_bounds_the_wait() {
    let long = Bytes::from_kb(256);
    // A packet of 189 flits and two tokens, and what lies between packets at worst.
    let packet = Time::from_ns(5 * (189 + 2));
    for slice in [640, 8192, 32_768].map(Bytes::new) {
        for at in [1, 20, 33, 100, 271].map(Time::from_us) {
            let alone = behind_a_long_one(slice, None, at);
            let wait = behind_a_long_one(slice, Some(long), at) - alone;
            let packets = slice.div_ceil(Bytes::new(320)) + 4;
            assert!(wait <= packet * packets, "slice {slice}, at {at}: {wait}");
            assert!(wait > Time::ZERO);
        }
    }
    // Without slices it waits for the rest of the long one, 800 us in all.
    let at = Time::from_us(100);
    assert!(behind_a_long_one(Bytes::from_mb(1), Some(long), at) > Time::from_us(650));
}

/// A refused packet goes out again after `retry_delay`, `retries` times, from then on after `trap_delay`.
#[test]
fn a_refused_packet_is_sent_again() {
    let mut config = four_nodes();
    let retries = 3;
    config.adapter.retries = retries;
    config.adapter.retry_delay = Time::from_us(2);
    config.adapter.trap_delay = Time::from_us(70);
    // 64 bytes are 41 flits. There and back: 2 links each way, and the turnaround.
    let round = config.cycle * (22 + 40) + config.adapter.turnaround + config.cycle * 22;
    let start =
        config.cycle * (Time::from_ps(77_000 + 30_304 + 200_000 + 540_000).div_ceil(config.cycle));
    let mut refused = vec![start + round];
    for number in 0..7 {
        let delay = if number < retries {
            config.adapter.retry_delay
        } else {
            config.adapter.trap_delay
        };
        refused.push(refused[number as usize] + delay + round);
    }

    // The destination accepts just before the last of these attempts arrives.
    for (attempts, &done) in refused
        .iter()
        .enumerate()
        .map(|(index, done)| (index as u64 + 1, done))
    {
        let mut cluster = cluster(&config);
        let latency = put_at(
            &mut cluster,
            (0, 1),
            Time::ZERO,
            Bytes::new(64),
            Priority::Low,
        );
        let node = node_of(&cluster, 1);
        node.accept(false);
        cluster.spawn("accepts", async move {
            node.sleep_until(done - round).await;
            node.accept(true);
        });
        for (earlier, &at) in refused.iter().enumerate().take_while(|(_, at)| **at < done) {
            run_to(&mut cluster, at - Time::from_ps(1));
            assert_eq!(cluster.packets(), earlier as u64);
            cluster.run_until(at).expect("nothing stops it");
            assert_eq!(cluster.packets(), earlier as u64 + 1);
            assert_eq!(node_of(&cluster, 1).stored(), Bytes::ZERO);
            cluster.check_conservation();
        }
        cluster.run().expect("all ends");
        assert_eq!(cluster.packets(), attempts);
        assert_eq!(node_of(&cluster, 1).stored(), Bytes::new(64));
        // Event, turn, block copy, poll.
        let known = Time::from_ps(200_000 + 80_000 + 77_000 + 242_425 + 200_000);
        assert_eq!(*latency.borrow(), [done + known], "{attempts} attempts");
    }
}

/// Long messages to a node that accepts now and then arrive intact, once; others are served meanwhile.
#[test]
fn long_messages_survive_refusals() {
    for (from, to) in [
        (Placement::Adapter, Placement::Main),
        (Placement::Main, Placement::Adapter),
    ] {
        let mut config = four_nodes();
        config.adapter.trap_delay = Time::from_us(30);
        let mut cluster = cluster(&config);
        let size = Bytes::new(10_000);
        let moody = node_of(&cluster, 0);
        let mut messages = Vec::new();
        for number in 1..4 {
            for target in [0, number % 3 + 1] {
                let (a, b) = (node_of(&cluster, number), node_of(&cluster, target));
                let (source, target) = (a.allocate(from, size), b.allocate(to, size));
                let data = pattern(u64::from(number), 10_000);
                a.write(source, &data);
                let arrived = b.event(1);
                let waiting = b.clone();
                cluster.spawn(format!("from {number}"), async move {
                    let dma = Dma::new(source.start(), target.start(), size).notify(arrived);
                    a.dma(dma).await.expect("nothing is wrong with it");
                    waiting.wait(arrived).await;
                });
                messages.push((b, target, data));
            }
        }
        cluster.spawn("moody", async move {
            for _ in 0..20 {
                moody.accept(false);
                moody.sleep(Time::from_us(7)).await;
                moody.accept(true);
                moody.sleep(Time::from_us(3)).await;
            }
        });
        cluster.run().expect("all ends");
        for (node, region, data) in messages {
            assert_eq!(node.read(region).expect("it holds bytes")[..], data);
        }
        assert_eq!(
            (0..4)
                .map(|node| node_of(&cluster, node).stored())
                .sum::<Bytes>(),
            size * 6
        );
        assert!(cluster.packets() > 6 * 32, "some packets were refused");
        cluster.check_conservation();
    }
}

/// A message to oneself goes up to the first switch and back.
#[test]
fn a_message_to_oneself() {
    for (from, to) in [
        (Placement::Adapter, Placement::Adapter),
        (Placement::Main, Placement::Main),
    ] {
        let mut cluster = cluster(&four_nodes());
        let node = node_of(&cluster, 2);
        let size = Bytes::new(3000);
        let (source, target) = (node.allocate(from, size), node.allocate(to, size));
        node.write(source, &pattern(3, 3000));
        let arrived = node.event(1);
        let process = node.clone();
        cluster.spawn("talks to itself", async move {
            let dma = Dma::new(source.start(), target.start(), size).notify(arrived);
            process.dma(dma).await.expect("nothing is wrong with it");
            process.wait(arrived).await;
        });
        cluster.run().expect("all ends");
        assert_eq!(
            node.read(target).expect("it holds bytes")[..],
            pattern(3, 3000)
        );
        let tree = cluster.config().fabric.topology;
        let node = fabric::Place::new(2);
        let used: Vec<_> = fabric::LinkId::all(tree.links())
            .filter(|&link| cluster.link(link).packets > 0)
            .collect();
        let mut expected = [tree.injection(node), tree.ejection(node)];
        expected.sort_unstable();
        assert_eq!(used, expected);
    }
}

/// Every node posts 100 DMAs at once, to all in turn: all arrive, and packets and flits are conserved all the time.
#[test]
fn many_at_once() {
    let mut cluster = cluster(&sixteen_nodes());
    let count = 100;
    for number in 0..16 {
        let node = node_of(&cluster, number);
        let targets: Vec<_> = (0..16)
            .map(|to| node_of(&cluster, to).reserve(Placement::Adapter, Bytes::from_kb(4)))
            .collect();
        cluster.spawn(format!("node {number}"), async move {
            let source = node.reserve(Placement::Adapter, Bytes::from_kb(4));
            let dma = |index: usize| {
                let to = targets[(index + number as usize) % 16];
                Dma::new(source.start(), to.start(), Bytes::new(index as u64 * 10))
            };
            let transfers: Vec<_> = (0..count).map(|index| node.dma(dma(index))).collect();
            for transfer in transfers {
                transfer.await.expect("nothing is wrong with it");
            }
        });
    }
    for step in 1..200 {
        run_to(&mut cluster, Time::from_us(step * 3));
        cluster.check_conservation();
    }
    cluster.run().expect("all ends");
    cluster.check_conservation();
    let packets: u64 = (0..count as u64)
        .map(|index| (index * 10).div_ceil(320).max(1))
        .sum();
    assert_eq!(cluster.packets(), 16 * packets);
    let bytes: u64 = (0..count as u64).map(|index| index * 10).sum();
    assert_eq!(
        (0..16)
            .map(|node| node_of(&cluster, node).stored())
            .sum::<Bytes>(),
        Bytes::new(16 * bytes)
    );
}

/// Latency of a short DMA of node 3 to node 0, into which nodes 1 and 2 pour as much as goes.
fn into_the_crowd(config: &Config, priority: Priority) -> (Time, String) {
    let mut cluster = cluster(config);
    for from in [1, 2] {
        for _ in 0..2 {
            put_at(
                &mut cluster,
                (from, 0),
                Time::ZERO,
                Bytes::from_kb(64),
                Priority::Low,
            );
        }
    }
    let latency = put_at(
        &mut cluster,
        (3, 0),
        Time::from_us(50),
        Bytes::new(1600),
        priority,
    );
    cluster.run().expect("all ends");
    (latency.borrow()[0], cluster.digest())
}

/// A DMA of high priority overtakes; where the machine has no priorities it is like any other.
#[test]
fn high_priority() {
    let mut config = four_nodes();
    let (low, _) = into_the_crowd(&config, Priority::Low);
    let (high, _) = into_the_crowd(&config, Priority::High);
    assert!(high < low, "high {high}, low {low}");
    config.fabric.priorities = false;
    assert_eq!(
        into_the_crowd(&config, Priority::Low),
        into_the_crowd(&config, Priority::High)
    );
}

/// The engine reads no more than two packets ahead: a command behind a long DMA from main memory is not kept off the bus.
#[test]
fn the_engine_reads_a_little_ahead() {
    let latency = |long: bool| {
        let mut cluster = cluster(&four_nodes());
        if long {
            let placements = (Placement::Main, Placement::Adapter);
            let long = Bytes::from_kb(256);
            put_between(
                &mut cluster,
                (0, 1),
                placements,
                Time::ZERO,
                long,
                Priority::Low,
            );
        }
        let short = (Time::from_us(100), Bytes::new(64));
        let latency = put_at(&mut cluster, (0, 2), short.0, short.1, Priority::Low);
        cluster.run().expect("all ends");
        latency.borrow()[0]
    };
    // A packet takes 5 bursts of 319.425 ns. 26 packets of a time slice, and two each for the command and the start.
    assert!(latency(true) - latency(false) < Time::from_ns(1600) * (26 + 4));
}

/// Packets that wait for an input buffer get one in the order in which they came.
#[test]
fn first_come_first_stored() {
    let mut config = four_nodes();
    config.adapter.input_buffers = 1;
    config.bus.burst_overhead = Time::from_us(4);
    let mut cluster = cluster(&config);
    let placements = (Placement::Adapter, Placement::Main);
    let done: Vec<_> = [2, 3, 1]
        .into_iter()
        .enumerate()
        .map(|(index, from)| {
            let at = Time::from_us(index as u64 * 2);
            let length = Bytes::new(320);
            (
                at,
                put_between(
                    &mut cluster,
                    (from, 0),
                    placements,
                    at,
                    length,
                    Priority::Low,
                ),
            )
        })
        .collect();
    cluster.run().expect("all ends");
    let done: Vec<_> = done
        .into_iter()
        .map(|(at, latency)| at + latency.borrow()[0])
        .collect();
    assert!(done.is_sorted(), "{done:?}");
}
