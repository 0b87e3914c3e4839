//! The thread processor: which thread runs when, and times worked out on paper.

use crate::common;

use common::{four_nodes, log, logs, node_of, run_thread, settle, start, write};
use elan::{Action, Dma, DmaError, Placement, Priority, Thread};
use units::{Bytes, Time};

/// A command on an idle bus: 8 bytes, then the command processor.
const COMMAND: Time = Time::from_ps(77_000 + 30_304 + 200_000);
/// Each further command that waits for the bus.
const NEXT: Time = Time::from_ps(77_000 + 30_304);
/// 30 cycles, 10 ns each.
const SWITCH: Time = Time::from_ns(300);
/// 10 cycles.
const ISSUE: Time = Time::from_ns(100);

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Three threads that want to work at once do it one after the other, in the order in which they
/// were started.
#[test]
fn one_thread_at_a_time() {
    let (mut cluster, [node]) = start(&four_nodes());
    let ends = log();
    for (name, cycles) in [("a", 100), ("b", 7), ("c", 0)] {
        let ends = ends.clone();
        let program = async move |thread: Thread| {
            thread.step(cycles / 2).await;
            thread.step(cycles - cycles / 2).await;
            ends.note((name, thread.now()));
        };
        node.run(name, program).expect("there is a stack");
    }
    settle(&mut cluster);
    let a = COMMAND + SWITCH + ns(1000);
    assert!(
        a > COMMAND + NEXT * 2,
        "all are ready before the first ends"
    );
    let b = a + SWITCH + ns(70);
    let c = b + SWITCH;
    assert_eq!(*ends.borrow(), [("a", a), ("b", b), ("c", c)]);
    assert_eq!(node.thread_busy(), SWITCH * 3 + ns(1070));
    assert_eq!(node_of(&cluster, 1).thread_busy(), Time::ZERO);
}

/// A thread that waits lets others run. Threads that become ready take turns in that order, not in
/// number order; no thread is interrupted.
#[test]
fn ready_threads_take_turns() {
    let (mut cluster, [node]) = start(&four_nodes());
    let order = log();
    let events: Vec<_> = (0..3).map(|_| node.event_with(1, Action::None)).collect();
    for (number, &event) in events.iter().enumerate() {
        let order = order.clone();
        let program = async move |thread: Thread| {
            thread.wait(event).await;
            thread.step(10).await;
            order.note((number, thread.now()));
        };
        node.run(format!("waits {number}"), program).unwrap();
    }
    // One that works long, and sets the others' events meanwhile, last first.
    let noted = order.clone();
    let program = async move |thread: Thread| {
        for &event in events.iter().rev() {
            thread.set(event).await;
        }
        thread.step(1000).await;
        noted.note((9, thread.now()));
    };
    node.run("works", program).unwrap();
    settle(&mut cluster);
    // The fourth command is there when the third thread has begun to wait.
    let three = COMMAND + SWITCH * 3;
    assert!(three > COMMAND + NEXT * 3);
    let works = three + SWITCH + ISSUE * 3 + ns(10_000);
    let turn = SWITCH + ns(100);
    assert_eq!(
        *order.borrow(),
        [
            (9, works),
            (2, works + turn),
            (1, works + turn * 2),
            (0, works + turn * 3)
        ]
    );
}

/// A wait that is already over costs no switch.
#[test]
fn no_wait_for_what_is_there() {
    let (mut cluster, [node]) = start(&four_nodes());
    let set = node.event_with(0, Action::None);
    let end = run_thread(&mut cluster, &node, async move |thread: Thread| {
        thread.wait(set).await;
        assert_eq!(thread.until(async { 5 }).await, 5);
        thread.now()
    });
    assert_eq!(end, COMMAND + SWITCH);
}

/// A thread posts a DMA without command port and bus, and sees its end without them.
#[test]
fn a_dma_of_a_thread() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let size = Bytes::new(64);
    let [from, to] = [&a, &b].map(|node| node.reserve(Placement::Adapter, size).start());
    let ends = run_thread(&mut cluster, &a, async move |thread: Thread| {
        let transfer = thread.dma(Dma::new(from, to, size)).await;
        let posted = thread.now();
        thread.until(transfer).await.expect("both ends are right");
        (posted, thread.now())
    });
    let posted = COMMAND + SWITCH + ISSUE;
    let cycle = ns(5);
    let injected = (posted + ns(540)).div_ceil(cycle);
    // 41 flits, 11 cycles a link; the acknowledgement leaves a turnaround later.
    let delivered = injected + 22 + 41 - 1;
    let turnaround = four_nodes().adapter.turnaround / cycle;
    let acknowledged = cycle * (delivered + turnaround + 22);
    let known = acknowledged + ns(200) + SWITCH;
    assert_eq!(ends, (posted, known));
    assert_eq!(a.bus_busy(), NEXT, "one command, no block copy");
}

