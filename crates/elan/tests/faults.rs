//! Packets that the network damages or loses: each takes effect once, or its process gets an error
//! that holds.

mod dead;
mod picked;

use crate::common;

use common::{
    Log, PLACEMENTS, add_one, bit_errors, cable_of, cluster, down, failing, log, logs, pattern,
    run_to, sixteen_nodes, write,
};
use elan::faults::{Fault, FaultyPart, Links};
use elan::{
    Action, Address, Cluster, Comparison, Config, Dma, DmaError, Node, NodeId, Obstacle, Place,
    Placement, Priority, ProcessQueueId, Recoveries, Region, Thread, Transaction,
};
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use units::{Bytes, Time};

/// The sender, the receiver, and the broadcasts' nodes.
const FROM: u32 = 1;
const TO: u32 = 14;
const RANGE: (u32, u32) = (3, 14);

/// A test's repeated operation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// A put that notifies.
    Put((Placement, Placement), u64),
    /// A get that notifies the asker.
    Get((Placement, Placement), u64),
    /// Messages into a queue with few slots.
    Queue(u32),
    /// Additions to a word, by a thread.
    Add(u32),
    /// A broadcast DMA that notifies.
    Broadcast(Placement, u64),
    /// A transaction broadcast with a condition.
    Conditional,
}

fn acts() -> Vec<Act> {
    let mut acts = Vec::new();
    for placements in PLACEMENTS {
        acts.extend([Act::Put(placements, 3000), Act::Get(placements, 2100)]);
    }
    acts.extend([Act::Put(PLACEMENTS[0], 0), Act::Put(PLACEMENTS[3], 64)]);
    acts.extend([Act::Queue(6), Act::Add(4), Act::Conditional]);
    for placement in [Placement::Adapter, Placement::Main] {
        acts.extend([0, 200, 1900].map(|length| Act::Broadcast(placement, length)));
    }
    acts
}

/// An act's visible effects at their places.
#[derive(Clone, PartialEq)]
struct Effects {
    /// The bytes, by node.
    bytes: Vec<Vec<u8>>,
    /// How often the event has occurred, by node.
    events: Vec<u32>,
    words: Vec<u64>,
    /// The messages that have been taken from the queue.
    messages: Vec<u64>,
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (events, words, messages) = (&self.events, &self.words, &self.messages);
        let right = |bytes: &Vec<u8>| *bytes == pattern(3, bytes.len() as u64);
        let whole: Vec<bool> = self.bytes.iter().map(right).collect();
        write!(
            f,
            "whole {whole:?}, events {events:?}, words {words:?}, messages {messages:?}"
        )
    }
}

/// An act's outcome.
#[derive(Debug)]
struct Report {
    /// The result of each part of the act; additions return the word that they have found.
    results: Vec<Result<Option<u64>, DmaError>>,
    /// The effects when the act was over, and much later.
    then: Effects,
    later: Effects,
    sender: Recoveries,
    receivers: Vec<Recoveries>,
    digest: String,
}

/// Performs an act on a machine.
fn perform(config: &Config, act: Act) -> Report {
    perform_with(config, act, None)
}

/// A node where an act has its effect: all have the same at the same addresses.
#[derive(Clone)]
struct Spot {
    node: Node,
    buffer: Region,
    length: u64,
    word: Address,
    event: Address,
    queue: ProcessQueueId,
    occurred: Rc<Cell<u32>>,
    messages: Log<u64>,
}

impl Spot {
    /// A spot, and the threads that count events and take messages there.
    fn new(node: Node, placement: Placement, length: Bytes) -> Self {
        let buffer = node.allocate(placement, length.max(Bytes::new(1)));
        let word = node.allocate(Placement::Adapter, Bytes::new(8)).start();
        let event = node.event_with(1, Action::None);
        let queue = node.queue(2, Bytes::new(8), None).expect("there is room");
        let (occurred, messages) = (Rc::new(Cell::new(0)), log());
        let (count, taken) = (Rc::clone(&occurred), messages.clone());
        let counts = async move |thread: Thread| {
            loop {
                thread.consume(event).await;
                count.set(count.get() + 1);
            }
        };
        node.run("counts", counts).expect("there is a stack");
        let takes = async move |thread: Thread| {
            loop {
                let message = thread.receive(queue).await;
                thread.step(150).await;
                let bytes = message[..].try_into().expect("8 bytes");
                taken.note(u64::from_le_bytes(bytes));
            }
        };
        node.run("takes", takes).expect("there is a stack");
        let event = node.event_address(event).expect("just made");
        Spot {
            node,
            buffer,
            length: length.as_u64(),
            word,
            event,
            queue,
            occurred,
            messages,
        }
    }

