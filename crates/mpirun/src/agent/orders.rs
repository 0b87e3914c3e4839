//! Begins a rank's orders.

use super::atomics::Change;
use super::operation::Operation;
use super::{Agent, MemoryRange};
use crate::endpoint::{MessageNumber, OutgoingMessage};
use crate::trace::{CallRow, MessageKind, MessageRow};
use goal::Kind;
use link::{
    ADDRESS_SPACE, Delivery, EndKind, EndStatus, MessageFilter, OperationEnd, Order, RankWait,
    RemoteMemory, Report, Violation,
};
use std::rc::Rc;
use units::{Bytes, Time};

/// A rank's records of one turn, checked by the rules.
#[derive(Default)]
pub(crate) struct Turn {
    pub orders: Vec<GivenOrder>,
    /// The turn's end, and its moment; `None` if the rank has died within it.
    pub end: Option<(Time, TurnEnd)>,
}

impl Turn {
    /// The first record's moment, if there is a record.
    pub fn begin(&self) -> Option<Time> {
        let first = self.orders.first().map(|given| given.time);
        first.or(self.end.map(|(time, _)| time))
    }
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// The rank waits.
    Waits(RankWait),
    /// The rank has left MPI.
    Leaves,
}

/// An order, as it was given.
pub(crate) struct GivenOrder {
    pub time: Time,
    /// The rank's operation number; 0 if the rank awaits no report.
    pub id: u64,
    pub order: Order,
    pub content: Content,
}

/// The bytes of an order, and the checksum that the rank gave for them, or 0.
pub(crate) struct Content {
    pub checksum: u64,
    pub bytes: Vec<u8>,
}

impl Content {
    fn size(&self) -> Bytes {
        Bytes::new(self.bytes.len() as u64)
    }
}

/// A message with a tag.
struct Message {
    to: u32,
    tag: u64,
    data: Option<u32>,
}

impl Agent {
    /// Begins an order's operation.
    pub(super) fn begin(self: &Rc<Self>, given: GivenOrder) {
        let GivenOrder {
            time: at,
            id,
            order,
            content,
        } = given;
        match order {
            Order::Send {
                to,
                tag,
                data,
                synchronous,
                request,
            } => {
                let message = Message { to, tag, data };
                self.send(at, id, message, (synchronous, request), content);
            }
            Order::Untagged { to, data } => self.send_untagged(at, id, (to, data), content),
            Order::Receive {
                wanted,
                room,
                request,
            } => self.receive(at, id, (wanted, Bytes::new(room)), request),
            Order::Peek { wanted, claims } => {
                let network = self.endpoint.look(at, wanted, false);
                let looked = Operation::Peek { wanted, claims };
                self.state.borrow_mut().looked = Some(looked);
                self.start(id, Operation::Peek { wanted, claims }, network);
            }
            Order::Probe { wanted } => {
                let network = self.endpoint.look(at, wanted, true);
                self.start(id, Operation::Probe(wanted), network);
            }
            Order::Claim { room } => {
                let kept = self.state.borrow_mut().kept.remove(&id);
                let Some((network, wanted)) = kept else {
                    return self.shared.read.blame(self.rank, Violation::Claim { id });
                };
                self.start(id, Operation::Claim(wanted, Bytes::new(room)), network);
            }
            Order::Cancel => self.cancel(at, id),
            Order::Put { to, notice } => self.put(at, id, (to, notice), content),
            Order::Get { from, size } => self.get(at, id, from, size),
            Order::Atomic {
                on,
                atomic,
                width,
                operand,
                compare,
            } => {
                let change = Change {
                    on,
                    atomic,
                    width,
                    operand,
                    compare,
                };
                self.atomic(at, id, change);
            }
            Order::Queue { name, slots, slot } => self.open_queue(name, slots, Bytes::new(slot)),
            Order::Enqueue { to, name } => self.enqueue(at, id, (to, name), content.bytes),
            Order::Dequeued { name } => self.dequeued(name),
            Order::Group { key, ranks } => self.group(id, key, &ranks),
            Order::Spawn { count } => {
                self.shared.spawns.borrow_mut().push((self.rank, id, count));
            }
            Order::Collective(call) => self.collective(at, id, call, content.bytes),
            Order::Called {
                call,
                began,
                served,
            } => {
                let call = CallRow {
                    rank: self.rank,
                    call,
                    begin: Time::from_ps(began),
                    end: at,
                };
                self.shared
                    .record(|recorder| recorder.called(self.rank, call.call));
                self.shared.trace.borrow_mut().called(call, served);
            }
            Order::Computed { region, time } => {
                let mut measured = self.shared.measured.borrow_mut();
                measured.add(self.rank, region, &content.bytes, time);
            }
            Order::Executed { region, time } => {
                let time = Time::from_ps(time);
                self.shared.record(|recorder| {
                    recorder.computes(self.rank, at, (region, &content.bytes), time);
                });
            }
        }
    }