/// A one-word packet there and its answer back.
#[test]
fn a_message_of_a_thread() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let to = b.allocate(Placement::Adapter, Bytes::new(8)).start();
    let end = run_thread(&mut cluster, &a, async move |thread: Thread| {
        let answer = thread.send(to, &[write(to, 77)], Priority::Low).await;
        (answer.unwrap().found, thread.now())
    });
    // An 8-byte header, 10 for the transaction, 8 for the word: 13 flits.
    let cycle = ns(5);
    let injected = (COMMAND + SWITCH + ISSUE).div_ceil(cycle);
    let turnaround = four_nodes().adapter.turnaround / cycle;
    let answered = cycle * (injected + 22 + 13 - 1 + turnaround + 22);
    assert_eq!(end, (Some(0), answered + SWITCH));
    assert_eq!(b.load(to, Bytes::new(8)).unwrap()[..], 77_u64.to_le_bytes());
}

/// One DMA is under way and one has the engine's queue: the third is posted when the first is over.
#[test]
fn a_dma_of_a_thread_waits_for_a_place_in_the_queue() {
    let mut config = four_nodes();
    config.adapter.queue = 1;
    let (mut cluster, [a, b]) = start(&config);
    let size = Bytes::from_kb(64);
    let [from, to] = [&a, &b].map(|node| node.reserve(Placement::Adapter, size).start());
    let posted = run_thread(&mut cluster, &a, async move |thread: Thread| {
        let (mut transfers, mut posted) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            transfers.push(thread.dma(Dma::new(from, to, size)).await);
            posted.push(thread.now());
        }
        for transfer in transfers {
            thread.until(transfer).await.expect("both ends are right");
        }
        posted
    });
    assert!(posted[1] < Time::from_us(20), "{posted:?}");
    assert!(posted[2] > Time::from_us(100), "{posted:?}");
}

/// Errors come to the thread that asked.
#[test]
fn errors_reach_the_thread() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let size = Bytes::new(64);
    let here = a.allocate(Placement::Adapter, size).start();
    let main = a.allocate(Placement::Main, size).start();
    let there = b.allocate(Placement::Adapter, size).start();
    let says = |error: DmaError, words: &str| assert!(error.to_string().contains(words), "{error}");
    run_thread(&mut cluster, &a, async move |thread: Thread| {
        let beyond = there.offset(size);
        let transfer = thread.dma(Dma::new(here, beyond, size)).await;
        let error = thread.until(transfer).await.unwrap_err();
        says(error, "a remote write of 64 B");
        let write = write(beyond, 1);
        let send =
            async |packet: &[_]| thread.send(there, packet, Priority::Low).await.unwrap_err();
        says(send(&[write]).await, "a remote write of 8 B");
        for packet in [&[][..], &[write; 6]] {
            let length = Bytes::new(8 * packet.len() as u64);
            assert_eq!(send(packet).await, DmaError::TooLong { length });
        }
        thread.store_word(here, 5).unwrap();
        assert_eq!(thread.load_word(here), Ok(5));
        assert!(thread.load_word(here.offset(Bytes::new(57))).is_err());
        let error = thread.load_word(main).unwrap_err();
        says(error.into(), "must lie in adapter memory");
        assert!(thread.load_word(there).is_err(), "another node's");
    });
}

/// A thread that never ends keeps no run from ending, and is no deadlock; a process that waits is.
#[test]
fn threads_end_with_the_processes() {
    let (mut cluster, [node]) = start(&four_nodes());
    let never = node.event(1);
    node.run("serves", async move |thread| thread.wait(never).await)
        .unwrap();
    let process = node.clone();
    cluster.spawn("ends", async move { process.sleep(ns(9000)).await });
    cluster.run().expect("the process ends");
    assert_eq!(cluster.now(), ns(9000));
    cluster.spawn("waits", async move { node.wait(never).await });
    assert_eq!(
        cluster.run().unwrap_err().to_string(),
        "deadlock at 9 us: nothing is left to happen, and these processes wait: waits"
    );
}

