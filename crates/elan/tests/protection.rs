//! Contexts, permissions, memory that comes and goes: what is refused reaches the program that asked, stores nothing, and
//! harms nobody else.

mod common;

use common::{cluster, four_nodes, log, logs, node_of, pattern, settle, start};
use elan::{
    Access, Address, Capability, Cluster, Dma, DmaError, ElanAddr, Fault, MainAddr, Node,
    Permissions, Placement, Reason, Region,
};
use units::{Bytes, Time};

const SIZE: Bytes = Bytes::new(4000);

/// Two processes of one job, on nodes 0 and 1, with a region each.
struct Pair {
    cluster: Cluster,
    capability: Capability,
    a: Node,
    b: Node,
    ours: Region,
    theirs: Region,
}

fn pair() -> Pair {
    let cluster = cluster(&four_nodes());
    let capability = cluster.capability();
    let [a, b] = [0, 1].map(|node| node_of(&cluster, node).attach(capability).unwrap());
    let [ours, theirs] = [&a, &b].map(|node| node.allocate(Placement::Main, SIZE));
    a.write(ours, &pattern(1, SIZE.as_u64()));
    b.write(theirs, &pattern(2, SIZE.as_u64()));
    Pair {
        cluster,
        capability,
        a,
        b,
        ours,
        theirs,
    }
}

/// Runs DMAs of a process one after the other, and what happens before each; returns their ends.
fn outcomes(
    cluster: &mut Cluster,
    process: &Node,
    dmas: Vec<(Dma, Box<dyn Fn()>)>,
) -> Vec<Result<(), DmaError>> {
    let (process, ends) = (process.clone(), log());
    let noted = ends.clone();
    cluster.spawn("posts", async move {
        for (dma, before) in dmas {
            before();
            noted.note(process.dma(dma).await);
            process.sleep(Time::from_us(50)).await;
        }
    });
    cluster.run().expect("all ends");
    let ends = ends.borrow();
    ends.clone()
}

fn fault(address: Address, length: Bytes, access: Access, reason: Reason) -> DmaError {
    Fault::new(address, length, access, reason).into()
}

fn nothing() -> Box<dyn Fn()> {
    Box::new(|| {})
}

/// Each right alone lets through what needs it, and nothing else.
#[test]
fn every_access_needs_its_right() {
    let rights = [
        Permissions::LOCAL_READ,
        Permissions::LOCAL_WRITE,
        Permissions::REMOTE_READ,
        Permissions::REMOTE_WRITE,
        Permissions::REMOTE_EVENT,
    ];
    let short = Bytes::new(100);
    for held in rights {
        let mut pair = pair();
        let Pair {
            b, ours, theirs, ..
        } = &pair;
        let (from, to) = (ours.start(), theirs.start());
        b.protect(to.elan, SIZE, held).unwrap();
        let event = b.event(1);
        let place = b.event_address(event).unwrap();
        b.protect(place.elan, Bytes::new(64), held).unwrap();
        let zero = Bytes::ZERO;
        let dmas = vec![
            (Dma::new(from, to, short), nothing()),
            (Dma::new(to, from, short), nothing()),
            (Dma::new(from, to, zero).notify(event), nothing()),
        ];
        let ends = outcomes(&mut pair.cluster, &pair.a.clone(), dmas);
        let outcome = |right, access, at, length| {
            if held == right {
                Ok(())
            } else {
                Err(fault(at, length, access, Reason::Forbidden))
            }
        };
        let block = Bytes::new(64);
        let expected = [
            outcome(Permissions::REMOTE_WRITE, Access::RemoteWrite, to, short),
            outcome(Permissions::REMOTE_READ, Access::RemoteRead, to, short),
            outcome(Permissions::REMOTE_EVENT, Access::RemoteEvent, place, block),
        ];
        assert_eq!(ends, expected, "{held:?}");
        let mut kept = pattern(2, SIZE.as_u64());
        if held == Permissions::REMOTE_WRITE {
            kept[..100].copy_from_slice(&pattern(1, 100));
        }
        assert_eq!(pair.b.read(pair.theirs).unwrap()[..], kept);

        // As a source, and for a thread.
        let back = vec![(Dma::new(to, from, short), nothing())];
        let ends = outcomes(&mut pair.cluster, &pair.b.clone(), back);
        let local = outcome(Permissions::LOCAL_READ, Access::LocalRead, to, short);
        assert_eq!(ends, [local], "{held:?}");
        let near = pair.b.allocate(Placement::Adapter, SIZE).start();
        pair.b.protect(near.elan, SIZE, held).unwrap();
        let [seen, noted] = logs();
        pair.b
            .run("reads and writes", async move |thread| {
                noted.note(thread.load(near, short).map(|_| ()));
                noted.note(thread.store(near, &[1; 100]));
            })
            .unwrap();
        let end = pair.cluster.now() + Time::from_us(50);
        pair.cluster.run_until(end).unwrap();
        for (access, right, found) in [
            (Access::LocalRead, Permissions::LOCAL_READ, seen.borrow()[0]),
            (
                Access::LocalWrite,
                Permissions::LOCAL_WRITE,
                seen.borrow()[1],
            ),
        ] {
            let expected = outcome(right, access, near, short);
            assert_eq!(found.map_err(DmaError::Fault), expected, "{held:?}");
        }
    }
}