    /// The rank leaves MPI.
    pub(super) fn leave(&self, at: Time) {
        self.state.borrow_mut().finished = true;
        self.take_back(at);
        self.shared
            .record(|recorder| recorder.finishes(self.rank, at));
        let mut trace = self.shared.trace.borrow_mut();
        trace.ranks[self.rank as usize].end = at;
    }

    fn cancel(&self, at: Time, id: u64) {
        let state = self.state.borrow();
        let mut entries = state.entries.values();
        let found = entries.find(|entry| entry.id == id && entry.operation.waits());
        let network = found.map(|entry| Rc::clone(&entry.network));
        drop(state);
        if let Some(network) = network {
            network.cancel(at);
        }
    }

    /// Takes back the operations that the rank has left behind: they would take a later session's
    /// messages.
    pub(super) fn take_back(&self, at: Time) {
        let state = self.state.borrow();
        let entries = state.entries.values();
        let left = entries.filter(|entry| entry.operation.waits());
        let left: Vec<_> = left.map(|entry| Rc::clone(&entry.network)).collect();
        drop(state);
        for network in left {
            network.cancel(at);
        }
    }

    /// Records an untagged message, sent to a rank or received from one.
    pub(super) fn record(&self, at: Time, kind: MessageKind, peer: u32, bytes: Bytes) -> usize {
        let (source, destination) = match kind {
            MessageKind::Get => (peer, self.rank),
            _ => (self.rank, peer),
        };
        self.post(at, kind, (source, destination), 0, bytes)
    }

    fn post(
        &self,
        posted: Time,
        kind: MessageKind,
        (source, destination): (u32, u32),
        tag: u64,
        bytes: Bytes,
    ) -> usize {
        self.shared.trace.borrow_mut().posted(MessageRow {
            kind,
            source,
            destination,
            bytes,
            tag,
            posted,
            sent: None,
            arrived: None,
        })
    }

    fn send(
        self: &Rc<Self>,
        at: Time,
        id: u64,
        Message { to, tag, data }: Message,
        (synchronous, request): (bool, bool),
        content: Content,
    ) {
        let size = content.size();
        let record = self.post(at, MessageKind::Tagged, (self.rank, to), tag, size);
        let operation = Operation::Send {
            to,
            tag,
            size,
            record,
        };
        let (number, bytes) = self.in_flight(record, data, content);
        let outgoing = OutgoingMessage {
            to,
            tag,
            number,
            synchronous,
            request,
            bytes,
        };
        let recorded = self.shared.record(|recorder| {
            if synchronous {
                recorder.refuse(
                    self.rank,
                    "synchronous sends",
                    &format!("{operation} synchronously"),
                );
            }
            recorder.sends(self.rank, at, (to, size), record, request)
        });
        let network = self.endpoint.send(at, outgoing);
        let key = self.start(id, operation, network);
        self.recorded(key, recorded);
    }

    /// Gives a message its number.
    fn in_flight(
        &self,
        record: usize,
        data: Option<u32>,
        content: Content,
    ) -> (MessageNumber, Rc<Vec<u8>>) {
        let bytes = Rc::new(content.bytes);
        let in_flight = &self.shared.in_flight;
        let number = in_flight.send(record, data, content.checksum, &bytes);
        (number, bytes)
    }

    fn receive(
        self: &Rc<Self>,
        at: Time,
        id: u64,
        (wanted, room): (MessageFilter, Bytes),
        request: bool,
    ) {
        let recorded = self
            .shared
            .record(|recorder| recorder.receives(self.rank, at, request));
        let network = self.endpoint.receive(at, wanted, room, request);
        let key = self.start(id, Operation::Receive(wanted), network);
        self.recorded(key, recorded);
    }

    /// Passes the operation's name to the recording.
    pub(super) fn recorded(&self, key: u64, operation: Option<u32>) {
        if let Some(operation) = operation {
            self.shared
                .record(|recorder| recorder.started(self.rank, key, operation));
        }
    }