    fn word(&self) -> u64 {
        let word = self.node.load(self.word, Bytes::new(8)).expect("a word");
        u64::from_le_bytes(word[..].try_into().expect("8 bytes"))
    }

    fn bytes(&self) -> Vec<u8> {
        let bytes = self.node.read(self.buffer).expect("it holds bytes");
        bytes[..self.length as usize].to_vec()
    }
}

fn effects(spots: &[Spot]) -> Effects {
    let messages = |spot: &Spot| spot.messages.borrow().clone();
    Effects {
        bytes: spots.iter().map(Spot::bytes).collect(),
        events: spots.iter().map(|spot| spot.occurred.get()).collect(),
        words: spots.iter().map(Spot::word).collect(),
        messages: spots.iter().flat_map(messages).collect(),
    }
}

type Noted = Log<Result<Option<u64>, DmaError>>;

/// Starts a node's act; `told` gets the effects when it is over.
fn start(
    (cluster, sender): (&mut Cluster, Node),
    act: Act,
    (source, spots, last): (Region, Vec<Spot>, Place),
    noted: Noted,
    told: Log<Effects>,
) {
    let Spot {
        buffer,
        word,
        event,
        queue,
        ..
    } = spots[0].clone();
    match act {
        Act::Put(_, length) | Act::Get(_, length) | Act::Broadcast(_, length) => {
            let length = Bytes::new(length);
            let dma = match act {
                Act::Broadcast(..) => Dma::broadcast(source.start(), buffer.start(), last, length),
                _ => Dma::new(source.start(), buffer.start(), length),
            };
            cluster.spawn("sends", async move {
                let result = sender.dma(dma.notify_at(event)).await;
                noted.note(result.map(|()| None));
                told.note(effects(&spots));
            });
        }
        Act::Queue(count) => {
            let words = sender.allocate(Placement::Adapter, Bytes::new(8 * u64::from(count)));
            let bytes = (1..=u64::from(count)).flat_map(u64::to_le_bytes);
            sender.write(words, &bytes.collect::<Vec<_>>());
            cluster.spawn("sends", async move {
                let message = |number: u32| {
                    let from = words.start().offset(Bytes::new(8 * u64::from(number)));
                    sender.dma(Dma::queue(from, queue.start(), Bytes::new(8)))
                };
                for sent in (0..count).map(message).collect::<Vec<_>>() {
                    noted.note(sent.await.map(|()| None));
                }
                told.note(effects(&spots));
            });
        }
        Act::Add(count) => {
            let adds = async move |thread: Thread| {
                for _ in 0..count {
                    let sent = thread.send(word, &[add_one(word)], Priority::Low).await;
                    noted.note(sent.map(|answer| answer.found));
                }
                told.note(effects(&spots));
            };
            sender.run("adds", adds).expect("there is a stack");
        }
        Act::Conditional => {
            let transactions = [
                Transaction::Test {
                    at: word.elan,
                    comparison: Comparison::Equal,
                    word: 0,
                },
                write(word, 100),
                Transaction::SetEvent { at: event.elan },
            ];
            let asks = async move |thread: Thread| {
                let sent = thread.broadcast(word, last, &transactions, Priority::High);
                let answer = sent.await;
                noted.note(answer.map(|answer| answer.found));
                told.note(effects(&spots));
            };
            sender.run("asks", asks).expect("there is a stack");
        }
    }
}

