//! # Remote DMAs: descriptors
//!
//! A descriptor means "move these bytes there". One end lies in the posting process's memory: a
//! *put*'s source, a *get*'s destination, which the other end's adapter executes
//! ([`crate::adapter::gets`]). A *queue* DMA puts one message into a queue
//! ([`crate::adapter::queue`]). The [`crate::adapter::dma_engine`] works on DMAs.
//!
//! A DMA is complete when all its packets are acknowledged. Then its source event is set, which its
//! process awaits.

use crate::faults::Loss;
use crate::memory::{AccessFault, Address, ContextId, EventId, ProcessId, Reason};
use crate::meter::Meter;
use crate::{NodeId, Place};
use fabric::{Destination, Priority};
use kernel::turn;
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use thiserror::Error;
use units::Bytes;

/// A DMA descriptor: "move these bytes there".
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that do not depend on each other"
)]
pub struct Dma {
    pub(crate) from: Address,
    pub(crate) to: Address,
    /// A broadcast's last node; the first is the node of `to`.
    pub(crate) last: Option<Place>,
    pub(crate) length: Bytes,
    pub(crate) priority: Priority,
    pub(crate) notify: Option<Notify>,
    pub(crate) done: Option<EventId>,
    pub(crate) meter: Option<Meter>,
    pub(crate) queue: bool,
    /// Whether the short transaction engine sends the DMA.
    pub(crate) short: bool,
    /// Whether packets for main memory are answered when they are written.
    pub(crate) stored: bool,
    /// For a broadcast: whether it ends when the network first loses it.
    pub(crate) once: bool,
    /// For a get: a word in the adapter memory of the process that has the bytes, 0 as long as the
    /// process offers them.
    pub(crate) withdrawn: Option<Address>,
}

/// How a descriptor names the event at its destination.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notify {
    /// The event itself.
    Event(EventId),
    /// The address at which the event lies.
    At(Address),
}

impl Dma {
    /// A transfer of `length` bytes. Zero bytes are one packet that carries only the notification,
    /// and touch no memory. One end lies in the process that posts the DMA: a put's source, a get's
    /// destination.
    pub fn new(from: Address, to: Address, length: Bytes) -> Self {
        Dma {
            from,
            to,
            last: None,
            length,
            priority: Priority::Low,
            notify: None,
            done: None,
            meter: None,
            queue: false,
            short: false,
            stored: false,
            once: false,
            withdrawn: None,
        }
    }

    /// A message of `length` bytes, at most a packet, into the queue at an address.
    pub fn queue(from: Address, to: Address, length: Bytes) -> Self {
        Dma {
            queue: true,
            ..Dma::new(from, to, length)
        }
    }

    /// A transfer of `length` bytes to the same address, in contexts with the same number, on all
    /// nodes from that of `to` to `last`; see [`crate::adapter::inputter::broadcast`]. If the
    /// transfer has an event, it is named by address.
    pub fn broadcast(from: Address, to: Address, last: Place, length: Bytes) -> Self {
        Dma {
            last: Some(last),
            ..Dma::new(from, to, length)
        }
    }

    /// An adapter's index among a broadcast's destinations.
    pub(crate) fn index(&self, node: Place) -> usize {
        (node.get() - self.to.node.get()) as usize
    }

    /// The node, or the node range, that the DMA goes to.
    pub(crate) fn destination(&self) -> Destination {
        let first = self.to.node;
        match self.last {
            Some(last) => Destination::range(first, last),
            None => first.into(),
        }
    }

    /// Names an event at the destination that occurs when all bytes are stored.
    #[must_use]
    pub fn notify(mut self, event: EventId) -> Self {
        self.notify = Some(Notify::Event(event));
        self
    }

    /// Names the event at an address in the destination's process; see [`notify`](Self::notify).
    #[must_use]
    pub fn notify_at(mut self, event: Address) -> Self {
        self.notify = Some(Notify::At(event));
        self
    }

    /// Names an event in the posting process that occurs when the DMA is complete, unless the DMA
    /// fails.
    #[must_use]
    pub fn done(mut self, event: EventId) -> Self {
        self.done = Some(event);
        self
    }

    /// Counts the DMA's payload, as it is stored, on a meter.
    #[must_use]
    pub fn metered(mut self, meter: Meter) -> Self {
        self.meter = Some(meter);
        self
    }

    /// Has the short transaction engine send it, where the adapter has one. The message must fit in
    /// one packet, and lie in adapter memory.
    #[must_use]
    pub fn short(mut self) -> Self {
        self.short = true;
        self
    }

    /// Has its packets for main memory answered when the bus has written them, not when they have
    /// an input buffer: the DMA is complete when its bytes are in main memory. If it fails with its
    /// rail, no bytes are stored later. Programs need this where the bytes are then read by another
    /// adapter, which does not see data that wait for this adapter's bus. Such answers are assumed;
    /// nothing is published about them.
    #[must_use]
    pub fn stored(mut self) -> Self {
        self.stored = true;
        self
    }

