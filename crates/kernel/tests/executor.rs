//! The executor: task order, spawning from tasks, wakers that outlive their tasks.

use crate::common;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use common::{Log, Yield};
use kernel::{Executor, Signal, Spawner};
use proptest::prelude::*;

#[test]
fn nothing_runs_before_it_is_told_to() {
    let (mut executor, log) = (Executor::new(), Log::default());
    let task = log.clone();
    executor.spawn("task", async move { task.add("ran") });
    assert_eq!(log.take(), [""; 0]);
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["ran"]);
    assert_eq!(executor.unfinished_count(), 0);
}

#[test]
fn a_spawned_task_runs_after_those_that_are_ready() {
    let (mut executor, log) = (Executor::new(), Log::default());
    let (spawner, parent, child) = (executor.spawner(), log.clone(), log.clone());
    executor.spawn("parent", async move {
        let grandchildren = spawner.clone();
        spawner.spawn("child", async move {
            child.add("child");
            let log = child.clone();
            grandchildren.spawn("grandchild", async move { log.add("grandchild") });
        });
        parent.add("parent");
        Yield::default().await;
        parent.add("parent again");
    });
    let sibling = log.clone();
    executor.spawn("sibling", async move { sibling.add("sibling") });
    executor.run_ready().unwrap();
    assert_eq!(
        log.take(),
        ["parent", "sibling", "child", "parent again", "grandchild"]
    );
}

#[test]
fn a_task_that_a_task_spawned_is_unfinished_and_a_background_task_is_not() {
    let mut executor = Executor::new();
    let spawner = executor.spawner();
    executor.spawn("parent", async move {
        spawner.spawn("child", pending());
        spawner.spawn_background("servant", pending());
    });
    executor.run_ready().unwrap();
    assert_eq!(executor.unfinished(), ["child"]);
    assert_eq!(executor.unfinished_count(), 1);
}

#[test]
fn unfinished_tasks_are_named_in_the_order_of_spawning() {
    let mut executor = Executor::new();
    let ids = [
        executor.spawn("short", async {}),
        executor.spawn("first", pending()),
    ];
    executor.run_ready().unwrap();
    // Takes the place of `short`, before `first`.
    let last = executor.spawn(String::from("second"), pending());
    assert_eq!(executor.unfinished(), ["first", "second"]);
    assert_eq!(executor.unfinished_count(), 2);
    assert!(ids[0] < ids[1] && ids[1] < last);
    assert_eq!(
        format!("{executor:?}"),
        r#"Executor { unfinished: ["first", "second"] }"#
    );
}

/// Leaves its waker behind and waits for ever.
async fn leave_waker(shelf: Rc<RefCell<Option<Waker>>>, polls: Rc<Cell<u32>>) {
    poll_fn(|context| {
        polls.set(polls.get() + 1);
        shelf.replace(Some(context.waker().clone()));
        Poll::<()>::Pending
    })
    .await;
}

#[test]
fn a_waker_of_a_finished_task_wakes_nobody() {
    let mut executor = Executor::new();
    let shelf = Rc::new(RefCell::new(None));
    let stale = Rc::clone(&shelf);
    executor.spawn(
        "finished",
        poll_fn(move |context| {
            stale.replace(Some(context.waker().clone()));
            Poll::Ready(())
        }),
    );
    executor.run_ready().unwrap();
    let stale = shelf.take().unwrap();

    let polls = Rc::new(Cell::new(0));
    executor.spawn(
        "in its place",
        leave_waker(Rc::clone(&shelf), Rc::clone(&polls)),
    );
    executor.run_ready().unwrap();
    stale.wake();
    executor.run_ready().unwrap();
    assert_eq!(polls.get(), 1);
    shelf.take().unwrap().wake();
    executor.run_ready().unwrap();
    assert_eq!(polls.get(), 2);
}

#[test]
fn a_waker_outlives_the_executor() {
    let mut executor = Executor::new();
    let (shelf, polls) = (Rc::new(RefCell::new(None)), Rc::new(Cell::new(0)));
    executor.spawn("task", leave_waker(Rc::clone(&shelf), Rc::clone(&polls)));
    executor.run_ready().unwrap();
    drop(executor);
    assert_eq!(
        Rc::strong_count(&polls),
        1,
        "the task was dropped with its executor"
    );
    shelf.take().unwrap().wake();
}

