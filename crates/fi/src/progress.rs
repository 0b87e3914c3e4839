//! The progress engine: it keeps this rank's pending operations, and applies the simulator's
//! reports to them.
//!
//! An operation gets a number when it is ordered, and lies here until its report comes. Then its
//! memory is filled, and its end is put where the program will look for it: into a completion
//! queue, a counter, or both. The engine makes no calls and knows no time; it is reached only under
//! the session's lock. Each of its parts owns its state, receives events, and returns the
//! consequences for the other parts; the engine passes these on.
//!
//! | part | keeps |
//! |---|---|
//! | [`atomics`] | atomics on other ranks' words |
//! | [`bindings`] | the endpoint's bindings |
//! | [`collected`] | collective calls that block |
//! | [`completions`] | completion queues and counters |
//! | [`probe`] | the message that `MPI_Probe` waits for |
//! | [`untagged`] | buffers for untagged messages, and such messages that came too early |
//! | [`regions`] | memory that others may reach |
//!
//! An operation's outcomes:
//!
//! | report | status | completion |
//! |---|---|---|
//! | any | done | an entry with the operation's context and flags; the counter goes up |
//! | `Received`, `Collected` | truncated | the error `FI_ETRUNC`, no bytes stored |
//! | `Received` | cancelled | the error `FI_ECANCELED` |
//! | `Found` | no message | the error `FI_ENOMSG` |
//! | `Stored`, `Got`, `Fetched` | refused | the error `FI_EKEYREJECTED` |
//! | `Sent`, `Received`, `Collected` | lost | as in [`losses`], or the error `FI_EIO` |
//! | other | lost | the error `FI_EIO` |

pub mod atomics;
pub mod bindings;
pub mod collected;
pub mod completions;
pub mod probe;
pub mod regions;
pub mod untagged;

use crate::abi::entries::{FiCqErrEntry, FiCqTaggedEntry};
use crate::abi::{
    FI_ADDR_NOTAVAIL, FI_CLAIM, FI_DISCARD, FI_ECANCELED, FI_EIO, FI_EKEYREJECTED, FI_ENOMSG,
    FI_ETRUNC, FI_REMOTE_CQ_DATA, FI_TAGGED, Pointer,
};
use crate::address::AddressVector;
use crate::losses::{self, Losses};
use atomics::Atomics;
use bindings::Bindings;
use collected::CollectedCalls;
use completions::{Binding, Completions};
use link::{Delivery, EndKind, EndStatus, Envelope, OperationEnd, Order, PayloadPart, Report};
use probe::Probe;
use rank::library::{self, LibraryProblem, differs};
use rank::memory::Buffer;
use rank::session::{ReportReceiver, SessionState};
use regions::RegisteredRegions;
use std::any::Any;
use std::collections::BTreeMap;
use untagged::{MessageInfo, PostedBuffer, QueueEffect, UntaggedQueue};

/// An operation under way.
#[derive(Clone, Debug)]
pub struct PendingOp {
    /// The program's context for the operation.
    pub context: Pointer,
    /// The memory for the bytes that come in.
    pub buffer: Buffer,
    /// The flags that its completion will show.
    pub flags: u64,
    /// Where the operation's end is reported.
    pub binding: Binding,
}

/// Operations under way and memory that others may reach.
#[derive(Default)]
pub struct ProgressEngine {
    /// The latest number.
    latest: u64,
    under_way: BTreeMap<u64, PendingOp>,
    /// Messages that peeks claimed: the peek's context and its number.
    claimed: Vec<(Pointer, u64)>,
    /// The latest unsuccessful peek.
    missed: u64,
    pub completions: Completions,
    pub collected: CollectedCalls,
    pub atomics: Atomics,
    /// Orders that follow from reports, with their numbers, which the rank gives when it continues.
    pub next_orders: Vec<(u64, Order)>,
    pub probe: Probe,
    pub losses: Losses,
    untagged: UntaggedQueue,
    pub regions: RegisteredRegions,
    /// Vectors that the rank is asked to combine, as far as they have come.
    vectors_to_combine: Vec<u8>,
    /// The open endpoint's bindings.
    pub endpoint: Option<Bindings>,
    /// Address vectors, as they were opened.
    pub vectors: Vec<AddressVector>,
    /// Why the run cannot continue, with bytes that differ from those that were sent: the first
    /// such complaint ends the run.
    pub wrong: Option<LibraryProblem>,
}

