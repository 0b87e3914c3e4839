//! Elan3lib: every call works as documented, and a program's mistakes come back to it as errors.

use crate::common;

use common::{
    cluster, four_nodes, job, job_of, logs, me, node_of, pattern, pid, run, sixteen_nodes, start,
};
use elan::{
    Access, AccessFault, Action, DmaError, ElanAddr, NodeId, Permissions, Placement, Reason, Stop,
    WaitMode,
};
use libelan::elan3::{AllocError, Heap, Location};
use libelan::{JobError, ProcessJob};
use proptest::prelude::*;
use std::collections::BTreeMap;
use units::{Bytes, Time};

const SIZE: Bytes = Bytes::new(1000);

fn four() -> ProcessJob {
    job(&[0, 1, 2, 3])
}

#[test]
fn who_is_where() {
    let [seen, noted] = logs();
    let job = job_of(&[3, 0, 7], 2);
    run(&job, async move |pe| {
        let elan3 = pe.elan3();
        let location = elan3.vp2location(elan3.process()).unwrap();
        assert_eq!(location.node, pe.node().rail_and_node().1);
        assert_eq!(elan3.location2vp(location), Some(pe.vp()));
        assert_eq!((elan3.nvps(), elan3.nlocal()), (6, 2));
        assert_eq!((elan3.nrails(), elan3.rails()), (1, 1));
        assert_eq!(elan3.vp2location(pid(6)), None);
        let (node, local) = (NodeId::new(1), 0);
        let elsewhere = Location { node, local };
        assert_eq!(elan3.location2vp(elsewhere), None);
        noted.note((me(&pe), location.node.get(), location.local));
    });
    let expected = [
        [(0, 3, 0), (1, 3, 1)],
        [(2, 0, 0), (3, 0, 1)],
        [(4, 7, 0), (5, 7, 1)],
    ];
    assert_eq!(*seen.borrow(), expected.concat());
}

#[test]
fn jobs_that_cannot_run() {
    assert_eq!(ProcessJob::at("none", []).unwrap_err(), JobError::Empty);
    let mut cluster = cluster(&four_nodes());
    let crowded = job(&[1, 2, 2, 2, 2, 2]);
    let error = crowded.launch(&mut cluster, async |_| ()).unwrap_err();
    let text = "5 processes on node 2; it has 4 processors (host.cpus)";
    assert_eq!(error.to_string(), text);
    let far = job(&[0, 4]);
    let error = far.launch(&mut cluster, async |_| ()).unwrap_err();
    assert_eq!(error.to_string(), "there is no node 4; the cluster has 4");
    // Contexts that are in use: 4,095 processes from other jobs.
    let (node, capability) = (node_of(&cluster, 1), cluster.capability());
    let others = (1..4096).map(|_| node.attach(capability).unwrap());
    let others: Vec<_> = others.collect();
    let mut launch = |places: &[u32]| job(places).launch(&mut cluster, async |_| ());
    let error = launch(&[0, 1]).unwrap_err().to_string();
    let text =
        "no context is left on the adapter of node 1, which has 4095 for processes: start fewer";
    assert!(error.starts_with(text), "{error}");
    // A job that finds only one context keeps no context.
    others[9].detach();
    launch(&[0, 1, 1]).unwrap_err();
    launch(&[0, 1]).unwrap();
}

