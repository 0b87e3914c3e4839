//! Ranks that wait for each other: sends that need their receives, and buffers that let them
//! continue.

use super::{cluster, es40, ideal, machine, ns, open, row, times};
use elan::{NodeId, Placement, faults};
use goal::replay::{Buffers, ReplayFailure, ReplayResult, on_cluster};
use libelan::ProcessJob;
use units::{Bytes, Time};

/// A ring of ranks, each of which repeatedly sends to the right and then receives from the left.
fn ring(ranks: u32, steps: u32, size: u64) -> String {
    let block = |rank: u32| {
        let (right, left) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let mut lines = Vec::new();
        for step in 0..steps {
            lines.push(format!("s{step}: send {size}b to {right}"));
            if step > 0 {
                lines.push(format!("s{step} requires r{}", step - 1));
            }
            lines.push(format!("r{step}: recv {size}b from {left}"));
            lines.push(format!("r{step} requires s{step}"));
        }
        format!("rank {rank} {{\n{}\n}}\n", lines.join("\n"))
    };
    let blocks: String = (0..ranks).map(block).collect();
    format!("num_ranks {ranks}\n{blocks}")
}

fn buffered(text: &str, sends: u64) -> Result<ReplayResult, ReplayFailure> {
    let trace = open(text);
    let job = ProcessJob::new("rank", NodeId::all(trace.ranks()), 1).unwrap();
    let mut cluster = cluster(&machine("es40-qsnet", &[]));
    let buffers = Buffers {
        placement: Placement::Main,
        sends: Bytes::new(sends),
    };
    on_cluster(trace, &mut cluster, &job, buffers, true)
}

