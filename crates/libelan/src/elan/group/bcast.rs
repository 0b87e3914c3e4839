//! # The software broadcast
//!
//! "A balanced tree and point-to-point messages"; "both implementations perform an initial barrier
//! to guarantee resources allocation" (petrini2001).
//!
//! The barrier is the best that the group has. The bytes then go from leader to leader in
//! *segments* of up to [`SEGMENT_PACKETS`] packets, each a DMA that notifies: down the balanced
//! tree, or, where that is faster, along a chain through all leaders. In a tree each process sends
//! everything to each of its children, so `branching` children share its link. A chain sends
//! everything once, but the last process waits until the first segment has come through all
//! processes before it. With a ratio `r`, the chain is taken if `(r - 1) size > leaders * segment`.
//!
//! The root's host sends a single segment itself. With several segments, threads on the adapters of
//! the root and the processes in between send each segment on as soon as it has come, and notify
//! the host at the end. Even and odd segments have separate events, and a process has at most two
//! segments under way to each child: so no segment is mistaken for another even if one overtakes
//! the other.
//!
//! *Main memory.* A process in between that received into main memory would read everything back to
//! send it on, over a bus that carries one direction at a time. So it receives into a *stage* for
//! [`SLOTS`] segments in adapter memory and sends on from there, while its thread copies each
//! segment out to main memory: all bytes cross the bus once. A slot is free when its segment has
//! been copied and the children have the segment. A signal, a zero-byte DMA, then notifies the
//! sender, which keeps back the next segment for this slot until then. Bytes that go straight to
//! their place, in adapter memory and at the leaves, need no such signals. A buffer is in the same
//! kind of memory in all processes, so senders know which case applies.
//!
//! *Several rails.* Where the machine's policy picks the rails, hosts send segments from main
//! memory to main memory ([`super::lanes`]).
//!
//! *In a row.* The root leaves a broadcast long before the leaves do, and may ask for the next
//! barrier before the leaves have reached that barrier. The root asks again after `retry_delay` and
//! the round trip, 3 us in all. So the mean time of several broadcasts in a row rises in 3 us
//! steps; a single broadcast's time does not.

use super::Group;
use super::relay::{Child, Job, Stage, Work};
use super::span::{Carrier, Span};
use crate::elan::block::{SLOTS, Slot, segment};
use crate::elan::courier::Delivery;
use crate::elan::layout::{GroupRank, TeamId};
use crate::elan::spread::Part;
use crate::elan::tree::{Spot, balanced, chain};
use elan::{Action, DmaError, ElanAddr, Placement, ProcessId, Thread};
use std::rc::Rc;
use units::Bytes;

/// The longest segment. The value is assumed, not published. Longer segments fill a long chain more
/// slowly, shorter ones spend more time on signals: among 4, 8, 16 and 64 KB, only with 8 KB no
/// message size is slower than over one rail (4 and 32 nodes with four rails, dynamic and basic,
/// full striping).
const LANE_SEGMENT: Bytes = Bytes::from_kb(8);

impl Group {
    /// Sends `size` bytes at the root's `buffer`, by its rank, to the same address in all members,
    /// in software (`elan_bcast`).
    ///
    /// # Errors
    /// If a member has no such buffer. A member that stages the bytes, on one rail, gets the error
    /// itself, and passes the bytes on. Otherwise its sender gets the error, and the member and
    /// those below it wait for ever.
    pub async fn bcast(&self, buffer: ElanAddr, size: Bytes, root: u32) -> Result<(), DmaError> {
        self.bcast_from(Span::new(buffer, size), root).await
    }

    /// Broadcasts as [`bcast`](Self::bcast), from another place at the root.
    pub(crate) async fn bcast_from(&self, span: Span, root: u32) -> Result<(), DmaError> {
        let _turn = self.enter().await;
        let call = self.broadcast(span, root, Carrier::Software);
        self.during("bcast", call).await
    }

