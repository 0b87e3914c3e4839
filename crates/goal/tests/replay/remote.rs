//! Accesses to others' memory, and active messages.

use super::{es40, ideal, machine, ns, open, row, times};
use elan::{Cluster, NodeId, Placement, Watch};
use goal::replay::{CALL, LATENCY, ReplayResult, on_cluster};
use libelan::ProcessJob;
use units::{Bytes, Time};

/// Rank 0 reaches into rank 1's memory by all kinds, one after the other.
const ACCESSES: &str = "num_ranks 2
rank 0 {
a: put 70000b to 1
b: get 300b from 1
c: atomic 8b to 1
d: swap 4b to 1
b requires a
c requires b
d requires c
}
rank 1 {
}
";

fn on_elan4(text: &str) -> ReplayResult {
    let job = ProcessJob::at("rank", [0, 1].map(NodeId::new)).unwrap();
    let config = machine("opteron-qsnet2", &[]).cluster_config();
    let mut cluster = Cluster::new(config, Watch::default());
    on_cluster(open(text), &mut cluster, &job, Placement::Main, true).expect("it ends")
}

#[test]
fn an_access_takes_a_latency_on_an_ideal_network() {
    let replayed = ideal(ACCESSES).expect("it ends");
    for number in 0..4 {
        let begin = LATENCY * u64::from(number);
        assert_eq!(times(&replayed, 0, number), [begin, begin + LATENCY]);
    }
    // Its call is over before that.
    let text = "num_ranks 2\nrank 0 {\na: put 8b to 1\nb: calc 10\nb irequires a\n}\nrank 1 {\n}\n";
    let replayed = ideal(text).expect("it ends");
    assert_eq!(times(&replayed, 0, 1), [Time::ZERO, CALL + ns(10)]);
}

/// The totals name the memory that bytes leave and come into.
#[test]
fn accesses_are_messages() {
    for replayed in [
        ideal(ACCESSES).expect("it ends"),
        es40(ACCESSES, 1).expect("it ends"),
        es40(ACCESSES, 2).expect("it ends"),
        on_elan4(ACCESSES),
    ] {
        let totals = replayed.ranks.iter().map(|row| {
            let bytes = [row.bytes_sent, row.bytes_received];
            (row.sent, row.received, bytes.map(Bytes::as_u64))
        });
        let expected = [(3, 1, [70_012, 300]), (1, 3, [300, 70_012])];
        assert_eq!(totals.collect::<Vec<_>>(), expected);
        assert!(replayed.waiting.is_empty());
    }
}

/// On the machine, a get and an atomic go there and back, and a swap's packet is longer.
#[test]
fn each_access_has_the_machines_time() {
    for replayed in [es40(ACCESSES, 1).expect("it ends"), on_elan4(ACCESSES)] {
        let lasts = |number| {
            let [free, end] = times(&replayed, 0, number);
            end - free
        };
        assert!(lasts(0) > lasts(1) && lasts(1) > lasts(2), "{replayed:?}");
        assert!(lasts(3) > lasts(2) && lasts(2) > ns(500), "{replayed:?}");
    }
}

/// A handler takes the active message of its sender with its tag, and not the tagged message.
#[test]
fn handlers_take_active_messages_only() {
    let text = "num_ranks 2
        rank 0 {
        a: active 40b to 1 tag 3
        b: send 9b to 1 tag 3
        c: active 50b to 1 tag 3
        b irequires a
        c irequires b
        }
        rank 1 {
        w: calc 30000
        r: recv 9b from 0 tag 3
        s: handle 40b from 0 tag 3
        t: handle 50b from 0 tag 3
        r requires w
        t irequires s
        }";
    for replayed in [
        ideal(text).expect("it ends"),
        es40(text, 1).expect("it ends"),
        on_elan4(text),
    ] {
        let taken = [1, 2, 3].map(|number| row(&replayed, 1, number).taken);
        assert_eq!(taken, [Some((0, 1)), Some((0, 0)), Some((0, 2))]);
        let rank = replayed.ranks[1];
        assert_eq!((rank.received, rank.bytes_received.as_u64()), (3, 99));
    }
    let replayed = ideal(text).expect("it ends");
    assert_eq!(times(&replayed, 0, 0)[1], CALL);
    assert_eq!(times(&replayed, 1, 2), [Time::ZERO, LATENCY]);
    assert_eq!(times(&replayed, 1, 3)[1], CALL * 2 + LATENCY);
}

