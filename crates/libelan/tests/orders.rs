//! A real MPI's demands on Tports beyond the original library: 64-bit tags, receives from a
//! process, peeks, cancelled receives, and orders that are given late. On both generations, matched
//! by the adapter and by the host, between nodes and within one.

use crate::common;

use common::{
    assert_holds, b, cluster, filled, four_nodes, job, job_of, logs, me, pattern, pid, run_on,
    store,
};
use elan::{Config, Matching, NodeId, WaitMode};
use fabric::FatTree;
use libelan::elan::tport::{Mode, Received, Room, Rx, Select, TportError};
use libelan::{JobError, Pe, ProcessJob};
use std::cell::Cell;
use units::{Bytes, Time};

/// Four nodes from each generation, with both matching modes.
fn machines() -> impl Iterator<Item = Config> {
    let opteron = common::opteron(FatTree::quaternary(1).unwrap());
    [four_nodes(), opteron].into_iter().flat_map(|config| {
        [Matching::Adapter, Matching::Host].map(|matching| {
            let mut config = config.clone();
            config.tport.matching = matching;
            config
        })
    })
}

/// The machines, with two processes far apart, and near.
fn scenes() -> impl Iterator<Item = (Config, ProcessJob)> {
    machines().flat_map(|config| [[0, 3], [2, 2]].map(|places| (config.clone(), job(&places))))
}

async fn send(pe: &Pe, to: u32, tag: u64, seed: u64, length: u64) {
    let (tport, from) = (pe.elan().tport(), filled(pe, seed, length));
    let tx = tport.tx_start(Mode::Standard, pid(to), (me(pe), tag), from, b(length));
    tport.tx_wait(tx).await.unwrap();
}

/// Receives a message with a tag and checks its bytes.
async fn receive(pe: &Pe, tag: u64, seed: u64, length: u64) -> Received {
    let (tport, select) = (pe.elan().tport(), Select::exactly(None, Some(tag)));
    let received = tport.rx_wait(tport.rx_start(select, Room::System)).await;
    let received = received.unwrap();
    assert_eq!((received.tag, received.size), (tag, b(length)));
    assert_holds(pe, received.at.unwrap(), seed, length);
    tport.buf_free(received.at.unwrap()).unwrap();
    received
}

/// Bits beyond the original 32 distinguish messages, on every way.
#[test]
fn tags_of_64_bits() {
    fn high(tag: u64) -> u64 {
        tag << 32 | 5
    }
    let select = Select {
        tag_mask: u64::MAX << 32,
        tag: high(3),
        ..Select::ANY
    };
    assert!(select.takes(pid(0), 0, 3 << 32) && !select.takes(pid(0), 0, 4 << 32));
    assert_eq!(
        select.to_string(),
        "a message of any sender, tag 0x300000005 in bits 0xffffffff00000000"
    );
    for (config, job) in scenes() {
        run_on(&config, &job, async |pe| {
            for length in [0, 100, 5_000, 100_000] {
                let tags = [1, u64::from(u32::MAX), 2].map(high);
                if me(&pe) == 0 {
                    let (tport, from) = (pe.elan().tport(), filled(&pe, 3, length));
                    let send =
                        |tag| tport.tx_start(Mode::Standard, pid(1), (0, tag), from, b(length));
                    for tx in tags.map(send) {
                        tport.tx_wait(tx).await.unwrap();
                    }
                } else {
                    for tag in [tags[1], tags[2], tags[0]] {
                        receive(&pe, tag, 3, length).await;
                    }
                }
            }
        });
    }
}

