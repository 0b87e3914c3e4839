//! A message as programs see it: selection, destination, result.

use crate::elan3::AllocError;
use elan::{AccessFault, DmaError, ElanAddr, ProcessId};
use std::fmt;
use thiserror::Error;
use units::Bytes;

/// Which messages a receive takes: those from the given process, if any, with a masked sender and
/// tag that equal the masked ones here. A mask of 0 matches anything, an all-ones mask matches
/// exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Select {
    /// The sending process, independent of its label; `None` matches any process.
    pub process: Option<ProcessId>,
    /// Bits in the sender that count.
    pub sender_mask: u32,
    /// The sender.
    pub sender: u32,
    /// Bits in the tag that count.
    pub tag_mask: u64,
    /// The tag.
    pub tag: u64,
}

impl Select {
    /// Any message.
    pub const ANY: Select = Select {
        process: None,
        sender_mask: 0,
        sender: 0,
        tag_mask: 0,
        tag: 0,
    };

    /// Exactly a sender, a tag, or both.
    pub fn exactly(sender: Option<u32>, tag: Option<u64>) -> Self {
        Select {
            process: None,
            sender_mask: sender.map_or(0, |_| u32::MAX),
            sender: sender.unwrap_or(0),
            tag_mask: tag.map_or(0, |_| u64::MAX),
            tag: tag.unwrap_or(0),
        }
    }

    /// Whether a message is taken.
    pub fn takes(self, process: ProcessId, sender: u32, tag: u64) -> bool {
        self.process.is_none_or(|own| own == process)
            && (sender ^ self.sender) & self.sender_mask == 0
            && (tag ^ self.tag) & self.tag_mask == 0
    }
}

impl fmt::Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |f: &mut fmt::Formatter<'_>, what, mask: u64, all: u64, value: u64| {
            if mask == 0 {
                write!(f, "any {what}")
            } else if mask == all {
                write!(f, "{what} {value}")
            } else {
                write!(f, "{what} {value:#x} in bits {mask:#x}")
            }
        };
        f.write_str("a message of ")?;
        let called = self.sender_mask == u32::MAX;
        if let Some(process) = self.process
            && !(called && self.sender == process.get())
        {
            write!(f, "process {process}, ")?;
        }
        let (mask, sender) = (self.sender_mask.into(), self.sender.into());
        part(f, "sender", mask, u32::MAX.into(), sender)?;
        f.write_str(", ")?;
        part(f, "tag", self.tag_mask, u64::MAX, self.tag)
    }
}

/// When a send ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When the send's buffer may be used again.
    Standard,
    /// Not before a receive has taken the message.
    Synchronous,
}

/// Where a receive wants the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// In a buffer of this length.
    Buffer(ElanAddr, Bytes),
    /// In a buffer that the system provides, and the process frees.
    System,
    /// Nowhere: the receive only looks at the message, and leaves it to another receive.
    Probe,
    /// Nowhere, and the receive does not wait: if no such message has come, it ends with
    /// [`TportError::Nothing`].
    Peek,
}

/// A message that has been received, or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The process that sent it.
    pub process: ProcessId,
    /// The sender's label.
    pub sender: u32,
    /// The message's tag.
    pub tag: u64,
    /// The message's length.
    pub size: Bytes,
    /// Where the message lies; nowhere if it was only probed.
    pub at: Option<ElanAddr>,
}

/// Why a message was not sent, or not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TportError {
    /// The message is longer than the given buffer. It counts as received, and is not stored.
    #[error(
        "a message of {size} (sender {sender}, tag {tag}) does not fit in the {room} of its receive"
    )]
    Truncated {
        /// The sender's label.
        sender: u32,
        /// The message's tag.
        tag: u64,
        /// The message's length.
        size: Bytes,
        /// The buffer's length.
        room: Bytes,
    },
    /// An adapter refused an access to a buffer, or there is no such process.
    #[error(transparent)]
    Dma(#[from] DmaError),
    /// The receiver could not get or store the message.
    #[error("process {by} could not take the message")]
    Refused {
        /// The receiver.
        by: ProcessId,
    },
    /// The receive was cancelled before a message was found for it.
    #[error("the receive was cancelled")]
    Cancelled,
    /// There is no message for a peek.
    #[error("no such message has come")]
    Nothing,
    /// No memory for an event or a system buffer.
    #[error(transparent)]
    Memory(#[from] AllocError),
}

impl From<AccessFault> for TportError {
    fn from(fault: AccessFault) -> Self {
        TportError::Dma(fault.into())
    }
}

/// A process's Tport statistics so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages that the process began to send.
    pub sent: u64,
    /// Messages that were matched.
    pub matched: u64,
    /// Matched messages that came before their receive.
    pub unexpected: u64,
    /// Small messages that went as longer messages, since too many were unexpected.
    pub held: u64,
    /// Longer messages that went into system buffers before they were matched.
    pub buffered: u64,
}
