use super::{ThreadStart, acted, calls, gives_way, goes_on, is_any, looks, progressed, rests};
use super::{stepped, wait, wait_for_all, wakes};
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
            calls(false);
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
        wait_for_all();
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
    start.0.expect("a place is free").set_last_reading(0);
    assert!(is_any(), "its last reading was when the computer started");
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

/// Another thread, in which MPI is called, too.
struct Beside {
    give: mpsc::Sender<fn()>,
    over: mpsc::Receiver<()>,
}

impl Beside {
    /// Runs a test with such a thread.
    fn with(test: impl FnOnce(&Beside)) {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        std::thread::scope(|scope| {
            let (give, given) = mpsc::channel::<fn()>();
            let (done, over) = mpsc::channel();
            scope.spawn(move || {
                for act in given {
                    act();
                    done.send(()).expect("the test waits");
                }
            });
            test(&Beside { give, over });
        });
        wait_for_all(); // until it has ended
    }

    fn begins(&self, act: fn()) {
        self.give.send(act).expect("the thread runs");
    }

    fn ends(&self) {
        self.over.recv().expect("it does what it is told");
    }

    fn does(&self, act: fn()) {
        self.begins(act);
        self.ends();
    }
}

#[test]
fn a_thread_in_a_call_that_blocks_looks_after_each_event() {
    Beside::with(|thread| {
        thread.does(|| calls(true));
        assert!(wait(), "it has not looked");
        thread.does(|| looks(true));
        assert!(!wait());
        stepped();
        assert!(!wait(), "it waits for no time");
        progressed();
        assert!(wait(), "the event may be its own");
        thread.does(|| looks(true));
        assert!(!wait());
        thread.does(goes_on);
        assert!(!wait(), "it is blocked outside calls");
        thread.does(|| calls(true));
        assert!(wait(), "it has not looked in this call");
    });
}

#[test]
fn a_thread_that_only_looks_does_so_twice_and_after_each_step() {
    Beside::with(|thread| {
        thread.does(|| calls(true));
        thread.does(|| looks(false));
        assert!(wait(), "it may do something else");
        thread.does(|| looks(false));
        assert!(!wait());
        thread.does(goes_on);
        thread.does(|| calls(true));
        assert!(!wait(), "in another call, too");
        stepped();
        assert!(wait(), "it may wait for a time");
        thread.does(|| looks(false));
        assert!(!wait());
        progressed();
        thread.does(|| looks(false));
        assert!(wait());
    });
}

#[test]
fn a_thread_that_waits_for_another_is_about_to_act_when_woken() {
    static WOKEN: AtomicBool = AtomicBool::new(false);
    static SEEN: AtomicBool = AtomicBool::new(false);
    for in_call in [false, true] {
        Beside::with(|thread| {
            thread.does(|| calls(true));
            if in_call {
                thread.does(|| {
                    rests(true);
                });
            } else {
                thread.does(|| {
                    rests(false);
                });
            }
            while is_any() {} // until it is blocked
            thread.begins(|| {
                WOKEN.store(true, Ordering::Release);
                while !SEEN.load(Ordering::Acquire) {
                    std::hint::spin_loop();
                }
            });
            while !WOKEN.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            assert!(is_any(), "it runs");
            SEEN.store(true, Ordering::Release);
            thread.ends();
            for flag in [&WOKEN, &SEEN] {
                flag.store(false, Ordering::Release);
            }
        });
    }
}

#[test]
fn a_thread_that_gives_way_again_and_again_only_looks() {
    static SEEN: AtomicBool = AtomicBool::new(false);
    let (said, yields) = mpsc::channel();
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            goes_on();
            said.send(()).expect("the test waits");
            gives_way(false);
            gives_way(false);
            said.send(()).expect("the test waits");
            while !SEEN.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
        });
        yields.recv().expect("it runs");
        yields.recv().expect("it has given way twice");
        assert!(!is_any(), "it runs on, but waits");
        progressed();
        assert!(is_any(), "the event may be its own");
        SEEN.store(true, Ordering::Release);
    });
    wait_for_all(); // until it has ended
}

#[test]
fn threads_that_look_in_turns_do_not_keep_time_for_ever() {
    Beside::with(|thread| {
        thread.does(|| calls(true));
        assert!(wait());
        super::SINCE.store(1, Ordering::Relaxed);
        assert!(!wait(), "since the computer started");
        progressed();
        assert!(wait());
    });
}

#[test]
fn places_of_threads_that_have_ended_are_free_again() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..200 {
        let thread = std::thread::spawn(|| {
            calls(true);
            looks(false);
            looks(false);
            super::is_caller()
        });
        assert!(thread.join().expect("it ends"));
    }
}