/// A receive that names a process takes its messages, independent of the process's label, and no
/// other's.
#[test]
fn messages_of_a_process() {
    let select = Select {
        process: Some(pid(2)),
        ..Select::exactly(None, Some(7))
    };
    assert!(select.takes(pid(2), 9, 7) && !select.takes(pid(9), 2, 7));
    let text = "a message of process 2, any sender, tag 7";
    assert_eq!(select.to_string(), text);
    for config in machines() {
        for places in [[0, 1, 2], [0, 0, 3]] {
            let job = job(&places);
            run_on(&config, &job, async |pe| {
                let tport = pe.elan().tport();
                if me(&pe) > 0 {
                    // All call themselves the same.
                    let from = filled(&pe, me(&pe).into(), 50);
                    for _ in 0..2 {
                        let tx = tport.tx_start(Mode::Standard, pid(0), (77, 1), from, b(50));
                        tport.tx_wait(tx).await.unwrap();
                    }
                    return;
                }
                let buffer = filled(&pe, 0, 50);
                let take = async |process| {
                    let select = Select {
                        process,
                        ..Select::exactly(Some(77), Some(1))
                    };
                    let rx = tport.rx_start(select, Room::Buffer(buffer, b(50)));
                    let received = tport.rx_wait(rx).await.unwrap();
                    assert_eq!(received.sender, 77);
                    assert_holds(&pe, buffer, received.process.get().into(), 50);
                    received.process
                };
                assert_eq!(take(Some(pid(2))).await, pid(2));
                pe.compute(Time::from_us(200)).await;
                assert_eq!(take(Some(pid(2))).await, pid(2));
                assert_eq!(take(Some(pid(1))).await, pid(1));
                assert_eq!(take(None).await, pid(1));
            });
        }
    }
}

/// A peek sees a message that has come, at a probe's cost, and otherwise ends empty; it leaves the
/// message to a receive, and no trace.
#[test]
fn peeks() {
    for (config, job) in scenes() {
        run_on(&config, &job, async |pe| {
            let tport = pe.elan().tport();
            for (round, length) in (0..).zip([0, 100, 5_000, 200_000]) {
                let begin = Time::from_ms(10) * round;
                pe.node().sleep_until(begin).await;
                if me(&pe) == 0 {
                    pe.node().sleep(Time::from_us(500)).await;
                    send(&pe, 1, 4, 8, length).await;
                    continue;
                }
                let select = Select::exactly(Some(0), Some(4));
                for _ in 0..3 {
                    assert_eq!(tport.peek(select).await, Ok(None));
                }
                pe.node().sleep_until(begin + Time::from_ms(5)).await;
                let other = Select::exactly(None, Some(5));
                assert_eq!(tport.peek(other).await, Ok(None));
                let began = pe.now();
                let found = tport.peek(select).await.unwrap().unwrap();
                let peeked = pe.now();
                let probe = tport.rx_wait(tport.rx_start(select, Room::Probe)).await;
                assert_eq!(pe.now() - peeked, peeked - began);
                assert_eq!(probe, Ok(found));
                let expected = Received {
                    process: pid(0),
                    sender: 0,
                    tag: 4,
                    size: b(length),
                    at: None,
                };
                assert_eq!(found, expected);
                receive(&pe, 4, 8, length).await;
                assert_eq!(tport.peek(select).await, Ok(None));
            }
            if me(&pe) == 1 {
                assert_eq!(tport.stats().matched, 4);
            }
        });
    }
}

/// Before its message has been found a receive can be cancelled, even with its post still on the
/// way; the message goes to another receive. After that the receive takes its message, whole.
#[test]
fn cancelled_receives() {
    for (config, job) in scenes() {
        run_on(&config, &job, async |pe| {
            let tport = pe.elan().tport();
            let size = 50_000;
            if me(&pe) == 0 {
                pe.compute(Time::from_us(300)).await;
                for (tag, length) in [(1, 10), (2, 20), (3, size), (4, 40)] {
                    pe.compute(Time::from_us(200)).await;
                    send(&pe, 1, tag, tag, length).await;
                }
                return;
            }
            let start = |tag, length| {
                let room = Room::Buffer(filled(&pe, 99, length), b(length));
                tport.rx_start(Select::exactly(None, Some(tag)), room)
            };
            // Long before its message; immediately after the post; a probe.
            let early = start(1, 10);
            pe.compute(Time::from_us(100)).await;
            let at_once = start(1, 10);
            let probe = tport.rx_start(Select::ANY, Room::Probe);
            for rx in [&early, &at_once, &probe] {
                tport.rx_cancel(rx);
            }
            for rx in [early, at_once, probe] {
                assert_eq!(tport.rx_wait(rx).await, Err(TportError::Cancelled));
                assert!(pe.now() < Time::from_us(300));
            }
            assert_eq!(receive(&pe, 1, 1, 10).await.process, pid(0));
            // Its message has been received.
            let late = start(2, 20);
            late.ended().await;
            tport.rx_cancel(&late);
            let received = tport.rx_wait(late).await.unwrap();
            assert_holds(&pe, received.at.unwrap(), 2, 20);
            // Its bytes are on their way.
            let (matched, probe) = (start(3, size), tport.rx_start(Select::ANY, Room::Probe));
            // A probe behind it finds no message that it takes.
            while tport.stats().matched < 3 {
                pe.node().sleep(Time::from_ns(100)).await;
            }
            assert!(!matched.is_done());
            tport.rx_cancel(&matched);
            let received = tport.rx_wait(matched).await.unwrap();
            assert_holds(&pe, received.at.unwrap(), 3, size);
            tport.rx_cancel(&probe);
            let probed = tport.rx_wait(probe).await;
            assert_eq!(probed, Err(TportError::Cancelled));
            // Its message came before it.
            pe.node().sleep(Time::from_us(500)).await;
            let found = start(4, 40);
            tport.rx_cancel(&found);
            let received = tport.rx_wait(found).await.unwrap();
            assert_holds(&pe, received.at.unwrap(), 4, 40);
            let stats = tport.stats();
            assert_eq!((stats.matched, stats.unexpected), (4, 1));
        });
    }
}

