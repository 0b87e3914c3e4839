//! A node as its processes see it.

use super::World;
use crate::adapter::command_processor::Command;
use crate::adapter::mmu::context::ContextError;
use crate::adapter::mmu::shared::Memory;
use crate::adapter::{AdapterEvent, ClusterEvent};
use crate::config::Config;
use crate::dma::{Dma, DmaError, Transfer};
use crate::in_flight::{Progress, Report};
use crate::memory::{
    Access, AccessFault, Address, Capability, ContextId, ElanAddr, HEAP, MemoryError, Permissions,
    Placement, Reason, Region,
};
use crate::{NodeId, Place, Rail};
use kernel::{Label, Signal};
use std::cell::{RefCell, RefMut};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use units::{Bytes, Time};

/// Runs a task until the host stops.
pub(super) async fn until_stopped(stopped: Signal, task: impl Future<Output = ()>) {
    let (mut task, mut stops) = (pin!(task), stopped.wait());
    poll_fn(|context| match Pin::new(&mut stops).poll(context) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => task.as_mut().poll(context),
    })
    .await;
}

/// A node, seen by one process that is attached to the node's adapter. Clones stand for the same
/// process.
#[derive(Clone)]
pub struct Node {
    pub(crate) world: Rc<RefCell<World>>,
    place: Place,
    context: ContextId,
    capability: Capability,
}

impl Node {
    /// The node as seen by the processes in context 0, which need no protection.
    pub(super) fn open(world: Rc<RefCell<World>>, place: Place) -> Self {
        Node {
            world,
            place,
            context: ContextId::default(),
            capability: Capability::OPEN,
        }
    }

