//! # The software broadcast (002: "a balanced tree and point-to-point messages"; "both implementations perform an initial
//! barrier to guarantee resources allocation")
//!
//! The barrier is the best that the group has. The bytes then go from leader to leader in *segments* of up to
//! [`SEGMENT_PACKETS`] packets, each a DMA that notifies: down the balanced tree, or, where that is faster, along a chain
//! through all of them. In a tree each process sends everything to each of its children, so that its link is shared by
//! `branching` of them; a chain sends everything once, but the last process waits until the first segment has come through
//! all. With a ratio `r`, the chain is taken if `(r - 1) size > leaders * segment`.
//!
//! A thread on the adapter of each process in between sends on what has come; the host is told at the end. Segments
//! that follow each other have events of their own, and a process has two of them under way to each child, so that no
//! segment is mistaken for another however they overtake each other.

use super::group::{Group, Slot};
use super::tree::{Spot, balanced, chain};
use elan::{Action, Dma, DmaError, ElanAddr, Thread, Transfer, Wait};
use std::rc::Rc;
use units::Bytes;

/// Packets of a segment. Nothing is published; a segment of 4 takes longer to send than a thread and the DMA engine take to
/// send it on.
const SEGMENT_PACKETS: u64 = 4;

/// What is broadcast: bytes from one address of the root to one of all others.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub from: ElanAddr,
    pub to: ElanAddr,
    pub size: Bytes,
}

impl Span {
    /// The same address everywhere.
    pub fn new(buffer: ElanAddr, size: Bytes) -> Self {
        Span {
            from: buffer,
            to: buffer,
            size,
        }
    }
}

/// What a thread sends on: segments from this process to its children.
pub(super) struct Work {
    /// By child: the descriptor of each segment, in order.
    children: Vec<Vec<Dma>>,
    segments: usize,
}

impl Group {
    /// Sends `size` bytes at `buffer` of the root, by its rank, to the same address of all members, in software (`elan_bcast`).
    ///
    /// # Errors
    /// If a member has no such buffer; who sends to it is told, and those below wait for ever.
    pub async fn bcast(&self, buffer: ElanAddr, size: Bytes, root: u32) -> Result<(), DmaError> {
        self.bcast_from(Span::new(buffer, size), root).await
    }

    /// The same, from another place at the root.
    pub(crate) async fn bcast_from(&self, span: Span, root: u32) -> Result<(), DmaError> {
        let _turn = self.enter().await;
        let spread = async |group: &Group, span, root| group.spread(span, root).await;
        let call = self.broadcast(span, root, Group::prepare_spread, spread);
        self.during("bcast", call).await
    }

    /// A broadcast: teams gather, leaders spread, teams copy.
    pub(super) async fn broadcast(
        &self,
        span: Span,
        root: u32,
        prepare: impl Fn(&Group, Bytes, u32),
        spread: impl AsyncFn(&Group, Span, u32) -> Result<(), DmaError>,
    ) -> Result<(), DmaError> {
        let layout = &self.inner.layout;
        let Some(&team) = layout.team_of.get(root as usize) else {
            return Err(DmaError::NoProcess { process: root });
        };
        let rank = self.inner.rank;
        if !self.leads() {
            self.join().await?;
            let leader = layout.teams[self.inner.team as usize][0];
            if rank != root {
                let from = if leader == root { span.from } else { span.to };
                self.take_from(leader, from, span).await?;
            }
            self.come().await;
            return Ok(());
        }
        prepare(self, span.size, team);
        self.gather().await;
        let (mut outcome, mut sent) = (Ok(()), span);
        if team == self.inner.team && root != rank {
            outcome = self.take_from(root, span.from, span).await;
            sent = Span::new(span.to, span.size);
        }
        if outcome.is_ok() {
            outcome = self.barrier(Wait::Poll).await;
        }
        if outcome.is_ok() {
            outcome = spread(self, sent, team).await;
        }
        self.release(outcome)?;
        // The buffer belongs to the program again once all have copied.
        self.gather().await;
        Ok(())
    }

    /// Copies bytes of another member on the node.
    async fn take_from(&self, rank: u32, from: ElanAddr, span: Span) -> Result<(), DmaError> {
        let vp = self.inner.layout.members[rank as usize];
        let other = self.inner.context.shared(vp);
        let other = other.expect("a team is on one node");
        let bytes = other.load(other.at(from), span.size)?;
        self.copy(span.size).await;
        self.inner.context.store(span.to, &bytes)?;
        Ok(())
    }

    /// A leader's place in a broadcast of some size from a team.
    fn place(&self, size: Bytes, root: u32) -> Spot {
        let count = self.inner.layout.leaders.len() as u32;
        let ratio = self.node().group_config().branching;
        let place = (self.inner.team + count - root) % count;
        let tree = u128::from(size.as_u64()) * u128::from(ratio - 1);
        if tree > u128::from(self.segment().as_u64()) * u128::from(count) {
            chain(count, place)
        } else {
            balanced(count, ratio, place)
        }
    }

