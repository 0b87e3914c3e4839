//! The thread on the adapter: it matches envelopes with receives, and moves the bytes.
//!
//! The thread never waits for one message alone. Gets and answers that it has handed over proceed
//! by themselves; it treats their ends as work, like envelopes and posted receives. So no message,
//! and no process that does not receive, keeps another one back.

use super::hands::{End, TportWorker};
use super::line::Searcher;
use super::message::{Received, Room, TportError};
use super::pending::{Pending, StripedMessage};
use super::port::{Order, Peers, Port};
use super::receive::{Outcome, Receive};
use super::unexpected::{Body, Fetch, UnexpectedMessage};
use super::wire::{Envelope, ORDERS, Wire, withdrawn};
use crate::elan::Elan;
use crate::elan::detour::Detours;
use crate::elan3::Context;
use elan::config::ENVELOPE;
use elan::{Dma, DmaError, ElanAddr, ProcessId, Thread};
use kernel::Wait;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{self, Poll};
use units::Bytes;

/// One thread's gets, answers and notices that may be under way at a time; new messages then wait
/// in the queue.
const MOST_PENDING: usize = 64;

/// Something to do.
enum Work {
    Ended(Pending, Result<(), DmaError>),
    Ordered(Order),
    Came(Box<[u8]>),
    /// It is time to look at the rails.
    Look,
}

pub(super) struct Server {
    pub elan: Elan,
    pub port: Rc<Port>,
    pub peers: Peers,
    pub elan3: Context,
    pub hands: TportWorker,
    /// On a machine with several rails.
    detours: Option<Detours>,
    pub pending: RefCell<Vec<(Pending, End)>>,
    /// Messages that wait for a rail, or to send some parts again; and when to look for one.
    pub line: RefCell<VecDeque<Rc<StripedMessage>>>,
    look: RefCell<Option<Pin<Box<dyn Future<Output = ()>>>>>,
    outbox: RefCell<VecDeque<(ProcessId, Wire)>>,
}

/// The thread's program.
pub(super) async fn serve(elan: Elan, thread: Thread) {
    let port = Rc::clone(elan.port());
    let server = Server {
        hands: TportWorker::new(&port, thread),
        detours: elan.detours().cloned(),
        port,
        peers: elan.peers(),
        elan3: elan.elan3().clone(),
        elan,
        pending: RefCell::default(),
        line: RefCell::default(),
        look: RefCell::default(),
        outbox: RefCell::default(),
    };
    loop {
        let mut waits = Vec::new();
        let work = std::future::poll_fn(|context| server.next(context, &mut waits));
        match server.hands.until(work).await {
            Work::Ended(pending, result) => server.ended(pending, result).await,
            Work::Ordered(Order::Post(receive)) => server.posted(receive).await,
            Work::Ordered(Order::Cancel(receive)) => server.cancel(receive).await,
            Work::Ordered(Order::Answer(to, wire)) => {
                server.outbox.borrow_mut().push_back((to, wire));
            }
            Work::Ordered(Order::Notice(process, event)) => server.notify(process, event).await,
            Work::Came(bytes) => server.came(&bytes).await,
            Work::Look => {}
        }
        server.start().await;
        server.flush().await;
    }
}

impl Server {
    /// The next work, if there is any.
    fn next(&self, context: &mut task::Context<'_>, waits: &mut Vec<Wait>) -> Poll<Work> {
        let mut pending = self.pending.borrow_mut();
        for index in 0..pending.len() {
            if let Poll::Ready(result) = Pin::new(&mut pending[index].1).poll(context) {
                return Poll::Ready(Work::Ended(pending.remove(index).0, result));
            }
        }
        if pending.len() < MOST_PENDING {
            let mut state = self.port.state.borrow_mut();
            if let Some(order) = state.inbox.pop_front() {
                return Poll::Ready(Work::Ordered(order));
            }
            if let Some(bytes) = state.detoured.pop_front() {
                return Poll::Ready(Work::Came(bytes));
            }
            drop(state);
            if let Some(bytes) = self.hands.take(self.port.queue) {
                return Poll::Ready(Work::Came(bytes));
            }
        }
        if self.look(context).is_ready() {
            return Poll::Ready(Work::Look);
        }
        self.port.bell.reset();
        waits.clear();
        waits.push(self.port.bell.wait());
        if pending.len() < MOST_PENDING {
            let arrival = self.hands.arrival(self.port.queue);
            waits.push(arrival.wait());
        }
        for wait in waits {
            let none = Pin::new(wait).poll(context).is_pending();
            assert!(none, "what is there has been found");
        }
        Poll::Pending
    }