/// Performs an act on a machine where one node refuses all packets for a while.
fn perform_with(config: &Config, act: Act, refuses: Option<(Time, Time)>) -> Report {
    let mut cluster = cluster(config);
    if let Some((from, to)) = refuses {
        let node = cluster.node(NodeId::new(TO));
        cluster.spawn("refuses", async move {
            node.sleep_until(from).await;
            node.accept(false);
            node.sleep_until(to).await;
            node.accept(true);
        });
    }
    let sender = cluster.node(NodeId::new(FROM));
    let (first, last) = match act {
        Act::Broadcast(..) | Act::Conditional => RANGE,
        Act::Get(..) => (FROM, FROM),
        _ => (TO, TO),
    };
    let (length, here, there) = match act {
        Act::Put((here, there), length) | Act::Get((here, there), length) => (length, here, there),
        Act::Broadcast(there, length) => (length, Placement::Adapter, there),
        _ => (8, Placement::Adapter, Placement::Adapter),
    };
    let length = Bytes::new(length);
    let owner = match act {
        Act::Get(..) => cluster.node(NodeId::new(TO)),
        _ => sender.clone(),
    };
    let source = owner.allocate(here, length.max(Bytes::new(1)));
    owner.write(source, &pattern(3, length.as_u64()));
    let spot = |number: u32| Spot::new(cluster.node(NodeId::new(number)), there, length);
    let spots: Vec<Spot> = (first..=last).map(spot).collect();
    let ([results, noted], [over, told]) = (logs(), logs());
    let task = (source, spots.clone(), Place::new(last));
    start((&mut cluster, sender), act, task, noted, told);
    run_to(&mut cluster, Time::from_ms(20));
    cluster.check_conservation();
    let node = |number: u32| cluster.node(NodeId::new(number)).recoveries();
    let results = results.borrow().clone();
    Report {
        results,
        then: over.take(),
        later: effects(&spots),
        sender: node(FROM),
        receivers: NodeId::all(16).map(|number| node(number.get())).collect(),
        digest: cluster.digest(),
    }
}

/// Performs an act and checks its effects against its results.
fn check(config: &Config, act: Act) -> Report {
    check_report(act, perform(config, act))
}

fn check_report(act: Act, report: Report) -> Report {
    let what = format!("{act:?}: {report:?}");
    let (then, later) = (&report.then, &report.later);
    let length = later.bytes[0].len() as u64;
    let sent = pattern(3, length);
    let done = |result: &Result<Option<u64>, DmaError>| match result {
        Ok(_) => (1, 1),
        Err(error) => (0, u64::from(error.loss().is_none_or(|loss| loss.unsure))),
    };
    let (least, most) = report
        .results
        .iter()
        .map(done)
        .fold((0, 0), |one, other| (one.0 + other.0, one.1 + other.1));
    if least == 0 {
        assert_eq!(then, later, "an effect comes after the error: {what}");
    }
    match act {
        Act::Put(..) | Act::Get(..) | Act::Broadcast(..) => {
            let count = u64::from(later.events[0]);
            assert!((least..=most).contains(&count), "{what}");
            for (bytes, &events) in later.bytes.iter().zip(&later.events) {
                assert_eq!(u64::from(events), count, "half of them: {what}");
                assert!(events == 0 || *bytes == sent, "{what}");
            }
        }
        Act::Conditional => {
            for (&word, &events) in later.words.iter().zip(&later.events) {
                assert_eq!(word, 100 * least, "{what}");
                assert_eq!(u64::from(events), least, "{what}");
            }
        }
        Act::Queue(_) => {
            assert!(
                later.messages.is_sorted_by(|one, next| one < next),
                "{what}"
            );
            for (number, result) in (1..).zip(&report.results) {
                let came = u64::from(later.messages.contains(&number));
                let (least, most) = done(result);
                assert!((least..=most).contains(&came), "{what}");
                let same = then.messages.contains(&number) == (came == 1);
                assert!(same || result.is_ok(), "it comes after the error: {what}");
            }
        }
        Act::Add(_) => {
            assert!((least..=most).contains(&later.words[0]), "{what}");
            let found: Vec<u64> = report.results.iter().flatten().flatten().copied().collect();
            assert_eq!(found.len() as u64, least, "{what}");
            assert!(found.is_sorted_by(|one, next| one < next), "{what}");
            assert!(found.iter().all(|&word| word < later.words[0]), "{what}");
        }
    }
    let all = &report.sender;
    let refused = all.corrupted + all.unreachable + all.timed_out;
    assert_eq!(refused, all.resent + all.given_up, "{what}");
    report
}

