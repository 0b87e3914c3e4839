//! # An adapter's messages, and its status as its node knows it
//!
//! An adapter's status is known at its node only when the adapter has written it down, some time
//! after it has changed (coll2003 s3: "The state is updated by the NICs"). [`AdapterLoad`] counts
//! the messages that the adapter sends and receives, and remembers status changes that its node
//! does not know yet. The status is either exact, or one bit that every beginning sets and every
//! end clears ([`Status`]).

use crate::config::rails::Status;
use std::collections::VecDeque;
use units::Time;

/// An adapter's messages, and its status as its node knows it.
#[derive(Clone, Debug)]
pub(crate) struct AdapterLoad {
    /// Messages that the adapter sends.
    sending: u32,
    /// Messages that have arrived in part.
    receiving: u32,
    status: Status,
    /// From a change until the node knows it.
    lag: Time,
    /// The status that the node knew before the changes.
    known: bool,
    /// Status changes, oldest first: at least those within the last `lag`.
    changes: VecDeque<(Time, bool)>,
}

impl AdapterLoad {
    /// A free adapter; its node knows each change after `lag`.
    pub fn new(status: Status, lag: Time) -> Self {
        AdapterLoad {
            sending: 0,
            receiving: 0,
            status,
            lag,
            known: false,
            changes: VecDeque::new(),
        }
    }

    /// The adapter sends another message.
    pub fn begin_sending(&mut self, now: Time) {
        self.sending += 1;
        self.begins(now);
    }

    /// The adapter has sent a message.
    pub fn end_sending(&mut self, now: Time) {
        self.sending -= 1;
        self.ends(now);
    }

    /// The adapter receives another message.
    pub fn begin_receiving(&mut self, now: Time) {
        self.receiving += 1;
        self.begins(now);
    }

    /// The adapter has received a message.
    pub fn end_receiving(&mut self, now: Time) {
        self.receiving -= 1;
        self.ends(now);
    }

    /// Whether the adapter receives now.
    pub fn is_receiving(&self) -> bool {
        self.receiving > 0
    }

    /// The status `lag` ago, which the node knows now: whether the adapter was busy.
    pub fn was_busy(&self, now: Time) -> bool {
        let known = self
            .changes
            .iter()
            .rev()
            .find(|(at, _)| *at + self.lag <= now);
        known.map_or(self.known, |&(_, busy)| busy)
    }

    fn begins(&mut self, now: Time) {
        if self.status == Status::Bit || self.sending + self.receiving == 1 {
            self.changed(now, true);
        }
    }

    fn ends(&mut self, now: Time) {
        if self.status == Status::Bit || self.sending + self.receiving == 0 {
            self.changed(now, false);
        }
    }

    fn changed(&mut self, now: Time, busy: bool) {
        while let Some(&(at, known)) = self.changes.front()
            && at + self.lag <= now
        {
            self.known = known;
            self.changes.pop_front();
        }
        if self.lag == Time::ZERO {
            self.known = busy;
        } else {
            self.changes.push_back((now, busy));
        }
    }
}

#[cfg(test)]
mod tests;
