//! Receives, and their outcomes.

use super::message::{Received, Room, Select, TportError};
use super::wire::Envelope;
use elan::{DmaError, ElanAddr, EventId};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use units::Time;

/// A receive under way.
pub(crate) struct Receive {
    pub select: Select,
    pub room: Room,
    pub done: Signal,
    /// Set by the thread once the outcome is there.
    pub(super) event: Cell<Option<EventId>>,
    /// Fired by the host once the outcome is there.
    pub(super) by_host: Signal,
    /// The receive's number in the posted receive list, if it is there.
    pub(super) number: Cell<usize>,
    /// Whether a message has been found for the receive.
    pub(super) matched: Cell<bool>,
    pub(super) outcome: RefCell<Option<Outcome>>,
    /// When the receive ended.
    pub(super) ended: Cell<Option<Time>>,
    /// Why no message that the receive wants can come any more.
    pub(super) cut_off: Cell<Option<DmaError>>,
}

impl Receive {
    /// Whether the receive takes a message.
    pub(super) fn takes(&self, envelope: &Envelope) -> bool {
        let one = envelope;
        self.select.takes(one.source, one.sender, one.tag)
    }

    /// Whether the receive leaves its message to another receive.
    pub(super) fn only_looks(&self) -> bool {
        matches!(self.room, Room::Probe | Room::Peek)
    }

    /// A receive that has just been started.
    pub(super) fn new(select: Select, room: Room) -> Self {
        Receive {
            select,
            room,
            done: Signal::new(),
            event: Cell::new(None),
            by_host: Signal::new(),
            number: Cell::new(0),
            matched: Cell::new(false),
            outcome: RefCell::new(None),
            ended: Cell::new(None),
            cut_off: Cell::new(None),
        }
    }

    /// Ends the receive; the process sees the end.
    pub(super) fn end(&self, now: Time) {
        self.ended.set(Some(now));
        self.done.fire();
    }
}

/// A receive's result.
pub(super) enum Outcome {
    /// The message is in its place, or was only to be found.
    Here(Received),
    /// The message is in a system buffer.
    Buffered(Received, ElanAddr),
    Failed(TportError),
}
