//! # Elanlib: what a library on the Elan offers independent of its revision (000 s3.2)
//!
//! Tagged messages ([`tport`]), put and get ([`putget`]), queues of small messages ([`queue`]), and groups of processes
//! with their collective calls ([`group`]). A process reaches it by [`crate::Pe::elan`]; it was initialised, in all
//! processes of the job, before their programs began.
//!
//! | call | here |
//! |---|---|
//! | `elan_init`, `elan_baseInit`, `elan_tportInit` | [`crate::Job::launch`] |
//! | `elan_gallocMain`, `elan_gallocElan`, `elan_gallocFree` | [`Elan::galloc_main`] and so on |
//! | `elan_allocMain`, `elan_allocElan`, `elan_free`, `elan_main2elan` | those of Elan3lib, [`Elan::elan3`] |
//! | `elan_clock` | [`Elan::clock`] |
//!
//! *Global* memory has the same address in all processes that make the same calls in the same order, whatever else each
//! of them allocates: it has heaps of its own, of [`GLOBAL_MAIN`] and [`GLOBAL_ELAN`].

pub mod group;

use crate::cpu::Cpu;
use crate::elan3::{AllocError, Context, Heap};
use elan::{ElanAddr, Node, Placement};
use kernel::Label;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

/// The global heap of each process in main memory; nothing is published about its size, and this one is assumed.
pub const GLOBAL_MAIN: Bytes = Bytes::from_mb(256);

/// The global heap of each process in adapter memory, the same way.
pub const GLOBAL_ELAN: Bytes = Bytes::from_mb(1);

/// One process's Elanlib (`ELAN_BASE`, `ELAN_STATE`). Clones are the same.
#[derive(Clone)]
pub struct Elan {
    inner: Rc<Inner>,
}

struct Inner {
    elan3: Context,
    label: Label,
    cpu: Cpu,
    global_main: RefCell<Heap>,
    global_elan: RefCell<Heap>,
}

impl Elan {
    /// Initialises the library in all processes of a job.
    pub(crate) fn init(processes: Vec<(Context, Label)>) -> Result<Vec<Elan>, AllocError> {
        let init = |(elan3, label): (Context, Label)| {
            let heap = |placement, size| Heap::fixed(elan3.node().clone(), placement, size);
            let global_main = RefCell::new(heap(Placement::Main, GLOBAL_MAIN)?);
            let global_elan = RefCell::new(heap(Placement::Adapter, GLOBAL_ELAN)?);
            let inner = Inner {
                elan3,
                label,
                cpu: Cpu::default(),
                global_main,
                global_elan,
            };
            Ok(Elan {
                inner: Rc::new(inner),
            })
        };
        processes.into_iter().map(init).collect()
    }

    /// The Elan3lib below.
    pub fn elan3(&self) -> &Context {
        &self.inner.elan3
    }

    /// The process as its adapter knows it.
    pub fn node(&self) -> &Node {
        self.inner.elan3.node()
    }

    /// This process's number.
    pub fn vp(&self) -> u32 {
        self.inner.elan3.process()
    }

    /// Processes of the job.
    pub fn nvps(&self) -> u32 {
        self.inner.elan3.nvps()
    }

    /// The time (`elan_clock`).
    pub fn clock(&self) -> Time {
        self.node().now()
    }

    /// The process's processor.
    pub(crate) fn cpu(&self) -> &Cpu {
        &self.inner.cpu
    }

    /// The process's label.
    pub(crate) fn label(&self) -> &Label {
        &self.inner.label
    }

    /// Allocates global main memory (`elan_gallocMain`); see the head of the module.
    ///
    /// # Errors
    /// If the heap is full, or the alignment is no power of two.
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
    /// If nothing was allocated there.
    pub fn galloc_free(&self, at: ElanAddr) -> Result<(), AllocError> {
        let mut main = self.inner.global_main.borrow_mut();
        match main.free(at) {
            Err(AllocError::NotAllocated(_)) => self.inner.global_elan.borrow_mut().free(at),
            done => done,
        }
    }
}
