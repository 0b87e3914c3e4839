//! What a rank orders, begun.

use super::about::About;
use super::{Agent, Part, Role};
use crate::chronicle::{Call, Kind, Message};
use crate::endpoint::{Outgoing, Wanted};
use link::{Flags, News, Order, Report, Status};
use std::rc::Rc;
use units::{Bytes, Time};

impl Agent {
    /// Begins what an order says.
    pub(super) fn begin(self: &Rc<Self>, order: &Order, bytes: Box<[u8]>) {
        let at = Time::from_ps(order.time);
        match order.kind() {
            Some(link::Kind::Send) => self.send(order, bytes),
            Some(link::Kind::Receive) => {
                let wanted = wanted(order);
                let operation = self.endpoint.receive(at, wanted);
                self.start(order.id, Role::Receive, operation, About::Receives(wanted));
            }
            Some(link::Kind::Peek) => {
                let wanted = wanted(order);
                let (role, operation) = if order.has(Flags::BLOCKING) {
                    (Role::Probe, self.endpoint.probe(at, wanted))
                } else {
                    let role = Role::Peek(order.has(Flags::CLAIM));
                    (role, self.endpoint.peek(at, wanted))
                };
                self.start(order.id, role, operation, About::LooksFor(wanted));
            }
            Some(link::Kind::Claim) => {
                let kept = self.desk.borrow_mut().kept.remove(&order.id);
                let (operation, wanted) = kept.expect("a peek has kept it");
                self.start(order.id, Role::Receive, operation, About::Receives(wanted));
            }
            Some(link::Kind::Cancel) => {
                let desk = self.desk.borrow();
                let mut entries = desk.entries.values();
                let found = entries.find(|entry| {
                    entry.id == order.id && matches!(entry.role, Role::Receive | Role::Probe)
                });
                let operation = found.map(|entry| Rc::clone(&entry.operation));
                drop(desk);
                if let Some(operation) = operation {
                    operation.cancel(at);
                }
            }
            Some(link::Kind::Put) => self.put(order, bytes),
            Some(link::Kind::Get) => self.get(order),
            Some(link::Kind::Called) => self.shared.chronicle.borrow_mut().called(Call {
                rank: self.rank,
                call: order.id as u32,
                begin: Time::from_ps(order.key),
                end: at,
            }),
            Some(link::Kind::Finish) => {
                self.desk.borrow_mut().finished = true;
                let mut chronicle = self.shared.chronicle.borrow_mut();
                chronicle.ranks[self.rank as usize].end = at;
            }
            Some(link::Kind::Reply | link::Kind::Wait | link::Kind::Piece) | None => {
                panic!("rank {} ordered {order:?}", self.rank)
            }
        }
    }

    /// All bytes of an order: those in pieces before it, and those with it.
    fn whole(&self, bytes: Box<[u8]>) -> Box<[u8]> {
        let mut pieces = std::mem::take(&mut self.desk.borrow_mut().pieces);
        if pieces.is_empty() {
            return bytes;
        }
        pieces.extend(&bytes[..]);
        pieces.into()
    }

    fn record(&self, order: &Order, kind: Kind, bytes: Bytes) -> usize {
        let (source, destination) = match kind {
            Kind::Get => (order.peer, self.rank),
            _ => (self.rank, order.peer),
        };
        self.shared.chronicle.borrow_mut().posted(Message {
            kind,
            source,
            destination,
            bytes,
            tag: order.tag,
            posted: Time::from_ps(order.time),
            sent: None,
            arrived: None,
        })
    }

    fn send(self: &Rc<Self>, order: &Order, bytes: Box<[u8]>) {
        let bytes = self.whole(bytes);
        if order.has(Flags::UNTAGGED) {
            return self.message(order, bytes);
        }
        let size = Bytes::new(bytes.len() as u64);
        let number = self.record(order, Kind::Tagged, size);
        let outgoing = Outgoing {
            to: order.peer,
            tag: order.tag,
            data: order.data,
            synchronous: order.has(Flags::SYNCHRONOUS),
            request: order.has(Flags::REQUEST),
            bytes,
        };
        let operation = self.endpoint.send(Time::from_ps(order.time), outgoing);
        let about = About::Sends(size, order.peer, order.tag);
        self.start(order.id, Role::Send(number), operation, about);
    }

    fn message(self: &Rc<Self>, order: &Order, bytes: Box<[u8]>) {
        let (size, to) = (Bytes::new(bytes.len() as u64), order.peer);
        let number = self.record(order, Kind::Untagged, size);
        let at = Time::from_ps(order.time);
        let [sent, arrival] = self.endpoint.message(at, to, bytes);
        let about = About::Messages(size, to);
        self.start(order.id, Role::Send(number), sent, about);
        let sequence = {
            let mut desk = self.desk.borrow_mut();
            let messages = desk.messages.entry(to).or_default();
            *messages += 1;
            *messages - 1
        };
        let role = Role::Untagged(self.rank, sequence, order.data);
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        other.start(0, role, arrival, about);
    }

    fn put(self: &Rc<Self>, order: &Order, bytes: Box<[u8]>) {
        let bytes = self.whole(bytes);
        let (size, to) = (Bytes::new(bytes.len() as u64), order.peer);
        let number = self.record(order, Kind::Put, size);
        let role = Role::Put(number, to, order.key, order.offset);
        let operation = self
            .endpoint
            .put(Time::from_ps(order.time), to, bytes.clone());
        let key = self.start(order.id, role, operation, About::Puts(size, to));
        // The other rank's memory has them as soon as the adapter there does.
        let (agent, ended) = (Rc::clone(self), self.operation(key).ended());
        self.node.serve("put", async move {
            ended.await;
            agent.written(&role, bytes);
        });
    }

    fn written(&self, role: &Role, bytes: Box<[u8]>) {
        let &Role::Put(_, to, key, offset) = role else {
            unreachable!("it is a put")
        };
        let write = News {
            key,
            offset,
            size: bytes.len() as u64,
            payload: bytes.len() as u64,
            ..News::new(Report::Write, Status::Done, self.node.now().as_ps(), 0)
        };
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        other.desk.borrow_mut().writes.push_back((write, bytes));
    }

    fn get(self: &Rc<Self>, order: &Order) {
        let from = Rc::clone(&self.shared.agents.borrow()[order.peer as usize]);
        let at = Time::from_ps(order.time);
        let (size, peer) = (Bytes::new(order.size), order.peer);
        let number = self.record(order, Kind::Get, size);
        let part = Part {
            key: order.key,
            offset: order.offset,
            size: order.size,
        };
        let Some(bytes) = self.shared.read.read(&from, at, part) else {
            let refused = News::new(Report::Got, Status::Refused, order.time, order.id);
            self.desk
                .borrow_mut()
                .news
                .push_back((refused, Box::default()));
            return self.desk.borrow().bell.fire();
        };
        let operation = self.endpoint.get(at, peer, bytes);
        self.start(
            order.id,
            Role::Get(number),
            operation,
            About::Gets(size, peer),
        );
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
