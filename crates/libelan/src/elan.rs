//! # Elanlib: library services that are independent of the Elan's revision (petrini2003 s3.2)
//!
//! Tagged messages ([`tport`]), put and get ([`putget`]), queues for small messages ([`queue`]),
//! and process groups with their collective calls ([`group`]). A process reaches Elanlib by
//! [`crate::Pe::elan`]. The library was initialised, in all the job's processes, before their
//! programs began.
//!
//! | call | here |
//! |---|---|
//! | `elan_init`, `elan_baseInit`, `elan_tportInit` | [`crate::ProcessJob::launch`] |
//! | `elan_gallocMain`, `elan_gallocElan`, `elan_gallocFree` | [`Elan::galloc_main`] and so on |
//! | `elan_allocMain`, `elan_allocElan`, `elan_free`, `elan_main2elan` | as in Elan3lib, [`Elan::elan3`] |
//! | `elan_clock` | [`Elan::clock`] |
//!
//! *Waiting.* A process polls, or it blocks, or it looks so many times and then blocks
//! ([`WaitMode`], set for a job by [`crate::ProcessJob::waiting`]): these are the wait types
//! `ELAN_POLL_EVENT`, `ELAN_WAIT_EVENT` and a count. All ways see the same; a blocking process sees
//! it later, since an interrupt takes `interrupt` in place of `poll`. A process that finds its
//! event set does not pay either cost. All waits for the network use the job's way, in Shmem, MPI
//! and collective calls as well, and so do waits for messages from the same node. Some calls have
//! their own way: `elan_hgsync` polls, and so do the Shmem and MPI barriers; `elan_hgsyncevent`
//! blocks; `shmem_wait` polls; group members on one node poll for each other. A blocking process
//! leaves its processor to others, but this has no effect here: processes do not take their
//! processors from each other.
//!
//! *Global* memory has the same address in all processes that make the same calls in the same
//! order, independent of each process's other allocations: global memory has its own heaps,
//! [`GLOBAL_MAIN`] and [`GLOBAL_ELAN`] long.

mod barrier;
mod block;
mod courier;
mod detour;
pub mod group;
mod groups;
mod hardware;
mod init;
mod layout;
mod pool;
mod post;
pub mod putget;
pub mod queue;
pub mod rails;
pub mod reduce;
mod remote;
mod spread;
pub mod tport;
mod tree;

pub use group::posted;

use crate::cpu::Cpu;
use crate::elan3::{AllocError, Context, Heap};
use elan::{ElanAddr, Node, ProcessId, WaitMode};
use group::{Group, Member};
use kernel::Label;
use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use tport::port::{Peers, Port};
use units::{Bytes, Time};

/// Each process's global heap in main memory. Its size is assumed, not published.
pub const GLOBAL_MAIN: Bytes = Bytes::from_mb(256);

/// Each process's global heap in adapter memory. Its size is assumed, too.
pub const GLOBAL_ELAN: Bytes = Bytes::from_mb(1);

/// The global buffer in main memory for data with places that differ from process to process, as in
/// an MPI broadcast. Its size is assumed, not published.
pub const STAGE: Bytes = Bytes::from_kb(64);

/// Words that are made when they are read.
pub(crate) fn words<F>(write: F) -> impl fmt::Display
where
    F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result,
{
    struct Words<F>(F);
    impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Words<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0(f)
        }
    }
    Words(write)
}

/// One process's Elanlib (`ELAN_BASE`, `ELAN_STATE`). Clones stand for the same Elanlib.
#[derive(Clone)]
pub struct Elan {
    inner: Rc<LibraryState>,
}

struct LibraryState {
    elan3: Context,
    label: Label,
    global_main: RefCell<Heap>,
    global_elan: RefCell<Heap>,
    under_way: putget::PendingTransfers,
    /// The Tports of all the job's processes.
    ports: Peers,
    member: Member,
    /// The group of all processes.
    all: Group,
    stage: ElanAddr,
}

