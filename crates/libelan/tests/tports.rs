//! Tports: their uses beyond MPI, their bounds, and where their time goes.

use crate::common;

use common::{assert_holds, b, filled, four_nodes, job, logs, me, node_of, pid, run, run_on};
use elan::{Config, Permissions, Placement};
use libelan::ProcessJob;
use libelan::elan::tport::{Mode, Received, Room, Select, Stats, TportError};
use units::{Bytes, Time};

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Two processes, on two nodes or on one.
fn two() -> [ProcessJob; 2] {
    [job(&[0, 3]), job(&[2, 2])]
}

/// The time of a message without bytes, or with few, to a receive that was posted before: the sum
/// of its parts.
#[test]
fn where_the_time_goes() {
    for (length, adapter) in [(0, false), (64, true), (64, false), (288, false)] {
        let [ends, noted] = logs();
        let job = job(&[0, 3]);
        let start = Time::from_us(50);
        run_on(&four_nodes(), &job, async move |pe| {
            let (tport, size) = (pe.elan().tport(), b(length));
            let buffer = common::alloc(&pe, adapter, size);
            if me(&pe) == 0 {
                pe.compute(start).await;
                let tx = tport.tx_start(Mode::Standard, pid(1), (0, 1), buffer, size);
                tport.tx_wait(tx).await.unwrap();
            } else {
                let rx = tport.rx_start(Select::ANY, Room::Buffer(buffer, size));
                tport.rx_wait(rx).await.unwrap();
                noted.note(pe.now());
            }
        });
        // A bus burst is 77 ns and its bytes at 264 MB/s.
        let bus = |bytes: u64| {
            let bursts = (0..bytes.div_ceil(64)).map(|burst| (bytes - burst * 64).min(64));
            let burst = |bytes: u64| ns(77) + Time::from_ps((bytes * 1_000_000u64).div_ceil(264));
            bursts.map(burst).sum::<Time>()
        };
        let call = ns(250);
        let stored = start + call + bus(32 + length);
        let posted = stored + bus(8) + ns(200);
        // Header, 64 B blocks with 10 B each, and the transaction that claims the slot.
        let blocks = (32 + length).div_ceil(64);
        let flits = (8 + 10 * blocks + 32 + length + 10).div_ceil(2);
        let cycle = ns(5);
        let arrived = cycle * ((posted + ns(540)).div_ceil(cycle) + 22 + flits - 1);
        let seen_by_thread = arrived + ns(200 + 200);
        let matched = seen_by_thread + ns(300) + ns(10) * (168 + 12);
        let delivered = if adapter {
            matched
        } else {
            matched + bus(length)
        };
        let set = delivered + ns(100 + 200);
        // The bus last went the other way.
        let known = set + bus(64) + ns(80) + ns(200);
        assert_eq!(ends.borrow()[0], known + call, "{length} B");
    }
}

/// Masks select bits in sender and tag; the sender is any label from the sending program.
#[test]
fn masks() {
    let even = Select {
        tag_mask: 1,
        ..Select::ANY
    };
    assert!(even.takes(pid(1), 7, 4) && !even.takes(pid(1), 7, 5));
    assert!(Select::ANY.takes(pid(9), u32::MAX, 0));
    assert!(!Select::exactly(Some(3), None).takes(pid(3), 2, 3));
    let text = "a message of sender 3, tag 0x10 in bits 0xf0";
    let select = Select {
        tag_mask: 0xf0,
        tag: 0x10,
        ..Select::exactly(Some(3), None)
    };
    assert_eq!(select.to_string(), text);
    for job in two() {
        run(&job, async |pe| {
            let tport = pe.elan().tport();
            let buffer = filled(&pe, 1, 8);
            if me(&pe) == 0 {
                for (sender, tag) in [(40, 0x11), (41, 0x21), (41, 0x12), (40, 0x20)] {
                    let tx = tport.tx_start(Mode::Standard, pid(1), (sender, tag), buffer, b(8));
                    tport.tx_wait(tx).await.unwrap();
                }
                return;
            }
            let masks = [
                (!0, 41, 0xf, 2),
                (0, 0, 0xf0, 0x20),
                (1, 0, 0, 0),
                (0, 0, 0, 0),
            ];
            let expected = [(41, 0x12), (41, 0x21), (40, 0x11), (40, 0x20)];
            for ((sender_mask, sender, tag_mask, tag), expected) in masks.into_iter().zip(expected)
            {
                let select = Select {
                    process: None,
                    sender_mask,
                    sender,
                    tag_mask,
                    tag,
                };
                let rx = tport.rx_start(select, Room::Buffer(buffer, b(8)));
                let received = tport.rx_wait(rx).await.unwrap();
                assert_eq!((received.sender, received.tag), expected);
            }
        });
    }
}

