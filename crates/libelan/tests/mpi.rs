//! MPI: latency, bandwidth and semantics as programs see them.

use crate::common;

use common::{
    assert_holds, b, filled, job, job_of, logs, machine, play, run, run_on, sixteen_nodes,
};
use elan::{ElanAddr, Stop};
use fabric::FatTree;
use libelan::elan::tport::TportError;
use libelan::mpi::{ANY_SOURCE, ANY_TAG, MpiStatus};
use libelan::{Pe, ProcessJob};
use units::{Bytes, Time};

/// Processes on four nodes, one each.
fn four() -> ProcessJob {
    job(&[0, 1, 2, 5])
}

/// Two nodes with two processes each: 0 and 1 are neighbours, 2 and 3.
fn pairs() -> ProcessJob {
    job_of(&[0, 5], 2)
}

/// Runs a program on either job.
fn on_both(program: impl AsyncFn(Pe) + Copy + 'static) {
    for job in [four(), pairs()] {
        run(&job, program);
    }
}

/// Half a round trip's time, from the middle of many.
fn half_round_trip(nodes: [u32; 2], size: Bytes) -> Time {
    let [times, noted] = logs();
    let config = machine(FatTree::quaternary(3).expect("64 nodes"));
    let job = job(&nodes);
    let program = async move |pe: Pe| {
        let mpi = pe.mpi();
        let buffer = pe.elan3().alloc_main(64, size).unwrap();
        let other = 1 - mpi.rank();
        let mut start = Time::ZERO;
        for round in 0..6 {
            if round == 2 {
                start = pe.now();
            }
            if mpi.rank() == 0 {
                mpi.send(other, 1, buffer, size).await.unwrap();
                mpi.recv(other, 1, buffer, size).await.unwrap();
            } else {
                mpi.recv(other, 1, buffer, size).await.unwrap();
                mpi.send(other, 1, buffer, size).await.unwrap();
            }
        }
        if mpi.rank() == 0 {
            noted.note((pe.now() - start) / 8);
        }
    };
    run_on(&config, &job, program);
    times.borrow()[0]
}

/// petrini2003 s5.1: 5.5 us for short messages, 200 MB/s for long ones, between main memories.
#[test]
fn latency_and_bandwidth() {
    let short = half_round_trip([0, 63], Bytes::ZERO);
    assert_eq!(short, Time::from_ns(5_500));
    let size = Bytes::from_mb(1);
    let rate = units::Rate::of(size, half_round_trip([0, 63], size));
    assert!((rate - 200.0).abs() < 2.0, "{rate} MB/s");
    let mut before = Time::ZERO;
    for size in [
        0, 4, 32, 64, 128, 256, 288, 289, 512, 1024, 4096, 16384, 65536,
    ] {
        let time = half_round_trip([0, 63], b(size));
        println!("{size:8} B {time:>12}");
        assert!(time > before, "{size} B take {time}, fewer took {before}");
        before = time;
    }
}

/// petrini2003 s5.2: 80 MB/s each way at a time, between main memories.
#[test]
fn bandwidth_both_ways() {
    let job = job(&[0, 5]);
    let [times, noted] = logs();
    run(&job, async move |pe| {
        let (mpi, size) = (pe.mpi(), Bytes::from_mb(1));
        let [out, back] = [(); 2].map(|()| pe.elan3().alloc_main(64, size).unwrap());
        let other = 1 - mpi.rank();
        for round in 0..3 {
            if round == 1 {
                noted.note(pe.now());
            }
            let wanted = (Some(other), Some(1), back, size);
            mpi.sendrecv((other, 1, out, size), wanted).await.unwrap();
        }
        noted.note(pe.now());
    });
    let (first, last) = (times.borrow()[0], times.borrow()[3]);
    let rate = units::Rate::of(Bytes::from_mb(2), last - first);
    assert!((rate - 80.0).abs() < 1.0, "{rate} MB/s");
}

/// Within a node: a call, a copy, the time until one processor sees the other's store, the same
/// call and copy again.
#[test]
fn latency_within_a_node() {
    for size in [0, 6, 600, 12_000] {
        let time = half_round_trip([7, 7], b(size));
        let copy = Time::from_ps(size * 1_000_000 / 600);
        assert_eq!(time, Time::from_ns(250 * 2 + 500) + copy * 2);
    }
}