/// A put across the border of a protected part: the packets before it are stored, that one and the rest are not, and an
/// event that would follow does not occur.
#[test]
fn nothing_of_the_offending_packet_is_stored() {
    let mut pair = pair();
    let Pair {
        b, ours, theirs, ..
    } = &pair;
    // The third packet has 100 bytes of it.
    let border = Bytes::new(2 * 320 + 220);
    b.protect(theirs.at(border).elan, Bytes::new(1), Permissions::NONE)
        .unwrap();
    let event = b.event(1);
    let dma = Dma::new(ours.start(), theirs.start(), SIZE).notify(event);
    let third = theirs.at(Bytes::new(2 * 320));
    let ends = outcomes(&mut pair.cluster, &pair.a.clone(), vec![(dma, nothing())]);
    let packet = Bytes::new(320);
    let error = fault(third, packet, Access::RemoteWrite, Reason::Forbidden);
    assert_eq!(ends, [Err(error)]);
    assert_eq!(
        error.to_string(),
        format!(
            "a remote write of 320 B at {} of node 1, context 1 faults: its permissions forbid it",
            third.elan
        )
    );
    let found = pair.b.read(pair.theirs).unwrap();
    let (source, before) = (pattern(1, SIZE.as_u64()), pattern(2, SIZE.as_u64()));
    assert_eq!(found[..640], source[..640]);
    assert_eq!(found[640..960], before[640..960]);
    assert!(!pair.b.is_set(event));
    pair.cluster.check_conservation();
}

/// Processes of other capabilities, and contexts that are not there, are out of reach whatever the permissions.
#[test]
fn capabilities_keep_jobs_apart() {
    let mut pair = pair();
    let other = pair.cluster.capability();
    assert_ne!(other, pair.capability);
    let stranger = node_of(&pair.cluster, 2).attach(other).unwrap();
    let open = node_of(&pair.cluster, 2);
    let here = stranger.allocate(Placement::Adapter, SIZE).start();
    let there = pair.theirs.start();
    let event = pair.b.event(1);
    let gone = node_of(&pair.cluster, 3).attach(other).unwrap();
    let left = gone.allocate(Placement::Main, SIZE).start();
    gone.detach();
    let one = Bytes::new(1);
    let dmas = vec![
        (Dma::new(here, there, one), nothing()),
        (Dma::new(there, here, one), nothing()),
        (Dma::new(here, there, Bytes::ZERO).notify(event), nothing()),
        (Dma::new(here, left, one), nothing()),
        (Dma::new(here, here.offset(one), one), nothing()),
    ];
    let ends = outcomes(&mut pair.cluster, &stranger, dmas);
    let strange = |length, access| Err(fault(there, length, access, Reason::Stranger));
    let place = pair.b.event_address(event).unwrap();
    assert_eq!(
        ends,
        [
            strange(one, Access::RemoteWrite),
            strange(one, Access::RemoteRead),
            Err(fault(
                place,
                Bytes::new(64),
                Access::RemoteEvent,
                Reason::Stranger
            )),
            Err(fault(left, one, Access::RemoteWrite, Reason::NoContext)),
            Ok(()),
        ]
    );
    assert_eq!(
        pair.b.read(pair.theirs).unwrap()[..],
        pattern(2, SIZE.as_u64())
    );
    // The open processes are no exception.
    let mine = open.allocate(Placement::Adapter, SIZE).start();
    let ends = outcomes(
        &mut pair.cluster,
        &open,
        vec![(Dma::new(mine, there, one), nothing())],
    );
    assert_eq!(ends, [strange(one, Access::RemoteWrite)]);
    // A process that has detached has no memory, either.
    assert_eq!(
        gone.store(left, &[1]),
        Err(Fault::new(left, one, Access::Host, Reason::NoContext))
    );
}