/// A session's progress engine.
pub trait HasEngine {
    /// The engine.
    fn engine(&mut self) -> &mut ProgressEngine;

    /// The engine, to look at.
    fn engine_ref(&self) -> &ProgressEngine;
}

const OURS: &str = "a session begins with a progress engine";

impl HasEngine for SessionState {
    fn engine(&mut self) -> &mut ProgressEngine {
        let engine: &mut dyn Any = &mut *self.engine;
        engine.downcast_mut().expect(OURS)
    }

    fn engine_ref(&self) -> &ProgressEngine {
        let engine: &dyn Any = &*self.engine;
        engine.downcast_ref().expect(OURS)
    }
}

impl ReportReceiver for ProgressEngine {
    fn report(&mut self, delivery: &Delivery, part: PayloadPart, bytes: &[u8]) -> Option<Vec<u8>> {
        ProgressEngine::report(self, delivery, part, bytes)
    }

    fn complaint(&mut self) -> Option<LibraryProblem> {
        self.wrong.take()
    }

    fn next_orders(&mut self) -> Vec<(u64, Order)> {
        std::mem::take(&mut self.next_orders)
    }

    fn give_up_probe(&mut self, order: &Order, probes: bool) -> Option<u64> {
        self.probe.give_up(order, probes)
    }

    fn has_probe(&self) -> bool {
        self.probe.is_there()
    }
}

impl ProgressEngine {
    /// Takes down an operation and returns its number.
    pub fn begin(&mut self, operation: PendingOp) -> u64 {
        self.completions.begin(operation.binding);
        let id = self.number();
        self.under_way.insert(id, operation);
        id
    }

    /// A number for an order that is not a program operation.
    pub fn number(&mut self) -> u64 {
        self.latest += 1;
        self.latest
    }

    /// Registers a blocking collective call, with room for the bytes due to the rank; returns its
    /// number.
    pub fn begin_collective(&mut self, due: Buffer) -> u64 {
        let id = self.number();
        self.collected.begin(id, due);
        id
    }

    /// Whether an operation has not ended.
    pub fn is_under_way(&self, id: u64) -> bool {
        self.under_way.contains_key(&id)
    }

    /// The message that a context's peek claimed, by the peek's number. From now on an operation
    /// with this number is pending: the receive.
    pub fn claim(&mut self, context: Pointer, receive: PendingOp) -> Option<u64> {
        let mut all = self.claimed.iter();
        let place = all.position(|claimed| claimed.0 == context)?;
        let (_, id) = self.claimed.remove(place);
        self.completions.begin(receive.binding);
        self.under_way.insert(id, receive);
        Some(id)
    }

    /// Whether the ended peek with this number found no message.
    pub fn has_missed(&self, id: u64) -> bool {
        self.missed == id
    }

    /// The endpoint is closed: its operations must not touch memory any more.
    pub fn close_endpoint(&mut self) {
        self.endpoint = None;
        self.under_way.clear();
        self.claimed.clear();
        self.atomics = Atomics::default();
        self.next_orders.clear();
        self.probe = Probe::default();
        self.untagged = UntaggedQueue::default();
    }

    /// The first address under which the endpoint knows a rank.
    fn address_of(&self, rank: u32) -> u64 {
        let vector = self.endpoint.as_ref().and_then(|bindings| bindings.vector);
        vector.map_or(FI_ADDR_NOTAVAIL, |vector| self.vectors[vector].number(rank))
    }

