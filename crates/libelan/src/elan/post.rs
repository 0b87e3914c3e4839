//! A job's messages on detours, and the mailboxes through which they go. See [`super::detour`].

use super::pool::Pool;
use crate::elan3::{AllocError, Heap};
use elan::{DmaError, Node, Placement, ProcessId, ProcessQueueId};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use units::Bytes;

/// A process's packets on their way out of one adapter's memory, and packets that its mailbox
/// holds. Assumed.
const SLOTS: u32 = 32;

/// A message's effect at its destination; `None` if it cannot be done yet, as a queue is full.
pub(super) type Errand = Box<dyn FnMut() -> Option<Result<(), DmaError>>>;

/// A process's equipment at a rail's adapter.
pub(super) struct Mailbox {
    /// The process at the adapter, with memory there.
    pub own: Node,
    pub queue: ProcessQueueId,
    pub slots: Pool,
}

impl Mailbox {
    /// A mailbox at an adapter, in a context that has memory there.
    pub fn new(own: Node) -> Result<Self, AllocError> {
        let packet = own.config().packet.payload;
        let queue = own.queue(SLOTS, packet, None)?;
        let slots = packet * u64::from(SLOTS);
        let mut heap = Heap::fixed(own.clone(), Placement::Adapter, slots)?;
        let slots = Pool::new(&mut heap, SLOTS, packet)?;
        Ok(Mailbox { own, queue, slots })
    }
}

/// A message on a detour.
pub(super) struct Parcel {
    pub from: ProcessId,
    /// `None` while it is carried out, and afterwards.
    pub errand: Option<Errand>,
    /// Reply bytes for the sender.
    pub back: Bytes,
    pub result: Option<Result<(), DmaError>>,
    /// Fired when the sender has been notified.
    pub told: Signal,
}

/// A job's messages on detours, by their numbers, which their packets carry.
#[derive(Default)]
pub(super) struct Post {
    pub parcels: RefCell<BTreeMap<u64, Parcel>>,
    pub sent: Cell<u64>,
}

/// How far a message is.
pub(super) enum Stage {
    /// The sender has given it up.
    Withdrawn,
    /// Its last packet has come before, over another rail.
    Repeated,
    Waits,
    /// Its sender is to be notified, with so many bytes.
    Done(ProcessId, Bytes),
}

impl Post {
    /// Carries out a message, unless it is withdrawn.
    pub fn carry_out(&self, number: u64) -> Stage {
        let errand = match self.parcels.borrow_mut().get_mut(&number) {
            None => return Stage::Withdrawn,
            Some(parcel) => parcel.errand.take(),
        };
        let Some(mut errand) = errand else {
            return Stage::Repeated;
        };
        let result = errand();
        let mut parcels = self.parcels.borrow_mut();
        let parcel = parcels.get_mut(&number).expect("nobody else was at work");
        parcel.result = result;
        if result.is_none() {
            parcel.errand = Some(errand);
            return Stage::Waits;
        }
        Stage::Done(parcel.from, parcel.back)
    }
}
