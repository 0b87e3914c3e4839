//! The event queue: future events, in a total order.
//!
//! Events are ordered by time, then by a key, then by the order of scheduling. The key belongs to
//! the layer above: it is made of the meaning of the event (which component, which kind), so that
//! simultaneous events happen in an order that the model defines. Only events of the same time and
//! key follow the order of scheduling, which is itself a function of the events before.
//!
//! The queue is a binary heap: scheduling and popping cost O(log n). The queue has no bound of its
//! own; [`Limits`](crate::Limits) bounds the run. Scheduling into the past is a broken invariant
//! and panics.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use units::Time;

/// Future events of type `E`; see the order in the crate's documentation.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    now: Time,
    scheduled: u64,
    popped: u64,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    at: Time,
    key: u64,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    fn order(&self) -> (Time, u64, u64) {
        (self.at, self.key, self.sequence)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl<E> EventQueue<E> {
    /// An empty queue at time zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            now: Time::ZERO,
            scheduled: 0,
            popped: 0,
        }
    }

    /// Lets `event` happen `at` a time that is not before the last popped event's. Of events at the
    /// same time, the event with the smallest `key` is first.
    ///
    /// # Panics
    /// If `at` is in the past.
    pub fn schedule(&mut self, at: Time, key: u64, event: E) {
        let now = self.now;
        assert!(
            at >= now,
            "an event was scheduled at {at}, in the past of {now}"
        );
        let sequence = self.scheduled;
        self.scheduled += 1;
        self.heap.push(Reverse(Entry {
            at,
            key,
            sequence,
            event,
        }));
    }

    /// Takes the next event and its time.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let Reverse(entry) = self.heap.pop()?;
        self.now = entry.at;
        self.popped += 1;
        Some((entry.at, entry.event))
    }

    /// The time of the next event.
    #[must_use]
    pub fn peek_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// The time of the last popped event.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many events were popped: the work done so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.popped
    }

    /// How many events are still to come.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event is to come.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}
