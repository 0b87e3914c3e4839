//! Nothing is left of a call that is over: the memory that the libraries take does not depend on
//! the number of calls.

use crate::common;

use common::{alloc, b, filled, four_nodes, job, logs, me, pid, run_on};
use elan::ElanAddr;
use libelan::Pe;
use libelan::elan::tport::{Mode, Room, Select};
use units::{Bytes, Time};

/// Calls of which each takes an event, a slot or a buffer for a while: messages that wait for their
/// match, that are fetched before it, that go into a system buffer; a probe, a cancelled receive;
/// an atomic, a word that is put and got.
async fn round(pe: &Pe, [own, word]: [ElanAddr; 2]) {
    let (tport, shmem, other) = (pe.elan().tport(), pe.shmem(), 1 - me(pe));
    let (long, short) = (b(3000), b(40));
    let buffer = |size| Room::Buffer(own, size);
    if me(pe) == 0 {
        for (mode, size) in [
            (Mode::Synchronous, short),
            (Mode::Standard, long),
            (Mode::Standard, long),
            (Mode::Synchronous, long),
        ] {
            let tx = tport.tx_start(mode, pid(1), (0, 3), own, size);
            tport.tx_wait(tx).await.unwrap();
        }
    } else {
        let probe = tport.rx_start(Select::ANY, Room::Probe);
        tport.rx_wait(probe).await.unwrap();
        let never = tport.rx_start(Select::exactly(None, Some(9)), buffer(long));
        tport.rx_cancel(&never);
        assert!(tport.rx_wait(never).await.is_err());
        let short = tport.rx_start(Select::ANY, buffer(short));
        tport.rx_wait(short).await.unwrap();
        // Long messages that have come before their receives.
        pe.compute(Time::from_us(100)).await;
        let fetched = tport.rx_start(Select::ANY, buffer(long));
        tport.rx_wait(fetched).await.unwrap();
        let posted = tport.rx_start(Select::ANY, buffer(long));
        tport.rx_wait(posted).await.unwrap();
        let given = tport.rx_start(Select::ANY, Room::System);
        let at = tport.rx_wait(given).await.unwrap().at;
        tport.buf_free(at.expect("it is a buffer")).unwrap();
    }
    for _ in 0..4 {
        shmem.finc(word, other).await.unwrap();
    }
    shmem.g(word, other).await.unwrap();
    shmem.p(word.offset(b(8)), 1, other);
    shmem.quiet().await.unwrap();
    pe.elan().all_group().gsync().await.unwrap();
}

/// The next addresses of both kinds, in both processes, after so many rounds; and how many messages
/// were fetched into system buffers.
fn places(nodes: &[u32], rounds: u64) -> (Vec<[ElanAddr; 2]>, u64) {
    let mut config = four_nodes();
    // Room for three messages.
    config.tport.system = b(10_000);
    let ([found, noted], [buffered, counted]) = (logs(), logs());
    run_on(&config, &job(nodes), async move |pe| {
        let (own, word) = (filled(&pe, 1, 3000), pe.shmem().malloc_elan(b(16)).unwrap());
        for _ in 0..rounds {
            round(&pe, [own, word]).await;
        }
        // More than the heaps have mapped: the lowest addresses behind everything that is mapped.
        noted.note([
            alloc(&pe, true, b(200_000)),
            alloc(&pe, false, b(9_000_000)),
        ]);
        counted.note(pe.elan().tport().stats().buffered);
    });
    let buffered = buffered.borrow().iter().sum();
    (found.borrow().clone(), buffered)
}

/// Each call of a kind four times in each of so many rounds: more often than a range of the heaps
/// has room for events. If one were not given back, the heap would grow.
#[test]
fn memory_does_not_grow_with_calls() {
    for nodes in [[0, 3], [2, 2]] {
        let (few, fetched) = places(&nodes, 3);
        let rounds = 135;
        let (many, all) = places(&nodes, rounds);
        assert_eq!(few, many);
        assert_eq!(all * 3, fetched * rounds, "each time as many");
        assert!((fetched > 0) == (nodes[0] != nodes[1]));
    }
}

/// Where the next global allocations would lie, and how much the process has allocated itself.
fn free_places(pe: &Pe) -> ([ElanAddr; 2], Bytes) {
    let elan = pe.elan();
    let near = elan.galloc_elan(64, b(64)).unwrap();
    let main = elan.galloc_main(64, b(64)).unwrap();
    for at in [near, main] {
        elan.galloc_free(at).unwrap();
    }
    ([near, main], pe.elan3().used())
}

/// Making a group takes the group's memory only. Its members try addresses until all have room at
/// the same ones; the places that they tried before are free again, and all are if a member has no
/// room at all.
#[test]
fn places_that_a_group_does_not_take_are_free_again() {
    for full in [false, true] {
        run_on(&four_nodes(), &job(&[0, 1, 3]), async move |pe| {
            let (elan, all) = (pe.elan(), pe.elan().all_group());
            // Each process's heaps begin elsewhere.
            let used = b(8 * 4096) * u64::from(me(&pe));
            elan.galloc_elan(64, used).unwrap();
            elan.galloc_main(64, used * 8).unwrap();
            if full && me(&pe) == 1 {
                while elan.galloc_main(64, b(4096)).is_ok() {}
            }
            let members = [0, 1, 2].map(pid);
            let before = (!full || me(&pe) != 1).then(|| free_places(&pe));
            let group = elan.group(all, &members).await;
            assert_eq!(group.is_err(), full);
            let after = (!full || me(&pe) != 1).then(|| free_places(&pe));
            // The group's memory lies where process 2 has room, and takes the lowest place there.
            if full || me(&pe) < 2 {
                assert_eq!(before, after, "process {}", me(&pe));
            } else {
                assert_ne!(before, after);
            }
            if let Ok(Some(group)) = group {
                group.gsync().await.unwrap();
            }
        });
    }
}