fn all_ok(report: &Report) -> bool {
    report.results.iter().all(Result::is_ok)
}

/// Where bits flip so often that most packets are hit, everything arrives once and whole.
#[test]
fn bit_errors_change_no_byte() {
    let (mut hit, mut repeated, mut damaged) = (0, 0, 0);
    for rate in [1e-5, 1e-4, 3e-4] {
        for act in acts() {
            // All the many copies of a broadcast must be right.
            let rate: f64 = match act {
                Act::Broadcast(..) | Act::Conditional => rate / 5.0,
                _ => rate,
            };
            let mut config = failing(sixteen_nodes(), vec![bit_errors(rate)]);
            if let Some(faults) = &mut config.faults {
                faults.give_up = Time::from_ms(10);
            }
            let report = check(&config, act);
            assert!(all_ok(&report), "{act:?}: {report:?}");
            hit += report.sender.corrupted + report.sender.timed_out;
            repeated += report.receivers.iter().map(|one| one.repeated).sum::<u64>();
            damaged += report.receivers.iter().map(|one| one.damaged).sum::<u64>();
        }
    }
    assert!(
        hit > 300 && damaged > 100 && repeated > 10,
        "{hit}, {damaged}, {repeated}"
    );
}

/// The parts that can be cut: at the sender, at a receiver, between the switches.
fn parts(config: &Config) -> [FaultyPart; 3] {
    let between = FaultyPart::Links(Links {
        level: Some(1),
        rail: None,
        some: None,
    });
    [cable_of(config, FROM), cable_of(config, TO), between]
}

/// Moments from an act's start to its end without faults, and a little more.
fn moments() -> impl Iterator<Item = Time> {
    (0..44).map(|step| Time::from_ns(450 * step + 13 * (step % 7)))
}

/// Cables die at any time, and come back soon.
#[test]
fn outages_lose_nothing_and_double_nothing() {
    let (mut hit, mut repeated) = (0, 0);
    for act in acts() {
        for part in parts(&sixteen_nodes()) {
            for at in moments() {
                let lasts = Some(Time::from_us(90));
                let config = failing(sixteen_nodes(), vec![down(part.clone(), at, lasts)]);
                let report = check(&config, act);
                assert!(all_ok(&report), "{act:?}, {part:?} at {at}: {report:?}");
                hit += report.sender.timed_out + report.sender.unreachable;
                repeated += report.receivers.iter().map(|one| one.repeated).sum::<u64>();
            }
        }
    }
    assert!(hit > 1000 && repeated > 50, "{hit}, {repeated}");
}

/// Cables die at any time, for longer than senders try. A process that gets an error can rely on
/// it, also when the cable is back.
#[test]
fn an_error_is_the_end() {
    let (mut failed, mut unsure) = (0, 0);
    for act in acts() {
        for part in parts(&sixteen_nodes()) {
            for at in moments() {
                let lasts = Some(Time::from_ms(3));
                let config = failing(sixteen_nodes(), vec![down(part.clone(), at, lasts)]);
                let report = check(&config, act);
                for error in report.results.iter().filter_map(|result| result.err()) {
                    let loss = error.loss().expect("the network has failed");
                    failed += 1;
                    unsure += u32::from(loss.unsure);
                }
            }
        }
    }
    assert!(failed > 1000 && unsure > 20, "{failed}, {unsure}");
}

/// The source gives up immediately, while a slow bus still takes accepted bytes to main memory: the
/// error waits for it.
#[test]
fn an_error_waits_for_the_bus() {
    let mut failed = 0;
    let main = (Placement::Adapter, Placement::Main);
    for act in [
        Act::Put(main, 900),
        Act::Get(main, 900),
        Act::Broadcast(Placement::Main, 900),
    ] {
        for part in parts(&sixteen_nodes()) {
            for at in moments() {
                let lasts = Some(Time::from_us(90));
                let mut config = failing(sixteen_nodes(), vec![down(part.clone(), at, lasts)]);
                config.bus.rate = units::Rate::from_bytes_per_second(10_000_000);
                if let Some(faults) = &mut config.faults {
                    (faults.timeout, faults.give_up) = (Time::from_us(1), Time::ZERO);
                }
                failed += u32::from(!all_ok(&check(&config, act)));
            }
        }
    }
    assert!(failed > 50, "{failed}");
}

