//! Events and queues as processes see them.

use super::Node;
use crate::adapter::bus::Direction;
use crate::adapter::command_processor::Command;
use crate::adapter::event_unit::{Action, WaitMode};
use crate::adapter::queue::{ProcessQueueId, Queue};
use crate::adapter::{AdapterEvent, ClusterEvent};
use crate::dma::{Dma, Transfer};
use crate::memory::{
    Access, AccessFault, Address, EVENT_BLOCK, ElanAddr, EventId, MemoryError, PAGE, Permissions,
    Placement, Reason,
};
use kernel::Signal;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use units::Bytes;

impl Node {
    /// An event that is set by its `count`-th occurrence and seen by the process; an event with
    /// count 0 is set.
    ///
    /// # Panics
    /// If the adapter's memory is exhausted; see [`Node::event_at`].
    pub fn event(&self, count: u32) -> EventId {
        self.event_with(count, Action::Copy)
    }

    /// An event with the given action.
    ///
    /// # Panics
    /// As [`Node::event`].
    pub fn event_with(&self, count: u32, action: Action) -> EventId {
        let place = self.event_place().unwrap_or_else(|error| panic!("{error}"));
        let event = self.install(place, count, action, true);
        event.unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// A place for an event, in adapter memory pages that the process keeps for events.
    fn event_place(&self) -> Result<ElanAddr, MemoryError> {
        let process = self.at(ElanAddr::NOWHERE);
        let place = || {
            let mut memory = self.memory();
            let context = memory.context_mut(process, self.capability()).ok()?;
            context.event_places.pop()
        };
        if let Some(place) = place() {
            return Ok(place);
        }
        let page = self.map(Placement::Adapter, PAGE, Permissions::ALL, true)?;
        let places = (0..PAGE / EVENT_BLOCK).rev();
        let places = places.map(|index| page.start.elan.offset(EVENT_BLOCK * index));
        if let Ok(context) = self.memory().context_mut(process, self.capability()) {
            context.event_places.extend(places);
        }
        Ok(place().expect("the process has just mapped places"))
    }

    /// An event in a 64-byte block of the process's adapter memory, in place of an event that is
    /// there.
    ///
    /// # Errors
    /// If the block does not lie in the process's adapter memory.
    pub fn event_at(
        &self,
        at: ElanAddr,
        count: u32,
        action: Action,
    ) -> Result<EventId, AccessFault> {
        self.install(at, count, action, false)
    }

    fn install(
        &self,
        at: ElanAddr,
        count: u32,
        action: Action,
        pooled: bool,
    ) -> Result<EventId, AccessFault> {
        if let Action::Set(other) = action {
            let own = other.node == self.place();
            assert!(own, "an event sets others of its own node");
        }
        let event = self.memory().add_event(self.at(at), self.capability())?;
        let mut world = self.world.borrow_mut();
        let events = &mut world.adapter_mut(self.place()).events;
        events.install(event.index, count, action, pooled);
        Ok(event)
    }

    /// Frees one of the process's events: it occurs no more, and another event may take its place.
    pub fn free_event(&self, event: EventId) {
        self.assert_owns_event(event);
        let mut world = self.world.borrow_mut();
        let Some(at) = world.memory().event_address(event) else {
            return;
        };
        let pooled = world.adapter(event.node).events.is_pooled(event.index);
        world.memory().remove_events(at, Bytes::new(1));
        if pooled && let Ok(context) = world.memory().context_mut(at, self.capability()) {
            context.event_places.push(at.elan);
        }
    }

    /// Where an event lies; `None` if it has been freed.
    pub fn event_address(&self, event: EventId) -> Option<Address> {
        self.memory().event_address(event)
    }

    /// Makes one of the process's events wait for `count` occurrences again.
    pub fn prime(&self, event: EventId, count: u32) {
        self.assert_owns_event(event);
        self.world.borrow_mut().event(event).prime(count);
    }

    /// Lets one of the process's events occur, by a command; a remote event is set with
    /// [`Node::notify`].
    pub fn set(&self, event: EventId) {
        self.assert_owns_event(event);
        self.world
            .borrow_mut()
            .post(self.place(), Command::Set(event.index));
    }

    /// Lets any node's event occur: a zero-byte DMA.
    pub fn notify(&self, event: EventId) -> Transfer {
        let at = self.event_address(event);
        let to = at.unwrap_or(self.at(ElanAddr::NOWHERE));
        let from = self.at(ElanAddr::NOWHERE);
        self.dma(Dma::new(from, to, Bytes::ZERO).notify(event))
    }

    /// Whether the process sees now that one of its events is set.
    pub fn is_set(&self, event: EventId) -> bool {
        self.seen_of(event).is_set()
    }

    /// Waits, polling, until one of the process's events is set and its block seen in main memory.
    pub async fn wait(&self, event: EventId) {
        self.seen_of(event).wait().await;
    }

    fn seen_of(&self, event: EventId) -> Signal {
        self.assert_owns_event(event);
        let mut world = self.world.borrow_mut();
        world.event(event).seen().clone()
    }

    /// Waits for one of the process's events, in the given way; see [`crate::adapter::event_unit`].
    pub async fn wait_by(&self, event: EventId, how: WaitMode) {
        match how {
            WaitMode::Poll => self.wait(event).await,
            WaitMode::Block => self.block(event).await,
            WaitMode::Spin(looks) => {
                if !self.poll(event, looks).await {
                    self.block(event).await;
                }
            }
        }
    }

    /// Waits, in the given way, for an occurrence of one of the process's events, which is primed
    /// for one occurrence, and consumes it, as a thread does ([`crate::Thread::consume`]).
    pub async fn consume_by(&self, event: EventId, how: WaitMode) {
        self.wait_by(event, how).await;
        self.world.borrow_mut().event(event).consume();
    }

    /// Waits, in the given way, for a future that is ready when a polling process sees its end,
    /// such as a [`Transfer`]. A blocking process continues later, by the difference of `interrupt`
    /// and `poll`, unless the future is ready immediately.
    pub async fn wait_for<F: IntoFuture>(&self, seen: F, how: WaitMode) -> F::Output {
        let mut seen = pin!(seen.into_future());
        let looks = match how {
            WaitMode::Poll => return seen.await,
            WaitMode::Block => 1,
            WaitMode::Spin(looks) => looks,
        };
        if let Some(output) = self.look(seen.as_mut(), looks).await {
            return output;
        }
        let output = seen.await;
        let adapter = self.config().adapter;
        let longer = adapter.interrupt.saturating_sub(adapter.poll);
        self.sleep(longer).await;
        output
    }

    /// Looks at an event up to so many times, one `poll` apart; returns whether it is set.
    pub async fn poll(&self, event: EventId, looks: u32) -> bool {
        let seen = pin!(self.seen_of(event).wait());
        self.look(seen, looks).await.is_some()
    }

    /// Looks up to so many times, one `poll` apart, whether a future is ready; returns its output
    /// if it is.
    async fn look<F: Future>(&self, mut seen: Pin<&mut F>, looks: u32) -> Option<F::Output> {
        let first = poll_fn(|context| Poll::Ready(seen.as_mut().poll(context))).await;
        if let Poll::Ready(output) = first {
            return Some(output);
        }
        if looks <= 1 {
            return None;
        }
        let poll = self.world.borrow().config().adapter.poll;
        let alarm = self.alarm(self.now() + poll * u64::from(looks - 1));
        let mut alarm = alarm.wait();
        poll_fn(|context| match seen.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => Pin::new(&mut alarm).poll(context).map(|()| None),
        })
        .await
    }

