//! A program's mistakes reach it as errors, change no memory and harm no other program.

use crate::common;

use common::{PLACEMENTS, cluster, four_nodes, logs, node_of, pattern, run_process, settle, start};
use elan::{
    Access, AccessFault, Address, Cluster, Dma, DmaError, EventId, Node, Placement, Reason, Region,
};
use proptest::prelude::*;
use units::{Bytes, Time};

/// Nodes 0 and 1 with 4 KB each; node 1's are zeros.
struct Bench {
    cluster: Cluster,
    a: Node,
    b: Node,
    source: Region,
    target: Region,
    arrived: EventId,
}

const SIZE: u64 = 4096;

fn bench(from: Placement, to: Placement) -> Bench {
    let (cluster, [a, b]) = start(&four_nodes());
    let source = a.allocate(from, Bytes::new(SIZE));
    let target = b.allocate(to, Bytes::new(SIZE));
    a.write(source, &pattern(1, SIZE));
    let arrived = b.event(1);
    Bench {
        cluster,
        a,
        b,
        source,
        target,
        arrived,
    }
}

/// An access to memory that is not mapped.
fn unmapped(address: Address, length: u64, access: Access) -> DmaError {
    AccessFault::new(address, Bytes::new(length), access, Reason::Unmapped).into()
}

impl Bench {
    /// Posts DMAs that end in errors; the destination stores `stray` of their bytes in all, without
    /// contents; then a good DMA, which must be the only one that leaves a trace in memory.
    fn expect(mut self, wrong: Vec<(Dma, DmaError)>, stray: u64) {
        let (wrong, errors): (Vec<Dma>, Vec<DmaError>) = wrong.into_iter().unzip();
        let (from, to) = (self.source.start(), self.target.start());
        let good = Dma::new(from, to, Bytes::new(SIZE)).notify(self.arrived);
        let (a, b) = (self.a.clone(), self.b.clone());
        let (arrived, target) = (self.arrived, self.target);
        let outcomes = run_process(&mut self.cluster, async move {
            let mut outcomes = Vec::new();
            for dma in wrong {
                outcomes.push(a.dma(dma).await);
            }
            a.sleep(Time::from_us(50)).await;
            let found = b.read(target).expect("it holds bytes");
            assert!(found.iter().all(|&byte| byte == 0));
            outcomes.push(a.dma(good).await);
            b.wait(arrived).await;
            outcomes
        });
        let expected = errors.into_iter().map(Err).chain([Ok(())]);
        assert!(outcomes.into_iter().eq(expected));
        let found = self.b.read(self.target).expect("it holds bytes");
        assert_eq!(found[..], pattern(1, SIZE));
        assert_eq!(self.b.stored(), Bytes::new(SIZE + stray));
        self.cluster.check_conservation();
    }
}

/// Addresses from which some bytes do not lie within 4 KB, and how many bytes.
fn outside(region: Region) -> Vec<(Address, u64)> {
    [
        (SIZE, 1),
        (SIZE + 1, 1),
        (SIZE - 320, 321),
        (0, SIZE + 1),
        (u64::MAX, 2000),
        (1, u64::MAX),
    ]
    .into_iter()
    .map(|(offset, length)| (region.at(Bytes::new(offset)), length))
    .collect()
}

/// Bytes beyond the source's end, and sources on another node. No packet is sent.
#[test]
fn bad_source() {
    for (from, to) in PLACEMENTS {
        let bench = bench(from, to);
        let target = bench.target.start();
        let mut wrong: Vec<(Dma, DmaError)> = outside(bench.source)
            .into_iter()
            .map(|(address, length)| {
                let dma = Dma::new(address, target, Bytes::new(length));
                (dma, unmapped(address, length, Access::LocalRead))
            })
            .collect();
        let (node, context) = (bench.a.place(), bench.a.context());
        let neither = Dma::new(target, target, Bytes::new(64));
        wrong.push((neither, DmaError::Misdirected { node, context }));
        let wrong = wrong
            .into_iter()
            .map(|(dma, error)| (dma.notify(bench.arrived), error))
            .collect();
        bench.expect(wrong, 0);
    }
}

