//! Bytes that move between main memories over several rails: they wait for rails, are cut into stripes, and go again where a
//! rail has failed. See [`super::rails`].

use super::rails::{Picked, Rails};
use crate::cpu::{Cpu, Turn};
use elan::{DmaError, Node, Rail, Transfer};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use units::Bytes;

/// A part of a message: where it begins, and its length.
pub(super) type Part = (Bytes, Bytes);

/// The host that posts the stripes of a message: a call for each.
pub(super) struct Poster {
    pub node: Node,
    pub cpu: Cpu,
    /// The turn of the process's call, until the message has been posted or has to wait.
    pub turn: Option<Turn>,
    /// Whether the next call has been paid for: that of the process.
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

/// A part of a message that one rail carries.
struct Stripe {
    part: Part,
    rail: Rail,
    /// Whether the rail is taken for the stripe.
    taken: bool,
    /// What is still under way: a broadcast may have two ranges of nodes.
    transfers: Vec<Transfer>,
    failed: Option<DmaError>,
}

/// Carries a message of some size over the rails that `pick` picks, where `start` starts the transfers of each stripe.
///
/// # Errors
/// If no rail works, or a transfer fails for another reason: then nothing of the message is under way.
///
/// # Panics
/// If a part of the message was carried twice, or never.
pub(super) async fn carry(
    rails: &Rails,
    size: Bytes,
    mut poster: Poster,
    pick: impl Fn(Bytes) -> Result<Option<Picked>, DmaError>,
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
        let mut under_way = Vec::new();
        for (index, rail) in (0..).zip(picked.rails) {
            let [begin, end] = [index, index + 1].map(|one| length * one / count);
            let part = (offset + begin, end - begin);
            poster.call().await;
            under_way.push(Stripe {
                part,
                rail,
                taken: picked.taken,
                transfers: start(rail, part),
                failed: None,
            });
        }
        poster.turn = None;
        let mut failed = None;
        while let Some((part, result)) = next(rails, &mut under_way).await {
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

/// Waits until another stripe is over, and releases its rail; none if all are.
async fn next(rails: &Rails, stripes: &mut Vec<Stripe>) -> Option<(Part, Result<(), DmaError>)> {
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
                // Another error counts more than a rail that has failed: the message cannot be carried at all.
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
    if stripe.taken {
        rails.release(stripe.rail);
    }
    Some((stripe.part, stripe.failed.map_or(Ok(()), Err)))
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
