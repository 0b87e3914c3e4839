//! Elanlib's broadcasts: their costs on the papers' machine, and how the software broadcast passes
//! through the adapters.

use crate::common;

use common::{
    alloc, b, job, job_of, load, logs, machine, me, pattern, run_on, sixteen_nodes, store,
};
use elan::{DmaError, Permissions, Placement};
use fabric::FatTree;
use libelan::Pe;
use units::{Bytes, Rate, Time};

async fn broadcast(pe: &Pe, hardware: bool, at: elan::ElanAddr, size: Bytes, root: u32) {
    let group = pe.elan().all_group();
    let done = common::broadcast(group, hardware, at, size, root).await;
    done.expect("all have the buffer");
}

/// One broadcast from process 0 to 64 processes, which all take part at once: the time until the
/// last one has the bytes; and how long the bus at node 32, in the middle of a chain, was taken
/// meanwhile.
fn alone(hardware: bool, placement: Placement, length: u64) -> (Time, Time) {
    let config = machine(FatTree::quaternary(3).expect("64 nodes"));
    let nodes: Vec<u32> = (0..64).collect();
    let job = job(&nodes);
    let ([ends, told], [busy, taken]) = (logs(), logs());
    run_on(&config, &job, async move |pe| {
        let at = alloc(&pe, placement == Placement::Adapter, b(length));
        // The first one starts the threads.
        broadcast(&pe, hardware, at, b(length), 0).await;
        let start = Time::from_ms(50);
        pe.node().sleep_until(start).await;
        let before = pe.node().bus_busy();
        broadcast(&pe, hardware, at, b(length), 0).await;
        told.note(pe.now() - start);
        if me(&pe) == 32 {
            taken.note(pe.node().bus_busy() - before);
        }
    });
    let last = ends.borrow().iter().copied().max();
    (last.expect("all have ended"), busy.borrow()[0])
}

/// petrini2001: 288 MB/s between adapter memories and 200 MB/s between main memories, by hardware
/// and by software. Here the software's segments go along a chain, which takes a while to fill: 1
/// MB is not yet the asymptote, and the bounds are for 1 MB.
#[test]
fn bandwidth_over_64_nodes() {
    let length = 1 << 20;
    let (elan, main) = (Placement::Adapter, Placement::Main);
    for (hardware, placement, least, most) in [
        (true, elan, 285.0, 292.0),
        (false, elan, 245.0, 285.0),
        (true, main, 197.0, 203.0),
        (false, main, 175.0, 200.0),
    ] {
        let (time, busy) = alone(hardware, placement, length);
        let found = Rate::of(b(length), time);
        let text = format!("{placement:?}, hardware {hardware}: {found:.1} MB/s, bus {busy}");
        assert!(found > least && found < most, "{text}");
        if placement == main {
            // All bytes cross the bus once, one way.
            let bus = machine(FatTree::quaternary(3).expect("64 nodes")).bus;
            let bursts = length / bus.burst.as_u64();
            let once = (bus.burst_overhead + bus.rate.time(bus.burst)) * bursts;
            let about = once..once + once / 100;
            assert!(about.contains(&busy), "{text}, not {once}");
        }
    }
}

/// petrini2001: hardware below 13 us up to 256 bytes between adapter memories, software 3.5 us
/// above it. Here a hardware broadcast's root posts one DMA, and single broadcasts differ by 7 to
/// 11 us: each process in the tree sends a packet to four others, so the difference grows with the
/// bytes.
#[test]
fn latency_over_64_nodes() {
    let us = |ns: u64| Time::from_ns(ns);
    for (length, least, most) in [(0, 6_500, 7_500), (64, 7_000, 8_200), (256, 10_000, 11_500)] {
        let (hardware, _) = alone(true, Placement::Adapter, length);
        let (software, _) = alone(false, Placement::Adapter, length);
        let extra = software - hardware;
        assert!(hardware < us(10_500), "{length} B: {hardware}");
        assert!(extra > us(least) && extra < us(most), "{length} B: {extra}");
    }
}

