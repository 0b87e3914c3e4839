//! Atomics on words of ranks. The simulated adapter says when; the word itself lies in the rank's process, where it is read and
//! changed at that moment.

use super::about::About;
use super::{Agent, MemoryRange, Role};
use crate::trace::MessageKind;
use link::{Atomic, Foul, Order, Report, ReportKind, Status};
use std::cell::Cell;
use std::rc::Rc;
use units::{Bytes, Time};

/// What an atomic has found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub word: u64,
    /// Whether the rank has no such memory.
    pub refused: bool,
}

/// A word of so many bytes, in the order of the host's bytes.
fn word_of(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 => Some(u32::from_ne_bytes(bytes.try_into().ok()?).into()),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

fn bytes_of(word: u64, size: u64) -> Vec<u8> {
    if size == 4 {
        (word as u32).to_ne_bytes().to_vec()
    } else {
        word.to_ne_bytes().to_vec()
    }
}

impl Agent {
    pub(super) fn atomic(self: &Rc<Self>, order: &Order, bytes: &[u8]) {
        let compare = word_of(bytes).filter(|_| bytes.len() == 8);
        let (Some(what), Some(compare), 4 | 8) = (Atomic::of(order.tag), compare, order.size)
        else {
            return self.shared.read.blame(self.rank, Foul::Atomic);
        };
        let (size, to) = (order.size, order.peer);
        let narrow = |word: u64| if size == 4 { word & 0xffff_ffff } else { word };
        let (operand, compare) = (narrow(order.mask), narrow(compare));
        let record = self.record(order, MessageKind::Atomic, Bytes::new(size));
        let found = Rc::<Cell<Found>>::default();
        let (finds, own) = (Rc::clone(&found), Rc::clone(self));
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        let (key, offset) = (order.key, order.offset);
        let execute = Box::new(move || {
            let range = MemoryRange { key, offset, size };
            let now = other.node.now();
            let read = own.shared.read.read(&other, now, range);
            let Some(word) = read.and_then(|(bytes, _)| word_of(&bytes)) else {
                finds.set(Found {
                    word: 0,
                    refused: true,
                });
                return true;
            };
            finds.set(Found {
                word,
                refused: false,
            });
            let new = what.apply(word, operand, compare);
            if let Some(new) = new {
                own.store(&other, record, range, new);
            }
            new.is_some()
        });
        let at = Time::from_ps(order.time);
        let tests = what == Atomic::CompareSwap;
        let operation = self.endpoint.atomic(at, to, tests, execute);
        let key = self.start(order.id, Role::Atomic(record), operation, About::Atomic(to));
        let mut state = self.state.borrow_mut();
        if let Some(entry) = state.entries.get_mut(&key) {
            entry.found = Some(found);
        }
    }

    /// Stores the new word of an atomic.
    fn store(&self, other: &Agent, record: usize, range: MemoryRange, new: u64) {
        let bytes = Rc::new(bytes_of(new, range.size));
        let number = self.shared.in_flight.send(record, 0, 0, &bytes);
        let write = Report {
            key: range.key,
            offset: range.offset,
            size: range.size,
            peer: self.rank,
            message: number.0.into(),
            ..Report::new(ReportKind::Write, Status::Done, 0, 0)
        };
        other.written(write, bytes);
    }
}
