//! Run bounds, and the message when a run passes one.

use kernel::{Bound, Limits, Progress};
use units::{Bytes, Time};

const AT: Progress = Progress {
    time: Time::from_us(5),
    events: 1000,
    memory: Bytes::from_mb(3),
};

#[test]
fn without_bounds_a_run_goes_on() {
    assert_eq!(Limits::default().check(AT), Ok(()));
}

#[test]
fn a_bound_may_be_reached() {
    let limits = Limits {
        time: Some(AT.time),
        events: Some(AT.events),
        memory: Some(AT.memory),
    };
    assert_eq!(limits.check(AT), Ok(()));
    let beyond = Progress {
        events: AT.events + 1,
        ..AT
    };
    assert_eq!(limits.check(beyond).unwrap_err().bound, Bound::Events(1000));
}

#[test]
fn the_error_names_the_bound_where_the_run_stood_and_what_to_do() {
    let message = |limits: Limits| limits.check(AT).unwrap_err().to_string();
    assert_eq!(
        message(Limits {
            time: Some(Time::from_us(4)),
            ..Limits::default()
        }),
        "the run passed its bound of 4 us of simulated time: it stopped at 5 us after 1000 events \
         with 3 MB of memory in use; raise the bound, or look for what never ends"
    );
    assert_eq!(
        message(Limits {
            events: Some(999),
            ..Limits::default()
        }),
        "the run passed its bound of 999 events: it stopped at 5 us after 1000 events with 3 MB of \
         memory in use; raise the bound, or shorten the run (a smaller window, less load)"
    );
    assert_eq!(
        message(Limits {
            memory: Some(Bytes::from_mb(2)),
            ..Limits::default()
        }),
        "the run passed its bound of 2 MB of memory: it stopped at 5 us after 1000 events with 3 \
        MB \
         of memory in use; raise the bound, or lower the offered load: queues grow without end \
         past saturation"
    );
}
