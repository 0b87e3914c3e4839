//! A replay takes the time that can be calculated, in the order that the trace asks for, on an
//! ideal network and on machines.

mod early;
mod order;
mod regions;
mod remote;
mod series;
mod standstill;

use elan::{Cluster, NodeId, Placement, Watch};
use goal::replay::{
    CALL, LATENCY, OperationRow, ReplayFailure, ReplayResult, on_cluster, on_ideal,
};
use goal::{ANY, Operation, Schedule, Trace, TracePlace};
use kernel::Limits;
use libelan::{Pe, ProcessJob};
use machine::Machine;
use std::cell::Cell;
use std::fmt::Write;
use std::fs;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use units::{Bytes, Time};

fn open(text: &str) -> Trace {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("goal-replay-{}-{count}.goal", std::process::id());
    let path = std::env::temp_dir().join(name);
    fs::write(&path, text).unwrap();
    let trace = Trace::open(&path);
    fs::remove_file(&path).unwrap();
    trace.unwrap_or_else(|problem| panic!("{problem}"))
}

fn text(schedules: &[Schedule]) -> String {
    let mut text = format!("num_ranks {}\n", schedules.len());
    for (rank, schedule) in schedules.iter().enumerate() {
        write!(text, "rank {rank} {{\n{schedule}}}\n").unwrap();
    }
    text
}

fn ideal(text: &str) -> Result<ReplayResult, ReplayFailure> {
    on_ideal(open(text), true, Limits::default(), &AtomicBool::new(false))
}

fn machine(file: &str, changes: &[&str]) -> Machine {
    let path = format!("{}/../../machines/{file}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    let changes = changes.iter().map(|change| config::Override::parse(change));
    let changes: Vec<_> = changes.collect::<Result<_, _>>().unwrap();
    Machine::parse(file, &text, &changes).unwrap()
}

fn cluster(machine: &Machine) -> Cluster {
    Cluster::new(machine.cluster_config(), Watch::default())
}

/// Replays on the ES40s, with one rank per node, or several.
fn es40(text: &str, per_node: u32) -> Result<ReplayResult, ReplayFailure> {
    let trace = open(text);
    let nodes = (0..trace.ranks()).map(|rank| NodeId::new(rank / per_node));
    let job = ProcessJob::at("rank", nodes).unwrap();
    let mut cluster = cluster(&machine("es40-qsnet", &[]));
    on_cluster(trace, &mut cluster, &job, Placement::Main, true)
}

/// An operation's record.
fn row(replayed: &ReplayResult, rank: u32, number: u32) -> &OperationRow {
    let mut rows = replayed.operations.iter();
    let row = rows.find(|row| (row.rank, row.number) == (rank, number));
    row.expect("it has ended")
}

/// When an operation was free and when it ended.
fn times(replayed: &ReplayResult, rank: u32, number: u32) -> [Time; 2] {
    let row = row(replayed, rank, number);
    [row.free, row.end]
}

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Two ranks send one message to and fro.
fn ping_pong(rounds: u32, size: u64) -> String {
    let rank = |me: u32| {
        let mut schedule = Schedule::default();
        for _ in 0..rounds {
            let send = Operation::send(size, 1 - me, 3);
            let recv = Operation::recv(size, 1 - me, 3);
            for operation in if me == 0 { [send, recv] } else { [recv, send] } {
                let number = schedule.add(operation);
                if number > 0 {
                    schedule.requires(number, number - 1);
                }
            }
        }
        schedule
    };
    text(&[rank(0), rank(1)])
}

#[test]
fn a_ping_takes_a_latency_each_way_on_an_ideal_network() {
    for rounds in [1, 2, 25_000] {
        let replayed = ideal(&ping_pong(rounds, 100)).unwrap();
        assert_eq!(replayed.time, LATENCY * 2 * u64::from(rounds));
        let row = replayed.ranks[1];
        let rounds = u64::from(rounds);
        assert_eq!(
            (row.operations, row.sent, row.received),
            (2 * rounds, rounds, rounds)
        );
        assert_eq!(row.bytes_received, Bytes::new(100 * rounds));
    }
}

#[test]
fn a_processor_does_one_thing_after_the_other_and_sends_first() {
    let replayed = ideal(
        "num_ranks 1 \n rank 0 {
           a: calc 1000
           b: calc 300 cpu 2
           c: calc 100
           d: recv 8b from 0
           e: send 8b to 0
           f: calc 50 cpu 2
        }",
    );
    let replayed = replayed.unwrap();
    let ends = [0, 1, 2, 3, 4, 5].map(|number| times(&replayed, 0, number)[1]);
    let called = CALL * 2;
    let (a, e) = (called + ns(1000), CALL);
    assert_eq!(ends, [a, ns(300), a + ns(100), LATENCY, e, ns(350)]);
    assert_eq!(replayed.ranks[0].computed, ns(1450));
}

