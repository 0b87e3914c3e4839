//! Ranks in threads against the server: times against the simulator's own MPI, and every order
//! once.

mod collective;
mod files;
mod hostile;
mod lookahead;
mod native;
mod process;
mod spawn;

use super::*;
use crate::Memory;
use elan::{Placement, Watch as Bounds};
use link::{EndStatus, Envelope, MessageFilter, Order, Patience, RankWait};
use lookahead::random;
use process::{TestRank, machine, message, options, play};
use std::sync::Mutex;
use units::Bytes;
use workload::ping::{Directions, Library, Ping};

const WHOLE: Time = Time::MAX;

/// Runs a program on every rank, which must come to its end.
fn finish(
    name: &str,
    options: Options,
    program: impl Fn(&mut TestRank) + Send + Sync + 'static,
) -> Results {
    let (outcome, results) = play(machine(name), options, WHOLE, program);
    assert_eq!(outcome.end, RunEnd::Finished, "{name}: {}", outcome.message);
    results
}

/// A run with this many ranks over a network.
fn on(network: NetworkMode, ranks: u32) -> Options {
    Options {
        network,
        ..options(ranks)
    }
}

/// Half a round trip in the simulator's own MPI program.
fn own_ping(name: &str, size: u64) -> f64 {
    let ping = Ping {
        from: 0,
        to: 1,
        directions: Directions::One,
        source: Placement::Main,
        destination: Placement::Main,
        message: Bytes::new(size),
        repeats: 1,
        library: Some(Library::Mpi),
    };
    let cluster = Cluster::new(machine(name).cluster_config(), Bounds::default());
    let records = ping.run(cluster).expect("there is room");
    records.tables.rows[0].value
}

/// Half a round trip by orders, as a program with blocking sends and receives gives them.
fn ping(process: &mut TestRank, size: u64) -> Option<f64> {
    let bytes = vec![7; size as usize];
    let mut latency = None;
    for round in 0..2 {
        let begin = process.now;
        let other = 1 - process.rank();
        for step in 0..2 {
            if process.rank() == step {
                assert_eq!(process.send_and_wait(other, 5, &bytes), EndStatus::Done);
            } else {
                let (status, message, got) = process.receive_and_wait(other, 5, size);
                assert_eq!(
                    (status, message.from, message.data),
                    (EndStatus::Done, other, Some(other))
                );
                assert!(got == bytes, "the payload is another one");
            }
        }
        latency = (round > 0).then_some((process.now - begin) as f64 / 2e6);
    }
    latency
}

#[test]
fn a_ping_takes_as_long_as_the_simulators_own() {
    for name in ["es40-qsnet", "opteron-qsnet2"] {
        for size in [0, 8, 256, 300, 4 << 10, 64 << 10, 4 << 20] {
            let measured = Arc::new(Mutex::new(0.0));
            let result = Arc::clone(&measured);
            finish(name, options(2), move |process| {
                let latency = ping(process, size);
                if process.rank() == 0 {
                    *result.lock().unwrap() = latency.unwrap();
                }
            });
            let (own, measured) = (own_ping(name, size), *measured.lock().unwrap());
            // Not quite equal: the rounds begin in other phases of the cycles and bursts.
            let difference = (measured - own).abs() / own;
            assert!(
                difference < 1e-4,
                "{name}, {size} B: {measured} us by orders, {own} us"
            );
        }
    }
}

#[test]
fn ranks_of_a_node_and_other_memory_and_an_ideal_network_serve_the_same_program() {
    for (name, network, memory) in [
        ("es40-qsnet", NetworkMode::Machine, Memory::Main),
        ("es40-qsnet", NetworkMode::Machine, Memory::Elan),
        ("opteron-qsnet2", NetworkMode::Machine, Memory::Elan),
        ("es40-qsnet", NetworkMode::Ideal, Memory::Main),
    ] {
        let mut options = options(8);
        (options.network, options.memory) = (network, memory);
        options.ranks_per_node = if name == "es40-qsnet" { 4 } else { 1 };
        let results = finish(name, options, |process| {
            random(process, 9, 8);
        });
        if name == "es40-qsnet" {
            assert_eq!(results.nodes, [0, 0, 0, 0, 1, 1, 1, 1]);
        }
        let mut messages = results.messages.iter();
        assert!(messages.all(|message| message.arrived.is_some()));
    }
}

