//! Schedules of short runs, written by hand.

use super::Recorder;
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
    recorder.sees_sent(0, 0);
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

/// Thirds of nanoseconds add up.
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

#[test]
fn a_probe_is_the_receive_of_its_message() {
    let mut recorder = Recorder::new(2, Time::ZERO);
    let size = Bytes::new(100);
    recorder.sends(0, Time::ZERO, (1, size), 0, false);
    recorder.sees_found(1, 0, size);
    recorder.goes_on(1, Time::from_us(2));
    let receive = recorder.receives(1, Time::from_us(2), false);
    recorder.started(1, 5, receive);
    recorder.sees_received(1, 5, 0, size);
    recorder.goes_on(1, Time::from_us(3));
    recorder.sleeps(1, Time::from_us(3), Time::from_us(1));
    let expected = "l0: recv 100b from 0 tag 0\nl1: calc 0\nl2: calc 1000\n\
                    l1 requires l0\nl2 requires l0\nl2 irequires l1\n";
    let lines = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&text(&recorder, 1)), lines(expected));
}

#[test]
fn what_cannot_be_recorded_is_named() {
    let mut recorder = exchange(Time::ZERO);
    recorder.refuse(1, &"puts 8 B into the memory of rank 0");
    recorder.refuse(0, &"gets");
    let said = recorder.schedules().expect_err("it was refused");
    assert_eq!(said, "rank 1 puts 8 B into the memory of rank 0");
    let mut recorder = exchange(Time::ZERO);
    recorder.sends(0, Time::from_us(3), (1, Bytes::new(1)), 12, false);
    let said = recorder.schedules().expect_err("nobody receives it");
    assert_eq!(
        said,
        "rank 0 sends a message to rank 1 that nobody receives"
    );
}
