//! Signals: counts, resets, and wake order.

use crate::common;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use common::{Log, Yield};
use kernel::{Executor, Signal, Spares};
use proptest::prelude::*;

/// A task that waits for `signal` and logs it.
fn waiter(executor: &Executor, log: &Log, name: &'static str, signal: &Signal) {
    let (log, signal, entry) = (log.clone(), signal.clone(), name.to_owned());
    executor.spawn(name, async move {
        signal.wait().await;
        log.add(entry);
    });
}

#[test]
fn who_waits_continues_when_it_is_set_and_at_once_after() {
    let (mut executor, log, signal) = (Executor::new(), Log::default(), Signal::new());
    waiter(&executor, &log, "before", &signal);
    executor.run_ready().unwrap();
    assert_eq!(log.take(), [""; 0]);
    signal.fire();
    assert!(signal.is_set());
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["before"]);
    waiter(&executor, &log, "after", &signal);
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["after"]);
}

#[test]
fn a_counted_signal_needs_all_its_firings() {
    let (mut executor, log, signal) = (Executor::new(), Log::default(), Signal::counted(3));
    waiter(&executor, &log, "waiter", &signal);
    for left in [2, 1] {
        signal.fire();
        executor.run_ready().unwrap();
        assert_eq!((signal.remaining(), log.take().len()), (left, 0));
    }
    signal.fire();
    signal.fire();
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["waiter"]);
    signal.reset();
    assert_eq!(signal.remaining(), 3);
    assert!(Signal::counted(0).is_set());
}

#[test]
fn a_reset_does_not_take_a_firing_from_who_waited_for_it() {
    let (mut executor, log, signal) = (Executor::new(), Log::default(), Signal::new());
    waiter(&executor, &log, "early", &signal);
    executor.run_ready().unwrap();
    signal.fire();
    signal.reset();
    waiter(&executor, &log, "late", &signal);
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["early"]);
    assert_eq!(executor.unfinished(), ["late"]);
}

#[test]
fn a_wait_that_is_given_up_leaves_nothing_behind() {
    let (mut executor, log, signal) = (Executor::new(), Log::default(), Signal::new());
    let (given_up, end) = (signal.clone(), log.clone());
    executor.spawn("impatient", async move {
        let mut wait = pin!(given_up.wait());
        poll_fn(|context| {
            assert!(wait.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        end.add("gave up");
    });
    executor.run_ready().unwrap();
    assert_eq!(format!("{signal:?}"), "Signal { remaining: 1, waiters: 0 }");
    signal.fire();
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["gave up"]);
}

/// The first waiter among four gives up, and the others keep their order.
#[test]
fn waiters_keep_their_order_behind_one_that_gives_up() {
    let (mut executor, log, signal) = (Executor::new(), Log::default(), Signal::new());
    let (impatient, nudge) = (signal.clone(), Signal::new());
    let nudged = nudge.clone();
    executor.spawn("impatient", async move {
        let (mut wait, mut enough) = (pin!(impatient.wait()), pin!(nudged.wait()));
        poll_fn(|context| {
            assert!(wait.as_mut().poll(context).is_pending());
            enough.as_mut().poll(context)
        })
        .await;
    });
    for name in ["second", "third", "fourth"] {
        waiter(&executor, &log, name, &signal);
    }
    executor.run_ready().unwrap();
    nudge.fire();
    executor.run_ready().unwrap();
    assert_eq!(format!("{signal:?}"), "Signal { remaining: 1, waiters: 3 }");
    signal.fire();
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["second", "third", "fourth"]);
}

#[test]
fn being_polled_again_keeps_the_place_in_the_order() {
    let (mut executor, log, signal) = (Executor::new(), Log::default(), Signal::new());
    let (both, first, nudge) = (signal.clone(), log.clone(), Signal::new());
    let nudged = nudge.clone();
    // Waits for two signals together, as a combinator does: polls both whenever either wakes.
    executor.spawn("first", async move {
        let (mut wait, mut other) = (pin!(both.wait()), pin!(nudged.wait()));
        poll_fn(|context| {
            let _ = other.as_mut().poll(context);
            wait.as_mut().poll(context)
        })
        .await;
        first.add("first");
    });
    waiter(&executor, &log, "second", &signal);
    executor.run_ready().unwrap();
    nudge.fire();
    executor.run_ready().unwrap();
    signal.fire();
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["first", "second"]);
}

proptest! {
    /// Waiters begin to wait after a number of turns each; the longest wait is woken first.
    #[test]
    fn waiters_wake_in_the_order_of_waiting(
        waiters in prop::collection::vec((0..4_usize, 0..5_usize), 0..30),
        firings in Just((0..4_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let (mut executor, log) = (Executor::new(), Log::default());
        let signals: Vec<_> = firings.iter().map(|_| Signal::new()).collect();
        for (number, &(signal, turns)) in waiters.iter().enumerate() {
            let (log, signal) = (log.clone(), signals[signal].clone());
            executor.spawn(number.to_string(), async move {
                for _ in 0..turns {
                    Yield::default().await;
                }
                signal.wait().await;
                log.add(number.to_string());
            });
        }
        executor.run_ready().unwrap();
        let mut expected = Vec::new();
        for &signal in &firings {
            signals[signal].fire();
            let mut woken: Vec<_> = (0..waiters.len())
                .filter(|&n| waiters[n].0 == signal)
                .collect();
            woken.sort_by_key(|&number| (waiters[number].1, number));
            expected.extend(woken.iter().map(usize::to_string));
        }
        executor.run_ready().unwrap();
        prop_assert_eq!(log.take(), expected);
        prop_assert!(executor.unfinished().is_empty());
    }
}

/// A signal that is still held is left to its holder; another one serves again, as good as new.
#[test]
fn only_a_signal_that_nobody_holds_serves_again() {
    let mut spares = Spares::default();
    let first = spares.take();
    first.fire();
    spares.keep(first.clone());
    let second = spares.take();
    assert!(!second.is(&first) && !second.is_set());

    second.fire();
    spares.keep(second);
    let third = spares.take();
    assert!(!third.is_set());
    let (mut executor, log) = (Executor::new(), Log::default());
    waiter(&executor, &log, "waiter", &third);
    executor.run_ready().unwrap();
    third.fire();
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["waiter"]);

    // One firing sets a spare signal, at any count in its first life.
    spares.keep(Signal::counted(3));
    let fourth = spares.take();
    assert_eq!(fourth.remaining(), 1);
    fourth.fire();
    fourth.reset();
    assert_eq!(fourth.remaining(), 1);
}
