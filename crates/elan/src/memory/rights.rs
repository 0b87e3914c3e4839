//! Rights to memory: range permissions, process capabilities, and the faults for accesses that lack
//! a right.

use super::Address;
use bitflags::bitflags;
use std::fmt;
use thiserror::Error;
use units::Bytes;

bitflags! {
    /// A set of rights.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Permissions: u8 {
        /// No rights.
        const NONE = 0;
        /// The own adapter may read.
        const LOCAL_READ = 1;
        /// The own adapter's threads may write.
        const LOCAL_WRITE = 2;
        /// Processes with the capability may read.
        const REMOTE_READ = 4;
        /// Processes with the capability may write.
        const REMOTE_WRITE = 8;
        /// Processes with the capability may set events.
        const REMOTE_EVENT = 16;
        /// The own adapter's rights.
        const LOCAL = 1 | 2;
        /// Everything.
        const ALL = 1 | 2 | 4 | 8 | 16;
    }
}

/// The attempted access.
///
/// | access | by | needs |
/// |---|---|---|
/// | read for a put or a queue | the own adapter's DMA engine | [`Permissions::LOCAL_READ`] |
/// | a thread's read, write | the thread processor | [`Permissions::LOCAL_READ`], [`Permissions::LOCAL_WRITE`] |
/// | read for a get | the DMA engine, for a process elsewhere | [`Permissions::REMOTE_READ`] |
/// | a packet's condition | the inputter | [`Permissions::REMOTE_READ`] |
/// | payload, words, queued messages | the inputter, also for a packet from the own node | [`Permissions::REMOTE_WRITE`] |
/// | an event | the inputter | [`Permissions::REMOTE_EVENT`] |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// An access by the process itself, on the host. Its own mapping must have the bytes; the
    /// adapters' permissions do not count.
    Host,
    /// See the table at [`Access`].
    LocalRead,
    /// See the table at [`Access`].
    LocalWrite,
    /// See the table at [`Access`].
    RemoteRead,
    /// See the table at [`Access`].
    RemoteWrite,
    /// See the table at [`Access`].
    RemoteEvent,
}

impl Access {
    pub(crate) fn needs(self) -> Permissions {
        match self {
            Access::Host => Permissions::NONE,
            Access::LocalRead => Permissions::LOCAL_READ,
            Access::LocalWrite => Permissions::LOCAL_WRITE,
            Access::RemoteRead => Permissions::REMOTE_READ,
            Access::RemoteWrite => Permissions::REMOTE_WRITE,
            Access::RemoteEvent => Permissions::REMOTE_EVENT,
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Host => "an access by the process",
            Access::LocalRead => "a local read",
            Access::LocalWrite => "a local write",
            Access::RemoteRead => "a remote read",
            Access::RemoteWrite => "a remote write",
            Access::RemoteEvent => "a remote event",
        })
    }
}

/// Why an access fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Reason {
    /// No process is attached there.
    #[error("no process has this context")]
    NoContext,
    /// The process there belongs to another capability.
    #[error("the process there belongs to another capability")]
    Stranger,
    /// A process or thread has direct access to its own memory only.
    #[error("the address is another process's")]
    Elsewhere,
    /// The bytes do not lie within one mapped range.
    #[error("the bytes do not lie within a mapped range")]
    Unmapped,
    /// The mapping does not permit the access.
    #[error("its permissions forbid it")]
    Forbidden,
    /// Transaction words, events and queues lie in adapter memory.
    #[error("this must lie in adapter memory")]
    NotAdapter,
    /// The adapter's network has failed.
    #[error("the rail is down")]
    Down,
    /// The address holds no event, or no queue.
    #[error("there is no event or queue")]
    Nothing,
    /// The owner of a get's bytes offers them no more
    /// ([`Dma::unless_withdrawn`](crate::Dma::unless_withdrawn)).
    #[error("the process there has withdrawn the bytes")]
    Withdrawn,
    /// The message is longer than the queue's slots.
    #[error("the message is longer than a slot")]
    SlotTooShort,
}

/// An access that an adapter refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{access} of {length} at {address} faults: {reason}")]
pub struct AccessFault {
    /// The access's first byte.
    pub address: Address,
    /// How many bytes.
    pub length: Bytes,
    /// The attempted access.
    pub access: Access,
    /// Why it failed.
    pub reason: Reason,
}

impl AccessFault {
    /// A fault from its parts.
    pub fn new(address: Address, length: Bytes, access: Access, reason: Reason) -> Self {
        AccessFault {
            address,
            length,
            access,
            reason,
        }
    }
}

/// The right to address one job's processes; [`crate::Cluster::capability`] makes new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    number: u32,
    /// The traffic class of all packets from the processes, and of those that answer their gets.
    pub(crate) traffic_class: u8,
    /// The share of links that all packets from the processes count to.
    pub(crate) share: u8,
}

impl Capability {
    /// The capability of the processes in context 0, which need no protection and which
    /// [`crate::Cluster::node`] gives.
    pub const OPEN: Capability = Capability::new(0);

    pub(crate) const fn new(number: u32) -> Self {
        Capability {
            number,
            traffic_class: 0,
            share: 0,
        }
    }

    /// The right to address the same processes for processes with packets in a traffic class, which
    /// the machine must have ([`fabric::Config::traffic_classes`]); the default is 0. All processes
    /// in a job need the same class.
    #[must_use]
    pub fn in_traffic_class(self, traffic_class: u8) -> Self {
        Capability {
            traffic_class,
            ..self
        }
    }

    /// The right to address the same processes for processes with packets that count to a share of
    /// each link ([`crate::Cluster::tally`]); the default is 0.
    #[must_use]
    pub fn of_share(self, share: u8) -> Self {
        Capability { share, ..self }
    }
}
