//! Elanlib's put, get and queues, and Shmem on them.

use crate::common;

use common::{b, job, job_of, load, logs, me, pattern, pid, play, run, run_on, store};
use elan::{Comparison, DmaError, ElanAddr, Permissions, Reason, Stop};
use libelan::elan::{GLOBAL_ELAN, GLOBAL_MAIN};
use libelan::elan3::AllocError;
use libelan::shmem::ShmemError;
use libelan::{Pe, ProcessJob};
use units::Time;

/// Six processes on three nodes.
fn six() -> ProcessJob {
    job_of(&[0, 1, 6], 2)
}

/// Bytes go to the next process and come back from it, whether it is near or far.
#[test]
fn puts_and_gets() {
    run(&six(), async |pe| {
        let elan = pe.elan();
        let next = (me(&pe) + 1) % pe.nvps();
        let before = u64::from((me(&pe) + 5) % pe.nvps());
        for length in [0, 1, 64, 65, 320, 10_000] {
            let [from, to, back] = [(); 3].map(|()| elan.galloc_main(8, b(length)).unwrap());
            let mine = pattern(u64::from(me(&pe)), length);
            store(&pe, from, &mine);
            let put = elan.put(pid(next), from, to, b(length));
            if length <= 64 {
                // It has been copied already.
                store(&pe, from, &vec![0; length as usize]);
            }
            elan.wait(put).await.unwrap();
            let get = elan.get(pid(next), to, back, b(length));
            assert!(!get.is_done());
            elan.wait(get).await.unwrap();
            assert_eq!(load(&pe, back, b(length))[..], mine);
            pe.compute(Time::from_us(500)).await;
            let got = load(&pe, to, b(length));
            assert_eq!(got[..], pattern(before, length));
        }
    });
}

/// Between processes on one node, and from a process to itself, the adapter acts as for others:
/// packets go to the node's switch and back, and use no other link.
#[test]
fn within_a_node() {
    let mut config = common::sixteen_nodes();
    for (process, generation) in [(0, 3), (1, 3), (0, 4), (1, 4)] {
        if generation == 4 {
            config = common::opteron(fabric::FatTree::quaternary(2).expect("16 nodes"));
        }
        let job = job(&[6, 6]);
        let length = 10_000;
        let program = async move |pe: Pe| {
            let elan = pe.elan();
            let [from, to, back] = [(); 3].map(|()| elan.galloc_main(8, b(length)).unwrap());
            if me(&pe) == 0 {
                store(&pe, from, &pattern(4, length));
                let put = elan.put(pid(process), from, to, b(length));
                elan.wait(put).await.unwrap();
                let get = elan.get(pid(process), to, back, b(length));
                elan.wait(get).await.unwrap();
                assert_eq!(load(&pe, back, b(length))[..], pattern(4, length));
            }
        };
        let cluster = run_on(&config, &job, program);
        let tree = &config.fabric.topology;
        let node = fabric::Place::new(6);
        let used = fabric::LinkId::all(tree.links()).filter(|&link| cluster.link(link).packets > 0);
        let mut expected = [tree.injection(node), tree.ejection(node)];
        expected.sort_unstable();
        assert_eq!(used.collect::<Vec<_>>(), expected);
    }
}

/// More puts and gets than may be under way at a time, and the waits for all.
#[test]
fn many_puts_and_gets() {
    run(&six(), async |pe| {
        let elan = pe.elan();
        let size = b(8 * 100);
        let table = elan.galloc_main(8, size * 6).unwrap();
        let mine = elan.galloc_main(8, size).unwrap();
        let bytes = pattern(u64::from(me(&pe)), 800);
        store(&pe, mine, &bytes);
        for to in 0..6 {
            for word in 0..100 {
                let place = table.offset(size * u64::from(me(&pe)) + b(8 * word));
                drop(elan.put(pid(to), mine.offset(b(8 * word)), place, b(8)));
            }
        }
        elan.put_wait_all().await.unwrap();
        pe.compute(Time::from_ms(5)).await;
        for from in 0..6_u64 {
            let place = table.offset(size * from);
            let found = load(&pe, place, size);
            assert_eq!(found[..], pattern(from, 800));
        }
        for word in 0..100 {
            let place = b(8 * word);
            drop(elan.get(pid(0), table.offset(place), mine.offset(place), b(8)));
        }
        elan.get_wait_all().await.unwrap();
        assert_eq!(load(&pe, mine, size)[..], pattern(0, 800));
    });
}

