//! Puts, gets and queued messages that were started, and their bounds.

use elan::{DmaError, ProcessId};
use kernel::Signal;
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use units::Bytes;

/// Puts up to this length are copied immediately (`LIBELAN_PUTGET_SMALLPUTSIZE`).
pub const SMALL: Bytes = Bytes::new(64);

/// A process's puts, gets and queued messages under way at a time (`LIBELAN_PUTGET_THROTTLE`). The
/// value is assumed; it is not published.
pub const THROTTLE: u32 = 32;

/// A put, get or queued message that was started (`ELAN_EVENT`).
#[must_use = "nobody knows when it is over until it is waited for"]
pub struct Remote {
    pub(super) what: Operation,
    pub(super) end: Rc<End>,
}

/// An operation, as deadlock reports name it.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    Put(ProcessId),
    Get(ProcessId),
    Message(ProcessId),
}

impl Operation {
    /// The process at the other end.
    pub fn process(self) -> ProcessId {
        match self {
            Operation::Put(vp) | Operation::Get(vp) | Operation::Message(vp) => vp,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Put(vp) => write!(f, "its put to process {vp}"),
            Operation::Get(vp) => write!(f, "its get from process {vp}"),
            Operation::Message(vp) => write!(f, "its message to a queue of process {vp}"),
        }
    }
}

#[derive(Default)]
pub(super) struct End {
    pub done: Signal,
    pub result: Cell<Option<Result<(), DmaError>>>,
}

impl Remote {
    /// The signal that is fired when the operation is over; a polling process sees the end then.
    pub fn ended(&self) -> Signal {
        self.end.done.clone()
    }

    /// The operation's result; `None` before its end.
    pub fn result(&self) -> Option<Result<(), DmaError>> {
        self.end.result.get()
    }

    /// Whether the operation is over (`elan_done`).
    pub fn is_done(&self) -> bool {
        self.end.done.is_set()
    }
}
