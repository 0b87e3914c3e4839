//! # Detours: how the libraries reach adapter memory behind a dead rail
//!
//! On a machine with several rails, adapter memory belongs to one adapter and is reached over that
//! adapter's rail: events, queues, envelopes, atomics' words, buffers in adapter memory. When a DMA
//! or packet for such memory has failed with its rail, it takes a *detour* over any rail that
//! works. So all messages that the libraries send arrive as long as one rail works.
//!
//! Each process has a *mailbox* at every rail's adapter: a queue, and a resident thread that
//! empties the queue. The sender's host stores the DMA's bytes in the other adapter's slots, a
//! packet at a time, and each packet goes into the other process's mailbox. The thread there takes
//! `tport.handle` cycles for a packet, and moves its bytes across its adapter's bus. With the last
//! packet, a word crosses the bus of the adapter that the message is for; the message takes its
//! effect there, once; and the thread notifies the sender in the same way, which also brings a
//! get's bytes or an atomic's word. Only then is the detour over. So a message that took a detour
//! comes before all that its sender sends after its end, over any rail.
//!
//! An adapter's memory lies in its host's address space, so a thread on the node's other adapter
//! reaches it across both buses; an atomic's word is assumed to be changed in one step. All this is
//! assumed, with its costs; nothing is published about it.
//!
//! *Exactly once.* A packet that a rail loses goes again over another rail. Its sender knows that
//! it is not in the mailbox; or if it may be there, since cables or adapters have failed besides
//! whole rails, the message's number identifies a repetition. A sender that cannot be notified is
//! assumed to know. If the network has failed between the two processes on all rails that the
//! sender can use, the message is withdrawn and fails with the network's error. When no rail works,
//! a detour that has not been carried out is withdrawn and fails ([`DmaError::NoRail`]), and one
//! that has been carried out has succeeded: the sender is assumed to know. Calls that cannot report
//! an error to all processes, such as collective calls, wait until a rail works again
//! ([`Detours::patiently`]).

use super::Elan;
use super::post::{Errand, Mailbox, Parcel, Stage};
use super::rails::Rails;
use elan::transaction::WORD;
use elan::{
    Answer, Dma, DmaError, ElanAddr, Loss, MemoryError, Node, ProcessId, Rail, Thread, Transaction,
};
use kernel::{Signal, Wait};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use typed_index_collections::TiVec;
use units::Bytes;

/// Bytes in a detour's packet besides the message's: as many as an envelope has. Assumed.
const HEADER: Bytes = elan::config::ENVELOPE;

/// The contents of a detour's packet.
#[derive(Clone, Copy)]
struct Mail {
    number: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Bytes of a message; more follow.
    Part,
    /// A message's last bytes.
    Last,
    /// Bytes for a message's sender; more follow.
    Reply,
    /// The last bytes for a message's sender; the message has been carried out.
    Done,
}

const KINDS: [Kind; 4] = [Kind::Part, Kind::Last, Kind::Reply, Kind::Done];

impl Mail {
    /// A packet with so many message bytes. The bytes themselves are with the message ([`Parcel`]).
    fn encode(self, length: Bytes) -> Vec<u8> {
        let kind = KINDS.iter().position(|&kind| kind == self.kind);
        let kind = kind.expect("it is in the list") as u64;
        let mut bytes = vec![0; (HEADER + length).as_u64() as usize];
        bytes[..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..16].copy_from_slice(&kind.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        let word = |at: usize| elan::transaction::word_of(&bytes[at..at + 8]);
        Mail {
            number: word(0),
            kind: KINDS[word(8) as usize],
        }
    }
}

/// The processes of a job, each with its node's rails.
pub(super) type Ends = Rc<TiVec<ProcessId, (Node, Option<Rc<Rails>>)>>;

/// A process's detours. Clones share the process.
#[derive(Clone)]
pub(crate) struct Detours {
    ends: Ends,
    vp: ProcessId,
}

impl Detours {
    /// A process's detours, if its machine has several rails.
    pub fn new(ends: &Ends, vp: ProcessId) -> Option<Self> {
        let ends = Rc::clone(ends);
        ends[vp].1.is_some().then_some(Detours { ends, vp })
    }

