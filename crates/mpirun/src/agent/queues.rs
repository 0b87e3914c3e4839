//! Rank queues for small messages.

use super::Agent;
use super::operation::Operation;
use crate::endpoint::NetworkQueue;
use crate::trace::MessageKind;
use link::{EndKind, EndStatus, Violation};
use std::rc::Rc;
use units::{Bytes, Time};

/// A rank's queue.
pub(super) struct Queue {
    network: Rc<dyn NetworkQueue>,
    slot: Bytes,
    /// Messages that were reported to the rank, and that it has not taken out.
    pub told: u64,
}

impl Agent {
    /// The rank makes a queue. An existing queue with this name stays as it is.
    pub(super) fn open_queue(self: &Rc<Self>, name: u64, slots: u32, slot: Bytes) {
        if self.state.borrow().queues.contains_key(&name) {
            return;
        }
        let Some(queue) = self.endpoint.queue(slots, slot) else {
            let rank = self.rank;
            let about = format!("rank {rank} makes a queue of {slots} slots of {slot}");
            self.shared.no_room.borrow_mut().get_or_insert(about);
            return;
        };
        let new = Queue {
            network: Rc::clone(&queue),
            slot,
            told: 0,
        };
        self.state.borrow_mut().queues.insert(name, new);
        let agent = Rc::clone(self);
        self.node.serve("queue", async move {
            loop {
                let at = queue.arrival().await;
                let message = Rc::clone(&queue).message(at);
                agent.start(0, Operation::Arrival(name), message);
            }
        });
    }

    pub(super) fn enqueue(
        self: &Rc<Self>,
        at: Time,
        id: u64,
        (to, name): (u32, u64),
        bytes: Vec<u8>,
    ) {
        let size = Bytes::new(bytes.len() as u64);
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        let state = other.state.borrow();
        let queue = state.queues.get(&name);
        let fits = queue.filter(|queue| !size.is_zero() && size <= queue.slot);
        let address = fits.map(|queue| queue.network.address());
        drop(state);
        let Some(address) = address else {
            return self.answer(id, EndStatus::Refused, EndKind::Enqueued);
        };
        let record = self.record(at, MessageKind::Queued, to, size);
        let network = self.endpoint.enqueue(at, to, address, Rc::new(bytes));
        self.start(id, Operation::Enqueue { to, size, record }, network);
    }

    /// The program has taken a message out.
    pub(super) fn dequeued(&self, name: u64) {
        let queue = {
            let mut state = self.state.borrow_mut();
            let queue = state.queues.get_mut(&name);
            let queue = queue.filter(|queue| queue.told > 0);
            queue.map(|queue| {
                queue.told -= 1;
                Rc::clone(&queue.network)
            })
        };
        if let Some(queue) = queue {
            return queue.complete();
        }
        let foul = Violation::Dequeued { key: name };
        self.shared.read.blame(self.rank, foul);
    }
}
