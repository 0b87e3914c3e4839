//! Operations of host libraries beside DMAs and events: they store in the adapter, and wake their
//! threads.

use super::Node;
use crate::adapter::bus::Direction;
use crate::adapter::command_processor::Command;
use crate::adapter::{AdapterEvent, ClusterEvent};
use crate::dma::{Dma, Transfer};
use crate::in_flight::Report;
use crate::memory::{Access, AccessFault, ElanAddr, Placement};
use crate::noise::HostCpu;
use crate::transaction::{Answer, Transaction};
use kernel::Signal;
use units::Bytes;

impl Node {
    /// Bytes cross the bus; the signal is fired when all have crossed.
    fn cross(&self, direction: Direction, bytes: Bytes) -> Signal {
        if bytes.is_zero() {
            return Signal::counted(0);
        }
        let mut world = self.world.borrow_mut();
        let crossed = world.spares().take();
        let done = AdapterEvent::Beyond(ClusterEvent::Wake(crossed.clone()));
        world.wires(self.place()).transfer(direction, bytes, done);
        crossed
    }

    /// The host stores so many bytes in the adapter, word by word, as posted writes: the host does
    /// not wait for them. The bytes have crossed the bus before any command that follows.
    pub fn store_across(&self, bytes: Bytes) {
        self.cross(Direction::ToAdapter, bytes);
    }

    /// Stores so many bytes in the adapter, and waits until they have crossed the bus.
    pub async fn cross_to_adapter(&self, bytes: Bytes) {
        self.cross(Direction::ToAdapter, bytes).wait().await;
    }

    /// So many adapter bytes cross the bus to the host, behind everything that is on its way to
    /// main memory.
    pub async fn cross_to_main(&self, bytes: Bytes) {
        self.cross(Direction::ToMain, bytes).wait().await;
    }

    /// A signal that is fired by the next store to a range in the process's memory. A process that
    /// polls a word waits for the signal, and then looks at the word.
    pub fn next_store(&self, at: ElanAddr, length: Bytes) -> Signal {
        match self.memory().context_mut(self.at(at), self.capability()) {
            Ok(context) => context.awaited.add(at, length),
            Err(_) => Signal::new(),
        }
    }

    /// The memory of the process behind an address, if it is mapped.
    ///
    /// # Errors
    /// If the bytes do not lie within one region.
    pub fn placement(&self, at: ElanAddr, length: Bytes) -> Result<Placement, AccessFault> {
        self.memory()
            .translate(self.at(at), length, Access::Host, self.capability())
    }

    /// Posts a command that releases the thread that waits for the returned signal.
    pub fn wake_thread(&self) -> Signal {
        let mut world = self.world.borrow_mut();
        let woken = world.spares().take();
        let commands = &mut world.adapter_mut(self.place()).commands;
        let command = commands.thread(woken.clone());
        world.post(self.place(), command);
        woken
    }

    /// Whether the adapter has a short transaction engine.
    pub fn has_sten(&self) -> bool {
        self.world.borrow().adapter(self.place()).sten.is_some()
    }

    /// Stores a command for the short transaction engine, with its bytes. Awaiting the transfer has
    /// no cost; it returns an error if there was one.
    ///
    /// # Panics
    /// If the adapter has no short transaction engine.
    pub fn send_short(&self, dma: Dma) -> Transfer {
        assert!(self.has_sten(), "the adapter has no STEN");
        let progress = self.progress(dma.short(), Report::Nobody);
        let mut world = self.world.borrow_mut();
        let (id, transfer) = world.flight().add_awaited(progress);
        world.post_with(self.place(), Command::Dma(id), dma.length);
        transfer
    }

    /// Stores bytes in the process's memory and lets an event occur, as if a packet had brought
    /// them: for libraries that take another way while the adapter's rail is down. Takes no time
    /// beyond the event's.
    ///
    /// # Errors
    /// If the adapter would refuse the packet.
    pub fn deliver(
        &self,
        to: ElanAddr,
        bytes: &[u8],
        event: Option<ElanAddr>,
    ) -> Result<(), AccessFault> {
        let event = event.map(|at| {
            let access = Access::RemoteEvent;
            let memory = self.memory();
            memory.event_at(self.at(at), access, self.capability())
        });
        let event = event.transpose()?;
        let access = Access::RemoteWrite;
        self.memory()
            .write(self.at(to), bytes, access, self.capability())?;
        if let Some(event) = event {
            self.world.borrow_mut().occur_soon(event);
        }
        Ok(())
    }

    /// Bytes in the process's memory, as another process may get them, perhaps unless a word marks
    /// them as withdrawn ([`Dma::unless_withdrawn`]); see [`Node::deliver`].
    ///
    /// # Errors
    /// If the adapter would refuse the request.
    pub fn surrender(
        &self,
        from: ElanAddr,
        length: Bytes,
        withdrawn: Option<ElanAddr>,
    ) -> Result<Box<[u8]>, AccessFault> {
        let (at, word) = (self.at(from), withdrawn.map(|word| self.at(word)));
        let (memory, capability) = (self.memory(), self.capability());
        memory.check_offer(at, length, word, capability)?;
        memory.load(at, length, Access::RemoteRead, capability)
    }

    /// Puts a message into the process's queue at an address; `None` if the queue is full. See
    /// [`Node::deliver`].
    ///
    /// # Errors
    /// If the adapter would refuse the message.
    pub fn take_in(&self, queue: ElanAddr, message: &[u8]) -> Option<Result<(), AccessFault>> {
        let mut world = self.world.borrow_mut();
        let (inputter, mut wires) = world.inputter(self.place());
        inputter.take_in(&mut wires, self.at(queue), self.capability(), message)
    }

    /// Executes transactions in the process's adapter memory; `None` if a queue is full. See
    /// [`Node::deliver`].
    ///
    /// # Errors
    /// If the adapter would refuse the packet.
    pub fn execute(&self, transactions: &[Transaction]) -> Option<Result<Answer, AccessFault>> {
        let mut world = self.world.borrow_mut();
        let (inputter, mut wires) = world.inputter(self.place());
        let process = self.at(ElanAddr::NOWHERE);
        inputter.take(&mut wires, process, self.capability(), transactions)
    }

    /// A processor of this node. The number counts modulo the processor count.
    pub fn cpu(&self, number: u32) -> HostCpu {
        let world = self.world.borrow();
        let cpu = number % world.config().host.cpus;
        let (_, node) = world.fabric().topology().rail_and_node(self.place());
        HostCpu::new(&world.config().noise, world.seed, node, cpu)
    }

    /// The machine's node count, and the count of networks that each node is attached to.
    pub fn nodes_and_rails(&self) -> (u32, u32) {
        let world = self.world.borrow();
        let tree = world.fabric().topology();
        (tree.nodes(), tree.rails())
    }
}
