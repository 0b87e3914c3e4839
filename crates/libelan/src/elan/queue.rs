//! Queues for small messages between processes, on the adapter's queues.
//!
//! | call | here |
//! |---|---|
//! | `elan_gallocQueue`, `elan_queueRxInit` | [`Elan::queue_rx`] |
//! | `elan_queueTxInit`, `elan_queueTx` | [`Elan::queue_tx`] |
//! | `elan_queueRxPoll`, `elan_queueRxWait`, `elan_queueRxComplete` | [`RxQueue::poll`], [`RxQueue::wait`] |
//! | `elan_queueMaxSlotSize` | [`Elan::queue_max_slot_size`] |
//!
//! One process's messages arrive in call order. If a queue is full, its senders try again.
//!
//! The adapter keeps this order among messages that it sends. On a machine with several rails a
//! message takes a detour after its rail has failed, which the adapter does not see. So a message
//! goes on its detour when all earlier ones to the same queue are over, and a message is not posted
//! while an earlier one is on a detour, or was posted before the rail last failed or returned
//! ([`Line`]).

use super::Elan;
use super::remote::Remote;
use crate::elan3::AllocError;
use elan::{Action, ElanAddr, EventId, Node, ProcessId, ProcessQueueId};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use thiserror::Error;
use units::Bytes;

/// Why a queue cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QueueError {
    /// There is no room for the queue's slots.
    #[error(transparent)]
    Memory(#[from] AllocError),
    /// The queue has no slots, or their length is out of range.
    #[error("a queue has slots, of 1 B to {longest}; not {slots} of {slot}")]
    Shape {
        /// How many slots were wanted.
        slots: u32,
        /// The length that was wanted.
        slot: Bytes,
        /// The longest possible slot.
        longest: Bytes,
    },
}

/// One of this process's queues (`ELAN_QUEUE_RX`).
pub struct RxQueue {
    elan: Elan,
    queue: ProcessQueueId,
    event: EventId,
}

/// A process's messages to queues under way on a machine with several rails, in call order.
#[derive(Default)]
pub(super) struct Line {
    messages: RefCell<Vec<Rc<QueuedMessage>>>,
}

/// A message in line.
pub(super) struct QueuedMessage {
    queue: (ProcessId, ElanAddr),
    /// The home rail's state when the message was posted; `None` before, and on a detour.
    posted: Cell<Option<RailState>>,
    over: Signal,
}

/// How often a rail has failed, and whether it is down now.
type RailState = (u32, bool);

fn state(home: &Node) -> RailState {
    (home.failures(), home.is_down())
}

impl QueuedMessage {
    /// The message has been posted.
    pub fn is_posted(&self, home: &Node) {
        self.posted.set(Some(state(home)));
    }

    /// The message takes a detour.
    pub fn takes_detour(&self) {
        self.posted.set(None);
    }
}

impl Line {
    /// The process's next message is for a queue.
    pub fn join(&self, vp: ProcessId, queue: ElanAddr) -> Rc<QueuedMessage> {
        let message = Rc::new(QueuedMessage {
            queue: (vp, queue),
            posted: Cell::new(None),
            over: Signal::new(),
        });
        self.messages.borrow_mut().push(Rc::clone(&message));
        message
    }

    /// An earlier message to the same queue for which a condition holds.
    fn earlier(
        &self,
        message: &Rc<QueuedMessage>,
        holds: impl Fn(&QueuedMessage) -> bool,
    ) -> Option<Signal> {
        let messages = self.messages.borrow();
        let mut earlier = messages.iter().take_while(|one| !Rc::ptr_eq(one, message));
        let found = earlier.find(|one| one.queue == message.queue && holds(one));
        found.map(|one| one.over.clone())
    }

    /// Whether a message may be posted immediately: the adapter keeps it behind the earlier ones.
    pub fn may_be_posted(&self, message: &Rc<QueuedMessage>, home: &Node) -> bool {
        let now = Some(state(home));
        self.earlier(message, |one| one.posted.get() != now)
            .is_none()
    }

