//! Put and get: remote DMA with the library's bounds and copies.
//!
//! | call | here |
//! |---|---|
//! | `elan_put`, `elan_get` | [`Elan::put`], [`Elan::get`] |
//! | `elan_wait`, `elan_done` | [`Elan::wait`], [`Remote::is_done`] |
//! | `elan_putWaitAll`, `elan_getWaitAll` | [`Elan::put_wait_all`], [`Elan::get_wait_all`] |
//!
//! A put of up to [`SMALL`] is copied into the adapter immediately, so its source may be used
//! again. A longer put is read while it is sent. A process has at most [`THROTTLE`] puts and gets
//! under way; for one more, the processor waits.
//!
//! A process on the same node, or the caller itself, is reached in the same way: the packets go up
//! to the node's switch and down again, and the bytes cross the node's bus twice. No processor
//! copies the bytes.
//!
//! On a machine with several rails, the policy picks the rails of puts and gets between main
//! memories ([`super::rails`]).
//!
//! A put is over when the other adapter has accepted all its bytes. Bytes for main memory may still
//! be on the other node's bus then. Gets from there see them, and that host's later notifications,
//! by an event or a message, come behind them on the same bus. On a machine with several rails,
//! where adapters do not see the data that wait for each other's bus, a put is over when its bytes
//! are in main memory. Two puts that are under way at the same time are not ordered.

pub use super::remote::{Remote, SMALL, THROTTLE};

use super::detour::Detours;
use super::pool::Pool;
use super::queue::{Line, QueuedMessage};
use super::rails::{RailRequest, in_main};
use super::remote::{End, Operation};
use super::spread::{Part, Poster, carry};
use super::{Elan, words};
use crate::cpu::Turn;
use crate::elan3::{AllocError, Heap};
use elan::transaction::{WORD, word_of};
use elan::{Dma, DmaError, ElanAddr, Node, NodeId, Placement, ProcessId, Transfer};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use units::Bytes;

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
pub(super) struct PendingTransfers {
    slots: Pool,
    puts: Kind,
    gets: Kind,
    messages: Line,
}

impl PendingTransfers {
    pub fn new(node: &Node) -> Result<Self, AllocError> {
        let slots = SMALL * u64::from(THROTTLE);
        let mut memory = Heap::fixed(node.clone(), Placement::Adapter, slots)?;
        Ok(PendingTransfers {
            slots: Pool::new(&mut memory, THROTTLE, SMALL)?,
            puts: Kind::default(),
            gets: Kind::default(),
            messages: Line::default(),
        })
    }
}

/// The kind of transfer.
enum Motion {
    Put {
        vp: ProcessId,
        from: ElanAddr,
        to: ElanAddr,
        size: Bytes,
        /// The bytes, if they are at hand.
        bytes: Option<Vec<u8>>,
        /// The event that then occurs.
        event: Option<ElanAddr>,
    },
    Get {
        vp: ProcessId,
        from: ElanAddr,
        to: ElanAddr,
        size: Bytes,
    },
    Message {
        vp: ProcessId,
        queue: ElanAddr,
        from: ElanAddr,
        size: Bytes,
    },
}

/// A transfer from main memory to main memory, on a machine with several rails.
struct StripedTransfer {
    /// Whether it is put; otherwise it is got.
    put: bool,
    vp: ProcessId,
    from: ElanAddr,
    to: ElanAddr,
    size: Bytes,
    /// A put's bytes, if they are at hand.
    bytes: Option<Vec<u8>>,
    /// The nodes from which and to which the bytes travel.
    ends: (NodeId, NodeId),
}

impl Elan {
    /// Puts bytes into a process's memory (`elan_put`).
    pub fn put(&self, vp: ProcessId, from: ElanAddr, to: ElanAddr, size: Bytes) -> Remote {
        let motion = |bytes| Motion::Put {
            vp,
            from,
            to,
            size,
            bytes,
            event: None,
        };
        let motion = if size > SMALL {
            Ok(motion(None))
        } else {
            let bytes = self.elan3().load(from, size);
            bytes
                .map(|bytes| motion(Some(bytes.into())))
                .map_err(DmaError::from)
        };
        self.start(Operation::Put(vp), |own| &own.puts, motion)
    }

