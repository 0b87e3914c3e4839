//! Waiting by polling and by blocking: the cost of each, and that both see the same.

use crate::common;

use common::{b, four_nodes, job, load, me, pattern, pid, run_on, store};
use elan::{Comparison, ElanAddr, WaitMode};
use libelan::Pe;
use libelan::elan::reduce::{Receivers, Reduction};
use libelan::elan::tport::{Mode, Room, Select};
use units::Time;

/// Runs a program on a process on each given node, with libraries that wait in some way; returns
/// when the program ends.
fn end(places: &[u32], waits: WaitMode, program: impl AsyncFn(Pe) + 'static) -> Time {
    run_on(&four_nodes(), &job(places).waiting(waits), program).now()
}

/// By how much an interrupt is later than a poll.
fn later() -> Time {
    let adapter = four_nodes().adapter;
    adapter.interrupt - adapter.poll
}

/// Some bytes in global memory.
fn board(pe: &Pe) -> ElanAddr {
    pe.elan().galloc_main(64, b(1000)).expect("there is room")
}

/// One process's single wait: a put, a get, a message in a queue, an atomic.
#[test]
fn a_blocking_wait_costs_an_interrupt() {
    let put = async |pe: Pe| {
        let (elan, at) = (pe.elan(), board(&pe));
        if me(&pe) == 0 {
            elan.wait(elan.put(pid(1), at, at, b(500))).await.unwrap();
        }
    };
    let all_puts = async |pe: Pe| {
        let (elan, at) = (pe.elan(), board(&pe));
        if me(&pe) == 0 {
            drop(elan.put(pid(1), at, at, b(500)));
            elan.put_wait_all().await.unwrap();
        }
    };
    let get = async |pe: Pe| {
        let (elan, at) = (pe.elan(), board(&pe));
        store(&pe, at, &pattern(me(&pe).into(), 500));
        if me(&pe) == 0 {
            elan.wait(elan.get(pid(1), at, at, b(500))).await.unwrap();
            assert_eq!(load(&pe, at, b(500))[..], pattern(1, 500));
        }
    };
    let queue = async |pe: Pe| {
        let (elan, at) = (pe.elan(), board(&pe));
        let queue = elan.queue_rx(2, b(64)).unwrap();
        if me(&pe) == 0 {
            assert_eq!(queue.wait().await[..], pattern(7, 50));
        } else {
            store(&pe, at, &pattern(7, 50));
            // The sender does not wait.
            drop(elan.queue_tx(pid(0), queue.at(), at, b(50)));
            pe.compute(Time::from_us(2)).await;
        }
    };
    let atomic = async |pe: Pe| {
        let shmem = pe.shmem();
        let word = shmem.malloc_elan(b(8)).unwrap();
        if me(&pe) == 0 {
            assert_eq!(shmem.fadd(word, 5, 1).await.unwrap(), 0);
        }
    };
    let word = async |pe: Pe| {
        let shmem = pe.shmem();
        let word = shmem.malloc_elan(b(8)).unwrap();
        if me(&pe) == 0 {
            assert_eq!(shmem.g(word, 1).await.unwrap(), 0);
        }
    };
    let of = |waits| {
        [
            end(&[0, 2], waits, put),
            end(&[0, 2], waits, all_puts),
            end(&[0, 2], waits, get),
            end(&[0, 2], waits, queue),
            end(&[0, 2], waits, atomic),
            end(&[0, 2], waits, word),
        ]
    };
    let (polls, blocks) = (of(WaitMode::Poll), of(WaitMode::Block));
    assert_eq!(polls.map(|end| end + later()), blocks);
    // A process that looks often enough sees the event while polling; any other blocks.
    assert_eq!(of(WaitMode::Spin(10_000)), polls);
    assert_eq!(of(WaitMode::Spin(3)), blocks);
}

