//! Contexts, permissions, memory that is mapped and unmapped: a refused access is an error for the
//! program that asked for it, stores no bytes, and harms no other program.

use crate::common;

use common::{cluster, four_nodes, node_of, pattern, run_process, run_thread, settle, start};
use elan::{
    Access, AccessFault, Address, Capability, Cluster, Dma, DmaError, ElanAddr, MainAddr, Node,
    Permissions, Placement, Reason, Region, Thread,
};
use units::{Bytes, Time};

const SIZE: Bytes = Bytes::new(4000);

/// Two processes in one job, on nodes 0 and 1, with a region each.
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

/// Runs a process's DMAs one after the other; returns their ends.
fn outcomes(cluster: &mut Cluster, process: &Node, dmas: Vec<Dma>) -> Vec<Result<(), DmaError>> {
    let process = process.clone();
    run_process(cluster, async move {
        let mut ends = Vec::new();
        for dma in dmas {
            ends.push(process.dma(dma).await);
            process.sleep(Time::from_us(50)).await;
        }
        ends
    })
}

fn fault(address: Address, length: Bytes, access: Access, reason: Reason) -> DmaError {
    AccessFault::new(address, length, access, reason).into()
}

/// Each right alone admits the accesses that need it, and no others.
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
            Dma::new(from, to, short),
            Dma::new(to, from, short),
            Dma::new(from, to, zero).notify(event),
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

        // The region is a source, and a thread's memory.
        let back = vec![Dma::new(to, from, short)];
        let ends = outcomes(&mut pair.cluster, &pair.b.clone(), back);
        let local = outcome(Permissions::LOCAL_READ, Access::LocalRead, to, short);
        assert_eq!(ends, [local], "{held:?}");
        let near = pair.b.allocate(Placement::Adapter, SIZE).start();
        pair.b.protect(near.elan, SIZE, held).unwrap();
        let program = async move |thread: Thread| {
            let read = thread.load(near, short).map(|_| ());
            (read, thread.store(near, &[1; 100]))
        };
        let (read, written) = run_thread(&mut pair.cluster, &pair.b, program);
        for (access, right, found) in [
            (Access::LocalRead, Permissions::LOCAL_READ, read),
            (Access::LocalWrite, Permissions::LOCAL_WRITE, written),
        ] {
            let expected = outcome(right, access, near, short);
            assert_eq!(found.map_err(DmaError::Fault), expected, "{held:?}");
        }
    }
}

/// The latest change of a byte's permissions counts, whatever parts it overlaps: compared with a
/// list of all bytes.
#[test]
fn later_changes_cut_earlier_ones() {
    let mut pair = pair();
    let near = pair.b.allocate(Placement::Adapter, SIZE).start();
    let mut readable = [true; 60];
    for (part, held) in [
        (10..20, Permissions::NONE),
        (30..40, Permissions::NONE),
        (0..5, Permissions::LOCAL_READ),
        (15..35, Permissions::LOCAL_READ),
        (25..27, Permissions::NONE),
        (20..30, Permissions::LOCAL_READ),
        (50..60, Permissions::NONE),
        (51..59, Permissions::LOCAL_READ),
    ] {
        let (start, length) = (Bytes::new(part.start), Bytes::new(part.end - part.start));
        let at = near.offset(start).elan;
        pair.b.protect(at, length, held).unwrap();
        readable[part.start as usize..part.end as usize].fill(held != Permissions::NONE);
    }
    let program = async move |thread: Thread| {
        let load = |start: u64, length| thread.load(near.offset(Bytes::new(start)), length);
        let at = |byte| load(byte, Bytes::new(1)).is_ok();
        let pairs = |byte| load(byte, Bytes::new(2)).is_ok();
        let single: Vec<bool> = (0..60).map(at).collect();
        (single, (0..59).map(pairs).collect::<Vec<bool>>())
    };
    let (single, pairs) = run_thread(&mut pair.cluster, &pair.b, program);
    assert_eq!(single, readable);
    let both: Vec<bool> = readable.windows(2).map(|two| two[0] && two[1]).collect();
    assert_eq!(pairs, both);
}