/// Some receives are cancelled while messages come in: the others take the messages in order,
/// without loss.
#[test]
fn cancelled_while_messages_come() {
    const MANY: u64 = 60;
    for (config, job) in scenes() {
        run_on(&config, &job, async |pe| {
            let tport = pe.elan().tport();
            let length = |tag: u64| [0, 30, 1000, 3000][tag as usize % 4];
            if me(&pe) == 0 {
                let start = |tag| {
                    let size = length(tag);
                    let from = filled(&pe, tag, size);
                    tport.tx_start(Mode::Standard, pid(1), (0, tag), from, b(size))
                };
                pe.compute(Time::from_us(40)).await;
                let mut sends = Vec::new();
                for tag in 0..MANY {
                    pe.compute(Time::from_us(tag % 5)).await;
                    sends.push(start(tag));
                }
                for tx in sends {
                    tport.tx_wait(tx).await.unwrap();
                }
                return;
            }
            let post = || tport.rx_start(Select::ANY, Room::System);
            let receives: Vec<Rx> = (0..MANY).map(|_| post()).collect();
            // Each about when a message comes for it.
            for (place, rx) in (0..).zip(&receives).skip(1).step_by(3) {
                while tport.stats().matched + place / 3 + 1 < place {
                    pe.node().sleep(Time::from_ns(100)).await;
                }
                pe.node().sleep(Time::from_ns(97) * place).await;
                tport.rx_cancel(rx);
            }
            let (next, cancelled) = (Cell::new(0), Cell::new(0));
            let check = |result: Result<Received, TportError>| match result {
                Ok(received) => {
                    let tag = next.replace(next.get() + 1);
                    assert_eq!(received.tag, tag);
                    assert_holds(&pe, received.at.unwrap(), tag, length(tag));
                    tport.buf_free(received.at.unwrap()).unwrap();
                }
                Err(error) => {
                    assert_eq!(error, TportError::Cancelled);
                    cancelled.set(cancelled.get() + 1);
                }
            };
            for rx in receives {
                check(tport.rx_wait(rx).await);
            }
            for _ in next.get()..MANY {
                check(tport.rx_wait(post()).await);
            }
            let cancelled = cancelled.get();
            assert!((1..20).contains(&cancelled), "{cancelled}");
        });
    }
}

/// Peeks and cancelled receives give their events back: an adapter with room for few events
/// suffices for many receives.
#[test]
fn no_event_is_lost() {
    let starts = |config: &Config| {
        let job = job(&[0]);
        job.attach(&cluster(config)).is_ok()
    };
    for mut config in machines() {
        let step = Bytes::from_kb(64);
        config.adapter.memory = step;
        while !starts(&config) {
            config.adapter.memory += step;
        }
        config.adapter.memory += step;
        let job = job(&[0]);
        run_on(&config, &job, async |pe| {
            let tport = pe.elan().tport();
            for _ in 0..3000 {
                assert_eq!(tport.peek(Select::ANY).await, Ok(None));
                let rx = tport.rx_start(Select::ANY, Room::System);
                tport.rx_cancel(&rx);
                assert_eq!(tport.rx_wait(rx).await, Err(TportError::Cancelled));
            }
        });
    }
}

/// Makes calls at a moment, or as much later, for a program that gave them at that moment.
async fn at<R>(pe: &Pe, at: Time, late: Option<Time>, calls: impl FnOnce() -> R) -> R {
    pe.node().sleep_until(at + late.unwrap_or(Time::ZERO)).await;
    match late {
        Some(_) => pe.given(at, calls),
        None => calls(),
    }
}

