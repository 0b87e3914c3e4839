//! # MPI on Tports: point to point (petrini2003 s3.2: "very similar to MPI")
//!
//! This module has the part of MPI that the published benchmarks need; whole programs run under a
//! real MPI instead. A rank is a virtual process id, a message's Tport label is its rank and tag,
//! and the costs are the Tports'.
//!
//! ```
//! # use libelan::Pe;
//! # use libelan::mpi::{ANY_SOURCE, ANY_TAG};
//! # use units::{Bytes, Time};
//! async fn program(pe: Pe) {
//!     let (mpi, size) = (pe.mpi(), Bytes::from_kb(1));
//!     let buffer = pe.elan3().alloc_main(64, size).unwrap();
//!     if mpi.rank() == 0 {
//!         let request = mpi.isend(1, 7, buffer, size);
//!         pe.compute(Time::from_us(100)).await;
//!         mpi.wait(request).await.unwrap();
//!     } else if mpi.rank() == 1 {
//!         let status = mpi.recv(ANY_SOURCE, ANY_TAG, buffer, size).await.unwrap();
//!         assert_eq!((status.source, status.tag, status.size), (0, 7, size));
//!     }
//! }
//! ```

pub mod collective;

use crate::elan::tport::{Mode, Received, Room, Rx, Select, Tport, TportError, Tx};
use elan::{ElanAddr, ProcessId};
use units::Bytes;

/// Receives from any rank.
pub const ANY_SOURCE: Option<u32> = None;

/// Receives a message with any tag.
pub const ANY_TAG: Option<u32> = None;

/// One process's MPI, with the job as its world. Clones stand for the same MPI.
#[derive(Clone)]
pub struct Mpi {
    tport: Tport,
}

/// A message that was sent, received or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpiStatus {
    /// The rank that sent the message.
    pub source: u32,
    /// The message's tag.
    pub tag: u32,
    /// The message's length.
    pub size: Bytes,
}

impl From<Received> for MpiStatus {
    /// MPI's own messages have 32-bit tags. Tports can have longer tags; this takes their low bits.
    fn from(received: Received) -> Self {
        MpiStatus {
            source: received.sender,
            tag: received.tag as u32,
            size: received.size,
        }
    }
}

/// A send or receive that was started.
#[must_use = "it is over only when it has been waited for"]
pub enum MpiRequest {
    /// A send, and the status that it will return.
    Send(Tx, MpiStatus),
    /// A receive.
    Receive(Rx),
}

/// A call's result, or its error.
pub type MpiResult<T> = std::result::Result<T, TportError>;

/// A rank's messages, which it sends under its own number.
fn selects(source: Option<u32>, tag: Option<u32>) -> Select {
    Select {
        process: source.map(ProcessId::new),
        ..Select::exactly(source, tag.map(u64::from))
    }
}

impl MpiRequest {
    /// Whether the request has ended. Looking takes no time, and makes no progress.
    pub fn is_done(&self) -> bool {
        match self {
            MpiRequest::Send(tx, _) => tx.is_done(),
            MpiRequest::Receive(rx) => rx.is_done(),
        }
    }
}

impl Mpi {
    pub(crate) fn new(tport: Tport) -> Self {
        Mpi { tport }
    }

    /// This process's rank (`MPI_Comm_rank`).
    pub fn rank(&self) -> u32 {
        self.tport.elan.vp().get()
    }

    /// Ranks in the world (`MPI_Comm_size`).
    pub fn size(&self) -> u32 {
        self.tport.elan.nvps()
    }

    /// Charges a non-blocking call's request cost: the request is made, and freed in the end. This
    /// is the processor's next work. [`isend`](Self::isend) and the like do it themselves; other
    /// such calls on Tports must do it first.
    pub fn request(&self) {
        let elan = &self.tport.elan;
        let time = elan.node().config().host.request;
        if !time.is_zero() {
            let (node, turn) = (elan.node().clone(), elan.cpu().turn());
            let work = async move {
                turn.work(&node, time).await;
            };
            elan.node().serve("request", work);
        }
    }

    fn start_receive(
        &self,
        source: Option<u32>,
        tag: Option<u32>,
        to: ElanAddr,
        room: Bytes,
    ) -> MpiRequest {
        let select = selects(source, tag);
        MpiRequest::Receive(self.tport.rx_start(select, Room::Buffer(to, room)))
    }

