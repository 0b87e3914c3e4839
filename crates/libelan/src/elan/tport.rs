//! # Tports: tagged messages (petrini2003 s3.2)
//!
//! A sender labels each message with an *envelope*: a sender's number, a tag and the size. A
//! receiver selects messages by masks, and optionally by the sending process ([`Select`]). Messages
//! from one process to another are received in the order in which they were sent. A thread on the
//! *receiver*'s adapter matches envelopes, without the host (petrini2003 s5.1: MPI "needs to run a
//! thread in the Elan ... to match the message tags").
//!
//! | call | here |
//! |---|---|
//! | `elan_tportTxStart`, `TxWait`, `TxDone` | [`Tport::tx_start`], [`Tport::tx_wait`], [`Tx::is_done`] |
//! | `ELAN_TPORT_TXSYNC` | [`Mode::Synchronous`] |
//! | `elan_tportRxStart`, `RxWait`, `RxDone` | [`Tport::rx_start`], [`Tport::rx_wait`], [`Rx::is_done`] |
//! | `ELAN_TPORT_RXBUF`, `RXPROBE`, `RXANY` | [`Room::System`], [`Room::Probe`], [`Select::ANY`] |
//! | - | [`Tport::peek`], [`Tport::rx_cancel`] |
//! | `elan_tportBufFree`, `elan_tportGetStats` | [`Tport::buf_free`], [`Tport::stats`] |
//!
//! The tag has 64 bits, where the original library's tag has 32: a real MPI on Tports puts its
//! communicator's context, its tag and protocol bits side by side. The envelope keeps its length,
//! since sizes and addresses have 32 bits.
//!
//! ## A message's way
//!
//! | length | first packet | the rest | the send ends |
//! |---|---|---|---|
//! | *small*, up to `tport.small` | envelope and bytes, one packet into the receiver's queue | | when acknowledged |
//! | *longer* | the envelope | once matched, the receiver's thread *gets* the bytes from the sender's buffer | when the bytes are there |
//! | *longer*, up to `tport.big`, unexpected | the envelope | got immediately into a system buffer | when the bytes are there |
//! | synchronous, small | as small | | when matched |
//!
//! The sender's host stores envelope and small bytes in its adapter, word by word, and posts a
//! queue DMA; the host does not touch longer messages' bytes. The receiver's thread takes each
//! envelope up (`tport.handle`), compares it with the posted receives in posting order
//! (`tport.scan` each), stores small bytes at their place, across the bus if that is main memory,
//! and sets the receive's event. A receive is posted by a descriptor (`host::POST` bytes) and a
//! command; the thread compares it with the unexpected messages in order of arrival.
//!
//! No paper describes the thread's search. A list is assumed: adapters with a processor walk a
//! posted receive list for each message (K. S. Hemmert, A. Rodrigues, K. D. Underwood,
//! "Accelerating list management for MPI", 2005). Messages that match far back in a queue of n
//! receives take the thread n scans each. The simulator's host finds them by an index (module
//! `line`).
//!
//! Two further host orders go the way of a posted receive, at its cost. A *peek* is a probe that
//! ends empty if no message that it takes has come when the thread compares it. To *cancel* a
//! receive is a call, a command, and the thread's `tport.handle`; the thread takes the receive off
//! unless a message has been found for it.
//!
//! On an Elan4 envelope and small bytes are a command to the short transaction engine
//! ([`elan::adapter::sten`]), and so are the messages between threads. A small send ends as soon as
//! its bytes have left the host. (Group signals go the same way.)
//!
//! `tport.matching = "host"` gives all this work to the processes' hosts (module `hands`).
//!
//! On a machine with several rails longer messages' bytes take the rails that the policy picks
//! ([`crate::elan::rails`]).
//!
//! ## Bounds
//!
//! A sender's unexpected small messages at a receiver are bounded: by `tport.buffer`, in packets,
//! divided by the job's processes, but at least 1 and at most `tport.slots`. The receiver's thread
//! returns half this credit at a time. A message beyond the bound goes as a longer one: its bytes
//! are *held* at the sender until the message is matched. Longer messages are buffered while
//! `tport.system` has room. A full queue discards messages, and the sender's adapter tries again.
//! No message is lost, and no message keeps another one from being matched.
//!
//! ## Where machine parts fail
//!
//! Packets take effect once, or their senders get an error ([`elan::adapter::recovery`]); an error
//! from a send or a receive names the process at the other end. When the routing tables learn that
//! no way is left between two processes, or no adapter at the node works, sends that wait for the
//! other process fail, and so do receives that want messages from that process only. A receive from
//! any process fails when no other process is in reach. A message that was sent with success
//! arrives, even after a long time; a message that was sent with an error is withdrawn (module
//! `send`). The threads' messages to each other go again in the same way.
//!
//! ## On one node
//!
//! Processes on one node exchange messages through shared memory (petrini2003 s3.2): the sender
//! copies bytes up to `tport.big` in (`host.copy`); the receiver sees the bytes after `host.shared`
//! and copies them out. The receiver copies longer messages, and messages beyond the same bound,
//! from the sender's buffer. A receiver copies when a receive is matched and the process does not
//! compute. A receive takes the first matching message that comes, through the network or through
//! shared memory; the thread and the host agree on this at no cost, which is a simplification.