    /// A broadcast: teams gather, leaders spread, teams copy.
    pub(in crate::elan) async fn broadcast(
        &self,
        span: Span,
        root: u32,
        way: Carrier,
    ) -> Result<(), DmaError> {
        let (layout, rank) = (&self.inner.layout, self.inner.rank);
        let process = ProcessId::new(root);
        let root = GroupRank::new(root);
        let team = layout.team_of.get(root).copied();
        let team = team.ok_or(DmaError::NoProcess { process })?;
        if !self.leads() {
            self.join().await?;
            let leader = layout.teams[self.inner.team][0];
            if rank != root {
                let from = if leader == root { span.from } else { span.to };
                self.take_from(leader, from, span).await?;
            }
            self.come().await;
            return Ok(());
        }
        let software = || self.prepare_spread(span, team);
        match way {
            Carrier::Software => software(),
            Carrier::Hardware => self.prepare_hardware(),
        }
        self.gather().await;
        let (mut outcome, mut sent) = (Ok(way), span);
        if team == self.inner.team && root != rank {
            let taken = self.take_from(root, span.from, span).await;
            outcome = taken.map(|()| way);
            sent = Span::new(span.to, span.size);
        }
        if outcome.is_ok() {
            // Before a barrier by software ends, all members have prepared for a broadcast by
            // software.
            let barrier = self.barrier(self.inner.waits, software).await;
            outcome = barrier.map(|by| way.min(by));
        }
        let outcome = match outcome {
            Ok(Carrier::Software) => self.spread(sent, team).await,
            Ok(Carrier::Hardware) => self.hardware_spread(sent, team).await,
            Err(error) => Err(error),
        };
        self.release(outcome)?;
        // The buffer belongs to the program again once all members have copied.
        self.gather().await;
        Ok(())
    }

    /// Copies another member's bytes on the node.
    async fn take_from(&self, rank: GroupRank, from: ElanAddr, span: Span) -> Result<(), DmaError> {
        let vp = self.inner.layout.members[rank];
        let other = self.inner.context.shared(vp);
        let other = other.expect("a team is on one node");
        let bytes = other.load(other.at(from), span.size)?;
        self.copy(span.size).await;
        self.inner.context.store(span.to, &bytes)?;
        Ok(())
    }

    /// This leader's place in a broadcast from a team.
    fn place(&self, span: Span, root: TeamId) -> Spot {
        let count = self.inner.layout.leaders.len() as u32;
        self.spot_of((self.inner.team.get() + count - root.get()) % count, span)
    }

    /// The places above and below a place in a broadcast.
    fn spot_of(&self, place: u32, span: Span) -> Spot {
        let count = self.inner.layout.leaders.len() as u32;
        let ratio = self.node().config().group.branching;
        let tree = u128::from(span.size.as_u64()) * u128::from(ratio - 1);
        if tree > u128::from(self.segment(span).as_u64()) * u128::from(count) {
            chain(count, place)
        } else {
            balanced(count, ratio, place)
        }
    }

    /// A broadcast's segment length.
    fn segment(&self, span: Span) -> Bytes {
        if self.by_rails(span) {
            LANE_SEGMENT
        } else {
            segment(self.node())
        }
    }

    /// A broadcast's segment count.
    pub(in crate::elan) fn segments(&self, span: Span) -> u64 {
        let segment = self.segment(span).as_u64();
        span.size.as_u64().div_ceil(segment).max(1)
    }

    /// Prepares a broadcast's events before any segment can come.
    pub(in crate::elan) fn prepare_spread(&self, span: Span, root: TeamId) {
        let segments = self.segments(span) as u32;
        let spot = self.place(span, root);
        for parity in 0..2 {
            if spot.children.is_empty() {
                // The host waits for all segments.
                let count = (segments + 1 - parity) / 2;
                self.event_with(Slot::Arrived(parity), count, Action::Copy);
            } else if self.by_rails(span) {
                // The host takes the segments one by one.
                self.event_with(Slot::Arrived(parity), 1, Action::Copy);
            } else {
                // The thread takes the segments one by one.
                self.event_with(Slot::Arrived(parity), 1, Action::None);
            }
        }
        self.node().prime(self.event(Slot::Sent), 1);
    }

    /// Whether processes in between stage the bytes: unless these are certainly in adapter memory.
    /// A process that lacks the buffer then learns so by its own copy.
    pub(in crate::elan) fn stages(&self, span: Span) -> bool {
        self.node().placement(span.to, span.size) != Ok(Placement::Adapter)
    }

    /// A segment: its offset in the bytes, and its length.
    pub(in crate::elan) fn segment_at(&self, index: u64, span: Span) -> Part {
        let segment = self.segment(span);
        let offset = segment * index;
        (offset, segment.min(span.size - offset))
    }

    /// A segment, and its place in the stage.
    fn part(&self, index: u64, span: Span) -> (Bytes, Bytes, ElanAddr) {
        let (offset, length) = self.segment_at(index, span);
        let stage = self.inner.block.stage(self.node());
        let slot = stage.offset(self.segment(span) * (index % SLOTS));
        (offset, length, slot)
    }

    /// A child, and the descriptors for all segments to it.
    fn child(
        &self,
        span: Span,
        staged_here: bool,
        (index, place): (u32, u32),
        vp: ProcessId,
    ) -> Child {
        let staged_there = self.stages(span) && !self.spot_of(place, span).children.is_empty();
        let cut = |index: u64| {
            let (offset, length, slot) = self.part(index, span);
            let own = if staged_here {
                slot
            } else {
                span.from.offset(offset)
            };
            let other = if staged_there {
                slot
            } else {
                span.to.offset(offset)
            };
            Delivery {
                vp,
                from: own,
                to: other,
                length,
                event: self.inner.block.at(Slot::Arrived((index % 2) as u32)),
                short: false,
            }
        };
        let segments = (0..self.segments(span)).map(cut).collect();
        let room = staged_there.then(|| self.event(Slot::Room(index)));
        Child::new(segments, room)
    }

