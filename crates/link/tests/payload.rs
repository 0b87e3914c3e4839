//! Payloads of any length cross the link, in both directions, and are the same on the other side.

use link::{
    BATCH, Flags, NEVER, Order, OrderKind, Payload, Rank, Report, ReportKind, Settings, Simulator,
    Status,
};
use std::time::Duration;

const LENGTHS: [usize; 9] = [
    0,
    1,
    8,
    1000,
    BATCH / 2,
    BATCH - 1,
    BATCH,
    BATCH + 1,
    5 * BATCH + 12_345,
];

fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|at| (at * 31 + at / 977 + seed) as u8)
        .collect()
}

/// The rank: it gives back all that it is told, from two pieces of memory.
fn echo(mut rank: Rank) {
    let (mut id, mut whole) = (0, Vec::new());
    let mut flags = Flags::default();
    loop {
        let resumed = rank.hand_over(0, NEVER, flags);
        let mut told = Vec::new();
        for (report, part, bytes) in rank.reports() {
            assert_eq!(
                (part.at(), part.whole()),
                (whole.len(), report.size as usize),
                "of {report:?}"
            );
            whole.extend_from_slice(bytes);
            if part.is_last() {
                assert_eq!(report.id, id);
                told.push(std::mem::take(&mut whole));
                id += 1;
            }
        }
        for bytes in told {
            let (head, tail) = bytes.split_at(bytes.len() / 3);
            let order = Order {
                checksum: link::checksum([head, tail]),
                ..Order::new(OrderKind::Reply, 0)
            };
            rank.order(&order, &[head, tail]);
        }
        if resumed.is_some() {
            return rank.finish(0);
        }
        flags = Flags::STILL;
    }
}

/// Takes all that a rank orders until it waits.
fn orders(simulator: &mut Simulator) -> Vec<(Order, Vec<u8>)> {
    let mut all = Vec::new();
    loop {
        while !simulator.wait(0, Duration::from_millis(100)) {}
        if simulator.take_orders(0, &mut all).expect("it is sound") {
            return all;
        }
        simulator.give_turn(0, None);
        simulator.release();
    }
}

#[test]
fn payloads_of_any_length_come_as_they_were_given() {
    let mut simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
    let rank = Rank::attach(&simulator.path(), 0).expect("there is a place");
    let rank = std::thread::spawn(move || echo(rank));
    let mut back = orders(&mut simulator);
    for (id, &length) in (0..).zip(&LENGTHS) {
        let bytes = bytes(length, id as usize);
        let report = Report {
            size: length as u64,
            ..Report::new(ReportKind::Got, Status::Done, 0, id)
        };
        let pieces = [&bytes[..]];
        let mut payload = Payload::new(&pieces);
        while !simulator.tell(0, &report, &mut payload) {
            simulator.give_turn(0, None);
            simulator.release();
            back.extend(orders(&mut simulator));
        }
    }
    simulator.give_turn(0, None);
    simulator.release();
    back.extend(orders(&mut simulator));
    simulator.give_turn(0, Some(1));
    simulator.release();
    back.extend(orders(&mut simulator));
    rank.join().expect("the rank found all in order");
    let replies = back
        .iter()
        .filter(|(order, _)| order.kind() == Some(OrderKind::Reply));
    let mut count = 0;
    for (id, (order, found)) in replies.enumerate() {
        assert!(found[..] == bytes(LENGTHS[id], id), "{} B", LENGTHS[id]);
        assert_eq!(order.checksum, link::checksum([&found[..]]));
        count += 1;
    }
    assert_eq!(count, LENGTHS.len());
}