/// Messages of all lengths, by both ways, into main and adapter memory.
#[test]
fn bytes_arrive() {
    on_both(async |pe| {
        let mpi = pe.mpi();
        let lengths = [0, 1, 63, 64, 288, 289, 320, 1000, 16_384, 16_385, 100_000];
        for (tag, length) in lengths.into_iter().enumerate() {
            let (to, from) = ((mpi.rank() + 1) % 4, (mpi.rank() + 3) % 4);
            let seed = u64::from(mpi.rank()) * 100 + length;
            let source = filled(&pe, seed, length);
            let place = common::alloc(&pe, tag % 2 == 1, b(length));
            let tag = tag as u32;
            let sent = (to, tag, source, b(length));
            let wanted = (Some(from), Some(tag), place, b(length));
            let status = mpi.sendrecv(sent, wanted).await.unwrap();
            let expected = MpiStatus {
                source: from,
                tag,
                size: b(length),
            };
            assert_eq!(status, expected);
            assert_holds(&pe, place, u64::from(from) * 100 + length, length);
        }
    });
}

/// Messages from one process to another are received in sending order, for any lengths, also where
/// a wild card receives messages from several processes.
#[test]
fn order() {
    on_both(async |pe| {
        let mpi = pe.mpi();
        let lengths = [10, 40_000, 0, 300, 288, 17_000, 5];
        if mpi.rank() > 0 {
            let send = |(number, &length): (usize, &u64)| {
                let buffer = filled(&pe, number as u64, length);
                mpi.isend(0, number as u32, buffer, b(length))
            };
            let requests: Vec<_> = lengths.iter().enumerate().map(send).collect();
            mpi.waitall(requests).await.unwrap();
            return;
        }
        let room = b(40_000);
        let buffer = pe.elan3().alloc_main(64, room).unwrap();
        let mut next = [0; 4];
        for _ in 0..3 * lengths.len() {
            let status = mpi.recv(ANY_SOURCE, ANY_TAG, buffer, room).await.unwrap();
            let expected = &mut next[status.source as usize];
            assert_eq!(status.tag, *expected);
            let length = lengths[*expected as usize];
            assert_eq!(status.size, b(length));
            assert_holds(&pe, buffer, u64::from(*expected), length);
            *expected += 1;
        }
    });
}

/// A receive takes the first message that it matches, not the first that has come.
#[test]
fn tags_and_sources_select() {
    on_both(async |pe| {
        let mpi = pe.mpi();
        if mpi.rank() == 0 {
            pe.compute(Time::from_us(100)).await;
            let wanted = [
                (3, Some(2)),
                (1, Some(2)),
                (2, None),
                (2, Some(1)),
                (1, None),
                (3, None),
            ];
            let got = [(3, 2), (1, 2), (2, 1), (2, 1), (1, 1), (3, 1)];
            let buffer = pe.elan3().alloc_main(64, b(8)).unwrap();
            for ((source, tag), expected) in wanted.into_iter().zip(got) {
                // Rank 2 sends tag 1 twice.
                let status = mpi.recv(source, tag, buffer, b(8)).await.unwrap();
                assert_eq!((status.source, status.tag), expected);
                assert_holds(&pe, buffer, u64::from(10 * expected.0 + expected.1), 8);
            }
        } else {
            let second = if mpi.rank() == 2 { 1 } else { 2 };
            for tag in [1, second] {
                let bytes = filled(&pe, u64::from(10 * mpi.rank() + tag), 8);
                mpi.send(0, tag, bytes, b(8)).await.unwrap();
            }
        }
    });
}

/// Posted receives are served in posting order, wild cards among them.
#[test]
fn posted_receives_are_served_in_order() {
    on_both(async |pe| {
        let mpi = pe.mpi();
        if mpi.rank() == 0 {
            let room = |_| pe.elan3().alloc_main(64, b(8)).unwrap();
            let buffers: Vec<_> = (0..3).map(room).collect();
            let wild = mpi.irecv(ANY_SOURCE, 7, buffers[0], b(8));
            let one = mpi.irecv(1, ANY_TAG, buffers[1], b(8));
            let all = mpi.irecv(ANY_SOURCE, ANY_TAG, buffers[2], b(8));
            let statuses = mpi.waitall([wild, one, all]).await.unwrap();
            let got: Vec<_> = statuses.iter().map(|one| (one.source, one.tag)).collect();
            assert_eq!(got, [(1, 7), (1, 7), (3, 9)]);
            assert_holds(&pe, buffers[0], 1, 8);
            assert_holds(&pe, buffers[1], 2, 8);
            assert_holds(&pe, buffers[2], 3, 8);
        } else if mpi.rank() == 1 {
            pe.compute(Time::from_us(50)).await;
            mpi.send(0, 7, filled(&pe, 1, 8), b(8)).await.unwrap();
            mpi.send(0, 7, filled(&pe, 2, 8), b(8)).await.unwrap();
        } else if mpi.rank() == 3 {
            pe.compute(Time::from_us(20)).await;
            mpi.send(0, 9, filled(&pe, 3, 8), b(8)).await.unwrap();
        }
    });
}

