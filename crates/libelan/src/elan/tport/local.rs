//! Messages between processes on one node, through shared memory: the hosts do all the work.

use super::line::Searcher;
use super::message::{Received, Room, TportError};
use super::port::{Peers, Port};
use super::receive::{Outcome, Receive};
use super::unexpected::{SharedBody, SharedMessage};
use super::wire::Envelope;
use crate::cpu::Turn;
use crate::elan::Elan;
use elan::ProcessId;
use kernel::Signal;
use std::rc::Rc;

/// Sends a message. The sender's processor turn lasts until the sender has copied its bytes.
pub(super) async fn send(
    elan: &Elan,
    to: ProcessId,
    envelope: Envelope,
    turn: Turn,
) -> Result<(), TportError> {
    let (port, peer) = (elan.port(), Rc::clone(elan.peer(to)));
    let (node, cost) = (&port.node, port.node.config().host);
    let size = envelope.size;
    let mut waits = Vec::new();
    let body = if size <= port.config.big && port.borrow(to) {
        let bytes = elan.elan3().load(envelope.from, size);
        if bytes.is_ok() {
            turn.work(node, cost.copy.time(size)).await;
        } else {
            port.give_back(to);
        }
        SharedBody::Copied(bytes?)
    } else {
        let taken = Signal::new();
        waits.push(taken.clone());
        SharedBody::There(node.clone(), taken)
    };
    drop(turn);
    let matched = envelope.synchronous.then(Signal::new);
    waits.extend(matched.clone());
    node.sleep(cost.shared).await;
    let message = SharedMessage {
        envelope,
        body,
        matched,
    };
    peer.came(elan.peers(), message);
    if !waits.is_empty() {
        for wait in waits {
            wait.wait().await;
        }
        node.sleep(cost.shared).await;
    }
    Ok(())
}

impl Port {
    /// A message can be seen in shared memory.
    fn came(self: &Rc<Self>, peers: Peers, message: SharedMessage) {
        let mut probes = Vec::new();
        let (receive, _) = self.claim(Searcher::Host, &message.envelope, &mut probes);
        for probe in probes {
            probe.end_by_host(Outcome::Here(message.envelope.received(None)));
        }
        match receive {
            Some(receive) => self.take(peers, receive, message),
            None => self.state.borrow_mut().shared.push(message),
        }
    }

    /// Finds a receive's message among the messages that are in shared memory already; returns
    /// whether there was one.
    pub(super) fn take_shared(self: &Rc<Self>, peers: Peers, receive: &Rc<Receive>) -> bool {
        let mut state = self.state.borrow_mut();
        let (Some(number), _) = state.shared.first(receive) else {
            return false;
        };
        receive.matched.set(true);
        if receive.only_looks() {
            let found = state.shared.get(number).envelope.received(None);
            receive.end_by_host(Outcome::Here(found));
        } else {
            state.stats.matched += 1;
            state.stats.unexpected += 1;
            let message = state.shared.remove(number);
            drop(state);
            self.take(peers, Rc::clone(receive), message);
        }
        true
    }

    /// A receive has its message: the process copies the message as soon as it is idle.
    fn take(self: &Rc<Self>, peers: Peers, receive: Rc<Receive>, message: SharedMessage) {
        if let Some(matched) = &message.matched {
            matched.fire();
        }
        let (port, turn) = (Rc::clone(self), self.cpu.turn());
        self.node.serve("receive", async move {
            let outcome = match port.copy(&receive, &message, turn).await {
                Ok(received) => Outcome::Here(received),
                Err(error) => Outcome::Failed(error),
            };
            match message.body {
                SharedBody::Copied(_) => {
                    peers[message.envelope.source].give_back(port.vp);
                }
                SharedBody::There(_, taken) => taken.fire(),
            }
            receive.end_by_host(outcome);
        });
    }

    async fn copy(
        &self,
        receive: &Receive,
        message: &SharedMessage,
        turn: Turn,
    ) -> Result<Received, TportError> {
        let (envelope, size) = (&message.envelope, message.envelope.size);
        let at = match receive.room {
            Room::Buffer(at, room) if size <= room => at,
            Room::Buffer(_, room) => return Err(envelope.truncated(room)),
            Room::System | Room::Probe | Room::Peek => self.buffer(size)?,
        };
        let time = self.node.config().host.copy.time(size);
        turn.work(&self.node, time).await;
        let bytes = match &message.body {
            SharedBody::Copied(bytes) => Ok(bytes.clone()),
            SharedBody::There(node, _) => node.load(node.at(envelope.from), size),
        };
        let stored = bytes.and_then(|bytes| self.node.store(self.node.at(at), &bytes));
        if let Err(fault) = stored {
            if receive.room == Room::System {
                self.buf_free(at)?;
            }
            return Err(fault.into());
        }
        Ok(envelope.received(Some(at)))
    }

    /// One of this sender's messages in shared memory has been received.
    fn give_back(&self, receiver: ProcessId) {
        let mut state = self.state.borrow_mut();
        let lent = state.lent.get_mut(&receiver);
        *lent.expect("it was lent") -= 1;
    }
}

impl Receive {
    fn end_by_host(&self, outcome: Outcome) {
        self.outcome.replace(Some(outcome));
        self.by_host.fire();
    }
}
