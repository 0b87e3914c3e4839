//! A node as its processes see it.

use super::{Happening, World};
use crate::command::Command;
use crate::context::{Capability, ContextId, NoContext};
use crate::dma::{Dma, DmaError, Progress, Report, Transfer};
use crate::event::{Action, EVENT_BLOCK, EventId, Wait};
use crate::memory::{Address, ElanAddr, PAGE, Placement, Region};
use crate::mmu::{Access, Fault, MemoryError, Permissions, Reason};
use crate::queue::{Queue, QueueId};
use fabric::NodeId;
use kernel::{Label, Signal};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use units::{Bytes, Time};

/// A node, seen by one process that is attached to its adapter. Clones are the same process.
#[derive(Clone)]
pub struct Node {
    pub(crate) world: Rc<RefCell<World>>,
    id: NodeId,
    context: ContextId,
    capability: Capability,
}

impl Node {
    /// The processes of a node that need no protection: those of context 0.
    pub(super) fn open(world: Rc<RefCell<World>>, id: NodeId) -> Self {
        Node {
            world,
            id,
            context: ContextId::default(),
            capability: Capability::OPEN,
        }
    }

    /// Attaches a process: gives it a context of its own.
    ///
    /// # Errors
    /// If all contexts are in use.
    pub fn attach(&self, capability: Capability) -> Result<Node, NoContext> {
        let context = self.world.borrow_mut().attach(self.id, capability)?;
        Ok(Node {
            context,
            capability,
            ..self.clone()
        })
    }

    /// Ends the process's context. Its memory is unmapped, its events and queues are gone; whoever addresses them gets a
    /// fault.
    pub fn detach(&self) {
        let process = self.at(ElanAddr::NOWHERE);
        self.world.borrow_mut().detach(process, self.capability);
    }

    /// Its number.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The process's context.
    pub fn context(&self) -> ContextId {
        self.context
    }

    /// The process's capability.
    pub fn capability(&self) -> Capability {
        self.capability
    }

    /// An address of the process's memory.
    pub fn at(&self, elan: ElanAddr) -> Address {
        Address {
            node: self.id,
            context: self.context,
            elan,
        }
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.world.borrow().now()
    }

    /// Waits until a moment; one in the past is now.
    pub async fn sleep_until(&self, at: Time) {
        if at > self.now() {
            self.alarm(at).wait().await;
        }
    }

    /// A signal that is fired at a moment, which is not in the past.
    fn alarm(&self, at: Time) -> Signal {
        let signal = Signal::new();
        let wake = Happening::Wake(signal.clone());
        self.world.borrow_mut().schedule(at, self.id, wake);
        signal
    }

    /// Waits for a while.
    pub async fn sleep(&self, time: Time) {
        self.sleep_until(self.now() + time).await;
    }

    /// Starts another process of the node. Its label appears in reports of deadlocks.
    pub fn spawn(&self, label: impl Into<Label>, process: impl Future<Output = ()> + 'static) {
        let spawner = self.world.borrow().spawner.clone();
        spawner.spawn(label, process);
    }

    /// Maps a new range of memory; `real` if it holds bytes, zeros at first. Adapter memory that holds bytes is limited.
    ///
    /// # Errors
    /// If the adapter's memory or the addresses are exhausted.
    pub fn map(
        &self,
        placement: Placement,
        bytes: Bytes,
        permissions: Permissions,
        real: bool,
    ) -> Result<Region, MemoryError> {
        let process = self.at(ElanAddr::NOWHERE);
        let mut world = self.world.borrow_mut();
        world.map(
            process,
            self.capability,
            (placement, bytes),
            permissions,
            real,
        )
    }

    /// A region of zeros with all permissions.
    ///
    /// # Panics
    /// If memory is exhausted; see [`Node::map`].
    pub fn allocate(&self, placement: Placement, bytes: Bytes) -> Region {
        let region = self.map(placement, bytes, Permissions::ALL, true);
        region.unwrap_or_else(|error| panic!("{error}"))
    }

