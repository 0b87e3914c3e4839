//! The DMA engine: time slices, refused packets, priorities, a message to oneself, many DMAs at
//! once.

use crate::common;

use common::{Log, cluster, four_nodes, logs, node_of, run_to, sixteen_nodes};
use elan::{Cluster, Config, Dma, Placement, Priority};
use units::{Bytes, Time};

/// A process's DMA between two nodes, and when it is posted.
struct Put {
    ends: (u32, u32),
    placements: (Placement, Placement),
    at: Time,
    length: Bytes,
    priority: Priority,
}

/// A DMA between adapter memories that is posted immediately, with low priority.
fn put(ends: (u32, u32), length: Bytes) -> Put {
    Put {
        ends,
        placements: (Placement::Adapter, Placement::Adapter),
        at: Time::ZERO,
        length,
        priority: Priority::Low,
    }
}

impl Put {
    /// Starts the DMA's process; the latency, until the source knows, is logged.
    fn spawn(self, cluster: &mut Cluster) -> Log<Time> {
        let (at, length) = (self.at, self.length);
        let (a, b) = (node_of(cluster, self.ends.0), node_of(cluster, self.ends.1));
        let from = a.reserve(self.placements.0, length).start();
        let to = b.reserve(self.placements.1, length).start();
        let [latency, noted] = logs();
        cluster.spawn(format!("{:?}", self.ends), async move {
            a.sleep_until(at).await;
            let dma = Dma::new(from, to, length).priority(self.priority);
            a.dma(dma).await.expect("nothing is wrong with it");
            noted.note(a.now() - at);
        });
        latency
    }
}

/// Latency of a 64-byte DMA that is posted at some time after a long one on the same node.
fn behind_a_long_one(slice: Time, long: Option<Bytes>, at: Time) -> Time {
    let mut config = four_nodes();
    config.adapter.time_slice = slice;
    let mut cluster = cluster(&config);
    if let Some(long) = long {
        put((0, 1), long).spawn(&mut cluster);
    }
    let short = put((0, 2), Bytes::new(64));
    let latency = Put { at, ..short }.spawn(&mut cluster);
    cluster.run().expect("all ends");
    latency.take()
}

/// A short DMA waits for no more than the long DMA's time slice, and the prepared packets.
#[test]
fn a_time_slice_bounds_the_wait() {
    let long = Bytes::from_kb(256);
    // A 189-flit packet and two tokens, and the worst gap between packets.
    let packet = Time::from_ns(5 * (189 + 2));
    for slice in [1, 20, 128, 400].map(Time::from_us) {
        for at in [1, 20, 33, 100, 271].map(Time::from_us) {
            let alone = behind_a_long_one(slice, None, at);
            let wait = behind_a_long_one(slice, Some(long), at) - alone;
            // The long DMA has its engine alone: after `slice` it yields to the first that comes.
            let rest = slice.saturating_sub(at);
            assert!(wait <= rest + packet * 4, "slice {slice}, at {at}: {wait}");
            assert!(wait > rest, "slice {slice}, at {at}: {wait}");
        }
    }
    // Without slices the short DMA waits for the rest of the long DMA, 800 us in all.
    let at = Time::from_us(100);
    assert!(behind_a_long_one(Time::from_secs(10), Some(long), at) > Time::from_us(650));
}

/// A DMA waits for the previous one's slice as long on a crowded network as on an idle one, where
/// the slice sends more.
#[test]
fn a_slice_is_a_time_on_a_crowded_network() {
    let mut config = four_nodes();
    let slice = Time::from_us(100);
    config.adapter.time_slice = slice;
    for crowd in [0, 2] {
        let mut cluster = cluster(&config);
        for from in 2..2 + crowd {
            put((from, 1), Bytes::from_mb(1)).spawn(&mut cluster);
        }
        put((0, 1), Bytes::from_kb(256)).spawn(&mut cluster);
        // Alone a slice sends 33 KB.
        let second = put((0, 1), Bytes::from_kb(8)).spawn(&mut cluster);
        cluster.run().expect("all ends");
        let latency = second.take();
        // A packet among those of two others, and the own bytes, with a third of the link left for
        // them.
        let share = u64::from(crowd) + 1;
        let own = Time::from_us(25) * share;
        let most = slice + own + Time::from_us(20);
        assert!(
            latency > slice && latency < most,
            "{crowd} others: {latency}"
        );
    }
}