#[test]
fn irequires_waits_for_the_start_and_requires_for_the_end() {
    let trace = "num_ranks 2 \n rank 0 {
           first: calc 400
           a: calc 1000
           a requires first
           b: calc 10 cpu 1
           b irequires a
           c: calc 20 cpu 1
           c requires a
           r: recv 1b from 1 tag 1
           s: calc 30 cpu 3
           s irequires r
        } rank 1 { w: calc 50000 \n s: send 1b to 0 tag 1 \n s requires w }";
    for replayed in [ideal(trace), es40(trace, 1), es40(trace, 2)] {
        let replayed = replayed.unwrap();
        let [_, first] = times(&replayed, 0, 0);
        assert_eq!(times(&replayed, 0, 1), [first, first + ns(1000)]);
        assert_eq!(times(&replayed, 0, 2), [first, first + ns(10)]);
        assert_eq!(times(&replayed, 0, 3)[0], first + ns(1000));
        let [free, end] = times(&replayed, 0, 4);
        assert!(free == Time::ZERO && end > ns(50_000), "{end}");
        assert!(times(&replayed, 0, 5)[1] < ns(1000));
    }
}

/// A probe looks once and then waits; a poll looks again and again. The message stays for the
/// receive.
#[test]
fn probes_and_polls_wait_for_a_message_and_leave_it() {
    let step = ns(100);
    for (note, look, found) in [
        ("", "probe", ns(1900) + LATENCY),
        ("", "poll", CALL * 12),
        ("//@ poll 100 ns\n", "probe", ns(1900) + LATENCY),
        ("//@ poll 100 ns\n", "poll", (CALL + step) * 8 + CALL),
    ] {
        let text = format!(
            "{note}num_ranks 2\nrank 0 {{\na: calc 1900\nb: send 8b to 1 tag 7\nb requires a\n}}\n\
             rank 1 {{\na: {look} 8b from -1 tag 7\nb: recv 8b from 0 tag 7\nb requires a\n\
             c: calc 500\nc requires b\n}}\n"
        );
        let replayed = ideal(&text).expect("it ends");
        assert_eq!(times(&replayed, 1, 0), [Time::ZERO, found], "{look}");
        assert_eq!(times(&replayed, 1, 1), [found, found + CALL], "{look}");
        // A look that has found its message does not count any more.
        let received = found + CALL;
        let computed = [received, received + ns(500)];
        assert_eq!(times(&replayed, 1, 2), computed, "{look}");
        let replayed = es40(&text, 1).expect("it ends");
        assert_eq!(replayed.ranks[1].received, 1, "{look}");
        let [free, end] = times(&replayed, 1, 1);
        assert!(times(&replayed, 1, 0)[1] == free && free < end, "{look}");
    }
    let text = "num_ranks 2\nrank 0 {\n}\nrank 1 {\nprobe 8b from 0 tag 7\n}\n";
    let error = ideal(text).expect_err("no message comes").to_string();
    assert!(
        error.contains("(`probe 8b from 0 tag 7`): it waits at the end"),
        "{error}"
    );
}

/// A message that comes while a probe looks for the second time ends the probe with this call. The
/// first look is over after 900 ns and a call, the second after two calls; the message arrives
/// between the two.
#[test]
fn a_probe_finds_a_message_that_comes_during_its_second_look() {
    let text = "num_ranks 2
        rank 0 { a: calc 250 \n b: send 8b to 1 tag 7 \n b requires a }
        rank 1 { a: calc 900 \n b: probe 8b from 0 tag 7 \n b requires a
                 c: recv 8b from 0 tag 7 \n c requires b }";
    let (looked, arrives) = (ns(900) + CALL, ns(250) + LATENCY);
    assert!(looked < arrives && arrives < looked + CALL);
    let replayed = ideal(text).expect("the probe ends");
    assert_eq!(times(&replayed, 1, 1), [ns(900), looked + CALL]);
}

