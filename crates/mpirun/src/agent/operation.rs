//! The operations that a rank has under way, and their descriptions for people.

use crate::endpoint::MessageNumber;
use crate::record::Recorder;
use crate::trace::{PROGRAM, tagged};
use goal::Kind;
use link::{CollectiveKind, EndKind, Envelope, MessageFilter, Report};
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use units::Bytes;

/// The result that an atomic has read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtomicResult {
    pub word: u64,
    /// Whether the rank has no such memory.
    pub refused: bool,
    /// Whether it was compared, and was another one.
    pub differs: bool,
}

/// An operation. A `record` is its number in the trace.
#[derive(Clone)]
pub(super) enum Operation {
    Send {
        to: u32,
        tag: u64,
        size: Bytes,
        record: usize,
    },
    /// A send of an untagged message.
    Untagged {
        to: u32,
        size: Bytes,
        record: usize,
    },
    Receive(MessageFilter),
    /// The receive of a message that a peek has kept, which is complete here, with its buffer
    /// length.
    Claim(MessageFilter, Bytes),
    Peek {
        wanted: MessageFilter,
        claims: bool,
    },
    Probe(MessageFilter),
    Put {
        to: u32,
        size: Bytes,
        record: usize,
    },
    Get {
        from: u32,
        size: Bytes,
        record: usize,
        number: MessageNumber,
    },
    Atomic {
        on: u32,
        record: usize,
        found: Rc<Cell<AtomicResult>>,
    },
    Enqueue {
        to: u32,
        size: Bytes,
        record: usize,
    },
    Collective {
        kind: CollectiveKind,
        size: Bytes,
        root: u32,
        ranks: u32,
        hardware: bool,
        /// Whether the rank has gone on since.
        posted: bool,
    },
    /// An untagged message on its way to this rank.
    Message {
        from: u32,
        size: Bytes,
        /// Its place among its sender's messages.
        sequence: u64,
        number: MessageNumber,
    },
    /// A message in this rank's queue, by the queue's name.
    Arrival(u64),
}

impl Operation {
    /// Whether it only looks for a message, and leaves the message where it is.
    pub fn looks(&self) -> bool {
        matches!(self, Operation::Peek { .. } | Operation::Probe(_))
    }

    /// The trace number of the message that it sends, if the message's end is the send's end.
    pub fn sends(&self) -> Option<usize> {
        match *self {
            Operation::Send { record, .. } | Operation::Untagged { record, .. } => Some(record),
            _ => None,
        }
    }

    /// The trace number of bytes that are in place when it ends.
    pub fn copies(&self) -> Option<usize> {
        match *self {
            Operation::Put { record, .. }
            | Operation::Get { record, .. }
            | Operation::Atomic { record, .. }
            | Operation::Enqueue { record, .. } => Some(record),
            _ => None,
        }
    }

    /// Whether it brings a message.
    pub fn receives(&self) -> bool {
        matches!(
            self,
            Operation::Receive(_) | Operation::Claim(..) | Operation::Message { .. }
        )
    }

    /// Whether its end lets the program go on that waited for others.
    pub fn is_move(&self) -> bool {
        matches!(
            self,
            Operation::Receive(_) | Operation::Claim(..) | Operation::Collective { .. }
        )
    }

    /// Whether it keeps the message that it finds for a later order.
    pub fn claims(&self) -> bool {
        matches!(self, Operation::Peek { claims: true, .. })
    }

    /// The buffer length for a message that is complete here.
    pub fn room(&self) -> Option<Bytes> {
        match *self {
            Operation::Claim(_, room) => Some(room),
            _ => None,
        }
    }

    /// An untagged message's sender, and its place among the sender's messages.
    pub fn place(&self) -> Option<(u32, u64)> {
        match *self {
            Operation::Message { from, sequence, .. } => Some((from, sequence)),
            _ => None,
        }
    }

    /// The queue into which a message has come.
    pub fn queue(&self) -> Option<u64> {
        match *self {
            Operation::Arrival(queue) => Some(queue),
            _ => None,
        }
    }

    /// Whether the other rank has not let it do anything.
    pub fn is_refused(&self) -> bool {
        matches!(self, Operation::Atomic { found, .. } if found.get().refused)
    }

    /// Records its end, which the rank sees, with the message that it has found: the number in the
    /// trace, and the length.
    pub fn record_end(
        &self,
        recorder: &mut Recorder,
        rank: u32,
        key: u64,
        message: Option<(usize, Bytes)>,
    ) {
        match (self, message) {
            (Operation::Atomic { found, .. }, _) if found.get().differs => {
                let kind = "compare-and-swaps that find another word";
                recorder.refuse(rank, kind, &format!("{self}, and finds another one"));
            }
            (
                Operation::Send { .. }
                | Operation::Untagged { .. }
                | Operation::Put { .. }
                | Operation::Get { .. }
                | Operation::Atomic { .. },
                _,
            ) => recorder.sees_ended(rank, key),
            (Operation::Message { .. }, Some((record, size))) => {
                recorder.sees_active(rank, record, size);
            }
            (Operation::Receive(_) | Operation::Claim(..), Some((record, size))) => {
                recorder.sees_received(rank, key, record, size);
            }
            (&Operation::Peek { claims, .. }, Some((record, size))) => {
                recorder.sees_found(rank, record, size, (Kind::Poll, claims));
            }
            (Operation::Probe(_), Some((record, size))) => {
                recorder.sees_found(rank, record, size, (Kind::Probe, false));
            }
            _ => {}
        }
    }

