//! What ranks order, and the rules that an order keeps by itself.
//!
//! An order that has been read is checked before anybody else has it, so that whoever has an [`Order`] finds no field without a
//! meaning.

use crate::atomic::{Atomic, Width};
use crate::collective::{CollectiveKind, Combiner};
use crate::foul::Foul;
use serde::{Deserialize, Serialize};

/// What a rank orders.
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
        /// Whether the program sends in a call that does not block, and that makes a request.
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
        wanted: Wanted,
        /// Bytes of its buffer.
        room: u64,
        /// Whether the program receives in a call that does not block, and that makes a request.
        request: bool,
    },
    /// Look for a message that has come.
    Peek {
        /// Which message.
        wanted: Wanted,
        /// Whether the message stays for an [`Order::Claim`] of the same number.
        claims: bool,
    },
    /// Wait for a message, and leave it where it is.
    Probe {
        /// Which message.
        wanted: Wanted,
    },
    /// Receive the message that the peek of this number has found.
    Claim {
        /// Bytes of its buffer.
        room: u64,
    },
    /// Take back the receive or probe of this number, if it has no message yet: it ends as [`Status::Cancelled`], or as
    /// without this order.
    ///
    /// [`Status::Cancelled`]: crate::Status::Cancelled
    Cancel,
    /// Store the payload in the memory of another rank.
    Put {
        /// Where.
        to: Place,
        /// A number that the other rank gets with the bytes, or 0.
        notice: u64,
    },
    /// Fetch bytes from the memory of another rank.
    Get {
        /// From where.
        from: Place,
        /// How many.
        size: u64,
    },
    /// Change a word in the memory of another rank, in one step, and fetch the old word.
    Atomic {
        /// Where the word is.
        on: Place,
        /// The change.
        atomic: Atomic,
        /// The length of the word.
        width: Width,
        /// The operand.
        operand: u64,
        /// The word to compare with.
        compare: u64,
    },
    /// Make a queue for messages of other ranks. A queue of this name stays as it is.
    Queue {
        /// The queue's name.
        name: u64,
        /// How many messages it holds.
        slots: u32,
        /// Bytes of the longest message.
        slot: u64,
    },
    /// Put the payload into a queue of another rank.
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
    /// Each member of a group ([`crate::collective`]) names it once, before its first call of the group, and leaves it
    /// at last. The report on the number says whether there is room for the group.
    Group {
        /// The group's name.
        key: u64,
        /// The members, which are the payload; none if the rank leaves the group.
        #[serde(skip)]
        ranks: Vec<u32>,
    },
    /// Start so many ranks, a world of their own (`MPI_Comm_spawn`). The report is that of a collective call, and its
    /// payload is the number of the first of these ranks in the run; the others have the next numbers.
    Spawn {
        /// How many.
        count: u32,
    },
    /// Call a group: this member's bytes are the payload.
    Collective(CollectiveCall),
    /// A call of MPI has ended: for the record.
    Called {
        /// The call ([`crate::calls`]).
        call: u32,
        /// When it began.
        began: u64,
        /// Whether Elanlib has carried it out.
        served: bool,
    },
    /// The host has measured an execution of a region ([`crate::plan`]): for the table. The payload of a region's first order is its
    /// name.
    Computed {
        /// The rank's number of the region.
        region: u64,
        /// Processor time in nanoseconds.
        time: u64,
    },
}

/// A member's call of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectiveCall {
    /// The group's name.
    pub group: u64,
    /// The call.
    pub kind: CollectiveKind,
    /// The root, by its place in the group.
    pub root: u32,
    /// Bytes of a whole vector or message.
    pub size: u64,
    /// How vectors are combined, if they are.
    pub combiner: Option<Combiner>,
    /// Whether by the hardware, where that serves the group.
    pub hardware: bool,
    /// Whether the rank goes on at once, and the adapter carries the call out.
    pub posted: bool,
}

/// The messages that a receive or a look takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// From this rank only.
    pub from: Option<u32>,
    /// The tag.
    pub tag: u64,
    /// Bits of the tag that count.
    pub mask: u64,
}

impl Wanted {
    /// Whether a message is taken.
    pub fn takes(&self, from: u32, tag: u64) -> bool {
        self.from.is_none_or(|rank| rank == from) && (tag ^ self.tag) & self.mask == 0
    }
}

/// A place in the memory of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The rank.
    pub rank: u32,
    /// Which memory: a key that the rank has registered, [`ADDRESS_SPACE`](crate::ADDRESS_SPACE) or
    /// [`ELAN3_SPACE`](crate::ELAN3_SPACE).
    pub key: u64,
    /// Where in it.
    pub offset: u64,
}

impl Order {
    /// Whether the order is for the records only: the rank does nothing by it.
    pub fn is_record(&self) -> bool {
        matches!(self, Order::Called { .. } | Order::Computed { .. })
    }

    /// Whether the rank only looks for messages, or ends a look: ranks repeat this while nothing happens.
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

    /// Whether the order is one of one-sided communication, or of a library's messages to itself.
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
fn exists(peer: u32, ranks: u32) -> Result<(), Foul> {
    if peer < ranks {
        Ok(())
    } else {
        Err(Foul::Peer { peer, ranks })
    }
}

impl CollectiveCall {
    fn check(&self) -> Result<(), Foul> {
        let makes_sense = match self.combiner {
            None => !self.kind.combines(),
            Some(combiner) => {
                self.kind.combines()
                    && combiner.is_defined()
                    && self.size.is_multiple_of(combiner.element())
            }
        };
        let kind = self.kind as u32;
        makes_sense.then_some(()).ok_or(Foul::Collective { kind })
    }
}

impl Order {
    /// Checks an order that has been read, in a run of so many ranks, and takes what is a part of it out of its payload.
    pub(crate) fn check(&mut self, bytes: &mut Vec<u8>, ranks: u32) -> Result<(), Foul> {
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
                    return Err(Foul::Group { key: *key });
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
            | Order::Computed { .. } => Ok(()),
        }
    }
}
