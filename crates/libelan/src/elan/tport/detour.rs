//! Thread operations that have failed with the home rail, and take a detour.

use super::hands::End;
use super::message::Received;
use super::pending::Pending;
use super::port::Order;
use super::receive::Outcome;
use super::send::by_detour;
use super::thread::Server;
use super::wire::{Envelope, withdrawn};
use crate::elan::detour::Detours;
use elan::{DmaError, ProcessId};
use std::rc::Rc;

impl Server {
    /// A handed-over operation has failed with the home rail, and takes a detour.
    pub(super) fn detour(&self, pending: Pending, detours: &Detours) {
        let detours = detours.clone();
        let (envelope, to) = match &pending {
            Pending::Get(receive, envelope) => {
                let outcome = receive.outcome.borrow();
                let Some(Outcome::Here(Received { at: Some(at), .. })) = *outcome else {
                    unreachable!("it has a place");
                };
                (*envelope, at)
            }
            Pending::Fetch(fetch, envelope) => (*envelope, fetch.buffer),
            &Pending::Answer(slot, to, answer) => {
                self.port.answers.give_back(slot);
                let again = self.again(to, Order::Answer(to, answer));
                let peer = Rc::clone(&self.peers[to]);
                return self.hands.node().serve("detour", async move {
                    let tell = async || by_detour(&detours, &peer, answer.encode().into()).await;
                    again(detours.patiently(tell).await);
                });
            }
            &Pending::Notice(process, event) => {
                let again = self.again(process, Order::Notice(process, event));
                return self.hands.node().serve("detour", async move {
                    let set = async || detours.set(process, event).await;
                    again(detours.patiently(set).await);
                });
            }
            Pending::Stripe(_) | Pending::Detour(_) => unreachable!("they take no home rail"),
        };
        let node = self.hands.node().clone();
        let end = async move {
            let Envelope {
                source, from, size, ..
            } = envelope;
            let withdrawn = Some(withdrawn(envelope.event));
            let bytes = detours.fetch(source, from, size, withdrawn).await?;
            Ok(node.deliver(to, &bytes, None)?)
        };
        let pending = Pending::Detour(Box::new(pending));
        self.pending
            .borrow_mut()
            .push((pending, End::Beside(Box::pin(end))));
    }

    /// Handles the end of an answer or a notice to a process: if the network has certainly not
    /// carried it, it goes again as soon as the process should be in reach. Its error has no other
    /// waiter, and the process would wait for ever.
    pub(super) fn again(
        &self,
        to: ProcessId,
        order: Order,
    ) -> impl FnOnce(Result<(), DmaError>) + use<> {
        let (elan, port) = (self.elan.clone(), Rc::clone(&self.port));
        move |result| {
            let lost = |error: DmaError| {
                error.is_rail_down() || error.loss().is_some_and(|loss| !loss.unsure)
            };
            if result.is_err_and(lost) {
                let node = port.node.clone();
                node.serve("answer that goes again", async move {
                    elan.comes_into_reach(to).await;
                    port.order(order);
                });
            }
        }
    }
}
