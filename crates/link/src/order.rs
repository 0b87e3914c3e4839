//! Rank orders, and the rules that an order keeps by itself.
//!
//! An order that has been read is checked before it is passed on, so that each field of an
//! [`Order`] has a meaning.

use crate::atomic::{Atomic, Width};
use crate::collective::{CollectiveKind, Combiner};
use crate::foul::Violation;
use serde::{Deserialize, Serialize};

/// A rank's order.
///
/// *Completion data* are 32 bits that the MPI library sends beside a message (`FI_REMOTE_CQ_DATA`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Send a message, which is the payload.
    Send {
        /// The receiver.
        to: u32,
        /// The tag.
        tag: u64,
        /// Completion data.
        data: Option<u32>,
        /// Whether the send ends only when it is matched.
        synchronous: bool,
        /// Whether the program sends in a nonblocking call that makes a request.
        request: bool,
    },
    /// Send an untagged message, which is the payload.
    Untagged {
        /// The receiver.
        to: u32,
        /// Completion data.
        data: Option<u32>,
    },
    /// Post a receive.
    Receive {
        /// Which message.
        wanted: MessageFilter,
        /// The length of its buffer in bytes.
        room: u64,
        /// Whether the program receives in a nonblocking call that makes a request.
        request: bool,
    },
    /// Look for a message that has come.
    Peek {
        /// Which message.
        wanted: MessageFilter,
        /// Whether the message stays for an [`Order::Claim`] with the same number.
        claims: bool,
    },
    /// Wait for a message, and leave it where it is.
    Probe {
        /// Which message.
        wanted: MessageFilter,
    },
    /// Receive the message that the peek with this number has found.
    Claim {
        /// The length of its buffer in bytes.
        room: u64,
    },
    /// Take back the receive or probe with this number, if it has no message yet: it ends as
    /// [`EndStatus::Cancelled`], or as without this order.
    ///
    /// [`EndStatus::Cancelled`]: crate::EndStatus::Cancelled
    Cancel,
    /// Store the payload in another rank's memory.
    Put {
        /// Where.
        to: RemoteMemory,
        /// A number that the other rank gets with the bytes, or 0.
        notice: u64,
    },
    /// Fetch bytes from another rank's memory.
    Get {
        /// From where.
        from: RemoteMemory,
        /// How many.
        size: u64,
    },
    /// Change a word in another rank's memory, in one step, and fetch the old word.
    Atomic {
        /// Where the word is.
        on: RemoteMemory,
        /// The change.
        atomic: Atomic,
        /// The word length.
        width: Width,
        /// The operand.
        operand: u64,
        /// The word to compare with.
        compare: u64,
    },
    /// Make a queue for other ranks' messages. A queue that has this name stays as it is.
    Queue {
        /// The queue's name.
        name: u64,
        /// How many messages it holds.
        slots: u32,
        /// The length of the longest message in bytes.
        slot: u64,
    },
    /// Put the payload into another rank's queue.
    Enqueue {
        /// The rank.
        to: u32,
        /// The queue's name.
        name: u64,
    },
    /// The program has taken one message out of a queue: its slot is free.
    Dequeued {
        /// The queue's name.
        name: u64,
    },
    /// Each member of a group ([`crate::collective`]) names it once, before its first group call,
    /// and leaves it at the end. The report on the number has whether there is room for the group.
    Group {
        /// The group's name.
        key: u64,
        /// The members, which are the payload; empty if the rank leaves the group.
        #[serde(skip)]
        ranks: Vec<u32>,
    },
    /// Start this many ranks in their own world (`MPI_Comm_spawn`). The report is a collective
    /// call's, and its payload is the first new rank's number in the run; the others have the next
    /// numbers.
    Spawn {
        /// How many.
        count: u32,
    },
    /// Call a group: this member's bytes are the payload.
    Collective(CollectiveCall),
    /// An MPI call has ended: for the record.
    Called {
        /// The call ([`crate::calls`]).
        call: u32,
        /// When it began.
        began: u64,
        /// Whether Elanlib has carried it out.
        served: bool,
    },
    /// The host has measured an execution of a region ([`crate::plan`]): for the table. A region's
    /// first order has its name as payload.
    Computed {
        /// The rank's number for the region.
        region: u64,
        /// Processor time in nanoseconds.
        time: u64,
    },
    /// The program has just executed a region: for the recording. A region's first order has its
    /// name as payload.
    Executed {
        /// The rank's number for the region.
        region: u64,
        /// Simulated time in picoseconds.
        time: u64,
    },
}

