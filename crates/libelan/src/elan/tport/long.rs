//! Longer messages on several rails: they wait for rails, are cut into stripes, and go again where
//! a rail has failed. See [`crate::elan::rails`].

use super::pending::{Pending, Stripe, StripedMessage};
use super::thread::Server;
use crate::elan::rails::{RailRequest, Rails};
use elan::{Dma, DmaError, ElanAddr, Placement, Rail};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use units::Bytes;

impl Server {
    fn rails(&self) -> &Rails {
        let rails = self.port.rails.as_ref();
        rails.expect("only then there are such messages")
    }

    /// Whether the rails carry a message from its sender's main memory to a place here: if there
    /// are several rails, and the place is in main memory.
    pub(super) fn spreads(&self, near: bool, to: ElanAddr, size: Bytes) -> bool {
        let placement = || self.hands.node().placement(to, size);
        self.port.rails.is_some() && !near && placement() != Ok(Placement::Adapter)
    }

    /// Puts a message in the line for rails.
    pub(super) fn line_up(&self, pending: Pending, to: ElanAddr) {
        let envelope = *pending.envelope().expect("it is a message");
        let (_, from) = self.peers[envelope.source].node.rail_and_node();
        let (_, here) = self.hands.node().rail_and_node();
        let long = StripedMessage {
            pending: Cell::new(Some(pending)),
            envelope,
            to,
            wanted: RailRequest {
                from,
                to: here,
                size: envelope.size,
                free: Some(envelope.free),
            },
            left: RefCell::new(vec![(Bytes::ZERO, envelope.size)]),
            done: RefCell::default(),
            under_way: Cell::new(0),
            failed: Cell::new(None),
        };
        self.line.borrow_mut().push_back(Rc::new(long));
    }

    /// Starts the messages in line for which there are rails.
    pub(super) async fn start(&self) {
        while let Some(long) = self.first() {
            let Some(part) = long.left.borrow_mut().pop() else {
                self.line.borrow_mut().pop_front();
                continue;
            };
            let wanted = RailRequest {
                size: part.1,
                ..long.wanted
            };
            match self.rails().pick(wanted) {
                Ok(Some(picked)) => {
                    let count = picked.rails.len() as u64;
                    long.under_way.set(long.under_way.get() + count as u32);
                    for (index, rail) in (0..).zip(picked.rails) {
                        let [begin, end] = [index, index + 1].map(|one| part.1 * one / count);
                        let stripe = Stripe {
                            long: Rc::clone(&long),
                            part: (part.0 + begin, end - begin),
                            rail,
                            taken: picked.taken,
                        };
                        self.start_stripe(stripe).await;
                    }
                }
                Ok(None) => {
                    long.left.borrow_mut().push(part);
                    return;
                }
                Err(error) => {
                    long.left.borrow_mut().clear();
                    long.failed.set(Some(error));
                    if let Some((pending, result)) = long.over() {
                        self.ended(pending, result).await;
                    }
                }
            }
        }
    }

    fn first(&self) -> Option<Rc<StripedMessage>> {
        self.line.borrow().front().cloned()
    }

    async fn start_stripe(&self, stripe: Stripe) {
        let (long, (offset, length)) = (&stripe.long, stripe.part);
        let there = &self.peers[long.envelope.source];
        let there = there.rails.as_ref().expect("all processes have them");
        let (there, here) = (there.place(stripe.rail), self.rails().place(stripe.rail));
        let (from, to) = (there.at(long.envelope.from), here.at(long.to));
        let get = Dma::new(from.offset(offset), to.offset(offset), length);
        let get = self.unless_withdrawn(get, &long.envelope);
        let end = if stripe.rail == Rail::new(0) {
            self.hands.dma(get).await.into()
        } else {
            self.hands.dma_beside(here, get).await
        };
        let stripe = Pending::Stripe(stripe);
        self.pending.borrow_mut().push((stripe, end));
    }

    /// A message part is over; if it was the last part, returns the operation that ends with the
    /// message.
    pub(super) fn stripe_ended(
        &self,
        stripe: Stripe,
        result: Result<(), DmaError>,
    ) -> Option<(Pending, Result<(), DmaError>)> {
        let long = stripe.long;
        if stripe.taken {
            self.rails().release(stripe.rail);
        }
        long.under_way.set(long.under_way.get() - 1);
        match result {
            Ok(()) => long.done.borrow_mut().push(stripe.part),
            Err(error) if error.is_rail_down() => {
                // The message is still in line if it has not been started completely.
                let mut line = self.line.borrow_mut();
                if !line.iter().any(|other| Rc::ptr_eq(other, &long)) {
                    line.push_front(Rc::clone(&long));
                }
                long.left.borrow_mut().push(stripe.part);
            }
            Err(error) => {
                long.failed.set(long.failed.get().or(Some(error)));
                long.left.borrow_mut().clear();
            }
        }
        long.over()
    }
}