    /// All processes' memory.
    pub(crate) fn memory(&self) -> RefMut<'_, Memory> {
        RefMut::map(self.world.borrow_mut(), World::memory)
    }

    /// Attaches a process: gives it its own context.
    ///
    /// # Errors
    /// If all contexts are in use.
    pub fn attach(&self, capability: Capability) -> Result<Node, ContextError> {
        let context = self.memory().attach(&[self.place], capability)?;
        Ok(self.attached(context, capability))
    }

    /// The node as seen by the process in a context of its adapter.
    pub(super) fn attached(&self, context: ContextId, capability: Capability) -> Node {
        Node {
            context,
            capability,
            ..self.clone()
        }
    }

    /// The same process at its node's adapter on another rail: attaches the process there. Its
    /// context there lets that adapter reach the process's main memory; see
    /// [`crate::adapter::mmu::context`].
    ///
    /// # Errors
    /// If all contexts at that adapter are in use.
    ///
    /// # Panics
    /// If the machine has no such rail.
    pub fn beside(&self, rail: Rail) -> Result<Node, ContextError> {
        let beside = Node::all_beside(std::slice::from_ref(self), rail)?;
        Ok(beside.into_iter().next().expect("it is one process"))
    }

    /// As [`Node::beside`], for processes on different nodes, in contexts with one number:
    /// broadcasts on the other rail need this.
    ///
    /// # Errors
    /// If an adapter has no context left, or too few numbers are free everywhere.
    ///
    /// # Panics
    /// As [`Node::beside`], or if the processes have different capabilities.
    pub fn all_beside(processes: &[Node], rail: Rail) -> Result<Vec<Node>, ContextError> {
        let Some(first) = processes.first() else {
            return Ok(Vec::new());
        };
        let capability = first.capability;
        let alike = processes.iter().all(|one| one.capability == capability);
        assert!(alike, "the processes belong to different jobs");
        let place = |process: &Node| {
            let (_, node) = process.rail_and_node();
            let world = process.world.borrow();
            let topology = world.fabric().topology();
            let known = rail.get() < topology.rails();
            assert!(known, "the machine has no rail {rail}");
            topology.place(rail, node)
        };
        let places: Vec<Place> = processes.iter().map(place).collect();
        let context = first.memory().attach(&places, capability)?;
        let beside = processes.iter().zip(places).map(|(process, place)| {
            let beside = Node {
                place,
                context,
                ..process.clone()
            };
            let [at, home] = [&beside, process].map(|one| one.at(ElanAddr::NOWHERE));
            process.memory().settle(at, home, capability);
            beside
        });
        Ok(beside.collect())
    }

    /// Ends the process's context. The process's memory is unmapped, its events and queues are
    /// gone; later accesses to them get a fault.
    pub fn detach(&self) {
        let process = self.at(ElanAddr::NOWHERE);
        self.memory().detach(process, self.capability);
    }

    /// The machine's parameters.
    pub fn config(&self) -> Rc<Config> {
        Rc::clone(self.world.borrow().config())
    }

    /// The place of the node's adapter.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether the network has hardware broadcasts.
    pub fn has_broadcasts(&self) -> bool {
        self.world.borrow().config().fabric.has_broadcasts()
    }

    /// This adapter's rail, and the node's number, which is the same on all rails.
    pub fn rail_and_node(&self) -> (Rail, NodeId) {
        let world = self.world.borrow();
        world.fabric().topology().rail_and_node(self.place)
    }

    /// Whether this adapter's rail is down.
    pub fn is_down(&self) -> bool {
        self.world.borrow().adapter(self.place).rail.is_down
    }

    /// How often this adapter's rail has failed so far: agreements made on the rail before a
    /// failure hold no more.
    pub fn failures(&self) -> u32 {
        self.world.borrow().adapter(self.place).rail.failures
    }

    /// Set while this adapter's rail is down.
    pub fn down(&self) -> Signal {
        self.world.borrow().adapter(self.place).rail.down.clone()
    }

    /// Set while this adapter's rail works. The signal is valid until the next failure: then there
    /// is a new one.
    pub fn up(&self) -> Signal {
        self.world.borrow().adapter(self.place).rail.up.clone()
    }

    /// Whether the adapter receives a message: the message has arrived in part, or a packet
    /// arrives.
    pub fn is_receiving(&self) -> bool {
        self.world.borrow().is_receiving(self.place)
    }

    /// The status that the adapter has written down: whether it sent or received a message; sending
    /// counts as far as the policy keeps account.
    /// [`status_lag`](crate::config::rails::Config::status_lag) is the status's age, and
    /// [`Status`](crate::config::rails::Status) its meaning.
    pub fn was_busy(&self) -> bool {
        self.world.borrow().was_busy(self.place)
    }

    /// A process sends a message by the adapter from now on.
    pub fn begin_sending(&self) {
        self.world.borrow_mut().sends(self.place, true);
    }

    /// The process has finished sending.
    pub fn end_sending(&self) {
        self.world.borrow_mut().sends(self.place, false);
    }

    /// Whether the adapter sends a message: its engines work on a DMA, or one waits for them.
    pub fn is_sending(&self) -> bool {
        self.world.borrow().adapter(self.place).engine.is_busy()
    }

    /// The process's context.
    pub fn context(&self) -> ContextId {
        self.context
    }

    /// The process's capability.
    pub fn capability(&self) -> Capability {
        self.capability
    }

    /// An address in the process's memory.
    pub fn at(&self, elan: ElanAddr) -> Address {
        Address {
            node: self.place,
            context: self.context,
            elan,
        }
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.world.borrow().now()
    }

    /// Waits until a moment, not at all if the moment is past.
    pub async fn sleep_until(&self, at: Time) {
        if at > self.now() {
            self.alarm(at).wait().await;
        }
    }

    /// A signal that is fired at a moment, which is not in the past.
    pub(super) fn alarm(&self, at: Time) -> Signal {
        let mut world = self.world.borrow_mut();
        let signal = world.spares().take();
        world.schedule(
            at,
            self.place,
            AdapterEvent::Beyond(ClusterEvent::Wake(signal.clone())),
        );
        signal
    }

    /// Waits for a while.
    pub async fn sleep(&self, time: Time) {
        self.sleep_until(self.now() + time).await;
    }

    /// Starts another process on the node. Its label appears in deadlock reports.
    pub fn spawn(&self, label: impl Into<Label>, process: impl Future<Output = ()> + 'static) {
        let spawner = self.world.borrow().spawner().clone();
        match self.host_stops() {
            Some(stopped) => spawner.spawn(label, until_stopped(stopped, process)),
            None => spawner.spawn(label, process),
        };
    }

    /// Starts a host task that serves others: no run waits for its end.
    pub fn serve(&self, label: impl Into<Label>, task: impl Future<Output = ()> + 'static) {
        match self.host_stops() {
            Some(stopped) => self.serve_on_adapter(label, until_stopped(stopped, task)),
            None => self.serve_on_adapter(label, task),
        }
    }

    /// Starts an adapter task that serves others: it continues when the host stops.
    pub fn serve_on_adapter(
        &self,
        label: impl Into<Label>,
        task: impl Future<Output = ()> + 'static,
    ) {
        let spawner = self.world.borrow().spawner().clone();
        spawner.spawn_background(label, task);
    }

    /// Maps a new memory range; `real` if it holds bytes, zeros at first. Adapter memory that holds
    /// bytes is limited.
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
        self.map_from(HEAP, placement, bytes, permissions, real)
    }

    /// Maps as [`map`](Self::map), at an address no lower than `from`: so processes can find one
    /// that is free everywhere.
    ///
    /// # Errors
    /// As [`map`](Self::map).
    pub fn map_from(
        &self,
        from: ElanAddr,
        placement: Placement,
        bytes: Bytes,
        permissions: Permissions,
        real: bool,
    ) -> Result<Region, MemoryError> {
        self.memory().map(
            self.at(from),
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

    /// A region that has a length and no contents; DMAs from and to the region cost the same time
    /// as others.
    ///
    /// # Panics
    /// If the addresses are exhausted; see [`Node::map`].
    pub fn reserve(&self, placement: Placement, bytes: Bytes) -> Region {
        let region = self.map(placement, bytes, Permissions::ALL, false);
        region.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Unmaps a whole region; the events and queues in the region are gone.
    ///
    /// # Errors
    /// If the region does not belong to the process.
    pub fn free(&self, region: Region) -> Result<(), AccessFault> {
        self.memory().unmap(region, self.capability)
    }

    /// Changes adapters' permissions for a part of a region.
    ///
    /// # Errors
    /// If the bytes do not lie within one region.
    pub fn protect(
        &self,
        at: ElanAddr,
        length: Bytes,
        permissions: Permissions,
    ) -> Result<(), AccessFault> {
        let address = self.at(at);
        let fault = |reason| AccessFault::new(address, length, Access::Host, reason);
        let mut memory = self.memory();
        let context = memory.context_mut(address, self.capability);
        let space = &mut context.map_err(fault)?.space;
        space.protect(at, length, permissions).map_err(fault)
    }

    /// Stores bytes in the process's memory, as the host does, in no time. A region without
    /// contents stays as it is.
    ///
    /// # Errors
    /// If the bytes do not lie within one of the process's regions.
    pub fn store(&self, at: Address, bytes: &[u8]) -> Result<(), AccessFault> {
        let access = Access::Host;
        self.check_own(at, Bytes::new(bytes.len() as u64), access)?;
        self.memory().write(at, bytes, access, self.capability)
    }

    /// Bytes in the process's memory, as the host reads them, in no time.
    ///
    /// # Errors
    /// As [`Node::store`].
    pub fn load(&self, at: Address, length: Bytes) -> Result<Box<[u8]>, AccessFault> {
        self.check_own(at, length, Access::Host)?;
        self.memory()
            .load(at, length, Access::Host, self.capability)
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

    /// Contents of one of this process's regions; `None` if the region was only reserved.
    ///
    /// # Panics
    /// If the region is another process's.
    pub fn read(&self, region: Region) -> Option<Box<[u8]>> {
        self.assert_owns(region.start);
        if region.is_empty() {
            return Some(Box::default());
        }
        let (at, length) = (region.start(), region.len());
        let found = self
            .memory()
            .fetch(at, length, Access::Host, self.capability);
        found.unwrap_or_else(|fault| panic!("{fault}")).1
    }

    /// Whether an address is the process's own.
    pub(crate) fn check_own(
        &self,
        address: Address,
        length: Bytes,
        access: Access,
    ) -> Result<(), AccessFault> {
        let own = address.is_with(self.at(ElanAddr::NOWHERE));
        let fault = AccessFault::new(address, length, access, Reason::Elsewhere);
        own.then_some(()).ok_or(fault)
    }

    pub(super) fn assert_owns(&self, at: Address) {
        let own = at.is_with(self.at(ElanAddr::NOWHERE));
        assert!(own, "{at} belongs to another process");
    }

    /// Posts a DMA, now. Awaiting the transfer waits until all packets are acknowledged, or until
    /// all of a get's bytes are there, and the process has seen it.
    pub fn dma(&self, dma: Dma) -> Transfer {
        let mut world = self.world.borrow_mut();
        let progress = self.progress(dma, Report::Host);
        let (id, transfer) = world.flight().add_awaited(progress);
        world.post(self.place, Command::Dma(id));
        transfer
    }

    /// Posts a DMA with an end that only its events report; its error is a trap.
    pub fn post(&self, dma: Dma) {
        let mut world = self.world.borrow_mut();
        let id = world.flight().add_dma(self.progress(dma, Report::Nobody));
        world.post(self.place, Command::Dma(id));
    }

    /// Posts a DMA as [`post`](Self::post). Awaiting the transfer has no cost; it returns an error
    /// if there was one.
    pub fn post_and_hear(&self, dma: Dma) -> Transfer {
        let progress = self.progress(dma, Report::Nobody);
        let mut world = self.world.borrow_mut();
        let (id, transfer) = world.flight().add_awaited(progress);
        world.post(self.place, Command::Dma(id));
        transfer
    }

    /// Waits until the DMA engine's queue has a place.
    pub(crate) async fn room_in_queue(&self) {
        loop {
            let delay = {
                let world = self.world.borrow();
                let adapter = &world.config().adapter;
                if world.adapter(self.place).engine.waiting() < adapter.queue {
                    return;
                }
                adapter.retry_delay.max(world.config().cycle)
            };
            self.sleep(delay).await;
        }
    }

    /// The progress of a new DMA that the process posts.
    pub(crate) fn progress(&self, dma: Dma, report: Report) -> Progress {
        Progress::new(dma, (self.place, self.context), self.capability, report)
    }

    /// The oldest error without a waiter, from chained and posted DMAs, and from bytes for memory
    /// that was unmapped.
    pub fn trap(&self) -> Option<DmaError> {
        let mut memory = self.memory();
        let context = memory.context_mut(self.at(ElanAddr::NOWHERE), self.capability);
        context.ok()?.traps.pop_front()
    }

    /// Lets the inputter accept packets or not; if not, it discards packets and their senders try
    /// again.
    pub fn accept(&self, accepting: bool) {
        let mut world = self.world.borrow_mut();
        let inputter = &mut world.adapter_mut(self.place).inputter;
        inputter.refuse_all(!accepting);
    }

    /// Payload stored by this adapter so far.
    pub fn stored(&self) -> Bytes {
        self.world.borrow().adapter(self.place).inputter.stored()
    }

    /// Time in which this node's bus has been taken so far.
    pub fn bus_busy(&self) -> Time {
        self.world.borrow().bus_busy(self.place)
    }

    /// Time in which this node's thread processor has worked so far.
    pub fn thread_busy(&self) -> Time {
        self.world.borrow().adapter(self.place).processor.busy()
    }
}
