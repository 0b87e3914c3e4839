//! An ideal network: the extra time that a program takes on a machine is the network's cost.
//!
//! A call occupies its rank's processor for [`CALL`], after the calls before, and takes effect
//! then. Every message arrives [`LATENCY`] after its call has begun, regardless of its length and
//! of other senders. There are no adapters, buses or links; matching and an operation's end take no
//! time. A send has ended when its call has taken effect, a synchronous send when it is matched. It
//! is the ideal network of the trace replay ([`goal::replay`]).

mod collective;
mod queue;

use crate::endpoint::{
    EndFuture, Endpoint, Finish, MessageNumber, NetworkGroup, NetworkOp, NetworkQueue,
    OperationResult, OutgoingMessage,
};
use collective::IdealGroup;
use elan::Node;
use kernel::Signal;
use link::{EndStatus, MessageFilter};
use queue::{IdealQueue, Queues};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use units::{Bytes, Time};

/// The processor time of a call, after which it takes effect.
pub use goal::replay::CALL;

/// The time from the start of a call for a send, put or get to its effect elsewhere.
pub use goal::replay::LATENCY;

/// A message on its way, or there.
struct IdealMessage {
    from: u32,
    tag: u64,
    number: MessageNumber,
    bytes: Rc<Vec<u8>>,
    /// Fired when the message is matched, if its send is synchronous.
    matched: Option<Signal>,
}

impl IdealMessage {
    fn found(&self, bytes: Box<[u8]>) -> OperationResult {
        OperationResult {
            from: self.from,
            tag: self.tag,
            number: Some(self.number),
            size: Bytes::new(self.bytes.len() as u64),
            bytes,
            ..OperationResult::of(EndStatus::Done)
        }
    }
}

/// A receive or a look.
#[derive(Clone, Copy)]
struct Search {
    wanted: MessageFilter,
    /// The longest message that fits; `None` for a look, which leaves the message in place.
    room: Option<Bytes>,
    /// Whether it waits for a message.
    waits: bool,
}

/// A pending operation of any kind.
struct PendingOperation {
    node: Node,
    ended: Signal,
    search: Option<Search>,
    cancelled: Cell<bool>,
    incoming: RefCell<Option<OperationResult>>,
}

impl PendingOperation {
    fn new(node: &Node, search: Option<Search>) -> Rc<Self> {
        Rc::new(PendingOperation {
            node: node.clone(),
            ended: Signal::new(),
            search,
            cancelled: Cell::new(false),
            incoming: RefCell::new(None),
        })
    }

    /// The search of a receive or look.
    fn search(&self) -> Search {
        self.search.expect("it is a receive or look")
    }

    fn end(&self, incoming: OperationResult) {
        self.incoming.replace(Some(incoming));
        self.ended.fire();
    }
}

impl NetworkOp for PendingOperation {
    fn ended(&self) -> EndFuture {
        let (node, ended) = (self.node.clone(), self.ended.clone());
        Box::pin(async move {
            ended.wait().await;
            node.now()
        })
    }

    fn finish(&self, _at: Time) -> Finish {
        let incoming = self.incoming.take().expect("it has ended");
        Box::pin(async move { incoming })
    }

    fn cancel(self: Rc<Self>, at: Time) {
        let node = self.node.clone();
        node.clone().serve("ideal network", async move {
            node.sleep_until(at + CALL).await;
            if !self.ended.is_set() {
                self.cancelled.set(true);
                self.end(OperationResult::of(EndStatus::Cancelled));
            }
        });
    }
}

/// A rank's arrived messages, and those that it waits for.
#[derive(Default)]
struct Inbox {
    posted: Vec<Rc<PendingOperation>>,
    unexpected: VecDeque<IdealMessage>,
}

impl Inbox {
    fn arrive(&mut self, message: IdealMessage) {
        self.posted.retain(|receive| !receive.cancelled.get());
        let takes = |pending: &Rc<PendingOperation>, receives: bool| {
            let search = pending.search();
            search.room.is_some() == receives && search.wanted.takes(message.from, message.tag)
        };
        let mut posted = self.posted.iter();
        if let Some(place) = posted.position(|pending| takes(pending, true)) {
            return give(&self.posted.remove(place), &message);
        }
        self.posted.retain(|probe| {
            let told = takes(probe, false);
            if told {
                probe.end(message.found(Box::default()));
            }
            !told
        });
        self.unexpected.push_back(message);
    }

