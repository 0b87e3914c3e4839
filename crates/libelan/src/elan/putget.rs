//! Put and get: remote DMA with the library's bounds and copies.
//!
//! | call | here |
//! |---|---|
//! | `elan_put`, `elan_get` | [`Elan::put`], [`Elan::get`] |
//! | `elan_wait`, `elan_done` | [`Elan::wait`], [`Remote::is_done`] |
//! | `elan_putWaitAll`, `elan_getWaitAll` | [`Elan::put_wait_all`], [`Elan::get_wait_all`] |
//!
//! A put of up to [`SMALL`] is copied into the adapter at once, so its source may be used again. A longer put is read while
//! it is sent. A process has at most [`THROTTLE`] puts and gets under way; for one more, the processor waits.
//!
//! A process of the same node, or the caller itself, is reached in the same way: the packets go up to the node's switch and
//! down again, and the bytes cross the node's bus twice. No processor copies the bytes.
//!
//! On a machine with several rails, puts and gets take rail 0. An adapter does not see what waits for the bus of another
//! rail's adapter, so the order described next holds on one rail only.
//!
//! A put is over when the other adapter has accepted all of its bytes. Bytes for main memory may still be on the other
//! node's bus then. Gets from there see them, and whatever that host is told of afterwards, by an event or a message, comes
//! behind them on the same bus. Two puts that are under way at the same time are not ordered.

use super::pool::Pool;
use super::{Elan, words};
use crate::cpu::Turn;
use crate::elan3::{AllocError, Heap};
use elan::transaction::{WORD, word_of};
use elan::{Dma, DmaError, ElanAddr, Node, Placement, ProcessId, Transfer};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use units::Bytes;

/// Puts up to this length are copied at once (`LIBELAN_PUTGET_SMALLPUTSIZE`).
pub const SMALL: Bytes = Bytes::new(64);

/// Puts, gets and queued messages of a process that are under way at a time (`LIBELAN_PUTGET_THROTTLE`). The value is
/// assumed; it is not published.
pub const THROTTLE: u32 = 32;

/// Puts or gets that are under way.
#[derive(Default)]
struct Kind {
    under_way: Cell<u32>,
    none: RefCell<Signal>,
    failed: Cell<Option<DmaError>>,
}

impl Kind {
    fn begin(&self) {
        if self.under_way.replace(self.under_way.get() + 1) == 0 {
            self.none.replace(Signal::new());
        }
    }

    fn end(&self, result: Result<(), DmaError>) {
        if let (Err(error), None) = (result, self.failed.get()) {
            self.failed.set(Some(error));
        }
        if self.under_way.replace(self.under_way.get() - 1) == 1 {
            self.none.borrow().fire();
        }
    }
}

/// The puts and gets that a process has under way.
pub(super) struct UnderWay {
    slots: Pool,
    puts: Kind,
    gets: Kind,
}

impl UnderWay {
    pub fn new(node: &Node) -> Result<Self, AllocError> {
        let slots = SMALL * u64::from(THROTTLE);
        let mut memory = Heap::fixed(node.clone(), Placement::Adapter, slots)?;
        Ok(UnderWay {
            slots: Pool::new(&mut memory, THROTTLE, SMALL)?,
            puts: Kind::default(),
            gets: Kind::default(),
        })
    }
}

/// A put, get or queued message that was started (`ELAN_EVENT`).
#[must_use = "nobody knows when it is over until it is waited for"]
pub struct Remote {
    what: Operation,
    end: Rc<End>,
}

/// An operation, as reports of deadlocks name it.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    Put(ProcessId),
    Get(ProcessId),
    Message(ProcessId),
}

impl Operation {
    /// The process at the other end.
    fn process(self) -> ProcessId {
        match self {
            Operation::Put(vp) | Operation::Get(vp) | Operation::Message(vp) => vp,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Put(vp) => write!(f, "its put to process {vp}"),
            Operation::Get(vp) => write!(f, "its get from process {vp}"),
            Operation::Message(vp) => write!(f, "its message to a queue of process {vp}"),
        }
    }
}

#[derive(Default)]
struct End {
    done: Signal,
    result: Cell<Option<Result<(), DmaError>>>,
}

impl Remote {
    /// The signal that is fired when the operation is over; a polling process sees the end then.
    pub fn ended(&self) -> Signal {
        self.end.done.clone()
    }

    /// How the operation ended; none before its end.
    pub fn result(&self) -> Option<Result<(), DmaError>> {
        self.end.result.get()
    }

    /// Whether the operation is over (`elan_done`).
    pub fn is_done(&self) -> bool {
        self.end.done.is_set()
    }
}

impl Elan {
    /// Puts bytes into the memory of a process (`elan_put`).
    pub fn put(&self, vp: ProcessId, from: ElanAddr, to: ElanAddr, size: Bytes) -> Remote {
        let what = Operation::Put(vp);
        if size > SMALL {
            let dma = self.elan3().descriptor(vp, from, to, size);
            return self.start_put(what, async move |_, _| dma);
        }
        match self.elan3().load(from, size) {
            Ok(bytes) => self.put_bytes(vp, &bytes, to),
            Err(fault) => self.start_put(what, async move |_, _| Err(fault.into())),
        }
    }

