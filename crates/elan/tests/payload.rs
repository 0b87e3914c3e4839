//! Bytes arrive as they were, and only where they belong: random programs against a plain array; and memory that holds
//! bytes costs the same time as memory that only has a length.

mod common;

use common::{Log, cluster, log, machine, node_of, pattern, start};
use elan::{Cluster, Config, Dma, EventId, Node, Placement, Priority, Region};
use fabric::FatTree;
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

/// One DMA of a program. Destinations are laid out one behind the other, with a gap before each.
#[derive(Clone, Debug)]
struct Put {
    from: u32,
    to: u32,
    placements: (Placement, Placement),
    offset: u64,
    gap: u64,
    length: u64,
    high: bool,
    /// Whether its process waits for it before it goes on.
    waits: bool,
}

/// The number of a node.
fn number(node: &Node) -> u32 {
    node.place().get()
}

/// Sizes of the source regions.
const SOURCE: u64 = 8192;

fn placement() -> impl Strategy<Value = Placement> + Clone {
    prop_oneof![Just(Placement::Adapter), Just(Placement::Main)]
}

fn length() -> impl Strategy<Value = u64> {
    prop_oneof![
        prop::sample::select(vec![0, 1, 63, 64, 65, 319, 320, 321, 640, 4096]),
        0_u64..=4096
    ]
}

fn put(nodes: u32) -> impl Strategy<Value = Put> {
    let flags = (prop::bool::weighted(0.2), any::<bool>());
    (
        0..nodes,
        0..nodes,
        (placement(), placement()),
        0_u64..4096,
        0_u64..100,
        length(),
        flags,
    )
        .prop_map(
            |(from, to, placements, offset, gap, length, (high, waits))| Put {
                from,
                to,
                placements,
                offset,
                gap,
                length,
                high,
                waits,
            },
        )
}

/// A program, the number of nodes, and when which node stops to accept for a while.
#[derive(Clone, Debug)]
struct Program {
    nodes: u32,
    puts: Vec<Put>,
    refusals: Vec<(u32, u64)>,
    slice: u64,
}

fn program() -> impl Strategy<Value = Program> {
    (2_u32..=16).prop_flat_map(|nodes| {
        let puts = prop::collection::vec(put(nodes), 1..40);
        let refusals = prop::collection::vec((0..nodes, 0_u64..40), 0..4);
        (puts, refusals, 300_u64..9000).prop_map(move |(puts, refusals, slice)| Program {
            nodes,
            puts,
            refusals,
            slice,
        })
    })
}

fn config(program: &Program) -> Config {
    let mut config =
        machine(FatTree::new(&[4, 4], &[4], program.nodes).expect("a part of 16 nodes"));
    config.adapter.time_slice = Bytes::new(program.slice);
    config.adapter.trap_delay = Time::from_us(20);
    config
}

/// What is observable of a run: when each process was done with each DMA, when each node had all, what lies in memory.
#[derive(Debug, PartialEq)]
struct Outcome {
    times: Vec<(u32, Time)>,
    digest: String,
    /// By node and placement; nothing where regions only have a length.
    memories: Vec<Option<Box<[u8]>>>,
}

/// A node's place in lists of both its memories.
fn slot(node: u32, placement: Placement) -> usize {
    node as usize * 2 + placement as usize
}

const BOTH: [Placement; 2] = [Placement::Adapter, Placement::Main];

/// Where each DMA stores, and how long the destination regions are.
fn layout(program: &Program) -> (Vec<u64>, Vec<u64>) {
    let mut lengths = vec![50; program.nodes as usize * 2];
    let starts = program.puts.iter().map(|put| {
        let end = &mut lengths[slot(put.to, put.placements.1)];
        let start = *end + put.gap;
        *end = start + put.length;
        start
    });
    let starts = starts.collect();
    (starts, lengths)
}

fn data(node: u32, placement: Placement) -> Vec<u8> {
    pattern(slot(node, placement) as u64, SOURCE)
}