/// The ends of all sends, receives, puts and gets that a program starts in quick succession.
fn ends(config: &Config, job: &ProcessJob, late: Option<Time>) -> Vec<(String, Time)> {
    let [times, noted] = logs();
    run_on(config, job, async move |pe| {
        let note = |what: String| noted.note((what, pe.now()));
        let (elan, tport, mpi) = (pe.elan(), pe.elan().tport(), pe.mpi());
        let board = elan.galloc_main(64, b(100_000)).unwrap();
        let ns = Time::from_ns;
        let lengths = [0, 8, 100, 2_000, 60_000];
        if me(&pe) == 0 {
            let bytes = pattern(5, 60_000);
            store(&pe, board, &bytes);
            let begin = Time::from_us(50);
            let (mut sends, mut time) = (Vec::new(), begin);
            for (tag, length) in (0..).zip(lengths) {
                let mode = [Mode::Standard, Mode::Synchronous][tag as usize % 2];
                let tx = at(&pe, time, late, || {
                    mpi.request();
                    tport.tx_start(mode, pid(1), (0, tag), board, b(length))
                });
                sends.push((tag, tx.await));
                time += ns(90 * tag);
            }
            for (tag, tx) in sends {
                let end = tx.ended().await;
                noted.note((format!("send {tag}"), end));
                tport.tx_wait(tx).await.unwrap();
            }
            for length in lengths {
                let time = pe.now() + Time::from_us(50);
                let put = at(&pe, time, late, || {
                    elan.put(pid(1), board, board, b(length))
                });
                elan.wait(put.await).await.unwrap();
                note(format!("put {length}"));
                let time = pe.now() + Time::from_us(50);
                let get = at(&pe, time, late, || {
                    elan.get(pid(1), board, board, b(length))
                });
                elan.wait(get.await).await.unwrap();
                note(format!("get {length}"));
            }
            return;
        }
        let mut receives = Vec::new();
        for (tag, length) in (0..).zip(lengths) {
            let post = || {
                let select = Select::exactly(None, Some(tag));
                tport.rx_start(select, Room::Buffer(board, b(length)))
            };
            receives.push(at(&pe, ns(700 * tag), late, post).await);
        }
        // One without a message, taken back; one that is awaited from before its end on, and one
        // after it.
        let extra = at(&pe, Time::from_us(8), late, || {
            tport.rx_start(Select::ANY, Room::Probe)
        });
        let extra = extra.await;
        let cancel = at(&pe, Time::from_us(15), late, || {
            tport.rx_cancel(&extra);
            tport.peek(Select::ANY)
        });
        let peek = cancel.await;
        assert_eq!(peek.await, Ok(None));
        note("peek".into());
        assert_eq!(tport.rx_wait(extra).await, Err(TportError::Cancelled));
        note("cancel".into());
        let mut time = Time::from_us(40);
        for (tag, rx) in receives.into_iter().enumerate() {
            let ended = at(&pe, time, late, || tport.rx_wait(rx)).await.await;
            assert_eq!(ended.unwrap().size, b(lengths[tag]));
            note(format!("receive {tag}"));
            time = pe.now() + ns(100);
        }
    });
    let mut times = times.borrow().clone();
    times.sort();
    times
}

/// Orders that are given late by up to a call's time: all is as if they had been given in time.
#[test]
fn late_orders() {
    for (config, job) in scenes() {
        let in_time = ends(&config, &job, None);
        assert_eq!(in_time.len(), 22);
        let call = config.host.call;
        for late in [Time::ZERO, Time::from_ps(1), call / 2, call] {
            assert_eq!(ends(&config, &job, Some(late)), in_time, "{late} late");
        }
    }
}

/// A node has a process per processor.
#[test]
fn processes_of_a_node() {
    for config in machines() {
        let cpus = config.host.cpus;
        let attach = |pes| {
            let job = job_of(&[0, 1], pes);
            job.waiting(WaitMode::Poll)
                .attach(&cluster(&config))
                .map(|pes| pes.len())
        };
        assert_eq!(attach(cpus), Ok(2 * cpus as usize));
        let crowded = JobError::Crowded {
            node: NodeId::new(0),
            processes: cpus + 1,
            cpus,
        };
        assert_eq!(attach(cpus + 1), Err(crowded));
    }
}