/// A ring of puts: the same calls give the same addresses in every process, and each finds its
/// neighbour's bytes.
#[test]
fn puts_with_notification() {
    run(&four(), async |pe| {
        let elan3 = pe.elan3();
        let from = elan3.alloc_main(64, SIZE).unwrap();
        let to = elan3.alloc_elan(64, SIZE).unwrap();
        let place = elan3.alloc_elan(64, Bytes::new(64)).unwrap();
        let arrived = elan3.init_event(place, 1).unwrap();
        let bytes = pattern(me(&pe).into(), SIZE.as_u64());
        elan3.store(from, &bytes).unwrap();
        let right = (me(&pe) + 1) % pe.nvps();
        for _ in 0..3 {
            // No event occurs before all processes have primed theirs.
            pe.compute(Time::from_us(30)).await;
            let put = elan3.put_notify(pid(right), from, to, SIZE, place);
            elan3.wait_event_by(arrived, WaitMode::Spin(10)).await;
            let left = (me(&pe) + pe.nvps() - 1) % pe.nvps();
            let expected = pattern(left.into(), SIZE.as_u64());
            assert_eq!(elan3.load(to, SIZE).unwrap()[..], expected);
            put.await.unwrap();
            elan3.prime_event(arrived, 1);
        }
    });
}

/// Gets, also from oneself and from a process on the same node, and with zero bytes.
#[test]
fn gets() {
    let job = job_of(&[0, 5], 2);
    run(&job, async |pe| {
        let elan3 = pe.elan3();
        let from = elan3.alloc_main(8, SIZE).unwrap();
        let to = elan3.alloc_main(8, SIZE).unwrap();
        let bytes = pattern(me(&pe).into(), SIZE.as_u64());
        elan3.store(from, &bytes).unwrap();
        pe.compute(Time::from_us(10)).await;
        for vp in 0..pe.nvps() {
            let (offset, size) = (Bytes::new(300), Bytes::new(700));
            let got = elan3.get(pid(vp), from.offset(offset), to, size);
            got.await.unwrap();
            let expected = pattern(vp.into(), SIZE.as_u64());
            assert_eq!(elan3.load(to, size).unwrap()[..], expected[300..]);
            elan3.get(pid(vp), from, to, Bytes::ZERO).await.unwrap();
        }
        let beside = elan3.shared(pid(me(&pe) ^ 1)).unwrap();
        assert_eq!(beside.place(), pe.node().place());
        assert!(elan3.shared(pid(me(&pe) ^ 2)).is_none() && elan3.shared(pid(9)).is_none());
    });
}

/// An event that waits for all: three other processes set it, by zero-byte puts; and the process
/// itself.
#[test]
fn counted_events() {
    run(&four(), async |pe| {
        let elan3 = pe.elan3();
        let place = elan3.alloc_elan(64, Bytes::new(64)).unwrap();
        let all = elan3.init_event(place, pe.nvps()).unwrap();
        pe.compute(Time::from_us(20)).await;
        for vp in 0..pe.nvps() {
            if vp == me(&pe) {
                elan3.set_event(all);
            } else {
                elan3.set_remote_event(pid(vp), place).await.unwrap();
            }
        }
        elan3.wait_event(all).await;
    });
}

/// A descriptor with events at both ends. The event at the destination starts another DMA there:
/// the bytes come back without that process.
#[test]
fn descriptors_and_chained_events() {
    run(&four(), async |pe| {
        let elan3 = pe.elan3();
        let place = || elan3.alloc_elan(64, Bytes::new(64)).unwrap();
        let (from, to) = (elan3.alloc_main(64, SIZE), elan3.alloc_main(64, SIZE));
        let (from, to, sent, came) = (from.unwrap(), to.unwrap(), place(), place());
        let bytes = pattern(4, 1000);
        if me(&pe) == 1 {
            let back = elan3.descriptor(pid(0), to, to, SIZE).unwrap();
            let back = back.notify_at(elan3.address(pid(0), came).unwrap());
            pe.node().event_at(came, 1, Action::Dma(back)).unwrap();
            return;
        }
        if me(&pe) > 1 {
            return;
        }
        let (done, back) = (elan3.init_event(sent, 1), elan3.init_event(came, 1));
        let (done, back) = (done.unwrap(), back.unwrap());
        elan3.store(from, &bytes).unwrap();
        pe.compute(Time::from_us(5)).await;
        let put = elan3.descriptor(pid(1), from, to, SIZE).unwrap();
        let put = put.notify_at(elan3.address(pid(1), came).unwrap());
        elan3.put_dma(put.done(done)).await.unwrap();
        elan3.wait_event(done).await;
        elan3.wait_event(back).await;
        assert_eq!(elan3.load(to, SIZE).unwrap()[..], bytes);
        let none = elan3.descriptor(pid(4), from, to, SIZE).err();
        assert_eq!(none, Some(DmaError::NoProcess { process: pid(4) }));
    });
}

