//! # Elan3lib: the lowest programming level in user space (petrini2003 s3.1)
//!
//! A job's processes know each other by *virtual process ids*, from 0. Memory is addressed by the
//! id and an address. All calls take the adapter's 32-bit address, [`ElanAddr`]; the host's address
//! for the same byte is another way to write it ([`Context::elan2main`]). Where all processes make
//! the same allocations in the same order, they get the same addresses, and can name each other's
//! memory by their own addresses.
//!
//! | call | here |
//! |---|---|
//! | `elan3_init`, `elan3_attach`, `elan3_addvp` | [`crate::ProcessJob::launch`] |
//! | `elan3_process`, `elan3_nvps`, `elan3_nlocal`, `elan3_nrails`, `elan3_rails` | [`Context::process`] and so on |
//! | `elan3_vp2location`, `elan3_location2vp` | [`Context::vp2location`], [`Context::location2vp`] |
//! | `elan3_allocMain`, `elan3_allocElan`, `elan3_free` | [`Context::alloc_main`], [`Context::alloc_elan`], [`Context::free`] |
//! | `elan3_main2elan`, `elan3_elan2main` | [`Context::main2elan`], [`Context::elan2main`] |
//! | `elan3_setperm` | [`Context::setperm`] |
//! | `elan3_initevent`, `elan3_primeevent`, `elan3_setevent`, `elan3_waitevent` | [`Context::init_event`] and so on |
//! | `elan3_putdma`, `elan3_waitdmaevent` | [`Context::put_dma`], and to await the [`Transfer`] |

mod heap;

pub use heap::{AllocError, Heap};

use elan::{
    AccessFault, Action, Address, Dma, DmaError, ElanAddr, EventId, MainAddr, Node, NodeId,
    Permissions, Placement, ProcessId, Transfer, WaitMode,
};
use std::cell::RefCell;
use std::rc::Rc;
use typed_index_collections::TiVec;
use units::Bytes;

/// How much a heap maps at a time, in main memory and in the adapter's; longer allocations get
/// their own ranges.
const MAIN_ARENA: Bytes = Bytes::from_kb(256);
const ELAN_ARENA: Bytes = Bytes::from_kb(64);

/// Where a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Its node.
    pub node: NodeId,
    /// The process's number among the job's processes on the node, from 0.
    pub local: u32,
}

/// One process's use of its adapter (`ELAN3_CTX`). Clones share the context.
#[derive(Clone)]
pub struct Context {
    inner: Rc<ContextState>,
}

struct ContextState {
    /// All the job's processes, by virtual process id.
    processes: Rc<TiVec<ProcessId, Node>>,
    vp: ProcessId,
    main: RefCell<Heap>,
    elan: RefCell<Heap>,
}

impl Context {
    /// The context of process `vp`, among the processes that share a capability.
    pub(crate) fn new(processes: Rc<TiVec<ProcessId, Node>>, vp: ProcessId) -> Self {
        let node = &processes[vp];
        let main = Heap::new(node.clone(), Placement::Main, MAIN_ARENA);
        let elan = Heap::new(node.clone(), Placement::Adapter, ELAN_ARENA);
        Context {
            inner: Rc::new(ContextState {
                main: RefCell::new(main),
                elan: RefCell::new(elan),
                processes,
                vp,
            }),
        }
    }

    /// The process as its adapter knows it: time, threads, queues, and all else that this library
    /// does not wrap.
    pub fn node(&self) -> &Node {
        &self.inner.processes[self.inner.vp]
    }

    /// This process's number (`elan3_process`).
    pub fn process(&self) -> ProcessId {
        self.inner.vp
    }

    /// The job's processes (`elan3_nvps`).
    pub fn nvps(&self) -> u32 {
        self.inner.processes.len() as u32
    }

    /// The job's processes on this node (`elan3_nlocal`).
    pub fn nlocal(&self) -> u32 {
        let here = self.node().place();
        let local = self.inner.processes.iter();
        local.filter(|other| other.place() == here).count() as u32
    }