impl Elan {
    /// The same process's Elan3lib.
    pub fn elan3(&self) -> &Context {
        &self.inner.elan3
    }

    /// The process as its adapter knows it.
    pub fn node(&self) -> &Node {
        self.inner.elan3.node()
    }

    /// This process's number.
    pub fn vp(&self) -> ProcessId {
        self.inner.elan3.process()
    }

    /// The job's processes.
    pub fn nvps(&self) -> u32 {
        self.inner.elan3.nvps()
    }

    /// The time (`elan_clock`).
    pub fn clock(&self) -> Time {
        self.node().now()
    }

    /// The state of the process's Tport.
    pub(crate) fn port(&self) -> &Rc<Port> {
        self.peer(self.vp())
    }

    pub(crate) fn peer(&self, vp: ProcessId) -> &Rc<Port> {
        &self.inner.ports[vp]
    }

    pub(crate) fn peers(&self) -> Peers {
        Rc::clone(&self.inner.ports)
    }

    /// Waits for something that has a name; see [`crate::Pe::waiting`].
    pub(crate) async fn waiting<F: IntoFuture>(
        &self,
        what: impl fmt::Display + 'static,
        event: F,
    ) -> F::Output {
        let label = self.label();
        label.begin(words(move |f| write!(f, "waits for {what}")));
        let output = event.await;
        label.end();
        output
    }

    /// Waits, in the job's way, for an operation that has a name.
    pub(crate) async fn see<F: IntoFuture>(
        &self,
        what: impl fmt::Display + 'static,
        seen: F,
    ) -> F::Output {
        let mut seen = pin!(self.node().wait_for(seen, self.waits()));
        // Often the result is there already.
        match poll_fn(|context| Poll::Ready(seen.as_mut().poll(context))).await {
            Poll::Ready(output) => output,
            Poll::Pending => self.waiting(what, seen).await,
        }
    }

    /// How the process waits.
    pub(crate) fn waits(&self) -> WaitMode {
        self.inner.member.waits
    }

    /// The buffer of [`STAGE`].
    pub(crate) fn stage(&self) -> ElanAddr {
        self.inner.stage
    }

    /// The process's processor.
    pub(crate) fn cpu(&self) -> &Cpu {
        &self.port().cpu
    }

    /// The process's puts and gets under way.
    fn under_way(&self) -> &putget::PendingTransfers {
        &self.inner.under_way
    }

    /// The process's detours, if its machine has several rails.
    pub(crate) fn detours(&self) -> Option<&detour::Detours> {
        self.inner.member.detours.as_ref()
    }

    /// The process's label.
    pub(crate) fn label(&self) -> &Label {
        &self.inner.label
    }

    /// Allocates global main memory (`elan_gallocMain`); see the module's head.
    ///
    /// # Errors
    /// If the heap is full, or the alignment is not a power of two.
    pub fn galloc_main(&self, align: u32, size: Bytes) -> Result<ElanAddr, AllocError> {
        self.inner.global_main.borrow_mut().alloc(align, size)
    }

    /// Allocates global adapter memory (`elan_gallocElan`).
    ///
    /// # Errors
    /// As [`galloc_main`](Self::galloc_main).
    pub fn galloc_elan(&self, align: u32, size: Bytes) -> Result<ElanAddr, AllocError> {
        self.inner.global_elan.borrow_mut().alloc(align, size)
    }

    /// Frees global memory (`elan_gallocFree`).
    ///
    /// # Errors
    /// If there is no allocation at this address.
    pub fn galloc_free(&self, at: ElanAddr) -> Result<(), AllocError> {
        let mut main = self.inner.global_main.borrow_mut();
        match main.free(at) {
            Err(AllocError::NotAllocated(_)) => self.inner.global_elan.borrow_mut().free(at),
            done => done,
        }
    }
}
