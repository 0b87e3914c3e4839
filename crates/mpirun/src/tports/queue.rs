//! Elanlib queues.

use crate::endpoint::{EndFuture, Finish, NetworkOp, NetworkQueue, OperationResult};
use libelan::Pe;
use libelan::elan::queue::RxQueue;
use link::EndStatus;
use std::cell::Cell;
use std::rc::Rc;
use units::{Bytes, Time};

/// A process's queue.
pub struct Queue {
    pe: Pe,
    rx: Rc<RxQueue>,
    /// Announced messages that are not yet being read.
    known: Rc<Cell<usize>>,
}

impl Queue {
    pub fn new(pe: Pe, queue: RxQueue) -> Self {
        Queue {
            pe,
            rx: Rc::new(queue),
            known: Rc::default(),
        }
    }
}

impl NetworkQueue for Queue {
    fn address(&self) -> u64 {
        self.rx.at().as_u32().into()
    }

    fn arrival(&self) -> EndFuture {
        let (pe, queue, known) = (self.pe.clone(), Rc::clone(&self.rx), Rc::clone(&self.known));
        Box::pin(async move {
            queue.arrived(|| known.get()).await;
            known.update(|known| known + 1);
            pe.now()
        })
    }

    fn message(self: Rc<Self>, at: Time) -> Rc<dyn NetworkOp> {
        Rc::new(Message { queue: self, at })
    }

    fn complete(&self) {
        self.rx.complete();
    }
}

/// A message that has arrived.
struct Message {
    queue: Rc<Queue>,
    at: Time,
}

impl NetworkOp for Message {
    fn ended(&self) -> EndFuture {
        Box::pin(std::future::ready(self.at))
    }

    fn finish(&self, _at: Time) -> Finish {
        let queue = Rc::clone(&self.queue);
        Box::pin(async move {
            let read = queue.rx.read();
            queue.known.update(|known| known - 1);
            let bytes = read.await.unwrap_or_default();
            OperationResult {
                size: Bytes::new(bytes.len() as u64),
                bytes,
                ..OperationResult::of(EndStatus::Done)
            }
        })
    }
}