    /// Puts bytes as [`put`](Self::put) does, but always straight from their buffer, and sets one
    /// of the process's events when the bytes are there.
    pub fn put_notify(
        &self,
        vp: ProcessId,
        from: ElanAddr,
        to: ElanAddr,
        size: Bytes,
        event: ElanAddr,
    ) -> Remote {
        let motion = Motion::Put {
            vp,
            from,
            to,
            size,
            bytes: None,
            event: Some(event),
        };
        self.start(Operation::Put(vp), |own| &own.puts, Ok(motion))
    }

    /// Puts up to [`SMALL`] bytes that the program has at hand.
    pub(crate) fn put_bytes(&self, vp: ProcessId, bytes: &[u8], to: ElanAddr) -> Remote {
        let motion = Motion::Put {
            vp,
            from: ElanAddr::NOWHERE,
            to,
            size: Bytes::new(bytes.len() as u64),
            bytes: Some(bytes.to_vec()),
            event: None,
        };
        self.start(Operation::Put(vp), |own| &own.puts, Ok(motion))
    }

    /// Gets bytes from a process's memory (`elan_get`).
    pub fn get(&self, vp: ProcessId, from: ElanAddr, to: ElanAddr, size: Bytes) -> Remote {
        let motion = Motion::Get { vp, from, to, size };
        self.start(Operation::Get(vp), |own| &own.gets, Ok(motion))
    }

    /// Puts a message into a process's queue; it counts as a put.
    pub(super) fn put_message(
        &self,
        vp: ProcessId,
        queue: ElanAddr,
        from: ElanAddr,
        size: Bytes,
    ) -> Remote {
        let motion = Motion::Message {
            vp,
            queue,
            from,
            size,
        };
        self.start(Operation::Message(vp), |own| &own.puts, Ok(motion))
    }

