//! Schedules of short runs, written by hand.

use super::Recorder;
use goal::{Kind, RegionLimit};
use units::{Bytes, Time};

fn text(recorder: &Recorder, rank: usize) -> String {
    recorder.schedules().expect("all of it can be recorded")[rank].to_string()
}

/// Rank 0 sends to rank 1, which has posted a receive from any, computes, and answers.
fn exchange(request: Time) -> Recorder {
    let mut recorder = Recorder::new(2, request);
    let (at, size) = (Time::from_us(1), Bytes::new(8));
    let send = recorder.sends(0, Time::ZERO, (1, size), 10, true);
    recorder.started(0, 0, send);
    let receive = recorder.receives(1, Time::ZERO, false);
    recorder.started(1, 0, receive);
    recorder.sees_ended(0, 0);
    recorder.goes_on(0, at);
    recorder.sees_received(1, 0, 10, size);
    recorder.goes_on(1, at);
    let answer = recorder.sends(1, at + Time::from_ns(300), (0, size), 11, false);
    recorder.started(1, 1, answer);
    let receive = recorder.receives(0, at, false);
    recorder.started(0, 1, receive);
    recorder.sees_received(0, 1, 11, size);
    recorder.goes_on(0, at + at);
    recorder.finishes(0, at + at);
    recorder.finishes(1, at + Time::from_ns(300));
    recorder
}

#[test]
fn calls_waits_and_computation() {
    let recorder = exchange(Time::ZERO);
    let first = "l0: send 8b to 1 tag 0\nl1: recv 8b from 1 tag 0\nl1 requires l0\n";
    assert_eq!(text(&recorder, 0), first);
    let second = "l0: recv 8b from 0 tag 0\nl1: calc 300 cpu 1\nl2: send 8b to 0 tag 0\n\
                  l1 requires l0\nl2 requires l1\n";
    assert_eq!(text(&recorder, 1), second);
}

#[test]
fn a_request_costs_the_processor_before_its_call() {
    let recorder = exchange(Time::from_ns(40));
    assert!(
        text(&recorder, 0).starts_with("l0: calc 40\nl1: send 8b to 1 tag 0\n"),
        "{}",
        text(&recorder, 0)
    );
    assert!(text(&recorder, 0).contains("l1 requires l0\n"));
}

/// Thirds in nanoseconds add up.
#[test]
fn roundings_do_not_add_up() {
    let mut recorder = Recorder::new(1, Time::ZERO);
    for step in 1..=3000 {
        recorder.finishes(0, Time::from_ps(333 * step));
    }
    let computed = recorder.schedules().expect("it is recorded")[0]
        .operations
        .iter()
        .map(|operation| operation.size)
        .sum::<u64>();
    assert_eq!(computed, 999);
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    lines.sort();
    lines
}

/// Rank 1 looks without success at 1 us, looks again, and receives the message that it finds.
fn looks(keeps: bool) -> Recorder {
    let mut recorder = Recorder::new(2, Time::ZERO);
    let (us, size) = (Time::from_us, Bytes::new(100));
    recorder.sends(0, Time::ZERO, (1, size), 0, false);
    recorder.waits(1, us(1), false);
    recorder.goes_on(1, us(2));
    recorder.waits(1, us(2), false);
    recorder.sees_found(1, 0, size, (Kind::Poll, keeps));
    recorder.goes_on(1, us(3));
    if !keeps {
        let receive = recorder.receives(1, us(3), false);
        recorder.started(1, 5, receive);
    }
    recorder.waits(1, us(3), false);
    recorder.sees_received(1, 5, 0, size);
    recorder.goes_on(1, us(4));
    recorder.sleeps(1, us(4), us(1));
    recorder
}

