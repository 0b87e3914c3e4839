//! Queues of ranks for small messages.

use super::about::About;
use super::{Agent, Role};
use crate::endpoint::NetworkQueue;
use crate::trace::MessageKind;
use link::{Foul, Order, ReportKind};
use std::rc::Rc;
use units::{Bytes, Time};

/// A queue of a rank.
pub(super) struct Queue {
    network: Rc<dyn NetworkQueue>,
    slot: Bytes,
    /// Messages that the rank has been told of, and has not taken out.
    pub told: u64,
}

impl Agent {
    /// The rank makes a queue. A queue of this name that exists stays as it is.
    pub(super) fn open_queue(self: &Rc<Self>, order: &Order) {
        let (name, slot) = (order.key, Bytes::new(order.size));
        if self.state.borrow().queues.contains_key(&name) {
            return;
        }
        let Some(queue) = self.endpoint.queue(order.data, slot) else {
            let (rank, slots) = (self.rank, order.data);
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
                agent.start(0, Role::Arrival(name), message, About::Dequeues);
            }
        });
    }

    pub(super) fn enqueue(self: &Rc<Self>, order: &Order, bytes: Vec<u8>) {
        let (size, to) = (Bytes::new(bytes.len() as u64), order.peer);
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        let state = other.state.borrow();
        let queue = state.queues.get(&order.key);
        let fits = queue.filter(|queue| !size.is_zero() && size <= queue.slot);
        let address = fits.map(|queue| queue.network.address());
        drop(state);
        let Some(address) = address else {
            return self.refuse(ReportKind::Enqueued, order);
        };
        let record = self.record(order, MessageKind::Queued, size);
        let at = Time::from_ps(order.time);
        let operation = self.endpoint.enqueue(at, to, address, Rc::new(bytes));
        let about = About::Enqueues(size, to);
        self.start(order.id, Role::Enqueue(record), operation, about);
    }

    /// The program has taken a message out.
    pub(super) fn dequeued(&self, order: &Order) {
        let queue = {
            let mut state = self.state.borrow_mut();
            let queue = state.queues.get_mut(&order.key);
            let queue = queue.filter(|queue| queue.told > 0);
            queue.map(|queue| {
                queue.told -= 1;
                Rc::clone(&queue.network)
            })
        };
        if let Some(queue) = queue {
            return queue.complete();
        }
        let foul = Foul::Dequeued { key: order.key };
        self.shared.read.blame(self.rank, foul);
    }
}
