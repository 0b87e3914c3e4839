//! A Tport's host part: it starts sends and receives, and ends both.

use super::message::{Mode, Received, Room, Select, TportError};
use super::port::{Order, Port, Sending};
use super::receive::{Outcome, Receive};
use super::wire::Envelope;
use super::{local, thread};
use crate::cpu::Turn;
use crate::elan::Elan;
use elan::{DmaError, ElanAddr, Matching, MemoryError, Placement, ProcessId};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use units::{Bytes, Time};

/// A posted receive's descriptor length: an envelope's, and as much again for event and buffer;
/// assumed.
const POST: Bytes = Bytes::new(64);

/// Starts a process's Tport thread.
pub(crate) fn serve(elan: &Elan) -> Result<(), MemoryError> {
    let port = elan.port();
    let label = format!("Tports of {}", elan.label().text());
    let (own, node) = (elan.clone(), elan.node().clone());
    let by_host = port.config.matching == Matching::Host;
    elan.node().run_resident(label, async move |thread| {
        let serve = thread::serve(own, thread);
        if by_host {
            // The host's tasks end with the host.
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
        // A process's calls are in order: the receive has been posted, or posting it has failed.
        if !receive.done.is_set() {
            port.command(turn, Bytes::ZERO).await;
            port.order(Order::Cancel(receive));
        }
    });
}

/// The host ends a receive: it copies the message if that waits elsewhere. A call that was given at
/// a moment begins no sooner than the receive has ended.
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
        self.state.borrow_mut().posted.push(Rc::clone(receive));
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

    /// Wakes the thread by a command, with so many bytes for it; the processor is free immediately.
    async fn command(&self, turn: Turn, bytes: Bytes) {
        if self.config.matching == Matching::Adapter {
            self.node.store_across(bytes);
            let told = self.node.wake_thread();
            drop(turn);
            told.wait().await;
        }
    }

    /// Leaves the thread something to do.
    pub(super) fn order(&self, order: Order) {
        self.state.borrow_mut().inbox.push_back(order);
        self.bell.fire();
    }
}
