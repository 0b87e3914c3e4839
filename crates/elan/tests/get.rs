//! Gets: times worked out on paper, bytes that arrive intact, requests that are refused, and
//! meters.

use crate::common;

use common::{
    PLACEMENTS, bursts, cluster, flits, four_nodes, machine, node_of, odd_machine, pattern,
    run_process, start,
};
use elan::{Access, AccessFault, Config, Dma, DmaError, Placement, Reason};
use fabric::FatTree;
use units::{Bytes, Time};

/// When a process that gets one packet at time 0 knows that the bytes are there; both buses are
/// idle.
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
    // The asker's bus has moved the command; for the next transfer it turns once.
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
                    let done = run_process(&mut cluster, async move {
                        let get = asker.dma(Dma::new(source.start(), target.start(), size));
                        get.await.expect("both ends are right");
                        asker.now()
                    });
                    let expected = by_hand(&config, travel.into(), (from, to), length);
                    let case = format!("{length} B from {from:?} of node {other} to {to:?}");
                    assert_eq!(done, expected, "{case}");
                }
            }
        }
    }
}

/// A long get uses the other node's engine: the asker's engine is free for a put that is posted
/// later.
#[test]
fn the_owner_does_the_work() {
    let (mut cluster, [asker, owner]) = start(&four_nodes());
    let long = Bytes::from_mb(1);
    let bytes = owner.reserve(Placement::Adapter, long);
    let room = asker.reserve(Placement::Adapter, long);
    let (put, get) = run_process(&mut cluster, async move {
        let get = asker.dma(Dma::new(bytes.start(), room.start(), long));
        asker.sleep(Time::from_us(10)).await;
        let put = asker.dma(Dma::new(room.start(), bytes.start(), Bytes::new(64)));
        put.await.expect("both ends are right");
        let put = asker.now();
        get.await.expect("both ends are right");
        (put, asker.now())
    });
    assert!(put < Time::from_us(20), "{put}");
    // A 320-byte packet in 189 cycles, 5 ns each.
    let least = Time::from_ns(945) * (long.as_u64() / 320);
    assert!(get > least, "{get}");
    let stored = [0, 1].map(|node| node_of(&cluster, node).stored());
    assert_eq!(stored, [long, Bytes::new(64)]);
}

/// Gets from or into memory that is not there fail; no bytes are stored, and the next get is
/// served.
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
    let posts = asker.clone();
    let outcomes = run_process(&mut cluster, async move {
        let mut outcomes = Vec::new();
        for dma in [
            Dma::new(bytes.at(one), room.start(), size),
            Dma::new(bytes.start(), room.at(one), size),
            Dma::new(bytes.start(), room.start(), size).notify(theirs),
            Dma::new(bytes.start(), elsewhere.start(), size),
            Dma::new(bytes.start(), room.start(), size).notify(ours),
        ] {
            outcomes.push(posts.dma(dma).await);
        }
        posts.wait(ours).await;
        outcomes
    });
    let fault = |at, access| DmaError::from(AccessFault::new(at, size, access, Reason::Unmapped));
    let (node, context) = (asker.place(), asker.context());
    let misdirected = DmaError::Misdirected { node, context };
    let wrong = [
        fault(bytes.at(one), Access::RemoteRead),
        fault(room.at(one), Access::RemoteWrite),
        misdirected,
        misdirected,
    ];
    assert_eq!(outcomes[..4], wrong.map(Err));
    assert_eq!(outcomes[4], Ok(()));
    assert_eq!(asker.read(room).unwrap()[..], pattern(1, size.as_u64()));
    assert_eq!(node_of(&cluster, 0).stored(), size);
    cluster.check_conservation();
}

/// An owner withdraws offered bytes, before the get comes, or in the middle: the get fails, and
/// brings no bytes that the owner has put there since. A get of bytes that are not withdrawn takes
/// as long as any other.
#[test]
fn withdrawn_bytes_are_not_got() {
    let size = Bytes::from_kb(16);
    // When the owner withdraws the bytes, and whether the get names the word.
    let get = |withdraws: Option<Time>, offered: bool| {
        let (mut cluster, [asker, owner]) = start(&four_nodes());
        let bytes = owner.allocate(Placement::Adapter, size);
        owner.write(bytes, &pattern(1, size.as_u64()));
        let word = owner.allocate(Placement::Adapter, Bytes::new(8));
        let room = asker.allocate(Placement::Adapter, size);
        let mut dma = Dma::new(bytes.start(), room.start(), size);
        if offered {
            dma = dma.unless_withdrawn(word.start());
        }
        if let Some(at) = withdraws {
            cluster.spawn("owner", async move {
                owner.sleep_until(at).await;
                owner.write(word, &1_u64.to_le_bytes());
                owner.write(bytes, &pattern(2, size.as_u64()));
            });
        }
        let posts = asker.clone();
        let end = run_process(&mut cluster, async move {
            let end = posts.dma(dma).await;
            (end, posts.now())
        });
        assert!(cluster.census().is_empty(), "{:?}", cluster.census());
        (end, asker.read(room).unwrap())
    };
    let ((fine, took), found) = get(None, true);
    assert_eq!(get(None, false).0, (Ok(()), took));
    assert_eq!((fine, &found[..]), (Ok(()), &pattern(1, size.as_u64())[..]));
    let mut stored = Vec::new();
    for at in [Time::ZERO, took / 4, took / 2, took * 3 / 4] {
        let ((end, _), found) = get(Some(at), true);
        let withdrawn = |error| match error {
            DmaError::Fault(fault) => (fault.access, fault.reason),
            other => panic!("{other}"),
        };
        let reason = (Access::RemoteRead, Reason::Withdrawn);
        assert_eq!(end.map_err(withdrawn), Err(reason), "at {at}");
        let first = found.iter().take_while(|byte| **byte != 0).count();
        assert_eq!(found[..first], pattern(1, size.as_u64())[..first]);
        stored.push(first);
    }
    assert!(stored[0] == 0 && stored.is_sorted(), "{stored:?}");
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
        // A request and 52 packets for each; refused ones come on top.
        assert!(cluster.packets() > 3 * 53, "{}", cluster.packets());
        let stored = (0..3).map(|node| node_of(&cluster, node).stored());
        assert_eq!(stored.sum::<Bytes>(), size * 3);
    }
}