/// A member's group call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectiveCall {
    /// The group's name.
    pub group: u64,
    /// The call.
    pub kind: CollectiveKind,
    /// The root, by its place in the group.
    pub root: u32,
    /// The bytes in a whole vector or message.
    pub size: u64,
    /// How vectors are combined, if they are.
    pub combiner: Option<Combiner>,
    /// Whether by the hardware, where that serves the group.
    pub hardware: bool,
    /// Whether the rank continues immediately, and the adapter carries the call out.
    pub posted: bool,
}

/// The messages that a receive or a look takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFilter {
    /// From this rank only.
    pub from: Option<u32>,
    /// The tag.
    pub tag: u64,
    /// The tag bits that count.
    pub mask: u64,
}

impl MessageFilter {
    /// Whether a message is taken.
    pub fn takes(&self, from: u32, tag: u64) -> bool {
        self.from.is_none_or(|rank| rank == from) && (tag ^ self.tag) & self.mask == 0
    }
}

/// A place in a rank's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteMemory {
    /// The rank.
    pub rank: u32,
    /// Which memory: a key that the rank has registered, [`ADDRESS_SPACE`](crate::ADDRESS_SPACE) or
    /// [`ELAN3_SPACE`](crate::ELAN3_SPACE).
    pub key: u64,
    /// Where in it.
    pub offset: u64,
}

impl Order {
    /// Whether the order is for the records only: it has no effect for the rank.
    pub fn is_record(&self) -> bool {
        matches!(
            self,
            Order::Called { .. } | Order::Computed { .. } | Order::Executed { .. }
        )
    }

    /// Whether the rank only looks for messages, or ends a look: ranks repeat this while no event
    /// arrives.
    pub fn is_look(&self) -> bool {
        matches!(
            self,
            Order::Peek { .. } | Order::Probe { .. } | Order::Cancel
        )
    }

    /// Whether the order takes a message or looks for one.
    pub fn seeks(&self) -> bool {
        matches!(
            self,
            Order::Receive { .. } | Order::Peek { .. } | Order::Probe { .. } | Order::Claim { .. }
        )
    }

    /// Whether the order belongs to one-sided communication, or to a library's messages to itself.
    pub fn is_one_sided(&self) -> bool {
        matches!(
            self,
            Order::Put { .. } | Order::Get { .. } | Order::Atomic { .. } | Order::Untagged { .. }
        )
    }

    /// Whether the order has a payload that deserves a checksum.
    pub fn carries(&self) -> bool {
        matches!(
            self,
            Order::Send { .. }
                | Order::Untagged { .. }
                | Order::Put { .. }
                | Order::Enqueue { .. }
                | Order::Collective(_)
        )
    }
}

/// Refuses a rank that does not exist.
fn exists(peer: u32, ranks: u32) -> Result<(), Violation> {
    if peer < ranks {
        Ok(())
    } else {
        Err(Violation::Peer { peer, ranks })
    }
}

impl CollectiveCall {
    fn check(&self) -> Result<(), Violation> {
        let makes_sense = match self.combiner {
            None => !self.kind.combines(),
            Some(combiner) => {
                self.kind.combines()
                    && combiner.is_defined()
                    && self.size.is_multiple_of(combiner.element())
            }
        };
        let kind = self.kind as u32;
        makes_sense
            .then_some(())
            .ok_or(Violation::Collective { kind })
    }
}

impl Order {
    /// Checks an order that has been read, in a run with this many ranks, and takes its part of the
    /// payload out.
    pub(crate) fn check(&mut self, bytes: &mut Vec<u8>, ranks: u32) -> Result<(), Violation> {
        match self {
            Order::Send { to, .. } | Order::Untagged { to, .. } | Order::Enqueue { to, .. } => {
                exists(*to, ranks)
            }
            Order::Receive { wanted, .. }
            | Order::Peek { wanted, .. }
            | Order::Probe { wanted } => wanted.from.map_or(Ok(()), |from| exists(from, ranks)),
            Order::Put { to: place, .. }
            | Order::Get { from: place, .. }
            | Order::Atomic { on: place, .. } => exists(place.rank, ranks),
            Order::Group { key, ranks } => {
                let bytes = std::mem::take(bytes);
                let (words, []) = bytes.as_chunks() else {
                    return Err(Violation::Group { key: *key });
                };
                *ranks = words.iter().map(|&word| u32::from_ne_bytes(word)).collect();
                Ok(())
            }
            Order::Collective(call) => call.check(),
            Order::Claim { .. }
            | Order::Cancel
            | Order::Queue { .. }
            | Order::Dequeued { .. }
            | Order::Spawn { .. }
            | Order::Called { .. }
            | Order::Computed { .. }
            | Order::Executed { .. } => Ok(()),
        }
    }
}