/// A refused packet goes out again after `retry_delay`, `retries` times, from then on after
/// `trap_delay`.
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
    for (attempts, &done) in (1..).zip(&refused) {
        let mut cluster = cluster(&config);
        let latency = put((0, 1), Bytes::new(64)).spawn(&mut cluster);
        let node = node_of(&cluster, 1);
        node.accept(false);
        cluster.spawn("accepts", async move {
            node.sleep_until(done - round).await;
            node.accept(true);
        });
        for (earlier, &at) in (0..).zip(&refused).take_while(|(_, at)| **at < done) {
            run_to(&mut cluster, at - Time::from_ps(1));
            assert_eq!(cluster.packets(), earlier);
            run_to(&mut cluster, at);
            assert_eq!(cluster.packets(), earlier + 1);
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

/// Every node posts 100 DMAs at once, to all in turn: all arrive, and packets and flits are
/// conserved all the time.
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
    let lengths = (0..count as u64).map(|index| index * 10);
    let packets = lengths.clone().map(|length| length.div_ceil(320).max(1));
    assert_eq!(cluster.packets(), 16 * packets.sum::<u64>());
    let stored = (0..16).map(|node| node_of(&cluster, node).stored());
    assert_eq!(stored.sum::<Bytes>(), Bytes::new(16 * lengths.sum::<u64>()));
}

/// Latency of a short DMA from node 3 to node 0, to which nodes 1 and 2 send as much as they can.
fn into_the_crowd(config: &Config, priority: Priority) -> (Time, String) {
    let mut cluster = cluster(config);
    for from in [1, 2] {
        for _ in 0..2 {
            put((from, 0), Bytes::from_kb(64)).spawn(&mut cluster);
        }
    }
    let late = Put {
        at: Time::from_us(50),
        priority,
        ..put((3, 0), Bytes::new(1600))
    };
    let latency = late.spawn(&mut cluster);
    cluster.run().expect("all ends");
    (latency.take(), cluster.digest())
}

/// A high-priority DMA overtakes; on a machine without priorities it is like any other.
#[test]
fn high_priority() {
    let mut config = four_nodes();
    let (low, _) = into_the_crowd(&config, Priority::Low);
    let (high, _) = into_the_crowd(&config, Priority::High);
    assert!(high < low, "high {high}, low {low}");
    config.fabric.priorities = false;
    let [low, high] = [Priority::Low, Priority::High].map(|one| into_the_crowd(&config, one));
    assert_eq!(low, high);
}

/// The engine reads no more than two packets ahead: a command behind a long DMA from main memory is
/// not kept off the bus.
#[test]
fn the_engine_reads_a_little_ahead() {
    let latency = |long: bool| {
        let mut config = four_nodes();
        config.adapter.time_slice = Time::from_ns(1);
        let mut cluster = cluster(&config);
        if long {
            let placements = (Placement::Main, Placement::Adapter);
            let long = put((0, 1), Bytes::from_kb(256));
            Put { placements, ..long }.spawn(&mut cluster);
        }
        let (at, short) = (Time::from_us(200), put((0, 2), Bytes::new(64)));
        let latency = Put { at, ..short }.spawn(&mut cluster);
        cluster.run().expect("all ends");
        latency.take()
    };
    // A packet takes 5 bursts of 319.425 ns: two each for the slice's end, the command and the
    // start.
    assert!(latency(true) - latency(false) < Time::from_ns(1600) * 6);
}

/// Packets that wait for an input buffer get one in the order in which they came.
#[test]
fn first_come_first_stored() {
    let mut config = four_nodes();
    config.adapter.input_buffers = 1;
    config.bus.burst_overhead = Time::from_us(4);
    let mut cluster = cluster(&config);
    let started = [(2, 0), (3, 2), (1, 4)].map(|(from, at)| {
        let one = Put {
            at: Time::from_us(at),
            placements: (Placement::Adapter, Placement::Main),
            ..put((from, 0), Bytes::new(320))
        };
        (one.at, one.spawn(&mut cluster))
    });
    cluster.run().expect("all ends");
    let done = started.map(|(at, latency)| at + latency.take());
    assert!(done.is_sorted(), "{done:?}");
}
