//! The progress engine's state for the operations of our own libraries.

use link::{Delivery, EndKind, EndStatus, Envelope, PayloadPart};
use rank::library::{self, LibraryProblem, differs};
use rank::memory::Buffer;
use std::collections::{BTreeMap, VecDeque};
use std::sync::OnceLock;
use thiserror::Error;

/// A pending operation, or one with an end that has not been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

impl Ticket {
    /// The operation's number in orders and reports.
    pub(super) fn id(self) -> u64 {
        self.0
    }
}

/// An operation's end; fields that do not apply are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallEnd {
    /// The message's sender.
    pub from: u32,
    /// The message's tag, without the bit of our own libraries.
    pub tag: u64,
    /// The bytes in the message, the get or the result.
    pub size: usize,
    /// An atomic's old word.
    pub word: u64,
}

/// Why an operation has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OperationFailure {
    /// Parts of the simulated machine have failed.
    #[error("parts of the machine have failed")]
    Lost,
    /// The other rank has no such memory or queue for others, or the machine has no room.
    #[error("the other rank does not offer this, or a node has no room for it")]
    Refused,
    /// The message is longer than its room; no part of it was stored, and the message is gone.
    #[error("the message is longer than the room for it: {0} bytes")]
    Truncated(usize),
    /// The operation was taken back.
    #[error("the operation was taken back")]
    Cancelled,
    /// There is no such message.
    #[error("there is no such message")]
    Nothing,
}

/// The operations of our own libraries, and the messages in the rank's queues.
pub struct PendingCalls {
    latest: u64,
    under_way: BTreeMap<u64, Buffer>,
    ended: BTreeMap<u64, Result<CallEnd, OperationFailure>>,
    /// Pending operations with ends that do not matter.
    forgotten: Vec<u64>,
    queues: BTreeMap<u64, VecDeque<Vec<u8>>>,
    /// Numbers that the rank receives when pending operations end.
    notices: BTreeMap<u64, u64>,
}

/// The function that receives the numbers from others' puts and from ended operations. It is called
/// under the session's lock, and must not order anything.
static LISTENER: OnceLock<fn(u64)> = OnceLock::new();

/// Names the function that receives the numbers.
pub fn listen(listener: fn(u64)) {
    let _ = LISTENER.set(listener);
}

/// A number has come.
pub fn noticed(notice: u64) {
    if notice != 0
        && let Some(listener) = LISTENER.get()
    {
        listener(notice);
    }
}

impl PendingCalls {
    /// No operations.
    pub const NONE: Self = PendingCalls {
        latest: 0,
        under_way: BTreeMap::new(),
        ended: BTreeMap::new(),
        forgotten: Vec::new(),
        queues: BTreeMap::new(),
        notices: BTreeMap::new(),
    };

    /// Takes down an operation, with the memory for the bytes that come in.
    pub fn begin(&mut self, into: Buffer) -> Ticket {
        self.latest += 1;
        let id = self.latest | library::OWN;
        self.under_way.insert(id, into);
        Ticket(id)
    }

    /// Takes an end.
    pub fn take_end(&mut self, ticket: Ticket) -> Option<Result<CallEnd, OperationFailure>> {
        self.ended.remove(&ticket.0)
    }

    /// Whether an end is there to be taken.
    pub fn has_ended(&self, ticket: Ticket) -> bool {
        self.ended.contains_key(&ticket.0)
    }

    /// Brings a number when an operation ends, or now if it has ended.
    pub fn notice_end(&mut self, ticket: Ticket, notice: u64) {
        if self.under_way.contains_key(&ticket.0) {
            self.notices.insert(ticket.0, notice);
        } else {
            noticed(notice);
        }
    }

    /// This end will not be taken.
    pub fn forget(&mut self, ticket: Ticket) {
        if self.ended.remove(&ticket.0).is_none() {
            self.forgotten.push(ticket.0);
        }
    }

    /// Opens a queue; false if it is open.
    pub fn open_queue(&mut self, name: u64) -> bool {
        let new = !self.queues.contains_key(&name);
        self.queues.entry(name).or_default();
        new
    }

    /// Takes a queue's first message out.
    pub fn dequeue(&mut self, name: u64) -> Option<Vec<u8>> {
        self.queues.get_mut(&name)?.pop_front()
    }

    /// Messages in a queue.
    pub fn queued(&self, name: u64) -> usize {
        self.queues.get(&name).map_or(0, VecDeque::len)
    }

    /// Takes in an operation's end with a payload part. Returns the wrongly stored bytes, if any.
    pub fn ended(
        &mut self,
        ended: link::OperationEnd,
        delivery: &Delivery,
        part: PayloadPart,
        bytes: &[u8],
    ) -> Option<LibraryProblem> {
        // The bytes of a lost operation are the reason.
        if let Some(buffer) = self.under_way.get(&ended.id)
            && !matches!(ended.status, EndStatus::Lost { .. })
        {
            buffer.store(part.at(), bytes);
        }
        if !part.is_last() {
            return None;
        }
        let buffer = self.under_way.remove(&ended.id)?;
        noticed(self.notices.remove(&ended.id).unwrap_or(0));
        let size = part.whole();
        let end = end(ended, size);
        let stores = matches!(
            ended.end,
            EndKind::Received(_) | EndKind::Got | EndKind::Collected { .. }
        );
        let wrong = end.is_ok()
            && stores
            && delivery.checksum != 0
            && link::checksum(buffer.bytes(0, size)) != delivery.checksum;
        let forgotten = self.forgotten.iter().position(|&id| id == ended.id);
        if let Some(place) = forgotten {
            self.forgotten.swap_remove(place);
        } else {
            self.ended.insert(ended.id, end);
        }
        wrong.then(|| {
            let stored = buffer.bytes(0, size).collect::<Vec<_>>().concat();
            differs(delivery.message, stored)
        })
    }

    /// A message part that has come into a queue.
    pub fn arrived(
        &mut self,
        queue: u64,
        delivery: &Delivery,
        part: PayloadPart,
        bytes: &[u8],
    ) -> Option<LibraryProblem> {
        let queue = self.queues.entry(queue).or_default();
        if part.at() == 0 {
            queue.push_back(Vec::with_capacity(part.whole()));
        }
        let message = queue.back_mut()?;
        message.extend_from_slice(bytes);
        let wrong = part.is_last()
            && delivery.checksum != 0
            && link::checksum([&message[..]]) != delivery.checksum;
        wrong.then(|| differs(delivery.message, message.clone()))
    }
}

fn end(ended: link::OperationEnd, size: usize) -> Result<CallEnd, OperationFailure> {
    let message = match ended.end {
        EndKind::Received(message) | EndKind::Found(message) => message,
        _ => Envelope::default(),
    };
    match ended.status {
        EndStatus::Done => Ok(CallEnd {
            from: message.from,
            tag: message.tag & !super::OWN_TAGS,
            size: match ended.end {
                EndKind::Found(message) => message.size as usize,
                _ => size,
            },
            word: match ended.end {
                EndKind::Fetched { word } => word,
                _ => 0,
            },
        }),
        EndStatus::Truncated => Err(OperationFailure::Truncated(message.size as usize)),
        EndStatus::Cancelled => Err(OperationFailure::Cancelled),
        EndStatus::Nothing => Err(OperationFailure::Nothing),
        EndStatus::Refused => Err(OperationFailure::Refused),
        EndStatus::Lost { .. } => Err(OperationFailure::Lost),
    }
}