    /// The bytes go from the root team's leader to all others.
    pub(in crate::elan) async fn spread(
        &self,
        mut span: Span,
        root: TeamId,
    ) -> Result<(), DmaError> {
        if self.by_rails(span) {
            let spot = self.place(span, root);
            let below = spot.children.iter().map(|&place| self.leader(place, root));
            let below: Vec<_> = below.collect();
            let arrives = spot.parent.is_some();
            if arrives {
                span.from = span.to;
            }
            if !below.is_empty() {
                return self.relay_by_rails(span, arrives, &below).await;
            }
        }
        let Some(work) = self.work(span, root) else {
            // A root that is alone has all.
            for parity in (0..2).filter(|_| self.inner.team != root) {
                self.wait(Slot::Arrived(parity)).await;
            }
            return Ok(());
        };
        if work.arrived.is_none() && work.segments == 1 {
            let courier = &self.inner.courier;
            let send = |child: &Child| {
                let segment = child.first();
                (self.node().dma(courier.dma(segment)), segment)
            };
            for (sent, segment) in work.children.iter().map(send).collect::<Vec<_>>() {
                courier.end(self.over(sent), segment).await?;
            }
            return Ok(());
        }
        self.relay(Job::Relay(work)).await
    }

    /// The same by the thread, for a call that the host has posted.
    pub(in crate::elan) async fn spread_by(
        &self,
        thread: &Thread,
        span: Span,
        root: TeamId,
    ) -> Result<(), DmaError> {
        if let Some(work) = self.work(span, root) {
            return work.relay(thread).await;
        }
        for parity in (0..2).filter(|_| self.inner.team != root) {
            thread.wait(self.event(Slot::Arrived(parity))).await;
        }
        Ok(())
    }

    /// The leader at a place in a broadcast from a team.
    fn leader(&self, place: u32, root: TeamId) -> ProcessId {
        let leaders = &self.inner.layout.leaders;
        leaders[TeamId::new((place + root.get()) % leaders.len() as u32)]
    }

    /// This leader's forwarding work in a broadcast from its own team or another; `None` for teams
    /// without a place below.
    fn work(&self, mut span: Span, root: TeamId) -> Option<Work> {
        let spot = self.place(span, root);
        if spot.children.is_empty() {
            return None;
        }
        let segments = self.segments(span);
        let vp = |place: u32| self.leader(place, root);
        if spot.parent.is_some() {
            span.from = span.to;
        }
        let stage = spot.parent.filter(|_| self.stages(span));
        let stage = stage.map(|(above, index)| {
            let part = |index| {
                let (offset, length, slot) = self.part(index, span);
                let to = span.to.offset(offset);
                (self.node().at(slot), self.node().at(to), length)
            };
            let segments = (0..segments).map(part).collect();
            let room = self.signal(vp(above), Slot::Room(index));
            Stage { segments, room }
        });
        let children = (0..).zip(spot.children.iter().copied());
        let child = |child: (u32, u32)| self.child(span, stage.is_some(), child, vp(child.1));
        let children: Vec<Child> = children.map(child).collect();
        let arrived = [0, 1].map(|parity| self.event(Slot::Arrived(parity)));
        Some(Work {
            arrived: spot.parent.map(|_| arrived),
            segments,
            children,
            stage,
            group: self.clone(),
        })
    }

    /// Gives the thread something to do, and waits for its end.
    pub(in crate::elan) async fn relay(&self, job: Job) -> Result<(), DmaError> {
        self.inner.work.borrow_mut().push_back(job);
        self.start_relay();
        self.node().set(self.event(Slot::Work));
        self.wait(Slot::Sent).await;
        self.inner.failed.take().map_or(Ok(()), Err)
    }

    fn start_relay(&self) {
        let (work, sent) = (self.event(Slot::Work), self.event(Slot::Sent));
        let (list, failed) = (Rc::clone(&self.inner.work), Rc::clone(&self.inner.failed));
        let stack = &self.inner.threads.relay;
        self.thread(stack, "bcast", async move |thread| {
            loop {
                thread.consume(work).await;
                let next = list.borrow_mut().pop_front();
                let next = next.expect("who says that there is work has brought it");
                let done = match next {
                    Job::Relay(work) => work.relay(&thread).await,
                    Job::Broadcast(call) => call.carry_out(&thread).await,
                };
                failed.set(done.err());
                thread.set(sent).await;
            }
        });
    }
}
