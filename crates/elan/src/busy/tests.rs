//! What a node knows of its adapter.

use super::Busy;
use units::Time;

/// The states that a node knows at some moments, in nanoseconds, of an adapter that begins and ends work at other moments.
fn known(lag: u64, work: &[(u64, bool)], moments: &[u64]) -> Vec<bool> {
    let mut busy = Busy::new(Time::from_ns(lag));
    let mut work = work.iter().peekable();
    let mut look = |&moment: &u64| {
        while let Some(&(at, begins)) = work.next_if(|(at, _)| *at <= moment) {
            let at = Time::from_ns(at);
            if begins {
                busy.begin(at);
            } else {
                busy.end(at);
            }
        }
        busy.was_busy(Time::from_ns(moment))
    };
    moments.iter().map(&mut look).collect()
}

#[test]
fn a_change_is_known_after_the_lag() {
    let work = [(100, true), (200, false)];
    let moments = [99, 100, 149, 150, 200, 249, 250];
    let expected = [false, false, false, true, true, true, false];
    assert_eq!(known(50, &work, &moments), expected);
    let expected = [false, true, true, true, false, false, false];
    assert_eq!(known(0, &work, &moments), expected);
}

/// Work that is shorter than the lag is known as long as it lasted, later.
#[test]
fn short_work_is_known_too() {
    let work = [(100, true), (110, false), (115, true), (120, false)];
    let moments = [120, 149, 150, 159, 160, 164, 165, 169, 170];
    let expected = [false, false, true, true, false, false, true, true, false];
    assert_eq!(known(50, &work, &moments), expected);
}

#[test]
fn an_adapter_is_busy_until_all_is_done() {
    let work = [(0, true), (10, true), (20, false), (30, false), (300, true)];
    let moments = [30, 49, 50, 79, 80, 300, 349, 350];
    let expected = [false, false, true, true, false, false, false, true];
    assert_eq!(known(50, &work, &moments), expected);
}