/// Processes in one job may run their own programs.
#[test]
fn a_program_for_each_process() {
    let mut cluster = cluster(&sixteen_nodes());
    let pes = four().attach(&cluster).unwrap();
    let labels: Vec<String> = pes.iter().map(|pe| pe.label().text()).collect();
    assert_eq!(labels, ["test 0", "test 1", "test 2", "test 3"]);
    let [zero, one] = [0, 1].map(|vp| pes[vp].clone());
    cluster.spawn(zero.label().clone(), async move {
        let at = zero.elan3().alloc_main(64, SIZE).unwrap();
        zero.mpi().send(1, 1, at, SIZE).await.unwrap();
    });
    cluster.spawn(one.label().clone(), async move {
        let at = one.elan3().alloc_main(64, SIZE).unwrap();
        let status = one.mpi().recv(0, 1, at, SIZE).await.unwrap();
        assert_eq!(status.size, SIZE);
    });
    cluster.run().unwrap();
}

/// Every mistake is an error where it was made, no bytes are stored, and the rest of the job
/// continues.
#[test]
fn mistakes() {
    run(&four(), async |pe| {
        let elan3 = pe.elan3();
        let from = elan3.alloc_main(8, SIZE).unwrap();
        let open = elan3.alloc_main(8192, SIZE).unwrap();
        let closed = elan3.alloc_main(8192, SIZE).unwrap();
        let place = elan3.alloc_elan(64, Bytes::new(64)).unwrap();
        elan3.setperm(closed, SIZE, Permissions::LOCAL).unwrap();
        elan3.store(from, &[1; 1000]).unwrap();
        pe.compute(Time::from_us(10)).await;
        if me(&pe) == 0 {
            let fault = |address, access, length, reason| {
                let address = elan3.address(pid(1), address).unwrap();
                Err(AccessFault::new(address, Bytes::new(length), access, reason).into())
            };
            let forbidden = |access, length| fault(closed, access, length, Reason::Forbidden);
            let put = elan3.put(pid(1), from, closed, SIZE).await;
            assert_eq!(put, forbidden(Access::RemoteWrite, 320));
            let get = elan3.get(pid(1), closed, from, SIZE).await;
            assert_eq!(get, forbidden(Access::RemoteRead, 1000));
            let no_event = fault(place, Access::RemoteEvent, 64, Reason::Nothing);
            let put = elan3.put_notify(pid(1), from, open, Bytes::new(10), place);
            assert_eq!(put.await, no_event);
            assert_eq!(elan3.set_remote_event(pid(1), place).await, no_event);
            let nobody = Err(DmaError::NoProcess { process: pid(4) });
            assert_eq!(elan3.put(pid(4), from, open, SIZE).await, nobody);
            assert_eq!(elan3.get(pid(4), from, open, SIZE).await, nobody);
            assert_eq!(elan3.set_remote_event(pid(4), place).await, nobody);
            let wild = ElanAddr::new(12);
            let own = elan3.put(pid(1), wild, open, SIZE).await.unwrap_err();
            let text = own.to_string();
            assert!(
                text.contains("a local read of 1000 B at 0xc of node 0"),
                "{text}"
            );
            assert!(elan3.setperm(wild, SIZE, Permissions::ALL).is_err());
            assert!(elan3.store(wild, &[1]).is_err() && elan3.load(wild, SIZE).is_err());
            let main = elan3.init_event(open, 1).unwrap_err();
            assert_eq!(main.reason, Reason::NotAdapter);
        } else {
            pe.compute(Time::from_ms(1)).await;
            for at in [open, closed] {
                assert_eq!(elan3.load(at, SIZE).unwrap()[..], [0; 1000]);
            }
            assert_eq!(pe.node().trap(), None);
        }
        // Permission is given back.
        elan3.setperm(closed, SIZE, Permissions::ALL).unwrap();
        pe.compute(Time::from_ms(2)).await;
        let put = elan3.put(pid((me(&pe) + 1) % 4), from, closed, SIZE);
        put.await.unwrap();
    });
}

