//! # Queues of small messages (public Elan3 headers)
//!
//! A process keeps a *queue* in its adapter's memory: a number of slots, each for one message of up to a packet's payload.
//! Others send to it with [`crate::Dma::queue`], without knowing where in it their message will lie. A message that finds
//! all slots taken is *discarded*, and its sender tries again as with any packet: no message is lost. An adapter has one
//! message to a queue under way at a time and holds back the next ones, so that those of one sender arrive in the order of
//! their posting. With each arrival the queue's event occurs; who consumes it, a thread or the process, takes the messages
//! in the order of their arrival.
//!
//! On the wire such a message is its blocks and one more transaction, without payload, which claims the slot.

use crate::NodeId;
use crate::cluster::{Happening, World};
use crate::context::Capability;
use crate::event::{EventId, News};
use crate::memory::Address;
use crate::mmu::{Access, Fault, Reason};
use kernel::Signal;
use std::collections::VecDeque;
use units::Bytes;

/// A queue of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueId {
    pub(crate) node: NodeId,
    pub(crate) index: u32,
    pub(crate) at: Address,
}

impl QueueId {
    /// Where its first slot lies: what others need to know of it.
    pub fn start(self) -> Address {
        self.at
    }
}

/// A queue as the adapter sees it.
pub(crate) struct Queue {
    pub slot: Bytes,
    pub count: usize,
    pub event: Option<EventId>,
    pub messages: VecDeque<Box<[u8]>>,
    /// Messages that a process is reading across the bus: their slots are still taken.
    pub reading: usize,
    /// What threads wait for.
    pub arrived: Signal,
}

impl Queue {
    /// Whether a slot is free.
    pub fn has_room(&self) -> bool {
        self.messages.len() + self.reading < self.count
    }
}

impl World {
    pub(crate) fn queue(&mut self, queue: QueueId) -> &mut Queue {
        &mut self.adapters[queue.node as usize].queues[queue.index as usize]
    }

    /// Whether a message could enter the queue at an address: the queue's number, and whether it has a slot free.
    pub(crate) fn queue_at(
        &self,
        at: Address,
        length: Bytes,
        capability: Capability,
    ) -> Result<(u32, bool), Fault> {
        let access = Access::RemoteWrite;
        let fault = |reason| Fault::new(at, length, access, reason);
        self.translate(at, length.max(Bytes::new(1)), access, capability)?;
        let context = self.context(at, capability).map_err(fault)?;
        let index = context.queues.get(&at.elan);
        let index = *index.ok_or_else(|| fault(Reason::Nothing))?;
        let queue = &self.adapters[at.node as usize].queues[index as usize];
        if length > queue.slot {
            return Err(fault(Reason::SlotTooShort));
        }
        Ok((index, queue.has_room()))
    }

    /// A message has come in.
    pub(crate) fn queued(&mut self, node: NodeId, index: u32, message: Box<[u8]>) {
        let queue = &mut self.adapters[node as usize].queues[index as usize];
        queue.messages.push_back(message);
        let at = self.now() + self.config.adapter.input + self.config.adapter.event;
        self.schedule(at, node, Happening::Queued(node, index));
    }

    /// Its event occurs.
    pub(crate) fn queue_event(&mut self, node: NodeId, index: u32) {
        let queue = &self.adapters[node as usize].queues[index as usize];
        queue.arrived.fire();
        if let Some(event) = queue.event {
            self.occur(News::Event(event));
        }
    }
}
