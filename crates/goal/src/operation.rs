//! An operation in a schedule.

use std::fmt;

/// The peer or tag of a receive that takes any; in text, -1.
pub const ANY: u32 = u32::MAX;

/// An operation's kind. Operations that become free to start at the same time begin in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It sends a message.
    Send,
    /// It receives a message.
    Recv,
    /// It looks for a message, and waits if there is no message yet (`MPI_Probe`). The message
    /// stays.
    Probe,
    /// It looks for a message again and again until there is one (a loop around `MPI_Iprobe`). The
    /// message stays.
    Poll,
    /// It computes.
    Calc,
    /// It stores bytes in the peer's memory (`MPI_Put`); with a tag other than 0, for an await.
    Put,
    /// It fetches bytes from the peer's memory (`MPI_Get`).
    Get,
    /// The peer's adapter changes a word in its memory, and returns the old one
    /// (`MPI_Fetch_and_op`).
    Atomic,
    /// The same, where the adapter first compares the word (`MPI_Compare_and_swap`).
    Swap,
    /// It sends an active message, which a handler takes by its sender and its tag, without
    /// matching: a message of the MPI library to itself.
    Active,
    /// It takes an active message.
    Handle,
    /// It waits until the bytes of a put with its tag are in memory: its process looks at a word
    /// again and again (a loop around `MPI_Win_sync`).
    Await,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 12] = [
        Kind::Send,
        Kind::Recv,
        Kind::Probe,
        Kind::Poll,
        Kind::Calc,
        Kind::Put,
        Kind::Get,
        Kind::Atomic,
        Kind::Swap,
        Kind::Active,
        Kind::Handle,
        Kind::Await,
    ];

    /// Whether `LogGOPSim` has it.
    pub fn is_loggopsim(self) -> bool {
        matches!(self, Kind::Send | Kind::Recv | Kind::Calc)
    }

    /// Whether it may take any peer and tag.
    pub fn is_incoming(self) -> bool {
        matches!(self, Kind::Recv | Kind::Probe | Kind::Poll)
    }

    /// Whether its bytes come from the peer; else, they go to the peer.
    pub fn is_from(self) -> bool {
        self.is_incoming() || matches!(self, Kind::Get | Kind::Handle | Kind::Await)
    }

    /// Whether it reaches into the peer's memory, where no operation takes part.
    pub fn is_remote(self) -> bool {
        matches!(self, Kind::Put | Kind::Get | Kind::Atomic | Kind::Swap)
    }

    /// Whether it has a tag.
    pub fn is_tagged(self) -> bool {
        !matches!(self, Kind::Calc | Kind::Get | Kind::Atomic | Kind::Swap)
    }

    /// The kind of arrival that it causes or takes: each has its own tags.
    pub(crate) fn arrival(self) -> Arrival {
        match self {
            Kind::Active | Kind::Handle => Arrival::Active,
            Kind::Put | Kind::Await => Arrival::Put,
            _ => Arrival::Message,
        }
    }

    /// The kind's name in text.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Send => "send",
            Kind::Recv => "recv",
            Kind::Probe => "probe",
            Kind::Poll => "poll",
            Kind::Calc => "calc",
            Kind::Put => "put",
            Kind::Get => "get",
            Kind::Atomic => "atomic",
            Kind::Swap => "swap",
            Kind::Active => "active",
            Kind::Handle => "handle",
            Kind::Await => "await",
        }
    }
}

/// What comes to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// A tagged message, for a receive.
    Message = 0,
    /// An active message, for a handler.
    Active = 1,
    /// A put's bytes, for an await.
    Put = 2,
}

/// An operation. Displayed, it is the operation in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its kind.
    pub kind: Kind,
    /// The rank at the message's other end; [`ANY`] if it takes any; 0 for a computation.
    pub peer: u32,
    /// Message bytes, which a probe or poll ignores, or a computation's nanoseconds.
    pub size: u64,
    /// The message's tag; [`ANY`] if it takes any; 0 for operations without a tag.
    pub tag: u32,
    /// The computation stream.
    pub cpu: u8,
    /// The message's adapter.
    pub nic: u8,
    /// A computation's region, from 1 on ([`crate::TraceNotes`]); 0 for none.
    pub region: u32,
}

impl Operation {
    /// A send to a rank, with its byte count.
    pub fn send(size: u64, to: u32, tag: u32) -> Self {
        Operation {
            kind: Kind::Send,
            peer: to,
            size,
            tag,
            cpu: 0,
            nic: 0,
            region: 0,
        }
    }

    /// A receive from a rank or from [`ANY`].
    pub fn recv(size: u64, from: u32, tag: u32) -> Self {
        Operation {
            kind: Kind::Recv,
            ..Operation::send(size, from, tag)
        }
    }

    /// A probe or a poll for the message that a receive would take.
    pub fn look(kind: Kind, size: u64, from: u32, tag: u32) -> Self {
        Operation {
            kind,
            ..Operation::recv(size, from, tag)
        }
    }

    /// An access to a rank's memory.
    pub fn remote(kind: Kind, size: u64, peer: u32) -> Self {
        Operation::active(kind, size, peer, 0)
    }

    /// An active message or its handler, or a put or its await.
    pub fn active(kind: Kind, size: u64, peer: u32, tag: u32) -> Self {
        Operation {
            kind,
            ..Operation::send(size, peer, tag)
        }
    }

    /// A computation, with its nanoseconds.
    pub fn calc(ns: u64) -> Self {
        Operation {
            kind: Kind::Calc,
            ..Operation::send(ns, 0, 0)
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: u32| match value {
            ANY => -1,
            value => i64::from(value),
        };
        let (peer, tag) = (number(self.peer), number(self.tag));
        let (name, size) = (self.kind.name(), self.size);
        match self.kind {
            Kind::Calc => write!(f, "{name} {size}")?,
            kind if kind.is_from() => write!(f, "{name} {size}b from {peer}")?,
            _ => write!(f, "{name} {size}b to {peer}")?,
        }
        let untold = self.kind == Kind::Put && self.tag == 0;
        if self.kind.is_tagged() && !untold {
            write!(f, " tag {tag}")?;
        }
        if self.cpu != 0 {
            write!(f, " cpu {}", self.cpu)?;
        }
        if self.nic != 0 {
            write!(f, " nic {}", self.nic)?;
        }
        Ok(())
    }
}
