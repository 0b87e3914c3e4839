//! # Software broadcasts and reductions over several rails
//!
//! On a machine with several rails, a transfer between the main memories of group members is a
//! message from host to host, over the rails that the machine's policy picks at its sender
//! ([`crate::elan::rails`]). A signal on the home rail then reports that the bytes are in main
//! memory. Broadcast segments, partial results and reduction results go in this way, if they are
//! longer than [`SMALL`]. Under static allocation, another rail carries such a message while all
//! rails between its ends are down: the call needs no more than one rail that works.
//!
//! *Broadcasts.* No bytes are staged in adapter memory, and no thread takes part: a host that is
//! between others in the tree or chain of [`super::bcast`] sees the signal, and sends the segment
//! on. Even and odd segments are two *lanes*. A lane sends its next segment when the last one has
//! arrived at all places below. So a lane's signals come in segment order, and one lane starts
//! while the other ends. A root that has the bytes in adapter memory sends them on the home rail.

use super::Group;
use super::span::Span;
use crate::elan::block::Slot;
use crate::elan::courier::Delivery;
use crate::elan::putget::SMALL;
use crate::elan::rails::in_main;
use crate::elan::spread::{Part, Poster, StripeFuture, all, carry};
use elan::{Dma, DmaError, ProcessId};

impl Group {
    /// Whether the machine's policy picks a broadcast's rails: it does if the broadcast would be
    /// staged in adapter memory, and is not small. All members agree on this, as their buffers are
    /// in the same kind of memory, and either all or no members have posted the call.
    pub(in crate::elan) fn by_rails(&self, span: Span) -> bool {
        let several = self.inner.courier.detours.is_some();
        several && !span.posted && span.size > SMALL && self.stages(span)
    }

    /// Sends all segments to some leaders, as they come. A failure at one leader does not keep the
    /// others from their segments.
    pub(in crate::elan) async fn relay_by_rails(
        &self,
        span: Span,
        arrives: bool,
        children: &[ProcessId],
    ) -> Result<(), DmaError> {
        let lane = |parity: u64| -> StripeFuture<'_, Result<(), DmaError>> {
            Box::pin(async move {
                let arrived = Slot::Arrived(parity as u32);
                let mut failed = vec![None; children.len()];
                for index in (parity..self.segments(span)).step_by(2) {
                    if arrives {
                        self.consume(arrived).await;
                    }
                    let (offset, length) = self.segment_at(index, span);
                    let sound = failed.iter_mut().zip(children);
                    let sound = sound.filter(|(failed, _)| failed.is_none());
                    let send = sound.map(|(failed, &vp)| -> StripeFuture<'_, ()> {
                        let segment = Delivery {
                            vp,
                            from: span.from.offset(offset),
                            to: span.to.offset(offset),
                            length,
                            event: self.inner.block.at(arrived),
                            short: false,
                        };
                        Box::pin(async move {
                            *failed = self.bring_by_rails(segment).await.err();
                        })
                    });
                    all(send).await;
                }
                failed.into_iter().flatten().next().map_or(Ok(()), Err)
            })
        };
        let outcomes = all([lane(0), lane(1)]).await;
        outcomes.into_iter().collect()
    }

    /// Brings a delivery: bytes between main memories over the rails that the policy picks, and
    /// then a signal on the home rail; all else as [`bring`](Self::bring).
    pub(in crate::elan) async fn bring_by_rails(&self, one: Delivery) -> Result<(), DmaError> {
        let Delivery {
            vp,
            from,
            to,
            length,
            event,
            ..
        } = one;
        let Some(detours) = &self.inner.courier.detours else {
            return self.bring(one).await;
        };
        let (node, there) = (self.node(), detours.home(vp)?);
        if length <= SMALL || !in_main(node, from, length) || !in_main(&there, to, length) {
            return self.bring(one).await;
        }
        let rails = detours.rails();
        let [here, other] = [node, &there].map(|node| node.rail_and_node().1);
        let pick = |size| rails.pick_for_all(here, [other].into_iter(), size);
        let start = |rail, (offset, length): Part| {
            let (own, other) = (rails.place(rail), detours.place(vp, rail));
            let (from, to) = (own.at(from.offset(offset)), other.at(to.offset(offset)));
            vec![own.dma(Dma::new(from, to, length).stored())]
        };
        let attempt = async || {
            let poster = Poster {
                node: node.clone(),
                cpu: self.inner.cpu.clone(),
                turn: None,
                paid: false,
            };
            let carried = Box::pin(carry(rails, length, poster, pick, start));
            node.wait_for(carried, self.inner.waits).await
        };
        detours.patiently(attempt).await?;
        self.post(Delivery::signal(vp, event));
        Ok(())
    }
}