/// A busy processor delays a send's call, and with it the message. Streams only compute: their
/// sends wait for this processor, too.
#[test]
fn a_message_leaves_with_the_call_of_its_send() {
    for stream in ["", " cpu 1"] {
        let text = format!(
            "num_ranks 2
             rank 0 {{ busy: calc 5000 \n s: send 8b to 1{stream} \n s irequires busy }}
             rank 1 {{ recv 8b from 0 }}"
        );
        let replayed = ideal(&text).expect("it ends");
        assert_eq!(times(&replayed, 0, 1), [Time::ZERO, ns(5000) + CALL]);
        assert_eq!(times(&replayed, 1, 0)[1], ns(5000) + LATENCY);
    }
}

/// A free operation has not started as long as the processor computes for another one.
#[test]
fn irequires_waits_until_the_processor_begins() {
    let trace = "num_ranks 1
        rank 0 { calc 3000 \n second: calc 500 \n beside: calc 10 cpu 1 \n beside irequires second }";
    for replayed in [ideal(trace), es40(trace, 1)] {
        let replayed = replayed.expect("it ends");
        assert_eq!(times(&replayed, 0, 2), [ns(3000), ns(3010)]);
    }
}

/// Two messages wait for a receive from any rank: it takes the one that has arrived first,
/// whichever rank has sent it.
#[test]
fn a_receive_from_any_rank_takes_the_message_that_came_first() {
    for (first, second) in [(1, 2), (2, 1)] {
        let trace = format!(
            "num_ranks 3
             rank 0 {{ w: calc 100000
               a: recv 9b from -1 tag 4 \n a requires w
               b: recv 9b from -1 tag 4 \n b requires a }}
             rank {first} {{ send 1b to 0 tag 4 }}
             rank {second} {{ w: calc 20000 \n s: send 3b to 0 tag 4 \n s requires w }}"
        );
        for replayed in [ideal(&trace), es40(&trace, 1)] {
            let replayed = replayed.expect("it ends");
            let taken = [1, 2].map(|number| row(&replayed, 0, number).taken);
            assert_eq!(taken, [Some((first, 0)), Some((second, 1))]);
        }
    }
}

#[test]
fn wild_cards_take_messages_in_the_order_of_their_arrival() {
    let trace = |first: u32, second: u32| {
        format!(
            "num_ranks 3 \n rank 0 {{
               a: recv 9b from -1 tag 4
               b: recv 9b from -1 tag -1 \n b requires a
               c: recv 9b from {second} tag -1 \n c requires b
            }}
            rank {first} {{ x: send 1b to 0 tag 4 \n y: send 2b to 0 tag 6 \n y requires x }}
            rank {second} {{ w: calc 100000 \n x: send 3b to 0 tag 4 \n x requires w }}"
        )
    };
    for (first, second) in [(1, 2), (2, 1)] {
        for replayed in [ideal(&trace(first, second)), es40(&trace(first, second), 1)] {
            let replayed = replayed.unwrap();
            let ends = [0, 1, 2].map(|number| times(&replayed, 0, number)[1]);
            assert!(ends[0] < ends[1] && ends[1] < ns(100_000) && ends[2] > ns(100_000));
            assert_eq!(replayed.ranks[0].bytes_received, Bytes::new(6));
        }
    }
    // The receive that was posted first takes the message, even if either is a wild card.
    let replayed = ideal(
        "num_ranks 2 \n rank 0 { recv 1b from -1 tag -1 \n recv 2b from 1 tag 1 }
         rank 1 { a: send 1b to 0 tag 1 \n b: send 2b to 0 tag 1 \n b requires a }",
    );
    assert!(replayed.is_ok());
}