    /// Takes in a report with a part of its payload, and returns the bytes to reply with if the
    /// report asks for any. A report takes effect with the last part of its payload.
    pub fn report(
        &mut self,
        delivery: &Delivery,
        part: PayloadPart,
        bytes: &[u8],
    ) -> Option<Vec<u8>> {
        match delivery.report {
            Report::Combine => return self.combine(part, bytes),
            Report::Read { key, offset, size } => {
                return Some(self.regions.read(key, offset, size));
            }
            Report::Write {
                place,
                size,
                notice,
            } => {
                let checks = delivery.checksum != 0;
                let came = match self.regions.write(place, checks, part, bytes) {
                    Ok(came) => came,
                    Err(refusal) => {
                        self.wrong.get_or_insert((refusal, Vec::new()));
                        return None;
                    }
                };
                if part.is_last() {
                    library::get().inspect(|library| (library.noticed)(notice));
                }
                if came.is_some_and(|checksum| checksum != delivery.checksum)
                    && self.wrong.is_none()
                {
                    // Other threads may change the memory meanwhile, so the bytes that came count.
                    let stored = self.regions.content(place, size);
                    self.wrong = Some(differs(delivery.message, stored));
                }
            }
            Report::Untagged { from, data } => {
                let message = MessageInfo {
                    source: self.address_of(from),
                    data,
                    checksum: delivery.checksum,
                    number: delivery.message,
                };
                let effects = self.untagged.arrive(message, part, bytes);
                self.apply(effects);
            }
            Report::Arrived { queue } => {
                let wrong = library::get()
                    .and_then(|library| (library.arrived)(queue, delivery, part, bytes));
                self.wrong = self.wrong.take().or(wrong);
            }
            Report::Ended(ended) if ended.id & library::OWN != 0 => {
                let wrong = library::get()
                    .and_then(|library| (library.ended)(ended, delivery, part, bytes));
                self.wrong = self.wrong.take().or(wrong);
            }
            Report::Ended(ended) => self.ended(ended, delivery, part, bytes),
        }
        None
    }

    /// The MPI library's operation ends.
    fn ended(&mut self, ended: OperationEnd, delivery: &Delivery, part: PayloadPart, bytes: &[u8]) {
        match ended.end {
            EndKind::Collected { .. } if !self.is_under_way(ended.id) => {
                return self.collected.report(ended, part, bytes);
            }
            EndKind::Found(_) if self.probe.ended(ended) => {
                if let EndStatus::Lost { peer } = ended.status {
                    self.losses.probed(peer, losses::reason(peer, bytes));
                }
                return;
            }
            EndKind::Fetched { word } if self.fetched(ended, word) => return,
            _ => {}
        }
        if let EndStatus::Lost { peer } = ended.status {
            self.lost(ended, peer, bytes);
        } else if let Some(operation) = self.under_way.get(&ended.id) {
            operation.buffer.store(part.at(), bytes);
        }
        if part.is_last() {
            self.end(ended, delivery, part.whole());
        }
    }

    /// The adapter has executed an atomic, or could not; returns whether the operation continues.
    fn fetched(&mut self, ended: OperationEnd, word: u64) -> bool {
        let done = ended.status == EndStatus::Done;
        let (next, goes_on) = if done {
            self.atomics.found(ended.id, word)
        } else {
            (self.atomics.ended(ended.id), false)
        };
        self.next_orders.extend(next);
        if !goes_on
            && done
            && let Some(operation) = self.under_way.get(&ended.id)
        {
            let room = operation.buffer.length();
            operation.buffer.store(0, &word.to_ne_bytes()[..room]);
        }
        goes_on
    }

    /// An operation is lost, for the reason `why`. If this is reported to the program in another
    /// way than by the queue, the operation is done, and has brought no bytes.
    fn lost(&mut self, ended: OperationEnd, peer: Option<u32>, why: &[u8]) {
        let Some(operation) = self.under_way.get(&ended.id) else {
            return;
        };
        let PendingOp {
            context,
            flags,
            binding,
            ..
        } = *operation;
        let heard = match ended.end {
            EndKind::Sent => flags & FI_TAGGED != 0 || context == 0,
            EndKind::Received(_) | EndKind::Collected { .. } => flags & FI_TAGGED != 0,
            _ => false,
        };
        if !heard || !self.losses.tell(context, &losses::reason(peer, why)) {
            return;
        }
        self.under_way.remove(&ended.id);
        let entry = FiCqTaggedEntry {
            op_context: context,
            flags: flags & !(FI_CLAIM | FI_DISCARD) | FI_REMOTE_CQ_DATA,
            data: peer.unwrap_or(u32::MAX).into(),
            ..FiCqTaggedEntry::default()
        };
        let source = peer.map_or(FI_ADDR_NOTAVAIL, |peer| self.address_of(peer));
        self.completions.done(binding, entry, source);
    }

    /// The simulator asks for two vectors to be combined, which come in parts.
    fn combine(&mut self, part: PayloadPart, bytes: &[u8]) -> Option<Vec<u8>> {
        if part.at() == 0 {
            self.vectors_to_combine.clear();
        }
        self.vectors_to_combine.extend_from_slice(bytes);
        let vectors = part
            .is_last()
            .then(|| std::mem::take(&mut self.vectors_to_combine));
        vectors
            .map(|vectors| library::get().map_or(Vec::new(), |library| (library.combine)(vectors)))
    }