/// Puts that overlap: among puts one after the other the last one counts; among simultaneous puts
/// each byte is from one put.
#[test]
fn overlapping_puts() {
    run(&six(), async |pe| {
        let elan = pe.elan();
        let size = b(1000);
        let (from, to) = (elan.galloc_main(8, size * 2), elan.galloc_elan(8, size));
        let (from, to) = (from.unwrap(), to.unwrap());
        let other = from.offset(size);
        store(&pe, from, &[1; 1000]);
        store(&pe, other, &[2; 1000]);
        if me(&pe) != 0 {
            return;
        }
        for target in [1, 4].map(pid) {
            elan.wait(elan.put(target, from, to, size)).await.unwrap();
            let second = to.offset(b(300));
            let over = elan.put(target, other, second, b(400));
            elan.wait(over).await.unwrap();
            elan.wait(elan.get(target, to, from, size)).await.unwrap();
            let found = load(&pe, from, size);
            let expected = |index| if (300..700).contains(&index) { 2 } else { 1 };
            assert!((0..1000).all(|index| found[index] == expected(index)));
            store(&pe, from, &[3; 1000]);
            drop(elan.put(target, from, to, size));
            drop(elan.put(target, other, to, size));
            elan.put_wait_all().await.unwrap();
            elan.wait(elan.get(target, to, from, size)).await.unwrap();
            let found = load(&pe, from, size);
            assert!(found.iter().all(|byte| [2, 3].contains(byte)));
            store(&pe, from, &[1; 1000]);
        }
    });
}

/// An access to forbidden or missing memory is an error, without an effect.
#[test]
fn faults() {
    let reason = |result: Result<(), DmaError>| match result {
        Err(DmaError::Fault(fault)) => fault.reason,
        other => panic!("{other:?}"),
    };
    run(&six(), async move |pe| {
        let elan = pe.elan();
        let at = elan.galloc_main(64, b(1000)).unwrap();
        if me(&pe) != 0 {
            store(&pe, at, &[7; 1000]);
            let rights = Permissions::LOCAL | Permissions::REMOTE_READ;
            elan.elan3().setperm(at, b(500), rights).unwrap();
            pe.compute(Time::from_us(300)).await;
            assert_eq!(load(&pe, at, b(1000))[..], [7; 1000]);
            return;
        }
        pe.compute(Time::from_us(20)).await;
        let nowhere = ElanAddr::new(64);
        for other in [1, 3] {
            for size in [8, 400] {
                let put = elan.put(pid(other), at, at, b(size));
                assert_eq!(reason(elan.wait(put).await), Reason::Forbidden);
                let put = elan.put(pid(other), nowhere, at, b(size));
                assert_eq!(reason(elan.wait(put).await), Reason::Unmapped);
                let put = elan.put(pid(other), at, nowhere, b(size));
                assert_eq!(reason(elan.wait(put).await), Reason::Unmapped);
                let get = elan.get(pid(other), at, nowhere, b(size));
                assert_eq!(reason(elan.wait(get).await), Reason::Unmapped);
                let get = elan.get(pid(other), nowhere, at, b(size));
                assert_eq!(reason(elan.wait(get).await), Reason::Unmapped);
            }
        }
        let gone = DmaError::NoProcess { process: pid(6) };
        assert_eq!(elan.wait(elan.put(pid(6), at, at, b(8))).await, Err(gone));
        assert!(elan.put_wait_all().await.is_err());
        assert_eq!(elan.put_wait_all().await, Ok(()));
    });
}

/// Global memory is given and taken back, in both kinds, at the same addresses in all processes.
#[test]
fn global_memory() {
    let [places, noted] = logs();
    run(&six(), async move |pe| {
        let elan = pe.elan();
        let found = (elan.vp(), elan.nvps(), elan.clock());
        assert_eq!(found, (pe.vp(), 6, pe.now()));
        // Each process's own allocations do not matter.
        common::alloc(&pe, false, b(1 + 9 * u64::from(me(&pe))));
        let (main, adapter) = (elan.galloc_main(64, b(100)), elan.galloc_elan(64, b(100)));
        let (main, adapter) = (main.unwrap(), adapter.unwrap());
        assert!(elan.galloc_main(64, GLOBAL_MAIN).is_err());
        assert!(elan.galloc_elan(64, GLOBAL_ELAN).is_err());
        for at in [main, adapter] {
            store(&pe, at, &[1; 100]);
            elan.galloc_free(at).unwrap();
            assert_eq!(elan.galloc_free(at), Err(AllocError::NotAllocated(at)));
        }
        assert_eq!(elan.galloc_main(64, b(100)), Ok(main));
        assert_eq!(load(&pe, main, b(100))[..], [0; 100]);
        noted.note((main, adapter));
    });
    let places = places.borrow();
    assert!(places.len() == 6 && places.iter().all(|place| *place == places[0]));
}

