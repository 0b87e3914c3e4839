//! A rank's sleep in simulated time.
//!
//! A rank with one thread gives its turn away until the sleep's end. Beside other threads that may
//! call MPI, a sleeping thread takes no part in their orders: time goes on from event to event, by
//! their looks or by the sleeping thread, and none of them steps over the sleep's end.

use super::{HOLDS, LEFT, Session};
use crate::sleepers::{self, Sleeper};
use crate::{pending, system, thread};
use link::{Patience, RankWait};
use std::sync::atomic::Ordering;

impl Session {
    /// Sleeps until a moment. A signal's handler that interrupts the provider's work does not
    /// sleep.
    pub fn sleep_until(&self, until: u64) {
        if HOLDS.get() {
            return;
        }
        if thread::outside() && thread::several_threads() && pending::is_caller() {
            return self.sleep_beside(until);
        }
        let mut state = self.lock();
        if LEFT.load(Ordering::Relaxed) {
            self.now.fetch_max(until, Ordering::AcqRel);
        } else if self.now() < until {
            self.wait(&mut state, RankWait::Sleep { until });
            self.slept.store(true, Ordering::Relaxed);
        }
    }

    /// Sleeps until a moment, beside threads that may call MPI. One of these may wait for the sleep
    /// with the lock.
    fn sleep_beside(&self, until: u64) {
        let sleeper = Sleeper::until(until);
        while self.now() < until && !LEFT.load(Ordering::Relaxed) {
            if !self.sleep_on(until) {
                system::nap(sleepers::SLICE / 20);
            } else if self.now() < until {
                sleepers::wake(self.now());
            }
        }
        drop(sleeper);
        if LEFT.load(Ordering::Relaxed) {
            self.now.fetch_max(until, Ordering::AcqRel);
        }
    }

    /// Lets time go on to a moment, or to the next event. Returns whether it has: it stands while
    /// another thread is about to act, or has or wants the lock.
    fn sleep_on(&self, until: u64) -> bool {
        let is_free = |_: &_| !pending::wait() && !self.is_wanted();
        let Some(mut state) = self.try_lock().filter(is_free) else {
            return false;
        };
        let now = self.now();
        let until = sleepers::cut(now, now, until);
        let is_alone = thread::in_calls() == 0;
        let wait = if is_alone {
            RankWait::Sleep { until }
        } else {
            RankWait::Report(Patience {
                guessed: thread::others_have_called(),
                ..Patience::until(until)
            })
        };
        self.wait(&mut state, wait);
        self.slept.fetch_or(is_alone, Ordering::Relaxed);
        pending::stepped();
        true
    }
}
