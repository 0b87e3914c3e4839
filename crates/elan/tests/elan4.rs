//! An Elan4's parts, worked out on paper and met to the picosecond; these parts have no other
//! effect.

use crate::common;

use common::{bursts, flits, four_nodes, logs, pattern, run_process, start};
use elan::{AdapterPart, Config, Dma, Node, Placement, ProcessQueueId};
use units::{Bytes, Time};

const STEN_START: Time = Time::from_ps(33_013);
const SPLIT: Time = Time::from_ps(411_017);

fn elan4() -> Config {
    with_engines(2)
}

fn with_engines(count: u32) -> Config {
    let parts = vec![
        AdapterPart::Sten { start: STEN_START },
        AdapterPart::DmaEngines { count },
        AdapterPart::SplitReads { latency: SPLIT },
    ];
    Config {
        parts,
        ..four_nodes()
    }
}

/// From the moment that a packet can enter the fabric to its last flit at a node on the same
/// switch.
fn travel(config: &Config, ready: Time, flits: u32) -> Time {
    let injected = ready.div_ceil(config.cycle);
    let hops = u64::from(config.fabric.hop_delay[0]) * 2;
    config.cycle * (injected + hops + u64::from(flits) - 1)
}

/// An empty message that sets an event: one transfer for the command, no DMA queue, no `dma_start`.
#[test]
fn a_short_message() {
    let config = elan4();
    let (mut cluster, [a, b]) = start(&config);
    let found = run_process(&mut cluster, async move {
        let [from, to] = [&a, &b].map(|node| node.reserve(Placement::Adapter, Bytes::new(64)));
        let arrived = b.event(1);
        let dma = Dma::new(from.start(), to.start(), Bytes::new(40)).notify(arrived);
        let sent = a.send_short(dma);
        b.wait(arrived).await;
        let seen = b.now();
        sent.await.expect("both buffers are there");
        seen
    });
    let (adapter, bus) = (&config.adapter, &config.bus);
    let ready = bursts(bus, 8 + 40) + adapter.command + STEN_START;
    // An 8-byte header, a transaction with 10 more, 2 bytes a flit.
    let arrival = travel(&config, ready, (8 + 10 + 40) / 2);
    let copied = bus.turnaround + bursts(bus, 64);
    let seen = arrival + adapter.input + adapter.event + copied + adapter.poll;
    assert_eq!(found, seen);
}

/// Payload from main memory: a request on the bus, `split` in which the bus is free, and the data.
#[test]
fn a_split_read() {
    for length in [1, 64, 300] {
        let config = elan4();
        let (mut cluster, [a, b]) = start(&config);
        let sender = a.clone();
        let found = run_process(&mut cluster, async move {
            let size = Bytes::new(length);
            let from = sender.reserve(Placement::Main, size).start();
            let to = b.reserve(Placement::Adapter, size).start();
            let arrived = b.event(1);
            let sent = sender.dma(Dma::new(from, to, size).notify(arrived));
            b.wait(arrived).await;
            let seen = b.now();
            sent.await.expect("both buffers are there");
            seen
        });
        let (adapter, bus) = (&config.adapter, &config.bus);
        let command = bursts(bus, 8);
        let request = bus.turnaround + bursts(bus, 8);
        let data = bus.turnaround + bursts(bus, length);
        let ready = command + adapter.command + adapter.dma_start + request + SPLIT + data;
        let arrival = travel(&config, ready, flits(length) as u32);
        let copied = bus.turnaround + bursts(bus, 64);
        let seen = arrival + adapter.input + adapter.event + copied + adapter.poll;
        assert_eq!(found, seen, "{length} bytes");
        // The sender's bus has also carried the block that reports the end; it was free during the
        // split.
        assert_eq!(a.bus_busy(), command + request + data + copied);
    }
}

