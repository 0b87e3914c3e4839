//! The host's part of a Tport: it starts sends and receives, and ends both.

use super::message::{Mode, Received, Room, Select, TportError};
use super::port::{Order, Outcome, Port, Receive, Sending};
use super::wire::{Envelope, Wire};
use super::{local, thread};
use crate::cpu::Turn;
use crate::elan::Elan;
use elan::{
    Access, Dma, DmaError, ElanAddr, EventId, Fault, Matching, MemoryError, Placement, ProcessId,
    Reason,
};
use kernel::Signal;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use units::{Bytes, Time};

/// The length of a posted receive's descriptor: an envelope's, and as much again for event and buffer; assumed.
const POST: Bytes = Bytes::new(64);

/// Starts the thread of a process's Tport.
pub(crate) fn serve(elan: &Elan) -> Result<(), MemoryError> {
    let (port, elan3) = (Rc::clone(elan.port()), elan.elan3().clone());
    let label = format!("Tports of {}", elan.label().text());
    let (peers, node) = (elan.peers(), elan.node().clone());
    let by_host = port.config.matching == Matching::Host;
    elan.node().run_resident(label, async move |thread| {
        let serve = thread::serve(port, peers, elan3, thread);
        if by_host {
            // What the host does ends with the host.
            node.while_host_runs(serve).await;
        } else {
            serve.await;
        }
    })
}

/// Starts a send.
pub(super) fn send(
    elan: &Elan,
    mode: Mode,
    to: ProcessId,
    (sender, tag): (u32, u64),
    from: ElanAddr,
    size: Bytes,
) -> Rc<Sending> {
    let sending = Rc::new(Sending::default());
    let port = Rc::clone(elan.port());
    port.state.borrow_mut().stats.sent += 1;
    if to.get() >= elan.nvps() {
        let error = DmaError::NoProcess { process: to };
        sending.end(port.node.now(), Err(error.into()));
        return sending;
    }
    let placement = match elan.node().placement(from, size) {
        Ok(placement) => placement,
        Err(fault) => {
            sending.end(port.node.now(), Err(fault.into()));
            return sending;
        }
    };
    let envelope = Envelope {
        source: port.vp,
        sender,
        tag,
        size,
        here: false,
        from,
        event: ElanAddr::NOWHERE,
        synchronous: mode == Mode::Synchronous,
        near: placement == Placement::Adapter,
        free: 0,
        order: 0,
    };
    let (elan, turn, ended) = (elan.clone(), elan.cpu().turn(), Rc::clone(&sending));
    elan.node().clone().serve("send", async move {
        turn.work(&port.node, port.node.config().host.call).await;
        let result = if elan.elan3().shared(to).is_some() {
            local::send(&elan, to, envelope, turn).await
        } else {
            port.send_remote(&elan, to, envelope, turn, &ended).await
        };
        ended.end(port.node.now(), result);
    });
    sending
}

/// Starts a receive.
pub(super) fn receive(elan: &Elan, select: Select, room: Room) -> Rc<Receive> {
    let receive = Rc::new(Receive::new(select, room));
    let (port, turn) = (Rc::clone(elan.port()), elan.cpu().turn());
    let (posted, own) = (Rc::clone(&receive), elan.clone());
    elan.node().serve("receive", async move {
        turn.work(&port.node, port.node.config().host.call).await;
        port.post(&own, &posted, turn).await;
        posted.end(port.node.now());
    });
    receive
}

/// Cancels a receive, if no message has been found for it.
pub(super) fn cancel(elan: &Elan, receive: &Rc<Receive>) {
    let (port, turn) = (Rc::clone(elan.port()), elan.cpu().turn());
    let receive = Rc::clone(receive);
    elan.node().serve("cancel", async move {
        turn.work(&port.node, port.node.config().host.call).await;
        // The calls of a process are in order: the receive has been posted, or posting it has failed.
        if !receive.done.is_set() {
            port.command(turn, Bytes::ZERO).await;
            port.order(Order::Cancel(receive));
        }
    });
}