/// Unsuccessful looks take no time in the trace.
#[test]
fn a_look_waits_for_its_message_and_the_receive_for_the_look() {
    for keeps in [false, true] {
        let expected = format!(
            "l0: calc 1000 cpu 1\nl1: poll 100b from 0 tag 0\nl2: recv 100b from 0 tag 0\n\
            l3: calc 1000\n\
             l1 requires l0\nl2 requires l1\nl3 requires l2\n{}",
            if keeps {
                "l3 requires l0\nl3 requires l1\n"
            } else {
                "l2 requires l0\n"
            }
        );
        assert_eq!(
            sorted(&text(&looks(keeps), 1)),
            sorted(&expected),
            "{keeps}"
        );
    }
}

/// A program's computation between a call and the wait for it runs beside the call.
#[test]
fn computation_beside_a_receive() {
    let mut recorder = Recorder::new(2, Time::ZERO);
    let (us, size) = (Time::from_us, Bytes::new(100));
    recorder.sends(0, Time::ZERO, (1, size), 0, false);
    let receive = recorder.receives(1, Time::ZERO, false);
    recorder.started(1, 5, receive);
    recorder.waits(1, us(7), false);
    recorder.sees_received(1, 5, 0, size);
    recorder.goes_on(1, us(8));
    recorder.sleeps(1, us(8), us(1));
    let expected = "l0: recv 100b from 0 tag 0\nl1: calc 7000 cpu 1\nl2: calc 1000\n\
                    l2 requires l0\nl2 requires l1\n";
    assert_eq!(sorted(&text(&recorder, 1)), sorted(expected));
}

#[test]
fn what_cannot_be_recorded_is_named() {
    let mut recorder = exchange(Time::ZERO);
    recorder.refuse(1, "puts", &"puts 8 B into the memory of rank 0");
    recorder.called(1, link::calls::number("MPI_Put"));
    recorder.refuse(0, "gets", &"gets");
    recorder.refuse(1, "puts", &"puts again");
    recorder.called(1, link::calls::number("MPI_Put"));
    let said = recorder.schedules().expect_err("it was refused");
    assert_eq!(
        said,
        "rank 1 puts 8 B into the memory of rank 0; in all, by call: outside of calls: gets (1), \
         MPI_Put: puts (2)"
    );
    let mut recorder = exchange(Time::ZERO);
    recorder.sends(0, Time::from_us(3), (1, Bytes::new(1)), 12, false);
    let said = recorder.schedules().expect_err("nobody receives it");
    assert_eq!(
        said,
        "rank 0 sends a message to rank 1 that nobody receives"
    );
}

/// A rank computes twice in a region, and a while outside of it; another rank has another number
/// for the region.
#[test]
fn computation_has_its_region() {
    let mut recorder = Recorder::new(2, Time::ZERO);
    let us = Time::from_us;
    recorder.computes(0, us(5), (7, b"part 3"), us(5));
    recorder.computes(0, us(9), (7, b""), us(2));
    recorder.finishes(0, us(10));
    recorder.computes(1, us(1), (0, b"a > b"), us(1));
    recorder.computes(1, us(3), (1, b"part 3"), us(2));
    recorder.finishes(1, us(3));
    let first = "l0: calc 5000 cpu 1 //@ 1\nl1: calc 2000 cpu 1\nl2: calc 2000 cpu 1 //@ 1\n\
                 l3: calc 1000 cpu 1\nl1 requires l0\nl2 requires l1\nl3 requires l2\n";
    assert_eq!(text(&recorder, 0), first);
    let second = "l0: calc 1000 cpu 1 //@ 2\nl1: calc 2000 cpu 1 //@ 1\nl1 requires l0\n";
    assert_eq!(text(&recorder, 1), second);
    let bound = |name: &str| {
        if name == "a > b" {
            RegionLimit::Memory
        } else {
            RegionLimit::Processor
        }
    };
    let notes = recorder.notes(bound, None).to_string();
    assert_eq!(notes, "region 1 processor part 3\nregion 2 memory a > b\n");
}