/// Processes of one node have separate memories at the same addresses.
#[test]
fn contexts_of_a_node_do_not_share() {
    let (cluster, [node]) = start(&four_nodes());
    let all: Vec<Node> = (0..4)
        .map(|_| node.attach(cluster.capability()).unwrap())
        .collect();
    let regions: Vec<Region> = all
        .iter()
        .map(|process| process.allocate(Placement::Main, SIZE))
        .collect();
    for (number, (process, region)) in all.iter().zip(&regions).enumerate() {
        assert_eq!(region.start().elan, regions[0].start().elan);
        process.write(*region, &pattern(number as u64, SIZE.as_u64()));
    }
    for (number, (process, region)) in all.iter().zip(&regions).enumerate() {
        assert_eq!(
            process.read(*region).unwrap()[..],
            pattern(number as u64, SIZE.as_u64())
        );
    }
}

/// Memory that has been freed is out of reach, also in the midst of a transfer, at either end of a put or a get.
#[test]
fn freed_memory_is_unmapped() {
    let long = Bytes::from_kb(64);
    for (get, owner_frees) in [(false, false), (false, true), (true, false), (true, true)] {
        for placement in [Placement::Adapter, Placement::Main] {
            let (mut cluster, [a, b]) = start(&four_nodes());
            let [ours, theirs] = [&a, &b].map(|node| node.allocate(placement, long));
            let (from, to) = if get { (theirs, ours) } else { (ours, theirs) };
            let ends = log();
            let (noted, process) = (ends.clone(), a.clone());
            cluster.spawn("posts", async move {
                let dma = Dma::new(from.start(), to.start(), long);
                noted.note(process.dma(dma).await);
                noted.note(process.dma(dma).await);
            });
            let owner = if owner_frees { b.clone() } else { a.clone() };
            let region = if owner_frees { theirs } else { ours };
            cluster.spawn("frees", async move {
                owner.sleep(Time::from_us(40)).await;
                owner.free(region).unwrap();
            });
            cluster.run().expect("all ends");
            let ends = ends.borrow();
            let writes = get != owner_frees;
            let access = match (get, owner_frees) {
                _ if writes => Access::RemoteWrite,
                (true, _) => Access::RemoteRead,
                (false, _) => Access::LocalRead,
            };
            for end in ends.iter() {
                let Err(DmaError::Fault(fault)) = end else {
                    panic!("{end:?} although the memory is gone");
                };
                assert_eq!((fault.access, fault.reason), (access, Reason::Unmapped));
            }
            assert_eq!(ends.len(), 2);
            let middle = |error: &Result<(), DmaError>| match error {
                Err(DmaError::Fault(fault)) => fault.address.elan > region.start().elan,
                _ => false,
            };
            assert!(middle(&ends[0]) && !middle(&ends[1]), "{ends:?}");
            // What waits for the bus settles; then all is as if nothing had been.
            settle(&mut cluster);
            cluster.check_conservation();
        }
    }
}

/// Packets in the input buffers when their memory goes: their bytes are lost, and the process that freed it gets traps.
#[test]
fn memory_that_goes_while_packets_wait_for_the_bus() {
    let mut config = four_nodes();
    config.bus.burst_overhead = Time::from_us(20);
    let (mut cluster, [a, b]) = start(&config);
    let from = a.allocate(Placement::Adapter, SIZE);
    let to = b.allocate(Placement::Main, SIZE);
    let [ends, noted] = logs();
    cluster.spawn("puts", async move {
        let dma = Dma::new(from.start(), to.start(), Bytes::new(320));
        noted.note(a.dma(dma).await);
    });
    let owner = b.clone();
    cluster.spawn("frees", async move {
        owner.sleep(Time::from_us(30)).await;
        owner.free(to).unwrap();
        owner.sleep(Time::from_us(200)).await;
    });
    cluster.run().expect("all ends");
    assert_eq!(*ends.borrow(), [Ok(())], "it was acknowledged before");
    let lost = fault(
        to.start(),
        Bytes::new(320),
        Access::RemoteWrite,
        Reason::Unmapped,
    );
    assert_eq!((b.trap(), b.trap()), (Some(lost), None));
}

