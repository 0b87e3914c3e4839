//! The progress engine: it knows what this rank has under way, and what the simulator's reports mean to the rank.
//!
//! An operation gets a number when it is ordered, and lies here until its report comes. Then its memory is filled, and its end
//! is put where the program will look for it: into a completion queue, a counter, or both. The engine calls nobody and knows no
//! time; it is reached only under the session's lock. Each of its parts owns its state, is told what happens, and returns what
//! follows for the other parts; the engine passes this on.
//!
//! | part | keeps |
//! |---|---|
//! | [`bindings`] | what is bound to the endpoint |
//! | [`collected`] | collective calls that block |
//! | [`completions`] | completion queues and counters |
//! | [`probe`] | the message that `MPI_Probe` waits for |
//! | [`untagged`] | buffers for untagged messages, and such messages that came too early |
//! | [`regions`] | memory that others may reach |
//!
//! What becomes of an operation:
//!
//! | report | status | completion |
//! |---|---|---|
//! | any | done | an entry with the operation's context and flags; the counter goes up |
//! | `Received`, `Collected` | truncated | the error `FI_ETRUNC`, nothing stored |
//! | `Received` | cancelled | the error `FI_ECANCELED` |
//! | `Found` | nothing | the error `FI_ENOMSG` |
//! | `Stored`, `Got` | refused | the error `FI_EKEYREJECTED` |
//! | `Sent`, `Received`, `Collected` | lost | as [`losses`] says, or the error `FI_EIO` |
//! | other | lost | the error `FI_EIO` |

pub mod bindings;
pub mod collected;
pub mod completions;
pub mod probe;
pub mod regions;
pub mod untagged;

use crate::abi::entries::{FiCqErrEntry, FiCqTaggedEntry};
use crate::abi::{
    Address, FI_ADDR_NOTAVAIL, FI_CLAIM, FI_DISCARD, FI_ECANCELED, FI_EIO, FI_EKEYREJECTED,
    FI_ENOMSG, FI_ETRUNC, FI_REMOTE_CQ_DATA, FI_TAGGED,
};
use crate::address::AddressVector;
use crate::losses::{self, Losses};
use crate::memory::Buffer;
use crate::native::groups;
use crate::native::operations::{self, Operations};
use bindings::Bindings;
use collected::Collected;
use completions::{Binding, Completions, NO_DATA};
use link::{Order, OrderKind, Part, Report, ReportKind, Status};
use probe::Probe;
use regions::Regions;
use std::collections::BTreeMap;
use untagged::{Effect, Posted, Untagged};

/// An operation under way.
#[derive(Clone, Debug)]
pub struct PendingOp {
    /// The program's context of the operation.
    pub context: Address,
    /// The memory for the bytes that come in.
    pub buffer: Buffer,
    /// The flags that its completion will show.
    pub flags: u64,
    /// Where the operation's end is told.
    pub binding: Binding,
}

/// Operations under way and memory that others may reach.
#[derive(Default)]
pub struct ProgressEngine {
    /// The latest number.
    latest: u64,
    under_way: BTreeMap<u64, PendingOp>,
    /// Messages that peeks claimed: the peek's context and its number.
    claimed: Vec<(Address, u64)>,
    /// The latest peek that found nothing.
    missed: u64,
    pub completions: Completions,
    pub collected: Collected,
    pub probe: Probe,
    pub losses: Losses,
    untagged: Untagged,
    pub regions: Regions,
    /// Operations of our own libraries.
    pub native: Operations,
    /// Vectors that the rank is asked to combine, as far as they have come.
    vectors_to_combine: Vec<u8>,
    /// What is bound to the endpoint, if one is open.
    pub endpoint: Option<Bindings>,
    /// Address vectors, as they were opened.
    pub vectors: Vec<AddressVector>,
    /// Bytes that were stored and differ, as an order to the simulator: the first such order ends the run.
    pub wrong: Option<(Order, Vec<u8>)>,
}

/// The order that says which bytes were stored instead of the bytes of a report.
fn differs(report: &Report, stored: Vec<u8>) -> (Order, Vec<u8>) {
    let order = Order {
        id: report.message,
        size: stored.len() as u64,
        ..Order::new(OrderKind::Differs, 0)
    };
    (order, stored)
}

impl ProgressEngine {
    /// Takes down an operation and returns its number.
    pub fn begin(&mut self, operation: PendingOp) -> u64 {
        self.completions.begin(operation.binding);
        let id = self.number();
        self.under_way.insert(id, operation);
        id
    }

    /// A number for an order that is no operation of the program.
    pub fn number(&mut self) -> u64 {
        self.latest += 1;
        self.latest
    }

    /// Takes down a collective call that blocks, with room for what is due to the rank; returns its number.
    pub fn begin_collective(&mut self, due: Buffer) -> u64 {
        let id = self.number();
        self.collected.begin(id, due);
        id
    }