    /// Gives up the processor until the operating system wakes the process for the event, unless
    /// the event's block is in main memory already.
    async fn block(&self, event: EventId) {
        let seen = self.seen_of(event);
        let woken = self.world.borrow_mut().event(event).wake_up();
        woken.unwrap_or(seen).wait().await;
    }

    /// A process or thread has direct access to its own events only; other events are set with
    /// [`Node::notify`].
    pub(crate) fn assert_owns_event(&self, event: EventId) {
        let own = event.node == self.place()
            && self
                .event_address(event)
                .is_none_or(|at| at.is_with(self.at(ElanAddr::NOWHERE)));
        assert!(own, "the event belongs to another process");
    }

    /// A queue with `count` slots of `slot` bytes each in new adapter memory; see
    /// [`Node::queue_at`].
    ///
    /// # Errors
    /// If the adapter's memory is exhausted.
    ///
    /// # Panics
    /// As [`Node::queue_at`].
    pub fn queue(
        &self,
        count: u32,
        slot: Bytes,
        event: Option<EventId>,
    ) -> Result<ProcessQueueId, MemoryError> {
        let bytes = slot * u64::from(count);
        let slots = self.map(Placement::Adapter, bytes, Permissions::ALL, true)?;
        let queue = self.queue_at(slots.start.elan, count, slot, event);
        Ok(queue.expect("the slots have just been mapped"))
    }