/// Two jobs on the same nodes have the same addresses and do not meet.
#[test]
fn jobs_do_not_meet() {
    let mut cluster = cluster(&sixteen_nodes());
    for number in 1..=3 {
        let job = job_of(&[0, 1], 2);
        let launched = job.launch(&mut cluster, async move |pe| {
            let elan3 = pe.elan3();
            let from = elan3.alloc_elan(64, SIZE).unwrap();
            let to = elan3.alloc_elan(64, SIZE * 4).unwrap();
            let seed = |vp: u32| u64::from(vp * 10 + number);
            let bytes = pattern(seed(me(&pe)), SIZE.as_u64());
            elan3.store(from, &bytes).unwrap();
            let mine = to.offset(SIZE * u64::from(me(&pe)));
            for vp in 0..4 {
                elan3.put(pid(vp), from, mine, SIZE).await.unwrap();
            }
            pe.compute(Time::from_ms(1)).await;
            for vp in 0..4 {
                let theirs = to.offset(SIZE * u64::from(vp));
                let expected = pattern(seed(vp), SIZE.as_u64());
                assert_eq!(elan3.load(theirs, SIZE).unwrap()[..], expected);
            }
        });
        launched.unwrap();
    }
    cluster.run().unwrap();
}

/// A process that waits for an event that never comes is named, with the name of its wait.
#[test]
fn a_deadlock_says_what_is_missing() {
    let mut cluster = cluster(&four_nodes());
    let job = job(&[0, 1, 2]);
    let launched = job.launch(&mut cluster, async |pe| {
        let elan3 = pe.elan3();
        let place = elan3.alloc_elan(64, Bytes::new(64)).unwrap();
        let event = elan3.init_event(place, 1).unwrap();
        elan3.set_event(event);
        pe.waiting("its own event", elan3.wait_event(event)).await;
        elan3.prime_event(event, 1);
        if me(&pe) > 0 {
            let what = format!("a word from {}", me(&pe) - 1);
            pe.waiting(what, elan3.wait_event(event)).await;
        }
    });
    launched.unwrap();
    let Err(Stop::Deadlock { waiting, .. }) = cluster.run() else {
        panic!("nobody sends anything")
    };
    let expected = [1, 2].map(|vp| format!("test {vp}: waits for a word from {}", vp - 1));
    assert_eq!(waiting, expected);
}

#[test]
fn memory_is_given_and_taken_back() {
    let job = job(&[0]);
    run(&job, async |pe| {
        let elan3 = pe.elan3();
        for align in [0, 1, 2, 64, 4096, 8192, 65_536, 1 << 20] {
            let main = elan3.alloc_main(align, Bytes::new(10)).unwrap();
            assert!(main.as_u32().is_multiple_of(align.max(1)));
            assert_eq!(elan3.main2elan(elan3.elan2main(main).unwrap()), Some(main));
        }
        assert_eq!(elan3.alloc_main(3, SIZE), Err(AllocError::Alignment(3)));
        // No memory beyond the adapter's, and all of it again once it is free.
        let (big, mut held) = (Bytes::from_mb(1), Vec::new());
        let error = loop {
            match elan3.alloc_elan(8, big) {
                Ok(at) => held.push(at),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, AllocError::Exhausted(_)), "{error}");
        assert_eq!(held.len(), 62, "64, and what the libraries have");
        for at in held.drain(..) {
            elan3.store(at, &[9; 100]).unwrap();
            elan3.free(at).unwrap();
            assert_eq!(elan3.free(at), Err(AllocError::NotAllocated(at)));
            // A separate range is unmapped when it is free.
            assert!(elan3.store(at, &[1]).is_err());
        }
        let again = elan3.alloc_elan(8, Bytes::from_mb(62)).unwrap();
        assert_eq!(elan3.load(again, SIZE).unwrap()[..], [0; 1000]);
        // Two gigabytes fit into the addresses, not four.
        let huge = Bytes::from_mb(2000);
        elan3.alloc_main(8, huge).unwrap();
        assert!(elan3.alloc_main(8, huge).is_err());
    });
}

