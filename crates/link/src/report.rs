//! What the simulator writes: reports, and how they lie in memory.
//!
//! Ranks trust the simulator: a raw report without a meaning is a broken invariant of the link.

use crate::order::Place;
use crate::raw::{ANYBODY, RawReport, ReportKind};
use bytemuck::checked::try_cast;

/// Completion data in a raw record that stands for none.
const NO_DATA: u32 = u32::MAX;

/// A report, and what its rank needs to check the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The report.
    pub report: Report,
    /// The [checksum](crate::checksum) that the payload's sender has given, or 0: then nothing is compared.
    pub checksum: u64,
    /// The number of the payload's message in the run, for a [complaint](crate::Complaint).
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// An operation has ended.
    Ended(Ended),
    /// An untagged message has come, which is the payload.
    Untagged {
        /// The sender.
        from: u32,
        /// Completion data.
        data: Option<u32>,
    },
    /// Store the payload in memory of this rank: another rank has put it there.
    Write {
        /// Where in which memory; the rank is the one that has put it.
        place: Place,
        /// How many bytes.
        size: u64,
        /// The number that comes with the put, or 0.
        notice: u64,
    },
    /// Reply with bytes of this rank's memory: another rank gets them.
    Read {
        /// Which memory.
        key: u64,
        /// Where in it.
        offset: u64,
        /// How many bytes.
        size: u64,
    },
    /// Reply with the second of two vectors of one length, into which the function of the rank's reduction has combined
    /// both. The vectors are the payload, one behind the other.
    Combine,
    /// A message is the first one in a queue of this rank. The message is the payload.
    Arrived {
        /// The queue's name.
        queue: u64,
    },
}

/// The end of an operation. The payload of an operation that is lost says why, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The number of the operation.
    pub id: u64,
    /// How it has ended.
    pub status: Status,
    /// The kind of its end.
    pub end: End,
}

/// The kinds of ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A send, whose buffer may be used again.
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
    /// A collective call, with the result as its payload if the result is due to this rank; or the making of a group.
    Collected {
        /// Bytes of the result.
        size: u64,
    },
}

/// The envelope of a message: all but its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Well.
    Done,
    /// The message was longer than its room, and nothing of it was stored.
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

impl Status {
    fn word(self) -> u32 {
        match self {
            Status::Done => 0,
            Status::Truncated => 1,
            Status::Cancelled => 2,
            Status::Nothing => 3,
            Status::Refused => 4,
            Status::Lost { .. } => 5,
        }
    }

    fn of(raw: &RawReport) -> Option<Status> {
        Some(match raw.status {
            0 => Status::Done,
            1 => Status::Truncated,
            2 => Status::Cancelled,
            3 => Status::Nothing,
            4 => Status::Refused,
            5 => Status::Lost {
                peer: (raw.peer != ANYBODY).then_some(raw.peer),
            },
            _ => return None,
        })
    }
}

impl Envelope {
    fn raw(self, kind: ReportKind) -> RawReport {
        RawReport {
            peer: self.from,
            tag: self.tag,
            data: self.data.unwrap_or(NO_DATA),
            size: self.size,
            ..RawReport::of(kind)
        }
    }

    fn of(raw: &RawReport) -> Envelope {
        Envelope {
            from: raw.peer,
            tag: raw.tag,
            data: (raw.data != NO_DATA).then_some(raw.data),
            size: raw.size,
        }
    }
}

impl Delivery {
    /// The report as it lies in memory.
    pub fn raw(&self) -> RawReport {
        RawReport {
            checksum: self.checksum,
            message: self.message,
            ..self.report.raw()
        }
    }

    /// The report that a raw one stands for, if it has a meaning.
    pub fn parse(raw: &RawReport) -> Option<Delivery> {
        Some(Delivery {
            report: Report::parse(raw)?,
            checksum: raw.checksum,
            message: raw.message,
        })
    }
}

impl Report {
    fn raw(self) -> RawReport {
        match self {
            Report::Ended(ended) => ended.raw(),
            Report::Untagged { from, data } => RawReport {
                peer: from,
                data: data.unwrap_or(NO_DATA),
                ..RawReport::of(ReportKind::Untagged)
            },
            Report::Write {
                place,
                size,
                notice,
            } => RawReport {
                peer: place.rank,
                key: place.key,
                offset: place.offset,
                size,
                tag: notice,
                ..RawReport::of(ReportKind::Write)
            },
            Report::Read { key, offset, size } => RawReport {
                key,
                offset,
                size,
                ..RawReport::of(ReportKind::Read)
            },
            Report::Combine => RawReport::of(ReportKind::Combine),
            Report::Arrived { queue } => RawReport {
                key: queue,
                ..RawReport::of(ReportKind::Arrived)
            },
        }
    }

    fn parse(raw: &RawReport) -> Option<Report> {
        let end = match try_cast(raw.kind).ok()? {
            ReportKind::Untagged => {
                let Envelope { from, data, .. } = Envelope::of(raw);
                return Some(Report::Untagged { from, data });
            }
            ReportKind::Write => {
                return Some(Report::Write {
                    place: Place {
                        rank: raw.peer,
                        key: raw.key,
                        offset: raw.offset,
                    },
                    size: raw.size,
                    notice: raw.tag,
                });
            }
            ReportKind::Read => {
                let &RawReport {
                    key, offset, size, ..
                } = raw;
                return Some(Report::Read { key, offset, size });
            }
            ReportKind::Combine => return Some(Report::Combine),
            ReportKind::Arrived => return Some(Report::Arrived { queue: raw.key }),
            ReportKind::Sent => End::Sent,
            ReportKind::Received => End::Received(Envelope::of(raw)),
            ReportKind::Found => End::Found(Envelope::of(raw)),
            ReportKind::Stored => End::Stored,
            ReportKind::Got => End::Got,
            ReportKind::Fetched => End::Fetched { word: raw.tag },
            ReportKind::Enqueued => End::Enqueued,
            ReportKind::Collected => End::Collected { size: raw.size },
        };
        Some(Report::Ended(Ended {
            id: raw.id,
            status: Status::of(raw)?,
            end,
        }))
    }
}

impl Ended {
    fn raw(self) -> RawReport {
        let raw = match self.end {
            End::Sent => RawReport::of(ReportKind::Sent),
            End::Received(envelope) => envelope.raw(ReportKind::Received),
            End::Found(envelope) => envelope.raw(ReportKind::Found),
            End::Stored => RawReport::of(ReportKind::Stored),
            End::Got => RawReport::of(ReportKind::Got),
            End::Fetched { word } => RawReport {
                tag: word,
                ..RawReport::of(ReportKind::Fetched)
            },
            End::Enqueued => RawReport::of(ReportKind::Enqueued),
            End::Collected { size } => RawReport {
                size,
                ..RawReport::of(ReportKind::Collected)
            },
        };
        let peer = match self.status {
            Status::Lost { peer } => peer.unwrap_or(ANYBODY),
            _ => raw.peer,
        };
        RawReport {
            id: self.id,
            status: self.status.word(),
            peer,
            ..raw
        }
    }
}

#[cfg(test)]
mod tests;
