//! # Shmem: one-sided communication on put and get
//!
//! "Cray Shmem ... implemented on top of Elanlib" (petrini2003 s3).
//!
//! Processing elements put into and get from each other's *symmetric* memory, which has the same
//! address in all of them: [`Shmem::malloc`] takes it from the global heap in main memory,
//! [`Shmem::malloc_elan`] from that in adapter memory.
//!
//! | call | here |
//! |---|---|
//! | `shmem_my_pe`, `shmem_n_pes`, `shmalloc`, `shfree` | [`Shmem::my_pe`], [`Shmem::n_pes`], [`Shmem::malloc`], [`Shmem::free`] |
//! | `shmem_putmem`, `shmem_getmem` | [`Shmem::put`], [`Shmem::get`] |
//! | `shmem_long_p`, `shmem_long_g` | [`Shmem::p`], [`Shmem::g`] |
//! | `shmem_long_fadd`, `shmem_long_finc`, `shmem_swap`, `shmem_long_cswap` | [`Shmem::fadd`], [`Shmem::finc`], [`Shmem::swap`], [`Shmem::cswap`] |
//! | `shmem_wait`, `shmem_wait_until` | [`Shmem::wait`], [`Shmem::wait_until`] |
//! | `shmem_fence`, `shmem_quiet` | [`Shmem::fence`], [`Shmem::quiet`] |
//!
//! A put returns when its source may be used again. A put of up to
//! [`putget::SMALL`](crate::elan::putget::SMALL) returns immediately, and the next [`Shmem::quiet`]
//! returns its error. A longer put returns when it is over. Words have 8 bytes.
//!
//! Atomics are transaction packets, which the other adapter's inputter executes without that
//! adapter's host: a thread on the caller's adapter sends each packet. Atomics' words lie in
//! adapter memory, where transactions can reach them.

mod collective;

use crate::elan::{Elan, words};
use crate::elan3::AllocError;
use elan::transaction::{WORD, word_of};
use elan::{
    AccessFault, Answer, Comparison, DmaError, ElanAddr, MemoryError, Placement, ProcessId,
    Transaction,
};
use std::cell::Cell;
use std::rc::Rc;
use thiserror::Error;
use units::Bytes;

/// One process's Shmem. Clones stand for the same Shmem.
#[derive(Clone)]
pub struct Shmem {
    elan: Elan,
}