/// A processor that computes takes a message later, on a machine.
#[test]
fn a_busy_processor_handles_late() {
    let text = "num_ranks 2\nrank 0 {\nactive 40b to 1\n}\n\
                rank 1 {\ncalc 90000\nhandle 40b from 0\n}\n";
    assert_eq!(times(&ideal(text).expect("it ends"), 1, 1)[1], LATENCY);
    let replayed = es40(text, 1).expect("it ends");
    assert!(times(&replayed, 1, 1)[1] > ns(90_000));
}

/// A process sees a put's bytes at once where it looks for them late.
#[test]
fn an_await_ends_with_its_put() {
    let text = "num_ranks 2
        rank 0 { w: calc 30000 \n a: put 8b to 1 tag 5 \n a requires w \n put 8b to 1 }
        rank 1 { a: await 8b from 0 tag 5 \n b: calc 10 \n b requires a }";
    let poll = machine("es40-qsnet", &[]).cluster_config().adapter.poll;
    for (replayed, lag) in [
        (ideal(text).expect("it ends"), Time::ZERO),
        (es40(text, 1).expect("it ends"), poll),
    ] {
        let [_, put] = times(&replayed, 0, 1);
        assert_eq!(times(&replayed, 1, 0), [Time::ZERO, put + lag]);
        assert_eq!((replayed.ranks[1].received, replayed.ranks[0].sent), (2, 2));
    }
    let late = text.replace("a: await", "w: calc 90000 \n a requires w \n a: await");
    let late = late.replace(
        "a requires w \n a: await 8b from 0 tag 5",
        "a: await 8b from 0 tag 5 \n a requires w",
    );
    for replayed in [
        ideal(&late).expect("it ends"),
        es40(&late, 1).expect("it ends"),
    ] {
        let [free, end] = times(&replayed, 1, 1);
        assert!(free == end && free >= ns(90_000), "{free} {end}");
    }
}

fn wrong(body: [&str; 2]) -> [String; 2] {
    let [first, second] = body;
    let text = format!("num_ranks 2\nrank 0 {{\n{first}\n}}\nrank 1 {{\n{second}\n}}\n");
    [ideal(&text), es40(&text, 1)].map(|run| run.expect_err("it is wrong").to_string())
}

#[test]
fn active_messages_without_partners_are_named() {
    for (body, about) in [
        (
            ["", "handle 8b from 0 tag 2"],
            "(`handle 8b from 0 tag 2`): it waits at the end for a message that never comes; add \
             the active message",
        ),
        (
            ["active 8b to 1 tag 2", "handle 8b from 0 tag 1"],
            "(`active 8b to 1 tag 2`): nobody receives its message; add the handler",
        ),
        (
            ["put 8b to 1", "await 8b from 0 tag 2"],
            "(`await 8b from 0 tag 2`): it waits at the end for a put that never comes; add the \
             put",
        ),
        (
            ["send 8b to 1 tag 2", "handle 8b from 0 tag 2"],
            "(`send 8b to 1 tag 2`): nobody receives its message; add the receive",
        ),
        (
            ["active 9b to 1 tag 2", "handle 8b from 0 tag 2"],
            "(`handle 8b from 0 tag 2`): a message of 9 ",
        ),
        (
            [
                "a: handle 1b from 1\nb: active 1b to 1\nb requires a",
                "a: handle 1b from 0\nb: active 1b to 0\nb requires a",
            ],
            "2 operations wait for each other in a circle (a deadlock)",
        ),
    ] {
        for said in wrong(body) {
            assert!(said.contains(about), "{said}");
        }
    }
}