/// A put across a protected part's border: the packets before the border are stored, the packet at
/// the border and the rest are not, and an event that would follow does not occur.
#[test]
fn nothing_of_the_offending_packet_is_stored() {
    let mut pair = pair();
    let Pair {
        b, ours, theirs, ..
    } = &pair;
    // The third packet has 100 bytes in the protected part.
    let border = Bytes::new(2 * 320 + 220);
    b.protect(theirs.at(border).elan, Bytes::new(1), Permissions::NONE)
        .unwrap();
    let event = b.event(1);
    let dma = Dma::new(ours.start(), theirs.start(), SIZE).notify(event);
    let third = theirs.at(Bytes::new(2 * 320));
    let ends = outcomes(&mut pair.cluster, &pair.a.clone(), vec![dma]);
    let packet = Bytes::new(320);
    let error = fault(third, packet, Access::RemoteWrite, Reason::Forbidden);
    assert_eq!(ends, [Err(error)]);
    let at = third.elan;
    let text = format!(
        "a remote write of 320 B at {at} of node 1, context 1 faults: its permissions forbid it"
    );
    assert_eq!(error.to_string(), text);
    let found = pair.b.read(pair.theirs).unwrap();
    let (source, before) = (pattern(1, SIZE.as_u64()), pattern(2, SIZE.as_u64()));
    assert_eq!(found[..640], source[..640]);
    assert_eq!(found[640..960], before[640..960]);
    assert!(!pair.b.is_set(event));
    pair.cluster.check_conservation();
}

/// Processes with other capabilities, and contexts that do not exist, are out of reach, independent
/// of the permissions.
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
        Dma::new(here, there, one),
        Dma::new(there, here, one),
        Dma::new(here, there, Bytes::ZERO).notify(event),
        Dma::new(here, left, one),
        Dma::new(here, here.offset(one), one),
    ];
    let ends = outcomes(&mut pair.cluster, &stranger, dmas);
    let strange = |length, access| Err(fault(there, length, access, Reason::Stranger));
    let place = pair.b.event_address(event).unwrap();
    let of_event = (Bytes::new(64), Access::RemoteEvent, Reason::Stranger);
    let expected = [
        strange(one, Access::RemoteWrite),
        strange(one, Access::RemoteRead),
        Err(fault(place, of_event.0, of_event.1, of_event.2)),
        Err(fault(left, one, Access::RemoteWrite, Reason::NoContext)),
        Ok(()),
    ];
    assert_eq!(ends, expected);
    let kept = pair.b.read(pair.theirs).unwrap();
    assert_eq!(kept[..], pattern(2, SIZE.as_u64()));
    // The open processes are no exception.
    let mine = open.allocate(Placement::Adapter, SIZE).start();
    let dmas = vec![Dma::new(mine, there, one)];
    let ends = outcomes(&mut pair.cluster, &open, dmas);
    assert_eq!(ends, [strange(one, Access::RemoteWrite)]);
    // A process that has detached has no memory, either.
    let error = gone.store(left, &[1]).unwrap_err();
    assert_eq!(
        (error.access, error.reason),
        (Access::Host, Reason::NoContext)
    );
}

/// Processes on one node have separate memories at the same addresses.
#[test]
fn contexts_of_a_node_do_not_share() {
    let (cluster, [node]) = start(&four_nodes());
    let all = [0, 1, 2, 3].map(|number| {
        let process = node.attach(cluster.capability()).unwrap();
        let region = process.allocate(Placement::Main, SIZE);
        process.write(region, &pattern(number, SIZE.as_u64()));
        (number, process, region)
    });
    for (number, process, region) in &all {
        assert_eq!(region.start().elan, all[0].2.start().elan);
        let found = process.read(*region).unwrap();
        assert_eq!(found[..], pattern(*number, SIZE.as_u64()));
    }
}

