//! Messages that came before their receive: through the network, or through shared memory.

use super::line::Addressed;
use super::receive::Receive;
use super::wire::Envelope;
use elan::{DmaError, ElanAddr, Node};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A message that came before its receive.
pub(super) struct UnexpectedMessage {
    pub envelope: Envelope,
    pub body: Body,
}

impl Addressed for UnexpectedMessage {
    fn envelope(&self) -> &Envelope {
        &self.envelope
    }
}

/// Where the message's bytes are.
pub(super) enum Body {
    /// In the adapter's buffers.
    Small(Box<[u8]>),
    /// At the sender.
    Held,
    /// In a system buffer, or on the way there.
    Fetched(Rc<Fetch>),
}

/// A message on its way into a system buffer.
pub(super) struct Fetch {
    pub buffer: ElanAddr,
    pub ended: Cell<Option<Result<(), DmaError>>>,
    /// The receive that waits for the end.
    pub receive: RefCell<Option<Rc<Receive>>>,
    /// Whether no receive wants the message any more.
    pub dropped: Cell<bool>,
}

/// A message in shared memory.
pub(super) struct SharedMessage {
    pub envelope: Envelope,
    pub body: SharedBody,
    /// Fired when the message is matched, if its sender waits for this.
    pub matched: Option<Signal>,
}

impl Addressed for SharedMessage {
    fn envelope(&self) -> &Envelope {
        &self.envelope
    }
}

/// Where the message's bytes are.
pub(super) enum SharedBody {
    Copied(Box<[u8]>),
    /// In the sender's buffer, until the sender is released.
    There(Node, Signal),
}
