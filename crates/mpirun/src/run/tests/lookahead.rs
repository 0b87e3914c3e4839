//! The server ahead of ranks, against one that stands still while any rank runs.

use super::process::{FOR_REPORTS, TestRank, machine, options, play};
use super::{NetworkMode, WHOLE};
use crate::RunEnd;
use kernel::random::Stream;
use link::EndStatus;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use units::Time;

/// A random program in which every message that is received is sent. It waits for ends, or looks
/// for them, and copies bytes to and from other ranks' memory. Returns the values that the rank saw
/// in its own memory, and their moments.
pub fn random(process: &mut TestRank, seed: u64, ranks: u32) -> Vec<(u64, u64)> {
    let rank = process.rank();
    process.memory.insert(7, vec![rank as u8; 4096]);
    let mut seen = Vec::new();
    for round in 0..6 {
        // All ranks draw the same senders, receivers and lengths.
        let mut stream = Stream::new(seed, &format!("round {round}"));
        let mut under_way = Vec::new();
        for message in 0..2 * ranks {
            let (from, to) = (
                stream.uniform_u64(0..ranks.into()) as u32,
                stream.uniform_u64(0..ranks.into()) as u32,
            );
            let size = [0, 8, 200, 5000, 30_000][stream.uniform_u64(0..5) as usize];
            let sleeps = stream.uniform_u64(0..3) == 0;
            let copies = stream.uniform_u64(0..4) == 0;
            let peeks = stream.uniform_u64(0..4) == 0;
            if from == to {
                continue; // MPI libraries do that themselves
            }
            let bytes = vec![message as u8; size];
            if from == rank {
                if sleeps {
                    process.sleep(Time::from_ns(70 * u64::from(message)));
                }
                under_way.push((process.send(to, message.into(), &bytes), None));
            }
            if to == rank {
                let tag = message.into();
                let receive = if peeks {
                    let (id, claim) = process.found(from, tag, Time::from_ns(90));
                    process.order_as(id, claim, &[])
                } else {
                    process.receive(from, tag, size as u64)
                };
                under_way.push((receive, Some(bytes)));
            }
            if copies && from == rank {
                // Each rank has its part in every rank's memory, and the first part is not written.
                let part = 64 * u64::from(rank + 1);
                let put = process.put(to, (7, part), &[round as u8; 64]);
                let get = process.get(to, (7, 0), 64);
                under_way.extend([(put, None), (get, Some(vec![to as u8; 64]))]);
            }
        }
        for (number, (id, bytes)) in under_way.into_iter().enumerate() {
            // Steps shorter and longer than a call.
            let step = Time::from_ns(70 + 150 * stream.uniform_u64(0..9));
            while number % 2 == 0 && !process.has_ended(id) {
                process.step(step);
                let sum = process.memory[&7].iter().map(|&byte| u64::from(byte)).sum();
                seen.push((process.now, sum));
            }
            let (status, _, got) = process.end_of(id);
            assert_eq!(status, EndStatus::Done);
            assert!(bytes.is_none_or(|bytes| bytes == got), "wrong bytes");
        }
    }
    // No rank leaves before the others have read its memory.
    let others = || (0..ranks).filter(|&other| other != rank);
    let sends: Vec<u64> = others().map(|to| process.send(to, 1000, &[])).collect();
    let receives: Vec<u64> = others()
        .map(|from| process.receive(from, 1000, 0))
        .collect();
    for id in sends.into_iter().chain(receives) {
        assert_eq!(process.end_of(id).0, EndStatus::Done);
    }
    seen
}

#[test]
fn a_lookahead_changes_nothing() {
    for (name, seed, network) in [
        ("es40-qsnet", 1, NetworkMode::Machine),
        ("es40-qsnet", 2, NetworkMode::Machine),
        ("opteron-qsnet2", 3, NetworkMode::Machine),
        ("opteron-qsnet2", 5, NetworkMode::Machine),
        ("es40-qsnet", 6, NetworkMode::Ideal),
    ] {
        let told = |longest| {
            let mut options = options(8);
            options.network = network;
            let seen = Arc::new(Mutex::new(BTreeMap::new()));
            let saw = Arc::clone(&seen);
            let (outcome, results) = play(machine(name), options, longest, move |process| {
                let own = random(process, seed, 8);
                saw.lock().unwrap().insert(process.rank(), own);
            });
            assert_eq!(outcome.end, RunEnd::Finished, "{}", outcome.message);
            let seen = seen.lock().unwrap().clone();
            (results.time, results.digest, seen)
        };
        let one_by_one = told(Time::ZERO);
        assert!(one_by_one.2.values().any(|seen| seen.len() > 10));
        for longest in [WHOLE, Time::from_ns(120)] {
            let ahead = told(longest);
            let case = format!("{name}, seed {seed}, a lookahead of {longest}");
            assert_eq!((ahead.0, &ahead.1), (one_by_one.0, &one_by_one.1), "{case}");
            if network == NetworkMode::Ideal {
                // ends coincide there: a rank sees them in one turn, or in several at the same time
                continue;
            }
            for (rank, seen) in &ahead.2 {
                let mut both = seen.iter().zip(&one_by_one.2[rank]);
                let differs = both.find(|(one, two)| one != two);
                assert_eq!(differs, None, "{case}: what rank {rank} saw");
            }
        }
    }
}

/// Records the message that is reported to a rank first, and when: a message that it claims, or one
/// that arrives at about that moment.
fn claim_and_receive(process: &mut TestRank, heard: &Mutex<Vec<(u64, bool, bool)>>) {
    for round in 0..60 {
        if process.rank() == 1 {
            process.send_and_wait(0, 4, &[1; 8]);
            process.sleep(Time::from_ns(6000 + 100 * round));
            process.send_and_wait(0, 5, &[2; 8]);
            process.receive_and_wait(0, 6, 0);
        } else {
            let other = process.receive(1, 5, 8);
            let (id, claim) = process.found(1, 4, Time::from_ns(90));
            process.sleep(Time::from_us(10));
            let claim = process.order_as(id, claim, &[]);
            process.wait(FOR_REPORTS);
            let ended = (process.has_ended(claim), process.has_ended(other));
            heard.lock().unwrap().push((process.now, ended.0, ended.1));
            process.end_of(claim);
            process.end_of(other);
            process.send_and_wait(1, 6, &[]);
        }
    }
}

#[test]
fn a_claim_ends_before_what_comes_later() {
    let heard = |longest| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&heard);
        let (outcome, _) = play(machine("es40-qsnet"), options(2), longest, move |process| {
            claim_and_receive(process, &hears);
        });
        assert_eq!(outcome.end, RunEnd::Finished, "{}", outcome.message);
        std::mem::take(&mut *heard.lock().unwrap())
    };
    let one_by_one = heard(Time::ZERO);
    assert!(one_by_one.iter().all(|&(_, claimed, _)| claimed));
    assert!(one_by_one.iter().any(|&(.., other)| !other));
    assert_eq!(heard(WHOLE), one_by_one);
}