#[test]
fn operations_without_a_partner_are_named_with_their_lines() {
    let cases = [
        (
            "num_ranks 2\nrank 0 {\na: recv 5b from 1 tag 1\nb: calc 3\nb requires a\n}\n\
            rank 1 {\n}",
            vec![
                (3, "`recv 5b from 1 tag 1`"),
                (3, "message that never comes"),
            ],
            "1 operation behind these has not started",
        ),
        (
            "num_ranks 2\nrank 0 {\ncalc 1\nsend 5b to 1 tag 1\nsend 6b to 1 tag 1\n}\n\
            rank 1 {\nrecv 5b from 0 tag 1\n}",
            vec![(5, "nobody receives"), (5, "`send 6b to 1 tag 1`")],
            "the replay ends at",
        ),
        (
            "num_ranks 2\nrank 0 {\nsend 5b to 1 tag 2\n}\nrank 1 {\nrecv 5b from 0 tag 1\n}",
            vec![(6, "message that never comes"), (3, "nobody receives")],
            "the replay ends at",
        ),
        // Each rank waits for the other.
        (
            "num_ranks 2\nrank 0 {\na: recv 5b from 1\nb: send 5b to 1\nb requires a\n}\n\
            rank 1 {\na: recv 5b from 0\nb: send 5b to 0\nb requires a\n}",
            vec![
                (3, "which waits behind operation 0 of rank 1"),
                (8, "which waits behind operation 0 of rank 0"),
            ],
            "2 operations behind these",
        ),
    ];
    for (trace, named, end) in cases {
        for replayed in [ideal(trace), es40(trace, 1)] {
            let Err(ReplayFailure::Partners(problems, _)) = replayed else {
                panic!("{trace}: {replayed:?}");
            };
            for &(line, what) in &named {
                let fits = |problem: &&goal::TraceProblem| {
                    problem.place == TracePlace::Line(line) && problem.what.contains(what)
                };
                assert!(
                    problems.iter().any(|problem| fits(&problem)),
                    "{problems:?}"
                );
            }
            assert!(problems.last().unwrap().what.contains(end), "{problems:?}");
        }
    }
    // A send that does not end without its receive is named once.
    let long = "num_ranks 2\nrank 0 {\nsend 1000000b to 1\n}\nrank 1 {\n}";
    let Err(ReplayFailure::Partners(problems, _)) = es40(long, 1) else {
        panic!("nobody receives it");
    };
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].what.contains("waits at the end for a receive"));
}

#[test]
fn a_message_longer_than_its_receive_is_named() {
    let trace = "num_ranks 2\nrank 0 {\nsend 5b to 1 tag 1\n}\nrank 1 {\nrecv 4b from 0 tag 1\n}";
    for replayed in [ideal(trace), es40(trace, 1)] {
        let Err(ReplayFailure::Trace(problem)) = replayed else {
            panic!("{replayed:?}");
        };
        assert_eq!(problem.place, TracePlace::Line(6));
        assert!(
            problem.what.contains("make the receive longer"),
            "{problem}"
        );
    }
}

#[test]
fn what_a_machine_lacks_is_refused() {
    let trace = "num_ranks 1\nrank 0 {\nsend 1b to 0 nic 1\n}";
    let what = "the policy of the machine chooses";
    refused(es40(trace, 1), 3, what);
    let crowded = es40(&text(&vec![Schedule::default(); 5]), 5);
    assert!(matches!(crowded, Err(ReplayFailure::Job(_))), "{crowded:?}");
}

/// A refused replay names an operation's line.
fn refused(replayed: Result<ReplayResult, ReplayFailure>, line: u64, what: &str) {
    let Err(ReplayFailure::Trace(problem)) = replayed else {
        panic!("{replayed:?}");
    };
    assert_eq!(problem.place, TracePlace::Line(line), "{problem}");
    assert!(problem.what.contains(what), "{problem}");
}

