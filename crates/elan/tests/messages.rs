//! Transaction packets: conditions, words, events, all or nothing; random ones against a plain
//! array.

use crate::common;

use common::{add_one, four_nodes, logs, node_of, run_process, run_thread, start, write};
use elan::{
    Access, AccessFault, Action, Address, Answer, Cluster, Comparison, DmaError, ElanAddr, Node,
    Permissions, Placement, Priority, Reason, Thread, Transaction,
};
use proptest::prelude::*;
use units::{Bytes, Time};

/// A node's thread sends messages, one after the other.
fn send(
    cluster: &mut Cluster,
    from: u32,
    to: Address,
    messages: Vec<Vec<Transaction>>,
) -> Vec<Result<Answer, DmaError>> {
    let node = node_of(cluster, from);
    let answers = run_thread(cluster, &node, async move |thread: Thread| {
        let mut answers = Vec::new();
        for message in messages {
            answers.push(thread.send(to, &message, Priority::Low).await);
        }
        answers
    });
    cluster.check_conservation();
    answers
}

fn words(node: &Node, at: Address, count: u64) -> Vec<u64> {
    let bytes = node.load(at, Bytes::new(8 * count)).unwrap();
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks(8).map(word).collect()
}

fn passed(found: Option<u64>) -> Answer {
    Answer {
        passed: true,
        found,
    }
}

const FAILED: Result<Answer, DmaError> = Ok(Answer {
    passed: false,
    found: None,
});

/// A condition that fails anywhere in the packet stops the whole packet; a condition that holds
/// lets it through, event included.
#[test]
fn conditions() {
    use Comparison::{Equal, Less, NotEqual, NotLess};
    let (mut cluster, [_, b]) = start(&four_nodes());
    let at = b.allocate(Placement::Adapter, Bytes::new(64)).start();
    let event = b.event(1);
    let event_at = b.event_address(event).unwrap().elan;
    let test = |comparison, word| Transaction::Test {
        at: at.elan,
        comparison,
        word,
    };
    let write = |word| Transaction::Write {
        to: at.elan.offset(Bytes::new(8)),
        word,
    };
    let set = Transaction::SetEvent { at: event_at };
    let add = |word| Transaction::Add { to: at.elan, word };
    let messages = vec![
        vec![add(7)],
        vec![set, write(1), test(Equal, 6)],
        vec![test(NotEqual, 7), write(2)],
        vec![test(Less, 7), write(3)],
        vec![test(NotLess, 8), write(4)],
        vec![test(Equal, 7), test(Less, 7), write(5)],
        vec![test(Less, 8), test(NotLess, 7)],
        // Conditions test the words before the packet.
        vec![add(1), test(Equal, 7), write(6), add(u64::MAX)],
    ];
    let answers = send(&mut cluster, 0, at, messages);
    assert_eq!(answers[0], Ok(passed(Some(0))));
    assert_eq!(answers[1..6], [FAILED; 5]);
    assert_eq!(answers[6..], [None, Some(8)].map(|found| Ok(passed(found))));
    assert_eq!(words(&b, at, 2), [7, 6]);
    assert!(!b.is_set(event));
    let answers = send(&mut cluster, 0, at, vec![vec![test(NotEqual, 6), set]]);
    assert_eq!(answers, [Ok(passed(None))]);
    assert!(b.is_set(event));
}

/// If an address faults, the packet has no effect.
#[test]
fn faults_change_nothing() {
    let (mut cluster, [_, b]) = start(&four_nodes());
    let at = b.allocate(Placement::Adapter, Bytes::new(64)).start();
    let main = b.allocate(Placement::Main, Bytes::new(64)).start();
    let hidden = b.allocate(Placement::Adapter, Bytes::new(64)).start();
    b.protect(hidden.elan, Bytes::new(64), Permissions::LOCAL)
        .unwrap();
    let good = write(at, 1);
    let nothing = ElanAddr::new(0x100);
    let set = |at| Transaction::SetEvent { at };
    let test = Transaction::Test {
        at: hidden.elan,
        comparison: Comparison::Equal,
        word: 0,
    };
    let insert = |queue| Transaction::Insert {
        queue,
        words: [1, 2, 3],
    };
    let short = b.queue(4, Bytes::new(23), None).expect("there is memory");
    let short = short.start();
    let beyond = at.offset(Bytes::new(57));
    let bad = [
        (write(main, 2), Reason::NotAdapter),
        (write(hidden, 2), Reason::Forbidden),
        (write(beyond, 2), Reason::Unmapped),
        (set(nothing), Reason::Unmapped),
        (set(at.elan), Reason::Nothing),
        (test, Reason::Forbidden),
        (insert(nothing), Reason::Unmapped),
        (insert(at.elan), Reason::Nothing),
        (insert(short.elan), Reason::SlotTooShort),
    ];
    let messages = bad.map(|(bad, _)| vec![good, bad]).to_vec();
    let answers = send(&mut cluster, 0, at, messages);
    for (answer, (bad, reason)) in answers.into_iter().zip(bad) {
        let (elan, length, access) = match bad {
            Transaction::Write { to, .. } => (to, 8, Access::RemoteWrite),
            Transaction::SetEvent { at } => (at, 64, Access::RemoteEvent),
            Transaction::Test { at, .. } => (at, 8, Access::RemoteRead),
            Transaction::Insert { queue, .. } => (queue, 24, Access::RemoteWrite),
            Transaction::Add { .. } => unreachable!("there is none"),
        };
        let (at, length) = (Address { elan, ..at }, Bytes::new(length));
        let fault = AccessFault::new(at, length, access, reason);
        assert_eq!(answer, Err(fault.into()));
    }
    assert_eq!(words(&b, at, 1), [0]);
}

