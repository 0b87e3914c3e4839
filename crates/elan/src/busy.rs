//! # What an adapter is busy with, and what its node knows of that
//!
//! An adapter's state is known at its node only when the adapter has written it down, some time after it has changed (coll2003
//! s3: "The state is updated by the NICs"). [`Busy`] counts what the adapter works on, and remembers the changes that its
//! node does not know yet.

use std::collections::VecDeque;
use units::Time;

/// Whether an adapter is busy, now and as its node knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Busy {
    /// What the adapter works on.
    count: u32,
    /// From a change until the node knows of it.
    lag: Time,
    /// When the adapter has become busy or free, in turn, oldest first: at least the changes of the last `lag`.
    changes: VecDeque<Time>,
}

impl Busy {
    /// An adapter that is free, whose node knows of each change after `lag`.
    pub fn new(lag: Time) -> Self {
        Busy {
            lag,
            ..Busy::default()
        }
    }

    /// The adapter has something more to work on.
    pub fn begin(&mut self, now: Time) {
        self.count += 1;
        if self.count == 1 {
            self.changed(now);
        }
    }

    /// The adapter has finished something.
    pub fn end(&mut self, now: Time) {
        self.count -= 1;
        if self.count == 0 {
            self.changed(now);
        }
    }

    /// Whether the adapter is busy now.
    pub fn is_busy(&self) -> bool {
        self.count > 0
    }

    /// Whether the adapter was busy `lag` ago, which is what its node knows now.
    pub fn was_busy(&self, now: Time) -> bool {
        let unknown = self.changes.iter().filter(|&&at| at + self.lag > now);
        self.is_busy() ^ (unknown.count() % 2 == 1)
    }

    fn changed(&mut self, now: Time) {
        if self.lag == Time::ZERO {
            return;
        }
        while self.changes.front().is_some_and(|&at| at + self.lag <= now) {
            self.changes.pop_front();
        }
        self.changes.push_back(now);
    }
}

#[cfg(test)]
mod tests;