    fn segment(&self) -> Bytes {
        self.node().longest_packet() * SEGMENT_PACKETS
    }

    fn segments(&self, size: Bytes) -> u64 {
        size.as_u64().div_ceil(self.segment().as_u64()).max(1)
    }

    /// Before anything of a broadcast can come.
    pub(super) fn prepare_spread(&self, size: Bytes, root: u32) {
        let segments = self.segments(size) as u32;
        let spot = self.place(size, root);
        for parity in 0..2 {
            if spot.children.is_empty() {
                // The host waits for all of them.
                let count = (segments + 1 - parity) / 2;
                self.event_with(Slot::Arrived(parity), count, Action::Copy);
            } else {
                // The thread takes one by one.
                self.event_with(Slot::Arrived(parity), 1, Action::None);
            }
        }
        self.node().prime(self.event(Slot::Sent), 1);
    }

    /// The descriptors of all segments to one child.
    fn cut(&self, span: Span, vp: u32) -> Vec<Dma> {
        let (length, count) = (self.segment(), self.segments(span.size));
        let cut = |index: u64| {
            let offset = length * index;
            let from = self.node().at(span.from).offset(offset);
            let to = self.there(vp, span.to).offset(offset);
            let arrived = self.inner.block.at(Slot::Arrived((index % 2) as u32));
            let dma = Dma::new(from, to, length.min(span.size - offset));
            dma.notify_at(self.there(vp, arrived))
        };
        (0..count).map(cut).collect()
    }

    /// The bytes go from the root team's leader to all others.
    pub(super) async fn spread(&self, mut span: Span, root: u32) -> Result<(), DmaError> {
        let leaders = &self.inner.layout.leaders;
        let spot = self.place(span.size, root);
        if spot.parent.is_some() {
            span.from = span.to;
        }
        let vp = |place: u32| leaders[((place + root) as usize) % leaders.len()];
        let children = spot.children.iter();
        let children: Vec<_> = children.map(|&child| self.cut(span, vp(child))).collect();
        let segments = self.segments(span.size) as usize;
        if spot.parent.is_none() {
            return self.send_all(&children, segments).await;
        }
        if children.is_empty() {
            for parity in 0..2 {
                self.node().wait(self.event(Slot::Arrived(parity))).await;
            }
            return Ok(());
        }
        let work = Work { children, segments };
        self.inner.work.borrow_mut().push_back(work);
        self.start_forwarding();
        self.node().set(self.event(Slot::Work));
        self.node().wait(self.event(Slot::Sent)).await;
        self.inner.failed.take().map_or(Ok(()), Err)
    }

    /// The root's host posts all segments, two at a time to each child.
    async fn send_all(&self, children: &[Vec<Dma>], segments: usize) -> Result<(), DmaError> {
        let mut under_way: [Vec<Transfer>; 2] = [Vec::new(), Vec::new()];
        for index in 0..segments {
            for sent in std::mem::take(&mut under_way[index % 2]) {
                sent.await?;
            }
            let posted = children.iter().map(|child| self.node().dma(child[index]));
            under_way[index % 2] = posted.collect();
        }
        for sent in under_way.into_iter().flatten() {
            sent.await?;
        }
        Ok(())
    }

    fn start_forwarding(&self) {
        let (work, sent) = (self.event(Slot::Work), self.event(Slot::Sent));
        let arrived = [0, 1].map(|parity| self.event(Slot::Arrived(parity)));
        let (list, failed) = (Rc::clone(&self.inner.work), Rc::clone(&self.inner.failed));
        let stack = &self.inner.threads.forward;
        self.thread(stack, "bcast", async move |thread| {
            loop {
                thread.consume(work).await;
                let next = list.borrow_mut().pop_front();
                let next = next.expect("who says that there is work has brought it");
                failed.set(next.send_on(&thread, arrived).await.err());
                thread.set(sent).await;
            }
        });
    }
}

impl Work {
    async fn send_on(&self, thread: &Thread, arrived: [elan::EventId; 2]) -> Result<(), DmaError> {
        let mut under_way: [Vec<Transfer>; 2] = [Vec::new(), Vec::new()];
        for index in 0..self.segments {
            thread.consume(arrived[index % 2]).await;
            for sent in std::mem::take(&mut under_way[index % 2]) {
                thread.until(sent).await?;
            }
            for child in &self.children {
                let sent = thread.dma(child[index]).await;
                under_way[index % 2].push(sent);
            }
        }
        for sent in under_way.into_iter().flatten() {
            thread.until(sent).await?;
        }
        Ok(())
    }
}
