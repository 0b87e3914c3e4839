//! Rails that fail at any moment in any message kind, return, and fail again: everything arrives
//! once and whole.

use crate::common::{
    alloc, assert_holds, b, cluster, four_nodes, job, job_of, logs, me, pattern, pid, store,
    with_rails,
};
use crate::rails::policies;
use elan::{Action, AdapterPart, Cluster, Config, DmaError, ElanAddr, Matching, Rail};
use libelan::elan::group::Group;
use libelan::elan::reduce::{Receivers, Reduction, of_words};
use libelan::elan::tport::{Mode, Room, Select, TportError};
use libelan::shmem::ShmemError;
use libelan::{Pe, ProcessJob};
use rails::policies::{BASIC, DYNAMIC, HYBRID, LOCAL_DYNAMIC, STATIC};
use units::Time;

/// Lets a rail fail, for a while.
fn fail(cluster: &mut Cluster, rail: u32, at: Time, pause: Time) {
    cluster.fail_rail(Rail::new(rail), at);
    cluster.repair_rail(Rail::new(rail), at + pause);
}

/// Runs a program to its end while rails fail as `failures` lists; returns when it ended.
fn run_failing(
    config: &Config,
    job: &ProcessJob,
    failures: impl Fn(&mut Cluster),
    program: impl AsyncFn(Pe) + 'static,
) -> Time {
    let mut cluster = cluster(config);
    failures(&mut cluster);
    let [ends, noted] = logs();
    let program = std::rc::Rc::new(program);
    let launched = job.launch(&mut cluster, async move |pe| {
        let node = pe.node().clone();
        program(pe).await;
        noted.note(node.now());
    });
    launched.expect("the nodes are there");
    let end = cluster.run();
    end.unwrap_or_else(|stop| panic!("{stop}"));
    cluster.check_conservation();
    let ends = ends.borrow();
    ends.iter().copied().max().expect("there is a process")
}

/// All message kinds, one after the other, some at a time: every process with its right neighbour,
/// and all together.
async fn all_kinds(pe: Pe) {
    let (elan, shmem, me, all) = (pe.elan(), pe.shmem(), me(&pe), pe.nvps());
    let (right, left) = ((me + 1) % all, (me + all - 1) % all);
    let group = elan.all_group();
    let main = |length| elan.galloc_main(64, b(length)).unwrap();
    let near = |length| elan.galloc_elan(64, b(length)).unwrap();
    let (board, words, close) = (main(30_000), main(64), near(3_000));
    let (counter, rung) = (near(8), near(64));
    let event = pe.node().event_at(rung, 1, Action::Copy).unwrap();
    let queue = elan.queue_rx(2, b(100)).unwrap();
    group.gsync().await.unwrap();
    for round in 0..2_u64 {
        // Puts and gets, of all lengths, in both memories, under way at the same time.
        let seed = 10 * round + u64::from(me);
        let source = alloc(&pe, false, b(30_000));
        store(&pe, source, &pattern(seed, 30_000));
        let mut puts = vec![elan.put(pid(right), source, board, b(30_000))];
        puts.push(elan.put(pid(right), source, words, b(64)));
        puts.push(elan.put(pid(right), source, close, b(3_000)));
        for put in puts {
            elan.wait(put).await.unwrap();
        }
        group.hgsync().await.unwrap();
        let theirs = 10 * round + u64::from(left);
        assert_holds(&pe, board, theirs, 30_000);
        assert_holds(&pe, words, theirs, 64);
        assert_holds(&pe, close, theirs, 3_000);
        let mut gets = Vec::new();
        for (from, length) in [(board, 30_000), (words, 64), (close, 3_000)] {
            let to = alloc(&pe, false, b(length));
            gets.push((elan.get(pid(right), from, to, b(length)), to, length));
        }
        for (get, to, length) in gets {
            elan.wait(get).await.unwrap();
            assert_holds(&pe, to, seed, length);
        }
        // A put with an event, and messages to a queue.
        let put = elan.put_notify(pid(right), source, words, b(64), rung);
        elan.wait(put).await.unwrap();
        pe.node().wait(event).await;
        pe.node().prime(event, 1);
        for number in 0..4_u64 {
            let at = source.offset(b(100 * number));
            let tx = elan.queue_tx(pid(right), queue.at(), at, b(100));
            let message = queue.wait().await;
            let place = 100 * number as usize;
            assert_eq!(message[..], pattern(theirs, 500)[place..place + 100]);
            elan.wait(tx).await.unwrap();
        }
        group.gsync().await.unwrap();
        // Messages of all lengths, received in sending order.
        let tport = elan.tport();
        let lengths = [0, 100, 700, 200, 9_000, 0, 20_000, 50];
        let mut sends = Vec::new();
        for (tag, length) in (0..).zip(lengths) {
            let mode = if tag % 3 == 0 {
                Mode::Synchronous
            } else {
                Mode::Standard
            };
            sends.push(tport.tx_start(mode, pid(right), (me, tag), source, b(length)));
        }
        for (tag, length) in (0..).zip(lengths) {
            if tag == 4 {
                pe.compute(Time::from_us(20)).await;
            }
            let to = alloc(&pe, tag == 6, b(length));
            let room = Room::Buffer(to, b(length));
            let received = tport
                .rx_wait(tport.rx_start(Select::ANY, room))
                .await
                .unwrap();
            assert_eq!((received.tag, received.size), (tag, b(length)));
            assert_holds(&pe, to, theirs, length);
        }
        for tx in sends {
            tport.tx_wait(tx).await.unwrap();
        }
        // Atomics: no process counts twice.
        for _ in 0..3 {
            shmem.finc(counter, 0).await.unwrap();
        }
        shmem.barrier(group).await.unwrap();
        let counted = u64::from(all) * 3 * (round + 1);
        assert_eq!(shmem.g(counter, 0).await.unwrap(), counted);
        let swapped = shmem.cswap(counter, counted + 1, 7, 0).await.unwrap();
        assert_eq!(swapped, counted);
        together(&pe, group, round).await;
    }
}

