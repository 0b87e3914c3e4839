//! The desk: what of this rank is under way, and what the simulator's news mean to it.
//!
//! An operation gets a number when it is ordered, and lies here until its news come. Then its memory is filled, and its end
//! is put where the program will look for it: a completion queue, a counter, or both. The desk calls nobody and knows
//! no time; it is reached only under the session's lock.
//!
//! | part | keeps |
//! |---|---|
//! | [`ends`] | completion queues and counters |
//! | [`probe`] | the message that `MPI_Probe` waits for |
//! | [`untagged`] | buffers for untagged messages, and such messages that came too early |
//! | [`windows`] | memory that others may reach |
//!
//! What becomes of an operation:
//!
//! | news | status | completion |
//! |---|---|---|
//! | any | done | an entry with the operation's context and flags; the counter goes up |
//! | `Received` | truncated | the error `FI_ETRUNC`, nothing stored |
//! | `Received` | cancelled | the error `FI_ECANCELED` |
//! | `Found` | nothing | the error `FI_ENOMSG` |
//! | `Stored`, `Got` | refused | the error `FI_EKEYREJECTED` |

pub mod ends;
pub mod probe;
pub mod untagged;
pub mod windows;

use crate::abi::entries::{FiCqErrEntry, FiCqTaggedEntry};
use crate::abi::{
    Address, FI_ADDR_NOTAVAIL, FI_CLAIM, FI_DISCARD, FI_ECANCELED, FI_EIO, FI_EKEYREJECTED,
    FI_ENOMSG, FI_ETRUNC, FI_REMOTE_CQ_DATA,
};
use crate::memory::Buffer;
use ends::{Ends, Goal};
use link::{Kind, News, Order, Part, Report, Status};
use probe::Probe;
use std::collections::BTreeMap;
use untagged::Untagged;
use windows::Windows;

/// The label of messages that have none.
pub const NO_LABEL: u32 = u32::MAX;

/// An operation under way.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What the program calls it.
    pub context: Address,
    /// What comes in.
    pub buffer: Buffer,
    /// The flags that its completion will show.
    pub flags: u64,
    /// Where its end is told.
    pub goal: Goal,
}

/// Operations under way and memory that others may reach.
#[derive(Default)]
pub struct Desk {
    /// The latest number.
    latest: u64,
    under_way: BTreeMap<u64, Operation>,
    /// Messages that peeks claimed: the peek's context and its number.
    claimed: Vec<(Address, u64)>,
    /// The latest peek that found nothing.
    missed: u64,
    pub ends: Ends,
    pub probe: Probe,
    pub untagged: Untagged,
    pub windows: Windows,
    /// The endpoint that is open.
    pub endpoint: Option<crate::endpoint::Endpoint>,
    /// Tables of addresses: the rank of each entry.
    pub vectors: Vec<Vec<u32>>,
    /// What was stored and differs, as an order to the simulator: the first of its kind ends the run.
    pub wrong: Option<(Order, Vec<u8>)>,
}

/// The order that says what was stored instead of the bytes of some news.
fn differs(news: &News, stored: Vec<u8>) -> (Order, Vec<u8>) {
    let order = Order {
        id: news.message,
        size: stored.len() as u64,
        ..Order::new(Kind::Differs, 0)
    };
    (order, stored)
}

impl Desk {
    /// Takes down an operation; its number.
    pub fn begin(&mut self, operation: Operation) -> u64 {
        self.ends.begin(operation.goal);
        let id = self.number();
        self.under_way.insert(id, operation);
        id
    }

    /// A number for an order that is no operation of the program's.
    pub fn number(&mut self) -> u64 {
        self.latest += 1;
        self.latest
    }

    /// Whether an operation has not ended.
    pub fn is_under_way(&self, id: u64) -> bool {
        self.under_way.contains_key(&id)
    }

    /// The oldest operation under way of a context.
    pub fn find(&self, context: Address) -> Option<u64> {
        let mut all = self.under_way.iter();
        let found = all.find(|(_, operation)| operation.context == context);
        found.map(|(&id, _)| id)
    }

    /// The message that the peek of a context claimed: the peek's number. From now on an operation of this number is under
    /// way: the receive.
    pub fn claim(&mut self, context: Address, receive: Operation) -> Option<u64> {
        let mut all = self.claimed.iter();
        let place = all.position(|claimed| claimed.0 == context)?;
        let (_, id) = self.claimed.remove(place);
        self.ends.begin(receive.goal);
        self.under_way.insert(id, receive);
        Some(id)
    }

    /// Whether the peek of a number, which has ended, found nothing.
    pub fn has_missed(&self, id: u64) -> bool {
        self.missed == id
    }

    /// The endpoint is closed: nothing of it may touch memory any more.
    pub fn close_endpoint(&mut self) {
        self.endpoint = None;
        self.under_way.clear();
        self.claimed.clear();
        self.probe = Probe::default();
        self.untagged = Untagged::default();
    }