/// The host ends a receive: it copies the message if that waits elsewhere. A call that was given at a moment begins no
/// sooner than the receive has ended.
pub(super) async fn finish(
    elan: &Elan,
    receive: &Receive,
    given: Option<Time>,
) -> Result<Received, TportError> {
    let port = elan.port();
    let cost = port.node.config().host;
    let given = given.map(|at| at.max(receive.ended.get().expect("it has ended")));
    let turn = elan.cpu().turn_since(given);
    turn.work(&port.node, cost.call).await;
    let outcome = receive.outcome.take().expect("it has ended");
    let (received, buffer) = match outcome {
        Outcome::Here(received) => return Ok(received),
        Outcome::Failed(error) => {
            let cut_off = receive.cut_off.get().map(TportError::from);
            return Err(cut_off
                .filter(|_| error == TportError::Cancelled)
                .unwrap_or(error));
        }
        Outcome::Buffered(received, buffer) => (received, buffer),
    };
    match receive.room {
        Room::Buffer(at, _) => {
            turn.work(&port.node, cost.copy.time(received.size)).await;
            let bytes = elan.elan3().load(buffer, received.size)?;
            port.buf_free(buffer)?;
            elan.elan3().store(at, &bytes)?;
            Ok(Received {
                at: Some(at),
                ..received
            })
        }
        Room::System | Room::Probe | Room::Peek => Ok(Received {
            at: Some(buffer),
            ..received
        }),
    }
}

impl Port {
    /// Sends through the network.
    async fn send_remote(
        &self,
        elan: &Elan,
        to: ProcessId,
        mut envelope: Envelope,
        turn: Turn,
        sending: &Rc<Sending>,
    ) -> Result<(), TportError> {
        let (size, from) = (envelope.size, envelope.from);
        let mut payload: Box<[u8]> = Box::default();
        if size <= self.small {
            payload = elan.elan3().load(from, size)?;
        }
        let small = size <= self.small && self.borrow(to);
        if small {
            envelope.here = true;
        } else {
            payload = Box::default();
            if self.config.matching == Matching::Host {
                let time = self.node.config().host.copy.time(size);
                turn.work(&self.node, time).await;
            }
        }
        let event = if small && !envelope.synchronous {
            None
        } else {
            let event = self.event()?;
            envelope.event = event.1;
            let mut state = self.state.borrow_mut();
            state.waiting.insert(event.1, Rc::clone(sending));
            Some(event)
        };
        let slot = self.slots.take().await;
        if let Some(rails) = &self.rails {
            envelope.free = rails.free();
            envelope.order = self.next_order(to);
        }
        let mut bytes = Wire::Envelope(envelope).encode().to_vec();
        bytes.extend_from_slice(&payload);
        elan.elan3().store(slot, &bytes)?;
        let length = Bytes::new(bytes.len() as u64);
        let queue = elan.peer(to).queue.start();
        let message = Dma::queue(self.node.at(slot), queue, length);
        let sent = if self.node.has_sten() {
            let sent = self.node.send_short(message);
            if event.is_none() {
                sending.end(self.node.now(), Ok(()));
            }
            sent
        } else {
            self.node.store_across(length);
            self.node.dma(message)
        };
        drop(turn);
        let mut sent = sent.await;
        self.slots.give_back(slot);
        if let Some(detours) = elan.detours() {
            if sent.is_err_and(|error| error.is_rail_down()) {
                sent = detours.tell(to, bytes.into()).await;
            }
            if sent.is_err() {
                elan.peer(to).give_up(self.vp, envelope.order);
            }
        }
        let loss = sent.err().and_then(|error| error.loss());
        // Where the own adapter has died, nobody knows either whether the message has been taken.
        let down = sent.is_err_and(|error| error.is_rail_down());
        let mut lost = down || loss.is_some_and(|loss| loss.unsure);
        if small && loss.is_some_and(|loss| !loss.unsure) {
            self.returned(to, 1);
        }
        if let Some(event) = event {
            if sent.is_ok() {
                sent = self.told(event.0, elan, to).await;
                lost |= sent.is_err();
            }
            self.state.borrow_mut().waiting.remove(&event.1);
            // The notice to the event of a lost send may still come.
            if !lost {
                self.free_event(event);
            }
        }
        match sending.refused.get() {
            Some(by) => Err(TportError::Refused { by }),
            None => Ok(sent.map_err(|error| error.of_process(to))?),
        }
    }