/// A message that is too long is an error that names both lengths, has no effect, and counts as
/// received; its sender does not notice.
#[test]
fn truncation() {
    for job in [four(), pairs()] {
        for early in [false, true] {
            run(&job, async move |pe| {
                let mpi = pe.mpi();
                let lengths = [100, 1000, 20_000];
                if mpi.rank() == 0 {
                    if early {
                        pe.compute(Time::from_us(500)).await;
                    }
                    for length in lengths {
                        let buffer = filled(&pe, 77, 100_000);
                        for tag in [1, 2] {
                            let room = if tag == 1 { b(length - 1) } else { b(length) };
                            let result = mpi.recv(1, tag, buffer, room).await;
                            if tag == 2 {
                                assert_eq!(result.unwrap().size, b(length));
                                assert_holds(&pe, buffer, length, length);
                                continue;
                            }
                            let error = result.unwrap_err();
                            let expected = TportError::Truncated {
                                sender: 1,
                                tag: 1,
                                size: b(length),
                                room: b(length - 1),
                            };
                            assert_eq!(error, expected);
                            assert_holds(&pe, buffer, 77, 100_000);
                        }
                    }
                } else if mpi.rank() == 1 {
                    let send =
                        |tag, length| mpi.isend(0, tag, filled(&pe, length, length), b(length));
                    for length in lengths {
                        mpi.waitall([send(1, length), send(2, length)])
                            .await
                            .unwrap();
                    }
                }
            });
        }
    }
}

#[test]
fn self_sends() {
    run(&four(), async |pe| {
        let mpi = pe.mpi();
        let me = mpi.rank();
        for length in [0, 8, 100_000] {
            let (from, to) = (filled(&pe, 5, length), filled(&pe, 6, length));
            let send = mpi.isend(me, 3, from, b(length));
            let status = mpi.recv(me, 3, to, b(length)).await.unwrap();
            assert_eq!(status, mpi.wait(send).await.unwrap());
            assert_holds(&pe, to, 5, length);
            let receive = mpi.irecv(ANY_SOURCE, ANY_TAG, to, b(length));
            mpi.send(me, 4, from, b(length)).await.unwrap();
            assert_eq!(mpi.wait(receive).await.unwrap().tag, 4);
        }
    });
}

/// Computing and messages overlap: the adapters continue alone.
#[test]
fn messages_progress_without_the_host() {
    run(&four(), async |pe| {
        let mpi = pe.mpi();
        let size = b(100_000);
        let buffer = pe.elan3().alloc_main(64, size).unwrap();
        let request = match mpi.rank() {
            0 => mpi.isend(1, 1, buffer, size),
            1 => mpi.irecv(0, 1, buffer, size),
            _ => return,
        };
        let start = pe.now();
        pe.compute(Time::from_ms(2)).await;
        mpi.wait(request).await.unwrap();
        // Only the calls themselves: 500 us of transfer are over.
        let calls = Time::from_ns(250) * (1 + u64::from(mpi.rank()));
        assert_eq!(pe.now() - start, Time::from_ms(2) + calls);
    });
}

/// A synchronous send waits for its receive, short or long; others do not if they can be buffered.
#[test]
fn synchronous_sends() {
    on_both(async |pe| {
        let mpi = pe.mpi();
        for length in [0, 100, 5000, 50_000] {
            let buffer = filled(&pe, 1, length);
            let late = pe.now() + Time::from_us(300);
            match mpi.rank() {
                0 => {
                    mpi.send(1, 1, buffer, b(length)).await.unwrap();
                    let buffered = length <= 16_384;
                    assert_eq!(pe.now() < late, buffered, "{length} B");
                    let request = mpi.issend(1, 4, buffer, b(length));
                    mpi.ssend(1, 2, buffer, b(length)).await.unwrap();
                    assert!(pe.now() > late);
                    mpi.wait(request).await.unwrap();
                    assert!(pe.now() > late + Time::from_us(300));
                    mpi.recv(1, 3, buffer, b(0)).await.unwrap();
                }
                1 => {
                    pe.compute(Time::from_us(300)).await;
                    mpi.recv(0, 1, buffer, b(length)).await.unwrap();
                    mpi.recv(0, 2, buffer, b(length)).await.unwrap();
                    pe.compute(Time::from_us(300)).await;
                    mpi.recv(0, 4, buffer, b(length)).await.unwrap();
                    mpi.send(0, 3, buffer, b(0)).await.unwrap();
                }
                _ => {}
            }
        }
    });
}

