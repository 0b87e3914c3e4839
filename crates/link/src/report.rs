//! The simulator's reports.
//!
//! Ranks trust the simulator: a raw report without a meaning is a broken invariant in the link.

use crate::order::RemoteMemory;
use crate::raw::Raw;
use serde::{Deserialize, Serialize};

/// A report, and the data with which its rank checks the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The report.
    pub report: Report,
    /// The [checksum](crate::checksum) that the payload's sender has given, or 0: then there is no
    /// comparison.
    pub checksum: u64,
    /// The payload's message number in the run, for a [complaint](crate::Complaint).
    pub message: u64,
}

impl From<Report> for Delivery {
    /// A report without a checksum.
    fn from(report: Report) -> Delivery {
        Delivery {
            report,
            checksum: 0,
            message: 0,
        }
    }
}

/// A report to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// An operation has ended.
    Ended(OperationEnd),
    /// An untagged message has come, which is the payload.
    Untagged {
        /// The sender.
        from: u32,
        /// Completion data.
        data: Option<u32>,
    },
    /// Store the payload in this rank's memory: another rank has put it there.
    Write {
        /// Where in which memory; the rank is the one that has put it.
        place: RemoteMemory,
        /// How many bytes.
        size: u64,
        /// The number that comes with the put, or 0.
        notice: u64,
    },
    /// Reply with bytes from this rank's memory: another rank gets them.
    Read {
        /// Which memory.
        key: u64,
        /// Where in it.
        offset: u64,
        /// How many bytes.
        size: u64,
    },
    /// Reply with the second of two equally long vectors, into which the rank's reduction function
    /// has combined both. The vectors are the payload, one behind the other.
    Combine,
    /// A message is the first one in this rank's queue. The message is the payload.
    Arrived {
        /// The queue's name.
        queue: u64,
    },
}

/// An operation's end. A lost operation's payload is the reason, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationEnd {
    /// The operation's number.
    pub id: u64,
    /// How it has ended.
    pub status: EndStatus,
    /// The kind of end.
    pub end: EndKind,
}

/// The kinds of ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndKind {
    /// A send; its buffer may be used again.
    Sent,
    /// A receive, with the message as its payload.
    Received(Envelope),
    /// A peek or probe.
    Found(Envelope),
    /// A put.
    Stored,
    /// A get, with its bytes as the payload.
    Got,
    /// An atomic.
    Fetched {
        /// The old word.
        word: u64,
    },
    /// An insertion into a queue.
    Enqueued,
    /// A collective call, with the result as its payload if the result is due to this rank; or the
    /// creation of a group.
    Collected {
        /// The length of the result in bytes.
        size: u64,
    },
}

/// A message's envelope: all but its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The sender.
    pub from: u32,
    /// The tag.
    pub tag: u64,
    /// Completion data.
    pub data: Option<u32>,
    /// How many bytes it has.
    pub size: u64,
}

/// How an operation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndStatus {
    /// Well.
    Done,
    /// The message was longer than its room, and it was not stored, not even in part.
    Truncated,
    /// It was taken back.
    Cancelled,
    /// There is no such message, or no room for a group.
    Nothing,
    /// The simulated adapter, or the rank at the other end, has refused it.
    Refused,
    /// Parts of the simulated machine have failed.
    Lost {
        /// The rank at the other end, if it is known.
        peer: Option<u32>,
    },
}

impl Delivery {
    /// The report as it lies in memory.
    pub fn raw(&self) -> Raw {
        Raw::of(self)
    }

    /// The report that a raw one stands for, if it has a meaning.
    pub fn parse(raw: &Raw) -> Option<Delivery> {
        raw.parse()
    }
}

#[cfg(test)]
mod tests;