/// Memory that has been freed is out of reach, also in the midst of a transfer, at a put's or a
/// get's either end.
#[test]
fn freed_memory_is_unmapped() {
    let long = Bytes::from_kb(64);
    for (get, owner_frees) in [(false, false), (false, true), (true, false), (true, true)] {
        for placement in [Placement::Adapter, Placement::Main] {
            let (mut cluster, [a, b]) = start(&four_nodes());
            let [ours, theirs] = [&a, &b].map(|node| node.allocate(placement, long));
            let (from, to) = if get { (theirs, ours) } else { (ours, theirs) };
            let (owner, region) = if owner_frees {
                (b, theirs)
            } else {
                (a.clone(), ours)
            };
            cluster.spawn("frees", async move {
                owner.sleep(Time::from_us(40)).await;
                owner.free(region).unwrap();
            });
            let dma = Dma::new(from.start(), to.start(), long);
            let ends = run_process(
                &mut cluster,
                async move { [a.dma(dma).await, a.dma(dma).await] },
            );
            let writes = get != owner_frees;
            let access = match (get, owner_frees) {
                _ if writes => Access::RemoteWrite,
                (true, _) => Access::RemoteRead,
                (false, _) => Access::LocalRead,
            };
            let in_the_middle = ends.map(|end| {
                let Err(DmaError::Fault(fault)) = end else {
                    panic!("{end:?} although the memory is gone");
                };
                assert_eq!((fault.access, fault.reason), (access, Reason::Unmapped));
                fault.address.elan > region.start().elan
            });
            assert_eq!(in_the_middle, [true, false], "{ends:?}");
            // Packets that wait for the bus settle; then the state is as before.
            settle(&mut cluster);
            cluster.check_conservation();
        }
    }
}

/// Packets in the input buffers when their memory goes: their bytes are lost, and the process that
/// freed it gets traps.
#[test]
fn memory_that_goes_while_packets_wait_for_the_bus() {
    let mut config = four_nodes();
    config.bus.burst_overhead = Time::from_us(20);
    let (mut cluster, [a, b]) = start(&config);
    let from = a.allocate(Placement::Adapter, SIZE);
    let to = b.allocate(Placement::Main, SIZE);
    let packet = Bytes::new(320);
    let sent = a.dma(Dma::new(from.start(), to.start(), packet));
    let owner = b.clone();
    cluster.spawn("frees", async move {
        owner.sleep(Time::from_us(30)).await;
        owner.free(to).unwrap();
        owner.sleep(Time::from_us(200)).await;
    });
    let end = run_process(&mut cluster, sent);
    assert_eq!(end, Ok(()), "it was acknowledged before");
    let lost = fault(to.start(), packet, Access::RemoteWrite, Reason::Unmapped);
    assert_eq!((b.trap(), b.trap()), (Some(lost), None));
}

/// The heap in petrini2003's figure 5: its first address, and the host's name for it.
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
    let around = [0x1FF_0000_0000, 0x1FF_0C80_7FFF, 0x1FF_FFFF_E000];
    for outside in [0, 0x0C80_8000, u64::MAX].into_iter().chain(around) {
        assert_eq!(MainAddr::new(outside).elan(), None);
    }
}

/// Adapter memory has an end. It is counted in whole pages, over all contexts, and only for regions
/// that hold bytes.
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
    let text = "node 0, context 1: no room for 8193 B of adapter memory; 8 KB are left";
    assert_eq!(error.to_string(), text);
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

/// The address space has an end, too; gaps are used again.
#[test]
fn addresses_have_an_end() {
    let (_, [node]) = start(&four_nodes());
    let map = |bytes| node.map(Placement::Main, Bytes::new(bytes), Permissions::ALL, false);
    let half = (1 << 31) - 1;
    let first = map(half).unwrap();
    let error = map(half).unwrap_err();
    // From the heap's start to its end, less the first range's pages and a page between.
    let left = 0xFFFF_E000 - 0x0C80_8000 - (1 << 31) - 8192;
    assert_eq!(error.left, Bytes::new(left));
    map(left).expect("exactly this fits");
    assert_eq!(map(1).unwrap_err().left, Bytes::ZERO);
    node.free(first).unwrap();
    assert_eq!(map(8192).unwrap().start(), first.start());
    assert!(map(half).is_err());
}

/// Contexts are numbered from 1, up to 4,096 contexts; detached contexts' numbers are used again.
#[test]
fn contexts_have_an_end() {
    let cluster = cluster(&four_nodes());
    let (node, capability) = (node_of(&cluster, 0), cluster.capability());
    let all = (1..4096).map(|_| node.attach(capability).unwrap());
    let all: Vec<Node> = all.collect();
    assert_eq!(
        [0, 4094].map(|index: usize| all[index].context().get()),
        [1, 4095]
    );
    assert_eq!(
        node.attach(capability).err().unwrap().to_string(),
        "no context is left on the adapter of node 0, which has 4095 for processes: start fewer \
        processes or jobs on it \
         at a time, or detach those that have ended"
    );
    all[70].detach();
    all[70].detach();
    let again = node.attach(capability).unwrap();
    assert_eq!(again.context(), all[70].context());
}
