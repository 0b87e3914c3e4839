//! Queues that are never full.

use crate::endpoint::{EndFuture, Finish, NetworkOp, NetworkQueue, OperationResult};
use elan::Node;
use kernel::Signal;
use link::EndStatus;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use units::{Bytes, Time};

/// A rank's queues; a queue's address is its place.
pub type Queues = RefCell<Vec<Rc<IdealQueue>>>;

/// A queue.
pub struct IdealQueue {
    node: Node,
    address: u64,
    /// Messages that have come and have not been announced.
    new: RefCell<VecDeque<Rc<Vec<u8>>>>,
    /// Messages that have been announced and not read.
    known: RefCell<VecDeque<Rc<Vec<u8>>>>,
    bell: RefCell<Signal>,
}

impl IdealQueue {
    /// Makes a rank's queue.
    pub fn open(queues: &Queues, node: &Node) -> Rc<IdealQueue> {
        let mut queues = queues.borrow_mut();
        let queue = Rc::new(IdealQueue {
            node: node.clone(),
            address: queues.len() as u64,
            new: RefCell::default(),
            known: RefCell::default(),
            bell: RefCell::new(Signal::new()),
        });
        queues.push(Rc::clone(&queue));
        queue
    }
}

/// A message comes into a queue.
pub fn deliver(queues: &Queues, queue: u64, bytes: Rc<Vec<u8>>) {
    let queue = Rc::clone(&queues.borrow()[queue as usize]);
    queue.new.borrow_mut().push_back(bytes);
    queue.bell.borrow().fire();
}

impl NetworkQueue for Rc<IdealQueue> {
    fn address(&self) -> u64 {
        self.address
    }

    fn arrival(&self) -> EndFuture {
        let queue = Rc::clone(self);
        Box::pin(async move {
            loop {
                let first = queue.new.borrow_mut().pop_front();
                if let Some(message) = first {
                    queue.known.borrow_mut().push_back(message);
                    return queue.node.now();
                }
                let bell = Signal::new();
                queue.bell.replace(bell.clone());
                bell.wait().await;
            }
        })
    }

    fn message(self: Rc<Self>, at: Time) -> Rc<dyn NetworkOp> {
        Rc::new(Message(Rc::clone(&self), at))
    }

    fn complete(&self) {}
}

/// A message that has arrived.
struct Message(Rc<IdealQueue>, Time);

impl NetworkOp for Message {
    fn ended(&self) -> EndFuture {
        Box::pin(std::future::ready(self.1))
    }

    fn finish(&self, _at: Time) -> Finish {
        let first = self.0.known.borrow_mut().pop_front();
        let bytes: Box<[u8]> = first.map_or_else(Box::default, |bytes| bytes[..].into());
        let incoming = OperationResult {
            size: Bytes::new(bytes.len() as u64),
            bytes,
            ..OperationResult::of(EndStatus::Done)
        };
        Box::pin(async move { incoming })
    }
}
