//! Interleavings of threads that keep pace, with the weak memory order that the language allows: no
//! thread sleeps for ever (the model reports a deadlock), and a step's messages are there when the
//! step is done (the model reports a data race).

mod sync {
    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicU64, Ordering};
    pub use loom::sync::{Condvar, Mutex};
    pub use loom::thread::yield_now;
}

#[path = "../src/regions/pace.rs"]
#[allow(dead_code, reason = "the model never looks in vain")]
mod pace;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use pace::Pace;

/// Two threads: in each step, each reads the message that the other wrote in the step before, and
/// writes one. Even and odd steps use different places.
struct Pair {
    pace: Pace,
    messages: [[UnsafeCell<()>; 2]; 2],
}

impl Pair {
    fn step(&self, thread: usize, steps: u64) {
        let side = (steps % 2) as usize;
        self.messages[side][1 - thread].with(|_| ());
        self.messages[1 - side][thread].with_mut(|_| ());
        self.pace.set(thread, steps + 1);
        self.pace.sleep(steps + 1);
    }
}

#[test]
fn threads_keep_pace() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let place = || UnsafeCell::new(());
        let pair = Arc::new(Pair {
            pace: Pace::new(2),
            messages: [[place(), place()], [place(), place()]],
        });
        let other = Arc::clone(&pair);
        let worker = thread::spawn(move || {
            for steps in 0..3 {
                other.step(1, steps);
            }
        });
        for steps in 0..3 {
            pair.step(0, steps);
        }
        worker.join().expect("no thread fails");
    });
}