fn problems(replayed: Result<ReplayResult, ReplayFailure>) -> Vec<String> {
    match replayed {
        Err(ReplayFailure::Partners(problems, _)) => {
            let texts = problems.iter().map(ToString::to_string);
            texts
                .map(|text| text.split_once(".goal").expect("the file").1.to_owned())
                .collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Long sends wait for their receives, which stand behind sends: a deadlock, and no partner is
/// missing.
#[test]
fn a_circle_of_long_sends_is_a_deadlock() {
    assert_eq!(
        problems(es40(&ring(3, 2, 200_000), 1)),
        [
            ":3: rank 0, operation 0 (`send 200000b to 1 tag 0`): it waits for operation 1 of rank \
            1 (`recv 200000b from 0 tag 0` on line 13), which waits behind operation 0 of rank 1 \
            (`send 200000b to 2 tag 0` on line 12)",
            ":12: rank 1, operation 0 (`send 200000b to 2 tag 0`): it waits for operation 1 of \
            rank 2 (`recv 200000b from 1 tag 0` on line 22), which waits behind operation 0 of \
            rank 2 (`send 200000b to 0 tag 0` on line 21)",
            ":21: rank 2, operation 0 (`send 200000b to 0 tag 0`): it waits for operation 1 of \
            rank 0 (`recv 200000b from 2 tag 0` on line 4), which waits behind operation 0 of rank \
            0 (`send 200000b to 1 tag 0` on line 3)",
            ": the replay ends at 1049.68 ns, and 3 operations wait for each other in a circle (a \
            deadlock): see the first lines; 9 operations behind these have not started; such long \
            sends wait for their receives: receive first, or buffer the sends (`--buffered`)",
        ]
        .map(|line| line.replace("1049.68 ns", &end(&ring(3, 2, 200_000))))
    );
}

/// Eight operations are listed; the last line counts the others as operations, also behind
/// failures.
#[test]
fn operations_that_are_not_listed_are_counted() {
    let last = |problems: Vec<String>| problems.last().expect("a line").clone();
    let receives = |ranks: u32| {
        let block = |rank| match rank {
            0 => "rank 0 {\n}\n".to_owned(),
            _ => format!("rank {rank} {{\nrecv 8b from 0\n}}\n"),
        };
        let blocks: String = (0..ranks).map(block).collect();
        format!("num_ranks {ranks}\n{blocks}")
    };
    let sends = |count: usize| {
        let sends = "send 8b to 1\n".repeat(count);
        format!("num_ranks 2\nrank 0 {{\n{sends}}}\nrank 1 {{\n}}\n")
    };
    for (text, end) in [
        (receives(9), "see the lines before"),
        (
            receives(10),
            "see the lines before; 1 waiting operation is not listed",
        ),
        (
            receives(11),
            "see the lines before; 2 waiting operations are not listed",
        ),
        (sends(8), "see the lines before"),
        (
            sends(9),
            "see the lines before; 1 unreceived message is not listed",
        ),
    ] {
        let line = last(problems(ideal(&text)));
        assert!(line.ends_with(end), "{line}");
    }
    // Those of the first ranks are listed.
    let block = |rank: u32| format!("rank {rank} {{\nsend 8b to {}\n}}\n", (rank + 1) % 40);
    let blocks: String = (0..40).map(block).collect();
    let unreceived = problems(ideal(&format!("num_ranks 40\n{blocks}")));
    for (rank, line) in unreceived[..8].iter().enumerate() {
        let which = format!(":{}: rank {rank}, ", 3 * rank + 3);
        assert!(line.starts_with(&which), "{line}");
    }
    let line = last(problems(es40(&ring(10, 1, 200_000), 1)));
    let circle = "10 operations wait for each other in a circle (a deadlock): see the first lines; \
                  2 waiting operations are not listed; ";
    assert!(line.contains(circle), "{line}");

    let text = ring(16, 40, 1000);
    let job = ProcessJob::new("rank", NodeId::all(16), 1).unwrap();
    let mut config = machine("es40-qsnet", &[]).cluster_config();
    config.faults = Some(failing_node(3, Time::from_us(100)));
    let mut cluster = elan::Cluster::new(config, elan::Watch::default());
    let line = last(problems(on_cluster(
        open(&text),
        &mut cluster,
        &job,
        Placement::Main,
        true,
    )));
    assert!(
        line.contains("there failed host of node 3 at 100 us; ")
            && line.contains(" waiting operations are not listed"),
        "{line}"
    );
}

/// When a trace's replay stands still.
fn end(text: &str) -> String {
    let Err(ReplayFailure::Partners(_, left)) = es40(text, 1) else {
        panic!("it ends");
    };
    left.time.to_string()
}

/// A poll looks until there is a message. The replay on the ideal network ends with the last other
/// event.
#[test]
fn polls_without_a_message_end_the_replay() {
    let text = "num_ranks 2\nrank 0 {\npoll 8b from 1\n}\nrank 1 {\ncalc 5000\npoll 8b from 0\n}";
    assert_eq!(
        problems(ideal(text)),
        [
            ":3: rank 0, operation 0 (`poll 8b from 1 tag 0`): it waits at the end for a message \
            that never comes; add the send, or correct its peer and tag",
            ":7: rank 1, operation 1 (`poll 8b from 0 tag 0`): it waits at the end for a message \
            that never comes; add the send, or correct its peer and tag",
            ": the replay ends at 5.25 us, and operations have no partner: see the lines before",
        ]
    );
    // With a message that comes late, the poll ends.
    let sent = "num_ranks 2\nrank 0 {\nlook: poll 8b from 1\ntake: recv 8b from 1\n\
        take requires look\n}\n\
                rank 1 {\nlong: calc 5000\nlast: send 8b to 0\nlast requires long\n}";
    let [_, end] = times(&ideal(sent).unwrap(), 0, 0);
    assert!((ns(6000)..=ns(6250)).contains(&end), "{end}");
}

/// Receives that stand in front of their sends everywhere: a circle without a send, on any network.
#[test]
fn a_circle_of_receives_has_no_remedy_of_buffers() {
    let text = "num_ranks 2
rank 0 {
a: recv 8b from 1
b: send 8b to 1
b requires a
}
rank 1 {
a: recv 8b from 0
b: send 8b to 0
b requires a
}";
    for replayed in [ideal(text), es40(text, 1), buffered(text, 1 << 20)] {
        let problems = problems(replayed);
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems[0].contains(
            "it waits for operation 1 of rank 1 (`send 8b to 0 tag 0` on \
            line 9), which waits behind operation 0 of rank 1"
        ));
        assert!(problems[2].contains("2 operations wait for each other in a circle"));
        assert!(!problems[2].contains("--buffered"));
    }
}

/// One missing receive: operations that wait behind it are not reported as lacking a partner.
#[test]
fn a_path_ends_at_what_is_missing() {
    let text = "num_ranks 3
rank 0 {
a: recv 8b from 1
}
rank 1 {
a: recv 8b from 2 tag 5
b: send 8b to 0
b requires a
}
rank 2 {
send 8b to 1 tag 6
}";
    for replayed in [ideal(text), es40(text, 1)] {
        let problems = problems(replayed);
        assert!(problems[0].contains(
            "it waits for operation 1 of rank 1 (`send 8b to 0 tag 0` on \
            line 7), which waits behind operation 0 of rank 1"
        ));
        assert!(problems[1].starts_with(
            ":6: rank 1, operation 0 (`recv 8b from 2 tag 5`): it \
            waits at the end for a message that never comes; add the send"
        ));
        assert!(problems[2].contains("nobody receives its message; add the receive"));
        assert!(problems[3].contains("operations have no partner"));
    }
}

/// With room for its bytes, a ring in which all ranks send first takes all its steps; a send ends
/// with its call.
#[test]
fn buffered_sends_go_on() {
    let text = ring(4, 3, 200_000);
    let replayed = buffered(&text, 200_000).unwrap();
    assert!(replayed.waiting.is_empty());
    let [free, sent] = times(&replayed, 0, 0);
    assert_eq!(free, Time::ZERO);
    assert!(sent > Time::ZERO && sent < Time::from_us(5), "{sent}");
    let received = row(&replayed, 0, 1).end;
    assert!(
        received > Time::from_us(500),
        "200 kB at 340 MB/s: {received}"
    );
    let total: u64 = replayed.ranks.iter().map(|row| row.received).sum();
    assert_eq!(total, 12);
    // Less room than a message: no message is buffered.
    assert!(problems(buffered(&text, 199_999))[0].contains("it waits for operation 1 of rank 1"));
}

/// Room for one of two messages: the second send ends when the first one's bytes have been fetched.
#[test]
fn a_send_without_room_waits_for_those_before() {
    let text = "num_ranks 2
rank 0 {
send 100000b to 1
send 100000b to 1
}
rank 1 {
a: calc 2000000
b: recv 100000b from 0
c: recv 100000b from 0
b requires a
c requires b
}";
    for (room, early) in [(200_000, true), (199_999, false), (100_000, false)] {
        let replayed = buffered(text, room).unwrap();
        let [first, second] = [0, 1].map(|number| row(&replayed, 0, number).end);
        assert!(first < Time::from_us(5), "{first}");
        assert_eq!(second < Time::from_us(5), early, "{room}: {second}");
        if !early {
            let fetched = row(&replayed, 1, 1).end;
            assert!(second > Time::from_ms(2), "{second}");
            assert!(second < fetched + ns(50_000), "{second} {fetched}");
        }
    }
    // A send that is longer than the whole room ends with its transfer, as without buffers.
    let alone = buffered(text, 99_999).unwrap();
    assert_eq!(alone.digest, buffered(text, 0).unwrap().digest);
}

/// A send behind one without room waits, too, although its own bytes would fit.
#[test]
fn sends_come_into_the_buffer_in_their_order() {
    let text = "num_ranks 2
rank 0 {
send 100000b to 1
send 100000b to 1
send 40000b to 1
}
rank 1 {
a: calc 2000000
b: recv 100000b from 0
c: recv 100000b from 0
d: recv 40000b from 0
b requires a
c requires b
d requires c
}";
    let replayed = buffered(text, 150_000).unwrap();
    let [first, second, third] = [0, 1, 2].map(|number| row(&replayed, 0, number).end);
    assert!(first < Time::from_us(5), "{first}");
    assert!(
        second > Time::from_ms(2) && third >= second,
        "{second} {third}"
    );
}

/// Without buffers results stay the same, also for messages without bytes.
#[test]
fn no_room_is_the_machine_as_it_is() {
    let text = "num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}";
    let digest = es40(text, 1).unwrap().digest;
    assert_eq!(buffered(text, 0).unwrap().digest, digest);
}

/// A node fails, and recovers not.
fn failing_node(node: u32, at: Time) -> faults::Config {
    faults::Config {
        timeout: Time::from_us(50),
        backoff: Time::from_us(10),
        broadcast_backoff: Time::from_us(20),
        detect: Time::from_us(200),
        give_up: Time::from_ms(1),
        seed: 1,
        list: vec![faults::Fault {
            part: faults::FaultyPart::Node(NodeId::new(node)),
            when: faults::FaultTiming::At { at, lasts: None },
        }],
    }
}

/// A node fails in the middle: the lines do not ask for operations that the trace has, and the last
/// one names the node.
#[test]
fn a_fault_is_named() {
    let text = ring(4, 40, 1000);
    let trace = open(&text);
    let job = ProcessJob::new("rank", NodeId::all(4), 1).unwrap();
    let mut config = machine("es40-qsnet", &[]).cluster_config();
    config.faults = Some(failing_node(3, Time::from_us(100)));
    let mut cluster = elan::Cluster::new(config, elan::Watch::default());
    let problems = problems(on_cluster(trace, &mut cluster, &job, Placement::Main, true));
    let last = problems.last().expect("a line");
    assert!(
        last.contains(
            "operations wait for ever; before that, there failed host of node 3 at 100 us"
        ),
        "{last}"
    );
    for line in &problems {
        assert!(!line.contains("add the"), "{line}");
    }
}