/// A trace with polls has their pace.
#[test]
fn polls_keep_their_pace() {
    let mut recorder = exchange(Time::ZERO);
    let bound = |_: &str| RegionLimit::Processor;
    assert_eq!(recorder.notes(bound, None).poll, Time::ZERO);
    recorder.sends(0, Time::from_us(3), (1, Bytes::new(1)), 12, false);
    recorder.sees_found(1, 12, Bytes::new(1), (Kind::Probe, false));
    assert_eq!(recorder.notes(bound, None).poll, Time::ZERO);
    recorder.sees_found(1, 12, Bytes::new(1), (Kind::Poll, true));
    assert_eq!(recorder.notes(bound, None).poll, Time::from_ns(100));
}

/// A rank puts and swaps, and then gets.
#[test]
fn accesses_end_where_they_are_seen() {
    let mut recorder = Recorder::new(2, Time::ZERO);
    let (at, size) = (Time::from_us(1), Bytes::new(8));
    for (key, kind) in [(0, Kind::Put), (1, Kind::Swap)] {
        let operation = recorder.reaches(0, Time::ZERO, (kind, 1, size));
        recorder.started(0, key, operation);
    }
    recorder.sees_ended(0, 0);
    recorder.sees_ended(0, 1);
    recorder.goes_on(0, at);
    recorder.reaches(0, at, (Kind::Get, 1, Bytes::new(70)));
    let wanted = "l0: put 8b to 1\nl1: swap 8b to 1\nl2: get 70b from 1\nl1 irequires l0\n\
                  l2 requires l0\nl2 requires l1\n";
    assert_eq!(text(&recorder, 0), wanted);
}

/// A rank that looks at a word sees a put there, and then neither a write nor a message.
#[test]
fn looks_at_words_await_puts() {
    let mut recorder = Recorder::new(2, Time::ZERO);
    let (at, size) = (Time::from_us(1), Bytes::new(8));
    recorder.puts(0, Time::ZERO, (1, size), 20);
    recorder.puts(0, Time::ZERO, (1, size), 21);
    for moment in [Time::ZERO, at] {
        recorder.waits(1, moment, true);
        if moment == at {
            recorder.sees_write(1, Some(21));
        }
        recorder.goes_on(1, moment + at);
    }
    recorder.activates(1, at + at, (0, size), 22);
    let first = "l0: put 8b to 1\nl1: put 8b to 1 tag 1\nl1 irequires l0\n";
    assert_eq!(text(&recorder, 0), first);
    let second = "l0: await 8b from 0 tag 1\nl1: put 8b to 0\nl1 requires l0\n";
    assert_eq!(text(&recorder, 1), second);
    recorder.waits(1, at + at, true);
    recorder.goes_on(1, at + at);
    recorder.finishes(1, at + at);
    let said = recorder.schedules().expect_err("it saw no write");
    assert_eq!(
        said,
        "rank 1 waits for a word in its memory that another rank writes; in all, by call: \
         MPI_Win_sync: looks at words in memory (1)"
    );
}

/// A message of the library is handled where its rank sees it; one that no rank sees is a put.
#[test]
fn active_messages_have_handlers() {
    let mut recorder = Recorder::new(2, Time::ZERO);
    let (at, size) = (Time::from_us(1), Bytes::new(40));
    for number in [20, 21] {
        recorder.activates(0, Time::ZERO, (1, size), number);
    }
    recorder.sees_active(1, 20, size);
    recorder.goes_on(1, at);
    recorder.activates(1, at, (0, size), 22);
    let first = "l0: active 40b to 1 tag 0\nl1: put 40b to 1\nl1 irequires l0\n";
    assert_eq!(text(&recorder, 0), first);
    let second = "l0: handle 40b from 0 tag 0\nl1: put 40b to 0\nl1 requires l0\n";
    assert_eq!(text(&recorder, 1), second);
}
