//! A software broadcast's thread: it sends segments to the children as they come, and copies
//! segments that were received into the stage out to main memory. See [`super::bcast`].

use super::Group;
use super::span::{Carrier, Span};
use crate::elan::block::SLOTS;
use crate::elan::courier::{Courier, Delivery};
use crate::elan::layout::TeamId;
use elan::{Address, DmaError, EventId, Thread, Transfer};
use units::Bytes;

/// The thread's jobs.
pub(in crate::elan) enum Job {
    /// Sends segments on, in a host call.
    Relay(Work),
    /// Carries out a broadcast that the host has posted.
    Broadcast(Broadcast),
}

/// A posted broadcast, for the thread on the adapter.
pub(in crate::elan) struct Broadcast {
    pub group: Group,
    pub span: Span,
    pub root: TeamId,
    pub way: Carrier,
}

/// A broadcast's segments, from this process to its children.
pub(in crate::elan) struct Work {
    /// The events by which even and odd segments come; `None` at the root, which has all segments.
    pub arrived: Option<[EventId; 2]>,
    pub segments: u64,
    pub children: Vec<Child>,
    /// The stage; `None` if the segments come straight to their place.
    pub stage: Option<Stage>,
    /// The group, which receives the results of the stage's signals.
    pub group: Group,
}

/// A process that gets the segments from here.
pub(in crate::elan) struct Child {
    /// The segments, in order.
    segments: Vec<Delivery>,
    /// The event that occurs when the child has emptied a slot in its stage; `None` without a
    /// stage.
    room: Option<EventId>,
    /// The last even and odd segments under way.
    under_way: [Option<(Transfer, Delivery)>; 2],
    /// Why the child gets no more segments.
    failed: Option<DmaError>,
}

/// Where segments wait in adapter memory until they have been sent on and copied.
pub(in crate::elan) struct Stage {
    /// For each segment: its slot, its place, its length.
    pub segments: Vec<(Address, Address, Bytes)>,
    /// Notifies the process above that a slot is empty.
    pub room: Delivery,
}

impl Child {
    pub fn new(segments: Vec<Delivery>, room: Option<EventId>) -> Self {
        Child {
            segments,
            room,
            under_way: [None, None],
            failed: None,
        }
    }

    /// The first segment.
    pub fn first(&self) -> Delivery {
        self.segments[0]
    }

    /// Waits for the last segment with the same parity.
    async fn settle(&mut self, thread: &Thread, courier: &Courier, index: u64) {
        if let Some((sent, segment)) = self.under_way[(index % 2) as usize].take() {
            let sent = thread.until(courier.end(sent, segment)).await;
            self.failed = self.failed.or(sent.err());
        }
    }

    /// Sends a segment, once there is room for it.
    async fn send(&mut self, thread: &Thread, courier: &Courier, index: u64) {
        if self.failed.is_some() {
            return;
        }
        if let Some(room) = self.room
            && index >= SLOTS
        {
            thread.consume(room).await;
        }
        let segment = self.segments[index as usize];
        let sent = thread.dma(courier.dma(segment)).await;
        self.under_way[(index % 2) as usize] = Some((sent, segment));
    }
}

impl Stage {
    /// Copies a segment out.
    async fn copy(&self, thread: &Thread, index: u64) -> Result<(), DmaError> {
        let (slot, place, length) = self.segments[index as usize];
        let bytes = thread.load(slot, length)?;
        Ok(thread.copy_out(place, &bytes).await?)
    }

    /// A segment's slot is empty: notifies the sender if it waits for this.
    async fn emptied(&self, thread: &Thread, group: &Group, index: u64) {
        if index + SLOTS < self.segments.len() as u64 {
            group.hand(thread, self.room).await;
        }
    }
}

impl Work {
    /// Sends all segments on. A failure at one child, or in this process, does not keep the others
    /// from their segments.
    pub async fn relay(mut self, thread: &Thread) -> Result<(), DmaError> {
        let (mut copied, courier) = (Ok(()), &self.group.inner.courier.clone());
        for index in 0..self.segments {
            if let Some(arrived) = self.arrived {
                thread.consume(arrived[(index % 2) as usize]).await;
            }
            for child in &mut self.children {
                child.settle(thread, courier, index).await;
            }
            if let Some(stage) = &self.stage
                && index >= 2
            {
                stage.emptied(thread, &self.group, index - 2).await;
            }
            for child in &mut self.children {
                child.send(thread, courier, index).await;
            }
            if let Some(stage) = &self.stage {
                copied = copied.and(stage.copy(thread, index).await);
            }
        }
        for child in &mut self.children {
            for parity in 0..2 {
                child.settle(thread, courier, parity).await;
            }
        }
        let failed = self.children.iter().find_map(|child| child.failed);
        copied.and(failed.map_or(Ok(()), Err))
    }
}

impl Broadcast {
    /// Carries the broadcast out on the adapter.
    pub async fn carry_out(self, thread: &Thread) -> Result<(), DmaError> {
        let Broadcast {
            group,
            span,
            root,
            way,
        } = self;
        let software = || group.prepare_spread(span, root);
        match way {
            Carrier::Software => software(),
            Carrier::Hardware => group.prepare_hardware(),
        }
        let barrier = group.barrier(group.inner.waits, software);
        let by = thread.until(barrier).await?;
        match way.min(by) {
            Carrier::Hardware => group.hardware_spread_by(thread, span, root).await,
            Carrier::Software => group.spread_by(thread, span, root).await,
        }
    }
}