/// A process of a node that posts DMAs, waits for those that it must and in the end for the others.
fn post(cluster: &mut Cluster, node: &Node, dmas: Vec<(Dma, bool)>, times: Log<(u32, Time)>) {
    let process = node.clone();
    cluster.spawn(format!("posts {}", number(node)), async move {
        let mut open = Vec::new();
        for (dma, waits) in dmas {
            let transfer = process.dma(dma);
            if waits {
                transfer.await.expect("nothing is wrong with it");
                times.note((number(&process), process.now()));
            } else {
                open.push(transfer);
            }
        }
        for transfer in open {
            transfer.await.expect("nothing is wrong with it");
            times.note((number(&process), process.now()));
        }
    });
}

/// Nodes that do not accept for a while.
fn refuse(cluster: &mut Cluster, program: &Program) {
    for &(number, at) in &program.refusals {
        let node = node_of(cluster, number);
        cluster.spawn("refuses", async move {
            node.sleep(Time::from_us(at)).await;
            node.accept(false);
            node.sleep(Time::from_us(25)).await;
            node.accept(true);
        });
    }
}

fn run(program: &Program, real: bool) -> Outcome {
    let mut cluster = cluster(&config(program));
    let (starts, lengths) = layout(program);
    let region = |node: &Node, placement, length: u64| {
        let length = Bytes::new(length);
        if real {
            node.allocate(placement, length)
        } else {
            node.reserve(placement, length)
        }
    };
    let nodes: Vec<Node> = (0..program.nodes)
        .map(|number| node_of(&cluster, number))
        .collect();
    let mut sources: Vec<Region> = Vec::new();
    let mut targets: Vec<Region> = Vec::new();
    for node in &nodes {
        for placement in BOTH {
            let source = region(node, placement, SOURCE);
            node.write(source, &data(number(node), placement));
            sources.push(source);
            targets.push(region(
                node,
                placement,
                lengths[slot(number(node), placement)],
            ));
        }
    }
    let times = log();
    let memories = Rc::new(RefCell::new(vec![None; targets.len()]));
    let events: Vec<EventId> = nodes
        .iter()
        .map(|node| {
            let count = program
                .puts
                .iter()
                .filter(|put| put.to == number(node))
                .count();
            node.event(count as u32)
        })
        .collect();
    for node in &nodes {
        let mine = program
            .puts
            .iter()
            .zip(&starts)
            .filter(|(put, _)| put.from == number(node));
        let dmas: Vec<_> = mine
            .map(|(put, &start)| {
                let from = sources[slot(put.from, put.placements.0)].at(Bytes::new(put.offset));
                let to = targets[slot(put.to, put.placements.1)].at(Bytes::new(start));
                let priority = if put.high {
                    Priority::High
                } else {
                    Priority::Low
                };
                let dma = Dma::new(from, to, Bytes::new(put.length)).priority(priority);
                (dma.notify(events[put.to as usize]), put.waits)
            })
            .collect();
        post(&mut cluster, node, dmas, times.clone());
        // Once the event is set all must be there: what lies in memory then is what is compared.
        let (process, noted, event) = (node.clone(), times.clone(), events[number(node) as usize]);
        let mine = BOTH
            .map(|placement| slot(number(node), placement))
            .map(|slot| (slot, targets[slot]));
        let found = memories.clone();
        cluster.spawn(format!("waits {}", number(node)), async move {
            process.wait(event).await;
            noted.note((number(&process) + 100, process.now()));
            for (slot, region) in mine {
                found.borrow_mut()[slot] = process.read(region);
            }
        });
    }
    refuse(&mut cluster, program);
    cluster.run().expect("all ends");
    cluster.check_conservation();
    let stored: Bytes = nodes.iter().map(elan::Node::stored).sum();
    assert_eq!(
        stored.as_u64(),
        program.puts.iter().map(|put| put.length).sum::<u64>()
    );
    let memories = memories.take();
    let times = times.borrow().clone();
    Outcome {
        times,
        digest: cluster.digest(),
        memories,
    }
}