mod cut_off;
mod detour;
mod hands;
pub(super) mod host;
mod line;
mod local;
mod long;
mod message;
mod pending;
pub(super) mod port;
mod receive;
mod send;
mod thread;
mod unexpected;
mod wire;

pub use message::{Mode, Received, Room, Select, Stats, TportError};

use crate::elan::{Elan, words};
use crate::elan3::AllocError;
use elan::{ElanAddr, ProcessId};
use port::{Port, Sending};
use receive::Receive;
use std::rc::Rc;
use units::{Bytes, Time};

/// A send that was started (`ELAN_EVENT`).
#[must_use = "nobody knows whether it fails until it is waited for"]
pub struct Tx {
    to: ProcessId,
    tag: u64,
    sending: Rc<Sending>,
}

impl Tx {
    /// Whether the send has ended (`elan_tportTxDone`).
    pub fn is_done(&self) -> bool {
        self.sending.done.is_set()
    }

    /// Waits until the send has ended, and returns when. The process does not see it, unlike in
    /// [`Tport::tx_wait`].
    pub async fn ended(&self) -> Time {
        self.sending.done.wait().await;
        self.sending.ended.get().expect("it has ended")
    }
}

/// A receive that was started (`ELAN_EVENT`).
#[must_use = "the message is not there until it is waited for"]
pub struct Rx {
    receive: Rc<Receive>,
}

impl Rx {
    /// Whether the receive has ended (`elan_tportRxDone`).
    pub fn is_done(&self) -> bool {
        self.receive.done.is_set()
    }

    /// Waits until the receive has ended, and returns when. The process does not see it, unlike in
    /// [`Tport::rx_wait`].
    pub async fn ended(&self) -> Time {
        self.receive.done.wait().await;
        self.receive.ended.get().expect("it has ended")
    }
}

/// A process's Tport (`ELAN_TPORT`). Clones stand for the same Tport.
#[derive(Clone)]
pub struct Tport {
    pub(crate) elan: Elan,
}

impl Elan {
    /// The process's Tport.
    pub fn tport(&self) -> Tport {
        Tport { elan: self.clone() }
    }
}

impl Tport {
    fn port(&self) -> &Rc<Port> {
        self.elan.port()
    }

    /// Starts to send `size` bytes to a process (`elan_tportTxStart`), as `sender`. The bytes'
    /// buffer must not change until the send ends.
    pub fn tx_start(
        &self,
        mode: Mode,
        to: ProcessId,
        (sender, tag): (u32, u64),
        from: ElanAddr,
        size: Bytes,
    ) -> Tx {
        let sending = host::send(&self.elan, mode, to, (sender, tag), from, size);
        Tx { to, tag, sending }
    }

    /// Waits until a send ends (`elan_tportTxWait`).
    ///
    /// # Errors
    /// If it fails.
    pub async fn tx_wait(&self, tx: Tx) -> Result<(), TportError> {
        let (tag, to) = (tx.tag, tx.to);
        let what = words(move |f| write!(f, "its send of tag {tag} to process {to}"));
        self.elan.see(what, tx.sending.done.wait()).await;
        tx.sending.result.get().expect("it has ended")
    }

    /// Starts to receive (`elan_tportRxStart`).
    pub fn rx_start(&self, select: Select, room: Room) -> Rx {
        let receive = host::receive(&self.elan, select, room);
        Rx { receive }
    }

    /// Waits until a receive ends (`elan_tportRxWait`).
    ///
    /// # Errors
    /// If the message is longer than its buffer, or a buffer faults; if the receive was cancelled,
    /// or is a peek that has found no message.
    pub fn rx_wait(&self, rx: Rx) -> impl Future<Output = Result<Received, TportError>> {
        let (receive, given) = (rx.receive, self.elan.cpu().given());
        async move {
            let (select, room) = (receive.select, receive.room);
            let what = words(move |f| match room {
                Room::Probe | Room::Peek => write!(f, "{select} to be probed"),
                _ => write!(f, "{select}"),
            });
            self.elan.see(what, receive.done.wait()).await;
            host::finish(&self.elan, &receive, given).await
        }
    }

    /// Looks for a message to receive, and does not wait for one. The peek starts immediately, as
    /// [`rx_start`](Self::rx_start) does, and is over when the thread has looked.
    ///
    /// # Errors
    /// If there is no memory for an event.
    pub fn peek(
        &self,
        select: Select,
    ) -> impl Future<Output = Result<Option<Received>, TportError>> {
        let found = self.rx_wait(self.rx_start(select, Room::Peek));
        async move {
            match found.await {
                Err(TportError::Nothing) => Ok(None),
                found => found.map(Some),
            }
        }
    }

    /// Cancels a receive. If no message has been found for the receive when the thread comes to it,
    /// it ends with [`TportError::Cancelled`]. Otherwise the receive continues, and
    /// [`rx_wait`](Self::rx_wait) returns the message.
    pub fn rx_cancel(&self, rx: &Rx) {
        host::cancel(&self.elan, &rx.receive);
    }

    /// Frees a system buffer (`elan_tportBufFree`).
    ///
    /// # Errors
    /// If no system buffer lies there.
    pub fn buf_free(&self, at: ElanAddr) -> Result<(), AllocError> {
        self.port().buf_free(at)
    }

    /// The Tport's statistics so far (`elan_tportGetStats`).
    pub fn stats(&self) -> Stats {
        self.port().stats()
    }
}
