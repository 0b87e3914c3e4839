//! What a rank does that no rank may do.
//!
//! A rank is a program of the user, and its process can write anything anywhere in the shared memory: by a pointer that went
//! astray, by a library of another version, or on purpose. So the simulator takes nothing of what it reads there for granted.
//! Every length is compared with the area, every part with the one before, every number with its range. A word that is wrong
//! is an error that names the rank; it ends the run, not the simulator. Words that are copied are copied once, before they are
//! checked, so that a rank that changes them meanwhile gains nothing. The file of the memory is sealed: no rank can cut it.
//!
//! A rank that writes into the slots of other ranks may put the blame on one of these.

use crate::BATCH;
use thiserror::Error;

/// How a rank has broken the rules of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Foul {
    /// The area holds more bytes than it has room for.
    #[error("it says that its area holds {length} bytes, and the area has room for {BATCH}")]
    Length {
        /// The number of bytes.
        length: u64,
    },
    /// A payload leaves the area, or does not begin where the part before ended.
    #[error("the parts of a payload do not make up a whole")]
    Part,
    /// The turn was given away before all parts of a payload had come.
    #[error("it gave its turn away within an order")]
    Within,
    /// The rank took its turn back.
    #[error("it went on without having its turn")]
    Running,
    /// The last order of a turn does not say what the rank waits for, or another one does.
    #[error("it gave its turn away without saying what it waits for")]
    NoWait,
    /// The rank waits, or answers, without having been asked; or it was asked, and waits for something else.
    #[error("it answers what it was not asked, or does not answer")]
    Answer,
    /// Bytes are not those of an order: there is no such order, or no such atomic or collective call.
    #[error("it gave an order that no rank can give")]
    Record,
    /// An order was given before the rank went on, or before the order that precedes it.
    #[error("it gave an order at {time} ps, and its time had come to {now} ps before")]
    Past {
        /// The time of the order.
        time: u64,
        /// The rank's local time at the least.
        now: u64,
    },
    /// A rank is named that does not exist.
    #[error("it names rank {peer}, and there are {ranks} ranks")]
    Peer {
        /// The rank that is named.
        peer: u32,
        /// How many ranks there are.
        ranks: u32,
    },
    /// A message is claimed that no peek has kept.
    #[error("it claims message {id}, which no peek has kept")]
    Claim {
        /// The peek's name.
        id: u64,
    },
    /// A message is taken out of a queue that the rank has not made, or that has none.
    #[error("it takes a message out of queue {key}, in which it has none")]
    Dequeued {
        /// The queue's name.
        key: u64,
    },
    /// Bytes are put where the rank that gets them has no memory for others.
    #[error("it put {size} bytes at address {at:#x} of rank {peer}, which offers no memory there")]
    Address {
        /// The rank that was to get the bytes.
        peer: u32,
        /// The address.
        at: u64,
        /// How many bytes.
        size: u64,
    },
    /// A group does not exist, has other members, or none that gave the order.
    #[error("it names group {key}, which is no group of this rank with these members")]
    Group {
        /// The group.
        key: u64,
    },
    /// Vectors of a collective call cannot be combined, or its bytes are not those that it announces.
    #[error("it gave a collective call of kind {kind} that makes no sense")]
    Collective {
        /// The kind.
        kind: u32,
    },
}