/// A system buffer holds the message until it is freed.
#[test]
fn buffers_of_the_system() {
    for job in two() {
        for late in [false, true] {
            run(&job, async move |pe| {
                let tport = pe.elan().tport();
                for length in [0, 1, 288, 5000, 100_000] {
                    let seed = length + 3;
                    if me(&pe) == 0 {
                        let from = filled(&pe, seed, length);
                        let tx = tport.tx_start(Mode::Standard, pid(1), (0, 9), from, b(length));
                        tport.tx_wait(tx).await.unwrap();
                        continue;
                    }
                    if late {
                        pe.compute(Time::from_us(900)).await;
                    }
                    let rx = tport.rx_start(Select::ANY, Room::System);
                    let received = tport.rx_wait(rx).await.unwrap();
                    let at = received.at.expect("a buffer");
                    let expected = Received {
                        process: pid(0),
                        sender: 0,
                        tag: 9,
                        size: b(length),
                        at: Some(at),
                    };
                    assert_eq!(received, expected);
                    assert_holds(&pe, at, seed, length);
                    tport.buf_free(at).unwrap();
                    assert!(tport.buf_free(at).is_err());
                }
            });
        }
    }
}

/// Few small messages may wait unmatched. Others are held at their senders, are done only when they
/// are received, and keep no other message back. All arrive.
#[test]
fn unexpected_messages_beyond_the_buffer() {
    const MANY: u64 = 40;
    let mut config = four_nodes();
    // Four packets for each of three processes, and no room for longer ones.
    config.tport.buffer = b(320 * 3 * 4);
    config.tport.system = b(0);
    for places in [[0, 1, 2], [0, 0, 0]] {
        let job = job(&places);
        run_on(&config, &job, async |pe| {
            let tport = pe.elan().tport();
            let buffer = filled(&pe, 5, 100);
            let take = async |select| {
                let buffer = filled(&pe, 6, 100);
                let rx = tport.rx_start(select, Room::Buffer(buffer, b(100)));
                let received = tport.rx_wait(rx).await.unwrap();
                assert_eq!(received.size, b(100));
                received.tag
            };
            match me(&pe) {
                0 => {
                    pe.compute(Time::from_ms(1)).await;
                    // A message from another sender that came after all the others.
                    assert_eq!(take(Select::exactly(Some(2), None)).await, 77);
                    for tag in (0..MANY).rev() {
                        assert_eq!(take(Select::exactly(Some(1), Some(tag))).await, tag);
                    }
                    // The window is open again.
                    for tag in 0..MANY {
                        assert_eq!(take(Select::exactly(Some(1), None)).await, tag);
                    }
                }
                1 => {
                    let send =
                        |tag| tport.tx_start(Mode::Standard, pid(0), (1, tag), buffer, b(100));
                    let sends: Vec<_> = (0..MANY).map(send).collect();
                    pe.compute(Time::from_us(900)).await;
                    let done = sends.iter().filter(|tx| tx.is_done()).count();
                    assert_eq!(done, 4);
                    assert_eq!(tport.stats().held, MANY - 4);
                    for tx in sends {
                        tport.tx_wait(tx).await.unwrap();
                    }
                    for tag in 0..MANY {
                        pe.compute(Time::from_us(40)).await;
                        let tx = send(tag);
                        tport.tx_wait(tx).await.unwrap();
                    }
                }
                _ => {
                    pe.compute(Time::from_us(500)).await;
                    let tx = tport.tx_start(Mode::Standard, pid(0), (2, 77), buffer, b(100));
                    tport.tx_wait(tx).await.unwrap();
                }
            }
        });
    }
}

/// More senders at a time than the queue has slots: the adapters try again, and no message is lost
/// or out of order.
#[test]
fn a_queue_that_is_full() {
    let mut config = common::sixteen_nodes();
    config.tport.slots = 1;
    let nodes: Vec<u32> = (0..16).collect();
    let job = job(&nodes);
    run_on(&config, &job, async |pe| {
        let tport = pe.elan().tport();
        let buffer = filled(&pe, u64::from(me(&pe)), 8);
        if me(&pe) > 0 {
            for tag in 0..5 {
                let tx = tport.tx_start(Mode::Standard, pid(0), (me(&pe), tag), buffer, b(8));
                tport.tx_wait(tx).await.unwrap();
            }
            return;
        }
        let mut next = [0; 16];
        for _ in 0..75 {
            let rx = tport.rx_start(Select::ANY, Room::Buffer(buffer, b(8)));
            let received = tport.rx_wait(rx).await.unwrap();
            assert_holds(&pe, buffer, received.sender.into(), 8);
            assert_eq!(received.tag, next[received.sender as usize]);
            next[received.sender as usize] += 1;
        }
    });
}