    fn send_untagged(
        self: &Rc<Self>,
        at: Time,
        id: u64,
        (to, data): (u32, Option<u32>),
        content: Content,
    ) {
        let size = content.size();
        let record = self.record(at, MessageKind::Untagged, to, size);
        let (number, bytes) = self.in_flight(record, data, content);
        let recorded = self
            .shared
            .record(|recorder| recorder.activates(self.rank, at, (to, size), record));
        let [sent, arrival] = self.endpoint.message(at, to, bytes);
        let key = self.start(id, Operation::Untagged { to, size, record }, sent);
        self.recorded(key, recorded);
        let sequence = {
            let mut state = self.state.borrow_mut();
            let messages = state.messages.entry(to).or_default();
            *messages += 1;
            *messages - 1
        };
        let message = Operation::Message {
            from: self.rank,
            size,
            sequence,
            number,
        };
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        other.start(0, message, arrival);
    }

    fn put(
        self: &Rc<Self>,
        at: Time,
        id: u64,
        (place, notice): (RemoteMemory, u64),
        content: Content,
    ) {
        let (size, to, checksum) = (content.size(), place.rank, content.checksum);
        let record = self.record(at, MessageKind::Put, to, size);
        let (number, bytes) = self.in_flight(record, None, content);
        let report = Report::Write {
            place: RemoteMemory {
                rank: self.rank,
                ..place
            },
            size: size.as_u64(),
            notice,
        };
        let write = Delivery {
            report,
            checksum,
            message: number.0.into(),
        };
        let recorded = self
            .shared
            .record(|recorder| recorder.puts(self.rank, at, (to, size), record));
        let operation = Operation::Put { to, size, record };
        let other = Rc::clone(&self.shared.agents.borrow()[to as usize]);
        if place.key & ADDRESS_SPACE != 0 {
            // Programs look for these bytes themselves.
            let (network, seen) = self.endpoint.put_seen(at, to, Rc::clone(&bytes));
            let key = self.start(id, operation, network);
            self.recorded(key, recorded);
            return self.node.serve("put", async move {
                seen.await;
                other.written(write, bytes, Some(record));
            });
        }
        let network = self.endpoint.put(at, to, Rc::clone(&bytes));
        let key = self.start(id, operation, Rc::clone(&network));
        self.recorded(key, recorded);
        // The other rank's memory has them as soon as the adapter there does.
        self.node.serve("put", async move {
            network.ended().await;
            if !network.is_lost() {
                other.written(write, bytes, Some(record));
            }
        });
    }

    fn get(self: &Rc<Self>, at: Time, id: u64, place: RemoteMemory, size: u64) {
        let from = Rc::clone(&self.shared.agents.borrow()[place.rank as usize]);
        let record = self.record(at, MessageKind::Get, place.rank, Bytes::new(size));
        let range = MemoryRange {
            key: place.key,
            offset: place.offset,
            size,
        };
        let Some((bytes, checksum)) = self.shared.read.read(&from, at, range) else {
            return self.answer(id, EndStatus::Refused, EndKind::Got);
        };
        let bytes = Rc::new(bytes);
        let in_flight = &self.shared.in_flight;
        let operation = Operation::Get {
            from: place.rank,
            size: Bytes::new(size),
            record,
            number: in_flight.send(record, None, checksum, &bytes),
        };
        let asked = (Kind::Get, place.rank, Bytes::new(size));
        let recorded = self
            .shared
            .record(|recorder| recorder.reaches(self.rank, at, asked));
        let network = self.endpoint.get(at, place.rank, bytes);
        let key = self.start(id, operation, network);
        self.recorded(key, recorded);
    }

    /// Reports an operation as ended that has not begun.
    pub(super) fn answer(&self, id: u64, status: EndStatus, end: EndKind) {
        self.answer_with(id, status, end, Box::default());
    }

    fn answer_with(&self, id: u64, status: EndStatus, end: EndKind, bytes: Box<[u8]>) {
        let report = Report::Ended(OperationEnd { id, status, end });
        let mut state = self.state.borrow_mut();
        state.reports.push_back((report.into(), bytes));
        state.bell.fire();
    }

    /// Reports which ranks were started for this one: from `first` on, or `None` for lack of room.
    pub fn spawned(&self, id: u64, first: Option<u32>) {
        let bytes: Box<[u8]> = first.map_or_else(Box::default, |first| first.to_ne_bytes().into());
        let status = first.map_or(EndStatus::Nothing, |_| EndStatus::Done);
        let size = bytes.len() as u64;
        self.answer_with(id, status, EndKind::Collected { size }, bytes);
    }
}