/// Lengths around those of packets, segments and the stage, in trees and chains, for teams, from
/// the first, the last and a middle process, several in a row.
#[test]
fn all_lengths_arrive() {
    let segment = 4 * 320;
    let lengths = [0, 1, 319, 320, 321].into_iter();
    let edges = [1, 2, 3, 4, 5, 6, 8, 9, 17].into_iter();
    let edges = edges.flat_map(|count| [count * segment - 1, count * segment, count * segment + 1]);
    let lengths: Vec<u64> = lengths.chain(edges).collect();
    for (nodes, pes) in [(1, 3), (2, 1), (3, 2), (7, 4), (16, 1)] {
        let nodes: Vec<u32> = (0..nodes).collect();
        let job = job_of(&nodes, pes);
        for placement in [Placement::Adapter, Placement::Main] {
            let lengths = lengths.clone();
            run_on(&sixteen_nodes(), &job, async move |pe| {
                let longest = b(*lengths.last().expect("there are some"));
                let at = alloc(&pe, placement == Placement::Adapter, longest);
                for (round, &length) in (0..).zip(&lengths) {
                    let roots = [0, pe.nvps() / 2, pe.nvps() - 1];
                    let root = roots[round as usize % 3];
                    let (mine, size) = (pattern(round, length), b(length));
                    let none = vec![0; length as usize];
                    let fill = if me(&pe) == root { &mine } else { &none };
                    store(&pe, at, fill);
                    broadcast(&pe, false, at, size, root).await;
                    let found = load(&pe, at, size);
                    assert_eq!(found[..], mine[..], "{length} B from {root}");
                }
            });
        }
    }
}

/// A process in the middle of a chain that may not write its buffer gets the error itself: it has
/// received the bytes into its stage, and sends them on. All others have the bytes.
#[test]
fn who_cannot_take_the_bytes_passes_them_on() {
    let (length, [ends, told]) = (20_000, logs());
    let nodes: Vec<u32> = (0..6).collect();
    let job = job(&nodes);
    run_on(&sixteen_nodes(), &job, async move |pe| {
        let at = alloc(&pe, false, b(length));
        if me(&pe) == 0 {
            store(&pe, at, &pattern(1, length));
        }
        if me(&pe) == 3 {
            let closed = pe.elan3().setperm(at, b(length), Permissions::NONE);
            closed.expect("it is mapped");
        }
        let done = pe.elan().all_group().bcast(at, b(length), 0).await;
        let found = load(&pe, at, b(length));
        told.note((me(&pe), done, found[..] == pattern(1, length)));
    });
    for (vp, done, has) in ends.borrow().iter() {
        assert_eq!(*has, *vp != 3, "process {vp}");
        let told = matches!(done, Err(DmaError::Fault(_)));
        assert!(if *vp == 3 { told } else { done.is_ok() }, "{vp}: {done:?}");
    }
}

/// A process in the middle of a chain with a busy thread processor empties its stage slowly. It
/// slows the others down, and no bytes are lost, in several broadcasts in a row: senders keep
/// segments back until there is room for them.
#[test]
fn a_slow_process_holds_the_others() {
    let (length, [ends, told]) = (100_000, logs());
    let nodes: Vec<u32> = (0..16).collect();
    let job = job(&nodes);
    run_on(&sixteen_nodes(), &job, async move |pe| {
        let at = alloc(&pe, false, b(length));
        if me(&pe) == 9 {
            let busy = pe.node().run("busy", async |thread| {
                loop {
                    thread.step(200_000).await;
                    thread.until(thread.node().sleep(Time::from_us(1))).await;
                }
            });
            busy.expect("there is memory for a stack");
        }
        for round in 0..5 {
            let bytes = pattern(round, length);
            if me(&pe) == 0 {
                store(&pe, at, &bytes);
            }
            let start = pe.now();
            broadcast(&pe, false, at, b(length), 0).await;
            let found = load(&pe, at, b(length));
            assert_eq!(found[..], bytes[..], "round {round}");
            told.note((me(&pe), pe.now() - start));
        }
    });
    // The busy thread has the processor for 2 ms at a time. 36 of the 79 segments fit in the stages
    // before it: so the root waits, too.
    for &(vp, time) in ends.borrow().iter() {
        assert!(time > Time::from_ms(2), "process {vp} took {time}");
    }
}

/// A root in the middle sends one packet to all, and receives its own copy; a root at an end sends
/// to the others only. Nobody receives more than the bytes.
#[test]
fn a_root_in_the_middle_receives_its_own_broadcast() {
    run_on(&sixteen_nodes(), &job(&[4, 5, 6, 7]), async |pe| {
        let at = pe.elan().galloc_main(64, b(300)).unwrap();
        for root in 0..4 {
            pe.elan().all_group().gsync().await.unwrap();
            pe.compute(Time::from_us(100)).await;
            let before = pe.node().stored();
            broadcast(&pe, true, at, b(300), root).await;
            pe.compute(Time::from_us(300)).await;
            let reached = me(&pe) != root || [1, 2].contains(&root);
            let expected = b(300 * u64::from(reached));
            assert_eq!(
                pe.node().stored() - before,
                expected,
                "{} from {root}",
                me(&pe)
            );
        }
    });
}
