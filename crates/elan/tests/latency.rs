//! Times of a lone DMA, worked out on paper and met to the picosecond. The only rounding is to
//! whole cycles, where a packet and where an acknowledgement enters the fabric.

use crate::common;

use common::{
    PLACEMENTS, bursts, cluster, flits, logs, machine, node_of, odd_machine, run_process, start,
};
use elan::{Config, Dma, Node, Placement};
use fabric::FatTree;
use units::{Bytes, Time};

/// The published machine and the odd one; both have three levels.
fn machines() -> [Config; 2] {
    let published = machine(FatTree::quaternary(3).expect("64 nodes"));
    [published, odd_machine()]
}

/// Hop delays from node 0 to the nearest node at each distance.
fn paths(config: &Config) -> [(u32, Vec<u32>); 3] {
    let hop = &config.fabric.hop_delay;
    [
        (1, vec![hop[0], hop[0]]),
        (4, vec![hop[0], hop[1], hop[1], hop[0]]),
        (16, vec![hop[0], hop[1], hop[2], hop[2], hop[1], hop[0]]),
    ]
}

/// When the destination's process and the source's process see the end of a one-packet DMA. `first`
/// is whether the two nodes' buses are unused: a bus starts in the adapter's direction, later it
/// has last served the main memory.
fn by_hand(
    config: &Config,
    path: &[u32],
    (posted, first): (Time, bool),
    (from, to): (Placement, Placement),
    length: u64,
) -> (Time, Time) {
    let (adapter, bus) = (&config.adapter, &config.bus);
    let turn_if = |turns: bool| if turns { bus.turnaround } else { Time::ZERO };
    let travel: u64 = path.iter().map(|&hop| u64::from(hop)).sum();

    let command = turn_if(!first) + bursts(bus, 8) + adapter.command;
    let crosses = |memory, bytes| bursts(bus, if memory == Placement::Main { bytes } else { 0 });
    let read = crosses(from, length);
    let injected = (posted + command + adapter.dma_start + read).div_ceil(config.cycle);
    let delivered = injected + travel + flits(length) - 1;
    let arrival = config.cycle * delivered;

    let writes = to == Placement::Main && length > 0;
    let write = turn_if(first && writes) + crosses(to, length);
    let copy = turn_if(first && !writes) + bursts(bus, 64);
    let seen = arrival + write + adapter.input + adapter.event + copy + adapter.poll;

    // The acknowledgement leaves when the packet has a buffer: it does not wait for the
    // destination's bus.
    let acknowledged = (arrival + adapter.turnaround).div_ceil(config.cycle) + travel;
    let copy = bus.turnaround + bursts(bus, 64);
    let completed = config.cycle * acknowledged + adapter.event + copy + adapter.poll;
    (seen, completed)
}

/// Posts a DMA from `a` to `b`; returns when `b` knows and when `a` knows.
async fn put(a: &Node, b: &Node, placements: (Placement, Placement), length: u64) -> (Time, Time) {
    let length = Bytes::new(length);
    let from = a.reserve(placements.0, length).start();
    let to = b.reserve(placements.1, length).start();
    let arrived = b.event(1);
    let transfer = a.dma(Dma::new(from, to, length).notify(arrived));
    // A separate process notes the events that `b` sees, whichever comes first.
    let ([seen, noted], waits) = (logs(), b.clone());
    b.spawn("waits", async move {
        waits.wait(arrived).await;
        noted.note(waits.now());
    });
    transfer.await.expect("the buffers are long enough");
    let completed = a.now();
    b.wait(arrived).await;
    (seen.take(), completed)
}

/// One-packet lengths, distances, placements, moments; a second DMA after the first finds the buses
/// turned.
#[test]
fn a_packet_alone() {
    for config in machines() {
        for (destination, path) in paths(&config) {
            for (from, to) in PLACEMENTS {
                for length in [0, 1, 64, 65, 319, 320] {
                    for start in [0, 1, 4_999, 5_000, 12_345_678] {
                        let mut cluster = cluster(&config);
                        let (a, b) = (node_of(&cluster, 0), node_of(&cluster, destination));
                        let starts = [Time::from_ps(start), Time::from_us(50)];
                        let results = run_process(&mut cluster, async move {
                            let mut results = Vec::new();
                            for posted in starts {
                                a.sleep_until(posted).await;
                                results.push(put(&a, &b, (from, to), length).await);
                            }
                            results
                        });
                        let expected = [(starts[0], true), (starts[1], false)]
                            .map(|round| by_hand(&config, &path, round, (from, to), length));
                        let case = format!("{length} B from {from:?} over {path:?} to {to:?}");
                        assert_eq!(results, expected, "{case} at {start} ps");
                    }
                }
            }
        }
    }
}

