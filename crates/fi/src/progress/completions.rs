//! Where the ends of operations are reported: completion queues, with the ended operation and its
//! outcome, and counters, with the count.

use crate::abi::entries::{FiCqErrEntry, FiCqTaggedEntry};
use std::collections::VecDeque;

/// Where an operation's end is reported. Queues and counters are numbered in the order in which
/// they were opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Binding {
    /// The queue, which receives at least the failures.
    pub queue: Option<usize>,
    /// Whether the queue receives only failures.
    pub quiet: bool,
    pub counter: Option<usize>,
}

/// A queue item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// An operation is done; the number is its peer's rank.
    Done(FiCqTaggedEntry, u64),
    Failed(FiCqErrEntry),
}

#[derive(Debug, Default)]
struct Counter {
    done: u64,
    failed: u64,
    /// The value that the program saw at its last look.
    shown: Option<u64>,
    /// How many operations under way the counter has still to count.
    under_way: u64,
}

/// All queues and counters.
#[derive(Debug, Default)]
pub struct Completions {
    queues: Vec<VecDeque<Completion>>,
    counters: Vec<Counter>,
}

impl Completions {
    /// Opens a queue.
    pub fn new_queue(&mut self) -> usize {
        self.queues.push(VecDeque::new());
        self.queues.len() - 1
    }

    /// Opens a counter.
    pub fn new_counter(&mut self) -> usize {
        self.counters.push(Counter::default());
        self.counters.len() - 1
    }

    /// An operation has begun.
    pub fn begin(&mut self, binding: Binding) {
        if let Some(counter) = binding.counter {
            self.counters[counter].under_way += 1;
        }
    }

    /// An operation is done.
    pub fn done(&mut self, binding: Binding, entry: FiCqTaggedEntry, source: u64) {
        if let Some(counter) = binding.counter {
            let counter = &mut self.counters[counter];
            counter.done += 1;
            counter.under_way = counter.under_way.saturating_sub(1);
        }
        if let (Some(queue), false) = (binding.queue, binding.quiet) {
            self.queues[queue].push_back(Completion::Done(entry, source));
        }
    }

    /// An operation has failed.
    pub fn failed(&mut self, binding: Binding, error: FiCqErrEntry) {
        if let Some(counter) = binding.counter {
            let counter = &mut self.counters[counter];
            counter.failed += 1;
            counter.under_way = counter.under_way.saturating_sub(1);
        }
        if let Some(queue) = binding.queue {
            self.queues[queue].push_back(Completion::Failed(error));
        }
    }

    /// A queue's first item.
    pub fn first(&self, queue: usize) -> Option<Completion> {
        self.queues[queue].front().copied()
    }

    /// Takes the first item away.
    pub fn take(&mut self, queue: usize) {
        self.queues[queue].pop_front();
    }

    /// How many operations are done and have failed.
    pub fn count(&self, counter: usize) -> (u64, u64) {
        let counter = &self.counters[counter];
        (counter.done, counter.failed)
    }

    /// Sets a counter.
    pub fn set(&mut self, counter: usize, done: u64) {
        self.counters[counter].done = done;
    }

    /// Whether a program that looks at a counter waits: it saw the same value before, and
    /// operations may still change it.
    pub fn looks_again(&mut self, counter: usize) -> bool {
        let counter = &mut self.counters[counter];
        counter.under_way > 0 && counter.shown == Some(counter.done)
    }

    /// Records the counter value that the program has seen, and returns it.
    pub fn show(&mut self, counter: usize) -> u64 {
        let counter = &mut self.counters[counter];
        counter.shown = Some(counter.done);
        counter.done
    }
}
