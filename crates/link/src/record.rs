//! The ranks' records: orders, turn ends, and answers; and the parser that makes them from raw
//! records.
//!
//! A rank writes a record as [`Raw`] bytes, and the simulator reads them once, by
//! [`Record::parse`]. The rules for a whole turn (which record may come where, and when) are the
//! server's.

use crate::foul::Violation;
use crate::order::Order;
use crate::raw::Raw;
use serde::{Deserialize, Serialize};

/// A rank's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The rank's local time at which it was written.
    pub time: u64,
    /// The [checksum](crate::checksum) over the payload, or 0 without one.
    pub checksum: u64,
    /// Its content.
    pub body: Body,
}

/// The content of a rank's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// The rank orders. A number names an operation in reports; an operation with number 0 gets no
    /// report.
    Order(u64, Order),
    /// The answer to [`Report::Read`](crate::Report::Read) or
    /// [`Report::Combine`](crate::Report::Combine): bytes are the payload.
    Reply,
    /// The run cannot go on.
    Complaint(Complaint),
    /// A turn's end: the rank waits. It is still its last turn's wait if the turn came only for an
    /// answer.
    Wait(RankWait, Continuation),
    /// A turn's end: the rank has left MPI. It gives no more orders, unless it comes back.
    Finish,
}

/// Whether a wait is the previous turn's.
pub type Continuation = bool;

/// How a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RankWait {
    /// Until a moment, also if operations end before.
    Sleep {
        /// The moment.
        until: u64,
    },
    /// Until there is a report.
    Report(Patience),
    /// Until this many ranks wait at the meeting with this name, outside the simulation.
    Meeting {
        /// The meeting.
        which: u64,
        /// How many ranks meet.
        ranks: u64,
    },
    /// Until the machine's file system has carried out an operation.
    File(FileAccess),
}

/// An operation on a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAccess {
    /// Where in the file its bytes begin.
    pub offset: u64,
    /// Bytes that it reads.
    pub read: u64,
    /// Bytes that it writes.
    pub written: u64,
}

impl RankWait {
    /// For a report alone, at most until a moment.
    pub const fn report(until: u64) -> RankWait {
        RankWait::Report(Patience::until(until))
    }
}

/// How a rank waits for a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    /// At most until this moment; [`NEVER`](crate::NEVER) without an end.
    pub until: u64,
    /// Whether other threads in the rank's process run, which may bring the awaited event.
    pub threads: bool,
    /// Whether the rank also continues when others have written into its memory since its last
    /// turn.
    pub writes: bool,
    /// Whether the rank only seems to wait, by its program's host time: the run may not be
    /// repeatable.
    pub guessed: bool,
}

impl Patience {
    /// For a report alone, at most until a moment.
    pub const fn until(until: u64) -> Patience {
        Patience {
            until,
            threads: false,
            writes: false,
            guessed: false,
        }
    }
}

/// A rank's reason why the run cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Complaint {
    /// The payload is the message as the rank has stored it, and its checksum differs from the
    /// message's.
    Differs {
        /// The message's number in the run.
        message: u64,
    },
    /// A rank has put bytes where this rank has no memory for others.
    Refuses {
        /// The rank that has put them.
        by: u32,
        /// The address.
        offset: u64,
        /// How many bytes.
        size: u64,
    },
}

impl Record {
    /// A record without a checksum.
    pub fn plain(time: u64, body: Body) -> Record {
        Record {
            time,
            checksum: 0,
            body,
        }
    }

    /// The record as it lies in memory.
    pub fn raw(&self) -> Raw {
        Raw::of(self)
    }

    /// The record that a raw one stands for, with its payload, in a run with this many ranks. A
    /// payload that is a part of the record itself is taken out of `bytes`.
    ///
    /// # Errors
    /// If these are not a record's bytes, or a field has no meaning in it.
    pub fn parse(raw: &Raw, bytes: &mut Vec<u8>, ranks: u32) -> Result<Record, Violation> {
        let mut record: Record = raw.parse().ok_or(Violation::Record)?;
        if let Body::Order(_, order) = &mut record.body {
            order.check(bytes, ranks)?;
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests;