    /// Processes an operation's end without bytes.
    pub fn told(&mut self, ended: OperationEnd) {
        self.end(ended, &Report::Ended(ended).into(), 0);
    }

    /// The program posts a buffer for untagged messages.
    pub fn post(&mut self, posted: PostedBuffer) {
        self.completions.begin(posted.binding);
        let effects = self.untagged.post(posted);
        self.apply(effects);
    }

    /// The program takes back a context's operation. Returns its number if the simulator has to be
    /// notified.
    pub fn cancel(&mut self, context: Pointer) -> Option<u64> {
        if let Some(effect) = self.untagged.cancel(context) {
            self.apply([effect]);
            return None;
        }
        // The oldest one.
        let mut all = self.under_way.iter();
        let found = all.find(|(_, operation)| operation.context == context);
        found.map(|(&id, _)| id)
    }

    fn apply(&mut self, effects: impl IntoIterator<Item = QueueEffect>) {
        for effect in effects {
            match effect {
                QueueEffect::Done(binding, entry, source) => {
                    self.completions.done(binding, entry, source);
                }
                QueueEffect::Failed(binding, error) => self.completions.failed(binding, error),
                QueueEffect::Differs(message, stored) => {
                    self.wrong.get_or_insert_with(|| differs(message, stored));
                }
            }
        }
    }

    /// Compares the bytes in an operation's buffer with the sent bytes.
    fn check(&mut self, delivery: &Delivery, buffer: &Buffer, size: usize) {
        if delivery.checksum != 0 && link::checksum(buffer.bytes(0, size)) != delivery.checksum {
            let stored = buffer.bytes(0, size).collect::<Vec<_>>().concat();
            self.wrong
                .get_or_insert_with(|| differs(delivery.message, stored));
        }
    }

    /// An operation has ended. An operation that is not known belonged to an endpoint that has been
    /// closed.
    fn end(&mut self, ended: OperationEnd, delivery: &Delivery, size: usize) {
        let Some(operation) = self.under_way.remove(&ended.id) else {
            return;
        };
        let PendingOp {
            context,
            buffer,
            flags,
            binding,
        } = operation;
        let incoming = match ended.end {
            EndKind::Received(message) | EndKind::Found(message) => Some(message),
            // The receive that stands for the call has a source, whichever.
            EndKind::Collected { size } => Some(Envelope {
                data: Some(0),
                size,
                ..Envelope::default()
            }),
            _ => None,
        };
        let room = buffer.length();
        let mut entry = FiCqTaggedEntry {
            op_context: context,
            flags: flags & !(FI_CLAIM | FI_DISCARD),
            len: room,
            buf: buffer.address(),
            data: 0,
            tag: 0,
        };
        let mut source = FI_ADDR_NOTAVAIL;
        if let Some(message) = incoming {
            (entry.len, entry.tag) = (message.size as usize, message.tag);
            source = self.address_of(message.from);
            if let Some(data) = message.data {
                entry.flags |= FI_REMOTE_CQ_DATA;
                entry.data = data.into();
            }
        }
        let failed = match ended.status {
            EndStatus::Done => {
                if let EndKind::Received(_) | EndKind::Collected { .. } | EndKind::Got = ended.end {
                    self.check(delivery, &buffer, size);
                }
                if matches!(ended.end, EndKind::Found(_)) && flags & FI_CLAIM != 0 {
                    self.claimed.push((context, ended.id));
                }
                self.completions.done(binding, entry, source);
                return;
            }
            // The program discards the message.
            EndStatus::Truncated if flags & FI_DISCARD != 0 => {
                return self.completions.done(binding, entry, source);
            }
            EndStatus::Truncated => FI_ETRUNC,
            EndStatus::Cancelled => FI_ECANCELED,
            EndStatus::Nothing => FI_ENOMSG,
            EndStatus::Refused
                if matches!(
                    ended.end,
                    EndKind::Stored | EndKind::Got | EndKind::Fetched { .. }
                ) =>
            {
                FI_EKEYREJECTED
            }
            EndStatus::Refused | EndStatus::Lost { .. } => FI_EIO,
        };
        if failed == FI_ENOMSG {
            self.missed = ended.id;
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