    /// While messages wait for a rail, the rails are looked at from time to time.
    fn look(&self, context: &mut task::Context<'_>) -> Poll<()> {
        let mut look = self.look.borrow_mut();
        let Some(rails) = self
            .port
            .rails
            .as_ref()
            .filter(|_| !self.line.borrow().is_empty())
        else {
            *look = None;
            return Poll::Pending;
        };
        let (node, time) = (self.port.node.clone(), rails.poll());
        let alarm = look.get_or_insert_with(|| Box::pin(async move { node.sleep(time).await }));
        let ready = alarm.as_mut().poll(context);
        if ready.is_ready() {
            *look = None;
        }
        ready
    }

    async fn step(&self, compared: u32) {
        self.hands.step(&self.port, compared).await;
    }

    /// A receive has been posted.
    async fn posted(&self, receive: Rc<Receive>) {
        let (mut compared, mut found, mut nothing) = (0, None, false);
        if !receive.matched.get() {
            let mut state = self.port.state.borrow_mut();
            let number;
            (number, compared) = state.arrived.first(&receive);
            if let Some(number) = number {
                state.posted.take_off(&receive);
                if receive.only_looks() {
                    found = Some((state.arrived.get(number).envelope, None));
                } else {
                    state.stats.matched += 1;
                    state.stats.unexpected += 1;
                    let arrived = state.arrived.remove(number);
                    found = Some((arrived.envelope, Some(arrived.body)));
                }
            } else if receive.room == Room::Peek {
                nothing = state.posted.take_off(&receive);
            } else {
                state.posted.take_up(&receive);
            }
        }
        self.step(compared).await;
        match found {
            Some((envelope, Some(body))) => self.give(receive, envelope, body).await,
            Some((envelope, None)) => self.tell(&receive, &envelope).await,
            None if nothing => self.fail(&receive, TportError::Nothing).await,
            None => {}
        }
    }

    /// A receive is to be cancelled: this succeeds unless a message has been found for the receive.
    async fn cancel(&self, receive: Rc<Receive>) {
        let cancelled = self.port.state.borrow_mut().posted.take_off(&receive);
        self.step(0).await;
        if cancelled {
            self.fail(&receive, TportError::Cancelled).await;
        }
    }