/// Messages of both protocols, expected and unexpected, between nodes and within one, and their
/// contents.
#[test]
fn messages() {
    for places in [[0, 2], [1, 1]] {
        for length in [0, 200, 5_000, 50_000] {
            let ping = async move |pe: Pe| {
                let (tport, elan3) = (pe.elan().tport(), pe.elan3());
                let at = elan3.alloc_main(64, b(length)).unwrap();
                if me(&pe) == 0 {
                    elan3.store(at, &pattern(3, length)).unwrap();
                    pe.compute(Time::from_us(100)).await;
                    let tx = tport.tx_start(Mode::Standard, pid(1), (0, 9), at, b(length));
                    // The message has ended before it is waited for: no way of waiting has a cost.
                    pe.compute(Time::from_us(400)).await;
                    assert!(tx.is_done());
                    let before = pe.now();
                    tport.tx_wait(tx).await.unwrap();
                    assert_eq!(pe.now(), before);
                } else {
                    let rx = tport.rx_start(Select::ANY, Room::Buffer(at, b(length)));
                    let received = tport.rx_wait(rx).await.unwrap();
                    assert_eq!((received.tag, received.size), (9, b(length)));
                    assert_eq!(elan3.load(at, b(length)).unwrap()[..], pattern(3, length));
                    // This process ends the run.
                    pe.compute(Time::from_us(800)).await;
                }
            };
            let (polls, blocks) = (
                end(&places, WaitMode::Poll, ping),
                end(&places, WaitMode::Block, ping),
            );
            assert_eq!(polls + later(), blocks, "{places:?}, {length} B");
            assert_eq!(end(&places, WaitMode::Spin(100_000), ping), polls);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Gsync,
    Bcast,
    Hbcast,
    Reduce,
    Hgsync,
    Hgsyncevent,
}

/// A collective call by all processes, and its result.
async fn call(pe: Pe, call: Call) {
    let (group, at, size) = (pe.elan().all_group(), board(&pe), b(1000));
    store(&pe, at, &[me(&pe) as u8 + 1; 1000]);
    let add = |one: &[u8], other: &mut [u8]| {
        let pairs = one.iter().zip(other);
        pairs.for_each(|(one, other)| *other += *one);
    };
    let operation = Reduction {
        size: b(1),
        combine: &add,
    };
    let expected = match call {
        Call::Bcast | Call::Hbcast => 3,
        Call::Reduce => (1..=pe.nvps() as u8).sum(),
        Call::Gsync | Call::Hgsync | Call::Hgsyncevent => me(&pe) as u8 + 1,
    };
    let done = match call {
        Call::Gsync => group.gsync().await,
        Call::Bcast => group.bcast(at, size, 2).await,
        Call::Hbcast => group.hbcast(at, size, 2).await,
        Call::Reduce => group.reduce(at, at, 1000, &operation, Receivers::All).await,
        Call::Hgsync => group.hgsync().await,
        Call::Hgsyncevent => group.hgsyncevent().await,
    };
    done.unwrap();
    assert_eq!(load(&pe, at, size)[..], [expected; 1000]);
}

/// A process that blocks in a collective call's waits is later by at least one interrupt; two calls
/// have their own way of waiting. On adjacent nodes, and on others, where software takes hardware's
/// place.
#[test]
fn collective_calls() {
    for places in [&[0, 1, 2, 3][..], &[0, 1, 3]] {
        let of = |what, waits| end(places, waits, move |pe| call(pe, what));
        for what in [Call::Gsync, Call::Bcast, Call::Hbcast, Call::Reduce] {
            let (polls, blocks) = (of(what, WaitMode::Poll), of(what, WaitMode::Block));
            assert!(blocks >= polls + later(), "{what:?}: {polls} {blocks}");
        }
        let [polls, blocks] = [Call::Hgsync, Call::Hgsyncevent].map(|what| {
            let [one, other] = [WaitMode::Poll, WaitMode::Block].map(|waits| of(what, waits));
            assert_eq!(one, other, "{what:?}");
            one
        });
        assert!(blocks >= polls + later(), "{polls} {blocks}");
    }
}

/// A word that another process stores is polled, independent of the job's way of waiting.
#[test]
fn a_word_of_memory_is_polled() {
    let wait = async |pe: Pe| {
        let shmem = pe.shmem();
        let word = shmem.malloc(b(8)).unwrap();
        if me(&pe) == 0 {
            shmem.wait_until(word, Comparison::Equal, 4).await.unwrap();
        } else {
            shmem.p(word, 4, 0);
        }
    };
    assert_eq!(
        end(&[0, 2], WaitMode::Poll, wait),
        end(&[0, 2], WaitMode::Block, wait)
    );
}
