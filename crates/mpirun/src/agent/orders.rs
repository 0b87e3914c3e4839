//! Begins what a rank orders.

use super::about::About;
use super::{Agent, Entry, MemoryRange, Role};
use crate::endpoint::{Manner, Number, Outgoing, Wanted};
use crate::trace::{CallRow, MessageKind, MessageRow};
use link::{ADDRESS_SPACE, Flags, Foul, Order, OrderKind, Report, ReportKind, Status};
use std::rc::Rc;
use units::{Bytes, Time};

impl Agent {
    /// Begins what an order says.
    pub(super) fn begin(self: &Rc<Self>, order: &Order, bytes: Vec<u8>) {
        let at = Time::from_ps(order.time);
        match order.kind() {
            Some(OrderKind::Send) => self.send(order, bytes),
            Some(OrderKind::Receive) => {
                let wanted = wanted(order);
                let recorded = self
                    .shared
                    .record(|recorder| recorder.receives(self.rank, at, wanted.request));
                let operation = self.endpoint.receive(at, wanted, Manner::Takes);
                let about = About::Receives(wanted);
                let key = self.start(order.id, Role::Receive, operation, about);
                self.recorded(key, recorded);
            }
            Some(OrderKind::Peek) => {
                let wanted = wanted(order);
                let (role, manner) = if order.has(Flags::BLOCKING) {
                    (Role::Probe, Manner::Probes)
                } else {
                    (Role::Peek(order.has(Flags::CLAIM)), Manner::Peeks)
                };
                let operation = self.endpoint.receive(at, wanted, manner);
                self.start(order.id, role, operation, About::LooksFor(wanted));
            }
            Some(OrderKind::Claim) => {
                let kept = self.state.borrow_mut().kept.remove(&order.id);
                let Some((operation, wanted)) = kept else {
                    let foul = Foul::Claim { id: order.id };
                    return self.shared.read.blame(self.rank, foul);
                };
                let role = Role::Claim(Bytes::new(order.size));
                self.start(order.id, role, operation, About::Receives(wanted));
            }
            Some(OrderKind::Cancel) => {
                let state = self.state.borrow();
                let mut entries = state.entries.values();
                let found = entries.find(|entry| {
                    entry.id == order.id && matches!(entry.role, Role::Receive | Role::Probe)
                });
                let operation = found.map(|entry| Rc::clone(&entry.operation));
                drop(state);
                if let Some(operation) = operation {
                    operation.cancel(at);
                }
            }
            Some(OrderKind::Put) => self.put(order, bytes),
            Some(OrderKind::Get) => self.get(order),
            Some(OrderKind::Atomic) => self.atomic(order, &bytes),
            Some(OrderKind::Queue) => self.open_queue(order),
            Some(OrderKind::Enqueue) => self.enqueue(order, bytes),
            Some(OrderKind::Dequeued) => self.dequeued(order),
            Some(OrderKind::Group) => self.group(order, &bytes),
            Some(OrderKind::Collective) => self.collective(order, bytes),
            Some(OrderKind::Called) => {
                let call = CallRow {
                    rank: self.rank,
                    call: order.id as u32,
                    begin: Time::from_ps(order.key),
                    end: at,
                };
                self.shared.trace.borrow_mut().called(call, order.tag != 0);
            }
            Some(OrderKind::Finish) => {
                self.state.borrow_mut().finished = true;
                self.take_back(at);
                self.shared
                    .record(|recorder| recorder.finishes(self.rank, at));
                let mut trace = self.shared.trace.borrow_mut();
                trace.ranks[self.rank as usize].end = at;
            }
            None
            | Some(
                OrderKind::Reply
                | OrderKind::Wait
                | OrderKind::More
                | OrderKind::Differs
                | OrderKind::Refuses,
            ) => {
                unreachable!("the orders of a turn are checked: {order:?}")
            }
        }
    }

    /// Takes back the operations that the rank has left behind: they would take messages of a later session.
    pub(super) fn take_back(&self, at: Time) {
        let state = self.state.borrow();
        let waits = |entry: &&Entry| matches!(entry.role, Role::Receive | Role::Probe);
        let left = state.entries.values().filter(waits);
        let left: Vec<_> = left.map(|entry| Rc::clone(&entry.operation)).collect();
        drop(state);
        for operation in left {
            operation.cancel(at);
        }
    }

    pub(super) fn record(&self, order: &Order, kind: MessageKind, bytes: Bytes) -> usize {
        let (source, destination) = match kind {
            MessageKind::Get => (order.peer, self.rank),
            _ => (self.rank, order.peer),
        };
        let tag = if matches!(kind, MessageKind::Tagged) {
            order.tag
        } else {
            0
        };
        self.shared.trace.borrow_mut().posted(MessageRow {
            kind,
            source,
            destination,
            bytes,
            tag,
            posted: Time::from_ps(order.time),
            sent: None,
            arrived: None,
        })
    }