#[test]
fn probes() {
    on_both(async |pe| {
        let mpi = pe.mpi();
        let buffer = filled(&pe, 9, 50_000);
        for (length, late) in [
            (0, 0),
            (64, 0),
            (500, 0),
            (50_000, 0),
            (64, 100),
            (50_000, 100),
        ] {
            let late = Time::from_us(late);
            match mpi.rank() {
                0 => {
                    pe.compute(Time::from_us(100) - late).await;
                    let expected = MpiStatus {
                        source: 1,
                        tag: 5,
                        size: b(length),
                    };
                    for _ in 0..2 {
                        let found = mpi.probe(ANY_SOURCE, 5).await.unwrap();
                        assert_eq!(found, expected);
                    }
                    let got = mpi.recv(1, 5, buffer, b(length)).await.unwrap();
                    assert_eq!(got, expected);
                    mpi.send(1, 6, buffer, b(0)).await.unwrap();
                }
                1 => {
                    pe.compute(late).await;
                    mpi.send(0, 5, buffer, b(length)).await.unwrap();
                    mpi.recv(0, 6, buffer, b(0)).await.unwrap();
                }
                _ => {}
            }
        }
    });
}

/// A message that never comes is a deadlock; the report names the waiting processes, and their
/// waits.
#[test]
fn a_receive_that_never_matches() {
    let (_, end) = play(&sixteen_nodes(), &four(), async |pe| {
        let mpi = pe.mpi();
        let buffer = pe.elan3().alloc_main(64, b(64)).unwrap();
        match mpi.rank() {
            0 => drop(mpi.recv(1, 5, buffer, b(64)).await),
            1 => drop(mpi.send(0, 6, buffer, b(64)).await),
            2 => drop(mpi.ssend(0, 7, buffer, b(64)).await),
            _ => drop(mpi.probe(ANY_SOURCE, ANY_TAG).await),
        }
    });
    let Err(Stop::Deadlock { waiting, .. }) = end else {
        panic!("the tags differ")
    };
    let expected = [
        "test 0: waits for a message of sender 1, tag 5",
        "test 2: waits for its send of tag 7 to process 0",
        "test 3: waits for a message of any sender, any tag to be probed",
    ];
    assert_eq!(waiting, expected);
}

/// Errors reach the process that has made the mistake, and the process at the other end.
#[test]
fn faults() {
    on_both(async |pe| {
        let mpi = pe.mpi();
        let nowhere = ElanAddr::new(64);
        let good = filled(&pe, 1, 50_000);
        match mpi.rank() {
            0 => {
                let error = mpi.send(9, 1, good, b(8)).await.unwrap_err();
                assert_eq!(error.to_string(), "the job has no process 9");
                for length in [8, 50_000] {
                    let error = mpi.send(1, 1, nowhere, b(length)).await.unwrap_err();
                    let start = format!("an access by the process of {} at", b(length));
                    assert!(error.to_string().starts_with(&start), "{error}");
                }
                // These messages were not sent.
                mpi.send(1, 1, good, b(8)).await.unwrap();
                // Good messages into bad buffers.
                let _ = mpi.send(1, 3, good, b(8)).await;
                let _ = mpi.send(1, 4, good, b(50_000)).await;
                mpi.send(1, 5, good, b(8)).await.unwrap();
            }
            1 => {
                mpi.recv(0, 1, good, b(8)).await.unwrap();
                let short = mpi.recv(0, 3, nowhere, b(8)).await.unwrap_err();
                assert!(short.to_string().contains("faults"), "{short}");
                let long = mpi.recv(0, 4, nowhere, b(50_000)).await.unwrap_err();
                assert!(long.to_string().contains("faults"), "{long}");
                mpi.recv(0, 5, good, b(8)).await.unwrap();
            }
            _ => {}
        }
    });
}