    /// Has a broadcast fail as soon as a failed network part keeps one of its packets from its
    /// destinations: for senders that have another way. See [`crate::adapter::recovery`].
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// Has a get served only as long as a word is 0, in the adapter memory of the process that has
    /// the bytes: so this process can withdraw its offer. The process's adapter checks the word
    /// when the request comes, and again for each data packet; once the word is another number, the
    /// get fails with [`Reason::Withdrawn`]. On a machine with several rails the word may lie at
    /// the home adapter. Such a condition, and that it takes no time, is assumed; nothing is
    /// published about it.
    #[must_use]
    pub fn unless_withdrawn(mut self, word: Address) -> Self {
        self.withdrawn = Some(word);
        self
    }

    /// Sets its packets' priority.
    #[must_use]
    pub fn priority(self, priority: Priority) -> Self {
        Dma { priority, ..self }
    }
}

/// Why a DMA, or a message, did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DmaError {
    /// The adapter's DMA queue was full.
    #[error("the DMA queue of node {node} is full ({queue} descriptors)")]
    QueueFull {
        /// The node that posted.
        node: Place,
        /// The queue's bound.
        queue: u32,
    },
    /// An adapter refused an access at one end.
    #[error(transparent)]
    Fault(#[from] AccessFault),
    /// Both ends lie outside the process that posted the DMA, or an event does not lie at the end
    /// where it should.
    #[error(
        "the descriptor of node {node}, context {context}, names neither of its own ends, or an \
        event elsewhere"
    )]
    Misdirected {
        /// The node that posted.
        node: Place,
        /// The context that posted.
        context: ContextId,
    },
    /// Network parts have failed, and the sender has given up. The DMA has no packet under way any
    /// more.
    #[error(transparent)]
    Network(#[from] Loss),
    /// The DMA's ends are adapters on different rails.
    #[error("no network joins the adapters {from} and {to}: they are on different rails")]
    Apart {
        /// The adapter that posted.
        from: Place,
        /// The adapter at the other end.
        to: Place,
    },
    /// All rails between two nodes are down.
    #[error("no rail from node {from} to node {to} works")]
    NoRail {
        /// The node that sends.
        from: NodeId,
        /// The node that receives.
        to: NodeId,
    },
    /// The job has no such process.
    #[error("the job has no process {process}")]
    NoProcess {
        /// The number that was given.
        process: ProcessId,
    },
    /// A broadcast in a network without broadcasts.
    #[error("hardware broadcasts need a tree of switches")]
    NoTree,
    /// A broadcast to a node range that does not exist.
    #[error("there are no nodes {first} to {last}; the machine has {nodes}")]
    NoRange {
        /// The first node.
        first: Place,
        /// The last node.
        last: Place,
        /// The machine's nodes.
        nodes: u32,
    },
    /// A message to a queue, or a transaction message, that does not fit in a single packet.
    #[error("a message of {length} is longer than a packet")]
    TooLong {
        /// The message's length.
        length: Bytes,
    },
}

impl DmaError {
    /// Whether the network failed on the way: another rail may still work.
    pub fn is_rail_down(&self) -> bool {
        matches!(self, DmaError::Fault(fault) if fault.reason == Reason::Down)
    }

    /// Why the network has not carried it, if that is the error.
    pub fn loss(&self) -> Option<Loss> {
        match self {
            DmaError::Network(loss) => Some(*loss),
            _ => None,
        }
    }

    /// The same error, which now names the process at the other end.
    #[must_use]
    pub fn of_process(self, process: ProcessId) -> Self {
        match self {
            DmaError::Network(loss) => DmaError::Network(Loss {
                process: Some(process),
                ..loss
            }),
            other => other,
        }
    }
}

/// The end of a DMA as its posting process sees it.
#[derive(Debug, Default)]
pub(crate) struct Completion {
    /// The result, once the process has been notified.
    result: Cell<Option<Result<(), DmaError>>>,
    /// The waiter for the result.
    waiting: RefCell<Option<Waker>>,
}

impl Completion {
    /// Notifies the process.
    pub fn tell(&self, result: Result<(), DmaError>) {
        self.result.set(Some(result));
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }
}

/// A posted DMA. Awaiting it waits for its completion at the source; dropping it does not cancel
/// it.
#[derive(Debug)]
#[must_use = "nothing waits until the transfer is awaited; drop it where nobody needs to know"]
pub struct Transfer {
    completion: Rc<Completion>,
}

impl Transfer {
    /// The transfer that awaits a completion.
    pub(crate) fn of(completion: &Rc<Completion>) -> Self {
        let completion = Rc::clone(completion);
        Transfer { completion }
    }

    /// A transfer that failed before it was posted.
    pub fn failed(error: DmaError) -> Self {
        let completion = Rc::new(Completion::default());
        completion.tell(Err(error));
        Transfer { completion }
    }
}

impl Future for Transfer {
    type Output = Result<(), DmaError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.completion.result.get() {
            return turn::end(result);
        }
        let (mut waiting, waker) = (self.completion.waiting.borrow_mut(), context.waker());
        match &mut *waiting {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        Poll::Pending
    }
}