/// A node that does not accept lets the message be sent again, until it does.
#[test]
fn a_refused_message_is_sent_again() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let at = b.allocate(Placement::Adapter, Bytes::new(8)).start();
    b.accept(false);
    let add = add_one(at);
    let program = async move |thread: Thread| {
        let answer = thread.send(at, &[add], Priority::High).await;
        assert_eq!(answer, Ok(passed(Some(0))));
    };
    a.run("adds", program).unwrap();
    cluster.run_until(Time::from_us(7)).unwrap();
    assert_eq!(words(&b, at, 1), [0]);
    b.accept(true);
    cluster.run_until(Time::from_us(20)).unwrap();
    assert_eq!(words(&b, at, 1), [1]);
    assert!(cluster.packets() > 3, "{}", cluster.packets());
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, u64),
    Add(u64, u64),
    Test(u64, Comparison, u64),
    Set(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let comparison = prop::sample::select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::NotLess,
    ]);
    let word = || prop_oneof![0_u64..4, Just(u64::MAX)];
    prop_oneof![
        (0_u64..4, word()).prop_map(|(at, word)| Step::Write(at, word)),
        (0_u64..4, word()).prop_map(|(at, word)| Step::Add(at, word)),
        (0_u64..4, comparison, word()).prop_map(|(at, how, word)| Step::Test(at, how, word)),
        (0_usize..2).prop_map(Step::Set),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Random messages from several threads and nodes: each acts as if it were alone, in the order
    /// of the answers' words.
    #[test]
    fn messages_are_atomic(
        messages in prop::collection::vec(prop::collection::vec(step(), 1..=5), 1..30)
    ) {
        let (mut cluster, [_, b]) = start(&four_nodes());
        let at = b.allocate(Placement::Adapter, Bytes::new(32)).start();
        let events = [1000, 1000].map(|count| b.event_with(count, Action::None));
        let place = |word: u64| at.elan.offset(Bytes::new(8 * word));
        let lists = messages.iter().map(|message| message.iter().map(|step| match *step {
            Step::Write(to, word) => Transaction::Write { to: place(to), word },
            Step::Add(to, word) => Transaction::Add { to: place(to), word },
            Step::Test(at, comparison, word) => Transaction::Test {
                at: place(at), comparison, word
            },
            Step::Set(event) => Transaction::SetEvent {
                at: b.event_address(events[event]).unwrap().elan
            },
        }).collect());
        let answers = send(&mut cluster, 2, at, lists.collect());
        let mut memory = [0_u64; 4];
        for (message, answer) in messages.iter().zip(answers) {
            let holds = message.iter().all(|step| match *step {
                Step::Test(at, how, value) => how.holds(memory[at as usize], value),
                _ => true,
            });
            let mut found = None;
            for step in message.iter().filter(|_| holds) {
                match *step {
                    Step::Write(to, word) => found = Some(
                        std::mem::replace(&mut memory[to as usize], word)
                    ),
                    Step::Add(to, word) => {
                        found = Some(memory[to as usize]);
                        memory[to as usize] = memory[to as usize].wrapping_add(word);
                    }
                    Step::Test(..) | Step::Set(_) => {}
                }
            }
            prop_assert_eq!(answer, Ok(Answer { passed: holds, found }));
        }
        prop_assert_eq!(words(&b, at, 4), memory);
    }
}

/// A full queue lets the message be sent again until there is room; before, no other part of the
/// packet has an effect. A thread that posts the message does not wait for it.
#[test]
fn a_message_waits_for_room_in_a_queue() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let at = b.allocate(Placement::Adapter, Bytes::new(8)).start();
    let queue = b.queue(1, Bytes::new(24), None).expect("there is memory");
    let count = add_one(at);
    let insert = move |word| Transaction::Insert {
        queue: queue.start().elan,
        words: [word, 7, u64::MAX],
    };
    let [posted, note] = logs();
    let program = async move |thread: Thread| {
        for word in 1..=3 {
            thread
                .post(at, &[count, insert(word)], Priority::High)
                .await;
        }
        note.note(thread.now());
    };
    a.run("poster", program).expect("there is memory");
    cluster.run_until(Time::from_us(20)).expect("nothing fails");
    let posted = posted.take();
    assert!(posted < Time::from_us(3), "{posted}");
    // One slot, one message; the others are refused and come again.
    assert_eq!((b.queue_len(queue), words(&b, at, 1)), (1, vec![1]));
    let reader = b.clone();
    let taken = run_process(&mut cluster, async move {
        let mut taken = Vec::new();
        while taken.len() < 3 {
            reader.sleep(Time::from_us(1)).await;
            taken.extend(reader.take(queue).await);
        }
        taken
    });
    let mut first: Vec<u8> = taken.iter().map(|message| message[0]).collect();
    first.sort_unstable();
    assert_eq!(first, [1, 2, 3]);
    let rest = |one: &[u8]| one[8] == 7 && one[16..] == [0xFF; 8];
    assert!(taken.iter().all(|one| rest(one)));
    assert_eq!(words(&b, at, 1), [3]);
}