/// The number that a reader can follow with a pencil: 0 bytes over 6 links on the published
/// machine.
#[test]
fn the_published_latency_in_numbers() {
    let [config, _] = machines();
    let mut cluster = cluster(&config);
    let (a, b) = (node_of(&cluster, 0), node_of(&cluster, 63));
    let adapter = (Placement::Adapter, Placement::Adapter);
    let (seen, _) = run_process(&mut cluster, async move { put(&a, &b, adapter, 0).await });
    // 8 bytes at 264 MB/s take 30.304 ns, 64 bytes 242.425 ns. 9 flits, 66 cycles on the way.
    let injected = (77_000_u64 + 30_304 + 200_000 + 540_000).div_ceil(5_000);
    let delivered = (injected + 66 + 9 - 1) * 5_000;
    let expected = delivered + 200_000 + 200_000 + 80_000 + 77_000 + 242_425 + 200_000;
    assert_eq!(seen, Time::from_ps(expected));
}

/// Two packets. From adapter memory both are injected at once and share the link, flit after flit;
/// from main memory the second is read while the first travels. Into main memory the second is
/// written when it is there and the first is done.
#[test]
fn two_packets() {
    for config in machines() {
        let (adapter, bus) = (config.adapter, config.bus);
        for (destination, path) in paths(&config) {
            let travel: u64 = path.iter().map(|&hop| u64::from(hop)).sum();
            for (from, to) in PLACEMENTS {
                for second in [1, 64, 320] {
                    let mut cluster = cluster(&config);
                    let (a, b) = (node_of(&cluster, 0), node_of(&cluster, destination));
                    let (found, _) = run_process(&mut cluster, async move {
                        put(&a, &b, (from, to), 320 + second).await
                    });

                    let ready = bursts(&bus, 8) + adapter.command + adapter.dma_start;
                    let reads = u64::from(from == Placement::Main);
                    let reading = |bytes| bursts(&bus, reads * bytes);
                    let data_here = [reading(320), reading(320) + reading(second)];
                    let injected = data_here.map(|read| (ready + read).div_ceil(config.cycle));
                    let link_free = injected[0] + flits(320);
                    let delivered = [
                        injected[0] + travel + flits(320) - 1,
                        injected[1].max(link_free) + travel + flits(second) - 1,
                    ];
                    let [first, last] = delivered.map(|cycle| config.cycle * cycle);
                    let (stored, turn) = match to {
                        Placement::Adapter => (last, bus.turnaround),
                        Placement::Main => {
                            let first = first + bus.turnaround + bursts(&bus, 320);
                            (first.max(last) + bursts(&bus, second), Time::ZERO)
                        }
                    };
                    let copied = adapter.input + adapter.event + turn + bursts(&bus, 64);
                    let seen = stored + copied + adapter.poll;
                    let case = format!("{second} from {from:?} to {to:?} over {path:?}");
                    assert_eq!(found, seen, "{case}");
                }
            }
        }
    }
}

/// A bus that takes longer for a packet than the network: each packet is acknowledged when it gets
/// an input buffer, that is when the packet `input_buffers` before it has been written; the writes
/// follow each other without a pause.
#[test]
fn a_slow_bus_holds_its_senders() {
    for mut config in machines() {
        config.bus.burst_overhead = Time::from_us(2);
        for input_buffers in [1, 2, 3, 5] {
            config.adapter.input_buffers = input_buffers;
            let packets = 20;
            let (mut cluster, [a, b]) = start(&config);
            let results = run_process(&mut cluster, async move {
                let placements = (Placement::Adapter, Placement::Main);
                put(&a, &b, placements, packets * 320).await
            });

            let (adapter, bus) = (config.adapter, config.bus);
            let start = bursts(&bus, 8) + adapter.command + adapter.dma_start;
            let travel = 2 * u64::from(config.fabric.hop_delay[0]);
            let first = (start).div_ceil(config.cycle) + travel + flits(320) - 1;
            let written =
                |count: u64| config.cycle * first + bus.turnaround + bursts(&bus, 320) * count;
            let copy = bursts(&bus, 64) + adapter.poll;
            let seen = written(packets) + adapter.input + adapter.event + copy;
            let accepted = written(packets - u64::from(input_buffers)) + adapter.turnaround;
            let acknowledged = (accepted).div_ceil(config.cycle) + travel;
            let completed = config.cycle * acknowledged + adapter.event + bus.turnaround + copy;
            assert_eq!(results, (seen, completed));
        }
    }
}

/// Traffic elsewhere has no cost, even if a packet is ready exactly as a busy fabric's cycle
/// begins.
#[test]
fn others_make_no_difference() {
    let [config, _] = machines();
    let adapter = (Placement::Adapter, Placement::Adapter);
    let path = [11, 11];
    // 847.304 ns pass from the posting to the first packet.
    for start in [20_000_000, 20_002_695, 20_002_696, 20_002_697].map(Time::from_ps) {
        let mut cluster = cluster(&config);
        let [a, b, c, d] = [0, 1, 2, 3].map(|number| node_of(&cluster, number));
        cluster.spawn("others", async move {
            put(&c, &d, adapter, 65_536).await;
        });
        let found = run_process(&mut cluster, async move {
            a.sleep_until(start).await;
            put(&a, &b, adapter, 64).await
        });
        let expected = by_hand(&config, &path, (start, true), adapter, 64);
        assert_eq!(found, expected, "{start}");
    }
}