    /// Waits until all earlier messages to the same queue are over.
    pub async fn is_first(&self, message: &Rc<QueuedMessage>) {
        while let Some(over) = self.earlier(message, |_| true) {
            over.wait().await;
        }
    }

    /// A message is over.
    pub fn leave(&self, message: &Rc<QueuedMessage>) {
        let mut messages = self.messages.borrow_mut();
        messages.retain(|one| !Rc::ptr_eq(one, message));
        message.over.fire();
    }
}

impl Elan {
    /// Makes a queue with so many slots, in global adapter memory. Where all processes make the
    /// same calls, each has its queue at the same address.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn queue_rx(&self, slots: u32, slot: Bytes) -> Result<RxQueue, QueueError> {
        let longest = self.queue_max_slot_size();
        if slots == 0 || slot.is_zero() || slot > longest {
            return Err(QueueError::Shape {
                slots,
                slot,
                longest,
            });
        }
        let place = elan::memory::EVENT_BLOCK;
        let at = self.galloc_elan(64, slot * u64::from(slots))?;
        let event = self.galloc_elan(64, place)?;
        let node = self.node();
        let event = node.event_at(event, 1, Action::Copy);
        let event = event.expect("it is adapter memory");
        let queue = node.queue_at(at, slots, slot, Some(event));
        Ok(RxQueue {
            elan: self.clone(),
            queue: queue.expect("it is adapter memory"),
            event,
        })
    }

    /// The longest slot that a queue may have.
    pub fn queue_max_slot_size(&self) -> Bytes {
        self.node().config().packet.payload
    }

    /// Sends `size` bytes to a process's queue at an address. The operation is over when the queue
    /// has the bytes.
    pub fn queue_tx(&self, vp: ProcessId, queue: ElanAddr, from: ElanAddr, size: Bytes) -> Remote {
        self.put_message(vp, queue, from, size)
    }
}

impl RxQueue {
    /// The address by which other processes send to the queue.
    pub fn at(&self) -> ElanAddr {
        self.queue.start().elan
    }

    /// Messages in the queue.
    pub fn len(&self) -> usize {
        self.elan.node().queue_len(self.queue)
    }

    /// Whether there is no message in the queue.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all slots are taken: by messages, or by one that the process still reads.
    pub fn is_full(&self) -> bool {
        self.elan.node().queue_is_full(self.queue)
    }

    /// Takes the first message, if there is one.
    pub async fn poll(&self) -> Option<Box<[u8]>> {
        self.elan.node().take(self.queue).await
    }

    /// Waits until there are more unread messages than `known`, which may change meanwhile.
    pub async fn arrived(&self, known: impl Fn() -> usize) {
        let node = self.elan.node();
        while self.len() <= known() {
            node.prime(self.event, 1);
            if self.len() <= known() {
                node.wait_by(self.event, self.elan.waits()).await;
            }
        }
    }

    /// Reads the first message, if there is one; its slot stays taken until
    /// [`complete`](Self::complete).
    pub async fn read(&self) -> Option<Box<[u8]>> {
        self.elan.node().read_message(self.queue).await
    }

    /// Frees the slot of the first message that has been read (`elan_queueRxComplete`).
    pub fn complete(&self) {
        self.elan.node().free_slot(self.queue);
    }

    /// Waits for a message and takes it.
    pub async fn wait(&self) -> Box<[u8]> {
        let node = self.elan.node();
        loop {
            if let Some(message) = self.poll().await {
                return message;
            }
            node.prime(self.event, 1);
            if node.queue_len(self.queue) == 0 {
                let what = "a message in a queue";
                let wait = node.wait_by(self.event, self.elan.waits());
                self.elan.waiting(what, wait).await;
            }
        }
    }
}