#[test]
fn the_bus_does_not_limit_messages_in_the_adapters_memory() {
    // On the QsNET: 335 MB/s between adapters' memories, 200 MB/s between main memories
    // (petrini2003, figure 9).
    for (memory, least, most) in [(Memory::Main, 150.0, 210.0), (Memory::Elan, 280.0, 340.0)] {
        let rate = Arc::new(Mutex::new(0.0));
        let result = Arc::clone(&rate);
        let mut options = options(2);
        options.memory = memory;
        finish("es40-qsnet", options, move |process| {
            let size = 1 << 20;
            let latency = ping(process, size);
            *result.lock().unwrap() = size as f64 / latency.unwrap();
        });
        let rate = *rate.lock().unwrap();
        assert!((least..most).contains(&rate), "{memory:?}: {rate} MB/s");
    }
}

#[test]
fn puts_and_gets_reach_the_memory_of_others() {
    let long = 3 << 20;
    let results = finish("es40-qsnet", options(2), move |process| {
        process.memory.insert(77, vec![process.rank() as u8; long]);
        let other = 1 - process.rank();
        if process.rank() == 0 {
            let rest = vec![9; long - 100];
            let put = process.put(other, (77, 100), &rest);
            assert_eq!(process.end_of(put).0, EndStatus::Done);
            let get = process.get(other, (77, 0), long as u64);
            let (status, _, bytes) = process.end_of(get);
            assert_eq!(status, EndStatus::Done);
            assert!(bytes[..100].iter().all(|&byte| byte == 1));
            assert!(bytes[100..].iter().all(|&byte| byte == 9));
            process.send_and_wait(1, 0, &[]);
        } else {
            process.receive_and_wait(0, 0, 0);
            assert!(process.memory[&77][100..].iter().all(|&byte| byte == 9));
        }
    });
    assert_eq!(results.messages.len(), 3);
}

#[test]
fn peeks_claims_and_cancels_end_as_they_should() {
    finish("es40-qsnet", options(2), |process| {
        if process.rank() == 0 {
            assert_eq!(process.peek(false).1, EndStatus::Nothing);
            process.sleep(Time::from_us(50));
            let (id, status, report) = process.peek(true);
            assert_eq!((status, report.size, report.tag), (EndStatus::Done, 3, 4));
            // A later receive with the same tag does not get the kept message.
            let later = process.receive(1, 4, 100);
            process.sleep(Time::from_us(50));
            assert!(!process.has_ended(later));
            assert_eq!(process.claim(id, 3).2, [1, 2, 3]);
            process.cancel(later);
            assert_eq!(process.end_of(later).0, EndStatus::Cancelled);
        } else {
            assert_eq!(process.send_and_wait(0, 4, &[1, 2, 3]), EndStatus::Done);
            let send = process.send_untagged(0, &[5; 9]);
            assert_eq!(process.end_of(send).0, EndStatus::Done);
        }
    });
}

/// Orders a probe for a message with a tag.
fn probe(process: &mut TestRank, tag: u64) -> u64 {
    let wanted = MessageFilter {
        from: None,
        tag,
        mask: u64::MAX,
    };
    process.order(Order::Probe { wanted }, &[])
}