/// The collective calls.
pub(crate) async fn together(pe: &Pe, group: &Group, round: u64) {
    let (elan, all) = (pe.elan(), u64::from(group.size()));
    let main = elan.galloc_main(64, b(20_000)).unwrap();
    let near = elan.galloc_elan(64, b(4_000)).unwrap();
    for (number, root) in (0..).zip([0, 2, 1]) {
        let root = root % group.size();
        let seed = 100 * round + number;
        for (at, length) in [(main, 20_000), (near, 4_000), (main, 30)] {
            for hardware in [true, false] {
                if group.rank() == root {
                    store(pe, at, &pattern(seed + length, length));
                }
                let sent = crate::common::broadcast(group, hardware, at, b(length), root).await;
                sent.unwrap();
                assert_holds(pe, at, seed + length, length);
                // The buffers are free again.
                group.gsync().await.unwrap();
            }
        }
        let vector: Vec<u8> = (0..700_u64)
            .flat_map(|word| (word + u64::from(group.rank())).to_le_bytes())
            .collect();
        store(pe, main, &vector);
        let sum = of_words(|one, other| one + other);
        let operation = Reduction {
            size: b(8),
            combine: &sum,
        };
        let to = if number == 1 {
            Receivers::Root(root)
        } else {
            Receivers::All
        };
        group.reduce(main, main, 700, &operation, to).await.unwrap();
        if to == Receivers::All || group.rank() == root {
            let found = pe.elan3().load(main, b(5_600)).unwrap();
            let expected =
                (0..700_u64).flat_map(|word| (word * all + all * (all - 1) / 2).to_le_bytes());
            assert!(found.iter().copied().eq(expected));
        }
        group.hgsync().await.unwrap();
        group.hgsyncevent().await.unwrap();
    }
    elan.galloc_free(main).unwrap();
    elan.galloc_free(near).unwrap();
}