/// A thread that gives up waiting for its turn, or is dropped with the processor, does not keep
/// others from it.
#[test]
fn a_turn_that_is_given_up() {
    let (mut cluster, [node]) = start(&four_nodes());
    let [event, never] = [(); 2].map(|()| node.event_with(1, Action::None));
    let [order, noted] = logs();
    // Waits for either of two: the event makes it ready while another runs, and it drops that wait
    // after a while.
    let program = async move |thread: Thread| {
        let pause = thread.node().sleep(ns(3000));
        let first = std::pin::pin!(thread.wait(event));
        let second = std::pin::pin!(pause);
        let mut both = (first, second);
        std::future::poll_fn(|context| {
            let one = both.0.as_mut().poll(context).is_ready();
            let other = both.1.as_mut().poll(context).is_ready();
            if one || other {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
        noted.note(("gives up", thread.now()));
    };
    node.run("gives up", program).unwrap();
    let noted = order.clone();
    let long = async move |thread: Thread| {
        thread.set(event).await;
        thread.step(1000).await;
        noted.note(("long", thread.now()));
        thread.wait(never).await;
    };
    node.run("long", long).unwrap();
    let noted = order.clone();
    let last = async move |thread: Thread| {
        thread.step(1).await;
        noted.note(("last", thread.now()));
    };
    node.run("last", last).unwrap();
    settle(&mut cluster);
    let names: Vec<_> = order.borrow().iter().map(|entry| entry.0).collect();
    assert_eq!(names, ["gives up", "long", "last"]);
}

/// Occurrences that come while a thread works are consumed one by one.
#[test]
fn occurrences_are_consumed_one_by_one() {
    let (mut cluster, [node]) = start(&four_nodes());
    let event = node.event_with(1, Action::None);
    let [consumed, told] = logs();
    let started = node.run("consumes", async move |thread| {
        for _ in 0..3 {
            thread.consume(event).await;
            told.note(thread.now());
            thread.step(1000).await;
        }
        assert!(!thread.is_set(event), "there were three");
        thread.consume(event).await;
        told.note(thread.now());
    });
    started.expect("there is a stack");
    for _ in 0..3 {
        node.set(event);
    }
    settle(&mut cluster);
    let first = COMMAND + NEXT + ns(200) + SWITCH;
    let step = ns(10_000);
    let times = [first, first + step, first + step * 2];
    assert_eq!(consumed.borrow()[..], times);
    let before = cluster.now();
    node.set(event);
    settle(&mut cluster);
    assert_eq!(consumed.borrow()[3], before + COMMAND + ns(200) + SWITCH);
}

/// A thread that was there before the program has no cost until it works. Its stores to main memory
/// cross the bus, and it keeps the processor meanwhile.
#[test]
fn a_resident_thread_stores_in_main_memory() {
    let (mut cluster, [node]) = start(&four_nodes());
    let main = node.allocate(Placement::Main, Bytes::new(100)).start();
    let near = node.allocate(Placement::Adapter, Bytes::new(100)).start();
    let far = node_of(&cluster, 1).allocate(Placement::Main, Bytes::new(8));
    let begin = node.event_with(1, Action::None);
    let [ends, noted] = logs();
    let program = async move |thread: Thread| {
        thread.wait(begin).await;
        thread.copy_out(near, &[1; 100]).await.unwrap();
        noted.note(("near", thread.now()));
        thread.copy_out(main, &[2; 100]).await.unwrap();
        noted.note(("main", thread.now()));
        assert!(thread.copy_out(main, &[3; 101]).await.is_err());
        assert!(thread.copy_out(far.start(), &[3; 8]).await.is_err());
        thread.copy_out(main, &[]).await.unwrap();
    };
    node.run_resident("resident", program).unwrap();
    let noted = ends.clone();
    let other = async move |thread: Thread| {
        thread.wait(begin).await;
        noted.note(("other", thread.now()));
    };
    node.run_resident("other", other).unwrap();
    settle(&mut cluster);
    assert_eq!(node.thread_busy(), Time::ZERO);
    let start = cluster.now();
    node.set(begin);
    settle(&mut cluster);
    // The command and the event; the bus turns, and carries 64 bytes and 36.
    let near_at = start + COMMAND + ns(200) + SWITCH;
    let burst = |bytes: u64| ns(77) + Time::from_ps((bytes * 1_000_000).div_ceil(264));
    let main_at = near_at + ns(80) + burst(64) + burst(36);
    let expected = [
        ("near", near_at),
        ("main", main_at),
        ("other", main_at + SWITCH),
    ];
    assert_eq!(*ends.borrow(), expected);
    let hundred = Bytes::new(100);
    assert_eq!(node.load(near, hundred).unwrap()[..], [1; 100]);
    assert_eq!(node.load(main, hundred).unwrap()[..], [2; 100]);
}

/// The signal that the next store to a range fires, from any process.
#[test]
fn the_next_store() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let from = a.allocate(Placement::Adapter, Bytes::new(16)).start();
    let to = b.allocate(Placement::Main, Bytes::new(64)).start();
    let word = Bytes::new(8);
    let beside = b.next_store(to.elan.offset(word), word);
    let there = b.next_store(to.elan, word);
    b.store(to.offset(word * 2), &[1]).unwrap();
    assert!(!beside.is_set() && !there.is_set());
    drop(a.dma(Dma::new(from, to, word)));
    settle(&mut cluster);
    assert!(there.is_set() && !beside.is_set());
    b.store(to.offset(Bytes::new(7)), &[1, 1]).unwrap();
    assert!(beside.is_set());
    let again = b.next_store(to.elan, word);
    assert!(!again.is_set());
    // A word of a packet is a store, too.
    let near = b.allocate(Placement::Adapter, word).start();
    let packet = b.next_store(near.elan, word);
    run_thread(&mut cluster, &a, async move |thread: Thread| {
        let sent = thread.send(near, &[write(near, 5)], Priority::Low).await;
        sent.expect("it may be written");
    });
    assert!(packet.is_set() && !again.is_set());
}
