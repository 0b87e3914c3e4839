//! Gets: times worked out on paper, bytes that arrive as they were, requests that are refused, and meters.

mod common;

use common::{
    PLACEMENTS, bursts, cluster, flits, four_nodes, log, logs, machine, node_of, odd_machine,
    pattern, settle, start,
};
use elan::{Access, Config, Dma, DmaError, Fault, Placement, Reason};
use fabric::FatTree;
use proptest::prelude::*;
use units::{Bytes, Time};

/// When a process that gets one packet at time 0 knows that it is there; both buses are idle.
fn by_hand(config: &Config, travel: u64, (from, to): (Placement, Placement), length: u64) -> Time {
    let (adapter, bus) = (&config.adapter, &config.bus);
    let arrives = |leaves: Time, payload: u64| {
        let injected = leaves.div_ceil(config.cycle);
        config.cycle * (injected + travel + flits(payload) - 1)
    };
    let asked = arrives(bursts(bus, 8) + adapter.command + adapter.dma_start, 32);
    let crosses = |memory| bursts(bus, if memory == Placement::Main { length } else { 0 });
    let arrival = arrives(
        asked + adapter.input + adapter.dma_start + crosses(from),
        length,
    );
    let stored = arrival + crosses(to) + adapter.input + adapter.event;
    // The asker's bus has moved the command; whatever it moves next, it turns once.
    stored + bus.turnaround + bursts(bus, 64) + adapter.poll
}

#[test]
fn a_get_of_one_packet_alone() {
    for config in [machine(FatTree::quaternary(3).unwrap()), odd_machine()] {
        let hop = &config.fabric.hop_delay;
        for (other, travel) in [(1, 2 * hop[0]), (16, 2 * (hop[0] + hop[1] + hop[2]))] {
            for (from, to) in PLACEMENTS {
                for length in [0, 1, 64, 65, 320] {
                    let mut cluster = cluster(&config);
                    let (asker, owner) = (node_of(&cluster, 0), node_of(&cluster, other));
                    let size = Bytes::new(length);
                    let (source, target) = (owner.reserve(from, size), asker.reserve(to, size));
                    let [done, noted] = logs();
                    cluster.spawn("gets", async move {
                        let get = asker.dma(Dma::new(source.start(), target.start(), size));
                        get.await.expect("both ends are right");
                        noted.note(asker.now());
                    });
                    cluster.run().expect("it ends");
                    let expected = by_hand(&config, travel.into(), (from, to), length);
                    let case = format!("{length} B from {from:?} of node {other} to {to:?}");
                    assert_eq!(*done.borrow(), [expected], "{case}");
                }
            }
        }
    }
}

/// A long get uses the engine of the other node: the asker's is free for a put that is posted later.
#[test]
fn the_owner_does_the_work() {
    let (mut cluster, [asker, owner]) = start(&four_nodes());
    let long = Bytes::from_mb(1);
    let bytes = owner.reserve(Placement::Adapter, long);
    let room = asker.reserve(Placement::Adapter, long);
    let [ends, noted] = logs();
    cluster.spawn("gets and puts", async move {
        let get = asker.dma(Dma::new(bytes.start(), room.start(), long));
        asker.sleep(Time::from_us(10)).await;
        let put = asker.dma(Dma::new(room.start(), bytes.start(), Bytes::new(64)));
        put.await.expect("both ends are right");
        noted.note(("put", asker.now()));
        get.await.expect("both ends are right");
        noted.note(("get", asker.now()));
    });
    cluster.run().expect("all ends");
    let ends = ends.borrow();
    assert_eq!((ends[0].0, ends[1].0), ("put", "get"));
    assert!(ends[0].1 < Time::from_us(20), "{ends:?}");
    // A packet of 320 bytes in 189 cycles of 5 ns.
    let least = Time::from_ns(945) * (long.as_u64() / 320);
    assert!(ends[1].1 > least, "{ends:?}");
    assert_eq!(
        (node_of(&cluster, 0).stored(), node_of(&cluster, 1).stored()),
        (long, Bytes::new(64))
    );
}

/// Gets of what is not there, or into what is not there, fail; nothing is stored, and the next one is served.
#[test]
fn bad_ends() {
    let (mut cluster, [asker, owner, third]) = start(&four_nodes());
    let size = Bytes::from_kb(4);
    let bytes = owner.allocate(Placement::Adapter, size);
    owner.write(bytes, &pattern(1, size.as_u64()));
    let room = asker.allocate(Placement::Adapter, size);
    let elsewhere = third.reserve(Placement::Adapter, size);
    let (ours, theirs) = (asker.event(1), third.event(1));
    let one = Bytes::new(1);
    let outcomes = log();
    let (noted, posts) = (outcomes.clone(), asker.clone());
    cluster.spawn("gets", async move {
        for dma in [
            Dma::new(bytes.at(one), room.start(), size),
            Dma::new(bytes.start(), room.at(one), size),
            Dma::new(bytes.start(), room.start(), size).notify(theirs),
            Dma::new(bytes.start(), elsewhere.start(), size),
            Dma::new(bytes.start(), room.start(), size).notify(ours),
        ] {
            noted.note(posts.dma(dma).await);
        }
        posts.wait(ours).await;
    });
    cluster.run().expect("all ends");
    let fault = |at, access| DmaError::from(Fault::new(at, size, access, Reason::Unmapped));
    let (node, context) = (asker.place(), asker.context());
    let misdirected = DmaError::Misdirected { node, context };
    let wrong = [
        fault(bytes.at(one), Access::RemoteRead),
        fault(room.at(one), Access::RemoteWrite),
        misdirected,
        misdirected,
    ];
    assert_eq!(outcomes.borrow()[..4], wrong.map(Err));
    assert_eq!(outcomes.borrow()[4], Ok(()));
    assert_eq!(asker.read(room).unwrap()[..], pattern(1, size.as_u64()));
    assert_eq!(node_of(&cluster, 0).stored(), size);
    cluster.check_conservation();
}