    /// A region that has a length and no contents; DMAs to and from it cost the same time.
    ///
    /// # Panics
    /// If the addresses are exhausted; see [`Node::map`].
    pub fn reserve(&self, placement: Placement, bytes: Bytes) -> Region {
        let region = self.map(placement, bytes, Permissions::ALL, false);
        region.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Unmaps a region, whole; the events and queues in it are gone.
    ///
    /// # Errors
    /// If it is not one of the process's.
    pub fn free(&self, region: Region) -> Result<(), Fault> {
        self.world.borrow_mut().unmap(region, self.capability)
    }

    /// Changes what adapters may do with a part of a region.
    ///
    /// # Errors
    /// If the bytes do not lie within one.
    pub fn protect(
        &self,
        at: ElanAddr,
        length: Bytes,
        permissions: Permissions,
    ) -> Result<(), Fault> {
        let address = self.at(at);
        let fault = |reason| Fault {
            address,
            length,
            access: Access::Host,
            reason,
        };
        let mut world = self.world.borrow_mut();
        let context = world.context_mut(address, self.capability);
        let mmu = &mut context.map_err(fault)?.mmu;
        mmu.protect(at, length, permissions).map_err(fault)
    }

    /// Stores bytes in the process's memory, as the host does, in no time. A region that holds none stays as it is.
    ///
    /// # Errors
    /// If they do not lie within one region of the process.
    pub fn store(&self, at: Address, bytes: &[u8]) -> Result<(), Fault> {
        let access = Access::Host;
        self.check_own(at, Bytes::new(bytes.len() as u64), access)?;
        let mut world = self.world.borrow_mut();
        world.write(at, bytes, access, self.capability)
    }

    /// Bytes of the process's memory, as the host reads them, in no time.
    ///
    /// # Errors
    /// As [`Node::store`].
    pub fn load(&self, at: Address, length: Bytes) -> Result<Box<[u8]>, Fault> {
        self.check_own(at, length, Access::Host)?;
        let world = self.world.borrow();
        world.load(at, length, Access::Host, self.capability)
    }

    /// Stores bytes at the start of one of this process's regions.
    ///
    /// # Panics
    /// If the region is another process's, or too short.
    pub fn write(&self, region: Region, bytes: &[u8]) {
        self.assert_owns(region.start);
        let stored = self.store(region.start(), bytes);
        stored.unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// The contents of one of this process's regions; none if it was only reserved.
    ///
    /// # Panics
    /// If the region is another process's.
    pub fn read(&self, region: Region) -> Option<Box<[u8]>> {
        self.assert_owns(region.start);
        let world = self.world.borrow();
        if region.is_empty() {
            return Some(Box::default());
        }
        let found = world.fetch(region.start(), region.len(), Access::Host, self.capability);
        found.unwrap_or_else(|fault| panic!("{fault}")).1
    }

    /// Whether an address is the process's own.
    pub(crate) fn check_own(
        &self,
        address: Address,
        length: Bytes,
        access: Access,
    ) -> Result<(), Fault> {
        let reason = Reason::Elsewhere;
        let own = address.is_with(self.at(ElanAddr::NOWHERE));
        own.then_some(()).ok_or(Fault {
            address,
            length,
            access,
            reason,
        })
    }

    fn assert_owns(&self, at: Address) {
        let own = at.is_with(self.at(ElanAddr::NOWHERE));
        assert!(own, "{at} belongs to another process");
    }

    /// An event that is set by its `count`-th occurrence and seen by the process; one of count 0 is set.
    ///
    /// # Panics
    /// If the adapter's memory is exhausted; see [`Node::event_at`].
    pub fn event(&self, count: u32) -> EventId {
        self.event_with(count, Action::Copy)
    }

    /// An event with an action of choice.
    ///
    /// # Panics
    /// As [`Node::event`].
    pub fn event_with(&self, count: u32, action: Action) -> EventId {
        let place = self.event_place().unwrap_or_else(|error| panic!("{error}"));
        let event = self.event_at(place, count, action);
        event.unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// A place for an event in pages of adapter memory that the process keeps for them.
    fn event_place(&self) -> Result<ElanAddr, MemoryError> {
        let process = self.at(ElanAddr::NOWHERE);
        let mut world = self.world.borrow_mut();
        let place = |world: &mut World| {
            let context = world.context_mut(process, self.capability).ok()?;
            context.event_places.pop()
        };
        if let Some(place) = place(&mut world) {
            return Ok(place);
        }
        drop(world);
        let page = self.map(Placement::Adapter, PAGE, Permissions::ALL, true)?;
        let mut world = self.world.borrow_mut();
        let places = (0..PAGE / EVENT_BLOCK).rev();
        let places = places.map(|index| page.start.elan.offset(EVENT_BLOCK * index));
        if let Ok(context) = world.context_mut(process, self.capability) {
            context.event_places.extend(places);
        }
        Ok(place(&mut world).expect("the process has just mapped places"))
    }

    /// An event in a block of 64 bytes of the process's adapter memory, in place of one that is there.
    ///
    /// # Errors
    /// If the block is no adapter memory of the process.
    pub fn event_at(&self, at: ElanAddr, count: u32, action: Action) -> Result<EventId, Fault> {
        let mut world = self.world.borrow_mut();
        world.add_event(self.at(at), count, action, self.capability)
    }

    /// Frees an event of the process: it occurs no more, and its place may hold another.
    pub fn free_event(&self, event: EventId) {
        let mut world = self.world.borrow_mut();
        let Some(at) = world.event(event).at else {
            return;
        };
        assert!(
            at.is_with(self.at(ElanAddr::NOWHERE)),
            "the event belongs to another process"
        );
        world.remove_events(at, Bytes::new(1));
        if let Ok(context) = world.context_mut(at, self.capability)
            && !context.event_places.contains(&at.elan)
        {
            context.event_places.push(at.elan);
        }
    }

    /// Where an event lies; none if it has been freed.
    pub fn event_address(&self, event: EventId) -> Option<Address> {
        self.world.borrow_mut().event(event).at
    }

    /// Makes an event of this node wait for `count` occurrences again.
    pub fn prime(&self, event: EventId, count: u32) {
        assert_eq!(event.node, self.id, "the event belongs to another node");
        self.world.borrow_mut().event(event).prime(count);
    }

    /// Lets an event of this node occur, by a command; a remote one is set with [`Node::notify`].
    pub fn set(&self, event: EventId) {
        assert_eq!(event.node, self.id, "the event belongs to another node");
        self.world.borrow_mut().post(self.id, Command::Set(event));
    }

    /// Lets an event of any node occur: a DMA of zero bytes.
    pub fn notify(&self, event: EventId) -> Transfer {
        let at = self.event_address(event);
        let to = at.unwrap_or(self.at(ElanAddr::NOWHERE));
        let from = self.at(ElanAddr::NOWHERE);
        self.dma(Dma::new(from, to, Bytes::ZERO).notify(event))
    }

    /// Whether the process sees that one of this node's events is set, now.
    pub fn is_set(&self, event: EventId) -> bool {
        self.seen_of(event).is_set()
    }

    /// Waits, polling, until one of this node's events is set and its block seen in main memory.
    pub async fn wait(&self, event: EventId) {
        self.seen_of(event).wait().await;
    }

    fn seen_of(&self, event: EventId) -> Signal {
        assert_eq!(
            event.node, self.id,
            "a process waits for events of its own node"
        );
        let mut world = self.world.borrow_mut();
        let event = world.event(event);
        assert!(
            matches!(event.action, Action::Copy),
            "a process sees only events that are copied to main memory"
        );
        event.seen.clone()
    }

    /// Waits in a way of choice; see [`crate::event`].
    pub async fn wait_by(&self, event: EventId, how: Wait) {
        match how {
            Wait::Poll => self.wait(event).await,
            Wait::Block => self.block(event).await,
            Wait::Spin(looks) => {
                if !self.poll(event, looks).await {
                    self.block(event).await;
                }
            }
        }
    }

    /// Looks at an event up to so many times, one `poll` apart; whether it is set.
    pub async fn poll(&self, event: EventId, looks: u32) -> bool {
        let seen = self.seen_of(event);
        if looks > 1 && !seen.is_set() {
            let poll = self.world.borrow().config.adapter.poll;
            let alarm = self.alarm(self.now() + poll * u64::from(looks - 1));
            let (mut seen, mut alarm) = (seen.wait(), alarm.wait());
            std::future::poll_fn(|context| {
                let seen = std::pin::Pin::new(&mut seen).poll(context);
                seen.is_ready()
                    .then_some(())
                    .map_or_else(|| std::pin::Pin::new(&mut alarm).poll(context), |()| seen)
            })
            .await;
        }
        seen.is_set()
    }

    /// Gives the processor up until the operating system wakes the process for the event. Who finds the block in main
    /// memory already does not.
    async fn block(&self, event: EventId) {
        let seen = self.seen_of(event);
        let woken = self.world.borrow_mut().event(event).wake_up();
        woken.unwrap_or(seen).wait().await;
    }

    /// Posts a DMA, now. Awaiting the transfer waits until all of it is acknowledged, or all bytes of a get are there,
    /// and the process knows.
    pub fn dma(&self, dma: Dma) -> Transfer {
        let mut world = self.world.borrow_mut();
        let progress = self.progress(dma, Report::Host);
        let transfer = progress.transfer();
        let id = world.new_dma(progress);
        world.post(self.id, Command::Dma(id));
        transfer
    }

    /// Posts a DMA of whose end only its events tell; its error is a trap.
    pub fn post(&self, dma: Dma) {
        let mut world = self.world.borrow_mut();
        let id = world.new_dma(self.progress(dma, Report::Nobody));
        world.post(self.id, Command::Dma(id));
    }

    /// A DMA of the process.
    pub(crate) fn progress(&self, dma: Dma, report: Report) -> Progress {
        Progress::new(dma, (self.id, self.context), self.capability, report)
    }

    /// The oldest error of what nobody awaited: chained and posted DMAs, bytes for memory that was unmapped.
    pub fn trap(&self) -> Option<DmaError> {
        let mut world = self.world.borrow_mut();
        let context = world.context_mut(self.at(ElanAddr::NOWHERE), self.capability);
        context.ok()?.traps.pop_front()
    }

    /// A queue of `count` slots of `slot` bytes each in new adapter memory; see [`Node::queue_at`].
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
    ) -> Result<QueueId, MemoryError> {
        let bytes = slot * u64::from(count);
        let slots = self.map(Placement::Adapter, bytes, Permissions::ALL, true)?;
        let queue = self.queue_at(slots.start.elan, count, slot, event);
        Ok(queue.expect("the slots have just been mapped"))
    }

    /// A queue of `count` slots of `slot` bytes each in adapter memory of the process, in place of one that is there. With
    /// each message the event occurs.
    ///
    /// # Errors
    /// If the slots do not lie in one region of adapter memory.
    ///
    /// # Panics
    /// If a slot is longer than a packet's payload, or there are no slots or no bytes in them.
    pub fn queue_at(
        &self,
        at: ElanAddr,
        count: u32,
        slot: Bytes,
        event: Option<EventId>,
    ) -> Result<QueueId, Fault> {
        let (at, bytes) = (self.at(at), slot * u64::from(count));
        let mut world = self.world.borrow_mut();
        let longest = world.config.packet.payload;
        assert!(
            count > 0 && !slot.is_zero() && slot <= longest,
            "a queue has slots of 1 B to {longest}"
        );
        let placement = world.translate(at, bytes, Access::Host, self.capability)?;
        if placement != Placement::Adapter {
            return Err(world.fault(at, bytes, Access::Host, Reason::NotAdapter));
        }
        let queues = &mut world.adapters[self.id as usize].queues;
        queues.push(Queue {
            slot,
            count: count as usize,
            event,
            messages: VecDeque::new(),
            reading: 0,
            arrived: Signal::new(),
        });
        let index = queues.len() as u32 - 1;
        let context = world.context_mut(at, self.capability);
        let queues = &mut context.expect("its memory was translated").queues;
        queues.insert(at.elan, index);
        Ok(QueueId {
            node: self.id,
            index,
            at,
        })
    }

    /// Takes a queue of the process away, with the messages in it; whoever sends to it gets a fault.
    pub fn free_queue(&self, queue: QueueId) {
        self.assert_owns(queue.at);
        let mut world = self.world.borrow_mut();
        world.queue(queue).messages.clear();
        if let Ok(context) = world.context_mut(queue.at, self.capability)
            && context.queues.get(&queue.at.elan) == Some(&queue.index)
        {
            context.queues.remove(&queue.at.elan);
        }
    }

    /// Messages in one of this process's queues.
    pub fn queue_len(&self, queue: QueueId) -> usize {
        self.assert_owns(queue.at);
        self.world.borrow_mut().queue(queue).messages.len()
    }

    /// Takes the first message of one of this process's queues, if there is one: the process reads it across the bus.
    pub async fn take(&self, queue: QueueId) -> Option<Box<[u8]>> {
        self.assert_owns(queue.at);
        let read = Signal::new();
        let message = {
            let mut world = self.world.borrow_mut();
            let state = world.queue(queue);
            let message = state.messages.pop_front()?;
            state.reading += 1;
            let length = Bytes::new(message.len().max(1) as u64);
            let direction = crate::bus::Direction::ToMain;
            world.transfer(self.id, direction, length, Happening::Wake(read.clone()));
            message
        };
        read.wait().await;
        self.world.borrow_mut().queue(queue).reading -= 1;
        Some(message)
    }

    /// Whether the inputter accepts packets; if not, it discards them and their senders try again.
    pub fn accept(&self, accepting: bool) {
        self.world.borrow_mut().adapters[self.id as usize]
            .inputter
            .refusing = !accepting;
    }

    /// Time in which this node's bus has been taken so far.
    pub fn bus_busy(&self) -> Time {
        self.world.borrow().adapters[self.id as usize].bus.busy()
    }

    /// Time in which this node's thread processor has worked so far.
    pub fn thread_busy(&self) -> Time {
        self.world.borrow().adapters[self.id as usize]
            .processor
            .busy
    }
}
