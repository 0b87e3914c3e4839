//! Operations on others' memory, and active messages, as `mpirun` carries them out for real
//! programs.
//!
//! | operation | is |
//! |---|---|
//! | put, get | Elanlib's put and get, between the processes' buffers |
//! | atomic, swap | a packet of transactions, as in Shmem, on a word in the other adapter; a swap's tests the word first |
//! | active | a put into the other process's buffer, and an event there |
//! | handle | the processor's call that takes the message out, when the event has come |
//! | await | the process's look at memory (`adapter.poll`), when the put is over |
//!
//! A swap's test is always true here. Where the word is another one, a process gets it afterwards;
//! recordings have no such swaps.

use super::Ranks;
use crate::ledger::{self, MessageKey};
use crate::operation::Arrival;
use crate::progress::ReadyOperation;
use crate::{Kind, Operation};
use elan::{Comparison, ProcessId, Transaction};
use libelan::elan::putget::Remote;
use std::collections::VecDeque;
use std::rc::Rc;
use units::{Bytes, Time};

/// A handler after its call: its number, the operation, and when it was free.
type Handler = (u32, Operation, Time);

/// Active messages with one sender, receiver and tag, and their handlers, in order.
#[derive(Default)]
pub struct Mailbox {
    /// The lengths of messages that no handler has taken.
    arrived: VecDeque<Bytes>,
    waiting: VecDeque<Handler>,
}

impl Ranks {
    pub(super) fn copy(self: &Rc<Self>, rank: u32, one: &ReadyOperation) {
        let process = &self.processes[rank as usize];
        let (size, to) = (Bytes::new(one.operation.size), one.operation.peer);
        let (own, other) = (process.buffer, self.processes[to as usize].buffer);
        let elan = process.pe.elan();
        let remote = if one.operation.kind == Kind::Get {
            elan.get(ProcessId::new(to), other, own, size)
        } else {
            elan.put(ProcessId::new(to), own, other, size)
        };
        self.ends_with(rank, one, remote);
    }

    /// The operation ends with its transfer.
    fn ends_with(self: &Rc<Self>, rank: u32, one: &ReadyOperation, remote: Remote) {
        let process = &self.processes[rank as usize];
        let (ranks, free) = (Rc::clone(self), process.pe.now());
        let (number, operation) = (one.number, one.operation);
        process.pe.node().serve("remote DMA", async move {
            remote.ended().wait().await;
            if let Some(Err(error)) = remote.result() {
                return ranks.fails(rank, number, &error.to_string());
            }
            if operation.kind == Kind::Put && operation.tag > 0 {
                let tag = ledger::tag(operation.tag, Arrival::Put);
                let way = (rank, operation.peer, tag);
                ranks.comes(way, Bytes::new(operation.size));
            }
            ranks.ended(rank, (number, operation), free);
        });
    }

    pub(super) fn atomic(self: &Rc<Self>, rank: u32, one: &ReadyOperation) {
        let process = &self.processes[rank as usize];
        let (number, operation, to) = (one.number, one.operation, one.operation.peer);
        let word = self.processes[to as usize].word;
        let at = word.expect("others change words there");
        let test = Transaction::Test {
            at,
            comparison: Comparison::Equal,
            word: 0,
        };
        let tests = (operation.kind == Kind::Swap).then_some(test);
        let write = Transaction::Write { to: at, word: 0 };
        let transactions = tests.into_iter().chain([write]).collect();
        let answer = process.pe.shmem().execute(to, transactions);
        let (ranks, free) = (Rc::clone(self), process.pe.now());
        process.pe.node().serve("atomic", async move {
            match answer.await {
                Ok(_) => ranks.ended(rank, (number, operation), free),
                Err(error) => ranks.fails(rank, number, &error.to_string()),
            }
        });
    }

    /// Sends an active message.
    pub(super) fn activate(self: &Rc<Self>, rank: u32, one: &ReadyOperation) {
        let (to, size) = (one.operation.peer, Bytes::new(one.operation.size));
        let [own, other] = [rank, to].map(|rank| &self.processes[rank as usize]);
        let node = other.pe.node().clone();
        let event = node.event(1);
        let place = node.event_address(event).expect("it has just been made");
        let elan = own.pe.elan();
        let remote = elan.put_notify(
            ProcessId::new(to),
            own.buffer,
            other.buffer,
            size,
            place.elan,
        );
        self.ends_with(rank, one, remote);
        let way = ledger::way(rank, &one.operation).expect("it is a message");
        let ranks = Rc::clone(self);
        node.clone().serve("active message", async move {
            node.wait(event).await;
            node.free_event(event);
            ranks.comes(way, size);
        });
    }

    /// An active message has come, or a put's bytes have.
    fn comes(self: &Rc<Self>, way: MessageKey, size: Bytes) {
        let mut mail = self.mail.borrow_mut();
        let mailbox = mail.entry(way).or_default();
        match mailbox.waiting.pop_front() {
            Some(handler) => {
                drop(mail);
                self.take(way, (size, true), handler);
            }
            None => mailbox.arrived.push_back(size),
        }
    }

    pub(super) fn handle(self: &Rc<Self>, rank: u32, one: &ReadyOperation) {
        let operation = one.operation;
        let way = (
            operation.peer,
            rank,
            ledger::tag(operation.tag, operation.kind.arrival()),
        );
        let free = self.processes[rank as usize].pe.now();
        let handler = (one.number, operation, free);
        let mut mail = self.mail.borrow_mut();
        let mailbox = mail.entry(way).or_default();
        match mailbox.arrived.pop_front() {
            Some(size) => {
                drop(mail);
                self.take(way, (size, false), handler);
            }
            None => mailbox.waiting.push_back(handler),
        }
    }

    /// The processor takes an active message out, or sees the bytes of a put for which it has
    /// `waited`.
    fn take(self: &Rc<Self>, way: MessageKey, (size, waited): (Bytes, bool), handler: Handler) {
        let (rank, (number, operation, free)) = (way.1, handler);
        if size.as_u64() > operation.size {
            let what = format!("a message of {size} does not fit; make the handler's longer");
            return self.fails(rank, number, &what);
        }
        let pe = &self.processes[rank as usize].pe;
        let (node, ranks) = (pe.node().clone(), Rc::clone(self));
        if operation.kind == Kind::Await {
            pe.node().serve("await", async move {
                if waited {
                    let sees = node.now() + node.config().adapter.poll;
                    node.sleep_until(sees).await;
                }
                ranks.ended(rank, (number, operation), free);
            });
            return;
        }
        let work = pe.compute(node.config().host.call);
        pe.node().serve("handler", async move {
            work.await;
            ranks.record.borrow_mut().received(way, size, number);
            ranks.ended(rank, (number, operation), free);
        });
    }
}
