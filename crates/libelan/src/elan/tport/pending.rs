//! Operations that the thread has handed over, and messages in parts, each on its own rail.

use super::receive::Receive;
use super::unexpected::Fetch;
use super::wire::{Envelope, Wire};
use crate::elan::rails::RailRequest;
use crate::elan::spread::{Part, assert_complete};
use elan::{DmaError, ElanAddr, ProcessId, Rail};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// An operation that the thread has handed over.
pub(super) enum Pending {
    Get(Rc<Receive>, Envelope),
    Fetch(Rc<Fetch>, Envelope),
    /// An answer, in its slot, to a process.
    Answer(ElanAddr, ProcessId, Wire),
    /// A process's event is set.
    Notice(ProcessId, ElanAddr),
    /// A get or fetch that takes a detour, as its rail has failed.
    Detour(Box<Pending>),
    /// A part of a get or fetch, on one of several rails.
    Stripe(Stripe),
}

impl Pending {
    /// The message with bytes on their way.
    pub fn envelope(&self) -> Option<&Envelope> {
        match self {
            Pending::Get(_, envelope) | Pending::Fetch(_, envelope) => Some(envelope),
            Pending::Detour(pending) => pending.envelope(),
            Pending::Answer(..) | Pending::Notice(..) | Pending::Stripe(_) => None,
        }
    }
}

/// A message with bytes that take several rails, or one of several.
pub(super) struct StripedMessage {
    /// The get or fetch that ends with the message; taken at the message's end.
    pub pending: Cell<Option<Pending>>,
    pub envelope: Envelope,
    pub to: ElanAddr,
    pub wanted: RailRequest,
    /// Message parts that are not under way.
    pub left: RefCell<Vec<Part>>,
    /// Parts that have come.
    pub done: RefCell<Vec<Part>>,
    pub under_way: Cell<u32>,
    pub failed: Cell<Option<DmaError>>,
}

/// A message part that one rail carries.
pub(super) struct Stripe {
    pub long: Rc<StripedMessage>,
    pub part: Part,
    pub rail: Rail,
    /// Whether the rail is taken for the stripe.
    pub taken: bool,
}

impl StripedMessage {
    /// The operation that ends with the message, if the message is complete.
    pub fn over(&self) -> Option<(Pending, Result<(), DmaError>)> {
        if self.under_way.get() > 0 || !self.left.borrow().is_empty() {
            return None;
        }
        let result = self.failed.get().map_or(Ok(()), Err);
        if result.is_ok() {
            assert_complete(self.done.take(), self.wanted.size);
        }
        self.pending.take().map(|pending| (pending, result))
    }
}
