//! Bytes arrive intact, and only where they belong: random put and get programs against a plain
//! array. Memory that holds bytes costs the same time as memory that only has a length.

use crate::common;

use common::{Log, cluster, log, machine, node_of, pattern, run_process, start};
use elan::{Cluster, Config, Dma, EventId, Node, Placement, Priority, Region};
use fabric::FatTree;
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

/// One DMA in a program. Destinations are laid out one behind the other, with a gap before each.
#[derive(Clone, Debug)]
struct Message {
    from: u32,
    to: u32,
    placements: (Placement, Placement),
    offset: u64,
    gap: u64,
    length: u64,
    high: bool,
    /// Whether the process at the message's destination gets it; otherwise the process at its
    /// source puts it.
    get: bool,
    /// Whether the process waits for all DMAs that it has posted before it continues.
    waits: bool,
}

/// Source region sizes.
const SOURCE: u64 = 16_384;

fn placement() -> impl Strategy<Value = Placement> + Clone {
    prop_oneof![Just(Placement::Adapter), Just(Placement::Main)]
}

fn length() -> impl Strategy<Value = u64> {
    let edges = vec![0, 1, 63, 64, 65, 319, 320, 321, 640, 4096, 10_000];
    prop_oneof![prop::sample::select(edges), 0_u64..=4096]
}

prop_compose! {
    fn message(nodes: u32)(
        from in 0..nodes,
        to in 0..nodes,
        placements in (placement(), placement()),
        offset in 0_u64..4096,
        gap in 0_u64..100,
        length in length(),
        high in prop::bool::weighted(0.2),
        get in any::<bool>(),
        waits in any::<bool>(),
    ) -> Message {
        Message { from, to, placements, offset, gap, length, high, get, waits }
    }
}

/// A program, and the machine that it runs on.
#[derive(Clone, Debug)]
struct Program {
    nodes: u32,
    messages: Vec<Message>,
    /// The times at which nodes stop accepting for a while.
    refusals: Vec<(u32, u64)>,
    /// A time slice in nanoseconds.
    slice: u64,
    overhead: u64,
    turnaround: u64,
    /// A process's most DMAs at a time: a queue holds as many from each node.
    most: usize,
}

prop_compose! {
    fn program()(nodes in 2_u32..=16)(
        nodes in Just(nodes),
        messages in prop::collection::vec(message(nodes), 1..40),
        refusals in prop::collection::vec((0..nodes, 0_u64..40), 0..4),
        slice in 1_u64..30_000,
        overhead in prop::sample::select(vec![77, 500, 2000]),
        turnaround in prop_oneof![Just(200), 0_u64..20_000],
        most in 1_usize..40,
    ) -> Program {
        Program { nodes, messages, refusals, slice, overhead, turnaround, most }
    }
}

fn config(program: &Program) -> Config {
    let tree = FatTree::new(&[4, 4], &[4], program.nodes);
    let mut config = machine(tree.expect("a part of 16 nodes"));
    config.adapter.time_slice = Time::from_ns(program.slice);
    config.adapter.turnaround = Time::from_ns(program.turnaround);
    config.adapter.queue = program.nodes * program.most as u32;
    config.adapter.trap_delay = Time::from_us(20);
    config.bus.burst_overhead = Time::from_ns(program.overhead);
    config
}

/// A run's observables: when each process was done with each DMA, when each node had all bytes, the
/// memory contents.
#[derive(Debug, PartialEq)]
struct Outcome {
    times: Vec<(usize, Time)>,
    digest: String,
    /// By node and placement; `None` where regions only have a length.
    memories: Vec<Option<Box<[u8]>>>,
}

const BOTH: [Placement; 2] = [Placement::Adapter, Placement::Main];

/// A node's memory's place in lists of all nodes' two memories.
fn slot(node: u32, placement: Placement) -> usize {
    node as usize * 2 + placement as usize
}

/// The contents of a slot's source region.
fn data(slot: usize) -> Vec<u8> {
    pattern(slot as u64, SOURCE)
}

/// A region that holds bytes, or only has a length.
fn region(node: &Node, placement: Placement, length: u64, real: bool) -> Region {
    let length = Bytes::new(length);
    if real {
        node.allocate(placement, length)
    } else {
        node.reserve(placement, length)
    }
}

/// Where each DMA stores, and how long the destination regions are.
fn layout(program: &Program) -> (Vec<u64>, Vec<u64>) {
    let mut lengths = vec![50; program.nodes as usize * 2];
    let starts = program.messages.iter().map(|message| {
        let end = &mut lengths[slot(message.to, message.placements.1)];
        let start = *end + message.gap;
        *end = start + message.length;
        start
    });
    let starts = starts.collect();
    (starts, lengths)
}