/// The destination memories as they should be.
fn oracle(program: &Program) -> Vec<Vec<u8>> {
    let (starts, lengths) = layout(program);
    let mut memories: Vec<Vec<u8>> = lengths
        .iter()
        .map(|&length| vec![0; length as usize])
        .collect();
    for (put, &start) in program.puts.iter().zip(&starts) {
        let source = data(put.from, put.placements.0);
        let (from, to, length) = (put.offset as usize, start as usize, put.length as usize);
        memories[slot(put.to, put.placements.1)][to..to + length]
            .copy_from_slice(&source[from..from + length]);
    }
    memories
}

/// A put into one shared region, and by whom.
#[derive(Clone, Debug)]
struct Overlap {
    from: u32,
    source: Placement,
    start: u64,
    length: u64,
}

fn overlap() -> impl Strategy<Value = Overlap> {
    (1_u32..4, placement(), 0_u64..2000, length()).prop_map(|(from, source, start, length)| {
        Overlap {
            from,
            source,
            start,
            length,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Each byte arrives, none goes astray; and length alone takes the same time.
    #[test]
    fn bytes_arrive(program in program()) {
        let real = run(&program, true);
        for (memory, expected) in real.memories.iter().zip(oracle(&program)) {
            prop_assert_eq!(memory.as_deref(), Some(&expected[..]));
        }
        let length_only = run(&program, false);
        prop_assert!(length_only.memories.iter().all(Option::is_none));
        prop_assert_eq!(real.times, length_only.times);
        prop_assert_eq!(real.digest, length_only.digest);
    }

    /// Overlapping puts of several nodes, each posted when the one before is complete at its source: the later one
    /// wins, whether or not the bus of the destination was behind.
    #[test]
    fn later_puts_win(
        puts in prop::collection::vec(overlap(), 1..12),
        target in placement(),
        overhead in prop_oneof![Just(77_u64), Just(2000)],
    ) {
        let mut config = common::four_nodes();
        config.bus.burst_overhead = Time::from_ns(overhead);
        let mut cluster = cluster(&config);
        let nodes = [0, 1, 2, 3].map(|number| node_of(&cluster, number));
        let region = nodes[0].allocate(target, Bytes::new(SOURCE));
        let done = nodes[0].event(puts.len() as u32);
        let mut expected = vec![0; SOURCE as usize];
        let mut dmas = Vec::new();
        for (number, put) in puts.iter().enumerate() {
            let node = &nodes[put.from as usize];
            let source = node.allocate(put.source, Bytes::new(put.length));
            let bytes = pattern(number as u64 + 1, put.length);
            node.write(source, &bytes);
            expected[put.start as usize..][..put.length as usize].copy_from_slice(&bytes);
            let dma = Dma::new(source.start(), region.at(Bytes::new(put.start)), Bytes::new(put.length));
            dmas.push((node.clone(), dma.notify(done)));
        }
        let reader = nodes[0].clone();
        cluster.spawn("puts", async move {
            for (node, dma) in dmas {
                node.dma(dma).await.expect("nothing is wrong with it");
            }
            reader.wait(done).await;
        });
        prop_assert!(cluster.run().is_ok());
        prop_assert_eq!(&nodes[0].read(region).expect("it holds bytes")[..], &expected[..]);
    }
}

/// Bytes move only where both ends hold them; a region without contents takes part in time alone.
#[test]
fn one_end_without_contents() {
    for (source_real, target_real) in [(true, false), (false, true)] {
        let (mut cluster, [a, b]) = start(&common::four_nodes());
        let size = Bytes::new(1000);
        let region = |node: &Node, real| {
            if real {
                node.allocate(Placement::Main, size)
            } else {
                node.reserve(Placement::Main, size)
            }
        };
        let (source, target) = (region(&a, source_real), region(&b, target_real));
        a.write(source, &pattern(1, 1000));
        let poster = a.clone();
        cluster.spawn("puts", async move {
            let dma = Dma::new(source.start(), target.start(), size);
            poster.dma(dma).await.expect("nothing is wrong with it");
        });
        cluster.run().expect("all ends");
        assert_eq!(
            b.read(target).as_deref(),
            target_real.then_some(&[0; 1000][..])
        );
    }
}