    /// A queue with `count` slots of `slot` bytes each in the process's adapter memory, in place of
    /// a queue that is there. The event occurs with each message.
    ///
    /// # Errors
    /// If the slots do not lie in one adapter memory region.
    ///
    /// # Panics
    /// If a slot is longer than a packet's payload, or there are no slots or no bytes in them.
    pub fn queue_at(
        &self,
        at: ElanAddr,
        count: u32,
        slot: Bytes,
        event: Option<EventId>,
    ) -> Result<ProcessQueueId, AccessFault> {
        let (at, bytes) = (self.at(at), slot * u64::from(count));
        let mut world = self.world.borrow_mut();
        let longest = world.config().packet.payload;
        assert!(
            count > 0 && !slot.is_zero() && slot <= longest,
            "a queue has slots of 1 B to {longest}"
        );
        let placement = world
            .memory()
            .translate(at, bytes, Access::Host, self.capability())?;
        if placement != Placement::Adapter {
            return Err(AccessFault::new(
                at,
                bytes,
                Access::Host,
                Reason::NotAdapter,
            ));
        }
        let inputter = &mut world.adapter_mut(self.place()).inputter;
        let index = inputter.add_queue(Queue::new(count, slot, event));
        let context = world.memory().context_mut(at, self.capability());
        let queues = &mut context.expect("its memory was translated").queues;
        queues.insert(at.elan, index);
        Ok(ProcessQueueId {
            node: self.place(),
            index,
            at,
        })
    }

    /// Removes one of the process's queues, with its messages; a process that sends to the queue
    /// gets a fault.
    pub fn free_queue(&self, queue: ProcessQueueId) {
        self.assert_owns(queue.at);
        let mut world = self.world.borrow_mut();
        world.queue(queue).clear();
        if let Ok(context) = world.memory().context_mut(queue.at, self.capability())
            && context.queues.get(&queue.at.elan) == Some(&queue.index)
        {
            context.queues.remove(&queue.at.elan);
        }
    }

    /// Puts a host message into one of this process's queues, for a thread, by a command: the
    /// process does not wait. A slot must be free when the command reaches the queue: the queue has
    /// more slots than its users fill.
    ///
    /// # Panics
    /// If the message is longer than a slot; later, if there is no slot.
    pub fn insert(&self, queue: ProcessQueueId, message: &[u8]) {
        self.assert_owns(queue.at);
        let mut world = self.world.borrow_mut();
        let slot = world.queue(queue).slot();
        assert!(message.len() as u64 <= slot.as_u64(), "a slot has {slot}");
        let commands = &mut world.adapter_mut(self.place()).commands;
        let command = commands.message(queue.index, message.into());
        world.post(self.place(), command);
    }

    /// Messages in one of this process's queues.
    pub fn queue_len(&self, queue: ProcessQueueId) -> usize {
        self.assert_owns(queue.at);
        self.world.borrow_mut().queue(queue).len()
    }

    /// Whether all slots in one of this process's queues are taken, by messages or by data that a
    /// process still reads.
    pub fn queue_is_full(&self, queue: ProcessQueueId) -> bool {
        self.assert_owns(queue.at);
        !self.world.borrow_mut().queue(queue).has_room()
    }

    /// Takes the first message from one of this process's queues, if there is one: the process
    /// reads it across the bus.
    pub async fn take(&self, queue: ProcessQueueId) -> Option<Box<[u8]>> {
        let message = self.read_message(queue).await?;
        self.free_slot(queue);
        Some(message)
    }

    /// Reads the first message in one of this process's queues across the bus, if there is one. The
    /// next call reads the next message. The message's slot stays taken until
    /// [`free_slot`](Self::free_slot).
    pub async fn read_message(&self, queue: ProcessQueueId) -> Option<Box<[u8]>> {
        self.assert_owns(queue.at);
        let (read, message) = {
            let mut world = self.world.borrow_mut();
            let message = world.queue(queue).start_read()?;
            let length = Bytes::new(message.len().max(1) as u64);
            let read = world.spares().take();
            let done = AdapterEvent::Beyond(ClusterEvent::Wake(read.clone()));
            let mut wires = world.wires(self.place());
            wires.transfer(Direction::ToMain, length, done);
            (read, message)
        };
        read.wait().await;
        Some(message)
    }

    /// Frees the slot of the first message that has been read from one of this process's queues.
    pub fn free_slot(&self, queue: ProcessQueueId) {
        self.assert_owns(queue.at);
        self.world.borrow_mut().queue(queue).end_read();
    }
}