/// Without failures, and with each rail down from the start.
#[test]
fn all_kinds_arrive() {
    for policy in policies() {
        for rails in [2, 4] {
            if policy == STATIC && rails == 2 {
                continue; // four nodes need four rails
            }
            let config = with_rails(&four_nodes(), rails, policy, 1.0);
            run_failing(&config, &job(&[0, 1, 2, 3]), |_| {}, all_kinds);
            if policy == STATIC {
                continue; // some ways are on one rail only
            }
            for rail in 0..rails {
                let down = |cluster: &mut Cluster| cluster.fail_rail(Rail::new(rail), Time::ZERO);
                run_failing(&config, &job(&[0, 1, 2, 3]), down, all_kinds);
            }
        }
    }
}

/// A rail fails at a moment, returns, fails again, and so on; the moments and pauses move through
/// the program. On two rails the other one fails when the first has returned.
#[test]
fn at_many_moments() {
    let policies = [BASIC, LOCAL_DYNAMIC, DYNAMIC, HYBRID];
    for (number, policy) in (0..).zip(policies) {
        let mut config = with_rails(&four_nodes(), 2, policy, 1.0);
        if policy == HYBRID {
            config.tport.matching = Matching::Host;
        }
        if policy == DYNAMIC {
            config.parts = vec![
                AdapterPart::Sten {
                    start: Time::from_ns(50),
                },
                AdapterPart::DmaEngines { count: 2 },
            ];
        }
        let end = run_failing(&config, &job(&[0, 1, 2, 3]), |_| {}, all_kinds);
        for moment in 0..12_u64 {
            let period = Time::from_ns(33_100 + 7_900 * moment + 1_700 * number);
            let pause = Time::from_ns([1, 900, 5_000, 21_000][moment as usize % 4]);
            let failures = |cluster: &mut Cluster| {
                let mut at = Time::from_ns(1_000 + 611 * moment);
                let mut rail = moment as u32 % 2;
                while at < end * 3 {
                    fail(cluster, rail, at, pause);
                    at += period;
                    rail = if moment % 3 == 0 { rail } else { 1 - rail };
                }
            };
            let places: &[u32] = if moment % 2 == 0 {
                &[0, 1, 2, 3]
            } else {
                &[3, 0, 2]
            };
            run_failing(&config, &job(places), failures, all_kinds);
        }
    }
}

/// Two processes on each node, three rails; one always works, and often only one.
#[test]
fn two_of_three_rails_fail() {
    for policy in [BASIC, LOCAL_DYNAMIC] {
        let config = with_rails(&four_nodes(), 3, policy, 0.5);
        for shift in 0..3_u64 {
            let failures = |cluster: &mut Cluster| {
                for number in 0..400 {
                    let at = Time::from_us(30 * number + 7 * shift + 1);
                    // Each rail works for every third period; the others fail one after the other.
                    for other in [1, 2] {
                        let rail = ((number + other) % 3) as u32;
                        fail(
                            cluster,
                            rail,
                            at + Time::from_us(3 * other),
                            Time::from_us(20),
                        );
                    }
                }
            };
            run_failing(&config, &job_of(&[0, 1, 3], 2), failures, all_kinds);
        }
    }
}

/// Whether the error is that no rail works.
fn is_none(error: ShmemError) -> bool {
    matches!(error, ShmemError::Dma(DmaError::NoRail { .. }))
}

/// Counts and puts words while rails come and go: an atomic that has failed was not executed.
async fn count(pe: &Pe, counter: ElanAddr, word: ElanAddr) {
    let (shmem, mut counted, mut failed) = (pe.shmem(), 0, 0);
    for number in 1..=120 {
        match shmem.finc(counter, 1).await {
            Ok(before) => {
                assert_eq!(before, counted, "an atomic that failed was executed");
                counted += 1;
            }
            Err(error) if is_none(error) => failed += 1,
            Err(error) => panic!("{error}"),
        }
        shmem.p(word, number, 1);
        let quiet = shmem.quiet().await;
        assert!(quiet.is_ok() || quiet.is_err_and(is_none), "{quiet:?}");
        pe.node().sleep(Time::from_us(3)).await;
    }
    assert!(failed > 3 && counted > 20, "{failed}, {counted}");
}

/// The last message's tag.
const LAST: u64 = 99;