/// The heap of figure 5 of petrini2003: its first address, and the host's name for it.
#[test]
fn both_names_of_an_address() {
    let cluster = cluster(&four_nodes());
    let region = node_of(&cluster, 0).allocate(Placement::Main, SIZE);
    let elan = region.start().elan;
    assert_eq!(elan, ElanAddr::new(0x0C80_8000));
    assert_eq!(elan.main(), Some(MainAddr::new(0x1FF_0C80_8000)));
    for address in [0x0C80_8000, 0x0C80_8001, 0x8000_0000, 0xFFFF_DFFF] {
        let elan = ElanAddr::new(address);
        assert_eq!(elan.main().and_then(MainAddr::elan), Some(elan));
    }
    for outside in [0, 0x0C80_7FFF, 0xFFFF_E000, u32::MAX] {
        assert_eq!(ElanAddr::new(outside).main(), None);
    }
    for outside in [
        0,
        0x0C80_8000,
        0x1FF_0000_0000,
        0x1FF_0C80_7FFF,
        0x1FF_FFFF_E000,
        u64::MAX,
    ] {
        assert_eq!(MainAddr::new(outside).elan(), None);
    }
}

/// Adapter memory has an end, which counts whole pages, of all contexts, and only what holds bytes.
#[test]
fn adapter_memory_has_an_end() {
    let mut config = four_nodes();
    config.adapter.memory = Bytes::from_kb(64);
    let (cluster, [node]) = start(&config);
    let other = node.attach(cluster.capability()).unwrap();
    let map = |process: &Node, placement, bytes, real| {
        process.map(placement, Bytes::new(bytes), Permissions::ALL, real)
    };
    let adapter = Placement::Adapter;
    let seven = map(&node, adapter, 7 * 8192 - 100, true).unwrap();
    let error = map(&other, adapter, 8193, true).unwrap_err();
    assert_eq!(
        (error.left, error.bytes),
        (Bytes::from_kb(8), Bytes::new(8193))
    );
    assert_eq!(
        error.to_string(),
        "node 0, context 1: no room for 8193 B of adapter memory; 8 KB are left"
    );
    map(&other, adapter, 1, true).unwrap();
    assert!(map(&node, adapter, 1, true).is_err());
    map(&node, Placement::Main, 1 << 20, true).expect("main memory is elsewhere");
    map(&node, adapter, 1 << 20, false).expect("it has no bytes");
    assert!(node.run("no stack", async |_| ()).is_err());
    node.free(seven).unwrap();
    assert!(node.free(seven).is_err(), "once is enough");
    assert!(map(&other, adapter, 7 * 8192, true).is_ok());
    other.detach();
    assert!(map(&node, adapter, 8 * 8192, true).is_ok());
}

/// The address space has an end, too; and a gap is used again.
#[test]
fn addresses_have_an_end() {
    let (_, [node]) = start(&four_nodes());
    let map = |bytes| node.map(Placement::Main, Bytes::new(bytes), Permissions::ALL, false);
    let half = (1 << 31) - 1;
    let first = map(half).unwrap();
    let error = map(half).unwrap_err();
    // From the heap's start to its end, less the first one's pages and a page between.
    let left = 0xFFFF_E000 - 0x0C80_8000 - (1 << 31) - 8192;
    assert_eq!(error.left, Bytes::new(left));
    map(left).expect("exactly this fits");
    assert_eq!(map(1).unwrap_err().left, Bytes::ZERO);
    node.free(first).unwrap();
    assert_eq!(map(8192).unwrap().start(), first.start());
    assert!(map(half).is_err());
}

/// Contexts are numbered from 1; the numbers of those that left are used again; there are 4,096.
#[test]
fn contexts_have_an_end() {
    let cluster = cluster(&four_nodes());
    let (node, capability) = (node_of(&cluster, 0), cluster.capability());
    let all: Vec<Node> = (1..4096)
        .map(|_| node.attach(capability).unwrap())
        .collect();
    assert_eq!(
        (all[0].context().get(), all[4094].context().get()),
        (1, 4095)
    );
    assert_eq!(
        node.attach(capability).err().unwrap().to_string(),
        "no context is left on the adapter of node 0, which has 4095 for processes: start fewer processes or jobs on it \
         at a time, or detach those that have ended"
    );
    all[70].detach();
    all[70].detach();
    assert_eq!(
        node.attach(capability).unwrap().context(),
        all[70].context()
    );
}