    /// Whether an operation has not ended.
    pub fn is_under_way(&self, id: u64) -> bool {
        self.under_way.contains_key(&id)
    }

    /// The message that the peek of a context claimed, by the peek's number. From now on an operation of this number is under
    /// way: the receive.
    pub fn claim(&mut self, context: Address, receive: PendingOp) -> Option<u64> {
        let mut all = self.claimed.iter();
        let place = all.position(|claimed| claimed.0 == context)?;
        let (_, id) = self.claimed.remove(place);
        self.completions.begin(receive.binding);
        self.under_way.insert(id, receive);
        Some(id)
    }

    /// Whether the peek of a number, which has ended, found nothing.
    pub fn has_missed(&self, id: u64) -> bool {
        self.missed == id
    }

    /// The endpoint is closed: none of its operations may touch memory any more.
    pub fn close_endpoint(&mut self) {
        self.endpoint = None;
        self.under_way.clear();
        self.claimed.clear();
        self.probe = Probe::default();
        self.untagged = Untagged::default();
    }

    /// The first address under which the endpoint knows a rank.
    fn address_of(&self, rank: u32) -> u64 {
        let vector = self.endpoint.as_ref().and_then(|bindings| bindings.vector);
        vector.map_or(FI_ADDR_NOTAVAIL, |vector| self.vectors[vector].number(rank))
    }

    /// Takes in a report with a part of its payload, and returns the reply if the report asks for one
    /// ([`link::ReportKind::Read`]). A report takes effect with the last part of its payload.
    pub fn report(
        &mut self,
        report: &Report,
        part: Part,
        bytes: &[u8],
    ) -> Option<(Order, Vec<u8>)> {
        if Operations::is_meant(report) {
            if let Some(wrong) = self.native.report(report, part, bytes) {
                self.wrong.get_or_insert(wrong);
            }
            return None;
        }
        match report.kind().expect("report of this build") {
            ReportKind::Combine => return self.combine(part, bytes),
            ReportKind::Read => return Some(self.regions.read(report)),
            ReportKind::Write => {
                let came = match self.regions.write(report, part, bytes) {
                    Ok(came) => came,
                    Err(refusal) => {
                        self.wrong.get_or_insert((refusal, Vec::new()));
                        return None;
                    }
                };
                if part.is_last() {
                    operations::noticed(report.tag);
                }
                if came.is_some_and(|checksum| checksum != report.checksum) && self.wrong.is_none()
                {
                    // Other threads may change the memory meanwhile, so the bytes that came count.
                    let stored = self.regions.content(report);
                    self.wrong = Some(differs(report, stored));
                }
            }
            ReportKind::Untagged => {
                let source = self.address_of(report.peer);
                let effects = self.untagged.arrive(report, part, bytes, source);
                self.apply(effects);
            }
            ReportKind::Collected if !self.is_under_way(report.id) => {
                self.collected.report(report, part, bytes);
            }
            ReportKind::Found if self.probe.ended(report) => {
                if report.status() == Status::Lost {
                    let why = losses::reason(report.peer, bytes);
                    self.losses.probed(report.peer, why);
                }
            }
            ReportKind::Sent
            | ReportKind::Received
            | ReportKind::Found
            | ReportKind::Stored
            | ReportKind::Got
            | ReportKind::Collected => {
                if report.status() == Status::Lost {
                    self.lost(report, bytes);
                } else if let Some(operation) = self.under_way.get(&report.id) {
                    operation.buffer.store(part.at(), bytes);
                }
                if part.is_last() {
                    self.end(report, part.whole());
                }
            }
            ReportKind::Fetched | ReportKind::Enqueued | ReportKind::Arrived => {
                unreachable!("a report on an operation of our own libraries: {report:?}")
            }
        }
        None
    }

    /// An operation is lost, and `why` says why. If the program hears of that in another way than by the queue, the operation is
    /// done, and has brought nothing.
    fn lost(&mut self, report: &Report, why: &[u8]) {
        let Some(operation) = self.under_way.get(&report.id) else {
            return;
        };
        let PendingOp {
            context,
            flags,
            binding,
            ..
        } = *operation;
        let heard = match report.kind() {
            Some(ReportKind::Sent) => flags & FI_TAGGED != 0 || context == 0,
            Some(ReportKind::Received | ReportKind::Collected) => flags & FI_TAGGED != 0,
            _ => false,
        };
        if !heard || !self.losses.tell(context, &losses::reason(report.peer, why)) {
            return;
        }
        self.under_way.remove(&report.id);
        let entry = FiCqTaggedEntry {
            op_context: context,
            flags: flags & !(FI_CLAIM | FI_DISCARD) | FI_REMOTE_CQ_DATA,
            data: report.peer.into(),
            ..FiCqTaggedEntry::default()
        };
        let source = self.address_of(report.peer);
        self.completions.done(binding, entry, source);
    }

