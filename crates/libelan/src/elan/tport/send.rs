//! Sends through the network, and their fate where machine parts fail.
//!
//! *A send that has succeeded.* A small Elan4 send succeeds when its bytes have left the host. If
//! its adapter dies before the packet has been taken, or the network does not carry the packet, the
//! error has no waiter. So the library keeps the bytes, and sends them again as soon as the adapter
//! works and the routing tables know a way: again and again, until they have arrived. The message's
//! place in its sender's order ([`Envelope::order`]) keeps later messages behind it, and identifies
//! a repetition. If no way ever comes back, both processes are out of each other's reach: later
//! sends and receives fail. A send that finds its adapter down, or no way, does not succeed
//! immediately: it waits for its packet, and fails.
//!
//! *A send that has failed.* A longer message lies in the sender's buffer until the receiver gets
//! it, and the sender may use its buffer again once it has the error. So it withdraws the message
//! before: it stores a word beside the send's event. The receiver's get names this word
//! ([`elan::Dma::unless_withdrawn`]), the sender's adapter serves the get no more, and the receive
//! fails. A receive that was served before succeeds; the error reports that the message may have
//! been delivered. It is assumed, not published, that real libraries do so.

use super::message::TportError;
use super::port::{Port, Sending};
use super::wire::{Envelope, Wire, withdrawn};
use crate::cpu::Turn;
use crate::elan::Elan;
use crate::elan::detour::Detours;
use elan::{AccessFault, Dma, DmaError, ElanAddr, EventId, Loss, Matching, ProcessId, Transfer};
use kernel::Signal;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use units::Bytes;

/// Brings a message to another process's Tport by a detour.
pub(super) async fn by_detour(
    detours: &Detours,
    to: &Rc<Port>,
    message: Box<[u8]>,
) -> Result<(), DmaError> {
    let (port, length) = (Rc::clone(to), Bytes::new(message.len() as u64));
    let note = move || port.came_by_detour(message.clone());
    detours.note(to.vp, length, note).await
}

impl Port {
    /// Sends through the network.
    pub(super) async fn send_remote(
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
        }
        if self.overtakes {
            envelope.order = self.next_order(to);
        }
        let mut bytes = Wire::Envelope(envelope).encode().to_vec();
        bytes.extend_from_slice(&payload);
        let sent = self.hand_over(elan, to, slot, &bytes)?;
        let succeeds = event.is_none() && self.node.has_sten() && elan.should_reach(to);
        if succeeds {
            sending.end(self.node.now(), Ok(()));
        }
        drop(turn);
        let mut sent = self.arrives(elan, to, slot, &bytes, sent).await;
        while succeeds && sent.is_err_and(is_of_the_network) {
            elan.comes_into_reach(to).await;
            let slot = self.slots.take().await;
            let again = self.hand_over(elan, to, slot, &bytes)?;
            sent = self.arrives(elan, to, slot, &bytes, again).await;
        }
        if self.overtakes && sent.is_err() {
            elan.peer(to).give_up(self.vp, envelope.order);
        }
        let mut unsure = sent.is_err_and(|error| error.loss().is_some_and(|loss| loss.unsure));
        if small && sent.is_err() && !unsure {
            self.returned(to, 1);
        }
        if let Some(event) = event {
            if sent.is_ok() {
                sent = self.told(event.0, elan, to).await;
                unsure = sent.is_err();
            }
            self.state.borrow_mut().waiting.remove(&event.1);
            if unsure {
                // The notice to the event may still come, so the event serves no other send.
                self.withdraw(elan, event.1)?;
            } else {
                self.free_event(event);
            }
        }
        match sending.refused.get() {
            Some(by) => Err(TportError::Refused { by }),
            None => Ok(sent.map_err(|error| error.of_process(to))?),
        }
    }

    /// Hands a message to the adapter, in a slot.
    fn hand_over(
        &self,
        elan: &Elan,
        to: ProcessId,
        slot: ElanAddr,
        bytes: &[u8],
    ) -> Result<Transfer, AccessFault> {
        elan.elan3().store(slot, bytes)?;
        let length = Bytes::new(bytes.len() as u64);
        let queue = elan.peer(to).queue.start();
        let message = Dma::queue(self.node.at(slot), queue, length);
        Ok(if self.node.has_sten() {
            self.node.send_short(message)
        } else {
            self.node.store_across(length);
            self.node.dma(message)
        })
    }

    /// Waits until a message is in the other process's queue. If its rail has failed, it takes a
    /// detour.
    async fn arrives(
        &self,
        elan: &Elan,
        to: ProcessId,
        slot: ElanAddr,
        bytes: &[u8],
        sent: Transfer,
    ) -> Result<(), DmaError> {
        let sent = sent.await;
        self.slots.give_back(slot);
        match elan.detours() {
            Some(detours) if sent.is_err_and(|error| error.is_rail_down()) => {
                by_detour(detours, elan.peer(to), bytes.into()).await
            }
            _ => sent,
        }
    }

    /// Withdraws a message: its bytes can no longer be fetched.
    fn withdraw(&self, elan: &Elan, event: ElanAddr) -> Result<(), AccessFault> {
        let word = 1_u64.to_le_bytes();
        self.node.store_across(Bytes::new(word.len() as u64));
        elan.elan3().store(withdrawn(event), &word)
    }

    /// Waits until an event is set by which another process ends a send.
    ///
    /// # Errors
    /// If the adapter has failed, and there is no other rail; or if the network has, and the other
    /// process is out of reach. The message may have been delivered.
    async fn told(&self, event: EventId, elan: &Elan, by: ProcessId) -> Result<(), DmaError> {
        let mut set = pin!(self.node.wait(event));
        let fails = self.rails.is_none() && self.node.lists_faults();
        let down = fails.then(|| self.node.down());
        let mut down = down.as_ref().map(Signal::wait);
        let mut cut_off = pin!(elan.cut_off_from(by));
        let end = poll_fn(|context| {
            let mut end = set.as_mut().poll(context).map(Ok);
            if let Some(down) = &mut down
                && end.is_pending()
            {
                let down = Pin::new(down).poll(context);
                end = down.map(|()| Err(self.node.rail_is_down()));
            }
            if end.is_pending() {
                end = cut_off.as_mut().poll(context).map(Err);
            }
            end
        });
        end.await.map_err(|error| match error.loss() {
            Some(loss) => DmaError::Network(Loss {
                unsure: true,
                ..loss
            }),
            None => error,
        })
    }
}

/// Whether a message that has failed may get through later.
fn is_of_the_network(error: DmaError) -> bool {
    let no_rail = matches!(error, DmaError::NoRail { .. });
    no_rail || error.is_rail_down() || error.loss().is_some()
}