#[test]
fn a_fixed_heap_does_not_grow() {
    let cluster = cluster(&four_nodes());
    let size = Bytes::from_kb(8);
    let mut heap = Heap::fixed(node_of(&cluster, 0), Placement::Adapter, size).unwrap();
    let all = heap.alloc(0, size).unwrap();
    let one = Bytes::new(1);
    let full = AllocError::Full {
        heap: size,
        size: one,
    };
    assert_eq!(heap.alloc(0, one), Err(full));
    heap.free(all).unwrap();
    assert_eq!(heap.alloc(0, one).unwrap(), all, "it is still mapped");
    // Adjacent free pieces become one, in any order of their return.
    heap.free(all).unwrap();
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut piece = || heap.alloc(0, Bytes::new(size.as_u64() / 4)).unwrap();
        let pieces = [piece(), piece(), piece()];
        let last = piece();
        for index in order {
            heap.free(pieces[index]).unwrap();
        }
        let joined = heap.alloc(0, Bytes::new(size.as_u64() / 4 * 3));
        assert_eq!(joined, Ok(pieces[0]), "{order:?}");
        heap.free(pieces[0]).unwrap();
        heap.free(last).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Allocations never overlap, are aligned, hold zeros at first and keep their bytes; freed room
    /// is used again.
    #[test]
    fn allocations_do_not_overlap(
        steps in prop::collection::vec((any::<bool>(), 0_u32..10, 0_u64..3000, 0_usize..20), 1..80)
    ) {
        let (_, [node]) = start(&four_nodes());
        let mut heap = Heap::new(node.clone(), Placement::Main, Bytes::from_kb(8));
        let mut held: BTreeMap<ElanAddr, (u64, u8)> = BTreeMap::new();
        for (number, (allocates, align, length, which)) in steps.into_iter().enumerate() {
            if allocates || held.is_empty() {
                let at = heap.alloc(1 << align, Bytes::new(length)).unwrap();
                prop_assert!(at.as_u32().is_multiple_of(1 << align));
                let (start, end) = (u64::from(at.as_u32()), u64::from(at.as_u32()) + length.max(1));
                for (&other, &(length, _)) in &held {
                    let other = u64::from(other.as_u32());
                    prop_assert!(end <= other || other + length.max(1) <= start);
                }
                let bytes = node.load(node.at(at), Bytes::new(length)).unwrap();
                prop_assert!(bytes.iter().all(|&byte| byte == 0));
                let fill = number as u8 + 1;
                node.store(node.at(at), &vec![fill; length as usize]).unwrap();
                held.insert(at, (length, fill));
            } else {
                let (&at, &(length, fill)) = held.iter().nth(which % held.len()).unwrap();
                let bytes = node.load(node.at(at), Bytes::new(length)).unwrap();
                prop_assert!(bytes.iter().all(|&byte| byte == fill));
                heap.free(at).unwrap();
                held.remove(&at);
            }
            prop_assert_eq!(
                heap.used().as_u64(), held.values().map(|(length, _)| length.max(&1)).sum::<u64>()
            );
        }
        for at in held.into_keys() {
            heap.free(at).unwrap();
        }
        prop_assert_eq!(heap.used(), Bytes::ZERO);
        // All ranges are unmapped: the next range begins where the first one did.
        prop_assert_eq!(heap.alloc(0, Bytes::new(1)).unwrap(), elan::memory::HEAP);
    }
}
