//! # The thread processor: library code on the adapter
//!
//! The adapter has its own processor, which runs *threads*: a library's small programs, such as tag
//! matching or a barrier, near the network and without the host (petrini2003 s2.1). A thread is an
//! async function that gets a [`Thread`]. It belongs to a process, lives in the process's context,
//! and never keeps a run from ending: when all processes have finished, threads that still wait are
//! no deadlock.
//!
//! ```
//! # use elan::{Address, Dma, Node, ProcessQueueId};
//! # use units::Bytes;
//! /// A server on the adapter: takes messages from a queue and sends each back to the client's.
//! fn echo(node: &Node, requests: ProcessQueueId, replies: Address) {
//!     let buffer = node.allocate(elan::Placement::Adapter, Bytes::new(64)).start();
//!     let started = node.run("echo", async move |thread| {
//!         loop {
//!             let message = thread.receive(requests).await;
//!             thread.step(40).await;
//!             thread.store(buffer, &message).expect("the buffer is as long as a slot");
//!             let length = Bytes::new(message.len() as u64);
//!             let reply = thread.dma(Dma::queue(buffer, replies, length)).await;
//!             thread.until(reply).await.expect("the client is there");
//!         }
//!     });
//!     started.expect("there is memory for a stack");
//! }
//! ```
//!
//! One thread runs at a time, until it waits: there is no preemption. Ready threads take turns in
//! the order in which they became ready. The costs:
//!
//! | step | processor cycles |
//! |---|---|
//! | a thread is taken up, at its start and whenever it has waited | `thread_switch` |
//! | the program's own instructions, [`Thread::step`] | as many as the program sets |
//! | a DMA, an event, a packet is handed over | `thread_issue`; no command port, no bus |
//! | adapter memory is read or written | 0 beyond the steps |
//!
//! A thread has a stack, one page of adapter memory, so adapter memory bounds the thread count.

mod memory;
mod turn;

use crate::Place;
use crate::adapter::packets::{check_rail, check_range};
use crate::adapter::queue::ProcessQueueId;
use crate::cluster::Node;
use crate::dma::{Dma, DmaError, Transfer};
use crate::in_flight::{Report, ThreadPacket, ThreadPacketNumber};
use crate::memory::{
    Address, ElanAddr, EventId, MemoryError, PAGE, Permissions, Placement, Region,
};
use crate::transaction::{Answer, MOST_TRANSACTIONS, Transaction};
use fabric::Priority;
use kernel::{Label, Signal};
use std::cell::Cell;
use std::future::IntoFuture;
use std::pin::pin;
use std::task::Poll;
use units::Time;

/// A thread on the adapter, as its program sees it.
pub struct Thread {
    node: Node,
    /// Whether the thread has the processor.
    running: Cell<bool>,
}

impl Node {
    /// Starts a thread on the node's adapter, by a command.
    ///
    /// # Errors
    /// If the adapter has no memory for the thread's stack.
    pub fn run(
        &self,
        label: impl Into<Label>,
        program: impl AsyncFnOnce(Thread) + 'static,
    ) -> Result<(), MemoryError> {
        let stack = self.stack()?;
        self.run_on(stack, label, program);
        Ok(())
    }

    /// Maps a stack for a thread.
    ///
    /// # Errors
    /// If the adapter has no memory for the stack.
    pub fn stack(&self) -> Result<Region, MemoryError> {
        self.map(Placement::Adapter, PAGE, Permissions::LOCAL, true)
    }

    /// As [`run`](Self::run), with a stack that has been mapped before. The stack is unmapped when
    /// the thread ends.
    pub fn run_on(
        &self,
        stack: Region,
        label: impl Into<Label>,
        program: impl AsyncFnOnce(Thread) + 'static,
    ) {
        let (thread, started) = (Thread::new(self), self.wake_thread());
        let node = self.clone();
        self.serve_on_adapter(label, async move {
            started.wait().await;
            thread.hold().await;
            program(thread).await;
            // The stack is gone already if the process is gone.
            let _ = node.free(stack);
        });
    }