/// A broadcast's packet is hit, the last one is not, and then a destination is cut off: all
/// destinations are notified, or all are not.
#[test]
fn a_broadcast_is_all_or_nothing() {
    let (mut failed, mut fine) = (0, 0);
    for seed in 0..6 {
        for length in [600, 900] {
            for at in moments() {
                let lasts = Some(Time::from_ms(3));
                let cut = down(cable_of(&sixteen_nodes(), TO), at, lasts);
                let mut config = failing(sixteen_nodes(), vec![cut, bit_errors(1e-5)]);
                if let Some(faults) = &mut config.faults {
                    faults.seed = seed;
                }
                let report = check(&config, Act::Broadcast(Placement::Adapter, length));
                *(if all_ok(&report) {
                    &mut fine
                } else {
                    &mut failed
                }) += 1;
            }
        }
    }
    assert!(failed > 100 && fine > 20, "{failed}, {fine}");
}

/// If a destination refuses a packet, which all then get again, no destination is notified twice,
/// with faults or without.
#[test]
fn a_repeated_packet_notifies_nobody_twice() {
    let never = down(cable_of(&sixteen_nodes(), 0), Time::from_secs(9), None);
    for config in [sixteen_nodes(), failing(sixteen_nodes(), vec![never])] {
        for from in moments().map(|at| at + Time::from_us(1)) {
            for lasts in [400, 900, 2000] {
                let act = Act::Broadcast(Placement::Adapter, 900);
                let refuses = Some((from, from + Time::from_ns(lasts)));
                let report = check_report(act, perform_with(&config, act, refuses));
                assert!(all_ok(&report), "{report:?}");
            }
        }
    }
}

/// Cables die and come back all the time, and bits flip.
#[test]
fn random_outages_lose_nothing() {
    for seed in 0..12 {
        for act in acts() {
            let every = FaultyPart::Links(Links {
                level: None,
                rail: None,
                some: None,
            });
            let when = elan::faults::FaultTiming::Random {
                mtbf: Time::from_us(400),
                mttr: Time::from_us(10),
            };
            let list = vec![Fault { part: every, when }, bit_errors(2e-5)];
            let mut config = failing(sixteen_nodes(), list);
            if let Some(faults) = &mut config.faults {
                (faults.seed, faults.give_up) = (seed, Time::from_ms(10));
            }
            let report = check(&config, act);
            assert!(all_ok(&report), "seed {seed}, {act:?}: {report:?}");
        }
    }
}

/// An error names both ends, and the cut once the routing tables know it.
#[test]
fn an_error_names_the_cut() {
    let part = cable_of(&sixteen_nodes(), TO);
    let config = failing(sixteen_nodes(), vec![down(part, Time::ZERO, None)]);
    let report = check(&config, Act::Put(PLACEMENTS[0], 64));
    let error = report.results[0].expect_err("there is no way");
    let loss = error.loss().expect("the network has failed");
    assert_eq!((loss.from, loss.to), (Place::new(FROM), Place::new(TO)));
    assert!(matches!(loss.reason, Obstacle::NoWay(Some(_))) && !loss.unsure);
    let text = error.to_string();
    assert!(
        text.starts_with(
            "the network between node 1 and node 14 has failed: no way is left, since \
            the cable from node 14 to "
        ) && text.ends_with(" is dead; the message has not been delivered"),
        "{text}"
    );
}

/// Listed faults that do not occur have no effect.
#[test]
fn faults_that_do_not_occur_change_nothing() {
    for act in acts() {
        let never = down(cable_of(&sixteen_nodes(), 0), Time::from_secs(9), None);
        let quiet = perform(&failing(sixteen_nodes(), vec![never]), act);
        let without = perform(&sixteen_nodes(), act);
        assert_eq!(quiet.digest, without.digest, "{act:?}");
        assert_eq!((quiet.then, quiet.results), (without.then, without.results));
    }
}