/// All processes send more to one queue than it holds: each process's messages come in order.
#[test]
fn queues() {
    run(&six(), async |pe| {
        let elan = pe.elan();
        let queue = elan.queue_rx(4, b(320)).unwrap();
        let buffer = elan.galloc_main(8, b(320)).unwrap();
        if me(&pe) > 0 {
            for number in 0..20_u64 {
                let length = 8 + 16 * number;
                store(&pe, buffer, &pattern(number, 320));
                store(&pe, buffer, &[me(&pe) as u8]);
                let sent = elan.queue_tx(pid(0), queue.at(), buffer, b(length.min(320)));
                elan.wait(sent).await.unwrap();
            }
            return;
        }
        assert_eq!(queue.poll().await, None);
        let mut next = [0_u64; 6];
        for _ in 0..100 {
            let message = queue.wait().await;
            let number = &mut next[message[0] as usize];
            let length = (8 + 16 * *number).min(320);
            assert_eq!(message[1..], pattern(*number, length)[1..]);
            *number += 1;
        }
        assert_eq!(queue.poll().await, None);
        // A process's messages to itself, with and without bytes.
        for length in [5, 0] {
            let sent = elan.queue_tx(pid(0), queue.at(), buffer, b(length));
            assert_eq!(queue.wait().await.len() as u64, length);
            elan.wait(sent).await.unwrap();
        }
        let long = elan.queue_tx(pid(0), queue.at(), buffer, b(321));
        let length = b(321);
        assert_eq!(elan.wait(long).await, Err(DmaError::TooLong { length }));
        assert_eq!(elan.queue_max_slot_size(), b(320));
        for (slots, size) in [(0, 8), (9, 321)] {
            let error = elan.queue_rx(slots, b(size)).err().unwrap();
            let text = format!("a queue has slots, of 1 B to 320 B; not {slots} of {size} B");
            assert_eq!(error.to_string(), text);
        }
    });
}

#[test]
fn shmem_memory_and_words() {
    run(&six(), async |pe| {
        let shmem = pe.shmem();
        assert_eq!((shmem.my_pe(), shmem.n_pes()), (me(&pe), 6));
        let (word, flags) = (shmem.malloc(b(8)), shmem.malloc_elan(b(48)));
        let (word, flags) = (word.unwrap(), flags.unwrap());
        let next = (me(&pe) + 1) % 6;
        // The word before the flag; all flags.
        shmem.p(word, 1000 + u64::from(me(&pe)), next);
        shmem.fence().await.unwrap();
        shmem.p(flags, 1, next);
        let flag = shmem.wait(flags, 0).await.unwrap();
        assert_eq!(flag, 1);
        let found = shmem.g(word, next).await.unwrap();
        assert_eq!(found, 1000 + u64::from(me(&pe)));
        assert_eq!(shmem.g(flags, next).await.unwrap(), 1);
        shmem.quiet().await.unwrap();
        let error = shmem.g(ElanAddr::new(0), next).await.unwrap_err();
        assert!(matches!(error, ShmemError::Dma(DmaError::Fault(_))));
        shmem.free(flags).unwrap();
        shmem.free(word).unwrap();
    });
}

#[test]
fn shmem_blocks() {
    run(&six(), async |pe| {
        let shmem = pe.shmem();
        let next = (me(&pe) + 1) % 6;
        for length in [8, 64, 65, 5000] {
            let [from, to, flag] = [length, length, 8].map(|size| shmem.malloc(b(size)).unwrap());
            let bytes = pattern(u64::from(me(&pe)), length);
            store(&pe, from, &bytes);
            shmem.put(to, from, b(length), next).await.unwrap();
            shmem.fence().await.unwrap();
            shmem.p(flag, 1, next);
            shmem.wait_until(flag, Comparison::Equal, 1).await.unwrap();
            let before = u64::from((me(&pe) + 5) % 6);
            let found = load(&pe, to, b(length));
            assert_eq!(found[..], pattern(before, length));
            shmem.get(from, to, b(length), next).await.unwrap();
            assert_eq!(load(&pe, from, b(length))[..], bytes);
        }
    });
}

