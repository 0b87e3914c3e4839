use super::{ThreadStart, acted, calls, wait, wakes};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

/// Taken by tests of threads in the table, which is the process's.
pub static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_thread_that_has_started_is_waited_for_until_it_acts() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let stage = AtomicU32::new(0);
    let start = ThreadStart::announced();
    assert!(std::thread::scope(|scope| {
        let ((calls_now, call), (orders, order)) = (mpsc::channel(), mpsc::channel());
        let stage = &stage;
        scope.spawn(move || {
            // The host is slow.
            std::thread::sleep(Duration::from_millis(30));
            start.begins();
            stage.store(1, Ordering::Relaxed);
            calls();
            calls_now.send(()).expect("it waits");
            order.recv().expect("it gives the order");
            acted();
            stage.store(2, Ordering::Relaxed);
        });
        let waits = wait();
        assert_eq!(stage.load(Ordering::Relaxed), 1, "it has begun");
        call.recv().expect("it calls");
        assert!(wait(), "its order is to come");
        orders.send(()).expect("it waits");
        super::wait_for_all();
        assert!(!wait());
        waits
    }));
    ThreadStart::announced().fails();
    assert!(!wait());
}

#[test]
fn a_reader_that_was_late_itself_waits_on() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let start = ThreadStart::announced();
    let (place, _) = start.0.expect("a place is free");
    place.real.store(0, Ordering::Relaxed);
    assert!(
        place.waits().is_some(),
        "its last reading was when the computer started"
    );
    start.fails();
}

#[test]
fn a_thread_that_does_not_act_is_not_waited_for_long() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (begun, begins) = mpsc::channel();
        for computes in [true, false] {
            let (begun, over) = (begun.clone(), &over);
            scope.spawn(move || {
                wakes();
                begun.send(()).expect("it waits");
                while !over.load(Ordering::Relaxed) {
                    if !computes {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
                acted();
            });
            begins.recv().expect("it begins");
            assert!(!wait());
            assert!(!over.load(Ordering::Relaxed), "it still runs");
        }
        over.store(true, Ordering::Relaxed);
    });
    // A thread that has ended acts no more.
    std::thread::spawn(wakes).join().expect("it ends");
    assert!(!wait());
}
