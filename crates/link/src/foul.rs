//! A rank's breaches of the link's rules.
//!
//! A rank is the user's program, and its process can write anything anywhere in the shared memory:
//! by a stray pointer, by a library in another version, or on purpose. So the simulator trusts no
//! word that it reads there. Every length is compared with the area, every part with the one
//! before, every number with its range. A word that is wrong is an error that names the rank; it
//! ends the run, not the simulator. Words that are copied are copied once, before they are checked,
//! so that a rank gains no advantage by changing them meanwhile. The memory's file is sealed: no
//! rank can cut it.
//!
//! A rank that writes into other ranks' slots may put the blame on one of these.

use crate::BATCH;
use thiserror::Error;

/// How a rank has broken the link's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// The area holds more bytes than it has room for.
    #[error("it says that its area holds {length} bytes, and the area has room for {BATCH}")]
    Length {
        /// The byte count.
        length: u64,
    },
    /// A payload leaves the area, or does not begin where the part before ended.
    #[error("the parts of a payload do not make up a whole")]
    Part,
    /// The turn was given away before a payload was complete.
    #[error("it gave its turn away within an order")]
    Within,
    /// The rank took its turn back.
    #[error("it went on without having its turn")]
    Running,
    /// A turn's last order is not a wait, or another one is.
    #[error("it gave its turn away without saying what it waits for")]
    NoWait,
    /// The rank waits, or answers, without having been asked; or it was asked, and waits for
    /// something else.
    #[error("it answers what it was not asked, or does not answer")]
    Answer,
    /// The bytes are not an order: there is no such order, or no such atomic or collective call.
    #[error("it gave an order that no rank can give")]
    Record,
    /// An order was given before the rank continued, or before the order that precedes it.
    #[error("it gave an order at {time} ps, and its time had come to {now} ps before")]
    Past {
        /// The order's time.
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
    /// A message is taken out of a queue that the rank has not made, or that is empty.
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
    /// A group does not exist, has other members, or does not include the rank that gave the order.
    #[error("it names group {key}, which is no group of this rank with these members")]
    Group {
        /// The group.
        key: u64,
    },
    /// A collective call's vectors cannot be combined, or its bytes differ from those that it
    /// announces.
    #[error("it gave a collective call of kind {kind} that makes no sense")]
    Collective {
        /// The kind.
        kind: u32,
    },
}
