//! The executor: order of tasks, spawning from tasks, wakers that outlive their tasks.

use crate::common;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use common::{Log, Yield};
use kernel::{Executor, Signal};
use proptest::prelude::*;

#[test]
fn nothing_runs_before_it_is_told_to() {
    let (mut executor, log) = (Executor::new(), Log::default());
    let task = log.clone();
    executor.spawn("task", async move { task.add("ran") });
    assert_eq!(log.take(), [""; 0]);
    executor.run_ready();
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
    executor.run_ready();
    assert_eq!(
        log.take(),
        ["parent", "sibling", "child", "parent again", "grandchild"]
    );
}

#[test]
fn unfinished_tasks_are_named_in_the_order_of_spawning() {
    let mut executor = Executor::new();
    let ids = [
        executor.spawn("short", async {}),
        executor.spawn("first", pending()),
    ];
    executor.run_ready();
    // Takes the place of `short`, ahead of `first`.
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
    executor.run_ready();
    let stale = shelf.take().unwrap();

    let polls = Rc::new(Cell::new(0));
    executor.spawn(
        "in its place",
        leave_waker(Rc::clone(&shelf), Rc::clone(&polls)),
    );
    executor.run_ready();
    stale.wake();
    executor.run_ready();
    assert_eq!(polls.get(), 1);
    shelf.take().unwrap().wake();
    executor.run_ready();
    assert_eq!(polls.get(), 2);
}

#[test]
fn a_waker_outlives_the_executor() {
    let mut executor = Executor::new();
    let (shelf, polls) = (Rc::new(RefCell::new(None)), Rc::new(Cell::new(0)));
    executor.spawn("task", leave_waker(Rc::clone(&shelf), Rc::clone(&polls)));
    executor.run_ready();
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
    executor.run_ready();
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
        executor.run_ready();
        prop_assert_eq!(log.take(), expected);
        prop_assert_eq!(executor.unfinished_count(), 0);
    }
}