    fn post(&mut self, receive: Rc<PendingOperation>) {
        let search = receive.search();
        let takes = |message: &IdealMessage| search.wanted.takes(message.from, message.tag);
        let place = self.unexpected.iter().position(takes);
        match place {
            Some(place) if search.room.is_none() => {
                receive.end(self.unexpected[place].found(Box::default()));
            }
            Some(place) => {
                let message = self.unexpected.remove(place).expect("it is there");
                give(&receive, &message);
            }
            None if !search.waits => receive.end(OperationResult::of(EndStatus::Nothing)),
            None => self.posted.push(receive),
        }
    }
}

fn give(receive: &PendingOperation, message: &IdealMessage) {
    if let Some(matched) = &message.matched {
        matched.fire();
    }
    let size = Bytes::new(message.bytes.len() as u64);
    if receive.search().room.is_some_and(|room| size > room) {
        receive.end(OperationResult {
            status: EndStatus::Truncated,
            ..message.found(Box::default())
        });
    } else {
        let mut incoming = message.found(Box::default());
        incoming.bytes = message.bytes[..].into();
        receive.end(incoming);
    }
}

/// One rank's end.
pub struct IdealEndpoint {
    node: Node,
    rank: u32,
    inboxes: Rc<[RefCell<Inbox>]>,
    queues: Rc<[Queues]>,
    /// The nodes of all ranks.
    all: Rc<[Node]>,
    /// When the processor is done with the calls and the computation before.
    free: Cell<Time>,
}

impl IdealEndpoint {
    /// The endpoints of all ranks; the nodes give the time.
    pub fn of(nodes: Vec<Node>) -> Vec<IdealEndpoint> {
        let inboxes: Rc<[RefCell<Inbox>]> = nodes.iter().map(|_| RefCell::default()).collect();
        let queues: Rc<[Queues]> = nodes.iter().map(|_| Queues::default()).collect();
        let all: Rc<[Node]> = nodes.clone().into();
        let end = |(rank, node)| IdealEndpoint {
            node,
            rank,
            inboxes: Rc::clone(&inboxes),
            queues: Rc::clone(&queues),
            all: Rc::clone(&all),
            free: Cell::new(Time::ZERO),
        };
        (0..).zip(nodes).map(end).collect()
    }

    /// Gives the processor work for a while from a moment on, after all work before. Returns when
    /// the work begins.
    fn work(&self, at: Time, time: Time) -> Time {
        let begin = at.max(self.free.get());
        self.free.set(begin + time);
        begin
    }

    /// Lets something happen at a moment.
    fn after(&self, at: Time, act: impl FnOnce() + 'static) {
        let node = self.node.clone();
        self.node.serve("ideal network", async move {
            node.sleep_until(at).await;
            act();
        });
    }

    fn post(&self, at: Time, search: Search) -> Rc<dyn NetworkOp> {
        let receive = PendingOperation::new(&self.node, Some(search));
        let (posted, inboxes, rank) = (Rc::clone(&receive), Rc::clone(&self.inboxes), self.rank);
        self.after(self.work(at, CALL) + CALL, move || {
            if !posted.cancelled.get() {
                inboxes[rank as usize].borrow_mut().post(posted);
            }
        });
        receive
    }

    /// Delivers bytes after the latency to their waiter.
    fn copy(&self, begin: Time, bytes: Box<[u8]>) -> Rc<dyn NetworkOp> {
        let copy = PendingOperation::new(&self.node, None);
        let done = Rc::clone(&copy);
        self.after(begin + LATENCY, move || {
            let size = Bytes::new(bytes.len() as u64);
            done.end(OperationResult {
                size,
                bytes,
                ..OperationResult::of(EndStatus::Done)
            });
        });
        copy
    }
}

impl Endpoint for IdealEndpoint {
    fn compute(&self, at: Time, time: Time) -> EndFuture {
        let (node, end) = (self.node.clone(), self.work(at, time) + time);
        Box::pin(async move {
            node.sleep_until(end).await;
            end
        })
    }