#[test]
fn a_task_may_wake_and_spawn_as_it_is_dropped() {
    struct Last(Option<Box<dyn FnOnce()>>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.take().unwrap()();
        }
    }
    let (mut executor, log) = (Executor::new(), Log::default());
    let (spawner, signal, end) = (executor.spawner(), Signal::new(), log.clone());
    let (waits, waiter) = (signal.clone(), log.clone());
    executor.spawn("waiter", async move {
        waits.wait().await;
        waiter.add("woken");
    });
    let last = Last(Some(Box::new(move || {
        spawner.spawn("late", async move { end.add("late") });
        signal.fire();
    })));
    executor.spawn("dropped", async move {
        let _last = last;
        Yield::default().await;
    });
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["late", "woken"]);
}

proptest! {
    /// Tasks that each yield a number of times, compared with a queue.
    #[test]
    fn ready_tasks_run_in_turn(yields in prop::collection::vec(0..6_u32, 0..20)) {
        let (mut executor, log) = (Executor::new(), Log::default());
        let mut reference: VecDeque<_> = yields.iter().copied().enumerate().collect();
        for (task, yields) in yields.into_iter().enumerate() {
            let log = log.clone();
            executor.spawn(task.to_string(), async move {
                for left in (0..=yields).rev() {
                    log.add(format!("{task}: {left}"));
                    if left > 0 {
                        Yield::default().await;
                    }
                }
            });
        }
        let mut expected = Vec::new();
        while let Some((task, left)) = reference.pop_front() {
            expected.push(format!("{task}: {left}"));
            if left > 0 {
                reference.push_back((task, left - 1));
            }
        }
        executor.run_ready().unwrap();
        prop_assert_eq!(log.take(), expected);
        prop_assert_eq!(executor.unfinished_count(), 0);
    }
}

/// Waits this many times on a signal that is set.
async fn go_round(times: u64) {
    let signal = Signal::counted(0);
    for _ in 0..times {
        signal.wait().await;
    }
}

/// A wait loop for a set signal keeps its turn: without a bound no other task would run.
#[test]
fn a_turn_without_end_is_a_livelock() {
    let (mut executor, log) = (Executor::new(), Log::default());
    executor.spawn("circle", go_round(u64::MAX));
    let other = log.clone();
    executor.spawn("other", async move { other.add("ran") });
    let livelock = executor.run_ready().unwrap_err();
    assert_eq!(
        livelock.to_string(),
        "circle runs without end, and simulated time stands still"
    );
    assert_eq!(log.take(), [""; 0]);
    executor.run_ready().unwrap();
    assert_eq!(log.take(), ["ran"]);
    assert_eq!(executor.unfinished(), ["circle"]);
}

#[test]
fn tasks_that_keep_each_other_ready_are_a_livelock() {
    let mut executor = Executor::new();
    let balls: [Rc<RefCell<Signal>>; 2] = Default::default();
    balls[0].borrow().fire();
    for (name, own) in [("ping", 0), ("pong", 1)] {
        let balls = balls.clone();
        executor.spawn(name, async move {
            loop {
                let ball = balls[own].borrow().clone();
                ball.wait().await;
                balls[own].replace(Signal::new());
                balls[1 - own].borrow().fire();
            }
        });
    }
    let livelock = executor.run_ready().unwrap_err();
    assert!(["ping", "pong"].contains(&&*livelock.task), "{livelock}");
}

/// Each of these tasks ends, and has spawned the next one.
#[test]
fn tasks_that_spawn_each_other_are_a_livelock() {
    fn generation(spawner: Spawner) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            let child = generation(spawner.clone());
            spawner.spawn("child", child);
        })
    }
    let mut executor = Executor::new();
    executor.spawn("first", generation(executor.spawner()));
    assert_eq!(executor.run_ready().unwrap_err().task, "child");
}

/// Long work in many turns is not a livelock, nor is the work of many tasks at one moment.
#[test]
fn long_work_is_no_livelock() {
    let mut executor = Executor::new();
    executor.spawn("long", async {
        for _ in 0..3 {
            go_round(3_000_000).await;
            Yield::default().await;
        }
    });
    for _ in 0..3_000 {
        executor.spawn("one of many", async {
            for _ in 0..400 {
                Yield::default().await;
            }
        });
    }
    executor.run_ready().unwrap();
    assert_eq!(executor.unfinished_count(), 0);
}