    /// The job's rails (`elan3_nrails`).
    pub fn nrails(&self) -> u32 {
        let several = self.node().config().rails.is_some();
        if several {
            self.node().nodes_and_rails().1
        } else {
            1
        }
    }

    /// The rails, as bits (`elan3_rails`).
    pub fn rails(&self) -> u32 {
        u32::MAX >> u32::BITS.saturating_sub(self.nrails())
    }

    /// Where a process runs (`elan3_vp2location`); `None` if there is no such process.
    pub fn vp2location(&self, vp: ProcessId) -> Option<Location> {
        let processes = &self.inner.processes;
        let process = processes.get(vp)?;
        let before = processes[..vp].iter();
        let local = before.filter(|other| other.place() == process.place());
        let (local, (_, node)) = (local.count() as u32, process.rail_and_node());
        Some(Location { node, local })
    }

    /// Which process runs somewhere (`elan3_location2vp`).
    pub fn location2vp(&self, location: Location) -> Option<ProcessId> {
        let mut processes = self.inner.processes.keys();
        processes.find(|&vp| self.vp2location(vp) == Some(location))
    }

    /// An address in a process's memory.
    ///
    /// # Errors
    /// [`DmaError::NoProcess`].
    pub fn address(&self, vp: ProcessId, at: ElanAddr) -> Result<Address, DmaError> {
        let process = self.inner.processes.get(vp);
        let process = process.ok_or(DmaError::NoProcess { process: vp })?;
        Ok(process.at(at))
    }

    /// A process on the same node: the host reaches its memory as shared memory.
    pub fn shared(&self, vp: ProcessId) -> Option<&Node> {
        let process = self.inner.processes.get(vp)?;
        (process.place() == self.node().place()).then_some(process)
    }

    /// Allocates main memory (`elan3_allocMain`), with all permissions and zeros in it. An
    /// alignment of 0 means any.
    ///
    /// # Errors
    /// If the addresses are exhausted, or the alignment is not a power of two.
    pub fn alloc_main(&self, align: u32, size: Bytes) -> Result<ElanAddr, AllocError> {
        self.inner.main.borrow_mut().alloc(align, size)
    }

    /// Allocates adapter memory (`elan3_allocElan`), with all permissions and zeros in it.
    ///
    /// # Errors
    /// If the adapter's memory is exhausted, or the alignment is not a power of two.
    pub fn alloc_elan(&self, align: u32, size: Bytes) -> Result<ElanAddr, AllocError> {
        self.inner.elan.borrow_mut().alloc(align, size)
    }

    /// Frees an allocation (`elan3_free`). Once a mapped range is free as a whole, the range is
    /// unmapped.
    ///
    /// # Errors
    /// If there is no allocation at this address.
    pub fn free(&self, at: ElanAddr) -> Result<(), AllocError> {
        let mut main = self.inner.main.borrow_mut();
        match main.free(at) {
            Err(AllocError::NotAllocated(_)) => self.inner.elan.borrow_mut().free(at),
            done => done,
        }
    }

    /// Allocated memory of both kinds.
    pub fn used(&self) -> Bytes {
        self.inner.main.borrow().used() + self.inner.elan.borrow().used()
    }

    /// The adapter's address for a byte (`elan3_main2elan`).
    pub fn main2elan(&self, at: MainAddr) -> Option<ElanAddr> {
        at.elan()
    }

    /// The host's address for a byte (`elan3_elan2main`).
    pub fn elan2main(&self, at: ElanAddr) -> Option<MainAddr> {
        at.main()
    }

    /// Sets the adapters' permissions for a part of this process's memory (`elan3_setperm`).
    ///
    /// # Errors
    /// If the part does not lie within one mapped range.
    pub fn setperm(
        &self,
        at: ElanAddr,
        size: Bytes,
        permissions: Permissions,
    ) -> Result<(), AccessFault> {
        self.node().protect(at, size, permissions)
    }

    /// Stores bytes in this process's memory.
    ///
    /// # Errors
    /// If the bytes do not lie within one mapped range.
    pub fn store(&self, at: ElanAddr, bytes: &[u8]) -> Result<(), AccessFault> {
        self.node().store(self.node().at(at), bytes)
    }