    fn rails_of(&self, vp: ProcessId) -> &Rails {
        let rails = self.ends[vp].1.as_ref();
        rails.expect("all processes have them")
    }

    pub fn rails(&self) -> &Rails {
        self.rails_of(self.vp)
    }

    /// A process's place at a rail's adapter.
    pub fn place(&self, vp: ProcessId, rail: Rail) -> &Node {
        self.rails_of(vp).place(rail)
    }

    /// Whether a rail works, and its routing tables have a way to a process and back.
    pub fn leads(&self, vp: ProcessId, rail: Rail) -> bool {
        let own = self.rails().place(rail);
        let (here, there) = (own.place(), self.place(vp, rail).place());
        let both = || own.way(here, there).and_then(|()| own.way(there, here));
        self.rails().is_up(rail) && (here == there || both().is_ok())
    }

    /// A process where its adapter memory lies.
    pub fn home(&self, vp: ProcessId) -> Result<Node, DmaError> {
        let end = self.ends.get(vp);
        let (node, _) = end.ok_or(DmaError::NoProcess { process: vp })?;
        Ok(node.clone())
    }

    /// Waits until a rail works.
    pub async fn some_rail(&self) {
        let rails = self.rails();
        let waits = rails.all().map(|rail| rails.place(rail).up().wait());
        any(waits.collect()).await;
    }

    /// Whether any rail works.
    ///
    /// # Errors
    /// The error of a message to a process.
    pub fn works(&self, to: ProcessId) -> Result<(), DmaError> {
        let rails = self.rails();
        let works = rails.all().any(|rail| rails.is_up(rail));
        works.then_some(()).ok_or_else(|| self.no_rail(to))
    }

    /// The error of a message for which no rail works.
    pub fn no_rail(&self, to: ProcessId) -> DmaError {
        let node = |vp: ProcessId| self.ends[vp].0.rail_and_node().1;
        DmaError::NoRail {
            from: node(self.vp),
            to: node(to),
        }
    }

    /// Tries again whenever a rail works, as long as an attempt fails because no rail does. An
    /// attempt may take any rail: one that insists on a dead rail would fail again at the same
    /// moment, without end.
    pub async fn patiently<T>(
        &self,
        mut attempt: impl AsyncFnMut() -> Result<T, DmaError>,
    ) -> Result<T, DmaError> {
        loop {
            match attempt().await {
                Err(DmaError::NoRail { .. }) => self.some_rail().await,
                result => return result,
            }
        }
    }

    /// Brings a message to a process and has it carried out there; `there` bytes travel to the
    /// process, and `back` from it.
    async fn carry(
        &self,
        to: ProcessId,
        [there, back]: [Bytes; 2],
        errand: Errand,
    ) -> Result<(), DmaError> {
        let (post, told) = (&self.rails().post, Signal::new());
        let number = post.sent.get();
        post.sent.set(number + 1);
        let parcel = Parcel {
            from: self.vp,
            errand: Some(errand),
            back,
            result: None,
            told: told.clone(),
        };
        post.parcels.borrow_mut().insert(number, parcel);
        let kinds = [Kind::Part, Kind::Last];
        let sent = self.send(to, number, kinds, there).await;
        if sent.is_ok() {
            let rails = self.rails();
            while !told.is_set() && rails.all().any(|rail| rails.is_up(rail)) {
                let up = rails.all().filter(|&rail| rails.is_up(rail));
                let waits = up.map(|rail| rails.place(rail).down().wait());
                any(waits.chain([told.wait()]).collect()).await;
            }
        }
        let parcel = post.parcels.borrow_mut().remove(&number);
        let parcel = parcel.expect("only its sender takes it away");
        let withdrawn = || sent.and(Err(self.no_rail(to)));
        parcel.result.unwrap_or_else(withdrawn)
    }