    /// Puts bytes as [`put`](Self::put) does, but always straight from their buffer, and sets an event of the process when
    /// the bytes are there.
    pub fn put_notify(
        &self,
        vp: ProcessId,
        from: ElanAddr,
        to: ElanAddr,
        size: Bytes,
        event: ElanAddr,
    ) -> Remote {
        let dma = self.elan3().notifying(vp, from, to, size, event);
        self.start_put(Operation::Put(vp), async move |_, _| dma)
    }

    /// Puts up to [`SMALL`] bytes that the program has at hand.
    pub(crate) fn put_bytes(&self, vp: ProcessId, bytes: &[u8], to: ElanAddr) -> Remote {
        let (bytes, elan3) = (bytes.to_vec(), self.elan3().clone());
        let size = Bytes::new(bytes.len() as u64);
        self.start_put(Operation::Put(vp), async move |node, slot| {
            elan3.store(slot, &bytes)?;
            node.store_across(size);
            elan3.descriptor(vp, slot, to, size)
        })
    }

    /// Gets bytes from the memory of a process (`elan_get`).
    pub fn get(&self, vp: ProcessId, from: ElanAddr, to: ElanAddr, size: Bytes) -> Remote {
        let elan3 = self.elan3().clone();
        let describe = async move |node: &Node, _| {
            let from = elan3.address(vp, from)?;
            Ok(Dma::new(from, node.at(to), size))
        };
        self.start(Operation::Get(vp), |own| &own.gets, describe)
    }

    /// Starts an operation that counts as a put.
    pub(super) fn start_put(
        &self,
        what: Operation,
        describe: impl AsyncFnOnce(&Node, ElanAddr) -> Result<Dma, DmaError> + 'static,
    ) -> Remote {
        self.start(what, |own| &own.puts, describe)
    }

    /// Starts a DMA whose descriptor is made when the processor comes to it.
    fn start(
        &self,
        what: Operation,
        kind: impl Fn(&UnderWay) -> &Kind + 'static,
        describe: impl AsyncFnOnce(&Node, ElanAddr) -> Result<Dma, DmaError> + 'static,
    ) -> Remote {
        let end = Rc::new(End::default());
        kind(self.under_way()).begin();
        let (elan, turn, over) = (self.clone(), self.cpu().turn(), Rc::clone(&end));
        self.node().serve("remote DMA", async move {
            let result = elan.carry_out(turn, describe).await;
            let result = result.map_err(|error| error.of_process(what.process()));
            over.result.set(Some(result));
            over.done.fire();
            kind(elan.under_way()).end(result);
        });
        Remote { what, end }
    }

    async fn carry_out(
        &self,
        turn: Turn,
        describe: impl AsyncFnOnce(&Node, ElanAddr) -> Result<Dma, DmaError>,
    ) -> Result<(), DmaError> {
        let (node, slots) = (self.node(), &self.under_way().slots);
        turn.work(node, node.config().host.call).await;
        let slot = slots.take().await;
        let dma = describe(node, slot).await;
        let posted = dma.map_or_else(Transfer::failed, |dma| node.dma(dma));
        drop(turn);
        let result = posted.await;
        slots.give_back(slot);
        result
    }

    /// Gets a word from either memory of a process.
    pub(crate) async fn get_word(&self, vp: ProcessId, from: ElanAddr) -> Result<u64, DmaError> {
        let (node, slots) = (self.node(), &self.under_way().slots);
        let turn = self.cpu().turn();
        turn.work(node, node.config().host.call).await;
        let slot = slots.take().await;
        let got = async {
            let from = self.elan3().address(vp, from)?;
            let get = node.dma(Dma::new(from, node.at(slot), WORD));
            drop(turn);
            let what = words(move |f| write!(f, "a word of process {vp}"));
            let got = self.see(what, get).await;
            got.map_err(|error| error.of_process(vp))?;
            node.cross_to_main(WORD).await;
            Ok(word_of(&self.elan3().load(slot, WORD)?))
        };
        let found = got.await;
        slots.give_back(slot);
        found
    }

    /// Waits until an operation is over (`elan_wait`).
    ///
    /// # Errors
    /// If the operation failed: an adapter refused an access at one of its ends, or there is no such process.
    pub async fn wait(&self, remote: Remote) -> Result<(), DmaError> {
        self.see(remote.what, remote.end.done.wait()).await;
        remote.end.result.get().expect("it is over")
    }

    /// Waits until all puts that were started are over (`elan_putWaitAll`).
    ///
    /// # Errors
    /// The first put that failed since the last such call.
    pub async fn put_wait_all(&self) -> Result<(), DmaError> {
        self.wait_all("its puts", &self.under_way().puts).await
    }

    /// Waits until all gets that were started are over (`elan_getWaitAll`).
    ///
    /// # Errors
    /// As [`put_wait_all`](Self::put_wait_all).
    pub async fn get_wait_all(&self) -> Result<(), DmaError> {
        self.wait_all("its gets", &self.under_way().gets).await
    }

    async fn wait_all(&self, what: &'static str, kind: &Kind) -> Result<(), DmaError> {
        while kind.under_way.get() > 0 {
            let none = kind.none.borrow().clone();
            self.see(what, none.wait()).await;
        }
        kind.failed.take().map_or(Ok(()), Err)
    }
}
