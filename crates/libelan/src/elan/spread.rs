//! Bytes that move between main memories over several rails: they wait for rails, are cut into
//! stripes, and go again where a rail has failed. See [`super::rails`].

use super::rails::{Rails, RailsPick};
use crate::cpu::{Cpu, Turn};
use elan::{DmaError, Node, Rail, Transfer};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use units::Bytes;

/// A message part: its start and its length.
pub(super) type Part = (Bytes, Bytes);

/// One of several concurrent operations.
pub(super) type StripeFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The host that posts a message's stripes: a call for each.
pub(super) struct Poster {
    pub node: Node,
    pub cpu: Cpu,
    /// The turn of the process's call, until the message has been posted or has to wait.
    pub turn: Option<Turn>,
    /// Whether the next call has been paid for: the process's.
    pub paid: bool,
}

impl Poster {
    /// Pays for a call.
    pub async fn call(&mut self) {
        if std::mem::take(&mut self.paid) {
            return;
        }
        let call = self.node.config().host.call;
        match &self.turn {
            Some(turn) => {
                turn.work(&self.node, call).await;
            }
            None => self.cpu.work(&self.node, call).await,
        }
    }
}

/// A rail that is taken for a stripe. The rail is free again when the stripe is over, or when it
/// has no waiter any more, as the call has failed.
struct TakenRail<'a>(&'a Rails, Rail);

impl Drop for TakenRail<'_> {
    fn drop(&mut self) {
        self.0.release(self.1);
    }
}

/// A message part that one rail carries.
struct Stripe<'a> {
    part: Part,
    /// The rail, if it is taken for the stripe.
    _taken: Option<TakenRail<'a>>,
    /// Transfers still under way: a broadcast may have two node ranges.
    transfers: Vec<Transfer>,
    failed: Option<DmaError>,
}

/// Carries a message of some size over the rails that `pick` picks, where `start` starts each
/// stripe's transfers.
///
/// # Errors
/// If no rail works, or a transfer fails for another reason: then no part of the message is under
/// way.
///
/// # Panics
/// If a message part was carried twice, or never.
pub(super) async fn carry(
    rails: &Rails,
    size: Bytes,
    mut poster: Poster,
    pick: impl Fn(Bytes) -> Result<Option<RailsPick>, DmaError>,
    start: impl Fn(Rail, Part) -> Vec<Transfer>,
) -> Result<(), DmaError> {
    let (mut left, mut done): (_, Vec<Part>) = (vec![(Bytes::ZERO, size)], Vec::new());
    while let Some((offset, length)) = left.pop() {
        let picked = loop {
            if let Some(picked) = pick(length)? {
                break picked;
            }
            poster.turn = None;
            poster.node.sleep(rails.poll()).await;
        };
        let count = picked.rails.len() as u64;
        let taken = |rail| (rail, picked.taken.then(|| TakenRail(rails, rail)));
        let picked: Vec<_> = picked.rails.into_iter().map(taken).collect();
        let mut under_way = Vec::new();
        for (index, (rail, taken)) in (0..).zip(picked) {
            let [begin, end] = [index, index + 1].map(|one| length * one / count);
            let part = (offset + begin, end - begin);
            poster.call().await;
            under_way.push(Stripe {
                part,
                _taken: taken,
                transfers: start(rail, part),
                failed: None,
            });
        }
        poster.turn = None;
        let mut failed = None;
        while let Some((part, result)) = next(&mut under_way).await {
            match result {
                Ok(()) => done.push(part),
                Err(error) if error.is_rail_down() => left.push(part),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
    }
    assert_complete(done, size);
    Ok(())
}

/// Waits until another stripe is over, and releases its rail; `None` if all are.
async fn next(stripes: &mut Vec<Stripe<'_>>) -> Option<(Part, Result<(), DmaError>)> {
    if stripes.is_empty() {
        return None;
    }
    let over = poll_fn(|context| {
        for (place, stripe) in stripes.iter_mut().enumerate() {
            let failed = &mut stripe.failed;
            stripe.transfers.retain_mut(|transfer| {
                let Poll::Ready(result) = Pin::new(transfer).poll(context) else {
                    return true;
                };
                // Another error counts more than a rail that has failed: the message cannot be
                // carried at all.
                if let Err(error) = result
                    && failed.is_none_or(|known| known.is_rail_down())
                {
                    *failed = Some(error);
                }
                false
            });
            if stripe.transfers.is_empty() {
                return Poll::Ready(place);
            }
        }
        Poll::Pending
    })
    .await;
    let stripe = stripes.remove(over);
    Some((stripe.part, stripe.failed.map_or(Ok(()), Err)))
}

/// Waits until all the given operations are over.
pub(super) async fn all<'a, T>(acts: impl IntoIterator<Item = StripeFuture<'a, T>>) -> Vec<T> {
    let mut acts: Vec<_> = acts.into_iter().map(|act| (act, None)).collect();
    poll_fn(|context| {
        let mut over = true;
        for (act, output) in acts.iter_mut().filter(|(_, output)| output.is_none()) {
            match act.as_mut().poll(context) {
                Poll::Ready(done) => *output = Some(done),
                Poll::Pending => over = false,
            }
        }
        if over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    let outputs = acts.into_iter().map(|(_, output)| output);
    outputs.map(|output| output.expect("it is over")).collect()
}

/// Asserts that parts make up a message: each byte once.
pub(super) fn assert_complete(mut parts: Vec<Part>, size: Bytes) {
    parts.sort_unstable();
    let mut end = Bytes::ZERO;
    for (offset, length) in parts {
        assert_eq!(offset, end, "a stripe is lost, or carried twice");
        end += length;
    }
    assert_eq!(end, size, "the end of a message is lost");
}
