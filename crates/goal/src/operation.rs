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
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 5] = [Kind::Send, Kind::Recv, Kind::Probe, Kind::Poll, Kind::Calc];

    /// Whether it is about messages that come: it receives one, or waits for one.
    pub fn is_incoming(self) -> bool {
        matches!(self, Kind::Recv | Kind::Probe | Kind::Poll)
    }

    /// The kind's name in text.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Send => "send",
            Kind::Recv => "recv",
            Kind::Probe => "probe",
            Kind::Poll => "poll",
            Kind::Calc => "calc",
        }
    }
}

/// An operation. Displayed, it is the operation in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its kind.
    pub kind: Kind,
    /// The rank at the message's other end, or [`ANY`] unless it sends; 0 for a computation.
    pub peer: u32,
    /// Message bytes, which a probe or poll ignores, or a computation's nanoseconds.
    pub size: u64,
    /// The message's tag, or [`ANY`] unless it sends; 0 for a computation.
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
        match self.kind {
            Kind::Send => write!(f, "send {}b to {peer} tag {tag}", self.size)?,
            Kind::Recv | Kind::Probe | Kind::Poll => {
                let name = self.kind.name();
                write!(f, "{name} {}b from {peer} tag {tag}", self.size)?;
            }
            Kind::Calc => write!(f, "calc {}", self.size)?,
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
