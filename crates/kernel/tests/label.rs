//! Labels, and tasks in the background.

use kernel::{Executor, Label, Signal};
use std::future::pending;

/// A report shows a task's activity behind its name.
#[test]
fn a_label_tells_what_a_task_does() {
    let mut executor = Executor::new();
    let (label, signal) = (Label::new("first"), Signal::new());
    let (own, wait) = (label.clone(), signal.clone());
    executor.spawn(label.clone(), async move {
        own.begin("waits");
        wait.wait().await;
        own.end();
        own.begin("goes on");
        own.begin(format!("waits for {}", "ever"));
        pending::<()>().await;
    });
    assert_eq!(executor.unfinished(), ["first"]);
    executor.run_ready().unwrap();
    assert_eq!(executor.unfinished(), ["first: waits"]);
    signal.fire();
    executor.run_ready().unwrap();
    assert_eq!(executor.unfinished(), ["first: goes on: waits for ever"]);
    label.end();
    assert_eq!(label.text(), "first: goes on");
    assert_eq!(format!("{label:?}"), r#"Label("first: goes on")"#);
}

/// A label made from a literal keeps its text.
#[test]
fn a_literal_stays() {
    let label = Label::from("rank 0");
    label.clone().begin("waits");
    assert_eq!(label.text(), "rank 0");
    assert_eq!(format!("{label:?}"), r#"Label("rank 0")"#);
    let label = Label::from(String::from("rank 0"));
    label.clone().begin("waits");
    assert_eq!(label.text(), "rank 0: waits");
}

/// A background task runs like any other, and never counts as unfinished, whether it ends or not.
#[test]
fn background_tasks_are_not_waited_for() {
    let mut executor = Executor::new();
    let signal = Signal::counted(2);
    let spawner = executor.spawner();
    for ends in [true, false] {
        let signal = signal.clone();
        spawner.spawn_background("serves", async move {
            signal.fire();
            if !ends {
                pending::<()>().await;
            }
        });
    }
    executor.spawn("task", async move { signal.wait().await });
    assert_eq!(
        (executor.unfinished_count(), executor.unfinished()),
        (1, vec!["task".into()])
    );
    executor.run_ready().unwrap();
    assert_eq!(
        (executor.unfinished_count(), executor.unfinished().len()),
        (0, 0)
    );
    // The places of ended tasks are used again.
    executor.spawn("next", pending());
    assert_eq!(executor.unfinished(), ["next"]);
}

#[test]
fn signals_know_each_other() {
    let signal = Signal::new();
    assert!(signal.is(&signal.clone()) && !signal.is(&Signal::new()));
}