    /// Bytes in this process's memory.
    ///
    /// # Errors
    /// As [`Context::store`].
    pub fn load(&self, at: ElanAddr, size: Bytes) -> Result<Box<[u8]>, AccessFault> {
        self.node().load(self.node().at(at), size)
    }

    /// Makes an event from 64 bytes in this process's adapter memory (`elan3_initevent`). The
    /// process sees the event, which waits for `count` occurrences.
    ///
    /// # Errors
    /// If the bytes are no adapter memory.
    pub fn init_event(&self, at: ElanAddr, count: u32) -> Result<EventId, AccessFault> {
        self.node().event_at(at, count, Action::Copy)
    }

    /// Lets an event wait for `count` occurrences (`elan3_primeevent`).
    pub fn prime_event(&self, event: EventId, count: u32) {
        self.node().prime(event, count);
    }

    /// Lets one of this node's events occur (`elan3_setevent`).
    pub fn set_event(&self, event: EventId) {
        self.node().set(event);
    }

    /// Lets the event at an address in any process occur.
    pub fn set_remote_event(&self, vp: ProcessId, at: ElanAddr) -> Transfer {
        let nowhere = ElanAddr::NOWHERE;
        self.put_notify(vp, nowhere, nowhere, Bytes::ZERO, at)
    }

    /// Waits, polling, until an event is set (`elan3_waitevent`).
    pub async fn wait_event(&self, event: EventId) {
        self.node().wait(event).await;
    }

    /// Waits for an event in the given way.
    pub async fn wait_event_by(&self, event: EventId, how: WaitMode) {
        self.node().wait_by(event, how).await;
    }

    /// The descriptor for a put: `size` bytes from this process to another, for
    /// [`put_dma`](Self::put_dma).
    ///
    /// # Errors
    /// [`DmaError::NoProcess`].
    pub fn descriptor(
        &self,
        vp: ProcessId,
        from: ElanAddr,
        to: ElanAddr,
        size: Bytes,
    ) -> Result<Dma, DmaError> {
        let to = self.address(vp, to)?;
        Ok(Dma::new(self.node().at(from), to, size))
    }

    /// The descriptor for a put after which the event at an address in the other process occurs.
    ///
    /// # Errors
    /// [`DmaError::NoProcess`].
    pub fn notifying(
        &self,
        vp: ProcessId,
        from: ElanAddr,
        to: ElanAddr,
        size: Bytes,
        event: ElanAddr,
    ) -> Result<Dma, DmaError> {
        let dma = self.descriptor(vp, from, to, size)?;
        Ok(dma.notify_at(self.address(vp, event)?))
    }

    /// Posts a DMA (`elan3_putdma`); to await the transfer is `elan3_waitdmaevent`.
    pub fn put_dma(&self, dma: Dma) -> Transfer {
        self.node().dma(dma)
    }

    /// Posts a DMA if there is one.
    fn post(&self, dma: Result<Dma, DmaError>) -> Transfer {
        dma.map_or_else(Transfer::failed, |dma| self.put_dma(dma))
    }

    /// Puts bytes into another process's memory.
    pub fn put(&self, vp: ProcessId, from: ElanAddr, to: ElanAddr, size: Bytes) -> Transfer {
        self.post(self.descriptor(vp, from, to, size))
    }

    /// Puts bytes into another process's memory; then the event at an address in that process
    /// occurs.
    pub fn put_notify(
        &self,
        vp: ProcessId,
        from: ElanAddr,
        to: ElanAddr,
        size: Bytes,
        event: ElanAddr,
    ) -> Transfer {
        self.post(self.notifying(vp, from, to, size, event))
    }

    /// Gets bytes from another process's memory.
    pub fn get(&self, vp: ProcessId, from: ElanAddr, to: ElanAddr, size: Bytes) -> Transfer {
        let from = self.address(vp, from);
        self.post(from.map(|from| Dma::new(from, self.node().at(to), size)))
    }
}
