//! # The thread processor
//!
//! One thread has the processor at a time, until it waits; the others take turns.
//! [`crate::thread`] describes threads and their abilities.

use kernel::Signal;
use std::collections::VecDeque;
use units::Time;

/// One adapter's thread processor.
#[derive(Default)]
pub(crate) struct ThreadProcessor {
    /// Whether a thread runs.
    taken: bool,
    /// Threads that are ready, in the order in which they became so.
    ready: VecDeque<Signal>,
    /// Time in which the processor has worked.
    busy: Time,
}

impl ThreadProcessor {
    /// A thread is ready. It has the processor now, or must wait for the returned signal.
    pub fn take(&mut self) -> Option<Signal> {
        if !std::mem::replace(&mut self.taken, true) {
            return None;
        }
        let turn = Signal::new();
        self.ready.push_back(turn.clone());
        Some(turn)
    }

    /// A thread that is ready gives its place up.
    pub fn leave(&mut self, turn: &Signal) {
        self.ready.retain(|other| !other.is(turn));
    }

    /// The thread that runs gives the processor to the next.
    pub fn release(&mut self) -> Option<Signal> {
        let next = self.ready.pop_front();
        self.taken = next.is_some();
        next
    }

    /// The thread that runs works for a time.
    pub fn work(&mut self, time: Time) {
        self.busy += time;
    }

    /// Time in which the processor has worked so far.
    pub fn busy(&self) -> Time {
        self.busy
    }
}