    /// Sends so many bytes to a process's mailbox.
    ///
    /// # Errors
    /// If they have not come there; as for [`send_packet`](Self::send_packet).
    async fn send(
        &self,
        to: ProcessId,
        number: u64,
        kinds: [Kind; 2],
        length: Bytes,
    ) -> Result<(), DmaError> {
        let piece = self.ends[self.vp].0.config().packet.payload - HEADER;
        let mut left = length;
        loop {
            let part = left.min(piece);
            left -= part;
            let kind = kinds[usize::from(left.is_zero())];
            let packet = Mail { number, kind }.encode(part);
            self.send_packet(to, &packet).await?;
            if left.is_zero() {
                return Ok(());
            }
        }
    }

    /// Sends a packet over the first rail that works.
    ///
    /// # Errors
    /// If no rail works; or the network's error, if it has failed between the two processes on all
    /// other rails.
    async fn send_packet(&self, to: ProcessId, packet: &[u8]) -> Result<(), DmaError> {
        let (rails, length) = (self.rails(), Bytes::new(packet.len() as u64));
        let (mut failed, mut lost) = (Vec::new(), self.no_rail(to));
        let next = |failed: &[Rail]| {
            let mut up = rails.all().filter(|&rail| rails.is_up(rail));
            up.find(|rail| !failed.contains(rail))
        };
        while let Some(rail) = next(&failed) {
            let Mailbox { own, slots, .. } = rails.mailbox(rail);
            let slot = slots.take().await;
            let stored = own.store(own.at(slot), packet);
            stored.expect("the slot is the library's");
            own.store_across(length);
            let queue = self.rails_of(to).mailbox(rail).queue.start();
            let sent = own.dma(Dma::queue(own.at(slot), queue, length)).await;
            slots.give_back(slot);
            match sent {
                Ok(()) => return Ok(()),
                Err(error) if error.is_rail_down() => {}
                Err(DmaError::Network(loss)) => {
                    failed.push(rail);
                    // If it should still have come, its message is known or withdrawn.
                    let unsure = false;
                    lost = Loss { unsure, ..loss }.into();
                }
                Err(_) => {
                    // The adapter's queue is full.
                    let config = own.config();
                    own.sleep(config.adapter.retry_delay.max(config.cycle))
                        .await;
                }
            }
        }
        Err(lost)
    }

    /// Has an arrived message carried out, and notifies its sender.
    async fn carry_out(&self, number: u64) {
        let (node, _) = &self.ends[self.vp];
        loop {
            match self.rails().post.carry_out(number) {
                Stage::Withdrawn | Stage::Repeated => return,
                Stage::Waits => {
                    let config = node.config();
                    node.sleep(config.adapter.retry_delay.max(config.cycle))
                        .await;
                }
                Stage::Done(from, back) => {
                    let kinds = [Kind::Reply, Kind::Done];
                    let told = self.send(from, number, kinds, back).await;
                    if told.is_err() {
                        // If it cannot be notified, the sender is assumed to know.
                        self.tell_end(number);
                    }
                    return;
                }
            }
        }
    }

    /// A message's sender knows that the message has been carried out.
    fn tell_end(&self, number: u64) {
        if let Some(parcel) = self.rails().post.parcels.borrow().get(&number) {
            parcel.told.fire();
        }
    }

    /// Empties a rail's mailbox.
    async fn relay(&self, rail: Rail, thread: Thread) {
        let Mailbox { own, queue, .. } = self.rails().mailbox(rail);
        let (node, _) = &self.ends[self.vp];
        loop {
            let packet = thread.receive(*queue).await;
            thread.step(node.config().tport.handle.into()).await;
            let length = Bytes::new(packet.len() as u64);
            thread.until(own.cross_to_main(length)).await;
            let Mail { number, kind } = Mail::decode(&packet);
            match kind {
                Kind::Part | Kind::Reply => {}
                Kind::Last => {
                    thread.until(node.cross_to_adapter(WORD)).await;
                    let detours = self.clone();
                    let carry_out = async move { detours.carry_out(number).await };
                    // It is the thread's work: the asker gets its answer also if the host has
                    // stopped.
                    node.serve_on_adapter("detour", carry_out);
                }
                Kind::Done => self.tell_end(number),
            }
        }
    }

