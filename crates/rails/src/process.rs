//! A process that sends messages over its node's rails, one at a time.

use super::generator::Generator;
use super::host::Host;
use super::pick::{Hold, RailMessage, RailPick};
use super::policy::RailPolicy;
use super::turn::SharedTurn;
use elan::Node;
use elan::dma::{Dma, DmaError, Transfer};
use elan::memory::{EventId, Region};
use elan::meter::Meter;
use elan::{NodeId, Rail};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use typed_index_collections::TiVec;
use units::Bytes;

/// A program's place on all of a node's rails; see [`super::Rails::attach`].
pub struct Attachment {
    pub(super) node: NodeId,
    /// The same process at each adapter.
    pub(super) adapters: TiVec<Rail, Node>,
    /// The process's buffer at each adapter.
    pub(super) buffers: TiVec<Rail, Region>,
    /// Where the policy reserves: the event at each adapter that occurs when a message has arrived
    /// there.
    pub(super) arrivals: TiVec<Rail, Option<Rc<Cell<EventId>>>>,
}

impl Attachment {
    /// The node.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The process at an adapter.
    pub fn adapter(&self, rail: Rail) -> &Node {
        &self.adapters[rail]
    }
}

/// A message part that one rail carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stripe {
    offset: Bytes,
    length: Bytes,
}

/// A stripe under way.
struct SentStripe {
    stripe: Stripe,
    rail: Rail,
    hold: Hold,
    /// `None` once the stripe is over.
    transfer: Option<Transfer>,
}

/// A process that sends messages; see the parent module's essay.
pub struct Process {
    host: Rc<Host>,
    policy: Box<dyn RailPolicy>,
    turn: SharedTurn,
}

impl Process {
    pub(super) fn new(host: Rc<Host>, policy: Box<dyn RailPolicy>, turn: SharedTurn) -> Self {
        Process { host, policy, turn }
    }

    /// Picks rails for messages when they are generated; `None` if the policy picks them when they
    /// are sent.
    pub fn generator(&self) -> Option<Generator> {
        Generator::new(&self.host, &self.turn)
    }

    /// Writes a message from the start of the node's buffers to the start of another node's, and
    /// waits until the whole message is acknowledged. Bytes that a failed rail has not carried go
    /// over other rails.
    ///
    /// # Errors
    /// If no rail is left between the two nodes, or a buffer is not as long as the message.
    ///
    /// # Panics
    /// If a message part was delivered twice, or never.
    pub async fn put(
        &mut self,
        from: &Attachment,
        to: &Attachment,
        size: Bytes,
        meter: Option<Meter>,
    ) -> Result<(), DmaError> {
        self.put_over(Vec::new(), (from, to), size, meter).await
    }

    /// As [`put`](Self::put) between two places, over rails that the process's [`Generator`] has
    /// picked for the message, as far as they work.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    ///
    /// # Panics
    /// As [`put`](Self::put).
    pub async fn put_over(
        &mut self,
        generated: Vec<Rail>,
        (from, to): (&Attachment, &Attachment),
        size: Bytes,
        meter: Option<Meter>,
    ) -> Result<(), DmaError> {
        let mut picks = self.policy.accept(generated, &self.host);
        let whole = Stripe {
            offset: Bytes::ZERO,
            length: size,
        };
        let mut left = vec![whole];
        let (mut delivered, mut failed) = (Vec::new(), None);
        while let Some(part) = left.pop() {
            let message = RailMessage {
                to: to.node,
                size: part.length,
            };
            if picks.is_empty() {
                picks = self.policy.pick(message, &self.host).await?;
                assert_picks(&picks);
            }
            let now = std::mem::take(&mut picks);
            let mut sent = self.send(now, part, (from, to), meter);
            while let Some((stripe, result)) = self.next(&mut sent).await {
                match result {
                    Ok(()) => delivered.push(stripe),
                    Err(error) if error.is_rail_down() => left.push(stripe),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            // The message fails only when all its stripes are over: until then they hold their
            // rails.
            if let Some(error) = failed {
                return Err(error);
            }
        }
        assert_complete(delivered, size);
        Ok(())
    }

    /// Starts the stripes of a message, or of its unsent rest, on the picked rails.
    fn send(
        &self,
        picks: Vec<RailPick>,
        part: Stripe,
        (from, to): (&Attachment, &Attachment),
        meter: Option<Meter>,
    ) -> Vec<SentStripe> {
        let count = picks.len() as u64;
        let boundary = |index| part.length * index / count;
        let stripe = |index| Stripe {
            offset: part.offset + boundary(index),
            length: boundary(index + 1) - boundary(index),
        };
        let sent = (0..).zip(picks).map(|(index, pick)| {
            let (stripe, rail) = (stripe(index), pick.rail);
            let start = |buffer: &Region| buffer.start().offset(stripe.offset);
            let (source, destination) = (&from.buffers[rail], &to.buffers[rail]);
            let mut dma = Dma::new(start(source), start(destination), stripe.length);
            if let Hold::Reserved { grant, there } = &pick.hold {
                self.host.port(rail).assert_granted(grant.number, there);
                let arrival = to.arrivals[rail].as_ref();
                dma = dma.notify(arrival.expect("the policy reserves").get());
            }
            if let Some(meter) = meter {
                dma = dma.metered(meter);
            }
            SentStripe {
                stripe,
                rail,
                hold: pick.hold,
                transfer: Some(from.adapters[rail].dma(dma)),
            }
        });
        sent.collect()
    }

    /// Waits until another stripe has ended; `None` if all have. The stripe's rail is free
    /// immediately. Where both ends were reserved, the receiver's report frees them, or the sender
    /// if the stripe has failed and there will be no report.
    async fn next(&self, sent: &mut [SentStripe]) -> Option<(Stripe, Result<(), DmaError>)> {
        poll_fn(|context| {
            let mut waits = false;
            for one in &mut *sent {
                let Some(transfer) = &mut one.transfer else {
                    continue;
                };
                if let Poll::Ready(result) = Pin::new(transfer).poll(context) {
                    one.transfer = None;
                    match &one.hold {
                        Hold::Marked => self.host.rails[one.rail].adapter.end_sending(),
                        Hold::Reserved { grant, .. } if result.is_err() => {
                            self.host.port(one.rail).abort(*grant);
                        }
                        Hold::Shared | Hold::Reserved { .. } => {}
                    }
                    return Poll::Ready(Some((one.stripe, result)));
                }
                waits = true;
            }
            if waits {
                Poll::Pending
            } else {
                Poll::Ready(None)
            }
        })
        .await
    }
}

/// Asserts that a policy has picked some rails, no rail twice.
fn assert_picks(picks: &[RailPick]) {
    let rails: BTreeSet<Rail> = picks.iter().map(|pick| pick.rail).collect();
    assert!(
        !picks.is_empty() && rails.len() == picks.len(),
        "a policy picks at least one rail, none twice; this one has picked {:?}",
        picks.iter().map(|pick| pick.rail).collect::<Vec<_>>()
    );
}

/// Asserts that the stripes make up the message: each byte once, in the order of their places.
fn assert_complete(mut stripes: Vec<Stripe>, size: Bytes) {
    stripes.sort_by_key(|stripe| (stripe.offset, stripe.length));
    let mut end = Bytes::ZERO;
    for stripe in stripes {
        assert_eq!(stripe.offset, end, "a stripe is lost, or delivered twice");
        end += stripe.length;
    }
    assert_eq!(end, size, "the end of a message is lost");
}

#[cfg(test)]
mod tests;