/// The networks, and the machines that match messages by processes and by adapters.
fn networks() -> [(&'static str, NetworkMode); 3] {
    [
        ("es40-qsnet", NetworkMode::Machine),
        ("opteron-qsnet2", NetworkMode::Machine),
        ("es40-qsnet", NetworkMode::Ideal),
    ]
}

#[test]
fn a_probe_ends_as_a_receive_does_when_its_message_comes() {
    for (name, network) in networks() {
        for ranks_per_node in [1, 2] {
            let mut options = options(2);
            (options.network, options.ranks_per_node) = (network, ranks_per_node);
            finish(name, options, move |process| {
                if process.rank() == 0 {
                    for _ in 0..3 {
                        process.sleep(Time::from_ms(1));
                        process.send_and_wait(1, 4, &[1, 2, 3]);
                    }
                    return;
                }
                let mut times = Vec::new();
                for _ in 0..2 {
                    assert_eq!(process.receive_and_wait(0, 4, 3).0, EndStatus::Done);
                    times.push(process.now);
                }
                let probed = probe(process, 4);
                let (status, end, bytes) = process.end_of(probed);
                let found = message(end);
                assert_eq!((status, found.size, found.tag), (EndStatus::Done, 3, 4));
                assert!(bytes.is_empty());
                let (received, probed) = (times[1] - times[0], process.now - times[1]);
                let difference = received.abs_diff(probed);
                assert!(
                    difference < Time::from_us(1).as_ps(),
                    "{name}: {difference} ps"
                );
                // A message that is there is found, each time.
                let again = probe(process, 4);
                assert_eq!(process.end_of(again).0, EndStatus::Done);
                assert_eq!(process.receive_and_wait(0, 4, 3).2, [1, 2, 3]);
            });
        }
    }
}

#[test]
fn a_probe_is_taken_back_and_leaves_no_trace() {
    for (name, network) in networks() {
        let options = on(network, 2);
        finish(name, options, |process| {
            if process.rank() == 0 {
                process.sleep(Time::from_us(100));
                process.send_untagged(1, &[5; 9]);
                process.sleep(Time::from_us(100));
                process.send_and_wait(1, 4, &[1, 2, 3]);
                return;
            }
            let probed = probe(process, 4);
            // Another kind of message wakes the rank, which then acts differently.
            process.wait_for_untagged();
            assert!(!process.has_ended(probed));
            process.cancel(probed);
            assert_eq!(process.end_of(probed).0, EndStatus::Cancelled);
            assert!(process.now < Time::from_us(150).as_ps());
            assert_eq!(process.receive_and_wait(0, 4, 3).2, [1, 2, 3]);
        });
    }
}

#[test]
fn probes_that_wait_for_each_other_are_a_deadlock() {
    for (name, network) in networks() {
        let options = on(network, 2);
        let (outcome, _) = play(machine(name), options, WHOLE, |process| {
            process.send_and_wait(1 - process.rank(), 3, &[]);
            let probed = probe(process, 4);
            process.end_of(probed);
        });
        assert_eq!(outcome.end, RunEnd::Deadlock, "{}", outcome.message);
        assert_eq!(outcome.waiting.len(), 2);
        for waiting in &outcome.waiting {
            assert_eq!(waiting.what, ["looks for a message of any rank, tag 4"]);
        }
    }
}

#[test]
fn what_is_too_long_is_told_and_not_stored() {
    finish("es40-qsnet", options(2), |process| {
        if process.rank() == 0 {
            process.send_and_wait(1, 1, &[1; 500]);
        } else {
            let (status, report, bytes) = process.receive_and_wait(0, 1, 499);
            assert_eq!((status, report.size), (EndStatus::Truncated, 500));
            assert!(bytes.is_empty());
        }
    });
}

/// Also where a peek has kept the message. The message is taken away, so that the next one with its
/// tag comes next.
#[test]
fn what_is_too_long_says_whose_it_is_and_is_gone() {
    let too_long = |(status, report, bytes): (EndStatus, Envelope, Vec<u8>), length| {
        assert_eq!((status, report.size), (EndStatus::Truncated, length));
        let who = (report.from, report.data, report.tag, bytes.len());
        assert_eq!(who, (2, Some(2), 1, 0));
    };
    for (name, network) in networks() {
        let results = finish(name, on(network, 3), move |process| {
            if process.rank() == 2 {
                for length in [500, 200_000, 500, 200_000, 7] {
                    process.send_and_wait(0, 1, &vec![1; length]);
                }
            } else if process.rank() == 0 {
                for length in [500, 200_000] {
                    too_long(process.receive_and_wait(2, 1, length - 1), length);
                }
                for length in [500, 200_000] {
                    let id = loop {
                        match process.peek(true) {
                            (id, EndStatus::Done, _) => break id,
                            _ => process.sleep(Time::from_us(50)),
                        }
                    };
                    too_long(process.claim(id, length - 1), length);
                }
                assert_eq!(process.receive_and_wait(2, 1, 7).2, [1; 7]);
            }
        });
        let arrivals: Vec<_> = results.messages.iter().map(|one| one.arrived).collect();
        assert!(arrivals.iter().all(Option::is_some), "{name}: {arrivals:?}");
        assert!(arrivals.is_sorted(), "{name}: {arrivals:?}");
    }
}

/// A rank that leaves and comes back finds that only the fixed return time has passed, or the
/// others' lead.
#[test]
fn ranks_leave_and_come_back() {
    for (name, network) in networks() {
        let run = on(network, 3);
        let play = || {
            let program = |process: &mut TestRank| {
                for round in 0..3 {
                    // The last one leaves much later than the others, and the first one stays
                    // outside for longest.
                    process.sleep(Time::from_us(u64::from(process.rank()) * 700));
                    let before = process.now;
                    let outside = if process.rank() == 0 { 5000 } else { 3 };
                    process.come_back_after(Time::from_us(outside));
                    let away = Time::from_ps(process.now - before);
                    assert_eq!(away, Time::from_us(outside.max(1000)), "round {round}");
                    process.meet(round, 3);
                    let (next, last) = ((process.rank() + 1) % 3, (process.rank() + 2) % 3);
                    let receive = process.receive(last, round, 8);
                    process.send(next, round, &[round as u8; 8]);
                    assert_eq!(process.end_of(receive).2, [round as u8; 8]);
                }
            };
            play(machine(name), run.clone(), WHOLE, program)
        };
        let (outcome, results) = play();
        assert_eq!(outcome.end, RunEnd::Finished, "{name}: {}", outcome.message);
        assert_eq!(results.messages.len(), 9);
        assert_eq!(results.digest, play().1.digest, "{name}");
        // Three rounds of five milliseconds: the run ends with its last rank, and leaving costs no
        // time.
        let end = results.time.as_us_f64();
        assert!((15_000.0..15_500.0).contains(&end), "{name}: {end}");
    }
}

/// A rank that meets others that never come waits for ever, unless one may still come back.
#[test]
fn who_is_not_met_is_in_a_deadlock() {
    let (outcome, _) = play(machine("es40-qsnet"), options(2), WHOLE, |process| {
        if process.rank() == 0 {
            process.come_back_after(Time::from_us(1));
            process.meet(1, 2);
        } else {
            process.sleep(Time::from_us(50));
        }
    });
    assert_eq!(outcome.end, RunEnd::Deadlock, "{}", outcome.message);
    let what = outcome
        .waiting
        .iter()
        .map(|one| (one.rank, one.what.join("; ")));
    let expected = "waits for other ranks at the process manager".to_string();
    assert_eq!(what.collect::<Vec<_>>(), [(0, expected)]);
    assert!(outcome.time < Time::from_us(1100), "{}", outcome.time);
}

/// The end names a rank with a vanished process; ranks in this test have living processes.
#[test]
fn nobody_dies_in_a_run_that_would_go_on() {
    let run = Options {
        keep_going: true,
        ..options(2)
    };
    let (outcome, _) = play(machine("es40-qsnet"), run, WHOLE, |process| {
        process.sleep(Time::from_us(5));
    });
    assert_eq!((outcome.end, outcome.dead), (RunEnd::Finished, Vec::new()));
}

#[test]
fn long_payloads_come_as_they_were_sent() {
    for (name, network) in networks() {
        for ranks_per_node in [1, 2] {
            let mut options = options(2);
            (options.network, options.ranks_per_node) = (network, ranks_per_node);
            finish(name, options, |process| {
                let other = 1 - process.rank();
                for (tag, length) in (0..).zip([1 << 19, (1 << 20) - 1, 1 << 20, (5 << 20) + 3]) {
                    let bytes: Vec<u8> = (0..length).map(|at| (at * 7 + at / 509) as u8).collect();
                    let send = process.send(other, tag, &bytes);
                    let receive = process.receive(other, tag, length as u64);
                    assert!(process.end_of(receive).2 == bytes, "{length} B");
                    process.end_of(send);
                    let send = process.send_untagged(other, &bytes);
                    process.wait_for_untagged();
                    assert!(process.messages.remove(0) == bytes, "{length} B, untagged");
                    process.end_of(send);
                }
            });
        }
    }
}

#[test]
fn a_wrong_byte_ends_the_run_with_its_place() {
    for (name, network) in networks() {
        let options = on(network, 2);
        let (outcome, _) = play(machine(name), options, WHOLE, |process| {
            if process.rank() == 0 {
                for length in [10, 3 << 20] {
                    process.send_and_wait(1, 5, &vec![3; length]);
                }
            } else {
                process.receive_and_wait(0, 5, 10);
                process.spoils = true;
                process.receive_and_wait(0, 5, 3 << 20);
            }
        });
        assert_eq!(outcome.end, RunEnd::Corrupted, "{}", outcome.message);
        let what = "rank 1 has stored other bytes than rank 0 sent: tagged message of 3 MB, tag 5: \
            the first wrong byte is \
                    at 1572864; this is a defect of Elanite, unless";
        assert!(outcome.message.starts_with(what), "{}", outcome.message);
    }
}

#[test]
fn a_payload_that_changes_before_it_is_sent_is_found() {
    let (outcome, _) = play(machine("es40-qsnet"), options(1), WHOLE, |process| {
        process.misquotes = true;
        process.send(0, 5, &[1; 300]);
        process.wait(RankWait::Report(Patience::until(0)));
    });
    assert_eq!(outcome.end, RunEnd::Corrupted, "{}", outcome.message);
    let what = "rank 0 gave a payload of 300 B that reached the simulator with another checksum; \
        this is a defect of Elanite, \
                unless";
    assert!(outcome.message.starts_with(what), "{}", outcome.message);
}

#[test]
fn too_many_ranks_are_a_problem() {
    let problem = |options| match ProgramRun::new(machine("es40-qsnet"), options) {
        Ok(_) => panic!("there is no room"),
        Err(problem) => problem.to_string(),
    };
    let mut crowded = options(8);
    crowded.ranks_per_node = 8;
    let mut wrong = options(2);
    wrong.compute = "lots".into();
    let problems = [problem(options(65)), problem(crowded), problem(wrong)].join("\n");
    insta::assert_snapshot!(problems);
}

#[test]
fn a_receive_that_fails_at_once_frees_no_processor_that_works() {
    // Both ranks on one node, with messages that their processes copy.
    let mut options = options(2);
    options.ranks_per_node = 2;
    finish("opteron-qsnet2", options, |process| {
        let other = 1 - process.rank();
        // The message that is too long comes at any moment during the calls after its receive.
        for step in 0..40 {
            let meet = process.receive(other, 1, 0);
            process.send(other, 1, &[]);
            assert_eq!(process.end_of(meet).0, EndStatus::Done);
            if process.rank() == 1 {
                process.sleep(Time::from_ns(25 * step));
                process.send_and_wait(0, 2, &[1; 3]);
                for _ in 0..8 {
                    process.receive_and_wait(0, 3, 9);
                }
            } else {
                let short = process.receive(1, 2, 1);
                let sends: Vec<u64> = (0..8).map(|_| process.send(1, 3, &[1; 9])).collect();
                assert_eq!(process.end_of(short).0, EndStatus::Truncated);
                for send in sends {
                    process.end_of(send);
                }
            }
        }
    });
}

#[test]
fn a_get_after_a_put_reads_no_late_bytes_of_the_put() {
    // With several rails a put has ended for its sender while its bytes wait for the other node's
    // bus.
    finish("smart-multirail", options(2), |process| {
        process.memory.insert(7, vec![process.rank() as u8; 4096]);
        let other = 1 - process.rank();
        for round in 0..100 {
            let put = process.put(other, (7, 1000), &[100 + round; 320]);
            assert_eq!(process.end_of(put).0, EndStatus::Done);
            let get = process.get(other, (7, 0), 272);
            assert_eq!(process.end_of(get).2, vec![other as u8; 272]);
        }
        let send = process.send(other, 1, &[]);
        let receive = process.receive(other, 1, 0);
        process.end_of(send);
        process.end_of(receive);
    });
}