/// The owner's queue is full, or the owner does not accept for a while: the request is sent again.
#[test]
fn a_refused_request_is_sent_again() {
    for (queue, refuses) in [(1, false), (1024, true)] {
        let mut config = four_nodes();
        config.adapter.queue = queue;
        let mut cluster = cluster(&config);
        let owner = node_of(&cluster, 3);
        let size = Bytes::from_kb(16);
        let bytes = owner.reserve(Placement::Adapter, size);
        owner.accept(!refuses);
        for node in 0..3 {
            let asker = node_of(&cluster, node);
            let room = asker.reserve(Placement::Adapter, size);
            cluster.spawn(format!("asker {node}"), async move {
                let get = asker.dma(Dma::new(bytes.start(), room.start(), size));
                get.await.expect("it is served in the end");
            });
        }
        cluster.spawn("accepts later", async move {
            owner.sleep(Time::from_us(5)).await;
            owner.accept(true);
        });
        cluster.run().expect("all ends");
        // A request and 52 packets for each; what was refused comes on top.
        assert!(cluster.packets() > 3 * 53, "{}", cluster.packets());
        assert_eq!(
            (0..3)
                .map(|node| node_of(&cluster, node).stored())
                .sum::<Bytes>(),
            size * 3
        );
    }
}

/// One get or put of a random program.
#[derive(Clone, Debug)]
struct Step {
    node: u32,
    other: u32,
    get: bool,
    length: u64,
    placements: (Placement, Placement),
    waits: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let placement = || prop_oneof![Just(Placement::Adapter), Just(Placement::Main)];
    let length = prop_oneof![Just(0), Just(320), 1_u64..3000];
    let placements = (placement(), placement());
    (
        0_u32..4,
        0_u32..4,
        any::<bool>(),
        length,
        placements,
        any::<bool>(),
    )
        .prop_map(|(node, other, get, length, placements, waits)| Step {
            node,
            other,
            get,
            length,
            placements,
            waits,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Gets and puts in any mixture, with engines that change DMAs often and short queues: bytes arrive as they were,
    /// before their process goes on, and the meters show them.
    #[test]
    fn bytes_arrive(
        steps in prop::collection::vec(step(), 1..30),
        slice in 1_u64..2000,
        queue in 4_u32..40,
        turnaround in 0_u64..20_000,
    ) {
        let mut config = four_nodes();
        config.adapter.time_slice = Bytes::new(slice);
        config.adapter.turnaround = Time::from_ns(turnaround);
        let mut cluster = cluster(&config);
        let mut programs = vec![Vec::new(); 4];
        let mut meters = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let length = Bytes::new(step.length);
            let (here, there) = (node_of(&cluster, step.node), node_of(&cluster, step.other));
            let (from, to) = if step.get { (&there, &here) } else { (&here, &there) };
            let source = from.allocate(step.placements.0, length);
            let target = to.allocate(step.placements.1, length);
            let bytes = pattern(number as u64, step.length);
            from.write(source, &bytes);
            let meter = cluster.meter();
            meters.push((meter, length));
            let dma = Dma::new(source.start(), target.start(), length).metered(meter);
            programs[step.node as usize].push((dma, step.waits, to.clone(), target, bytes));
        }
        // A node has at most as many DMAs under way as its queue holds; requests of others may have to wait.
        let most = queue as usize / 4;
        for (node, program) in programs.into_iter().enumerate() {
            let here = node_of(&cluster, node as u32);
            cluster.spawn(format!("node {node}"), async move {
                let mut open = Vec::new();
                for (dma, waits, to, target, bytes) in program {
                    open.push((here.dma(dma), to, target, bytes));
                    if waits || open.len() >= most {
                        for (transfer, to, target, bytes) in open.drain(..) {
                            transfer.await.expect("both ends are right");
                            if to.place() == here.place() {
                                assert_eq!(to.read(target).unwrap()[..], bytes[..]);
                            }
                        }
                    }
                }
                for (transfer, ..) in open {
                    transfer.await.expect("both ends are right");
                }
            });
        }
        prop_assert!(cluster.run().is_ok());
        // What was acknowledged before it was written to main memory is written soon.
        settle(&mut cluster);
        for (meter, length) in meters {
            prop_assert_eq!(cluster.metered(meter), length);
        }
        cluster.check_conservation();
    }
}