/// Why an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ShmemError {
    /// An adapter refused an access, or there is no such processing element.
    #[error(transparent)]
    Dma(#[from] DmaError),
    /// No memory for an atomic operation's thread.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// No memory for an atomic operation's event.
    #[error(transparent)]
    Event(#[from] AllocError),
}

/// A call's result, or its error.
pub type ShmemResult<T> = std::result::Result<T, ShmemError>;

impl From<AccessFault> for ShmemError {
    fn from(fault: AccessFault) -> Self {
        ShmemError::Dma(fault.into())
    }
}

impl Shmem {
    pub(crate) fn new(elan: Elan) -> Self {
        Shmem { elan }
    }

    /// This processing element's number.
    pub fn my_pe(&self) -> u32 {
        self.elan.vp().get()
    }

    /// The job's processing elements.
    pub fn n_pes(&self) -> u32 {
        self.elan.nvps()
    }

    /// Allocates symmetric main memory: the same calls in every processing element give the same
    /// addresses.
    ///
    /// # Errors
    /// If the heap is full.
    pub fn malloc(&self, size: Bytes) -> std::result::Result<ElanAddr, AllocError> {
        self.elan.galloc_main(64, size)
    }

    /// Allocates symmetric adapter memory, for atomics' words.
    ///
    /// # Errors
    /// If the heap is full.
    pub fn malloc_elan(&self, size: Bytes) -> std::result::Result<ElanAddr, AllocError> {
        self.elan.galloc_elan(64, size)
    }

    /// Frees symmetric memory.
    ///
    /// # Errors
    /// If there is no allocation at this address.
    pub fn free(&self, at: ElanAddr) -> std::result::Result<(), AllocError> {
        self.elan.galloc_free(at)
    }

    /// Puts bytes into another processing element's memory; returns when the bytes' source may be
    /// used again.
    ///
    /// # Errors
    /// If an access is refused, for more than [`SMALL`](crate::elan::putget::SMALL) bytes; else
    /// [`quiet`](Self::quiet) returns the error.
    pub async fn put(&self, to: ElanAddr, from: ElanAddr, size: Bytes, pe: u32) -> ShmemResult<()> {
        let put = self.elan.put(ProcessId::new(pe), from, to, size);
        if size > crate::elan::putget::SMALL {
            self.elan.wait(put).await?;
        }
        Ok(())
    }

    /// Gets bytes from another processing element's memory.
    ///
    /// # Errors
    /// If an access is refused.
    pub async fn get(&self, to: ElanAddr, from: ElanAddr, size: Bytes, pe: u32) -> ShmemResult<()> {
        let get = self.elan.get(ProcessId::new(pe), from, to, size);
        Ok(self.elan.wait(get).await?)
    }

    /// Puts a word; [`quiet`](Self::quiet) returns its error.
    pub fn p(&self, to: ElanAddr, word: u64, pe: u32) {
        let process = ProcessId::new(pe);
        drop(self.elan.put_bytes(process, &word.to_le_bytes(), to));
    }

    /// Gets a word.
    ///
    /// # Errors
    /// If an access is refused.
    pub async fn g(&self, from: ElanAddr, pe: u32) -> ShmemResult<u64> {
        Ok(self.elan.get_word(ProcessId::new(pe), from).await?)
    }

    /// A word in the caller's own memory.
    ///
    /// # Errors
    /// If the word is not mapped.
    pub fn word(&self, at: ElanAddr) -> std::result::Result<u64, AccessFault> {
        Ok(word_of(&self.elan.elan3().load(at, WORD)?))
    }

    /// Stores a word in the caller's own memory.
    ///
    /// # Errors
    /// If the word is not mapped.
    pub fn set_word(&self, at: ElanAddr, word: u64) -> std::result::Result<(), AccessFault> {
        self.elan.elan3().store(at, &word.to_le_bytes())
    }

    /// Waits until all puts are over: all earlier puts come before all later ones.
    ///
    /// # Errors
    /// The error of the first put that failed since the last call.
    pub async fn quiet(&self) -> ShmemResult<()> {
        Ok(self.elan.put_wait_all().await?)
    }

    /// Orders the puts to each processing element: as [`quiet`](Self::quiet), since separate DMAs
    /// are not ordered.
    ///
    /// # Errors
    /// As [`quiet`](Self::quiet).
    pub async fn fence(&self) -> ShmemResult<()> {
        self.quiet().await
    }

    /// Waits until a word in the caller's own memory differs from a value; returns the word.
    ///
    /// # Errors
    /// If the word is not mapped.
    pub async fn wait(&self, at: ElanAddr, value: u64) -> ShmemResult<u64> {
        self.wait_until(at, Comparison::NotEqual, value).await
    }

    /// Waits, polling, until the comparison of a word in the caller's own memory with a value
    /// holds; returns the word. A word in adapter memory is read across the bus each time.
    ///
    /// # Errors
    /// If the word is not mapped.
    pub async fn wait_until(
        &self,
        at: ElanAddr,
        comparison: Comparison,
        value: u64,
    ) -> ShmemResult<u64> {
        let node = self.elan.node();
        let across = node.placement(at, WORD)? == Placement::Adapter;
        loop {
            if across {
                node.cross_to_main(WORD).await;
            }
            let word = self.word(at)?;
            if comparison.holds(word, value) {
                return Ok(word);
            }
            let stored = node.next_store(at, WORD);
            let what = words(move |f| write!(f, "the word at {at}"));
            self.elan.waiting(what, stored.wait()).await;
            node.sleep(node.config().adapter.poll).await;
        }
    }

    /// Adds to a word; returns the old word.
    ///
    /// # Errors
    /// If an access is refused, or the word is not in adapter memory.
    pub async fn fadd(&self, at: ElanAddr, word: u64, pe: u32) -> ShmemResult<u64> {
        let answer = self.send(pe, &[Transaction::Add { to: at, word }]).await?;
        Ok(answer.found.expect("it has found a word"))
    }

    /// Adds 1 to a word; returns the old word.
    ///
    /// # Errors
    /// As [`fadd`](Self::fadd).
    pub async fn finc(&self, at: ElanAddr, pe: u32) -> ShmemResult<u64> {
        self.fadd(at, 1, pe).await
    }

    /// Stores a word; returns the old word.
    ///
    /// # Errors
    /// As [`fadd`](Self::fadd).
    pub async fn swap(&self, at: ElanAddr, word: u64, pe: u32) -> ShmemResult<u64> {
        let answer = self
            .send(pe, &[Transaction::Write { to: at, word }])
            .await?;
        Ok(answer.found.expect("it has found a word"))
    }

    /// Stores a word if the old word was `expected`; returns the old word.
    ///
    /// The packet tests and stores in one step. Its answer only reports whether the test failed, so
    /// another packet has to fetch the old word. If that word is the expected one by now, all
    /// begins again.
    ///
    /// # Errors
    /// As [`fadd`](Self::fadd).
    pub async fn cswap(&self, at: ElanAddr, expected: u64, word: u64, pe: u32) -> ShmemResult<u64> {
        let test = Transaction::Test {
            at,
            comparison: Comparison::Equal,
            word: expected,
        };
        let write = Transaction::Write { to: at, word };
        loop {
            if self.send(pe, &[test, write]).await?.passed {
                return Ok(expected);
            }
            let found = self.g(at, pe).await?;
            if found != expected {
                return Ok(found);
            }
        }
    }

    /// Sends a transaction packet, and waits for its answer.
    async fn send(&self, pe: u32, transactions: &[Transaction]) -> ShmemResult<Answer> {
        self.execute(pe, transactions.to_vec()).await
    }

    /// Lets a processing element's adapter execute transactions, as one packet; the call has its
    /// place among this process's calls immediately, and the future waits for the answer.
    ///
    /// # Errors
    /// If an access is refused, or there is no memory for the thread that sends the packet.
    pub fn execute(
        &self,
        pe: u32,
        transactions: Vec<Transaction>,
    ) -> impl Future<Output = ShmemResult<Answer>> + use<> {
        let (turn, shmem) = (self.elan.cpu().turn(), self.clone());
        async move {
            let node = shmem.elan.node();
            turn.work(node, node.config().host.call).await;
            drop(turn);
            shmem.answer(pe, &transactions).await
        }
    }

    async fn answer(&self, pe: u32, transactions: &[Transaction]) -> ShmemResult<Answer> {
        let (elan, node) = (&self.elan, self.elan.node());
        let to = elan
            .elan3()
            .address(ProcessId::new(pe), ElanAddr::NOWHERE)?;
        let event = elan.port().event()?;
        let answer = Rc::new(Cell::new(None));
        let (list, answered) = (transactions.to_vec(), Rc::clone(&answer));
        let started = node.run("atomic", async move |thread| {
            let answer = thread.send(to, &list, elan::Priority::Low).await;
            answered.set(Some(answer));
            thread.set(event.0).await;
        });
        if started.is_ok() {
            let what = words(move |f| write!(f, "an atomic of process {pe}"));
            elan.waiting(what, node.wait_by(event.0, elan.waits()))
                .await;
        }
        elan.port().free_event(event);
        started?;
        let process = ProcessId::new(pe);
        match (answer.get().expect("the event says so"), elan.detours()) {
            (Err(error), Some(detours)) if error.is_rail_down() => {
                let executed = detours.execute(process, transactions.to_vec());
                let what = words(move |f| write!(f, "an atomic of process {pe}"));
                Ok(elan.see(what, executed).await?)
            }
            (answer, _) => Ok(answer.map_err(|error| error.of_process(process))?),
        }
    }
}
