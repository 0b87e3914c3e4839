//! The unit that does a Tport's work: a thread on the adapter, or the process's processor.
//!
//! | work | adapter | host |
//! |---|---|---|
//! | to see an envelope that has come in | no cost: the envelope is in adapter memory | the envelope crosses the bus, and is polled |
//! | to match an envelope, or a posted receive | `tport.handle`, `tport.scan` | `host.call` |
//! | to store small bytes | across the bus | `host.copy` |
//! | to move a longer message | a DMA into its buffer | a DMA into a system buffer, then `host.copy`; the sender copies the message out from its buffer, too |
//! | to end a receive | an event, its block, a poll | no cost: the process itself has matched |
//!
//! The host works while its process does not compute, as for messages from its own node. So a
//! message that comes during a computation waits for the computation's end. MPI's progress rule
//! forbids this, and adapters that run the protocol avoid it. The host copies a message as a whole,
//! where a library would overlap copies and DMAs part by part. This simplification makes long
//! messages slower.

use super::port::Port;
use super::receive::Receive;
use crate::cpu::Cpu;
use elan::adapter::gets::DESCRIPTOR;
use elan::transaction::WORD;
use elan::{AccessFault, Dma, EventId, Matching, Node, ProcessQueueId, Thread, Transfer};
use elan::{Address, DmaError};
use kernel::Signal;
use std::pin::Pin;
use std::task::{Context, Poll};
use units::Bytes;

/// The end of a handed-over DMA.
pub(super) enum End {
    Own(Transfer),
    /// The DMA was handed to another rail's adapter.
    Beside(Pin<Box<dyn Future<Output = Result<(), DmaError>>>>),
}

impl From<Transfer> for End {
    fn from(transfer: Transfer) -> Self {
        End::Own(transfer)
    }
}

impl Future for End {
    type Output = Result<(), DmaError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            End::Own(transfer) => Pin::new(transfer).poll(context),
            End::Beside(end) => end.as_mut().poll(context),
        }
    }
}

/// A Tport's hands: a thread or the host. Where the host works, the Tport's thread never runs.
pub(super) struct TportWorker {
    thread: Thread,
    host: Option<Cpu>,
}

impl TportWorker {
    pub fn new(port: &Port, thread: Thread) -> Self {
        let by_host = port.config.matching == Matching::Host;
        let host = by_host.then(|| port.cpu.clone());
        TportWorker { thread, host }
    }

    pub fn node(&self) -> &Node {
        self.thread.node()
    }

    /// Whether the host works.
    pub fn by_host(&self) -> bool {
        self.host.is_some()
    }

    /// Waits for anything.
    pub async fn until<F: IntoFuture>(&self, what: F) -> F::Output {
        match self.host {
            None => self.thread.until(what).await,
            Some(_) => what.await,
        }
    }

    /// Takes the first message from a queue, if there is one.
    pub fn take(&self, queue: ProcessQueueId) -> Option<Box<[u8]>> {
        self.thread.take(queue)
    }

    /// The signal that is fired when a message comes into a queue.
    pub fn arrival(&self, queue: ProcessQueueId) -> Signal {
        self.thread.arrival(queue)
    }

    /// Sees so many bytes that have come in.
    pub async fn see(&self, bytes: &[u8]) {
        if self.by_host() {
            let node = self.node();
            node.cross_to_main(Bytes::new(bytes.len() as u64)).await;
            node.sleep(node.config().adapter.poll).await;
        }
    }

    /// Takes up an envelope or a posted receive, and compares it with so many others.
    pub async fn step(&self, port: &Port, compared: u32) {
        match &self.host {
            None => {
                let (handle, scan) = (port.config.handle, port.config.scan);
                let cycles = u64::from(handle) + u64::from(scan) * u64::from(compared);
                self.thread.step(cycles).await;
            }
            Some(cpu) => cpu.work(self.node(), self.node().config().host.call).await,
        }
    }

    /// Stores a message's bytes where they belong.
    pub async fn copy_out(&self, at: Address, bytes: &[u8]) -> Result<(), AccessFault> {
        if self.by_host() {
            self.copy(Bytes::new(bytes.len() as u64)).await;
            self.node().store(at, bytes)
        } else {
            self.thread.copy_out(at, bytes).await
        }
    }

    /// Copies a message that a DMA has brought, if this is these hands' task.
    pub async fn copy(&self, size: Bytes) {
        if let Some(cpu) = &self.host {
            let time = self.node().config().host.copy.time(size);
            cpu.work(self.node(), time).await;
        }
    }

    /// Notifies a process that its receive is over; `event` is the receive's event.
    pub async fn end(&self, receive: &Receive, event: EventId) {
        if self.by_host() {
            receive.by_host.fire();
        } else {
            self.thread.set(event).await;
        }
    }

    /// Hands a DMA over.
    pub async fn dma(&self, dma: Dma) -> Transfer {
        match &self.host {
            None => self.thread.dma(dma).await,
            Some(cpu) => {
                let node = self.node();
                cpu.work(node, node.config().host.call).await;
                node.dma(dma)
            }
        }
    }

    /// Hands a DMA over to another rail's adapter, where `place` is the process; see
    /// [`crate::elan::rails`].
    pub async fn dma_beside(&self, place: &Node, dma: Dma) -> End {
        let node = self.node().clone();
        match &self.host {
            None => {
                let issue = node.config().adapter.thread_issue;
                self.thread.step(issue.into()).await;
                node.cross_to_main(DESCRIPTOR).await;
                let transfer = place.dma(dma);
                End::Beside(Box::pin(async move {
                    let result = transfer.await;
                    node.cross_to_adapter(WORD).await;
                    result
                }))
            }
            Some(cpu) => {
                cpu.work(&node, node.config().host.call).await;
                place.dma(dma).into()
            }
        }
    }

    /// Stores bytes in adapter memory.
    pub fn store(&self, at: Address, bytes: &[u8]) -> Result<(), DmaError> {
        Ok(self.thread.store(at, bytes)?)
    }
}