/// Bytes beyond the destination's end: the packets before the first that goes beyond are stored,
/// that packet is not. And an event of a third node: no packet is sent.
#[test]
fn bad_destination() {
    for (from, to) in PLACEMENTS {
        let bench = bench(from, to);
        let long = bench.a.reserve(from, Bytes::from_mb(1));
        let elsewhere = node_of(&bench.cluster, 2).event(1);
        let end = bench.target.at(Bytes::new(SIZE)).elan.as_u32();
        let mut stray = 0;
        let mut wrong = Vec::new();
        for (address, length) in outside(bench.target) {
            if length >= 1 << 20 {
                continue;
            }
            let room = u64::from(end).saturating_sub(address.elan.as_u32().into());
            let before = (room / 320 * 320).min(length);
            stray += before;
            let offends = (length - before).min(320);
            let address_of = address.offset(Bytes::new(before));
            wrong.push((
                Dma::new(long.start(), address, Bytes::new(length)).notify(bench.arrived),
                unmapped(address_of, offends, Access::RemoteWrite),
            ));
        }
        let (node, context) = (bench.a.place(), bench.a.context());
        for length in [0, 64, SIZE] {
            let dma = Dma::new(long.start(), bench.target.start(), Bytes::new(length));
            wrong.push((
                dma.notify(elsewhere),
                DmaError::Misdirected { node, context },
            ));
        }
        bench.expect(wrong, stray);
    }
}

/// Zero bytes touch no memory, wherever the addresses point.
#[test]
fn zero_bytes_cannot_fault() {
    let mut bench = bench(Placement::Main, Placement::Main);
    let [from, to] = [bench.source, bench.target].map(|one| one.at(Bytes::new(u64::MAX)));
    let (a, b, arrived) = (bench.a, bench.b, bench.arrived);
    run_process(&mut bench.cluster, async move {
        let sent = a.dma(Dma::new(from, to, Bytes::ZERO).notify(arrived));
        sent.await.expect("no memory is touched");
        b.wait(arrived).await;
    });
}

/// The destination refuses permanently: the rest of the message is not sent.
#[test]
fn an_error_ends_a_long_dma() {
    let mut bench = bench(Placement::Adapter, Placement::Adapter);
    let long = bench.a.reserve(Placement::Adapter, Bytes::from_mb(1));
    let dma = Dma::new(long.start(), bench.target.start(), Bytes::from_mb(1));
    let outcome = run_process(&mut bench.cluster, bench.a.dma(dma));
    let beyond = bench.target.at(Bytes::new(12 * 320));
    assert_eq!(outcome, Err(unmapped(beyond, 320, Access::RemoteWrite)));
    // The twelve packets that fit; then two in flight, and as many prepared behind them.
    let packets = bench.cluster.packets();
    assert!(packets <= 12 + 4, "{packets} packets");
}

/// With five DMAs posted at once one is at work, one waits in a one-place queue, the others are
/// refused; later all is well.
#[test]
fn the_queue_is_full() {
    let mut config = four_nodes();
    config.adapter.queue = 1;
    let (mut cluster, [a, b]) = start(&config);
    let size = Bytes::new(SIZE);
    let source = a.allocate(Placement::Adapter, size);
    let target = b.allocate(Placement::Adapter, size * 6);
    a.write(source, &pattern(1, SIZE));
    let node = a.place();
    let outcomes = run_process(&mut cluster, async move {
        let mut outcomes = Vec::new();
        let dma = |number| Dma::new(source.start(), target.at(size * number), size);
        let transfers: Vec<_> = (0..5).map(|number| a.dma(dma(number))).collect();
        for transfer in transfers {
            outcomes.push(transfer.await);
        }
        outcomes.push(a.dma(dma(5)).await);
        outcomes
    });
    let full = Err(DmaError::QueueFull { node, queue: 1 });
    assert_eq!(outcomes, [Ok(()), Ok(()), full, full, full, Ok(())]);
    let stored = b.read(target).expect("it holds bytes");
    for (number, part) in stored.chunks(SIZE as usize).enumerate() {
        let expected = if [0, 1, 5].contains(&number) {
            pattern(1, SIZE)
        } else {
            vec![0; SIZE as usize]
        };
        assert_eq!(part, expected, "part {number}");
    }
}

