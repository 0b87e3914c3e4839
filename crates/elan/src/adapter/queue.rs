//! # Queues for small messages (public Elan3 headers)
//!
//! A process keeps a *queue* in its adapter's memory: some slots, each for one message of up to a
//! packet's payload. Other processes send to the queue with [`crate::Dma::queue`], without knowing
//! which slot their message will take. A message that finds all slots taken is *discarded*, and its
//! sender tries again as with any packet: no message is lost. An adapter has one message to a queue
//! under way at a time and holds back the next ones, so one sender's messages arrive in posting
//! order. With each arrival the queue's event occurs. The consumer, a thread or the process, takes
//! the messages in order of arrival.
//!
//! On the wire such a message has its blocks and one more transaction, without payload, which
//! claims the slot.

use crate::Place;
use crate::memory::{Address, EventId, QueueNumber};
use kernel::Signal;
use std::collections::VecDeque;
use units::Bytes;

/// One process's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessQueueId {
    pub(crate) node: Place,
    pub(crate) index: QueueNumber,
    pub(crate) at: Address,
}

impl ProcessQueueId {
    /// Where the queue's first slot lies: the address that senders need.
    pub fn start(self) -> Address {
        self.at
    }
}

/// A queue as the adapter sees it.
pub(crate) struct Queue {
    slot: Bytes,
    count: usize,
    event: Option<EventId>,
    messages: VecDeque<Box<[u8]>>,
    /// Messages that a process is reading across the bus: their slots are still taken.
    reading: usize,
    /// The signal that threads wait for.
    arrived: Signal,
}

impl Queue {
    /// An empty queue with `count` slots of `slot` bytes; `event` occurs with each message.
    pub fn new(count: u32, slot: Bytes, event: Option<EventId>) -> Self {
        Queue {
            slot,
            count: count as usize,
            event,
            messages: VecDeque::new(),
            reading: 0,
            arrived: Signal::new(),
        }
    }

    /// Whether a slot is free.
    pub fn has_room(&self) -> bool {
        self.messages.len() + self.reading < self.count
    }

    /// The longest message.
    pub fn slot(&self) -> Bytes {
        self.slot
    }

    /// Messages in the queue.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// A message comes in; [`Queue::arrive`] follows when the adapter has named the event.
    pub fn push(&mut self, message: Box<[u8]>) {
        self.messages.push_back(message);
    }

    /// Notifies threads of a message, and returns the event that occurs with it.
    pub fn arrive(&self) -> Option<EventId> {
        self.arrived.fire();
        self.event
    }

    /// A thread takes the first message.
    pub fn take(&mut self) -> Option<Box<[u8]>> {
        let message = self.messages.pop_front();
        if self.messages.is_empty() {
            self.arrived.reset();
        }
        message
    }

    /// A process takes the first message: the process reads it across the bus, until
    /// [`Queue::end_read`].
    pub fn start_read(&mut self) -> Option<Box<[u8]>> {
        let message = self.messages.pop_front()?;
        self.reading += 1;
        Some(message)
    }

    /// A process has read a message: its slot is free.
    pub fn end_read(&mut self) {
        self.reading -= 1;
    }

    /// Drops all messages.
    pub fn clear(&mut self) {
        self.messages.clear();
    }

    /// The signal that is fired when the next message comes into the empty queue.
    pub fn arrival(&self) -> Signal {
        if self.messages.is_empty() {
            self.arrived.reset();
        }
        self.arrived.clone()
    }
}
