//! A process's pending operations: when each ends, and its processor's work then.

use crate::endpoint::{EndFuture, Finish, MessageNumber, NetworkOp, OperationResult};
use crate::memory::{Buffer, Buffers};
use elan::{DmaError, EventId};
use libelan::Pe;
use libelan::elan::putget::Remote;
use libelan::elan::tport::{Received, Rx, TportError, Tx};
use link::EndStatus;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

/// Something that the machine has no room for.
pub fn refused(at: Time) -> Rc<dyn NetworkOp> {
    Rc::new(RefusedMessage(at))
}

/// Whether failed parts of the machine caused an error.
fn is_loss(error: &TportError) -> bool {
    match error {
        TportError::Dma(error) => is_loss_of(error),
        _ => false,
    }
}

pub fn is_loss_of(error: &DmaError) -> bool {
    matches!(error, DmaError::NoRail { .. }) || error.loss().is_some() || error.is_rail_down()
}

struct RefusedMessage(Time);

impl NetworkOp for RefusedMessage {
    fn ended(&self) -> EndFuture {
        Box::pin(std::future::ready(self.0))
    }

    fn finish(&self, _at: Time) -> Finish {
        Box::pin(async { OperationResult::of(EndStatus::Refused) })
    }
}

/// A send; its field is empty once its end has been taken.
pub struct Send {
    pub tx: RefCell<Option<Rc<Tx>>>,
    pub pe: Pe,
    pub buffer: Buffer,
    pub buffers: Rc<Buffers>,
}

impl NetworkOp for Send {
    fn ended(&self) -> EndFuture {
        let tx = self.tx.borrow().clone();
        Box::pin(async move { tx.expect("nobody has seen its end").ended().await })
    }

    fn finish(&self, at: Time) -> Finish {
        let tx = self.tx.take().and_then(Rc::into_inner);
        let tx = tx.expect("it has ended, and nobody else sees it");
        let (pe, tport) = (self.pe.clone(), self.pe.elan().tport());
        let (buffer, buffers) = (self.buffer, Rc::clone(&self.buffers));
        Box::pin(async move {
            let incoming = match pe.given(at, || tport.tx_wait(tx)).await {
                Ok(()) => OperationResult::of(EndStatus::Done),
                Err(error) => OperationResult::failed(&error, is_loss(&error)),
            };
            buffers.give_back(buffer);
            incoming
        })
    }
}

/// A receive, a peek, or a probe.
pub struct Receive {
    pub rx: RefCell<Option<Rc<Rx>>>,
    pub pe: Pe,
    /// `None` for operations that only look.
    pub buffer: Option<Buffer>,
    pub buffers: Rc<Buffers>,
}

impl NetworkOp for Receive {
    fn ended(&self) -> EndFuture {
        let rx = self.rx.borrow().clone();
        Box::pin(async move { rx.expect("nobody has seen its end").ended().await })
    }

    fn finish(&self, at: Time) -> Finish {
        let rx = self.rx.take().and_then(Rc::into_inner);
        let rx = rx.expect("it has ended, and nobody else sees it");
        let (pe, tport) = (self.pe.clone(), self.pe.elan().tport());
        let (buffer, buffers) = (self.buffer, Rc::clone(&self.buffers));
        Box::pin(async move {
            let incoming = match pe.given(at, || tport.rx_wait(rx)).await {
                Ok(received) => message(&buffers, &received, buffer),
                Err(TportError::Nothing) => OperationResult::of(EndStatus::Nothing),
                Err(TportError::Truncated {
                    sender, tag, size, ..
                }) => OperationResult {
                    number: Some(MessageNumber(sender)),
                    tag,
                    size,
                    ..OperationResult::of(EndStatus::Truncated)
                },
                Err(TportError::Cancelled) => OperationResult::of(EndStatus::Cancelled),
                Err(error) => OperationResult::failed(&error, is_loss(&error)),
            };
            if let Some(buffer) = buffer {
                buffers.give_back(buffer);
            }
            incoming
        })
    }

    fn cancel(self: Rc<Self>, at: Time) {
        if let Some(rx) = &*self.rx.borrow() {
            let tport = self.pe.elan().tport();
            self.pe.given(at, || tport.rx_cancel(rx));
        }
    }
}

/// A message that is in its buffer, or that was only found.
fn message(buffers: &Buffers, received: &Received, buffer: Option<Buffer>) -> OperationResult {
    let bytes = buffer.map(|buffer| buffers.load(buffer, received.size));
    OperationResult {
        status: EndStatus::Done,
        from: received.process.get(),
        tag: received.tag,
        number: Some(MessageNumber(received.sender)),
        size: received.size,
        bytes: bytes.unwrap_or_default(),
        loss: None,
    }
}

/// An untagged message at its receiver.
pub struct Arrival {
    pub pe: Pe,
    pub event: EventId,
    pub buffer: Buffer,
    pub buffers: Rc<Buffers>,
    pub size: Bytes,
}

impl NetworkOp for Arrival {
    fn ended(&self) -> EndFuture {
        let (pe, event) = (self.pe.clone(), self.event);
        Box::pin(async move {
            pe.node().wait(event).await;
            pe.now()
        })
    }

    fn finish(&self, at: Time) -> Finish {
        let bytes = self.buffers.load(self.buffer, self.size);
        self.pe.node().free_event(self.event);
        self.buffers.give_back(self.buffer);
        let call = self.pe.node().config().host.call;
        let work = self.pe.given(at, || self.pe.compute(call));
        let incoming = OperationResult {
            size: self.size,
            bytes,
            ..OperationResult::of(EndStatus::Done)
        };
        Box::pin(async move {
            work.await;
            incoming
        })
    }
}

/// A put or get, and its buffers at both ends.
pub struct Copy {
    pub remote: Remote,
    pub pe: Pe,
    pub here: Buffer,
    pub buffers: Rc<Buffers>,
    pub there: RefCell<Option<(Buffer, Rc<Buffers>)>>,
    /// How many bytes a get brings.
    pub brings: Option<Bytes>,
}

impl NetworkOp for Copy {
    fn ended(&self) -> EndFuture {
        let ended = self.remote.ended();
        let pe = self.pe.clone();
        Box::pin(async move {
            ended.wait().await;
            pe.now()
        })
    }

    fn is_lost(&self) -> bool {
        matches!(self.remote.result(), Some(Err(_)))
    }

    fn finish(&self, _at: Time) -> Finish {
        let mut incoming = match self.remote.result() {
            Some(Ok(())) => OperationResult::of(EndStatus::Done),
            Some(Err(error)) => OperationResult::failed(&error, is_loss_of(&error)),
            None => OperationResult::of(EndStatus::Refused),
        };
        if let (Some(size), EndStatus::Done) = (self.brings, incoming.status) {
            (incoming.bytes, incoming.size) = (self.buffers.load(self.here, size), size);
        }
        self.buffers.give_back(self.here);
        if let Some((buffer, buffers)) = self.there.take() {
            buffers.give_back(buffer);
        }
        Box::pin(async move { incoming })
    }
}