    /// A thread that was started before the program began: it has no cost until it first has work.
    ///
    /// # Errors
    /// As [`Node::run`].
    pub fn run_resident(
        &self,
        label: impl Into<Label>,
        program: impl AsyncFnOnce(Thread) + 'static,
    ) -> Result<(), MemoryError> {
        self.stack()?;
        let thread = Thread::new(self);
        self.serve_on_adapter(label, async move { program(thread).await });
        Ok(())
    }
}

impl Thread {
    /// A thread that is not running.
    fn new(node: &Node) -> Self {
        Thread {
            node: node.clone(),
            running: Cell::new(false),
        }
    }

    async fn issue(&self) {
        let cycles = self.node.world.borrow().config().adapter.thread_issue;
        self.step(cycles.into()).await;
    }

    /// The process's view of the node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.node.now()
    }

    /// Works for some cycles.
    pub async fn step(&self, cycles: u64) {
        self.hold().await;
        self.work(cycles).await;
    }

    /// Waits for anything. Unless the result is there already, other threads run meanwhile.
    pub async fn until<F: IntoFuture>(&self, what: F) -> F::Output {
        let mut what = pin!(what.into_future());
        let first = std::future::poll_fn(|context| Poll::Ready(what.as_mut().poll(context))).await;
        if let Poll::Ready(output) = first {
            return output;
        }
        self.release();
        let output = what.await;
        self.hold().await;
        output
    }

    /// Waits until one of the process's events is set.
    pub async fn wait(&self, event: EventId) {
        self.node.assert_owns_event(event);
        let set = self.node.world.borrow_mut().event(event).set().clone();
        self.until(set.wait()).await;
    }

    /// Waits for an occurrence of one of the process's events, which is primed for one occurrence,
    /// and consumes it. Occurrences between two calls are kept for the next calls.
    pub async fn consume(&self, event: EventId) {
        self.wait(event).await;
        self.node.world.borrow_mut().event(event).consume();
    }

    /// Whether one of the process's events is set.
    pub fn is_set(&self, event: EventId) -> bool {
        self.node.assert_owns_event(event);
        self.node.world.borrow_mut().event(event).set().is_set()
    }

    /// Makes one of the process's events wait for `count` occurrences again.
    pub fn prime(&self, event: EventId, count: u32) {
        self.node.prime(event, count);
    }

    /// Lets one of the process's events occur.
    pub async fn set(&self, event: EventId) {
        self.node.assert_owns_event(event);
        self.issue().await;
        self.node.world.borrow_mut().occur_soon(event);
    }

    /// Hands one of the process's DMAs to the engine, as soon as the engine's queue has a place;
    /// [`Thread::until`] waits for the DMA.
    pub async fn dma(&self, dma: Dma) -> Transfer {
        self.issue().await;
        self.node.room_in_queue().await;
        let progress = self.node.progress(dma, Report::Thread);
        let mut world = self.node.world.borrow_mut();
        let (id, transfer) = world.flight().add_awaited(progress);
        world.enqueue(self.node.place(), id);
        transfer
    }

    /// Sends a transaction packet to a process, given by any of its addresses (`to`), and waits for
    /// the answer.
    ///
    /// # Errors
    /// If an address faults, or there are no transactions or more than a packet holds.
    pub async fn send(
        &self,
        to: Address,
        transactions: &[Transaction],
        priority: Priority,
    ) -> Result<Answer, DmaError> {
        let packet = self.packet((to, None), transactions, priority);
        self.send_packet(packet).await
    }

    /// Sends a transaction packet to the contexts with one number on all nodes from that of `to` to
    /// `last`, and waits for the combined answer: if one condition fails, no destination changes.
    /// See [`crate::adapter::inputter::broadcast`].
    ///
    /// # Errors
    /// As [`Thread::send`], or if there are no such nodes.
    pub async fn broadcast(
        &self,
        to: Address,
        last: Place,
        transactions: &[Transaction],
        priority: Priority,
    ) -> Result<Answer, DmaError> {
        let packet = self.packet((to, Some(last)), transactions, priority);
        self.send_packet(packet).await
    }

    /// Sends as [`broadcast`](Self::broadcast), but if a failed network part keeps the packet from
    /// its destinations, it is not sent again. For senders that have another way; see
    /// [`crate::adapter::recovery`].
    ///
    /// # Errors
    /// As [`Thread::broadcast`].
    pub async fn broadcast_once(
        &self,
        to: Address,
        last: Place,
        transactions: &[Transaction],
        priority: Priority,
    ) -> Result<Answer, DmaError> {
        let packet = self.packet((to, Some(last)), transactions, priority);
        let once = ThreadPacket {
            once: true,
            ..packet
        };
        self.send_packet(once).await
    }

    /// Sends a transaction packet to a process, and does not wait. A packet that is refused is
    /// lost.
    pub async fn post(&self, to: Address, transactions: &[Transaction], priority: Priority) {
        assert!((1..=MOST_TRANSACTIONS).contains(&transactions.len()));
        self.issue().await;
        if self.check_rail(to.node).is_ok() {
            self.hand_over(self.packet((to, None), transactions, priority));
        }
    }

    async fn send_packet(&self, packet: ThreadPacket) -> Result<Answer, DmaError> {
        let transactions = &packet.transactions;
        if transactions.is_empty() || transactions.len() > MOST_TRANSACTIONS {
            let length = transactions.iter().map(|one| one.data()).sum();
            return Err(DmaError::TooLong { length });
        }
        self.check_rail(packet.to.node)?;
        if packet.last.is_some() {
            let inserts = |one: &Transaction| matches!(one, Transaction::Insert { .. });
            assert!(
                !transactions.iter().any(inserts),
                "a queue takes messages of its own"
            );
            check_range(self.node.world.borrow().fabric(), packet.destination())?;
        }
        self.issue().await;
        let done = self.node.world.borrow_mut().spares().take();
        let token = self.hand_over(ThreadPacket {
            done: Some(done.clone()),
            ..packet
        });
        self.until(done.wait()).await;
        let mut world = self.node.world.borrow_mut();
        world.spares().keep(done);
        world.flight().take_answer(token)
    }

    fn check_rail(&self, to: Place) -> Result<(), DmaError> {
        check_rail(self.node.world.borrow().fabric(), self.node.place(), to)
    }

    fn packet(
        &self,
        (to, last): (Address, Option<Place>),
        transactions: &[Transaction],
        priority: Priority,
    ) -> ThreadPacket {
        ThreadPacket {
            source: self.node.place(),
            to,
            last,
            capability: self.node.capability(),
            transactions: transactions.into(),
            priority,
            refusals: 0,
            lost: false,
            answered: None,
            trouble: None,
            once: false,
            ends: 0,
            taken: false,
            result: None,
            done: None,
        }
    }

    fn hand_over(&self, packet: ThreadPacket) -> ThreadPacketNumber {
        let mut world = self.node.world.borrow_mut();
        world.wires(self.node.place()).send_thread_packet(packet)
    }

    /// Takes the first message from one of the process's queues, if there is one.
    pub fn take(&self, queue: ProcessQueueId) -> Option<Box<[u8]>> {
        assert!(
            queue.start().is_with(self.node.at(ElanAddr::NOWHERE)),
            "the queue is another process's"
        );
        self.node.world.borrow_mut().queue(queue).take()
    }

    /// Waits for the first message in one of the process's queues, and takes it.
    pub async fn receive(&self, queue: ProcessQueueId) -> Box<[u8]> {
        loop {
            if let Some(message) = self.take(queue) {
                return message;
            }
            self.until(self.arrival(queue).wait()).await;
        }
    }

    /// A signal that is fired when a message comes into one of the process's queues, which is
    /// empty: for a thread that waits for one among several events by [`Thread::until`].
    pub fn arrival(&self, queue: ProcessQueueId) -> Signal {
        self.node.world.borrow_mut().queue(queue).arrival()
    }
}
