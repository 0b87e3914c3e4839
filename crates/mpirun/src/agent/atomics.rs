//! Atomics on ranks' words. The simulated adapter gives the moment; the word itself lies in the
//! rank's process, where it is read and changed at that moment.

use super::operation::{AtomicResult, Operation};
use super::{Agent, MemoryRange};
use crate::trace::MessageKind;
use goal::Kind;
use link::{Atomic, Delivery, RemoteMemory, Report, Width};
use std::cell::Cell;
use std::rc::Rc;
use units::{Bytes, Time};

/// A change of a word.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub on: RemoteMemory,
    pub atomic: Atomic,
    pub width: Width,
    pub operand: u64,
    pub compare: u64,
}

/// The word that these bytes form in the host's byte order.
fn word_of(bytes: &[u8], width: Width) -> Option<u64> {
    match width {
        Width::Four => Some(u32::from_ne_bytes(bytes.try_into().ok()?).into()),
        Width::Eight => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
    }
}

fn bytes_of(word: u64, width: Width) -> Vec<u8> {
    match width {
        Width::Four => (word as u32).to_ne_bytes().to_vec(),
        Width::Eight => word.to_ne_bytes().to_vec(),
    }
}

impl Agent {
    pub(super) fn atomic(self: &Rc<Self>, at: Time, id: u64, change: Change) {
        let Change {
            on, atomic, width, ..
        } = change;
        let (to, size) = (on.rank, u64::from(width as u32));
        let [operand, compare] = [change.operand, change.compare].map(|word| width.narrow(word));
        let record = self.record(at, MessageKind::Atomic, to, Bytes::new(size));
        let found = Rc::<Cell<AtomicResult>>::default();
        let (finds, own) = (Rc::clone(&found), Rc::clone(self));
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        let execute = Box::new(move || {
            let range = MemoryRange {
                key: on.key,
                offset: on.offset,
                size,
            };
            let now = other.node.now();
            let read = own.shared.read.read(&other, now, range);
            let Some(word) = read.and_then(|(bytes, _)| word_of(&bytes, width)) else {
                finds.set(AtomicResult {
                    refused: true,
                    ..AtomicResult::default()
                });
                return true;
            };
            let new = atomic.apply(word, operand, compare);
            finds.set(AtomicResult {
                word,
                refused: false,
                differs: new.is_none(),
            });
            if let Some(new) = new {
                own.store(&other, record, range, bytes_of(new, width));
            }
            new.is_some()
        });
        let tests = atomic == Atomic::CompareSwap;
        let kind = if tests { Kind::Swap } else { Kind::Atomic };
        let asked = (kind, to, Bytes::new(size));
        let recorded = self
            .shared
            .record(|recorder| recorder.reaches(self.rank, at, asked));
        let network = self.endpoint.atomic(at, to, tests, execute);
        let operation = Operation::Atomic {
            on: to,
            record,
            found,
        };
        let key = self.start(id, operation, network);
        self.recorded(key, recorded);
    }

    /// Stores the new word of an atomic.
    fn store(&self, other: &Agent, record: usize, range: MemoryRange, new: Vec<u8>) {
        let bytes = Rc::new(new);
        let number = self.shared.in_flight.send(record, None, 0, &bytes);
        let report = Report::Write {
            place: RemoteMemory {
                rank: self.rank,
                key: range.key,
                offset: range.offset,
            },
            size: range.size,
            notice: 0,
        };
        let write = Delivery {
            report,
            checksum: 0,
            message: number.0.into(),
        };
        other.written(write, bytes, None);
    }
}