    /// Stores bytes in a process's memory, and lets one of the process's events occur.
    pub async fn deliver(
        &self,
        vp: ProcessId,
        to: ElanAddr,
        bytes: Box<[u8]>,
        event: Option<ElanAddr>,
    ) -> Result<(), DmaError> {
        let (home, length) = (self.home(vp)?, Bytes::new(bytes.len() as u64));
        let errand = move || Some(home.deliver(to, &bytes, event).map_err(DmaError::from));
        self.carry(vp, [length, Bytes::ZERO], Box::new(errand))
            .await
    }

    /// Lets a process's event occur.
    pub async fn set(&self, vp: ProcessId, event: ElanAddr) -> Result<(), DmaError> {
        let nowhere = ElanAddr::NOWHERE;
        self.deliver(vp, nowhere, Box::default(), Some(event)).await
    }

    /// Gets bytes from a process's memory, perhaps unless a word there marks them as withdrawn
    /// ([`Dma::unless_withdrawn`]).
    pub async fn fetch(
        &self,
        vp: ProcessId,
        from: ElanAddr,
        length: Bytes,
        withdrawn: Option<ElanAddr>,
    ) -> Result<Box<[u8]>, DmaError> {
        let (home, found) = (self.home(vp)?, Rc::new(RefCell::new(Box::default())));
        let bytes = Rc::clone(&found);
        let errand = move || {
            let read = home.surrender(from, length, withdrawn);
            let read = read.map(|read| drop(bytes.replace(read)));
            Some(read.map_err(DmaError::from))
        };
        self.carry(vp, [Bytes::ZERO, length], Box::new(errand))
            .await?;
        Ok(found.take())
    }

    /// Puts a message into a process's queue at an address.
    pub async fn queue(
        &self,
        vp: ProcessId,
        queue: ElanAddr,
        message: Box<[u8]>,
    ) -> Result<(), DmaError> {
        let (home, length) = (self.home(vp)?, Bytes::new(message.len() as u64));
        let errand = move || Some(home.take_in(queue, &message)?.map_err(DmaError::from));
        self.carry(vp, [length, Bytes::ZERO], Box::new(errand))
            .await
    }

    /// Executes transactions in a process's adapter memory.
    pub async fn execute(
        &self,
        vp: ProcessId,
        transactions: Vec<Transaction>,
    ) -> Result<Answer, DmaError> {
        let (home, found) = (self.home(vp)?, Rc::new(Cell::new(None)));
        let length = transactions.iter().map(|one| one.data()).sum();
        let answer = Rc::clone(&found);
        let errand = move || {
            let executed = home.execute(&transactions)?;
            Some(
                executed
                    .map(|found| answer.set(Some(found)))
                    .map_err(DmaError::from),
            )
        };
        self.carry(vp, [length, WORD], Box::new(errand)).await?;
        Ok(found.get().expect("it was executed"))
    }

    /// Brings so many bytes to a process, and notes there that they have come: a message between
    /// Tports, or a team that has come to a hardware barrier ([`super::hardware`]).
    pub async fn note(
        &self,
        vp: ProcessId,
        length: Bytes,
        mut note: impl FnMut() + 'static,
    ) -> Result<(), DmaError> {
        let errand = move || {
            note();
            Some(Ok(()))
        };
        self.carry(vp, [length, Bytes::ZERO], Box::new(errand))
            .await
    }
}

/// Starts the threads for a process's mailboxes.
pub(super) fn serve(elan: &Elan) -> Result<(), MemoryError> {
    let Some(detours) = elan.detours() else {
        return Ok(());
    };
    for rail in detours.rails().all() {
        let label = format!("detours of {} on rail {rail}", elan.label().text());
        let (relay, own) = (detours.clone(), &detours.rails().mailbox(rail).own);
        own.run_resident(label, async move |thread| relay.relay(rail, thread).await)?;
    }
    Ok(())
}

/// Waits for any of several signals.
pub(super) async fn any(mut waits: Vec<Wait>) {
    poll_fn(|context| {
        let mut ready = false;
        for wait in &mut waits {
            ready |= Pin::new(wait).poll(context).is_ready();
        }
        if ready {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
