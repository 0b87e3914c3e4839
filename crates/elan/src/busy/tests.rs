//! A node's knowledge of its adapter.

use super::AdapterLoad;
use crate::config::rails::Status;
use units::Time;

/// A message's beginning or end.
#[derive(Clone, Copy)]
enum Work {
    Sends,
    Sent,
    Receives,
    Received,
}

use Work::{Received, Receives, Sends, Sent};

/// The states that a node knows at some moments, in nanoseconds, if its adapter begins and ends
/// work at other moments.
fn known(status: Status, lag: u64, work: &[(u64, Work)], moments: &[u64]) -> Vec<bool> {
    let mut busy = AdapterLoad::new(status, Time::from_ns(lag));
    let mut work = work.iter().peekable();
    let mut look = |&moment: &u64| {
        while let Some(&(at, work)) = work.next_if(|(at, _)| *at <= moment) {
            let at = Time::from_ns(at);
            match work {
                Sends => busy.begin_sending(at),
                Sent => busy.end_sending(at),
                Receives => busy.begin_receiving(at),
                Received => busy.end_receiving(at),
            }
        }
        busy.was_busy(Time::from_ns(moment))
    };
    moments.iter().map(&mut look).collect()
}

#[test]
fn a_change_is_known_after_the_lag() {
    for status in [Status::Exact, Status::Bit] {
        for (begins, ends) in [(Sends, Sent), (Receives, Received)] {
            let work = [(100, begins), (200, ends)];
            let moments = [99, 100, 149, 150, 200, 249, 250];
            let expected = [false, false, false, true, true, true, false];
            assert_eq!(known(status, 50, &work, &moments), expected);
            let expected = [false, true, true, true, false, false, false];
            assert_eq!(known(status, 0, &work, &moments), expected);
        }
    }
}

/// Work that is shorter than the lag is known as long as it lasted, later.
#[test]
fn short_work_is_known_too() {
    for status in [Status::Exact, Status::Bit] {
        let work = [(100, Sends), (110, Sent), (115, Receives), (120, Received)];
        let moments = [120, 149, 150, 159, 160, 164, 165, 169, 170];
        let expected = [false, false, true, true, false, false, true, true, false];
        assert_eq!(known(status, 50, &work, &moments), expected);
    }
}

/// Two messages that are sent, then a third, and one that is received while another is sent: an
/// exact status is busy until all have ended, a bit until the first has.
#[test]
fn an_end_frees_an_adapter_of_one_bit() {
    let sends = [
        (0, Sends),
        (10, Sends),
        (20, Sent),
        (30, Sent),
        (300, Sends),
    ];
    let both = [
        (0, Sends),
        (10, Receives),
        (20, Received),
        (30, Sent),
        (300, Receives),
    ];
    for work in [sends, both] {
        let moments = [30, 49, 50, 69, 70, 79, 80, 300, 349, 350];
        let expected = [
            false, false, true, true, true, true, false, false, false, true,
        ];
        assert_eq!(known(Status::Exact, 50, &work, &moments), expected);
        let expected = [
            false, false, true, true, false, false, false, false, false, true,
        ];
        assert_eq!(known(Status::Bit, 50, &work, &moments), expected);
    }
}

/// A beginning sets the bit again.
#[test]
fn a_beginning_reserves_an_adapter_of_one_bit() {
    let work = [
        (0, Sends),
        (10, Receives),
        (20, Received),
        (30, Receives),
        (40, Sent),
    ];
    let moments = [50, 69, 70, 79, 80, 89, 90, 1000];
    let expected = [true, true, false, false, true, true, false, false];
    assert_eq!(known(Status::Bit, 50, &work, &moments), expected);
}