/// All processes' atomics at one word: no update is lost, and each finds another value.
#[test]
fn shmem_atomics() {
    let [found, noted] = logs();
    run(&six(), async move |pe| {
        let shmem = pe.shmem();
        let word = shmem.malloc_elan(b(32)).unwrap();
        let [sum, swapped, lock, count] = [0, 8, 16, 24].map(|at| word.offset(b(at)));
        for _ in 0..5 {
            noted.note(shmem.finc(sum, 3).await.unwrap());
        }
        let before = shmem.swap(swapped, u64::from(me(&pe)) + 1, 3).await;
        noted.note(1000 + before.unwrap());
        // A lock; the protected word is read and written separately.
        while shmem.cswap(lock, 0, 1, 3).await.unwrap() != 0 {}
        let counted = shmem.g(count, 3).await.unwrap();
        shmem.p(count, counted + 1, 3);
        shmem.quiet().await.unwrap();
        assert_eq!(shmem.swap(lock, 0, 3).await.unwrap(), 1);
        if me(&pe) == 3 {
            shmem.wait_until(count, Comparison::Equal, 6).await.unwrap();
            assert_eq!(shmem.word(sum).unwrap(), 30);
            noted.note(1000 + shmem.word(swapped).unwrap());
            shmem.set_word(sum, 5).unwrap();
            assert_eq!(shmem.fadd(sum, u64::MAX, 3).await.unwrap(), 5);
            assert_eq!(shmem.word(sum).unwrap(), 4);
        }
        let main = shmem.malloc(b(8)).unwrap();
        let Err(ShmemError::Dma(DmaError::Fault(fault))) = shmem.fadd(main, 1, 3).await else {
            panic!("words of atomics lie in adapter memory")
        };
        assert_eq!(fault.reason, Reason::NotAdapter);
        let gone = DmaError::NoProcess { process: pid(9) };
        let error = shmem.swap(word, 1, 9).await.unwrap_err();
        assert_eq!(error, ShmemError::Dma(gone));
    });
    let mut found = found.borrow().clone();
    found.sort_unstable();
    let expected: Vec<u64> = (0..30).chain(1000..1007).collect();
    assert_eq!(found, expected);
}

/// A wait for a word without a store is a deadlock, and its report names the wait.
#[test]
fn shmem_waits_for_ever() {
    let (_, end) = play(&common::sixteen_nodes(), &job(&[4]), async |pe| {
        let shmem = pe.shmem();
        let word = shmem.malloc(b(8)).unwrap();
        shmem.wait(word, 0).await.unwrap();
    });
    let Err(Stop::Deadlock { waiting, .. }) = end else {
        panic!("the word stays 0")
    };
    let text = "test 0: waits for the word at 0x";
    assert!(waiting[0].starts_with(text), "{waiting:?}");
}

/// Everything on one process alone.
#[test]
fn shmem_with_itself() {
    let alone = async |pe: Pe| {
        let shmem = pe.shmem();
        let (main, word) = (shmem.malloc(b(100)), shmem.malloc_elan(b(8)));
        let (main, word) = (main.unwrap(), word.unwrap());
        store(&pe, main, &pattern(3, 50));
        let to = main.offset(b(50));
        shmem.put(to, main, b(50), 0).await.unwrap();
        shmem.quiet().await.unwrap();
        shmem.p(word, 7, 0);
        shmem.wait_until(word, Comparison::Equal, 7).await.unwrap();
        assert_eq!(load(&pe, to, b(50))[..], pattern(3, 50));
        assert_eq!(shmem.fadd(word, 2, 0).await.unwrap(), 7);
        assert_eq!(shmem.cswap(word, 9, 11, 0).await.unwrap(), 9);
        assert_eq!(shmem.g(word, 0).await.unwrap(), 11);
    };
    run(&job(&[4]), alone);
}

/// A get after a finished put sees its bytes, though the put's last packets are still on their way
/// across a slow bus.
#[test]
fn a_get_sees_what_was_put() {
    let mut config = common::sixteen_nodes();
    config.adapter.input_buffers = 8;
    config.bus.burst_overhead = Time::from_us(1);
    run_on(&config, &six(), async |pe| {
        let elan = pe.elan();
        let [from, to, back] = [(); 3].map(|()| elan.galloc_main(8, b(2000)).unwrap());
        if me(&pe) != 0 {
            return;
        }
        for (round, length) in (300..2000).step_by(100).enumerate() {
            let bytes = pattern(round as u64, length);
            store(&pe, from, &bytes);
            let put = elan.put(pid(3), from, to, b(length));
            elan.wait(put).await.unwrap();
            // The last bytes alone.
            let last = b(length - 200);
            let get = elan.get(pid(3), to.offset(last), back, b(200));
            elan.wait(get).await.unwrap();
            let found = load(&pe, back, b(200));
            assert_eq!(found[..], bytes[length as usize - 200..], "{length} B");
        }
    });
}

/// A process waits until more messages than it knows are in its queue.
#[test]
fn more_messages_than_are_known() {
    run(&job(&[0, 3]), async |pe| {
        let elan = pe.elan();
        let queue = elan.queue_rx(4, b(8)).unwrap();
        let own = common::filled(&pe, 1, 8);
        if me(&pe) == 1 {
            for _ in 0..3 {
                pe.compute(Time::from_us(100)).await;
                let sent = elan.queue_tx(pid(0), queue.at(), own, b(8));
                elan.wait(sent).await.unwrap();
            }
            return;
        }
        for known in 0..3 {
            queue.arrived(|| known).await;
            assert_eq!(queue.len(), known + 1);
            assert!(pe.now() > Time::from_us(100) * (known as u64 + 1));
        }
        queue.arrived(|| 1).await;
        assert!(!queue.is_full() && !queue.is_empty());
    });
}