    /// Waits until an event is set by which another process ends a send.
    ///
    /// # Errors
    /// If the adapter has failed, and there is no other rail; or if the network has, and the other process is out of reach.
    async fn told(&self, event: EventId, elan: &Elan, by: ProcessId) -> Result<(), DmaError> {
        let mut set = pin!(self.node.wait(event));
        let fails = self.rails.is_none() && self.node.lists_faults();
        let down = fails.then(|| self.node.down());
        let mut down = down.as_ref().map(Signal::wait);
        let mut cut_off = pin!(elan.cut_off_from(by));
        poll_fn(|context| {
            let mut end = set.as_mut().poll(context).map(Ok);
            if let Some(down) = &mut down
                && end.is_pending()
            {
                let down = Pin::new(down).poll(context);
                end = down.map(|()| Err(self.own_rail_down()));
            }
            if end.is_pending() {
                end = cut_off.as_mut().poll(context).map(Err);
            }
            end
        })
        .await
    }

    /// The error of a process whose adapter is down.
    fn own_rail_down(&self) -> DmaError {
        let nowhere = self.node.at(ElanAddr::NOWHERE);
        Fault::new(nowhere, Bytes::ZERO, Access::RemoteEvent, Reason::Down).into()
    }

    /// Posts a receive and waits until the host knows its outcome.
    async fn post(self: &Rc<Self>, elan: &Elan, receive: &Rc<Receive>, turn: Turn) {
        if self.take_shared(elan.peers(), receive) {
            drop(turn);
            return receive.by_host.wait().await;
        }
        let event = match self.event() {
            Ok(event) => event,
            Err(error) => {
                receive.outcome.replace(Some(Outcome::Failed(error.into())));
                return;
            }
        };
        receive.event.set(Some(event.0));
        self.state.borrow_mut().posted.push_back(Rc::clone(receive));
        self.command(turn, POST).await;
        if !receive.matched.get() {
            self.order(Order::Post(Rc::clone(receive)));
        }
        let mut by_thread = pin!(self.node.wait(event.0));
        let mut by_host = receive.by_host.wait();
        let mut cut_off = pin!(elan.cut_off_from_all(receive.select));
        let mut is_cut_off = false;
        poll_fn(|context| {
            let host = Pin::new(&mut by_host).poll(context);
            if host.is_ready() {
                return host;
            }
            if !is_cut_off && let Poll::Ready(error) = cut_off.as_mut().poll(context) {
                is_cut_off = true;
                receive.cut_off.set(Some(error));
                self.order(Order::Cancel(Rc::clone(receive)));
            }
            by_thread.as_mut().poll(context)
        })
        .await;
        self.free_event(event);
    }

    /// Small messages that a process was sent are received, or lost.
    pub(super) fn returned(&self, to: ProcessId, count: u32) {
        if let Some(lent) = self.state.borrow_mut().lent.get_mut(&to) {
            *lent -= count;
        }
    }

    /// Wakes the thread by a command, with so many bytes for it; the processor is free at once.
    async fn command(&self, turn: Turn, bytes: Bytes) {
        if self.config.matching == Matching::Adapter {
            self.node.store_across(bytes);
            let told = self.node.wake_thread();
            drop(turn);
            told.wait().await;
        }
    }

    /// Leaves the thread something to do.
    fn order(&self, order: Order) {
        self.state.borrow_mut().inbox.push_back(order);
        self.bell.fire();
    }
}