    /// Starts an operation that the processor carries out in its turn.
    fn start(
        &self,
        what: Operation,
        kind: impl Fn(&PendingTransfers) -> &Kind + 'static,
        motion: Result<Motion, DmaError>,
    ) -> Remote {
        let end = Rc::new(End::default());
        kind(self.under_way()).begin();
        let (elan, turn, over) = (self.clone(), self.cpu().turn(), Rc::clone(&end));
        self.node().serve("remote DMA", async move {
            let result = elan.carry_out(turn, motion).await;
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
        motion: Result<Motion, DmaError>,
    ) -> Result<(), DmaError> {
        let (node, slots) = (self.node(), &self.under_way().slots);
        turn.work(node, node.config().host.call).await;
        let slot = slots.take().await;
        let result = match motion {
            Ok(motion) => self.make(turn, motion, slot).await,
            Err(error) => Err(error),
        };
        slots.give_back(slot);
        result
    }

    /// Carries out a transfer; up to [`SMALL`] bytes at hand may use a slot in adapter memory.
    async fn make(&self, turn: Turn, motion: Motion, slot: ElanAddr) -> Result<(), DmaError> {
        let Some(detours) = self.detours() else {
            let dma = self.descriptor(&motion, slot);
            let posted = dma.map_or_else(Transfer::failed, |dma| self.node().dma(dma));
            drop(turn);
            return posted.await;
        };
        if let Some(far) = self.far(detours, &motion) {
            return self.make_far(detours, turn, far).await;
        }
        if let Motion::Message { vp, queue, .. } = motion {
            let line = &self.under_way().messages;
            let message = line.join(vp, queue);
            let result = self.make_message(detours, turn, motion, &message).await;
            line.leave(&message);
            return result;
        }
        let mut dma = self.descriptor(&motion, slot);
        if matches!(motion, Motion::Put { .. }) {
            dma = dma.map(Dma::stored);
        }
        let posted = dma.map_or_else(Transfer::failed, |dma| self.node().dma(dma));
        drop(turn);
        match posted.await {
            Err(error) if error.is_rail_down() => self.detour(detours, motion).await,
            result => result,
        }
    }

    /// Sends a message to a queue behind the process's earlier messages to this queue.
    async fn make_message(
        &self,
        detours: &Detours,
        turn: Turn,
        motion: Motion,
        message: &Rc<QueuedMessage>,
    ) -> Result<(), DmaError> {
        let (line, node) = (&self.under_way().messages, self.node());
        let turn = if line.may_be_posted(message, node) {
            Some(turn)
        } else {
            // The process may have to empty the queue meanwhile.
            drop(turn);
            line.is_first(message).await;
            None
        };
        let dma = self.descriptor(&motion, ElanAddr::NOWHERE);
        let posted = dma.map_or_else(Transfer::failed, |dma| node.dma(dma));
        message.is_posted(node);
        drop(turn);
        match posted.await {
            Err(error) if error.is_rail_down() => {
                message.takes_detour();
                line.is_first(message).await;
                self.detour(detours, motion).await
            }
            result => result,
        }
    }

    /// The descriptor for a transfer over the home rail. Bytes at hand are stored in a slot.
    fn descriptor(&self, motion: &Motion, slot: ElanAddr) -> Result<Dma, DmaError> {
        let (node, elan3) = (self.node(), self.elan3());
        match *motion {
            Motion::Put {
                vp,
                from,
                to,
                size,
                ref bytes,
                event,
            } => {
                let from = if let Some(bytes) = bytes {
                    elan3.store(slot, bytes)?;
                    node.store_across(size);
                    slot
                } else {
                    from
                };
                match event {
                    Some(event) => elan3.notifying(vp, from, to, size, event),
                    None => elan3.descriptor(vp, from, to, size),
                }
            }
            Motion::Get { vp, from, to, size } => {
                Ok(Dma::new(elan3.address(vp, from)?, node.at(to), size))
            }
            Motion::Message {
                vp,
                queue,
                from,
                size,
            } => Ok(Dma::queue(node.at(from), elan3.address(vp, queue)?, size)),
        }
    }

    /// Moves over another rail a transfer that could only take the home rail, which has failed.
    async fn detour(&self, detours: &Detours, motion: Motion) -> Result<(), DmaError> {
        match motion {
            Motion::Put {
                vp,
                from,
                to,
                size,
                bytes,
                event,
            } => {
                let bytes = match bytes {
                    Some(bytes) => bytes.into(),
                    None if size.is_zero() => Box::default(),
                    None => self.elan3().load(from, size)?,
                };
                detours.deliver(vp, to, bytes, event).await
            }
            Motion::Get { vp, from, to, size } => {
                let bytes = detours.fetch(vp, from, size, None).await?;
                Ok(self.node().deliver(to, &bytes, None)?)
            }
            Motion::Message {
                vp,
                queue,
                from,
                size,
            } => {
                let message = self.elan3().load(from, size)?;
                detours.queue(vp, queue, message).await
            }
        }
    }

    /// The transfer from main memory to main memory, if it can take any rail.
    fn far(&self, detours: &Detours, motion: &Motion) -> Option<StripedTransfer> {
        let here = self.node();
        let (put, vp, from, to, size, bytes) = match motion {
            Motion::Put { event: Some(_), .. } | Motion::Message { .. } => return None,
            Motion::Put {
                vp,
                from,
                to,
                size,
                bytes,
                ..
            } => (true, *vp, *from, *to, *size, bytes.clone()),
            Motion::Get { vp, from, to, size } => (false, *vp, *from, *to, *size, None),
        };
        let there = detours.home(vp).ok()?;
        let (own, other) = if put { (from, to) } else { (to, from) };
        let near = bytes.is_none() && !in_main(here, own, size);
        if near || !in_main(&there, other, size) || size.is_zero() {
            return None;
        }
        let [here, there] = [here, &there].map(|node| node.rail_and_node().1);
        let ends = if put { (here, there) } else { (there, here) };
        Some(StripedTransfer {
            put,
            vp,
            from,
            to,
            size,
            bytes,
            ends,
        })
    }

    /// Moves bytes between main memories over the rails that the policy picks.
    async fn make_far(
        &self,
        detours: &Detours,
        turn: Turn,
        far: StripedTransfer,
    ) -> Result<(), DmaError> {
        let rails = detours.rails();
        let (from_node, to_node) = far.ends;
        let mut poster = Poster {
            node: self.node().clone(),
            cpu: self.cpu().clone(),
            turn: Some(turn),
            paid: true,
        };
        let start = |rail, (offset, length): Part| {
            let (here, there) = (rails.place(rail), detours.place(far.vp, rail));
            let (from, to) = (far.from.offset(offset), far.to.offset(offset));
            here.dma(if far.put {
                Dma::new(here.at(from), there.at(to), length).stored()
            } else {
                Dma::new(there.at(from), here.at(to), length)
            })
        };
        if far.size > SMALL {
            let pick = |size| {
                rails.pick(RailRequest {
                    from: from_node,
                    to: to_node,
                    size,
                    free: None,
                })
            };
            let start = |rail, part| vec![start(rail, part)];
            return carry(rails, far.size, poster, pick, start).await;
        }
        loop {
            poster.call().await;
            let rail = rails.pick_one(from_node, to_node)?;
            let sent = if let Some(bytes) = &far.bytes {
                let (own, slots) = (&rails.mailbox(rail).own, rails.slots(rail));
                let slot = slots.take().await;
                own.store(own.at(slot), bytes)?;
                own.store_across(far.size);
                let to = detours.place(far.vp, rail).at(far.to);
                let sent = own.dma(Dma::new(own.at(slot), to, far.size).stored());
                poster.turn = None;
                let sent = sent.await;
                slots.give_back(slot);
                sent
            } else {
                let sent = start(rail, (Bytes::ZERO, far.size));
                poster.turn = None;
                sent.await
            };
            match sent {
                Err(error) if error.is_rail_down() => {}
                result => return result,
            }
        }
    }

    /// Gets a word from either memory of a process.
    pub(crate) async fn get_word(&self, vp: ProcessId, from: ElanAddr) -> Result<u64, DmaError> {
        let (node, slots) = (self.node(), &self.under_way().slots);
        let turn = self.cpu().turn();
        turn.work(node, node.config().host.call).await;
        if let Some(detours) = self.detours() {
            return self.get_word_far(detours, turn, vp, from).await;
        }
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

    /// Gets a word over one of several rails: over any from main memory, over the home rail from
    /// adapter memory.
    async fn get_word_far(
        &self,
        detours: &Detours,
        turn: Turn,
        vp: ProcessId,
        from: ElanAddr,
    ) -> Result<u64, DmaError> {
        let (rails, there) = (detours.rails(), detours.home(vp)?);
        let main = in_main(&there, from, WORD);
        let [here, other] = [self.node(), &there].map(|node| node.rail_and_node().1);
        let mut turn = Some(turn);
        loop {
            let home = elan::Rail::new(0);
            let rail = if main {
                rails.pick_one(other, here)?
            } else {
                home
            };
            let own = &rails.mailbox(rail).own;
            let slot = rails.slots(rail).take().await;
            let get = Dma::new(detours.place(vp, rail).at(from), own.at(slot), WORD);
            let get = own.dma(get);
            turn.take();
            let what = words(move |f| write!(f, "a word of process {vp}"));
            let got = match self.see(what, get).await {
                Ok(()) => {
                    own.cross_to_main(WORD).await;
                    let word = own.load(own.at(slot), WORD);
                    word.map(|word| word_of(&word)).map_err(DmaError::from)
                }
                Err(error) => Err(error),
            };
            rails.slots(rail).give_back(slot);
            match got {
                Err(error) if error.is_rail_down() && main => {}
                Err(error) if error.is_rail_down() => {
                    return Ok(word_of(&detours.fetch(vp, from, WORD, None).await?));
                }
                got => return got,
            }
        }
    }

    /// Waits until an operation is over (`elan_wait`).
    ///
    /// # Errors
    /// If the operation failed: an adapter refused an access at one end, or there is no such
    /// process.
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