#[test]
fn statistics() {
    for (job, buffered) in two().into_iter().zip([1, 0]) {
        run(&job, async move |pe| {
            let tport = pe.elan().tport();
            let buffer = filled(&pe, 0, 5000);
            if me(&pe) == 0 {
                for (length, pause) in [(8, 200), (5000, 700), (8, 0)] {
                    pe.compute(Time::from_us(pause)).await;
                    let room = Room::Buffer(buffer, b(length));
                    let rx = tport.rx_start(Select::ANY, room);
                    tport.rx_wait(rx).await.unwrap();
                }
                let expected = Stats {
                    matched: 3,
                    unexpected: 2,
                    buffered,
                    ..Stats::default()
                };
                assert_eq!(tport.stats(), expected);
            } else {
                for length in [8, 5000, 8] {
                    let tx = tport.tx_start(Mode::Standard, pid(0), (1, 1), buffer, b(length));
                    assert!(!tx.is_done());
                    tport.tx_wait(tx).await.unwrap();
                    pe.compute(Time::from_us(500)).await;
                }
                let expected = Stats {
                    sent: 3,
                    ..Stats::default()
                };
                assert_eq!(tport.stats(), expected);
            }
        });
    }
}

/// Memory that the network may not read cannot be got: both ends get the error.
#[test]
fn permissions() {
    let job = job(&[0, 3]);
    run(&job, async |pe| {
        let tport = pe.elan().tport();
        let size = b(50_000);
        let buffer = pe.elan3().alloc_main(64, size).unwrap();
        let local = Permissions::LOCAL;
        for (tag, closed) in [(1, 0), (2, 1)] {
            if me(&pe) == closed {
                pe.elan3().setperm(buffer, size, local).unwrap();
            } else {
                pe.elan3().setperm(buffer, size, Permissions::ALL).unwrap();
            }
            if me(&pe) == 0 {
                let tx = tport.tx_start(Mode::Standard, pid(1), (0, tag), buffer, size);
                let error = tport.tx_wait(tx).await.unwrap_err();
                assert_eq!(error, TportError::Refused { by: pid(1) });
            } else {
                let rx = tport.rx_start(Select::ANY, Room::Buffer(buffer, size));
                let error = tport.rx_wait(rx).await.unwrap_err().to_string();
                let access = if closed == 0 { "read" } else { "write" };
                let expected = format!("a remote {access} of ");
                assert!(error.starts_with(&expected), "{error}");
                assert!(error.ends_with("its permissions forbid it"), "{error}");
            }
        }
    });
}

/// A system without memory left for a message reports it, and continues.
#[test]
fn no_buffer_of_the_system() {
    let mut config = four_nodes();
    config.tport.system = b(1000);
    for job in two() {
        run_on(&config, &job, async |pe| {
            let tport = pe.elan().tport();
            let buffer = filled(&pe, 0, 2000);
            for (tag, length) in [(1, 2000), (2, 100)] {
                if me(&pe) == 0 {
                    let tx = tport.tx_start(Mode::Standard, pid(1), (0, tag), buffer, b(length));
                    let _ = tport.tx_wait(tx).await;
                } else {
                    let rx = tport.rx_start(Select::exactly(None, Some(tag)), Room::System);
                    let result = tport.rx_wait(rx).await;
                    if tag == 1 {
                        assert!(matches!(result, Err(TportError::Memory(_))), "{result:?}");
                    } else {
                        assert_holds(&pe, result.unwrap().at.unwrap(), 0, 100);
                    }
                }
            }
        });
    }
}

/// A machine without adapter memory for the library cannot run a job.
#[test]
fn no_memory_for_the_library() {
    let config = Config {
        adapter: elan::AdapterConfig {
            memory: Bytes::from_kb(64),
            ..four_nodes().adapter
        },
        ..four_nodes()
    };
    let mut cluster = common::cluster(&config);
    let job = job(&[0]);
    let error = job.launch(&mut cluster, async |_| ()).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("no memory for the libraries"), "{text}");
    let node = node_of(&cluster, 0);
    assert!(
        node.map(Placement::Main, b(1), Permissions::ALL, true)
            .is_ok()
    );
}

/// Receives that wait for a message each; the messages come in posting order or against it: the
/// host's time grows with the message count, and not with its square.
#[test]
#[ignore = "prints times of the host"]
fn long_queues() {
    for against in [false, true] {
        for count in [3_919, 20_000] {
            #[expect(
                clippy::disallowed_methods,
                reason = "the time of the host is measured"
            )]
            let start = std::time::Instant::now();
            let [ends, noted] = logs();
            run(&job(&[0, 5]), async move |pe| {
                let (tport, size) = (pe.elan().tport(), b(8));
                let buffer = common::alloc(&pe, false, size);
                let tags = (0..count).map(|tag| if against { count - 1 - tag } else { tag });
                if me(&pe) == 0 {
                    pe.compute(Time::from_ms(100)).await;
                    for tag in tags {
                        let tx = tport.tx_start(Mode::Standard, pid(1), (0, tag), buffer, size);
                        tport.tx_wait(tx).await.unwrap();
                    }
                } else {
                    let select = |tag| Select::exactly(Some(0), Some(tag));
                    let all = (0..count)
                        .map(|tag| tport.rx_start(select(tag), Room::Buffer(buffer, size)));
                    for rx in all.collect::<Vec<_>>() {
                        tport.rx_wait(rx).await.unwrap();
                    }
                    noted.note(pe.now());
                }
            });
            let (host, end) = (start.elapsed(), ends.borrow()[0]);
            println!("{count} messages, against the order {against}: {end} simulated, {host:?}");
        }
    }
}