    fn send(self: &Rc<Self>, order: &Order, bytes: Vec<u8>) {
        if order.has(Flags::UNTAGGED) {
            return self.message(order, bytes);
        }
        let size = Bytes::new(bytes.len() as u64);
        let record = self.record(order, MessageKind::Tagged, size);
        let bytes = Rc::new(bytes);
        let outgoing = Outgoing {
            to: order.peer,
            tag: order.tag,
            number: self.sent(order, record, &bytes),
            synchronous: order.has(Flags::SYNCHRONOUS),
            request: order.has(Flags::REQUEST),
            bytes,
        };
        let at = Time::from_ps(order.time);
        let about = About::Sends(size, order.peer, order.tag);
        let recorded = self.shared.record(|recorder| {
            if outgoing.synchronous {
                recorder.refuse(self.rank, &format!("{about} synchronously"));
            }
            let message = (order.peer, size);
            recorder.sends(self.rank, at, message, record, outgoing.request)
        });
        let operation = self.endpoint.send(at, outgoing);
        let key = self.start(order.id, Role::Send(record), operation, about);
        self.recorded(key, recorded);
    }

    /// Tells the recording its operation's name.
    fn recorded(&self, key: u64, operation: Option<u32>) {
        if let Some(operation) = operation {
            self.shared
                .record(|recorder| recorder.started(self.rank, key, operation));
        }
    }

    fn message(self: &Rc<Self>, order: &Order, bytes: Vec<u8>) {
        let (size, to) = (Bytes::new(bytes.len() as u64), order.peer);
        let record = self.record(order, MessageKind::Untagged, size);
        let bytes = Rc::new(bytes);
        let number = self.sent(order, record, &bytes);
        let at = Time::from_ps(order.time);
        let [sent, arrival] = self.endpoint.message(at, to, bytes);
        let about = About::Messages(size, to);
        self.start(order.id, Role::Send(record), sent, about);
        let sequence = {
            let mut state = self.state.borrow_mut();
            let messages = state.messages.entry(to).or_default();
            *messages += 1;
            *messages - 1
        };
        let role = Role::Untagged(self.rank, sequence, number);
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        other.start(0, role, arrival, about);
    }

    fn put(self: &Rc<Self>, order: &Order, bytes: Vec<u8>) {
        let (size, to) = (Bytes::new(bytes.len() as u64), order.peer);
        let record = self.record(order, MessageKind::Put, size);
        let bytes = Rc::new(bytes);
        let number = self.sent(order, record, &bytes);
        let at = Time::from_ps(order.time);
        let about = About::Puts(size, to);
        let write = Report {
            tag: order.tag,
            key: order.key,
            offset: order.offset,
            size: size.as_u64(),
            peer: self.rank,
            checksum: order.checksum,
            message: number.0.into(),
            ..Report::new(ReportKind::Write, Status::Done, 0, 0)
        };
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        if order.key & ADDRESS_SPACE != 0 {
            // Programs look for these bytes themselves.
            let (operation, seen) = self.endpoint.put_seen(at, to, Rc::clone(&bytes));
            self.start(order.id, Role::Put(record), operation, about);
            return self.node.serve("put", async move {
                seen.await;
                other.written(write, bytes);
            });
        }
        let operation = self.endpoint.put(at, to, Rc::clone(&bytes));
        let key = self.start(order.id, Role::Put(record), operation, about);
        // The other rank's memory has them as soon as the adapter there does.
        let operation = self.operation(key);
        self.node.serve("put", async move {
            operation.ended().await;
            if !operation.is_lost() {
                other.written(write, bytes);
            }
        });
    }

    fn get(self: &Rc<Self>, order: &Order) {
        let from = Rc::clone(&self.shared.agents.borrow()[order.peer as usize]);
        let at = Time::from_ps(order.time);
        let (size, peer) = (Bytes::new(order.size), order.peer);
        let record = self.record(order, MessageKind::Get, size);
        let range = MemoryRange {
            key: order.key,
            offset: order.offset,
            size: order.size,
        };
        let Some((bytes, checksum)) = self.shared.read.read(&from, at, range) else {
            return self.refuse(ReportKind::Got, order);
        };
        let bytes = Rc::new(bytes);
        let in_flight = &self.shared.in_flight;
        let number = in_flight.send(record, 0, checksum, &bytes);
        let operation = self.endpoint.get(at, peer, bytes);
        let role = Role::Get(record, number);
        self.start(order.id, role, operation, About::Gets(size, peer));
    }

    /// Tells the rank that its order is refused.
    pub(super) fn refuse(&self, kind: ReportKind, order: &Order) {
        let refused = Report::new(kind, Status::Refused, order.time, order.id);
        let mut state = self.state.borrow_mut();
        state.reports.push_back((refused, Box::default()));
        state.bell.fire();
    }

    /// Gives a message its number.
    pub(super) fn sent(&self, order: &Order, record: usize, bytes: &Rc<Vec<u8>>) -> Number {
        let in_flight = &self.shared.in_flight;
        in_flight.send(record, order.data, order.checksum, bytes)
    }
}

fn wanted(order: &Order) -> Wanted {
    Wanted {
        from: (order.peer != Order::ANYBODY).then_some(order.peer),
        tag: order.tag,
        mask: order.mask,
        room: Bytes::new(order.size),
        request: order.has(Flags::REQUEST),
    }
}
