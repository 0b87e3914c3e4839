//! The bytes of a broadcast, and its way.

use elan::ElanAddr;
use units::Bytes;

/// What is broadcast: bytes from one address of the root to one address of all other members.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub from: ElanAddr,
    pub to: ElanAddr,
    pub size: Bytes,
    /// Whether adapters carry out the call while their hosts compute, and all bytes take the home rail: hosts pick rails.
    pub posted: bool,
}

impl Span {
    /// Bytes at the same address everywhere.
    pub fn new(buffer: ElanAddr, size: Bytes) -> Self {
        Span {
            from: buffer,
            to: buffer,
            size,
            posted: false,
        }
    }
}

/// Who carries a call of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::elan) enum Way {
    /// Messages to one process each.
    Software,
    /// Broadcasts of the network.
    Hardware,
}