/// The longest message is the same on every network; shorter messages' sizes never overflow.
#[test]
fn too_long_messages_are_refused() {
    let largest = "18446744073709551615b";
    for (operation, size) in [
        ("send", "2147483648b"),
        ("recv", "2147483648b"),
        ("send", largest),
        ("recv", largest),
    ] {
        let peer = if operation == "send" { "to" } else { "from" };
        let trace = format!("num_ranks 1\nrank 0 {{\ncalc 1\n{operation} {size} {peer} 0\n}}");
        for replayed in [ideal(&trace), es40(&trace, 1)] {
            refused(replayed, 4, "at most 2147483647 bytes");
        }
    }
    let longest = "2147483647b";
    let trace = format!(
        "num_ranks 2\nrank 0 {{\nsend {longest} to 1\nsend {longest} to 1\n}}\nrank 1 {{\n\
        recv {longest} from 0\nrecv {longest} from 0\n}}"
    );
    let replayed = ideal(&trace).unwrap();
    let twice = Bytes::new(2 * 2_147_483_647);
    assert_eq!(replayed.ranks[0].bytes_sent, twice);
    assert_eq!(replayed.ranks[1].bytes_received, twice);
}

/// Computations that end beyond the range of simulated time are errors, also where they follow each
/// other over several ranks.
#[test]
fn times_out_of_range_are_refused() {
    const LONG: &str = "calc 8640000000000000"; // 100 days
    let chain = format!(
        "num_ranks 1\nrank 0 {{\na: {LONG}\nb: {LONG}\nc: {LONG}\nb requires a\nc requires b\n}}"
    );
    let free = format!("num_ranks 1\nrank 0 {{\n{LONG}\n{LONG}\n{LONG}\n}}");
    let stream = format!("num_ranks 1\nrank 0 {{\n{LONG} cpu 1\n{LONG} cpu 1\n{LONG} cpu 1\n}}");
    for trace in [&chain, &free, &stream] {
        refused(ideal(trace), 5, "213 days");
        refused(es40(trace, 1), 5, "200 days");
    }
    let relay = format!(
        "num_ranks 2\nrank 0 {{\na: {LONG}\nb: send 8b to 1\nc: recv 8b from 1\nd: {LONG}\n\
        b requires a\nd requires c\n}}\n\
         rank 1 {{\na: recv 8b from 0\nb: {LONG}\nc: send 8b to 0\nb requires a\nc requires b\n}}"
    );
    refused(ideal(&relay), 6, "213 days");
    refused(es40(&relay, 1), 12, "200 days");
    // Side by side they end in time, and their sum is out of range.
    let sum = format!("num_ranks 1\nrank 0 {{\n{LONG} cpu 1\n{LONG} cpu 2\n{LONG} cpu 3\n}}");
    for replayed in [ideal(&sum), es40(&sum, 1)] {
        refused(replayed, 5, "sum to more than 213 days");
    }
    // Another rank computes as long, so that a message may come.
    let poll = "num_ranks 2\nrank 0 {\ncalc 8640000000000000\ncalc 8640000000000000\n\
        calc 1166744073708550\npoll 1b from 0\n}\n\
                rank 1 {\ncalc 8640000000000000\ncalc 8640000000000000\ncalc 1166744073709551\n}";
    refused(ideal(poll), 6, "213 days");
}

/// The digest covers each operation with its size, also where times are equal.
#[test]
fn digests_cover_sizes() {
    let ring = |size: &str, tag: &str, calc: &str| {
        format!(
            "num_ranks 2\nrank 0 {{\nsend {size} to 1 tag {tag}\n{calc}\n}}\nrank 1 {{\n\
            recv {size} from 0 tag {tag}\n}}"
        )
    };
    let traces = [
        ring("1b", "0", "calc 1"),
        ring("2b", "0", "calc 1"),
        ring("2147483647b", "0", "calc 1"),
        ring("1b", "1", "calc 1"),
        ring("1b", "0", "recv 1b from 0\nsend 1b to 0"),
    ];
    let digests = traces.iter().map(|trace| ideal(trace).unwrap().digest);
    let digests: std::collections::BTreeSet<_> = digests.collect();
    assert_eq!(digests.len(), traces.len());
    let [one, two] = [0, 1].map(|number| es40(&traces[number], 1).unwrap().digest);
    assert_ne!(one, two);
}