    fn start(&self, mode: Mode, to: u32, tag: u32, from: ElanAddr, size: Bytes) -> MpiRequest {
        let (source, to) = (self.rank(), ProcessId::new(to));
        let label = (source, tag.into());
        let tx = self.tport.tx_start(mode, to, label, from, size);
        let status = MpiStatus { source, tag, size };
        MpiRequest::Send(tx, status)
    }

    /// Starts to send (`MPI_Isend`).
    pub fn isend(&self, to: u32, tag: u32, from: ElanAddr, size: Bytes) -> MpiRequest {
        self.request();
        self.start(Mode::Standard, to, tag, from, size)
    }

    /// Starts to send; the send does not end before the message is matched (`MPI_Issend`).
    pub fn issend(&self, to: u32, tag: u32, from: ElanAddr, size: Bytes) -> MpiRequest {
        self.request();
        self.start(Mode::Synchronous, to, tag, from, size)
    }

    /// Sends (`MPI_Send`): returns when the buffer may be used again.
    ///
    /// # Errors
    /// If there is no such rank, or a buffer faults.
    pub async fn send(&self, to: u32, tag: u32, from: ElanAddr, size: Bytes) -> MpiResult<()> {
        let send = self.start(Mode::Standard, to, tag, from, size);
        self.wait(send).await.map(drop)
    }

    /// Sends, and returns when the message is matched (`MPI_Ssend`).
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn ssend(&self, to: u32, tag: u32, from: ElanAddr, size: Bytes) -> MpiResult<()> {
        let send = self.start(Mode::Synchronous, to, tag, from, size);
        self.wait(send).await.map(drop)
    }

    /// Starts to receive (`MPI_Irecv`) from a rank or [`ANY_SOURCE`], a tag or [`ANY_TAG`].
    pub fn irecv(
        &self,
        source: impl Into<Option<u32>>,
        tag: impl Into<Option<u32>>,
        to: ElanAddr,
        room: Bytes,
    ) -> MpiRequest {
        self.request();
        self.start_receive(source.into(), tag.into(), to, room)
    }

    /// Receives (`MPI_Recv`).
    ///
    /// # Errors
    /// If the message is longer than the room, or a buffer faults.
    pub async fn recv(
        &self,
        source: impl Into<Option<u32>>,
        tag: impl Into<Option<u32>>,
        to: ElanAddr,
        room: Bytes,
    ) -> MpiResult<MpiStatus> {
        let receive = self.start_receive(source.into(), tag.into(), to, room);
        self.wait(receive).await
    }

    /// Waits for a send's or receive's end (`MPI_Wait`).
    ///
    /// # Errors
    /// If the send or receive failed.
    pub async fn wait(&self, request: MpiRequest) -> MpiResult<MpiStatus> {
        match request {
            MpiRequest::Send(tx, status) => self.tport.tx_wait(tx).await.map(|()| status),
            MpiRequest::Receive(rx) => self.tport.rx_wait(rx).await.map(MpiStatus::from),
        }
    }

    /// Waits for the end of several requests (`MPI_Waitall`).
    ///
    /// # Errors
    /// The first error, once all requests have ended.
    pub async fn waitall(
        &self,
        requests: impl IntoIterator<Item = MpiRequest>,
    ) -> MpiResult<Vec<MpiStatus>> {
        let mut ends = Vec::new();
        for request in requests {
            ends.push(self.wait(request).await);
        }
        ends.into_iter().collect()
    }

    /// Sends and receives at the same time (`MPI_Sendrecv`): each end names the other rank, the
    /// tag, and the buffer.
    ///
    /// # Errors
    /// The errors of the send and the receive; the receive's first.
    pub async fn sendrecv(
        &self,
        (to, send_tag, from, size): (u32, u32, ElanAddr, Bytes),
        (source, recv_tag, at, room): (Option<u32>, Option<u32>, ElanAddr, Bytes),
    ) -> MpiResult<MpiStatus> {
        let receive = self.start_receive(source, recv_tag, at, room);
        let send = self.start(Mode::Standard, to, send_tag, from, size);
        let sent = self.wait(send).await;
        let status = self.wait(receive).await?;
        sent.map(|_| status)
    }

    /// Waits until there is a message to receive (`MPI_Probe`). A receive with the same selection
    /// gets this message, or an earlier one.
    ///
    /// # Errors
    /// If there is no memory for an event.
    pub async fn probe(
        &self,
        source: impl Into<Option<u32>>,
        tag: impl Into<Option<u32>>,
    ) -> MpiResult<MpiStatus> {
        let select = selects(source.into(), tag.into());
        let probe = self.tport.rx_start(select, Room::Probe);
        self.tport.rx_wait(probe).await.map(MpiStatus::from)
    }
}