    /// A message has come in.
    async fn came(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return self.take_up().await;
        }
        self.hands.see(bytes).await;
        match Wire::decode(bytes) {
            Wire::Envelope(envelope) => {
                let payload = &bytes[ENVELOPE.as_u64() as usize..];
                let body = if envelope.here {
                    Body::Small(payload.into())
                } else {
                    Body::Held
                };
                if !self.port.overtakes {
                    return self.envelope(envelope, body).await;
                }
                let place = (envelope.source, envelope.order);
                if !self.port.has_come(place.0, place.1) {
                    let message = Some((envelope, body));
                    self.port.state.borrow_mut().early.insert(place, message);
                    self.take_up().await;
                }
            }
            Wire::Credit { from, count } => {
                self.port.returned(from, count);
                self.step(0).await;
            }
            Wire::Refused { by, event } => {
                let sending = self.port.state.borrow().waiting.get(&event).cloned();
                self.step(0).await;
                if let Some(sending) = sending {
                    sending.refused.set(Some(by));
                    self.notify(self.port.vp, event).await;
                }
            }
        }
    }

    /// Takes up the messages that have their turn.
    async fn take_up(&self) {
        let next = || {
            let state = &mut *self.port.state.borrow_mut();
            let next_from = &mut state.next_from;
            let mut places = state.early.keys().copied();
            let (source, order) = places.find(|&(source, order)| {
                let next = next_from.entry(source).or_default();
                *next == order
            })?;
            next_from.insert(source, (order + 1) % ORDERS);
            state.early.remove(&(source, order))
        };
        while let Some(message) = next() {
            if let Some((envelope, body)) = message {
                self.envelope(envelope, body).await;
            }
        }
    }

    /// An envelope has come in.
    async fn envelope(&self, envelope: Envelope, body: Body) {
        let mut probes = Vec::new();
        let (receive, compared) = self.port.claim(Searcher::Thread, &envelope, &mut probes);
        self.step(compared).await;
        for probe in probes {
            self.tell(&probe, &envelope).await;
        }
        match (receive, body) {
            (Some(receive), body) => self.give(receive, envelope, body).await,
            (None, Body::Held) => {
                let body = self.fetch(envelope).await;
                self.keep(envelope, body);
            }
            (None, body) => self.keep(envelope, body),
        }
    }

    fn keep(&self, envelope: Envelope, body: Body) {
        let mut state = self.port.state.borrow_mut();
        state.arrived.push(UnexpectedMessage { envelope, body });
    }

    /// Brings a message into a system buffer, if the message may be buffered and there is room.
    async fn fetch(&self, envelope: Envelope) -> Body {
        let size = envelope.size;
        if envelope.synchronous || size > self.port.config.big || size.is_zero() {
            return Body::Held;
        }
        let Ok(buffer) = self.port.buffer(size) else {
            return Body::Held;
        };
        self.port.state.borrow_mut().stats.buffered += 1;
        let fetch = Rc::new(Fetch {
            buffer,
            ended: Cell::new(None),
            receive: RefCell::default(),
            dropped: Cell::new(false),
        });
        let pending = Pending::Fetch(Rc::clone(&fetch), envelope);
        if self.spreads(envelope.near, buffer, size) {
            self.line_up(pending, buffer);
        } else {
            let get = self.get(&envelope, buffer);
            self.hand_over(pending, get).await;
        }
        Body::Fetched(fetch)
    }

    /// Gives a message to its receive.
    async fn give(&self, receive: Rc<Receive>, envelope: Envelope, body: Body) {
        let size = envelope.size;
        let at = match receive.room {
            Room::Buffer(at, room) if size <= room => Ok(at),
            Room::Buffer(_, room) => Err(envelope.truncated(room)),
            // A fetched message is in a system buffer.
            _ if matches!(body, Body::Fetched(_)) => Ok(ElanAddr::NOWHERE),
            _ => self.port.buffer(size).map_err(TportError::from),
        };
        let at = match at {
            Ok(at) => at,
            Err(error) => {
                self.fail(&receive, error).await;
                return self.discard(envelope, body).await;
            }
        };
        let received = envelope.received(Some(at));
        match body {
            Body::Small(bytes) => {
                let stored = if bytes.is_empty() {
                    Ok(())
                } else {
                    let address = self.hands.node().at(at);
                    self.hands.copy_out(address, &bytes).await
                };
                let outcome = match stored {
                    Ok(()) => Outcome::Here(received),
                    Err(fault) => Outcome::Failed(fault.into()),
                };
                self.end(&receive, outcome).await;
                self.discard(envelope, Body::Small(bytes)).await;
            }
            Body::Held if size.is_zero() => {
                self.end(&receive, Outcome::Here(received)).await;
                self.notify(envelope.source, envelope.event).await;
            }
            Body::Held => {
                receive.outcome.replace(Some(Outcome::Here(received)));
                if self.spreads(envelope.near, at, size) {
                    return self.line_up(Pending::Get(receive, envelope), at);
                }
                let mut get = self.get(&envelope, at);
                if !self.hands.by_host() {
                    let event = receive.event.get().expect("the thread is told of it");
                    get = get.notify(event);
                }
                self.hand_over(Pending::Get(receive, envelope), get).await;
            }
            Body::Fetched(fetch) => match fetch.ended.get() {
                None => {
                    fetch.receive.replace(Some(receive));
                }
                Some(result) => self.fetched(&receive, &envelope, &fetch, result).await,
            },
        }
    }

    /// Gives a message in a system buffer to its receive.
    async fn fetched(
        &self,
        receive: &Receive,
        envelope: &Envelope,
        fetch: &Fetch,
        result: Result<(), DmaError>,
    ) {
        match result {
            Ok(()) => {
                let outcome = Outcome::Buffered(envelope.received(None), fetch.buffer);
                self.end(receive, outcome).await;
            }
            Err(error) => {
                let error = error.of_process(envelope.source);
                self.fail(receive, error.into()).await;
            }
        }
    }

    /// A message that is matched needs its buffers no more, and its sender is notified.
    async fn discard(&self, envelope: Envelope, body: Body) {
        match body {
            Body::Small(_) => {
                self.credit(envelope.source);
                if envelope.synchronous {
                    self.notify(envelope.source, envelope.event).await;
                }
            }
            Body::Held => self.notify(envelope.source, envelope.event).await,
            Body::Fetched(fetch) if fetch.ended.get().is_none() => fetch.dropped.set(true),
            Body::Fetched(fetch) => self.free(&fetch),
        }
    }

    fn free(&self, fetch: &Fetch) {
        // A failed fetch's buffer was freed before.
        if fetch.ended.get() == Some(Ok(())) {
            let freed = self.port.buf_free(fetch.buffer);
            freed.expect("it is freed once");
        }
    }

    /// One more of a sender's small messages has been received.
    fn credit(&self, source: ProcessId) {
        let mut state = self.port.state.borrow_mut();
        let owed = state.owed.entry(source).or_default();
        *owed += 1;
        if *owed * 2 > self.port.window {
            let credit = Wire::Credit {
                from: self.port.vp,
                count: std::mem::take(owed),
            };
            self.outbox.borrow_mut().push_back((source, credit));
        }
    }

    /// Notifies a probe of a message.
    async fn tell(&self, probe: &Receive, envelope: &Envelope) {
        let found = Outcome::Here(envelope.received(None));
        self.end(probe, found).await;
    }

    async fn fail(&self, receive: &Receive, error: TportError) {
        self.end(receive, Outcome::Failed(error)).await;
    }

    /// A receive is over.
    async fn end(&self, receive: &Receive, outcome: Outcome) {
        receive.outcome.replace(Some(outcome));
        let event = receive.event.get().expect("the thread is told of it");
        self.hands.end(receive, event).await;
    }

    /// The descriptor that gets a message.
    fn get(&self, envelope: &Envelope, to: ElanAddr) -> Dma {
        let from = self.elan3.address(envelope.source, envelope.from);
        let from = from.expect("the sender is a process of the job");
        let get = Dma::new(from, self.hands.node().at(to), envelope.size);
        self.unless_withdrawn(get, envelope)
    }

    /// Has a message's get fail if the sender has withdrawn the message, which senders do where
    /// machine parts fail.
    pub(super) fn unless_withdrawn(&self, get: Dma, envelope: &Envelope) -> Dma {
        if !self.hands.node().lists_faults() {
            return get;
        }
        let word = self
            .elan3
            .address(envelope.source, withdrawn(envelope.event));
        get.unless_withdrawn(word.expect("the sender is a process of the job"))
    }

    /// Sets a process's event.
    async fn notify(&self, process: ProcessId, event: ElanAddr) {
        let to = self.elan3.address(process, event);
        let to = to.expect("the sender is a process of the job");
        let from = self.hands.node().at(ElanAddr::NOWHERE);
        let notice = Dma::new(from, to, Bytes::ZERO).notify_at(to).short();
        self.hand_over(Pending::Notice(process, event), notice)
            .await;
    }

    async fn hand_over(&self, pending: Pending, dma: Dma) {
        let end = self.hands.dma(dma).await;
        self.pending.borrow_mut().push((pending, end.into()));
    }

    /// A DMA that was handed over has ended.
    pub async fn ended(&self, pending: Pending, result: Result<(), DmaError>) {
        let (mut pending, mut result, mut spread) = (pending, result, false);
        if let Pending::Stripe(stripe) = pending {
            match self.stripe_ended(stripe, result) {
                Some(end) => (pending, result) = end,
                None => return,
            }
            spread = true;
        }
        if let Pending::Detour(behind) = pending {
            (pending, spread) = (*behind, true);
        }
        if let (Err(error), Some(detours)) = (result, &self.detours)
            && error.is_rail_down()
        {
            return self.detour(pending, detours);
        }
        match (pending, result) {
            (Pending::Get(receive, envelope), Ok(())) => {
                if self.hands.by_host() {
                    self.hands.copy(envelope.size).await;
                    receive.by_host.fire();
                } else if spread {
                    // A single get's last packet could notify the process; several gets' ends do
                    // not.
                    let event = receive.event.get().expect("the thread is told of it");
                    self.hands.end(&receive, event).await;
                }
                self.notify(envelope.source, envelope.event).await;
            }
            (Pending::Get(receive, envelope), Err(error)) => {
                if receive.room == Room::System {
                    let outcome = receive.outcome.take();
                    if let Some(Outcome::Here(Received { at: Some(at), .. })) = outcome {
                        let freed = self.port.buf_free(at);
                        freed.expect("the process does not know of it");
                    }
                }
                let error = error.of_process(envelope.source);
                self.fail(&receive, error.into()).await;
                self.refuse(&envelope);
            }
            (Pending::Fetch(fetch, envelope), result) => {
                if result.is_ok() {
                    self.notify(envelope.source, envelope.event).await;
                } else {
                    self.refuse(&envelope);
                    let freed = self.port.buf_free(fetch.buffer);
                    freed.expect("nobody has got it");
                }
                fetch.ended.set(Some(result));
                if fetch.dropped.get() {
                    self.free(&fetch);
                } else if let Some(receive) = fetch.receive.take() {
                    self.fetched(&receive, &envelope, &fetch, result).await;
                }
            }
            (Pending::Answer(slot, to, wire), result) => {
                self.port.answers.give_back(slot);
                self.again(to, Order::Answer(to, wire))(result);
            }
            (Pending::Notice(to, event), result) => {
                self.again(to, Order::Notice(to, event))(result);
            }
            (Pending::Stripe(_) | Pending::Detour(_), _) => {}
        }
    }

    fn refuse(&self, envelope: &Envelope) {
        let refused = Wire::Refused {
            by: self.port.vp,
            event: envelope.event,
        };
        let mut outbox = self.outbox.borrow_mut();
        outbox.push_back((envelope.source, refused));
    }

    /// Sends the answers for which there are slots.
    async fn flush(&self) {
        while !self.outbox.borrow().is_empty()
            && let Some(slot) = self.port.answers.try_take()
        {
            let (to, wire) = self.outbox.borrow_mut().pop_front().expect("there is one");
            let at = self.hands.node().at(slot);
            let stored = self.hands.store(at, &wire.encode());
            stored.expect("the slot is the library's");
            let queue = self.elan3.address(to, self.port.queue.start().elan);
            let queue = queue.expect("the sender is a process of the job");
            let answer = Dma::queue(at, queue, ENVELOPE).short();
            self.hand_over(Pending::Answer(slot, to, wire), answer)
                .await;
        }
    }
}