/// Sends short and longer messages while rails come and go; returns the sent messages' tags, as
/// bits.
async fn send_some(pe: &Pe, from: ElanAddr) -> u64 {
    let (tport, mut sent) = (pe.elan().tport(), 0);
    for tag in 0..30_u64 {
        let length = [20, 20_000][tag as usize % 2];
        store(pe, from, &pattern(tag, length));
        let tx = tport.tx_start(Mode::Standard, pid(1), (2, tag), from, b(length));
        match tport.tx_wait(tx).await {
            Ok(()) => sent |= 1 << tag,
            Err(TportError::Dma(DmaError::NoRail { .. }) | TportError::Refused { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        pe.node().sleep(Time::from_us(5)).await;
    }
    pe.node().sleep_until(Time::from_ms(2)).await;
    let tx = tport.tx_start(Mode::Standard, pid(1), (2, LAST), from, b(8));
    tport.tx_wait(tx).await.unwrap();
    sent
}

/// Receives them, in their order; returns the received messages' tags, as bits.
async fn receive_some(pe: &Pe, to: ElanAddr) -> u64 {
    let (tport, mut received, mut last) = (pe.elan().tport(), 0, 0);
    loop {
        let room = Room::Buffer(to, b(20_000));
        match tport.rx_wait(tport.rx_start(Select::ANY, room)).await {
            Ok(message) if message.tag == LAST => return received,
            Ok(message) => {
                assert!(message.tag >= last, "out of order");
                last = message.tag;
                received |= 1 << last;
                assert_holds(pe, to, last, message.size.as_u64());
            }
            Err(TportError::Dma(DmaError::NoRail { .. })) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// When no rail works, operations fail, without a later effect. When one works again, all
/// continues; collective calls, and sends with an arrived envelope, wait for it.
#[test]
fn no_rail_works() {
    for policy in [BASIC, DYNAMIC] {
        for moment in 0..25_u64 {
            let config = with_rails(&four_nodes(), 2, policy, 1.0);
            let at = Time::from_us(100) + Time::from_ns(1_300 * moment);
            let failures = |cluster: &mut Cluster| {
                for rail in [0, 1] {
                    let rail_at = at + Time::from_ns(400 * u64::from(rail));
                    fail(cluster, rail, rail_at, Time::from_us(200));
                }
            };
            let [tags, noted] = logs();
            let end = run_failing(&config, &job(&[0, 1, 2]), failures, async move |pe| {
                let (shmem, buffer) = (pe.shmem(), alloc(&pe, false, b(20_000)));
                let word = shmem.malloc(b(8)).unwrap();
                let counter = shmem.malloc_elan(b(8)).unwrap();
                pe.node().sleep_until(Time::from_us(90)).await;
                match me(&pe) {
                    0 => count(&pe, counter, word).await,
                    1 => noted.note(receive_some(&pe, buffer).await),
                    _ => noted.note(send_some(&pe, buffer).await),
                }
                pe.elan().all_group().hgsync().await.unwrap();
            });
            assert!(end > at, "nothing failed");
            // The sent and the received messages are the same, and some failed.
            let tags = tags.borrow();
            assert_eq!(tags[0], tags[1], "{policy:?}, {at}");
            assert!((5..30).contains(&tags[0].count_ones()), "{:b}", tags[0]);
        }
    }
}

/// If no rail ever works again, collective calls are a deadlock; its report names them.
#[test]
fn all_rails_are_gone() {
    let config = with_rails(&four_nodes(), 2, BASIC, 0.0);
    let mut cluster = cluster(&config);
    for rail in [0, 1] {
        cluster.fail_rail(Rail::new(rail), Time::from_us(50));
    }
    let launched = job(&[0, 1, 2, 3]).launch(&mut cluster, async |pe| {
        let word = pe.elan().galloc_main(8, b(8)).unwrap();
        let put = pe.elan().put(pid(0), word, word, b(8));
        pe.elan().wait(put).await.unwrap();
        pe.node().sleep_until(Time::from_us(60)).await;
        pe.elan().all_group().hgsync().await.unwrap();
    });
    launched.unwrap();
    let stop = cluster.run().expect_err("no rail works").to_string();
    assert!(
        stop.contains("deadlock") && stop.contains("hgsync of 4 processes"),
        "{stop}"
    );
}