#[test]
fn bounds_end_a_replay() {
    let limits = Limits {
        time: Some(Time::from_us(100)),
        ..Limits::default()
    };
    let trace = open(&ping_pong(20_000, 0));
    let stopped = on_ideal(trace, false, limits, &AtomicBool::new(false));
    assert!(matches!(
        stopped,
        Err(ReplayFailure::Stop(elan::Stop::Exceeded(_), _))
    ));
    let trace = open(&ping_pong(20_000, 0));
    let cancelled = on_ideal(trace, false, Limits::default(), &AtomicBool::new(true));
    assert!(matches!(
        cancelled,
        Err(ReplayFailure::Stop(elan::Stop::Cancelled, _))
    ));
}

/// A replay takes as long as the program that was traced, to the picosecond.
#[test]
fn a_ping_takes_as_long_as_the_program_on_a_machine() {
    for (size, per_node) in [(0, 1), (100, 1), (100_000, 1), (100, 2), (100_000, 2)] {
        let replayed = es40(&ping_pong(5, size), per_node).unwrap();
        let ended = Rc::new(Cell::new(Time::ZERO));
        let mut cluster = cluster(&machine("es40-qsnet", &[]));
        let job = ProcessJob::new("ping", NodeId::all(2 / per_node), per_node).unwrap();
        let end = Rc::clone(&ended);
        let program = async move |pe: Pe| {
            let (mpi, size) = (pe.mpi(), Bytes::new(size));
            let buffer = pe.node().reserve(Placement::Main, size.max(Bytes::new(1)));
            let (at, other) = (buffer.start().elan, 1 - mpi.rank());
            for _ in 0..5 {
                if mpi.rank() == 0 {
                    mpi.send(other, 3, at, size).await.unwrap();
                    mpi.recv(other, 3, at, size).await.unwrap();
                } else {
                    mpi.recv(other, 3, at, size).await.unwrap();
                    mpi.send(other, 3, at, size).await.unwrap();
                }
            }
            end.set(end.get().max(pe.now()));
        };
        job.launch(&mut cluster, program).unwrap();
        cluster.run().unwrap();
        assert_eq!(
            replayed.time,
            ended.get(),
            "{size} B, {per_node} ranks on a node"
        );
    }
}

#[test]
fn noise_makes_computation_longer() {
    let trace = "num_ranks 1 \n rank 0 { calc 10000000 }";
    let on = |machine: &Machine| {
        let job = ProcessJob::new("rank", NodeId::all(1), 1).unwrap();
        let replayed = on_cluster(
            open(trace),
            &mut cluster(machine),
            &job,
            Placement::Main,
            false,
        );
        replayed.unwrap().time
    };
    assert_eq!(on(&machine("es40-qsnet", &[])), Time::from_ms(10));
    let noisy = on(&machine("opteron-qsnet2", &[]));
    assert!(
        noisy > Time::from_ms(10) && noisy < Time::from_ms(11),
        "{noisy}"
    );
}

/// The long message needs the receiver's answer; the short one, which was sent later, arrives
/// before it.
#[test]
fn receives_are_matched_in_the_order_of_their_calls_and_not_of_their_ends() {
    let trace = "num_ranks 3
        rank 0 { l0: send 200000b to 2 tag 4 \n l1: send 8b to 2 tag 4 \n l1 irequires l0 }
        rank 1 { l0: calc 9000000 \n l1: send 16b to 2 tag 7 \n l1 requires l0 }
        rank 2 { l0: recv 200000b from -1 tag -1 \n l1: recv 200000b from 0 tag -1
                 l2: recv 16b from -1 tag 7 \n l1 irequires l0 \n l2 irequires l1 }";
    for replay in [ideal, |trace: &str| es40(trace, 1)] {
        let replayed = replay(trace).unwrap();
        let taken = [0, 1, 2].map(|number| row(&replayed, 2, number).taken);
        assert_eq!(taken, [Some((0, 0)), Some((0, 1)), Some((1, 1))]);
        assert_eq!(row(&replayed, 0, 0).taken, None, "a send takes no message");
    }
    let replayed = es40(trace, 1).unwrap();
    let [long, short] = [0, 1].map(|number| times(&replayed, 2, number)[1]);
    assert!(short < long, "{short} is before {long}");
}

#[test]
fn any_is_what_a_trace_calls_minus_one() {
    assert_eq!(
        Operation::recv(1, ANY, ANY).to_string(),
        "recv 1b from -1 tag -1"
    );
}