    /// The first address under which the endpoint knows a rank.
    fn address_of(&self, rank: u32) -> u64 {
        let vector = self.endpoint.as_ref().and_then(|endpoint| endpoint.vector);
        let vector = vector.and_then(|vector| self.vectors.get(vector));
        // Nearly always the entry of the same number.
        let usual = vector.and_then(|ranks| ranks.get(rank as usize));
        if usual == Some(&rank) {
            return rank.into();
        }
        let place = vector.and_then(|ranks| ranks.iter().position(|&entry| entry == rank));
        place.map_or(FI_ADDR_NOTAVAIL, |place| place as u64)
    }

    /// Takes in news with a part of their payload; the reply, if they want one ([`link::Report::Read`]). What news report has
    /// happened when the last part of their payload is there.
    pub fn news(&mut self, news: &News, part: Part, bytes: &[u8]) -> Option<(Order, Vec<u8>)> {
        match news.report().expect("news of this build") {
            Report::Read => return Some(self.windows.read(news)),
            Report::Write => {
                let came = self.windows.write(news, part, bytes);
                if came.is_some_and(|checksum| checksum != news.checksum) && self.wrong.is_none() {
                    // The memory may be changed by other threads meanwhile, so that it is what came that counts.
                    let stored = self.windows.content(news);
                    self.wrong = Some(differs(news, stored));
                }
            }
            Report::Message => {
                let source = self.address_of(news.peer);
                let untagged = &mut self.untagged;
                untagged.arrive(news, part, bytes, source, &mut self.ends);
                self.check_untagged();
            }
            Report::Found if self.probe.ended(news) => (),
            Report::Sent | Report::Received | Report::Found | Report::Stored | Report::Got => {
                if let Some(operation) = self.under_way.get(&news.id) {
                    operation.buffer.store(part.at(), bytes);
                }
                if part.is_last() {
                    self.end(news, part.whole());
                }
            }
        }
        None
    }

    /// Takes in news that have no payload.
    pub fn told(&mut self, news: &News) {
        self.end(news, 0);
    }

    /// Takes note of an untagged message that was stored wrongly.
    pub fn check_untagged(&mut self) {
        if let Some((news, stored)) = self.untagged.wrong.take() {
            self.wrong.get_or_insert_with(|| differs(&news, stored));
        }
    }

    /// Compares what the buffer of an operation holds with what was sent.
    fn check(&mut self, news: &News, buffer: &Buffer, size: usize) {
        if news.checksum != 0 && link::checksum(buffer.bytes(0, size)) != news.checksum {
            let stored = buffer.bytes(0, size).collect::<Vec<_>>().concat();
            self.wrong.get_or_insert_with(|| differs(news, stored));
        }
    }

    /// An operation has ended. One that nobody knows was of an endpoint that has been closed.
    fn end(&mut self, news: &News, size: usize) {
        let Some(operation) = self.under_way.remove(&news.id) else {
            return;
        };
        let Operation {
            context,
            buffer,
            flags,
            goal,
        } = operation;
        let report = news.report();
        let incoming = report == Some(Report::Received) || report == Some(Report::Found);
        let labelled = incoming && news.data != NO_LABEL;
        let room = buffer.length();
        let mut entry = FiCqTaggedEntry {
            op_context: context,
            flags: flags & !(FI_CLAIM | FI_DISCARD),
            len: room,
            buf: buffer.address(),
            data: 0,
            tag: news.tag,
        };
        if labelled {
            entry.flags |= FI_REMOTE_CQ_DATA;
            entry.data = news.data.into();
        }
        if incoming {
            entry.len = news.size as usize;
        }
        let source = if incoming {
            self.address_of(news.peer)
        } else {
            FI_ADDR_NOTAVAIL
        };
        let failed = match news.status() {
            Status::Done => {
                if matches!(report, Some(Report::Received | Report::Got)) {
                    assert_eq!(size as u64, news.size, "the payload of {news:?}");
                    self.check(news, &buffer, size);
                }
                if report == Some(Report::Found) && flags & FI_CLAIM != 0 {
                    self.claimed.push((context, news.id));
                }
                self.ends.done(goal, entry, source);
                return;
            }
            // The program wanted nothing of it.
            Status::Truncated if flags & FI_DISCARD != 0 => {
                return self.ends.done(goal, entry, source);
            }
            Status::Truncated => FI_ETRUNC,
            Status::Cancelled => FI_ECANCELED,
            Status::Nothing => FI_ENOMSG,
            Status::Refused if matches!(report, Some(Report::Stored | Report::Got)) => {
                FI_EKEYREJECTED
            }
            Status::Refused => FI_EIO,
        };
        if failed == FI_ENOMSG {
            self.missed = news.id;
        }
        let error = FiCqErrEntry {
            op_context: context,
            flags: entry.flags,
            len: 0,
            buf: entry.buf,
            data: entry.data,
            tag: entry.tag,
            olen: entry.len.saturating_sub(room),
            err: failed,
            src_addr: source,
            ..FiCqErrEntry::default()
        };
        self.ends.failed(goal, error);
    }
}

#[cfg(test)]
mod tests;
