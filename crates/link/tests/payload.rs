//! Payloads with any length cross the link, in both directions, and are the same on the other side.

use link::{
    BATCH, Body, Delivery, EndKind, EndStatus, NEVER, OperationEnd, Patience, Payload, Rank,
    RankWait, Record, Report, Settings, Simulator,
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

/// The rank: it returns all that it receives.
fn echo(mut rank: Rank) {
    let (mut next, mut whole, mut still) = (0, Vec::new(), false);
    loop {
        let resumed = rank.hand_over(0, RankWait::Report(Patience::until(NEVER)), still);
        let mut told = Vec::new();
        for (delivery, part, bytes) in rank.reports() {
            assert_eq!(part.at(), whole.len(), "of {delivery:?}");
            whole.extend_from_slice(bytes);
            if part.is_last() {
                let Report::Ended(OperationEnd { id, .. }) = delivery.report else {
                    panic!("{delivery:?}");
                };
                assert_eq!(id, next);
                told.push(std::mem::take(&mut whole));
                next += 1;
            }
        }
        for bytes in told {
            rank.reply(0, &bytes);
        }
        if resumed.is_some() {
            return rank.finish(0);
        }
        still = true;
    }
}

/// Takes all that a rank writes until it waits.
fn records(simulator: &mut Simulator) -> Vec<(Record, Vec<u8>)> {
    let mut all = Vec::new();
    loop {
        while !simulator.wait(0, Duration::from_millis(100)) {}
        if simulator.take_records(0, &mut all).expect("it is sound") {
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
    let mut back = records(&mut simulator);
    for (id, &length) in (0..).zip(&LENGTHS) {
        let bytes = bytes(length, id as usize);
        let report = Delivery::from(Report::Ended(OperationEnd {
            id,
            status: EndStatus::Done,
            end: EndKind::Got,
        }));
        let pieces = [&bytes[..]];
        let mut payload = Payload::new(&pieces);
        while !simulator.tell(0, &report, &mut payload) {
            simulator.give_turn(0, None);
            simulator.release();
            back.extend(records(&mut simulator));
        }
    }
    simulator.give_turn(0, None);
    simulator.release();
    back.extend(records(&mut simulator));
    simulator.give_turn(0, Some(1));
    simulator.release();
    back.extend(records(&mut simulator));
    rank.join().expect("the rank found all in order");
    let replies = back.iter().filter(|(record, _)| record.body == Body::Reply);
    let mut count = 0;
    for (id, (record, found)) in replies.enumerate() {
        assert!(found[..] == bytes(LENGTHS[id], id), "{} B", LENGTHS[id]);
        assert_eq!(record.checksum, link::checksum([&found[..]]));
        count += 1;
    }
    assert_eq!(count, LENGTHS.len());
}