/// How long a short DMA takes that is posted behind a long DMA.
fn behind_a_long_one(engines: u32) -> Time {
    let (mut cluster, [a, b]) = start(&with_engines(engines));
    let (short, long) = run_process(&mut cluster, async move {
        let put = |kilobytes| {
            let size = Bytes::from_kb(kilobytes);
            let [from, to] = [&a, &b].map(|node| node.reserve(Placement::Adapter, size));
            a.dma(Dma::new(from.start(), to.start(), size))
        };
        let long = put(256);
        put(1).await.expect("the buffers are there");
        let short = a.now();
        long.await.expect("the buffers are there");
        (short, a.now())
    });
    assert!(short < long);
    short
}

/// With one engine the short DMA waits for a time slice to end, with two only for its share of the
/// link.
#[test]
fn two_engines() {
    let slice = elan4().adapter.time_slice;
    let [one, two] = [1, 2].map(behind_a_long_one);
    assert!(one > slice, "{one} with a slice of {slice}");
    assert!(
        one < slice + Time::from_us(15),
        "{one} with a slice of {slice}"
    );
    assert!(two < slice / 2, "{two} with a slice of {slice}");
}

fn send(a: &Node, queue: ProcessQueueId, number: u64) -> elan::Transfer {
    let bytes = pattern(number, 40);
    let source = a.allocate(Placement::Adapter, Bytes::new(40));
    a.write(source, &bytes);
    a.send_short(Dma::queue(source.start(), queue.start(), Bytes::new(40)))
}

/// A STEN command is no descriptor: it needs no place in the DMA queue, which is full, and is lost
/// no more than others.
#[test]
fn a_full_dma_queue_refuses_no_short_message() {
    let mut config = with_engines(1);
    config.adapter.queue = 1;
    let (mut cluster, [a, b]) = start(&config);
    let long = Bytes::new(100_000);
    let [from, to] = [&a, &b].map(|node| node.reserve(Placement::Adapter, long));
    let queue = b.queue(4, Bytes::new(64), None).unwrap();
    let outcomes = run_process(&mut cluster, async move {
        let dmas = [(); 3].map(|()| a.dma(Dma::new(from.start(), to.start(), long)));
        a.sleep(Time::from_us(20)).await;
        let short = send(&a, queue, 7).await;
        let message = b.take(queue).await.expect("it has come");
        assert_eq!(message[..], pattern(7, 40));
        let mut outcomes = vec![short];
        for dma in dmas {
            outcomes.push(dma.await);
        }
        outcomes
    });
    assert_eq!(outcomes[0], Ok(()));
    let full = |one: &&Result<(), _>| matches!(one, Err(elan::DmaError::QueueFull { .. }));
    assert_eq!(outcomes.iter().filter(full).count(), 1, "{outcomes:?}");
}

/// Short messages into a two-slot queue: further ones are sent again until there is room, and no
/// message overtakes another.
#[test]
fn short_messages_stay_in_order() {
    let mut config = elan4();
    config.adapter.trap_delay = Time::from_us(5);
    let (mut cluster, [a, b]) = start(&config);
    let queue = b.queue(2, Bytes::new(64), None).unwrap();
    let sender = a.clone();
    cluster.spawn("sends", async move {
        let sent: Vec<_> = (0..9).map(|number| send(&sender, queue, number)).collect();
        for sent in sent {
            sent.await.expect("there is room in the end");
        }
    });
    let [found, noted] = logs();
    cluster.spawn("takes", async move {
        while noted.borrow().len() < 9 {
            b.sleep(Time::from_us(7)).await;
            if let Some(message) = b.take(queue).await {
                noted.note(message);
            }
        }
    });
    cluster.run().expect("all ends");
    for (number, found) in found.borrow().iter().enumerate() {
        assert_eq!(found[..], pattern(number as u64, 40));
    }
    assert_eq!(a.trap(), None);
    assert!(cluster.packets() > 9, "some were discarded");
    cluster.check_conservation();
}

/// A message that cannot be stored is a trap, and an error for the process that awaits it.
#[test]
fn a_short_message_to_nowhere() {
    let (mut cluster, [a, b]) = start(&elan4());
    let queue = b.queue(2, Bytes::new(64), None).unwrap();
    b.free_queue(queue);
    let sender = a.clone();
    run_process(&mut cluster, async move {
        let error = send(&sender, queue, 0).await.unwrap_err();
        assert_eq!(sender.trap(), Some(error));
    });
}