    fn send(&self, at: Time, message: OutgoingMessage) -> Rc<dyn NetworkOp> {
        let send = PendingOperation::new(&self.node, None);
        let matched = message.synchronous.then(Signal::new);
        let (inboxes, to) = (Rc::clone(&self.inboxes), message.to as usize);
        let sent = IdealMessage {
            from: self.rank,
            tag: message.tag,
            number: message.number,
            bytes: message.bytes,
            matched: matched.clone(),
        };
        let begin = self.work(at, CALL);
        self.after(begin + LATENCY, move || {
            inboxes[to].borrow_mut().arrive(sent);
        });
        let (ended, node) = (Rc::clone(&send), self.node.clone());
        self.node.serve("ideal network", async move {
            match matched {
                Some(matched) => matched.wait().await,
                None => node.sleep_until(begin + CALL).await,
            }
            ended.end(OperationResult::of(EndStatus::Done));
        });
        send
    }

    fn receive(
        &self,
        at: Time,
        wanted: MessageFilter,
        room: Bytes,
        _request: bool,
    ) -> Rc<dyn NetworkOp> {
        let search = Search {
            wanted,
            room: Some(room),
            waits: true,
        };
        self.post(at, search)
    }

    fn look(&self, at: Time, wanted: MessageFilter, waits: bool) -> Rc<dyn NetworkOp> {
        let search = Search {
            wanted,
            room: None,
            waits,
        };
        self.post(at, search)
    }

    fn message(&self, at: Time, _to: u32, bytes: Rc<Vec<u8>>) -> [Rc<dyn NetworkOp>; 2] {
        let sent = PendingOperation::new(&self.node, None);
        let ended = Rc::clone(&sent);
        let begin = self.work(at, CALL);
        self.after(begin + CALL, move || {
            ended.end(OperationResult::of(EndStatus::Done));
        });
        [sent, self.copy(begin, bytes[..].into())]
    }

    fn put(&self, at: Time, _to: u32, _bytes: Rc<Vec<u8>>) -> Rc<dyn NetworkOp> {
        self.copy(self.work(at, CALL), Box::default())
    }

    fn get(&self, at: Time, _from: u32, bytes: Rc<Vec<u8>>) -> Rc<dyn NetworkOp> {
        self.copy(self.work(at, CALL), bytes[..].into())
    }

    fn put_seen(&self, at: Time, to: u32, bytes: Rc<Vec<u8>>) -> (Rc<dyn NetworkOp>, EndFuture) {
        let put = self.put(at, to, bytes);
        let seen = put.ended();
        (put, seen)
    }

    fn atomic(
        &self,
        at: Time,
        _to: u32,
        _tests: bool,
        execute: Box<dyn FnOnce() -> bool>,
    ) -> Rc<dyn NetworkOp> {
        let atomic = PendingOperation::new(&self.node, None);
        let done = Rc::clone(&atomic);
        self.after(self.work(at, CALL) + LATENCY, move || {
            execute();
            done.end(OperationResult::of(EndStatus::Done));
        });
        atomic
    }

    fn queue(&self, _slots: u32, _slot: Bytes) -> Option<Rc<dyn NetworkQueue>> {
        let queue = IdealQueue::open(&self.queues[self.rank as usize], &self.node);
        Some(Rc::new(queue))
    }

    fn enqueue(&self, at: Time, to: u32, queue: u64, bytes: Rc<Vec<u8>>) -> Rc<dyn NetworkOp> {
        let sent = PendingOperation::new(&self.node, None);
        let (done, queues) = (Rc::clone(&sent), Rc::clone(&self.queues));
        self.after(self.work(at, CALL) + LATENCY, move || {
            queue::deliver(&queues[to as usize], queue, bytes);
            done.end(OperationResult::of(EndStatus::Done));
        });
        sent
    }

    fn poll(&self) -> Time {
        Time::ZERO
    }

    fn group(&self, ranks: &[u32]) -> Option<Rc<dyn NetworkGroup>> {
        let members = ranks.iter().map(|&rank| self.all[rank as usize].clone());
        Some(Rc::new(IdealGroup::new(members.collect())))
    }
}