/// Posts DMAs, `most` at a time, and waits for them where the program demands it.
async fn post(
    (number, node): (usize, Node),
    (dmas, most): (Vec<(Dma, bool)>, usize),
    times: Log<(usize, Time)>,
) {
    let batches = dmas.chunk_by(|(_, waits), _| !waits);
    for batch in batches.flat_map(|batch| batch.chunks(most)) {
        let transfers: Vec<_> = batch.iter().map(|&(dma, _)| node.dma(dma)).collect();
        for transfer in transfers {
            transfer.await.expect("nothing is wrong with it");
            times.note((number, node.now()));
        }
    }
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
    let nodes = (0..program.nodes).map(|number| node_of(&cluster, number));
    let nodes: Vec<Node> = nodes.collect();
    let region =
        |(slot, length): (usize, u64)| region(&nodes[slot / 2], BOTH[slot % 2], length, real);
    let sources = (0..lengths.len()).map(|slot| region((slot, SOURCE)));
    let sources: Vec<Region> = sources.collect();
    let targets: Vec<Region> = lengths.into_iter().enumerate().map(region).collect();
    for (slot, &source) in sources.iter().enumerate() {
        nodes[slot / 2].write(source, &data(slot));
    }
    let events = (0..).zip(&nodes).map(|(number, node)| {
        let received = program.messages.iter().filter(|one| one.to == number);
        node.event(received.count() as u32)
    });
    let events: Vec<EventId> = events.collect();
    let mut posts = vec![Vec::new(); nodes.len()];
    let mut meters = Vec::new();
    for (message, &start) in program.messages.iter().zip(&starts) {
        let from = sources[slot(message.from, message.placements.0)];
        let to = targets[slot(message.to, message.placements.1)];
        let [offset, start, length] = [message.offset, start, message.length].map(Bytes::new);
        let meter = cluster.meter();
        meters.push((meter, length));
        let dma = Dma::new(from.at(offset), to.at(start), length).metered(meter);
        let dma = dma.notify(events[message.to as usize]);
        let dma = if message.high {
            dma.priority(Priority::High)
        } else {
            dma
        };
        let poster = if message.get {
            message.to
        } else {
            message.from
        };
        posts[poster as usize].push((dma, message.waits));
    }
    let times = log();
    let memories = Rc::new(RefCell::new(vec![None; targets.len()]));
    for (number, dmas) in posts.into_iter().enumerate() {
        let (node, dmas) = ((number, nodes[number].clone()), (dmas, program.most));
        cluster.spawn(format!("posts {number}"), post(node, dmas, times.clone()));
        // Once the event is set all bytes must be there: the memory contents at that time are
        // compared.
        let (process, event) = (nodes[number].clone(), events[number]);
        let mine = [2 * number, 2 * number + 1].map(|slot| (slot, targets[slot]));
        let (noted, found) = (times.clone(), Rc::clone(&memories));
        cluster.spawn(format!("waits {number}"), async move {
            process.wait(event).await;
            noted.note((number + 100, process.now()));
            for (slot, region) in mine {
                found.borrow_mut()[slot] = process.read(region);
            }
        });
    }
    refuse(&mut cluster, program);
    cluster.run().expect("all ends");
    cluster.check_conservation();
    for &(meter, length) in &meters {
        assert_eq!(cluster.metered(meter), length);
    }
    let stored: Bytes = nodes.iter().map(Node::stored).sum();
    assert_eq!(stored, meters.iter().map(|&(_, length)| length).sum());
    let times = times.borrow().clone();
    Outcome {
        times,
        digest: cluster.digest(),
        memories: memories.take(),
    }
}

/// The destination memories as they should be.
fn oracle(program: &Program) -> Vec<Vec<u8>> {
    let (starts, lengths) = layout(program);
    let zeros = |&length: &u64| vec![0; length as usize];
    let mut memories: Vec<Vec<u8>> = lengths.iter().map(zeros).collect();
    for (message, &start) in program.messages.iter().zip(&starts) {
        let source = data(slot(message.from, message.placements.0));
        let sent = &source[message.offset as usize..][..message.length as usize];
        let target = &mut memories[slot(message.to, message.placements.1)];
        target[start as usize..][..sent.len()].copy_from_slice(sent);
    }
    memories
}

/// Puts into one shared region: process, source memory, destination and length.
fn overlap() -> impl Strategy<Value = (usize, Placement, u64, u64)> {
    (1_usize..4, placement(), 0_u64..2000, length())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Each byte arrives, no byte goes astray; and length alone takes the same time.
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

    /// Overlapping puts from several nodes, each posted when the previous one is complete at its
    /// source: the later put wins, whether or not the destination's bus lags behind.
    #[test]
    fn later_puts_win(
        puts in prop::collection::vec(overlap(), 1..12),
        target in placement(),
        overhead in prop_oneof![Just(77_u64), Just(2000)],
    ) {
        let mut config = common::four_nodes();
        config.bus.burst_overhead = Time::from_ns(overhead);
        let (mut cluster, nodes) = start::<4>(&config);
        let region = nodes[0].allocate(target, Bytes::new(SOURCE));
        let done = nodes[0].event(puts.len() as u32);
        let mut expected = vec![0; SOURCE as usize];
        let mut dmas = Vec::new();
        for (number, (from, memory, start, length)) in (1..).zip(puts) {
            let (node, bytes) = (nodes[from].clone(), pattern(number, length));
            let source = node.allocate(memory, Bytes::new(length));
            node.write(source, &bytes);
            expected[start as usize..][..bytes.len()].copy_from_slice(&bytes);
            let dma = Dma::new(source.start(), region.at(Bytes::new(start)), Bytes::new(length));
            dmas.push((node, dma.notify(done)));
        }
        let reader = nodes[0].clone();
        run_process(&mut cluster, async move {
            for (node, dma) in dmas {
                node.dma(dma).await.expect("nothing is wrong with it");
            }
            reader.wait(done).await;
        });
        prop_assert_eq!(&nodes[0].read(region).expect("it holds bytes")[..], &expected[..]);
    }
}

/// Bytes move only where both ends hold them; a region without contents takes part in time alone.
#[test]
fn one_end_without_contents() {
    for (source_real, target_real) in [(true, false), (false, true)] {
        let (mut cluster, [a, b]) = start(&common::four_nodes());
        let source = region(&a, Placement::Main, 1000, source_real);
        let target = region(&b, Placement::Main, 1000, target_real);
        a.write(source, &pattern(1, 1000));
        let dma = Dma::new(source.start(), target.start(), Bytes::new(1000));
        run_process(&mut cluster, a.dma(dma)).expect("nothing is wrong with it");
        let found = b.read(target);
        assert_eq!(found.as_deref(), target_real.then_some(&[0; 1000][..]));
    }
}