    /// The simulator asks for two vectors to be combined, which come in parts.
    fn combine(&mut self, part: Part, bytes: &[u8]) -> Option<(Order, Vec<u8>)> {
        if part.at() == 0 {
            self.vectors_to_combine.clear();
        }
        self.vectors_to_combine.extend_from_slice(bytes);
        let vectors = part
            .is_last()
            .then(|| std::mem::take(&mut self.vectors_to_combine));
        vectors.map(groups::combined)
    }

    /// Takes in a report that has no payload.
    pub fn told(&mut self, report: &Report) {
        self.end(report, 0);
    }

    /// The program posts a buffer for untagged messages.
    pub fn post(&mut self, posted: Posted) {
        self.completions.begin(posted.binding);
        let effects = self.untagged.post(posted);
        self.apply(effects);
    }

    /// The program takes back the operation of a context. Returns its number if the simulator has to be told.
    pub fn cancel(&mut self, context: Address) -> Option<u64> {
        if let Some(effect) = self.untagged.cancel(context) {
            self.apply([effect]);
            return None;
        }
        // The oldest one.
        let mut all = self.under_way.iter();
        let found = all.find(|(_, operation)| operation.context == context);
        found.map(|(&id, _)| id)
    }

    fn apply(&mut self, effects: impl IntoIterator<Item = Effect>) {
        for effect in effects {
            match effect {
                Effect::Done(binding, entry, source) => {
                    self.completions.done(binding, entry, source);
                }
                Effect::Failed(binding, error) => self.completions.failed(binding, error),
                Effect::Differs(report, stored) => {
                    self.wrong.get_or_insert_with(|| differs(&report, stored));
                }
            }
        }
    }

    /// Compares what the buffer of an operation holds with what was sent.
    fn check(&mut self, report: &Report, buffer: &Buffer, size: usize) {
        if report.checksum != 0 && link::checksum(buffer.bytes(0, size)) != report.checksum {
            let stored = buffer.bytes(0, size).collect::<Vec<_>>().concat();
            self.wrong.get_or_insert_with(|| differs(report, stored));
        }
    }

    /// An operation has ended. An operation that is not known belonged to an endpoint that has been closed.
    fn end(&mut self, report: &Report, size: usize) {
        let Some(operation) = self.under_way.remove(&report.id) else {
            return;
        };
        let PendingOp {
            context,
            buffer,
            flags,
            binding,
        } = operation;
        let kind = report.kind();
        let receives = matches!(kind, Some(ReportKind::Received | ReportKind::Collected));
        let incoming = receives || kind == Some(ReportKind::Found);
        let has_data = incoming && report.data != NO_DATA;
        let room = buffer.length();
        let mut entry = FiCqTaggedEntry {
            op_context: context,
            flags: flags & !(FI_CLAIM | FI_DISCARD),
            len: room,
            buf: buffer.address(),
            data: 0,
            tag: report.tag,
        };
        if has_data {
            entry.flags |= FI_REMOTE_CQ_DATA;
            entry.data = report.data.into();
        }
        if incoming {
            entry.len = report.size as usize;
        }
        let source = if incoming {
            self.address_of(report.peer)
        } else {
            FI_ADDR_NOTAVAIL
        };
        let failed = match report.status() {
            Status::Done => {
                if receives || kind == Some(ReportKind::Got) {
                    assert_eq!(size as u64, report.size, "the payload of {report:?}");
                    self.check(report, &buffer, size);
                }
                if kind == Some(ReportKind::Found) && flags & FI_CLAIM != 0 {
                    self.claimed.push((context, report.id));
                }
                self.completions.done(binding, entry, source);
                return;
            }
            // The program discards the message.
            Status::Truncated if flags & FI_DISCARD != 0 => {
                return self.completions.done(binding, entry, source);
            }
            Status::Truncated => FI_ETRUNC,
            Status::Cancelled => FI_ECANCELED,
            Status::Nothing => FI_ENOMSG,
            Status::Refused if matches!(kind, Some(ReportKind::Stored | ReportKind::Got)) => {
                FI_EKEYREJECTED
            }
            Status::Refused | Status::Lost => FI_EIO,
        };
        if failed == FI_ENOMSG {
            self.missed = report.id;
        }
        let error = FiCqErrEntry {
            entry: FiCqTaggedEntry { len: 0, ..entry },
            olen: entry.len.saturating_sub(room),
            err: failed,
            src_addr: source,
            ..FiCqErrEntry::default()
        };
        self.completions.failed(binding, error);
    }
}

#[cfg(test)]
mod tests;