    /// Whether it sends something, or asks another rank's adapter for something.
    pub fn goes_out(&self) -> bool {
        matches!(
            self,
            Operation::Send { .. }
                | Operation::Untagged { .. }
                | Operation::Put { .. }
                | Operation::Get { .. }
                | Operation::Atomic { .. }
                | Operation::Enqueue { .. }
        )
    }

    /// Whether it waits for a message and may be taken back.
    pub fn waits(&self) -> bool {
        matches!(self, Operation::Receive(_) | Operation::Probe(_))
    }

    /// Whether the rank has ordered it.
    pub fn is_own(&self) -> bool {
        !matches!(self, Operation::Message { .. } | Operation::Arrival(_))
    }

    /// The plural for its kind if a GOAL recording cannot express it. Arrivals are their senders'
    /// operations.
    pub fn unrecorded(&self) -> Option<&'static str> {
        match self {
            Operation::Send { .. }
            | Operation::Receive(_)
            | Operation::Claim(..)
            | Operation::Peek { .. }
            | Operation::Probe(_)
            | Operation::Untagged { .. }
            | Operation::Put { .. }
            | Operation::Get { .. }
            | Operation::Atomic { .. }
            | Operation::Message { .. }
            | Operation::Arrival(_) => None,
            Operation::Enqueue { .. } => Some("messages to queues"),
            Operation::Collective { .. } => Some("collective operations of Elanlib"),
        }
    }

    /// The other rank, if it is known.
    pub fn peer(&self) -> Option<u32> {
        match *self {
            Operation::Receive(wanted)
            | Operation::Claim(wanted, _)
            | Operation::Peek { wanted, .. }
            | Operation::Probe(wanted) => wanted.from,
            Operation::Send { to, .. }
            | Operation::Untagged { to, .. }
            | Operation::Put { to, .. }
            | Operation::Enqueue { to, .. } => Some(to),
            Operation::Get { from, .. } | Operation::Message { from, .. } => Some(from),
            Operation::Atomic { on, .. } => Some(on),
            Operation::Collective { .. } | Operation::Arrival(_) => None,
        }
    }

    /// Its message's number, if that is known from the beginning.
    pub fn number(&self) -> Option<MessageNumber> {
        match *self {
            Operation::Get { number, .. } | Operation::Message { number, .. } => Some(number),
            _ => None,
        }
    }

    /// Its rank's report, with the message that it has brought, if any.
    pub fn report(&self, message: Envelope, ended: impl Fn(EndKind) -> Report) -> Report {
        match self {
            Operation::Send { .. } | Operation::Untagged { .. } => ended(EndKind::Sent),
            Operation::Receive(_) | Operation::Claim(..) => ended(EndKind::Received(message)),
            Operation::Peek { .. } | Operation::Probe(_) => ended(EndKind::Found(message)),
            Operation::Put { .. } => ended(EndKind::Stored),
            Operation::Get { .. } => ended(EndKind::Got),
            Operation::Atomic { found, .. } => ended(EndKind::Fetched {
                word: found.get().word,
            }),
            Operation::Enqueue { .. } => ended(EndKind::Enqueued),
            Operation::Collective { .. } => ended(EndKind::Collected { size: message.size }),
            Operation::Message { .. } => Report::Untagged {
                from: message.from,
                data: message.data,
            },
            Operation::Arrival(queue) => Report::Arrived { queue: *queue },
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Send { to, tag, size, .. } => {
                write!(f, "sends {size} to rank {to}{}", tagged(*tag))
            }
            Operation::Untagged { to, size, .. } => {
                write!(f, "sends {size} of its own to rank {to}")
            }
            Operation::Receive(wanted) | Operation::Claim(wanted, _) => {
                write!(f, "receives {}", MessageFilterText(wanted))
            }
            Operation::Peek { wanted, .. } | Operation::Probe(wanted) => {
                write!(f, "looks for {}", MessageFilterText(wanted))
            }
            Operation::Put { to, size, .. } => {
                write!(f, "puts {size} into the memory of rank {to}")
            }
            Operation::Get { from, size, .. } => {
                write!(f, "gets {size} from the memory of rank {from}")
            }
            Operation::Atomic { on, .. } => write!(f, "changes a word of rank {on}"),
            Operation::Enqueue { to, size, .. } => {
                write!(f, "sends {size} to a queue of rank {to}")
            }
            Operation::Message { from, size, .. } => {
                write!(f, "receives {size} of the library of rank {from}")
            }
            Operation::Arrival(_) => write!(f, "receives a message of a queue"),
            Operation::Collective {
                kind,
                size,
                root,
                ranks,
                hardware,
                posted,
            } => {
                let way = if *hardware {
                    "hardware"
                } else {
                    "Elanlib's tree"
                };
                let calls = if *posted { "has begun" } else { "calls" };
                write!(f, "{calls} a {} ", kind.name())?;
                match kind {
                    CollectiveKind::Barrier => {}
                    CollectiveKind::Broadcast => write!(f, "of {size} from rank {root} ")?,
                    CollectiveKind::Reduce => write!(f, "of {size} at rank {root} ")?,
                    CollectiveKind::AllReduce => write!(f, "of {size} ")?,
                }
                write!(f, "among {ranks} ranks by {way}")
            }
        }
    }
}

/// The messages that an operation takes, for people.
struct MessageFilterText<'a>(&'a MessageFilter);

impl fmt::Display for MessageFilterText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.from {
            None => f.write_str("a message of any rank")?,
            Some(rank) => write!(f, "a message of rank {rank}")?,
        }
        if self.0.mask & PROGRAM == 0 {
            return f.write_str(", any tag");
        }
        f.write_str(&tagged(self.0.tag))
    }
}