/// A DMA that yields after every few packets fails while it waits in the queue, or while the engine
/// takes it up again.
#[test]
fn an_error_arrives_between_time_slices() {
    for slice in [1, 1000, 2000, 4000] {
        for dma_start in [0, 100, 540, 1000, 2000, 5000] {
            let mut config = four_nodes();
            config.adapter.time_slice = Time::from_ns(slice);
            config.adapter.dma_start = Time::from_ns(dma_start);
            let (mut cluster, [a, b]) = start(&config);
            let long = Bytes::from_kb(16);
            let source = a.reserve(Placement::Adapter, long);
            let short = b.reserve(Placement::Adapter, Bytes::new(100));
            let target = b.reserve(Placement::Adapter, long);
            let outcomes = run_process(&mut cluster, async move {
                let mut outcomes = Vec::new();
                for _ in 0..5 {
                    let put = |to: Region| a.dma(Dma::new(source.start(), to.start(), long));
                    for transfer in [short, target, short, target].map(put) {
                        outcomes.push(transfer.await);
                    }
                }
                outcomes
            });
            let bad = Err(unmapped(short.start(), 320, Access::RemoteWrite));
            assert_eq!(outcomes, [bad, Ok(()), bad, Ok(())].repeat(5));
            assert_eq!(b.stored(), long * 10, "slice {slice}, start {dma_start}");
            cluster.check_conservation();
        }
    }
}

/// A process's DMA, and whether the process waits before it posts the next.
#[derive(Clone, Debug)]
struct Post {
    kind: Kind,
    length: u64,
    from: Placement,
    to: Placement,
    waits: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Good,
    BadSource,
    BadDestination,
}

prop_compose! {
    fn post()(
        kind in prop_oneof![
            2 => Just(Kind::Good), 1 => Just(Kind::BadSource), 2 => Just(Kind::BadDestination)
        ],
        length in prop_oneof![Just(0), Just(320), 1_u64..6000],
        (from, to) in prop::sample::select(&PLACEMENTS[..]),
        waits in any::<bool>(),
    ) -> Post {
        Post { kind, length, from, to, waits }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Good and bad DMAs from two nodes in any mixture, with engines that change DMAs often: each
    /// ends as it should.
    #[test]
    fn errors_harm_nobody_else(
        posts in prop::collection::vec(prop::collection::vec(post(), 0..10), 2),
        slice in 1_u64..6000,
        start in prop_oneof![Just(0_u64), 1_u64..3000],
    ) {
        let mut config = four_nodes();
        config.adapter.time_slice = Time::from_ns(slice);
        config.adapter.dma_start = Time::from_ns(start);
        let mut cluster = cluster(&config);
        let mut good = 0;
        let mut results = Vec::new();
        for (number, posts) in posts.into_iter().enumerate() {
            let (a, b) = (node_of(&cluster, number as u32), node_of(&cluster, 2));
            let [outcomes, noted] = logs();
            let mut expected = Vec::new();
            let mut program = Vec::new();
            for post in posts {
                let length = Bytes::new(post.length);
                let (source, target) = (a.reserve(post.from, length), b.reserve(post.to, length));
                let before = post.length.saturating_sub(1) / 320 * 320;
                let beyond = target.at(Bytes::new(1));
                let (from, to, outcome, arrives) = match post.kind {
                    Kind::BadSource if post.length > 0 => {
                        let from = source.at(Bytes::new(1));
                        (
                            from,
                            target.start(),
                            Err(unmapped(from, post.length, Access::LocalRead)),
                            0
                        )
                    }
                    Kind::BadDestination if post.length > 0 => {
                        // The last packet goes one byte beyond the end.
                        let last = beyond.offset(Bytes::new(before));
                        let fault = unmapped(last, post.length - before, Access::RemoteWrite);
                        (source.start(), beyond, Err(fault), before)
                    }
                    _ => (source.start(), target.start(), Ok(()), post.length),
                };
                good += arrives;
                expected.push(outcome);
                program.push((Dma::new(from, to, length), post.waits));
            }
            cluster.spawn(format!("node {number}"), async move {
                let mut open = Vec::new();
                for (dma, waits) in program {
                    open.push(a.dma(dma));
                    if waits {
                        for transfer in open.drain(..) {
                            noted.note(transfer.await);
                        }
                    }
                }
                for transfer in open {
                    noted.note(transfer.await);
                }
            });
            results.push((outcomes, expected));
        }
        prop_assert!(cluster.run().is_ok());
        // Bytes that were acknowledged before they were written to main memory are written soon.
        settle(&mut cluster);
        for (outcomes, expected) in results {
            prop_assert_eq!(&*outcomes.borrow(), &expected);
        }
        prop_assert_eq!(node_of(&cluster, 2).stored(), Bytes::new(good));
        cluster.check_conservation();
    }
}
